"""Trains the segmenter on the shards that training.data makes.

    python3 -m training.train --minutes 90 --out runs/a            CPU: one single-thread process a core
    python3 -m training.train --minutes 25 --out runs/b --device cuda --batch 64 --crop 448
    python3 -m training.train --init runs/a/last.pt ...            goes on from a checkpoint

Learning rate: linear warm-up, then cosine to zero over the minutes given, so the run ends trained whenever it ends.
Every few minutes the averaged weights are measured on validation samples and saved as OUT/last.pt.
"""

import argparse
import ctypes
import json
import math
import os
import signal
import time
from pathlib import Path

import numpy as np
import torch
import torch.distributed as dist
from torch.nn import functional as F

from . import net as N
from .data import Shards, augment

CLASS_WEIGHTS = [1.0, 2.0, 3.0, 3.0]
EMA = 0.998
WARMUP = 150
PR_SET_PDEATHSIG = 1  # prctl(2)


def loss_of(logits, label):
    """What decides is handwriting or not: weighted log loss and soft Dice (Milletari et al., 2016) of that question,
    with a smaller part for telling all four classes apart."""
    logits = logits.float()
    weight = torch.tensor(CLASS_WEIGHTS + [0.0], device=logits.device)
    known = (label != N.IGNORE).float()
    at = label.clamp(max=len(CLASS_WEIGHTS))
    w = weight[at]
    hand = (at == N.HAND) | (at == N.BOTH)
    log_p = logits.log_softmax(1)
    log_hand = torch.logsumexp(log_p[:, [N.HAND, N.BOTH]], 1)
    log_rest = torch.logsumexp(log_p[:, [N.PAPER, N.PRINT]], 1)
    decision = -(w * torch.where(hand, log_hand, log_rest)).sum() / w.sum()
    p = log_hand.exp() * known
    t = hand.float()
    dice = 1 - (2 * (p * t).sum() + 50) / (p.sum() + t.sum() + 50)
    classes = F.cross_entropy(logits, label, weight[:-1], ignore_index=N.IGNORE)
    return decision + 0.4 * dice + 0.4 * classes


def batch_of(rng, shards, n, size):
    images, labels = zip(*(augment(rng, *shards.crop(int(rng.integers(len(shards)))), size) for _ in range(n)))
    x = torch.from_numpy(np.ascontiguousarray(np.stack(images).transpose(0, 3, 1, 2)))
    return x.contiguous(memory_format=torch.channels_last), torch.from_numpy(np.stack(labels).astype(np.int64))


@torch.no_grad()
def measure(model, shards, count=160, size=416, device="cpu", half=True):
    """Figures on validation samples: IoU, handwriting missed, print taken for handwriting (shares of pixels)."""
    model.eval()
    confusion = np.zeros((4, 4))
    for i in range(0, min(count, len(shards)), 4):
        pairs = [shards.crop(j) for j in range(i, min(i + 4, len(shards)))]
        x = torch.from_numpy(np.stack([a[:size, :size] for a, _ in pairs]).astype(np.float32) / 255).permute(0, 3, 1, 2)
        y = np.stack([b[:size, :size] for _, b in pairs])
        with torch.autocast(device, torch.bfloat16, enabled=half):
            guess = model(x.to(device).contiguous(memory_format=torch.channels_last)).argmax(1).cpu().numpy()
        known = y != N.IGNORE
        confusion += np.bincount(4 * y[known].astype(int) + guess[known], minlength=16).reshape(4, 4)
    hand, printed = [N.HAND, N.BOTH], [N.PRINT, N.BOTH]

    def iou(c):
        both = confusion[np.ix_(c, c)].sum()
        return both / (confusion[c].sum() + confusion[:, c].sum() - both)

    return {
        "hand_iou": round(iou(hand), 4), "print_iou": round(iou(printed), 4),
        "hand_missed": round(confusion[hand][:, [N.PAPER, N.PRINT]].sum() / confusion[hand].sum(), 4),
        "print_lost": round(confusion[printed][:, N.HAND].sum() / confusion[printed].sum(), 4),
    }


def average_gradients(model, world):
    grads = [p.grad for p in model.parameters()]
    flat = torch.cat([g.reshape(-1) for g in grads])
    dist.all_reduce(flat)
    at = 0
    for g in grads:
        g.copy_(flat[at:at + g.numel()].view_as(g) / world)
        at += g.numel()


