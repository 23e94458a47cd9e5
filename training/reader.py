"""The encoder of the segmenter: the backbone of a text detector that has learned to read.

PP-OCRv6 small (PaddleOCR, Apache-2.0), whose weights the PyPI package rapidocr ships as ONNX with
their licence. Its batch normalisations are folded into the convolutions, and stay so. Each block
mixes places by a depthwise convolution and channels by two pointwise ones (as in Wang et al., 2023,
RepViT); every other one weighs its channels by the whole field (Hu et al., 2018).

    image    float [N, 3, H, W], RGB from 0 to 1; H and W multiples of 32
    output   five float tensors, [N, C, H/s, W/s] with C of WIDTHS and s of 2, 4, 8, 16, 32
"""

import importlib.util
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional as F

PACKAGE, MODEL = "rapidocr", "models/PP-OCRv6_det_small.onnx"
STEM = 24
STAGES = ((48, 2), (96, 2), (192, 4), (384, 2))  # width and blocks at strides 4, 8, 16, 32
WIDTHS = (2 * STEM, *(width for width, _ in STAGES))
SQUEEZE = 4  # channels to one that weighs them
MEAN, DEVIATION = (0.406, 0.456, 0.485), (0.225, 0.224, 0.229)  # it was trained with, by R, G, B


class Conv(nn.Conv2d):
    """A convolution that learns faster where it looks at single places: on one thread PyTorch
    computes these as matrix products after copying, and the channels lie together anyway."""

    def _conv_forward(self, x, weight, bias):
        if not self.training or self.kernel_size != (1, 1):
            return super()._conv_forward(x, weight, bias)
        return F.linear(x.permute(0, 2, 3, 1), weight.flatten(1), bias).permute(0, 3, 1, 2)


class Weighing(nn.Module):
    """Weighs each channel by what the whole field holds (squeeze and excitation)."""

    def __init__(self, c):
        super().__init__()
        self.squeeze, self.weigh = Conv(c, c // SQUEEZE, 1), Conv(c // SQUEEZE, c, 1)

    def forward(self, x):
        weights = self.weigh(F.relu(self.squeeze(x.mean((2, 3), keepdim=True))))
        return x * F.hardsigmoid(weights)


class Block(nn.Module):
    """Mixes places, then channels. Between stages it halves the field and has another width."""

    def __init__(self, c, out, weighing=False):
        super().__init__()
        self.residual = c == out
        stride = 1 if self.residual else 2
        self.places = Conv(c, c, 3, stride, 1, groups=c)
        self.weighing = Weighing(c) if weighing else nn.Identity()
        self.widen, self.narrow = Conv(c, 2 * c, 1), Conv(2 * c, out, 1)

    def forward(self, x):
        x = self.weighing(self.places(x))
        mixed = self.narrow(F.gelu(self.widen(x)))
        return x + mixed if self.residual else mixed


class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.tensor(MEAN).reshape(1, 3, 1, 1))
        self.enter = Conv(3, STEM, 3, 2, 1)
        self.corner = nn.ModuleList((Conv(STEM, STEM // 2, 2), Conv(STEM // 2, STEM, 2)))
        self.halve = Conv(2 * STEM, STEM, 3, 2, 1)
        self.leave = Conv(STEM, STAGES[0][0], 1)
        stages, before = [], STAGES[0][0]
        for width, count in STAGES:
            blocks = [] if before == width else [Block(before, width)]
            blocks += [Block(width, width, weighing=i % 2 == 0) for i in range(count)]
            stages.append(nn.Sequential(*blocks))
            before = width
        self.stages = nn.ModuleList(stages)

    def forward(self, image):
        x = F.relu(self.enter(image - self.mean))
        y = x
        for conv in self.corner:
            y = F.relu(conv(F.pad(y, (0, 1, 0, 1))))
        x = torch.cat([F.max_pool2d(F.pad(x, (0, 1, 0, 1)), 2, 1), y], 1)
        seen = [x]
        x = F.relu(self.leave(F.relu(self.halve(x))))
        for stage in self.stages:
            x = stage(x)
            seen.append(x)
        return seen


def released():
    """The released weights, by this module's names. The convolutions of the graph come in the order
    of the modules here, each with its bias added after it; those of its own decoder follow and are
    left out. It takes BGR of unit deviation; the first layer is made to take RGB from 0 to 1."""
    import onnx
    from onnx import numpy_helper

    package = importlib.util.find_spec(PACKAGE)
    if package is None:
        raise SystemExit(f"the package {PACKAGE} is missing: make -C training deps")
    graph = onnx.load(str(Path(package.origin).parent / MODEL)).graph
    known = {i.name: numpy_helper.to_array(i) for i in graph.initializer}
    known |= {n.output[0]: numpy_helper.to_array(n.attribute[0].t)
              for n in graph.node if n.op_type == "Constant"}
    convolutions = (n for n in graph.node if n.op_type == "Conv")
    added = {n.input[0]: known.get(n.input[1]) for n in graph.node if n.op_type == "Add"}
    out = {}
    for name, module in Reader().named_modules():
        if isinstance(module, nn.Conv2d):
            node = next(convolutions)
            for part, value in ("weight", known[node.input[1]]), ("bias", added[node.output[0]]):
                own = getattr(module, part)
                if value is None or value.size != own.numel():
                    raise SystemExit(f"{MODEL} is not as it was: {part} of {name} does not fit")
                out[f"{name}.{part}"] = torch.tensor(value).reshape(own.shape)
    deviation = torch.tensor(DEVIATION).reshape(1, 3, 1, 1)
    out["enter.weight"] = out["enter.weight"].flip(1) / deviation
    return out
