"""The faces that pages are printed in, by language and by use.

Faces come from Debian's fonts-* packages ($UNINK_DATA/fonts), npm's packages of
Google Fonts ($UNINK_DATA/print-fonts) and the system's Noto. fontconfig tells the
languages each covers. Families are split: validation pages use none of training's.
"""

import dataclasses
import functools
import pathlib
import re
import subprocess

from training.layouts import library

# Faces made to pass for a person's hand belong to the ink, not to the print.
HANDWRITTEN = re.compile(
    r"breip|bwht|dkg|femkeklaver|kiloji|seto|yozvox|navilu|rufscript|humor-sans|kristi|"
    r"komatuna|pen[-.]|brush|gamja|aoyagi|cabinsketch|ecolier|hands|virgil|xkcd|anime-ace",
    re.I,
)
UNFIT = re.compile(
    r"symbol|icon|emoji|dingbat|math|circos|music|barcode|dseg|denemo|braille|kanjistroke|"
    r"pixmaps|cegui|ornament|jsmath|msbm|esint|stmary|lastresort|adobeblank|redacted|"
    r"lilypond|sazanami-bitmap|chess|wqy-bitmap|unifont|glyph|tangut|signwriting",
    re.I,
)
SCRIPT = re.compile(
    r"great-vibes|allura|alex-brush|pacifico|dancing|sacramento|satisfy|tangerine|parisienne|"
    r"pinyon|yellowtail|cookie|kaushan|lobster|courgette|italianno|rouge-script|petit-formal|"
    r"monsieur|herr-von|imperial-script|playball|niconne|marck|bilbo|mr-dafoe|euphoria|"
    r"berkshire|grand-hotel|isabella|leckerli|typoscript|gazis|teranoptia|ma-shan-zheng|"
    r"uncial|unifraktur|blankenburg|joscelyn|rufina|lemonada|hachi-maru|apropal|hosny-thabit",
    re.I,
)
DISPLAY = re.compile(
    r"aenigma|dustin|f500|engadget|sipa|bajaderka|beteckna|atarismall|amiga|bebas|cherrybomb|"
    r"creep|dclfonts|dotgothic|eurofurence|fantasma|ferrite|gnutypewriter|havana|mmcedar|"
    r"monofur|morisawa|abril|alfa-slab|bangers|bungee|press-start|vt323|rye|limelight|monoton|"
    r"faster-one|stardos|black-ops|fredoka|patua|poiret|fredericka|dela-gothic|black-han|gugi|"
    r"do-hyeon|zcool-q|zcool-kuaile|suez|rozha|baloo|oswald|summersby|staypuft|tiresias-info|"
    r"league|ocr|pixel|radisnoir|play|rikasa|sjfonts|spleen|sixtyfour|stencil|tomsontalks|"
    r"tuffy|unikurd|viaoda|xolonium|zag|fjalla|goudybook|isabella|klaudia|levien|misaki|"
    r"outline|shadow|black|heavy|extrabold|ultra|thin|hairline",
    re.I,
)
TYPEWRITER = re.compile(r"special-elite|courier|cutive|gnutypewriter|lmtypewriter|compagnon", re.I)

# What fontconfig calls the languages of our texts, where it differs.
FC_LANG = {"zh-Hans": "zh-cn", "zh-Hant": "zh-tw", "nb": "no"}

# The system's Noto collections, by name: Chromium cannot take one face from a file of many.
COLLECTIONS = {
    "zh-Hans": ("Noto Sans CJK SC", "Noto Serif CJK SC"),
    "zh-Hant": ("Noto Sans CJK TC", "Noto Serif CJK TC"),
    "ja": ("Noto Sans CJK JP", "Noto Serif CJK JP"),
    "ko": ("Noto Sans CJK KR", "Noto Serif CJK KR"),
}
# the system's, for what a page's own face lacks
SPARE = ("Noto Sans", "Noto Sans CJK SC", "Noto Sans CJK JP")
FULL_WIDTH = {"ru", "uk", "el"}  # East Asian faces set these in full-width letters
NOTO = pathlib.Path("/usr/share/fonts/truetype/noto")


