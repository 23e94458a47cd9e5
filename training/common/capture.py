"""What happens to a page between the desk and the file: paper, light, folds, lens, sensor, copier,
compression.

Geometry moves the printed layer and the ink layer alike, so labels stay exact; everything after it
only changes how they look. Images are uint8 [H, W, 3], RGB. All randomness comes from the generator
that is passed in.
"""

import cv2
import numpy as np


def field(rng, h, w, cells, octaves=1):
    """Smooth noise in about -1..1 whose bumps are h/cells pixels wide."""
    out = np.zeros((h, w), np.float32)
    for k in range(octaves):
        n = max(2, int(cells * 2**k))
        grid = rng.standard_normal((n + 1, n + 1)).astype(np.float32)
        out += cv2.resize(grid, (w, h), interpolation=cv2.INTER_CUBIC) * 0.6 / 2**k
    return out


def warp_map(rng, h, w):
    """A random displacement (perspective, rotation, curl, wave) as cv2.remap maps, or None for a
    flat scan."""
    kind = rng.random()
    if kind < 0.4:
        return None
    xs, ys = np.meshgrid(np.arange(w, dtype=np.float32), np.arange(h, dtype=np.float32))
    angle = np.deg2rad(rng.normal(0, 1.2 if kind < 0.7 else 3.5))
    cx, cy = w / 2, h / 2
    c, s = np.cos(angle), np.sin(angle)
    mx = c * (xs - cx) - s * (ys - cy)
    my = s * (xs - cx) + c * (ys - cy)
    if kind > 0.6:
        p = rng.normal(0, 0.08, 2)
        z = 1 + p[0] * (xs - cx) / w + p[1] * (ys - cy) / h
        mx, my = mx * z * (1 + rng.normal(0, 0.06)), my * z
    mx, my = mx + cx, my + cy
    if kind > 0.75:
        a = rng.uniform(1, 10)
        my = my + a * field(rng, h, w, rng.uniform(1, 3))
        mx = mx + 0.4 * a * field(rng, h, w, rng.uniform(1, 3))
    return mx.astype(np.float32), my.astype(np.float32)


def warp(img, maps):
    if maps is None:
        return img
    return cv2.remap(img, maps[0], maps[1], cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)


def blur(rng, layers):
    """Defocus or motion, the same on every layer; at times only over a part of the page."""
    kind = rng.random()
    if kind < 0.5:
        return layers
    sigma = abs(rng.normal(0, 0.9)) + 0.2
    if kind < 0.9:
        return [cv2.GaussianBlur(l, (0, 0), sigma) for l in layers]
    if kind < 0.95:
        n = int(rng.integers(2, 6))
        kernel = np.zeros((n, n), np.float32)
        cv2.line(kernel, (0, int(rng.integers(n))), (n - 1, int(rng.integers(n))), 1)
        return [cv2.filter2D(l, -1, kernel / kernel.sum()) for l in layers]
    h, w = layers[0].shape[:2]
    m = np.clip(field(rng, h, w, 1.5) * 1.5 + 0.5, 0, 1)[..., None]
    return [
        (l * (1 - m) + cv2.GaussianBlur(l, (0, 0), sigma + 0.8) * m).astype(np.uint8)
        for l in layers
    ]


def fade(rng, page):
    """Print that is not quite black: toner, ink-jet and offset, uneven at times."""
    h, w = page.shape[:2]
    k = 1 - abs(rng.normal(0, 0.18))
    strength = np.full((h, w, 1), max(k, 0.35), np.float32)
    if rng.random() < 0.25:
        strength *= np.clip(
            1 - 0.35 * np.abs(field(rng, h, w, rng.uniform(2, 60)))[..., None], 0.3, 1
        )
    tint = np.ones(3, np.float32)
    if rng.random() < 0.12:
        tint = rng.uniform(0.5, 1, 3).astype(np.float32)
    return (255 - (255 - page.astype(np.float32)) * strength * tint).astype(np.uint8)


def show_through(rng, img, back):
    """The other side of the sheet, mirrored, blurred and faint."""
    amount = rng.uniform(0.03, 0.22) if rng.random() < 0.7 else rng.uniform(0.2, 0.4)
    ghost = cv2.GaussianBlur(back[:, ::-1], (0, 0), rng.uniform(0.8, 2.5)).astype(np.float32)
    return img * (1 - amount * (1 - ghost / 255))


def paper(rng, img):
    """Colour, grain and fibres of the sheet."""
    h, w = img.shape[:2]
    tone = np.ones(3, np.float32)
    kind = rng.random()
    if kind < 0.45:
        tone *= rng.uniform(0.9, 1)
    elif kind < 0.75:
        tone = np.array(
            [1, rng.uniform(0.93, 1), rng.uniform(0.8, 0.98)], np.float32
        ) * rng.uniform(0.85, 1)
    else:
        tone = (rng.uniform(0.75, 1) * rng.uniform(0.85, 1, 3)).astype(np.float32)
    img = img * tone
    if rng.random() < 0.5:
        grain = rng.standard_normal((h, w, 1)).astype(np.float32)
        if rng.random() < 0.6:
            grain = cv2.GaussianBlur(grain, (0, 0), rng.uniform(0.6, 1.6))[..., None] * 1.8
        img = img * (1 + grain * rng.uniform(0.002, 0.025))
    if rng.random() < 0.2:
        img = img * (1 + field(rng, h, w, rng.uniform(8, 60))[..., None] * rng.uniform(0.01, 0.04))
    return img


