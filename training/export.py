"""Exports a checkpoint to ONNX, with its manifests and the vectors that prove Go computes the same.

    python3 -m training.export CHECKPOINT [--out models]

Writes models/segment.onnx and overview.onnx with a .json each. The segmenter computes in float32 and
its weights are stored in half precision; the overview computes in eight bits. models/parity keeps
its NN.png (an RGB crop) and gets NN.context.bin (what the segmenter is told of it, one vector a cell
of 32 pixels) and NN.bin (its logits), float32, little endian, channel by row by column.
"""

import argparse
import hashlib
import json
from pathlib import Path

import cv2
import numpy as np
import torch

from . import net as N
from . import real, views
from .data import Shards
from .quantise import quantise, store_halves, to_onnx
from .train import measure

SAMPLES = 48  # pages that show the ranges of the activations


def load(path):
    """The networks of a checkpoint, with the averaged weights, ready for inference."""
    state = torch.load(path, map_location="cpu")
    model = N.Eye()
    model.load_state_dict(state["ema"])
    return model.eval(), state


def half(net):
    """The network with weights that half precision holds, as they will be stored."""
    return net.load_state_dict({k: v.half().float() if v.is_floating_point() else v
                                for k, v in net.state_dict().items()})


def some_pages():
    """Overviews of pages trained on, evenly chosen, that show the ranges of the activations."""
    sources = real.sources("train")
    chosen = sources[::max(1, len(sources) // SAMPLES)][:SAMPLES]
    images = [views.whole_page(s)[0] for s in chosen]
    if not images:
        shards = Shards("train")
        images = [shards.crop(i)[0] for i in range(min(SAMPLES, len(shards)))]
    return [(N.as_input(views.overview_of(image)[None]),) for image in images]


def write_parity(model, context, out):
    for i, path in enumerate(sorted(out.glob("*.png"))):
        rgb = np.ascontiguousarray(cv2.imread(str(path))[..., ::-1])
        height, width = (n // N.MULTIPLE for n in rgb.shape[:2])
        told = context[..., i:i + height, :width].contiguous()
        with torch.no_grad():
            logits = model(N.as_input(rgb[None]), told)
        told[0].numpy().astype("<f4").tofile(path.with_suffix(".context.bin"))
        logits[0].numpy().astype("<f4").tofile(path.with_suffix(".bin"))


def write_manifest(path, version, **more):
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    manifest = {"name": path.stem, "version": version, "sha256": digest, **more}
    path.with_suffix(".json").write_text(json.dumps(manifest, indent=1) + "\n")
    print(json.dumps(manifest, indent=1))


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("checkpoint")
    p.add_argument("--out", default="models", type=Path)
    a = p.parse_args()
    model, state = load(a.checkpoint)
    half(model.segmenter)
    parameters = [N.parameters(m) for m in (model.segmenter, model.overview)]
    pages = some_pages()
    model.overview = quantise(model.overview, pages)
    metrics = measure(model)

    side = {2: "height", 3: "width"}
    cells = {2: "rows", 3: "columns"}
    path = a.out / "segment.onnx"
    example = (torch.rand(1, 3, 256, 256), torch.rand(1, N.CONTEXT, 8, 8))
    names = ["image", "context", "logits"]
    to_onnx(model.segmenter, path, example, names, {"image": side, "context": cells, "logits": side})
    store_halves(path)
    write_manifest(path, state["version"], windows=state["windows"], em=N.SHOWN_EM, classes=N.CLASSES,
                   inputs=names[:2], output=names[2], multiple=N.MULTIPLE,
                   parameters=parameters[0], metrics=metrics)
    path = a.out / "overview.onnx"
    to_onnx(model.overview, path, pages[0], ["page", "context"])
    write_manifest(path, state["version"], inputs=["page"], output="context", side=N.OVERVIEW_SIDE,
                   largest=N.OVERVIEW_LARGEST, stride=N.OVERVIEW_STRIDE, parameters=parameters[1])
    with torch.no_grad():
        context = model.overview(*pages[0])
    (a.out / "parity").mkdir(exist_ok=True)
    write_parity(model.segmenter, context, a.out / "parity")


if __name__ == "__main__":
    main()
