"""Exports the flattening network, rounded to eight bits, with its manifest.

python3 -m training.flatten.export build/flatten/weights.pt [--out models]
"""

import argparse
from pathlib import Path

import numpy as np
import torch

from training.common import manifest
from training.common.quantise import quantise, to_onnx
from training.flatten.data import pages, sample
from training.flatten.measure import measure
from training.flatten.net import HEIGHT, MANIFEST, WIDTH, load


def export(a):
    model, state = load(a.checkpoint)
    rng, library = np.random.default_rng(1), pages("train")
    shots = [
        (
            torch.from_numpy(np.stack([sample(rng, library)[0] for _ in range(8)]))[:, None].float()
            / 255,
        )
        for _ in range(24)
    ]
    whole = measure(model, a.count)
    rounded = quantise(model, shots)
    path = a.out / "flatten.onnx"
    example = (torch.rand(1, 1, HEIGHT, WIDTH),)
    to_onnx(rounded, path, example, MANIFEST["inputs"], MANIFEST["outputs"])
    manifest.write(path, state["version"], metrics=measure(rounded, a.count), float=whole)


def main():
    p = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    p.add_argument("checkpoint")
    p.add_argument("--count", default=400, type=int, help="pages to measure on")
    p.add_argument("--out", default="models", type=Path)
    export(p.parse_args())


if __name__ == "__main__":
    main()
