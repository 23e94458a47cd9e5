"""Drawings for printed pages: SVG figures, charts, seals, codes, clip art, photographs."""

import base64
import functools
import math
import subprocess

import cv2
import numpy as np

from training.layouts import library

PALETTE = [
    "#1f77b4",
    "#ff7f0e",
    "#2ca02c",
    "#d62728",
    "#9467bd",
    "#8c564b",
    "#e377c2",
    "#7f7f7f",
    "#bcbd22",
    "#17becf",
]


def svg(width, height, inside, size="", style=""):
    """Wrap shapes in an svg element of user units width by height."""
    return (
        f'<svg viewBox="0 0 {width} {height}" style="{size};{style}" fill="none" '
        f'stroke="currentColor" stroke-width="1.2">{inside}</svg>'
    )


def svg_text(x, y, value, size=10, anchor="middle", extra=""):
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}" '
        f'fill="currentColor" stroke="none" {extra}>{value}</text>'
    )


def path(points, extra=""):
    steps = " L".join(f"{x:.1f} {y:.1f}" for x, y in points)
    return f'<path d="M{steps}" {extra}/>'


def polar(cx, cy, r, angle):
    return cx + r * math.cos(angle), cy + r * math.sin(angle)


# School figures.


def clock(rng, hands=True):
    parts = ['<circle cx="50" cy="50" r="46"/>']
    for hour in range(1, 13):
        angle = math.radians(hour * 30 - 90)
        x, y = polar(50, 50, 37, angle)
        parts.append(svg_text(x, y + 4, hour, 11))
        parts.append(path([polar(50, 50, 43, angle), polar(50, 50, 46, angle)]))
    if hands:
        for r, width in ((22, 3), (33, 1.8)):
            end = polar(50, 50, r, rng.uniform(0, 2 * math.pi))
            parts.append(path([(50, 50), end], f'stroke-width="{width}"'))
    return svg(
        100,
        100,
        "".join(parts) + '<circle cx="50" cy="50" r="2" fill="currentColor"/>',
        "width:7em;height:7em",
    )


def number_line(rng):
    count, step, start = rng.randint(5, 12), rng.choice((1, 1, 2, 5, 10, 0.5)), rng.randint(-5, 20)
    parts = [path([(5, 20), (395, 20)]), path([(388, 16), (395, 20), (388, 24)])]
    for i in range(count):
        x = 20 + 350 * i / (count - 1)
        parts.append(path([(x, 14), (x, 26)]))
        if rng.random() < 0.6:
            parts.append(svg_text(x, 40, f"{start + i * step:g}", 11))
    return svg(400, 46, "".join(parts), "width:100%")


