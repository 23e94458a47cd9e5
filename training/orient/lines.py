"""Blocks of print drawn without a browser, many a second: text in every language of
training.layouts.text, and in scripts beyond them.

What the scripts beyond say nobody here knows, so that neither is it known which way up they stand:
they teach the orientation network to be unsure (outlier exposure, Hendrycks et al., 2019), as do
scripts that are made up and drawings without letters. Scripts are held out by their names.
"""

import collections
import functools
import math
import re
import unicodedata

import numpy as np
from fontTools.ttLib import TTFont
from PIL import Image, ImageDraw, ImageFont

from training.layouts import fonts, library, text

FINE = 3  # print is drawn so many times larger
# The scripts of text.LANGUAGES, and what is no script, as Noto names its faces.
KNOWN = re.compile(
    r"NotoSans(|Arabic|Armenian|Bengali|Devanagari|Display|Ethiopic|Georgian|Gujarati|Gurmukhi|Hebrew|Kannada|Khmer|Lao|LaoLooped|"
    r"Malayalam|Math|Mono|Myanmar|Oriya|SignWriting|Sinhala|Symbols2?|Tamil|TamilSupplement|Telugu|Thai|ThaiLooped|"
    r"Tifinagh.+|AdlamUnjoined|Duployan)-Regular.ttf"
)
# that other scripts' faces hold beside theirs
ALPHABETS = ("LATIN", "GREEK", "CYRILLIC", "COMBINING", "MODIFIER", "ARABIC", "DEVANAGARI")


@functools.cache
def characters(path):
    """The characters that a face has."""
    return frozenset(map(chr, TTFont(path, fontNumber=0, lazy=True).getBestCmap()))


@functools.cache
def unknown(split):
    """The faces of scripts that no language here has, each with its letters and its marks: [(path,
    letters, marks)]."""
    found = []
    for path in sorted(fonts.NOTO.glob("NotoSans*-Regular.ttf")):
        if KNOWN.fullmatch(path.name) or library.split_of("script:" + path.name) != split:
            continue
        own = [
            c
            for c in sorted(characters(str(path)))
            if not unicodedata.name(c, "LATIN").startswith(ALPHABETS)
        ]
        letters = [c for c in own if unicodedata.category(c)[0] == "L"]
        if len(letters) > 9:
            found.append(
                (str(path), letters, [c for c in own if unicodedata.category(c) in ("Mn", "Mc")])
            )
    return found


def word_of(rng, letters, marks):
    """A made-up word."""
    out = ""
    for _ in range(int(rng.integers(1, 9))):
        out += letters[rng.integers(len(letters))]
        if marks and rng.random() < 0.3:
            out += marks[rng.integers(len(marks))]
    return out


def some(rng, of):
    return of[int(rng.integers(len(of)))]


@functools.lru_cache(64)
def font(path, size):
    return ImageFont.truetype(path, size, layout_engine=ImageFont.Layout.RAQM)


@functools.cache
def files(split, lang):
    """The files of a language's faces, without East Asian ones for others, which do not join
    letters."""
    eastern = {"zh-cn", "zh-tw", "ja", "ko"}
    found = [
        f
        for use in ("text", "mono", "typewriter", "display")
        for f in fonts.pool(split, lang, use)
        if f.regular != "local" and (lang in fonts.COLLECTIONS or not eastern & f.langs)
    ]
    return [path for f in found for path in (f.regular, f.bold) if path]


def script(lang):
    """The script of a language's most frequent letters."""
    letters = [
        c for line in (text.terms(lang) + text.sentences(lang))[::7] for c in line if c.isalpha()
    ]
    names = collections.Counter(unicodedata.name(c, "").split(" ")[0] for c in letters)
    return names.most_common(1)[0][0]


@functools.cache
def languages(split):
    """Languages, and how often each comes: each script as often as any other, but for Latin, which
    comes four times as often."""
    found = [lang for lang in text.LANGUAGES if files(split, lang)]
    scripts = [script(lang) for lang in found]
    weights = np.array([(4 if s == "LATIN" else 1) / scripts.count(s) for s in scripts])
    return found, weights / weights.sum()


def of_language(rng, split, lang=None):
    """How a language's text is drawn: a face, what makes a line of it, and its direction. Without a
    name it is any."""
    if not lang:
        found, weights = languages(split)
        lang = found[int(rng.choice(len(found), p=weights))]
    # of Khmer and Lao there are hardly more than words
    whole = len(text.sentences(lang)) > 50 and rng.random() < 0.7
    make = lambda: (
        some(rng, text.sentences(lang))
        if whole
        else " ".join(some(rng, text.terms(lang)) for _ in range(int(rng.integers(1, 5))))
    )
    return some(rng, files(split, lang)), make, "rtl" if lang in text.RIGHT_TO_LEFT else None


def of_unknown(rng, split):
    path, letters, marks = some(rng, unknown(split))
    letters = [some(rng, letters) for _ in range(40)]  # a language uses few of a script's signs
    return (
        path,
        lambda: " ".join(word_of(rng, letters, marks) for _ in range(int(rng.integers(1, 9)))),
        None,
    )


