"""The segmentation network: a compact residual U-Net that judges each stroke in view of the whole
page.

Segmenter
    image     float [N, 12, H/2, W/2], RGB in 0..1, body text at an em of about 32 px, H and W
              multiples of 32
    context   float [N, 64, H/32, W/32], what the Overview says of the places under the image; zeros
              where nothing is known
    output    float [N, 16, H/2, W/2] logits of the classes PAPER, PRINT, HAND (handwriting), BOTH
              (handwriting over print)

Overview
    page      float [N, 12, 256, 256], the whole page made small enough to fit 512x512, at the top
              left, the rest white
    output    float [N, 64, 64, 64], the context

What has a value for each pixel comes and goes as planes of half the size: four for each channel, of
the top left, top right, bottom left and bottom right pixels of squares of 2x2 (Shi et al., 2016,
pixel shuffle). So nothing runs at full resolution: on CPUs that is where the time goes. A tile
shows a stroke and its neighbours; whether that stroke repeats, is level with the lines and has the
page's face, only the whole page can tell. The Overview sees all of it at once, its places attend to
each other (Vaswani et al., 2017), and its answer enters at the Segmenter's lowest level. Whether
print lies under writing is told by a decoder of its own.
"""

import torch
from torch import nn
from torch.nn import functional as F

from training.common import manifest
from training.common.layers import Context, Conv, Residual, conv
from training.common.pixel import CLASSES

SEGMENT, OVERVIEW = (manifest.read(name) for name in ("segment", "overview"))
MULTIPLE = SEGMENT["multiple"]

# multiples of 16: ONNX Runtime computes in blocks of that many channels
WIDTHS = (16, 32, 64, 96, 128)
DEPTHS = (1, 3, 5, 0)  # residual blocks at the levels below the first
UNDER_DEPTHS = (2, 2)  # of what tells print under writing, from the second level up

OVERVIEW_SIDE = OVERVIEW["side"]  # of the picture of the whole page
OVERVIEW_LARGEST = OVERVIEW["largest"]  # scale of that picture at most, against the working picture
OVERVIEW_WIDTHS = (24, 48, 64, 128)
OVERVIEW_STRIDE = OVERVIEW["stride"]
CONTEXT = OVERVIEW["planes"]
HEADS = 4


