"""Where the shapes of handwriting come from: fonts reduced to centre lines, recorded strokes, drawn
letters.

A source gives Glyphs. A Glyph's unit of length is the height of a small x, its origin the start of
the baseline, y downwards. A stroke is an N x 3 float32 array: x, y and the relative width there (1
= usual).
"""

import functools
import gzip
import hashlib
import io
import json
import os
import pathlib
import pickle
import zipfile
from dataclasses import dataclass, field

import cv2
import numpy as np
from fontTools.ttLib import TTFont
from PIL import Image, ImageDraw, ImageFont
from scipy.ndimage import gaussian_filter1d
from skimage.morphology import skeletonize

from training.common.ink import texts

VAL_SHARE = 15  # per cent of fonts, writers and lifted pages held out
CACHE_VERSION = 3

# Handwriting-like fonts among Debian's, by package: files that match these.
DEBIAN_HANDS = {
    "fonts-breip": "Breip.ttf",
    "fonts-bwht": "*.otf",
    "fonts-dkg-handwriting": "dkg.ttf",
    "fonts-humor-sans": "*.ttf",
    "fonts-rufscript": "*.ttf",
    "fonts-seto": "setofont.ttf",
    "fonts-kiloji": "kiloji_p.ttf",
    "fonts-navilu": "*.ttf",
    "fonts-aoyagi-kouzan-t": "*.ttf",
    "fonts-aoyagi-soseki": "*.ttf",
    "fonts-kouzan-mouhitsu": "kouzan-mouhitsu-gyosho.ttf",
    "fonts-yusei-magic": "*.ttf",
    "fonts-tomsontalks": "*.ttf",
    "fonts-tlwg-purisa-ttf": "Purisa.ttf",
    "fonts-smc-karumbi": "*.ttf",
    "fonts-dustin": "Domestic_Manners.ttf",
    "fonts-kristi": "*.[ot]tf",
}
# OpenType tags of the scripts that cannot be written without rules for joining letters.
SHAPING = {
    "arabic": "arab",
    "devanagari": "deva",
    "thai": "thai",
    "malayalam": "mlym",
    "kannada": "knda",
}
RASTER_BODY = 56  # pixels: height of a small x when a glyph is reduced to its centre lines
POINT_STEP = 4  # raster pixels between the points of a centre line


@dataclass
class Glyph:
    advance: float
    strokes: list
    outline: list = field(default_factory=list)  # closed polygons, N x 2, filled even-odd


def held_out(name):
    """Whether a source of this name belongs to validation: stable, about VAL_SHARE per cent."""
    return int(hashlib.sha256(name.encode()).hexdigest(), 16) % 100 < VAL_SHARE


# ---- centre lines of a raster shape ----


def centre_lines(shape):
    """The centre lines of a boolean picture as strokes in its pixels, straight through
    crossings."""
    distance = cv2.distanceTransform(shape.astype(np.uint8), cv2.DIST_L2, 3)
    skeleton = np.pad(skeletonize(shape), 1)
    paths = _join_at_crossings(_trace(skeleton), np.pad(distance, 1))
    usual = np.median(np.concatenate([_along(distance, p) for p in paths])) if paths else 1
    return [_smooth(path, distance, max(usual, 0.5)) for path in paths]


def _along(distance, path):
    y, x = np.clip(path.astype(int) - 1, 0, np.array(distance.shape) - 1).T
    return distance[y, x]


def _smooth(path, distance, usual):
    width = gaussian_filter1d(_along(distance, path) / usual, 3, mode="nearest")
    if len(path) > 3:
        ends = path[[0, -1]]
        path = gaussian_filter1d(path, 2.5, axis=0, mode="nearest")
        path[[0, -1]] = ends
    length = np.concatenate([[0], np.hypot(*np.diff(path, axis=0).T).cumsum()])
    at = np.linspace(0, length[-1], max(2, int(length[-1] / POINT_STEP) + 1))
    return np.stack([np.interp(at, length, c) for c in (path[:, 1] - 1, path[:, 0] - 1, width)], 1)


