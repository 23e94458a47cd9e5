"""Trains the segmenter and its overview on real pages (training.real) and on composed ones (training.data).

    python3 -m training.train --minutes 90 --out runs/a            CPU: one single-thread process a core
    python3 -m training.train --minutes 25 --out runs/b --device cuda --pages 16 --windows 4 --half
    python3 -m training.train --init runs/a/last.pt ...            goes on from a checkpoint

Learning rate: linear warm-up, then cosine to zero over the minutes given, so the run ends trained whenever it ends.
Every few minutes the averaged weights are measured on validation samples and saved as OUT/last.pt, and as OUT/best.pt
where they miss less handwriting than before.
"""

import argparse
import ctypes
import json
import math
import os
import shutil
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import cv2
import numpy as np
import torch
import torch.distributed as dist
from torch.nn import functional as F

from . import net as N
from . import real, views
from .data import Shards

CLASS_WEIGHTS = [1.0, 2.0, 3.0, 3.0, 3.0]  # of the classes and of net.WRITTEN
HANDS = [N.HAND, N.BOTH, N.WRITTEN]
OVERVIEW_WEIGHT = 0.3
BLIND_SHARE = 0.1  # of steps in which the windows are judged without the page, so that they are looked at too
REAL_SHARE = 0.75  # of pages, where there are real and composed ones
WRITTEN_SHARE = 0.55  # of real pages
LAID_SHARE = 0.6  # of real pages nobody wrote on that get another page's writing
LAID_OVER_SHARE = 0.3  # of real pages with writing that get more
SHOWN = {real.SHEET: 0.12, 3: 0.5}  # how often a page is shown whose labels are trusted little, against others
LOOK_AGAIN = 120  # seconds
EMA = 0.998
WARMUP = 100
BOUNDS = np.linspace(-6, 6, 121)  # of log-odds
ALIKE = 0.02  # share of print lost
PR_SET_PDEATHSIG = 1  # prctl(2)


def loss_of(logits, label):
    """What decides is handwriting or not: weighted log loss and soft Dice (Milletari et al., 2016) of that question,
    with a smaller part for telling all four classes apart."""
    logits = logits.float()
    weight = torch.tensor(CLASS_WEIGHTS + [0.0], device=logits.device)
    known = (label != N.IGNORE).float()
    at = label.clamp(max=len(CLASS_WEIGHTS))
    w = weight[at]
    hand = (at == N.HAND) | (at == N.BOTH) | (at == N.WRITTEN)
    log_p = logits.log_softmax(1)
    log_hand = torch.logsumexp(log_p[:, [N.HAND, N.BOTH]], 1)
    log_rest = torch.logsumexp(log_p[:, [N.PAPER, N.PRINT]], 1)
    decision = -(w * torch.where(hand, log_hand, log_rest)).sum() / w.sum().clamp(min=1)
    p = log_hand.exp() * known
    t = hand.float()
    dice = 1 - (2 * (p * t).sum() + 50) / (p.sum() + t.sum() + 50)
    five = torch.cat([log_p, log_hand[:, None]], 1)
    classes = -(w * five.gather(1, at.clamp(max=N.WRITTEN)[:, None])[:, 0]).sum() / w.sum().clamp(min=1)
    return decision + 0.4 * dice + 0.4 * classes


def overview_loss(logits, present):
    known = present >= 0
    loss = F.binary_cross_entropy_with_logits(logits.float(), present.clamp(min=0), reduction="none")
    return (loss * known).sum() / known.sum().clamp(min=1)


