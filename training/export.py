"""Exports a checkpoint to ONNX, in eight bits, with its manifest and the vectors that prove Go computes the same.

    python3 -m training.export CHECKPOINT [--out models] [--crops N]

Writes models/segment.onnx, models/segment.json and models/parity/NN.{png,bin}: an RGB crop and its logits from
PyTorch (float32, little endian, channel by row by column).
"""

import argparse
import hashlib
import json
from pathlib import Path

import cv2
import numpy as np
import torch

from . import net as N
from .data import Shards
from .quantise import quantise, to_onnx
from .train import measure


def load(path):
    """The network of a checkpoint, with the averaged weights, ready for inference."""
    state = torch.load(path, map_location="cpu")
    model = N.Segmenter()
    model.load_state_dict(state["ema"])
    return model.eval(), state


def calibration(shards, batches=24, size=4):
    """Batches of training samples, for the ranges of the activations."""
    step = max(1, len(shards) // (batches * size))
    crops = [as_input(shards.crop(i * step)[0]) for i in range(min(batches * size, len(shards)))]
    return [torch.cat(crops[i:i + size]) for i in range(0, len(crops), size)]


def as_input(rgb):
    return torch.from_numpy(rgb.astype(np.float32) / 255).permute(2, 0, 1)[None]


def write_parity(model, crops, out):
    out.mkdir(parents=True, exist_ok=True)
    for old in out.glob("*"):
        old.unlink()
    for i, rgb in enumerate(crops):
        cv2.imwrite(str(out / f"{i:02d}.png"), rgb[..., ::-1])
        with torch.no_grad():
            logits = model(as_input(rgb))
        logits[0].numpy().astype("<f4").tofile(out / f"{i:02d}.bin")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("checkpoint")
    p.add_argument("--out", default="models", type=Path)
    p.add_argument("--crops", default=2, type=int)
    a = p.parse_args()
    model, state = load(a.checkpoint)
    parameters = N.parameters(model)
    model = quantise(model, calibration(Shards("train")))
    path = a.out / "segment.onnx"
    size = {2: "height", 3: "width"}
    to_onnx(model, path, torch.rand(1, 3, 256, 256), ["image", "logits"], {"image": size, "logits": size})
    val = Shards("val")
    write_parity(model, [val.crop(i)[0][:128, :160] for i in range(a.crops)], a.out / "parity")
    manifest = {
        "name": "segment", "version": state["version"], "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
        "em": N.EM, "classes": N.CLASSES, "input": "image", "output": "logits", "multiple": N.MULTIPLE,
        "parameters": parameters, "metrics": measure(model, val, half=False),
    }
    (a.out / "segment.json").write_text(json.dumps(manifest, indent=1) + "\n")
    print(json.dumps(manifest, indent=1))


if __name__ == "__main__":
    main()
