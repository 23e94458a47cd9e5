"""Forms: government, medical, school, tax, club; checklists, timetables, calendars."""

from training.layouts import family, figures
from training.layouts.school import data_table, squared

WANTS = ("name", "word", "words", "date", "phone", "number", "money", "code", "words")


def banner(page):
    """Return a form's head: logo, title, number, perhaps a bar code and a box for the office."""
    rng, design = page.rng, page.design
    left = figures.logo(rng, 4) if design.random() < 0.6 else ""
    code = figures.barcode(rng, "2.6em") if design.random() < 0.35 else ""
    office = (
        f'<div style="border:var(--edge);background:var(--tint);width:11em;height:4em;position:relative;font-size:.75em;padding:.2em">'
        f"{page.term()}{page.over('box', 'code')}</div>"
        if design.random() < 0.35
        else ""
    )
    look = design.choice(
        (
            "",
            "background:var(--accent);color:#fff;padding:.4em",
            "border-bottom:2pt solid var(--accent)",
            "background:#222;color:#fff;padding:.4em",
            "border:1pt solid;padding:.4em",
        )
    )
    inherit = "color:inherit" if "#fff" in look else ""
    return (
        f'<div style="display:flex;align-items:center;gap:1em;{look}">{left}<div style="flex:1"><h1 style="font-size:{design.uniform(1.2, 1.9):.2f}em;margin:0;{inherit}">{page.title()}</h1>'
        f'<div style="font-size:.85em">{page.term()} · {page.term()} {page.number(100, 9999)}</div></div>{code}{office}</div>'
    )


def section(page, title):
    look = page.design.choice(
        (
            "background:#222;color:#fff",
            "background:var(--accent);color:#fff",
            "background:var(--tint)",
            "border-bottom:1.5pt solid var(--accent);color:var(--accent)",
            "font-weight:bold",
            "border:1pt solid",
        )
    )
    return f'<div style="{look};padding:.15em .5em;margin-top:.5em">{title}</div>'


def want_of(page):
    return page.want(page.rng.choice(WANTS))


def field(page, style, label=None):
    """Return one labelled field in a style: rule, cell with small label, box, comb, dots."""
    rng = page.rng
    label = label or (
        page.label(rng.choice(("name", "address", "phone", "date")))
        if rng.random() < 0.4
        else page.term()
    )
    want = want_of(page)
    if style == "rule":
        return f'<div class="row" style="gap:.4em;margin-top:.5em"><span style="white-space:nowrap">{label}</span>{page.line(want)}</div>'
    if style == "under":
        return f'<div style="margin-top:.4em">{page.line(want, height=2)}<div style="font-size:.7em">{label}</div></div>'
    if style == "cell":
        return (
            f'<div style="position:relative;border:var(--edge);margin:0 {-page.rule_width}pt {-page.rule_width}pt 0;height:{page.design.uniform(2.4, 3.4):.1f}em;font-size:1em">'
            f'<span style="font-size:.62em;padding:.2em;line-height:1;position:absolute">{label}</span>{page.slot("cell", want, style="position:absolute;inset:.7em 0 0 0")}</div>'
        )
    if style == "box":
        return f'<div style="margin-top:.4em"><div style="font-size:.85em">{label}</div>{page.box(want, "100%", "1.9em", "box", ";background:#fff")}</div>'
    if style == "comb":
        return f'<div style="margin-top:.5em"><div style="font-size:.8em">{label}</div>{page.comb(rng.randint(4, 14), rng.choice(("digit", "letter", "letter")))}</div>'
    return f'<div style="margin-top:.4em;white-space:nowrap;overflow:hidden">{label} {page.slot("line", want, "." * 90)}</div>'


def choices(page):
    rng = page.rng
    return (
        f'<div style="margin-top:.4em">{page.term()}: '
        + " &ensp; ".join(
            f"<span style='white-space:nowrap'>{page.check()}{page.term()}</span>"
            for _ in range(rng.randint(2, 6))
        )
        + "</div>"
    )


