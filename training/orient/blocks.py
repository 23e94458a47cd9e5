"""Small blocks of print in every language and face: what the orientation network learns to read.

A sheet is a grid of blocks, each laid out by itself: paragraphs, headings, lists, sums, tables,
dates, labels beside lines to write on, single words, words amid drawing. Unlike a page, a block has
nothing but its print to tell which way up it lies: it is aligned to either side, whichever way its
script runs.
"""

import pathlib
import random
import tempfile

import cv2
import pymupdf

from training.layouts import fonts, library, text
from training.layouts.page import VARIANTS, Page, escape, face_rules
from training.layouts.press import STYLE, print_pdf

EMS = 16  # a block's side
ACROSS = 12  # blocks in a row and in a column of a sheet
POINT = 10  # the em of the sheet in points


def running(page):
    return f"<div>{page.paragraph(page.rng.randint(1, 7))}</div>"


def headed(page):
    size = page.rng.uniform(1.1, 2)
    return (
        f'<div style="font-size:{size:.2f}em;font-weight:bold">{page.title()}</div>{running(page)}'
    )


def few(page):
    count = page.rng.randint(1, 3)
    return "".join(
        f'<div style="margin:{page.rng.uniform(0, 3):.1f}em {page.rng.uniform(0, 6):.1f}em">{page.term()}</div>'
        for _ in range(count)
    )


def drawn(page):
    """A few words amid lines, circles or waves, as on a cheque, a maze or a page of clocks."""
    rng, side = page.rng, EMS * POINT

    def place():
        return f"{rng.uniform(0, side):.0f}"

    shapes = rng.choice(
        (
            lambda: f'<circle cx="{place()}" cy="{place()}" r="{rng.uniform(4, 30):.0f}"/>',
            lambda: (
                f'<path d="M{place()} {place()}{rng.choice("HV")}{place()}{rng.choice("HV")}{place()}"/>'
            ),
            lambda: f'<path d="M0 {place()}' + f"q4 {rng.uniform(-8, 8):.0f} 8 0t8 0" * 14 + '"/>',
        )
    )
    figure = "".join(shapes() for _ in range(rng.randint(3, 30)))
    return (
        f'<svg style="position:absolute;left:0;top:0" width="{side}pt" height="{side}pt" viewBox="0 0 {side} {side}" fill="none" '
        f'stroke="{rng.choice(("#bbb", "#777", page.ink))}" stroke-width="{rng.uniform(0.3, 1.5):.1f}">{figure}</svg>'
        f'<div style="position:relative">{few(page)}</div>'
    )


def dates(page):
    """Numbers in a grid, as on a calendar or a board."""
    rng, columns = page.rng, page.rng.choice((4, 5, 7, 7, 7))
    first, step = rng.randint(1, 40), rng.choice((1, 1, 1, 2, 7))
    heads = "".join(f"<td>{page.word()[: rng.choice((1, 2, 3))]}</td>" for _ in range(columns))
    rows = "".join(
        "<tr>"
        + "".join(f"<td>{first + step * (row * columns + i)}</td>" for i in range(columns))
        + "</tr>"
        for row in range(rng.randint(2, 8))
    )
    return (
        f'<div>{page.term()}</div><table class="{rng.choice(("ruled", ""))}" style="--edge:{page.rule_width}pt solid;'
        f'line-height:{rng.uniform(1, 2.6):.1f}"><tr>{heads}</tr>{rows}</table>'
    )


def listed(page):
    mark = page.rng.choice(("{}.", "({})", "{})", "•", "–", "□"))
    return "".join(
        f"<div>{mark.format(n)} {page.term() if page.rng.random() < 0.6 else page.sentence()}</div>"
        for n in range(page.rng.randint(1, 20), 30)
    )


def sums(page):
    def one():
        a, b = page.number(), page.number()
        return f"{a} {page.rng.choice('+−×÷')} {b} = {page.rng.choice(('', '____', a + b))}"

    height = page.rng.uniform(1.1, 2.6)
    return "".join(
        f'<div style="display:flex;justify-content:space-between;line-height:{height:.1f}"><span>{one()}</span><span>{one()}</span></div>'
        for _ in range(page.rng.randint(1, 12))
    )


def table(page):
    columns = page.rng.randint(2, 5)
    rows = "".join(
        "<tr>"
        + "".join(
            f"<td>{page.term() if page.rng.random() < 0.4 else page.number()}</td>"
            for _ in range(columns)
        )
        + "</tr>"
        for _ in range(page.rng.randint(2, 12))
    )
    return f'<table class="{page.rng.choice(("ruled", "ruled", ""))}" style="--edge:{page.rule_width}pt solid">{rows}</table>'


