"""Trains the orientation network, as training.common.loop says.

    python3 -m training.orient.train training/recipes/orient.toml --out build/orient [--resume]

Pieces that are made meanwhile are learned from, too.
"""

from pathlib import Path

import torch
from torch.nn import functional as F

from training.common import loop
from training.common.paths import data_root
from training.orient.data import Pieces
from training.orient.net import Counted, Orienter, logits

TOLD = 50  # steps from line to line


def train(a):
    torch.set_num_threads(a.threads)
    torch.manual_seed(a.recipe.seed)
    run = loop.begun(a, Orienter().to(memory_format=torch.channels_last))
    counted, pieces = Counted(run.model), Pieces(a.pieces)

    def learn(step, rng):
        if step % TOLD == 0:
            pieces.refresh()
        images, probabilities = pieces.batch(rng, a.recipe.batch)
        x = images.contiguous(memory_format=torch.channels_last)
        with torch.autocast("cpu", torch.bfloat16, enabled=a.half):
            sums = counted(x)
        loss = F.cross_entropy(logits(sums.float()), probabilities)
        loss.backward()
        return [loss.item()]

    run.go(learn, lambda means: f"loss {means[0]:.4f}", TOLD)


def main():
    p = loop.arguments(__doc__)
    p.add_argument("--pieces", default=data_root() / "orient", type=Path)
    p.add_argument(
        "--half",
        action="store_true",
        help="compute in bfloat16: ten times slower where the processor has no AVX-512 BF16",
    )
    train(p.parse_args())


if __name__ == "__main__":
    main()
