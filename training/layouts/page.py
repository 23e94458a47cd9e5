"""A page being laid out: its format, faces, colours, language, and places to write.

A design (family and variant number) fixes what makes a layout look like itself; the
page's own random numbers choose the rest. A slot is an <a> element around or over a
blank: Chromium prints it as a link annotation, which tells its place on the page.
"""

import hashlib
import html
import random

from training.layouts import fonts, library, text

VARIANTS = 40  # designs a family has
FORMATS = {  # millimetres
    "A4": (210, 297),
    "Letter": (216, 279),
    "B5": (182, 257),
    "A5": (148, 210),
    "Legal": (216, 330),
    "16K": (195, 270),
}
INKS = ["#111", "#000", "#222", "#333", "#1a1a2e", "#003366", "#14213d"]
ACCENTS = [
    "#c0392b",
    "#1f5fa8",
    "#1e8449",
    "#8e44ad",
    "#d35400",
    "#16a085",
    "#2c3e50",
    "#c2185b",
    "#5d4037",
    "#00838f",
    "#e67e22",
    "#3949ab",
    "#7cb342",
    "#ad1457",
    "#f9a825",
    "#d50000",
    "#0000c8",
    "#008000",
]
RULES = ["solid", "solid", "solid", "dotted", "dashed", "double"]


def escape(value):
    return html.escape(str(value), quote=True)


