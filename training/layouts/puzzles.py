"""Puzzles: sudoku, crosswords, word searches, mazes, dots to join."""

from training.layouts import family, figures
from training.layouts.school import header


def sudoku_grid(page, size):
    rng = page.rng
    box = 3 if size == 9 else 2
    base = list(range(size))
    rows = [
        box * g + r
        for g in rng.sample(range(size // box), size // box)
        for r in rng.sample(range(box), box)
    ]
    columns = [
        box * g + c
        for g in rng.sample(range(size // box), size // box)
        for c in rng.sample(range(box), box)
    ]
    digits = rng.sample(base, size)
    shown = rng.uniform(0.3, 0.55)
    shade = page.design.random() < 0.3

    def cell(r, c):
        value = digits[(box * (rows[r] % box) + rows[r] // box + columns[c]) % size] + 1
        edges = (
            f"border-top-width:{2 if r % box == 0 else 0.5}pt;border-left-width:{2 if c % box == 0 else 0.5}pt;"
            f"border-bottom-width:{2 if r == size - 1 else 0.5}pt;border-right-width:{2 if c == size - 1 else 0.5}pt"
        )
        ground = ";background:var(--tint)" if shade and (r // box + c // box) % 2 else ""
        inside = str(value) if rng.random() < shown else page.over("cell", "digit")
        return f'data-x style="{edges}{ground}">{inside}'

    return cell


@family(4)
def sudoku(page):
    """One to six sudoku grids with titles."""
    design = page.design
    count, columns, size = design.choice(
        ((1, 1, 4.2), (2, 1, 2.6), (4, 2, 2), (6, 2, 1.7), (4, 2, 1.9))
    )
    n = design.choice((9, 9, 9, 4))
    room = (page.width - 2 * page.margin) / 0.353 / page.pt / columns / (n + 1.5)
    size = min(size * 9 / n, room)
    grids = "".join(
        f'<div class="mid"><div>{page.term()} {k + 1}</div>{page.grid(n, n, fixed(sudoku_grid(page, n), size), f"{size:.2f}em")}</div>'
        for k in range(count)
    )
    return f'<h1 class="mid">{page.title()}</h1><div style="display:grid;grid-template-columns:repeat({columns},auto);gap:1.2em;justify-content:space-around">{grids}</div><p>{page.paragraph(2)}</p>'


def fixed(cell, size):
    """Give a grid's cells their size in the same style attribute as their own."""

    def sized(r, c):
        return cell(r, c).replace(
            'data-x style="', f'style="width:{size:.2f}em;height:{size:.2f}em;'
        )

    return sized


@family(4)
def crossword(page):
    """A crossword with numbered cells, black squares or gaps, and its clues."""
    rng, design = page.rng, page.design
    n = design.choice((9, 11, 13, 15))
    room = (page.width - 2 * page.margin) / 0.353 / page.pt / (n + 1)
    size = min(design.uniform(1.6, 2.3), room)
    black = [[rng.random() < 0.2 for _ in range(n)] for _ in range(n)]
    style = design.choice(("black", "black", "open", "grey"))
    number = [0]

    def cell(r, c):
        if black[r][c] or black[n - 1 - r][n - 1 - c]:
            return (
                'style="'
                + {
                    "black": "background:#000",
                    "grey": "background:#999",
                    "open": "border-color:transparent",
                }[style]
                + '">'
            )
        starts = (c == 0 or black[r][c - 1]) or (r == 0 or black[r - 1][c])
        label = ""
        if starts and rng.random() < 0.8:
            number[0] += 1
            label = f'<span style="position:absolute;top:0;left:1px;font-size:.5em;line-height:1.1">{number[0]}</span>'
        filled = page.characters(1)[0].upper() if rng.random() < 0.03 else ""
        return f'style="border:var(--edge)">{label}{filled or page.over("cell", "letter" if page.want() == "words" else page.want("word"))}'

    grid = page.grid(n, n, fixed_plain(cell, size), f"{size:.2f}em")
    clues = "".join(
        f'<div style="break-inside:avoid"><b>{k}</b> {page.sentence() if rng.random() < 0.4 else page.term()}</div>'
        for k in range(1, 50)
    )
    return f'<h1>{page.title()}</h1><div style="margin:.4em auto">{grid}</div><div class="flow" style="columns:{design.choice((2, 3))};column-fill:auto;font-size:.85em">{clues}</div>'


def fixed_plain(cell, size):
    def sized(r, c):
        return cell(r, c).replace('style="', f'style="width:{size:.2f}em;height:{size:.2f}em;', 1)

    return sized


@family(2)
def word_search(page):
    """A square of letters and a list of words to find in it."""
    design = page.design
    n = design.choice((10, 12, 14, 16))
    edge = design.choice((".5pt solid", "0 solid"))
    upper = design.random() < 0.7
    size = min(2.2, (page.width - 2 * page.margin) / 0.353 / page.pt / (n + 1))

    def letters():
        return [c.upper() if upper else c for c in page.characters(n)]

    rows = "".join(
        "<tr>"
        + "".join(
            f'<td style="width:{size:.2f}em;height:{size:.2f}em;padding:0;border:{edge}">{c}</td>'
            for c in letters()
        )
        + "</tr>"
        for _ in range(n)
    )
    bank = "".join(
        f"<div>{page.slot('word', 'tick', page.word())}</div>" for _ in range(page.number(8, 20))
    )
    return (
        header(page)
        + f'<table class="mid" style="margin:.8em auto;border:{design.choice((0, 1, 2))}pt solid">{rows}</table><div style="columns:{design.choice((3, 4))}">{bank}</div><div style="flex:1"></div>'
    )


@family(2)
def mazes(page):
    """One large maze or several small ones."""
    rng, design = page.rng, page.design
    count, columns, n = design.choice(((1, 1, 22), (2, 1, 14), (4, 2, 12), (6, 2, 9)))
    parts = "".join(
        f'<div style="padding:0 1em">{page.term()}{page.slot("area", "tick", figures.maze(rng, n if columns > 1 or count == 1 else n // 2 + 2, n), "display:block")}</div>'
        for _ in range(count)
    )
    return f'<h1 class="mid">{page.title()}</h1><div class="flow"><div style="display:grid;grid-template-columns:repeat({columns},1fr);gap:1em">{parts}</div></div>'


@family(2)
def dot_to_dot(page):
    """Numbered dots to join, beside clip art."""
    rng = page.rng
    count = rng.randint(15, 50)
    parts = []
    for k in range(count):
        x, y = figures.polar(200, 160, rng.uniform(70, 150), k * 6.283 / count)
        parts.append(
            f'<circle cx="{x:.0f}" cy="{y:.0f}" r="2.5" fill="currentColor"/>'
            + figures.svg_text(x + 8, y - 4, k + 1, 10)
        )
    drawing = figures.svg(400, 320, "".join(parts), "width:100%")
    return (
        header(page)
        + f'<p>{page.sentence()}</p><div style="position:relative">{drawing}{page.over("area", "tick")}</div><div style="display:flex;justify-content:space-around">{"".join(figures.clip_art(rng, "height:7em") for _ in range(3))}</div>{page.lines(3)}'
    )


@family(2)
def game_board(page):
    """Bingo cards, number grids, flash cards, board games, noughts and crosses."""
    rng, design = page.rng, page.design
    kind = design.choice(("bingo", "hundred", "cards", "path", "noughts"))
    head = header(page) if design.random() < 0.6 else f'<h1 class="mid">{page.title()}</h1>'
    if kind == "hundred":
        size = (page.width - 2 * page.margin) / 0.353 / page.pt / 11
        gaps = rng.uniform(0, 0.6)

        def cell(r, c):
            return f'style="border:var(--edge)">{page.over("cell", "number") if rng.random() < gaps else 10 * r + c + 1}'

        return head + page.grid(10, 10, fixed_plain(cell, size), f"{size:.1f}em") + page.lines(4)
    if kind == "noughts":
        size = 2.4
        grids = "".join(
            page.grid(
                3,
                3,
                fixed_plain(
                    lambda r, c: 'style="border:var(--edge)">' + page.over("cell", "letter"), size
                ),
                f"{size}em",
            )
            for _ in range(9)
        )
        return (
            head
            + f'<div class="flow" style="display:grid;grid-template-columns:repeat(3,auto);gap:2em;justify-content:space-around;align-content:start">{grids}</div>'
        )
    count = {"bingo": 25, "cards": 12, "path": 40}[kind]
    columns = {"bingo": 5, "cards": 3, "path": 8}[kind]
    cells = ""
    for k in range(count):
        inside = rng.choice(
            (
                page.term(),
                figures.clip_art(rng, "height:3.2em"),
                str(k + 1),
                f'<b style="font-size:2em">{rng.randint(1, 99)}</b>',
            )
        )
        ground = (
            f"background:{rng.choice(('#ffe0b2', '#c8e6c9', '#bbdefb', '#f8bbd0', '#fff', '#fff'))}"
            if design.random() < 0.5
            else ""
        )
        slot = (
            page.slot("cell", "tick", style="position:absolute;inset:0") if kind == "bingo" else ""
        )
        cells += f'<div style="position:relative;border:{design.choice((1, 2))}pt {page.rule};border-radius:{design.choice((0, 8))}pt;display:flex;align-items:center;justify-content:center;overflow:hidden;min-height:0;{ground}">{inside}{slot}</div>'
    return (
        head
        + f'<div style="flex:1;min-height:0;display:grid;grid-template-columns:repeat({columns},1fr);grid-auto-rows:1fr;gap:{design.choice((0, 3, 6))}pt">{cells}</div>'
    )
