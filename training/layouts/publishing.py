"""Published pages: books, newspapers, magazines, dictionaries, listings, maps."""

from training.layouts import family, figures, text
from training.layouts.school import data_table, formula


def mono(page):
    return page.face("mono").replace('"', "")


@family(5)
def book(page):
    """A book page: justified text, running head, drop cap, notes, perhaps vertical in Japanese."""
    rng, design = page.rng, page.design
    page.set_format(design.choice(("A5", "B5", (130, 200), (150, 230))))
    head = (
        f'<div style="display:flex;justify-content:space-between;font-size:.85em;border-bottom:{design.choice((0, 0.5))}pt solid;font-style:{design.choice(("normal", "italic"))}"><span>{rng.randint(2, 600)}</span><span>{page.title()}</span></div>'
        if design.random() < 0.7
        else ""
    )
    indent = design.choice((1, 1.5, 2, 0))
    cap = ""
    if design.random() < 0.35:
        cap = f'<h2 class="mid">{page.title()}</h2><div class="mid">{figures.ornament(rng) if design.random() < 0.4 else ""}</div>'
    paragraphs = []
    for k in range(14):
        body = page.paragraph(rng.randint(2, 8))
        if k == 0 and cap and "&" not in body[:2]:
            body = f'<span style="float:inline-start;font-size:3.2em;line-height:.8;padding-inline-end:.08em;font-family:var(--heading);color:var(--accent)">{body[0]}</span>{body[1:]}'
        paragraphs.append(
            f'<p style="text-align:justify;margin:0;text-indent:{0 if k == 0 else indent}em;hyphens:auto">{body}</p>'
        )
    vertical = (
        ";writing-mode:vertical-rl"
        if page.lang in ("ja", "zh-Hant") and design.random() < 0.6
        else ""
    )
    notes = (
        f'<div style="border-top:.5pt solid;width:100%;font-size:.78em;margin-top:.6em">{"".join(f"<div><sup>{k}</sup> {page.sentence()}</div>" for k in range(1, rng.randint(2, 5)))}</div>'
        if design.random() < 0.4
        else ""
    )
    return f'{head}{cap}<div class="flow" style="margin-top:.6em{vertical}">{"".join(paragraphs)}</div>{notes}<div class="mid" style="font-size:.85em">{rng.randint(2, 600) if not head else ""}</div>'


@family(6)
def newspaper(page):
    """A newspaper page: nameplate, headlines, narrow columns, halftone photographs, adverts."""
    rng, design = page.rng, page.design
    page.pt = rng.choice((7.5, 8, 8.5, 9))
    columns = design.choice((3, 4, 4, 5))
    blackletter = page.face(design.choice(("display", "text", "script"))).replace('"', "")
    plate = (
        f'<div class="mid" style="border-bottom:3pt double;font-family:{blackletter};font-size:4em;line-height:1.1;white-space:nowrap;overflow:hidden">{page.term()}</div><div style="display:flex;justify-content:space-between;border-bottom:.5pt solid;font-size:.85em"><span>{text.date(rng)}</span><span>{page.term()}</span><span>{text.digits_money(rng)}</span></div>'
        if design.random() < 0.6
        else ""
    )
    parts = []
    for _ in range(14):
        size = rng.choice((1.3, 1.6, 2.2))
        parts.append(f'<h2 style="font-size:{size}em;color:inherit">{page.title()}</h2>')
        if rng.random() < 0.45:
            parts.append(
                f'<div>{figures.photo(rng)}<div style="font-size:.8em;border-bottom:.5pt solid">{page.sentence()}</div></div>'
            )
        parts += [
            f'<p style="text-align:justify;margin:0;text-indent:1em;hyphens:auto">{page.paragraph(rng.randint(2, 5))}</p>'
            for _ in range(rng.randint(2, 5))
        ]
        if rng.random() < 0.25:
            parts.append(
                f'<div style="border:1.5pt solid;padding:.5em;text-align:center;margin:.5em 0"><b style="font-size:1.6em">{page.term()}</b><br>{page.sentence()} {figures.clip_art(rng, "height:4em")}</div>'
            )
        if rng.random() < 0.15:
            parts.append(
                f'<div style="background:#222;color:#fff;padding:.5em">{page.paragraph(1)}</div>'
            )
    lead = f'<h1 style="font-size:{design.uniform(2.4, 4):.1f}em;color:inherit">{page.sentence()[:50]}</h1>'
    rule = "column-rule:.5pt solid #555" if design.random() < 0.5 else ""
    return f'{plate}{lead}<div class="flow" style="columns:{columns};column-gap:1.4em;column-fill:auto;{rule}">{"".join(parts)}</div>'


