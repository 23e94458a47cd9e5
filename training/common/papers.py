"""Real printed pages that nobody wrote on, as paper to write on.

Where people write on them is found: over ruled lines, in boxes and bubbles, beside and on words, in
free space.
"""

import functools

import cv2
import numpy as np

from training.common import real

MOST_SLOTS = 160  # of a page, so that words do not drown the rest
MOST_WORDS = 60
ALIKE = 2  # others that a bubble or a box for a tick stands in line with


class Paper:
    """A page as training.common.scene composes on: image, em, slots. It comes captured, as
    photographed or scanned."""

    captured = True

    def __init__(self, source):
        self.image = np.ascontiguousarray(real.read(source)[0])
        self.em = float(np.clip(source.em, 8, 80))
        self.slots = slots_of(self.image, self.em)


def boxes_of(mask):
    """The bounding boxes of connected regions: float [N, 4], x0 y0 x1 y1, and their areas."""
    _, _, stats, _ = cv2.connectedComponentsWithStats(mask.astype(np.uint8), connectivity=8)
    x, y, w, h, area = stats[1:].T
    return np.stack([x, y, x + w, y + h], 1), area


def slot(kind, box, want="words"):
    return {"kind": kind, "rect": [int(v) for v in box], "want": want}


def slots_of(image, em):
    """Where one may write on a printed page."""
    dark = (real.contrast_of(image) > 40).astype(np.uint8)
    words, ruled = words_of(dark, em), rules_of(dark, em)
    found = ruled + holes_of(dark, em)
    rng = np.random.default_rng(dark.size + int(dark.sum()))
    chosen = [found[i] for i in rng.permutation(len(found))[:MOST_SLOTS]]
    return chosen + [words[i] for i in rng.permutation(len(words))[:MOST_WORDS]]


def words_of(dark, em):
    joined = cv2.morphologyEx(dark, cv2.MORPH_CLOSE, np.ones((3, max(3, int(0.35 * em))), np.uint8))
    boxes, area = boxes_of(joined)
    w, h = boxes[:, 2] - boxes[:, 0], boxes[:, 3] - boxes[:, 1]
    fits = (h > 0.4 * em) & (h < 2 * em) & (w > 0.5 * em) & (w < 12 * em) & (area > 0.2 * w * h)
    return [slot("word", b) for b in boxes[fits]]


def rules_of(dark, em):
    """The room over level ruled lines that stand free."""
    level = cv2.morphologyEx(dark, cv2.MORPH_OPEN, np.ones((1, max(9, int(3 * em))), np.uint8))
    sums, out = cv2.integral(dark), []
    for x0, y0, x1, y1 in boxes_of(level)[0]:
        top = int(y0 - 1.3 * em)
        if y1 - y0 > 0.4 * em or top < 0:
            continue
        inked = sums[y0, x1] - sums[top, x1] - sums[y0, x0] + sums[top, x0]
        if inked < 0.06 * (x1 - x0) * (y0 - top):
            out.append(slot("line", (x0, top, x1, y0), "words" if x1 - x0 > 5 * em else "number"))
    return out


def holes_of(dark, em):
    """The empty insides of printed boxes and bubbles."""
    boxes, area = boxes_of(1 - dark)
    out = []
    for (x0, y0, x1, y1), a in zip(boxes, area):
        w, h = x1 - x0, y1 - y0
        if not (0.5 * em < h < 9 * em and 0.5 * em < w < 40 * em) or a < 0.6 * w * h:
            continue
        if max(w, h) < 1.8 * em:
            if alike_in_line(boxes, x0, y0, x1, y1) < ALIKE:
                continue
            round_ = a < 0.88 * w * h
            out.append(slot("bubble" if round_ else "check", (x0, y0, x1, y1), "tick"))
        else:
            out.append(
                slot(
                    "area" if h > 3.5 * em and w > 6 * em else "cell",
                    (x0, y0, x1, y1),
                    "number" if w < 4 * em else "words",
                )
            )
    return out


def alike_in_line(boxes, x0, y0, x1, y1):
    """How many boxes of that box's size stand in a row or column with it: a lone one is a letter's
    or a drawing's."""
    w, h = boxes[:, 2] - boxes[:, 0], boxes[:, 3] - boxes[:, 1]
    same = (abs(w - (x1 - x0)) <= 0.2 * (x1 - x0)) & (abs(h - (y1 - y0)) <= 0.2 * (y1 - y0))
    level, upright = (
        abs(boxes[:, 1] - y0) <= 0.3 * (y1 - y0),
        abs(boxes[:, 0] - x0) <= 0.3 * (x1 - x0),
    )
    return int((same & (level | upright)).sum()) - 1


@functools.lru_cache(24)
def paper_of(at, split):
    return Paper(all_papers(split)[at])


@functools.lru_cache(2)
def all_papers(split):
    """Sources whose pages can be written on."""
    return [s for s in real.sources(split) if s.hand == 0]
