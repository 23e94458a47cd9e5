"""Exports a checkpoint to ONNX with its manifest and the vectors that prove Go computes the same.

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


def load(path):
    """The network of a checkpoint, with the averaged weights, ready for inference."""
    state = torch.load(path, map_location="cpu")
    model = N.Segmenter()
    model.load_state_dict(state["ema"])
    return model.eval(), state


def to_onnx(model, path):
    dynamic = {"image": {2: "height", 3: "width"}, "logits": {2: "height", 3: "width"}}
    torch.onnx.export(
        model, torch.rand(1, 3, 256, 256), str(path), opset_version=17,
        input_names=["image"], output_names=["logits"], dynamic_axes=dynamic,
        **({"dynamo": False} if torch.__version__ >= "2" else {}),
    )


def write_parity(model, crops, out):
    out.mkdir(parents=True, exist_ok=True)
    for old in out.glob("*"):
        old.unlink()
    for i, rgb in enumerate(crops):
        cv2.imwrite(str(out / f"{i:02d}.png"), rgb[..., ::-1])
        with torch.no_grad():
            logits = model(torch.from_numpy(rgb.astype(np.float32) / 255).permute(2, 0, 1)[None])
        logits[0].numpy().astype("<f4").tofile(out / f"{i:02d}.bin")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("checkpoint")
    p.add_argument("--out", default="models", type=Path)
    p.add_argument("--crops", default=2, type=int)
    a = p.parse_args()
    model, state = load(a.checkpoint)
    path = a.out / "segment.onnx"
    to_onnx(model, path)
    from .data import Shards

    val = Shards("val")
    write_parity(model, [val.crop(i)[0][:128, :160] for i in range(a.crops)], a.out / "parity")
    manifest = {
        "name": "segment", "version": state["version"], "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
        "em": N.EM, "classes": N.CLASSES, "input": "image", "output": "logits", "multiple": N.MULTIPLE,
        "parameters": N.parameters(model), "metrics": state["metrics"],
    }
    (a.out / "segment.json").write_text(json.dumps(manifest, indent=1) + "\n")
    print(json.dumps(manifest, indent=1))


if __name__ == "__main__":
    main()
