"""Samples that the flattening network learns from: printed pages, bent, lit and seen.

    python3 -m training.flatten.data OUT.png    draws some, and the same made flat

All are of held-out pages there, and beside them, with --init, what a checkpoint makes of them.
"""

import argparse
import math

import cv2
import numpy as np
import torch

from training.common import capture, real
from training.common.paths import data_root
from training.flatten.net import COLUMNS, HEIGHT, ROWS, STEP, WIDTH, load
from training.flatten.sheet import Sheet, folded, straight

FINE = 2  # pages are drawn so much larger, then reduced
LATTICE = 10  # pixels between the places of a picture whose points are computed
BEYOND = 0.06  # how far beyond the page's edge a node still counts, in halves of its longer side


def profile(rng):
    """How a page rises along an axis: as one of a book, rolled, or folded."""
    kind = rng.random()
    # steep at the spine, which may be out of the picture, and a little the other way beyond
    if kind < 0.4:
        at, side = rng.uniform(-1.3, -0.5), rng.choice([-1, 1])
        steep, wide, over = (
            np.deg2rad(rng.uniform(8, 60)),
            rng.uniform(0.1, 0.5),
            np.deg2rad(rng.uniform(-3, 14)),
        )
        sign = -1 if rng.random() < 0.85 else 1

        def rise(s):
            d = np.maximum(side * s - at, -0.1) / wide
            return sign * side * (over * np.tanh(np.maximum(d, 0) / 3) - steep * np.exp(-d))

        return rise
    if kind < 0.75:
        waves = [
            (rng.normal(0, 0.28), rng.uniform(0.5, 3.5), rng.uniform(0, 6.3)) for _ in range(2)
        ]
        return lambda s: sum(a * np.sin(f * s + p) / max(1, f / 2) for a, f, p in waves)
    n = int(rng.integers(1, 4))
    at = (
        np.sort(rng.uniform(-0.8, 0.8, n))
        if rng.random() < 0.4
        else (np.arange(n) + 1) / (n + 1) * 1.7 - 0.85
    )
    return folded(rng.uniform(3, 13) * rng.choice([-1, 1]), at)


def sheet(rng):
    """A page somewhere before a camera."""
    kind, across, down, axis = rng.random(), straight, straight, 0
    if kind > 0.15:
        across = profile(rng)
    if kind > 0.7:
        across, down = straight, across
    elif kind > 0.62:
        down = profile(rng)
    if rng.random() < 0.3:
        axis = rng.normal(0, 25)
    crumple = []
    if rng.random() < 0.3:
        much = rng.uniform(0.002, 0.016)
        crumple = [
            (much * rng.standard_normal(3), rng.uniform(1.5, 6, 2), rng.uniform(0, 6.3, 2))
            for _ in range(4)
        ]
    wide = rng.choice([0.3, 1])  # many are nearly upright before the camera
    tilt, turn = (
        np.clip(rng.normal(0, 10 * wide, 2), -28, 28),
        np.clip(rng.normal(0, 5 * wide), -14, 14),
    )
    return Sheet(across, down, axis, crumple, turn, tilt, rng.uniform(1.8, 5))


def framed(rng, low, high):
    """What part of a picture is taken whose page lies between low and high: where it begins, and
    its size."""
    if rng.random() < 0.45:
        room = rng.uniform(0, 0.25, 4)  # of a desk, at each side
    else:
        room = rng.uniform(-0.09, 0.02, 4)
    size = high - low
    low, high = low - room[:2] * size, high + room[2:] * size
    return low, high - low


def scribble(rng, page):
    """Writes on a page: lines that are none of print."""
    page, (h, w) = page.copy(), page.shape
    for _ in range(int(rng.integers(0, 12))):
        at = (int(rng.uniform(0, 0.9) * w), int(rng.uniform(0.02, 1) * h))
        words = "".join(
            rng.choice(list("abcdefghilmnopqrstuvwx   0123456789"), int(rng.integers(3, 30)))
        )
        cv2.putText(
            page,
            words,
            at,
            cv2.FONT_HERSHEY_SCRIPT_SIMPLEX,
            rng.uniform(0.25, 0.7),
            float(rng.uniform(0, 120)),
            1,
            cv2.LINE_AA,
        )
    return page


def desk(rng, h, w):
    base = rng.uniform(20, 235)
    under = base + rng.uniform(2, 25) * capture.field(rng, h, w, rng.uniform(2, 40), 2)
    if rng.random() < 0.5:  # grain, planks
        ys, xs = np.mgrid[0:h, 0:w].astype(np.float32)
        a, f = rng.uniform(0, math.pi), rng.uniform(0.02, 0.6)
        d = xs * np.cos(a) + ys * np.sin(a)
        under += rng.uniform(2, 15) * np.sin(f * d + 4 * capture.field(rng, h, w, 3))
        under -= rng.uniform(0, 40) * (np.abs(d % rng.uniform(60, 300)) < 2)
    return under.astype(np.float32)