def stain(rng, img):
    """Coffee rings, drops and streaks: dark, coloured, not ink."""
    h, w = img.shape[:2]
    xs, ys = np.meshgrid(np.arange(w, dtype=np.float32), np.arange(h, dtype=np.float32))
    wobble = field(rng, h, w, rng.uniform(2, 8), 2) * rng.uniform(4, 25)
    if rng.random() < 0.4:
        a = rng.uniform(0, np.pi)
        d = (
            np.abs((xs - rng.uniform(0, w)) * np.cos(a) + (ys - rng.uniform(0, h)) * np.sin(a))
            + wobble
        )
        m = 1 / (1 + np.exp(np.clip((d - rng.uniform(3, 40)) / rng.uniform(0.6, 5), -30, 30)))
    else:
        r = rng.uniform(8, 0.7 * w)
        d = np.hypot(xs - rng.uniform(-0.2, 1.2) * w, ys - rng.uniform(-0.2, 1.2) * h) + wobble - r
        inside = 1 / (1 + np.exp(np.clip(d / rng.uniform(0.6, 4), -30, 30)))
        rim = np.exp(-((d / rng.uniform(2, 9)) ** 2))
        m = inside * rng.uniform(0, 0.6) + rim * rng.uniform(0.2, 1)
    colour = np.array(
        [rng.uniform(0.1, 0.4), rng.uniform(0.3, 0.6), rng.uniform(0.5, 0.9)], np.float32
    )
    if rng.random() < 0.3:
        colour = rng.uniform(0.1, 0.8, 3).astype(np.float32)
    return img * (1 - np.clip(m, 0, 1)[..., None] * colour * rng.uniform(0.2, 0.9))


def folds(rng, img):
    """Creases: a bright and a dark side along a line, and crumpled paper."""
    h, w = img.shape[:2]
    xs, ys = np.meshgrid(np.arange(w, dtype=np.float32), np.arange(h, dtype=np.float32))
    light = np.ones((h, w), np.float32)
    for _ in range(int(rng.integers(1, 4))):
        a = (
            rng.choice([0, np.pi / 2]) + rng.normal(0, 0.05)
            if rng.random() < 0.6
            else rng.uniform(0, np.pi)
        )
        d = (xs - rng.uniform(0, w)) * np.cos(a) + (ys - rng.uniform(0, h)) * np.sin(a)
        width = rng.uniform(1.5, 30)
        light += np.sign(d) * np.exp(-np.abs(d) / width) * rng.normal(0, 0.09)
        if rng.random() < 0.5:
            light -= np.exp(-((d / rng.uniform(0.6, 1.6)) ** 2)) * rng.uniform(-0.12, 0.2)
    return img * light[..., None]


def lighting(rng, img):
    """Falloff, coloured light, soft and hard shadows."""
    h, w = img.shape[:2]
    xs, ys = np.meshgrid(
        np.linspace(-1, 1, w, dtype=np.float32), np.linspace(-1, 1, h, dtype=np.float32)
    )
    light = np.ones((h, w), np.float32) * (
        rng.uniform(0.55, 1.05) if rng.random() < 0.75 else rng.uniform(0.25, 0.6)
    )
    light += xs * rng.normal(0, 0.1) + ys * rng.normal(0, 0.1)
    if rng.random() < 0.5:
        light += field(rng, h, w, rng.uniform(0.8, 3)) * rng.uniform(0.02, 0.15)
    if rng.random() < 0.35:
        a, edge = rng.uniform(0, 2 * np.pi), rng.uniform(0.005, 0.4)
        d = (
            xs * np.cos(a)
            + ys * np.sin(a)
            - rng.uniform(-0.8, 0.8)
            + 0.15 * field(rng, h, w, rng.uniform(1, 4))
        )
        light *= 1 - rng.uniform(0.1, 0.55) / (1 + np.exp(np.clip(-d / edge, -30, 30)))
    cast = 1 + rng.normal(0, 0.04, 3).astype(np.float32)
    return img * np.clip(light, 0.12, 1.15)[..., None] * cast


def moire(rng, img):
    """A screen photographed: interfering stripes, per channel."""
    h, w = img.shape[:2]
    xs, ys = np.meshgrid(np.arange(w, dtype=np.float32), np.arange(h, dtype=np.float32))
    a, f = rng.uniform(0, np.pi), 2 * np.pi / rng.uniform(2.2, 14)
    bend = field(rng, h, w, 2) * rng.uniform(0, 12)
    phase = (xs * np.cos(a) + ys * np.sin(a) + bend) * f
    depth = rng.uniform(0.02, 0.12)
    waves = np.stack([np.sin(phase + i * rng.uniform(0, 2)) for i in range(3)], -1)
    return img * (1 + depth * waves)