@family(4)
def magazine(page):
    """A magazine spread's page: colour boxes, photographs, pull quotes, reversed headings."""
    rng, design = page.rng, page.design
    columns = design.choice((2, 2, 3))
    hero = (
        figures.photo(rng, f"width:100%;height:{design.randint(40, 90)}mm;object-fit:cover")
        if design.random() < 0.6
        else ""
    )
    script = page.face("script").replace('"', "")
    parts = []
    for _ in range(12):
        parts.append(
            f'<h2 style="{rng.choice(("", "background:var(--accent);color:#fff;padding:.2em", "border-bottom:2pt solid"))}">{page.title()}</h2>'
        )
        parts += [f"<p>{page.paragraph()}</p>" for _ in range(rng.randint(1, 3))]
        kind = rng.random()
        if kind < 0.2:
            parts.append(
                f'<div style="font-family:{script};font-size:1.8em;color:var(--accent);line-height:1.2;margin:.5em 0">“{page.sentence()}”</div>'
            )
        elif kind < 0.45:
            parts.append(
                f'<div style="background:var(--tint);padding:.7em;border-radius:{rng.choice((0, 8))}pt"><b>{page.title()}</b><br>{page.paragraph(2)}</div>'
            )
        elif kind < 0.65:
            parts.append(f"<div>{figures.photo(rng)}<small>{page.sentence()}</small></div>")
        elif kind < 0.75:
            parts.append(
                f'<div style="background:#1a1a1a;color:#fff;padding:.7em">{page.paragraph(2)}</div>'
            )
        elif kind < 0.85:
            parts.append(f"<div>{figures.chart(rng, page.word, 'width:100%')}</div>")
    return f'{hero}<h1 style="font-size:{design.uniform(2, 3.6):.1f}em">{page.title()}</h1><p style="font-size:1.2em;color:var(--accent)">{page.sentence()}</p><div class="flow" style="columns:{columns};column-gap:1.6em;column-fill:auto">{"".join(parts)}</div>'


@family(4)
def textbook(page):
    """A schoolbook page: text, formulas, figures, coloured boxes, margin notes, exercises."""
    rng, design = page.rng, page.design
    kinds = [
        lambda: f"<p>{page.paragraph()}</p>",
        lambda: (
            f"<p>{page.paragraph(2)} {formula(page)} {page.sentence()}</p>{formula(page, True)}"
        ),
        lambda: (
            f'<div style="border:1pt solid var(--accent);background:var(--tint);padding:.5em;border-radius:5pt"><b>{page.title()}</b> {page.paragraph(2)} {formula(page, True)}</div>'
        ),
        lambda: (
            f'<div class="mid">{rng.choice((figures.geometry, figures.axes, figures.circuit, figures.molecule, figures.number_line))(rng)}<div style="font-size:.8em">{page.term()}</div></div>'
        ),
        lambda: f'<div class="mid">{figures.clip_art(rng, "height:8em")}</div>',
        lambda: data_table(page),
        lambda: (
            f'<div style="display:flex;gap:1em"><div style="background:var(--accent);color:#fff;padding:.3em .6em;align-self:flex-start">{rng.randint(1, 20)}</div><div>{page.paragraph(2)}</div></div>'
        ),
        lambda: (
            f'<div style="float:inline-end;width:40%">{figures.photo(rng)}</div><p>{page.paragraph(5)}</p>'
        ),
    ]
    items = "".join(f'<div style="margin:.5em 0">{rng.choice(kinds)()}</div>' for _ in range(24))
    side = (
        f'<div style="width:20%;font-size:.8em;color:var(--accent)">{"".join(f"<p>{page.sentence()}</p>" for _ in range(6))}</div>'
        if design.random() < 0.3
        else ""
    )
    return f'<div style="font-size:.8em;text-align:end;border-bottom:1pt solid var(--accent)">{page.title()} {rng.randint(3, 400)}</div><h1>{page.title()}</h1><div style="display:flex;gap:1.5em;flex:1;min-height:0"><div class="flow" style="columns:{design.choice((1, 1, 2))};column-fill:auto">{items}</div>{side}</div>'


