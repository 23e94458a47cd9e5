"""School worksheets and exams."""

from training.layouts import family, figures, text


def header(page):
    """Return a worksheet's head: name and date lines, a title, sometimes points and a logo."""
    rng, design = page.rng, page.design
    keys = design.sample(["name", "class", "date", "score"], design.randint(1, 4))
    wants = {"name": "name", "class": "number", "date": "date", "score": "number"}
    colon = design.choice((":", ":", "", " :"))
    fields = "".join(
        f'<span style="flex:{2 if key == "name" else 1};display:flex;align-items:flex-end;gap:.3em">'
        f'<span style="white-space:nowrap">{page.label(key)}{colon}</span>{page.line(wants[key], height=1.6)}</span>'
        for key in keys
    )
    row = f'<div class="row" style="margin-bottom:.6em">{fields}</div>'
    title = (
        f'<h1 style="font-size:{design.uniform(1.2, 2.2):.2f}em;text-align:{design.choice(("start", "center", "center"))};'
        f'{design.choice(("", "", "border-bottom:2pt solid", "background:var(--tint);padding:.3em", "border:1pt solid;padding:.3em;border-radius:.5em"))}">'
        f"{page.title()}</h1>"
    )
    parts = [row, title] if design.random() < 0.6 else [title, row]
    if design.random() < 0.2:
        score = "".join(
            f"<td style='min-width:3em;height:1.8em'>{page.over('cell', 'number') if r else k + 1}</td>"
            for r in (0,)
            for k in range(8)
        )
        answers = "".join(f"<td>{page.over('cell', 'number')}</td>" for _ in range(8))
        parts.append(
            f'<table class="ruled mid" style="margin:.5em auto"><tr>{score}</tr><tr style="height:1.8em">{answers}</tr></table>'
        )
    if design.random() < 0.25:
        parts.insert(0, f'<div style="float:inline-end">{figures.logo(rng, 3.5)}</div>')
    return "<div>" + "".join(parts) + "</div>"


def footer(page):
    if page.design.random() < 0.5:
        return ""
    return (
        f'<div style="text-align:{page.design.choice(("center", "end", "start"))};font-size:.8em;'
        f'border-top:{page.design.choice((0, 0.5, 1))}pt solid;padding-top:.3em">{page.label("page")} '
        f"{page.number(1, 60)}{page.rng.choice(('', ' / 60', ' · ' + page.term()))}</div>"
    )


def sheet(page, items, columns=None, gap=None):
    """Return a worksheet: head, items in columns as many as fit, foot."""
    columns = columns or page.design.choice((1, 1, 1, 2))
    gap = gap or page.rng.uniform(0.4, 1.6)
    body = "".join(
        f'<div style="break-inside:avoid;margin-bottom:{gap:.2f}em">{item}</div>' for item in items
    )
    style = f"columns:{columns};column-gap:2em;column-fill:auto" + (
        ";column-rule:.5pt solid #999" if columns > 1 and page.design.random() < 0.4 else ""
    )
    border = page.design.choice(
        (
            "",
            "",
            "",
            "border:1.5pt solid;padding:1em",
            "border:3pt double var(--accent);padding:1em;border-radius:8pt",
        )
    )
    return (
        f'<div style="flex:1;min-height:0;display:flex;flex-direction:column;{border}">{header(page)}'
        f'<div class="flow" style="{style}">{body}</div>{footer(page)}</div>'
    )


def numbered(page, items):
    """Number items in the design's style: 1. 1) (1) ① a) Question 1."""
    style = page.design.choice(
        ("{}.", "{}.", "{})", "({})", "circled", "box", "word", "{}、", "bold")
    )
    out = []
    for i, item in enumerate(items, page.rng.choice((1, 1, 1, 11))):
        if style == "circled":
            mark = chr(0x2460 + (i - 1) % 20)
        elif style == "box":
            mark = f'<span style="background:var(--accent);color:#fff;padding:0 .4em">{i}</span>'
        elif style == "word":
            mark = f"<b>{page.label('question')} {i}.</b>"
        elif style == "bold":
            mark = f"<b>{i}</b>"
        else:
            mark = style.format(i)
        out.append(f"{mark} {item}")
    return out


def instruction(page, key):
    points = page.rng.choice(("", "", f" ({page.number(2, 20)})", f" [{page.number(2, 20)}]"))
    number = page.rng.choice(
        ("", "I. ", "II. ", "A. ", "B. ", "一、", "二、", "三、")
        if page.lang in text.SPACELESS
        else ("", "I. ", "II. ", "A. ", "1. ")
    )
    style = page.design.choice(
        (
            "font-weight:bold",
            "font-weight:bold;color:var(--accent)",
            "background:var(--tint);padding:.15em .4em",
            "text-decoration:underline",
        )
    )
    return f'<div style="{style}">{number}{page.label(key)}{points}</div>'


def operation(page):
    rng = page.rng
    top = rng.choice((10, 20, 100, 1000))
    a, b = rng.randint(1, top), rng.randint(1, top)
    sign = rng.choice("+−×÷+−")
    if rng.random() < 0.15:
        return f"{a / 10:g} {sign} {b / 10:g}"
    return f"{max(a, b)} {sign} {min(a, b)}"


def fraction(page):
    n, d = page.number(1, 12), page.number(2, 15)
    return f"<math><mfrac><mn>{n}</mn><mn>{d}</mn></mfrac></math>"


