"""Trains the flattening network.

python3 -m training.flatten.train --minutes 60 --out build/flatten
"""

import argparse
import math
import multiprocessing
import time
from pathlib import Path

import numpy as np
import torch

from training.flatten.data import maker, mirrored
from training.flatten.measure import errors
from training.flatten.net import STEP, Flattener


def loss_of(out, grid, counts):
    e, m = errors(out, grid, counts)
    far = (e * e).sum(1, keepdim=True).add(1e-6).sqrt()
    n = m.sum()
    place = (far * m).sum() / n
    shape = (
        sum(
            (
                torch.diff(e, dim=d).abs()
                * torch.minimum(*(m.narrow(d, k, m.shape[d] - 1) for k in (0, 1)))
            ).sum()
            for d in (2, 3)
        )
        / n
    )
    b = out[:, 2:].clamp(-6, 3)
    doubt = ((far.detach() * torch.exp(-b) + b) * m).sum() / n
    return place + 3 * shape + 0.1 * doubt, place, shape


def train(a):
    torch.set_num_threads(a.threads)
    torch.manual_seed(a.seed)
    queue = multiprocessing.Queue(8)
    makers = [
        multiprocessing.Process(
            target=maker, args=([a.seed, k], "train", a.batch, queue), daemon=True
        )
        for k in range(a.processes)
    ]
    for m in makers:
        m.start()
    model = Flattener().to(memory_format=torch.channels_last)
    if a.init:
        model.load_state_dict(torch.load(a.init, map_location="cpu")["ema"])
    optimizer = torch.optim.AdamW(model.parameters(), a.rate, weight_decay=0.01)
    ema = {k: v.detach().clone().float() for k, v in model.state_dict().items()}
    out = Path(a.out)
    out.mkdir(parents=True, exist_ok=True)
    step, means, batch = 0, np.zeros(3), None
    started = time.time()
    while (past := (time.time() - started) / 60 / a.minutes) < 1:
        for g in optimizer.param_groups:
            g["lr"] = (
                a.rate * min(1, (step + 1) / 100) * max(0.5 * (1 + math.cos(math.pi * past)), 0.01)
            )
        # samples are dear
        batch = mirrored(*batch) if step % 2 else [torch.from_numpy(v) for v in queue.get()]
        pictures, grid, counts = batch
        x = (pictures[:, None].float() / 255).contiguous(memory_format=torch.channels_last)
        with torch.autocast("cpu", torch.bfloat16):
            predicted = model(x)
        losses = loss_of(predicted.float(), grid, counts)
        optimizer.zero_grad()
        losses[0].backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 2.0)
        optimizer.step()
        step += 1
        decay = min(0.998, (1 + step) / (10 + step))
        with torch.no_grad():
            for k, v in model.state_dict().items():
                ema[k].mul_(decay).add_(v.float(), alpha=1 - decay)
        means += (np.array([l.item() for l in losses]) - means) * max(0.003, 1 / step)
        if step % 200 == 0:
            print(
                f"{(time.time() - started) / 60:5.1f} min  step {step}  loss {means[0]:.4f}  "
                f"off {means[1] * STEP:.2f} px  shape {means[2] * STEP:.3f} px",
                flush=True,
            )
            torch.save(
                {"ema": ema, "step": step, "version": time.strftime("%Y-%m-%d")}, out / "last.pt"
            )
    torch.save({"ema": ema, "step": step, "version": time.strftime("%Y-%m-%d")}, out / "last.pt")
    for m in makers:
        m.terminate()


def main():
    p = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    p.add_argument("--out", default="build/flatten")
    p.add_argument("--init", help="a checkpoint to go on from")
    p.add_argument("--threads", default=2, type=int)
    p.add_argument("--processes", default=1, type=int, help="that make samples")
    p.add_argument("--minutes", default=20, type=float)
    p.add_argument("--rate", default=1.5e-3, type=float)
    p.add_argument("--batch", default=8, type=int)
    p.add_argument("--seed", default=1, type=int)
    train(p.parse_args())


if __name__ == "__main__":
    main()
