"""Solid shapes that printers put on forms for machines to read: marks in the corners, codes in rows
of squares, timing tracks. They are print, although a filled bubble is as solid."""

import cv2
import numpy as np

from training.common import pixel

SIZES = (8, 44)  # pixels, of a side


def printed(rng, image, label):
    """The page with solid marks of one kind."""
    h, w = label.shape
    kinds = (corners, code, track, spots)
    ink = np.zeros((h, w), np.uint8)
    kinds[int(rng.integers(len(kinds)))](rng, ink, float(np.exp(rng.uniform(*np.log(SIZES)))))
    soft = (cv2.GaussianBlur(ink, (0, 0), rng.uniform(0.4, 1.0)).astype(np.float32) / 255)[
        ..., None
    ]
    dark = np.float32(rng.uniform(0, 70)) + rng.normal(0, 4, 3).astype(np.float32)
    out = (image * (1 - soft) + np.minimum(image, dark) * soft).astype(np.uint8)
    told = label.copy()
    told[(soft[..., 0] > 0.05) & (label == pixel.PAPER)] = pixel.IGNORE
    over = np.isin(label, (pixel.PAPER, pixel.PRINT))
    told[(soft[..., 0] > 0.6) & over] = pixel.PRINT
    return out, told


def solid(ink, x, y, side, round_):
    if round_:
        cv2.circle(ink, (int(x), int(y)), int(side / 2), 255, -1, cv2.LINE_AA)
    else:
        cv2.rectangle(
            ink,
            (int(x - side / 2), int(y - side / 2)),
            (int(x + side / 2), int(y + side / 2)),
            255,
            -1,
        )


def corners(rng, ink, side):
    """Two to four alike near the corners of the sheet, or of a part of it."""
    h, w = ink.shape
    far, round_ = rng.uniform(0.01, 0.15), rng.random() < 0.6
    for x, y in rng.permutation([(far, far), (1 - far, far), (far, 1 - far), (1 - far, 1 - far)])[
        : int(rng.integers(2, 5))
    ]:
        solid(ink, x * w + rng.normal(0, 4), y * h + rng.normal(0, 4), side, round_)


def code(rng, ink, side):
    """One or two rows of boxes, some of them full."""
    h, w = ink.shape
    side, n = min(side, 26), int(rng.integers(6, 20))
    x, y = rng.uniform(0, max(w - n * side, 1)), rng.uniform(side, h - 3 * side)
    for row in range(int(rng.integers(1, 3))):
        for i in range(n):
            at = (int(x + i * side), int(y + row * 1.5 * side))
            to = (int(x + (i + 1) * side), int(y + row * 1.5 * side + side))
            cv2.rectangle(ink, at, to, 255, -1 if rng.random() < 0.3 else 1)


def track(rng, ink, side):
    """Bars down the left edge; pages are turned later."""
    h, w = ink.shape
    thick, step, at = max(4, side / 2), side * rng.uniform(1, 2.5), rng.uniform(0.01, 0.06)
    for start in np.arange(side, h - side, step):
        cv2.rectangle(
            ink, (int(at * w), int(start)), (int(at * w + side), int(start + thick)), 255, -1
        )


def spots(rng, ink, side):
    """Some alike, one below the other."""
    h, w = ink.shape
    round_, x, y, step = (
        rng.random() < 0.7,
        rng.uniform(0, w),
        rng.uniform(0, h),
        side * rng.uniform(1.5, 5),
    )
    for i in range(int(rng.integers(1, 9))):
        solid(ink, x, y + i * step, side, round_)