@family(5)
def sums(page):
    """A grid of sums, the answers after the equals sign, in a box or below a rule."""
    rng, design = page.rng, page.design
    style = design.choice(("inline", "inline", "inline", "box", "column", "fraction", "missing"))
    columns = design.choice((2, 3, 4, 5))
    items = []
    for _ in range(rng.choice((16, 24, 40, 60, 80))):
        if style == "column":
            a, b, sign = page.number(10, 9999), page.number(10, 999), rng.choice("+−×")
            items.append(
                f'<span style="display:inline-block;text-align:right;font-variant-numeric:tabular-nums">{a}<br>{sign} {b}'
                f"<br>{page.slot('blank', 'sum', style='display:block;border-top:1pt solid;height:1.7em;width:4.5em')}</span>"
            )
        elif style == "fraction":
            items.append(
                f"{fraction(page)} {rng.choice('+−×÷')} {fraction(page)} = "
                + page.slot(
                    "blank",
                    "number",
                    style="display:inline-block;width:4em;height:2em;vertical-align:middle",
                )
            )
        elif style == "missing":
            box = page.box("number", "2em", "1.5em", css=";vertical-align:middle")
            a, b = page.number(1, 99), page.number(1, 99)
            items.append(
                rng.choice((f"{a} + {box} = {a + b}", f"{box} − {a} = {b}", f"{a} × {b} = {box}"))
            )
        elif style == "box":
            items.append(
                operation(page)
                + " = "
                + page.box("number", "2.6em", "1.6em", css=";vertical-align:middle")
            )
        else:
            gap = page.slot(
                "blank",
                "number",
                style="display:inline-block;width:3.2em;height:1.4em;vertical-align:middle",
            )
            items.append(operation(page) + rng.choice((" = ", "=")) + gap)
    if design.random() < 0.5:
        items = numbered(page, items)
    return sheet(page, [instruction(page, "calculate"), *items], columns, rng.uniform(0.8, 3))


@family(4)
def word_problems(page):
    """Problems in words with room, rules or boxes for the working and answer."""
    rng, design = page.rng, page.design
    style = design.choice(("room", "lines", "box", "answer", "squared"))
    items = []
    for _ in range(9):
        item = page.paragraph(rng.randint(1, 3))
        if rng.random() < 0.3:
            item += f' <span style="float:inline-end">[{page.number(1, 10)}]</span>'
        if rng.random() < 0.25:
            item += f'<div class="mid">{rng.choice((figures.geometry, figures.fraction_shape, figures.axes))(rng)}</div>'
        height = rng.uniform(4, 12)
        if style == "room":
            item += page.slot("area", "sum", style=f"display:block;height:{height:.1f}em")
        elif style == "lines":
            item += page.lines(rng.randint(1, 5))
        elif style == "box":
            item += page.box("sum", "100%", f"{height:.1f}em", "area")
        elif style == "squared":
            item += squared(page, height)
        else:
            item += (
                page.slot("area", "sum", style=f"display:block;height:{height * 0.6:.1f}em")
                + f'<div class="row">{page.label("answer")}: {page.line(page.want("words"))}</div>'
            )
        items.append(item)
    return sheet(page, numbered(page, items), gap=1.5)


def squared(page, ems, want="sum"):
    """Return squared, dotted or ruled answer paper."""
    colour = page.rng.choice(("#bbb", "#9cc3e6", "#ccc", "#e0a0a0", "#a5d6a7", "#888"))
    mm = page.rng.choice((4, 5, 5, 7, 10))
    style = page.rng.choice(("squares", "squares", "dots", "ruled"))
    if style == "dots":
        ground = f"radial-gradient(circle at center,{colour} .35mm,transparent .4mm)"
    elif style == "ruled":
        ground = f"linear-gradient({colour} .25mm,transparent .25mm)"
    else:
        ground = f"linear-gradient({colour} .2mm,transparent .2mm),linear-gradient(90deg,{colour} .2mm,transparent .2mm)"
    border = page.rng.choice(("", f"border:.2mm solid {colour}"))
    return page.slot(
        "area",
        want,
        style=f"display:block;height:{ems:.1f}em;background:{ground};background-size:{mm}mm {mm}mm;{border}",
    )


@family(5)
def fill_in(page):
    """Sentences with gaps."""
    rng = page.rng
    items = []
    for _ in range(30):
        if page.lang in text.SPACELESS:
            sentence = page.sentence()
            cut = rng.randint(1, max(1, len(sentence) - 1))
            items.append(
                sentence[:cut] + page.blank("word") + sentence[cut:]
                if "&" not in sentence
                else page.blank() + sentence
            )
        else:
            parts = page.sentence().split()
            parts[rng.randrange(len(parts))] = page.blank("word")
            if len(parts) > 9 and rng.random() < 0.4:
                parts[rng.randrange(len(parts))] = page.blank("word")
            items.append(" ".join(parts))
    bank = ""
    if page.design.random() < 0.4:
        bank = (
            '<div style="border:1pt solid;padding:.5em;border-radius:.4em;text-align:center">'
            + " &emsp; ".join(page.term() for _ in range(10))
            + "</div>"
        )
    return sheet(page, [instruction(page, "fill"), bank, *numbered(page, items)])