def signature(page):
    seal = (
        f'<div style="margin-inline-start:auto">{figures.stamp(page.rng, page.word)}</div>'
        if page.rng.random() < 0.3
        else ""
    )
    return (
        f'<div class="row" style="margin-top:1.2em"><div style="flex:1">{page.line("date", height=2.4)}<div style="font-size:.8em">{page.label("date")}</div></div>'
        f'<div style="flex:2">{page.slot("sign", "signature", style="display:block;height:3em;border-bottom:var(--edge)")}<div style="font-size:.8em">{page.label("signature")}</div></div>{seal}</div>'
    )


@family(9)
def form(page):
    """A form of sections: fields in a grid, choices, tables, a declaration and signature."""
    rng, design = page.rng, page.design
    style = design.choice(("rule", "rule", "under", "cell", "cell", "box", "comb", "dots"))
    columns = design.choice((1, 2, 2, 3, 4)) if style != "comb" else design.choice((1, 2))
    tint = design.random() < 0.25
    parts = []
    for number in range(1, 9):
        title = f"{number}. {page.title()}" if design.random() < 0.6 else page.title()
        fields = []
        for _ in range(rng.randint(3, 10)):
            span = rng.choice((1, 1, 1, min(2, columns), columns))
            kind = style if rng.random() < 0.85 else rng.choice(("comb", "rule", "box"))
            fields.append(
                f'<div style="grid-column:span {span};min-width:0;overflow:hidden;padding-bottom:1pt">{field(page, kind)}</div>'
            )
        gap = "0" if style == "cell" else "0 1em"
        body = f'<div style="display:grid;grid-template-columns:repeat({columns},1fr);gap:{gap}">{"".join(fields)}</div>'
        extra = rng.choice(
            (
                "",
                "",
                choices(page),
                choices(page) + choices(page),
                f"<p style='font-size:.8em'>{page.paragraph(2)}</p>",
                data_table(page, True),
            )
        )
        ground = "background:var(--tint);padding:.5em" if tint else ""
        parts.append(
            f'<div style="break-inside:avoid;{ground}">{section(page, title)}{body}{extra}</div>'
        )
    parts.insert(
        rng.randint(2, 5),
        f'<div><p style="font-size:.85em">{page.paragraph(3)}</p>{signature(page)}</div>',
    )
    border = design.choice(("", "", "border:1pt solid;padding:.6em"))
    return f'<div style="{border};flex:1;min-height:0;display:flex;flex-direction:column">{banner(page)}<div class="flow">{"".join(parts)}</div><div style="font-size:.7em">{page.term()} {page.number(10, 999)}/{page.number(1, 99)}</div></div>'


@family(4)
def comb_form(page):
    """A form for machine reading: combs throughout, in a drop-out colour at times."""
    rng, design = page.rng, page.design
    page.ink = design.choice((page.ink, "#c2185b", "#2e7d32", "#e65100", "#1565c0", "#111"))
    size = design.choice((1.3, 1.5, 1.8))
    room = int((page.width - 2 * page.margin) / 0.353 / page.pt / size) - 2
    parts = []
    for i in range(26):
        count = min(room, rng.choice((2, 4, 6, 8, 10, 14, 20, 26)))
        if rng.random() < 0.2:
            row = " - ".join(page.comb(n, "digit", size) for n in (2, 2, 4))
        else:
            row = page.comb(count, rng.choice(("digit", "letter", "letter")), size)
        parts.append(
            f'<div style="margin-top:.5em;white-space:nowrap"><div style="font-size:.75em">{i + 1}. {page.term()}</div>{row}</div>'
            if rng.random() < 0.85
            else choices(page)
        )
    return banner(page) + f'<div class="flow">{"".join(parts)}</div>' + signature(page)


