"""What the networks are built of: convolutions that learn with weights as eight bits hold them."""

import torch
from torch import nn
from torch.nn import functional as F

WEIGHT_LEVELS = 63  # of a weight's size: seven bits with the sign


def rounded(weight):
    """Weights [out, in, h, w] as eight bits hold them (training.common.quantise); gradients pass as
    if they were not rounded (Bengio et al., 2013, straight-through)."""
    with torch.no_grad():
        scale = weight.abs().amax((1, 2, 3), keepdim=True).clamp(min=1e-6) / WEIGHT_LEVELS
        off = (weight / scale).round() * scale - weight
    return weight + off


class Conv(nn.Conv2d):
    """A convolution that learns with the rounded weights that it will compute with, and faster
    where it looks at single places: on one thread PyTorch computes these as matrix products after
    copying, and the channels lie together anyway."""

    def forward(self, x):
        weight = rounded(self.weight) if self.training else self.weight
        if not self.training or self.kernel_size != (1, 1):
            return self._conv_forward(x, weight, self.bias)
        return F.linear(x.permute(0, 2, 3, 1), weight.flatten(1), self.bias).permute(0, 3, 1, 2)


def conv(cin, cout, side=3, stride=1, dilation=1):
    return nn.Sequential(
        Conv(cin, cout, side, stride, side // 2 * dilation, dilation, bias=False),
        nn.BatchNorm2d(cout),
        nn.ReLU(inplace=True),
    )


class Residual(nn.Module):
    """x + f(x), f being two 3x3 convolutions (He et al., 2016). f starts at zero (Goyal et al.,
    2017), so a block put into a trained network changes nothing at first."""

    def __init__(self, c, dilation=1):
        super().__init__()
        self.first = conv(c, c, dilation=dilation)
        self.second = nn.Sequential(Conv(c, c, 3, 1, 1, bias=False), nn.BatchNorm2d(c))
        nn.init.zeros_(self.second[1].weight)

    def forward(self, x):
        return F.relu(x + self.second(self.first(x)))


class Context(nn.Module):
    """Adds what the whole field holds to every place in it."""

    def __init__(self, c):
        super().__init__()
        self.project = Conv(c, c, 1)

    def forward(self, x):
        return F.relu(x + self.project(x.mean((2, 3), keepdim=True)))


def parameters(net):
    return sum(p.numel() for p in net.parameters())


def products(net, example):
    """How often the convolutions of a network multiply for an input, a tuple of its tensors."""
    counts = []

    def count(layer, _, output):
        counts.append(output.numel() * layer.weight[0].numel())

    hooks = [m.register_forward_hook(count) for m in net.modules() if isinstance(m, nn.Conv2d)]
    with torch.no_grad():
        net(*example)
    for hook in hooks:
        hook.remove()
    return sum(counts)
