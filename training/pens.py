"""Pens: how strokes become ink on paper, as transmittance.

A patch is uint8 H x W x 3 RGB: 255 where there is no ink, and a page written on is page * patch / 255.
"""

import functools
from dataclasses import dataclass, replace

import cv2
import numpy as np

from training.texts import pick

MARGIN = 2  # pixels of bare paper round a patch
LEVELS = 16  # steps of ink density along a stroke

COLOURS = {  # RGB transmittance of full ink
    "blue": (38, 62, 170), "royal": (25, 40, 140), "darkblue": (22, 30, 84), "black": (26, 26, 28), "softblack": (58, 56, 60), "red": (206, 36, 46),
    "darkred": (150, 24, 36), "green": (28, 128, 66), "purple": (104, 44, 146), "orange": (236, 126, 30), "teal": (12, 128, 140), "pink": (232, 72, 142),
    "brown": (112, 70, 40), "sky": (64, 140, 220), "graphite": (84, 84, 90), "yellow": (250, 214, 40), "lime": (140, 200, 50), "sepia": (88, 60, 44)}
WRITING = {"blue": 25, "royal": 10, "black": 17, "softblack": 5, "darkblue": 13, "red": 15, "darkred": 3, "green": 3, "purple": 3, "orange": 1.2,
           "teal": 1.5, "pink": 1.5, "brown": 1, "sky": 2, "sepia": 0.7}
