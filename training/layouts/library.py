"""Clean printed pages: the paper that training handwriting is composed onto.

Two sources feed one library of pages: typeset documents (PDFs of Debian's TeX
documentation packages) and our own layouts, written as HTML and printed by
Chromium (package layouts). A page is a picture and a JSON file beside it:

    $UNINK_DATA/pages/{train,val}/ID.png   8-bit grey or RGB, longest side <= 3200
    $UNINK_DATA/pages/{train,val}/ID.json  {"em", "family", "lang", "source", "letters", "slots"}

em is the body font size in pixels, letters how many letters and digits are set on the page. A slot
is a place where people write: {"kind", "rect": [x0, y0, x1, y1], "want"}, in pixels. The JSON is
written last, so a picture without one is not finished and must not be read.

    python3 -m training.layouts.library render --kind documents --count 500 --seed 1
    python3 -m training.layouts.library render --kind html --count 500 --seed 1
    python3 -m training.layouts.library sheet sheet.png --split train
"""

import argparse
import hashlib
import json
import multiprocessing
import os
import pathlib
import random
import sys

import cv2
import numpy as np
import pymupdf

from training.common import real
from training.common.paths import data_root

DATA = data_root()
BODY_EM = 32  # pixels: the size that body text is rendered at
LONGEST = 3200  # pixels: no side of a page is longer
SMALLEST_EM = 12  # pixels: below this, print is too small to tell from writing
VAL_SHARE = 10  # per cent of documents, layouts and fonts held out
PAGE_SECONDS = 15  # for up to three pages of one document; slower ones are skipped
PNG_LEVEL = 2

# Packages of typeset documents, with the weight each document of theirs has
# when the sample is drawn. Manuals of LaTeX packages look alike, and they are many.
DOCUMENT_WEIGHTS = {
    "texlive-publishers-doc": 4,
    "texlive-games": 6,
    "texlive-music": 6,
    "texlive-pictures-doc": 4,
    "texlive-pstricks-doc": 4,
    "texlive-metapost-doc": 3,
    "texlive-science-doc": 3,
    "texlive-humanities-doc": 4,
    "texlive-fonts-extra-doc": 4,
    "texlive-latex-extra-doc": 0.7,
    "texlive-latex-recommended-doc": 1,
    "texlive-lang-arabic": 4,
    "texlive-lang-chinese": 5,
    "texlive-lang-cyrillic": 5,
    "texlive-lang-french": 3,
    "texlive-lang-greek": 5,
    "texlive-lang-japanese": 5,
    "texlive-lang-korean": 6,
    "texlive-lang-other": 5,
}
DOCUMENT_LANGUAGES = {
    "texlive-lang-arabic": "ar",
    "texlive-lang-chinese": "zh-Hans",
    "texlive-lang-cyrillic": "ru",
    "texlive-lang-french": "fr",
    "texlive-lang-greek": "el",
    "texlive-lang-japanese": "ja",
    "texlive-lang-korean": "ko",
}


def split_of(name):
    """Return "train" or "val" for a document, layout or font, the same for ever."""
    digest = hashlib.sha256(name.encode()).digest()
    return "val" if digest[0] * 256 + digest[1] < 65536 * VAL_SHARE // 100 else "train"


# The library on disk.


def path_of(split, page_id, suffix):
    return DATA / "pages" / split / (page_id + suffix)


def is_stored(page_id):
    return any(path_of(split, page_id, ".json").exists() for split in ("train", "val"))


def store(split, page_id, picture, meta):
    """Write a page: the picture (RGB, uint8) first, its JSON last, each at once."""
    if np.ptp(picture.astype(np.int16), axis=2).max() <= 6:
        picture = cv2.cvtColor(picture, cv2.COLOR_RGB2GRAY)
    else:
        picture = cv2.cvtColor(picture, cv2.COLOR_RGB2BGR)
    ok, data = cv2.imencode(".png", picture, [cv2.IMWRITE_PNG_COMPRESSION, PNG_LEVEL])
    if not ok:
        raise RuntimeError(f"page {page_id}: PNG encoding failed")
    write_whole(path_of(split, page_id, ".png"), data.tobytes())
    write_whole(path_of(split, page_id, ".json"), json.dumps(meta, ensure_ascii=False).encode())


