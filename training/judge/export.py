"""Exports the judge, with its manifest.

python3 -m training.judge.export build/judge/weights.pt [--out models]
"""

import argparse
import time
from pathlib import Path

import torch

from training.common import layers, manifest
from training.judge.net import BOND_TRAITS, MANIFEST, NEAR, TRAITS, Judge


def export(a):
    judge = Judge()
    version = time.strftime("%Y-%m-%d")
    if a.checkpoint:
        state = torch.load(a.checkpoint)
        judge.load_state_dict(state["state"])
        version = state["version"]
    path, n = Path(a.out) / "judge.onnx", 512
    example = (torch.rand(n, TRAITS), torch.zeros(n, NEAR), torch.rand(n, NEAR, BOND_TRAITS))
    inputs, outputs = MANIFEST["inputs"], MANIFEST["outputs"]
    torch.onnx.export(
        judge.eval(),
        example,
        path,
        input_names=inputs,
        output_names=outputs,
        opset_version=17,
        dynamo=False,
        dynamic_axes={name: {0: "n"} for name in [*inputs, *outputs]},
    )
    manifest.write(path, version, parameters=layers.parameters(judge))


def main():
    p = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    p.add_argument("checkpoint", nargs="?", help="without one, untrained: the segmenter's own word")
    p.add_argument("--out", default="models")
    export(p.parse_args())


if __name__ == "__main__":
    main()