def run(rank, world, a):
    torch.manual_seed(a.seed)
    if world > 1:  # ends with the process that started it
        ctypes.CDLL("libc.so.6").prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    if a.device == "cpu":
        torch.set_num_threads(1)
    if world > 1:
        os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(a.port))
        dist.init_process_group("gloo", rank=rank, world_size=world)
    model = N.Segmenter().to(a.device, memory_format=torch.channels_last)
    state = torch.load(a.init, map_location="cpu") if a.init else None
    if state:
        new = model.load_state_dict(state["ema"], strict=False).missing_keys
        if rank == 0 and new:
            print(f"not in {a.init}, so untrained: {', '.join(new)}", flush=True)
    ema = {k: v.detach().clone().float() for k, v in model.state_dict().items()}
    optimizer = torch.optim.AdamW(model.parameters(), a.rate, weight_decay=0.01)
    rng = np.random.default_rng([a.seed, rank, state["step"] if state else 0])
    train = Shards("train", rank, world)
    out = Path(a.out)
    out.mkdir(parents=True, exist_ok=True)
    started = saved = time.time()
    step, mean = 0, 0.0
    while True:
        past = (time.time() - started) / 60 / a.minutes
        if world > 1:  # all processes stop, and cool, at the same step
            shared = torch.tensor([past])
            dist.broadcast(shared, 0)
            past = shared.item()
        if past >= 1:
            break
        for g in optimizer.param_groups:
            g["lr"] = a.rate * min(1, (step + 1) / WARMUP) * max(0.5 * (1 + math.cos(math.pi * past)), 0.01)
        x, y = batch_of(rng, train, a.batch, a.crop)
        model.train()
        with torch.autocast(a.device, torch.bfloat16):
            logits = model(x.to(a.device))
        loss = loss_of(logits, y.to(a.device))
        optimizer.zero_grad()
        loss.backward()
        if world > 1:
            average_gradients(model, world)
        torch.nn.utils.clip_grad_norm_(model.parameters(), 2.0)
        optimizer.step()
        step += 1
        decay = min(EMA, (1 + step) / (10 + step))
        with torch.no_grad():
            for k, v in model.state_dict().items():
                ema[k].mul_(decay).add_(v.float(), alpha=1 - decay)
        mean += (loss.item() - mean) * max(0.01, 1 / step)
        if step % 100 == 0:
            train.refresh()
            if rank == 0:
                minutes = (time.time() - started) / 60
                print(f"{minutes:6.1f} min  step {step}  loss {mean:.4f}  {step * a.batch * world / minutes / 60:.1f} crops/s  pool {len(train)}", flush=True)
        if rank == 0 and time.time() - saved > 60 * a.every:
            save(out, ema, step, a, started)
            saved = time.time()
    if rank == 0:
        save(out, ema, step, a, started, count=480)


def save(out, ema, step, a, started, count=160):
    model = N.Segmenter()
    model.load_state_dict(ema)
    model = model.to(a.device, memory_format=torch.channels_last)
    metrics = measure(model, Shards("val"), count, device=a.device)
    minutes = round((time.time() - started) / 60, 1)
    print(f"{minutes:6.1f} min  step {step}  {json.dumps(metrics)}", flush=True)
    state = {"ema": {k: v.cpu() for k, v in ema.items()}, "step": step, "minutes": minutes, "version": a.version, "metrics": metrics}
    torch.save(state, out / "last.tmp")
    os.replace(out / "last.tmp", out / "last.pt")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--out", required=True)
    p.add_argument("--init")
    p.add_argument("--minutes", default=60, type=float)
    p.add_argument("--every", default=6, type=float, help="minutes between checkpoints")
    p.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    p.add_argument("--processes", default=2, type=int, help="on the CPU")
    p.add_argument("--batch", default=6, type=int, help="samples a process and step")
    p.add_argument("--crop", default=384, type=int)
    p.add_argument("--rate", default=2e-3, type=float)
    p.add_argument("--seed", default=1, type=int)
    p.add_argument("--port", default=29511, type=int)
    p.add_argument("--version", default=time.strftime("%Y-%m-%d"))
    a = p.parse_args()
    world = a.processes if a.device == "cpu" else 1
    if world > 1:
        os.environ.setdefault("OMP_NUM_THREADS", "1")
        os.environ.setdefault("OMP_WAIT_POLICY", "passive")
        torch.multiprocessing.spawn(run, (world, a), world)
    else:
        run(0, 1, a)


if __name__ == "__main__":
    main()
