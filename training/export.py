"""Exports a checkpoint to ONNX, in eight bits, with its manifests and the vectors that prove Go computes the same.

    python3 -m training.export CHECKPOINT [--out models] [--crops N]

Writes models/segment.onnx and overview.onnx with a .json each, and models/parity/NN.png (an RGB crop), NN.context.bin
(what the Segmenter is told of it, one vector a cell of 32 pixels) and NN.bin (its logits), float32, little endian, channel
by row by column.
"""

import argparse
import hashlib
import json
from pathlib import Path

import cv2
import numpy as np
import torch

from . import net as N
from . import views
from .data import Shards
from .quantise import quantise, to_onnx
from .train import Material, measure

SAMPLES = 16  # batches that show the ranges of the activations
CROP = (128, 160)
SEED = 5


def load(path):
    """The networks of a checkpoint, with the averaged weights, ready for inference."""
    state = torch.load(path, map_location="cpu")
    model = N.Eye()
    model.load_state_dict(state["ema"])
    return model.eval(), state


def calibration(overview):
    """Inputs of both networks as training shows them: pages, and windows with their context."""
    rng, material = np.random.default_rng(SEED), Material()
    pages, windows = [], []
    for _ in range(SAMPLES):
        image, page, places, _, _ = material.batch(rng, 1, 3, 384)
        with torch.no_grad():
            pages.append((page,))
            windows.append((image, N.seen_by(overview(page).expand(len(places), -1, -1, -1), places)))
    return pages, windows


def write_parity(model, context, crops, out):
    out.mkdir(parents=True, exist_ok=True)
    for old in out.glob("*"):
        old.unlink()
    height, width = (n // N.MULTIPLE for n in CROP)
    for i, rgb in enumerate(crops):
        told = context[..., i:i + height, :width].contiguous()
        with torch.no_grad():
            logits = model(torch.from_numpy(views.as_input(rgb))[None], told)
        cv2.imwrite(str(out / f"{i:02d}.png"), rgb[..., ::-1])
        told[0].numpy().astype("<f4").tofile(out / f"{i:02d}.context.bin")
        logits[0].numpy().astype("<f4").tofile(out / f"{i:02d}.bin")


def write_manifest(path, version, **more):
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    manifest = {"name": path.stem, "version": version, "sha256": digest, **more}
    path.with_suffix(".json").write_text(json.dumps(manifest, indent=1) + "\n")
    print(json.dumps(manifest, indent=1))


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("checkpoint")
    p.add_argument("--out", default="models", type=Path)
    p.add_argument("--crops", default=2, type=int)
    a = p.parse_args()
    model, state = load(a.checkpoint)
    parameters = [N.parameters(m) for m in (model.segmenter, model.overview)]
    pages, windows = calibration(model.overview)
    model.segmenter = quantise(model.segmenter, windows)
    model.overview = quantise(model.overview, pages)
    metrics = measure(model)

    side = {2: "height", 3: "width"}
    cells = {2: "rows", 3: "columns"}
    path = a.out / "segment.onnx"
    example = (torch.rand(1, 3, 256, 256), torch.rand(1, N.CONTEXT, 8, 8))
    to_onnx(model.segmenter, path, example, ["image", "context", "logits"], {"image": side, "context": cells, "logits": side})
    write_manifest(path, state["version"], em=N.EM, classes=N.CLASSES, inputs=["image", "context"], output="logits",
                   multiple=N.MULTIPLE, parameters=parameters[0], metrics=metrics)
    path = a.out / "overview.onnx"
    to_onnx(model.overview, path, pages[0], ["page", "context"])
    write_manifest(path, state["version"], inputs=["page"], output="context", side=N.OVERVIEW_SIDE,
                   largest=N.OVERVIEW_LARGEST, stride=N.OVERVIEW_STRIDE, parameters=parameters[1])
    with torch.no_grad():
        context = model.overview(*pages[0])
    val = Shards("val")
    write_parity(model.segmenter, context, [val.crop(i)[0][:CROP[0], :CROP[1]] for i in range(a.crops)], a.out / "parity")


if __name__ == "__main__":
    main()
