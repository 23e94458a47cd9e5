"""Composes training samples: a crop of a printed page, handwriting put where people write, then
captured.

A sample is (image uint8 [S, S, 3] RGB, label uint8 [S, S]): pixel.PAPER, PRINT, HAND, BOTH, or
pixel.IGNORE where ink is too faint to be seen. Ink is held as transmittance (255 lets the paper
through), so it multiplies onto print.
"""

import json
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np

from training.common import capture, papers, pixel
from training.common.ink.inks import KINDS, Inks
from training.common.ink.pens import ink_colour, like_print
from training.common.paths import data_root
from training.common.typed import Typist

SIZE = 1024  # pixels: large enough that the network's look at the whole page learns from it
PAPER_SHARE = 0.5  # of samples that show real printed pages, where there are any
LAYOUT_SHARE = 0.55  # of samples that show our own layouts; the others show documents
WRITTEN_SHARE = 0.87  # of samples; on the others there is print alone
TYPED_SHARE = 0.14  # of samples where some blanks are filled in type
LIKE_PRINT_SHARE = 0.3  # of writers whose ink looks like the print: only its shape tells
# slots that ask for an answer
ANSWERED = {"line", "blank", "box", "cell", "comb", "check", "bubble", "option", "sign"}
ASKED_WEIGHT = 2.5  # how much likelier a layout family is that asks for answers
CONFUSED = {
    "sudoku",
    "crossword",
    "comb_form",
    "answer_sheet",
    "form",
    "table_form",
    "game_board",
    "true_false",
    "calendar",
    # where print and neat writing look most alike
    "character_grid",
    "specimen",
    "invitation",
    "certificate",
}
CONFUSED_WEIGHT = 3
MARGIN = 32  # around the sample, so that warping has something to draw in

BODY_KINDS = [
    "word",
    "words",
    "sentence",
    "number",
    "formula",
    "equation",
    "name",
    "block",
    "code",
    "sum",
    "cjk",
    "paragraph",
    "kana",
    "cyrillic",
    "letter",
    "digit",
    "date",
    "fraction",
    "initials",
    "greek",
    "hangul",
    "arabic",
    "devanagari",
]
BODY_ODDS = np.array([16, 14, 10, 8, 6, 5, 4, 5, 5, 4, 10, 4, 3, 4, 3, 3, 2, 2, 1, 1.5, 1.5, 1, 1])
BODY_ODDS = BODY_ODDS / BODY_ODDS.sum()


def random_em(rng):
    """Body text size of a sample: about the working scale, with the errors that the estimate
    makes."""
    return float(np.clip(pixel.EM * np.exp(rng.normal(0, 0.38)), 11, 62))


class Page:
    """A clean printed page with the places where people write on it."""

    captured = False

    def __init__(self, meta):
        self.meta = json.loads(Path(meta).read_text())
        image = cv2.imread(str(Path(meta).with_suffix(".png")), cv2.IMREAD_COLOR)
        self.image = image[..., ::-1]
        self.em = float(np.clip(self.meta["em"], 10, 80))
        self.slots = self.meta["slots"]


