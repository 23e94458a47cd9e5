"""Marks that are not text: ticks, circles, strike-outs, shadings, drawings, as strokes in a w x h
pixel frame."""

import numpy as np
from scipy.ndimage import gaussian_filter1d

from training.common.ink.hands import as_stroke, resample
from training.common.ink.texts import pick


def curve(rng, points, wobble=0.0, step=3.0):
    """A smooth stroke through points, unsteady by about wobble pixels."""
    points = resample(points, step)
    return as_stroke(points + sway(rng, points, wobble)) if wobble else as_stroke(points)


def lines(rng, corners, wobble=0.0, step=6.0):
    """A stroke straight from corner to corner."""
    parts = []
    for a, b in zip(corners[:-1], corners[1:]):
        n = max(2, int(np.hypot(*np.subtract(b, a)) / step))
        parts.append(np.linspace(a, b, n))
    points = np.concatenate(parts)
    return as_stroke(points + sway(rng, points, wobble))


def sway(rng, points, amount):
    n = len(points)
    knots = max(2, n // 12 + 2)
    at = np.linspace(0, knots - 1, n)
    moves = np.stack(
        [np.interp(at, np.arange(knots), rng.normal(0, amount, knots)) for _ in range(2)], 1
    )
    return gaussian_filter1d(moves, 4, axis=0, mode="nearest")


def ellipse(rng, w, h, turns=None):
    """An ellipse as people draw it: once or twice round, not closed exactly, drifting."""
    turns = turns or rng.uniform(0.93, 1.12) + (rng.random() < 0.2) * rng.uniform(0.6, 1.0)
    n = int(24 + 40 * turns)
    angle = rng.uniform(-2.6, -0.6) + np.linspace(0, 2 * np.pi * turns, n) * (
        1 if rng.random() < 0.25 else -1
    )
    drift = 1 + np.linspace(0, rng.normal(0, 0.07), n) + sway(rng, angle, 0.025)[:, 0]
    square = rng.uniform(0.88, 1.05)  # below 1: nearer a rectangle with round corners
    x, y = (np.sign(f(angle)) * np.abs(f(angle)) ** square for f in (np.cos, np.sin))
    tilt = rng.normal(0, 0.05)
    return as_stroke(
        np.stack(
            [
                w / 2 + w / 2 * drift * x + tilt * h * y * 0.5,
                h / 2 + h / 2 * drift * y - tilt * h * x,
            ],
            1,
        )
    )


def tick(rng, w, h):
    u = rng.uniform
    low = (w * u(0.2, 0.4), h * u(0.88, 1))
    points = [(0, h * u(0.45, 0.7)), (w * u(0.1, 0.18), h * u(0.65, 0.8)), low]
    return [
        np.concatenate(
            [
                curve(rng, points, w * 0.01),
                curve(rng, [low, (w * u(0.5, 0.65), h * u(0.3, 0.5)), (w, 0)], w * 0.01),
            ]
        )
    ]


def cross(rng, w, h):
    u = lambda: rng.uniform(-0.08, 0.12)
    ends = [
        [(u() * w, u() * h), (w - u() * w, h - u() * h)],
        [(w - u() * w, u() * h), (u() * w, h - u() * h)],
    ]
    return [
        curve(
            rng,
            [
                a,
                (
                    (a[0] + b[0]) / 2 + rng.normal(0, 0.03) * w,
                    (a[1] + b[1]) / 2 + rng.normal(0, 0.03) * h,
                ),
                b,
            ],
            w * 0.01,
        )
        for a, b in ends
    ]


def straight(rng, w, h, tilt=0.4):
    y0, y1 = h / 2 + rng.normal(0, tilt / 2, 2) * h
    bow = rng.normal(0, 0.1) * min(h, w / 20)
    return curve(
        rng,
        [(0, y0), (w * 0.35, (2 * y0 + y1) / 3 + bow), (w * 0.7, (y0 + 2 * y1) / 3 + bow), (w, y1)],
        min(h * 0.06, w * 0.01),
    )


def underline(rng, w, h):
    return [straight(rng, w, h)]


def double_underline(rng, w, h):
    gap = h * rng.uniform(0.3, 0.6)
    return [
        straight(rng, w, h * 0.4, 0.3),
        straight(rng, w * rng.uniform(0.8, 1), h * 0.4, 0.3) + [rng.uniform(0, 0.1) * w, gap, 0],
    ]


def wavy(rng, w, h):
    n = max(2, int(w / max(h, 4) / rng.uniform(0.5, 1)))
    x = np.linspace(0, w, 2 * n + 1)
    y = np.where(np.arange(2 * n + 1) % 2, h * 0.85, h * 0.15) + rng.normal(0, h * 0.06, 2 * n + 1)
    return [curve(rng, np.stack([x + rng.normal(0, w / n * 0.04, len(x)), y], 1))]


def strike(rng, w, h):
    return [
        straight(rng, w, h * 0.5, 0.5) + [0, h * rng.uniform(0.05, 0.45), 0]
        for _ in range(pick(rng, [1, 1, 1, 2, 3]))
    ]


def zigzag(rng, w, h, pitch, lean=0.4):
    n = max(3, int(w / pitch))
    x = (
        np.linspace(0, w, n)
        + rng.normal(0, pitch * 0.2, n)
        + np.where(np.arange(n) % 2, lean, -lean) * h * 0.3
    )
    y = np.where(np.arange(n) % 2, 0.04, 0.96) * h + rng.normal(0, h * 0.07, n)
    return np.stack([x, y], 1)


def scribble(rng, w, h):
    if rng.random() < 0.55:
        return [curve(rng, zigzag(rng, w, h, max(4, min(w, h) * rng.uniform(0.12, 0.4))), h * 0.02)]
    if rng.random() < 0.5:  # loops, like a spring
        n = int(np.clip(w / max(h, 4) * rng.uniform(2, 5), 3, 40))
        angle = np.linspace(0, 2 * np.pi * n, n * 28)
        x = np.linspace(h * 0.25, w - h * 0.25, len(angle)) + h * 0.3 * np.cos(angle)
        return [
            as_stroke(
                np.stack([x, h / 2 + h * 0.45 * np.sin(angle)], 1) + sway(rng, angle, h * 0.04)
            )
        ]
    knots = int(rng.integers(8, 25))
    return [curve(rng, np.stack([rng.uniform(0, w, knots), rng.uniform(0, h, knots)], 1))]


def arrow(rng, w, h):
    a, b = np.array([0, rng.uniform(0, h)]), np.array([w, rng.uniform(0, h)])
    if rng.random() < 0.4:
        a, b = b, a
    middle = (a + b) / 2 + rng.normal(0, 0.15, 2) * h
    shaft = curve(rng, [a, middle, b], h * 0.01)
    back = (
        (middle - b)
        / (np.hypot(*(middle - b)) + 1e-6)
        * np.clip(min(w, h) * 0.4, 6, 40)
        * rng.uniform(0.7, 1.2)
    )
    wings = [
        b + [back[0] * np.cos(t) - back[1] * np.sin(t), back[0] * np.sin(t) + back[1] * np.cos(t)]
        for t in (rng.uniform(0.35, 0.7), -rng.uniform(0.35, 0.7))
    ]
    return [shaft, lines(rng, [wings[0], b, wings[1]])]


def bracket(rng, w, h):
    side = w * 0.1 if rng.random() < 0.5 else w * 0.9
    arm = w - side if side < w / 2 else 0
    return [
        lines(
            rng,
            [
                (arm or w - side, 0),
                (side, h * 0.02),
                (side + rng.normal(0, 0.04) * w, h * 0.98),
                (arm or w - side, h),
            ],
            min(w, h) * 0.015,
        )
    ]


def brace(rng, w, h):
    x = np.array([0.95, 0.5, 0.45, 0.5, 0.05, 0.5, 0.45, 0.5, 0.95])
    y = np.array([0, 0.03, 0.2, 0.44, 0.5, 0.56, 0.8, 0.97, 1])
    deep, long = min(w, h, max(w, h) * 0.3), max(w, h)
    points = np.stack(
        [(x if rng.random() < 0.5 else 1 - x) * deep + rng.normal(0, 0.02, 9) * deep, y * long], 1
    )
    return [curve(rng, points if h >= w else points[:, ::-1], deep * 0.01)]


def box(rng, w, h):
    j = lambda: rng.normal(0, 0.03, 2) * min(w, h)
    corners = [np.array(c) + j() for c in ((0, 0), (w, 0), (w, h), (0, h), (0, 0))]
    if rng.random() < 0.4:
        return [
            lines(rng, [a + j() * 0.6, b + j() * 0.6], min(w, h) * 0.01)
            for a, b in zip(corners[:-1], corners[1:])
        ]
    return [lines(rng, corners, min(w, h) * 0.012)]


def star(rng, w, h):
    angle = -np.pi / 2 + np.arange(6) * 4 * np.pi / 5 + rng.normal(0, 0.06, 6)
    return [
        lines(
            rng,
            np.stack([w / 2 + w / 2 * np.cos(angle), h / 2 + h / 2 * np.sin(angle)], 1),
            w * 0.01,
        )
    ]


def fill(rng, w, h):
    """A bubble filled in: strokes to and fro within an ellipse, past its edge here and there."""
    pitch = max(1.2, min(w, h) * rng.uniform(0.04, 0.1))
    turn = rng.uniform(-1, 1)
    points = zigzag(rng, 2, 2, 2 * pitch / max(w, h), 0) - 1
    span = np.sqrt(np.clip(1 - points[:, 0] ** 2, 0.02, 1)) * rng.uniform(0.75, 1.05)
    points[:, 1] *= span
    c, s = np.cos(turn), np.sin(turn)
    points = points @ np.array([[c, s], [-s, c]]) * [w / 2, h / 2] + [w / 2, h / 2]
    strokes = [as_stroke(points)]
    if rng.random() < 0.6:
        strokes.append(ellipse(rng, w * 0.95, h * 0.95, rng.uniform(1, 2.5)))
    return strokes


def shade(rng, w, h):
    pitch = max(3, min(w, h) * rng.uniform(0.05, 0.15))
    turn = rng.uniform(0.3, 1.2) * pick(rng, [-1, 1])
    strokes, direction = [], np.array([np.cos(turn), np.sin(turn)])
    across = np.array([-direction[1], direction[0]])
    reach = abs(across) @ [w, h] / 2
    for offset in np.arange(-reach, reach, pitch):
        middle = np.array([w, h]) / 2 + across * (offset + rng.normal(0, pitch * 0.15))
        limits = [
            sorted(((0 - m) / d, (size - m) / d)) for m, d, size in zip(middle, direction, (w, h))
        ]
        low, high = max(l[0] for l in limits), min(l[1] for l in limits)
        if high > low:
            low, high = low + rng.normal(0, pitch * 0.3), high + rng.normal(0, pitch * 0.3)
            strokes.append(
                lines(rng, [middle + direction * low, middle + direction * high], pitch * 0.05)
            )
    return strokes or [straight(rng, w, h)]


def highlight(rng, w, h):
    """The outline of a broad stroke of a chisel tip."""
    path = straight(rng, w, h * 0.2)[:, :2] + [0, h * 0.4]
    lean, tall = rng.normal(0, 0.15) * h, h * rng.uniform(0.36, 0.46)
    return np.concatenate([path + [lean, -tall], path[::-1] + [-lean, tall]]).astype(np.float32)


def crayon_area(rng, w, h):
    strokes = [
        curve(
            rng,
            zigzag(rng, w, h, max(3, min(w, h) * rng.uniform(0.04, 0.09)), 0.1),
            min(w, h) * 0.01,
        )
    ]
    if rng.random() < 0.5:
        strokes += [ellipse(rng, w, h, 1.05)] if rng.random() < 0.4 else box(rng, w, h)
    return strokes


def angle(rng, w, h):
    corner = np.array([w * rng.uniform(0, 0.15), h * rng.uniform(0.85, 1)])
    ends = [np.array([w, h * rng.uniform(0.8, 1)]), np.array([w * rng.uniform(0.5, 1), 0])]
    strokes = [lines(rng, [ends[0], corner, ends[1]], min(w, h) * 0.006)]
    if rng.random() < 0.7:
        turn = [np.arctan2(*(e - corner)[::-1]) for e in ends]
        at = np.linspace(*turn, 12)
        strokes.append(as_stroke(corner + min(w, h) * 0.25 * np.stack([np.cos(at), np.sin(at)], 1)))
    return strokes


def smiley(rng, w, h):
    w = h = min(w, h)
    at = np.linspace(0.2, np.pi - 0.2, 12)
    smile = pick(rng, [1, 1, 1, 0.3, -0.5])
    mouth = np.stack(
        [w / 2 + w * 0.28 * np.cos(at), h * (0.62 - 0.12 * smile) + h * 0.28 * np.sin(at) * smile],
        1,
    )
    eyes = [
        ellipse(rng, w * 0.06, h * 0.08) + [w * (x + rng.normal(0, 0.02)), h * 0.32, 0]
        for x in (0.3, 0.62)
    ]
    return [ellipse(rng, w, h), curve(rng, mouth), *eyes]


def dots(rng, w, h):
    return [
        as_stroke(rng.uniform(0, 1, (1, 2)) * [w, h] + rng.normal(0, 1, (2, 2)) * 0.4)
        for _ in range(int(rng.integers(1, 7)))
    ]


def caret(rng, w, h):
    return [
        lines(rng, [(0, h * rng.uniform(0.9, 1)), (w * rng.uniform(0.4, 0.6), 0), (w, h)], w * 0.02)
    ]


def line(rng, w, h):
    ends = (
        [(0, h * rng.uniform(0, 1)), (w, h * rng.uniform(0, 1))]
        if w > h
        else [(w * rng.uniform(0, 1), 0), (w * rng.uniform(0, 1), h)]
    )
    return [lines(rng, ends, pick(rng, [0, 0.2, 0.6]))]


def free_curve(rng, w, h):
    x = np.linspace(0, w, int(rng.integers(3, 8)))
    return [curve(rng, np.stack([x, rng.uniform(0, h, len(x))], 1))]


def dashed(stroke, dash, gap):
    """A straight or curved stroke as a dashed one."""
    length = np.concatenate([[0], np.hypot(*np.diff(stroke[:, :2], axis=0).T).cumsum()])
    drawn = length % (dash + gap) < dash
    parts = np.split(stroke, np.flatnonzero(np.diff(drawn)) + 1)
    return [part for part in parts[::2] if len(part) > 1] or [stroke]


def triangle(rng, w, h):
    a, b, c = (
        (w * rng.uniform(0, 0.2), h),
        (w, h * rng.uniform(0.85, 1)),
        (w * rng.uniform(0.1, 0.9), 0),
    )
    strokes = [lines(rng, [a, b, c, a], pick(rng, [0.1, 1]))]
    if rng.random() < 0.7:  # a perpendicular with its little square, often dashed
        foot = np.array([c[0], a[1] + (b[1] - a[1]) * (c[0] - a[0]) / (b[0] - a[0])])
        height = lines(rng, [c, foot], 0.3, 2)
        strokes += dashed(height, 7, 5) if rng.random() < 0.5 else [height]
        k = min(w, h) * 0.08
        strokes.append(lines(rng, [foot - [0, k], foot + [k, -k], foot + [k, 0]], 0.2))
    return strokes


def axes(rng, w, h):
    o = np.array([w * rng.uniform(0.1, 0.5), h * rng.uniform(0.5, 0.9)])
    strokes = [
        lines(rng, [(0, o[1]), (w, o[1] + rng.normal(0, 1))], 0.3),
        lines(rng, [(o[0], h), (o[0] + rng.normal(0, 1), 0)], 0.3),
    ]
    strokes += [
        lines(rng, [(w - 7, o[1] - 5), (w, o[1]), (w - 7, o[1] + 5)]),
        lines(rng, [(o[0] - 5, 7), (o[0], 0), (o[0] + 5, 7)]),
    ]
    x = np.linspace(-1, 1, 40)
    y = pick(
        rng,
        [x**2 * 2 - 1, np.sin(4 * x), x, x**3, -(x**2), np.abs(x), np.exp(2 * x) / 4 - 1, -0.8 * x],
    )
    points = np.stack([o[0] + x * w * 0.45, o[1] - y * h * 0.4], 1)
    points = points[(points[:, 1] > 0) & (points[:, 1] < h) & (points[:, 0] > 0)]
    if len(points) > 3:
        strokes.append(as_stroke(points + sway(rng, points, 0.8)))
    for x in np.arange(o[0], w - 12, w * rng.uniform(0.08, 0.15)):
        strokes.append(lines(rng, [(x, o[1] - 3), (x, o[1] + 3)]))
    return strokes


def solid(rng, w, h):
    d = np.array([w * 0.25, -h * 0.25])
    front = np.array([(0, h * 0.25), (w * 0.75, h * 0.25), (w * 0.75, h), (0, h)]) + rng.normal(
        0, 0.8, (4, 2)
    )
    strokes = [
        lines(rng, [*front, front[0]], 0.5),
        lines(rng, [front[0], front[0] + d, front[1] + d, front[2] + d, front[2]], 0.5),
        lines(rng, [front[1], front[1] + d], 0.5),
    ]
    hidden = front[3] + d
    for end in (front[3], front[0] + d, front[2] + d):
        strokes += dashed(lines(rng, [hidden, end], 0.3, 2), 6, 5)
    return strokes


def house(rng, w, h):
    wall = [
        (w * 0.1, h),
        (w * 0.1, h * 0.45),
        (w * 0.5, 0),
        (w * 0.9, h * 0.45),
        (w * 0.9, h),
        (w * 0.1, h),
    ]
    door = [(w * 0.42, h), (w * 0.42, h * 0.68), (w * 0.58, h * 0.68), (w * 0.58, h)]
    window = [
        (w * 0.2, h * 0.55),
        (w * 0.34, h * 0.55),
        (w * 0.34, h * 0.68),
        (w * 0.2, h * 0.68),
        (w * 0.2, h * 0.55),
    ]
    return [
        lines(rng, part, w * 0.012)
        for part in (wall, [(w * 0.1, h * 0.45), (w * 0.9, h * 0.45)], door, window)
    ]


def flower(rng, w, h):
    n, strokes = (
        int(rng.integers(4, 8)),
        [ellipse(rng, w * 0.16, w * 0.16) + [w * 0.42, h * 0.25, 0]],
    )
    centre = np.array([w * 0.5, h * 0.25 + w * 0.08])
    for a in np.arange(n) * 2 * np.pi / n:
        petal = ellipse(rng, w * 0.2, w * 0.2)
        strokes.append(
            petal + [*(centre - w * 0.1 + w * 0.2 * np.array([np.cos(a), np.sin(a)])), 0]
        )
    strokes.append(
        curve(rng, [centre + [0, w * 0.1], (w * rng.uniform(0.4, 0.6), h * 0.7), (w * 0.5, h)], 1)
    )
    return strokes


def person(rng, w, h):
    x = w / 2
    return [
        ellipse(rng, h * 0.25, h * 0.25) + [x - h * 0.125, 0, 0],
        curve(rng, [(x, h * 0.25), (x + rng.normal(0, 2), h * 0.45), (x, h * 0.65)]),
        lines(
            rng,
            [
                (w * 0.1, h * rng.uniform(0.3, 0.6)),
                (x, h * 0.35),
                (w * 0.9, h * rng.uniform(0.3, 0.6)),
            ],
            1,
        ),
        lines(rng, [(w * 0.2, h), (x, h * 0.65), (w * 0.8, h)], 1),
    ]


def cloud(rng, w, h):
    n = int(rng.integers(6, 11))
    angle = np.linspace(0, 2 * np.pi, n * 8)
    r = 0.8 + 0.2 * np.abs(np.sin(angle * n / 2))
    return [
        as_stroke(
            np.stack([w / 2 + w / 2 * r * np.cos(angle), h / 2 + h / 2 * r * np.sin(angle)], 1)
        )
    ]


def heart(rng, w, h):
    t = np.linspace(0, 2 * np.pi, 50)
    x, y = (
        16 * np.sin(t) ** 3,
        13 * np.cos(t) - 5 * np.cos(2 * t) - 2 * np.cos(3 * t) - np.cos(4 * t),
    )
    points = np.stack([w / 2 + x / 34 * w, h * 0.45 - y / 34 * h], 1)
    return [as_stroke(points + sway(rng, points, w * 0.02))]


def spiral(rng, w, h):
    t = np.linspace(0, 2 * np.pi * rng.uniform(2, 6), 160)
    return [
        as_stroke(
            np.stack(
                [w / 2 + w / 2 * t / t[-1] * np.cos(t), h / 2 + h / 2 * t / t[-1] * np.sin(t)], 1
            )
        )
    ]


def circuit(rng, w, h):
    """A table or grid, or boxes joined by arrows."""
    if rng.random() < 0.5:
        rows, columns = int(rng.integers(2, 5)), int(rng.integers(2, 5))
        return [
            lines(rng, [(0, y), (w, y + rng.normal(0, 1))], 0.5)
            for y in np.linspace(0, h, rows + 1)
        ] + [
            lines(rng, [(x, 0), (x + rng.normal(0, 1), h)], 0.5)
            for x in np.linspace(0, w, columns + 1)
        ]
    side = min(w, h) * 0.3
    spots = [(0, 0), (w - side, 0), ((w - side) / 2, h - side)]
    strokes = [
        s + [*spot, 0]
        for spot in spots
        for s in (box(rng, side, side) if rng.random() < 0.5 else [ellipse(rng, side, side)])
    ]
    return strokes + [s + [side, 0, 0] for s in arrow(rng, max(w - 2 * side, 8), side)]


DRAWINGS = [
    triangle,
    triangle,
    axes,
    axes,
    solid,
    house,
    flower,
    person,
    cloud,
    heart,
    spiral,
    circuit,
    angle,
    free_curve,
    star,
]


def drawing(rng, w, h):
    """Any of the drawings, made smaller where it does not fit a frame of this shape."""
    strokes = pick(rng, DRAWINGS)(rng, w, h)
    points = np.concatenate([s[:, :2] for s in strokes])
    fit = min(1, (np.array([w, h]) / np.maximum(np.ptp(points, 0), 1)).min())
    return [np.concatenate([s[:, :2] * fit, s[:, 2:]], 1) for s in strokes]


STROKES = {
    "tick": tick,
    "cross": cross,
    "circle": lambda rng, w, h: [ellipse(rng, w, h)],
    "underline": underline,
    "double_underline": double_underline,
    "wavy": wavy,
    "strike": strike,
    "scribble": scribble,
    "arrow": arrow,
    "bracket": bracket,
    "brace": brace,
    "box": box,
    "star": star,
    "fill": fill,
    "shade": shade,
    "line": line,
    "angle": angle,
    "curve": free_curve,
    "smiley": smiley,
    "dots": dots,
    "caret": caret,
    "drawing": drawing,
    "crayon_area": crayon_area,
}