def write_whole(path, data):
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + f".{os.getpid()}.part")
    part.write_bytes(data)
    part.rename(path)


def sources(split):
    """The library's pages as training takes real ones. A design is a source of its own."""
    found = []
    for path in sorted((data_root() / "pages" / split).glob("*.json")):
        meta = json.loads(path.read_text())
        picture = str(path.with_suffix(".png"))
        found.append(
            real.Source(picture, "", meta["em"], real.RENDERED, 0.0, split, meta["family"], True)
        )
    return found


# PDF pages to pixels.


def body_size(page):
    """Return the font size, in points, that most characters of a page are set in."""
    weights = {}
    for block in page.get_text("dict")["blocks"]:
        for line in block.get("lines", ()):
            for span in line["spans"]:
                size = round(span["size"] * 2) / 2
                weights[size] = weights.get(size, 0) + len(span["text"].strip())
    return max(weights, key=weights.get) if any(weights.values()) else None


def letters(page):
    """Count the letters and digits that are set on a page; those drawn as figures are not among
    them."""
    return sum(c.isalnum() for c in page.get_text())


def scale_for(page, em):
    """Return pixels per point: body text at BODY_EM, no side over LONGEST."""
    scale = BODY_EM / em if em else 200 / 72
    return min(scale, LONGEST / max(page.rect.width, page.rect.height), 400 / 72)


def pixels(page, scale):
    """Render a PDF page; RGB, uint8, its longest side at most LONGEST."""
    picture = page.get_pixmap(matrix=pymupdf.Matrix(scale, scale), alpha=False, annots=False)
    shape = picture.height, picture.width, picture.n
    return np.frombuffer(picture.samples, np.uint8).reshape(shape)[:LONGEST, :LONGEST, :3]


def is_usable(picture):
    """Tell whether a page has print on it and paper between: not blank, not dark."""
    grey = cv2.cvtColor(picture, cv2.COLOR_RGB2GRAY)
    ink = (grey < 160).mean()
    return min(grey.shape) >= 300 and 0.002 < ink < 0.4 and np.median(grey) >= 225


