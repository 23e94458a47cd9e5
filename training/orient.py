"""The orientation network: which way up a page lies, from the look of its text.

    python3 -m training.orient train --minutes 20 --out build/orient     on the printed pages and the samples of training.data
    python3 -m training.orient measure build/orient/last.pt              held-out pages, as the engine looks at them
    python3 -m training.orient export build/orient/last.pt               models/orient.onnx and its manifest

Input   float [1, 1, SIDE, SIDE], grey 0..1, body text at an em of about 14 px: the busiest window of the page, amid its own paper's grey
        where the page is smaller.
Output  float [1, 4]: logits of 0, 90, 180 and 270 degrees that the page was turned clockwise.

Every place of the page votes; the network also says how much each vote counts, so that empty paper and figures do not.
Votes add up as evidence half dependent does, with the root of their number: a whole page is surer than a piece.
"""

import argparse
import hashlib
import json
import math
import multiprocessing as mp
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
PIECE = 320  # pixels: the side of a training sample
SHRINK = (0.8, 1.5)  # of training.data's samples, whose em is about 12 px once halved: the estimate of the print's size errs
EDGE = 40  # grey levels: steps that are print; internal/restore/orient.go has the same
STEP = 64  # pixels between the windows that are compared; likewise
LEAST = 0.004  # share of edges below which a piece shows nothing
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


def edges(grey):
    """Where print is: 1 at steps from light to dark, float [H, W]."""
    g = grey.astype(np.int16)
    return ((np.abs(np.diff(g, axis=0, append=g[-1:])) + np.abs(np.diff(g, axis=1, append=g[:, -1:]))) > EDGE).astype(np.float32)


def busiest(grey, side):
    """The window of a page with the most print in it, or all of the page where it is no larger."""
    h, w = (max(n - side, 0) for n in grey.shape)
    sums = cv2.integral(edges(grey))
    most, at = -1.0, (0, 0)
    for y in sorted({*range(0, h, STEP), h}):
        for x in sorted({*range(0, w, STEP), w}):
            y1, x1 = min(y + side, grey.shape[0]), min(x + side, grey.shape[1])
            if (ink := sums[y1, x1] - sums[y, x1] - sums[y1, x] + sums[y, x]) > most:
                most, at = ink, (y, x)
    return grey[at[0]:at[0] + side, at[1]:at[1] + side]


def padded(grey, side):
    """A picture amid its paper's grey."""
    canvas = np.full((side, side), np.median(grey), np.uint8)
    h, w = grey.shape
    canvas[(side - h) // 2:(side - h) // 2 + h, (side - w) // 2:(side - w) // 2 + w] = grey
    return canvas


def photographed(rng, rgb):
    """A clean page, or a piece of one, as a camera or scanner sees it, grey."""
    maps = capture.warp_map(rng, *rgb.shape[:2])
    [rgb] = capture.blur(rng, [capture.warp(capture.fade(rng, rgb), maps)])
    return cv2.cvtColor(capture.capture(rng, rgb, None), cv2.COLOR_RGB2GRAY)


def of_page(rng, page):
    """Pieces of a clean printed page, as captured."""
    scale = EM * math.exp(rng.normal(0, 0.18)) / page.em
    small = cv2.resize(np.ascontiguousarray(page.image), None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
    for _ in range(4):
        y, x = (int(rng.integers(0, max(n - PIECE, 0) + 1)) for n in small.shape[:2])
        grey = photographed(rng, small[y:y + PIECE, x:x + PIECE])
        if edges(grey).mean() > LEAST:
            yield padded(grey, PIECE)


def of_sample(rng, shards):
    """A piece of a page that was written on."""
    jpeg, _ = shards.records[int(rng.integers(len(shards)))]
    grey = cv2.imdecode(np.frombuffer(jpeg, np.uint8), cv2.IMREAD_REDUCED_GRAYSCALE_2)
    scale = rng.uniform(*SHRINK)
    grey = cv2.resize(grey, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)[:PIECE, :PIECE]
    if edges(grey).mean() > LEAST:
        yield padded(grey, PIECE)


def make_pieces(queue, seed):
    """Fills a queue with pieces of upright pages for as long as the trainer lives."""
    from .scene import Composer

    rng, shards, composer = np.random.default_rng(seed), Shards("train"), Composer("train")
    while True:
        for _ in range(4):
            for piece in of_sample(rng, shards):
                queue.put(piece)
        for piece in of_page(rng, composer.page(rng)):
            queue.put(piece)


class Pool:
    """The latest pieces, each used a few times."""

    def __init__(self, size, processes, seed):
        context = mp.get_context("spawn")
        self.queue, self.pieces, self.size, self.at = context.Queue(256), [], size, 0
        for i in range(processes):
            context.Process(target=make_pieces, args=(self.queue, seed * 100 + i), daemon=True).start()
        while len(self.pieces) < 500:
            self.add(self.queue.get())

    def add(self, piece):
        if len(self.pieces) < self.size:
            self.pieces.append(piece)
        else:
            self.pieces[self.at] = piece
            self.at = (self.at + 1) % self.size

    def batch(self, rng, n):
        """n pieces, each at all four angles: float [4n, PIECE, PIECE] and the classes."""
        while not self.queue.empty():
            self.add(self.queue.get())
        images = []
        for i in rng.integers(len(self.pieces), size=n):
            piece = self.pieces[i].astype(np.float32) / 255
            if rng.random() < 0.3:
                piece = np.clip((piece - 0.5) * rng.uniform(0.6, 1.3) + 0.5 + rng.normal(0, 0.08), 0, 1)
            images += [np.rot90(piece, -k) for k in range(4)]
        return torch.from_numpy(np.stack(images)), torch.arange(4).repeat(n)


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
    pool = Pool(8000, a.processes, a.seed)
    step, mean, started = 0, 1.4, time.time()
    out = Path(a.out)
    out.mkdir(parents=True, exist_ok=True)
    while (past := (time.time() - started) / 60 / a.minutes) < 1:
        for g in optimizer.param_groups:
            g["lr"] = a.rate * min(1, (step + 1) / 100) * max(0.5 * (1 + math.cos(math.pi * past)), 0.01)
        images, turns = pool.batch(rng, a.batch // 4)
        x = images[:, None].contiguous(memory_format=torch.channels_last)
        with torch.autocast("cpu", torch.bfloat16):
            logits = model(x)
        loss = F.cross_entropy(logits.float(), turns)
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

def seen(rng, path):
    """A held-out page, captured, cut and padded as the engine does: float [SIDE, SIDE]; None where there is no print."""
    from .scene import Page

    page = Page(path)
    scale = EM * math.exp(rng.normal(0, 0.12)) / page.em
    small = cv2.resize(np.ascontiguousarray(page.image), None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
    window = busiest(photographed(rng, small), SIDE)
    return padded(window, SIDE).astype(np.float32) / 255 if edges(window).mean() > LEAST else None


@torch.no_grad()
def measure(model, count, seed=1):
    """Shares of held-out pages, at all four angles, that are read right, wrongly turned, and left for want of certainty."""
    rng = np.random.default_rng(seed)
    paths = sorted((data_root() / "pages" / "val").glob("*.json"))
    right = wrong = left = 0
    for i in range(count):
        while (page := seen(rng, paths[i % len(paths)])) is None:
            i += 1
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
    p.add_argument("--processes", default=1, type=int, help="that make pieces")
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
