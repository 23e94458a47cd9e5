"""Real pages: photographs and scans that people wrote on, labelled by pixel, pages annotated with a
stylus, whose strokes are known exactly, and printed pages that nobody wrote on.

    $UNINK_REAL/pages/index.tsv, pages/NAME, labels/NAME.png    0 paper, 1 print, 2 handwriting, 3
        not known
    $UNINK_REAL/digital/ likewise                               exact, with 4 for handwriting over
        print
    $UNINK_REAL/digital/strokes/*.json.gz                       whole pages of pen strokes
    $UNINK_REAL/print/index.tsv, FILE                           nothing is handwriting
    $UNINK_INK/sheets/index.tsv, FILE                           plain, lined or squared paper: all
        strokes are handwriting

    python3 -m training.common.real            labels to train on and the print's size, under
                                               $UNINK_DATA/real
    python3 -m training.common.real --fold 0   half of the training pages as a split of their own,
                                               "fold"; --fold 1, the other

Pages of one repository belong to one split: they often show one hand, one form or one exam.
"""

import argparse
import csv
import functools
import gzip
import json
import os
import zlib
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

import cv2
import numpy as np

from training.common import pixel
from training.common.ink import lifts
from training.common.ink.hands import held_out
from training.common.paths import data_root

FOLDS = 2  # of the training pages, so that every page is judged by a network that has not seen it
DOUBTFUL = 3  # trust in labels that were hard to tell
SHEET = 2  # trust in what is found on a sheet of handwriting
RENDERED = 6  # trust in pages of the library, which nobody wrote on and which never lay on paper
# what the labels of a folder mean
GIVEN = [pixel.PAPER, pixel.PRINT, pixel.WRITTEN, pixel.IGNORE, pixel.BOTH]
DRAWN = 1.6  # pixels of a point, strokes that are drawn
FAINT = 28  # grey levels below the paper: less is not ink, as in composed pages
AWAY = 0.4  # ems: writing so far from print has none under it
EDGE = 0.38  # share of a stroke's contrast: less is its soft edge


@dataclass
class Source:
    image: str
    label: str  # empty for printed pages
    em: float  # of body text, in the picture's pixels
    trust: int  # in the labels, 1 to 5; SHEET; RENDERED
    hand: float  # share of the pixels
    split: str
    repo: str = ""  # where it comes from: pages of one source are much alike
    digital: bool = False  # never on paper: its ink is even, its labels are exact


def root():
    path = os.environ.get("UNINK_REAL")
    return Path(path) if path else None


def ink_root():
    path = os.environ.get("UNINK_INK")
    return Path(path) if path else None


def folder():
    return data_root() / "real"


def sources(split):
    """The real pages of a split; none where there are none."""
    index = folder() / "index.json"
    if not index.is_file():
        return []
    return [s for s in (Source(**row) for row in json.loads(index.read_text())) if s.split == split]


def read(source):
    """A page and its labels."""
    image = cv2.imread(source.image)[..., ::-1]
    if source.label:
        return image, cv2.imread(source.label, cv2.IMREAD_GRAYSCALE)
    return image, printed_label(image)


def contrast_of(image, size=25):
    """How much darker than the paper near it each pixel is, in its strongest channel, 0 to 255."""
    light = cv2.morphologyEx(image, cv2.MORPH_CLOSE, np.ones((size, size), np.uint8))
    return cv2.subtract(light, image).max(2)


def printed_label(image):
    return np.where(contrast_of(image) > FAINT, pixel.PRINT, pixel.PAPER).astype(np.uint8)


def trained_label(image, label):
    """Labels to train on. Strokes are labelled some pixels wide of their ink: what is no darker
    than an edge has no label, nor have pixels where handwriting and print meet."""
    contrast = contrast_of(image)
    peak = cv2.dilate(contrast, np.ones((9, 9), np.uint8))
    out = np.array(GIVEN, np.uint8)[label]
    soft = (contrast < EDGE * peak) | (contrast < 8)
    out[soft & (label > 0)] = pixel.IGNORE
    out[(label == 1) & ~soft & (contrast < FAINT)] = pixel.IGNORE
    near = [
        cv2.dilate((label == c).astype(np.uint8), np.ones((3, 3), np.uint8)) > 0 for c in (1, 2)
    ]
    out[near[0] & near[1]] = pixel.IGNORE
    return out