HIGHLIGHTS = [(252, 250, 90), (250, 246, 30), (170, 250, 120), (255, 160, 205), (255, 196, 96), (150, 222, 252), (206, 170, 248)]
KINDS = {"ballpoint": 34, "gel": 16, "pencil": 22, "fountain": 7, "felt": 6, "marker": 3, "fineliner": 6, "crayon": 3, "stylus": 3}


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
        """Draws strokes (N x 3: x, y in pixels and relative width) at this thickness in pixels.

        outlines are lists of polygons, filled even-odd. Returns the tight patch and the pixel of the
        strokes' own frame that the patch's top left corner lies at; a 1 x 1 blank when there is nothing.
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
            raise ValueError(f"ink of {right - left} x {bottom - top} pixels is larger than any page")
        for polygons in outlines:
            level = int(255 * np.clip(self.density * rng.normal(1, self.pressure / 2), 0.2, 1))
            cv2.fillPoly(canvas, [np.round(((p - [left, top]) * scale) * 16).astype(np.int32) for p in polygons], level, cv2.LINE_AA, 4)
        for stroke in strokes:
            self._stroke(rng, canvas, stroke, (left, top), scale, thickness)
        ink = canvas if scale == 1 else cv2.resize(canvas, None, fx=1 / scale, fy=1 / scale, interpolation=cv2.INTER_AREA)
        if self.feather > 0.15:
            ink = cv2.GaussianBlur(ink, (0, 0), self.feather)
        ink = self._texture(rng, ink, thickness)
        return _tight(cv2.LUT(cv2.merge([ink] * 3), self._table), left, top)

    def _stroke(self, rng, canvas, stroke, origin, scale, thickness):
        n = len(stroke)
        xy = np.round((stroke[:, :2] - origin) * (scale * 16)).astype(np.int32)
        line = cv2.LINE_AA if scale == 1 else cv2.LINE_8
        along = np.linspace(0, 1, n)
        width = np.full(n, thickness * scale)
        if self.sway:
            width *= 1 + self.sway * _wave(rng, n)
        if self.nib:
            step = np.gradient(stroke[:, :2], axis=0) if n > 1 else np.ones((1, 2))
            across = np.abs(np.sin(np.arctan2(step[:, 1], step[:, 0]) + self.nib_angle))
            width *= (1 - self.nib) + self.nib * (0.35 + 0.95 * across) * np.clip(stroke[:, 2], 0.5, 1.6)
        if self.taper and n > 3:
            width *= 1 - self.taper * rng.uniform(0.3, 1) * np.clip((along - 0.7) / 0.3, 0, 1)
        level = np.full(n, self.density)
        if self.pressure:
            level *= 1 + self.pressure * _wave(rng, n) - self.pressure * 0.5
        if self.gaps and n > 4:
            skip = _wave(rng, n, 9) > 2.2 * (1 - self.gaps)
            level[skip] *= rng.uniform(0.1, 0.6)
        thick = np.maximum(np.round(width), 1).astype(int)
        ink = np.clip(np.round(level * LEVELS), 1, LEVELS).astype(int)
        if n == 1 or np.ptp(stroke[:, :2]) < 1e-3:
            cv2.circle(canvas, tuple(int(v) for v in xy[0]), int(thick[0] * 10), int(255 * ink[0] / LEVELS), -1, line, 4)
            return
        changes = np.flatnonzero((np.diff(thick[:-1]) != 0) | (np.diff(ink[:-1]) != 0)) + 1
        for a, b in zip([0, *changes], [*changes, n - 1]):
            cv2.polylines(canvas, [xy[a:b + 1]], False, int(255 * ink[a] / LEVELS), int(thick[a]), line, 4)
        for end in (0, -1):
            if rng.random() < self.blobs:
                cv2.circle(canvas, tuple(int(v) for v in xy[end]), int(thick[end] * rng.uniform(8, 12)), int(255 * min(1, self.density * 1.25)), -1, line, 4)

    def _texture(self, rng, ink, thickness):
        if not (self.grain or self.mottle):
            return ink
        h, w = ink.shape
        field = np.ones((h, w), np.float32)
        if self.mottle:
            cells = rng.normal(1, self.mottle, (h // 48 + 2, w // 48 + 2)).astype(np.float32)
            field = np.minimum(cv2.resize(cells, (w, h), interpolation=cv2.INTER_CUBIC), 1.15)
        if self.grain:
            coarse = 1 + min(thickness / 5, 2) * rng.uniform(0.3, 0.8)
            paper = _grain(rng, h, w, coarse)
            # Graphite and wax sit on the tops of the paper: less pressure, fewer tops.
            field *= np.clip(1 - self.grain * (0.9 + paper - ink / 255), 0, 1.1)
        return np.clip(ink * field, 0, 255).astype(np.uint8)

    @functools.cached_property
    def _table(self):
        level = np.arange(256)[:, None] / 255
        table = 255 - level * (255 - np.array(self.colour, float))
        return np.round(table).astype(np.uint8).reshape(256, 1, 3)


def _wave(rng, n, knots=None):
    """Smooth noise of about unit size with a knot every ten points or so."""
    knots = max(2, n // (knots or 10) + 2)
    values = rng.normal(0, 0.7, knots)
    return np.interp(np.linspace(0, knots - 1, n), np.arange(knots), values)


@functools.lru_cache(1)
def _grain_tile():
    noise = np.random.default_rng(7).normal(0, 1, (1024, 1024)).astype(np.float32)
    tile = noise + 1.6 * cv2.GaussianBlur(noise, (0, 0), 1.0, borderType=cv2.BORDER_REFLECT) * 3
    return tile / tile.std() * 0.5


def _grain(rng, h, w, coarse):
    tile = _grain_tile()
    sh, sw = (min(int(np.ceil(v / coarse)) + 1, 1024) for v in (h, w))
    y, x = int(rng.integers(0, 1025 - sh)), int(rng.integers(0, 1025 - sw))
    return cv2.resize(tile[y:y + sh, x:x + sw], (w, h), interpolation=cv2.INTER_LINEAR)


def coverage(patch):
    """Where a patch has ink that can be seen: a boolean mask."""
    return patch.min(2) < 237


def tight(patch):
    """The patch cut to its ink with MARGIN pixels round it."""
    return _tight(patch, 0, 0)[0]


def _tight(patch, left, top):
    inked = patch.min(2) < 250
    rows, columns = np.flatnonzero(inked.any(1)), np.flatnonzero(inked.any(0))
    if not len(rows):
        return np.full((1, 1, 3), 255, np.uint8), (left, top)
    y0, y1, x0, x1 = rows[0], rows[-1] + 1, columns[0], columns[-1] + 1
    cut = cv2.copyMakeBorder(patch[y0:y1, x0:x1], MARGIN, MARGIN, MARGIN, MARGIN, cv2.BORDER_CONSTANT, value=(255, 255, 255))
    return cut, (int(left + x0 - MARGIN), int(top + y0 - MARGIN))


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
        pen = Pen(kind, ink_colour(rng), u(0.09, 0.19), sway=u(0, .15), density=u(.62, 1), pressure=u(.05, .35), gaps=u(0, .45) if rng.random() < .5 else 0,
                  blobs=u(0, .3), taper=u(0, .6), feather=u(.3, .7), grain=u(0, .25), mottle=u(0, .12))
    elif kind == "gel":
        pen = Pen(kind, ink_colour(rng), u(.11, .23), sway=u(0, .08), density=u(.9, 1), pressure=u(0, .08), blobs=u(0, .25), taper=u(0, .3), feather=u(.3, .7), mottle=u(0, .06))
    elif kind == "pencil":
        hard = rng.random() < 0.4
        grey = rng.uniform(60, 120) if not hard else rng.uniform(90, 160)
        colour = tuple(grey + rng.normal(0, 3, 3)) if rng.random() < .92 else ink_colour(rng)
        pen = Pen(kind, colour, u(.09, .16) if hard else u(.11, .27), sway=u(.05, .25), density=u(.5, .8) if hard else u(.65, 1), pressure=u(.1, .45),
                  taper=u(0, .6), feather=u(.3, .8), grain=u(.3, .75), mottle=u(.05, .2))
    elif kind == "fountain":
        colour = ink_colour(rng, pick(rng, ["blue", "royal", "darkblue", "black", "sky", "sepia", "purple", "teal"]))
        pen = Pen(kind, colour, u(.12, .25), sway=u(.05, .2), nib=u(.3, .95), nib_angle=u(.3, 1.2), density=u(.75, 1), pressure=u(.1, .4), blobs=u(0, .4), taper=u(.2, .8),
                  feather=u(.4, .9), mottle=u(.05, .2))
    elif kind == "felt":
        pen = Pen(kind, ink_colour(rng), u(.2, .38), sway=u(0, .1), density=u(.85, 1), pressure=u(0, .15), blobs=u(0, .4), feather=u(.4, .9), mottle=u(0, .1))
    elif kind == "marker":
        pen = Pen(kind, ink_colour(rng), u(.34, .6), sway=u(0, .08), nib=u(0, .7), nib_angle=u(.4, 1.2), density=u(.8, 1), pressure=u(0, .12), feather=u(.4, 1), mottle=u(0, .12))
    elif kind == "fineliner":
        pen = Pen(kind, ink_colour(rng), u(.08, .15), sway=u(0, .05), density=u(.9, 1), pressure=u(0, .06), blobs=u(0, .15), feather=u(.25, .55), mottle=0)
    elif kind == "crayon":
        pen = Pen(kind, ink_colour(rng, pick(rng, ["red", "blue", "green", "orange", "purple", "yellow", "brown", "pink", "sky", "lime", "black"])), u(.3, .6),
                  sway=u(.1, .3), density=u(.65, 1), pressure=u(.1, .3), feather=u(.4, .9), grain=u(.45, .95), mottle=u(.05, .2))
    elif kind == "stylus":
        pen = Pen(kind, ink_colour(rng) if rng.random() < .6 else pick(rng, [(0, 0, 0), (255, 0, 0), (0, 0, 255), (30, 100, 255), (0, 150, 0)]), u(.1, .3),
                  sway=0 if rng.random() < .6 else u(.1, .3), taper=0 if rng.random() < .6 else .7, density=1, pressure=0, feather=0, mottle=0)
    elif kind == "highlighter":
        pen = Pen(kind, tuple(np.clip(np.array(pick(rng, HIGHLIGHTS)) + rng.normal(0, 5, 3), 0, 255)), u(.8, 1.3), sway=u(0, .06), density=u(.6, 1), pressure=u(0, .1),
                  blobs=u(0, .4), feather=u(.5, 1), mottle=u(.02, .1))
    else:
        raise ValueError(f"no pen of kind {kind!r}: use one of {', '.join(KINDS)} or highlighter")
    if kind not in ("highlighter", "stylus") and rng.random() < 0.15:  # faint: an old pen, a light copy
        pen = replace(pen, density=pen.density * u(.45, .75))
    return pen
