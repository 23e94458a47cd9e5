"""Makes the benchmark of the scan finish: printed pages as they are and as they look when captured,
by what spoils them.

    python3 -m training.finish.benchmark --out bench/finish/data
    python3 -m training.finish.benchmark --whole 8 --out build/finish     whole pages, drawn at
        random

For every case it writes CLASS-N.jpg (captured) and CLASS-N.png (the page itself, the truth), and
for all of them cases.json: [{"name", "class", "text", "ocr"}]; text says that the page is print
alone, without pictures and fills, and ocr that it is in the Latin alphabet. Nobody has written on
the pages, which are our own layouts that training never sees.
"""

import argparse
import json
from pathlib import Path

import cv2
import numpy as np

from training.common import capture
from training.common.paths import data_root

WIDTH, HEIGHT = 640, 832
EM = 22  # pixels, of body text at 150 dpi
A4 = 1240  # pixels across at 150 dpi
BROAD = 12
LATIN = {"en", "de", "fr", "es", "tr", "vi", "pl", "it", "pt", "cs", "sv", "hu", "id"}
PROSE = {
    "exam_paper",
    "fill_in",
    "invoice",
    "letter",
    "listing",
    "magazine",
    "multiple_choice",
    "newspaper",
    "reading",
    "report",
    "textbook",
    "true_false",
    "vocabulary",
    "word_problems",
}
COLOURS = 32  # of a page: keeps the files small, and the capture is made from what is left

# class: ((page, top of the crop as a share of what is free, text, ocr), ...)
CASES = {
    "light": (("h3-00143-letter", 0.2, True, True), ("h1-00252-exam_paper", 0, False, True)),
    "soft-shadow": (
        ("h3-00545-invoice", 0.1, False, True),
        ("h1-00127-exam_paper", 0, True, False),
    ),
    "hard-shadow": (("h3-00171-true_false", 0, True, False), ("h3-00090-reading", 0, True, True)),
    "yellowed": (("h2-00056-report", 0, False, True), ("h3-00405-letter", 0.3, True, True)),
    "show-through": (
        ("h3-00257-true_false", 0.3, True, True),
        ("h1-00302-formula_exam", 0, False, True),
    ),
    "stain": (("h3-00372-letter", 0.3, True, False), ("h91-00461-crossword", 1, True, True)),
    "folds": (("h2-00094-report", 0, False, True), ("h91-00439-true_false", 0, True, True)),
    "moire": (("h3-00158-textbook", 0.5, False, True), ("h3-00005-tables", 0, False, True)),
    "scan": (("h3-00161-newspaper", 0.3, False, True), ("h91-00062-game_board", 0, False, False)),
    "low-contrast": (("h3-00502-book", 0.5, True, False), ("h3-00326-timetable", 0, False, True)),
}