def specks(rng, img):
    h, w = img.shape[:2]
    for _ in range(int(rng.integers(3, 60))):
        x, y = rng.uniform(0, w), rng.uniform(0, h)
        cv2.circle(
            img,
            (int(x * 8), int(y * 8)),
            int(rng.uniform(2, 12)),
            (rng.uniform(0, 160),) * 3,
            -1,
            cv2.LINE_AA,
            3,
        )
    return img


def noise(rng, img):
    h, w = img.shape[:2]
    sigma = abs(rng.normal(0, 5))
    n = rng.standard_normal((h, w, 3 if rng.random() < 0.6 else 1)).astype(np.float32) * sigma
    if rng.random() < 0.4:
        n = cv2.GaussianBlur(n, (0, 0), rng.uniform(0.5, 1.2)).reshape(h, w, -1) * 1.7
    return img + n


def low_resolution(rng, img):
    h, w = img.shape[:2]
    k = rng.uniform(0.4, 0.9)
    small = cv2.resize(img, (max(8, int(w * k)), max(8, int(h * k))), interpolation=cv2.INTER_AREA)
    return cv2.resize(
        small, (w, h), interpolation=int(rng.choice([cv2.INTER_LINEAR, cv2.INTER_CUBIC]))
    )


def binarise(rng, img):
    """Fax and copier: thresholded, at twice the resolution at times, or posterised."""
    grey = cv2.cvtColor(np.clip(img, 0, 255).astype(np.uint8), cv2.COLOR_RGB2GRAY)
    k = int(rng.choice([1, 1, 2]))
    if k > 1:
        grey = cv2.resize(grey, None, fx=k, fy=k, interpolation=cv2.INTER_CUBIC)
    base = np.percentile(grey, 85) * rng.uniform(0.5, 0.88)
    if rng.random() < 0.5:
        base = cv2.blur(grey, (61, 61)).astype(np.float32) * rng.uniform(0.72, 0.92)
    out = np.clip(
        (grey.astype(np.float32) - base) * rng.choice([1e3, 1e3, 6, 3]) + 128, 0, 255
    ).astype(np.uint8)
    if k > 1:
        out = cv2.resize(out, img.shape[1::-1], interpolation=cv2.INTER_AREA)
    return np.repeat(out[..., None], 3, 2).astype(np.float32)


def contrast(rng, img):
    """Tone curve of the camera or scanner: gamma, stretched to white, sharpened, desaturated."""
    if rng.random() < 0.3:
        img = 255 * np.power(np.clip(img, 0, 255) / 255, np.exp(rng.normal(0, 0.25)))
    if rng.random() < 0.3:
        lo, hi = rng.uniform(0, 60), rng.uniform(180, 255)
        img = (img - lo) * 255 / (hi - lo)
    elif rng.random() < 0.2:
        lo, hi = rng.uniform(0, 110), rng.uniform(190, 255)
        img = lo + img * (hi - lo) / 255
    if rng.random() < 0.3:
        soft = cv2.GaussianBlur(img, (0, 0), rng.uniform(0.7, 2))
        img = img + (img - soft) * rng.uniform(0.2, 1.8)
    if rng.random() < 0.22:
        img = np.repeat(img.mean(2, keepdims=True), 3, 2)
    return img


def capture(rng, img, back):
    """Turns a composed page (uint8) into a captured one: uint8 RGB, or one whose channels are
    equal."""
    img = img.astype(np.float32)
    style = rng.random()
    scan, digital = style < 0.3, style > 0.85
    if not digital:
        if back is not None and rng.random() < 0.25:
            img = show_through(rng, img, back)
        if rng.random() < (0.4 if scan else 0.95):
            img = paper(rng, img)
        if rng.random() < 0.06:
            img = stain(rng, img)
        if rng.random() < (0.05 if scan else 0.2):
            img = folds(rng, img)
        if rng.random() < (0.1 if scan else 0.9):
            img = lighting(rng, img)
        if rng.random() < 0.04:
            img = moire(rng, img)
        if rng.random() < 0.1:
            img = specks(rng, np.ascontiguousarray(img))
    if rng.random() < 0.15:
        img = low_resolution(rng, img)
    if not digital and rng.random() < 0.8:
        img = noise(rng, img)
    img = contrast(rng, img)
    if rng.random() < (0.3 if scan else 0.05):
        img = binarise(rng, img)
    return np.clip(img, 0, 255).astype(np.uint8)


def recapture(rng, img):
    """What may befall a page that is a photograph or scan already: other light, tones and noise."""
    img = img.astype(np.float32)
    if rng.random() < 0.2:
        img = lighting(rng, img)
    if rng.random() < 0.15:
        img = low_resolution(rng, img)
    if rng.random() < 0.4:
        img = noise(rng, img)
    if rng.random() < 0.4:
        img = contrast(rng, img)
    if rng.random() < 0.05:
        img = binarise(rng, img)
    return np.clip(img, 0, 255).astype(np.uint8)