def alone(trained, given, em):
    """The labels with HAND for writing that stands away from print: none lies under it."""
    near = cv2.dilate(
        np.isin(given, (1, 3)).astype(np.uint8), np.ones((2 * max(4, round(AWAY * em)) + 1,) * 2)
    )
    return np.where((trained == pixel.WRITTEN) & (near == 0), pixel.HAND, trained).astype(np.uint8)


def print_size(mask):
    """The em of the print in a boolean mask of ink: the mode of the heights of components that look
    like characters and have a neighbour of about their height, as the engine finds it."""
    count, _, stats, _ = cv2.connectedComponentsWithStats(mask.astype(np.uint8), connectivity=8)
    prior = 24 / 1754 * max(mask.shape)
    x, y, w, h, area = stats[1:].T.astype(float)
    solid = area / np.maximum(w * h, 1)
    fits = (
        (h >= 5)
        & (h >= prior / 6)
        & (h <= 4 * prior)
        & (w >= 0.15 * h)
        & (w <= 2 * h)
        & (solid > 0.27)
        & (solid < 0.9)
    )
    x, y, w, h = (v[fits] for v in (x, y, w, h))
    order = np.argsort(x)
    x, y, w, h = (v[order] for v in (x, y, w, h))
    paired = np.zeros(len(x), bool)
    for i in range(len(x)):
        end = np.searchsorted(x, x[i] + w[i] + h[i], side="right")
        others = slice(i + 1, end)
        overlap = np.minimum(y[i] + h[i], y[others] + h[others]) - np.maximum(y[i], y[others])
        short, tall = np.minimum(h[i], h[others]), np.maximum(h[i], h[others])
        alike = (3 * short >= 2 * tall - 3) & (2 * overlap >= short)
        if alike.any():
            paired[i] = True
            paired[others] |= alike
    heights = h[paired]
    if not len(heights):
        return prior
    bins = np.bincount((np.log2(heights) * 8).astype(int), minlength=72)
    mode = 2 ** ((np.argmax(np.convolve(bins, [0.3, 0.7, 1, 0.7, 0.3], "same")) + 0.5) / 8)
    near = heights[(heights >= 0.65 * mode) & (heights <= 1.7 * mode)]
    trust = len(near) / (len(near) + 25)
    em = float(np.clip(np.quantile(near, 0.75) / 0.75, prior / 3, prior * 3))
    return em**trust * prior ** (1 - trust)


def split_of(repo, fold=None):
    if held_out("page of " + repo):
        return "val"
    return "fold" if zlib.crc32(repo.encode()) % FOLDS == fold else "train"


def prepare_page(row, fold):
    """Writes the labels of one page of the index that was written on, or might have been."""
    folder_of = root() / "pages"
    image, label, path = page_of(folder_of, row["name"])
    trained = trained_label(image, label)
    em = print_size(trained == pixel.PRINT)
    trained = alone(trained, label, em)
    return written(path, trained, em, int(row["trust"]), row["repo"], fold)


def prepare_digital(row, fold):
    """Writes the labels of one page that was annotated with a stylus: they say HAND, and not
    WRITTEN, where no print lies under it. A soft edge has no label."""
    image, label, path = page_of(root() / "digital", row["name"])
    given = trained_label(image, label)
    trained = np.where(given == pixel.WRITTEN, pixel.HAND, given)
    em = print_size(np.isin(trained, (pixel.PRINT, pixel.BOTH)))
    return written(path, trained, em, 5, row["repo"], fold, digital=True)


def page_of(within, name):
    path = next(
        p for p in (within / "pages" / (name + end) for end in (".jpg", ".webp")) if p.is_file()
    )
    return (
        cv2.imread(str(path))[..., ::-1],
        cv2.imread(str(within / "labels" / (name + ".png")), cv2.IMREAD_GRAYSCALE),
        path,
    )


def written(path, label, em, trust, repo, fold, digital=False):
    """The source of a page whose labels are kept beside the index."""
    out = folder() / (path.stem.split(".")[0] + ".png")
    cv2.imwrite(str(out), label)
    hand = float(np.isin(label, (pixel.WRITTEN, pixel.HAND, pixel.BOTH)).mean())
    return Source(str(path), str(out), em, trust, hand, split_of(repo, fold), repo, digital)