class Attention(nn.Module):
    """x + what every place gathers from all others, by likeness; starts at zero."""

    def __init__(self, c):
        super().__init__()
        self.norm = nn.GroupNorm(1, c)
        self.ask = Conv(c, 3 * c, 1)
        self.answer = Conv(c, c, 1)
        nn.init.zeros_(self.answer.weight)
        nn.init.zeros_(self.answer.bias)

    def forward(self, x):
        n, c, h, w = x.shape
        query, key, value = self.ask(self.norm(x)).reshape(n, 3, HEADS, c // HEADS, h * w).unbind(1)
        likeness = (query.transpose(2, 3) @ key) * (c // HEADS) ** -0.5
        gathered = value @ likeness.softmax(-1).transpose(2, 3)
        return x + self.answer(gathered.reshape(n, c, h, w))


def risen(x):
    """At twice the resolution."""
    return F.interpolate(x, scale_factor=2.0, mode="nearest")


class Overview(nn.Module):
    def __init__(self):
        super().__init__()
        a, b, c, d = OVERVIEW_WIDTHS
        self.fine = nn.Sequential(
            conv(4 * 3, a),
            Residual(a),
            conv(a, b, stride=2),
            Residual(b),
            conv(b, c, stride=2),
            Residual(c),
            Residual(c),
        )
        self.coarse = nn.Sequential(
            conv(c, d, stride=2),
            Residual(d),
            Attention(d),
            Residual(d, 2),
            Attention(d),
            Residual(d),
        )
        self.reduce = Conv(d, c, 1, bias=False)
        self.join = nn.Sequential(Residual(c), Conv(c, CONTEXT, 1))
        # in training alone: is there handwriting, is there print
        self.present = Conv(CONTEXT, 2, 1)

    def forward(self, page):
        fine = self.fine(page - 0.5)
        return self.join(risen(self.reduce(self.coarse(fine))) + fine)


def as_input(images, device="cpu"):
    """Pictures as the networks take them, of uint8 [N, H, W, 3]; the channels lie together."""
    pixels = torch.from_numpy(images).to(device).permute(0, 3, 1, 2).float() / 255
    return F.pixel_unshuffle(pixels, 2).contiguous(memory_format=torch.channels_last)


def seen_by(context, places):
    """The context under windows, [n, 64, S/32, S/32], of contexts [n, 64, 64, 64] and places [n,
    S/32, S/32, 2] in -1..1."""
    return F.grid_sample(context, places, padding_mode="border", align_corners=False)


class Under(nn.Module):
    """The log-odds that print lies under writing, where there is writing: a decoder of its own for
    the two finest levels. Writing on bare paper is far more common, and what lies under a real
    page's is not known, so that this question is lost among the others."""

    def __init__(self):
        super().__init__()
        w = WIDTHS[2::-1]
        self.reduce = nn.ModuleList(Conv(a, b, 1, bias=False) for a, b in zip(w, w[1:]))
        self.decode = nn.ModuleList(
            nn.Sequential(*[Residual(c) for _ in range(n)]) for c, n in zip(w[1:], UNDER_DEPTHS)
        )
        # four channels are the answer: ONNX Runtime takes half as long for sixteen as for four
        self.head = Conv(w[-1], w[-1], 3, 1, 1)

    def forward(self, x, skips):
        """x: what the Segmenter has decoded at its third level; skips: of the two above it."""
        for skip, reduce, decode in zip(skips, self.reduce, self.decode):
            x = decode(risen(reduce(x)) + skip)
        return self.head(x)


class Segmenter(nn.Module):
    """A residual U-Net (Ronneberger et al., 2015), told at its lowest level what the whole page
    says."""

    def __init__(self):
        super().__init__()
        w = WIDTHS
        self.stem = conv(4 * 3, w[0])
        self.enter = Residual(w[0])
        self.down = nn.ModuleList(conv(a, b, stride=2) for a, b in zip(w, w[1:]))
        self.encode = nn.ModuleList(
            nn.Sequential(*[Residual(c) for _ in range(n)]) for c, n in zip(w[1:], DEPTHS)
        )
        self.bottom = nn.Sequential(
            *[Residual(w[-1], d) for d in (1, 2, 4)],
            Context(w[-1]),
            *[Residual(w[-1], d) for d in (1, 2, 1)],
        )
        self.context = Conv(CONTEXT, w[-1], 1)
        nn.init.zeros_(self.context.weight)
        nn.init.zeros_(self.context.bias)
        self.decide = nn.Sequential(Residual(w[-1]), Residual(w[-1]))
        self.reduce = nn.ModuleList(Conv(b, a, 1, bias=False) for a, b in zip(w, w[1:]))
        self.decode = nn.ModuleList(Residual(c) for c in w[:-1])
        self.head = Conv(w[0], 4 * len(CLASSES), 3, 1, 1)
        self.under = Under()

    def forward(self, image, context):
        return logits(*self.answers(image, context))

    def answers(self, image, context):
        """What [logits] makes logits of."""
        x = self.enter(self.stem(image - 0.5))
        skips = []
        for down, encode in zip(self.down, self.encode):
            skips.append(x)
            x = encode(down(x))
        x = self.decide(F.relu(self.bottom(x) + self.context(context)))
        decoded = []
        for skip, reduce, decode in zip(
            reversed(skips), reversed(self.reduce), reversed(self.decode)
        ):
            x = decode(risen(reduce(x)) + skip)
            decoded.append(x)
        return self.head(x), self.under(decoded[1], skips[1::-1])


def logits(classes, under):
    """Logits of the classes, [n, 16, H/2, W/2]. classes: the same, but for what lies under writing;
    under: the log-odds that print does, in the first four of 16 channels."""
    rest, hand, both = classes.split([8, 4, 4], 1)
    written, under = torch.maximum(hand, both), under[:, :4]
    hand, both = (written + (sign * under).clamp(max=0) for sign in (-1, 1))
    return torch.cat([rest, hand, both], 1)


class Answers(nn.Module):
    """A segmenter as it is exported: what logits are made of is left to who asks it."""

    def __init__(self, segmenter):
        super().__init__()
        self.segmenter = segmenter

    def forward(self, image, context):
        return self.segmenter.answers(image, context)


class Eye(nn.Module):
    """Both networks as they are trained: windows of pages, n of each, with what each page's
    overview says of them."""

    def __init__(self):
        super().__init__()
        self.segmenter, self.overview = Segmenter(), Overview()

    def forward(self, windows, pages, places, blind=False):
        """windows [P * n, 12, S/2, S/2], pages [P, 12, 256, 256], places [P * n, S/32, S/32, 2] in
        -1..1: logits of the windows, [P * n, 4, S, S], and of what is present in each place of the
        pages, [P, 2, 64, 64]. Blind, the windows are judged by themselves."""
        context = self.overview(pages)
        seen = seen_by(context.repeat_interleave(len(windows) // len(pages), 0), places)
        logits = self.segmenter(windows, seen * 0 if blind else seen)
        return F.pixel_shuffle(logits, 2), self.overview.present(context)
