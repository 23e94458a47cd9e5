"""Trains the judge, as training.common.loop says.

python3 -m training.judge.train training/recipes/judge.toml REGIONS --val VAL --out build/judge
"""

import numpy as np
import torch
from torch.nn import functional as F

from training.common import loop
from training.judge.data import pages_of
from training.judge.net import HAND, PRINT, SUREST_HAND, Judge

PRINT_WEIGHT = 3.0  # of print lost against writing left
PAGE_WEIGHT = 0.3  # of whether anybody wrote on the page
CLEAN_WEIGHT = 0.1  # of the region most taken for writing on a page that nobody wrote on


def loss_of(odds, page, known):
    """Every page counts the same, and on it every pixel of ink. Two things count beside that:
    whether somebody wrote on the page and, if nobody did, the region most taken for writing, since
    one small region spoils a clean page."""
    written = (known[:, 1].sum() > 0).float()
    loss = F.binary_cross_entropy_with_logits(
        odds[:, None].expand(-1, 2), torch.tensor([0.0, 1.0]).expand(len(odds), 2), reduction="none"
    )
    weight = known / known.sum(0, keepdim=True).clamp(min=300)
    of_page = F.binary_cross_entropy_with_logits(page[0], written)
    taken = (1 - written) * F.softplus(odds.max())
    return (
        (loss * weight).sum(0) @ torch.tensor([PRINT_WEIGHT, 1.0])
        + PAGE_WEIGHT * of_page
        + CLEAN_WEIGHT * taken
    )


def disturbed(rng, regions):
    """As the segmenter might have said: more or less sure, and wrong of some regions."""
    regions = regions.clone()
    n = len(regions)
    noise = lambda width: torch.from_numpy(rng.normal(0, width, n).astype(np.float32))
    both = slice(HAND, PRINT + 1)
    regions[:, both] *= float(np.exp(rng.normal(0, 0.15)))
    off = noise(0.1) + float(rng.normal(0, 0.05))
    regions[:, HAND] += off
    regions[:, SUREST_HAND] += off / 2
    regions[:, PRINT] += noise(0.1)
    return regions


@torch.no_grad()
def figures(judge, pages):
    """Handwriting left and print lost, per cent of known pixels, the means over pages; the share of
    pages that nobody wrote on of which nothing is taken."""
    left, lost, untouched = [], [], []
    for regions, near, bonds, known in pages:
        hand = (judge(regions, near, bonds) if judge else regions[:, HAND]) > 0
        gone = known[hand].sum(0)
        printed, written = known.sum(0)
        if printed:
            lost.append(100 * float(gone[0] / printed))
        if written:
            left.append(100 * (1 - float(gone[1] / written)))
        else:
            untouched.append(not hand.any())
    return (
        f"left {np.mean(left):.2f}  lost {np.mean(lost):.2f}  "
        f"untouched {sum(untouched)} of {len(untouched)}"
    )


def train(a):
    torch.manual_seed(a.recipe.seed)
    torch.set_num_threads(a.threads)
    pages, val = [p for f in a.regions for p in pages_of(f)], pages_of(a.val)
    print(
        f"{len(pages)} pages to learn from, {len(val)} held out; the segmenter's own word: "
        f"{figures(None, pages)}; held out {figures(None, val)}",
        flush=True,
    )
    batch, steps = a.recipe.batch, a.recipe.epochs * len(pages) // a.recipe.batch
    run = loop.begun(a, Judge(), steps=steps, name="state")
    averaged = run.mean.module

    def learn(_, rng):
        total = 0.0
        for i in rng.integers(0, len(pages), batch):
            regions, near, bonds, known = pages[i]
            loss = loss_of(*run.model.told(disturbed(rng, regions), near, bonds), known) / batch
            loss.backward()
            total += loss.item()
        return [total]

    def tell(means):
        told, held = figures(averaged, pages[:200]), figures(averaged, val)
        return f"of {steps}  loss {means[0]:.4f}  {told}  held out {held}"

    run.go(learn, tell, max(1, steps // 10))


def main():
    p = loop.arguments(__doc__)
    p.add_argument("regions", nargs="+")
    p.add_argument("--val", required=True)
    train(p.parse_args())


if __name__ == "__main__":
    main()
