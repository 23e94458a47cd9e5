"""Print laid-out pages with Chromium and read them back as pictures with slots."""

import pathlib
import random
import re
import subprocess
import tempfile

import pymupdf

from training import layouts
from training.layouts import (  # noqa: F401  (each module registers its families)
    business,
    fonts,
    forms,
    library,
    music,
    publishing,
    puzzles,
    school,
    text,
)
from training.layouts.page import VARIANTS, Page, face_rules

SHEET = 40  # pages in one HTML file
PRINT_SECONDS = 180
SLOT_URI = re.compile(r"https://slot\.invalid/(\w+)/([\w-]+)")

STYLE = """
*{box-sizing:border-box}
body{margin:0}
.page{position:relative;overflow:hidden;break-after:page;display:flex;flex-direction:column;
 contain:strict;background:#fff;-webkit-print-color-adjust:exact;print-color-adjust:exact}
.flow{flex:1;min-height:0;overflow:hidden}
.flow>div{overflow:hidden}
.s{color:inherit;text-decoration:none}
h1,h2,h3{font-family:var(--heading);line-height:1.15;margin:.3em 0 .5em;color:var(--accent)}
p{margin:.35em 0}
table{border-collapse:collapse}
td,th{position:relative;padding:.2em .45em}
.grid{border-collapse:collapse}
.grid td{border:var(--edge);padding:0;text-align:center;vertical-align:middle}
.ruled td,.ruled th{border:var(--edge)}
.row{display:flex;gap:1em;align-items:flex-end}
.mid{text-align:center}
"""

# What does not fit is taken off from the end, as a typesetter would: rows of a table,
# fields of a section, questions.
FIT = """
document.fonts.ready.then(() => {
  const whole = '.row, .grid, .s, .mid, svg, p, td';
  const last = (parent) => {
    let element = parent.lastElementChild;
    while (element.childElementCount && !element.matches(whole)) element = element.lastElementChild;
    return element;
  };
  for (const flow of document.querySelectorAll('.flow')) {
    const over = () => flow.scrollHeight > flow.clientHeight + 2 ||
      flow.scrollWidth > flow.clientWidth + 2;
    while (flow.childElementCount && over()) last(flow).remove();
  }
});
"""


def choose(rng):
    """Return a random page: its family, variant and language, faces for it being there."""
    names = sorted(layouts.FAMILIES)
    weights = [layouts.FAMILIES[name][1] for name in names]
    for _ in range(100):
        name, variant = rng.choices(names, weights)[0], rng.randrange(VARIANTS)
        split = library.split_of(f"layout:{name}-{variant}")
        allowed = layouts.FAMILIES[name][2] or text.LANGUAGES
        langs = [lang for lang in allowed if fonts.pool(split, lang, "text")]
        if langs:
            return name, variant, rng.choices(langs, [text.LANGUAGES[lang] for lang in langs])[0]
    raise RuntimeError(
        f"no fonts to print with under {library.DATA}; run training/sources.sh first"
    )


def compose(seed, index):
    """Return page number index of a seed, laid out: (Page, HTML)."""
    rng = random.Random(f"{seed}-{index}")
    name, variant, lang = choose(rng)
    page = Page(name, variant, lang, f"{seed}-{index}-page")
    return page, page.html(layouts.FAMILIES[name][0](page))


def print_pdf(markup, folder):
    """Print HTML to a PDF and return its path."""
    fonts.check()
    source, target = pathlib.Path(folder, "pages.html"), pathlib.Path(folder, "pages.pdf")
    source.write_text(markup)
    command = [
        "chromium",
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-extensions",
        "--disable-background-networking",
        "--allow-file-access-from-files",
        "--no-pdf-header-footer",
        "--virtual-time-budget=20000",
        f"--user-data-dir={folder}/profile",
        f"--print-to-pdf={target}",
        str(source),
    ]
    subprocess.run(command, check=True, timeout=PRINT_SECONDS, capture_output=True)
    return target


def slots_of(sheet, scale, picture):
    """Return the slots that a printed page's links mark, inside the picture."""
    height, width = picture.shape[:2]
    found = []
    for link in sheet.get_links():
        match = SLOT_URI.match(link.get("uri", ""))
        if match:
            rect = [round(v * scale) for v in link["from"]]
            inside = rect[0] >= 0 and rect[1] >= 0 and rect[2] <= width and rect[3] <= height
            if inside and rect[2] - rect[0] >= 6 and rect[3] - rect[1] >= 6:
                found.append({"kind": match[1], "rect": rect, "want": match[2]})
    return found


def store_sheet(page, sheet, page_id, seed):
    """Render one printed page and store it; return whether it was fit to store."""
    scale = min(
        library.BODY_EM / page.pt, library.LONGEST / max(sheet.rect.width, sheet.rect.height)
    )
    picture = library.pixels(sheet, scale)
    if not library.is_usable(picture):
        return False
    em = page.pt * scale
    rng = random.Random(f"{page_id}-{seed}")
    marked = slots_of(sheet, scale, picture)
    taken = [slot["rect"] for slot in marked]
    free = library.free_slots(sheet, scale, picture, em, rng, taken)
    library.store(
        page.split,
        page_id,
        picture,
        {
            "em": round(em, 1),
            "family": f"{page.family}-{page.variant}",
            "lang": page.lang,
            "source": "html",
            "letters": library.letters(sheet),
            "slots": marked + free,
        },
    )
    return True


def print_batch(batch, seed):
    """Print pages [(index, Page, HTML)] in one run and store them; return how many."""
    faces = {face for _, page, _ in batch for face in page.faces}
    body = "".join(markup for _, _, markup in batch)
    head = f"<!doctype html><meta charset=utf-8><style>{face_rules(faces)}{STYLE}</style>"
    with tempfile.TemporaryDirectory() as folder:
        path = print_pdf(f"{head}<body>{body}<script>{FIT}</script>", folder)
        with pymupdf.open(path) as document:
            if len(document) != len(batch):
                raise RuntimeError(
                    f"{len(batch)} pages printed as {len(document)}: a layout overflows"
                )
            return sum(
                store_sheet(page, document[i], f"h{seed}-{index:05}-{page.family}", seed)
                for i, (index, page, _) in enumerate(batch)
            )


def render(count, seed, split=None):
    """Store those of a seed's first count pages, of one split or both, that are not stored yet."""
    stored, batch = 0, []
    for index in range(count):
        page, markup = compose(seed, index)
        wanted = split in (None, page.split)
        if wanted and not library.is_stored(f"h{seed}-{index:05}-{page.family}"):
            batch.append((index, page, markup))
        if len(batch) == SHEET:
            stored += print_batch(batch, seed)
            batch = []
    return stored + (print_batch(batch, seed) if batch else 0)
