"""The orientation network: which way up a page lies, from the look of its text.

    python3 -m training.orient pieces --count 40                         files of pieces: blocks,
        printed pages, samples of training.common.data
    python3 -m training.orient lines --count 40                          files of pieces in every
        script, and of what nobody can tell
    python3 -m training.orient train --minutes 60 --out build/orient
    python3 -m training.orient measure build/orient/last.pt              held-out pages, as the
        engine looks at them
    python3 -m training.orient export build/orient/last.pt               models/orient.onnx and its
        manifest
    python3 -m training.orient pictures --out build/orient-pages         held-out pages for
        bench/orient
    python3 -m training.orient scripts --out build/orient-scripts        held-out faces of every
        script, and real pages, for it

Input   float [1, 1, SIDE, SIDE], grey 0..1, body text at an em of about 14 px: the busiest window
        of the page in even light, amid its own
        paper's grey where the page is smaller.
Output  float [1, 5]: sums over the window of the votes for 0, 90, 180 and 270 degrees that the page
        was turned clockwise, and of
        what they weigh.

Every place of the page votes; the network also says how much each vote counts, so that empty paper
and figures do not. Votes add up as evidence half dependent does, with the root of their weight: a
whole page is surer than a piece. A window that does not surely lie upright is seen from its other
three sides too, since what is misread one way up is seldom misread as surely another. Where one
window leaves it open, the next busiest is looked at too, and then the page at other scales, each
for itself, and in the end all together.
"""

import argparse
import contextlib
import hashlib
import json
import math
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import cv2
import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from training.common import capture
from training.common.data import Shards
from training.common.ink import lifts
from training.common.layers import Residual, conv
from training.common.paths import data_root
from training.common.quantise import quantise, to_onnx
from training.common.real import ink_root

SIDE = 384
EM = 14.0
PIECE = 224  # pixels: the side of a piece of print that is kept to train on
CROP = 192  # pixels: the side of a training sample, cut from a piece
# Pieces in a file; sheets of blocks among them; pieces of a page.
PART, SHEETS, PER_PAGE = 1300, 3, 6
# The scale of training.common.data's samples, whose em is about 12 px once halved: the size of
# print is only estimated.
SHRINK = (0.8, 1.5)
CELL = 12  # pixels: the paper's light is told for each; internal/restore/orient.go has the same
PAPER, INK = 240, 40  # grey levels that paper and its strong print are brought to; likewise
FAINT, MOST = 20, 4  # contrast that is no print; how much it is raised at most; likewise
EDGE = 40  # grey levels: steps that are print; internal/restore/orient.go has the same
STEP = 64  # pixels between the windows that are compared; likewise
LOOKS = 6  # windows of a page that are looked at at each scale, until it is sure; likewise
SCALES = (1, 4 / 3, 3 / 4, 9 / 16)  # likewise
SMALLER = 0.3  # share of the pieces that are shown smaller, down to the smallest of these
BLURRED, REWEIGHTED = 0.2, 0.2  # shares that are out of focus, and that are bolder or lighter
# files of pieces that nobody can tell which way up they lie; share of them
UNTOLD, UNTOLD_SHARE = "untold-", 0.15
LEAST = 0.004  # share of edges below which a piece shows nothing
# of a picture whose letters nobody counted: bench/orient counts it among pages of print
MANY_LETTERS = 100
WIDTHS = (16, 32, 48, 96)
PICTURED = 18  # pixels: the em of the pages that are written for bench/orient
# from this probability on it is believed how a page lies; internal/restore/orient.go has the same
SURE = 0.97
AT_ONCE = 0.99  # that a window lies upright, if it is seen from one side alone; likewise
TOGETHER = 0.92  # if all windows at all scales say so together; likewise


class Orienter(nn.Module):
    def __init__(self, w=WIDTHS):
        super().__init__()
        self.stem = nn.Sequential(
            nn.Conv2d(1, w[0], 6, 2, 2, bias=False), nn.BatchNorm2d(w[0]), nn.ReLU(inplace=True)
        )
        self.body = nn.Sequential(
            conv(w[0], w[1], stride=2),
            conv(w[1], w[2], stride=2),
            Residual(w[2]),
            conv(w[2], w[3], stride=2),
            Residual(w[3]),
            Residual(w[3], 2),
            Residual(w[3]),
        )
        self.vote = nn.Conv2d(w[-1], 5, 1)

    def forward(self, x):
        """Votes: float [N, 5, H / 16, W / 16], logits of the four classes and of the vote's
        weight."""
        return self.vote(self.body(self.stem(x - 0.5)))