def options(page, count=4):
    """Return multiple-choice options whose letters can be circled, boxes to tick among them."""
    design = page.design
    style = design.choice(("A.", "A.", "(A)", "a)", "A)", "box", "circle", "①", "[A]"))
    short = design.random() < 0.6
    out = []
    for k in range(count):
        letter = "ABCDEF"[k]
        if style in ("box", "circle"):
            mark = page.check("check", style == "circle")
        else:
            label = {"a)": "abcdef"[k] + ")", "①": "①②③④⑤⑥"[k]}.get(style) or style.replace(
                "A", letter
            )
            mark = page.slot("option", "tick", label)
        content = page.term() if short else page.sentence()
        if design.random() < 0.15:
            content = str(page.number())
        out.append(f"<span>{mark} {content}</span>")
    columns = design.choice((4, 2, 2, 1)) if short else 1
    return f'<div style="display:grid;grid-template-columns:repeat({columns},1fr);gap:.15em 1em;margin:.2em 0 0 1.5em">{"".join(out)}</div>'


@family(6)
def multiple_choice(page):
    """Questions with options; an answer bracket before or after the question in some."""
    rng, design = page.rng, page.design
    count = design.choice((3, 4, 4, 4, 5))
    bracket = design.choice(("", "", "before", "after", "rule"))
    items = []
    for _ in range(20):
        question = page.paragraph(rng.choice((1, 1, 2)))
        if bracket:
            inner = page.slot(
                "blank",
                "letter",
                style="display:inline-block;width:2em;height:1.2em;vertical-align:middle",
            )
            left, right = ("（", "）") if page.lang in text.SPACELESS else ("(", ")")
            mark = page.line("letter", "2em", 1.2) if bracket == "rule" else left + inner + right
            question = f"{mark} {question}" if bracket == "before" else f"{question} {mark}"
        figure = (
            f'<div class="mid">{rng.choice((figures.geometry, figures.chart_small, figures.circuit, figures.clip_art))(rng)}</div>'
            if rng.random() < 0.12
            else ""
        )
        items.append(question + figure + options(page, count))
    return sheet(page, [instruction(page, "choose"), *numbered(page, items)])


@family(3)
def true_false(page):
    """Statements with true and false boxes, letters or a table."""
    design = page.design
    style = design.choice(("table", "letters", "boxes", "bracket"))
    yes, no = page.label("true"), page.label("false")
    if style == "table":
        rows = "".join(
            f"<tr><td style='text-align:start'>{i}. {page.sentence()}</td>"
            + "".join(
                f'<td class="mid" style="width:4em">{page.check() if design.random() < 0.5 else page.over("cell", "tick")}</td>'
                for _ in range(2)
            )
            + "</tr>"
            for i in range(1, 25)
        )
        return sheet(
            page,
            [
                f'<div class="flow"><table class="ruled" style="width:100%"><tr style="background:var(--tint)"><th></th><th>{yes}</th><th>{no}</th></tr>{rows[: page.number(2500, 9000)].rsplit("<tr>", 1)[0]}</table></div>'
            ],
            1,
        )
    items = []
    for _ in range(24):
        if style == "letters":
            mark = (
                page.slot("option", "tick", yes[:1]) + " / " + page.slot("option", "tick", no[:1])
            )
        elif style == "boxes":
            mark = page.check() + yes + " " + page.check() + no
        else:
            mark = (
                "( "
                + page.slot(
                    "blank",
                    "tick",
                    style="display:inline-block;width:1.8em;height:1.1em;vertical-align:middle",
                )
                + " )"
            )
        items.append(f'{page.sentence()} <span style="float:inline-end">{mark}</span>')
    return sheet(page, numbered(page, items))


@family(4)
def reading(page):
    """A text, then questions with answer lines."""
    rng, design = page.rng, page.design
    box = design.choice(
        (
            "",
            "border:1pt solid;padding:.8em",
            "background:var(--tint);padding:.8em",
            "border-inline-start:3pt solid var(--accent);padding-inline-start:.8em",
        )
    )
    paragraphs = "".join(
        f"<p style='text-indent:{design.choice((0, 2))}em'>{page.paragraph(rng.randint(3, 7))}</p>"
        for _ in range(rng.randint(2, 4))
    )
    art = (
        f'<div style="float:inline-end;margin:.5em">{figures.clip_art(rng)}</div>'
        if design.random() < 0.5
        else ""
    )
    questions = numbered(page, [page.sentence() + page.lines(rng.randint(1, 4)) for _ in range(8)])
    return sheet(
        page,
        [
            instruction(page, "read"),
            f'<div style="{box}">{art}<h2 class="mid">{page.title()}</h2>{paragraphs}</div>',
            *questions,
        ],
        1,
    )


@family(2)
def matching(page):
    """Two columns with dots to join by lines."""
    rng, design = page.rng, page.design
    dot = design.choice(("•", "●", "○", "◦", "□"))
    rows = ""
    for i in range(rng.randint(6, 14)):
        left = figures.clip_art(rng, "height:3em") if design.random() < 0.3 else page.term()
        right = page.term() if rng.random() < 0.9 else str(page.number())
        rows += (
            f'<div style="display:flex;margin:{design.uniform(0.6, 1.6):.1f}em 0;align-items:center"><span style="flex:1">{i + 1}. {left}</span><span>{dot}</span>'
            f'{page.slot("area", "tick", style="width:35%;height:1.6em")}<span>{dot}</span><span style="flex:1;padding-inline-start:1em">{right}</span></div>'
        )
    return sheet(page, [f"<div>{page.sentence()}</div>", rows, page.paragraph(2), page.lines(4)], 1)


