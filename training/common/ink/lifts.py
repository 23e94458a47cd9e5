"""Real handwriting lifted off photographed and scanned paper as transmittance.

A page is divided by its paper, cleared of noise and printed rules, and cut into words by row. The
words of a page are kept in one cache file, so that a lifted piece is a run of words as they were
written.
"""

import csv
import functools
import gzip
import os
import pathlib
import pickle
from dataclasses import dataclass

import cv2
import numpy as np
from scipy import ndimage

from training.common import pixel
from training.common.ink import pens
from training.common.ink.hands import held_out

CACHE_VERSION = 6
LEAST_WRITTEN = 0.002  # share of a page that handwriting must cover to be worth lifting
LARGEST_DIGIT = 44  # pixels: digits were scanned small and are not blown up beyond this


@dataclass
class Word:
    x: int  # of the top left corner, on its page
    y: int
    png: bytes

    @functools.cached_property
    def patch(self):
        return cv2.imdecode(np.frombuffer(self.png, np.uint8), cv2.IMREAD_COLOR)


@dataclass
class LiftedPage:
    body: float  # height of a small x in pixels
    rows: list  # of lists of Words, left to right


class Lifts:
    def __init__(self, split, ink, cache, labelled=()):
        """labelled are real pages (training.common.real.Source) whose writing is lifted too."""
        self.cache = cache
        pages = [
            p
            for kind in ("photos", "manuscript", "sheets")
            for p in sorted((ink / kind).glob("*.jpg"))
        ]
        self.paths = [p for p in pages if split_of(p) == split]
        self.labelled = [s for s in labelled if s.hand > LEAST_WRITTEN and s.trust > 3]
        digits = ink / "digits" / "t10k-images-idx3-ubyte.gz"
        self.digits = digits if digits.is_file() else None
        self.half = slice(1500, None) if split == "train" else slice(0, 1500)

    def build(self):
        for path in self.paths:
            page = self._page(path)
            print(
                f"{path.name}: {sum(map(len, page.rows))} words in {len(page.rows)} rows, "
                f"body {page.body:.0f} px",
                flush=True,
            )

    def lift(self, rng, height, max_w, max_h):
        if self.digits and height <= LARGEST_DIGIT and rng.random() < 0.15:
            patch = self._number(rng, height)
        else:
            tries = (self._words(rng, height, max_w, max_h) for _ in range(4))
            patch = next(
                (
                    p
                    for p in tries
                    if p is not None and pens.coverage(p).sum() > 0.35 * height * height
                ),
                None,
            )
        if patch is None or patch.shape[1] > max_w or patch.shape[0] > max_h:
            return None
        return patch

    def _words(self, rng, height, max_w, max_h):
        if not self.paths and not self.labelled:
            return None
        at = int(rng.integers(len(self.paths) + len(self.labelled)))
        page = (
            self._page(self.paths[at])
            if at < len(self.paths)
            else self._written(self.labelled[at - len(self.paths)])
        )
        if not page.rows:
            return None
        scale = height / page.body * float(np.exp(rng.normal(0, 0.1)))
        at = int(rng.integers(len(page.rows)))
        count = 1 if rng.random() < 0.6 else int(rng.integers(2, 6))
        start = int(rng.integers(len(page.rows[at])))
        room = (max_w - 2 * pens.MARGIN - 2) / scale, (max_h - 2 * pens.MARGIN - 2) / scale
        chosen, left = [], page.rows[at][start].x
        longest = room[0] * (1 if rng.random() < 0.5 else rng.uniform(0.2, 1))
        for n, row in enumerate(page.rows[at : at + count]):
            begin = (
                start
                if n == 0
                else next((i for i, w in enumerate(row) if w.x >= left - page.body), len(row))
            )
            for word in row[begin:]:
                box = _box(chosen + [word])
                if box[2] - box[0] > longest or box[3] - box[1] > room[1]:
                    break
                chosen.append(word)
        if not chosen:
            return None
        x0, y0, x1, y1 = _box(chosen)
        patch = np.full((y1 - y0, x1 - x0, 3), 255, np.uint8)
        for word in chosen:
            h, w = word.patch.shape[:2]
            place = patch[word.y - y0 : word.y - y0 + h, word.x - x0 : word.x - x0 + w]
            np.minimum(place, word.patch, out=place)
        patch = _resized(patch, scale)
        if rng.random() < 0.35:
            patch = recoloured(rng, patch, pens.ink_colour(rng))
        return pens.tight(patch)

    def _number(self, rng, height):
        images = _digit_images(self.digits)[self.half]
        size = int(height * 1.6 * 28 / 20)
        strip, x = np.zeros((size, size * 6), np.float32), 0
        for image in images[rng.integers(0, len(images), int(rng.integers(1, 5)))]:
            digit = cv2.resize(image, (size, size), interpolation=cv2.INTER_CUBIC)
            columns = np.flatnonzero(digit.max(0) > 40)
            digit = digit[:, columns[0] : columns[-1] + 1]
            place = strip[:, x : x + digit.shape[1]]
            np.maximum(place, digit[:, : place.shape[1]], out=place)
            x += digit.shape[1] + int(size * rng.uniform(0, 0.12))
        level = np.clip((strip[:, :x] / 255 - 0.15) / 0.7, 0, 1)[..., None]
        return pens.tight(
            (255 - level * (255 - np.array(pens.ink_colour(rng))) * rng.uniform(0.7, 1)).astype(
                np.uint8
            )
        )

    def _page(self, path):
        return _load_page(path, self.cache / f"{path.stem}.{CACHE_VERSION}.pickle")

    def _written(self, source):
        return _load_written(
            source.image,
            source.label,
            self.cache / f"{pathlib.Path(source.image).stem}.written.{CACHE_VERSION}.pickle",
        )


