"""Handwriting of every kind as transmittance patches, for composing training pages.

    inks = Inks("train")
    hand, pen = inks.hand(rng), inks.pen(rng)
    patch = inks.write(rng, hand, pen, None, "sentence", height=20, max_width=400)
    page = page * (patch / 255)

A patch is uint8 H x W x 3, RGB, 255 where there is no ink. All chance comes from the numpy
Generator given.

    python3 -m training.common.ink.inks build    makes the caches (otherwise made when first needed)
    python3 -m training.common.ink.inks sheet OUT.png --seed 1 --split train
"""

import argparse
import os
import pathlib
import unicodedata
from dataclasses import dataclass, replace

import cv2
import numpy as np

from training.common import real
from training.common.ink import hands, lifts, marks, pens, texts
from training.common.ink.hands import as_stroke, resample
from training.common.ink.pens import coverage
from training.common.ink.texts import pick
from training.common.paths import data_root

__all__ = ["Inks", "Hand", "coverage", "KINDS", "MARKS"]

SCRIPTS = {"cjk", "kana", "hangul", "cyrillic", "greek", *texts.SHAPED}
WRAPPED = {"words", "sentence", "paragraph", *SCRIPTS}
LAID_OUT = ("formula", "sum", "fraction", "signature")
KINDS = (*texts.PLAIN, *LAID_OUT)
MARKS = (*marks.STROKES, "highlight", "question", "exclamation", "score")
RIGHT_TO_LEFT = {"arabic", "hebrew"}
UNACCENTED = dict(zip("øØłŁßæÆœŒđĐıς", "oOlLsaAoOdDiσ"))
# text is shortened rather than written smaller than this share of the height asked for
SMALLEST_FIT = 0.6


@dataclass(frozen=True)
class Hand:
    """A consistent writer. Lengths are in heights of a small x."""

    source: object
    neatness: float  # 0 very messy .. 1 very neat
    slant: float
    aspect: float
    size: float  # jitter of letter size
    turn: float  # jitter of letter rotation
    warp: float
    wander: float  # of the baseline
    slope: float
    spacing: float
    gap: float  # between words
    pitch: float  # between lines
    joined: float  # chance of a stroke from letter to letter
    outlined: bool  # draws the letter's own outline in place of its centre line


@dataclass
class Shape:
    """Strokes and outlines in heights of a small x, the baseline at y = 0."""

    strokes: list
    outlines: list
    advance: float

    def at(self, dx, dy, scale=1.0):
        k, move = np.array([scale, scale, 1], np.float32), np.array([dx, dy, 0], np.float32)
        return Shape(
            [s * k + move for s in self.strokes],
            [[p * scale + move[:2] for p in o] for o in self.outlines],
            self.advance * scale,
        )

    def __add__(self, other):
        return Shape(
            self.strokes + other.strokes,
            self.outlines + other.outlines,
            max(self.advance, other.advance),
        )

    def bounds(self):
        every = [s[:, :2] for s in self.strokes] + [p for o in self.outlines for p in o]
        if not every:
            return np.zeros(2), np.zeros(2)
        every = np.concatenate(every)
        return every.min(0), every.max(0)


EMPTY = Shape([], [], 0.0)


