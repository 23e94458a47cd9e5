"""Measures the flattening network on held-out pages.

python3 -m training.flatten.measure build/flatten/weights.pt
"""

import argparse
import json

import numpy as np
import torch

from training.flatten.data import pages, sample
from training.flatten.net import COLUMNS, ROWS, STEP, load


def errors(out, grid, counts):
    """How far nodes are off, up to where the page lies and how large it is: float [N, 2, ROWS,
    COLUMNS] in steps; which count: float [N, 1, ...]."""
    m = counts[:, None].float()
    n = m.sum((2, 3), keepdim=True)
    e = (out[:, :2] - grid) * m
    e = (e - e.sum((2, 3), keepdim=True) / n) * m
    ys, xs = torch.meshgrid(
        torch.arange(ROWS, dtype=torch.float32),
        torch.arange(COLUMNS, dtype=torch.float32),
        indexing="ij",
    )
    at = torch.stack([xs, ys])[None].to(e)
    at = (at - (at * m).sum((2, 3), keepdim=True) / n) * m
    scale = (e * at).sum((1, 2, 3), keepdim=True) / (at * at).sum((1, 2, 3), keepdim=True)
    return e - scale * at, m


@torch.no_grad()
def measure(model, count, seed=1):
    """How far off the nodes are on held-out pages, in pixels of the input, before and after, and
    how many pages the network makes worse."""
    rng, library = np.random.default_rng(seed), pages("val")
    before, after = [], []
    for _ in range(count):
        picture, grid, counts = sample(rng, library)
        grid, counts = torch.from_numpy(grid)[None], torch.from_numpy(counts)[None]
        out = model(torch.from_numpy(picture)[None, None].float() / 255)
        for o, to in ((torch.zeros_like(out), before), (out, after)):
            e, m = errors(o, grid, counts)
            to.append(float(((e * e).sum(1, keepdim=True).sqrt() * m).sum() / m.sum()) * STEP)
    before, after = np.array(before), np.array(after)
    return {
        "pages": count,
        "before_px": round(before.mean(), 2),
        "after_px": round(after.mean(), 2),
        "worse": round(float((after > before).mean()), 3),
    }


def main():
    p = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    p.add_argument("checkpoint")
    p.add_argument("--count", default=400, type=int, help="pages")
    a = p.parse_args()
    print(json.dumps(measure(load(a.checkpoint)[0], a.count)))


if __name__ == "__main__":
    main()