def split_of(path):
    """Pages of one writer are held out together: by the folder's index, or by the name before "_"
    as notebooks are named."""
    writer = writers_of(path.parent / "index.tsv").get(path.name, path.stem.split("_")[0])
    return "val" if held_out("lift " + writer) else "train"


@functools.lru_cache(8)
def writers_of(index):
    if not index.is_file():
        return {}
    with open(index, newline="") as file:
        return {
            row["file"]: row["writer"]
            for row in csv.DictReader(file, delimiter="\t")
            if row.get("writer")
        }


def _kept(cache, make):
    """What make returns, made once and kept in a file."""
    if not cache.exists():
        cache.parent.mkdir(parents=True, exist_ok=True)
        temporary = cache.with_name(f"{cache.name}.{os.getpid()}")
        temporary.write_bytes(pickle.dumps(make()))
        temporary.rename(cache)
    return pickle.loads(cache.read_bytes())


@functools.lru_cache(64)
def _load_written(image, label, cache):
    """The handwriting of a printed page that is labelled by pixel."""

    def make():
        page = cv2.cvtColor(cv2.imread(image), cv2.COLOR_BGR2RGB)
        patch, _ = transmittance(page)
        given = cv2.imread(label, cv2.IMREAD_GRAYSCALE)
        hand = np.isin(given, (pixel.WRITTEN, pixel.HAND)).astype(np.uint8)
        near = cv2.dilate(hand, np.ones((3, 3), np.uint8)) > 0
        return words_of(np.where(near[..., None], np.round(255 * patch), 255).astype(np.uint8))

    return _kept(cache, make)