@family(2)
def dictionary(page):
    """A dictionary, index or directory: many small entries in columns."""
    rng, design = page.rng, page.design
    page.pt = rng.choice((7, 7.5, 8, 9))
    entries = "".join(
        f'<div style="padding-inline-start:1em;text-indent:-1em"><b style="color:{design.choice(("inherit", "var(--accent)"))}">{page.word()}</b> <i>{page.word()[:4]}.</i> {page.sentence()} {rng.choice(("", "♦", "1.", "→", "[" + page.word() + "]"))} {page.term()}</div>'
        for _ in range(160)
    )
    return f'<div style="display:flex;justify-content:space-between;border-bottom:1pt solid"><b>{page.word()}</b><b>{page.word()}</b></div><div class="flow" style="columns:{design.choice((2, 3))};column-fill:auto;column-rule:.4pt solid #888">{entries}</div><div class="mid">{rng.randint(10, 1500)}</div>'


@family(3)
def listing(page):
    """A program listing or typescript: monospaced lines, numbered, shaded or on fanfold."""
    rng, design = page.rng, page.design
    face = mono(page) if design.random() < 0.7 else page.face("typewriter").replace('"', "")
    kind = design.choice(("code", "code", "typescript", "log"))
    lines = []
    for k in range(110):
        if kind == "code":
            pad = "&nbsp;" * 4 * rng.choice((0, 1, 1, 2, 2, 3))
            name = rng.choice(
                ("count", "index", "buffer", "node", "value", "result", "key", "left", "sum")
            )
            body = rng.choice(
                (
                    f"if ({name} &lt; {rng.randint(0, 99)}) {{",
                    f"{name} = {name} + {rng.randint(1, 9)};",
                    "}",
                    f"for (int i = 0; i &lt; {name}; i++) {{",
                    f"return {name}[{rng.randint(0, 9)}];",
                    f"// {page.sentence()[:50]}",
                    "",
                    f'print("{page.term()}", {name})',
                    f"def {name}(self, x):",
                    f"<b>while</b> {name} != nil do",
                    f"#define {name.upper()} 0x{rng.randrange(65536):04X}",
                )
            )
            colour = (
                f"color:{rng.choice(('#00f', '#080', '#a31515', 'inherit', 'inherit'))}"
                if design.random() < 0.4
                else ""
            )
            body = f'{pad}<span style="{colour}">{body}</span>'
        elif kind == "log":
            body = f"{text.date(rng)} {rng.randint(0, 23):02}:{rng.randint(0, 59):02}:{rng.randint(0, 59):02} [{rng.randint(1, 9999):5}] {page.sentence()[:60]}"
        else:
            body = page.sentence()
        number = (
            f'<span style="color:#888">{k + 1:3} </span>'
            if design.random() < 2 and page.variant % 2
            else ""
        )
        band = "background:#e3f1e3" if page.variant % 5 == 0 and k % 4 < 2 else ""
        lines.append(f'<div style="white-space:nowrap;min-height:1em;{band}">{number}{body}</div>')
    box = design.choice(("", "border:1pt solid;padding:.5em", "background:#f5f5f5;padding:.5em"))
    return f'<div>{page.title()}</div><div class="flow" style="font-family:{face};{box}">{"".join(lines)}</div>'


LINK_COLOURS = (
    "#00f",
    "#00f",
    "#0000ee",
    "#0563c1",
    "#06c",
    "#1a0dab",
    "#551a8b",
    "#f00",
    "#c00",
    "#080",
)


