"""Pages as training shows them: real ones with other ink, other writing and other light at every
visit.

A page is (image uint8 [H, W, 3] RGB, label uint8 [H, W]) at the working scale, body text at about
pixel.SHOWN_EM pixels, its paper brought to white as the engine does. Labels are those of pixel,
WRITTEN, PRINTED and IGNORE among them.
"""

import functools

import cv2
import numpy as np

from training.common import capture, pixel, real
from training.common.ink.pens import ink_colour
from training.common.laid import answers, corrections, solids, stamps, tints

LARGEST = (1400, 1900)  # short and long side of a page as it is shown; larger ones are cut
TURNED_SHARE = 0.2  # of pages that lie on their side or head
REINKED_SHARE = 0.35  # of real written pages whose writing gets another ink
ASIDE_SHARE = 0.08  # of another's writing: it runs up or down the page, or stands on its head
SPARSE_SHARE = 0.35  # of pages that get another's writing, only a word or a line of it
SPARSE = ((3, 15), (1.5, 4))  # ems: that part's breadth and height
REPRINTED_SHARE = 0.08  # of real pages of which print gets another ink
HIGHLIGHTED_SHARE = 0.1  # of real pages that get a highlighter's strokes
CORRECTED_SHARE = 0.08  # of real pages that get a corrector's marks
STAMPED_SHARE = 0.12  # of real pages that get stamps
SOLID_SHARE = 0.12  # of real pages that get printed solid marks
ANSWERED_SHARE = 0.08  # of real pages that get a grid of answers
PANELLED_SHARE = 0.06  # of real pages that get printed panels
SOLID = 0.55  # share of its box that a filled bubble covers
DOT = 6  # pixels: smaller is a full stop
BENT = (0.02, 0.12)  # how far strokes that are laid are bent, against the length of the bends
BENDS = (1, 5)  # ems: that length
THICKNESS_SHARE = 0.5  # of writing that is laid, made thicker or thinner
PENNED_SHARE = 0.8  # of visits to what was drawn on a screen, made to look like a pen's
CAPTURED_SHARE = 0.7  # of visits to pages that never lay on paper
# What writing is that is laid on paper, print, handwriting, both, WRITTEN, PRINTED, and no label.
LAID_ON = np.array(
    [pixel.HAND, pixel.BOTH, pixel.HAND, pixel.BOTH, pixel.WRITTEN, pixel.BOTH, pixel.WRITTEN],
    np.uint8,
)
BRIGHTEST = 4  # the most that dim paper is raised by


