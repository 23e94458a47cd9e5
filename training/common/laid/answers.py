"""Answer grids laid on pages in training: printed rows of boxes or rings, some of which a pen
filled, ticked or crossed. A filled box is writing, although it is as solid as a printer's mark
(solids.py)."""

from dataclasses import dataclass

import cv2
import numpy as np

from training.common import pixel
from training.common.ink import marks
from training.common.ink.pens import make_pen
from training.common.laid.tints import lay

SIDES = (12, 40)  # pixels of a box or ring
ROWS, COLUMNS = (2, 26), (2, 11)
ANSWERED_SHARE = (0.1, 1.0)  # of rows that have an answer
CLEARED_SHARE = 0.85  # of grids that stand on bare paper, and not over what is there
PLACES = 16  # that are looked at for an empty one
MARKS = {"fill": 0.75, "tick": 0.1, "cross": 0.15}
PENCILLED_SHARE = 0.4  # of sheets that are filled in with a pencil


@dataclass
class Grid:
    x: int
    y: int
    rows: int
    columns: int
    side: int
    pitch: tuple  # pixels from box to box, across and down
    round: bool

    def boxes(self):
        """Of each row, where its boxes lie: left and top."""
        across, down = self.pitch
        return [
            [(int(self.x + c * across), int(self.y + r * down)) for c in range(self.columns)]
            for r in range(self.rows)
        ]


def answered(rng, image, label):
    """The page with one grid, and the marks of who answered it."""
    grid = placed(rng, label)
    if grid is None:
        return image, label
    image, label = cleared(image, label, grid) if rng.random() < CLEARED_SHARE else (image, label)
    image, label = printed(rng, image, label, grid)
    pen = make_pen(rng, "pencil" if rng.random() < PENCILLED_SHARE else None)
    eagerness, usual = rng.uniform(*ANSWERED_SHARE), chosen(rng)
    for row in grid.boxes():
        if rng.random() < eagerness:
            kind = usual if rng.random() < 0.9 else chosen(rng)
            mark(rng, image, label, pen, kind, row[int(rng.integers(len(row)))], grid.side)
    return image, label


def chosen(rng):
    return str(rng.choice(list(MARKS), p=list(MARKS.values())))


def placed(rng, label):
    """A grid that the page has room for, where least is on it; none where there is no room."""
    h, w = label.shape
    side = int(np.exp(rng.uniform(*np.log(SIDES))))
    pitch = (side * rng.uniform(1.15, 2.4), side * rng.uniform(1.15, 2.4))
    columns, rows = (
        min(int(rng.integers(*most)), int(room / step) - 1)
        for most, room, step in zip((COLUMNS, ROWS), (w, h), pitch)
    )
    if columns < 1 or rows < 1:
        return None
    width, height = int((columns + 1) * pitch[0]), int((rows + 1) * pitch[1])
    inked = cv2.integral((label != pixel.PAPER).astype(np.uint8))
    spots = [
        (int(rng.integers(w - width + 1)), int(rng.integers(h - height + 1))) for _ in range(PLACES)
    ]
    filled = lambda x, y: (
        inked[y + height, x + width] - inked[y, x + width] - inked[y + height, x] + inked[y, x]
    )
    x, y = min(spots, key=lambda spot: filled(*spot))
    return Grid(x, y, rows, columns, side, pitch, bool(rng.random() < 0.5))


def cleared(image, label, grid):
    """The page with bare paper where the grid comes."""
    across, down = grid.pitch
    top, left = int(grid.y - down / 2), int(grid.x - across / 2)
    spot = (
        slice(max(0, top), int(top + grid.rows * down)),
        slice(max(0, left), int(left + grid.columns * across)),
    )
    image, label = image.copy(), label.copy()
    image[spot] = np.quantile(image[::8, ::8].reshape(-1, 3), 0.85, 0).astype(np.uint8)
    label[spot] = pixel.PAPER
    return image, label


def printed(rng, image, label, grid):
    """The page with the empty grid, its letters in the boxes or before the rows."""
    ink = np.zeros(label.shape, np.uint8)
    thick, lettered = int(rng.integers(1, 3)), rng.random() < 0.6
    size = grid.side * rng.uniform(0.015, 0.022)
    for row in grid.boxes():
        for i, (x, y) in enumerate(row):
            middle, s = (x + grid.side // 2, y + grid.side // 2), grid.side
            if grid.round:
                cv2.circle(ink, middle, s // 2, 255, thick, cv2.LINE_AA)
            else:
                cv2.rectangle(ink, (x, y), (x + s, y + s), 255, thick)
            if lettered and s > 14:
                at = (x + int(0.28 * s), y + int(0.74 * s))
                cv2.putText(
                    ink, chr(ord("A") + i), at, cv2.FONT_HERSHEY_SIMPLEX, size, 255, 1, cv2.LINE_AA
                )
    soft = (cv2.GaussianBlur(ink, (0, 0), rng.uniform(0.4, 0.9)).astype(np.float32) / 255)[
        ..., None
    ]
    colour = (
        rng.uniform(0, 110) + rng.normal(0, 4, 3) if rng.random() < 0.7 else rng.uniform(40, 220, 3)
    )
    image = (image * (1 - soft) + np.minimum(image, colour) * soft).astype(np.uint8)
    label = label.copy()
    label[(soft[..., 0] > 0.1) & (label == pixel.PAPER)] = pixel.IGNORE
    label[(soft[..., 0] > 0.45) & ((label == pixel.PAPER) | (label == pixel.IGNORE))] = pixel.PRINT
    return image, label


def mark(rng, image, label, pen, kind, corner, side):
    """One mark in a box, in its frame, a little off."""
    size = side * (rng.uniform(0.75, 1.15) if kind == "fill" else rng.uniform(0.7, 1.6))
    thickness = float(np.clip(side * rng.uniform(0.06, 0.16), 1.2, 5))
    ink, at = pen.render(rng, marks.STROKES[kind](rng, size, size), thickness)
    off = (side - size) / 2 + rng.normal(0, 0.06, 2) * side
    lay(image, label, ink, (np.array(corner) + at + off).round().astype(int))
