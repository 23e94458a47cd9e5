"""The segmentation network: a compact residual U-Net.

Input   float [N, 3, H, W], RGB in 0..1, body text at about 24 px em, H and W multiples of 32.
Output  float [N, 4, H, W] logits of the classes PAPER, PRINT, HAND (handwriting), BOTH (handwriting over print).

The first convolution halves the resolution and a pixel-shuffle head (Shi et al., 2016) restores it, so that nothing
else runs at full resolution: on CPUs that is where the time goes. The lowest
level sees far (dilations, and a global average as in ParseNet, Liu et al., 2015): whether a straight stroke
is a rule or the bar of a t can be told only from what surrounds it.
"""

from torch import nn
from torch.nn import functional as F

PAPER, PRINT, HAND, BOTH = range(4)
CLASSES = ["paper", "print", "handwriting", "both"]
IGNORE = 255
MULTIPLE = 32
EM = 24

WIDTHS = (16, 32, 64, 96, 128)  # multiples of 16: ONNX Runtime computes in blocks of that many channels


def conv(cin, cout, stride=1, dilation=1):
    return nn.Sequential(
        nn.Conv2d(cin, cout, 3, stride, dilation, dilation, bias=False),
        nn.BatchNorm2d(cout),
        nn.ReLU(inplace=True),
    )


class Residual(nn.Module):
    """x + f(x), f being two 3x3 convolutions (He et al., 2016). f starts at zero (Goyal et al., 2017), so a block put into
    a trained network changes nothing at first."""

    def __init__(self, c, dilation=1):
        super().__init__()
        self.first = conv(c, c, dilation=dilation)
        self.second = nn.Sequential(nn.Conv2d(c, c, 3, 1, 1, bias=False), nn.BatchNorm2d(c))
        nn.init.zeros_(self.second[1].weight)

    def forward(self, x):
        return F.relu(x + self.second(self.first(x)))


class Context(nn.Module):
    """Adds what the whole field holds to every place in it."""

    def __init__(self, c):
        super().__init__()
        self.project = nn.Conv2d(c, c, 1)

    def forward(self, x):
        return F.relu(x + self.project(x.mean((2, 3), keepdim=True)))


class Segmenter(nn.Module):
    def __init__(self, widths=WIDTHS):
        super().__init__()
        w = widths
        self.stem = nn.Sequential(nn.Conv2d(3, w[0], 6, 2, 2, bias=False), nn.BatchNorm2d(w[0]), nn.ReLU(inplace=True))
        self.enter = Residual(w[0])
        self.down = nn.ModuleList(conv(a, b, stride=2) for a, b in zip(w, w[1:]))
        depth = [1, 2, 3, 0]
        self.encode = nn.ModuleList(nn.Sequential(*[Residual(c) for _ in range(n)]) for c, n in zip(w[1:], depth))
        self.bottom = nn.Sequential(*[Residual(w[-1], d) for d in (1, 2, 4)], Context(w[-1]),
                                    *[Residual(w[-1], d) for d in (1, 2, 1)])
        self.reduce = nn.ModuleList(nn.Conv2d(b, a, 1, bias=False) for a, b in zip(w, w[1:]))
        self.decode = nn.ModuleList(Residual(c) for c in w[:-1])
        self.head = nn.Conv2d(w[0], 4 * len(CLASSES), 3, 1, 1)

    def forward(self, x):
        x = self.enter(self.stem(x - 0.5))
        skips = []
        for down, encode in zip(self.down, self.encode):
            skips.append(x)
            x = encode(down(x))
        x = self.bottom(x)
        for skip, reduce, decode in zip(reversed(skips), reversed(self.reduce), reversed(self.decode)):
            x = decode(F.interpolate(reduce(x), scale_factor=2.0, mode="nearest") + skip)
        return F.pixel_shuffle(self.head(x), 2)


def parameters(net):
    return sum(p.numel() for p in net.parameters())