@family(3)
def questionnaire(page):
    """A survey: scales of circles or boxes in a table, open questions with lines."""
    rng, design = page.rng, page.design
    columns = design.choice((4, 5, 5, 7, 11))
    numbers = design.random() < 0.5
    kind = design.choice(("check", "circle", "number"))

    def mark(k):
        if kind == "number":
            return page.slot("option", "tick", str(k))
        return page.check("check", kind == "circle")

    head = "".join(
        f"<th style='font-size:.75em'>{k if numbers or columns > 5 else page.term()[:14]}</th>"
        for k in range(1, columns + 1)
    )
    parts = []
    for _ in range(4):
        rows = "".join(
            f'<tr style="{"background:var(--tint)" if design.random() < 0.5 and i % 2 else ""}"><td style="text-align:start;width:50%">{i}. {page.sentence()}</td>'
            + "".join(f'<td class="mid">{mark(k)}</td>' for k in range(1, columns + 1))
            + "</tr>"
            for i in range(1, rng.randint(4, 9))
        )
        css = "ruled" if design.random() < 0.6 else ""
        parts.append(
            f'<div>{section(page, page.title())}<table class="{css}" style="width:100%"><tr><th></th>{head}</tr>{rows}</table></div>'
        )
        parts.append(f"<div>{page.sentence()}{page.lines(rng.randint(1, 4))}</div>")
        parts.append(f"<div>{choices(page)}</div>")
    return banner(page) + f'<div class="flow">{"".join(parts)}</div>'


@family(3)
def table_form(page):
    """A form that is one large table: record sheets, attendance, logs, stock lists."""
    rng, design = page.rng, page.design
    landscape = design.random() < 0.4
    if landscape:
        page.width, page.height = page.height, page.width
    columns = design.randint(4, 12 if landscape else 8)
    widths = [design.uniform(1, 4) for _ in range(columns)]
    height = design.uniform(1.6, 3)
    wants = [design.choice(WANTS) for _ in range(columns)]
    shade = design.choice(
        (
            "background:var(--tint)",
            "background:var(--accent);color:#fff",
            "border-bottom:2pt solid",
            "background:#333;color:#fff",
        )
    )
    head = "".join(
        f"<th style='width:{w * 100 / sum(widths):.0f}%;font-size:.8em'>{page.term()[:18]}</th>"
        for w in widths
    )
    rows = []
    for i in range(60):
        cells = "".join(
            f"<td>{i + 1 if c == 0 and design.random() < 2 else page.over('cell', page.want(wants[c]))}</td>"
            if c == 0 or rng.random() > 0.06
            else f"<td>{page.term()[:10]}</td>"
            for c in range(columns)
        )
        zebra = "background:var(--tint)" if design.random() < 2 and i % 2 and columns % 2 else ""
        rows.append(f'<tr style="height:{height:.1f}em;{zebra}">{cells}</tr>')
    head_row = f'<tr style="{shade}">{head}</tr>'
    table = f'<table class="ruled" style="width:100%;table-layout:fixed">{head_row}'
    room = int((page.height - 2 * page.margin) / 0.353 / page.pt / height * 0.72)
    return (
        banner(page)
        + f'<div class="row" style="margin:.5em 0">{field(page, "rule")}{field(page, "rule")}</div>{table}{"".join(rows[:room])}</table>'
        + signature(page)
    )


@family(2)
def checklist(page):
    """Items to tick, in groups, with notes."""
    design = page.design
    parts = []
    for _ in range(6):
        items = "".join(
            f'<div style="break-inside:avoid">{page.check()} {page.sentence() if design.random() < 0.5 else page.term()}</div>'
            for _ in range(page.number(4, 10))
        )
        parts.append(f"<div>{section(page, page.title())}{items}</div>")
    notes = squared(page, 6, "paragraph") if design.random() < 0.5 else page.lines(4)
    return (
        banner(page)
        + f'<div class="flow" style="columns:{design.choice((1, 2))};column-fill:auto">{"".join(parts)}</div><b>{page.term()}</b>{notes}'
    )


