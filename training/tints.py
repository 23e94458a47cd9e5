"""Tints on pages: a highlighter's strokes, which are writing, and printed panels, which are not.

The segmenter learns from pages with such (training.views). What the engine takes for highlighter is told from print by a
logistic regression:

    python3 -m training.tints pages DIR                           pages with strokes laid on them, and masks of these
    go run ./training/regions -tints -dir DIR -out DIR/found      the tints that the engine sees there
    python3 -m training.tints fit DIR                             weights for internal/restore/highlight
"""

import argparse
from pathlib import Path

import cv2
import numpy as np

from . import net
from .marks import curve
from .pens import HIGHLIGHTS, coverage, darkest, make_pen

STROKES = (1, 9)  # of a highlighter on a page
TIP = (0.4, 1.3)  # ems: how broad they are
LENGTH = (0.5, 14)  # ems
OVER_PRINT = 0.8  # share of strokes that begin at print
PANELS = (1, 4)
FAINT = 250  # transmittance of a stroke's soft edge
BENT, LEVEL = 0.25, 0.6  # shares of strokes: much bent; along the lines


def highlighted(rng, image, label):
    """The page with strokes of one highlighter. What is under them stays, and counts as writing too."""
    pen = make_pen(rng, "highlighter")
    image, label = image.copy(), label.copy()
    printed = np.flatnonzero(label[::8, ::8] == net.PRINT)
    for _ in range(int(rng.integers(*STROKES))):
        ink, (x, y) = pen.render(rng, [stroke(rng)], net.EM * rng.uniform(*TIP))
        at = somewhere(rng, label.shape, printed) - np.array([x, y]) * (rng.random() < 0.5)
        lay(image, label, ink, at)
    return image, label


def stroke(rng):
    """The path of a highlighter's tip in pixels, from the origin."""
    length = net.EM * np.exp(rng.uniform(*np.log(LENGTH)))
    angle = rng.normal(0, 0.02) if rng.random() < LEVEL else rng.uniform(-np.pi / 2, np.pi / 2)
    bend = length * (rng.normal(0, 0.25, 3) if rng.random() < BENT else rng.normal(0, 0.01, 3))
    along = np.linspace(0, length, 5)
    across = np.concatenate([[0], bend, [0]])
    turn = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
    return curve(rng, np.stack([along, across], 1) @ turn, 1)