@functools.lru_cache(64)
def _load_page(path, cache):
    def make():
        page = cv2.cvtColor(cv2.imread(str(path)), cv2.COLOR_BGR2RGB)
        if path.parent.name == "manuscript":  # the stamped page number is print
            h, w = page.shape[:2]
            page[: h // 10, 3 * w // 4 :] = page[: h // 10, w // 2 : 3 * w // 4].mean((0, 1))
        return lift_page(page)

    return _kept(cache, make)


@functools.lru_cache(1)
def _digit_images(path):
    with gzip.open(path) as file:
        return np.frombuffer(file.read(), np.uint8, offset=16).reshape(-1, 28, 28)


def _box(words):
    return (
        min(w.x for w in words),
        min(w.y for w in words),
        max(w.x + w.patch.shape[1] for w in words),
        max(w.y + w.patch.shape[0] for w in words),
    )


def _resized(patch, scale):
    method = cv2.INTER_AREA if scale < 1 else cv2.INTER_CUBIC
    return cv2.resize(patch, None, fx=scale, fy=scale, interpolation=method)


def recoloured(rng, patch, colour):
    """The same strokes in another ink."""
    ink = 255 - pens.darkest(patch).astype(np.float32)
    strong = max(np.percentile(ink[ink > 20], 90) if (ink > 20).any() else 255, 60)
    level = np.clip(ink / strong, 0, 1)[..., None] * rng.uniform(0.75, 1)
    return np.round(255 - level * (255 - np.array(colour))).astype(np.uint8)


# ---- from a picture of a page to words ----


def lift_page(page):
    """The words of an RGB picture of a page written by hand."""
    patch, sheet = transmittance(page)
    return words_of(clear(patch, sheet))


def words_of(ink):
    """The words in a picture of ink alone, transmittance."""
    coverage = ink.min(2) < 215
    body = _body_height(coverage)
    joined = cv2.morphologyEx(
        coverage.astype(np.uint8),
        cv2.MORPH_CLOSE,
        np.ones((max(3, int(body * 0.25)), max(5, int(body * 0.75))), np.uint8),
    )
    count, labels, stats, centres = cv2.connectedComponentsWithStats(joined, connectivity=8)
    words = []
    for i in range(1, count):
        x, y, w, h, _ = stats[i]
        area = (coverage[y : y + h, x : x + w] & (labels[y : y + h, x : x + w] == i)).sum()
        if (
            not 0.5 * body < h < 4.2 * body
            or not 0.5 * body < w < 16 * body
            or area < 0.1 * body * body
        ):
            continue
        if area > 0.5 * w * h and w > body or _is_rule(coverage[y : y + h, x : x + w]):
            continue
        inked = ink[y : y + h, x : x + w, :2].min(2)[coverage[y : y + h, x : x + w]]
        if np.percentile(inked, 25) > 185:
            continue  # a stain, nowhere dark
        grown = (
            cv2.dilate(
                (labels[y : y + h, x : x + w] == i).astype(np.uint8), np.ones((3, 3), np.uint8)
            )
            > 0
        )
        piece = np.where(grown[..., None], ink[y : y + h, x : x + w], 255).astype(np.uint8)
        words.append((centres[i], Word(int(x), int(y), cv2.imencode(".png", piece)[1].tobytes())))
    return LiftedPage(body, _rows(words, body))


def transmittance(page):
    """Page over paper, RGB, with the boolean mask of where the sheet lies."""
    small = cv2.resize(page, None, fx=1 / 8, fy=1 / 8, interpolation=cv2.INTER_AREA)
    bright = cv2.morphologyEx(
        cv2.GaussianBlur(small, (0, 0), 2).min(2), cv2.MORPH_CLOSE, np.ones((9, 9), np.uint8)
    )
    threshold, _ = cv2.threshold(bright, 0, 255, cv2.THRESH_BINARY | cv2.THRESH_OTSU)
    contrast = (
        bright[bright > threshold].mean() - bright[bright <= threshold].mean()
        if (bright <= threshold).any()
        else 0
    )
    sheet = (bright > threshold).astype(np.uint8) if contrast > 45 else np.ones_like(bright)
    _, labels, stats, _ = cv2.connectedComponentsWithStats(
        cv2.morphologyEx(sheet, cv2.MORPH_OPEN, np.ones((9, 9), np.uint8))
    )
    sheet = ndimage.binary_fill_holes(labels == 1 + np.argmax(stats[1:, 4]))
    edge = max(5, min(sheet.shape) // 28)
    sheet = cv2.erode(
        np.pad(sheet.astype(np.uint8), 1), np.ones((2 * edge + 1, 2 * edge + 1), np.uint8)
    )[1:-1, 1:-1]
    paper = cv2.morphologyEx(cv2.medianBlur(small, 3), cv2.MORPH_CLOSE, np.ones((9, 9), np.uint8))
    paper = cv2.GaussianBlur(cv2.medianBlur(paper, 21), (0, 0), 3)
    size = page.shape[1::-1]
    paper = cv2.resize(paper, size, interpolation=cv2.INTER_LINEAR).astype(np.float32)
    return np.clip(page / np.maximum(paper, 30), 0, 1), cv2.resize(
        sheet, size, interpolation=cv2.INTER_NEAREST
    ) > 0


def clear(patch, sheet):
    """Transmittance with everything but ink made bare paper: noise, texture, printed rules."""
    ink = 1 - patch[..., :2].min(2)  # what takes away blue alone is a stain of the paper
    blurred = cv2.GaussianBlur(ink, (0, 0), 0.8)
    noise = np.median(blurred[sheet]) + 4 * 1.48 * np.median(
        np.abs(blurred[sheet] - np.median(blurred[sheet]))
    )
    low = max(noise, 0.08)
    h, w = ink.shape
    middle = np.s_[h // 4 : 3 * h // 4, w // 4 : 3 * w // 4]  # away from the paper's edges
    level, upright = _rules(blurred[middle] > low)
    rules = level | upright
    if level.mean() > 0.001 and rules.mean() > 0.002:
        faint = np.percentile(blurred[middle][rules], [50, 80])
        low = max(low, 1.1 * faint[1]) if faint[0] < 0.6 else low  # darker ones are drawn by hand
    low = float(np.clip(low, 0.07, 0.3))
    strong = blurred > low + 0.1
    count, labels = cv2.connectedComponents((blurred > low).astype(np.uint8), connectivity=8)
    real = np.bincount(labels[strong & sheet], minlength=count) > 6
    real[0] = False
    keep = cv2.dilate((real[labels]).astype(np.uint8), np.ones((3, 3), np.uint8)) > 0
    gain = np.clip((blurred - 0.6 * low) / (0.7 * low), 0, 1) * (keep & sheet)
    return np.round(255 * (1 - (1 - patch) * gain[..., None])).astype(np.uint8)


def _rules(mask):
    """The printed lines of the paper, level and upright: runs longer than any stroke."""
    mask, found = mask.astype(np.uint8), []
    for long, thick in (((1, 161), (3, 1)), ((161, 1), (1, 3))):
        thickened = cv2.dilate(mask, np.ones(thick, np.uint8))  # a rule leans a little
        found.append(
            (cv2.morphologyEx(thickened, cv2.MORPH_OPEN, np.ones(long, np.uint8)) > 0) & (mask > 0)
        )
    return found


def _is_rule(mask):
    h, w = mask.shape
    return w > 6 * h and mask.any(0).mean() > 0.9 or h > 4 * w


def _body_height(mask):
    """Height of a small x: the median height of marks, which are mostly letters or bits of
    words."""
    _, _, stats, _ = cv2.connectedComponentsWithStats(mask.astype(np.uint8), connectivity=8)
    heights = stats[1:, 3][(stats[1:, 4] > 25) & (stats[1:, 3] > 8) & (stats[1:, 3] < 250)]
    return float(np.clip(np.median(heights) * 0.75, 10, 120)) if len(heights) else 30.0


def _rows(words, body):
    rows = []
    for centre, word in sorted(words, key=lambda w: w[0][0]):
        best = min(rows, key=lambda r: abs(r[0] - centre[1]), default=None)
        if best and abs(best[0] - centre[1]) < 0.8 * body:
            best[0] = 0.6 * best[0] + 0.4 * centre[1]
            best[1].append(word)
        else:
            rows.append([centre[1], [word]])
    return [row for _, row in sorted(rows, key=lambda r: r[0])]