class Counted(nn.Module):
    """Sums the votes of a network up: float [N, 5], the votes for each class and their weight."""

    def __init__(self, voter):
        super().__init__()
        self.voter = voter

    def forward(self, x):
        v = self.voter(x)
        weight = torch.sigmoid(v[:, 4:])
        return torch.cat([v[:, :4] * weight, weight], 1).sum((2, 3))


def logits(sums):
    """Of the classes, by the sums of the votes: float [N, 4]."""
    return sums[:, :4] / (sums[:, 4:] + 1).sqrt()


def paper(grey):
    """The light of the paper that a page is printed on: the 0.8 quantile in steps of 4 of the cells
    around, as raster.PaperGrid has it."""
    h, w = grey.shape
    rows, columns = -(-h // CELL), -(-w // CELL)
    y, x = np.arange(h)[:, None] // CELL, np.arange(w) // CELL
    counts = np.bincount(
        (((y * columns) + x) * 64 + (grey >> 2)).ravel(), minlength=rows * columns * 64
    ).reshape(rows, columns, 64)
    counts = cv2.boxFilter(
        counts.astype(np.float32), -1, (3, 3), normalize=False, borderType=cv2.BORDER_CONSTANT
    )
    seen = counts.cumsum(2)
    want = 0.8 * seen[..., -1:]
    at = (seen < want).sum(2)[..., None]
    here = np.take_along_axis(counts, at, 2)
    light = 4 * (at + 1 - (np.take_along_axis(seen, at, 2) - want) / here)[..., 0]
    place = lambda n, cells: np.clip(
        (np.arange(n, dtype=np.float32) + 0.5) / CELL - 0.5, 0, cells - 1
    )
    return cv2.remap(
        light.astype(np.float32), *np.meshgrid(place(w, columns), place(h, rows)), cv2.INTER_LINEAR
    )


def evened(grey):
    """A page in even light with its strongest print dark, whatever the light and the exposure
    were."""
    light = paper(grey)
    contrast = np.maximum(light - grey, 0) / np.maximum(light, 1) * 255
    print_ = contrast[contrast >= FAINT]
    strong = np.quantile(print_, 0.9) if len(print_) else PAPER
    gain = np.clip((PAPER - INK) / strong, 1, MOST)
    return np.clip(PAPER - gain * contrast, 0, 255).astype(np.uint8)


def edges(grey):
    """Where print is: 1 at steps from light to dark, float [H, W]."""
    g = grey.astype(np.int16)
    return (
        (np.abs(np.diff(g, axis=0, append=g[-1:])) + np.abs(np.diff(g, axis=1, append=g[:, -1:])))
        > EDGE
    ).astype(np.float32)


def windows(grey, side):
    """The windows of a page with the most print in them, the busiest first, up to LOOKS; all of the
    page where it is no larger."""
    h, w = (max(n - side, 0) for n in grey.shape)
    print_ = edges(grey)
    for look in range(LOOKS):
        sums = cv2.integral(print_)
        most, at = -1.0, (0, 0)
        for y in sorted({*range(0, h, STEP), h}):
            for x in sorted({*range(0, w, STEP), w}):
                y1, x1 = min(y + side, grey.shape[0]), min(x + side, grey.shape[1])
                if (ink := sums[y1, x1] - sums[y, x1] - sums[y1, x] + sums[y, x]) > most:
                    most, at = ink, (y, x)
        if look > 0 and most < LEAST * side * side:
            return
        there = np.s_[at[0] : at[0] + side, at[1] : at[1] + side]
        print_[there] = 0
        yield grey[there]


def padded(grey, side):
    """A picture amid its paper's grey."""
    canvas = np.full((side, side), np.median(grey), np.uint8)
    h, w = grey.shape
    canvas[(side - h) // 2 : (side - h) // 2 + h, (side - w) // 2 : (side - w) // 2 + w] = grey
    return canvas


def photographed(rng, rgb):
    """A clean page, or a piece of one, as a camera or scanner sees it, grey."""
    maps = capture.warp_map(rng, *rgb.shape[:2])
    [rgb] = capture.blur(rng, [capture.warp(capture.fade(rng, rgb), maps)])
    return cv2.cvtColor(capture.capture(rng, rgb, None), cv2.COLOR_RGB2GRAY)


def shown(grey):
    """Whether there is enough print on a piece to go by."""
    return edges(grey).mean() > LEAST


def of_page(rng, page):
    """Pieces of a clean printed page, as captured."""
    scale = EM * math.exp(rng.normal(0, 0.18)) / page.em
    small = cv2.resize(
        np.ascontiguousarray(page.image), None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA
    )
    for _ in range(PER_PAGE):
        y, x = (int(rng.integers(0, max(n - PIECE, 0) + 1)) for n in small.shape[:2])
        part = small[y : y + PIECE, x : x + PIECE]
        if shown(cv2.cvtColor(part, cv2.COLOR_RGB2GRAY)):
            yield padded(photographed(rng, part), PIECE)


def of_sample(rng, shards):
    """A piece of a page that was written on."""
    jpeg, _ = shards.records[int(rng.integers(len(shards)))]
    grey = cv2.imdecode(np.frombuffer(jpeg, np.uint8), cv2.IMREAD_REDUCED_GRAYSCALE_2)
    scale = rng.uniform(*SHRINK)
    grey = cv2.resize(grey, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
    y, x = (int(rng.integers(0, max(n - PIECE, 0) + 1)) for n in grey.shape)
    return padded(grey[y : y + PIECE, x : x + PIECE], PIECE)


def of_sheet(rng, paths):
    """A piece of a page of handwriting alone, its letters about as large as print."""
    grey = cv2.imread(str(paths[int(rng.integers(len(paths)))]), cv2.IMREAD_GRAYSCALE)
    scale = rng.uniform(0.8, 2.5) * 600 / max(grey.shape)
    grey = cv2.resize(grey, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
    y, x = (int(rng.integers(0, max(n - PIECE, 0) + 1)) for n in grey.shape)
    return padded(grey[y : y + PIECE, x : x + PIECE], PIECE)


def written(path, pieces):
    """Writes pieces, whole or not at all."""
    part = path.with_suffix(".part")
    with part.open("wb") as f:
        np.save(f, np.stack([evened(p) for p in pieces]))
    part.rename(path)


def make_part(folder, seed):
    """Writes some 1,300 pieces of upright print, uint8 [N, PIECE, PIECE], a third of each kind:
    blocks, pages, pages written on."""
    from training.common.scene import Composer
    from training.layouts import blocks

    cv2.setNumThreads(1)
    rng, shards, composer = (
        np.random.default_rng(seed),
        Shards("train", seed % 8, 8),
        Composer("train"),
    )
    pieces = [
        photographed(rng, cv2.cvtColor(b, cv2.COLOR_GRAY2RGB))
        for b in blocks.sheets("train", SHEETS, seed, int(EM))
        if shown(b)
    ]
    while len(pieces) < 2 * PART / 3:
        pieces += of_page(rng, composer.page(rng))
    while len(pieces) < PART:
        if shown(piece := of_sample(rng, shards)):
            pieces.append(piece)
    written(folder / f"{seed:05d}.npy", pieces)


def make_lines(folder, seed):
    """Writes as many pieces in every script, a tenth of them handwriting alone, and two fifths as
    many that nobody can tell which way up they lie: three quarters are of scripts that are not
    known, the others drawings."""
    from training.layouts import lines

    cv2.setNumThreads(1)
    rng = np.random.default_rng([seed, 1])
    sheets = [
        p for p in sorted((ink_root() / "sheets").glob("*.jpg")) if lifts.split_of(p) == "train"
    ]
    drawn = lambda grey: photographed(rng, cv2.cvtColor(grey, cv2.COLOR_GRAY2RGB))
    printed = lambda kind: drawn(lines.draw(rng, PIECE, EM, kind(rng, "train")))
    told = lambda: (
        of_sheet(rng, sheets) if sheets and rng.random() < 0.1 else printed(lines.of_language)
    )
    untold = lambda: (
        drawn(lines.drawing(rng, PIECE)) if rng.random() < 0.25 else printed(lines.of_unknown)
    )
    for name, make, count in (
        (f"lines-{seed:05d}.npy", told, PART),
        (f"{UNTOLD}{seed:05d}.npy", untold, 2 * PART // 5),
    ):
        pieces = []
        while len(pieces) < count:
            with contextlib.suppress(OSError):  # a few faces' programs are broken
                if shown(piece := make()):
                    pieces.append(piece)
        written(folder / name, pieces)


def altered(rng, piece):
    """A part of a piece, uint8 [CROP, CROP], a little wider or narrower, slanted and tilted, bolder
    or lighter: there are more faces than training has; or out of focus."""
    scale = rng.uniform(SCALES[-1], 1) if rng.random() < SMALLER else math.exp(rng.normal(0, 0.05))
    wide, slant, tilt = rng.normal(0, (0.1, 0.08, 0.03))
    turn = np.array([[math.cos(tilt), -math.sin(tilt)], [math.sin(tilt), math.cos(tilt)]])
    matrix = scale * turn @ np.array([[math.exp(wide), slant], [0, math.exp(-wide)]])
    shift = CROP / 2 - matrix @ np.full(2, PIECE / 2) + rng.uniform(-1, 1, 2) * (PIECE - CROP) / 2
    part = cv2.warpAffine(piece, np.column_stack([matrix, shift]), (CROP, CROP), borderValue=PAPER)
    kind = rng.random()
    if kind < BLURRED:
        return cv2.GaussianBlur(part, (0, 0), rng.uniform(0.5, 2))
    if kind < BLURRED + REWEIGHTED:
        changed = (cv2.erode if rng.random() < 0.5 else cv2.dilate)(part, np.ones((2, 2), np.uint8))
        share = rng.uniform(0.3, 1)
        return cv2.addWeighted(changed, share, part, 1 - share, 0)
    return part


class Pieces:
    """All pieces in a folder; more may be made meanwhile. Of a share of them nobody can tell which
    way up they lie."""

    def __init__(self, folder):
        self.folder, self.parts = folder, {}
        self.refresh()
        if not self.parts:
            raise FileNotFoundError(f"no pieces in {folder}: make some with training.orient pieces")

    def refresh(self):
        for path in sorted(self.folder.glob("*.npy")):
            if path not in self.parts:
                self.parts[path] = np.load(path, mmap_mode="r")
        self.told = [part for path, part in self.parts.items() if not path.name.startswith(UNTOLD)]
        self.untold = [part for path, part in self.parts.items() if path.name.startswith(UNTOLD)]

    def batch(self, rng, n):
        """n pieces, each at an angle of its own: float [n, 1, CROP, CROP] and the classes'
        probabilities, float [n, 4]."""
        turns = torch.from_numpy(rng.integers(4, size=n))
        told = (
            torch.from_numpy(rng.random(n) >= UNTOLD_SHARE)
            if self.untold
            else torch.ones(n, dtype=torch.bool)
        )
        pieces = [
            self.one(rng, self.told if t else self.untold, int(k)) for k, t in zip(turns, told)
        ]
        probabilities = torch.where(
            told[:, None], F.one_hot(turns, 4).float(), torch.full((n, 4), 0.25)
        )
        return torch.from_numpy(np.stack(pieces))[:, None], probabilities

    def one(self, rng, parts, turn):
        part = parts[rng.integers(len(parts))]
        piece = altered(rng, part[rng.integers(len(part))]).astype(np.float32) / 255
        if rng.random() < 0.5:  # the strongest print of the page may be elsewhere, or weaker
            piece = np.clip((piece - PAPER / 255) * rng.uniform(0.4, 1.3) + PAPER / 255, 0, 1)
        if rng.random() < 0.2:
            piece = piece + rng.standard_normal(piece.shape, np.float32) * abs(rng.normal(0, 0.03))
        return np.ascontiguousarray(np.rot90(piece, -turn))


# ---- training ----


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


def load(path):
    state = torch.load(path, map_location="cpu")
    model = Orienter()
    model.load_state_dict(state["ema"])
    return Counted(model.eval()), state


# ---- measuring ----


def seen(rng, path):
    """A held-out page as captured, at about the em that is wanted: uint8 [H, W]; None where there
    is no print."""
    from training.common.scene import Page

    page = Page(path)
    scale = EM * math.exp(rng.normal(0, 0.12)) / page.em
    grey = evened(
        photographed(
            rng,
            cv2.resize(
                np.ascontiguousarray(page.image),
                None,
                fx=scale,
                fy=scale,
                interpolation=cv2.INTER_AREA,
            ),
        )
    )
    return grey if shown(next(windows(grey, SIDE))) else None


def surest(sums):
    """The likeliest class of the votes and its probability."""
    p, guess = logits(sums).softmax(1)[0].max(0)
    return int(guess), float(p)


@torch.no_grad()
def turned(model, grey):
    """By how many quarters clockwise a page lies, as the engine tells it: 0 also where that is not
    sure."""
    together = torch.zeros(1, 5)
    for scale in SCALES:
        votes = torch.zeros(1, 5)
        for window in windows(
            cv2.resize(grey, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA), SIDE
        ):
            whole = padded(window, SIDE).astype(np.float32) / 255
            seen = model(
                torch.from_numpy(np.stack([np.rot90(whole, k) for k in range(4)]))[:, None]
            )
            guess, p = surest(seen[:1])
            if guess == 0 and p >= AT_ONCE:
                return 0
            for k in range(4):
                votes += torch.cat([seen[k : k + 1, :4].roll(k, 1), seen[k : k + 1, 4:]], 1) / 4
            guess, p = surest(votes)
            if p >= SURE:
                return guess
        together += votes
    guess, p = surest(together)
    return guess if p >= TOGETHER else 0


def measure(model, count, seed=1):
    """Shares of held-out pages, at all four angles, that are read right, wrongly turned, and left
    for want of certainty."""
    rng = np.random.default_rng(seed)
    paths = sorted((data_root() / "pages" / "val").glob("*.json"))
    right = wrong = left = 0
    for i in range(count):
        while (page := seen(rng, paths[i % len(paths)])) is None:
            i += 1
        for k in range(4):
            guess = turned(model, np.ascontiguousarray(np.rot90(page, -k)))
            right += guess == k
            wrong += guess not in (0, k)
            left += guess == 0 and k != 0
    n = 4 * count
    return {
        "pages": count,
        "right": round(right / n, 4),
        "wrongly_turned": round(wrong / n, 4),
        "left": round(left / n, 4),
    }


def pictures(a):
    """Writes held-out pages, captured, with an em of about PICTURED and print that can be seen:
    NAME.jpg each, and cases.json: [{"name", "lang", "letters"}], letters being how many letters and
    digits are set on it."""
    from training.common.scene import Page

    out, rng, cases = Path(a.out), np.random.default_rng(a.seed), []
    out.mkdir(parents=True, exist_ok=True)
    paths = sorted((data_root() / "pages" / "val").glob(a.only + "*.json"))
    rng.shuffle(paths)
    for path in paths:
        meta, page = json.loads(path.read_text()), Page(path)
        if "letters" not in meta:
            continue
        scale = PICTURED * math.exp(rng.normal(0, 0.12)) / page.em
        image = cv2.resize(
            np.ascontiguousarray(page.image), None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA
        )
        picture = photographed(rng, image)
        if not shown(next(windows(evened(picture), SIDE))):
            continue  # nothing of the print came through
        cv2.imwrite(str(out / f"{path.stem}.jpg"), picture, [cv2.IMWRITE_JPEG_QUALITY, 60])
        cases.append({"name": path.stem, "lang": meta["lang"], "letters": meta["letters"]})
        if len(cases) == a.count:
            break
    list_cases(out, cases)


def list_cases(out, cases):
    (out / "cases.json").write_text("[\n" + ",\n".join(json.dumps(c) for c in cases) + "\n]\n")


def scripts(a):
    """Writes, as pictures() does, OUT/known: blocks of each language in held-out faces;
    OUT/unknown: of scripts that no language here has; OUT/real: real pages of held-out
    repositories, which are taken to lie upright."""
    from training.common import real
    from training.layouts import lines

    rng = np.random.default_rng(a.seed)

    def block(kind):
        for _ in range(20):
            with contextlib.suppress(OSError):  # a few faces' programs are broken
                grey = photographed(
                    rng, cv2.cvtColor(lines.draw(rng, 800, 20, kind()), cv2.COLOR_GRAY2RGB)
                )
                if shown(grey):
                    return grey
        return None

    def real_page(path):
        grey = cv2.imread(path, cv2.IMREAD_GRAYSCALE)
        scale = 1500 / max(grey.shape)
        return (
            cv2.resize(grey, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
            if scale < 1
            else grey
        )

    known = (
        (f"{lang}-{i}", lang, block(lambda lang=lang: lines.of_language(rng, "val", lang)))
        for lang in lines.languages("val")[0]
        for i in range(4)
    )
    unknown = ((f"u-{i}", "", block(lambda: lines.of_unknown(rng, "val"))) for i in range(30))
    pages = (
        (Path(s.image).stem, "", real_page(s.image))
        for s in real.sources("val")
        if s.trust > real.SHEET
    )
    for kind, items in (("known", known), ("unknown", unknown), ("real", pages)):
        out, cases = Path(a.out) / kind, []
        out.mkdir(parents=True, exist_ok=True)
        for name, lang, grey in items:
            if grey is not None:
                cv2.imwrite(str(out / f"{name}.jpg"), grey, [cv2.IMWRITE_JPEG_QUALITY, 80])
                cases.append({"name": name, "lang": lang, "letters": MANY_LETTERS})
        list_cases(out, cases)


def export(a):
    model, state = load(a.checkpoint)
    pieces, rng = Pieces(a.pieces), np.random.default_rng(1)
    model.voter = quantise(model.voter, [(pieces.batch(rng, 16)[0],) for _ in range(24)])
    path = a.models / "orient.onnx"
    to_onnx(model, path, (torch.rand(1, 1, SIDE, SIDE),), ["page", "votes"])
    manifest = {
        "name": "orient",
        "version": state["version"],
        "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
        "em": EM,
        "side": SIDE,
        "inputs": ["page"],
        "output": "votes",
        "metrics": measure(model, a.count),
    }
    (a.models / "orient.json").write_text(json.dumps(manifest, indent=1) + "\n")
    print(json.dumps(manifest, indent=1))


def main():
    p = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    p.add_argument(
        "command", choices=["pieces", "lines", "train", "measure", "export", "pictures", "scripts"]
    )
    p.add_argument("checkpoint", nargs="?")
    p.add_argument("--count", default=2000, type=int, help="pages to measure on; files of pieces")
    p.add_argument(
        "--only", default="", metavar="PREFIX", help="pictures of pages whose ID begins so"
    )
    p.add_argument("--pieces", default=data_root() / "orient", type=Path)
    p.add_argument("--init", help="a checkpoint to go on from")
    p.add_argument("--threads", default=1, type=int)
    p.add_argument("--processes", default=2, type=int, help="that make pieces")
    p.add_argument("--minutes", default=20, type=float)
    p.add_argument("--rate", default=3e-3, type=float)
    p.add_argument("--batch", default=64, type=int)
    p.add_argument(
        "--half",
        action="store_true",
        help="compute in bfloat16: ten times slower where the processor has no AVX-512 BF16",
    )
    p.add_argument("--seed", default=1, type=int)
    p.add_argument("--out", default="build/orient")
    p.add_argument("--models", default="models", type=Path)
    a = p.parse_args()
    if a.command in ("pieces", "lines"):
        a.pieces.mkdir(parents=True, exist_ok=True)
        with ProcessPoolExecutor(a.processes) as pool:
            list(
                pool.map(
                    make_part if a.command == "pieces" else make_lines,
                    *zip(*[(a.pieces, seed) for seed in range(a.seed, a.seed + a.count)]),
                )
            )
    elif a.command == "train":
        train(a)
    elif a.command in ("pictures", "scripts"):
        {"pictures": pictures, "scripts": scripts}[a.command](a)
    elif a.command == "measure":
        print(json.dumps(measure(load(a.checkpoint)[0], a.count)))
    else:
        export(a)


if __name__ == "__main__":
    main()
