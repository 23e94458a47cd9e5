"""What a pixel of a page is, as labels say it, and how large print is."""

from training.common import manifest

SEGMENT = manifest.read("segment")
PAPER, PRINT, HAND, BOTH = range(4)
CLASSES = SEGMENT["classes"]
WRITTEN = 4  # label: handwriting, over print or not
PRINTED = 5  # label: print, written over or not
HANDS = (HAND, BOTH, WRITTEN)  # labels that say handwriting, over print or not
PRINTS = (PRINT, BOTH, PRINTED)  # and print
IGNORE = 255
EM = 24  # pixels, of body text in composed pages
# At which the engine shows pages: chosen on held-out ones (docs/training.md).
SHOWN_EM = SEGMENT["em"]
