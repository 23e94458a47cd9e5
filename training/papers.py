"""Real printed pages as paper to write on: pages nobody wrote on, and pages with the writing taken off.

Where people write on them is found: where they wrote before, over ruled lines, in boxes, beside and on words, in free space.
"""

import functools

import cv2
import numpy as np

from . import net, real

LEAST_PRINT = 0.003  # share of a page that print must cover
MOST_SLOTS = 160  # of a page, so that words do not drown the rest
MOST_WORDS = 60


class Paper:
    """A page as training.scene composes on: image, em, slots. It comes captured, as photographed or scanned."""

    captured = True

    def __init__(self, source):
        image, label = real.read(source)
        hand = np.isin(label, (net.WRITTEN,)) if source.label else np.zeros(label.shape, bool)
        self.em = float(np.clip(source.em, 8, 80))
        answers = written_boxes(hand, self.em)
        if hand.any():
            image = erased(image, (hand | (label == net.IGNORE) & near(hand)).astype(np.uint8))
        self.image = np.ascontiguousarray(image)
        self.slots = answers + slots_of(self.image, self.em)


def near(mask):
    return cv2.dilate(mask.astype(np.uint8), np.ones((7, 7), np.uint8)) > 0


def erased(image, mask):
    """The page with the masked ink painted over by the paper around it."""
    grown = cv2.dilate(mask, np.ones((5, 5), np.uint8))
    return cv2.inpaint(image, grown, 3, cv2.INPAINT_TELEA)


def boxes_of(mask):
    """The bounding boxes of connected regions: float [N, 4], x0 y0 x1 y1, and their areas."""
    _, _, stats, _ = cv2.connectedComponentsWithStats(mask.astype(np.uint8), connectivity=8)
    x, y, w, h, area = stats[1:].T
    return np.stack([x, y, x + w, y + h], 1), area


def slot(kind, box, want="words"):
    return {"kind": kind, "rect": [int(v) for v in box], "want": want}


def written_boxes(hand, em):
    joined = cv2.dilate(hand.astype(np.uint8), np.ones((max(3, int(0.6 * em)), max(3, int(1.2 * em))), np.uint8))
    boxes, _ = boxes_of(joined)
    out = []
    for x0, y0, x1, y1 in boxes:
        w, h = x1 - x0, y1 - y0
        if w > em and h > 0.8 * em:
            out.append(slot("area" if h > 3 * em else "blank" if w > 2.5 * em else "cell", (x0, y0, x1, y1), "words" if w > 4 * em else "number"))
    return out


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
            round_ = a < 0.88 * w * h
            out.append(slot("bubble" if round_ else "check", (x0, y0, x1, y1), "tick"))
        else:
            out.append(slot("area" if h > 3.5 * em and w > 6 * em else "cell", (x0, y0, x1, y1), "number" if w < 4 * em else "words"))
    return out


@functools.lru_cache(24)
def paper_of(at, split):
    return Paper(all_papers(split)[at])


@functools.lru_cache(2)
def all_papers(split):
    """Sources whose pages can be written on: printed ones, and written ones whose labels are trusted."""
    return [s for s in real.sources(split) if s.hand == 0 or s.trust > 3]
