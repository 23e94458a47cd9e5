"""Pieces of pages that the orientation network learns from.

python3 -m training.orient.data pieces --count 40    files of pieces: blocks, printed pages,
                                                     samples of training.common.data
python3 -m training.orient.data lines --count 40     files of pieces in every script, and of
                                                     what nobody can tell
python3 -m training.orient.data real --count 40      files of pieces of real pages
"""

import argparse
import contextlib
import math
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import cv2
import numpy as np
import torch
from torch.nn import functional as F

from training.common import capture, real
from training.common.data import Shards
from training.common.ink import lifts
from training.common.paths import data_root
from training.common.scene import Composer
from training.orient import blocks, lines
from training.orient.look import PAPER, SCALES, evened, padded, shown
from training.orient.net import EM

PIECE = 224  # pixels: the side of a piece of print that is kept to train on
CROP = 192  # pixels: the side of a training sample, cut from a piece
# Pieces in a file; sheets of blocks among them; pieces of a page.
PART, SHEETS, PER_PAGE = 1300, 3, 6
LEAST_EM = 10  # pixels: real pages with smaller print are not shown enlarged
# The scale of training.common.data's samples, whose em is about 12 px once halved: the size of
# print is only estimated.
SHRINK = (0.8, 1.5)
SMALLER = 0.3  # share of the pieces that are shown smaller, down to the smallest of these
BLURRED, REWEIGHTED = 0.2, 0.2  # shares that are out of focus, and that are bolder or lighter
# files of pieces that nobody can tell which way up they lie; share of them
UNTOLD, UNTOLD_SHARE = "untold-", 0.2


def photographed(rng, rgb):
    """A clean page, or a piece of one, as a camera or scanner sees it, grey."""
    maps = capture.warp_map(rng, *rgb.shape[:2])
    [rgb] = capture.blur(rng, [capture.warp(capture.fade(rng, rgb), maps)])
    return cv2.cvtColor(capture.capture(rng, rgb, None), cv2.COLOR_RGB2GRAY)


def of_page(rng, page):
    """Pieces of a clean printed page, as captured."""
    scale = EM * math.exp(rng.normal(0, 0.18)) / page.em
    small = cv2.resize(
        np.ascontiguousarray(page.image), None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA
    )
    for _ in range(PER_PAGE):
        y, x = (int(rng.integers(0, max(n - PIECE, 0) + 1)) for n in small.shape[:2])
        part = small[y : y + PIECE, x : x + PIECE]
        if shown(cv2.cvtColor(part, cv2.COLOR_RGB2GRAY)):
            yield padded(photographed(rng, part), PIECE)


def of_real(rng, sources):
    """Pieces of a real page, which is taken to lie upright; half of them captured once more."""
    source = sources[int(rng.integers(len(sources)))]
    rgb = cv2.imread(source.image)[..., ::-1]
    scale = EM * math.exp(rng.normal(0, 0.18)) / source.em
    small = cv2.resize(
        np.ascontiguousarray(rgb), None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA
    )
    for _ in range(PER_PAGE):
        y, x = (int(rng.integers(0, max(n - PIECE, 0) + 1)) for n in small.shape[:2])
        part = np.ascontiguousarray(small[y : y + PIECE, x : x + PIECE])
        grey = cv2.cvtColor(part, cv2.COLOR_RGB2GRAY)
        if shown(grey):
            yield padded(photographed(rng, part) if rng.random() < 0.5 else grey, PIECE)


