"""Trains the segmenter and its overview on real pages (training.common.real) and on composed ones
(training.common.data).

    python3 -m training.segment.train RECIPE --out build/run            begins
    python3 -m training.segment.train RECIPE --out build/run --resume   goes on where it was
        stopped, or begins
    python3 -m training.segment.train RECIPE --out build/run --branch build/a --windows 30000

A run can be stopped at any second. Every few minutes its state is written: weights, averaged
weights, optimizer, windows seen, and what the choice of pages depends on. All randomness comes from
the seed and the number of the step, so it goes on as if it had never been stopped. OUT/curve.jsonl
tells by windows seen the loss, and what held-out pages gave; OUT/weights.pt holds the averaged
weights in half precision.

A branch takes the run's state, as it is, and lets the rates fall to zero over so many windows, for
weights to ship while the run itself goes on.
"""

import argparse
import ctypes
import json
import os
import signal
import sys
import time
import tomllib
from dataclasses import dataclass, field
from pathlib import Path

import cv2
import numpy as np
import torch
import torch.distributed as dist
from torch.nn import functional as F
from torch.optim.swa_utils import AveragedModel

from training.common import loop, pixel
from training.segment import net as N
from training.segment.data import Ahead, Hardness
from training.segment.measure import measure

CLASS_WEIGHTS = [1.0, 2.0, 3.0, 3.0, 3.0, 2.0]  # of the classes, of pixel.WRITTEN and PRINTED
UNDER_WEIGHT = 0.5  # of what lies under writing
CROSSED = 3.0  # how much more a pixel of print under writing counts there than one of paper
OVERVIEW_WEIGHT = 0.3
CURVE_STEPS = 50  # a line of the curve
PR_SET_PDEATHSIG = 1  # prctl(2)


@dataclass
class Recipe:
    """What a run is; recipes/segment.toml says what each value means."""

    begin: str
    seed: int
    crop: int
    pages: int
    windows: int
    overview: float
    segmenter: float
    under: float
    warmup: int
    constant: int
    decay: int
    averaging: float
    blind: float
    shares: dict = field(default_factory=dict)


def recipe_of(path):
    return Recipe(**tomllib.loads(Path(path).read_text()))


def loss_of(logits, label):
    """The loss, and its first part for each window by itself. What decides is handwriting or not:
    weighted log loss and soft Dice (Milletari et al., 2016) of that question, with a smaller part
    for telling all four classes apart, and another for whether print lies under writing."""
    logits = logits.float()
    weight = torch.tensor(CLASS_WEIGHTS + [0.0], device=logits.device)
    at = label.clamp(max=len(CLASS_WEIGHTS))
    known = ((label != pixel.IGNORE) & (at != pixel.PRINTED)).float()
    w = weight[at] * known
    hand = (at == pixel.HAND) | (at == pixel.BOTH) | (at == pixel.WRITTEN)
    log_p = logits.log_softmax(1)
    log_hand = torch.logsumexp(log_p[:, [pixel.HAND, pixel.BOTH]], 1)
    log_rest = torch.logsumexp(log_p[:, [pixel.PAPER, pixel.PRINT]], 1)
    log_loss = -w * torch.where(hand, log_hand, log_rest)
    decision = log_loss.sum() / w.sum().clamp(min=1)
    p = log_hand.exp() * known
    t = hand.float()
    dice = 1 - (2 * (p * t).sum() + 50) / (p.sum() + t.sum() + 50)
    log_print = torch.logsumexp(log_p[:, [pixel.PRINT, pixel.BOTH]], 1)
    six = torch.cat([log_p, log_hand[:, None], log_print[:, None]], 1)
    told = -weight[at] * six.gather(1, at.clamp(max=pixel.PRINTED)[:, None])[:, 0]
    classes = told.sum() / weight[at].sum().clamp(min=1)
    under = under_loss(log_p - log_hand[:, None], at)
    each = log_loss.detach().sum((1, 2)) / w.sum((1, 2)).clamp(min=1)
    return decision + 0.4 * dice + 0.4 * classes + UNDER_WEIGHT * under, each


def under_loss(log_p, at):
    """Whether print lies under writing, of log probabilities given that there is writing. Asked by
    itself, since writing on bare paper is far more common, and what lies under a real page's is not
    known."""
    both, hand = (at == pixel.BOTH).float(), (at == pixel.HAND).float()
    loss = -CROSSED * both * log_p[:, pixel.BOTH] - hand * log_p[:, pixel.HAND]
    return loss.sum() / (CROSSED * both + hand).sum().clamp(min=1)


def overview_loss(logits, present):
    known = present >= 0
    loss = F.binary_cross_entropy_with_logits(
        logits.float(), present.clamp(min=0), reduction="none"
    )
    return (loss * known).sum() / known.sum().clamp(min=1)