def labelled(page):
    keys = page.rng.sample(
        ("name", "class", "date", "score", "address", "phone", "signature", "total"),
        page.rng.randint(1, 6),
    )
    return "".join(
        f'<div style="display:flex;line-height:{page.rng.uniform(1.3, 2.6):.1f}">{page.label(k)}: {page.line("words")}</div>'
        for k in keys
    )


KINDS = {
    running: 8,
    headed: 4,
    few: 4,
    drawn: 3,
    listed: 3,
    sums: 2,
    table: 3,
    dates: 2,
    labelled: 3,
}


def languages(split):
    """The languages that the split has faces for, and how often each comes: rare ones more than
    among pages."""
    found = [lang for lang in text.LANGUAGES if fonts.pool(split, lang, "text")]
    return found, [text.LANGUAGES[lang] ** 0.5 for lang in found]


def block(split, rng):
    """One block laid out: (Page, HTML)."""
    variants = [v for v in range(VARIANTS) if library.split_of(f"layout:block-{v}") == split]
    page = Page("block", rng.choice(variants), rng.choices(*languages(split))[0], rng.random())
    page.faces = []
    face = page.face(
        rng.choices(("text", "mono", "typewriter", "display", "script"), (14, 1, 1, 2, 1))[0]
    )
    inside = rng.choices(list(KINDS), list(KINDS.values()))[0](page)
    vertical = (
        ";writing-mode:vertical-rl"
        if page.lang in ("ja", "zh-Hant") and rng.random() < 0.25
        else ""
    )
    shade = rng.choice(("#fff",) * 8 + (page.tint, "#ccc"))
    ink = rng.choice((page.ink,) * 6 + ("#666", "#999"))
    ink, shade = (shade, "#222") if rng.random() < 0.03 else (ink, shade)
    style = (
        f"font-family:{face};font-size:{rng.uniform(0.75, 1.5) * POINT:.1f}pt;line-height:{rng.choice((1.1, 1.25, 1.4, 1.7))};"
        f"font-weight:{rng.choice(('normal',) * 4 + ('bold',))};font-style:{rng.choice(('normal',) * 6 + ('italic',))};"
        f"color:{ink};background:{shade};width:{EMS}em;height:{EMS}em{vertical}"
    )
    if rng.random() < 0.1:
        style += f";letter-spacing:{rng.uniform(0.05, 0.4):.2f}em"
    place = f"text-align:{rng.choice(('start', 'start', 'justify', 'center', 'end'))};margin:{rng.uniform(-3, 4):.1f}em {rng.uniform(-3, 3):.1f}em"
    cell = f"position:relative;overflow:hidden;width:{EMS * POINT}pt;height:{EMS * POINT}pt;background:{shade}"
    rtl = page.right_to_left != (rng.random() < 0.2)
    return page, (
        f'<div style="{cell}"><div lang="{page.lang}" dir="{"rtl" if rtl else "ltr"}" style="{escape(style)}">'
        f'<div style="{place}">{inside}</div></div></div>'
    )


def sheets(split, count, seed, em):
    """Prints sheets of blocks; yields each block, grey uint8 [EMS * em, EMS * em]."""
    rng = random.Random(f"{split}-{seed}")
    blocks = [block(split, rng) for _ in range(count * ACROSS * ACROSS)]
    faces = {face for page, _ in blocks for face in page.faces}
    side = EMS * POINT * ACROSS
    per = ACROSS * ACROSS
    body = "".join(
        f'<section class="page" style="width:{side}pt;height:{side}pt;display:grid;font-size:{POINT}pt;'
        f'grid-template-columns:repeat({ACROSS},{EMS * POINT}pt);grid-auto-rows:{EMS * POINT}pt">'
        + "".join(markup for _, markup in blocks[i * per :][:per])
        + "</section>"
        for i in range(count)
    )
    head = f"<!doctype html><meta charset=utf-8><style>@page{{size:{side}pt {side}pt;margin:0}}{face_rules(faces)}{STYLE}</style>"
    with tempfile.TemporaryDirectory() as folder:
        with pymupdf.open(print_pdf(f"{head}<body>{body}", pathlib.Path(folder))) as document:
            for sheet in list(document)[:count]:
                grey = cv2.cvtColor(library.pixels(sheet, em / POINT), cv2.COLOR_RGB2GRAY)
                cell = EMS * em
                for y in range(0, ACROSS * cell, cell):
                    for x in range(0, ACROSS * cell, cell):
                        yield grey[y : y + cell, x : x + cell]
