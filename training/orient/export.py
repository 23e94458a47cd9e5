"""Exports the orientation network, rounded to eight bits, with its manifest.

python3 -m training.orient.export build/orient/weights.pt [--out models]
"""

import argparse
from pathlib import Path

import numpy as np
import torch

from training.common import manifest
from training.common.paths import data_root
from training.common.quantise import quantise, to_onnx
from training.orient.data import Pieces
from training.orient.measure import measure
from training.orient.net import MANIFEST, SIDE, load


def export(a):
    model, state = load(a.checkpoint)
    pieces, rng = Pieces(a.pieces), np.random.default_rng(1)
    model.voter = quantise(model.voter, [(pieces.batch(rng, 16)[0],) for _ in range(24)])
    path = a.out / "orient.onnx"
    example = (torch.rand(1, 1, SIDE, SIDE),)
    to_onnx(model, path, example, MANIFEST["inputs"], MANIFEST["outputs"])
    manifest.write(path, state["version"], metrics=measure(model, a.count))


def main():
    p = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    p.add_argument("checkpoint")
    p.add_argument("--count", default=2000, type=int, help="pages to measure on")
    p.add_argument("--pieces", default=data_root() / "orient", type=Path)
    p.add_argument("--out", default="models", type=Path)
    export(p.parse_args())


if __name__ == "__main__":
    main()