class Page:
    """Everything a layout family needs to draw one page."""

    def __init__(self, family, variant, lang, seed):
        self.family, self.variant, self.lang = family, variant, lang
        self.split = library.split_of(f"layout:{family}-{variant}")
        self.rng = random.Random(seed)
        self.design = random.Random(f"{family}-{variant}")
        self.faces = []
        self.pt = self.rng.choice((8.5, 9, 9.5, 10, 10, 10.5, 11, 11, 12, 12, 13, 14, 16))
        self.set_format(
            self.design.choice(("A4", "A4", "A4", "Letter", "Letter", "B5", "A5", "16K"))
        )
        self.margin = self.design.choice((10, 14, 16, 18, 20, 24))
        self.ink = self.rng.choice(INKS)
        self.accent = self.rng.choice(ACCENTS) if self.rng.random() < 0.6 else self.ink
        self.rule = self.design.choice(RULES)
        self.rule_width = self.design.choice((0.4, 0.5, 0.75, 0.75, 1, 1.5))
        body_use = "display" if self.rng.random() < 0.04 else "text"
        self.body = self.face(body_use)
        heading = self.rng.choice(("text", "text", "display", "script", "body", "body"))
        self.heading = self.body if heading == "body" else self.face(heading)
        self.right_to_left = lang in text.RIGHT_TO_LEFT
        self.tint = self.rng.choice(
            (
                "#eee",
                "#f2f2f2",
                "#ddd",
                "#e8f0fa",
                "#fdf3d8",
                "#e9f7ec",
                "#fbe9e7",
                "#f3e5f5",
                "#d6e4f0",
                "#fff9c4",
            )
        )

    def set_format(self, name, landscape=False):
        width, height = FORMATS[name] if isinstance(name, str) else name
        self.width, self.height = (height, width) if landscape else (width, height)

    # Faces.

    def face(self, use):
        """Return a CSS family for a use, with the language's own and Latin behind it."""
        face = fonts.pick(self.rng, self.split, self.lang, use)
        if face not in self.faces:
            self.faces.append(face)
        return self.css_name(face)

    def css_name(self, face):
        latin, chinese, japanese = fonts.SPARE
        spare = f", '{japanese}'" if self.lang == "ja" else f", '{latin}', '{chinese}'"
        return (f"'{face.name}'" if face.regular == "local" else f"'{face_id(face)}'") + spare

    # Words.

    def word(self):
        return escape(self.rng.choice(text.words(self.lang)))

    def term(self):
        return escape(self.rng.choice(text.terms(self.lang)))

    def sentence(self):
        return escape(self.rng.choice(text.sentences(self.lang)))

    def paragraph(self, sentences=None):
        gap = "" if self.lang in text.SPACELESS else " "
        count = sentences or self.rng.randint(3, 8)
        parts = [self.sentence() for _ in range(count)]
        full = "。" if self.lang in ("zh-Hans", "zh-Hant", "ja") else "."
        return gap.join(part if part[-1] in ".?!。？！" else part + full for part in parts)

    def characters(self, count):
        found = text.characters(self.lang)
        return [escape(self.rng.choice(found)) for _ in range(count)]

    def title(self):
        return self.term() if self.rng.random() < 0.5 else self.sentence()[:60]

    def label(self, key):
        return escape(text.labels(self.lang)[key])

    def number(self, low=1, high=999):
        return self.rng.randint(low, high)

    # Places to write.

    def want(self, kind="words"):
        """Return what is written here, in the page's script most of the time."""
        own = self.rng.choice(("kana", "cjk")) if self.lang == "ja" else text.WANTS.get(self.lang)
        return own if own and kind in ("word", "words") and self.rng.random() < 0.8 else kind

    def slot(self, kind, want, inner="", style="", css=""):
        """Return an inline element that marks a place to write."""
        return (
            f'<a class="s {css}" href="https://slot.invalid/{kind}/{want}" '
            f'style="{style}">{inner}</a>'
        )

    def over(self, kind, want):
        """Return a slot that covers its positioned parent (position: relative)."""
        return self.slot(kind, want, style="position:absolute;inset:0")

    def line(self, want, width="100%", height=None):
        """Return an answer rule with the room above it."""
        height = height or self.rng.uniform(1.5, 2.6)
        style = (
            f"display:inline-block;width:{width};height:{height:.2f}em;vertical-align:bottom;"
            f"border-bottom:{self.rule_width}pt {self.rule} {self.ink}"
        )
        return self.slot("line", want, style=style)

    def lines(self, count, want="sentence", height=None):
        height = height or self.rng.uniform(1.6, 2.8)
        return "".join(
            f"<div>{self.line(self.want(want), height=height)}</div>" for _ in range(count)
        )

    def blank(self, want="word", ems=None):
        """Return a gap in a text: underscores, a rule, a box or brackets."""
        ems = ems or self.rng.uniform(3, 8)
        style = self.design.choice(
            ("rule", "rule", "underscores", "box", "brackets", "wide", "dots")
        )
        want = self.want(want)
        if style == "underscores":
            return self.slot("blank", want, "_" * int(ems * 2))
        if style == "dots":
            return self.slot("blank", want, self.rng.choice((".", "…")) * int(ems * 2))
        if style in ("brackets", "wide"):
            left, right = ("（", "）") if self.lang in text.SPACELESS else ("(", ")")
            inner = self.slot(
                "blank",
                want,
                style=f"display:inline-block;width:{ems * 0.7:.1f}em;height:1.2em;vertical-align:middle",
            )
            return left + inner + right
        border = (
            f"border:{self.rule_width}pt solid {self.ink}"
            if style == "box"
            else f"border-bottom:{self.rule_width}pt {self.rule} {self.ink}"
        )
        return self.slot(
            "blank",
            want,
            style=f"display:inline-block;width:{ems:.1f}em;height:1.5em;"
            f"vertical-align:text-bottom;margin:0 .2em;{border}",
        )

    def box(self, want, width="100%", height="2em", kind="box", css=""):
        style = (
            f"display:inline-block;width:{width};height:{height};"
            f"border:{self.rule_width}pt {self.rule} {self.ink};{css}"
        )
        return self.slot(kind, want, style=style)

    def check(self, kind="check", round_=None):
        """Return a square or circle to tick, its look the design's."""
        size = self.design.choice((0.8, 0.95, 1.1, 1.3))
        round_ = self.design.random() < 0.25 if round_ is None else round_
        radius = "50%" if round_ else self.design.choice(("0", "0", "15%"))
        return self.slot(
            kind,
            "tick",
            style=f"display:inline-block;width:{size}em;height:{size}em;"
            f"border:{self.rule_width}pt solid {self.ink};border-radius:{radius};"
            "vertical-align:-0.15em;margin:0 .25em",
        )

    def comb(self, cells, want="digit", size=1.5):
        """Return a row of character cells: one slot for the row, one for each cell."""
        open_top = self.design.random() < 0.3
        edge = f"{self.rule_width}pt solid {self.ink}"
        cell = (
            f"width:{size}em;height:{size * 1.2:.2f}em;box-sizing:border-box;border:{edge};"
            + ("border-top:none;" if open_top else "")
            + f"margin-right:{-self.rule_width}pt"
        )
        if self.design.random() < 0.25:
            cell += ";margin-right:.25em"
        inner = "".join(
            f'<span style="position:relative;display:inline-block;{cell}">'
            f"{self.over('comb', want)}</span>"
            for _ in range(cells)
        )
        return (
            f'<span style="position:relative;display:inline-block;white-space:nowrap;'
            f'vertical-align:middle">{self.over("combrow", want)}{inner}</span>'
        )

    def grid(self, rows, columns, cell, size="2.4em"):
        """Return a table of square cells; cell(row, column) gives class and inside."""
        out = []
        for row in range(rows):
            cells = "".join(
                f'<td style="width:{size};height:{size};min-width:{size}" {cell(row, column)}</td>'
                for column in range(columns)
            )
            out.append(f"<tr>{cells}</tr>")
        return f'<table class="grid">{"".join(out)}</table>'

    # The whole.

    def html(self, inside):
        """Return the page as an element of its own, its named @page and faces."""
        name = f"p{id(self):x}"
        width, height, margin = self.width, self.height, self.margin
        leading = self.design.choice((1.15, 1.25, 1.35, 1.5, 1.7))
        direction = "rtl" if self.right_to_left else "ltr"
        style = (
            f"page:{name};width:{width}mm;height:{height - 0.5}mm;padding:{margin}mm;"
            f"font-family:{self.body};font-size:{self.pt}pt;line-height:{leading};color:{self.ink};"
            f"--edge:{self.rule_width}pt solid {self.ink};--accent:{self.accent};--tint:{self.tint};"
            f"--heading:{self.heading}"
        )
        return (
            f"<style>@page {name}{{size:{width}mm {height}mm;margin:0}}</style>"
            f'<section class="page" lang="{self.lang}" dir="{direction}" '
            f'style="{escape(style)}">{inside}</section>'
        )


def face_id(face):
    return "f" + hashlib.sha256(face.regular.encode()).hexdigest()[:12]


def face_rules(faces):
    """Return the @font-face rules of the faces that are files."""
    rules = []
    for face in faces:
        if face.regular != "local":
            for path, weight in ((face.regular, "normal"), (face.bold, "bold")):
                if path:
                    rules.append(
                        f"@font-face{{font-family:'{face_id(face)}';font-weight:{weight};"
                        f'src:url("file://{path}")}}'
                    )
    return "".join(rules)
