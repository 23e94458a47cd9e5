"""The network that judges a page's regions of ink: which were written, in view of their neighbours
and of the page.

    python3 -m training.judge pages DIR --split fold       pages and labels, for training/regions
    go run ./training/regions -dir DIR -out REGIONS        what the network is told of their regions
    python3 -m training.judge train REGIONS --val REGIONS --out OUT.pt
    python3 -m training.judge export OUT.pt [--out models]

Judge
    regions   float [N, 21], near float [N, 8] (indices), bonds float [N, 8, 7], as
              internal/restore/strokes tells them
    output    float [N], log-odds that a region was written

Regions pass messages to their neighbours (Gilmer et al., 2017) and meet all others through a few
places where what is alike gathers (Lee et al., 2019, induced set attention): what the page's
writing and its print look like. What they then hold, and how sure they are, tells whether anybody
wrote on the page at all; where nobody seems to have, each region must be surer.

It learns from pages that the segmenter has not seen, since of its own the segmenter knows the
answers. So two more segmenters are trained, each without half of the training pages
(training.common.real --fold), and each tells of the half that it has not seen (stacked
generalisation, Wolpert, 1992).
"""

import argparse
import hashlib
import json
import re
import shutil
import time
from pathlib import Path

import cv2
import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from training.common import layers, pixel, real, views
from training.common.data import Shards
from training.common.scene import Composer

TRAITS, NEAR, BOND_TRAITS = 21, 8, 7  # as internal/nn has them
HAND, PRINT, AREA, SUREST_HAND = 1, 2, 6, 18  # among the traits
WIDTH, ROUNDS, PLACES = 48, 3, 12
PRINT_WEIGHT = 3.0  # of print lost against writing left
PAGE_WEIGHT = 0.3  # of whether anybody wrote on the page
CLEAN_WEIGHT = 0.1  # of the region most taken for writing on a page that nobody wrote on
SUREST = 8.0  # log-odds of a region, for what the page makes of it
VIEWS = 2  # of a page with writing, beside itself; others get writing laid on them
SMALL = (8, 45)  # ems: a side of a small page
UNKNOWN = 3  # in label pictures


class Round(nn.Module):
    """What a region hears from its neighbours and from the page."""

    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(WIDTH)
        self.own, self.other, self.bond = (
            nn.Linear(WIDTH, WIDTH),
            nn.Linear(WIDTH, WIDTH),
            nn.Linear(BOND_TRAITS, WIDTH),
        )
        self.gather, self.value, self.ask = (
            nn.Linear(WIDTH, PLACES),
            nn.Linear(WIDTH, WIDTH),
            nn.Linear(WIDTH, PLACES),
        )
        self.think = nn.Sequential(nn.Linear(3 * WIDTH, WIDTH), nn.ReLU(), nn.Linear(WIDTH, WIDTH))

    def forward(self, x, near, bonds, mass):
        h = self.norm(x)
        there = bonds[..., :1]
        other = self.other(h).index_select(0, near.flatten()).reshape(*near.shape, WIDTH)
        heard = F.relu(self.own(h)[:, None] + other + self.bond(bonds)) * there
        heard = heard.sum(1) / (there.sum(1) + 1e-3)
        shares = (self.gather(h) + mass).softmax(0)  # [N, PLACES]
        gathered = shares.t() @ self.value(h)
        page = self.ask(h).softmax(1) @ gathered
        return x + self.think(torch.cat([h, heard, page], 1))


class Page(nn.Module):
    """Log-odds that somebody wrote on a page, [1], of what its regions hold, [N, WIDTH], their
    log-odds and areas, [N]."""

    def __init__(self):
        super().__init__()
        self.think = nn.Sequential(nn.Linear(2 * WIDTH + 3, WIDTH), nn.ReLU(), nn.Linear(WIDTH, 1))
        nn.init.zeros_(self.think[2].weight)
        nn.init.constant_(self.think[2].bias, 3)

    def forward(self, h, odds, area):
        written = area * odds.sigmoid()
        printed = area - written
        w, p = written.sum() + 1, printed.sum() + 1
        sure = (written * odds.clamp(-SUREST, SUREST)).sum() / w
        told = torch.stack([sure / SUREST, w.log() / 12, (w / (w + p)).log() / 8])
        return self.think(torch.cat([written @ h / w, printed @ h / p, told]))