def of_sample(rng, shards):
    """A piece of a page that was written on."""
    jpeg, _ = shards.records[int(rng.integers(len(shards)))]
    grey = cv2.imdecode(np.frombuffer(jpeg, np.uint8), cv2.IMREAD_REDUCED_GRAYSCALE_2)
    scale = rng.uniform(*SHRINK)
    grey = cv2.resize(grey, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
    y, x = (int(rng.integers(0, max(n - PIECE, 0) + 1)) for n in grey.shape)
    return padded(grey[y : y + PIECE, x : x + PIECE], PIECE)


def of_sheet(rng, paths):
    """A piece of a page of handwriting alone, its letters about as large as print."""
    grey = cv2.imread(str(paths[int(rng.integers(len(paths)))]), cv2.IMREAD_GRAYSCALE)
    scale = rng.uniform(0.8, 2.5) * 600 / max(grey.shape)
    grey = cv2.resize(grey, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
    y, x = (int(rng.integers(0, max(n - PIECE, 0) + 1)) for n in grey.shape)
    return padded(grey[y : y + PIECE, x : x + PIECE], PIECE)


def written(path, pieces):
    """Writes pieces, whole or not at all."""
    part = path.with_suffix(".part")
    with part.open("wb") as f:
        np.save(f, np.stack([evened(p) for p in pieces]))
    part.rename(path)


def make_part(folder, seed):
    """Writes some 1,300 pieces of upright print, uint8 [N, PIECE, PIECE], a third of each kind:
    blocks, pages, pages written on if samples of these were made."""

    cv2.setNumThreads(1)
    rng, shards, composer = (
        np.random.default_rng(seed),
        Shards("train", seed % 8, 8, needed=False),
        Composer("train"),
    )
    pieces = [
        photographed(rng, cv2.cvtColor(b, cv2.COLOR_GRAY2RGB))
        for b in blocks.sheets("train", SHEETS, seed, int(EM))
        if shown(b)
    ]
    while len(pieces) < 2 * PART / 3:
        pieces += of_page(rng, composer.page(rng))
    while shards.records and len(pieces) < PART:
        if shown(piece := of_sample(rng, shards)):
            pieces.append(piece)
    written(folder / f"{seed:05d}.npy", pieces)


def make_real(folder, seed):
    """Writes as many pieces of real pages, of each repository as many as of any other."""
    cv2.setNumThreads(1)
    rng = np.random.default_rng([seed, 2])
    repos = {}
    for s in real.sources("train"):
        if s.trust > real.SHEET and s.em >= LEAST_EM:
            repos.setdefault(s.repo, []).append(s)
    repos, pieces = list(repos.values()), []
    while len(pieces) < PART:
        pieces += of_real(rng, repos[int(rng.integers(len(repos)))])
    written(folder / f"real-{seed:05d}.npy", pieces)


def make_lines(folder, seed):
    """Writes as many pieces in every script, a tenth of them handwriting alone, and two fifths as
    many that nobody can tell which way up they lie: two fifths are of scripts that are not known,
    two fifths of scripts that are made up, the others drawings."""
    cv2.setNumThreads(1)
    rng = np.random.default_rng([seed, 1])
    paths = sorted((real.ink_root() / "sheets").glob("*.jpg"))
    sheets = [p for p in paths if lifts.split_of(p) == "train"]
    drawn = lambda grey: photographed(rng, cv2.cvtColor(grey, cv2.COLOR_GRAY2RGB))
    printed = lambda kind: drawn(lines.draw(rng, PIECE, EM, kind(rng, "train")))
    told = lambda: (
        of_sheet(rng, sheets) if sheets and rng.random() < 0.1 else printed(lines.of_language)
    )

    def untold():
        kind = rng.random()
        if kind < 0.2:
            return drawn(lines.drawing(rng, PIECE))
        if kind < 0.6:
            return drawn(lines.invented(rng, PIECE, EM))
        return printed(lines.of_unknown)

    for name, make, count in (
        (f"lines-{seed:05d}.npy", told, PART),
        (f"{UNTOLD}{seed:05d}.npy", untold, 2 * PART // 5),
    ):
        pieces = []
        while len(pieces) < count:
            with contextlib.suppress(OSError):  # a few faces' programs are broken
                if shown(piece := make()):
                    pieces.append(piece)
        written(folder / name, pieces)


def altered(rng, piece):
    """A part of a piece, uint8 [CROP, CROP], a little wider or narrower, slanted and tilted, bolder
    or lighter: there are more faces than training has; or out of focus."""
    scale = rng.uniform(SCALES[-1], 1) if rng.random() < SMALLER else math.exp(rng.normal(0, 0.05))
    wide, slant, tilt = rng.normal(0, (0.1, 0.08, 0.03))
    turn = np.array([[math.cos(tilt), -math.sin(tilt)], [math.sin(tilt), math.cos(tilt)]])
    matrix = scale * turn @ np.array([[math.exp(wide), slant], [0, math.exp(-wide)]])
    shift = CROP / 2 - matrix @ np.full(2, PIECE / 2) + rng.uniform(-1, 1, 2) * (PIECE - CROP) / 2
    part = cv2.warpAffine(piece, np.column_stack([matrix, shift]), (CROP, CROP), borderValue=PAPER)
    kind = rng.random()
    if kind < BLURRED:
        return cv2.GaussianBlur(part, (0, 0), rng.uniform(0.5, 2))
    if kind < BLURRED + REWEIGHTED:
        changed = (cv2.erode if rng.random() < 0.5 else cv2.dilate)(part, np.ones((2, 2), np.uint8))
        share = rng.uniform(0.3, 1)
        return cv2.addWeighted(changed, share, part, 1 - share, 0)
    return part


class Pieces:
    """All pieces in a folder; more may be made meanwhile. Of a share of them nobody can tell which
    way up they lie."""

    def __init__(self, folder):
        self.folder, self.parts = folder, {}
        self.refresh()
        if not self.parts:
            raise FileNotFoundError(f"no pieces in {folder}: make some with training.orient.data")

    def refresh(self):
        for path in sorted(self.folder.glob("*.npy")):
            if path not in self.parts:
                self.parts[path] = np.load(path, mmap_mode="r")
        self.told = [part for path, part in self.parts.items() if not path.name.startswith(UNTOLD)]
        self.untold = [part for path, part in self.parts.items() if path.name.startswith(UNTOLD)]

    def batch(self, rng, n):
        """n pieces, each at an angle of its own: float [n, 1, CROP, CROP] and the classes'
        probabilities, float [n, 4]."""
        turns = torch.from_numpy(rng.integers(4, size=n))
        told = (
            torch.from_numpy(rng.random(n) >= UNTOLD_SHARE)
            if self.untold
            else torch.ones(n, dtype=torch.bool)
        )
        pieces = [
            self.one(rng, self.told if t else self.untold, int(k)) for k, t in zip(turns, told)
        ]
        probabilities = torch.where(
            told[:, None], F.one_hot(turns, 4).float(), torch.full((n, 4), 0.25)
        )
        return torch.from_numpy(np.stack(pieces))[:, None], probabilities

    def one(self, rng, parts, turn):
        part = parts[rng.integers(len(parts))]
        piece = altered(rng, part[rng.integers(len(part))]).astype(np.float32) / 255
        if rng.random() < 0.5:  # the strongest print of the page may be elsewhere, or weaker
            piece = np.clip((piece - PAPER / 255) * rng.uniform(0.4, 1.3) + PAPER / 255, 0, 1)
        if rng.random() < 0.2:
            piece = piece + rng.standard_normal(piece.shape, np.float32) * abs(rng.normal(0, 0.03))
        return np.ascontiguousarray(np.rot90(piece, -turn))


def main():
    p = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    p.add_argument("kind", choices=["pieces", "lines", "real"])
    p.add_argument("--count", default=40, type=int, help="files")
    p.add_argument("--pieces", default=data_root() / "orient", type=Path)
    p.add_argument("--processes", default=2, type=int)
    p.add_argument("--seed", default=1, type=int)
    a = p.parse_args()
    a.pieces.mkdir(parents=True, exist_ok=True)
    make = {"pieces": make_part, "lines": make_lines, "real": make_real}[a.kind]
    with ProcessPoolExecutor(a.processes) as pool:
        list(pool.map(make, [a.pieces] * a.count, range(a.seed, a.seed + a.count)))


if __name__ == "__main__":
    main()
