"""What tells highlighter: pages say where strokes were laid, and the regression learns from it."""

import json
import tempfile
import unittest
from pathlib import Path

import cv2
import numpy as np

from training.common import pixel
from training.common.real import Source
from training.highlight import data, train


def source(folder):
    """A printed page: rows of dark words on paper."""
    image = np.full((900, 700, 3), 245, np.uint8)
    for y in range(60, 840, 40):
        for x in range(60, 600, 80):
            image[y : y + 14, x : x + 60] = 30
    cv2.imwrite(str(folder / "page.png"), image)
    return Source(str(folder / "page.png"), "", pixel.SHOWN_EM, 5, 0, "train")


class TestData(unittest.TestCase):
    def test_labels_are_where_strokes_tint_the_page(self):
        with tempfile.TemporaryDirectory() as folder:
            page = source(Path(folder))
            struck = 0
            for seed in range(12):
                image, told = data.page(np.random.default_rng(seed), page)
                self.assertEqual(image.shape[:2], told.shape)
                colour = np.ptp(image[told == data.STRUCK].astype(int), axis=1)
                struck += len(colour) > 0
                if len(colour):
                    self.assertGreater(np.median(colour), 10)
            self.assertGreater(struck, 3)
            self.assertLess(struck, 12)

    def test_doubtful_tints_are_left_out(self):
        rows = [0.9, 0.3, 0]
        with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
            file.write('["a", "b"]\n')
            for struck in rows:
                row = {"traits": [1.0, struck], "struck": struck}
                file.write(json.dumps(row) + "\n")
            file.flush()
            traits, struck, names = data.read(file.name)
        self.assertEqual(traits.tolist(), [[1, 0.9], [1, 0]])
        self.assertEqual(struck.tolist(), [True, False])
        self.assertEqual(names, ["a", "b"])


class TestFit(unittest.TestCase):
    def test_lifts_what_is_surely_a_stroke(self):
        rng = np.random.default_rng(1)
        struck = rng.random(900) < 0.4
        traits = rng.normal(0, 1, (900, 3))
        traits[:, 1] = 50 * (traits[:, 1] + 4 * struck) + 1000
        found = train.fit(traits, struck)
        there, lifted, others, wrong = train.tally(traits, struck, found)
        self.assertEqual(there + others, 900)
        self.assertGreater(lifted, 0.7 * there)
        self.assertLess(wrong, 0.02 * others)

    def test_learns_what_lies_between(self):
        rng = np.random.default_rng(2)
        traits = rng.normal(0, 1, (900, 2))
        struck = np.abs(traits[:, 0]) < 1
        there, lifted, others, wrong = train.tally(traits, struck, train.fit(traits, struck))
        self.assertGreater(lifted, 0.5 * there)
        self.assertLess(wrong, 0.05 * others)


if __name__ == "__main__":
    unittest.main()