def _trace(skeleton):
    """Cuts a skeleton at its crossings: a list of (path of y x, node at start, node at end, free
    start, free end)."""
    ys, xs = np.nonzero(skeleton)
    index = np.full(skeleton.shape, -1)
    index[ys, xs] = np.arange(len(ys))
    around = np.stack(
        [index[ys + dy, xs + dx] for dy in (-1, 0, 1) for dx in (-1, 0, 1) if dy or dx], 1
    )
    degree = (around >= 0).sum(1)
    crossing = np.zeros(skeleton.shape, np.uint8)
    crossing[ys[degree > 2], xs[degree > 2]] = 1
    _, labels, _, centres = cv2.connectedComponentsWithStats(crossing, connectivity=8)
    label = labels[ys, xs]
    neighbours = [[n for n in row if n >= 0] for row in around.tolist()]
    place = np.stack([ys, xs], 1).astype(float)
    seen = degree != 2
    edges = []

    def node(i):
        return int(label[i]) if label[i] else -1 - i

    def walk(previous, current):
        steps = [previous]
        while True:
            steps.append(current)
            if degree[current] != 2:
                return steps
            seen[current] = True
            onward = [n for n in neighbours[current] if n != previous]
            if not onward or seen[onward[0]] and degree[onward[0]] == 2:
                return steps
            previous, current = current, onward[0]

    for i in np.flatnonzero(degree != 2).tolist():
        if degree[i] == 0:
            edges.append((place[[i, i]], -1 - i, -1 - i))
        for n in neighbours[i]:
            if (
                degree[n] == 2
                and not seen[n]
                or degree[n] == 1
                and degree[i] == 1
                and i < n
                or degree[n] == 1
                and degree[i] > 2
            ):
                steps = walk(i, n)
                path = place[steps]
                for end, step in ((0, steps[0]), (-1, steps[-1])):
                    if label[step]:
                        path[end] = centres[label[step]][::-1]
                edges.append((path, node(steps[0]), node(steps[-1])))
    for i in np.flatnonzero(~seen).tolist():  # closed loops without a crossing
        if not seen[i]:
            seen[i] = True
            steps = walk(i, neighbours[i][0])
            edges.append((place[steps + [i]], -1 - i, -1 - i))
    return edges


def _join_at_crossings(edges, distance):
    """Drops spurs and joins edges that run on through a crossing; a list of paths."""
    kept = []
    for path, a, b in edges:
        free = (a < 0) != (b < 0)
        root = path[0] if a > 0 else path[-1]
        if free and len(path) < 1.1 * distance[int(root[0]), int(root[1])] + 2:
            continue
        kept.append([path, a, b])
    ends = {}
    for e, (path, a, b) in enumerate(kept):
        for side, at in ((0, a), (1, b)):
            if at > 0:
                run = path if side == 0 else path[::-1]
                direction = run[min(9, len(run) - 1)] - run[0]
                ends.setdefault(at, []).append((e, side, direction / (np.hypot(*direction) + 1e-6)))
    partner = {}
    for meeting in ends.values():
        pairs = sorted(
            (float(p[2] @ q[2]), p[:2], q[:2])
            for i, p in enumerate(meeting)
            for q in meeting[i + 1 :]
        )
        for cosine, p, q in pairs:
            if cosine < -0.35 and p not in partner and q not in partner and p[0] != q[0]:
                partner[p], partner[q] = q, p
    used, paths = set(), []

    def follow(e, side):  # enter edge e at this side and go on to the end of the stroke
        pieces = []
        while e not in used:
            used.add(e)
            path = kept[e][0]
            pieces.append(path if side == 0 else path[::-1])
            onward = partner.get((e, 1 - side))
            if onward is None:
                break
            e, side = onward
        return np.concatenate(pieces)

    order = [(e, s) for e in range(len(kept)) for s in (0, 1) if (e, s) not in partner] + [
        (e, 0) for e in range(len(kept))
    ]
    for e, side in order:
        if e not in used:
            paths.append(follow(e, side))
    return paths


# ---- fonts ----


