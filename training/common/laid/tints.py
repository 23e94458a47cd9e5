"""Tints laid on pages in training: a highlighter's strokes, which are writing, and printed panels,
which are not."""

import colorsys
from dataclasses import replace

import cv2
import numpy as np

from training.common import pixel
from training.common.ink.marks import curve
from training.common.ink.pens import HIGHLIGHTS, coverage, darkest, make_pen

STROKES = (1, 9)  # of a highlighter on a page
TIP = (0.4, 1.3)  # ems: how broad they are
LENGTH = (0.5, 14)  # ems
DABBED_SHARE = 0.25  # of pages with a highlighter, dabs on single signs instead
DABS, DAB_LENGTH = (6, 40), (0.3, 2)
OVER_PRINT = 0.8  # share of strokes that begin at print
PANELS = (1, 4)
FAINT = 250  # transmittance of a stroke's soft edge
CRAYON_SHARE = 0.35  # of pages with a highlighter, one that is soft and grained as crayon
SOFT = (1, 6)  # pixels: how far its edge is blurred
HUED_SHARE = 0.6  # of crayons, of any colour; the others have a highlighter's
BENT, LEVEL = 0.25, 0.6  # shares of strokes: much bent; along the lines
PALE = (0.25, 1)  # what is left of a highlighter's strength in a dim photograph, or with crayon


def highlighted(rng, image, label):
    """The page with strokes of one highlighter. What is under them stays, and counts as writing
    too."""
    pen = make_pen(rng, "highlighter")
    pen = replace(pen, density=pen.density * rng.uniform(*PALE))
    if rng.random() < CRAYON_SHARE:
        pen = replace(pen, feather=rng.uniform(*SOFT), grain=rng.uniform(0.2, 0.9))
        if rng.random() < HUED_SHARE:
            pen = replace(pen, colour=hue(rng))
    image, label = image.copy(), label.copy()
    printed = np.flatnonzero(label[::8, ::8] == pixel.PRINT)
    dabbed = rng.random() < DABBED_SHARE
    count, length = (DABS, DAB_LENGTH) if dabbed else (STROKES, LENGTH)
    for _ in range(int(rng.integers(*count))):
        ink, corner = pen.render(rng, [stroke(rng, length)], pixel.EM * rng.uniform(*TIP))
        lay(image, label, ink, start(rng, label.shape, printed) + corner)
    return image, label


def hue(rng):
    """A crayon's colour, as the transmittance of red, green and blue, 0 to 255."""
    light = colorsys.hsv_to_rgb(rng.random(), rng.uniform(0.25, 0.8), rng.uniform(0.7, 1))
    return tuple(255 * np.array(light))


def stroke(rng, ems):
    """The path of a highlighter's tip in pixels, from the origin, from so many ems long to so
    many."""
    length = pixel.EM * np.exp(rng.uniform(*np.log(ems)))
    angle = rng.normal(0, 0.02) if rng.random() < LEVEL else rng.uniform(-np.pi / 2, np.pi / 2)
    bend = length * (rng.normal(0, 0.25, 3) if rng.random() < BENT else rng.normal(0, 0.01, 3))
    along = np.linspace(0, length, 5)
    across = np.concatenate([[0], bend, [0]])
    turn = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
    return curve(rng, np.stack([along, across], 1) @ turn, 1)


def start(rng, shape, printed):
    """A pixel (x, y) of a page, mostly one with print."""
    h, w = shape
    if len(printed) and rng.random() < OVER_PRINT:
        y, x = divmod(int(printed[rng.integers(len(printed))]), -(-w // 8))
        return np.array([8 * x, 8 * y])
    return np.array([rng.integers(w), rng.integers(h)])


def lay(image, label, ink, at):
    """Lays ink with its top left corner at a pixel; what lies outside of the page is lost."""
    (h, w), (x, y) = label.shape, at
    top, left, bottom, right = (
        max(y, 0),
        max(x, 0),
        min(y + ink.shape[0], h),
        min(x + ink.shape[1], w),
    )
    if bottom <= top or right <= left:
        return
    ink = ink[top - y : bottom - y, left - x : right - x]
    spot = (slice(top, bottom), slice(left, right))
    image[spot] = cv2.multiply(image[spot], ink, scale=1 / 255)
    inked, before = coverage(ink), label[spot].copy()
    label[spot][(darkest(ink) < FAINT) & (before == pixel.PAPER)] = pixel.IGNORE
    label[spot][inked & (before == pixel.PAPER)] = pixel.HAND
    label[spot][inked & np.isin(before, (pixel.PRINT, pixel.PRINTED))] = pixel.BOTH


def panelled(rng, image, label):
    """The page with printed panels of one colour: their labels stay."""
    image = image.copy()
    h, w = label.shape
    colour = np.array(
        HIGHLIGHTS[int(rng.integers(len(HIGHLIGHTS)))]
        if rng.random() < 0.5
        else rng.uniform(150, 255, 3)
    )
    for _ in range(int(rng.integers(*PANELS))):
        ph, pw = int(pixel.EM * np.exp(rng.uniform(0, 2.5))), int(w * rng.uniform(0.05, 0.9))
        y, x = int(rng.integers(max(h - ph, 1))), int(rng.integers(max(w - pw, 1)))
        panel = np.full((min(ph, h - y), min(pw, w - x), 3), colour, np.uint8)
        spot = (slice(y, y + panel.shape[0]), slice(x, x + panel.shape[1]))
        image[spot] = cv2.multiply(image[spot], panel, scale=1 / 255)
    return image