@dataclasses.dataclass(frozen=True)
class Face:
    """One family: the files of its regular and, where there is one, bold face."""

    name: str
    use: str  # "text", "mono", "typewriter", "script" or "display"
    langs: frozenset
    regular: str  # a file, or "local" for a face of the system's
    bold: str | None
    split: str


def scan():
    """Return fontconfig's listing of all font files, kept in $UNINK_DATA/fonts.tsv until there are
    more of them."""
    listing = library.DATA / "fonts.tsv"
    folders = [library.DATA / "fonts", library.DATA / "print-fonts", NOTO]
    found = [folder for folder in folders if folder.exists()]
    made = listing.stat().st_mtime if listing.exists() else 0
    if any(folder.stat().st_mtime > made for folder in found):
        form = r"%{file}\t%{family[0]}\t%{weight}\t%{slant}\t%{spacing}\t%{lang}\n"
        out = subprocess.run(
            ["fc-scan", "--format", form, *found], capture_output=True, check=False
        )
        library.write_whole(listing, out.stdout)
    return listing.read_text(errors="replace").splitlines()


def use_of(path, spacing):
    name = path.rsplit("/", 1)[1]
    package = re.sub(r"^.*?/(fonts|print-fonts)/([^/]+)/.*", r"\2", path)
    label = package + " " + name
    if SCRIPT.search(label):
        return "script"
    if TYPEWRITER.search(label):
        return "typewriter"
    if DISPLAY.search(label):
        return "display"
    return "mono" if spacing in ("100", "90") or "mono" in label.lower() else "text"


@functools.cache
def faces():
    """Return all usable faces, one a family."""
    families = {}
    for line in scan():
        path, name, weight, slant, spacing, langs = line.split("\t")
        usable = path.endswith((".ttf", ".otf")) and slant in ("", "0") and "[" not in weight
        if not usable or not langs:
            continue
        label = path.split("/fonts/")[-1]
        if HANDWRITTEN.search(label) or UNFIT.search(label):
            continue
        entry = families.setdefault(name, {"langs": set(), "files": []})
        entry["langs"] |= set(langs.split("|"))
        entry["files"].append((abs(float(weight or 80) - 80), path, float(weight or 80), spacing))
    result = []
    for name, entry in sorted(families.items()):
        files = sorted(entry["files"])
        bold = next((path for _, path, weight, _ in files if weight >= 180), None)
        langs = frozenset(entry["langs"])
        use, split = use_of(files[0][1], files[0][3]), library.split_of("font:" + name)
        result.append(Face(name, use, langs, files[0][1], bold, split))
    for lang, names in COLLECTIONS.items():
        code = frozenset([FC_LANG.get(lang, lang)])
        for name, split in zip(names, ("train", "val")):
            result.append(Face(name, "text", code, "local", None, split))
    return result


def check():
    """Fail where the system lacks faces that pages count on: their text would be rows of empty
    boxes."""
    wanted = {*SPARE, *(name for names in COLLECTIONS.values() for name in names)}
    listing = subprocess.run(
        ["fc-list", ":", "family"], capture_output=True, check=True, text=True
    ).stdout
    if missing := wanted - {name for line in listing.splitlines() for name in line.split(",")}:
        raise SystemExit(
            f"no font {', '.join(sorted(missing))}: apt-get install fonts-noto-core fonts-noto-cjk"
        )


@functools.cache
def pool(split, lang, use):
    """Return the faces of a split that can set a language, for one use."""
    code = FC_LANG.get(lang, lang)
    uses = ("text", "mono") if use == "text" and lang in COLLECTIONS else (use,)
    unfit = {"ja", "zh-cn", "zh-tw"} if lang in FULL_WIDTH else set()
    return [
        face
        for face in faces()
        if face.use in uses
        and code in face.langs
        and face.split == split
        and not unfit & face.langs
    ]


def pick(rng, split, lang, use):
    """Return a face for a use, one for text if there is no other, None if none at all."""
    found = pool(split, lang, use) or pool(split, lang, "text")
    return rng.choice(found) if found else None
