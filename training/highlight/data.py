"""Pages with a highlighter's strokes and printed panels, and what the engine sees of their tints.

python3 -m training.highlight.data DIR --split train     pages, and where strokes were laid
go run ./training/highlight/tints -dir DIR > TINTS       what is seen of each tint
"""

import argparse
import json
from pathlib import Path

import cv2
import numpy as np

from training.common import real, views
from training.common.laid import tints

STRUCK_SHARE, PANELLED_SHARE = 0.6, 0.3  # of pages: with strokes, with panels
OTHER, STRUCK = 0, 1  # in label pictures
TAKEN = 12  # grey levels that a stroke takes at least where its label counts
STRENGTH = (0.3, 1.3)  # of strokes and panels: from dim photographs to fresh ink on scans
QUALITY = (70, 96)  # of JPEGs
STROKE, NONE = 0.5, 0.05  # shares of a tint's cells that strokes cover: from, up to


def write_pages(out, split, count, seed):
    """Real pages of a split at about the working scale, with strokes and panels laid on some."""
    out, rng = Path(out), np.random.default_rng(seed)
    for name in ("pages", "labels"):
        (out / name).mkdir(parents=True, exist_ok=True)
    whole = [s for s in real.sources(split) if s.trust > real.SHEET]
    for i in rng.permutation(len(whole))[:count]:
        image, label = page(rng, whole[i])
        name = Path(whole[i].image).stem
        quality = [cv2.IMWRITE_JPEG_QUALITY, int(rng.integers(*QUALITY))]
        cv2.imwrite(str(out / "pages" / f"{name}.jpg"), image[..., ::-1], quality)
        cv2.imwrite(str(out / "labels" / f"{name}.png"), label)


def page(rng, source):
    """A page, and where strokes were laid on it."""
    image, label = views.sized(rng, source)
    told = np.full(label.shape, OTHER, np.uint8)
    if rng.random() < PANELLED_SHARE:
        strength = min(rng.uniform(*STRENGTH), 1)
        panelled = tints.panelled(rng, image, label)
        image = cv2.addWeighted(image, 1 - strength, panelled, strength, 0)
    if rng.random() < STRUCK_SHARE:
        struck, _ = tints.highlighted(rng, image, label, STRENGTH)
        told[cv2.subtract(image, struck).max(2) >= TAKEN] = STRUCK
        image = struck
    return image, told


def read(path):
    """The traits of a file's tints, whether each is a stroke, and the traits' names. What is
    partly a stroke is left out."""
    names, *rows = (json.loads(line) for line in Path(path).read_text().splitlines())
    known = [r for r in rows if r["struck"] >= STROKE or r["struck"] < NONE]
    traits = np.array([r["traits"] for r in known])
    return traits, np.array([r["struck"] >= STROKE for r in known]), names


def main():
    p = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    p.add_argument("out")
    p.add_argument("--split", default="train")
    p.add_argument("--count", default=300, type=int, help="pages")
    p.add_argument("--seed", default=1, type=int)
    a = p.parse_args()
    cv2.setNumThreads(1)
    write_pages(a.out, a.split, a.count, a.seed)


if __name__ == "__main__":
    main()
