"""The orientation network: which way up a page lies, from the look of its text.

    python3 -m training.orient train --minutes 20 --out build/orient     on the samples of training.data
    python3 -m training.orient measure build/orient/last.pt              held-out pages, as the engine looks at them
    python3 -m training.orient export build/orient/last.pt               models/orient.onnx and its manifest

Input   float [1, 1, SIDE, SIDE], grey 0..1, body text at an em of about 14 px: the middle of the page, amid its own paper's grey where it is smaller.
Output  float [1, 4]: logits of 0, 90, 180 and 270 degrees that the page was turned clockwise.

Every place of the page votes; the network also says how much each vote counts, so that empty paper and figures do not.
Votes add up as evidence half dependent does, with the root of their number: a whole page is surer than a piece.
"""

import argparse
import hashlib
import json
import math
import time
from pathlib import Path

import cv2
import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from . import capture
from .data import Shards
from .net import Residual, conv
from .paths import data_root

SIDE = 640
EM = 14.0
PIECE = 192  # pixels: the side of a training sample
SHRINK = (0.6, 1.25)  # of samples, whose em is about 12 px once halved: the estimate of the print's size errs
WIDTHS = (16, 32, 48, 64)
SURE = 0.985  # turned only above this probability; internal/restore/orient.go has the same


class Orienter(nn.Module):
    def __init__(self, w=WIDTHS):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(1, w[0], 6, 2, 2, bias=False), nn.BatchNorm2d(w[0]), nn.ReLU(inplace=True))
        self.body = nn.Sequential(conv(w[0], w[1], stride=2), conv(w[1], w[2], stride=2), Residual(w[2]), conv(w[2], w[3], stride=2),
                                  Residual(w[3]), Residual(w[3], 2), Residual(w[3]))
        self.vote = nn.Conv2d(w[-1], 5, 1)

    def forward(self, x):
        v = self.vote(self.body(self.stem(x - 0.5)))
        weight = torch.sigmoid(v[:, 4:])
        return (v[:, :4] * weight).sum((2, 3)) / (weight.sum((2, 3)) + 1).sqrt()


def sample(rng, shards):
    """A piece of an upright page turned at random, at times with a part of it beyond the sheet, and its class."""
    jpeg, _ = shards.records[int(rng.integers(len(shards)))]
    grey = cv2.imdecode(np.frombuffer(jpeg, np.uint8), cv2.IMREAD_REDUCED_GRAYSCALE_2)
    scale = max(rng.uniform(*SHRINK), (PIECE + 1) / grey.shape[0])
    grey = cv2.resize(grey, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
    y, x = (int(rng.integers(0, n - PIECE + 1)) for n in grey.shape)
    grey = grey[y:y + PIECE, x:x + PIECE].astype(np.float32) / 255
    if rng.random() < 0.4:
        grey = np.clip((grey - 0.5) * rng.uniform(0.6, 1.3) + 0.5 + rng.normal(0, 0.08), 0, 1)
    if rng.random() < 0.3:
        np.rot90(grey, int(rng.integers(4)))[:int(rng.uniform(0, 0.5) * PIECE)] = np.median(grey)
    turns = int(rng.integers(4))
    return np.rot90(grey, -turns).copy(), turns


# ---- training ----

def train(a):
    torch.set_num_threads(a.threads)
    torch.manual_seed(a.seed)
    rng = np.random.default_rng(a.seed)
    model = Orienter().to(memory_format=torch.channels_last)
    if a.init:
        model.load_state_dict(torch.load(a.init, map_location="cpu")["ema"])
    optimizer = torch.optim.AdamW(model.parameters(), a.rate, weight_decay=0.01)
    ema = {k: v.detach().clone().float() for k, v in model.state_dict().items()}
    shards, step, mean, started = Shards("train"), 0, 1.4, time.time()
    out = Path(a.out)
    out.mkdir(parents=True, exist_ok=True)
    while (past := (time.time() - started) / 60 / a.minutes) < 1:
        for g in optimizer.param_groups:
            g["lr"] = a.rate * min(1, (step + 1) / 100) * max(0.5 * (1 + math.cos(math.pi * past)), 0.01)
        images, turns = zip(*(sample(rng, shards) for _ in range(a.batch)))
        x = torch.from_numpy(np.stack(images))[:, None].contiguous(memory_format=torch.channels_last)
        with torch.autocast("cpu", torch.bfloat16):
            logits = model(x)
        loss = F.cross_entropy(logits.float(), torch.tensor(turns))
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 2.0)
        optimizer.step()
        step += 1
        decay = min(0.998, (1 + step) / (10 + step))
        with torch.no_grad():
            for k, v in model.state_dict().items():
                ema[k].mul_(decay).add_(v.float(), alpha=1 - decay)
        mean += (loss.item() - mean) * 0.01
        if step % 100 == 0:
            print(f"{(time.time() - started) / 60:5.1f} min  step {step}  loss {mean:.4f}", flush=True)
            torch.save({"ema": ema, "step": step, "version": time.strftime("%Y-%m-%d")}, out / "last.pt")
    torch.save({"ema": ema, "step": step, "version": time.strftime("%Y-%m-%d")}, out / "last.pt")