def draw(rng, side, em, kind):
    """A block of lines of one kind (of_language or of_unknown), grey uint8 [side, side], body text
    at an em of about em px."""
    path, make, direction = kind
    size = em * math.exp(rng.normal(0, 0.2))
    picture = Image.new("L", (side * FINE, side * FINE), 255)
    pen, ink = ImageDraw.Draw(picture), int(rng.choice((0, 0, 0, 40, 110)))
    leading, aligned = (
        size * rng.uniform(1.2, 2.4),
        rng.choice(("left", "right", "middle", "anywhere")),
    )
    margin, wide = rng.uniform(-20, 40), rng.uniform(0.5, 1.5) * side
    numbered, heads, y = rng.random() < 0.2, rng.random() < 0.15, rng.uniform(-size, size)
    number = int(rng.integers(1, 30))
    while y < side:
        large = size * (rng.uniform(1.3, 2.5) if heads else 1)
        face = font(path, max(round(large * FINE), 6))
        line = make()
        while len(line) > 3 and pen.textlength(line, face, direction=direction) > wide * FINE:
            line = line[: len(line) * 3 // 4].rpartition(" ")[0] or line[: len(line) * 3 // 4]
        if numbered:
            line, number = f"{number}. {line}", number + 1
        line = "".join(c for c in line if c in characters(path))
        long = pen.textlength(line, face, direction=direction) / FINE
        x = {
            "left": margin,
            "right": side - margin - long,
            "middle": (side - long) / 2,
            "anywhere": rng.uniform(-long / 2, max(side - long / 2, 0)),
        }[str(aligned)]
        pen.text((x * FINE, y * FINE), line, ink, face, direction=direction)
        y += leading * large / size
        heads = heads and rng.random() < 0.4
    return np.asarray(picture.resize((side, side), Image.Resampling.BOX))


def alphabet(rng):
    """The letters of a script that nobody uses: [[polyline, ...], ...], each polyline float [N, 2]
    in ems, y down from the top of the small letters."""
    high, wide, bent = rng.uniform(0.4, 0.8), rng.uniform(0.25, 0.7), rng.random()
    nodes = np.array([(x * wide, y * high) for x in (0, 0.5, 1) for y in (0, 0.33, 0.67, 1)])
    outside = rng.uniform(0, 0.3)  # share of the letters with a stroke above or below the others
    t = np.linspace(0, 1, 9)[:, None]

    def stroke(reach=0.0):
        a, b = nodes[rng.permutation(len(nodes))[:2]]
        if reach:
            b = np.array([b[0], reach])
        if rng.random() < 0.12:
            turn = 2 * math.pi * t
            return a + np.hstack([np.cos(turn), np.sin(turn)]) * rng.uniform(0.08, 0.25, 2)
        bow = rng.normal(0, 0.6) if rng.random() < bent else 0
        return a + (b - a) * t + (b - a)[::-1] * (-1, 1) * bow * np.sin(math.pi * t)

    def letter():
        found = [stroke() for _ in range(int(rng.integers(1, 5)))]
        if rng.random() < outside:
            found.append(stroke(-0.35 if rng.random() < 0.5 else high + 0.35))
        return found

    return [letter() for _ in range(int(rng.integers(12, 45)))]


def invented(rng, side, em):
    """A block of lines in a script that nobody uses, grey uint8 [side, side]."""
    letters, size = alphabet(rng), em * math.exp(rng.normal(0, 0.2))
    picture = Image.new("L", (side * FINE, side * FINE), 255)
    pen, ink = ImageDraw.Draw(picture), int(rng.choice((0, 0, 0, 40, 110)))
    width = max(round(size * rng.uniform(0.06, 0.16) * FINE), 2)
    leading, gap = size * rng.uniform(1.3, 2.4), size * rng.uniform(0.08, 0.25)
    barred = rng.random() < 0.15  # words hang on a line, as in Devanagari
    y = rng.uniform(-size, size)
    while y < side:
        x = rng.uniform(-20, 40)
        while x < side * rng.uniform(0.5, 1.5):
            begun = x
            for _ in range(int(rng.integers(1, 9))):
                strokes = some(rng, letters)
                for points in strokes:
                    at = (np.array([x, y]) + points * size) * FINE
                    pen.line([tuple(p) for p in at], ink, width, joint="curve")
                x += gap + size * max(points[:, 0].max() for points in strokes)
            if barred:
                pen.line([begun * FINE, y * FINE, x * FINE, y * FINE], ink, width)
            x += size * rng.uniform(0.3, 0.6)
        y += leading
    return np.asarray(picture.resize((side, side), Image.Resampling.BOX))


def drawing(rng, side):
    """Lines and curves without a letter: boards, mazes, graphs, scribbles."""
    picture = Image.new("L", (side * FINE, side * FINE), 255)
    pen, width = ImageDraw.Draw(picture), round(FINE * rng.uniform(0.6, 4))
    place = lambda: [float(v) for v in rng.uniform(-20, side + 20, 2) * FINE]
    if rng.random() < 0.3:  # a grid
        step = rng.uniform(6, 40) * FINE
        for at in np.arange(rng.uniform(0, step), side * FINE, step):
            pen.line([at, 0, at, side * FINE], 120, FINE)
            pen.line([0, at, side * FINE, at], 120, FINE)
    for _ in range(int(rng.integers(2, 30))):
        (x, y), kind = place(), rng.random()
        if kind < 0.25:
            pen.line([x, y, *place()], 0, width)
        elif kind < 0.45:
            r = FINE * rng.uniform(3, 40)
            pen.ellipse([x - r, y - r, x + r, y + r], outline=0, width=width)
        elif kind < 0.6:
            u, v = place()
            pen.rectangle([min(x, u), min(y, v), max(x, u), max(y, v)], outline=0, width=width)
        else:  # a pen's curve
            t = np.linspace(0, rng.uniform(2, 20), 120)
            a, b = rng.uniform(0.5, 2.5, 2)
            points = np.stack(
                [
                    x + t * rng.uniform(-8, 8) * FINE + rng.uniform(4, 30) * FINE * np.sin(a * t),
                    y + t * rng.uniform(-8, 8) * FINE + rng.uniform(4, 30) * FINE * np.cos(b * t),
                ],
                1,
            )
            pen.line([tuple(p) for p in points], 0, width, joint="curve")
    return np.asarray(picture.resize((side, side), Image.Resampling.BOX))
