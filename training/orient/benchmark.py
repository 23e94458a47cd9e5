"""Makes the pages of bench/orient.

python3 -m training.orient.benchmark pictures --out build/orient-pages     held-out pages
python3 -m training.orient.benchmark scripts --out build/orient-scripts    held-out faces of
                                                            every script, and real pages
"""

import argparse
import contextlib
import json
import math
from pathlib import Path

import cv2
import numpy as np

from training.common import real
from training.common.paths import data_root
from training.common.scene import Page
from training.orient import lines
from training.orient.data import photographed
from training.orient.look import evened, shown, windows
from training.orient.net import SIDE

# of a picture whose letters nobody counted: bench/orient counts it among pages of print
MANY_LETTERS = 100
PICTURED = 18  # pixels: the em of the pages that are written for bench/orient


def pictures(a):
    """Writes held-out pages, captured, with an em of about PICTURED and print that can be seen:
    NAME.jpg each, and cases.json: [{"name", "lang", "letters"}], letters being how many letters and
    digits are set on it."""
    out, rng, cases = Path(a.out), np.random.default_rng(a.seed), []
    out.mkdir(parents=True, exist_ok=True)
    paths = sorted((data_root() / "pages" / "val").glob(a.only + "*.json"))
    rng.shuffle(paths)
    for path in paths:
        meta, page = json.loads(path.read_text()), Page(path)
        if "letters" not in meta:
            continue
        scale = PICTURED * math.exp(rng.normal(0, 0.12)) / page.em
        image = cv2.resize(
            np.ascontiguousarray(page.image), None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA
        )
        picture = photographed(rng, image)
        if not shown(next(windows(evened(picture), SIDE))):
            continue  # nothing of the print came through
        cv2.imwrite(str(out / f"{path.stem}.jpg"), picture, [cv2.IMWRITE_JPEG_QUALITY, 60])
        cases.append({"name": path.stem, "lang": meta["lang"], "letters": meta["letters"]})
        if len(cases) == a.count:
            break
    list_cases(out, cases)


def list_cases(out, cases):
    (out / "cases.json").write_text("[\n" + ",\n".join(json.dumps(c) for c in cases) + "\n]\n")


def scripts(a):
    """Writes, as pictures() does, OUT/known: blocks of each language in held-out faces;
    OUT/unknown: of scripts that no language here has; OUT/real: real pages of held-out
    repositories, which are taken to lie upright."""

    rng = np.random.default_rng(a.seed)

    def block(kind):
        for _ in range(20):
            with contextlib.suppress(OSError):  # a few faces' programs are broken
                grey = photographed(
                    rng, cv2.cvtColor(lines.draw(rng, 800, 20, kind()), cv2.COLOR_GRAY2RGB)
                )
                if shown(grey):
                    return grey
        return None

    def real_page(path):
        grey = cv2.imread(path, cv2.IMREAD_GRAYSCALE)
        scale = 1500 / max(grey.shape)
        return (
            cv2.resize(grey, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
            if scale < 1
            else grey
        )

    known = (
        (f"{lang}-{i}", lang, block(lambda lang=lang: lines.of_language(rng, "val", lang)))
        for lang in lines.languages("val")[0]
        for i in range(4)
    )
    unknown = ((f"u-{i}", "", block(lambda: lines.of_unknown(rng, "val"))) for i in range(30))
    pages = (
        (Path(s.image).stem, "", real_page(s.image))
        for s in real.sources("val")
        if s.trust > real.SHEET
    )
    for kind, items in (("known", known), ("unknown", unknown), ("real", pages)):
        out, cases = Path(a.out) / kind, []
        out.mkdir(parents=True, exist_ok=True)
        for name, lang, grey in items:
            if grey is not None:
                cv2.imwrite(str(out / f"{name}.jpg"), grey, [cv2.IMWRITE_JPEG_QUALITY, 80])
                cases.append({"name": name, "lang": lang, "letters": MANY_LETTERS})
        list_cases(out, cases)


def main():
    p = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    p.add_argument("kind", choices=["pictures", "scripts"])
    p.add_argument("--out", required=True)
    p.add_argument("--count", default=2000, type=int, help="pictures")
    p.add_argument(
        "--only", default="", metavar="PREFIX", help="pictures of pages whose ID begins so"
    )
    p.add_argument("--seed", default=1, type=int)
    a = p.parse_args()
    {"pictures": pictures, "scripts": scripts}[a.kind](a)


if __name__ == "__main__":
    main()