class Judge(nn.Module):
    def __init__(self):
        super().__init__()
        self.enter = nn.Sequential(nn.Linear(TRAITS, WIDTH), nn.ReLU(), nn.Linear(WIDTH, WIDTH))
        self.rounds = nn.ModuleList(Round() for _ in range(ROUNDS))
        self.answer = nn.Sequential(nn.LayerNorm(WIDTH), nn.Linear(WIDTH, 1))
        nn.init.zeros_(self.answer[1].weight)
        nn.init.zeros_(self.answer[1].bias)
        self.page = Page()
        self.strictness = nn.Parameter(torch.ones(()))

    def forward(self, regions, near, bonds):
        return self.told(regions, near, bonds)[0]

    def told(self, regions, near, bonds):
        """Log-odds that each region was written, [N], and that any was, [1]: a clear signature is
        believed on a page on which hardly anybody wrote; a doubtful stroke is not."""
        there = regions[:, :1]
        # logarithm of the area; none where nothing is
        mass = 8 * 0.69 * regions[:, AREA : AREA + 1] - 30 * (1 - there)
        x, near = self.enter(regions), near.long()
        for r in self.rounds:
            x = r(x, near, bonds, mass)
        odds = self.answer(x)[:, 0] + 4 * regions[:, HAND]  # begins with the segmenter's word
        area = there[:, 0] * (8 * 0.69 * regions[:, AREA]).exp()
        page = self.page(self.answer[0](x), odds, area)
        return odds + self.strictness * page.clamp(max=0), page


# Pages.


def write_pages(out, split, names, laid, signed, drawings, composed, printed, seed):
    """Pages with labels: real ones of a split as they are and as training shows them; clean ones
    with others' writing, and with a word or a line of it alone, such as a signature; parts of clean
    ones with a drawn word; composed ones; and the pages these are made of, before anybody writes on
    them and with a word or a line."""
    out, rng = Path(out), np.random.default_rng(seed)
    for name in ("pages", "labels"):
        (out / name).mkdir(parents=True, exist_ok=True)
    sources = [s for s in real.sources(split) if re.match(names, Path(s.image).name)]
    hands = [s for s in sources if s.hand > 0]
    whole = [s for s in sources if s.trust > real.SHEET]
    for s in whole:
        path = Path(s.image)
        shutil.copy(path, out / "pages" / f"r-{path.name}")
        if s.label:
            shutil.copy(
                path.parent.parent / "labels" / f"{path.stem}.png",
                out / "labels" / f"r-{path.stem}.png",
            )
        for i in range(VIEWS * (s.hand > 0)):
            store(out, f"v{i}-{path.stem}", *views.real_page(rng, s))
    clean = [s for s in whole if s.hand == 0]
    for i in range(laid):
        under, over = (group[int(rng.integers(len(group)))] for group in (clean, hands))
        store(out, f"l-{i:04d}", *views.real_page(rng, under, over))
    for i in range(signed):
        under, over = (group[int(rng.integers(len(group)))] for group in (clean, hands))
        store(out, f"s-{i:04d}", *views.real_page(rng, under, over, sparse_share=1))
    digital = [s for s in hands if s.digital]
    for i in range(drawings if digital else 0):
        under = clean[int(rng.integers(len(clean)))]
        store(out, f"d-{i:04d}", *drawn(rng, under, digital), ".png")
    shards = Shards(split, needed=False)
    for i in rng.permutation(len(shards))[:composed]:
        store(out, f"c-{i:05d}", *shards.crop(int(i)))
    composer = Composer(split) if printed else None
    for i in range(printed):
        page = composer.page(rng)
        scale = pixel.EM / page.em * np.exp(rng.normal(0, 0.15))
        image = cv2.resize(
            np.ascontiguousarray(page.image), None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA
        )
        label = real.printed_label(image)
        store(out, f"p-{i:05d}", image, label, ".png")
        if hands:
            store(
                out,
                f"q-{i:05d}",
                *views.transplanted(rng, image, label, *few_words(rng, hands)),
                ".png",
            )


def drawn(rng, under, overs):
    """A small page as programs draw them, with a word or a line that is drawn as evenly as its
    print."""
    image, label = views.sized(rng, under)
    printed = np.argwhere(label[::8, ::8] == pixel.PRINT)
    at = 8 * printed[rng.integers(len(printed))] if len(printed) else (0, 0)
    sides = [int(min(n, pixel.EM * rng.uniform(*SMALL))) for n in label.shape]
    spot = tuple(
        slice(y, y + side)
        for y, side in zip(
            (
                int(np.clip(a - rng.integers(side), 0, n - side))
                for a, n, side in zip(at, label.shape, sides)
            ),
            sides,
        )
    )
    return views.transplanted(rng, image[spot], label[spot], *few_words(rng, overs))