def free_areas(picture, em, taken=(), limit=3):
    """Return a page's largest empty rectangles, 3 em or more either way, clear of taken ones."""
    cell = max(4, int(em / 2))
    grey = cv2.cvtColor(picture, cv2.COLOR_RGB2GRAY)
    rows, columns = grey.shape[0] // cell, grey.shape[1] // cell
    tiles = grey[: rows * cell, : columns * cell].reshape(rows, cell, columns, cell)
    free = tiles.min(axis=(1, 3)) > 215
    free[[0, -1], :] = free[:, [0, -1]] = False
    for x0, y0, x1, y1 in taken:
        free[y0 // cell : -(-y1 // cell), x0 // cell : -(-x1 // cell)] = False
    rects = []
    while len(rects) < limit:
        x0, y0, x1, y1 = largest_rectangle(free)
        if min(x1 - x0, y1 - y0) < 6 or (x1 - x0) * (y1 - y0) < 80:
            break
        free[y0:y1, x0:x1] = False
        rects.append([int(v) * cell for v in (x0, y0, x1, y1)])
    return rects


def largest_rectangle(free):
    """Return the largest all-true rectangle (x0, y0, x1, y1) of a boolean grid."""
    best, area = (0, 0, 0, 0), 0
    heights = np.zeros(free.shape[1], int)
    for y, row in enumerate(free):
        heights = np.where(row, heights + 1, 0)
        stack = []  # (start, height), heights rising
        for x, height in enumerate([*heights, 0]):
            start = x
            while stack and stack[-1][1] >= height:
                start, tall = stack.pop()
                if tall * (x - start) > area:
                    area = tall * (x - start)
                    best = (start, y + 1 - tall, x, y + 1)
            stack.append((start, height))
    return best


def area_slot(rect, width, em):
    """Name an empty rectangle: a margin if it is narrow or at the page's side."""
    x0, y0, x1, y1 = rect
    narrow = min(x1 - x0, y1 - y0) < 5 * em
    at_side = x1 - x0 < width / 3 and (x0 < 2 * em or x1 > width - 2 * em)
    kind, want = ("margin", "words") if narrow or at_side else ("area", "paragraph")
    return {"kind": kind, "rect": rect, "want": want}


def word_slots(page, scale, picture, rng):
    """Return 10 to 20 printed words, which a reader may underline or circle."""
    height, width = picture.shape[:2]
    slots = []
    words = [word for word in page.get_text("words") if len(word[4].strip("_.…")) > 1]
    for x0, y0, x1, y1, *_ in rng.sample(words, min(len(words), rng.randint(10, 20))):
        rect = [round(v * scale) for v in (x0, y0, x1, y1)]
        if rect[0] >= 0 and rect[1] >= 0 and rect[2] <= width and rect[3] <= height:
            if rect[2] - rect[0] > 8 and rect[3] - rect[1] > 8:
                slots.append({"kind": "word", "rect": rect, "want": "tick"})
    return slots


def free_slots(page, scale, picture, em, rng, taken=()):
    """Return the slots that any printed page has: words, free areas and margins."""
    areas = [area_slot(rect, picture.shape[1], em) for rect in free_areas(picture, em, taken)]
    return word_slots(page, scale, picture, rng) + areas


# Documents.


def documents(rng):
    """Return the paths of all documents in a weighted random order."""
    keyed = []
    for package, weight in DOCUMENT_WEIGHTS.items():
        for path in sorted((DATA / "docs" / package).rglob("*.pdf")):
            keyed.append((rng.random() ** (1 / weight), str(path)))
    return [path for _, path in sorted(keyed, reverse=True)]


def pick_pages(document, rng):
    """Return up to three page numbers, pages rich in faces and figures first."""
    numbers = rng.sample(range(len(document)), min(6, len(document)))
    richness = {}
    for number in numbers:
        page = document[number]
        faces, figures = len(page.get_fonts()), len(page.get_images()) * 3
        strokes = min(len(page.read_contents()) / 20000, 5)
        richness[number] = faces + figures + strokes + rng.random() * 4
    best = sorted(numbers, key=richness.get, reverse=True)
    return best[: rng.choice((1, 2, 2, 3))]


def render_document(path, prefix, seed):
    """Store some pages of one PDF and return how many."""
    name = document_name(path)
    rng = random.Random(f"{seed}/{name}")
    stored = 0
    with pymupdf.open(path) as document:
        if document.needs_pass or not len(document):
            return 0
        for number in pick_pages(document, rng):
            page_id = f"{prefix}-{number}"
            if is_stored(page_id):
                continue
            page = document[number]
            size = body_size(page)
            scale = scale_for(page, size)
            em = (size or 10.5) * scale
            if em < SMALLEST_EM:
                continue
            picture = pixels(page, scale)
            if not is_usable(picture):
                continue
            package = name.split("/")[0]
            store(
                split_of(document_family(name)),
                page_id,
                picture,
                {
                    "em": round(em, 1),
                    "family": document_family(name),
                    "lang": DOCUMENT_LANGUAGES.get(package, "en"),
                    "source": "document",
                    "letters": letters(page),
                    "slots": free_slots(page, scale, picture, em, rng),
                },
            )
            stored += 1
    return stored


def document_name(path):
    """Return a document's path below its package's folder, the package first."""
    return "/".join(pathlib.Path(path).relative_to(DATA / "docs").parts)


def document_family(name):
    """Return the package and folder of a document: its siblings share its look."""
    parts = name.split("/")
    return parts[0] + "/" + parts[-2]


def document_worker(jobs):
    """Render the documents sent down a pipe, answering with the pages stored."""
    pymupdf.TOOLS.mupdf_display_errors(False)
    while True:
        job = jobs.recv()
        try:
            jobs.send(render_document(*job))
        except (RuntimeError, ValueError, OSError):
            jobs.send(0)  # a document that cannot be rendered is no page of ours


def start_worker():
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.Process(target=document_worker, args=(theirs,), daemon=True)
    process.start()
    return process, ours


def render_documents(count, seed, split=None):
    """Store about count pages of documents, of one split or both, each document in bounded time."""
    process, jobs = start_worker()
    stored = 0
    for path in documents(random.Random(seed)):
        if split not in (None, split_of(document_family(document_name(path)))):
            continue
        digest = hashlib.sha256(path.encode()).hexdigest()[:8]
        jobs.send((path, f"d{seed}-{digest}", seed))
        if jobs.poll(PAGE_SECONDS):
            stored += jobs.recv()
        else:
            process.kill()
            process.join()
            process, jobs = start_worker()
        if stored >= count:
            break
    process.kill()
    return stored


# Contact sheets.

SLOT_COLOURS = {
    "word": (0, 160, 0),
    "margin": (255, 170, 0),
    "area": (255, 0, 200),
    "line": (255, 0, 0),
    "blank": (0, 0, 255),
    "cell": (0, 180, 200),
    "check": (160, 0, 255),
    "option": (200, 120, 0),
}


def outlined(path):
    """Return a page with its slots outlined and its name, RGB."""
    meta = json.loads(path.read_text())
    picture = cv2.cvtColor(cv2.imread(str(path.with_suffix(".png"))), cv2.COLOR_BGR2RGB)
    for slot in meta["slots"]:
        x0, y0, x1, y1 = slot["rect"]
        colour = SLOT_COLOURS.get(slot["kind"], (255, 60, 60))
        cv2.rectangle(picture, (x0, y0), (x1, y1), colour, max(3, picture.shape[1] // 400))
    return picture, f"{path.stem} {meta['family']} em {meta['em']:.0f}"


def sheet(out, split, count, only, seed):
    """Draw a sheet of random pages whose ID begins with only."""
    paths = sorted((DATA / "pages" / split).glob(only + "*.json"))
    if not paths:
        raise SystemExit(f"no pages of split {split} under {DATA / 'pages'}; run render first")
    paths = random.Random(seed).sample(paths, min(count, len(paths)))
    side, columns = 640, min(4, len(paths))
    canvas = np.full((-(-len(paths) // columns) * (side + 24), columns * side, 3), 128, np.uint8)
    for i, path in enumerate(paths):
        picture, title = outlined(path)
        ratio = (side - 8) / max(picture.shape[:2])
        small = cv2.resize(picture, None, fx=ratio, fy=ratio, interpolation=cv2.INTER_AREA)
        y, x = i // columns * (side + 24), i % columns * side
        canvas[y + 24 : y + 24 + small.shape[0], x : x + small.shape[1]] = small
        cv2.putText(canvas, title[:70], (x + 4, y + 17), 0, 0.45, (255, 255, 255), 1, cv2.LINE_AA)
    cv2.imwrite(out, cv2.cvtColor(canvas, cv2.COLOR_RGB2BGR))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    render = commands.add_parser("render", help="append pages to the library")
    render.add_argument("--kind", choices=("html", "documents"), required=True)
    render.add_argument("--count", type=int, required=True)
    render.add_argument("--seed", type=int, required=True)
    render.add_argument("--split", choices=("train", "val"), help="these alone; both without it")
    look = commands.add_parser("sheet", help="draw a contact sheet, slots outlined")
    look.add_argument("out")
    look.add_argument("--split", choices=("train", "val"), default="train")
    look.add_argument("--count", type=int, default=12)
    look.add_argument("--only", default="", metavar="PREFIX", help="pages whose ID begins so")
    look.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    if args.command == "sheet":
        sheet(args.out, args.split, args.count, args.only, args.seed)
    elif args.kind == "documents":
        print(render_documents(args.count, args.seed, args.split), "pages stored")
    else:
        from training.layouts import press  # press needs this module whole

        print(press.render(args.count, args.seed, args.split), "pages stored")


if __name__ == "__main__":
    sys.exit(main())