class FontSource:
    """Glyphs of a handwriting font; its cache file is made when first needed."""

    def __init__(self, path, cache):
        self.path = path
        self.name = path.parent.name if "hands" in path.parts else path.stem
        self.cache = cache / f"{path.stem}.{CACHE_VERSION}.pickle"
        font = TTFont(path, lazy=True)
        self.codes = frozenset(font.getBestCmap())
        self.scripts = _scripts_of(font, self.codes)

    def has(self, unit):
        return all(ord(c) in self.codes for c in unit)

    def glyph(self, unit, rng=None):
        if unit not in self._packed:
            if not self.has(unit):
                return None
            self._packed[unit] = _pack(self._draw(unit))
        return _unpack(self._packed[unit])

    def build(self):
        units = [c for c in texts.characters() if self.has(c)]
        units += [w for words in texts.SHAPED.values() for w in words if self.has(w)]
        packed = {unit: _pack(self._draw(unit)) for unit in units}
        self.cache.parent.mkdir(parents=True, exist_ok=True)
        temporary = self.cache.with_suffix(f".{os.getpid()}")
        temporary.write_bytes(pickle.dumps(packed, protocol=4))
        temporary.rename(self.cache)
        return packed

    @functools.cached_property
    def _packed(self):
        return pickle.loads(self.cache.read_bytes()) if self.cache.exists() else self.build()

    @functools.cached_property
    def _face(self):
        trial = ImageFont.truetype(str(self.path), 200)
        top, bottom = trial.getbbox("x" if self.has("x") else "の", anchor="ls")[1::2]
        size = 200 * RASTER_BODY / max(bottom - top, 40)
        return ImageFont.truetype(str(self.path), int(np.clip(size, 90, 230)))

    def _draw(self, unit):
        face = self._face
        left, top, right, bottom = face.getbbox(unit, anchor="ls")
        if right - left < 2 or bottom - top < 2:
            return None
        picture = Image.new("L", (right - left + 8, bottom - top + 8))
        ImageDraw.Draw(picture).text((4 - left, 4 - top), unit, fill=255, font=face, anchor="ls")
        shape = cv2.GaussianBlur(np.array(picture), (0, 0), 1.2) > 127
        move = np.array([left - 4, top - 4], np.float32)
        strokes = [(s - [*-move, 0]) / [RASTER_BODY, RASTER_BODY, 1] for s in centre_lines(shape)]
        contours, _ = cv2.findContours(
            shape.astype(np.uint8), cv2.RETR_CCOMP, cv2.CHAIN_APPROX_NONE
        )
        contours = [cv2.approxPolyDP(c, 0.6, True)[:, 0] for c in contours]
        outline = [(c + move) / RASTER_BODY for c in contours if len(c) > 2]
        advance = max(face.getlength(unit), right if len(unit) > 1 else 0)
        return Glyph(advance / RASTER_BODY, sorted(strokes, key=lambda s: s[:, 0].min()), outline)


def _scripts_of(font, codes):
    probes = {
        "latin": "aegnrstAEM0",
        "cyrillic": "бджыф",
        "greek": "αβγδψ",
        "kana": "あのカ",
        "cjk": "的我学",
        "hangul": "가는다",
        **{script: words[0] for script, words in texts.SHAPED.items()},
    }
    listed = font["GSUB"].table.ScriptList if "GSUB" in font else None
    rules = {r.ScriptTag for r in listed.ScriptRecord} if listed else set()
    joins = lambda script: script not in SHAPING or SHAPING[script] in rules
    return frozenset(
        s for s, probe in probes.items() if all(ord(c) in codes for c in probe) and joins(s)
    )


def _pack(glyph):
    if glyph is None or not glyph.strokes:
        return None
    parts = glyph.strokes + [np.pad(o, ((0, 0), (0, 1))) for o in glyph.outline]
    return (
        glyph.advance,
        len(glyph.strokes),
        np.array([len(p) for p in parts], np.uint16),
        np.concatenate(parts).astype(np.float16),
    )


def _unpack(packed):
    if packed is None:
        return None
    advance, strokes, lengths, points = packed
    parts = np.split(points.astype(np.float32), np.cumsum(lengths)[:-1])
    return Glyph(advance, parts[:strokes], [p[:, :2] for p in parts[strokes:]])


def font_sources(data, split):
    paths = sorted((data / "hands").glob("*/*.ttf"))
    for package, pattern in DEBIAN_HANDS.items():
        paths += sorted((data / "fonts" / package).rglob(pattern))
    sources = []
    for path in paths:
        if held_out(path.stem.split("_")[0]) == (split == "val"):
            sources.append(FontSource(path, data / "cache" / "hands"))
    return sources


# ---- recorded strokes ----


def as_stroke(points, closed=False):
    points = np.asarray(points, np.float32)
    if closed:
        points = np.concatenate([points, points[:1]])
    return np.concatenate([points, np.ones((len(points), 1), np.float32)], 1)


