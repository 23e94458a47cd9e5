"""Makes the README's example: a worksheet of our own, filled in with a drawn hand, photographed.

python3 -m training.common.example OUT.jpg [--seed 8]
"""

import argparse
import subprocess
import tempfile
from dataclasses import replace
from pathlib import Path
from urllib.parse import unquote

import cv2
import numpy as np
import pymupdf

from training.common import capture
from training.common.ink import pens
from training.common.ink.inks import Inks
from training.common.scene import rotate, written

ANSWER = "https://answer.invalid/"
DPI = 150
USED = 1340  # pixels from the top: the rest of the sheet is empty
HEIGHT = 19  # of the letters' bodies, in pixels

HTML = """<meta charset=utf-8><style>
@page { size: A4; margin: 17mm 18mm } body { font: 12pt/1.5 'DejaVu Serif', serif; margin: 0 }
h1 { font: bold 19pt 'DejaVu Sans', sans-serif; margin: 0 0 3mm; color: #1d4f91 }
h2 { font: bold 12.5pt 'DejaVu Sans', sans-serif; margin: 7mm 0 2mm; border-bottom: 1.5pt solid #1d4f91 }
a { display: inline-block; border-bottom: 1pt solid black; color: transparent; text-decoration: none; height: 8mm }
table { border-collapse: collapse; width: 100%% } td, th { border: 1pt solid black; padding: 1.5mm 3mm; text-align: left }
td a { border: none; width: 36mm } th { background: #dde6f2 } .sums { display: grid; grid-template-columns: 1fr 1fr 1fr; gap: 3mm }
</style>
<p style="text-align: right; margin: 0">Name %(name)s &nbsp; Date %(date)s</p>
<h1>Plants and fractions</h1>
<h2>1. Complete the sentences</h2>
<p>A plant drinks through its %(roots)s and makes food in the %(leaves)s.<br>
The food of a plant is %(sugar)s. It needs air, water and %(light)s.<br>
Seeds are carried away by the %(wind)s and by %(birds)s.</p>
<h2>2. Work these out</h2>
<div class=sums><span>3/4 + 1/8 = %(a)s</span><span>2/3 &minus; 1/6 = %(b)s</span><span>5 &times; 2/10 = %(c)s</span>
<span>1/2 + 2/5 = %(d)s</span><span>7/9 &minus; 1/3 = %(e)s</span><span>6/7 &divide; 2 = %(f)s</span></div>
<h2>3. What grew? Fill in the table</h2>
<table><tr><th>Week<th>Height of the bean<th>Number of leaves<tr><td>1<td>%(h1)s<td>%(n1)s<tr><td>2<td>%(h2)s<td>%(n2)s
<tr><td>3<td>%(h3)s<td>%(n3)s</table>
<h2>4. Describe what a plant needs to grow well</h2>
<p>%(l1)s<br>%(l2)s<br>%(l3)s</p>
"""

ANSWERS = {
    "name": ("Mira Holm", 48),
    "date": ("12.5.", 24),
    "roots": ("roots", 28),
    "leaves": ("leaves", 28),
    "sugar": ("sugar", 28),
    "light": ("sunlight", 32),
    "wind": ("wind", 30),
    "birds": ("birds", 34),
    "a": ("7/8", 18),
    "b": ("1/2", 18),
    "c": ("1", 18),
    "d": ("9/10", 18),
    "e": ("4/9", 18),
    "f": ("3/7", 18),
    "h1": ("2 cm", 30),
    "h2": ("9 cm", 30),
    "h3": ("17 cm", 30),
    "n1": ("2", 20),
    "n2": ("4", 20),
    "n3": ("7", 20),
    "l1": ("It needs a pot with good earth and a place", 172),
    "l2": ("by the window. You have to water it but", 172),
    "l3": ("not too much, or the roots go bad.", 172),
}


def worksheet():
    """The printed page (RGB at DPI) and the answers' places on it: (text, rect in pixels)."""
    links = {
        k: f'<a style="width: {mm}mm" href="{ANSWER}{text}">.</a>'
        for k, (text, mm) in ANSWERS.items()
    }
    with tempfile.TemporaryDirectory() as folder:
        source, pdf = Path(folder, "page.html"), Path(folder, "page.pdf")
        source.write_text(HTML % links)
        subprocess.run(
            [
                "chromium",
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--no-pdf-header-footer",
                "--disable-background-networking",
                f"--print-to-pdf={pdf}",
                str(source),
            ],
            check=True,
            capture_output=True,
            timeout=120,
        )
        document = pymupdf.open(str(pdf))
        page = document[0]
        pixmap = page.get_pixmap(dpi=DPI)
        image = np.frombuffer(pixmap.samples, np.uint8).reshape(pixmap.h, pixmap.w, 3)[:USED].copy()
        places = [
            (unquote(l["uri"][len(ANSWER) :]), np.array(l["from"]) * DPI / 72)
            for l in page.get_links()
            if l.get("uri", "").startswith(ANSWER)
        ]
    return image, places


def ballpoint(rng):
    return replace(pens.make_pen(rng, "ballpoint"), colour=(38, 52, 140), density=0.9)


def fill_in(rng, image, places):
    inks = Inks("val")
    hand, pen = inks.hand(rng), ballpoint(rng)
    ink = np.full_like(image, 255)
    for text, (x0, _, x1, y1) in places:
        patch = inks.write(rng, hand, pen, text, "words", HEIGHT, x1 - x0, None)
        h, w = patch.shape[:2]
        x, y = int(x0 + min(8, max(x1 - x0 - w, 0))), int(y1 - h + 0.3 * HEIGHT)
        ink[y : y + h, x : x + w] = np.minimum(ink[y : y + h, x : x + w], patch)
    red = replace(inks.pen(rng, "felt"), colour=(200, 30, 40))
    for k, x, y, w, h in (
        ("score", 980, 150, 110, 80),
        ("tick", 900, 470, 60, 55),
        ("tick", 800, 760, 60, 55),
    ):
        patch = rotate(inks.mark(rng, red, k, w, h), rng.normal(0, 4))
        h, w = patch.shape[:2]
        ink[y : y + h, x : x + w] = np.minimum(ink[y : y + h, x : x + w], patch)
    return ink


def photograph(rng, image):
    h, w = image.shape[:2]
    out = image.astype(np.float32) * np.array([0.97, 0.95, 0.9], np.float32)
    light = (
        np.linspace(1.0, 0.72, w, dtype=np.float32)[None]
        * np.linspace(0.95, 1.0, h, dtype=np.float32)[:, None]
    )
    out = out * (light + 0.05 * capture.field(rng, h, w, 2))[..., None]
    return np.clip(out + rng.normal(0, 2.2, out.shape), 0, 255).astype(np.uint8)


def main():
    p = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    p.add_argument("out")
    p.add_argument("--seed", default=8, type=int)
    a = p.parse_args()
    rng = np.random.default_rng(a.seed)
    image, places = worksheet()
    page = photograph(rng, written(image, fill_in(rng, image, places)))
    cv2.imwrite(
        a.out, cv2.GaussianBlur(page, (0, 0), 0.5)[..., ::-1], [cv2.IMWRITE_JPEG_QUALITY, 90]
    )


if __name__ == "__main__":
    main()