@family(3)
def handwriting(page):
    """Practice rules, with dotted or grey letters to trace: the letters are print."""
    rng, design = page.rng, page.design
    style = design.choice(("two", "four", "single", "boxes"))
    size = rng.uniform(16, 40)
    colour = rng.choice(("#bbb", "#999", "#ccc", "#d9a0a0", "#9bb8d8", "#777"))
    face = page.face(rng.choice(("script", "text", "text")))
    ruled = {
        "single": f"border-bottom:.7pt solid {colour}",
        "two": f"border-top:.5pt solid {colour};border-bottom:.7pt solid {colour};background:linear-gradient({colour},{colour}) 0 50%/100% .4pt no-repeat",
        "four": f"border-top:.5pt solid {colour};border-bottom:.5pt solid {colour};background:linear-gradient({colour},{colour}) 0 33%/100% .5pt no-repeat,linear-gradient({colour},{colour}) 0 66%/100% .5pt no-repeat",
        "boxes": f"border:.5pt solid {colour};background:repeating-linear-gradient(90deg,{colour} 0 .5pt,transparent .5pt {size}pt)",
    }[style]
    items = []
    for i in range(30):
        sample = page.term() if rng.random() < 0.6 else " ".join(page.characters(5))
        outline = rng.choice(
            (
                f"color:{colour}",
                f"color:transparent;-webkit-text-stroke:.4pt {colour}",
                f"color:{page.ink}",
            )
        )
        shown = (
            f'<span style="font-family:{face.replace(chr(34), "")};font-size:{size:.0f}pt;line-height:1;{outline}">{sample}</span>'
            if i % 2 == 0 and rng.random() < 0.8
            else ""
        )
        items.append(
            f'<div style="position:relative;height:{size * 1.1:.0f}pt;white-space:nowrap;overflow:hidden;{ruled}">{shown}'
            + page.slot(
                "line",
                page.want("words"),
                style=f"position:absolute;inset:0;{'' if not shown else 'inset-inline-start:45%'}",
            )
            + "</div>"
        )
    return sheet(page, items, 1, rng.uniform(0.6, 1.6))


@family(3, ["zh-Hans", "zh-Hant", "ja"])
def character_grid(page):
    """Squared paper for characters (tian-zi, mi-zi or plain), with models and pinyin lines."""
    rng, design = page.rng, page.design
    colour = design.choice(("#c0392b", "#2e7d32", "#777", "#333", "#e57373", "#1f5fa8"))
    size = design.choice((11, 13, 15, 18))
    cross = design.choice(("tian", "tian", "mi", "plain"))
    lines = {
        "plain": "",
        "tian": "<path d='M0 50H100M50 0V100' stroke-dasharray='6 5'/>",
        "mi": "<path d='M0 50H100M50 0V100M0 0L100 100M100 0L0 100' stroke-dasharray='6 5'/>",
    }[cross]
    ground = f"<svg viewBox='0 0 100 100' style='position:absolute;inset:0' stroke='{colour}' stroke-width='1.2' fill='none'>{lines}</svg>"
    columns = int((page.width - 2 * page.margin - 2) / size)
    rows = []
    for _ in range(22):
        cells = ""
        model = rng.random() < 0.5
        for c in range(columns):
            shown = ""
            if model and (c == 0 or rng.random() < 0.1):
                tone = page.ink if c == 0 else "#bbb"
                shown = f"<span style='font-size:{size * 0.78:.1f}mm;line-height:{size}mm;color:{tone};position:relative'>{page.characters(1)[0]}</span>"
            slot = "" if shown else page.over("cell", "cjk")
            cells += f"<div style='position:relative;width:{size}mm;height:{size}mm;border:.25mm solid {colour};margin-inline-end:-.25mm;text-align:center'>{ground}{shown}{slot}</div>"
        pinyin = (
            f'<div style="height:{size * 0.5}mm;border:.25mm solid {colour};border-bottom:0;position:relative;width:{columns * (size - 0.25) + 0.25}mm">{page.over("line", "letter")}</div>'
            if design.random() < 0.3
            else ""
        )
        rows.append(f"{pinyin}<div style='display:flex'>{cells}</div>")
    return sheet(page, rows, 1, rng.choice((0, 0.01, 0.6)))


@family(2, ["zh-Hans", "zh-Hant", "ja"])
def composition_paper(page):
    """Essay paper: a page of small squares or of columns, with a title line."""
    design = page.design
    colour = design.choice(("#2e7d32", "#c0392b", "#888", "#444"))
    size = design.choice((7.5, 8, 9, 10))
    columns = int((page.width - 2 * page.margin - 2) / size)
    gap = design.choice((0, 2, 3))
    cell = f"<div style='position:relative;width:{size}mm;height:{size}mm;border:.2mm solid {colour};margin-inline-end:-.2mm'>"
    row = (
        f"<div style='display:flex;margin-bottom:{gap}mm'>"
        + "".join(cell + page.over("cell", "cjk") + "</div>" for _ in range(columns))
        + "</div>"
    )
    return sheet(page, [page.paragraph(2), *[row] * 30], 1, 0.01)


@family(2)
def telling_time(page):
    """Clock faces with or without hands, a time line or comb below each."""
    rng = page.rng
    hands = page.design.random() < 0.6
    cells = "".join(
        f'<div class="mid">{figures.clock(rng, hands)}<div>{page.blank("number", 4) if hands else f"{page.number(1, 12)}:{rng.choice((0, 15, 30, 45)):02}"}</div></div>'
        for _ in range(12)
    )
    columns = page.design.choice((3, 3, 4, 2))
    return sheet(
        page,
        [
            f"<div>{page.sentence()}</div>",
            f'<div style="display:grid;grid-template-columns:repeat({columns},1fr);gap:1.4em 0">{cells}</div>',
        ],
        1,
    )


