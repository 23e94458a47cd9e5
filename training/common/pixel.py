"""What a pixel of a page is, as labels say it."""

PAPER, PRINT, HAND, BOTH = range(4)
CLASSES = ["paper", "print", "handwriting", "both"]
WRITTEN = 4  # label: handwriting, over print or not
PRINTED = 5  # label: print, written over or not
HANDS = (HAND, BOTH, WRITTEN)  # labels that say handwriting, over print or not
PRINTS = (PRINT, BOTH, PRINTED)  # and print
IGNORE = 255
EM = 24  # pixels, of body text in composed pages
SHOWN_EM = 32  # at which the engine shows pages: chosen on held-out ones (docs/training.md)
