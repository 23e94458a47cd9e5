"""Entries set in type, in the blanks, boxes and cells where people write.

Without them a mark's place alone would tell what it is: a typed entry in a form, a given digit of a
puzzle and a number printed on an answer line stay, and only their shape says so.
"""

import functools
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from training.common.ink import texts
from training.layouts import fonts

LATIN = {
    "number",
    "digit",
    "letter",
    "word",
    "words",
    "name",
    "date",
    "phone",
    "money",
    "code",
    "block",
    "sentence",
    "formula",
    "tick",
}
COLLECTIONS = {"train": "NotoSansCJK-*.ttc", "val": "NotoSerifCJK-*.ttc"}
COLLECTION_FOLDER = Path("/usr/share/fonts/opentype/noto")
OVERSAMPLING = 3


@functools.cache
def face_files(split):
    """Font files by what they can set: "latin" and "cjk"."""
    files = [
        f
        for face in fonts.faces()
        if face.split == split
        and face.regular != "local"
        and face.use != "script"
        and "en" in face.langs
        for f in (face.regular, face.bold)
        if f and scalable(f)
    ]
    return {
        "latin": files,
        "cjk": [str(p) for p in sorted(COLLECTION_FOLDER.glob(COLLECTIONS[split]))],
    }


def scalable(path):
    """False for a font of bitmaps, which has a few sizes only."""
    try:
        return bool(ImageFont.truetype(path, 37))
    except OSError:
        return False


@functools.lru_cache(256)
def loaded(path, size):
    return ImageFont.truetype(path, size)


def entry(rng, want):
    """A short text for a slot, and the kind of face that sets it."""
    if want in ("cjk", "kana", "hangul"):
        return texts.PLAIN[want](rng)[: int(rng.integers(1, 7))], "cjk"
    kind = want if want in LATIN else "word"
    kind = {"tick": "letter", "formula": "number", "sentence": "words"}.get(kind, kind)
    return texts.PLAIN[kind](rng).split("\n")[0], "latin"


class Typist:
    """Fills slots of one crop, all in one face, size and colour, as a program or a typewriter
    would."""

    def __init__(self, split, rng):
        self.rng = rng
        self.files = {
            use: str(rng.choice(files)) for use, files in face_files(split).items() if files
        }
        self.fit = rng.uniform(0.35, 0.75)  # of a slot's height
        self.colour = rng.integers(0, 70) * np.ones(3)
        if rng.random() < 0.15:
            self.colour = rng.integers(0, 170, 3).astype(float)
        self.centred = rng.random() < 0.6

    def fill(self, canvas, slot, em):
        """Draws an entry into the slot, darkening the canvas in place; nothing where it has no
        room."""
        x0, y0, x1, y1 = slot["rect"]
        text, use = entry(self.rng, slot["want"])
        size = int(min(self.fit * (y1 - y0), 2.5 * em))
        if use not in self.files or size < 6 or not text.strip():
            return
        patch = self.set(text, use, size)
        if patch is None:
            return
        h, w = patch.shape
        while w > x1 - x0 and len(text) > 1:
            text = text[: len(text) // 2]
            patch = self.set(text, use, size)
            if patch is None:
                return
            h, w = patch.shape
        x = (
            (x0 + x1 - w) / 2
            if self.centred or slot["kind"] in ("cell", "comb", "box")
            else x0 + 0.2 * em
        )
        y = y1 - h - 0.12 * size if slot["kind"] in ("line", "blank") else (y0 + y1 - h) / 2
        darken(canvas, patch, int(x), int(y), self.colour)

    def set(self, text, use, size):
        """The text as coverage, float H x W in 0..1, cut to its ink; None when the face has nothing
        to show for it."""
        font = loaded(self.files[use], size * OVERSAMPLING)
        try:
            left, top, right, bottom = font.getbbox(text)
        except OSError:  # a few faces have faulty instructions for some signs
            return None
        if right - left < OVERSAMPLING or bottom - top < OVERSAMPLING or right - left > 8000:
            return None
        image = Image.new("L", (right - left, bottom - top))
        ImageDraw.Draw(image).text((-left, -top), text, 255, font)
        w, h = max(1, image.width // OVERSAMPLING), max(1, image.height // OVERSAMPLING)
        return np.asarray(image.resize((w, h), Image.BOX), np.float32) / 255


def darken(canvas, patch, x, y, colour):
    """Prints coverage onto a canvas, its top left at x, y; what falls outside is cut."""
    h, w = patch.shape
    x0, y0, x1, y1 = max(x, 0), max(y, 0), min(x + w, canvas.shape[1]), min(y + h, canvas.shape[0])
    if x0 >= x1 or y0 >= y1:
        return
    part = patch[y0 - y : y1 - y, x0 - x : x1 - x, None]
    there = canvas[y0:y1, x0:x1]
    canvas[y0:y1, x0:x1] = np.minimum(there, there * (1 - part) + colour * part).astype(np.uint8)