def page(name, top):
    """A crop of a stored page at 150 dpi, of few colours, paper white."""
    path = data_root() / "pages" / "val" / name
    image = cv2.imread(str(path.with_suffix(".png")))[..., ::-1]
    scale = EM / json.loads(path.with_suffix(".json").read_text())["em"]
    scale = max(scale, WIDTH / image.shape[1], HEIGHT / image.shape[0])
    image = cv2.resize(image, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
    y, x = int(top * (image.shape[0] - HEIGHT)), (image.shape[1] - WIDTH) // 2
    return reduce(np.ascontiguousarray(image[y : y + HEIGHT, x : x + WIDTH]))


def reduce(image):
    """The page in at most COLOURS colours (k-means); what is nearly white is white."""
    image[image.min(2) >= 250] = 255
    flat = image.reshape(-1, 3)
    ink = np.flatnonzero((flat < 255).any(1))
    cv2.setRNGSeed(1)
    values, counts = np.unique(flat[ink] // 4 * 4 + 2, axis=0, return_counts=True)
    if len(values) > COLOURS:
        criteria = (cv2.TERM_CRITERIA_EPS + cv2.TERM_CRITERIA_MAX_ITER, 20, 1.0)
        sample = np.repeat(values, np.minimum(counts, 200), 0).astype(np.float32)
        values = cv2.kmeans(sample, COLOURS, None, criteria, 1, cv2.KMEANS_PP_CENTERS)[2]
    distance = [((flat[ink].astype(np.float32) - v) ** 2).sum(1) for v in values.astype(np.float32)]
    flat[ink] = np.round(values[np.argmin(distance, 0)]).astype(np.uint8)
    return image


def across(rng, shape, edge):
    """From 0 to 1 over a line through the picture, within edge pixels either side."""
    h, w = shape[:2]
    xs, ys = np.meshgrid(np.arange(w, dtype=np.float32), np.arange(h, dtype=np.float32))
    a = rng.uniform(0, 2 * np.pi)
    d = (xs - rng.uniform(0.3, 0.7) * w) * np.cos(a) + (ys - rng.uniform(0.3, 0.7) * h) * np.sin(a)
    d += 25 * capture.field(rng, h, w, 2)
    return 1 / (1 + np.exp(np.clip(-4 * d / edge, -30, 30)))[..., None]


def light(rng, img):
    h, w = img.shape[:2]
    xs, ys = np.meshgrid(
        np.linspace(-1, 1, w, dtype=np.float32), np.linspace(-1, 1, h, dtype=np.float32)
    )
    a = rng.uniform(0, 2 * np.pi)
    slope = 0.72 + 0.2 * (xs * np.cos(a) + ys * np.sin(a)) + 0.06 * capture.field(rng, h, w, 2)
    return img * slope[..., None] * np.array([1, 0.97, 0.92], np.float32)


def shadow(edge):
    def cast(rng, img):
        tint = np.array([0.42, 0.39, 0.35], np.float32)  # what is left is the blue of the sky
        return light(rng, img) * (1 - across(rng, img.shape, edge) * tint)

    return cast


def yellowed(rng, img):
    h, w = img.shape[:2]
    age = 1 + 0.03 * capture.field(rng, h, w, 6, 2)[..., None]
    xs, ys = np.meshgrid(
        np.linspace(-1, 1, w, dtype=np.float32), np.linspace(-1, 1, h, dtype=np.float32)
    )
    rim = np.maximum(abs(xs), abs(ys))[..., None] ** 6
    return img * np.array([0.93, 0.86, 0.68], np.float32) * age * (1 - 0.12 * rim)


def show_through(rng, img):
    back = page("h3-00327-dictionary", 0.3)
    back = np.tile(back, (-(-img.shape[0] // HEIGHT), -(-img.shape[1] // WIDTH), 1))[
        : img.shape[0], : img.shape[1]
    ]
    ghost = cv2.GaussianBlur(back[:, ::-1], (0, 0), 1.6).astype(np.float32)
    return img * 0.94 * (1 - 0.16 * (1 - ghost / 255))


def low_contrast(rng, img):
    return 95 + img * (118 / 255)


def moire(rng, img):
    """A screen photographed: two patterns, each channel shifted."""
    h, w = img.shape[:2]
    xs, ys = np.meshgrid(np.arange(w, dtype=np.float32), np.arange(h, dtype=np.float32))
    for period, depth in ((rng.uniform(5, 9), 0.07), (rng.uniform(2.6, 4), 0.03)):
        a = rng.uniform(0, np.pi)
        phase = (
            2 * np.pi / period * (xs * np.cos(a) + ys * np.sin(a) + 6 * capture.field(rng, h, w, 2))
        )
        img = img * (1 + depth * np.stack([np.sin(phase + k * 1.2) for k in range(3)], -1))
    return img * 0.9


SPOIL = {
    "light": light,
    "soft-shadow": shadow(90),
    "hard-shadow": shadow(9),
    "yellowed": yellowed,
    "show-through": show_through,
    "stain": lambda rng, img: capture.stain(rng, capture.stain(rng, img * 0.93)),
    "folds": lambda rng, img: capture.folds(rng, light(rng, img)),
    "moire": moire,
    "scan": lambda rng, img: img * 0.985,
    "low-contrast": low_contrast,
}


def captured(rng, clean, kind):
    scan = kind == "scan"
    img = cv2.GaussianBlur(clean, (0, 0), 0.45 if scan else 0.65).astype(np.float32)
    if not scan:  # print is never black, paper has grain
        img = 22 + img * (233 / 255)
        img *= (
            1
            + 0.006
            * cv2.GaussianBlur(rng.standard_normal(img.shape[:2]).astype(np.float32), (0, 0), 1)[
                ..., None
            ]
            * 2
        )
    img = SPOIL[kind](rng, img)
    return np.clip(img + rng.standard_normal(img.shape) * (0.7 if scan else 1.6), 0, 255).astype(
        np.uint8
    )


def chosen():
    """The cases of the committed benchmark: (class, number, page, text, ocr)."""
    for kind, pages in CASES.items():
        for n, (name, top, text, ocr) in enumerate(pages, 1):
            yield kind, n, page(name, top), text, ocr


def drawn(count, seed):
    """The same whole held-out pages in every class, none of them among the committed ones, drawn at
    random: half of them PROSE, which is read."""
    used = {name for pages in CASES.values() for name, *_ in pages}
    paths = [
        p for p in sorted((data_root() / "pages" / "val").glob("h*.json")) if p.stem not in used
    ]
    names = np.random.default_rng(seed).permutation(
        [p.stem for p in paths if json.loads(p.read_text())["lang"] in LATIN]
    )
    prose = [name for name in names if name.split("-")[-1] in PROSE]
    rest = [name for name in names if name not in prose]
    chosen = [
        (whole(name), name in prose) for name in prose[: count // 2] + rest[: count - count // 2]
    ]
    for kind in CASES:
        for n, (clean, read) in enumerate(chosen, 1):
            yield kind, n, clean, is_text(clean), read


def whole(name):
    """A stored page as wide as A4 is at 150 dpi, of few colours, paper white."""
    image = cv2.imread(str((data_root() / "pages" / "val" / name).with_suffix(".png")))[..., ::-1]
    return reduce(
        np.ascontiguousarray(
            cv2.resize(
                image,
                None,
                fx=A4 / image.shape[1],
                fy=A4 / image.shape[1],
                interpolation=cv2.INTER_AREA,
            )
        )
    )


def is_text(image):
    """Whether a page has strokes alone: nothing that is broader than BROAD pixels either way."""
    inked = (image.min(2) < 250).astype(np.uint8)
    return cv2.erode(inked, np.ones((BROAD, BROAD), np.uint8)).mean() < 1e-5


def main():
    p = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    p.add_argument("--out", required=True, type=Path)
    p.add_argument(
        "--whole",
        default=0,
        type=int,
        metavar="N",
        help="N whole pages instead of the committed crops",
    )
    p.add_argument("--seed", default=11, type=int)
    a = p.parse_args()
    a.out.mkdir(parents=True, exist_ok=True)
    cases = []
    for kind, n, clean, text, ocr in drawn(a.whole, a.seed) if a.whole else chosen():
        stem = f"{kind}-{n}"
        image = captured(np.random.default_rng([a.seed, list(CASES).index(kind), n]), clean, kind)
        cv2.imwrite(
            str(a.out / f"{stem}.jpg"),
            image[..., ::-1],
            [cv2.IMWRITE_JPEG_QUALITY, 92 if kind == "scan" else 82],
        )
        write_png(a.out / f"{stem}.png", clean)
        cases.append({"name": stem, "class": kind, "text": bool(text), "ocr": ocr})
    (a.out / "cases.json").write_text(json.dumps(cases, indent=1) + "\n")


def write_png(path, image):
    from PIL import Image

    colours, index = np.unique(image.reshape(-1, 3), axis=0, return_inverse=True)
    out = Image.fromarray(index.reshape(image.shape[:2]).astype(np.uint8), "P")
    out.putpalette(colours.astype(np.uint8).tobytes())
    out.save(path, optimize=True)


if __name__ == "__main__":
    main()
