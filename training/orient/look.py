"""How a page is looked at, as the engine does.

A window that does not surely lie upright is seen from its other three sides too, since what is
misread one way up is seldom misread as surely another. Where one window leaves it open, the next
busiest is looked at too, and then the page at other scales, each for itself, and in the end all
together.
"""

import cv2
import numpy as np
import torch

from training.orient.net import MANIFEST, SIDE, logits

LOOK = MANIFEST["look"]
CELL = LOOK["cell"]  # pixels: the paper's light is told for each
# Grey levels that paper and its strong print are brought to.
PAPER, INK = LOOK["paper"], LOOK["ink"]
# Contrast that is no print; how much it is raised at most.
FAINT, MOST = LOOK["faint"], LOOK["gain"]
EDGE = LOOK["edge"]  # grey levels: steps that are print
STEP = LOOK["step"]  # pixels between the windows that are compared
LOOKS = LOOK["windows"]  # of a page that are looked at at each scale, until it is sure
SCALES = (1, *(whole / part for part, whole in LOOK["sizes"]))
LEAST = LOOK["least"]  # share of edges below which a piece shows nothing
SURE = LOOK["sure"]  # from this probability on it is believed how a page lies
AT_ONCE = LOOK["sure_alone"]  # that a window lies upright, if it is seen from one side alone
TOGETHER = LOOK["sure_together"]  # if all windows at all scales say so together


def paper(grey):
    """The light of the paper that a page is printed on: the 0.8 quantile in steps of 4 of the cells
    around, as raster.PaperGrid has it."""
    h, w = grey.shape
    rows, columns = -(-h // CELL), -(-w // CELL)
    y, x = np.arange(h)[:, None] // CELL, np.arange(w) // CELL
    counts = np.bincount(
        (((y * columns) + x) * 64 + (grey >> 2)).ravel(), minlength=rows * columns * 64
    ).reshape(rows, columns, 64)
    counts = cv2.boxFilter(
        counts.astype(np.float32), -1, (3, 3), normalize=False, borderType=cv2.BORDER_CONSTANT
    )
    seen = counts.cumsum(2)
    want = 0.8 * seen[..., -1:]
    at = (seen < want).sum(2)[..., None]
    here = np.take_along_axis(counts, at, 2)
    light = 4 * (at + 1 - (np.take_along_axis(seen, at, 2) - want) / here)[..., 0]
    place = lambda n, cells: np.clip(
        (np.arange(n, dtype=np.float32) + 0.5) / CELL - 0.5, 0, cells - 1
    )
    return cv2.remap(
        light.astype(np.float32), *np.meshgrid(place(w, columns), place(h, rows)), cv2.INTER_LINEAR
    )


def evened(grey):
    """A page in even light with its strongest print dark, whatever the light and the exposure
    were."""
    light = paper(grey)
    contrast = np.maximum(light - grey, 0) / np.maximum(light, 1) * 255
    print_ = contrast[contrast >= FAINT]
    strong = np.quantile(print_, 0.9) if len(print_) else PAPER
    gain = np.clip((PAPER - INK) / strong, 1, MOST)
    return np.clip(PAPER - gain * contrast, 0, 255).astype(np.uint8)


def edges(grey):
    """Where print is: 1 at steps from light to dark, float [H, W]."""
    g = grey.astype(np.int16)
    return (
        (np.abs(np.diff(g, axis=0, append=g[-1:])) + np.abs(np.diff(g, axis=1, append=g[:, -1:])))
        > EDGE
    ).astype(np.float32)


def windows(grey, side):
    """The windows of a page with the most print in them, the busiest first, up to LOOKS; all of the
    page where it is no larger."""
    h, w = (max(n - side, 0) for n in grey.shape)
    print_ = edges(grey)
    for look in range(LOOKS):
        sums = cv2.integral(print_)
        most, at = -1.0, (0, 0)
        for y in sorted({*range(0, h, STEP), h}):
            for x in sorted({*range(0, w, STEP), w}):
                y1, x1 = min(y + side, grey.shape[0]), min(x + side, grey.shape[1])
                if (ink := sums[y1, x1] - sums[y, x1] - sums[y1, x] + sums[y, x]) > most:
                    most, at = ink, (y, x)
        if look > 0 and most < LEAST * side * side:
            return
        there = np.s_[at[0] : at[0] + side, at[1] : at[1] + side]
        print_[there] = 0
        yield grey[there]


def padded(grey, side):
    """A picture amid its paper's grey."""
    canvas = np.full((side, side), np.median(grey), np.uint8)
    h, w = grey.shape
    canvas[(side - h) // 2 : (side - h) // 2 + h, (side - w) // 2 : (side - w) // 2 + w] = grey
    return canvas


def shown(grey):
    """Whether there is enough print on a picture to go by."""
    return edges(grey).mean() > LEAST


def surest(sums):
    """The likeliest class of the votes and its probability."""
    p, guess = logits(sums).softmax(1)[0].max(0)
    return int(guess), float(p)


@torch.no_grad()
def turned(model, grey):
    """By how many quarters clockwise a page lies, as the engine tells it: 0 also where that is not
    sure."""
    together = torch.zeros(1, 5)
    for scale in SCALES:
        votes = torch.zeros(1, 5)
        for window in windows(
            cv2.resize(grey, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA), SIDE
        ):
            whole = padded(window, SIDE).astype(np.float32) / 255
            seen = model(
                torch.from_numpy(np.stack([np.rot90(whole, k) for k in range(4)]))[:, None]
            )
            guess, p = surest(seen[:1])
            if guess == 0 and p >= AT_ONCE:
                return 0
            for k in range(4):
                votes += torch.cat([seen[k : k + 1, :4].roll(k, 1), seen[k : k + 1, 4:]], 1) / 4
            guess, p = surest(votes)
            if p >= SURE:
                return guess
        together += votes
    guess, p = surest(together)
    return guess if p >= TOGETHER else 0
