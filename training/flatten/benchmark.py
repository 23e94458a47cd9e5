"""Makes the benchmark of straightening: printed pages as a scanner or a camera at an angle sees
them.

    python3 -m training.flatten.benchmark --out bench/flatten/data
    python3 -m training.flatten.benchmark --random 60 --out build/sheets     sheets bent, held, lit
        and framed at random, as training.flatten.data draws them

For every case it writes CLASS-N.jpg, and for all of them cases.json: [{"name", "class", "page",
"map", "text"}]. page is the size of the flat page; map says for ROWS x COLUMNS of its points,
equally spaced from corner to corner, where in the picture they lie: [[x, y], ...], row by row, in
pixels with pixel centres at whole numbers. text, of the classes in READ alone, is what tesseract
reads in the page itself, at twice the size. The pages are our own layouts that training never sees.
"""

import argparse
import json
import os
import subprocess
from pathlib import Path

import cv2
import numpy as np

from training.common import capture
from training.common.paths import data_root
from training.flatten import data
from training.flatten.sheet import Sheet, folded, straight

EM, READ_EM = 11, 16  # pixels of body text
COLUMNS, ROWS = 13, 17
LONG = 1000  # pixels: the longer side of a page seen at random
LIT = 8  # pixels between the places whose light is computed
DISTANCE = 2.6  # of the camera, in units of half the page's longer side

PAGES = (
    "h3-00143-letter",
    "h3-00090-reading",
    "h1-00127-exam_paper",
    "h3-00545-invoice",
    "h2-00056-report",
    "h3-00502-book",
    "h91-00439-true_false",
    "h3-00158-textbook",
    "h3-00326-timetable",
    "h3-00161-newspaper",
    "h2-00094-report",
    "h3-00005-tables",
)

# class: ((what is done), ...), the pages in turn
CASES = {
    "flat": ({}, {}, {}, {}),
    "skew": tuple({"turn": a} for a in (1, -2, 3.5, -6, 9, -12)),
    "perspective": (
        {"tilt": (14, 6), "turn": 1},
        {"tilt": (-8, 16), "turn": -3},
        {"tilt": (20, -9), "turn": 4},
        {"tilt": (22, 4)},
    ),
    "desk": (
        {"tilt": (0, 0), "turn": 7, "desk": "wood"},
        {"tilt": (18, 10), "turn": -5, "desk": "wood"},
        {"tilt": (-9, -17), "turn": 3, "desk": "cloth"},
        {"tilt": (24, 0), "turn": -10, "desk": "dark"},
    ),
    "curl": (
        {"curl": 0.05, "tilt": (15, 0)},
        {"curl": 0.09, "tilt": (12, -4), "turn": 1},
        {"curl": -0.06, "tilt": (8, 5)},
        {"curl": 0.07, "tilt": (-6, 9), "turn": -2},
    ),
    "crumple": (
        {"crumple": 0.012, "turn": 1.5},
        {"crumple": 0.018, "tilt": (6, -8), "desk": "wood"},
    ),
    "print": ({"tilt": (0, 0)},) * 4,
    "angle": (
        {"tilt": (15, 8), "turn": 2},
        {"tilt": (-12, 10), "turn": -3},
        {"tilt": (18, -6), "turn": 4},
        {"tilt": (10, 14)},
    ),
    "book": (
        {"curl": 0.06, "tilt": (14, 3)},
        {"curl": -0.05, "tilt": (10, -6), "turn": 2},
        {"curl": 0.08, "tilt": (-9, 4)},
        {"curl": 0.05, "tilt": (18, 0), "turn": -2},
    ),
    "fold": (
        {"fold": ("down", 11), "tilt": (6, 4)},
        {"fold": ("across", 9), "tilt": (10, -5), "turn": 1},
        {"fold": ("down", -8), "tilt": (-10, 3)},
        {"fold": ("across", -12), "tilt": (12, 6)},
    ),
}

# The classes that are read, and their pages in turn.
READ = ("print", "angle", "book", "fold")
READ_PAGES = ("h3-00090-reading", "h2-00094-report", "h1-00117-reading", "h91-00439-true_false")


def page(name, em):
    path = data_root() / "pages" / "val" / name
    image = cv2.imread(str(path.with_suffix(".png")), cv2.IMREAD_GRAYSCALE)
    scale = em / json.loads(path.with_suffix(".json").read_text())["em"]
    return cv2.resize(image, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)


