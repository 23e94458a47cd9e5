"""What the judge learns from: pages with labels, and what it is told of their regions.

    python3 -m training.judge.data DIR --split fold              pages and labels
    go run ./training/judge/regions -dir DIR -out REGIONS        what the network is told of their
                                                                 regions

It learns from pages that the segmenter has not seen, since of its own the segmenter knows the
answers. So two more segmenters are trained, each without half of the training pages
(training.common.real --fold), and each tells of the half that it has not seen (stacked
generalisation, Wolpert, 1992).
"""

import argparse
import re
import shutil
from pathlib import Path

import cv2
import numpy as np
import torch

from training.common import pixel, real, views
from training.common.data import Shards
from training.common.scene import Composer
from training.judge.net import BOND_TRAITS, NEAR, TRAITS

VIEWS = 2  # of a page with writing, beside itself; others get writing laid on them
SMALL = (8, 45)  # ems: a side of a small page
UNKNOWN = 3  # in label pictures


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


def main():
    p = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    p.add_argument("out")
    p.add_argument("--split", default="val")
    p.add_argument(
        "--names",
        default="",
        help="regular expression that the names of real pages begin with: those "
        "that the segmenter has not seen, where it learned without the others",
    )
    p.add_argument("--laid", default=200, type=int, help="pages with others' writing")
    p.add_argument(
        "--signed", default=0, type=int, help="clean pages with a word or a line of others' writing"
    )
    p.add_argument(
        "--drawn", default=120, type=int, help="small pages with a word that was drawn on a screen"
    )
    p.add_argument("--composed", default=30, type=int)
    p.add_argument(
        "--printed",
        default=0,
        type=int,
        help="pages that composed ones are made of, as they are printed and with a few words",
    )
    p.add_argument("--seed", default=1, type=int)
    a = p.parse_args()
    cv2.setNumThreads(1)
    write_pages(a.out, a.split, a.names, a.laid, a.signed, a.drawn, a.composed, a.printed, a.seed)


if __name__ == "__main__":
    main()
