"""Business print: invoices, receipts, letters, certificates, cards, tickets, menus, posters."""

from training.layouts import family, figures, text
from training.layouts.forms import signature
from training.layouts.school import data_table


def address(page):
    rng = page.rng
    return f"{page.term()}<br>{text.person(rng)}<br>{page.term()} {rng.randint(1, 300)}<br>{rng.randint(10000, 99999)} {page.term()}"


def amounts(page, rows):
    """Return the table of an invoice: items, numbers, prices."""
    rng, design = page.rng, page.design
    style = design.choice(("ruled", "zebra", "rules", "none"))
    head = "".join(
        f"<th style='text-align:{'start' if k == 1 else 'end'}'>{page.term()[:12]}</th>"
        for k in range(5)
    )
    out = f'<tr style="{design.choice(("background:var(--accent);color:#fff", "background:var(--tint)", "border-bottom:1.5pt solid"))}">{head}</tr>'
    for i in range(rows):
        look = (
            "background:var(--tint)"
            if style == "zebra" and i % 2
            else "border-bottom:.5pt solid #999"
            if style == "rules"
            else ""
        )
        name = page.term() if rng.random() < 0.7 else page.sentence()[:40]
        cells = [
            str(i + 1),
            name,
            str(rng.randint(1, 40)),
            text.digits_money(rng),
            text.digits_money(rng),
        ]
        out += (
            f'<tr style="{look}">'
            + "".join(
                f"<td style='text-align:{'start' if k == 1 else 'end'}'>{cell}</td>"
                for k, cell in enumerate(cells)
            )
            + "</tr>"
        )
    for key in range(design.randint(1, 3)):
        out += f'<tr><td colspan=4 style="text-align:end"><b>{page.label("total") if key == 0 else page.term()}</b></td><td style="text-align:end;border-top:1pt solid"><b>{text.digits_money(rng)}</b></td></tr>'
    return f'<table class="{"ruled" if style == "ruled" else ""}" style="width:100%;margin:1em 0">{out}</table>'


def letterhead(page):
    rng, design = page.rng, page.design
    name = f'<span style="font-family:var(--heading);font-size:{design.uniform(1.3, 2.6):.1f}em;color:var(--accent)">{page.title()[:30]}</span>'
    mark = figures.logo(rng, 4)
    small = f'<div style="font-size:.75em">{page.term()} · {page.term()} · +{rng.randint(1, 99)} {rng.randint(100, 999)} {rng.randint(10000, 99999)}</div>'
    return design.choice(
        (
            f'<div style="display:flex;align-items:center;gap:1em;border-bottom:{design.choice((0, 1, 3))}pt solid var(--accent)">{mark}<div>{name}{small}</div></div>',
            f'<div class="mid">{mark}<div>{name}</div>{small}</div>',
            f'<div style="display:flex;justify-content:space-between"><div>{name}{small}</div>{mark}</div>',
            f'<div style="background:var(--accent);color:#fff;padding:.6em"><span style="font-family:var(--heading);font-size:1.8em">{page.title()[:30]}</span>{small}</div>',
        )
    )


def maybe_stamp(page, chance=0.4):
    """Return a printed seal lying over the text, now and then."""
    rng = page.rng
    if rng.random() > chance:
        return ""
    cjk = page.lang in text.SPACELESS
    return (
        f'<div style="position:absolute;inset-inline-start:{rng.randint(15, 65)}%;top:{rng.randint(35, 80)}%">'
        f"{figures.stamp(rng, page.word, cjk)}</div>"
    )