def load(path):
    state = torch.load(path, map_location="cpu")
    model = Orienter()
    model.load_state_dict(state["ema"])
    return model.eval(), state


# ---- measuring ----

def middle_of_page(rng, path):
    """A held-out page, captured, cut and padded as the engine does: float [SIDE, SIDE]."""
    from .scene import Page

    page = Page(path)
    scale = EM * math.exp(rng.normal(0, 0.12)) / page.em
    small = cv2.resize(np.ascontiguousarray(page.image), None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
    maps = capture.warp_map(rng, *small.shape[:2])
    [small] = capture.blur(rng, [capture.warp(capture.fade(rng, small), maps)])
    grey = cv2.cvtColor(capture.capture(rng, small, None), cv2.COLOR_RGB2GRAY)
    canvas = np.full((SIDE, SIDE), np.median(grey), np.uint8)
    h, w = (min(n, SIDE) for n in grey.shape)
    top, left = ((n - m) // 2 for n, m in zip(grey.shape, (h, w)))
    canvas[(SIDE - h) // 2:(SIDE - h) // 2 + h, (SIDE - w) // 2:(SIDE - w) // 2 + w] = grey[top:top + h, left:left + w]
    return canvas.astype(np.float32) / 255


@torch.no_grad()
def measure(model, count, seed=1):
    """Shares of held-out pages, at all four angles, that are read right, wrongly turned, and left for want of certainty."""
    rng = np.random.default_rng(seed)
    paths = sorted((data_root() / "pages" / "val").glob("*.json"))
    right = wrong = left = 0
    for i in range(count):
        page = middle_of_page(rng, paths[i % len(paths)])
        x = torch.from_numpy(np.stack([np.rot90(page, -k).copy() for k in range(4)]))[:, None]
        p = model(x).softmax(1).numpy()
        for k in range(4):
            guess = int(p[k].argmax()) if p[k].max() >= SURE else 0
            right += guess == k
            wrong += guess not in (0, k)
            left += guess == 0 and k != 0
    n = 4 * count
    return {"pages": count, "right": round(right / n, 4), "wrongly_turned": round(wrong / n, 4), "left": round(left / n, 4)}


def export(a):
    model, state = load(a.checkpoint)
    path = a.models / "orient.onnx"
    torch.onnx.export(model, torch.rand(1, 1, SIDE, SIDE), str(path), opset_version=17, input_names=["page"], output_names=["logits"],
                      **({"dynamo": False} if torch.__version__ >= "2" else {}))
    manifest = {"name": "orient", "version": state["version"], "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
                "em": EM, "side": SIDE, "input": "page", "output": "logits", "metrics": measure(model, a.count)}
    (a.models / "orient.json").write_text(json.dumps(manifest, indent=1) + "\n")
    print(json.dumps(manifest, indent=1))


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("command", choices=["train", "measure", "export"])
    p.add_argument("checkpoint", nargs="?")
    p.add_argument("--count", default=2000, type=int, help="pages to measure on")
    p.add_argument("--init", help="a checkpoint to go on from")
    p.add_argument("--threads", default=1, type=int)
    p.add_argument("--minutes", default=20, type=float)
    p.add_argument("--rate", default=3e-3, type=float)
    p.add_argument("--batch", default=64, type=int)
    p.add_argument("--seed", default=1, type=int)
    p.add_argument("--out", default="build/orient")
    p.add_argument("--models", default="models", type=Path)
    a = p.parse_args()
    if a.command == "train":
        train(a)
    elif a.command == "measure":
        print(json.dumps(measure(load(a.checkpoint)[0], a.count)))
    else:
        export(a)


if __name__ == "__main__":
    main()