def prepare_strokes(path, fold):
    """Draws a page of pen strokes on white."""
    with gzip.open(path, "rt") as file:
        strokes = [s for s in json.load(file) if "hl" not in s]  # without highlighter
    lines = [
        [np.array(line, float) * 0.05 * DRAWN for line in s.get("f") or [s["p"]]] for s in strokes
    ]
    points = np.concatenate([line for each in lines for line in each])
    low = points.min(0) - 12
    w, h = (int(np.clip(v, 64, 2200)) for v in points.max(0) - low + 12)
    image = np.full((h, w, 3), 255, np.uint8)
    for s, each in zip(strokes, lines):
        colour = tuple(bytes.fromhex(s["c"].lstrip("#")))
        each = [((line - low) * 16).round().astype(np.int32) for line in each]
        if "f" in s:  # outlines
            cv2.fillPoly(image, each, colour, cv2.LINE_AA, 4)
        else:
            width = max(1, round(float(np.mean(s["w"])) * DRAWN))  # one, or one a point
            cv2.polylines(image, each, False, colour, width, cv2.LINE_AA, 4)
    out = folder() / (path.name.split(".")[0] + ".strokes.png")
    cv2.imwrite(str(out), image[..., ::-1])
    label = np.where(
        trained_label(image, np.full(image.shape[:2], 2, np.uint8)) == pixel.WRITTEN,
        pixel.HAND,
        pixel.PAPER,
    )
    label[(label == pixel.PAPER) & (contrast_of(image) > 4)] = pixel.IGNORE
    em = print_size(np.zeros(label.shape, bool))
    return written(
        out,
        label.astype(np.uint8),
        em,
        SHEET,
        path.name.split("_")[1].split(".")[0],
        fold,
        digital=True,
    )


def prepare_print(row, fold):
    path = root() / "print" / row["file"]
    image = cv2.imread(str(path))[..., ::-1]
    em = print_size(printed_label(image) == pixel.PRINT)
    return Source(str(path), "", em, 5, 0.0, split_of(row["repo"], fold), row["repo"])


def sheet_label(image):
    """Labels of a sheet that nothing is printed on but rules: strokes; the rules, and what is
    doubtful, have none."""
    ink = lifts.clear(*lifts.transmittance(image)).min(2)
    contrast = contrast_of(image)
    out = np.where(contrast > FAINT // 2, pixel.IGNORE, pixel.PAPER).astype(np.uint8)
    peak = cv2.dilate(contrast, np.ones((9, 9), np.uint8))
    out[(ink < 215) & (contrast > FAINT) & (contrast > EDGE * peak)] = pixel.WRITTEN
    return out


def prepare_sheet(path):
    image = cv2.imread(str(path))[..., ::-1]
    label, out = sheet_label(image), folder() / (path.stem + ".sheet.png")
    cv2.imwrite(str(out), label)
    return Source(
        str(path),
        str(out),
        print_size(np.zeros(label.shape, bool)),
        SHEET,
        float((label == pixel.WRITTEN).mean()),
        lifts.split_of(path),
        "sheets of handwriting",
    )


def rows_of(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def prepare(fold=None, processes=2):
    if root() is None:
        raise SystemExit("UNINK_REAL is not set: there are no real pages to prepare")
    folder().mkdir(parents=True, exist_ok=True)
    with ProcessPoolExecutor(processes) as pool:
        found = []
        kinds = ("pages", prepare_page), ("digital", prepare_digital), ("print", prepare_print)
        for kind, prepare_one in kinds:
            index = root() / kind / "index.tsv"
            rows = rows_of(index) if index.is_file() else []
            if kind == "digital":
                rows = [row for row in rows if row["printed"] == "yes"]
            found += pool.map(functools.partial(prepare_one, fold=fold), rows)
        strokes = sorted((root() / "digital" / "strokes").glob("*.json.gz"))
        found += pool.map(functools.partial(prepare_strokes, fold=fold), strokes)
        found += pool.map(
            prepare_sheet, sorted((ink_root() / "sheets").glob("*.jpg")) if ink_root() else []
        )
    (folder() / "index.json").write_text(json.dumps([asdict(s) for s in found]))
    for split in sorted({s.split for s in found}):
        mine = [s for s in found if s.split == split]
        print(
            f"{split}: {sum(s.hand > 0 for s in mine)} pages with handwriting, "
            f"{sum(s.hand == 0 for s in mine)} without"
        )


if __name__ == "__main__":
    p = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    p.add_argument("--fold", type=int, choices=range(FOLDS))
    cv2.setNumThreads(1)
    prepare(p.parse_args().fold)
