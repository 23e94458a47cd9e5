"""Engraved music: scores that are made up at random and engraved by Verovio, as MEI
(https://music-encoding.org), with what else a printed score shows: words, fingers, chords, bows."""

import functools

import verovio

from training.layouts import family

FONTS = ("Leipzig", "Bravura", "Gootville", "Leland", "Petaluma")
STEPS = "cdefgab"
# How the staves of a score are: (symbol that joins them, [(clef's sign, its line, middle pitch)]).
TREBLE, BASS, ALTO = ("G", 2, 34), ("F", 4, 22), ("C", 3, 28)
ENSEMBLES = [
    ("none", [TREBLE]),
    ("none", [BASS]),
    ("brace", [TREBLE, BASS]),
    ("brace", [TREBLE, BASS]),
    ("brace", [TREBLE, TREBLE]),
    ("bracket", [TREBLE, TREBLE, BASS]),
    ("bracket", [TREBLE, TREBLE, TREBLE, BASS]),
    ("bracket", [TREBLE, TREBLE, ALTO, BASS]),
]
METERS = [(4, 4), (4, 4), (3, 4), (2, 4), (6, 8), (2, 2), (3, 8), (12, 8)]
RHYTHMS = {  # of a part, how often its notes take so many sixteenths
    "slow": {16: 1, 8: 4, 4: 4, 12: 1},
    "even": {4: 4, 2: 3, 6: 1, 8: 2},
    "quick": {2: 6, 1: 3, 4: 2, 3: 0.5},
    "running": {1: 8, 2: 2},
}
DURATIONS = {
    1: (16, 0),
    2: (8, 0),
    3: (8, 1),
    4: (4, 0),
    6: (4, 1),
    8: (2, 0),
    12: (2, 1),
    16: (1, 0),
}
CHORDS = ("", "m", "7", "maj7", "m7", "sus4", "dim", "6", "/G")
DYNAMICS = ("pp", "p", "mp", "mf", "f", "ff", "sf", "fp")
TEMPI = ("Allegro", "Andante", "Adagio", "Moderato", "Presto", "rit.", "a tempo", "cresc.", "dolce")


@functools.cache
def toolkit():
    verovio.enableLog(verovio.LOG_OFF)
    return verovio.toolkit()


@family(4)
def engraved(page):
    """A score with a title: one to four staves, as many systems as the page holds."""
    rng, design = page.rng, page.design
    title = (
        f'<h1 class="mid" style="font-size:{design.uniform(1.2, 2.4):.2f}em">{page.title()}</h1>'
        f'<div class="row" style="justify-content:space-between"><i>{page.term()}</i>'
        f"<span>{page.term()}</span></div>"
    )
    title = (
        title if rng.random() < 0.6 else f'<div style="text-align:end">{page.number(1, 60)}</div>'
    )
    height = page.height - 2 * page.margin - (0.353 * page.pt * 6 if "<h1" in title else 10)
    score = engrave(page, (page.width - 2 * page.margin) * 10, height * 10)
    return f'{title}<div class="flow">{score}</div>'


def engrave(page, width, height):
    """The SVG of a score's first page, of so many tenths of millimetres."""
    rng, design = page.rng, page.design
    music = toolkit()
    music.setOptions(
        {
            "pageWidth": int(width),
            "pageHeight": int(height),
            "pageMarginLeft": 40,
            "pageMarginRight": 0,
            "pageMarginTop": 0,
            "pageMarginBottom": 0,
            "header": "none",
            "footer": "none",
            "font": design.choice(FONTS),
            "unit": design.choice((5.5, 6.5, 7.5, 8.5, 9, 10)),
            "spacingSystem": design.randint(4, 14),
            "spacingStaff": design.randint(7, 14),
            "staffLineWidth": design.uniform(0.1, 0.22),
            "barLineWidth": design.uniform(0.2, 0.45),
            "justifyVertically": rng.random() < 0.5,
            "mnumInterval": design.choice((0, 0, 1, 5)),
            "xmlIdSeed": rng.randint(1, 2**31 - 1),
            "svgViewBox": True,
            "svgHtml5": True,
        }
    )
    music.loadData(score(page))
    picture = music.renderToSVG(1).replace("<svg ", '<svg style="width:100%;height:100%" ', 1)
    return f'<div style="height:100%">{picture}</div>'