def light(rng, body, u, v):
    """How light the sheet is at its points: as it is turned to a lamp and far from it, float [H,
    W]."""
    near = 1e-2
    du = body.space(u + near, v) - body.space(u - near, v)
    dv = body.space(u, v + near) - body.space(u, v - near)
    normal = np.cross(du, dv, axis=0)
    normal /= np.linalg.norm(normal, axis=0) + 1e-9
    lamp = np.array([*rng.normal(0, 0.7, 2), 1.0])
    lit = np.abs(np.tensordot(lamp / np.linalg.norm(lamp), normal, 1))
    share = rng.uniform(0, 1)
    lit = 1 - share + share * lit / lit.max()
    return lit * (1 + rng.uniform(0, 0.25) * capture.field(rng, *u.shape, rng.uniform(1, 3)))


def between(a, step, at, size):
    """Values at the pixels of a picture from values step pixels apart, the first of them at the
    pixel at; size is width and height."""
    to = np.array([[1 / step, 0, -at / step], [0, 1 / step, -at / step]])
    return cv2.warpAffine(
        np.ascontiguousarray(a, np.float32),
        to,
        size,
        flags=cv2.INTER_CUBIC | cv2.WARP_INVERSE_MAP,
        borderMode=cv2.BORDER_REPLICATE,
    )


