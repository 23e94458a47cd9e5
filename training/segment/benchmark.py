"""Makes the synthetic benchmark: captured pages with exact truth, from fonts, hands and layouts
that training never sees.

    python3 -m training.segment.benchmark --out bench/quality/data --count 24 --blank 8 --seed 7

For every case NN it writes NN.jpg (written on), NN.clean.jpg (the same capture, nothing written)
and NN.mask.png (grey: 0 paper, 80 print, 160 handwriting, 240 both, 251 unlabelled; +4 on ruled
lines). The last --blank cases have no handwriting. Only pages of our own layouts and hands drawn
from fonts and strokes are used.
"""

import argparse
from pathlib import Path

import cv2
import numpy as np

from training.common import pixel
from training.common.scene import Composer, Page

SIDE = 640
RULED = 4


def hand_share(label):
    return np.isin(label, [pixel.HAND, pixel.BOTH]).mean()


def cases(seed, count, blank):
    composer = Composer("val", SIDE)
    composer.inks.lift = lambda *_: None
    pages = [Page(p) for paths in composer.layouts.values() for p in paths]
    rng = np.random.default_rng(seed)
    rng.shuffle(pages)
    for page in pages:
        written, clean, label, ruled = composer.pair(rng, page, float(rng.uniform(15, 36)))
        if np.isin(label, [pixel.PRINT, pixel.BOTH]).mean() < 0.02:
            continue
        if hand_share(label) > 0.004 and count > 0:
            count -= 1
            yield written, clean, label, ruled
        elif hand_share(label) == 0 and blank > 0:
            blank -= 1
            yield written, clean, label, ruled
        if count + blank == 0:
            return


def store(out, found):
    out.mkdir(parents=True, exist_ok=True)
    for i, (written, clean, label, ruled) in enumerate(found):
        for name, image in ((f"{i:02d}.jpg", written), (f"{i:02d}.clean.jpg", clean)):
            cv2.imwrite(str(out / name), image[..., ::-1], [cv2.IMWRITE_JPEG_QUALITY, 92])
        mask = np.where(label == pixel.IGNORE, 251, label * 80) + RULED * (ruled > 0)
        cv2.imwrite(str(out / f"{i:02d}.mask.png"), mask.astype(np.uint8))


def main():
    p = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    p.add_argument("--out", required=True, type=Path)
    p.add_argument("--count", default=24, type=int)
    p.add_argument("--blank", default=8, type=int)
    p.add_argument("--seed", default=7, type=int)
    a = p.parse_args()
    store(a.out, cases(a.seed, a.count, a.blank))


if __name__ == "__main__":
    main()