def few_words(rng, sources):
    """A word or a line that somebody wrote: the picture around it, and its labels."""
    written, where = views.sized(rng, sources[int(rng.integers(len(sources)))])
    where = views.sparse(rng, where)
    hand = np.argwhere(np.isin(where, pixel.HANDS))
    if not len(hand):
        return written, where
    word = tuple(slice(max(0, low - 4), high + 5) for low, high in zip(hand.min(0), hand.max(0)))
    return written[word], where[word]


def store(out, name, image, label, form=".jpg"):
    quality = [cv2.IMWRITE_JPEG_QUALITY, 92] if form == ".jpg" else []
    cv2.imwrite(str(out / "pages" / (name + form)), image[..., ::-1], quality)
    told = np.full(label.shape, UNKNOWN, np.uint8)
    told[label == pixel.PAPER] = 0
    told[np.isin(label, pixel.PRINTS)] = 1
    told[np.isin(label, pixel.HANDS)] = 2
    cv2.imwrite(str(out / "labels" / f"{name}.png"), told)


def read(path):
    """A page's regions: traits, near, bonds, known (pixels of print, of handwriting)."""
    v = np.fromfile(path, "<f4")
    n, at, parts = int(v[0]), 1, []
    for shape in ((n, TRAITS), (n, NEAR), (n, NEAR, BOND_TRAITS), (n, 2)):
        size = int(np.prod(shape))
        parts.append(torch.from_numpy(v[at : at + size].reshape(shape).copy()))
        at += size
    return parts


def pages_of(folder):
    return [
        p for p in map(read, sorted(Path(folder).glob("*.bin"))) if p[3].sum() > 0 and len(p[0]) > 1
    ]


# Training.


def loss_of(odds, page, known):
    """Every page counts the same, and on it every pixel of ink. Two things count beside that:
    whether somebody wrote on the page and, if nobody did, the region most taken for writing, since
    one small region spoils a clean page."""
    written = (known[:, 1].sum() > 0).float()
    loss = F.binary_cross_entropy_with_logits(
        odds[:, None].expand(-1, 2), torch.tensor([0.0, 1.0]).expand(len(odds), 2), reduction="none"
    )
    weight = known / known.sum(0, keepdim=True).clamp(min=300)
    of_page = F.binary_cross_entropy_with_logits(page[0], written)
    taken = (1 - written) * F.softplus(odds.max())
    return (
        (loss * weight).sum(0) @ torch.tensor([PRINT_WEIGHT, 1.0])
        + PAGE_WEIGHT * of_page
        + CLEAN_WEIGHT * taken
    )


def disturbed(rng, regions):
    """As the segmenter might have said: more or less sure, and wrong of some regions."""
    regions = regions.clone()
    n = len(regions)
    noise = lambda width: torch.from_numpy(rng.normal(0, width, n).astype(np.float32))
    both = slice(HAND, PRINT + 1)
    regions[:, both] *= float(np.exp(rng.normal(0, 0.15)))
    off = noise(0.1) + float(rng.normal(0, 0.05))
    regions[:, HAND] += off
    regions[:, SUREST_HAND] += off / 2
    regions[:, PRINT] += noise(0.1)
    return regions


@torch.no_grad()
def figures(judge, pages):
    """Handwriting left and print lost, per cent of known pixels, the means over pages; the share of
    pages that nobody wrote on of which nothing is taken."""
    left, lost, untouched = [], [], []
    for regions, near, bonds, known in pages:
        hand = (judge(regions, near, bonds) if judge else regions[:, HAND]) > 0
        gone = known[hand].sum(0)
        printed, written = known.sum(0)
        if printed:
            lost.append(100 * float(gone[0] / printed))
        if written:
            left.append(100 * (1 - float(gone[1] / written)))
        else:
            untouched.append(not hand.any())
    return (
        f"left {np.mean(left):.2f}  lost {np.mean(lost):.2f}  "
        f"untouched {sum(untouched)} of {len(untouched)}"
    )


