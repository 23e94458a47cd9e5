"""Trains the judge.

python3 -m training.judge.train REGIONS --val REGIONS --out OUT.pt
"""

import argparse
import time

import numpy as np
import torch
from torch.nn import functional as F

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
    torch.manual_seed(a.seed)
    torch.set_num_threads(a.threads)
    rng = np.random.default_rng(a.seed)
    pages, val = [p for f in a.regions for p in pages_of(f)], pages_of(a.val)
    print(
        f"{len(pages)} pages to learn from, {len(val)} held out; the segmenter's own word: "
        f"{figures(None, pages)}; held out {figures(None, val)}",
        flush=True,
    )
    judge = Judge()
    if a.init:
        judge.load_state_dict(torch.load(a.init)["state"])
    mean = {k: v.clone() for k, v in judge.state_dict().items()}
    optimizer = torch.optim.AdamW(judge.parameters(), a.rate, weight_decay=0.02)
    steps = a.epochs * len(pages) // a.batch
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, a.rate, steps + 1, pct_start=0.05)
    started, total = time.time(), 0.0
    for step in range(steps):
        optimizer.zero_grad()
        for i in rng.integers(0, len(pages), a.batch):
            regions, near, bonds, known = pages[i]
            loss = loss_of(*judge.told(disturbed(rng, regions), near, bonds), known) / a.batch
            loss.backward()
            total += loss.item()
        torch.nn.utils.clip_grad_norm_(judge.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        with torch.no_grad():
            for k, v in judge.state_dict().items():
                mean[k].lerp_(v, 1 - min(0.995, (1 + step) / (10 + step)))
        if (step + 1) % max(1, steps // 10) == 0:
            averaged = Judge()
            averaged.load_state_dict(mean)
            print(
                f"{(time.time() - started) / 60:5.1f} min  step {step + 1} of {steps}  "
                f"loss {total / max(1, steps // 10):.4f}  "
                f"{figures(averaged, pages[:200])}  held out {figures(averaged, val)}",
                flush=True,
            )
            total = 0.0
    torch.save({"state": mean, "version": time.strftime("%Y-%m-%d")}, a.out)


def main():
    p = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    p.add_argument("regions", nargs="+")
    p.add_argument("--val", required=True)
    p.add_argument("--out", required=True)
    p.add_argument("--init", help="goes on from a checkpoint")
    p.add_argument("--epochs", default=12, type=int)
    p.add_argument("--batch", default=8, type=int, help="pages")
    p.add_argument("--rate", default=3e-3, type=float)
    p.add_argument("--threads", default=2, type=int)
    p.add_argument("--seed", default=1, type=int)
    train(p.parse_args())


if __name__ == "__main__":
    main()