@family(2)
def calendar(page):
    """A month with large cells, or a year of small months."""
    rng, design = page.rng, page.design
    page.set_format("A4", design.random() < 0.5)
    days = [page.term()[:5] for _ in range(7)]
    start, count = rng.randint(0, 6), rng.randint(28, 31)

    def month(large):
        cells = []
        for k in range(42):
            day = k - start + 1
            inside = str(day) if 1 <= day <= count else ""
            red = "color:#d32f2f" if k % 7 in (0, 6) else ""
            slot = (
                page.slot("cell", page.want("words"), style="position:absolute;inset:1.3em 0 0 0")
                if large and inside
                else ""
            )
            cells.append(
                f'<td style="vertical-align:top;text-align:start;{red}">{inside}{slot}</td>'
            )
        rows = "".join(f"<tr>{''.join(cells[r * 7 : r * 7 + 7])}</tr>" for r in range(6))
        head = "".join(
            f"<th style='height:1.6em;background:var(--tint)'>{day}</th>" for day in days
        )
        size = (
            "width:100%;height:100%;table-layout:fixed"
            if large
            else "width:100%;font-size:.7em;table-layout:fixed"
        )
        return f'<table class="{"ruled" if large else ""}" style="{size}"><tr>{head}</tr>{rows}</table>'

    head = f'<h1 class="mid" style="font-size:2.4em">{page.term()} {page.number(1990, 2040)}</h1>'
    if design.random() < 0.7:
        art = (
            figures.photo(rng, "width:100%;height:100%;object-fit:cover")
            if design.random() < 0.4 and page.height > page.width
            else ""
        )
        picture = f'<div style="height:35%">{art}</div>' if art else ""
        return f'{picture}{head}<div style="flex:1;min-height:0">{month(True)}</div>'
    return (
        head
        + f'<div style="display:grid;grid-template-columns:repeat(3,1fr);gap:1em">{"".join(f"<div><b>{page.term()}</b>{month(False)}</div>" for _ in range(12))}</div>{page.lines(3)}'
    )


@family(2)
def timetable(page):
    """A week's plan or a departure board, cells full or to be filled."""
    rng, design = page.rng, page.design
    page.set_format("A4", design.random() < 0.6)
    filled = rng.choice((0, 0.3, 1))
    head = "".join(
        f"<th style='background:var(--accent);color:#fff'>{page.term()[:12]}</th>" for _ in range(7)
    )
    rows = ""
    for r in range(rng.randint(8, 16)):
        cells = f"<td style='background:var(--tint)'>{7 + r}:{rng.choice(('00', '15', '30', '45'))}</td>"
        for _ in range(6):
            colour = (
                f"background:{rng.choice(('#ffe0b2', '#c8e6c9', '#bbdefb', '#f8bbd0', '#fff'))}"
                if design.random() < 0.4
                else ""
            )
            inside = (
                page.term()[:14] if rng.random() < filled else page.over("cell", page.want("word"))
            )
            cells += f"<td style='{colour}'>{inside}</td>"
        rows += f"<tr style='height:2.6em'>{cells}</tr>"
    return (
        f'<h1 class="mid">{page.title()}</h1><table class="ruled mid" style="width:100%;table-layout:fixed">'
        + f"<tr>{head}</tr>{rows}</table>"
        + f"<p>{page.paragraph(2)}</p>"
    )


@family(2)
def labels(page):
    """A sheet of equal small forms: labels, tickets, cards, vouchers, coupons."""
    rng, design = page.rng, page.design
    columns, rows = design.choice(((2, 4), (2, 5), (3, 7), (2, 3), (1, 3)))
    edge = design.choice(
        ("1pt solid", "1pt dashed", ".5pt dotted", "2pt solid var(--accent)", "0 solid")
    )
    radius = design.choice((0, 0, 6, 12))
    parts = []
    style = design.choice(("rule", "under", "rule", "dots"))
    for _ in range(columns * rows):
        mark = rng.choice(
            (
                figures.logo(rng, 3),
                figures.barcode(rng, "2.2em"),
                figures.clip_art(rng, "height:3em"),
                figures.stamp(rng, page.word),
            )
        )
        band = (
            f'<div style="background:var(--accent);color:#fff;padding:.1em .4em">{page.title()}</div>'
            if design.random() < 0.5
            else f"<b>{page.title()}</b>"
        )
        fields = "".join(field(page, style) for _ in range(design.randint(0, 3)))
        parts.append(
            f'<div style="border:{edge};border-radius:{radius}pt;padding:.5em;overflow:hidden;min-height:0">{band}<div style="display:flex;gap:.6em">{mark}<div style="flex:1;min-width:0">{page.term()}{fields}</div></div></div>'
        )
    return f'<div style="flex:1;min-height:0;display:grid;grid-template-columns:repeat({columns},1fr);grid-template-rows:repeat({rows},1fr);gap:{design.choice((0, 4, 8))}pt">{"".join(parts)}</div>'