def train(a):
    torch.manual_seed(a.seed)
    torch.set_num_threads(a.threads)
    rng = np.random.default_rng(a.seed)
    pages, val = [p for f in a.regions for p in pages_of(f)], pages_of(a.val)
    print(
        f"{len(pages)} pages to learn from, {len(val)} held out; the segmenter's own word: "
        f"{figures(None, pages)}; held out {figures(None, val)}",
        flush=True,
    )
    judge = Judge()
    if a.init:
        judge.load_state_dict(torch.load(a.init)["state"])
    mean = {k: v.clone() for k, v in judge.state_dict().items()}
    optimizer = torch.optim.AdamW(judge.parameters(), a.rate, weight_decay=0.02)
    steps = a.epochs * len(pages) // a.batch
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, a.rate, steps + 1, pct_start=0.05)
    started, total = time.time(), 0.0
    for step in range(steps):
        optimizer.zero_grad()
        for i in rng.integers(0, len(pages), a.batch):
            regions, near, bonds, known = pages[i]
            loss = loss_of(*judge.told(disturbed(rng, regions), near, bonds), known) / a.batch
            loss.backward()
            total += loss.item()
        torch.nn.utils.clip_grad_norm_(judge.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        with torch.no_grad():
            for k, v in judge.state_dict().items():
                mean[k].lerp_(v, 1 - min(0.995, (1 + step) / (10 + step)))
        if (step + 1) % max(1, steps // 10) == 0:
            averaged = Judge()
            averaged.load_state_dict(mean)
            print(
                f"{(time.time() - started) / 60:5.1f} min  step {step + 1} of {steps}  "
                f"loss {total / max(1, steps // 10):.4f}  "
                f"{figures(averaged, pages[:200])}  held out {figures(averaged, val)}",
                flush=True,
            )
            total = 0.0
    torch.save({"state": mean, "version": time.strftime("%Y-%m-%d")}, a.out)


def export(a):
    judge = Judge()
    version = time.strftime("%Y-%m-%d")
    if a.checkpoint:
        state = torch.load(a.checkpoint)
        judge.load_state_dict(state["state"])
        version = state["version"]
    path, n = Path(a.out) / "judge.onnx", 512
    example = (torch.rand(n, TRAITS), torch.zeros(n, NEAR), torch.rand(n, NEAR, BOND_TRAITS))
    names = ["regions", "near", "bonds"]
    torch.onnx.export(
        judge.eval(),
        example,
        path,
        input_names=names,
        output_names=["odds"],
        opset_version=17,
        dynamo=False,
        dynamic_axes={name: {0: "n"} for name in names + ["odds"]},
    )
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    manifest = {
        "name": "judge",
        "version": version,
        "sha256": digest,
        "inputs": names,
        "output": "odds",
        "parameters": layers.parameters(judge),
    }
    path.with_suffix(".json").write_text(json.dumps(manifest, indent=1) + "\n")
    print(json.dumps(manifest, indent=1))


def main():
    p = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = p.add_subparsers(dest="command", required=True)
    c = commands.add_parser("pages")
    c.add_argument("out")
    c.add_argument("--split", default="val")
    c.add_argument(
        "--names",
        default="",
        help="regular expression that the names of real pages begin with: those "
        "that the segmenter has not seen, where it learned without the others",
    )
    c.add_argument("--laid", default=200, type=int, help="pages with others' writing")
    c.add_argument(
        "--signed", default=0, type=int, help="clean pages with a word or a line of others' writing"
    )
    c.add_argument(
        "--drawn", default=120, type=int, help="small pages with a word that was drawn on a screen"
    )
    c.add_argument("--composed", default=30, type=int)
    c.add_argument(
        "--printed",
        default=0,
        type=int,
        help="pages that composed ones are made of, as they are printed and with a few words",
    )
    c.add_argument("--seed", default=1, type=int)
    c = commands.add_parser("train")
    c.add_argument("regions", nargs="+")
    c.add_argument("--val", required=True)
    c.add_argument("--out", required=True)
    c.add_argument("--init", help="goes on from a checkpoint")
    c.add_argument("--epochs", default=12, type=int)
    c.add_argument("--batch", default=8, type=int, help="pages")
    c.add_argument("--rate", default=3e-3, type=float)
    c.add_argument("--threads", default=2, type=int)
    c.add_argument("--seed", default=1, type=int)
    c = commands.add_parser("export")
    c.add_argument("checkpoint", nargs="?", help="without one, untrained: the segmenter's own word")
    c.add_argument("--out", default="models")
    a = p.parse_args()
    cv2.setNumThreads(1)
    if a.command == "pages":
        write_pages(
            a.out, a.split, a.names, a.laid, a.signed, a.drawn, a.composed, a.printed, a.seed
        )
    else:
        {"train": train, "export": export}[a.command](a)


if __name__ == "__main__":
    main()