def text(image):
    ok, data = cv2.imencode(".png", image)
    read = subprocess.run(
        ["tesseract", "-", "-", "--dpi", "200", "--psm", "3", "-l", "eng"],
        input=data.tobytes(),
        capture_output=True,
        check=ok,
        env=os.environ | {"OMP_THREAD_LIMIT": "1"},
    )
    return " ".join(read.stdout.decode().split())


class Camera:
    """Sees a page: place tells where a point of it, in its pixels, lies in the picture."""

    def __init__(self, rng, w, h, turn=0, tilt=None, curl=0, fold=None, crumple=0, desk=None):
        self.w, self.h, self.half = w, h, max(w, h) / 2
        self.zoom = (0.8 if desk else 0.97) if tilt else 1
        shift, sections = rng.uniform(-0.4, 0.4), [straight, straight]
        if curl:
            sections[0] = lambda s: np.arctan(-8.8 * curl * np.sin(2.2 * (s - shift)))
        if fold:
            k = ("across", "down").index(fold[0])
            part = (w, h)[k] / 2 / self.half / 3
            sections[k] = folded(fold[1], (-part, part))
        waves = [
            (crumple * rng.standard_normal(3), rng.uniform(1.5, 4, 2), rng.uniform(0, 6.3, 2))
            for _ in range(5)
        ]
        # A page without tilt is seen from far away.
        self.sheet = Sheet(
            *sections,
            crumple=waves,
            turn=turn,
            tilt=tilt or (0, 0),
            distance=DISTANCE if tilt else None,
        )
        self.offset = np.zeros(2)
        rim = self.place(
            np.array([0, w, 0, w, w / 2, w / 2, 0, w]), np.array([0, 0, h, h, 0, h, h / 2, h / 2])
        )
        low, high, room = rim.min(1), rim.max(1), 0.06 * self.half
        if not desk:  # the page fills the picture or nearly; corners may be cut off
            room = -0.012 * self.half
            if not tilt:
                low, high, room = np.array([-0.5, -0.5]), np.array([w - 0.5, h - 0.5]), 0
        self.offset = low - room
        self.size = tuple(int(v) for v in np.ceil(high - low + 2 * room))

    def middle(self, ndim):
        """Of the page, in pixels."""
        return np.array([(self.w - 1) / 2, (self.h - 1) / 2]).reshape(2, *[1] * (ndim - 1))

    def place(self, x, y):
        p = np.stack([x, y])
        out = self.sheet.place(*((p - self.middle(p.ndim)) / self.half))
        return (
            out * self.zoom * self.half
            + self.middle(p.ndim)
            - self.offset.reshape(2, *[1] * (p.ndim - 1))
        )

    def back(self):
        """The page's point at each pixel of the picture."""
        w, h = self.size
        p = (
            np.stack(np.meshgrid(np.arange(w, dtype=np.float64), np.arange(h, dtype=np.float64)))
            + self.offset[:, None, None]
        )
        out = self.sheet.back(*((p - self.middle(3)) / (self.zoom * self.half)))
        return (out * self.half + self.middle(3)).astype(np.float32)


def desk(rng, kind, w, h):
    xs, ys = np.meshgrid(np.arange(w, dtype=np.float32), np.arange(h, dtype=np.float32))
    if kind == "wood":
        grain = np.sin(0.35 * ys + 9 * capture.field(rng, h, w, 3, 2)) * 10 + 10 * capture.field(
            rng, h, w, 40, 2
        )
        planks = 25 * (np.abs((ys + 0.1 * xs) % 160 - 80) > 77)
        return 105 + grain - planks
    if kind == "cloth":
        return 150 + 14 * np.sin(0.9 * xs) * np.sin(0.9 * ys) + 8 * capture.field(rng, h, w, 8, 2)
    return 45 + 6 * capture.field(rng, h, w, 12, 3)


class Snapshot(Camera):
    """Sees a page that is bent, held and framed at random, all of which shows."""

    def __init__(self, rng, w, h):
        self.w, self.h, self.half, self.zoom = w, h, max(w, h) / 2, 1
        while True:
            self.sheet, self.offset = data.sheet(rng), np.zeros(2)
            xs, ys = np.meshgrid(np.linspace(0, w, 9), np.linspace(0, h, 9))
            seen = self.place(xs, ys).reshape(2, -1)
            self.offset, size = data.framed(rng, seen.min(1), seen.max(1))
            self.size = tuple(int(v) for v in np.ceil(size))
            self.points = super().back()
            on = self.on()
            if (
                on.any()
                and np.abs(self.place(*self.points) - np.indices(on.shape)[::-1])[:, on].max() < 2
            ):
                return

    def back(self):
        return self.points

    def on(self):
        """Which pixels of the picture show the page."""
        return (self.points > 0).all(0) & (self.points[0] < self.w) & (self.points[1] < self.h)

    def light(self, rng):
        u, v = (self.points[:, ::LIT, ::LIT].astype(np.float64) - self.middle(3)) / self.half
        return cv2.resize(
            data.light(rng, self.sheet, u, v).astype(np.float32),
            self.size,
            interpolation=cv2.INTER_CUBIC,
        )


