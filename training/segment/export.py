"""Exports a checkpoint to ONNX, with its manifests and the vectors that prove Go computes the same.

    python3 -m training.segment.export CHECKPOINT [--out models]

Writes models/segment.onnx and overview.onnx, which compute in eight bits, with a .json each.
models/parity keeps its NN.png (an RGB crop) and gets NN.context.bin (what the segmenter is told of
it, one vector a cell of 32 pixels) and NN.bin (its logits, as it gives them), float32, little
endian, channel by row by column.
"""

import argparse
from pathlib import Path

import cv2
import numpy as np
import torch

from training.common import layers, manifest
from training.common.quantise import quantise, to_onnx
from training.segment import net as N
from training.segment.data import Material, view
from training.segment.train import recipe_of

RECIPE = "training/recipes/segment.toml"  # says which pages show the ranges of the activations
SAMPLES = 20  # of these pages
WINDOWS, SIDE = 3, 384  # of each
SEED = 5


def load(path):
    """The networks of a checkpoint, with the averaged weights, ready for inference."""
    state = torch.load(path, map_location="cpu")
    model = N.Eye()
    model.load_state_dict(state["ema"])
    return model.eval(), state


def samples(overview):
    """Inputs of both networks as training shows them: pages, and windows with their context."""
    rng, material = np.random.default_rng(SEED), Material(recipe_of(RECIPE).shares)
    pages, windows = [], []
    for _ in range(SAMPLES):
        image, label, _ = material.page(rng, np.ones(len(material.sources)))
        seen = view(rng, image, label, WINDOWS, SIDE)
        page, places = N.as_input(seen.overview[None]), torch.from_numpy(seen.places)
        with torch.no_grad():
            context = N.seen_by(overview(page).expand(WINDOWS, -1, -1, -1), places)
        pages.append((page,))
        windows.append((N.as_input(seen.windows), context))
    return pages, windows


def write_parity(model, context, out):
    for i, path in enumerate(sorted(out.glob("*.png"))):
        rgb = np.ascontiguousarray(cv2.imread(str(path))[..., ::-1])
        height, width = (n // N.MULTIPLE for n in rgb.shape[:2])
        told = context[..., i : i + height, :width].contiguous()
        with torch.no_grad():
            logits = N.logits(*model(N.as_input(rgb[None]), told))
        told[0].numpy().astype("<f4").tofile(path.with_suffix(".context.bin"))
        logits[0].numpy().astype("<f4").tofile(path.with_suffix(".bin"))


def main():
    p = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    p.add_argument("checkpoint")
    p.add_argument("--out", default="models", type=Path)
    a = p.parse_args()
    model, state = load(a.checkpoint)
    parameters = [layers.parameters(m) for m in (model.segmenter, model.overview)]
    pages, windows = samples(model.overview)
    example = (torch.rand(1, 12, 128, 128), torch.rand(1, N.CONTEXT, 8, 8))
    products = layers.products(model.segmenter, example) / (2 * 128) ** 2
    segmenter = quantise(N.Answers(model.segmenter), windows)
    overview = quantise(model.overview, pages)

    side = {2: "height", 3: "width"}
    cells = {2: "rows", 3: "columns"}
    path, m = a.out / "segment.onnx", N.SEGMENT
    image, context, outputs = *m["inputs"], m["outputs"]
    dynamic = {image: side, context: cells, **{name: side for name in outputs}}
    integers = [image, *outputs]
    meaning = to_onnx(segmenter, path, example, m["inputs"], outputs, dynamic, integers)
    manifest.write(
        path,
        state["version"],
        parameters=parameters[0],
        products=round(products),
        metrics=state.get("metrics", {}),
        bytes=meaning,
    )
    path, m = a.out / "overview.onnx", N.OVERVIEW
    meaning = to_onnx(overview, path, pages[0], m["inputs"], m["outputs"], integers=m["inputs"])
    manifest.write(path, state["version"], parameters=parameters[1], bytes=meaning)
    with torch.no_grad():
        context = overview(*pages[0])
    (a.out / "parity").mkdir(exist_ok=True)
    write_parity(segmenter, context, a.out / "parity")


if __name__ == "__main__":
    main()