def score(page):
    """A score of the page's design, as MEI."""
    rng, design = page.rng, page.design
    symbol, clefs = design.choice(ENSEMBLES)
    count, unit = rng.choice(METERS)
    fifths = rng.randint(-6, 6)
    key = "0" if fifths == 0 else f"{abs(fifths)}{'s' if fifths > 0 else 'f'}"
    staves = "".join(
        f'<staffDef n="{n}" lines="5" clef.shape="{sign}" clef.line="{line}"/>'
        for n, (sign, line, _) in enumerate(clefs, 1)
    )
    group = f'<staffGrp symbol="{symbol}" bar.thru="{str(symbol == "brace").lower()}">{staves}</staffGrp>'
    parts = [Part(page, n, *clef) for n, clef in enumerate(clefs, 1)]
    measures = []
    for n in range(1, rng.randint(12, 90)):
        right = rng.choices(("single", "dbl", "rptend", "rptstart"), (30, 1, 1, 1))[0]
        inside = [part.measure(count * 16 // unit) for part in parts]
        both = "".join(staff for staff, _ in inside) + "".join(marks for _, marks in inside)
        measures.append(f'<measure n="{n}" right="{right}">{both}</measure>')
        if rng.random() < 0.02:
            measures.append("<sb/>")
    return (
        '<mei xmlns="http://www.music-encoding.org/ns/mei" meiversion="5.0"><music><body><mdiv>'
        f'<score><scoreDef keysig="{key}" meter.count="{count}" meter.unit="{unit}">{group}'
        f"</scoreDef><section>{''.join(measures)}</section></score></mdiv></body></music></mei>"
    )


class Part:
    """What one staff plays: a walk of pitches, counted in steps from C0."""

    def __init__(self, page, number, sign, line, middle):
        self.page, self.rng, self.number = page, page.rng, number
        self.middle = self.pitch = middle
        self.rhythm = RHYTHMS[self.rng.choice(list(RHYTHMS))]
        self.thick = self.rng.choice((0, 0, 0.2, 0.6))  # share of notes that are chords
        self.sung = number == 1 and self.rng.random() < 0.3
        self.fingered = self.rng.random() < 0.25
        self.chorded = number == 1 and self.rng.random() < 0.3

    def measure(self, sixteenths):
        """A measure's staff and the marks that belong to it, as MEI."""
        notes, marks, beam, at = [], [], [], 0
        while at < sixteenths:
            room = {k: v for k, v in self.rhythm.items() if k <= sixteenths - at} or {1: 1}
            length = self.rng.choices(list(room), list(room.values()))[0]
            name = f"n{self.page.rng.getrandbits(60):x}"
            note = self.note(length, name)
            if length > 3 or at % 4 == 0:
                notes += beamed(beam)
                beam = []
            (beam if length <= 3 else notes).append(note)
            marks += self.marks(name, 1 + at / 4)
            at += length
        notes += beamed(beam)
        return (
            f'<staff n="{self.number}"><layer n="1">{"".join(notes)}</layer></staff>',
            "".join(marks),
        )

    def note(self, length, name):
        rng = self.rng
        duration, dots = DURATIONS[length]
        sound = f'xml:id="{name}" dur="{duration}"' + (f' dots="{dots}"' if dots else "")
        if rng.random() < 0.07:
            return f"<rest {sound}/>"
        self.pitch += rng.choice((-3, -2, -1, -1, 0, 1, 1, 2, 3)) + (self.middle - self.pitch) // 5
        if rng.random() < self.thick:
            above = rng.sample((2, 3, 4, 5, 7), rng.randint(1, 2))
            tones = "".join(f"<note {self.tone(self.pitch + k)}/>" for k in (0, *above))
            return f"<chord {sound}>{tones}</chord>"
        inside = ""
        if self.sung:
            inside = f"<verse n='1'><syl>{self.page.word()[:8]}</syl></verse>"
        if rng.random() < 0.05:
            inside += f'<artic artic="{rng.choice(("stacc", "acc", "ten", "marc"))}"/>'
        return f"<note {sound} {self.tone(self.pitch)}>{inside}</note>"

    def tone(self, pitch):
        accidental = self.rng.choices(("", "s", "f", "n"), (12, 1, 1, 1))[0]
        said = f' accid="{accidental}"' if accidental else ""
        return f'pname="{STEPS[pitch % 7]}" oct="{pitch // 7}"{said}'

    def marks(self, name, beat):
        """What stands over or under a note."""
        rng, out = self.rng, []
        at = f'staff="{self.number}" tstamp="{beat:g}"'
        if self.fingered and rng.random() < 0.4:
            out.append(f'<fing {at} place="above">{rng.randint(1, 5)}</fing>')
        if self.chorded and beat == 1:
            out.append(f"<harm {at}>{rng.choice('ABCDEFG')}{rng.choice(CHORDS)}</harm>")
        if rng.random() < 0.03:
            out.append(f'<dynam {at} place="below">{rng.choice(DYNAMICS)}</dynam>')
        if self.number == 1 and rng.random() < 0.01:
            out.append(f'<tempo {at} place="above">{rng.choice(TEMPI)}</tempo>')
        if rng.random() < 0.06:
            ends = f'tstamp2="{rng.choice((0, 1))}m+{rng.choice((2, 3, 4))}"'
            kind = rng.choice(("slur", "slur", "slur", "hairpin"))
            form = f' form="{rng.choice(("cres", "dim"))}"' if kind == "hairpin" else ""
            out.append(f"<{kind} {at} {ends}{form}/>")
        if rng.random() < 0.01:
            out.append(f'<{rng.choice(("fermata", "trill", "mordent"))} startid="#{name}"/>')
        return out


def beamed(notes):
    """Notes under a beam, where there are two or more."""
    return [f"<beam>{''.join(notes)}</beam>"] if len(notes) > 1 else list(notes)
