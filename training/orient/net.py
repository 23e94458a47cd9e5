"""The orientation network: which way up a page lies, from the look of its text.

Input   float [1, 1, SIDE, SIDE], grey 0..1, body text at an em of about 14 px: the busiest window
        of the page in even light, amid its own paper's grey where the page is smaller.
Output  float [1, 5]: sums over the window of the votes for 0, 90, 180 and 270 degrees that the page
        was turned clockwise, and of what they weigh.

Every place of the page votes; the network also says how much each vote counts, so that empty paper
and figures do not. Votes add up as evidence half dependent does, with the root of their weight: a
whole page is surer than a piece.
"""

import torch
from torch import nn

from training.common import manifest
from training.common.layers import Residual, conv

MANIFEST = manifest.read("orient")
SIDE, EM = MANIFEST["side"], MANIFEST["em"]
WIDTHS = (16, 32, 48, 96)


class Orienter(nn.Module):
    def __init__(self, w=WIDTHS):
        super().__init__()
        self.stem = nn.Sequential(
            nn.Conv2d(1, w[0], 6, 2, 2, bias=False), nn.BatchNorm2d(w[0]), nn.ReLU(inplace=True)
        )
        self.body = nn.Sequential(
            conv(w[0], w[1], stride=2),
            conv(w[1], w[2], stride=2),
            Residual(w[2]),
            conv(w[2], w[3], stride=2),
            Residual(w[3]),
            Residual(w[3], 2),
            Residual(w[3]),
        )
        self.vote = nn.Conv2d(w[-1], 5, 1)

    def forward(self, x):
        """Votes: float [N, 5, H / 16, W / 16], logits of the four classes and of the vote's
        weight."""
        return self.vote(self.body(self.stem(x - 0.5)))


class Counted(nn.Module):
    """Sums the votes of a network up: float [N, 5], the votes for each class and their weight."""

    def __init__(self, voter):
        super().__init__()
        self.voter = voter

    def forward(self, x):
        v = self.voter(x)
        weight = torch.sigmoid(v[:, 4:])
        return torch.cat([v[:, :4] * weight, weight], 1).sum((2, 3))


def logits(sums):
    """Of the classes, by the sums of the votes: float [N, 4]."""
    return sums[:, :4] / (sums[:, 4:] + 1).sqrt()


def load(path):
    state = torch.load(path, map_location="cpu")
    model = Orienter()
    model.load_state_dict(state["ema"])
    return Counted(model.eval()), state
