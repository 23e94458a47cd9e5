"""Trains the orientation network.

python3 -m training.orient.train --minutes 60 --out build/orient
"""

import argparse
import math
import time
from pathlib import Path

import numpy as np
import torch
from torch.nn import functional as F

from training.common.paths import data_root
from training.orient.data import Pieces
from training.orient.net import Counted, Orienter, logits


def train(a):
    torch.set_num_threads(a.threads)
    torch.manual_seed(a.seed)
    rng = np.random.default_rng(a.seed)
    model = Orienter().to(memory_format=torch.channels_last)
    if a.init:
        model.load_state_dict(torch.load(a.init, map_location="cpu")["ema"])
    counted = Counted(model)
    optimizer = torch.optim.AdamW(model.parameters(), a.rate, weight_decay=0.01)
    ema = {k: v.detach().clone().float() for k, v in model.state_dict().items()}
    pieces = Pieces(a.pieces)
    step, mean, started = 0, 0.0, time.time()
    out = Path(a.out)
    out.mkdir(parents=True, exist_ok=True)
    while (past := (time.time() - started) / 60 / a.minutes) < 1:
        for g in optimizer.param_groups:
            g["lr"] = (
                a.rate * min(1, (step + 1) / 100) * max(0.5 * (1 + math.cos(math.pi * past)), 0.01)
            )
        images, turns = pieces.batch(rng, a.batch)  # classes' probabilities
        x = images.contiguous(memory_format=torch.channels_last)
        with torch.autocast("cpu", torch.bfloat16, enabled=a.half):
            sums = counted(x)
        loss = F.cross_entropy(logits(sums.float()), turns)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 2.0)
        optimizer.step()
        step += 1
        decay = min(0.998, (1 + step) / (10 + step))
        with torch.no_grad():
            for k, v in model.state_dict().items():
                ema[k].mul_(decay).add_(v.float(), alpha=1 - decay)
        mean += (loss.item() - mean) * max(0.01, 1 / step)
        if step % 50 == 0:
            print(
                f"{(time.time() - started) / 60:5.1f} min  step {step}  loss {mean:.4f}", flush=True
            )
            pieces.refresh()
            torch.save(
                {"ema": ema, "step": step, "version": time.strftime("%Y-%m-%d")}, out / "last.pt"
            )
    torch.save({"ema": ema, "step": step, "version": time.strftime("%Y-%m-%d")}, out / "last.pt")


def main():
    p = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    p.add_argument("--out", default="build/orient")
    p.add_argument("--pieces", default=data_root() / "orient", type=Path)
    p.add_argument("--init", help="a checkpoint to go on from")
    p.add_argument("--threads", default=1, type=int)
    p.add_argument("--minutes", default=20, type=float)
    p.add_argument("--rate", default=3e-3, type=float)
    p.add_argument("--batch", default=64, type=int)
    p.add_argument(
        "--half",
        action="store_true",
        help="compute in bfloat16: ten times slower where the processor has no AVX-512 BF16",
    )
    p.add_argument("--seed", default=1, type=int)
    train(p.parse_args())


if __name__ == "__main__":
    main()
