"""What the segmenter and its overview learn from: of each page some windows, and the whole page
small; which pages are shown, and how often; pages made ahead of the steps.

A page is (image uint8 [H, W, 3] RGB, label uint8 [H, W]), as training.common.views gives it.
"""

import multiprocessing
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass

import cv2
import numpy as np

from training.common import pixel, real, views
from training.common.data import Shards
from training.layouts import library
from training.segment import net

DESCRIBED = 0.01  # share of a place that handwriting, or print, must cover to be told of
HARDEST, EASIEST = 3.0, 0.4  # how much more, and less, often a page is shown for its last losses
REMEMBERED = 0.7  # of a page's loss when it is seen again
MADE_WITHIN = 300  # seconds: a page that is not made by then never is, and --resume goes on


@dataclass
class View:
    windows: np.ndarray  # uint8 [n, S, S, 3]
    labels: np.ndarray  # uint8 [n, S, S]
    overview: np.ndarray  # uint8 [OVERVIEW_SIDE, OVERVIEW_SIDE, 3]
    # float32 [n, S/32, S/32, 2], where the overview shows the places under each window, -1 to 1
    places: np.ndarray
    # float32 [2, side/8, side/8]: handwriting, print; -1 where that is not known
    present: np.ndarray


def overview_scale(h, w):
    return min(net.OVERVIEW_SIDE / max(h, w), net.OVERVIEW_LARGEST)


def overview_of(image):
    h, w = image.shape[:2]
    scale = overview_scale(h, w)
    small = cv2.resize(
        image, (max(1, round(w * scale)), max(1, round(h * scale))), interpolation=cv2.INTER_AREA
    )
    out = np.full((net.OVERVIEW_SIDE, net.OVERVIEW_SIDE, 3), 255, np.uint8)
    out[: small.shape[0], : small.shape[1]] = small
    return out


