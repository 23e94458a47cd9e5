"""Samples on disk: made ahead in shards, read again by the trainer.

    python3 -m training.common.data make --split train --count 8000 --seed 1 [--keep 200]
    python3 -m training.common.data sheet OUT.png --split train --seed 1

A shard is a pickled list of (JPEG bytes, PNG label bytes); the compression of the picture is part
of the capture.
"""

import argparse
import os
import pickle
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import cv2
import numpy as np

from training.common.paths import data_root

PER_SHARD = 24
PER_PAGE = 2
COLOURS = np.array([[255, 255, 255], [60, 60, 60], [230, 40, 40], [150, 40, 230]], np.uint8)


def shard_dir(split):
    return data_root() / "shards" / split


def encode(rng, image, label):
    quality = 97 if rng.random() < 0.3 else int(rng.integers(28, 96))
    jpeg = cv2.imencode(".jpg", image[..., ::-1], [cv2.IMWRITE_JPEG_QUALITY, quality])[1].tobytes()
    return jpeg, cv2.imencode(".png", label, [cv2.IMWRITE_PNG_COMPRESSION, 3])[1].tobytes()


def decode(record):
    image = cv2.imdecode(np.frombuffer(record[0], np.uint8), cv2.IMREAD_COLOR)[..., ::-1]
    return image, cv2.imdecode(np.frombuffer(record[1], np.uint8), cv2.IMREAD_GRAYSCALE)


_composer = {}


def composer(split):
    """One composer a process, since its fonts and strokes take a while to read."""
    from training.common.scene import Composer

    cv2.setNumThreads(1)
    if split not in _composer:
        _composer[split] = Composer(split)
    return _composer[split]


def make_shard(split, seed, index, out):
    """Writes shard `index`: the same seed and index give the same samples from the same pages."""
    c = composer(split)
    c.refresh()
    rng = np.random.default_rng([seed, index, 0 if split == "train" else 1])
    records, back = [], None
    while len(records) < PER_SHARD:
        page = c.page(rng)
        for _ in range(PER_PAGE):
            image, label = c.sample(rng, page, back)
            records.append(encode(rng, image, label))
            if rng.random() < 0.3:
                back = image
    path = Path(out) / f"{seed:03d}-{index:06d}.pkl"
    path.with_suffix(".tmp").write_bytes(pickle.dumps(records[:PER_SHARD]))
    os.replace(path.with_suffix(".tmp"), path)
    return str(path)


class Shards:
    """Random access to the samples of the newest shards."""

    def __init__(self, split, part=0, parts=1, needed=True):
        self.split, self.part, self.parts, self.needed, self.loaded = split, part, parts, needed, {}
        self.refresh()

    def refresh(self, most=160):
        paths = sorted(shard_dir(self.split).glob("*.pkl"), key=lambda p: p.stat().st_mtime)[
            -most:
        ][self.part :: self.parts]
        self.loaded = {p: self.loaded.get(p) or pickle.loads(p.read_bytes()) for p in paths}
        self.records = [r for p in paths for r in self.loaded[p]]
        if self.needed and not self.records:
            raise FileNotFoundError(
                f"no samples in {shard_dir(self.split)} for process {self.part + 1} of "
                f"{self.parts}: make at least one shard a process with training.common.data make"
            )

    def __len__(self):
        return len(self.records)

    def crop(self, i):
        return decode(self.records[i])


def overlay(image, label):
    """The sample beside its labels: print grey, handwriting red, both violet, unlabelled yellow."""
    colour = np.full(image.shape, (255, 220, 0), np.uint8)
    known = label < len(COLOURS)
    colour[known] = COLOURS[label[known]]
    return np.hstack([image, colour])


def sheet(split, seed, rows=3, columns=2):
    c, rng, cells = composer(split), np.random.default_rng(seed), []
    for _ in range(rows * columns):
        both = overlay(*c.sample(rng, c.page(rng)))
        cells.append(cv2.resize(both, None, fx=0.5, fy=0.5, interpolation=cv2.INTER_AREA))
    return np.vstack([np.hstack(cells[r * columns : (r + 1) * columns]) for r in range(rows)])


def main():
    p = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    p.add_argument("command", choices=["make", "sheet"])
    p.add_argument("out", nargs="?")
    p.add_argument("--split", default="train")
    p.add_argument("--seed", default=1, type=int)
    p.add_argument("--first", default=0, type=int, help="index of the first shard")
    p.add_argument("--count", default=960, type=int, help="samples to make")
    p.add_argument("--keep", default=0, type=int, help="delete the oldest shards above this number")
    p.add_argument("--processes", default=2, type=int)
    a = p.parse_args()
    if a.command == "sheet":
        cv2.imwrite(a.out, sheet(a.split, a.seed)[..., ::-1])
        return
    out = shard_dir(a.split)
    out.mkdir(parents=True, exist_ok=True)
    todo = range(a.first, a.first + -(-a.count // PER_SHARD))
    with ProcessPoolExecutor(a.processes) as pool:
        for path in pool.map(make_shard, *zip(*[(a.split, a.seed, i, out) for i in todo])):
            print(path, flush=True)
            if a.keep:
                for old in sorted(out.glob("*.pkl"), key=lambda q: q.stat().st_mtime)[: -a.keep]:
                    old.unlink()


if __name__ == "__main__":
    main()