def axes(rng, curve=True, size="width:16em"):
    """A squared coordinate grid with axes, and perhaps a curve and points."""
    n = rng.choice((8, 10, 12))
    unit = 200 / n
    parts = ['<g stroke="#999" stroke-width=".5">']
    for i in range(n + 1):
        parts += [path([(i * unit, 0), (i * unit, 200)]), path([(0, i * unit), (200, i * unit)])]
    parts.append("</g>")
    middle = n // 2 * unit
    parts += [
        path([(0, middle), (200, middle)]),
        path([(middle, 200), (middle, 0)]),
        path([(195, middle - 3), (200, middle), (195, middle + 3)]),
        path([(middle - 3, 5), (middle, 0), (middle + 3, 5)]),
        svg_text(194, middle - 5, "x", 10, extra='font-style="italic"'),
        svg_text(middle + 7, 9, "y", 10, extra='font-style="italic"'),
        svg_text(middle - 5, middle + 10, "O" if rng.random() < 0.5 else "0", 8),
    ]
    if rng.random() < 0.7:
        for i in range(1, n):
            if i != n // 2:
                parts.append(svg_text(i * unit, middle + 9, i - n // 2, 6.5))
                parts.append(svg_text(middle - 5, i * unit + 2, n // 2 - i, 6.5))
    if curve:
        a, b, c = rng.uniform(-1, 1), rng.uniform(-1, 1), rng.uniform(-1.5, 1.5)
        points = [
            (x, 100 - 40 * (a * t * t + b * t + c * math.sin(2 * t)))
            for x, t in ((i * 2, (i - 50) / 25) for i in range(101))
        ]
        parts.append(
            path(
                [p for p in points if 0 <= p[1] <= 200] or [(0, 0), (200, 200)],
                f'stroke-width="1.8" stroke="{rng.choice(["currentColor", *PALETTE])}"',
            )
        )
    return svg(200, 200, "".join(parts), size)


def graph(rng, size="width:100%"):
    """Curves on plain axes, without a grid: what a maths book shows of a function, or a circle."""
    width, height, unit = (
        rng.choice((300, 420, 540)),
        rng.choice((160, 220, 300)),
        rng.uniform(18, 45),
    )
    x0, y0 = width * rng.choice((0.06, 0.5)), height * rng.choice((0.5, 0.5, 0.9))
    a, b, c = rng.uniform(0.4, 2), rng.uniform(0.4, 2.5), rng.uniform(-2, 2)
    curves = (
        lambda t: a * math.sin(b * t),
        lambda t: a * math.cos(b * t) + c,
        lambda t: a * t * t / 4 + c,
        lambda t: a * t * (t - b) * (t + b) / 6,
        lambda t: math.exp(min(b * t / 2, 6)),
        lambda t: a * t + c,
        lambda t: a / t if abs(t) > 0.05 else math.nan,
        lambda t: math.sqrt(a * t) if t > 0 else math.nan,
        lambda t: a * math.exp(-b * t * t),
        lambda t: a * abs(t - c),
    )
    axis = f'stroke-width="{rng.choice((0.5, 0.8, 1, 1.3))}"'
    parts = [path([(2, y0), (width - 4, y0)], axis), path([(x0, height - 2), (x0, 4)], axis)]
    if rng.random() < 0.6:
        parts += [
            path([(width - 10, y0 - 3), (width - 4, y0), (width - 10, y0 + 3)], axis),
            path([(x0 - 3, 10), (x0, 4), (x0 + 3, 10)], axis),
        ]
    if rng.random() < 0.6:
        parts += [svg_text(width - 8, y0 - 6, "x", 11), svg_text(x0 + 9, 12, "y", 11)]
    if rng.random() < 0.5:
        for i in range(int(-x0 / unit) + 1, int((width - x0) / unit)):
            at = x0 + i * unit
            parts += [
                path([(at, y0 - 2), (at, y0 + 2)], axis),
                svg_text(at, y0 + 11, i, 8) if i else "",
            ]
    colours = ("#00f", "#f00", "#008000", "#000", "#000", *PALETTE)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        look = f'stroke="{rng.choice(colours)}" stroke-width="{rng.uniform(0.8, 2.4):.1f}"'
        if rng.random() < 0.15:
            x, y = rng.uniform(0.2, 0.8) * width, rng.uniform(0.3, 0.7) * height
            parts.append(
                f'<ellipse cx="{x:.0f}" cy="{y:.0f}" rx="{rng.uniform(20, 70):.0f}" ry="{rng.uniform(20, 70):.0f}" {look}/>'
            )
            continue
        curve, run = rng.choice(curves), []
        for x in range(0, width, 2):
            y = y0 - unit * curve((x - x0) / unit)
            if 0 <= y <= height:
                run.append((x, y))
            elif run:
                parts.append(path(run, look))
                run = []
        parts.append(path(run, look) if run else "")
    return svg(width, height, "".join(parts), size)


def geometry(rng):
    """A lettered figure: polygon or circle, with diagonals, heights and marks."""
    kind = rng.choice(("triangle", "triangle", "quad", "polygon", "circle", "solid", "angle"))
    dash = 'stroke-dasharray="4 3"'
    if kind == "solid":
        w, h, d = rng.randint(50, 90), rng.randint(40, 90), rng.randint(20, 40)
        x, y = 30, 150 - h
        parts = [
            f'<rect x="{x}" y="{y}" width="{w}" height="{h}"/>',
            path([(x, y), (x + d, y - d), (x + d + w, y - d), (x + w, y)]),
            path([(x + d + w, y - d), (x + d + w, y - d + h), (x + w, y + h)]),
            path([(x, y + h), (x + d, y + h - d), (x + d, y - d)], dash),
            path([(x + d, y + h - d), (x + d + w, y + h - d)], dash),
            svg_text(x + w / 2, y + h + 14, f"{rng.randint(2, 20)} cm", 11),
        ]
        return svg(190, 170, "".join(parts), "width:11em")
    if kind == "circle":
        angles = sorted(rng.uniform(0, 2 * math.pi) for _ in range(rng.randint(3, 5)))
        points = [polar(95, 85, 65, a) for a in angles]
        parts = [
            '<circle cx="95" cy="85" r="65"/><circle cx="95" cy="85" r="1.6" fill="currentColor"/>',
            svg_text(103, 95, "O", 11),
        ]
    elif kind == "angle":
        points = [(20, 140), (150, 140), polar(20, 140, 130, -rng.uniform(0.4, 1.3))]
        points = [points[1], points[0], points[2]]
        parts = ['<path d="M60 140 A40 40 0 0 0 50 114"/>']
        return svg(
            190, 170, "".join(parts) + path(points) + svg_text(12, 152, "A", 11), "width:10em"
        )
    else:
        n = {"triangle": 3, "quad": 4}.get(kind) or rng.randint(5, 8)
        start = rng.uniform(0, 2)
        points = [polar(95, 85, rng.uniform(45, 75), start + 2 * math.pi * i / n) for i in range(n)]
        parts = []
    parts.append(
        path([*points, points[0]], f'fill="{rng.choice(["none", "none", "#eee", "#e3f2fd"])}"')
    )
    for letter, (x, y) in zip("ABCDEFGH", points):
        parts.append(
            svg_text(
                95 + (x - 95) * 1.17, 89 + (y - 85) * 1.17, letter, 12, extra='font-style="italic"'
            )
        )
    i, j = rng.sample(range(len(points)), 2)
    middle = ((points[j][0] + points[j - 1][0]) / 2, (points[j][1] + points[j - 1][1]) / 2)
    parts.append(path([points[i], middle], rng.choice((dash, ""))))
    if rng.random() < 0.6:
        parts.append(
            svg_text(middle[0] + 8, middle[1] - 3, f"{rng.randint(2, 30)} cm", 10, "start")
        )
    return svg(190, 175, "".join(parts), "width:11em")


def fraction_shape(rng):
    n = rng.choice((2, 3, 4, 5, 6, 8, 10, 12))
    filled = rng.randint(0, n)
    parts = []
    if rng.random() < 0.5:
        for i in range(n):
            a, b = 2 * math.pi * i / n, 2 * math.pi * (i + 1) / n
            (x0, y0), (x1, y1) = polar(50, 50, 45, a), polar(50, 50, 45, b)
            large = int(b - a > math.pi)
            parts.append(
                f'<path d="M50 50 L{x0:.1f} {y0:.1f} A45 45 0 {large} 1 {x1:.1f} {y1:.1f} Z" '
                f'fill="{"#bbb" if i < filled else "none"}"/>'
            )
        return svg(100, 100, "".join(parts), "width:5em")
    for i in range(n):
        parts.append(
            f'<rect x="{5 + 90 * i / n:.1f}" y="30" width="{90 / n:.1f}" height="40" '
            f'fill="{"#bbb" if i < filled else "none"}"/>'
        )
    return svg(100, 100, "".join(parts), "width:5.5em")


def maze(rng, rows=14, columns=14):
    """A perfect maze by depth-first search."""
    walls = {(r, c, d) for r in range(rows) for c in range(columns) for d in "SE"}
    stack, seen = [(0, 0)], {(0, 0)}
    while stack:
        r, c = stack[-1]
        near = [(r + 1, c), (r - 1, c), (r, c + 1), (r, c - 1)]
        near = [p for p in near if 0 <= p[0] < rows and 0 <= p[1] < columns and p not in seen]
        if not near:
            stack.pop()
            continue
        p = rng.choice(near)
        low = min((r, c), p)
        walls.discard((*low, "S" if p[1] == c else "E"))
        seen.add(p)
        stack.append(p)
    parts = [
        path([(0, 10), (0, rows * 10), (columns * 10, rows * 10)]),
        path([(0, 0), (columns * 10, 0), (columns * 10, rows * 10 - 10)]),
    ]
    for r, c, d in sorted(walls):
        x, y = c * 10, r * 10
        parts.append(
            path([(x, y + 10), (x + 10, y + 10)] if d == "S" else [(x + 10, y), (x + 10, y + 10)])
        )
    return svg(columns * 10 + 2, rows * 10 + 2, "".join(parts), "width:100%", "overflow:visible")


# Charts and diagrams.


def chart(rng, words, size="width:22em"):
    """A bar, line, pie or scatter chart; words() labels it."""
    kind = rng.choice(("bar", "bar", "line", "pie", "scatter", "histogram"))
    colours = (
        rng.sample(PALETTE, 6)
        if rng.random() < 0.6
        else ["#444", "#999", "#ccc", "#666", "#bbb", "#222"]
    )
    n = rng.randint(4, 9)
    if kind == "pie":
        shares = [rng.uniform(0.3, 2) for _ in range(min(n, 6))]
        angle, parts = 0.0, []
        for i, share in enumerate(shares):
            turn = share / sum(shares) * 2 * math.pi
            (x0, y0), (x1, y1) = polar(80, 80, 70, angle), polar(80, 80, 70, angle + turn)
            parts.append(
                f'<path d="M80 80 L{x0:.1f} {y0:.1f} A70 70 0 {int(turn > math.pi)} 1 {x1:.1f} '
                f'{y1:.1f} Z" fill="{colours[i]}"/>'
            )
            x, y = polar(80, 80, 48, angle + turn / 2)
            parts.append(svg_text(x, y + 3, f"{share / sum(shares):.0%}", 9))
            parts.append(
                f'<rect x="170" y="{20 + i * 18}" width="10" height="10" fill="{colours[i]}"/>'
            )
            parts.append(svg_text(185, 29 + i * 18, words(), 10, "start"))
            angle += turn
        return svg(300, 160, "".join(parts), size)
    values = [rng.uniform(10, 130) for _ in range(n)]
    parts = [path([(35, 5), (35, 145), (295, 145)])]
    for i in range(1, 5):
        if rng.random() < 0.9:
            parts.append(
                path([(35, 145 - i * 30), (295, 145 - i * 30)], 'stroke="#bbb" stroke-width=".6"')
            )
        parts.append(svg_text(31, 148 - i * 30, i * rng.choice((5, 10, 20)), 9, "end"))
    step = 255 / n
    points = [(42 + step * (i + 0.4), 145 - value) for i, value in enumerate(values)]
    if kind in ("bar", "histogram"):
        width = step * (0.95 if kind == "histogram" else 0.6)
        colour = rng.choice(colours)
        for i, (x, y) in enumerate(points):
            fill = colours[i % 6] if rng.random() < 0.3 else colour
            parts.append(
                f'<rect x="{x - width / 2:.1f}" y="{y:.1f}" width="{width:.1f}" '
                f'height="{145 - y:.1f}" fill="{fill}"/>'
            )
    elif kind == "line":
        parts.append(path(points, f'stroke="{colours[0]}" stroke-width="2"'))
        parts += [
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colours[0]}"/>' for x, y in points
        ]
    else:
        for _ in range(rng.randint(15, 60)):
            x = rng.uniform(40, 290)
            y = 145 - min(135, max(3, x * rng.uniform(0.2, 0.5)))
            parts.append(
                f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.4" fill="{colours[1]}" stroke="none"/>'
            )
    for x, _ in points:
        parts.append(svg_text(x, 158, words()[:8], 8))
    return svg(300, 165, "".join(parts), size)


def flow_diagram(rng, words, size="width:100%"):
    """Boxes of several shapes joined by arrows."""
    columns, rows = rng.randint(2, 4), rng.randint(2, 4)
    fill = rng.choice(("none", "none", "#eef", "#efe", "#fee", "#eee"))
    parts = [
        '<defs><marker id="arrow" markerWidth="8" markerHeight="8" refX="7" refY="3" orient="auto">'
        '<path d="M0 0 L7 3 L0 6 Z" fill="currentColor" stroke="none"/></marker></defs>'
    ]
    for r in range(rows):
        for c in range(columns):
            x, y = c * 130 + 10, r * 80 + 10
            shape = rng.choice(("rect", "rect", "round", "diamond", "ellipse"))
            if shape == "diamond":
                parts.append(
                    path(
                        [
                            (x + 50, y - 4),
                            (x + 105, y + 22),
                            (x + 50, y + 48),
                            (x - 5, y + 22),
                            (x + 50, y - 4),
                        ],
                        f'fill="{fill}"',
                    )
                )
            elif shape == "ellipse":
                parts.append(
                    f'<ellipse cx="{x + 50}" cy="{y + 22}" rx="52" ry="22" fill="{fill}"/>'
                )
            else:
                parts.append(
                    f'<rect x="{x}" y="{y}" width="100" height="44" rx="{12 if shape == "round" else 0}" fill="{fill}"/>'
                )
            parts.append(svg_text(x + 50, y + 26, words()[:14], 11))
            if c < columns - 1:
                parts.append(
                    path([(x + 105, y + 22), (x + 126, y + 22)], 'marker-end="url(#arrow)"')
                )
            if r < rows - 1 and rng.random() < 0.6:
                parts.append(path([(x + 50, y + 48), (x + 50, y + 76)], 'marker-end="url(#arrow)"'))
    return svg(columns * 130, rows * 80, "".join(parts), size)


def circuit(rng):
    """A closed circuit with resistors, a cell, a lamp and a switch."""
    parts = [path([(20, 20), (280, 20), (280, 140), (20, 140), (20, 20)])]
    for i, (x, y) in enumerate(((90, 20), (200, 20), (90, 140), (200, 140))):
        white = (
            f'<rect x="{x - 25}" y="{y - 12}" width="50" height="24" fill="#fff" stroke="none"/>'
        )
        kind = rng.choice(("resistor", "zigzag", "cell", "lamp", "switch", "meter", "capacitor"))
        if kind == "resistor":
            part = f'<rect x="{x - 25}" y="{y - 8}" width="50" height="16" fill="#fff"/>'
        elif kind == "zigzag":
            points = (
                [(x - 25, y)]
                + [(x - 20 + 5 * k, y + (9 if k % 2 else -9)) for k in range(9)]
                + [(x + 25, y)]
            )
            part = white + path(points)
        elif kind in ("cell", "capacitor"):
            tall = 14 if kind == "cell" else 9
            part = (
                white
                + path([(x - 25, y), (x - 4, y)])
                + path([(x + 4, y), (x + 25, y)])
                + path([(x - 4, y - 9), (x - 4, y + 9)])
                + path([(x + 4, y - tall), (x + 4, y + tall)])
            )
        elif kind == "switch":
            part = (
                white
                + path([(x - 25, y), (x - 12, y), (x + 12, y - 12)])
                + path([(x + 14, y), (x + 25, y)])
            )
        else:
            inner = path([(x - 8, y - 8), (x + 8, y + 8)]) + path([(x - 8, y + 8), (x + 8, y - 8)])
            letter = svg_text(x, y + 4, rng.choice("AV"), 12)
            part = f'<circle cx="{x}" cy="{y}" r="12" fill="#fff"/>' + (
                inner if kind == "lamp" else letter
            )
        parts.append(
            part + svg_text(x, y - 15, f"R<tspan font-size='8' dy='3'>{i + 1}</tspan>", 12)
        )
    return svg(300, 165, "".join(parts), "width:18em")


def molecule(rng):
    """Hexagonal rings and chains with element letters: a structural formula."""
    parts, x, y = [], 50, 70
    for _ in range(rng.randint(1, 4)):
        ring = [polar(x, y, 25, math.radians(60 * k + 30)) for k in range(6)]
        parts.append(path([*ring, ring[0]]))
        for k in (0, 2, 4):
            inner = [(x + (px - x) * 0.8, y + (py - y) * 0.8) for px, py in (ring[k], ring[k + 1])]
            parts.append(path(inner))
        if rng.random() < 0.7:
            end = (ring[4][0], ring[4][1] - 18)
            parts.append(path([ring[4], end]))
            parts.append(
                svg_text(
                    end[0], end[1] - 3, rng.choice(("OH", "NH₂", "CH₃", "Cl", "O", "COOH")), 11
                )
            )
        x += 43.3 if rng.random() < 0.6 else 75
        if x > 250:
            break
    return svg(300, 130, "".join(parts), "width:15em")


def map_lines(rng, words, size="width:100%"):
    """A map-like drawing: coast lines, borders, rivers, towns with names."""
    parts = []
    for _ in range(rng.randint(4, 9)):
        cx, cy, r = rng.uniform(40, 360), rng.uniform(30, 220), rng.uniform(25, 90)
        points = [
            polar(cx, cy, r * rng.uniform(0.75, 1.2), 2 * math.pi * k / 40) for k in range(40)
        ]
        fill = rng.choice(("none", "none", "#f1f8e9", "#fff8e1", "#e1f5fe", "#eee"))
        dash = rng.choice(("", 'stroke-dasharray="5 3"', 'stroke-dasharray="1 2"'))
        parts.append(
            path(
                [*points, points[0]],
                f'fill="{fill}" stroke-width="{rng.choice((0.7, 1, 1.6))}" {dash}',
            )
        )
    for _ in range(3):
        x, y, river = 0.0, rng.uniform(20, 230), []
        while x < 400:
            river.append((x, y))
            x, y = x + 8, y + rng.uniform(-7, 7)
        parts.append(path(river, f'stroke="{rng.choice(["#4a90d9", "#777", "#000"])}"'))
    for _ in range(rng.randint(5, 12)):
        x, y = rng.uniform(10, 340), rng.uniform(15, 240)
        parts.append(f'<circle cx="{x:.0f}" cy="{y:.0f}" r="2.5" fill="currentColor"/>')
        parts.append(svg_text(x + 5, y + 3, words()[:12], rng.choice((8, 9, 11)), "start"))
    return svg(400, 250, "".join(parts), size, f"border:{rng.choice((0, 1, 2))}px solid")


def stave(rng, notes=True):
    """A music stave with bars, heads and stems."""
    parts = [path([(0, 20 + 8 * i), (600, 20 + 8 * i)], 'stroke-width=".8"') for i in range(5)]
    parts += [path([(x, 20), (x, 52)]) for x in (0, 150, 300, 450, 600)]
    parts.append(
        svg_text(14, 52, "\U0001d11e", 44, extra="font-family='Noto Music, FreeSerif, DejaVu Sans'")
    )
    if notes:
        x = 45
        while x < 590:
            y = 20 + 4 * rng.randint(0, 9)
            hollow = rng.random() < 0.2
            parts.append(
                f'<ellipse cx="{x}" cy="{y}" rx="5.2" ry="3.8" transform="rotate(-20 {x} {y})" '
                f'fill="{"none" if hollow else "currentColor"}"/>'
            )
            up = y > 36
            parts.append(
                path([(x + 5, y), (x + 5, y - 28)] if up else [(x - 5, y), (x - 5, y + 28)])
            )
            x += rng.choice((18, 26, 34))
    return svg(600, 76, "".join(parts), "width:100%")


# Marks of print: seals, logos, ornaments, codes.


def star(cx, cy, r, points=5, inner=0.4):
    steps = [
        polar(cx, cy, r if k % 2 == 0 else r * inner, math.pi * k / points - math.pi / 2)
        for k in range(2 * points)
    ]
    return path([*steps, steps[0]], 'fill="currentColor"')


def stamp(rng, words, cjk=False):
    """A printed seal or rubber stamp: round, oval, square or boxed, perhaps rotated."""
    colour = rng.choice(
        ("#c8102e", "#c8102e", "#e53935", "#1a3e8c", "#2346a0", "#6a1b9a", "#00695c", "#111")
    )
    kind = rng.choice(("round", "round", "round", "square", "boxed", "oval"))
    turn = rng.choice((0, 0, rng.uniform(-25, 25)))
    name = f"arc{rng.randrange(10**9)}"
    if kind == "round":
        label = (words() + " " + words())[:24] if not cjk else (words() + words() + words())[:12]
        inner = (
            '<circle cx="60" cy="60" r="56" stroke-width="3"/>'
            + ('<circle cx="60" cy="60" r="38"/>' if rng.random() < 0.5 else "")
            + f'<path id="{name}" d="M16 66 A44 44 0 1 1 104 66" stroke="none"/>'
            f'<text font-size="{12 if not cjk else 15}" fill="{colour}" stroke="none">'
            f'<textPath href="#{name}" textLength="120">{label}</textPath></text>'
            + (star(60, 60, 17) if rng.random() < 0.6 else svg_text(60, 66, words()[:8], 14))
            + (svg_text(60, 96, words()[:8], 11) if rng.random() < 0.7 else "")
        )
        box, size = (120, 120), rng.uniform(6, 10)
    elif kind == "oval":
        inner = (
            '<ellipse cx="75" cy="45" rx="72" ry="42" stroke-width="3"/><ellipse cx="75" cy="45" rx="65" ry="36"/>'
            + svg_text(75, 42, words()[:14], 15)
            + svg_text(
                75, 60, f"{rng.randint(1, 28)}.{rng.randint(1, 12)}.{rng.randint(2000, 2030)}", 12
            )
        )
        box, size = (150, 90), rng.uniform(8, 12)
    elif kind == "square":
        letters = (words() + words() + words() + words())[:4]
        inner = '<rect x="4" y="4" width="92" height="92" stroke-width="5"/>'
        for k, letter in enumerate(letters):
            inner += svg_text(72 - 44 * (k // 2), 44 + 42 * (k % 2), letter, 38)
        box, size = (100, 100), rng.uniform(4, 7)
    else:
        inner = '<rect x="3" y="3" width="194" height="64" rx="6" stroke-width="4"/>' + svg_text(
            100, 47, words().upper()[:12], 32, extra='font-weight="bold"'
        )
        box, size = (200, 70), rng.uniform(9, 14)
    return svg(
        *box,
        inner,
        f"width:{size:.1f}em",
        f"color:{colour};transform:rotate({turn:.0f}deg);opacity:{rng.choice((1, 1, 0.85, 0.7))}",
    )


def logo(rng, size=None):
    """A made-up mark of a firm or school: overlapping simple shapes."""
    colours = rng.sample(PALETTE, 3)
    if rng.random() < 0.4:
        colours = ["currentColor"] * 3
    parts = []
    kind = rng.choice(("rings", "polygon", "bars", "shield", "star", "letters"))
    if kind == "rings":
        for k in range(rng.randint(2, 4)):
            parts.append(
                f'<circle cx="{35 + 15 * k}" cy="{50 + rng.randint(-10, 10)}" r="{rng.randint(14, 30)}" '
                f'stroke="{colours[k % 3]}" stroke-width="{rng.randint(3, 9)}"/>'
            )
    elif kind == "polygon":
        for k in range(3):
            n, start = rng.randint(3, 8), rng.uniform(0, 3)
            points = [polar(50, 50, 45 - 13 * k, start + 2 * math.pi * i / n) for i in range(n)]
            parts.append(
                path(
                    [*points, points[0]],
                    f'fill="{colours[k] if k % 2 == 0 else "#fff"}" stroke="none"',
                )
            )
    elif kind == "bars":
        for k in range(rng.randint(3, 6)):
            parts.append(
                f'<rect x="{12 + 14 * k}" y="{rng.randint(5, 50)}" width="9" height="45" fill="{colours[k % 3]}" stroke="none"/>'
            )
    elif kind == "shield":
        parts.append(
            f'<path d="M10 10 H90 V50 Q90 80 50 97 Q10 80 10 50 Z" fill="{colours[0]}" stroke="{colours[1]}" stroke-width="4"/>'
        )
        parts.append(f'<g color="#fff">{star(50, 45, 24, rng.randint(4, 8))}</g>')
    elif kind == "star":
        parts.append(
            f'<g color="{colours[0]}">{star(50, 50, 46, rng.randint(5, 16), rng.uniform(0.35, 0.85))}</g>'
        )
    else:
        parts.append(f'<circle cx="50" cy="50" r="46" fill="{colours[0]}" stroke="none"/>')
        parts.append(
            f'<g style="color:#fff">{svg_text(50, 66, rng.choice("ABCDEFGHKMNRSTZ") + rng.choice("&·+ABEX"), 44)}</g>'
        )
    return svg(100, 100, "".join(parts), f"width:{size or rng.uniform(3, 6):.1f}em")


def ornament(rng):
    """A symmetrical flourish, for certificates and chapter ends."""
    parts = []
    for side in (1, -1):
        for k in range(rng.randint(2, 5)):
            x, bend = 100 + side * (8 + 18 * k), rng.randint(8, 22)
            parts.append(
                f'<path d="M100 20 C{100 + side * 20} {20 - bend} {x} {20 + bend} {x + side * 20} 20 '
                f's{side * 8} -{bend // 2} {side * 2} -{bend // 3}"/>'
            )
    return svg(200, 40, "".join(parts) + star(100, 20, 6, 4), "width:14em")


@functools.lru_cache(maxsize=512)
def code(kind, value):
    """Return a bar code (a zint symbology's number) or "qr" as SVG text."""
    if kind == "qr":
        command = ["qrencode", "-t", "SVG", "-m", "1", "-o", "-", value]
    else:
        command = ["zint", "-b", str(kind), "--direct", "--filetype=svg", "-d", value]
    out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return base64.b64encode(out.encode()).decode()


def barcode(rng, height="3.5em"):
    kind = rng.choice((20, 20, 8, 13, 9, 71, 58, "qr", "qr", 55))
    length = 12 if kind == 13 else rng.randint(6, 12)
    value = "".join(rng.choice("0123456789") for _ in range(length))
    if kind in ("qr", 71, 58):
        height = f"{rng.uniform(4, 7):.1f}em"
        value = "https://example.org/" + value
    return f'<img style="height:{height}" src="data:image/svg+xml;base64,{code(kind, value)}">'


# Pictures from packages.


@functools.cache
def clip_arts():
    root = library.DATA / "pictures"
    found = [*root.glob("openclipart-svg/**/*.svg"), *root.glob("tango-icon-theme/**/*.svg")]
    return sorted(str(p) for p in found if 500 < p.stat().st_size < 60000)


def clip_art(rng, size="height:5em"):
    found = clip_arts()
    if not found:
        return logo(rng)
    grey = rng.choice(("", "", "filter:grayscale(1)"))
    return f'<img onerror="this.remove()" style="{size};max-width:100%;object-fit:contain;{grey}" src="file://{rng.choice(found)}">'


@functools.cache
def photographs():
    """Return the paths of photographs, and of coloured maps to half their number."""
    root = library.DATA / "pictures"
    found = sorted(
        str(p) for kind in ("jpg", "png") for p in root.glob(f"*/**/backgrounds/**/*.{kind}")
    )
    coloured = sorted(
        str(p) for p in root.glob("kgeography-data/**/*.png") if p.stat().st_size > 4000
    )
    return found + coloured[:: max(1, 2 * len(coloured) // max(1, len(found)))]


@functools.lru_cache(maxsize=8)
def photograph(name):
    picture = cv2.imread(name)
    ratio = min(1, 1600 / max(picture.shape[:2]))
    return cv2.resize(picture, None, fx=ratio, fy=ratio, interpolation=cv2.INTER_AREA)


def photo(rng, style="width:100%", aspect=None):
    """A crop of a photograph, in colour, grey or halftone."""
    found = photographs()
    if not found:
        return logo(rng)
    picture = photograph(rng.choice(found))
    height, width = picture.shape[:2]
    aspect = aspect or rng.choice((0.6, 0.75, 1, 1.3))
    w = int(min(width, height / aspect) * rng.uniform(0.4, 1))
    h = int(w * aspect)
    x, y = rng.randint(0, width - w), rng.randint(0, height - h)
    crop = cv2.resize(
        picture[y : y + h, x : x + w], (700, int(700 * aspect)), interpolation=cv2.INTER_AREA
    )
    kind = rng.choice(("colour", "colour", "grey", "halftone"))
    if kind != "colour":
        crop = cv2.cvtColor(crop, cv2.COLOR_BGR2GRAY)
    if kind == "halftone":
        crop = halftone(crop, rng.choice((5, 6, 8)))
    data = base64.b64encode(cv2.imencode(".jpg", crop, [cv2.IMWRITE_JPEG_QUALITY, 88])[1]).decode()
    return f'<img style="{style};display:block" src="data:image/jpeg;base64,{data}">'


def halftone(grey, cell):
    """Screen a grey picture into dots on a grid at 45 degrees."""
    y, x = np.mgrid[: grey.shape[0], : grey.shape[1]]
    u, v = (x + y) * np.pi / cell / 1.41, (x - y) * np.pi / cell / 1.41
    screen = (np.cos(u) + np.cos(v)) * 63 + 128
    return np.where(grey > screen, 255, 20).astype(np.uint8)


def chart_small(rng):
    return chart(rng, lambda: rng.choice("ABCDEFGH"), "width:13em")