def places_of(x, y, size, scale):
    """Where the overview shows the middles of the cells under a window, from -1 at its left and top
    to 1."""
    middle = np.arange(size // net.MULTIPLE) * net.MULTIPLE + net.MULTIPLE / 2
    u, v = ((a + middle) * scale * 2 / net.OVERVIEW_SIDE - 1 for a in (x, y))
    return np.stack(np.meshgrid(u, v), -1).astype(np.float32)


def present_in(label):
    """Of each place of the overview, whether there is handwriting and whether there is print."""
    scale, side = overview_scale(*label.shape), net.OVERVIEW_SIDE // net.OVERVIEW_STRIDE
    out = []
    for kinds in (pixel.HANDS, pixel.PRINTS):
        h, w = (max(1, round(n * scale / net.OVERVIEW_STRIDE)) for n in label.shape)
        there, unknown = (
            cv2.resize(mask.astype(np.float32), (w, h), interpolation=cv2.INTER_AREA)
            for mask in (np.isin(label, kinds), label == pixel.IGNORE)
        )
        cells = np.zeros((side, side), np.float32)
        cells[:h, :w] = np.where(there > DESCRIBED, 1, np.where(unknown > DESCRIBED, -1, 0))[
            :side, :side
        ]
        out.append(cells)
    return np.stack(out)


def view(rng, image, label, count, size, crossed=0):
    """Shows `count` windows of a page, more often where there is handwriting or print, and the
    page. crossed: the share of the windows that print under writing chooses, where there is
    some."""
    h, w = label.shape
    if h < size or w < size:
        image = cv2.copyMakeBorder(
            image, 0, max(size - h, 0), 0, max(size - w, 0), cv2.BORDER_REFLECT_101
        )
        label = cv2.copyMakeBorder(
            label, 0, max(size - h, 0), 0, max(size - w, 0), cv2.BORDER_REFLECT_101
        )
        h, w = label.shape
    coarse = label[::8, ::8]
    hand, printed, both = (
        np.flatnonzero(np.isin(coarse, kinds)) for kinds in (pixel.HANDS, pixel.PRINT, pixel.BOTH)
    )
    columns, scale = -(-w // 8), overview_scale(h, w)
    windows, labels, places = [], [], []
    for _ in range(count):
        draw = rng.random()
        at = hand if draw < 0.65 and len(hand) else printed if draw < 0.9 and len(printed) else None
        if len(both) and rng.random() < crossed:
            at = both
        if at is None:
            y, x = (int(rng.integers(0, n - size + 1)) for n in (h, w))
        else:
            cy, cx = (8 * v for v in divmod(int(at[rng.integers(len(at))]), columns))
            y, x = (
                int(np.clip(c - rng.integers(0, size), 0, n - size)) for c, n in ((cy, h), (cx, w))
            )
        windows.append(image[y : y + size, x : x + size])
        labels.append(label[y : y + size, x : x + size])
        places.append(places_of(x, y, size, scale))
    return View(
        np.stack(windows), np.stack(labels), overview_of(image), np.stack(places), present_in(label)
    )


class Material:
    """Pages to train on: real ones, with those of the library beside them, and composed ones.

    Sources of one repository share what it is shown, so that two forms do not fill the run: each is
    shown in inverse proportion to the root of their number. `hard` tells how often each is shown
    for its last losses.
    """

    def __init__(self, shares, part=0, parts=1):
        self.shares = shares
        self.sources = real.sources("train")
        if self.sources:
            self.sources += library.sources("train")
        counts = {}
        for s in self.sources:
            counts[s.repo, s.hand > 0] = counts.get((s.repo, s.hand > 0), 0) + 1
        odds = np.array([counts[s.repo, s.hand > 0] ** -0.5 * self.shown(s) for s in self.sources])
        written = np.array([s.hand > 0 for s in self.sources], bool)
        self.odds = {True: odds * written, False: odds * ~written}
        self.shards = Shards("train", part, parts, needed=not self.sources)

    def shown(self, source):
        if source.trust == real.SHEET:
            return self.shares["sheets"]
        if source.trust == real.RENDERED:
            return self.shares["rendered"]
        return self.shares["doubtful"] if source.trust == real.DOUBTFUL else 1

    def page(self, rng, hard):
        """A page and the number of its source, -1 for a composed one."""
        share = self.shares
        if self.sources and (not len(self.shards) or rng.random() < share["real"]):
            written = rng.random() < share["written"]
            at, over = self.choose(rng, hard, written), share["laid_over" if written else "laid"]
            other = self.sources[self.choose(rng, hard, True)] if rng.random() < over else None
            return *views.real_page(rng, self.sources[at], other), at
        image, label = self.shards.crop(int(rng.integers(len(self.shards))))
        return *views.composed_page(rng, image, label), -1

    def choose(self, rng, hard, written):
        odds = self.odds[written] * hard
        return int(rng.choice(len(odds), p=odds / odds.sum()))


class Hardness:
    """How hard each source was when it was last shown. What is made ahead of a step cannot know of
    the step before, so pages are chosen by what was known some steps ago, also after a stop."""

    def __init__(self, count, steps):
        self.loss = np.full(count, np.nan)
        self.shown = [np.ones(count)] * steps

    def note(self, sources, losses):
        for at, loss in zip(sources, losses):
            if at >= 0:
                before = self.loss[at]
                self.loss[at] = (
                    loss if np.isnan(before) else REMEMBERED * before + (1 - REMEMBERED) * loss
                )
        known = ~np.isnan(self.loss)
        odds = np.ones(len(self.loss))
        if known.any():
            odds[known] = np.clip(self.loss[known] / self.loss[known].mean(), EASIEST, HARDEST)
        self.shown = self.shown[1:] + [odds]

    def go_on(self, state):
        """As it was in a run that may have made its pages more, or fewer, steps ahead."""
        steps = len(self.shown)
        self.loss, shown = state["loss"], state["shown"]
        self.shown = (shown + [shown[-1]] * steps)[:steps]


class Ahead:
    """Makes the pages of the next steps while one is learned from: in a thread, or in processes.
    Every page has a generator of its own, so that it does not matter who makes it."""

    def __init__(self, recipe, rank, parts, processes=0):
        self.recipe, self.rank = recipe, rank
        self.material = Material(recipe.shares, rank, parts)
        self.steps = 1 + -(-2 * processes // recipe.pages)
        self.made = {}  # by step: what will be its pages
        if processes:
            fork = multiprocessing.get_context("fork")  # what the pages are made of is shared
            self.pool = ProcessPoolExecutor(processes, fork, keep, (self,))
            self.pool.submit(int).result()  # now, before there are threads and a device
        else:
            keep(self)
            self.pool = ThreadPoolExecutor(1)

    def page(self, step, number, hard):
        """The view of a page, and the number of its source."""
        r = self.recipe
        rng = np.random.default_rng([r.seed, self.rank, step, number])
        image, label, at = self.material.page(rng, hard)
        return view(rng, image, label, r.windows, r.crop, r.shares["crossed"]), at

    def ask(self, step, hard):
        self.made[step] = [
            self.pool.submit(make, step, number, hard) for number in range(self.recipe.pages)
        ]

    def batch(self, step):
        """Tensors of a step, and the sources of its pages."""
        seen, sources = zip(*[page.result(timeout=MADE_WITHIN) for page in self.made.pop(step)])
        join = lambda name, together: together([getattr(v, name) for v in seen])
        batch = [
            join("windows", np.concatenate),
            join("overview", np.stack),
            join("places", np.concatenate),
            join("labels", np.concatenate),
            join("present", np.stack),
        ]
        return batch, sources

    def stop(self):
        self.pool.shutdown(cancel_futures=True)


kept = []  # what a process makes pages of


def keep(ahead):
    kept[:] = [ahead]


def make(step, number, hard):
    return kept[0].page(step, number, hard)
