"""Behaviour that the composer of pages relies on. It needs no fonts and no recorded strokes."""

import tempfile
import unittest

import numpy as np

from training.common.ink import inks, pens
from training.common.ink.hands import centre_lines, held_out


def empty(split="train"):
    """The library over an empty data root: drawn letters only."""
    return inks.Inks(split, tempfile.mkdtemp())


class Write(unittest.TestCase):
    def setUp(self):
        self.inks, self.rng = empty(), np.random.default_rng(5)

    def test_every_kind_gives_ink_within_the_limits(self):
        for kind in (
            "letter",
            "number",
            "sentence",
            "paragraph",
            "date",
            "formula",
            "sum",
            "fraction",
            "equation",
            "code",
            "block",
            "signature",
        ):
            with self.subTest(kind):
                patch = self.inks.write(
                    self.rng,
                    self.inks.hand(self.rng),
                    self.inks.pen(self.rng),
                    None,
                    kind,
                    14,
                    160,
                    90,
                )
                self.assertEqual((patch.dtype, patch.shape[2]), (np.uint8, 3))
                self.assertLessEqual(patch.shape[0], 90)
                self.assertLessEqual(patch.shape[1], 160)
                self.assertTrue((patch < 250).any())

    def test_a_patch_is_tight_and_bare_round_its_ink(self):
        patch = self.inks.write(
            self.rng,
            self.inks.hand(self.rng),
            self.inks.pen(self.rng, "gel"),
            "max 17",
            "words",
            30,
        )
        for edge in (
            patch[: pens.MARGIN],
            patch[-pens.MARGIN :],
            patch[:, : pens.MARGIN],
            patch[:, -pens.MARGIN :],
        ):
            self.assertTrue((edge == 255).all())
        inside = patch[pens.MARGIN : -pens.MARGIN, pens.MARGIN : -pens.MARGIN]
        for edge in (inside[0], inside[-1], inside[:, 0], inside[:, -1]):
            self.assertTrue((edge < 255).any())

    def test_the_same_seed_gives_the_same_ink(self):
        def write():
            rng = np.random.default_rng(9)
            return self.inks.write(
                rng, self.inks.hand(rng), self.inks.pen(rng), None, "words", 20, 300
            )

        np.testing.assert_array_equal(write(), write())

    def test_a_letter_is_as_high_as_asked(self):
        for height in (12, 40, 120):
            patch = self.inks.write(
                self.rng,
                self.inks._hand_of(self.rng, self.inks.drawn),
                self.inks.pen(self.rng, "fineliner"),
                "x",
                "letter",
                height,
            )
            self.assertAlmostEqual(patch.shape[0] / height, 1.2, delta=0.55)

    def test_a_script_without_a_hand_becomes_latin_words(self):
        for kind in ("arabic", "hangul"):
            patch = self.inks.write(
                self.rng, self.inks.hand(self.rng), self.inks.pen(self.rng), None, kind, 20
            )
            self.assertTrue(inks.coverage(patch).sum() > 20)

    def test_unknown_kinds_are_refused_with_the_known_ones(self):
        with self.assertRaisesRegex(ValueError, "use one of letter"):
            self.inks.write(self.rng, None, None, None, "poem", 20)
        with self.assertRaisesRegex(ValueError, "use one of"):
            self.inks.mark(self.rng, None, "comet", 20, 20)


class Mark(unittest.TestCase):
    def test_every_mark_is_of_about_the_size_asked_for(self):
        library, rng = empty(), np.random.default_rng(3)
        for kind in inks.MARKS:
            for w, h in ((60, 60), (200, 14), (9, 9)):
                with self.subTest(kind=kind, size=(w, h)):
                    patch = library.mark(rng, library.pen(rng, "ballpoint"), kind, w, h)
                    self.assertTrue((patch < 250).any())
                    self.assertLess(patch.shape[1], 1.6 * w + 14)
                    self.assertLess(patch.shape[0], 1.6 * h + 14)


class Split(unittest.TestCase):
    def test_about_a_seventh_is_held_out_and_stays_so(self):
        names = [f"hand {n}" for n in range(2000)]
        self.assertAlmostEqual(sum(map(held_out, names)) / len(names), 0.15, delta=0.03)
        self.assertEqual(
            [n for n in names[:12] if held_out(n)], [n for n in names[:12] if held_out(n)]
        )

    def test_only_known_splits(self):
        with self.assertRaisesRegex(ValueError, "train or val"):
            empty("test")


class CentreLines(unittest.TestCase):
    def test_a_cross_is_two_strokes_through_the_crossing(self):
        shape = np.zeros((101, 101), bool)
        shape[46:55, 8:93] = shape[8:93, 46:55] = True
        strokes = centre_lines(shape)
        self.assertEqual(len(strokes), 2)
        for stroke in strokes:
            self.assertGreater(np.ptp(stroke[:, :2], axis=0).max(), 70)

    def test_a_ring_is_one_closed_stroke(self):
        y, x = np.mgrid[:101, :101] - 50
        strokes = centre_lines(abs(np.hypot(x, y) - 35) < 4)
        self.assertEqual(len(strokes), 1)
        self.assertLess(np.hypot(*(strokes[0][0] - strokes[0][-1])[:2]), 6)


if __name__ == "__main__":
    unittest.main()