@family(5)
def invoice(page):
    """An invoice or offer: letterhead, addresses, numbers, table, payment, code, seal."""
    rng, design = page.rng, page.design
    meta = "".join(
        f"<div>{page.term()}: {rng.choice((text.date(rng), rng.randint(1000, 999999)))}</div>"
        for _ in range(rng.randint(2, 5))
    )
    pay = f'<div style="display:flex;gap:2em;align-items:center">{figures.barcode(rng) if design.random() < 0.5 else ""}<div style="font-size:.85em">{page.paragraph(2)}</div></div>'
    return (
        letterhead(page)
        + f'<div style="display:flex;justify-content:space-between;margin:1.5em 0"><div>{address(page)}</div><div>{meta}</div></div><h2>{page.title()} {rng.randint(100, 99999)}</h2>'
        f'<div class="flow"><div>{amounts(page, rng.randint(3, 16))}</div><div>{pay}</div></div>{signature(page) if design.random() < 0.5 else ""}{maybe_stamp(page)}'
        f'<div style="font-size:.65em;columns:3;border-top:.5pt solid">{page.paragraph(4)}</div>'
    )


@family(4)
def letter(page):
    """A letter on letterhead, set, typed or faxed, closing over a signature's place."""
    rng, design = page.rng, page.design
    kind = design.choice(("set", "set", "typed"))
    face = f"font-family:{page.face('typewriter' if kind == 'typed' else 'text')}".replace('"', "")
    paragraphs = "".join(
        f"<p style='text-align:{design.choice(('start', 'justify'))};margin:.8em 0'>{page.paragraph()}</p>"
        for _ in range(rng.randint(3, 6))
    )
    sign = page.slot("sign", "signature", style="display:block;width:14em;height:3.6em")
    folds = (
        '<div style="position:absolute;left:0;top:33%;width:5mm;border-top:.5pt solid"></div>'
        if design.random() < 0.4
        else ""
    )
    return (
        folds
        + letterhead(page)
        + f'<div style="{face};flex:1;display:flex;flex-direction:column;min-height:0"><div style="margin:2em 0">{address(page)}</div><div style="text-align:end">{page.term()}, {text.date(rng)}</div>'
        f'<b>{page.title()}</b><div class="flow">{paragraphs}<p>{page.term()}</p>{sign}<p>{text.person(rng)}</p></div></div>{maybe_stamp(page, 0.3)}<div style="font-size:.65em;border-top:.5pt solid;padding-top:.3em">{page.sentence()} {page.term()} {rng.randint(10**8, 10**9)}</div>'
    )


