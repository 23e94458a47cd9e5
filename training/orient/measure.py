"""Measures the orientation network on held-out pages, as the engine looks at them.

python3 -m training.orient.measure build/orient/weights.pt
"""

import argparse
import json
import math

import cv2
import numpy as np

from training.common.paths import data_root
from training.common.scene import Page
from training.orient.data import photographed
from training.orient.look import evened, shown, turned, windows
from training.orient.net import EM, SIDE, load


def seen(rng, path):
    """A held-out page as captured, at about the em that is wanted: uint8 [H, W]; None where there
    is no print."""
    page = Page(path)
    scale = EM * math.exp(rng.normal(0, 0.12)) / page.em
    grey = evened(
        photographed(
            rng,
            cv2.resize(
                np.ascontiguousarray(page.image),
                None,
                fx=scale,
                fy=scale,
                interpolation=cv2.INTER_AREA,
            ),
        )
    )
    return grey if shown(next(windows(grey, SIDE))) else None


def measure(model, count, seed=1):
    """Shares of held-out pages, at all four angles, that are read right, wrongly turned, and left
    for want of certainty."""
    rng = np.random.default_rng(seed)
    paths = sorted((data_root() / "pages" / "val").glob("*.json"))
    right = wrong = left = 0
    for i in range(count):
        while (page := seen(rng, paths[i % len(paths)])) is None:
            i += 1
        for k in range(4):
            guess = turned(model, np.ascontiguousarray(np.rot90(page, -k)))
            right += guess == k
            wrong += guess not in (0, k)
            left += guess == 0 and k != 0
    n = 4 * count
    return {
        "pages": count,
        "right": round(right / n, 4),
        "wrongly_turned": round(wrong / n, 4),
        "left": round(left / n, 4),
    }


def main():
    p = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    p.add_argument("checkpoint")
    p.add_argument("--count", default=2000, type=int, help="pages")
    a = p.parse_args()
    print(json.dumps(measure(load(a.checkpoint)[0], a.count)))


if __name__ == "__main__":
    main()
