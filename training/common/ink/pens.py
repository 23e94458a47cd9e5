"""Pens: how strokes become ink on paper, as transmittance.

A patch is uint8 H x W x 3 RGB: 255 where there is no ink, and a page written on is page * patch /
255.
"""

import functools
from dataclasses import dataclass, replace

import cv2
import numpy as np

from training.common.ink.texts import pick

MARGIN = 2  # pixels of bare paper round a patch
LEVELS = 16  # steps of ink density along a stroke

COLOURS = {  # RGB transmittance of full ink
    "blue": (38, 62, 170),
    "royal": (25, 40, 140),
    "darkblue": (22, 30, 84),
    "black": (26, 26, 28),
    "softblack": (58, 56, 60),
    "red": (206, 36, 46),
    "darkred": (150, 24, 36),
    "green": (28, 128, 66),
    "purple": (104, 44, 146),
    "orange": (236, 126, 30),
    "teal": (12, 128, 140),
    "pink": (232, 72, 142),
    "brown": (112, 70, 40),
    "sky": (64, 140, 220),
    "graphite": (84, 84, 90),
    "yellow": (250, 214, 40),
    "lime": (140, 200, 50),
    "sepia": (88, 60, 44),
}
WRITING = {
    "blue": 25,
    "royal": 10,
    "black": 17,
    "softblack": 5,
    "darkblue": 13,
    "red": 15,
    "darkred": 3,
    "green": 3,
    "purple": 3,
    "orange": 1.2,
    "teal": 1.5,
    "pink": 1.5,
    "brown": 1,
    "sky": 2,
    "sepia": 0.7,
}
HIGHLIGHTS = [
    (252, 250, 90),
    (250, 246, 30),
    (170, 250, 120),
    (255, 160, 205),
    (255, 196, 96),
    (150, 222, 252),
    (206, 170, 248),
]
KINDS = {
    "ballpoint": 34,
    "gel": 16,
    "pencil": 27,
    "fountain": 7,
    "felt": 6,
    "marker": 3,
    "fineliner": 6,
    "crayon": 3,
    "stylus": 7,
}


