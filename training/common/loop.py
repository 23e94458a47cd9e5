"""The loop that the small networks are trained by: AdamW, a rate that rises and falls, averaged
weights, and a state that a run goes on from.

    python3 -m training.ROOM.train training/recipes/ROOM.toml --out build/ROOM            begins
    python3 -m training.ROOM.train training/recipes/ROOM.toml --out build/ROOM --resume   goes on
        where it was stopped, or begins

OUT/weights.pt holds the averaged weights, OUT/state.pt all that the run goes on from.
"""

import argparse
import math
import os
import sys
import time
import tomllib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch.optim.lr_scheduler import LambdaLR, OneCycleLR
from torch.optim.swa_utils import AveragedModel

RISE = 0.05  # share of the steps, where their number is known, in which the rate rises
LEAST = 0.01  # share of the rate that stays in the end, where it is not


@dataclass
class Recipe:
    """What a run is; recipes/orient.toml and judge.toml say what each value means."""

    begin: str
    seed: int
    batch: int
    rate: float
    weight_decay: float
    clip: float
    averaging: float
    minutes: float = 0
    warmup: int = 0
    epochs: int = 0


def averaging(decay):
    """The mean of the weights of the last steps; of the first few, of all of them. What is counted
    is not averaged."""

    @torch.no_grad()
    def update(means, now, count):
        if means[0].is_floating_point():
            torch._foreach_lerp_(means, now, 1 - min(decay, (1 + int(count)) / (10 + int(count))))
        else:
            torch._foreach_copy_(means, now)

    return update


def write(path, state):
    """Writes a file whole or not at all."""
    part = path.with_name(path.name + ".part")
    torch.save(state, part)
    os.replace(part, path)


class Run:
    """A training. It ends after so many steps or, where their number is not given, after the
    recipe's minutes. name is that of the weights in their file."""

    def __init__(self, model, recipe, out, steps=None, name="ema"):
        self.model, self.recipe, self.out = model, recipe, Path(out)
        self.steps, self.name = steps, name
        if recipe.begin:
            model.load_state_dict(torch.load(recipe.begin, map_location="cpu")[name])
        self.mean = AveragedModel(model, multi_avg_fn=averaging(recipe.averaging), use_buffers=True)
        self.optimizer = torch.optim.AdamW(
            model.parameters(), recipe.rate, weight_decay=recipe.weight_decay
        )
        self.step, self.spent = 0, 0.0
        self.schedule = (
            OneCycleLR(self.optimizer, recipe.rate, steps + 1, pct_start=RISE)
            if steps
            else LambdaLR(self.optimizer, self.share)
        )

    def past(self):
        """The share of the run that is over."""
        return self.step / self.steps if self.steps else self.spent / 60 / self.recipe.minutes

    def share(self, step):
        """The share of the rate that a step learns with: a cosine to zero, by the clock."""
        begun = min(1, (step + 1) / self.recipe.warmup)
        return begun * max(0.5 * (1 + math.cos(math.pi * self.past())), LEAST)

    def resume(self):
        path = self.out / "state.pt"
        if path.exists():
            state = torch.load(path, map_location="cpu")
            for name in ("model", "mean", "optimizer", "schedule"):
                getattr(self, name).load_state_dict(state[name])
            self.step, self.spent = state["step"], state["spent"]

    def save(self):
        parts = ("model", "mean", "optimizer", "schedule")
        state = {name: getattr(self, name).state_dict() for name in parts}
        write(self.out / "state.pt", state | {"step": self.step, "spent": self.spent})
        weights = self.mean.module.state_dict()
        version = time.strftime("%Y-%m-%d")
        write(self.out / "weights.pt", {self.name: weights, "step": self.step, "version": version})

    def go(self, learn, tell, every):
        """Trains to the end. learn is given a step's number and a generator, leaves the gradients
        and returns the losses; every so many steps tell is given their means, and the state is
        written."""
        self.out.mkdir(parents=True, exist_ok=True)
        started, found = time.monotonic() - self.spent, []
        while self.past() < 1:
            rng = np.random.default_rng([self.recipe.seed, self.step])
            self.optimizer.zero_grad()
            losses = learn(self.step, rng)
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.recipe.clip)
            self.optimizer.step()
            self.step, self.spent = self.step + 1, time.monotonic() - started
            self.schedule.step()
            self.mean.update_parameters(self.model)
            found.append(losses)
            if self.step % every == 0:
                print(
                    f"{self.spent / 60:5.1f} min  step {self.step}  {tell(np.mean(found, 0))}",
                    flush=True,
                )
                found = []
                self.save()
        self.save()


def arguments(doc):
    """What every training is told on the command line."""
    p = argparse.ArgumentParser(
        description=doc, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    p.add_argument("recipe", type=lambda path: Recipe(**tomllib.loads(Path(path).read_text())))
    p.add_argument("--out", required=True, type=Path)
    p.add_argument("--resume", action="store_true")
    p.add_argument("--threads", default=2, type=int)
    return p


def begun(a, model, **more):
    """The run that the command line asks for."""
    run = Run(model, a.recipe, a.out, **more)
    if a.resume:
        run.resume()
    elif (a.out / "state.pt").exists():
        sys.exit(f"{a.out} holds a run: --resume goes on with it; for another, name another folder")
    return run
