"""A corrector's marks laid on pages in training, in one pen: ticks, crosses, rings, strikes,
lines."""

import numpy as np

from training.common import pixel
from training.common.ink import marks
from training.common.ink.pens import make_pen
from training.common.laid import tints

MARKS = (1, 12)  # on a page
THICKNESS = (0.35, 0.9)  # ems: the x-height of what the pen would write
KINDS = (  # and their breadth and height in ems
    (marks.tick, (0.8, 3), (0.6, 2.5)),
    (marks.cross, (0.6, 2.5), (0.6, 2.5)),
    (lambda rng, w, h: [marks.ellipse(rng, w, h)], (0.8, 6), (0.8, 2.5)),
    (marks.strike, (1, 12), (0.2, 0.8)),
    (marks.underline, (1, 12), (0.2, 0.6)),
    (marks.double_underline, (1, 8), (0.3, 0.8)),
    (marks.wavy, (1.5, 10), (0.3, 0.7)),
    (marks.arrow, (1.5, 10), (0.5, 4)),
    (marks.line, (1, 25), (0.1, 6)),
    (marks.free_curve, (1, 15), (0.3, 4)),
)


def corrected(rng, image, label):
    """The page with marks, most of them of one or two kinds, and most of them on print."""
    pen = make_pen(rng)
    thick = max(1.0, pen.width * pixel.EM * rng.uniform(*THICKNESS))
    image, label = image.copy(), label.copy()
    printed = np.flatnonzero(label[::8, ::8] == pixel.PRINT)
    usual = rng.integers(len(KINDS), size=2)
    for _ in range(int(rng.integers(*MARKS))):
        mark, *sides = KINDS[
            int(rng.choice(usual) if rng.random() < 0.8 else rng.integers(len(KINDS)))
        ]
        w, h = (pixel.EM * np.exp(rng.uniform(*np.log(ems))) for ems in sides)
        ink, corner = pen.render(rng, mark(rng, w, h), thick)
        middle = np.array([w, h]).astype(int) // 2
        tints.lay(image, label, ink, tints.start(rng, label.shape, printed) - middle + corner)
    return image, label