class Composer:
    """Makes samples of one split. Everything it draws comes from the generator given to sample."""

    def __init__(self, split, size=SIZE):
        self.data, self.size = data_root(), size
        self.split = split
        self.inks = Inks(split, self.data)
        self.papers = len(papers.all_papers(split))
        self.known, self.layouts, self.asked = set(), {}, {}
        self.refresh()

    def refresh(self):
        """Looks again which pages there are. Layouts are grouped by family, so that rare ones are
        seen too."""
        pages = sorted((self.data / "pages" / self.split).glob("*.json"))
        self.documents = [p for p in pages if not p.name.startswith("h")]
        for path in (p for p in pages if p.name.startswith("h") and p not in self.known):
            self.known.add(path)
            meta = json.loads(path.read_text())
            family = meta["family"].rsplit("-", 1)[0]
            self.layouts.setdefault(family, []).append(path)
            self.asked[family] = self.asked.get(family, False) or any(
                s["kind"] in ANSWERED for s in meta["slots"]
            )
        self.families = sorted(self.layouts)
        odds = np.array(
            [
                (ASKED_WEIGHT if self.asked[f] else 1) * (CONFUSED_WEIGHT if f in CONFUSED else 1)
                for f in self.families
            ]
        )
        self.odds = odds / odds.sum() if self.families else odds

    def page(self, rng):
        if self.papers and (rng.random() < PAPER_SHARE or not (self.documents or self.layouts)):
            return papers.paper_of(int(rng.integers(self.papers)), self.split)
        if not (self.documents or self.layouts):
            raise FileNotFoundError(
                f"no printed pages in {self.data / 'pages' / self.split}: "
                "training.layouts.library render makes some"
            )
        while True:
            group = self.documents
            if self.layouts and (not group or rng.random() < LAYOUT_SHARE):
                group = self.layouts[str(rng.choice(self.families, p=self.odds))]
            path = group[int(rng.integers(len(group)))]
            try:
                return Page(path)
            except (OSError, ValueError, TypeError):
                continue

    def layers(self, rng, page, em):
        """The printed layer and the ink layer of a sample, as they lie under the lens."""
        side = self.size + 2 * MARGIN
        canvas, slots, sheet = crop(rng, page, em, side)
        ink = np.full_like(canvas, 255)
        if slots and rng.random() < TYPED_SHARE:
            slots = typed(self.split, rng, canvas, slots, em)
        if rng.random() < WRITTEN_SHARE:
            Writer(self.inks, rng, em, canvas, ink, slots).write()
            ink[beside(sheet, side)] = 255
        if not page.captured:
            canvas = capture.fade(rng, canvas)
        maps = capture.warp_map(rng, side, side)
        canvas, ink = (capture.warp(a, maps)[MARGIN:-MARGIN, MARGIN:-MARGIN] for a in (canvas, ink))
        if page.captured:  # its print has been through a lens
            return canvas, cv2.GaussianBlur(ink, (0, 0), rng.uniform(0.35, 1.1))
        return capture.blur(rng, [canvas, ink])

    def sample(self, rng, page, back=None):
        canvas, ink = self.layers(rng, page, random_em(rng))
        image = written(canvas, ink)
        image = (
            capture.recapture(rng, image) if page.captured else capture.capture(rng, image, back)
        )
        return image, forget_invisible(image, labels(canvas, ink))

    def pair(self, rng, page, em):
        """One capture of a page twice, written on and not: (written, clean, label, mask of ruled
        lines)."""
        canvas, ink = self.layers(rng, page, em)
        state = rng.bit_generator.state
        image = capture.capture(rng, written(canvas, ink), None)
        rng.bit_generator.state = state
        clean = capture.capture(rng, canvas, None)
        return image, clean, forget_invisible(image, labels(canvas, ink)), rules(canvas)


def typed(split, rng, canvas, slots, em):
    """Fills some slots in type and returns those left to write in."""
    typist, share, free = Typist(split, rng), rng.uniform(0.2, 1), []
    for slot in slots:
        if slot["kind"] in ("line", "blank", "box", "cell", "comb") and rng.random() < share:
            typist.fill(canvas, slot, em)
        else:
            free.append(slot)
    return free