def somewhere(rng, shape, printed):
    """A pixel (x, y) of a page, mostly one with print."""
    h, w = shape
    if len(printed) and rng.random() < OVER_PRINT:
        y, x = divmod(int(printed[rng.integers(len(printed))]), -(-w // 8))
        return np.array([8 * x, 8 * y])
    return np.array([rng.integers(w), rng.integers(h)])


def lay(image, label, ink, at):
    """Lays ink with its top left corner at a pixel; what lies outside of the page is lost."""
    (h, w), (x, y) = label.shape, at
    top, left, bottom, right = max(y, 0), max(x, 0), min(y + ink.shape[0], h), min(x + ink.shape[1], w)
    if bottom <= top or right <= left:
        return
    ink = ink[top - y:bottom - y, left - x:right - x]
    spot = (slice(top, bottom), slice(left, right))
    image[spot] = cv2.multiply(image[spot], ink, scale=1 / 255)
    inked, before = coverage(ink), label[spot].copy()
    label[spot][(darkest(ink) < FAINT) & (before == net.PAPER)] = net.IGNORE
    label[spot][inked & (before == net.PAPER)] = net.HAND
    label[spot][inked & (before == net.PRINT)] = net.BOTH


def panelled(rng, image, label):
    """The page with printed panels of one colour: their labels stay."""
    image = image.copy()
    h, w = label.shape
    colour = np.array(HIGHLIGHTS[int(rng.integers(len(HIGHLIGHTS)))] if rng.random() < 0.5 else rng.uniform(150, 255, 3))
    for _ in range(int(rng.integers(*PANELS))):
        ph, pw = int(net.EM * np.exp(rng.uniform(0, 2.5))), int(w * rng.uniform(0.05, 0.9))
        y, x = int(rng.integers(max(h - ph, 1))), int(rng.integers(max(w - pw, 1)))
        panel = np.full((min(ph, h - y), min(pw, w - x), 3), colour, np.uint8)
        spot = (slice(y, y + panel.shape[0]), slice(x, x + panel.shape[1]))
        image[spot] = cv2.multiply(image[spot], panel, scale=1 / 255)
    return image


# Telling them apart.

TRAITS = 7  # highlight.Traits
DRAWN_SHARE = 0.6  # of the pages that are made
PANELLED_SHARE = 0.3
KEPT = 3.0  # how much worse it is to lift what was printed than to leave what was drawn
DECAY = 1e-3


def make_pages(folder, count, seed):
    """Pages nobody wrote on, of the training split, some with strokes of a highlighter, as PNG; masks of the strokes."""
    from . import real, views
    for part in ("pages", "masks"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    clean = [s for s in real.sources("train") if s.hand == 0]
    for i in range(count):
        rng = np.random.default_rng([seed, i])
        image, label = views.sized(rng, clean[int(rng.integers(len(clean)))])
        if rng.random() < PANELLED_SHARE:
            image = panelled(rng, image, label)
        told = label
        if rng.random() < DRAWN_SHARE:
            image, told = highlighted(rng, image, label)
        cv2.imwrite(str(folder / "pages" / f"{i:04d}.png"), views.retoned(rng, image)[..., ::-1])
        cv2.imwrite(str(folder / "masks" / f"{i:04d}.png"), (np.isin(told, (net.HAND, net.BOTH)) * 255).astype(np.uint8))


def found(folder):
    """What the engine saw: traits [n, TRAITS], whether it was drawn [n], and the page's number [n]."""
    traits, drawn, pages = [], [], []
    for page, path in enumerate(sorted((folder / "found").glob("*.bin"))):
        mask = cv2.imread(str(folder / "masks" / f"{path.stem}.png"), cv2.IMREAD_GRAYSCALE) > 0
        h, w = mask.shape
        for row in np.fromfile(path, np.float32).reshape(-1, 4 + TRAITS):
            x0, x1, y0, y1 = (int(v) for v in (row[0] * w, row[2] * w + 1, row[1] * h, row[3] * h + 1))
            share = mask[y0:y1, x0:x1].mean() / max(row[-1], 0.05)  # of its cells; the last trait is their share of the box
            if share < 0.1 or share > 0.5:  # else partly drawn: not told of
                traits.append(row[4:]), drawn.append(share > 0.5), pages.append(page)
    return np.array(traits), np.array(drawn), np.array(pages)


def fit(x, drawn):
    """Weights [TRAITS] and a bias of log-odds, by Newton's method; kinds count alike, print KEPT times as much."""
    mean, spread = x.mean(0), x.std(0) + 1e-6
    a = np.concatenate([(x - mean) / spread, np.ones((len(x), 1))], 1)
    weight = np.where(drawn, 1 / drawn.sum(), KEPT / (~drawn).sum())
    w = np.zeros(TRAITS + 1)
    for _ in range(50):
        p = 1 / (1 + np.exp(-np.clip(a @ w, -30, 30)))
        slope = a.T @ (weight * (p - drawn)) + DECAY * w
        w -= np.linalg.solve((a * (weight * p * (1 - p))[:, None]).T @ a + DECAY * np.eye(TRAITS + 1), slope)
    return w[:-1] / spread, w[-1] - (w[:-1] / spread) @ mean


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("command", choices=["pages", "fit"])
    p.add_argument("folder", type=Path)
    p.add_argument("--count", default=240, type=int)
    p.add_argument("--seed", default=1, type=int)
    a = p.parse_args()
    if a.command == "pages":
        make_pages(a.folder, a.count, a.seed)
        return
    x, drawn, pages = found(a.folder)
    held = pages % 4 == 0
    weights, bias = fit(x[~held], drawn[~held])
    says = x[held] @ weights + bias > 0
    print(f"held out: {(says & drawn[held]).sum()} of {drawn[held].sum()} drawn are found, "
          f"{(says & ~drawn[held]).sum()} of {(~drawn[held]).sum()} printed are taken")
    weights, bias = fit(x, drawn)
    print("weights", ", ".join(f"{v:.3g}" for v in weights), "bias", f"{bias:.3g}")


if __name__ == "__main__":
    main()