@family(3)
def drawings(page):
    """Figures of geometry, axes, number lines, fractions, each with a question."""
    rng, design = page.rng, page.design
    kinds = design.sample(
        (
            figures.geometry,
            figures.axes,
            figures.number_line,
            figures.fraction_shape,
            figures.circuit,
            figures.molecule,
        ),
        3,
    )
    items = []
    for _ in range(12):
        kind = rng.choice(kinds)
        place = (
            page.slot("area", "formula", style=f"display:block;height:{rng.uniform(2, 6):.1f}em")
            if design.random() < 0.5
            else page.lines(rng.randint(1, 2), "formula")
        )
        items.append(f"{page.sentence()}<div>{kind(rng)}</div>{place}")
    return sheet(page, numbered(page, items), design.choice((1, 2, 2)))


FORMULAS = (
    "<mi>x</mi><mo>=</mo><mfrac><mrow><mo>−</mo><mi>b</mi><mo>±</mo><msqrt><msup><mi>b</mi><mn>2</mn></msup><mo>−</mo><mn>4</mn><mi>a</mi><mi>c</mi></msqrt></mrow><mrow><mn>2</mn><mi>a</mi></mrow></mfrac>",
    "<munderover><mo>∑</mo><mrow><mi>k</mi><mo>=</mo><mn>1</mn></mrow><mi>n</mi></munderover><msup><mi>k</mi><mn>{b}</mn></msup><mo>=</mo><mfrac><mrow><mi>n</mi><mo>(</mo><mi>n</mi><mo>+</mo><mn>1</mn><mo>)</mo></mrow><mn>{a}</mn></mfrac>",
    "<msubsup><mo>∫</mo><mn>0</mn><mi>π</mi></msubsup><mi>sin</mi><mo>(</mo><mn>{a}</mn><mi>x</mi><mo>)</mo><mi>d</mi><mi>x</mi>",
    "<munder><mi>lim</mi><mrow><mi>x</mi><mo>→</mo><mn>0</mn></mrow></munder><mfrac><mrow><mi>sin</mi><mn>{a}</mn><mi>x</mi></mrow><mrow><mn>{b}</mn><mi>x</mi></mrow></mfrac>",
    "<mi>f</mi><mo>(</mo><mi>x</mi><mo>)</mo><mo>=</mo><mn>{a}</mn><msup><mi>x</mi><mn>{b}</mn></msup><mo>−</mo><mn>{c}</mn><mi>x</mi><mo>+</mo><mn>{a}</mn>",
    "<msqrt><mn>{a}</mn><mo>+</mo><mroot><mi>x</mi><mn>{b}</mn></mroot></msqrt><mo>≤</mo><mn>{c}</mn>",
    "<mo>(</mo><mtable><mtr><mtd><mn>{a}</mn></mtd><mtd><mn>{b}</mn></mtd></mtr><mtr><mtd><mn>{c}</mn></mtd><mtd><mi>λ</mi></mtd></mtr></mtable><mo>)</mo><mo>·</mo><mover><mi>v</mi><mo>→</mo></mover>",
    "<mfrac><mrow><mo>∂</mo><mi>u</mi></mrow><mrow><mo>∂</mo><mi>t</mi></mrow></mfrac><mo>=</mo><msup><mo>∇</mo><mn>2</mn></msup><mi>u</mi><mo>+</mo><mfrac><mn>{a}</mn><mn>{b}</mn></mfrac>",
    "<mn>{a}</mn><msub><mi>H</mi><mn>2</mn></msub><mo>+</mo><msub><mi>O</mi><mn>2</mn></msub><mo>→</mo><mn>{b}</mn><msub><mi>H</mi><mn>2</mn></msub><mi>O</mi>",
    "<mi>P</mi><mo>(</mo><mi>A</mi><mo>|</mo><mi>B</mi><mo>)</mo><mo>=</mo><mfrac><mrow><mi>P</mi><mo>(</mo><mi>A</mi><mo>∩</mo><mi>B</mi><mo>)</mo></mrow><mrow><mi>P</mi><mo>(</mo><mi>B</mi><mo>)</mo></mrow></mfrac>",
    "<msup><mi>e</mi><mrow><mi>i</mi><mi>φ</mi></mrow></msup><mo>=</mo><mi>cos</mi><mi>φ</mi><mo>+</mo><mi>i</mi><mi>sin</mi><mi>φ</mi>",
    "<mfrac><mrow><mn>{a}</mn><mi>x</mi><mo>−</mo><mn>{b}</mn></mrow><mn>{c}</mn></mfrac><mo>=</mo><mn>{b}</mn>",
)


def formula(page, block=False):
    numbers = {key: page.number(2, 12) for key in "abc"}
    return f'<math display="{"block" if block else "inline"}">{page.rng.choice(FORMULAS).format(**numbers)}</math>'


