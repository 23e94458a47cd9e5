"""What the networks make of held-out pages: handwriting missed and print lost."""

import cv2
import numpy as np
import torch
import torch.distributed as dist
from torch.nn import functional as F

from training.common import pixel, real, views
from training.common.data import Shards
from training.segment import data
from training.segment import net as N
from training.segment.pairs import pairs

BOUNDS = np.linspace(-6, 6, 121)  # of log-odds
ALIKE = 0.02  # share of print lost


@torch.no_grad()
def logits_of(model, image, tile=640, margin=32):
    """The logits of a whole page, [4, H, W], tile by tile."""
    h, w = image.shape[:2]
    device = next(model.parameters()).device
    context = model.overview(N.as_input(data.overview_of(image)[None], device))
    scale = data.overview_scale(h, w)
    padded = cv2.copyMakeBorder(image, margin, tile, margin, tile, cv2.BORDER_REFLECT_101)
    out = np.zeros((len(pixel.CLASSES), h, w), np.float32)
    step = tile - 2 * margin
    for y in range(0, h, step):
        for x in range(0, w, step):
            window = N.as_input(padded[y : y + tile, x : x + tile][None], device)
            places = torch.from_numpy(data.places_of(x - margin, y - margin, tile, scale))[None]
            seen = N.seen_by(context, places.to(device))
            logits = F.pixel_shuffle(model.segmenter(window, seen), 2)[0].cpu().numpy()
            part = logits[:, margin : margin + min(step, h - y), margin : margin + min(step, w - x)]
            out[:, y : y + step, x : x + step] = part
    return out


def tally_of(logits, label):
    """Of a page: the shares of its handwriting that is missed, and of its print that is lost, by
    the bound; of print under writing that is taken for writing alone, and the other way round. None
    where there is none."""
    odds = np.logaddexp(logits[pixel.HAND], logits[pixel.BOTH]) - np.logaddexp(
        logits[pixel.PAPER], logits[pixel.PRINT]
    )
    under = lambda mask: (
        np.searchsorted(np.sort(odds[mask]), BOUNDS, side="right") / mask.sum()
        if mask.any()
        else None
    )
    missed, kept = under(np.isin(label, pixel.HANDS)), under(label == pixel.PRINT)
    mistaken = [
        (logits[other] > logits[kind])[label == kind].mean() if (label == kind).any() else None
        for kind, other in ((pixel.BOTH, pixel.HAND), (pixel.HAND, pixel.BOTH))
    ]
    return missed, None if kept is None else 1 - kept, *mistaken


def figures_of(rows):
    """Of pages' tallies, the mean over pages with some: handwriting missed and print lost; what is
    missed with the bound at which so much print is lost as ALIKE, so that trainings compare; print
    under writing missed, and found where there is none."""
    missed, lost, crossed, feigned = ([v for v in column if v is not None] for column in zip(*rows))
    if not missed or not lost:
        return {}
    missed, lost = np.mean(missed, 0), np.mean(lost, 0)
    even, alike = len(BOUNDS) // 2, int(np.argmax(lost <= ALIKE))
    figures = {"hand_missed": missed[even], "print_lost": lost[even], "missed_alike": missed[alike]}
    if crossed and feigned:
        figures |= {"crossed_missed": np.mean(crossed), "crossed_feigned": np.mean(feigned)}
    return {name: round(float(value), 4) for name, value in figures.items()}


def held_out(count=14):
    """Pages held out, by kind: functions that give each at the working scale, with its labels."""
    sources = real.sources("val")
    written = [s for s in sources if s.hand > 0 and s.trust > real.SHEET]
    clean = [s for s in sources if s.hand == 0]
    chosen = written + clean[:: max(1, len(clean) // count)]
    shards = Shards("val", needed=False)
    composed = [shards.crop(i) for i in range(min(count, len(shards)))]
    exposed = lambda image, label: (views.expose(image), label)
    return {
        "real": [lambda s=s: views.whole_page(s) for s in chosen],
        "composed": [lambda c=c: exposed(*c) for c in composed],
        "laid": [lambda p=p: exposed(p[0], p[2]) for p in (pairs(1, count) if sources else [])],
    }


def measure(model, rank=0, world=1):
    """Figures on pages held out, by kind: real ones, composed ones, and those that another page's
    writing is laid on; each process answers for a part of the pages."""
    model.eval()
    out = {}
    for kind, pages in held_out().items():
        rows = [
            tally_of(logits_of(model, image), label)
            for image, label in (page() for page in pages[rank::world])
        ]
        if world > 1:
            parts = [None] * world
            dist.all_gather_object(parts, rows)
            rows = [row for part in parts for row in part]
        figures = figures_of(rows) if rows else {}
        if figures:
            out[kind] = figures
    return out
