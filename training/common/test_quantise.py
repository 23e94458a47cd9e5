"""Rounded networks as they are written."""

import tempfile
import unittest
from pathlib import Path

import numpy as np
import onnx
import onnx.version_converter
import torch
from onnx.reference import ReferenceEvaluator
from torch import nn
from torch.nn import functional as F

from training.common.quantise import quantise, to_onnx


class Step(nn.Module):
    """A step up of a U-Net."""

    def __init__(self):
        super().__init__()
        self.fine, self.coarse = nn.Conv2d(4, 16, 3, 1, 1), nn.Conv2d(4, 16, 3, 2, 1)
        self.head = nn.Conv2d(16, 16, 3, 1, 1)

    def forward(self, x):
        x = x - 0.5
        risen = F.interpolate(self.coarse(x), scale_factor=2.0, mode="nearest")
        return self.head(risen + self.fine(x))


class Export(unittest.TestCase):
    def test_a_step_up_is_taken_in_integers_and_comes_to_the_same(self):
        torch.manual_seed(1)
        samples = [(torch.rand(2, 4, 32, 32),) for _ in range(4)]
        with torch.no_grad():
            rounded = quantise(Step().eval(), samples)
            want = rounded(samples[0][0][:1]).numpy()
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "step.onnx"
            example = (samples[0][0][:1],)
            meaning = to_onnx(rounded, path, example, ["x"], ["y"], integers=["x", "y"])
            written = onnx.load(str(path))
        onnx.checker.check_model(written)
        self.assertNotIn("Resize", [n.op_type for n in written.graph.node])
        told = onnx.version_converter.convert_version(written, 21)  # which the evaluator knows
        x, y = meaning["x"], meaning["y"]
        pixels = (samples[0][0][:1].numpy() - 0.5).transpose(0, 2, 3, 1)
        given = np.clip(np.round(pixels / x["scale"]) + x["zero"], 0, 255).astype(np.uint8)
        got = ReferenceEvaluator(told).run(None, {"x": given})[0].transpose(0, 3, 1, 2)
        got = (got.astype(np.float32) - y["zero"]) * y["scale"]
        # where a sum lies between two steps, either may be taken
        self.assertLess(np.abs(got - want).mean(), 0.002 * np.abs(want).max())


if __name__ == "__main__":
    unittest.main()