@dataclass(frozen=True)
class Pen:
    kind: str
    colour: tuple  # RGB transmittance of full ink, 0..255
    width: float  # of a stroke, relative to the height of a small x
    sway: float = 0.1  # variation of width along a stroke
    nib: float = 0.0  # 0 a round point .. 1 a broad nib, thin along nib_angle
    nib_angle: float = 0.7
    density: float = 1.0  # 1 = full ink
    pressure: float = 0.1  # variation of density along a stroke
    gaps: float = 0.0  # share of a stroke where the ball skips
    blobs: float = 0.0  # chance of a dark dot at the end of a stroke
    taper: float = 0.0  # how thin strokes run out, 0..1
    feather: float = 0.4  # pixels: blur of the edges
    grain: float = 0.0  # paper grain showing through
    mottle: float = 0.1  # slow change of density over the page

    def render(self, rng, strokes, thickness, outlines=()):
        """Draws strokes (N x 3, N > 1: x, y in pixels and relative width) at this thickness in
        pixels.

        outlines are lists of polygons, filled even-odd. Returns the tight patch and the pixel of
        the strokes' own frame that the patch's top left corner lies at; a 1 x 1 blank when there is
        nothing.
        """
        points = [s[:, :2] for s in strokes] + [p for polygons in outlines for p in polygons]
        if not points:
            return np.full((1, 1, 3), 255, np.uint8), (0, 0)
        every = np.concatenate(points)
        if not np.isfinite(every).all():
            raise ValueError("stroke with a coordinate that is not a number")
        reach = thickness * 0.9 + 2
        left, top = np.floor(every.min(0) - reach).astype(int)
        right, bottom = np.ceil(every.max(0) + reach).astype(int)
        scale = int(np.clip(np.ceil(4 / max(thickness, 0.3)), 1, 4))
        canvas = np.zeros(((bottom - top) * scale, (right - left) * scale), np.uint8)
        if canvas.size > 60_000_000:
            raise ValueError(
                f"ink of {right - left} x {bottom - top} pixels is larger than any page"
            )
        for polygons in outlines:
            level = int(255 * np.clip(self.density * rng.normal(1, self.pressure / 2), 0.2, 1))
            cv2.fillPoly(
                canvas,
                [np.round(((p - [left, top]) * scale) * 16).astype(np.int32) for p in polygons],
                level,
                cv2.LINE_AA,
                4,
            )
        if strokes:
            self._draw(rng, canvas, strokes, (left, top), scale, thickness)
        ink = (
            canvas
            if scale == 1
            else cv2.resize(canvas, None, fx=1 / scale, fy=1 / scale, interpolation=cv2.INTER_AREA)
        )
        if self.feather > 0.15:
            ink = cv2.GaussianBlur(ink, (0, 0), self.feather)
        ink = self._texture(rng, ink, thickness)
        x0, y0, x1, y1 = _inked(ink > 4)
        ink = cv2.copyMakeBorder(
            ink[y0:y1, x0:x1], MARGIN, MARGIN, MARGIN, MARGIN, cv2.BORDER_CONSTANT, value=0
        )
        return cv2.LUT(cv2.merge([ink] * 3), self._table), (
            int(left + x0 - MARGIN),
            int(top + y0 - MARGIN),
        )

    def _draw(self, rng, canvas, strokes, origin, scale, thickness):
        """Draws strokes in runs of equal width and density: all are worked out at once, for
        speed."""
        lengths = np.array([len(s) for s in strokes])
        ends = np.cumsum(lengths) - 1
        starts = ends - lengths + 1
        points = np.concatenate(strokes)
        n = len(points)
        along = (np.arange(n) - np.repeat(starts, lengths)) / np.repeat(
            np.maximum(lengths - 1, 1), lengths
        )
        width = np.full(n, thickness * scale)
        if self.sway:
            width *= 1 + self.sway * _wave(rng, n)
        if self.nib:
            step = np.diff(points[:, :2], axis=0, append=points[-1:, :2])
            across = np.abs(np.sin(np.arctan2(step[:, 1], step[:, 0]) + self.nib_angle))
            width *= (1 - self.nib) + self.nib * (0.35 + 0.95 * across) * np.clip(
                points[:, 2], 0.5, 1.6
            )
        if self.taper:
            loss = np.repeat(self.taper * rng.uniform(0.3, 1, len(strokes)), lengths)
            width *= 1 - loss * np.clip((along - 0.7) / 0.3, 0, 1)
        level = np.full(n, self.density)
        if self.pressure:
            level *= 1 + self.pressure * (_wave(rng, n) - 0.5)
        if self.gaps:
            level[_wave(rng, n) > 2.2 * (1 - self.gaps)] *= rng.uniform(0.1, 0.6)
        xy = np.round((points[:, :2] - origin) * (scale * 16)).astype(np.int32)
        thick = np.maximum(np.round(width), 1).astype(int)
        ink = np.clip(np.round(level * LEVELS), 1, LEVELS).astype(int)
        line = cv2.LINE_AA if scale == 1 else cv2.LINE_8
        segments = np.delete(np.arange(n), ends)
        key = thick[segments] * (LEVELS + 1) + ink[segments]
        cuts = np.flatnonzero((np.diff(key) != 0) | (np.diff(segments) > 1)) + 1
        for a, b in zip(
            segments[np.concatenate([[0], cuts])].tolist(),
            segments[np.concatenate([cuts, [len(segments)]]) - 1].tolist(),
        ):
            cv2.polylines(
                canvas, [xy[a : b + 2]], False, 255 * int(ink[a]) // LEVELS, int(thick[a]), line, 4
            )
        dark = int(255 * min(1, self.density * 1.25))
        for at in np.concatenate([starts, ends])[rng.random(2 * len(strokes)) < self.blobs]:
            cv2.circle(
                canvas,
                tuple(xy[at].tolist()),
                int(thick[at] * rng.uniform(8, 12)),
                dark,
                -1,
                line,
                4,
            )

    def _texture(self, rng, ink, thickness):
        if not (self.grain or self.mottle):
            return ink
        h, w = ink.shape
        field = np.ones((h, w), np.float32)
        if self.mottle:
            cells = rng.normal(1, self.mottle, (h // 48 + 2, w // 48 + 2)).astype(np.float32)
            field = np.minimum(cv2.resize(cells, (w, h), interpolation=cv2.INTER_CUBIC), 1.15)
        if self.grain:
            coarse = 0.7 + min(thickness / 12, 1) * rng.uniform(0.2, 0.8)
            paper = _grain(rng, h, w, coarse)
            # Graphite and wax sit on the tops of the paper: less pressure, fewer tops.
            field *= np.clip(1 - self.grain * (0.9 + paper - ink / 255), 0, 1.1)
        return np.clip(ink * field, 0, 255).astype(np.uint8)

    @functools.cached_property
    def _table(self):
        level = np.arange(256)[:, None] / 255
        table = 255 - level * (255 - np.array(self.colour, float))
        return np.round(table).astype(np.uint8).reshape(256, 1, 3)


def _wave(rng, n):
    """Smooth noise of about unit size with a knot every ten points or so."""
    knots = n // 10 + 2
    values = rng.normal(0, 0.7, knots)
    return np.interp(np.linspace(0, knots - 1, n), np.arange(knots), values)


@functools.lru_cache(1)
def _grain_tile():
    noise = np.random.default_rng(7).normal(0, 1, (1024, 1024)).astype(np.float32)
    tile = noise + 2.5 * cv2.GaussianBlur(noise, (0, 0), 1.0)
    return tile / tile.std() * 0.5


def _grain(rng, h, w, coarse):
    tile = _grain_tile()
    sh, sw = (min(int(np.ceil(v / coarse)) + 1, 1024) for v in (h, w))
    y, x = int(rng.integers(0, 1025 - sh)), int(rng.integers(0, 1025 - sw))
    return cv2.resize(tile[y : y + sh, x : x + sw], (w, h), interpolation=cv2.INTER_LINEAR)


def coverage(patch):
    """Where a patch has ink that can be seen: a boolean mask."""
    return darkest(patch) < 237


def darkest(patch):
    """The least transmittance over the channels, H x W."""
    return cv2.min(cv2.min(patch[..., 0], patch[..., 1]), patch[..., 2])


def tight(patch):
    """The patch cut to its ink with MARGIN pixels round it."""
    x0, y0, x1, y1 = _inked(darkest(patch) < 250)
    return cv2.copyMakeBorder(
        patch[y0:y1, x0:x1],
        MARGIN,
        MARGIN,
        MARGIN,
        MARGIN,
        cv2.BORDER_CONSTANT,
        value=(255, 255, 255),
    )


def _inked(mask):
    """The box of what is True: x0, y0, x1, y1; one pixel when nothing is."""
    rows, columns = np.flatnonzero(mask.any(1)), np.flatnonzero(mask.any(0))
    return (columns[0], rows[0], columns[-1] + 1, rows[-1] + 1) if len(rows) else (0, 0, 1, 1)


def weighted(rng, weights):
    names = list(weights)
    share = np.cumsum(list(weights.values()))
    return names[int(np.searchsorted(share, rng.random() * share[-1], side="right"))]


def ink_colour(rng, name=None):
    """A pen colour near the named one (any of COLOURS), or near one that people write with."""
    base = np.array(COLOURS[name or weighted(rng, WRITING)], float)
    return tuple(np.clip(base + rng.normal(0, 9, 3) + rng.normal(0, 9), 0, 250))


def make_pen(rng, kind=None):
    """A pen of this kind (any of KINDS, or highlighter), or of one that people write with."""
    kind = kind or weighted(rng, KINDS)
    u = rng.uniform
    if kind == "ballpoint":
        pen = Pen(
            kind,
            ink_colour(rng),
            u(0.07, 0.16),
            sway=u(0, 0.15),
            density=u(0.62, 1),
            pressure=u(0.05, 0.3),
            gaps=u(0, 0.45) if rng.random() < 0.5 else 0,
            blobs=u(0, 0.3),
            taper=u(0, 0.6),
            feather=u(0.3, 0.7),
            grain=u(0, 0.3),
            mottle=u(0, 0.06),
        )
    elif kind == "gel":
        pen = Pen(
            kind,
            ink_colour(rng),
            u(0.09, 0.19),
            sway=u(0, 0.08),
            density=u(0.9, 1),
            pressure=u(0, 0.08),
            blobs=u(0, 0.25),
            taper=u(0, 0.3),
            feather=u(0.3, 0.7),
            mottle=u(0, 0.06),
        )
    elif kind == "pencil":
        hard = rng.random() < 0.4
        grey = rng.uniform(60, 120) if not hard else rng.uniform(90, 160)
        colour = tuple(grey + rng.normal(0, 3, 3)) if rng.random() < 0.92 else ink_colour(rng)
        pen = Pen(
            kind,
            colour,
            u(0.06, 0.12) if hard else u(0.08, 0.2),
            sway=u(0.05, 0.25),
            density=u(0.5, 0.8) if hard else u(0.65, 1),
            pressure=u(0.1, 0.45),
            taper=u(0, 0.6),
            feather=u(0.3, 0.8),
            grain=u(0.2, 0.7),
            mottle=u(0.02, 0.1),
        )
    elif kind == "fountain":
        colour = ink_colour(
            rng, pick(rng, ["blue", "royal", "darkblue", "black", "sky", "sepia", "purple", "teal"])
        )
        pen = Pen(
            kind,
            colour,
            u(0.1, 0.22),
            sway=u(0.05, 0.2),
            nib=u(0.3, 0.95),
            nib_angle=u(0.3, 1.2),
            density=u(0.75, 1),
            pressure=u(0.1, 0.4),
            blobs=u(0, 0.4),
            taper=u(0.2, 0.8),
            feather=u(0.4, 0.9),
            mottle=u(0.02, 0.12),
        )
    elif kind == "felt":
        pen = Pen(
            kind,
            ink_colour(rng),
            u(0.16, 0.3),
            sway=u(0, 0.1),
            density=u(0.85, 1),
            pressure=u(0, 0.15),
            blobs=u(0, 0.4),
            feather=u(0.4, 0.9),
            mottle=u(0, 0.1),
        )
    elif kind == "marker":
        pen = Pen(
            kind,
            ink_colour(rng),
            u(0.26, 0.42),
            sway=u(0, 0.08),
            nib=u(0, 0.7),
            nib_angle=u(0.4, 1.2),
            density=u(0.8, 1),
            pressure=u(0, 0.12),
            feather=u(0.4, 1),
            mottle=u(0, 0.12),
        )
    elif kind == "fineliner":
        pen = Pen(
            kind,
            ink_colour(rng),
            u(0.06, 0.13),
            sway=u(0, 0.05),
            density=u(0.9, 1),
            pressure=u(0, 0.06),
            blobs=u(0, 0.15),
            feather=u(0.25, 0.55),
            mottle=0,
        )
    elif kind == "crayon":
        pen = Pen(
            kind,
            ink_colour(
                rng,
                pick(
                    rng,
                    [
                        "red",
                        "blue",
                        "green",
                        "orange",
                        "purple",
                        "yellow",
                        "brown",
                        "pink",
                        "sky",
                        "lime",
                        "black",
                    ],
                ),
            ),
            u(0.18, 0.36),
            sway=u(0.1, 0.3),
            density=u(0.65, 1),
            pressure=u(0.1, 0.3),
            feather=u(0.4, 0.9),
            grain=u(0.4, 0.95),
            mottle=u(0.03, 0.12),
        )
    elif kind == "stylus":
        pen = Pen(
            kind,
            ink_colour(rng)
            if rng.random() < 0.6
            else pick(rng, [(0, 0, 0), (255, 0, 0), (0, 0, 255), (30, 100, 255), (0, 150, 0)]),
            u(0.08, 0.24),
            sway=0 if rng.random() < 0.6 else u(0.1, 0.3),
            taper=0 if rng.random() < 0.6 else 0.7,
            density=1,
            pressure=0,
            feather=0,
            mottle=0,
        )
    elif kind == "highlighter":
        pen = Pen(
            kind,
            tuple(np.clip(np.array(pick(rng, HIGHLIGHTS)) + rng.normal(0, 5, 3), 0, 255)),
            u(0.8, 1.3),
            sway=u(0, 0.06),
            density=u(0.6, 1),
            pressure=u(0, 0.1),
            blobs=u(0, 0.4),
            feather=u(0.5, 1),
            mottle=u(0.02, 0.1),
        )
    else:
        raise ValueError(f"no pen of kind {kind!r}: use one of {', '.join(KINDS)} or highlighter")
    # faint: an old pen, a light copy
    if kind not in ("highlighter", "stylus") and rng.random() < 0.2:
        pen = replace(pen, density=pen.density * u(0.45, 0.75))
    return pen


def like_print(rng):
    """A pen whose ink cannot be told from black print by its colour or texture: on a tablet, a
    copy, a clean scan."""
    kind = pick(rng, ["gel", "fineliner", "stylus", "stylus", "felt"])
    return replace(
        make_pen(rng, kind),
        kind=kind,
        colour=(rng.uniform(0, 50),) * 3,
        width=rng.uniform(0.08, 0.24),
        sway=rng.uniform(0, 0.08),
        density=1,
        pressure=0,
        grain=0,
        mottle=0,
        feather=rng.uniform(0, 0.5),
    )