@family(4)
def formula_exam(page):
    """Questions with formulas and room for the working."""
    rng, design = page.rng, page.design
    style = design.choice(("room", "squared", "lines", "none", "box"))
    items = []
    for _ in range(14):
        item = f"{page.sentence()} {formula(page, rng.random() < 0.5)}"
        if rng.random() < 0.3:
            item += "".join(
                f"<div style='margin-inline-start:1.5em'>({'abcd'[k]}) {formula(page)} {page.blank('formula') if rng.random() < 0.3 else ''}</div>"
                for k in range(rng.randint(2, 4))
            )
        height = rng.uniform(3, 9)
        if style == "squared":
            item += squared(page, height, "formula")
        elif style == "lines":
            item += page.lines(rng.randint(2, 4), "formula")
        elif style != "none":
            edge = "border:var(--edge)" if style == "box" else ""
            item += page.slot(
                "area", "formula", style=f"display:block;height:{height:.1f}em;{edge}"
            )
        items.append(item)
    return sheet(page, numbered(page, items))


@family(3)
def exam_paper(page):
    """A mixed paper: a head with boxes and points, then questions of every kind."""
    rng, design = page.rng, page.design
    code = "".join(
        f"{'    ' * (k % 3)}{rng.choice(('if', 'for', 'while', 'return', 'let', 'print'))} {rng.choice('abcxyz')} {rng.choice(('=', '<', '+='))} {rng.randint(0, 99)}\n"
        for k in range(rng.randint(4, 9))
    )
    kinds = [
        lambda: page.sentence() + options(page),
        lambda: page.paragraph(2) + page.lines(rng.randint(2, 5)),
        lambda: (
            f"{page.sentence()} {formula(page, True)}"
            + page.slot("area", "formula", style="display:block;height:5em")
        ),
        lambda: (
            page.sentence()
            + f'<pre style="font-family:{page.face("mono")};background:var(--tint);padding:.5em">{code}</pre>'
            + page.lines(2, "number")
        ),
        lambda: page.sentence() + data_table(page, True),
        lambda: (
            page.sentence()
            + f'<div class="mid">{figures.chart(rng, page.word)}</div>'
            + page.lines(2)
        ),
        lambda: page.paragraph(1) + " " + page.blank() + " " + page.sentence(),
    ]
    points = design.choice(("", "box", "text"))
    items = []
    for _ in range(12):
        item = rng.choice(kinds)()
        if points == "box":
            item = (
                f'<span style="float:inline-end;border:var(--edge);width:3em;height:1.8em;position:relative">{page.over("box", "number")}</span>'
                + item
            )
        elif points == "text":
            item += f'<div style="text-align:end">({page.slot("blank", "number", style="display:inline-block;width:2em;height:1em")}/{page.number(2, 12)})</div>'
        items.append(item)
    rules = (
        f'<div style="border:1pt solid;padding:.5em;margin-bottom:.6em;font-size:.9em">{"".join(f"<div>• {page.sentence()}</div>" for _ in range(3))}</div>'
        if design.random() < 0.5
        else ""
    )
    return sheet(page, [rules, *numbered(page, items)], 1)


def data_table(page, blanks=False):
    """Return a table with borders, zebra or rules; some cells empty to be filled."""
    rng, design = page.rng, page.design
    columns, rows = rng.randint(3, 7), rng.randint(3, 8)
    style = design.choice(("ruled", "ruled", "zebra", "booktabs", "head"))
    out = ""
    for r in range(rows + 1):
        cells = ""
        for c in range(columns):
            if r == 0:
                cells += f"<th style='{'background:var(--tint)' if style != 'booktabs' else ''}'>{page.term()[:16]}</th>"
            elif c and blanks and rng.random() < 0.5:
                cells += f"<td style='min-width:3.5em;height:1.9em'>{page.over('cell', page.want(rng.choice(('number', 'word'))))}</td>"
            else:
                cells += f"<td>{page.term()[:14] if c == 0 or rng.random() < 0.2 else page.number()}</td>"
        shade = "background:var(--tint)" if style == "zebra" and r % 2 else ""
        line = "border-bottom:1pt solid" if style in ("booktabs", "head") and r in (0, rows) else ""
        out += f'<tr style="{shade};{line}">{cells}</tr>'
    top = "border-top:1pt solid" if style == "booktabs" else ""
    return f'<table class="{"ruled" if style in ("ruled", "zebra") else ""}" style="margin:.5em auto;{top}">{out}</table>'


@family(2)
def tables(page):
    """A page of tables with gaps to fill and captions."""
    items = [
        f"<b>{page.title()}</b>{data_table(page, page.rng.random() < 0.8)}<div>{page.paragraph(2)}</div>"
        for _ in range(6)
    ]
    return sheet(page, items, 1)


@family(2)
def vocabulary(page):
    """A word list with a column to fill: translation, meaning, spelling test."""
    rng, design = page.rng, page.design
    style = design.choice(("table", "rules", "pairs"))
    rows = []
    for i in range(30):
        if style == "table":
            rows.append(
                f'<div style="display:flex;border:var(--edge);margin-top:{-page.rule_width}pt"><span style="width:2.5em;border-inline-end:var(--edge);padding:.3em">{i + 1}</span>'
                f'<span style="width:35%;border-inline-end:var(--edge);padding:.3em">{page.term()}</span><span style="flex:1;position:relative">{page.over("cell", page.want("words"))}</span></div>'
            )
        elif style == "rules":
            rows.append(
                f'<div class="row"><span style="white-space:nowrap">{i + 1}. {page.term()}</span>{page.line(page.want("word"))}</div>'
            )
        else:
            rows.append(
                f"{page.term()} {rng.choice(('→', '=', '–', '≠', ':'))} {page.blank('word', 7)}"
            )
    return sheet(
        page,
        rows,
        1 if style == "table" else design.choice((1, 2)),
        0.01 if style == "table" else None,
    )


