"""The network that judges a page's regions of ink: which were written, in view of their neighbours
and of the page.

Judge
    regions   float [N, 21], near float [N, 8] (indices), bonds float [N, 8, 7], as
              internal/restore/strokes tells them
    output    float [N], log-odds that a region was written

Regions pass messages to their neighbours (Gilmer et al., 2017) and meet all others through a few
places where what is alike gathers (Lee et al., 2019, induced set attention): what the page's
writing and its print look like. What they then hold, and how sure they are, tells whether anybody
wrote on the page at all; where nobody seems to have, each region must be surer.
"""

import torch
from torch import nn
from torch.nn import functional as F

from training.common import manifest

MANIFEST = manifest.read("judge")
TRAITS, NEAR, BOND_TRAITS = len(MANIFEST["traits"]), MANIFEST["near"], MANIFEST["bond_traits"]
HAND, PRINT, AREA, SUREST_HAND = map(MANIFEST["traits"].index, ("hand", "print", "area", "surest"))
WIDTH, ROUNDS, PLACES = 48, 3, 12
SUREST = 8.0  # log-odds of a region, for what the page makes of it
FAR = 1000.0  # below zero: what a bond says that is not there, whose first trait is 0


class Round(nn.Module):
    """What a region hears from its neighbours and from the page."""

    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(WIDTH)
        self.own, self.other, self.bond = (
            nn.Linear(WIDTH, WIDTH),
            nn.Linear(WIDTH, WIDTH),
            nn.Linear(BOND_TRAITS, WIDTH),
        )
        self.gather, self.value, self.ask = (
            nn.Linear(WIDTH, PLACES),
            nn.Linear(WIDTH, WIDTH),
            nn.Linear(WIDTH, PLACES),
        )
        self.think = nn.Sequential(nn.Linear(3 * WIDTH, WIDTH), nn.ReLU(), nn.Linear(WIDTH, WIDTH))

    def forward(self, x, near, bonds, mass):
        h = self.norm(x)
        own, other = self.own(h) + self.bond.bias - FAR, self.other(h)
        weight = self.bond.weight.t() + FAR * torch.eye(BOND_TRAITS, 1, device=x.device)
        # Neighbour by neighbour: what all say together is more than the processor has at hand.
        heard = 0
        for k in range(NEAR):
            said = other.index_select(0, near[:, k]) + own
            heard = heard + F.relu(torch.addmm(said, bonds[:, k], weight))
        heard = heard / (bonds[..., 0].sum(1, keepdim=True) + 1e-3)
        shares = (self.gather(h) + mass).t().softmax(1)  # [PLACES, N]
        page = self.ask(h).softmax(1) @ (shares @ self.value(h))
        return x + self.think(torch.cat([h, heard, page], 1))


class Page(nn.Module):
    """Log-odds that somebody wrote on a page, [1], of what its regions hold, [N, WIDTH], their
    log-odds and areas, [N]."""

    def __init__(self):
        super().__init__()
        self.think = nn.Sequential(nn.Linear(2 * WIDTH + 3, WIDTH), nn.ReLU(), nn.Linear(WIDTH, 1))
        nn.init.zeros_(self.think[2].weight)
        nn.init.constant_(self.think[2].bias, 3)

    def forward(self, h, odds, area):
        written = area * odds.sigmoid()
        printed = area - written
        w, p = written.sum() + 1, printed.sum() + 1
        sure = (written * odds.clamp(-SUREST, SUREST)).sum() / w
        told = torch.stack([sure / SUREST, w.log() / 12, (w / (w + p)).log() / 8])
        return self.think(torch.cat([written @ h / w, printed @ h / p, told]))


class Judge(nn.Module):
    def __init__(self):
        super().__init__()
        self.enter = nn.Sequential(nn.Linear(TRAITS, WIDTH), nn.ReLU(), nn.Linear(WIDTH, WIDTH))
        self.rounds = nn.ModuleList(Round() for _ in range(ROUNDS))
        self.answer = nn.Sequential(nn.LayerNorm(WIDTH), nn.Linear(WIDTH, 1))
        nn.init.zeros_(self.answer[1].weight)
        nn.init.zeros_(self.answer[1].bias)
        self.page = Page()
        self.strictness = nn.Parameter(torch.ones(()))

    def forward(self, regions, near, bonds):
        return self.told(regions, near, bonds)[0]

    def told(self, regions, near, bonds):
        """Log-odds that each region was written, [N], and that any was, [1]: a clear signature is
        believed on a page on which hardly anybody wrote; a doubtful stroke is not."""
        there = regions[:, :1]
        # logarithm of the area; none where nothing is
        mass = 8 * 0.69 * regions[:, AREA : AREA + 1] - 30 * (1 - there)
        x, near = self.enter(regions), near.long()
        for r in self.rounds:
            x = r(x, near, bonds, mass)
        odds = self.answer(x)[:, 0] + 4 * regions[:, HAND]  # begins with the segmenter's word
        area = there[:, 0] * (8 * 0.69 * regions[:, AREA]).exp()
        page = self.page(self.answer[0](x), odds, area)
        return odds + self.strictness * page.clamp(max=0), page