def lattice(n):
    """Places of a picture's pixels whose points are computed, from before its first to beyond its
    last."""
    return np.arange(-(LATTICE // 2), n + LATTICE, LATTICE)


def drawn(rng, page, body):
    """A picture of a page, uint8 [HEIGHT, WIDTH], where the nodes of the flat page are, float [2,
    ROWS, COLUMNS], in steps from where they would be, and which of them count; None where it cannot
    be drawn."""
    h, w = page.shape
    half = max(h, w) / 2
    rim = np.linspace(-1, 1, 9)
    edge = np.concatenate(
        [np.stack([rim, np.full(9, s)]) for s in (-1, 1)]
        + [np.stack([np.full(9, s), rim]) for s in (-1, 1)],
        1,
    )
    edge = edge * np.array([[w / 2 / half], [h / 2 / half]])
    shown = body.place(*edge)
    start, size = framed(rng, shown.min(1), shown.max(1))
    scale = min(WIDTH / size[0], HEIGHT / size[1])  # pixels
    pad = (np.array([WIDTH, HEIGHT]) - scale * size) / 2
    to_pixels = lambda p: (
        (p - start.reshape(2, *[1] * (p.ndim - 1))) * scale
        + (pad - 0.5).reshape(2, *[1] * (p.ndim - 1))
    )

    xs, ys = np.meshgrid(lattice(WIDTH), lattice(HEIGHT))
    places = np.stack(
        [(xs + 0.5 - pad[0]) / scale + start[0], (ys + 0.5 - pad[1]) / scale + start[1]]
    )
    u, v = body.back(*places, rounds=6)
    off = np.abs(body.place(u, v) - places)[
        :, (np.abs(u) < w / 2 / half) & (np.abs(v) < h / 2 / half)
    ]
    if off.size == 0 or off.max() > 0.02:
        return None  # a part of the page hides another
    lit = light(rng, body, u, v)
    finer = lambda a: cv2.resize(
        between(a, LATTICE, xs[0, 0], (WIDTH, HEIGHT)), (FINE * WIDTH, FINE * HEIGHT)
    )
    mx, my = finer(u * half + (w - 1) / 2), finer(v * half + (h - 1) / 2)
    ink = rng.uniform(0.35, 1)
    paper, dark = rng.uniform(120, 255), page.astype(np.float32) / 255
    out = (
        cv2.remap(
            1 - ink * (1 - dark),
            mx,
            my,
            cv2.INTER_LINEAR,
            borderMode=cv2.BORDER_CONSTANT,
            borderValue=1,
        )
        * paper
        * finer(lit)
    )
    on = ((mx > -0.5) & (mx < w - 0.5) & (my > -0.5) & (my < h - 0.5)).astype(np.float32)
    on, out = (cv2.resize(a, (WIDTH, HEIGHT), interpolation=cv2.INTER_AREA) for a in (on, out * on))
    under = desk(rng, HEIGHT, WIDTH)
    if rng.random() < 0.6:
        under *= 1 - rng.uniform(0, 0.6) * cv2.blur(on, (13, 13))
    out += (1 - on) * under
    if rng.random() < 0.4:
        out = cv2.GaussianBlur(out, (0, 0), rng.uniform(0.3, 1.0))
    out += rng.standard_normal(out.shape, np.float32) * abs(rng.normal(0, 4))
    x0, y0 = (int(round(p)) for p in pad)
    inside = np.zeros(out.shape, bool)
    inside[y0 : HEIGHT - y0, x0 : WIDTH - x0] = True
    out[~inside] = np.median(out[inside])
    picture = np.clip(out, 0, 255).astype(np.uint8)

    nodes = np.stack(np.meshgrid(np.arange(COLUMNS), np.arange(ROWS))) * STEP + (STEP - 1) / 2
    # The flat page at the size and place at which it lies as nearly as may be where it does in the
    # picture.
    gu, gv = np.meshgrid(
        np.linspace(-w / 2 / half, w / 2 / half, 15), np.linspace(-h / 2 / half, h / 2 / half, 19)
    )
    flat, seen = np.stack([gu, gv]).reshape(2, -1), to_pixels(body.place(gu, gv)).reshape(2, -1)
    keep = (seen > -STEP).all(0) & (seen[0] < WIDTH + STEP) & (seen[1] < HEIGHT + STEP)
    flat, seen = flat[:, keep], seen[:, keep]
    fm, sm = flat.mean(1, keepdims=True), seen.mean(1, keepdims=True)
    size = ((flat - fm) * (seen - sm)).sum() / ((flat - fm) ** 2).sum()
    at = (nodes - sm[:, :, None]) / size + fm[:, :, None]
    there = to_pixels(body.place(at[0], at[1]))
    within = np.abs(at) < np.array([w / 2 / half + BEYOND, h / 2 / half + BEYOND])[:, None, None]
    visible = (there > -STEP) & (there < np.array([WIDTH, HEIGHT])[:, None, None] + STEP)
    return picture, ((there - nodes) / STEP).astype(np.float32), (within & visible).all(0)


def pages(split):
    """All printed pages of a split at the size that they are drawn from: uint8 [H, W] each. Real
    ones, most of which were never on paper and so are flat, are among them."""
    paths = sorted(
        path.with_suffix(".png") for path in (data_root() / "pages" / split).glob("*.json")
    )
    paths += [s.image for s in real.sources(split) if s.digital or not s.label]
    out = []
    for path in paths:
        image = cv2.imread(str(path), cv2.IMREAD_REDUCED_GRAYSCALE_2)
        scale = min(FINE * WIDTH / image.shape[1], FINE * HEIGHT / image.shape[0])
        out.append(cv2.resize(image, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA))
    if not out:
        raise FileNotFoundError(
            f"no pages of split {split} under {data_root()}: make some with "
            "training.layouts.library render"
        )
    return out


def sample(rng, library):
    page = library[rng.integers(len(library))]
    if rng.random() < 0.5:
        page = scribble(rng, page)
    while True:
        if (
            (shot := drawn(rng, page, sheet(rng)))
            and shot[2].sum() > 60
            and np.abs(shot[1][:, shot[2]]).max() < 5
        ):
            return shot


def maker(seed, split, batch, to):
    """Fills a queue with batches for ever."""
    cv2.setNumThreads(1)
    rng, library = np.random.default_rng(seed), pages(split)
    while True:
        to.put(tuple(np.stack(v) for v in zip(*[sample(rng, library) for _ in range(batch)])))


def flat(picture, grid):
    """A picture made flat by a grid."""
    nodes = np.stack(np.meshgrid(np.arange(COLUMNS), np.arange(ROWS))) * STEP + (STEP - 1) / 2
    to = (nodes + grid * STEP).astype(np.float32)
    mx, my = (between(a, STEP, (STEP - 1) / 2, (WIDTH, HEIGHT)) for a in to)
    return cv2.remap(picture, mx, my, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)


def draw(a):
    rng, library = np.random.default_rng(a.seed), pages("val")
    model = load(a.init)[0] if a.init else None
    rows = []
    for _ in range(4):
        row = []
        for _ in range(3):
            picture, grid, _ = sample(rng, library)
            row += [picture, flat(picture, grid)]
            if model:
                with torch.no_grad():
                    row.append(
                        flat(
                            picture,
                            model(torch.from_numpy(picture)[None, None].float() / 255)[
                                0, :2
                            ].numpy(),
                        )
                    )
        rows.append(np.concatenate(row, 1))
    cv2.imwrite(a.out, np.concatenate(rows))


def main():
    p = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    p.add_argument("out")
    p.add_argument("--init", help="a checkpoint")
    p.add_argument("--seed", default=1, type=int)
    draw(p.parse_args())


if __name__ == "__main__":
    main()