@family(2)
def answer_sheet(page):
    """An optical answer sheet: rows of bubbles, number blocks and corner marks."""
    design = page.design
    letters = design.choice(("ABCD", "ABCDE", "1234", "ABCD", "12345"))
    colour = design.choice(("#c2185b", "#1f5fa8", "#333", "#c0392b", "#1e8449"))
    shape = design.choice(("border-radius:50%", "border-radius:50%/40%", "border-radius:2pt", ""))
    wide = design.choice((1.35, 1.35, 1.9))

    def bubble(label):
        inner = f'<span style="font-size:.6em;line-height:1.3em">{label}</span>'
        return (
            f'<span style="position:relative;display:inline-block;width:{wide}em;height:1.2em;border:.7pt solid {colour};{shape};'
            f'margin:0 .2em;text-align:center;color:{colour};line-height:1">{inner}{page.over("bubble", "tick")}</span>'
        )

    items = [
        f'<div style="white-space:nowrap">{i:>3}. {"".join(bubble(c) for c in letters)}</div>'
        for i in range(1, 101)
    ]
    digits = "".join(
        f'<div class="mid"><div style="border:1pt solid {colour};height:1.6em;position:relative">{page.over("comb", "digit")}</div>{"".join(f"<div>{bubble(d)}</div>" for d in range(10))}</div>'
        for _ in range(design.randint(5, 9))
    )
    corners = "".join(
        f'<div style="position:absolute;{place};width:5mm;height:5mm;background:#000"></div>'
        for place in (
            "top:6mm;left:6mm",
            "top:6mm;right:6mm",
            "bottom:6mm;left:6mm",
            "bottom:6mm;right:6mm",
        )
    )
    timing = (
        "".join(
            '<div style="width:4mm;height:1.5mm;background:#000;margin-bottom:3mm"></div>'
            for _ in range(30)
        )
        if design.random() < 0.4
        else ""
    )
    side = f'<div style="position:absolute;right:2mm;top:20mm">{timing}</div>'
    return (
        corners
        + side
        + header(page)
        + f'<div style="display:flex;gap:2em;margin:.6em 0"><div style="display:flex">{digits}</div><div style="flex:1">{page.paragraph(2)}</div></div>'
        f'<div class="flow" style="column-width:{len(letters) * (wide + 0.6) + 3:.1f}em;column-gap:.5em;column-fill:auto;color:{colour}">{"".join(items)}</div>'
    )


@family(2)
def ruled_paper(page):
    """An answer book's page: ruled, squared or dotted all over, with a head."""
    kind = page.design.choice(("squared", "lines"))
    room = (page.height - 2 * page.margin) / (page.pt * 0.353) - 9
    inside = (
        squared(page, room, "paragraph")
        if kind == "squared"
        else page.lines(60, height=page.design.uniform(1.7, 2.6))
    )
    if kind == "lines":
        return header(page) + f'<div class="flow">{inside}</div>'
    return header(page) + inside


@family(2)
def picture_worksheet(page):
    """Pictures to name or colour, each with a line or comb below."""
    rng, design = page.rng, page.design
    cell = design.choice(("line", "comb", "box", "choice"))
    items = []
    for _ in range(20):
        below = {
            "line": lambda: page.line(page.want("word"), "80%"),
            "comb": lambda: page.comb(rng.randint(3, 7), "letter"),
            "box": lambda: page.box("number", "2.2em", "2.2em"),
            "choice": lambda: f"{page.check()} {page.word()} {page.check()} {page.word()}",
        }[cell]()
        items.append(
            f'<div class="mid" style="break-inside:avoid;border:{design.choice((0, 1))}pt solid;padding:.5em">{figures.clip_art(rng, f"height:{design.choice((5, 7, 9))}em")}<div>{below}</div></div>'
        )
    columns = design.choice((2, 3, 4))
    return (
        header(page)
        + f'<div class="flow" style="columns:{columns};column-fill:auto">{"".join(items)}</div>'
    )


@family(1)
def music(page):
    """Music staves, some empty to be written on, with titles and words."""
    rng = page.rng
    items = []
    for _ in range(12):
        empty = rng.random() < 0.4
        stave = figures.stave(rng, not empty)
        over = page.over("area", "words") if empty else ""
        words = (
            ""
            if empty
            else f'<div style="display:flex;justify-content:space-between">{"".join(f"<span>{page.word()}</span>" for _ in range(8))}</div>'
        )
        items.append(f'<div style="position:relative">{stave}{over}</div>{words}')
    return sheet(page, items, 1)