def points(camera, w, h):
    """Where the points of the page that are compared lie in the picture."""
    gx, gy = np.meshgrid(np.linspace(0, w - 1, COLUMNS), np.linspace(0, h - 1, ROWS))
    return camera.place(gx, gy).reshape(2, -1).T.round(2).tolist()


def taken(rng, image, camera, under=None, light=None):
    """The picture that a camera takes: of a page on a desk, under says how that looks at a size, in
    a light."""
    h, w = image.shape
    back = camera.back()
    page = cv2.GaussianBlur(image, (0, 0), 0.4)
    out = cv2.remap(
        page, back[0], back[1], cv2.INTER_CUBIC, borderMode=cv2.BORDER_CONSTANT, borderValue=255
    ).astype(np.float32)
    out = 30 + out * (205 / 255)
    if under:
        on = (
            (back[0] > -0.5) & (back[0] < w - 0.5) & (back[1] > -0.5) & (back[1] < h - 0.5)
        ).astype(np.float32)
        on = cv2.GaussianBlur(on, (0, 0), 0.7)
        out = on * out + (1 - on) * under(*camera.size) * (
            1 - 0.35 * cv2.GaussianBlur(on, (0, 0), 6)
        )
    if light:
        out = out * light(out.shape)
    out += rng.standard_normal(out.shape) * 1.5
    return np.clip(out, 0, 255).astype(np.uint8)


def shot(rng, image, what):
    h, w = image.shape
    camera = Camera(rng, w, h, **what)
    if what:
        under = what.get("desk") and (lambda *size: desk(rng, what["desk"], *size))
        light = (what.get("tilt") or what.get("crumple")) and (
            lambda shape: 1 + 0.07 * capture.field(rng, *shape, 1.5)
        )
        image = taken(rng, image, camera, under, light)
    return image, (w, h), points(camera, w, h)


def snapshots(a):
    """Writes pages of all kinds as seen at random."""
    paths = sorted((data_root() / "pages" / "val").glob("*.json"))
    for n in range(a.random):
        rng = np.random.default_rng([a.seed, n])
        path = paths[rng.integers(len(paths))]
        image = cv2.imread(str(path.with_suffix(".png")), cv2.IMREAD_GRAYSCALE)
        scale = LONG / max(image.shape)
        image = cv2.resize(image, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
        h, w = image.shape
        camera = Snapshot(rng, w, h)
        name = f"random-{n:03d}"
        picture = taken(
            rng,
            image,
            camera,
            lambda *size, rng=rng: data.desk(rng, *size[::-1]),
            lambda _, camera=camera, rng=rng: camera.light(rng),
        )
        cv2.imwrite(str(a.out / f"{name}.jpg"), picture, [cv2.IMWRITE_JPEG_QUALITY, 80])
        yield {"name": name, "class": "random", "page": (w, h), "map": points(camera, w, h)}


def designed(a):
    """Writes the cases that are listed above."""
    count = 0
    for k, (kind, ways) in enumerate(CASES.items()):
        for n, what in enumerate(ways, 1):
            read = kind in READ
            source, em = (READ_PAGES[n - 1], READ_EM) if read else (PAGES[count % len(PAGES)], EM)
            image, size, map_ = shot(np.random.default_rng([a.seed, k, n]), page(source, em), what)
            name = f"{kind}-{n}"
            cv2.imwrite(str(a.out / f"{name}.jpg"), image, [cv2.IMWRITE_JPEG_QUALITY, 55])
            yield {"name": name, "class": kind, "page": size, "map": map_} | (
                {"text": text(page(source, 2 * em))} if read else {}
            )
            count += 1


def main():
    p = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    p.add_argument("--out", required=True, type=Path)
    p.add_argument(
        "--random", default=0, type=int, metavar="N", help="so many pages seen at random instead"
    )
    p.add_argument("--seed", default=5, type=int)
    a = p.parse_args()
    a.out.mkdir(parents=True, exist_ok=True)
    cases = list(snapshots(a) if a.random else designed(a))
    (a.out / "cases.json").write_text(
        "[\n"
        + ",\n".join(json.dumps(c, separators=(",", ":"), ensure_ascii=False) for c in cases)
        + "\n]\n"
    )


if __name__ == "__main__":
    main()