def resample(points, step):
    """The polyline as a smooth curve with points about step apart (Catmull-Rom through the
    points)."""
    points = np.asarray(points, np.float32)
    if len(points) < 2:
        return points
    ends = np.concatenate([2 * points[:1] - points[1:2], points, 2 * points[-1:] - points[-2:-1]])
    p0, p1, p2, p3 = ends[:-3], ends[1:-2], ends[2:-1], ends[3:]
    longest = float(np.hypot(*(p2 - p1)[:, :2].T).max())
    t = np.linspace(0, 1, int(np.clip(longest / step, 1, 24)), endpoint=False, dtype=np.float32)[
        None, :, None
    ]
    a, b, c, d = (p[:, None] for p in (p0, p1, p2, p3))
    curve = 0.5 * (
        2 * b + (c - a) * t + (2 * a - 5 * b + 4 * c - d) * t**2 + (3 * b - a - 3 * c + d) * t**3
    )
    return np.concatenate([curve.reshape(-1, points.shape[1]), points[-1:]])


class OmniglotSource:
    """One person's drawings of one alphabet. Latin and Greek letters stand for themselves, others
    for any letter."""

    def __init__(self, alphabet, drawer, files):
        self.name, self.files = f"{alphabet}-{drawer}", files
        self.first = {"Latin": "a", "Greek": "α"}.get(alphabet, "")
        self.scripts = frozenset({"Latin": ["latin"], "Greek": ["greek"]}.get(alphabet, []))

    def has(self, unit):
        return (
            len(unit) == 1
            and unit.isalpha()
            and (
                "a" <= unit.lower() <= "z"
                if not self.first
                else 0 <= ord(unit.lower()) - ord(self.first) < len(self.files)
            )
        )

    def glyph(self, unit, rng=None):
        if not self.has(unit):
            return None
        at = ord(unit.lower()) - ord(self.first) if self.first else ord(unit)
        return _omniglot_glyph(*self.files[at % len(self.files)])


@functools.lru_cache(20000)
def _omniglot_glyph(archive, member):
    text = _archive(archive).read(member).decode()
    strokes = []
    for part in text.replace("START", "").split("BREAK"):
        rows = [line.split(",")[:2] for line in part.split() if line]
        if len(rows) > 1:
            points = np.array(rows, np.float32) * [1, -1]
            strokes.append(resample(gaussian_filter1d(points, 1.5, axis=0, mode="nearest")[::2], 2))
    if not strokes:
        return None
    every = np.concatenate(strokes)
    (left, top), (right, bottom) = every.min(0), every.max(0)
    size = max(bottom - top, 0.6 * (right - left), 10) / 1.35
    return Glyph(
        float((right - left) / size + 0.2),
        [as_stroke((s - [left, bottom]) / size) for s in strokes],
    )


@functools.lru_cache(4)
def _archive(path):
    return zipfile.ZipFile(io.BytesIO(pathlib.Path(path).read_bytes()))


def omniglot_sources(ink, split):
    writers = {}
    for archive in sorted((ink / "omniglot").glob("*.zip")):
        for member in sorted(_archive(str(archive)).namelist()):
            parts = member.split("/")
            if member.endswith(".txt") and "__MACOSX" not in member:
                writers.setdefault((parts[-3], parts[-1][:-4].split("_")[1]), []).append(
                    (str(archive), member)
                )
    return [
        OmniglotSource(alphabet, drawer, files)
        for (alphabet, drawer), files in sorted(writers.items())
        if held_out(f"omniglot {drawer}") == (split == "val")
    ]


TALL = set("bdfhkltiß0123456789")
DEEP = set("gpqy")


class RecordedSource:
    """One person's letters and digits as a pen recorded them, each at times in several tries
    (DigiLeTs)."""

    scripts = frozenset(["latin"])

    def __init__(self, writer, tries):
        self.name, self.tries = f"recorded {writer}", tries

    def has(self, unit):
        return unit in self.tries

    def glyph(self, unit, rng=None):
        tries = self.tries.get(unit)
        if not tries:
            return None
        return _recorded_glyph(unit, tries[int(rng.integers(len(tries))) if rng else 0])