@family(6)
def hypertext(page):
    """A report or web page as programs print it: links and headings in colours of the screen."""
    rng = page.rng
    colour, heading = rng.choice(LINK_COLOURS), rng.choice((*LINK_COLOURS, page.ink, page.ink))
    line = rng.choice(("underline", "underline", "underline", "none"))

    def link():
        words = " ".join(page.term() for _ in range(rng.randint(1, 4)))
        return f'<span style="color:{colour};text-decoration:{line}">{words}</span>'

    kinds = (
        lambda: f"<p>{page.sentence()} {link()} {page.paragraph(rng.randint(1, 4))}</p>",
        lambda: f"<p>{page.paragraph(rng.randint(2, 6))}</p>",
        lambda: (
            "<ul>"
            + "".join(
                f"<li>{link()}{rng.choice(('', ' – ' + page.term()))}</li>"
                for _ in range(rng.randint(2, 8))
            )
            + "</ul>"
        ),
        lambda: (
            f'<h2 style="color:{heading};text-decoration:{rng.choice(("none", "none", "underline"))}">{page.title()}</h2>'
        ),
        lambda: f"<div>{link()}</div>",
    )
    return f'<h1 style="color:{heading}">{page.title()}</h1><div class="flow">{"".join(rng.choice(kinds)() for _ in range(24))}</div>'


@family(2)
def maps(page):
    """Maps, plans and diagrams with their keys, some with names to fill in."""
    rng, design = page.rng, page.design
    page.set_format("A4", design.random() < 0.4)
    drawing = design.choice((figures.map_lines, figures.map_lines, figures.flow_diagram))(
        rng, page.word
    )
    slots = "".join(
        page.slot(
            "blank",
            page.want("word"),
            style=f"position:absolute;left:{rng.randint(5, 75)}%;top:{rng.randint(5, 90)}%;width:6em;height:1.5em;border:.6pt solid;background:#fff",
        )
        for _ in range(rng.choice((0, 5)))
    )
    key = "".join(
        f"<div>{rng.choice('●■▲○□△◆─┄')} {page.term()} {page.blank('word') if rng.random() < 0.2 else ''}</div>"
        for _ in range(8)
    )
    return f'<h1>{page.title()}</h1><div style="position:relative">{drawing}{slots}</div><div class="flow" style="columns:3;border:1pt solid;padding:.5em;margin-top:.6em">{key}</div><p>{page.paragraph(3)}</p>'


@family(3)
def specimen(page):
    """Sizes and weights of one face after another: large, small, outlined, spaced, reversed."""
    rng = page.rng
    lines = []
    for _ in range(24):
        face = page.face(rng.choice(("display", "script", "typewriter", "text", "mono"))).replace(
            '"', ""
        )
        look = rng.choice(
            (
                "",
                "",
                "",
                "font-weight:bold",
                "letter-spacing:.15em",
                "color:transparent;-webkit-text-stroke:.6pt var(--accent)",
                "background:#222;color:#fff;padding:0 .2em",
                "font-style:italic",
                "text-decoration:underline",
                "font-variant:small-caps",
                "color:var(--accent)",
                "text-shadow:.06em .06em 0 #bbb",
            )
        )
        lines.append(
            f'<div style="font-family:{face};font-size:{rng.choice((1, 1, 1.4, 2, 3, 4.5))}em;line-height:1.25;{look}">{page.sentence() if rng.random() < 0.5 else page.term()}</div>'
        )
    return f'<div class="flow">{"".join(lines)}</div>'


@family(3)
def comic(page):
    """Panels with drawings and speech balloons, some balloons empty."""
    rng, design = page.rng, page.design
    page.margin = 10
    panels = ""
    for _ in range(design.choice((4, 6, 8, 9))):
        art = "".join(
            figures.clip_art(rng, f"height:{rng.randint(18, 40)}mm")
            for _ in range(rng.randint(1, 2))
        )
        empty = rng.random() < 0.3
        words = (
            page.slot("area", page.want("words"), style="display:block;height:3em")
            if empty
            else page.sentence()
        )
        caption = (
            f'<div style="border-bottom:1pt solid;background:#ffef9f">{page.term()}</div>'
            if rng.random() < 0.3
            else ""
        )
        panels += f'<div style="border:2pt solid;overflow:hidden;min-height:0;display:flex;flex-direction:column">{caption}<div style="border:1.3pt solid;border-radius:50%/40%;padding:.6em 1em;margin:.4em;background:#fff;text-align:center;font-family:var(--heading)">{words}</div><div style="flex:1;display:flex;align-items:flex-end;justify-content:space-around;min-height:0">{art}</div></div>'
    return f'<h1>{page.title()}</h1><div style="flex:1;min-height:0;display:grid;grid-template-columns:repeat({design.choice((2, 2, 3))},1fr);grid-auto-rows:1fr;gap:3mm">{panels}</div>'
