"""The flattening network: how a sheet is bent, turned and seen, from the look of a whole picture.

Input   float [1, 1, HEIGHT, WIDTH], grey 0..1: the whole upright picture, in the middle of its own
        median grey.
Output  float [1, 3, ROWS, COLUMNS]: a coarse backward grid. The nodes are those of the flat page,
        STEP pixels apart from the middle of the first STEP pixels on; the first two planes say how
        far right and down of it, in steps, each node is found in the picture, the third the
        logarithm of how far off that may be. Size and place of the flat page are not told: it is as
        large as in the picture, and lies where it does.

The idea of a coarse grid that is learnt from warps which are known is that of Verhoeven, Magne and
Sorkine-Hornung, 2023 (UVDoc).
"""

import numpy as np
import torch
from torch import nn

from training.common import manifest
from training.common.layers import Context, Residual, conv

MANIFEST = manifest.read("flatten")
WIDTH, HEIGHT, STEP = (MANIFEST[name] for name in ("width", "height", "step"))
COLUMNS, ROWS = WIDTH // STEP, HEIGHT // STEP
WIDTHS = (16, 32, 64, 96)


class Flattener(nn.Module):
    def __init__(self, w=WIDTHS):
        super().__init__()
        self.stem = nn.Sequential(
            nn.Conv2d(1, w[0], 6, 2, 2, bias=False), nn.BatchNorm2d(w[0]), nn.ReLU(inplace=True)
        )
        self.enter = nn.Sequential(
            conv(w[0], w[1], stride=2),
            conv(w[1], w[2], stride=2),
            Residual(w[2]),
            conv(w[2], w[3], stride=2),
        )
        self.where = nn.Parameter(torch.zeros(1, w[3], ROWS, COLUMNS))
        self.body = nn.Sequential(
            *[Residual(w[3], d) for d in (1, 2, 4)],
            Context(w[3]),
            *[Residual(w[3], d) for d in (8, 4, 2, 1)],
        )
        # of places right and down, along rows and columns of nodes
        self.slopes = nn.Conv2d(w[3], 4, 3, 1, 1)
        self.doubt = nn.Conv2d(w[3], 1, 3, 1, 1)
        nn.init.zeros_(self.slopes.weight)
        self.register_buffer("integral", integral(), persistent=False)

    def forward(self, x):
        x = self.body(self.enter(self.stem(x - 0.5)) + self.where)
        places = self.slopes(x).flatten(2).reshape(-1, 2, 2 * ROWS * COLUMNS) @ self.integral
        return torch.cat([places.reshape(-1, 2, ROWS, COLUMNS), self.doubt(x)], 1)


def integral():
    """The matrix that makes places of nodes, with a mean of zero, of their slopes along rows and
    along columns, by least squares: [2 N, N]. How text runs is seen where it stands, where it
    belongs only from afar; so slopes are what the network learns."""
    nodes = np.arange(ROWS * COLUMNS).reshape(ROWS, COLUMNS)
    pairs = [
        (nodes[:, :-1].ravel(), nodes[:, 1:].ravel(), 0),
        (nodes[:-1].ravel(), nodes[1:].ravel(), nodes.size),
    ]
    steps, means = [], []
    for a, b, first in pairs:
        k = np.arange(a.size)
        step, mean = np.zeros((a.size, nodes.size)), np.zeros((a.size, 2 * nodes.size))
        step[k, a], step[k, b] = -1, 1
        mean[k, first + a] = mean[k, first + b] = 0.5
        steps.append(step)
        means.append(mean)
    return torch.from_numpy(
        (np.linalg.pinv(np.concatenate(steps)) @ np.concatenate(means)).T.astype(np.float32)
    )


def load(path):
    state = torch.load(path, map_location="cpu")
    model = Flattener()
    model.load_state_dict(state["ema"])
    return model.eval(), state