def _recorded_glyph(unit, strokes):
    """Recordings start at their own top left corner; where the letter stands on its line follows
    from which it is."""
    points = [np.array(s, np.float32) for s in strokes if len(s) > 1]
    if not points:
        return None
    every = np.concatenate(points)
    (left, top), (right, bottom) = every.min(0), every.max(0)
    above = 1.6 if unit.isupper() or unit in TALL else 1
    below = 0.65 if unit in DEEP or unit == "j" else 0
    above += 0.6 * (unit == "j")
    size = max(bottom - top, 0.3 * (right - left), 1) / (above + below)
    placed = [resample((s - [left, bottom]) / size + [0, below], 0.08) for s in points]
    return Glyph(float((right - left) / size + 0.25), [as_stroke(s) for s in placed])


def recorded_sources(ink, split):
    path = ink / "online" / "digilets.jsonl.gz"
    if not path.is_file():
        return []
    writers = {}
    with gzip.open(path, "rt") as lines:
        for line in lines:
            entry = json.loads(line)
            if held_out("recorded " + entry["writer"]) == (split == "val"):
                writers.setdefault(entry["writer"], {}).setdefault(entry["label"], []).append(
                    entry["s"]
                )
    return [RecordedSource(writer, tries) for writer, tries in sorted(writers.items())]


class HanziSource:
    """Chinese characters from the centre lines of their strokes, each stroke shifted, turned and
    bent anew.

    haste is 0 for a pupil's careful hand, 1 for everyday writing, 2 for a hurried one, whose
    strokes run into each other and lose their corners.
    """

    scripts = frozenset(["cjk"])
    HASTES = (0, 1, 2)

    def __init__(self, path, split, haste):
        self.name, self.haste, self.medians = f"hanzi {haste}", haste, {}
        with gzip.open(path, "rt") as lines:
            for line in lines:
                entry = json.loads(line)
                if held_out(entry["c"]) == (split == "val"):
                    self.medians[entry["c"]] = entry["s"]

    def has(self, unit):
        return unit in self.medians

    def glyph(self, unit, rng):
        medians = self.medians.get(unit)
        if medians is None:
            return None
        loose = 0.9 + 0.5 * self.haste
        # how often strokes are joined, and over which gap
        joins, near = ((0.1, 0.6), (0.3, 0.9), (0.6, 1.3))[self.haste]
        # rises to the right
        lean = np.array(
            [[1, rng.normal(0, 0.05 * loose)], [rng.normal(0.05, 0.06) * self.haste, 1]]
        )
        squeeze = np.exp(rng.normal(0, 0.06 * loose, 2))
        joined = []
        for median in medians:
            points = (np.array(median, np.float32) * [1, -1] / 520 + [0, 0.1]) @ lean * squeeze
            turn = rng.normal(0, 0.05 * loose)
            middle = points.mean(0)
            points = (
                (points - middle)
                @ np.array([[1, turn], [-turn, 1]])
                * rng.normal(1.0, 0.06 * loose)
                + middle
                + rng.normal(0, 0.03 * loose, 2)
            )
            bend = np.sin(np.linspace(0, np.pi, len(points)))[:, None] * rng.normal(
                0, 0.04 * loose, 2
            )
            points[-1] += (points[-1] - points[-2]) * rng.uniform(-0.1, 0.12 * loose)
            stroke = resample(points + bend, 0.08)
            if joined and np.hypot(*(stroke[0] - joined[-1][-1])) < near and rng.random() < joins:
                joined[-1] = np.concatenate([joined[-1], stroke])
            else:
                joined.append(stroke)
        return Glyph(
            2.1, [as_stroke(rounded(s, 2 * self.haste) if self.haste else s) for s in joined]
        )


def rounded(stroke, reach):
    """A stroke whose corners are cut as a quick hand cuts them: each point is the mean of those
    round it, its ends kept."""
    stroke = resample(stroke, 0.08)
    if len(stroke) < 2 * reach + 2:
        return stroke
    padded = np.concatenate(
        [np.repeat(stroke[:1], reach, 0), stroke, np.repeat(stroke[-1:], reach, 0)]
    )
    kernel = np.ones(2 * reach + 1) / (2 * reach + 1)
    smooth = np.stack([np.convolve(padded[:, i], kernel, "valid") for i in range(2)], 1).astype(
        np.float32
    )
    smooth[0], smooth[-1] = stroke[0], stroke[-1]
    return smooth