def average_gradients(parameters, world):
    grads = [p.grad for p in parameters]
    flat = torch.cat([g.reshape(-1) for g in grads])
    dist.all_reduce(flat)
    at = 0
    for g in grads:
        g.copy_(flat[at : at + g.numel()].view_as(g) / world)
        at += g.numel()


class Run:
    """A training: what of it is written, and how it is begun and taken up again."""

    def __init__(self, recipe, out, ahead, device="cpu", half=False, rank=0, world=1):
        self.recipe, self.out, self.device, self.half = recipe, Path(out), device, half
        self.branch = False
        self.rank, self.world = rank, world
        self.ahead = ahead
        self.hardness = Hardness(len(ahead.material.sources), 1 + ahead.steps)
        torch.manual_seed(recipe.seed)
        self.model = N.Eye().to(device, memory_format=torch.channels_last)
        self.trained = self.groups()
        self.optimizer = torch.optim.AdamW(self.trained, weight_decay=0.01)
        self.mean = AveragedModel(self.model, multi_avg_fn=loop.averaging(recipe.averaging))
        self.windows, self.step, self.losses = 0, 0, []
        self.decay_from, self.decay = recipe.constant, recipe.decay

    def groups(self):
        """What is trained, by the recipe's rates. What has none stays as it is."""
        overview, segmenter = self.model.overview, self.model.segmenter
        under = list(segmenter.under.parameters())
        rest = set(segmenter.parameters()).difference(under)
        parts = {
            "overview": list(overview.parameters()),
            "segmenter": [p for p in segmenter.parameters() if p in rest],
            "under": under,
        }
        groups = []
        for name, found in parts.items():
            rate = getattr(self.recipe, name)
            for p in found:
                p.requires_grad_(rate > 0)
            if rate > 0:
                groups.append({"params": found, "lr": rate, "rate": rate})
        return groups

    def train(self):
        """Has the model learn; what is not trained keeps the statistics of its normalisations."""
        self.model.train()
        for module in self.model.modules():
            if not any(p.requires_grad for p in module.parameters()):
                module.eval()

    def begin(self):
        if self.recipe.begin:
            self.model.load_state_dict(torch.load(self.recipe.begin, map_location="cpu")["ema"])
        self.mean.module.load_state_dict(self.model.state_dict())

    def load(self, path):
        state = torch.load(path, map_location=self.device, weights_only=False)
        self.model.load_state_dict(state["model"])
        self.mean.load_state_dict(state["mean"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.windows, self.step, self.losses = state["windows"], state["step"], state["losses"]
        # else the pages are others now
        if len(state["hardness"]["loss"]) == len(self.hardness.loss):
            self.hardness.go_on(state["hardness"])

    def save(self):
        state = {
            "model": self.model.state_dict(),
            "mean": self.mean.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "windows": self.windows,
            "step": self.step,
            "losses": self.losses,
            "hardness": vars(self.hardness),
        }
        self.write("state.pt", state)

    def rate(self):
        """The share of the recipe's rates that the next step learns with."""
        begun = min(1, (self.windows + 1) / max(1, self.recipe.warmup))
        past = (self.windows - self.decay_from) / max(1, self.decay)
        return begun * (1 if past <= 0 else max(0.0, 1 - past))

    def blind(self):
        """Whether the next step is shown windows alone: alike in all processes."""
        return np.random.default_rng([self.recipe.seed, self.step]).random() < self.recipe.blind

    def learn(self, batch, sources):
        """A step. Returns its loss, the mean over the processes."""
        image, page = (N.as_input(pictures, self.device) for pictures in batch[:2])
        places, label, present = (torch.from_numpy(a).to(self.device) for a in batch[2:])
        label = label.long()
        for group in self.optimizer.param_groups:
            group["lr"] = group["rate"] * self.rate()
        self.train()
        with torch.autocast(self.device, torch.bfloat16, enabled=self.half):
            logits, told = self.model(image, page, places, self.blind())
        loss, each = loss_of(logits, label)
        if self.recipe.overview > 0:
            loss = loss + OVERVIEW_WEIGHT * overview_loss(told, present)
        self.optimizer.zero_grad()
        loss.backward()
        parameters = [p for group in self.trained for p in group["params"]]
        pages = each.reshape(len(sources), -1).mean(1)
        told = torch.stack([torch.tensor(sources, dtype=torch.float64), pages.double().cpu()])
        if self.world > 1:
            average_gradients(parameters, self.world)
            parts = [torch.empty_like(told) for _ in range(self.world)]
            dist.all_gather(parts, told)
            told = torch.cat(parts, 1)
        torch.nn.utils.clip_grad_norm_(parameters, 2.0)
        self.optimizer.step()
        self.mean.update_parameters(self.model)
        self.hardness.note(told[0].long().tolist(), told[1].tolist())
        self.step += 1
        self.windows += self.world * len(image)
        return float(told[1].mean())

    def ended(self):
        return self.windows >= self.decay_from + self.decay

    def go(self, every, measured):
        """Trains to the end. The state is written every so many seconds, figures are taken every so
        many windows."""
        self.out.mkdir(parents=True, exist_ok=True)
        if self.rank == 0:
            forget_after(self.out / "curve.jsonl", self.windows)
        for i, hard in enumerate(self.hardness.shown[:-1]):
            self.ahead.ask(self.step + i, hard)
        saved = told = time.monotonic()
        while not self.ended():
            before = self.windows
            self.ahead.ask(self.step + self.ahead.steps, self.hardness.shown[-1])
            self.losses.append(self.learn(*self.ahead.batch(self.step)))
            now = time.monotonic()
            if len(self.losses) == CURVE_STEPS:
                speed = CURVE_STEPS * (self.windows - before) / (now - told)
                self.note(loss=round(float(np.mean(self.losses)), 4), speed=round(speed, 2))
                self.losses, told = [], now
            due = self.ended() or before // measured < self.windows // measured
            if due:
                self.tell()
            if not self.branch and (due or now - saved > every):
                self.save()
                saved = time.monotonic()
        self.ahead.stop()

    def tell(self):
        """Figures of the averaged weights, and these weights."""
        figures = measure(self.mean.module, self.rank, self.world)
        self.note(**figures)
        weights = {
            k: v.half() if v.is_floating_point() else v
            for k, v in self.mean.module.state_dict().items()
        }
        self.write(
            "weights.pt",
            {
                "ema": weights,
                "windows": self.windows,
                "version": time.strftime("%Y-%m-%d"),
                "metrics": figures,
            },
        )

    def note(self, **what):
        if self.rank == 0:
            with open(self.out / "curve.jsonl", "a") as file:
                file.write(json.dumps({"windows": self.windows, **what}) + "\n")

    def write(self, name, state):
        if self.rank == 0:
            loop.write(self.out / name, state)


def forget_after(path, windows):
    """Takes the lines off a curve that were written after the state that a run goes on from."""
    if path.exists():
        lines = path.read_text().splitlines(keepends=True)
        path.write_text("".join(line for line in lines if json.loads(line)["windows"] <= windows))


def work(rank, world, a):
    if world > 1:  # ends with the process that started it
        ctypes.CDLL("libc.so.6").prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
        os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(a.port))
        dist.init_process_group("gloo", rank=rank, world_size=world)
    cv2.setNumThreads(1)
    if a.device == "cpu":
        torch.set_num_threads(1)
    recipe = recipe_of(a.recipe)
    ahead = Ahead(recipe, rank, world, a.makers)
    run = Run(recipe, a.branch or a.out, ahead, a.device, a.half, rank, world)
    state = Path(a.out) / "state.pt"
    if state.exists():
        run.load(state)
    else:
        run.begin()
    if a.branch:
        run.branch, run.decay_from, run.decay = True, run.windows, a.windows
    run.go(60 * a.every, a.measure)


def main():
    p = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    p.add_argument("recipe")
    p.add_argument("--out", required=True)
    p.add_argument("--resume", action="store_true")
    p.add_argument("--branch", help="a folder for weights whose rates fall from here")
    p.add_argument("--windows", default=30_000, type=int, help="until the branch ends")
    p.add_argument("--every", default=3, type=float, help="minutes from state to state")
    p.add_argument("--measure", default=10_000, type=int, help="windows from figures to figures")
    p.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    p.add_argument(
        "--half",
        action="store_true",
        help="bfloat16: measure first, without AVX-512 BF16 it is far slower",
    )
    p.add_argument("--processes", default=2, type=int, help="on the CPU")
    p.add_argument(
        "--makers",
        default=0,
        type=int,
        help="processes that make pages, beside a GPU; on the CPU a thread is enough",
    )
    p.add_argument("--port", default=29511, type=int)
    a = p.parse_args()
    there = (Path(a.out) / "state.pt").exists()
    if there and not (a.resume or a.branch):
        sys.exit(f"{a.out} holds a run: --resume goes on with it; for another, name another folder")
    if a.branch and not there:
        sys.exit(f"{a.out} holds no run to branch from: leave --branch out to begin one")
    world = a.processes if a.device == "cpu" else 1
    if world > 1:
        os.environ.setdefault("OMP_NUM_THREADS", "1")
        os.environ.setdefault("OMP_WAIT_POLICY", "passive")
        torch.multiprocessing.spawn(work, (world, a), world)
    else:
        work(0, 1, a)


if __name__ == "__main__":
    main()