class Material:
    """Pages to train on: real ones and composed ones."""

    def __init__(self, part=0, parts=1):
        sources = real.sources("train")
        self.written = [s for s in sources if s.hand > 0]
        self.clean = [s for s in sources if s.hand == 0]
        self.odds = np.array([SHOWN.get(s.trust, 1) for s in self.written])
        self.shards, self.looked = Shards("train", part, parts, needed=not sources), time.time()

    def page(self, rng):
        if self.written and (not len(self.shards) or rng.random() < REAL_SHARE):
            if rng.random() < WRITTEN_SHARE:
                return views.real_page(rng, self.hand(rng), self.hand(rng) if rng.random() < LAID_OVER_SHARE else None)
            clean = self.clean[int(rng.integers(len(self.clean)))]
            return views.real_page(rng, clean, self.hand(rng) if rng.random() < LAID_SHARE else None)
        image, label = self.shards.crop(int(rng.integers(len(self.shards))))
        return views.composed_page(rng, image, label)

    def hand(self, rng):
        return self.written[int(rng.choice(len(self.written), p=self.odds / self.odds.sum()))]

    def batch(self, rng, pages, windows, size):
        if time.time() - self.looked > LOOK_AGAIN:  # shards are made while the network trains
            self.shards.refresh()
            self.looked = time.time()
        return batch_of([views.view(rng, *self.page(rng), windows, size) for _ in range(pages)])


def batch_of(seen):
    join = lambda name, together: torch.from_numpy(together([getattr(v, name) for v in seen]))
    image = join("windows", np.concatenate).contiguous(memory_format=torch.channels_last)
    page = join("overview", np.stack).contiguous(memory_format=torch.channels_last)
    return image, page, join("places", np.concatenate), join("labels", np.concatenate), join("present", np.stack)


@torch.no_grad()
def logits_of(model, image, tile=640, margin=32):
    """The logits of a whole page, [4, H, W], tile by tile."""
    h, w = image.shape[:2]
    overview = torch.from_numpy(views.overview_of(image))[None].contiguous(memory_format=torch.channels_last)
    context, scale = model.overview(overview), views.overview_scale(h, w)
    padded = cv2.copyMakeBorder(image, margin, tile, margin, tile, cv2.BORDER_REFLECT_101)
    out = np.zeros((len(N.CLASSES), h, w), np.float32)
    step = tile - 2 * margin
    for y in range(0, h, step):
        for x in range(0, w, step):
            window = torch.from_numpy(views.as_input(padded[y:y + tile, x:x + tile]))[None]
            places = torch.from_numpy(views.places_of(x - margin, y - margin, tile, scale))[None]
            seen = N.seen_by(context, places)
            logits = model.segmenter(window.contiguous(memory_format=torch.channels_last), seen)[0].numpy()
            part = logits[:, margin:margin + min(step, h - y), margin:margin + min(step, w - x)]
            out[:, y:y + step, x:x + step] = part
    return out


def figures_of(pairs):
    """Of pages (logits, label): handwriting missed and print lost, shares of pixels, the mean over pages with some; and
    what is missed with the bound at which so much print is lost as ALIKE, so that trainings compare."""
    missed, lost = [], []  # by bound
    for logits, label in pairs:
        odds = np.logaddexp(logits[N.HAND], logits[N.BOTH]) - np.logaddexp(logits[N.PAPER], logits[N.PRINT])
        written, printed = np.isin(label, HANDS), label == N.PRINT
        if written.any():
            missed.append(np.searchsorted(np.sort(odds[written]), BOUNDS, side="right") / written.sum())
        if printed.any():
            lost.append(1 - np.searchsorted(np.sort(odds[printed]), BOUNDS, side="right") / printed.sum())
    if not missed or not lost:
        return {}
    missed, lost = np.mean(missed, 0), np.mean(lost, 0)
    even, alike = len(BOUNDS) // 2, int(np.argmax(lost <= ALIKE))
    figures = {"hand_missed": missed[even], "print_lost": lost[even], "missed_alike": missed[alike]}
    return {name: round(float(value), 4) for name, value in figures.items()}