@family(5, ["zh-Hans", "zh-Hant", "ja", "ko"])
def sealed_exam(page):
    """A wide two-column paper with a sealed margin, score table and section headings."""
    rng, design = page.rng, page.design
    page.set_format(design.choice(("B5", "A4", "16K")))
    if design.random() < 0.6:
        page.set_format((364, 257))
    columns = 2 if page.width > page.height else 1
    marks = "一二三四五六七八"
    head = "".join(f"<td>{mark}</td>" for mark in marks)
    cells = "".join(f"<td>{page.over('cell', 'number')}</td>" for _ in marks)
    scores = f'<table class="ruled mid" style="margin:.4em auto"><tr><td>{page.label("question")}</td>{head}<td>{page.label("total")}</td></tr><tr style="height:2em"><td>{page.label("score")}</td>{cells}<td style="min-width:3em">{page.over("cell", "number")}</td></tr></table>'
    dots = design.choice(("…", "- ", "○…", "┆"))
    fields = "&emsp;".join(
        f"{page.label(key)}{page.slot('line', want, '＿' * 7)}"
        for key, want in (("class", "number"), ("name", "name"), ("score", "number"))
    )
    margin = (
        f'<div style="writing-mode:vertical-rl;transform:rotate(180deg);border-inline-end:0;white-space:nowrap;overflow:hidden;text-align:center;display:flex;flex-direction:column;gap:.2em"><div>{fields}</div>'
        f'<div style="letter-spacing:.3em;border-left:1pt dashed">{dots * 8} {page.characters(1)[0]} {dots * 8} {page.characters(1)[0]} {dots * 8} {page.characters(1)[0]} {dots * 8}</div></div>'
    )
    items = []
    for k in range(8):
        items.append(
            f"<b>{marks[k]}、{page.label(rng.choice(('fill', 'choose', 'calculate', 'read')))}（{page.number(5, 40)}）</b>"
        )
        for i in range(1, rng.randint(4, 8)):
            gap = f"（{page.slot('blank', rng.choice(('letter', 'tick', 'number', page.want('word'))), style='display:inline-block;width:2.6em;height:1.2em;vertical-align:middle')}）"
            kind = rng.random()
            if kind < 0.35:
                items.append(f"{i}. {page.sentence()}{gap}{options(page)}")
            elif kind < 0.6:
                items.append(f"{i}. {page.sentence()}{page.blank()}{page.sentence()}")
            elif kind < 0.75:
                items.append(
                    "".join(
                        f'<span style="display:inline-block;width:33%">{operation(page)}＝{page.slot("blank", "number", style="display:inline-block;width:3em;height:1.3em")}</span>'
                        for _ in range(3)
                    )
                )
            elif kind < 0.85:
                items.append(
                    f"{i}. {page.sentence()}{rng.choice((figures.geometry, figures.axes))(rng)}"
                )
            else:
                items.append(
                    f"{i}. {page.sentence()}"
                    + page.slot(
                        "area", "formula", style=f"display:block;height:{rng.uniform(2, 7):.1f}em"
                    )
                )
    body = "".join(f'<div style="margin-bottom:.35em">{item}</div>' for item in items)
    side = margin if design.random() < 0.6 else ""
    return (
        f'<div style="display:flex;gap:1em;flex:1;min-height:0">{side}<div style="flex:1;display:flex;flex-direction:column;min-height:0"><h1 class="mid">{page.title()}</h1>{scores}'
        f'<div class="flow" style="columns:{columns};column-gap:3em;column-fill:auto">{body}</div></div></div>'
    )


@family(3, ["zh-Hans"])
def pinyin_words(page):
    """Syllables over tian-zi squares: words to write from their sound."""
    rng, design = page.rng, page.design
    syllables = "mā lǐ xué huā yuán shū běn tiān qì péng yǒu chūn fēng míng liàng dà shān hé niǎo fēi kuài lè".split()
    colour = design.choice(("#2e7d32", "#c0392b", "#666"))
    size = design.choice((1.9, 2.2, 2.6))
    ground = f"<svg viewBox='0 0 100 100' style='position:absolute;inset:0' stroke='{colour}' stroke-width='1.5' fill='none'><path d='M0 50H100M50 0V100' stroke-dasharray='6 5'/></svg>"

    def word():
        count = rng.choice((1, 2, 2, 2, 3, 4))
        cells = "".join(
            f'<div class="mid"><div style="font-size:.85em">{rng.choice(syllables)}</div><div style="position:relative;width:{size}em;height:{size}em;border:.8pt solid {colour};margin-inline-end:-.8pt">{ground}{page.over("cell", "cjk")}</div></div>'
            for _ in range(count)
        )
        return f'<div style="display:flex">{cells}</div>'

    rows = [
        f'<div style="display:flex;flex-wrap:wrap;gap:.6em 1.2em">{"".join(word() for _ in range(4))}</div>'
        for _ in range(12)
    ]
    return sheet(page, [instruction(page, "fill"), *rows], 1)


@family(4)
def graphs(page):
    """A page of mathematics with graphs of functions between its text."""
    rng = page.rng
    kinds = (
        lambda: f"<p>{page.paragraph(rng.randint(1, 3))}</p>",
        lambda: (
            f'<div class="mid">{figures.graph(rng, f"width:{rng.choice((45, 60, 80, 100))}%")}</div>'
        ),
        lambda: (
            '<div class="row">'
            + "".join(figures.graph(rng, "width:48%") for _ in range(2))
            + "</div>"
        ),
        lambda: f'<div class="mid">{formula(page, True)}</div>',
    )
    return f'<h2>{page.title()}</h2><div class="flow">{"".join(rng.choice(kinds)() for _ in range(14))}</div>'


@family(2)
def essay_page(page):
    """A prompt, then a page of answer rules, perhaps with a picture or word count."""
    rng, design = page.rng, page.design
    art = (
        f'<div class="mid">{figures.clip_art(rng, "height:9em")}</div>'
        if design.random() < 0.3
        else ""
    )
    height = design.uniform(1.7, 2.6)
    margin = (
        "border-inline-start:1pt solid #e57373;margin-inline-start:3em"
        if design.random() < 0.3
        else ""
    )
    rules = "".join(
        f'<div style="{margin}">{page.line(page.want("sentence"), height=height)}</div>'
        for _ in range(45)
    )
    return header(page) + f'<p>{page.paragraph(3)}</p>{art}<div class="flow">{rules}</div>'