# ---- letters drawn as control points: the fallback for any sign, and a hand of its own ----
# Strokes are parted by "/", points by blanks. x 0..., y from the baseline upwards, 10 = height of a
# small x, a figure is 16 high. Curves run smoothly through their points; "|" after a point makes a
# corner there.
_DRAWN = {
    "0": [
        "4,16 1,13 0,8 1,2 4,0 8,2 9,8 8,13 5,16 3,15.5",
        "5,15 2,14 0,9 2,1 6,0 9,5 8,13 4,16 2,14",
    ],
    "1": ["0,12 4,16| 4,8 4,0", "3,16 3,8 2.5,0", "0,11 4,16| 4,0/0,0 8,0"],
    "2": ["0,13 3,16 7,15 7,11 3,4 0,0| 4,0.5 9,0", "0,12 2,16 7,15 7,10 2,1 0,1 2,3 6,0 9,1"],
    "3": ["0,14 4,16 8,14 6,10 3,9| 7,8 9,4 6,0 2,0 0,2", "0,16 8,16| 4,10| 8,8 8,2 4,0 0,2"],
    "4": ["5,16 0,6| 9,6/6,11 6,0", "1,15 0,8| 8,8/8,16 7,8 7,-1", "6,0 6,16| 0,5| 9,5"],
    "5": ["7,16 1,16| 0,9| 4,10 8,8 8,3 5,0 0,1", "1,15 0,9| 5,10 8,6 6,0 0,1/1,15.5 8,16"],
    "6": ["7,16 2,10 0,5 2,0 6,0 8,4 5,8 1,5", "5,16 1,9 0,3 4,0 7,3 5,7 0,4"],
    "7": ["0,16 8,16| 5,8 3,0", "0,15 8,16| 4,7 3,0/2,8 7,8", "0,13 1,16| 8,16| 4,0"],
    "8": ["7,14 4,16 1,13 4,9 8,4 4,0 0,4 4,9 7,13 5,16", "4,8 1,12 4,16 7,12 4,8 0,3 4,0 8,3 4,8"],
    "9": ["8,13 4,16 0,12 3,8 8,13| 7,6 6,0", "7,14 3,16 0,11 4,8 8,14| 8,5 5,0 1,1"],
    "a": ["8,9 4,10 0,5 3,0 8,7| 8,2 10,0"],
    "b": ["0,16 0,0| 1,8 5,10 8,5 5,0 0,2", "3,8 4,16 1,14 0,4 3,0 7,3 6,9 2,7"],
    "c": ["8,8 4,10 0,5 3,0 8,1"],
    "d": ["8,8 4,10 0,5 3,0 8,6/8,16 8,2 10,0"],
    "e": ["1,5 7,6 5,10 1,8 0,3 4,0 9,2"],
    "f": ["8,15 5,16 3,12 3,0/0,9 7,9", "6,8 7,15 4,14 3,0 2,-5 4,-4 3,1 7,3"],
    "g": ["8,9 4,10 0,5 4,1 8,8| 8,-3 4,-6 0,-4"],
    "h": ["0,16 0,0| 1,7 5,10 7,7 7,0"],
    "i": ["0,10 0,2 2,0/0,14 0.4,14.5"],
    "j": ["4,10 4,-4 1,-6 -1,-4/4,14 4.4,14.5"],
    "k": ["0,16 0,0/6,10 0,4| 7,0"],
    "l": ["0,16 0,2 2,0", "1,4 4,14 2,16 0,6 2,0 4,2"],
    "m": ["0,10 0,0| 2,9 5,9 5,0| 7,9 10,9 10,1 12,0"],
    "n": ["0,10 0,0| 2,8 5,10 7,7 7,1 9,0"],
    "o": ["5,10 1,8 0,4 4,0 8,4 6,9 3,10"],
    "p": ["0,10 0,-6/0,7 4,10 8,6 5,0 0,2"],
    "q": ["8,9 4,10 0,5 3,0 8,7/8,10 8,-6 10,-4"],
    "r": ["0,10 0,0| 1,7 4,10 6,9"],
    "s": ["7,9 3,10 1,7 6,4 6,1 2,0 -1,1"],
    "t": ["3,16 3,3 5,0 7,1/0,10 7,10"],
    "u": ["0,10 0,3 3,0 7,4/7,10 7,2 9,0"],
    "v": ["0,10 4,0| 8,10"],
    "w": ["0,10 3,0| 6,8| 9,0| 12,10"],
    "x": ["0,10 8,0/8,10 0,0", "0,9 2,10 4,5 6,0 9,1/9,10 6,9 4,5 2,0 0,0"],
    "y": ["0,10 1,4 4,3 8,8/8,10 7,-3 3,-6 0,-4", "0,10 4,2/9,10 1,-6"],
    "z": ["0,10 8,10| 0,0| 9,0", "0,9 7,10 4,5| 7,2 4,-4 1,-5"],
    "A": ["0,0 5,16| 10,0/2,6 8,6"],
    "B": ["0,16 0,0/0,16 7,14 5,9 1,8| 8,7 8,1 0,0"],
    "C": ["9,13 5,16 0,8 4,0 9,2"],
    "D": ["0,16 0,0/0,16 8,13 9,5 5,0 0,0"],
    "E": ["8,16 0,16| 0,0| 8,0/0,8 6,8"],
    "F": ["8,16 0,16| 0,0/0,8 6,8"],
    "G": ["9,13 5,16 0,8 4,0 9,3 9,7| 5,7"],
    "H": ["0,16 0,0/9,16 9,0/0,8 9,8"],
    "I": ["0,16 0,0"],
    "J": ["6,16 6,3 3,0 0,3"],
    "K": ["0,16 0,0/8,16 0,7| 8,0"],
    "L": ["0,16 0,0| 7,0"],
    "M": ["0,0 1,16| 6,5| 11,16| 12,0"],
    "N": ["0,0 0,16| 9,0| 9,16"],
    "O": ["5,16 0,10 2,1 7,0 10,7 8,15 4,16"],
    "P": ["0,0 0,16/0,16 7,15 7,9 0,7"],
    "Q": ["5,16 0,10 2,1 7,0 10,7 8,15 4,16/6,4 11,-2"],
    "R": ["0,0 0,16/0,16 7,15 7,9 0,8| 8,0"],
    "S": ["8,14 4,16 1,12 7,7 7,1 3,0 0,2"],
    "T": ["0,16 10,16/5,16 5,0"],
    "U": ["0,16 0,4 4,0 8,4 8,16"],
    "V": ["0,16 5,0| 10,16"],
    "W": ["0,16 3,0| 7,12| 11,0| 14,16"],
    "X": ["0,16 9,0/9,16 0,0"],
    "Y": ["0,16 5,8| 10,16/5,8 5,0"],
    "Z": ["0,16 9,16| 0,0| 10,0"],
    "+": ["0,6 8,6/4,10 4,2"],
    "-": ["0,6 7,6"],
    "−": ["0,6 8,6"],
    "=": ["0,8 8,8/0,4 8,4"],
    "×": ["0,9 6,3/6,9 0,3"],
    "÷": ["0,6 8,6/4,10 4.3,10/4,2 4.3,2"],
    "·": ["0,6 .4,6"],
    ".": ["0,0 .5,.3"],
    ",": ["1,1 0,-3"],
    ":": ["0,8 .4,8/0,1 .4,1"],
    ";": ["1,8 1.4,8/1,1 0,-3"],
    "!": ["0,16 0,5/0,0 .4,.4"],
    "?": ["0,12 3,16 7,13 4,8 3,4/3,0 3.4,.4"],
    "%": ["8,16 0,0/2,16 0,14 2,12 4,14 2,16/7,4 5,2 7,0 9,2 7,4"],
    "(": ["4,18 0,12 0,4 4,-3"],
    ")": ["0,18 4,12 4,4 0,-3"],
    "[": ["4,18 0,18| 0,-2| 4,-2"],
    "]": ["0,18 4,18| 4,-2| 0,-2"],
    "{": ["5,18 2,16 3,10 0,8| 3,6 2,0 5,-2"],
    "}": ["0,18 3,16 2,10 5,8| 2,6 3,0 0,-2"],
    "|": ["0,18 0,-3"],
    "/": ["8,17 0,-2"],
    "<": ["8,11 0,6| 8,1"],
    ">": ["0,11 8,6| 0,1"],
    "≤": ["8,12 0,8| 8,4/0,1 8,1"],
    "≥": ["0,12 8,8| 0,4/0,1 8,1"],
    "≠": ["0,8 8,8/0,4 8,4/7,12 1,0"],
    "≈": ["0,8 2,10 5,7 8,9/0,4 2,6 5,3 8,5"],
    "±": ["0,8 8,8/4,13 4,4/0,1 8,1"],
    "→": ["0,6 12,6/9,9 12,6| 9,3"],
    "∞": ["7,5 3,9 0,5 3,1 7,5 11,9 14,5 11,1 7,5"],
    "√": ["0,7 2,8| 5,-1| 8,17| 12,17"],
    "∫": ["8,19 5,19 4,8 3,-3 0,-3"],
    "Σ": ["10,16 0,16| 6,8| 0,0| 10,0"],
    "π": ["0,9 10,10/3,9 2,0/7,9 8,0"],
    "θ": ["4,16 0,9 4,0 8,7 4,16/0,8 8,8"],
    "α": ["9,10 5,1 2,0 0,5 3,10 6,6 9,0"],
    "β": ["0,-5 1,12 5,16 7,12 3,9 8,5 4,0 1,2"],
    "γ": ["0,9 2,10 5,0 4,-5 3,0 9,10"],
    "λ": ["0,16 3,14 9,0/4,9 0,0"],
    "μ": ["1,10 0,-5/1,4 3,0 7,4/7,10 7,2 9,0"],
    "φ": ["5,10 0,5 5,0 10,5 5,10/5,16 5,-5"],
    "ω": ["2,10 0,4 3,0 5,6| 7,0 10,4 8,10"],
    "∠": ["8,12 0,0| 10,0"],
    "△": ["5,12 0,0| 10,0| 5,12"],
    "°": ["2,16 0,14 2,12 4,14 2,16"],
    "⊥": ["5,14 5,0/0,0 10,0"],
    "∈": ["8,11 3,11 0,6 3,1 8,1/0,6 7,6"],
    "∪": ["0,12 0,4 4,0 8,4 8,12"],
    "∩": ["0,0 0,8 4,12 8,8 8,0"],
    "∴": ["0,1 .4,1/8,1 8.4,1/4,8 4.4,8"],
    "∵": ["0,8 .4,8/8,8 8.4,8/4,1 4.4,1"],
    "′": ["1,17 0,13"],
    "'": ["1,17 0,13"],
    '"': ["0,17 0,13/3,17 3,13"],
    "$": ["8,14 4,16 1,12 7,7 7,1 3,0 0,2/4,18 4,-2"],
    "€": ["9,14 5,16 1,8 5,0 9,2/-1,10 6,10/-1,6 6,6"],
    "£": ["9,13 6,16 4,12 4,3 0,0| 10,1/1,8 8,8"],
    "¥": ["0,16 5,8| 10,16/5,8 5,0/1,7 9,7/1,4 9,4"],
    "#": ["3,16 1,0/8,16 6,0/0,11 10,11/-1,5 9,5"],
    "*": ["4,14 4,6/0,12 8,8/8,12 0,8"],
    "_": ["0,-1 9,-1"],
    "&": ["10,0 2,12 4,16 7,13 0,4 3,0 10,6"],
    "@": ["7,9 4,9 4,4 8,8 8,4 12,8 8,15 1,12 1,0 10,-1"],
    "\\": ["0,17 8,-2"],
    "^": ["0,12 4,16| 8,12"],
    "~": ["0,6 2,8 6,5 8,7"],
    "。": ["2,3 0,1 2,-1 4,1 2,3"],
    "、": ["0,3 3,0"],
    "，": ["2,1 1,-3"],
}


class DrawnSource:
    """Letters from the table above, each time with other variants and moved points."""

    scripts = frozenset(["latin"])
    name = "drawn"

    def has(self, unit):
        return unit in _DRAWN

    def glyph(self, unit, rng):
        variants = _DRAWN.get(unit)
        if not variants:
            return None
        strokes = []
        for text in texts.pick(rng, variants).split("/"):
            points, piece = [], []
            for token in text.split():
                x, y = token.rstrip("|").split(",")
                piece.append((float(x) / 10, -float(y) / 10))
                if token.endswith("|"):
                    points.append(piece)
                    piece = [piece[-1]]
            points.append(piece)
            jitter = 0.035
            parts, last = [], None
            for piece in points:
                moved = np.array(piece, np.float32) + rng.normal(0, jitter, (len(piece), 2)).astype(
                    np.float32
                )
                if last is not None:
                    moved[0] = last
                last = moved[-1]
                parts.append(resample(moved, 0.07))
            strokes.append(np.concatenate(parts))
        every = np.concatenate(strokes)
        left, right = every[:, 0].min(), every[:, 0].max()
        return Glyph(float(right - left + 0.25), [as_stroke(s - [left - 0.1, 0]) for s in strokes])