class Inks:
    """The library of hands, pens, marks and lifted writing of one split ('train' or 'val'); they
    share none.

    data: the data root, by default $UNINK_DATA or training/data. Recorded strokes and photographed
    writing are taken from $UNINK_INK, by default ink under the data root, where it exists.
    """

    def __init__(self, split, data=None):
        if split not in ("train", "val"):
            raise ValueError(f"split is {split!r}: use train or val")
        data = pathlib.Path(data or data_root())
        ink = pathlib.Path(os.environ.get("UNINK_INK", data / "ink"))
        self.split, self.drawn = split, hands.DrawnSource()
        self.fonts = hands.font_sources(data, split)
        self.people = hands.omniglot_sources(ink, split) if (ink / "omniglot").is_dir() else []
        self.recorded = hands.recorded_sources(ink, split)
        hanzi = ink / "hanzi" / "medians.jsonl.gz"
        self.hanzi = (
            [hands.HanziSource(hanzi, split, haste) for haste in hands.HanziSource.HASTES]
            if hanzi.is_file()
            else []
        )
        self.lifts = lifts.Lifts(split, ink, data / "cache" / "lifts", real.sources(split))
        self.by_script = {}
        for source in (
            self.fonts + self.people + self.recorded + self.hanzi * max(1, len(self.fonts) // 40)
        ):
            for script in source.scripts:
                self.by_script.setdefault(script, []).append(source)
        self.latin_fonts = [f for f in self.fonts if "latin" in f.scripts]

    # ---- writers and pens ----

    def hand(self, rng):
        kind = rng.random()
        if not self.latin_fonts or kind < 0.05:
            source = self.drawn
        elif kind < 0.1 and self.people:
            source = pick(rng, self.people)
        elif kind < 0.5 and self.recorded:
            source = pick(rng, self.recorded)
        else:
            source = pick(rng, self.latin_fonts)
        return self._hand_of(rng, source)

    def _hand_of(self, rng, source):
        neat = rng.beta(1.8, 1.6)
        messy = 1 - neat
        return Hand(
            source,
            neat,
            slant=rng.normal(0.03, 0.06 + 0.14 * messy),
            aspect=float(np.exp(rng.normal(0, 0.13))),
            size=0.015 + 0.11 * messy,
            turn=0.01 + 0.09 * messy,
            warp=0.012 + 0.06 * messy,
            wander=0.015 + 0.12 * messy,
            slope=rng.normal(0, 0.004 + 0.025 * messy),
            spacing=rng.uniform(0.86, 1.25),
            gap=rng.uniform(0.45, 1.1),
            pitch=rng.uniform(1.9, 3.4),
            joined=rng.uniform(0.3, 0.95) if rng.random() < 0.3 else 0.0,
            outlined=isinstance(source, hands.FontSource) and rng.random() < 0.17,
        )

    def pen(self, rng, kind=None):
        return pens.make_pen(rng, kind)

    def _suited(self, rng, hand, text, script):
        """The hand itself when it knows the letters of text, else one like it that does."""
        letters = {u for line in text.split("\n") for u in _units(line) if u != " "}
        knows = lambda source: sum(
            source.has(u) or source.has(_plain(u)) or self.drawn.has(u) and not u.isalpha()
            for u in letters
        )
        if knows(hand.source) >= 0.9 * len(letters):
            return hand
        candidates = self.by_script.get(script or "latin", [])
        tried = [pick(rng, candidates) for _ in range(6 if candidates else 0)]
        source = next(
            (s for s in tried if knows(s) >= 0.9 * len(letters)),
            max([*tried, hand.source], key=knows),
        )
        return replace(
            hand, source=source, outlined=hand.outlined and isinstance(source, hands.FontSource)
        )

    # ---- text ----

    def write(self, rng, hand, pen, text, kind, height, max_width=None, max_height=None):
        """Writes text, or when text is None something of this kind (any of KINDS), in a tight
        patch.

        height: of a small x in pixels, 8 to 150. max_width, max_height: limits of the patch in
        pixels; running text is broken into lines, other text written smaller to keep them. A script
        that no hand of this split writes is replaced by Latin words.
        """
        if kind not in KINDS:
            raise ValueError(f"no writing of kind {kind!r}: use one of {', '.join(KINDS)}")
        room = (
            max_width - 2 * pens.MARGIN if max_width else np.inf,
            max_height - 2 * pens.MARGIN if max_height else np.inf,
        )
        pad = 1.2 * self._thickness(pen, height) + 2
        room = (max(room[0] - pad, 4), max(room[1] - pad, 4))
        if text is None and kind in LAID_OUT:
            shape = getattr(self, "_" + kind)(rng, hand)
        else:
            shape = self._text(rng, hand, text, kind, height, room)
        low, high = shape.bounds()
        size = np.maximum(high - low, 1e-3)
        scale = min(height, room[0] / size[0], room[1] / size[1])
        patch = self._ink(rng, pen, shape.at(0, 0, scale), self._thickness(pen, scale))
        return _within(patch, max_width, max_height)

    def _text(self, rng, hand, text, kind, height, room):
        ours = text is None
        # no hand of this split writes it
        if ours and kind in SCRIPTS and kind not in self.by_script:
            kind = "words"
        text = texts.PLAIN[kind](rng) if ours else text
        script = (
            kind
            if kind in self.by_script
            else "cjk"
            if any("一" <= c <= "鿿" for c in text)
            else None
        )
        hand = self._suited(rng, hand, text, script)
        if ours and script in ("cjk", "kana") and kind != "date" and rng.random() < 0.08:
            text = "\n".join(text)
        wrap = room[0] / height if kind in WRAPPED else np.inf
        if kind == "paragraph" and not np.isfinite(wrap):
            wrap = rng.uniform(14, 34)
        while True:
            shape = self._lines(rng, hand, text, wrap, kind in RIGHT_TO_LEFT)
            low, high = shape.bounds()
            size = (high - low) * height
            fit = min(room[0] / max(size[0], 1), room[1] / max(size[1], 1))
            if fit >= SMALLEST_FIT or not ours or len(text) < 2:
                return shape
            pieces = text.split(" ") if " " in text else text.split("\n") if "\n" in text else text
            if kind in texts.SHAPED and len(pieces) == len(text):
                return shape
            pieces = pieces[: max(1, int(len(pieces) * np.clip(fit, 0.1, 0.8)))]
            text = (
                pieces if isinstance(pieces, str) else (" " if " " in text else "\n").join(pieces)
            )

    def _lines(self, rng, hand, text, wrap, right_to_left=False):
        block, y = Shape([], [], 0.0), 0.0
        for paragraph in text.split("\n"):
            line, x = [], 0.0
            words = [w for w in paragraph.split(" ") if w] if np.isfinite(wrap) else [paragraph]
            if (
                np.isfinite(wrap)
                and len(words) == 1
                and len(words[0]) > 4
                and words[0][0] > "\u2e80"
            ):
                words = list(words[0])  # scripts without blanks break anywhere
            rows = []
            for word in words:
                shape = self.line(rng, hand, word)
                if line and x + shape.advance > wrap:
                    rows.append((line, x))
                    line, x = [], 0.0
                line.append((shape, x))
                gap = 0.1 if len(word) == 1 and len(words) > 4 and not word.isascii() else hand.gap
                x += shape.advance + gap * rng.uniform(0.75, 1.4)
            rows.append((line, x))
            for line, length in rows:
                start = rng.normal(0, 0.25 * (1 - hand.neatness))
                for shape, x in line:
                    x = length - x - shape.advance if right_to_left else x
                    placed = shape.at(start + x, y + x * hand.slope)
                    block.strokes += placed.strokes
                    block.outlines += placed.outlines
                    block.advance = max(block.advance, start + x + shape.advance)
                y += hand.pitch * rng.uniform(0.92, 1.1)
        return block

    def line(self, rng, hand, text):
        """One line of text as a Shape."""
        strokes, outlines, x, drift, before = [], [], 0.0, 0.0, None
        for unit in _units(text):
            if unit == " ":
                x, before = x + hand.gap * rng.uniform(0.75, 1.4), None
                continue
            plain = _plain(unit)
            glyph = (
                hand.source.glyph(unit, rng)
                or self.drawn.glyph(unit, rng)
                or hand.source.glyph(plain, rng)
                or self.drawn.glyph(plain, rng)
            )
            if glyph is None:
                x, before = x + 0.6, None
                continue
            drift = 0.8 * drift + rng.normal(0, hand.wander * 0.6)
            parts = _jittered(rng, hand, glyph, x, drift + rng.normal(0, hand.wander * 0.3))
            count = len(glyph.strokes)
            if hand.outlined and glyph.outline:
                outlines.append([p[:, :2] for p in parts[count:]])
            else:
                if before is not None and unit.isalpha() and rng.random() < hand.joined:
                    link = _link(rng, before, parts[:count])
                    strokes.extend(link)
                strokes.extend(parts[:count])
                before = parts[:count] if unit.isalpha() else None
            x += (
                glyph.advance
                * hand.aspect
                * hand.spacing
                * (1 + rng.normal(0, 0.04 + 0.05 * (1 - hand.neatness)))
            )
        return Shape(strokes, outlines, x)

    # ---- mathematics ----

    def _fraction(self, rng, hand):
        make = lambda: self.line(
            rng,
            hand,
            texts.digits(rng, 1, 2)
            if rng.random() < 0.7
            else pick(rng, ["x", "a", "2x", "a+b", "n-1", "πr"]),
        )
        fraction = _over(rng, make(), make())
        whole = self.line(rng, hand, texts.digits(rng, 1, 1)) if rng.random() < 0.3 else EMPTY
        return _row([whole, fraction], 0.2)

    def _formula(self, rng, hand):
        parts = [self._term(rng, hand, 2)]
        for _ in range(int(rng.integers(1, 4))):
            parts += [self.line(rng, hand, pick(rng, "+-=×·→<≤≈+-==")), self._term(rng, hand, 2)]
        return _row(parts, 0.35)

    def _term(self, rng, hand, depth):
        plain = lambda: self.line(
            rng,
            hand,
            texts.digits(rng, 1, 2) if rng.random() < 0.5 else pick(rng, "xyzabcnmkπθαβλ"),
        )
        form = rng.random() if depth else 0.0
        inner = lambda: (
            self._term(rng, hand, depth - 1)
            if rng.random() < 0.6
            else _row([plain(), self.line(rng, hand, pick(rng, "+-")), plain()], 0.25)
        )
        if form < 0.3:
            return plain()
        if form < 0.5:
            base, power = plain(), plain()
            up = rng.random() < 0.75
            both = base + power.at(base.advance, -0.95 if up else 0.45, 0.6)
            return replace(both, advance=base.advance + 0.6 * power.advance)
        if form < 0.7:
            return _over(rng, inner(), inner())
        if form < 0.8:
            return _under_root(rng, inner())
        if form < 0.9:
            return _row([self.line(rng, hand, "("), inner(), self.line(rng, hand, ")")], 0.1)
        name = pick(rng, ["sin", "cos", "log", "ln", "lim", "tan", "∫", "Σ", "f"])
        head = self.line(rng, hand, name)
        if name in "∫Σ":
            low, high = plain(), plain()
            head = (
                head.at(0, 0.4, 1.3)
                + low.at(head.advance, 1.3, 0.5)
                + high.at(head.advance, -1.9, 0.5)
            )
        return _row([head, inner()], 0.3)

    def _sum(self, rng, hand):
        """Column arithmetic: numbers right-aligned, an operator, a line, the result, at times
        carries."""
        op = pick(rng, "++--×")
        rows = [
            int(rng.integers(10, 10 ** rng.integers(2, 5)))
            for _ in range(2 if op != "+" else pick(rng, [2, 2, 3]))
        ]
        result = {"+": sum(rows), "-": abs(rows[0] - rows[-1]), "×": rows[0] * (rows[-1] % 10)}[op]
        pitch, width = rng.uniform(0.95, 1.4), max(len(str(v)) for v in rows + [result]) + 1
        height, shape = rng.uniform(1.9, 2.6), EMPTY
        for row, value in enumerate(rows + [result]):
            for place, digit in enumerate(reversed(str(value))):
                x = (width - place) * pitch + rng.normal(0, 0.06)
                shape += self.line(rng, hand, digit).at(
                    x, row * height + (0.35 if row == len(rows) else 0)
                )
                if row == 0 and place and rng.random() < 0.25:
                    shape += self.line(rng, hand, "1").at(x, -1.9, 0.5)
        shape += self.line(rng, hand, op).at(0.1, (len(rows) - 1) * height)
        y = (len(rows) - 0.72) * height + 0.2
        shape.strokes.append(
            marks.lines(
                rng, [(0, y), ((width + 1) * pitch, y + rng.normal(0, 0.08))], 0.03, 0.5
            ).astype(np.float32)
        )
        return shape

    def _signature(self, rng, hand):
        """Letters that run out into a fast, illegible line, with flourish and underline."""
        x, shape = 0.0, EMPTY
        start = self.line(rng, hand, pick(rng, "ABCDEFGHJKLMNPRSTW")).at(
            0, 0, rng.uniform(1.1, 1.9)
        )
        shape += start
        x = start.advance * rng.uniform(0.6, 0.95)
        for part in range(pick(rng, [1, 1, 2])):
            n = int(rng.integers(5, 16))
            length, tall = n * rng.uniform(0.3, 0.6), rng.uniform(0.5, 1.2)
            fade = np.linspace(1, rng.uniform(0.15, 0.8), n)
            px = (
                x
                + np.cumsum(rng.uniform(0.1, 1, n) * length / n * 1.8)
                + np.where(np.arange(n) % 2, -0.12, 0.12) * rng.uniform(0, 2)
            )
            py = np.where(np.arange(n) % 2, -1, 0) * tall * fade * rng.uniform(0.4, 1.6, n)
            if rng.random() < 0.6:
                py[int(rng.integers(n))] -= rng.uniform(0.8, 1.8)
            if rng.random() < 0.6:
                py[int(rng.integers(n))] += rng.uniform(0.6, 1.8)
            points = np.stack([px, py], 1)
            if rng.random() < 0.5:
                points = np.concatenate(
                    [points, points[-1:] + [[rng.uniform(0.6, 3), rng.uniform(-1.2, 0.6)]]]
                )
            shape.strokes.append(as_stroke(resample(points, 0.08)))
            x = points[-1, 0] + 0.3
            if part == 0 and rng.random() < 0.5:
                shape += self.line(rng, hand, pick(rng, "BDHKLMRST")).at(x, 0, rng.uniform(1, 1.6))
                x += 1
        if rng.random() < 0.45:
            y = rng.uniform(0.3, 1)
            sweep = [
                (x * rng.uniform(0.6, 1), y - 0.3),
                (x * 0.2, y + 0.2),
                (x * rng.uniform(-0.1, 0.2), y),
                (x * rng.uniform(0.7, 1.15), y - rng.uniform(0, 0.5)),
            ]
            shape.strokes.append(as_stroke(resample(sweep[pick(rng, [0, 2]) :], 0.12)))
        turn = rng.normal(-0.06, 0.07)
        matrix = np.array([[1, turn, 0], [-hand.slant - 0.15, 1, 0], [0, 0, 1]], np.float32)
        return Shape(
            [s @ matrix for s in shape.strokes],
            [[p @ matrix[:2, :2] for p in o] for o in shape.outlines],
            x,
        )

    # ---- marks and lifted writing ----

    def mark(self, rng, pen, kind, w, h, height=None):
        """A mark (any of MARKS) of about w x h pixels.

        height: of the small x of the writing that the pen is used for, in pixels; it sets the
        stroke's width.
        """
        if kind not in MARKS:
            raise ValueError(f"no mark of kind {kind!r}: use one of {', '.join(MARKS)}")
        height = height or float(np.clip(0.3 * np.sqrt(w * h), 9, 32))
        if kind in ("question", "exclamation", "score"):
            text = {
                "question": pick(rng, ["?", "?", "??"]),
                "exclamation": pick(rng, ["!", "!", "!!"]),
            }.get(kind) or _score(rng)
            return self._written_mark(rng, pen, text, w, h, kind == "score" and rng.random() < 0.5)
        thickness = self._thickness(pen, height)
        if kind == "highlight":
            pen = pen if pen.kind == "highlighter" else pens.make_pen(rng, "highlighter")
            return pen.render(
                rng, [], 1, [[marks.highlight(rng, w, h)] for _ in range(1 + (rng.random() < 0.15))]
            )[0]
        if kind in ("crayon_area", "fill", "shade"):
            low = {"crayon_area": 0.04, "fill": 0.08, "shade": 0.01}[kind]
            thickness = float(np.clip(thickness, low * min(w, h), max(low, 0.2) * min(w, h)))
        margin = min(thickness, min(w, h) * 0.4)
        strokes = marks.STROKES[kind](rng, max(w - margin, 2), max(h - margin, 2))
        return pen.render(rng, strokes, thickness)[0]

    def _written_mark(self, rng, pen, text, w, h, underlined):
        hand = self._hand_of(
            rng,
            pick(rng, self.latin_fonts) if self.latin_fonts and rng.random() < 0.8 else self.drawn,
        )
        hand = replace(hand, outlined=False)
        shape = self.line(rng, hand, text)
        if underlined:
            low, high = shape.bounds()
            for y in [0.35, 0.6][: pick(rng, [1, 1, 2])]:
                shape.strokes.append(
                    marks.curve(
                        rng,
                        [
                            (low[0] - 0.2, y),
                            ((low[0] + high[0]) / 2, y + rng.normal(0, 0.08)),
                            (high[0] + 0.3, y + rng.normal(0, 0.15)),
                        ],
                        0.0,
                        0.2,
                    )
                )
        low, high = shape.bounds()
        scale = min(w / max(high[0] - low[0], 0.2), h / max(high[1] - low[1], 0.2))
        return self._ink(rng, pen, shape.at(0, 0, scale), self._thickness(pen, min(scale, 36)))

    def lift(self, rng, height, max_w, max_h):
        """Real handwriting of this body height lifted off its paper, or None when none fits or none
        is there."""
        return self.lifts.lift(rng, height, max_w, max_h)

    def _thickness(self, pen, height):
        return max(pen.width * height, 0.8)

    def _ink(self, rng, pen, shape, thickness):
        strokes = [
            resample(s, 3.5) if len(s) > 1 and np.abs(np.diff(s[:, :2], axis=0)).max() > 6 else s
            for s in shape.strokes
        ]
        return pen.render(rng, strokes, thickness, shape.outlines)[0]


def _units(text):
    """The pieces that a hand draws as one: letters, or whole words of scripts whose letters
    join."""
    if text.isascii() or not any("\u0590" <= c <= "\u0e7f" for c in text):
        return text
    return [unit for word in text.split(" ") for unit in (word, " ")][:-1]


def _plain(unit):
    """A letter without its accent, for hands that do not know it."""
    return UNACCENTED.get(unit) or (
        unicodedata.normalize("NFD", unit)[0] if len(unit) == 1 else unit
    )


def _jittered(rng, hand, glyph, x, y):
    """The glyph's strokes and outlines, written once by this hand at x y."""
    parts = (
        glyph.strokes + [as_stroke(o) for o in glyph.outline] if hand.outlined else glyph.strokes
    )
    points = np.concatenate(parts)
    size, turn = 1 + rng.normal(0, hand.size), rng.normal(0, hand.turn)
    sx, sy = size * hand.aspect * (1 + rng.normal(0, hand.size * 0.6)), size
    px, py = points[:, 0] * sx, points[:, 1] * sy
    phase = rng.uniform(0, 6.3, 2)
    px = px + hand.warp * np.sin(2.3 * py + phase[0]) - hand.slant * py
    py = py + hand.warp * np.sin(2.3 * px + phase[1])
    points[:, 0] = px - turn * py + x
    points[:, 1] = py + turn * px + y
    return np.split(points, np.cumsum([len(p) for p in parts])[:-1])


def _link(rng, before, after):
    """A joining stroke from the right end of one letter to the left end of the next, when they lie
    right."""
    ends = np.concatenate([s[[0, -1]] for s in before])
    starts = np.concatenate([s[[0, -1]] for s in after])
    a, b = ends[np.argmax(ends[:, 0] + 0.3 * ends[:, 1]), :2], starts[np.argmin(starts[:, 0]), :2]
    if not 0.02 < b[0] - a[0] < 0.9 or abs(b[1] - a[1]) > 1:
        return []
    sag = (a + b) / 2 + [0, rng.uniform(0, 0.15)]
    return [as_stroke(resample([a, sag, b], 0.08))]


def _row(shapes, gap):
    row, x = Shape([], [], 0.0), 0.0
    for shape in shapes:
        if shape.strokes or shape.outlines:
            row += shape.at(x, 0)
            x += shape.advance + gap
    return Shape(row.strokes, row.outlines, x)


def _over(rng, above, below):
    (_, top_high), (below_low, _) = above.bounds(), below.bounds()
    width = max(above.advance, below.advance) + rng.uniform(0.2, 0.6)
    axis = -0.6
    line = marks.lines(rng, [(0, axis), (width, axis + rng.normal(0, 0.06))], 0.02, 0.3).astype(
        np.float32
    )
    gap = rng.uniform(0.2, 0.45)
    shape = above.at((width - above.advance) / 2, axis - gap - top_high[1]) + below.at(
        (width - below.advance) / 2, axis + gap - below_low[1]
    )
    return Shape(shape.strokes + [line], shape.outlines, width)


def _under_root(rng, inner):
    low, high = inner.bounds()
    top, bottom = low[1] - 0.3, max(high[1], 0) + 0.1
    width = inner.advance + 1.0
    sign = [
        (0, bottom - 0.8),
        (0.2, bottom - 0.9),
        (0.45, bottom),
        (0.85, top),
        (width, top + rng.normal(0, 0.08)),
    ]
    shape = inner.at(0.9, 0)
    return Shape(
        shape.strokes + [marks.lines(rng, sign, 0.02, 0.2).astype(np.float32)],
        shape.outlines,
        width,
    )


def _score(rng):
    n, of = int(rng.integers(0, 101)), pick(rng, [5, 10, 20, 100])
    return pick(
        rng,
        [
            str(n),
            f"{int(rng.integers(0, of + 1))}/{of}",
            f"-{int(rng.integers(1, 10))}",
            f"+{int(rng.integers(1, 10))}",
            pick(rng, "ABCDEF") + pick(rng, ["", "+", "-"]),
            f"{n}%",
            "Good",
            "OK",
            "See me",
            "Well done!",
            "100",
            "优",
            "好",
            "阅",
            "a)",
            "sp",
            "?!",
        ],
    )


def _within(patch, max_width, max_height):
    """The patch, made smaller when its pen's width put it over the limits."""
    scale = min((max_width or np.inf) / patch.shape[1], (max_height or np.inf) / patch.shape[0])
    if scale >= 1:
        return patch
    size = [max(1, int(v * scale)) for v in patch.shape[1::-1]]
    return cv2.resize(patch, size, interpolation=cv2.INTER_AREA)


# ---- command line ----


def sheet(inks, seed, kinds, columns=5, width=360):
    """A contact sheet: every kind of writing, mark and lifted piece, a few of each."""
    rng = np.random.default_rng(seed)
    tiles = []
    for kind in kinds:
        for n in range(columns):
            pen = inks.pen(rng)
            if kind == "lift":
                patch = next(
                    (
                        p
                        for p in (
                            inks.lift(rng, rng.uniform(12, 34), width - 10, 110) for _ in range(9)
                        )
                        if p is not None
                    ),
                    None,
                )
            elif kind in MARKS:
                w, h = (
                    (rng.uniform(100, 300), rng.uniform(12, 30))
                    if kind in ("underline", "double_underline", "wavy", "strike", "highlight")
                    else rng.uniform(30, 110, 2)
                )
                patch = inks.mark(rng, pen, kind, w, h)
            else:
                patch = inks.write(
                    rng, inks.hand(rng), pen, None, kind, rng.uniform(10, 34), width - 10, 180
                )
            tiles.append((kind if not n else f"{pen.kind}", patch))
    rows = []
    for i in range(0, len(tiles), columns):
        row = tiles[i : i + columns]
        tall = max([p.shape[0] for _, p in row if p is not None] + [20]) + 18
        strip = np.full((tall, columns * width, 3), 255, np.uint8)
        for n, (label, patch) in enumerate(row):
            cv2.putText(
                strip,
                label,
                (n * width + 4, 11),
                cv2.FONT_HERSHEY_SIMPLEX,
                0.35,
                (170, 170, 170),
                1,
                cv2.LINE_AA,
            )
            if patch is not None:
                h, w = patch.shape[:2]
                strip[15 : 15 + h, n * width + 4 : n * width + 4 + w] = patch[:, : width - 4]
        rows.append(strip)
    return np.concatenate(rows)


def build(data=None):
    """Makes the caches of both splits that are not there yet."""
    for split in ("train", "val"):
        inks = Inks(split, data)
        for font in inks.fonts:
            if not font.cache.exists():
                print(f"{split} {font.name}: {len(font.build())} glyphs", flush=True)
        inks.lifts.build()


def main():
    parser = argparse.ArgumentParser(description="Handwriting for training pages.")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("build", help="make the caches of glyphs and lifted writing")
    drawn = commands.add_parser("sheet", help="draw a contact sheet")
    drawn.add_argument("out")
    drawn.add_argument("--seed", type=int, default=1)
    drawn.add_argument("--split", choices=("train", "val"), default="train")
    drawn.add_argument(
        "--kinds", nargs="*", default=[*KINDS, *MARKS, "lift"], help="only these kinds"
    )
    arguments = parser.parse_args()
    if arguments.command == "build":
        build()
    else:
        picture = sheet(Inks(arguments.split), arguments.seed, arguments.kinds)
        cv2.imwrite(arguments.out, picture[..., ::-1])


if __name__ == "__main__":
    main()