@family(4)
def receipt(page):
    """One or more till receipts: monospace or dot matrix, narrow, with codes."""
    rng, design = page.rng, page.design
    face = page.face(design.choice(("mono", "mono", "typewriter", "display"))).replace('"', "")
    page.pt = rng.choice((8, 9, 10))
    width = design.choice((58, 70, 80))
    if design.random() < 0.6:
        page.set_format((width + 2 * page.margin, rng.randint(150, 280)))
    count = max(1, int((page.width - 2 * page.margin) // (width + 5)))

    def roll():
        lines = "".join(
            f'<div style="display:flex;justify-content:space-between;gap:1em"><span style="overflow:hidden;white-space:nowrap">{page.term()}</span><span>{rng.uniform(0.5, 200):.2f}{rng.choice(("", " A", " B"))}</span></div>'
            for _ in range(rng.randint(6, 24))
        )
        rule = f"<div style='white-space:nowrap;overflow:hidden'>{rng.choice('-=*_.') * 90}</div>"
        code = f'<div class="mid">{figures.barcode(rng)}</div>' if rng.random() < 0.7 else ""
        return (
            f'<div style="width:{width}mm;font-family:{face};overflow:hidden"><div class="mid"><b style="font-size:1.4em">{page.term()}</b><br>{page.term()} {rng.randint(1, 99)}<br>{text.date(rng)} {rng.randint(0, 23)}:{rng.randint(10, 59)}</div>{rule}{lines}{rule}'
            f'<div style="display:flex;justify-content:space-between;font-size:1.5em"><b>{page.label("total")}</b><b>{text.digits_money(rng)}</b></div>{rule}<div>{page.paragraph(1)}</div>{code}{page.slot("sign", "signature", style="display:block;height:3em;border-bottom:1pt dashed")}</div>'
        )

    return f'<div style="display:flex;gap:5mm;flex:1;min-height:0;overflow:hidden">{"".join(roll() for _ in range(count))}</div>'


@family(4)
def certificate(page):
    """A certificate or diploma: border, ornament, script face, seal, signature lines."""
    rng, design = page.rng, page.design
    page.set_format(design.choice(("A4", "Letter", "A5")), design.random() < 0.7)
    page.pt = 12
    script = page.face("script").replace('"', "")
    border = design.choice(
        ("6pt double", "3pt solid", "10pt ridge", "2pt solid", "8pt groove", "12pt double")
    )
    name = (
        page.line("name", "60%", 2.4)
        if rng.random() < 0.6
        else f'<span style="font-family:{script};font-size:3em">{text.person(rng)}</span>'
    )
    signs = "".join(
        f'<div style="flex:1">{page.slot("sign", "signature", style="display:block;height:3em;border-bottom:1pt solid")}<small>{page.term()}</small></div>'
        for _ in range(2)
    )
    return (
        f'<div style="flex:1;border:{border} var(--accent);padding:8mm;outline:{design.choice((0, 1, 2))}pt solid var(--accent);outline-offset:-5mm;text-align:center;display:flex;flex-direction:column;justify-content:space-evenly;min-height:0;overflow:hidden">'
        f'<div>{figures.ornament(rng) if design.random() < 0.5 else figures.logo(rng, 5)}</div><h1 style="font-family:{script if design.random() < 0.6 else "var(--heading)"};font-size:{design.uniform(2.6, 4.6):.1f}em">{page.term()}</h1>'
        f'<div>{page.sentence()}</div><div>{name}</div><div style="font-family:{script};font-size:1.5em">{page.paragraph(2)}</div><div>{figures.ornament(rng)}</div><div class="row" style="gap:6em">{signs}</div>{maybe_stamp(page, 0.7)}</div>'
    )


@family(4)
def invitation(page):
    """Invitations, greeting and quotation cards, poems: script faces set as print."""
    rng, design = page.rng, page.design
    page.pt = rng.choice((11, 12, 14))
    page.set_format(
        (design.choice((105, 120, 148)), design.choice((148, 170, 210))), design.random() < 0.3
    )
    script = page.face("script").replace('"', "")
    second = page.face(design.choice(("script", "text"))).replace('"', "")
    parts = []
    for _ in range(rng.randint(4, 9)):
        face = rng.choice((script, script, second))
        parts.append(
            f'<div style="font-family:{face};font-size:{rng.choice((1, 1.2, 1.5, 2, 2.8)):.1f}em;line-height:1.2;margin:.4em 0">{page.sentence() if rng.random() < 0.6 else text.person(rng)}</div>'
        )
    art = rng.choice(
        (figures.ornament(rng), figures.clip_art(rng, "height:6em"), figures.logo(rng, 4), "")
    )
    reply = (
        f'<div style="text-align:start">{page.check()} {page.term()} &ensp; {page.check()} {page.term()} {page.line("name")}</div>'
        if design.random() < 0.4
        else ""
    )
    return f'<div style="flex:1;border:{design.choice((0, 1, 2, 4))}pt {design.choice(("solid", "double"))} var(--accent);padding:6mm;text-align:{design.choice(("center", "center", "start"))};min-height:0;color:{design.choice(("var(--accent)", "inherit"))};display:flex;flex-direction:column">{art}<div class="flow">{"".join(parts)}</div>{reply}</div>'


@family(3)
def poster(page):
    """Large titles over little text: posters, notices, title pages, signs."""
    rng, design = page.rng, page.design
    page.pt = rng.choice((14, 18, 22))
    face = page.face(design.choice(("display", "display", "script", "text"))).replace('"', "")
    ground = design.choice(("", "", "background:var(--tint)", "border:6pt solid var(--accent)"))
    parts = [
        f'<div style="font-family:{face};font-size:{rng.uniform(2, 5):.1f}em;line-height:1.05;color:{rng.choice(("var(--accent)", "inherit"))};overflow-wrap:anywhere">{page.term()}</div>'
        for _ in range(rng.randint(1, 3))
    ]
    parts.append(
        f'<div style="background:var(--accent);color:#fff;padding:.3em;font-size:1.6em">{page.term()}</div>'
    )
    parts.append(
        rng.choice(
            (
                figures.photo(rng, "width:70%;margin:auto"),
                figures.clip_art(rng, "height:12em"),
                figures.logo(rng, 10),
            )
        )
    )
    parts.append(f"<div>{page.paragraph(2)}</div>")
    parts.append(f'<div style="font-size:2em">{text.date(rng)} · {rng.randint(8, 22)}:00</div>')
    rng.shuffle(parts)
    strips = ""
    if design.random() < 0.3:
        strips = (
            '<div style="display:flex">'
            + "".join(
                f'<div style="writing-mode:vertical-rl;border:1pt dashed;flex:1;height:7em;font-size:.7em">{page.term()}<br>{rng.randint(10**6, 10**7)}</div>'
                for _ in range(9)
            )
            + "</div>"
        )
    return f'<div style="flex:1;text-align:center;padding:6mm;{ground};display:flex;flex-direction:column;min-height:0"><div class="flow">{"".join(parts)}</div>{strips}</div>'


@family(3)
def menu(page):
    """A menu or price list with dot leaders, headings and ornaments."""
    rng, design = page.rng, page.design
    parts = []
    for _ in range(10):
        rows = "".join(
            f'<div style="display:flex;align-items:baseline;gap:.3em"><span>{page.term()}</span><span style="flex:1;border-bottom:1pt {design.choice(("dotted", "solid", "dashed"))} #888"></span><span>{rng.uniform(2, 90):.2f}</span></div><div style="font-size:.8em;font-style:italic">{page.sentence() if rng.random() < 0.4 else ""}</div>'
            for _ in range(rng.randint(3, 7))
        )
        parts.append(
            f'<div style="break-inside:avoid"><h2 style="text-align:{design.choice(("center", "start"))}">{page.term()}</h2>{rows}</div>'
        )
    return f'<div class="mid">{figures.ornament(rng)}<h1 style="font-size:3em">{page.term()}</h1></div><div class="flow" style="columns:{design.choice((1, 2))};column-fill:auto">{"".join(parts)}</div>'


@family(3)
def tickets(page):
    """Tickets, boarding passes, business cards: several on a sheet, with codes."""
    rng, design = page.rng, page.design
    columns, rows = design.choice(((2, 5), (1, 4), (2, 4), (1, 3)))
    parts = []
    for _ in range(columns * rows):
        cells = "".join(
            f'<div><div style="font-size:.65em">{page.term()[:14]}</div><b style="font-size:1.3em">{rng.choice((page.term()[:10], text.date(rng), str(rng.randint(1, 400))))}</b></div>'
            for _ in range(rng.randint(2, 6))
        )
        stub = f'<div style="border-inline-start:1pt dashed;padding:.3em;writing-mode:vertical-rl;font-size:.8em">{page.term()} {rng.randint(10**5, 10**6)}</div>'
        band = design.choice(
            (
                f'<div style="background:var(--accent);color:#fff;padding:.2em .5em">{page.term()}</div>',
                f'<h3 style="margin:.2em .5em">{page.term()}</h3>',
            )
        )
        parts.append(
            f'<div style="border:{design.choice((0.5, 1, 1.5))}pt solid;border-radius:{design.choice((0, 8))}pt;display:flex;overflow:hidden;min-height:0"><div style="flex:1;min-width:0">{band}<div style="display:flex;flex-wrap:wrap;gap:.4em 1.2em;padding:.4em">{cells}{rng.choice((figures.barcode(rng), figures.logo(rng, 3)))}</div></div>{stub}</div>'
        )
    return f'<div style="flex:1;min-height:0;display:grid;grid-template-columns:repeat({columns},1fr);grid-template-rows:repeat({rows},1fr);gap:3mm">{"".join(parts)}</div>'


@family(4)
def report(page):
    """A report: headings, text, charts, diagrams, tables, boxes of colour, notes."""
    rng, design = page.rng, page.design
    kinds = [
        lambda: f"<p style='text-align:justify'>{page.paragraph()}</p>",
        lambda: f"<p style='text-align:justify'>{page.paragraph()}</p>",
        lambda: f"<h2>{rng.randint(1, 9)}.{rng.randint(1, 9)} {page.title()}</h2>",
        lambda: (
            f'<div class="mid">{figures.chart(rng, page.word)}<div style="font-size:.85em"><i>{page.sentence()}</i></div></div>'
        ),
        lambda: f'<div class="mid">{figures.flow_diagram(rng, page.word)}</div>',
        lambda: data_table(page),
        lambda: (
            "<ul>"
            + "".join(f"<li>{page.sentence()}</li>" for _ in range(rng.randint(3, 6)))
            + "</ul>"
        ),
        lambda: (
            f'<div style="background:var(--tint);border-inline-start:4pt solid var(--accent);padding:.5em;margin:.5em 0">{page.paragraph(2)}</div>'
        ),
        lambda: (
            f'<div style="background:var(--accent);color:#fff;padding:.5em;margin:.5em 0">{page.paragraph(2)}</div>'
        ),
        lambda: f'<div class="mid">{figures.map_lines(rng, page.word)}</div>',
    ]
    items = "".join(f"<div>{rng.choice(kinds)()}</div>" for _ in range(24))
    water = (
        f'<div style="position:absolute;left:10%;top:40%;font-size:5em;color:#0001;transform:rotate(-35deg);opacity:.8;color:#ddd;z-index:-1">{page.term()}</div>'
        if design.random() < 0.35
        else ""
    )
    return f'{water}<h1>{page.title()}</h1><div class="flow" style="columns:{design.choice((1, 1, 2))};column-fill:auto">{items}</div>{maybe_stamp(page, 0.15)}<div class="mid" style="font-size:.8em">{rng.randint(1, 200)}</div>'


@family(3)
def marks(page):
    """A sheet of printed marks: seals, logos, codes, ornaments, clip art, in rows with text."""
    rng, design = page.rng, page.design
    cjk = page.lang in text.SPACELESS
    kinds = [
        lambda: figures.stamp(rng, page.word, cjk),
        lambda: figures.stamp(rng, page.word, cjk),
        lambda: figures.logo(rng),
        lambda: figures.barcode(rng),
        lambda: figures.ornament(rng),
        lambda: figures.clip_art(rng),
    ]
    cells = "".join(
        f'<div class="mid">{rng.choice(kinds)()}<div style="font-size:.8em;color:{rng.choice(("inherit", "var(--accent)"))}">{page.term()}</div></div>'
        for _ in range(36)
    )
    return f'<h1>{page.title()}</h1><p>{page.paragraph(3)}</p><div class="flow"><div style="display:grid;grid-template-columns:repeat({design.choice((3, 4, 5))},1fr);gap:1.4em;align-items:center">{cells}</div></div>'


@family(2)
def cheque(page):
    """Cheques, money orders and delivery notes: guilloche ground, boxes, code line."""
    rng, design = page.rng, page.design
    waves = "".join(
        f'<path d="M0 {y} q 20 {12 if k % 2 else -12} 40 0 t 40 0 t 40 0 t 40 0 t 40 0 t 40 0 t 40 0 t 40 0 t 40 0 t 40 0" stroke="{page.accent}" stroke-width=".4" opacity=".5"/>'
        for k, y in enumerate(range(5, 180, design.choice((4, 6, 9))))
    )
    ground = (
        f'<svg viewBox="0 0 400 180" preserveAspectRatio="none" style="position:absolute;inset:0;width:100%;height:100%;z-index:-1" fill="none">{waves}</svg>'
        if design.random() < 0.6
        else ""
    )
    parts = ""
    for _ in range(design.choice((2, 3))):
        parts += (
            f'<div style="position:relative;border:1pt solid;padding:.8em;margin-bottom:5mm;min-height:0;flex:1">{ground}<div style="display:flex;justify-content:space-between"><b>{page.title()}</b><span>{page.label("date")} {page.line("date", "8em", 1.6)}</span></div>'
            f'<div class="row">{page.term()} {page.line("name", height=2)}<span>{rng.choice("€$£¥")}</span>{page.box("money", "8em", "2em")}</div><div>{page.line("words", height=2.2)}</div>'
            f'<div class="row" style="margin-top:.6em"><span style="font-family:{page.face("mono").replace(chr(34), "")}">⑆{rng.randint(10**8, 10**9)}⑆ {rng.randint(10**6, 10**7)}⑈ {rng.randint(100, 999)}</span>{page.slot("sign", "signature", style="display:block;flex:1;height:2.6em;border-bottom:1pt solid")}</div></div>'
        )
    return parts


@family(2)
def envelope(page):
    """Envelopes and parcel labels: window, address, printed postage and cancel marks."""
    rng, design = page.rng, page.design
    page.set_format(design.choice(((220, 110), (162, 114), (150, 100), (229, 162))))
    page.margin = 8
    stamp = f'<div style="border:3pt dotted var(--accent);padding:2mm;width:26mm">{figures.clip_art(rng, "height:14mm")}<div class="mid">{rng.randint(10, 300)}</div></div>'
    to = address(page) if design.random() < 0.4 else page.lines(4, "words")
    code = (
        "".join(page.box("digit", "1.5em", "1.9em", "comb") for _ in range(6))
        if design.random() < 0.5
        else figures.barcode(rng, "2.4em")
    )
    rings = f'<div style="position:absolute;inset-inline-end:30mm;top:8mm">{figures.stamp(rng, page.word)}</div>'
    return f'<div style="display:flex;justify-content:space-between"><div style="font-size:.85em">{figures.logo(rng, 3)}<br>{address(page)}</div>{stamp}</div>{rings}<div style="margin-inline-start:45%;flex:1">{to}</div><div>{code}</div>'


@family(2)
def certificate_of_record(page):
    """A record with a photograph: identity card, registration, medical record, transcript."""
    rng, design = page.rng, page.design
    rows = "".join(
        f'<tr style="height:{design.uniform(2, 3):.1f}em"><th style="background:var(--tint);width:18%;font-weight:normal">{page.term()[:16]}</th><td>{text.person(rng) if rng.random() < 0.25 else page.over("cell", page.want(rng.choice(("word", "date", "number", "name"))))}</td>'
        f'<th style="background:var(--tint);width:18%;font-weight:normal">{page.term()[:16]}</th><td>{text.date(rng) if rng.random() < 0.25 else page.over("cell", page.want("word"))}</td></tr>'
        for _ in range(rng.randint(5, 10))
    )
    portrait = (
        figures.photo(rng, "width:28mm;height:36mm;object-fit:cover")
        if rng.random() < 0.5
        else page.box("words", "28mm", "36mm")
    )
    large = f'<tr style="height:8em"><th style="background:var(--tint);font-weight:normal">{page.term()}</th><td colspan=3>{page.over("area", "paragraph")}</td></tr>'
    return (
        f'<h1 class="mid" style="letter-spacing:.2em">{page.term()}</h1><div style="display:flex;gap:5mm"><table class="ruled mid" style="flex:1">{rows}{large * rng.randint(1, 3)}</table><div>{portrait}</div></div>'
        f"<p>{page.paragraph(2)}</p>{data_table(page, True)}<div style='position:relative'>{signature(page)}</div>{maybe_stamp(page, 0.7)}<div style='flex:1'></div>"
    )
