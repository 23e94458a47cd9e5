import unittest

import cv2
import numpy as np

from training.common import capture, pixel, scene
from training.common.data import decode, encode


class FakePage:
    """A white page with one black bar, which is also its only slot."""

    em = 32.0

    def __init__(self):
        self.image = np.full((1400, 1000, 3), 255, np.uint8)
        self.image[600:640, 300:700] = 0
        self.slots = [{"kind": "line", "want": "word", "rect": [300, 600, 700, 640]}]


def stroke(side=200):
    ink = np.full((side, side, 3), 255, np.uint8)
    cv2.line(ink, (20, 20), (180, 180), (30, 40, 160), 4)
    return ink


class Crop(unittest.TestCase):
    def test_slots_lie_on_what_they_mark(self):
        for seed in range(40):
            rng = np.random.default_rng(seed)
            canvas, slots, sheet = scene.crop(rng, FakePage(), float(rng.uniform(12, 60)), 512)
            self.assertEqual(canvas.shape, (512, 512, 3))
            for slot in slots:
                x0, y0, x1, y1 = np.clip(slot["rect"], 0, 512).round().astype(int)
                inside = canvas[y0 + 2 : y1 - 2, x0 + 2 : x1 - 2]
                if inside.size > 50:
                    self.assertLess(inside.mean(), 40, f"seed {seed}")
            desk = canvas[scene.beside(sheet, 512)]
            if len(desk):
                _, counts = np.unique(desk, axis=0, return_counts=True)
                self.assertGreater(
                    counts.max(),
                    0.9 * len(desk),
                    f"seed {seed}: one colour but for the sheet's edge",
                )


class Labels(unittest.TestCase):
    def test_classes(self):
        page = np.full((200, 200, 3), 255, np.uint8)
        page[95:105, 20:180] = 0
        lab = scene.labels(page, stroke())
        self.assertEqual(lab[30, 30], pixel.HAND)
        self.assertEqual(lab[100, 100], pixel.BOTH)
        self.assertEqual(lab[100, 30], pixel.PRINT)
        self.assertEqual(lab[10, 150], pixel.PAPER)

    def test_nothing_written_gives_no_handwriting(self):
        page = np.full((200, 200, 3), 255, np.uint8)
        page[95:105, 20:180] = 90
        lab = scene.labels(page, np.full_like(page, 255))
        self.assertEqual(set(np.unique(lab)), {pixel.PAPER, pixel.PRINT})

    def test_what_the_capture_hides_has_no_label(self):
        ink = stroke()
        lab = scene.labels(np.full_like(ink, 255), ink)
        hidden = scene.forget_invisible(np.full_like(ink, 240), lab.copy())
        self.assertNotIn(pixel.HAND, hidden)
        seen = scene.forget_invisible(ink, lab.copy())
        self.assertEqual((seen == pixel.HAND).sum(), (lab == pixel.HAND).sum())

    def test_rules_are_the_long_straight_lines(self):
        page = np.full((200, 200, 3), 255, np.uint8)
        page[150:152, 10:190] = 0
        page[20:40, 20:40] = 0
        ruled = scene.rules(page)
        self.assertTrue(ruled[150, 100])
        self.assertFalse(ruled[30, 30])


class Capture(unittest.TestCase):
    def test_same_seed_same_picture(self):
        page = np.full((160, 160, 3), 255, np.uint8)
        page[40:60, 20:140] = 0
        for seed in range(60):
            first, second = (
                capture.capture(np.random.default_rng(seed), page, page) for _ in range(2)
            )
            self.assertEqual(first.dtype, np.uint8)
            self.assertEqual(first.shape, page.shape)
            np.testing.assert_array_equal(first, second)

    def test_print_stays_darker_than_paper(self):
        page = np.full((160, 160, 3), 255, np.uint8)
        page[60:100, 30:130] = 0
        darker = 0
        for seed in range(60):
            out = capture.capture(np.random.default_rng(seed), page, None).astype(float)
            darker += out[70:90, 40:120].mean() < out[10:40, 40:120].mean()
        self.assertGreaterEqual(darker, 57)


class Shard(unittest.TestCase):
    def test_a_sample_survives_its_shard(self):
        rng = np.random.default_rng(1)
        label = rng.integers(0, 4, (64, 64)).astype(np.uint8)
        image, back = decode(encode(rng, np.full((64, 64, 3), 200, np.uint8), label))
        np.testing.assert_array_equal(back, label)
        self.assertLess(np.abs(image.astype(int) - 200).max(), 4)


if __name__ == "__main__":
    unittest.main()