def expose(image):
    """Brings the paper of the page's better lit parts to white, each channel by itself, as the
    engine does."""
    h, w = (n // 16 * 16 for n in image.shape[:2])
    cells = (
        image[:h, :w]
        .reshape(h // 16, 16, w // 16, 16, 3)
        .transpose(0, 2, 1, 3, 4)
        .reshape(-1, 256, 3)
    )
    paper = np.quantile(np.partition(cells, 205, 1)[:, 205].astype(np.float32), 0.75, 0)
    gain = np.clip(255 / np.maximum(paper, 1), 1, BRIGHTEST)
    return cv2.LUT(image, np.clip(np.arange(256)[:, None] * gain, 0, 255).astype(np.uint8)[None])


def real_page(rng, source, other=None, sparse_share=SPARSE_SHARE):
    """A real page at about the working scale, a little turned, with other tones than it came with.
    The writing of the other source, where there is one, is laid on it."""
    image, label = inked(rng, source)
    if other:
        written, where = inked(rng, other)
        if rng.random() < sparse_share:
            where = sparse(rng, where)
        if rng.random() < ASIDE_SHARE:
            turns = int(rng.integers(1, 4))
            written, where = np.rot90(written, turns), np.rot90(where, turns)
        image, label = transplanted(rng, image, label, written, where)
    if rng.random() < REPRINTED_SHARE:
        image = reinked(rng, image, (label == pixel.PRINT) & somewhere(rng, label.shape))
    if rng.random() < STAMPED_SHARE:
        image, label = stamps.stamped(rng, image, label)
    if rng.random() < SOLID_SHARE:
        image, label = solids.printed(rng, image, label)
    if rng.random() < ANSWERED_SHARE:
        image, label = answers.answered(rng, image, label)
    if rng.random() < CORRECTED_SHARE:
        image, label = corrections.corrected(rng, image, label)
    if rng.random() < PANELLED_SHARE:
        image = tints.panelled(rng, image, label)
    if rng.random() < HIGHLIGHTED_SHARE:
        image, label = tints.highlighted(rng, image, label)
    if rng.random() < TURNED_SHARE:
        turns = int(rng.integers(1, 4))
        image, label = np.rot90(image, turns), np.rot90(label, turns)
    image, label = np.ascontiguousarray(image), np.ascontiguousarray(label)
    if source.digital and rng.random() < CAPTURED_SHARE:
        return captured(rng, image, label)
    return retoned(rng, image), label


def inked(rng, source):
    """A real page at about the working scale, at times with its writing in another ink; with a
    pen's where it was drawn on a screen."""
    image, label = sized(rng, source)
    mask = np.isin(label, pixel.HANDS)
    if source.digital and rng.random() < PENNED_SHARE:
        image = penned(rng, image, mask)
    if source.hand > 0 and rng.random() < REINKED_SHARE:
        image = reinked(rng, image, mask)
    return image, label


def penned(rng, image, mask):
    """The even ink under the mask as a pen's or pencil's: of uneven strength along the strokes,
    grained, at times bled into the paper."""
    h, w = mask.shape
    strength = rng.uniform(0.55, 1) + rng.uniform(0.05, 0.25) * capture.field(
        rng, h, w, max(h, w) / (pixel.EM * rng.uniform(0.5, 3))
    )
    grain = rng.standard_normal((h, w)).astype(np.float32)
    if rng.random() < 0.5:
        grain = 2 * cv2.GaussianBlur(grain, (0, 0), rng.uniform(0.6, 1.2))
    strength = np.clip(strength + grain * rng.uniform(0.02, 0.35), 0.15, 1.1)
    paper = cv2.morphologyEx(image, cv2.MORPH_CLOSE, np.ones((25, 25), np.uint8)).astype(np.float32)
    other = np.clip(paper - (paper - image) * strength[..., None], 0, 255)
    if rng.random() < 0.4:
        other = cv2.GaussianBlur(other, (0, 0), rng.uniform(0.4, 0.9))
    soft = (
        cv2.blur(cv2.dilate(mask.astype(np.uint8), np.ones((3, 3), np.uint8)) * 255, (3, 3)).astype(
            np.float32
        )
        / 255
    )
    return (image + (other - image) * soft[..., None]).astype(np.uint8)


def captured(rng, image, label):
    """A page that never lay on paper as if it had been printed, and photographed or scanned."""
    maps = capture.warp_map(rng, *label.shape)
    if maps is not None:
        image = capture.warp(image, maps)
        label = cv2.remap(
            label,
            *maps,
            cv2.INTER_NEAREST,
            borderMode=cv2.BORDER_CONSTANT,
            borderValue=pixel.IGNORE,
        )
    image = capture.blur(rng, [image])[0]
    image = capture.capture(rng, image, None)
    faint = np.isin(label, pixel.HANDS) & (real.contrast_of(image) < real.FAINT // 2)
    return expose(image), np.where(faint, pixel.IGNORE, label).astype(np.uint8)


def sized(rng, source):
    em = pixel.SHOWN_EM * float(np.clip(np.exp(rng.normal(-0.1, 0.28)), 0.4, 1.8))
    image, label = real.read(source)
    return placed(rng, image, label, em / source.em)


def transplanted(rng, image, label, written, where):
    """The page with another page's writing on it, by what that takes of the light (copy and paste,
    Ghiasi et al., 2021). What lies under it is known: print, paper, or neither. Where print hides
    the writing, and along the writing's soft edges, print may be written over, and paper has no
    label."""
    (h, w), (oh, ow) = label.shape, where.shape
    y, x = (int((n - o) / 2 + rng.uniform(-0.4, 0.4) * n) for n, o in ((h, oh), (w, ow)))
    top, left, bottom, right = max(y, 0), max(x, 0), min(y + oh, h), min(x + ow, w)
    if bottom <= top or right <= left:
        return image, label
    written, where = (a[top - y : bottom - y, left - x : right - x] for a in (written, where))
    written, where = bent(rng, written, where)
    hand = strokes(np.isin(where, (pixel.WRITTEN, pixel.HAND)))
    edge = (
        (cv2.dilate(hand, np.ones((5, 5), np.uint8)) > 0)
        & (where != pixel.PRINT)
        & (where != pixel.PAPER)
        & (hand == 0)
    )
    paper = cv2.morphologyEx(written, cv2.MORPH_CLOSE, np.ones((25, 25), np.uint8))
    passes = (written.astype(np.float32) + 1) / (paper.astype(np.float32) + 1)
    passes[(hand == 0) & ~edge] = 1
    if rng.random() < THICKNESS_SHARE:
        passes, hand = other_thickness(rng, passes, hand)
        edge = (cv2.dilate(hand, np.ones((5, 5), np.uint8)) > 0) & (hand == 0)
    spot = (slice(top, bottom), slice(left, right))
    before = image[spot]
    after = (before * passes).astype(np.uint8)
    hidden = (hand > 0) & (cv2.subtract(before, after).max(2) < real.FAINT)
    image, label = image.copy(), label.copy()
    image[spot] = after
    under = label[spot]
    laid = LAID_ON[np.minimum(under, len(LAID_ON) - 1)]
    printed = np.isin(under, (pixel.PRINT, pixel.PRINTED))
    doubtful = np.where(printed, np.uint8(pixel.PRINTED), np.uint8(pixel.IGNORE))
    label[spot] = np.where(hidden | edge, doubtful, np.where(hand > 0, laid, under))
    return image, label


def sparse(rng, where):
    """A page's labels with one word or line of its writing alone."""
    at = np.flatnonzero(np.isin(where[::4, ::4], pixel.HANDS))
    if not len(at):
        return where
    y, x = (4 * v for v in divmod(int(at[rng.integers(len(at))]), -(-where.shape[1] // 4)))
    w, h = (pixel.EM * rng.uniform(*ems) / 2 for ems in SPARSE)
    out = np.where(np.isin(where, pixel.HANDS), pixel.PAPER, where)
    part = (slice(max(0, int(y - h)), int(y + h) + 1), slice(max(0, int(x - w)), int(x + w) + 1))
    out[part] = where[part]
    return out


def bent(rng, written, where):
    """The writing as if by another hand: bent as a sheet of rubber (elastic distortions, Simard et
    al., 2003)."""
    h, w = where.shape
    length = pixel.EM * rng.uniform(*BENDS)
    far = length * rng.uniform(*BENT)
    xs, ys = np.meshgrid(np.arange(w, dtype=np.float32), np.arange(h, dtype=np.float32))
    maps = [at + far * capture.field(rng, h, w, max(h, w) / length) for at in (xs, ys)]
    return (
        cv2.remap(a, *maps, how, borderMode=cv2.BORDER_CONSTANT, borderValue=fill)
        for a, how, fill in (
            (written, cv2.INTER_LINEAR, (255,) * 3),
            (where, cv2.INTER_NEAREST, pixel.PAPER),
        )
    )


def other_thickness(rng, passes, hand):
    """The writing as if by another pen: strokes a pixel or two thicker, or a pixel thinner where
    that leaves them whole."""
    kernel = np.ones((3, 3) if rng.random() < 0.4 else (2, 2), np.uint8)
    if rng.random() < 0.7:
        return cv2.erode(passes, kernel), cv2.dilate(hand, kernel)
    kernel = np.ones((2, 2), np.uint8)
    thinner = cv2.erode(hand, kernel)
    return (
        (cv2.dilate(passes, kernel), thinner) if 2 * thinner.sum() > hand.sum() else (passes, hand)
    )


def strokes(mask):
    """The mask without what is as solid as a filled bubble: away from its ring it is no writing,
    but a printed dot."""
    _, labels, stats, _ = cv2.connectedComponentsWithStats(mask.astype(np.uint8), connectivity=8)
    _, _, w, h, area = stats.T
    solid = (area > SOLID * w * h) & (np.minimum(w, h) > DOT)
    solid[0] = True  # what is not in the mask
    return (~solid)[labels].astype(np.uint8)


def placed(rng, image, label, scale):
    """The page at another scale and a slight angle; a part of it where it would be too large."""
    if scale < 0.9:
        image = cv2.resize(image, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
        label = cv2.resize(label, image.shape[1::-1], interpolation=cv2.INTER_NEAREST)
        scale = 1
    h, w = label.shape
    longest, shortest = max(LARGEST), min(LARGEST)
    sides = (shortest, longest) if w < h else (longest, shortest)
    cut = rng.uniform(0.3, 0.8) if rng.random() < 0.25 else 1  # a photo of a part of the page
    ow, oh = (max(256, round(min(n * scale * cut, most))) for n, most in zip((w, h), sides))
    angle = rng.normal(0, 1.5) if rng.random() < 0.5 else 0
    m = cv2.getRotationMatrix2D((w / 2, h / 2), angle, scale)
    if rng.random() < 0.3:  # another slant and breadth of letters
        stretch = np.array([[np.exp(rng.normal(0, 0.1)), rng.normal(0, 0.1)], [0, 1]])
        m[:, :2] = stretch @ m[:, :2]
        m[:, 2] = (w / 2, h / 2) - m[:, :2] @ (w / 2, h / 2)
    free = np.array([w * scale - ow, h * scale - oh]) / 2
    m[:, 2] += np.array([ow - w, oh - h]) / 2 + rng.uniform(-1, 1, 2) * np.maximum(free, 0)
    image = cv2.warpAffine(
        image, m, (ow, oh), flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE
    )
    return image, cv2.warpAffine(
        label,
        m,
        (ow, oh),
        flags=cv2.INTER_NEAREST,
        borderMode=cv2.BORDER_CONSTANT,
        borderValue=pixel.IGNORE,
    )


def reinked(rng, image, mask):
    """The ink under the mask in another colour, so that neither writing nor print is known by its
    colour alone."""
    if not mask.any():
        return image
    paper = cv2.split(cv2.morphologyEx(image, cv2.MORPH_CLOSE, np.ones((25, 25), np.uint8)))
    light = cv2.split(image)
    taken = functools.reduce(cv2.max, [cv2.subtract(p, v) for p, v in zip(paper, light)]).astype(
        np.float32
    ) * (1 / 255)
    ink = (
        1
        - np.array(ink_colour(rng) if rng.random() < 0.6 else (rng.uniform(0, 60),) * 3, np.float32)
        / 255
    )
    usual = np.median(taken[mask])
    taken *= max(rng.uniform(0.7, 1.2), 0.3 / max(usual * ink.max(), 0.05))  # it can still be seen
    cv2.min(taken, 1, taken)
    soft = (
        cv2.blur(cv2.dilate(mask.astype(np.uint8), np.ones((5, 5), np.uint8)) * 255, (3, 3)).astype(
            np.float32
        )
        / 255
    )
    out = []
    for p, v, k in zip(paper, light, ink):
        other = cv2.multiply(p, 1 - taken * k, dtype=cv2.CV_32F)
        out.append(cv2.convertScaleAbs(v + (other - v) * soft))
    return cv2.merge(out)


def somewhere(rng, shape):
    """All of a page, or a rectangle of it."""
    out = np.zeros(shape, bool)
    (y0, y1), (x0, x1) = (sorted(int(v) for v in rng.integers(0, n + 1, 2)) for n in shape)
    out[y0:y1, x0:x1] = True
    return out if rng.random() < 0.7 else np.ones(shape, bool)


def retoned(rng, image):
    """Other light, ink, lens and file; each at times, so that many pages stay as they came."""
    if rng.random() < 0.12:  # blue pens become red ones
        image = image[..., rng.permutation(3)]
    if rng.random() < 0.12:
        image = np.repeat(cv2.cvtColor(image, cv2.COLOR_RGB2GRAY)[..., None], 3, 2)
    if rng.random() < 0.15:
        image = cv2.GaussianBlur(image, (0, 0), rng.uniform(0.4, 1.3))
    if rng.random() < 0.1:
        image = capture.low_resolution(rng, image)
    changed = image.astype(np.float32)
    if rng.random() < 0.2:
        changed = capture.lighting(rng, changed)
    if rng.random() < 0.35:
        changed = capture.contrast(rng, changed)
    if rng.random() < 0.25:
        changed = changed + rng.standard_normal(image.shape[:2] + (1,), np.float32) * abs(
            rng.normal(0, 6)
        )
    if rng.random() < 0.03:
        changed = capture.binarise(rng, changed)
    image = np.clip(changed, 0, 255).astype(np.uint8)
    if rng.random() < 0.2:
        jpeg = cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, int(rng.integers(30, 90))])[1]
        image = cv2.imdecode(jpeg, cv2.IMREAD_COLOR)
    return expose(image)


def composed_page(rng, image, label):
    """A composed page, captured already, in this visit's tones."""
    if rng.random() < TURNED_SHARE:
        turns = int(rng.integers(1, 4))
        image, label = np.rot90(image, turns), np.rot90(label, turns)
    if rng.random() < 0.5:
        tone = rng.uniform(0.8, 1.15) * (1 + rng.normal(0, 0.03, 3))
        image = cv2.LUT(
            np.ascontiguousarray(image),
            np.clip(np.arange(256)[:, None] * tone, 0, 255).astype(np.uint8)[None],
        )
    return expose(np.ascontiguousarray(image)), np.ascontiguousarray(label)


def whole_page(source):
    """A real page at the working scale, as the engine shows it to the network."""
    image, label = real.read(source)
    scale = min(pixel.SHOWN_EM / source.em, 2, (4.5e6 / label.size) ** 0.5)
    size = tuple(round(n * scale) for n in label.shape[::-1])
    image = cv2.resize(image, size, interpolation=cv2.INTER_AREA if scale < 1 else cv2.INTER_LINEAR)
    return expose(image), cv2.resize(label, size, interpolation=cv2.INTER_NEAREST)