def measure(model, count=14):
    """Figures on pages held out, real ones and composed ones, by themselves."""
    model.eval()
    sources = real.sources("val")
    written = [s for s in sources if s.hand > 0 and s.trust > real.SHEET]
    clean = [s for s in sources if s.hand == 0]
    chosen = written + clean[::max(1, len(clean) // max(1, count - len(written)))]
    shards = Shards("val", needed=False)
    composed = [shards.crop(i) for i in range(min(count, len(shards)))]
    out = {}
    if chosen:
        out["real"] = figures_of((logits_of(model, image), label) for image, label in map(views.whole_page, chosen))
    if composed:
        out["composed"] = figures_of((logits_of(model, views.expose(image)), label) for image, label in composed)
    return out


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
    cv2.setNumThreads(1)
    if a.device == "cpu":
        torch.set_num_threads(1)
    if world > 1:
        os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(a.port))
        dist.init_process_group("gloo", rank=rank, world_size=world)
    model = N.Eye().to(a.device, memory_format=torch.channels_last)
    state = torch.load(a.init, map_location="cpu") if a.init else None
    if state:
        new = model.load_state_dict(state["ema"], strict=False).missing_keys
        if rank == 0 and new:
            print(f"{len(new)} tensors are not in {a.init}, so untrained", flush=True)
    ema = {k: v.detach().clone().float() for k, v in model.state_dict().items()}
    optimizer = torch.optim.AdamW(model.parameters(), a.rate, weight_decay=0.01)
    rng = np.random.default_rng([a.seed, rank, state["step"] if state else 0])
    material = Material(rank, world)
    out = Path(a.out)
    out.mkdir(parents=True, exist_ok=True)
    started = saved = time.time()
    step, mean, best = 0, 0.0, None
    ahead = ThreadPoolExecutor(1)  # a batch is made while the one before is learned from
    make = lambda: material.batch(rng, a.pages, a.windows, a.crop)
    batch = ahead.submit(make)
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
        image, page, places, label, present = (t.to(a.device) for t in batch.result())
        batch = ahead.submit(make)
        blind = torch.rand(()).item() < BLIND_SHARE
        model.train()
        with torch.autocast(a.device, torch.bfloat16, enabled=a.half):
            logits, told = model(image, page, places, blind)
        loss = loss_of(logits, label) + OVERVIEW_WEIGHT * overview_loss(told, present)
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
            if rank == 0:
                minutes = (time.time() - started) / 60
                rate = step * a.pages * a.windows * world / minutes / 60
                print(f"{minutes:6.1f} min  step {step}  loss {mean:.4f}  {rate:.1f} windows/s  composed {len(material.shards)}", flush=True)
        if rank == 0 and time.time() - saved > 60 * a.every:
            best = save(out, ema, step, a, started, best)
            saved = time.time()
    if rank == 0:
        save(out, ema, step, a, started, best)


def save(out, ema, step, a, started, best):
    """Writes the averaged weights; returns what the best so far miss on real pages, or else composed ones."""
    model = N.Eye()
    model.load_state_dict(ema)
    metrics = measure(model.to(memory_format=torch.channels_last))
    minutes = round((time.time() - started) / 60, 1)
    print(f"{minutes:6.1f} min  step {step}  {json.dumps(metrics)}", flush=True)
    state = {"ema": {k: v.cpu() for k, v in ema.items()}, "step": step, "minutes": minutes, "version": a.version, "metrics": metrics}
    torch.save(state, out / "last.tmp")
    os.replace(out / "last.tmp", out / "last.pt")
    missed = (metrics.get("real") or metrics.get("composed") or {}).get("missed_alike")
    if missed is not None and (best is None or missed < best):
        shutil.copy(out / "last.pt", out / "best.pt")
        return missed
    return best


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--out", required=True)
    p.add_argument("--init")
    p.add_argument("--minutes", default=60, type=float)
    p.add_argument("--every", default=30, type=float, help="minutes between checkpoints")
    p.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    p.add_argument("--processes", default=2, type=int, help="on the CPU")
    p.add_argument("--pages", default=2, type=int, help="a process and step")
    p.add_argument("--windows", default=3, type=int, help="of each page")
    p.add_argument("--crop", default=384, type=int, help="pixels of a window's side")
    p.add_argument("--rate", default=1e-3, type=float)
    p.add_argument("--half", action="store_true", help="bfloat16: measure first, without AVX-512 BF16 it is far slower")
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
