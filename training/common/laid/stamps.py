"""Stamps laid on pages in training: round and oval seals, square ones, framed words, dates and
numbers, in one uneven ink. They are print, also where somebody signed across them."""

import functools

import cv2
import numpy as np
from PIL import Image, ImageDraw

from training.common import capture, pixel
from training.common.ink import texts
from training.common.laid.tints import start
from training.common.typed import face_files, loaded

STAMPS = (1, 4)  # on a page
SIDES = (3.5, 12)  # ems, of a seal
LETTERS = (0.6, 1.6)  # ems, of words
BY_WRITING = 0.4  # share of stamps that are set where somebody wrote
SIDEWAYS = 0.25  # share of words and numbers that run up or down the page
COLOURS = (
    ((200, 40, 50), 0.45),
    ((60, 60, 170), 0.2),
    ((110, 50, 150), 0.1),
    ((30, 120, 80), 0.07),
    ((30, 30, 35), 0.18),
)
CJK_SHARE = 0.5  # of seals
FAINT, INKED = 0.08, 0.3  # shares of the light that a stamp takes: less is paper; more is print


def stamped(rng, image, label):
    """The page with stamps, most of them of one ink."""
    image, label = image.copy(), label.copy()
    printed = np.flatnonzero(label[::8, ::8] == pixel.PRINT)
    written = np.flatnonzero(np.isin(label[::8, ::8], pixel.HANDS))
    usual = colour(rng)
    for _ in range(int(rng.integers(*STAMPS))):
        shape = KINDS[int(rng.integers(len(KINDS)))](rng)
        if shape is None:
            continue
        taken = inked(rng, shape)[..., None] * (
            1 - (usual if rng.random() < 0.8 else colour(rng)) / 255
        )
        near = written if rng.random() < BY_WRITING and len(written) else printed
        press(image, label, taken, start(rng, label.shape, near) - np.array(shape.shape[::-1]) // 2)
    return image, label


def press(image, label, taken, at):
    """Takes light off a page from a pixel (x, y) on; what lies outside of the page is lost."""
    (h, w), (x, y) = label.shape, at
    top, left, bottom, right = (
        max(y, 0),
        max(x, 0),
        min(y + taken.shape[0], h),
        min(x + taken.shape[1], w),
    )
    if bottom <= top or right <= left:
        return
    taken = taken[top - y : bottom - y, left - x : right - x]
    spot = (slice(top, bottom), slice(left, right))
    image[spot] = (image[spot] * (1 - taken)).astype(np.uint8)
    most, before = taken.max(2), label[spot].copy()
    label[spot][(most > FAINT) & (before == pixel.PAPER)] = pixel.IGNORE
    label[spot][(most > INKED) & (before == pixel.PAPER)] = pixel.PRINT
    label[spot][(most > INKED) & (before == pixel.HAND)] = pixel.BOTH


def colour(rng):
    chosen = COLOURS[int(rng.choice(len(COLOURS), p=[share for _, share in COLOURS]))][0]
    return np.clip(np.array(chosen) + rng.normal(0, 18, 3), 0, 230).astype(np.float32)


def inked(rng, shape):
    """How much of its ink's light a stamp takes at each pixel: it is pressed unevenly, and paper is
    rough."""
    h, w = shape.shape
    strength = rng.uniform(0.45, 1) + rng.uniform(0, 0.3) * capture.field(
        rng, h, w, rng.uniform(1, 4), 2
    )
    rough = cv2.GaussianBlur(
        rng.standard_normal((h, w)).astype(np.float32), (0, 0), rng.uniform(0.6, 1.4)
    )
    strength -= rng.uniform(0, 0.6) * np.maximum(rough, 0)
    return cv2.GaussianBlur(
        shape / np.float32(255) * np.clip(strength, 0, 1), (0, 0), rng.uniform(0.3, 0.9)
    )


# Shapes: bytes [H, W], 255 where there is ink.


def seal(rng):
    """A round or oval seal: rings, words along them, and a star, a date or nothing in the
    middle."""
    w = int(pixel.EM * np.exp(rng.uniform(*np.log(SIDES))))
    h = w if rng.random() < 0.7 else int(w * rng.uniform(0.55, 0.8))
    ink, middle = np.zeros((h, w), np.uint8), (w // 2, h // 2)
    thick = max(1, int(w * rng.uniform(0.01, 0.035)))
    for inset in (0, rng.uniform(0.06, 0.4))[: 1 if rng.random() < 0.5 else 2]:
        axes = (int(w / 2 * (1 - inset)) - thick, int(h / 2 * (1 - inset)) - thick)
        cv2.ellipse(
            ink,
            middle,
            axes,
            0,
            0,
            360,
            255,
            thick if inset == 0 else max(1, thick // 2),
            cv2.LINE_AA,
        )
    font, said = face(rng, "cjk" if rng.random() < CJK_SHARE else "latin")
    size = h * rng.uniform(0.09, 0.16)
    around(ink, font, said(rng, int(rng.integers(6, 16))), size, 0.78, True)
    if rng.random() < 0.4:
        around(ink, font, number(rng), size * 0.7, 0.8, False)
    draw = rng.random()
    if draw < 0.45:
        cv2.fillPoly(ink, [star(middle, h * rng.uniform(0.1, 0.2))], 255, cv2.LINE_AA)
    elif draw < 0.75:
        place(
            ink,
            word(
                font, said(rng, 5) if rng.random() < 0.5 else texts.PLAIN["date"](rng), size * 1.2
            ),
            *middle,
        )
    return turned(ink, rng.normal(0, 15))


def star(middle, radius):
    angles = np.arange(10) * np.pi / 5 - np.pi / 2
    reach = np.where(np.arange(10) % 2, 0.4, 1) * radius
    return (
        np.array(middle) + np.stack([np.cos(angles), np.sin(angles)], 1) * reach[:, None]
    ).astype(np.int32)


def around(ink, font, text, size, share, above):
    """Letters along an ellipse of such a share of the half axes, over its top or under its foot."""
    h, w = ink.shape
    span = min(np.pi * 1.4, len(text) * size * 1.15 / (share * (h + w) / 4)) * (1 if above else 0.7)
    for i, letter in enumerate(text):
        angle = span * ((i + 0.5) / len(text) - 0.5)
        patch = word(font, letter, size)
        if patch is None:
            continue
        up = -1 if above else 1
        x, y = np.sin(angle) * share * w / 2, up * np.cos(angle) * share * h / 2
        place(ink, turned(patch, up * np.degrees(angle)), w / 2 + x, h / 2 + y)


def name_seal(rng):
    """A square seal of a few large signs, dark on light or light on dark."""
    font, said = face(rng, "cjk")
    side, n = int(pixel.EM * rng.uniform(1.5, 4.5)), int(rng.choice([1, 2, 2]))
    ink = np.zeros((side, side), np.uint8)
    for i, letter in enumerate(said(rng, n * n)[: n * n]):
        place(
            ink,
            word(font, letter, 0.9 * side / n),
            side * (i // n + 0.5) / n,
            side * (i % n + 0.5) / n,
        )
    if rng.random() < 0.4:
        ink = 255 - ink
    else:
        cv2.rectangle(ink, (0, 0), (side - 1, side - 1), 255, max(1, side // 20))
    return turned(ink, rng.normal(0, 4))


def words(rng):
    """Lines of words, a date or a number, framed or not."""
    font, said = face(rng, "latin" if rng.random() < 0.8 else "cjk")
    size = pixel.EM * rng.uniform(*LETTERS)
    lines = [said(rng, int(rng.integers(4, 14))), texts.PLAIN["date"](rng), number(rng)]
    patches = [
        word(font, str(line), size) for line in rng.permutation(lines)[: int(rng.integers(1, 4))]
    ]
    patches = [p for p in patches if p is not None]
    if not patches:
        return None
    pad, gap = int(size * rng.uniform(0.3, 0.9)), int(size * 0.4)
    ink = np.zeros(
        (
            sum(p.shape[0] + gap for p in patches) + 2 * pad,
            max(p.shape[1] for p in patches) + 2 * pad,
        ),
        np.uint8,
    )
    y = pad
    for p in patches:
        place(ink, p, ink.shape[1] / 2, y + p.shape[0] / 2)
        y += p.shape[0] + gap
    if rng.random() < 0.5:
        thick = max(1, int(size * rng.uniform(0.04, 0.15)))
        for inset in range(1 if rng.random() < 0.7 else 2):
            far = 2 * inset * thick + thick // 2
            cv2.rectangle(
                ink, (far, far), (ink.shape[1] - 1 - far, ink.shape[0] - 1 - far), 255, thick
            )
    if rng.random() < SIDEWAYS:
        ink = np.rot90(ink, int(rng.choice([1, 3])))
    return turned(ink, rng.normal(0, 4) if rng.random() < 0.7 else rng.normal(0, 15))


KINDS = (seal, seal, name_seal, words, words)


def number(rng):
    return str(rng.integers(10**6, 10**10))


@functools.cache
def faces():
    return face_files("train")


def face(rng, use):
    """A font file, none where there are no fonts, and what writes a text of so many signs that it
    has."""
    path = str(rng.choice(faces()[use])) if faces()[use] else None
    if use == "cjk":
        return path, lambda rng, n: "".join(texts.PLAIN["cjk"](rng) for _ in range(n))[:n]
    return path, lambda rng, n: texts.PLAIN["words"](rng).split("\n")[0].upper()[:n]


def word(path, text, size):
    """A text as bytes [H, W], cut to its ink; none where the face cannot set it."""
    if not path:
        return None
    font = loaded(path, max(6, int(size)))
    try:
        left, top, right, bottom = font.getbbox(text)
    except OSError:  # a few faces have faulty instructions for some signs
        return None
    if right - left < 1 or bottom - top < 1 or right - left > 2000:
        return None
    image = Image.new("L", (right - left, bottom - top))
    ImageDraw.Draw(image).text((-left, -top), text, 255, font)
    return np.asarray(image)


def place(ink, patch, x, y):
    """Adds a patch with its middle at a pixel."""
    if patch is None:
        return
    (h, w), (ph, pw) = ink.shape, patch.shape
    x, y = int(x - pw / 2), int(y - ph / 2)
    top, left, bottom, right = max(y, 0), max(x, 0), min(y + ph, h), min(x + pw, w)
    if bottom > top and right > left:
        spot = (slice(top, bottom), slice(left, right))
        ink[spot] = np.maximum(ink[spot], patch[top - y : bottom - y, left - x : right - x])


def turned(patch, degrees):
    """A patch turned about its middle, in a frame that holds it."""
    h, w = patch.shape
    m = cv2.getRotationMatrix2D((w / 2, h / 2), degrees, 1)
    c, s = np.abs(m[0, :2])
    ow, oh = int(w * c + h * s) + 1, int(w * s + h * c) + 1
    m[:, 2] += ((ow - w) / 2, (oh - h) / 2)
    return cv2.warpAffine(np.ascontiguousarray(patch), m, (ow, oh), flags=cv2.INTER_LINEAR)