def written(canvas, ink):
    return (canvas.astype(np.uint16) * ink // 255).astype(np.uint8)


def rules(canvas):
    """Pixels of long straight horizontal and vertical printed lines."""
    dark = (contrast_of(canvas, 25) > 28).astype(np.uint8)
    return cv2.morphologyEx(dark, cv2.MORPH_OPEN, np.ones((1, 61))) | cv2.morphologyEx(
        dark, cv2.MORPH_OPEN, np.ones((61, 1))
    )


def crop(rng, page, em, canvas_side):
    """A square piece, canvas_side pixels wide, of the page at the wanted text size; its slots and
    the box of the sheet, in the piece's pixels."""
    scale = em / page.em
    h, w = page.image.shape[:2]
    side = canvas_side / scale
    if page.slots and rng.random() < 0.75:
        kinds = sorted({s["kind"] for s in page.slots})
        kind = kinds[int(rng.integers(len(kinds)))]
        alike = [s for s in page.slots if s["kind"] == kind]
        x0, y0, x1, y1 = alike[int(rng.integers(len(alike)))]["rect"]
        cx, cy = (
            rng.uniform(min(x0, x1), max(x0, x1) + 1),
            rng.uniform(min(y0, y1), max(y0, y1) + 1),
        )
        cx, cy = cx + rng.uniform(-0.35, 0.35) * side, cy + rng.uniform(-0.35, 0.35) * side
    else:
        spots = [(rng.uniform(0, w), rng.uniform(0, h)) for _ in range(4)]
        cx, cy = max(spots, key=lambda p: inked(page.image, p, side / 2))
    over = 0.25 * side if rng.random() < 0.15 else 0  # shows what lies round the sheet
    left = np.clip(cx - side / 2, -over, max(w - side, 0) + over)
    top = np.clip(cy - side / 2, -over, max(h - side, 0) + over)
    m = np.float32([[scale, 0, -left * scale], [0, scale, -top * scale]])
    desk = tuple(int(v) for v in rng.integers(0, 256, 3)) if over else (255, 255, 255)
    x0, y0 = int(max(left - 4, 0)), int(max(top - 4, 0))
    x1, y1 = int(min(left + side + 4, w)), int(min(top + side + 4, h))
    piece = np.ascontiguousarray(page.image[y0:y1, x0:x1])
    if scale < 1:  # area averaging first, since warpAffine does not filter
        sw, sh = max(1, round((x1 - x0) * scale)), max(1, round((y1 - y0) * scale))
        piece = cv2.resize(piece, (sw, sh), interpolation=cv2.INTER_AREA)
        m = np.float32([[1, 0, (x0 - left) * scale], [0, 1, (y0 - top) * scale]])
    else:
        m[:, 2] = [(x0 - left) * scale, (y0 - top) * scale]
    canvas = cv2.warpAffine(
        piece,
        m,
        (canvas_side, canvas_side),
        flags=cv2.INTER_LINEAR,
        borderMode=cv2.BORDER_CONSTANT,
        borderValue=desk,
    )
    slots = []
    for s in page.slots:
        r = (np.array(s["rect"], np.float32) - [left, top, left, top]) * scale
        if (
            r[2] > 4
            and r[3] > 4
            and r[0] < canvas_side - 4
            and r[1] < canvas_side - 4
            and r[2] > r[0]
            and r[3] > r[1]
        ):
            slots.append({"kind": s["kind"], "want": s.get("want", "word"), "rect": r})
    whole = [0, 0, w, h] if over else [left, top, left + side, top + side]
    sheet = (np.array(whole) - [left, top, left, top]) * scale
    return canvas, slots, np.clip(sheet.round(), 0, canvas_side).astype(int)


def beside(sheet, side):
    """The pixels of a piece that lie beside the sheet, on the desk: nobody writes there."""
    x0, y0, x1, y1 = sheet
    out = np.ones((side, side), bool)
    out[y0:y1, x0:x1] = False
    return out


def inked(image, centre, reach):
    """How dark the page is about a place."""
    x, y = centre
    part = image[
        int(max(y - reach, 0)) : int(y + reach) : 7, int(max(x - reach, 0)) : int(x + reach) : 7
    ]
    return 255 - part.mean() if part.size else 0.0


def contrast_of(layer, size):
    """How much darker (any channel) each pixel is than the lightest near it."""
    light = cv2.morphologyEx(layer, cv2.MORPH_CLOSE, np.ones((size, size), np.uint8))
    d = cv2.subtract(light, layer)
    return cv2.max(cv2.max(d[..., 0], d[..., 1]), d[..., 2])


def labels(canvas, ink):
    printed = contrast_of(canvas, 25) > 28
    alpha = 255 - cv2.min(cv2.min(ink[..., 0], ink[..., 1]), ink[..., 2])
    peak = cv2.dilate(alpha, np.ones((9, 9), np.uint8))
    written = (alpha > 0.38 * peak) & (alpha > 14)
    lab = np.where(
        written,
        np.where(printed, pixel.BOTH, pixel.HAND),
        np.where(printed, pixel.PRINT, pixel.PAPER),
    )
    # the soft edge of a stroke
    lab[(alpha > 8) & ~written & ~printed & (alpha > 0.2 * peak)] = pixel.IGNORE
    lab[(peak <= 20) & (alpha > 6)] = pixel.IGNORE
    return lab.astype(np.uint8)


def forget_invisible(image, lab):
    """Strokes that the capture made invisible have no label."""
    hand = lab == pixel.HAND
    if hand.any():
        seen = cv2.dilate(contrast_of(image, 15), np.ones((5, 5), np.uint8)) > 14
        lab[hand & ~seen] = pixel.IGNORE
    return lab


class Writer:
    """One person (or two, with a teacher) writing on one crop."""

    def __init__(self, inks, rng, em, canvas, ink, slots):
        self.inks, self.rng, self.em, self.canvas, self.ink, self.slots = (
            inks,
            rng,
            em,
            canvas,
            ink,
            slots,
        )
        self.side = canvas.shape[0]
        self.hand, self.pen = inks.hand(rng), inks.pen(rng)
        if rng.random() < LIKE_PRINT_SHARE:
            self.pen = like_print(rng)
        self.body = em * float(np.clip(rng.lognormal(-0.45, 0.38), 0.3, 2.2))
        self.capitals = rng.random() < 0.2  # fills forms in block letters
        dark = contrast_of(canvas, 25) > 28
        self.filled = cv2.integral(dark.astype(np.uint8))

    def write(self):
        rng = self.rng
        eagerness = rng.uniform(0.3, 1)
        reader = rng.random() < 0.18  # marks words rather than answers
        for slot in self.slots:
            odds = {
                "word": 0.6 if reader else 0.07,
                "margin": 0.3,
                "option": 0.35,
                "bubble": 0.45,
            }.get(slot["kind"], 1)
            if rng.random() < eagerness * odds:
                self.fill(slot)
        for _ in range(rng.choice([0, 1, 2, 4, 8], p=[0.4, 0.25, 0.2, 0.1, 0.05])):
            self.note()
        if rng.random() < 0.36:
            self.hand, self.pen = self.inks.hand(rng), self.inks.pen(rng)
            for _ in range(rng.integers(1, 5)):
                self.teacher()

    # Where things go.

    def put(self, patch, x, y):
        """Multiplies a patch onto the ink layer, its top left at x, y; what falls outside is
        cut."""
        if patch is None:
            return
        x, y = int(round(x)), int(round(y))
        h, w = patch.shape[:2]
        x0, y0, x1, y1 = max(x, 0), max(y, 0), min(x + w, self.side), min(y + h, self.side)
        if x0 >= x1 or y0 >= y1:
            return
        there = self.ink[y0:y1, x0:x1].astype(np.uint16)
        self.ink[y0:y1, x0:x1] = there * patch[y0 - y : y1 - y, x0 - x : x1 - x] // 255

    def print_share(self, x, y, w, h):
        x0, y0, x1, y1 = (int(np.clip(v, 0, self.side)) for v in (x, y, x + w, y + h))
        if x1 <= x0 or y1 <= y0:
            return 1.0
        s = self.filled
        return (s[y1, x1] - s[y0, x1] - s[y1, x0] + s[y0, x0]) / ((x1 - x0) * (y1 - y0))

    def between(self, a, b):
        """Anywhere between a and b, in whichever order they are."""
        return a + (b - a) * self.rng.random()

    def blank(self, w, h):
        """The emptiest of some places of that size."""
        spots = [
            (
                self.between(-0.1 * w, self.side - 0.7 * w),
                self.between(-0.2 * h, self.side - 0.7 * h),
            )
            for _ in range(14)
        ]
        return min(spots, key=lambda p: self.print_share(p[0], p[1], w, h))

    # What is written.

    def text(self, kind, height, max_width=None, max_height=None):
        height = float(np.clip(height, 6, 160))
        kind = kind if kind in KINDS else "word"
        patch = self.inks.write(
            self.rng, self.hand, self.pen, None, kind, height, max_width, max_height
        )
        return self.turned(patch)

    def turned(self, patch):
        if patch is None or self.rng.random() < 0.6:
            return patch
        return rotate(patch, self.rng.normal(0, 2.5))

    def real(self, height, w, h):
        return self.inks.lift(self.rng, float(np.clip(height, 8, 120)), int(w), int(h))

    def mark(self, kind, w, h):
        return self.inks.mark(
            self.rng, self.pen, kind, int(np.clip(w, 6, 500)), int(np.clip(h, 6, 500))
        )

    def centre(self, patch, x0, y0, x1, y1, loose=0.12):
        if patch is None:
            return
        h, w = patch.shape[:2]
        dx, dy = self.rng.normal(0, loose, 2)
        self.put(patch, (x0 + x1 - w) / 2 + dx * (x1 - x0), (y0 + y1 - h) / 2 + dy * (y1 - y0))

    def fill(self, slot):
        rng, (x0, y0, x1, y1) = self.rng, slot["rect"]
        w, h, kind, want = x1 - x0, y1 - y0, slot["kind"], slot["want"]
        if kind in ("check", "bubble"):
            if kind == "bubble" or want == "tick" or rng.random() < 0.7:
                odds = {"bubble": [0.82, 0.06, 0.08, 0.04]}.get(kind, [0.12, 0.5, 0.3, 0.08])
                k = rng.choice(["fill", "tick", "cross", "scribble"], p=odds)
                s = rng.uniform(0.8, 1.15) if k == "fill" else rng.uniform(0.7, 1.7)
                self.centre(self.mark(k, w * s, h * s), x0, y0, x1, y1, 0.1)
                return
        if kind == "option":
            k = rng.choice(
                ["circle", "tick", "cross", "underline", "strike"], p=[0.5, 0.2, 0.14, 0.08, 0.08]
            )
            s = rng.uniform(1, 1.9) if k == "circle" else rng.uniform(0.8, 1.4)
            self.centre(self.mark(k, max(w, h) * s, max(h, 0.5 * w) * s), x0, y0, x1, y1, 0.08)
            return
        if kind == "word":
            self.annotate(x0, y0, x1, y1)
            return
        if kind == "area":
            self.area(x0, y0, x1, y1, want)
            return
        if kind == "margin":
            self.place_free(x0, y0, x1, y1)
            return
        if kind == "sign" or want == "signature":
            self.centre(
                self.text("signature", rng.uniform(0.6, 1.6) * self.em, w * 1.3), x0, y0, x1, y1
            )
            return
        height = min(
            self.body * rng.uniform(0.8, 1.2), (0.55 if kind in ("line", "blank") else 0.62) * h
        )
        if kind in ("comb", "cell", "box") and max(w, h) < 3.2 * self.em:
            height = h * rng.uniform(0.3, 0.6)
        if kind == "line":
            height = max(height, 0.35 * self.em)
        if rng.random() < 0.12 and w > 4 * self.em:
            patch = self.real(height, w, 2.2 * h)
        else:
            want = "block" if self.capitals and want in ("word", "words", "name") else want
            patch = self.text(want, height, w * rng.uniform(0.5, 1.15))
        if patch is None:
            return
        ph, pw = patch.shape[:2]
        if kind in ("line", "blank"):
            x = x0 + rng.uniform(0, 1) * max(w - pw, 0) * rng.uniform(0, 1)
            self.put(patch, x, y1 - ph + 0.25 * height + rng.normal(-0.05, 0.18) * height)
        else:
            self.centre(patch, x0, y0, x1, y1)

    def area(self, x0, y0, x1, y1, want):
        """Answers in free space: several lines of text, working, or a drawing."""
        rng = self.rng
        x0, y0, x1, y1 = (
            max(x0, -60),
            max(y0, -60),
            min(x1, self.side + 60),
            min(y1, self.side + 60),
        )
        w, h = x1 - x0, y1 - y0
        if w < self.em or h < 0.8 * self.em:
            return
        kind = rng.random()
        if kind < 0.1:
            s = rng.uniform(0.4, 1)
            self.centre(
                self.mark(
                    str(rng.choice(["drawing", "curve", "shade", "crayon_area", "arrow", "angle"])),
                    w * s,
                    h * s,
                ),
                x0,
                y0,
                x1,
                y1,
            )
            return
        y, lead = y0 + rng.uniform(0, 0.5) * self.body, self.body * rng.uniform(1.8, 3)
        left, lift = x0 + rng.uniform(0, 0.15) * w, rng.random() < 0.3
        while y < y1 - self.body and rng.random() < 0.96:
            room = x1 - left - rng.uniform(0, 0.4) * w
            if lift:
                patch = self.real(self.body, room, 2.5 * self.body)
            else:
                k = (
                    want
                    if rng.random() < 0.6 and want != "paragraph"
                    else str(rng.choice(BODY_KINDS, p=BODY_ODDS))
                )
                patch = self.text(k, self.body, room, y1 - y + self.body)
            if patch is not None:
                self.put(patch, left + rng.uniform(0, 0.4) * self.em, y)
                lead = max(lead, 0.75 * patch.shape[0])
            y += lead

    def annotate(self, x0, y0, x1, y1):
        """Something done to printed words."""
        rng, w, h = self.rng, x1 - x0, y1 - y0
        k = str(
            rng.choice(
                [
                    "underline",
                    "circle",
                    "strike",
                    "highlight",
                    "wavy",
                    "double_underline",
                    "box",
                    "above",
                    "bracket",
                    "scribble",
                ],
                p=[0.25, 0.18, 0.13, 0.1, 0.06, 0.05, 0.05, 0.1, 0.04, 0.04],
            )
        )
        if rng.random() < 0.4:
            x1 = x0 + w * rng.uniform(1, 6)
            w = x1 - x0
        if k == "above":
            patch = self.text("word", rng.uniform(0.35, 0.6) * self.em, w * 2)
            if patch is not None:
                self.put(patch, x0, y0 - 0.6 * patch.shape[0])
        elif k in ("underline", "wavy", "double_underline"):
            patch = self.mark(k, w, max(0.25 * h, 3))
            self.put(patch, x0, y1 - patch.shape[0] * 0.3 + rng.normal(0, 0.08) * h)
        elif k in ("circle", "box"):
            self.centre(
                self.mark(k, w * rng.uniform(1.1, 1.4) + 0.5 * h, h * rng.uniform(1.2, 2)),
                x0,
                y0,
                x1,
                y1,
                0.04,
            )
        elif k == "bracket":
            patch = self.mark(k, 0.4 * h, h * rng.uniform(1, 4))
            self.put(patch, x0 - patch.shape[1], y0)
        else:
            self.centre(
                self.mark(k, w * rng.uniform(0.95, 1.1), h * rng.uniform(0.6, 1.1)),
                x0,
                y0,
                x1,
                y1,
                0.04,
            )

    def place_free(self, x0, y0, x1, y1):
        rng, w, h = self.rng, x1 - x0, y1 - y0
        patch = self.text(str(rng.choice(BODY_KINDS, p=BODY_ODDS)), self.body, max(w, h) * 0.9)
        if patch is None:
            return
        if h > 2.5 * w and patch.shape[1] > w and rng.random() < 0.6:
            patch = np.rot90(patch, int(rng.choice([1, 3]))).copy()
        self.centre(patch, x0, y0, x1, y1, 0.25)

    def note(self):
        """Writing where no slot is: mostly in empty places, at times over print."""
        rng = self.rng
        size = self.body * float(np.clip(rng.lognormal(0, 0.3), 0.5, 2.5))
        if signed := rng.random() < 0.08:
            patch = self.text(
                "signature", self.em * rng.uniform(0.8, 2.5), rng.uniform(120, self.side)
            )
        elif rng.random() < 0.33:
            patch = self.real(size, rng.uniform(60, self.side), rng.uniform(1.5, 8) * size)
        elif rng.random() < 0.75:
            patch = self.text(
                str(rng.choice(BODY_KINDS, p=BODY_ODDS)), size, rng.uniform(60, self.side)
            )
        else:
            k = str(
                rng.choice(
                    [
                        "tick",
                        "cross",
                        "circle",
                        "arrow",
                        "scribble",
                        "line",
                        "curve",
                        "drawing",
                        "shade",
                        "question",
                        "star",
                        "smiley",
                        "brace",
                        "angle",
                        "dots",
                        "crayon_area",
                        "highlight",
                    ]
                )
            )
            s = size * rng.uniform(1, 6)
            patch = self.mark(k, s * rng.uniform(0.6, 3), s)
        if patch is None:
            return
        patch = self.turned(patch)
        h, w = patch.shape[:2]
        if rng.random() < (0.4 if signed else 0.8):
            x, y = self.blank(w, h)
            if self.print_share(x, y, w, h) > 0.1 and rng.random() < 0.6:
                return
        else:
            x, y = (
                self.between(-0.3 * w, self.side - 0.5 * w),
                self.between(-0.3 * h, self.side - 0.5 * h),
            )
        self.put(patch, x, y)

    def teacher(self):
        """Large marks, mostly red, over and beside everything."""
        rng = self.rng
        if rng.random() < 0.6:
            self.pen = self.inks.pen(rng)
        if rng.random() < 0.4:
            self.pen = replace(self.pen, colour=ink_colour(rng, "red"))
        if rng.random() < 0.5:
            k = str(
                rng.choice(
                    [
                        "tick",
                        "cross",
                        "circle",
                        "score",
                        "question",
                        "underline",
                        "wavy",
                        "star",
                        "strike",
                    ],
                    p=[0.3, 0.15, 0.14, 0.16, 0.05, 0.08, 0.05, 0.03, 0.04],
                )
            )
            s = self.em * rng.uniform(1, 4)
            patch = self.mark(k, s * rng.uniform(0.8, 2.5), s)
        elif rng.random() < 0.25:
            patch = self.text("signature", self.em * rng.uniform(0.8, 1.8), 400)
        else:
            patch = self.text(
                str(rng.choice(["words", "word", "sentence", "number", "cjk"])),
                self.em * rng.uniform(0.4, 1.2),
                420,
            )
        if patch is not None:
            h, w = patch.shape[:2]
            self.put(
                patch,
                self.between(-0.3 * w, self.side - 0.6 * w),
                self.between(-0.3 * h, self.side - 0.6 * h),
            )


def rotate(patch, degrees):
    h, w = patch.shape[:2]
    m = cv2.getRotationMatrix2D((w / 2, h / 2), degrees, 1)
    c, s = abs(m[0, 0]), abs(m[0, 1])
    nw, nh = int(w * c + h * s) + 2, int(w * s + h * c) + 2
    m[0, 2] += (nw - w) / 2
    m[1, 2] += (nh - h) / 2
    return cv2.warpAffine(patch, m, (nw, nh), flags=cv2.INTER_LINEAR, borderValue=(255, 255, 255))
