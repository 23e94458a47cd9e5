import tempfile
import unittest
from unittest import mock

import cv2
import numpy as np

from training.common import papers, pixel, real, views
from training.common.laid import answers, corrections, solids, stamps, tints


def page(h=900, w=700, pen=8):
    """A white page with a black bar of print and a red one written by hand, and its labels."""
    image, label = np.full((h, w, 3), 255, np.uint8), np.zeros((h, w), np.uint8)
    image[200:220, 100:500], label[200:220, 100:500] = 0, pixel.PRINT
    image[600 : 600 + pen, 300:380], label[600 : 600 + pen, 300:380] = (200, 30, 30), pixel.WRITTEN
    return image, label


class Views(unittest.TestCase):
    def test_marks_in_an_answer_grid_are_writing_and_the_grid_is_print(self):
        marked = 0
        for seed in range(8):
            image, label = page()
            answered, told = answers.answered(np.random.default_rng(seed), image, label)
            light = answered.min(2)
            self.assertTrue((light[told == pixel.PRINT] < 225).all())
            new = np.isin(told, (pixel.HAND, pixel.BOTH))
            self.assertGreater((told == pixel.PRINT).sum(), 500)
            if new.any():
                self.assertLess(light[new].mean(), 215)
                marked += 1
        self.assertGreater(marked, 4)

    def test_laid_writing_is_labelled_where_it_is_seen(self):
        image, label = page(pen=5)
        clean, printed = image.copy(), label.copy()
        clean[label == pixel.WRITTEN], printed[label == pixel.WRITTEN] = 255, pixel.PAPER
        laid = 0
        for seed in range(20):
            rng = np.random.default_rng(seed)
            out, told = views.transplanted(rng, clean, printed, image, label)
            changed = (out != clean).any(2)
            self.assertTrue((told[changed] != pixel.PAPER).all())
            self.assertTrue(changed[told == pixel.WRITTEN].all())
            self.assertTrue((out[told == pixel.WRITTEN][:, 1] < 255 - real.FAINT).all())
            self.assertTrue(
                np.array_equal(
                    told[~changed & (told != pixel.IGNORE)],
                    printed[~changed & (told != pixel.IGNORE)],
                )
            )
            laid += changed.any()
        self.assertGreater(laid, 5)

    def test_print_that_hides_laid_writing_keeps_its_label_as_print(self):
        image, label = np.full((300, 300, 3), 255, np.uint8), np.zeros((300, 300), np.uint8)
        image[:, 100:200], label[:, 100:200] = 10, pixel.PRINT
        written, where = np.full_like(image, 255), np.zeros_like(label)
        written[140:146, 60:240], where[140:146, 60:240] = 30, pixel.HAND
        hidden = 0
        for seed in range(10):
            rng = np.random.default_rng(seed)
            out, told = views.transplanted(rng, image, label, written, where)
            changed = (out != image).any(2)
            kinds = set(np.unique(told[:, 103:197]))
            self.assertLessEqual(kinds, {pixel.PRINT, pixel.PRINTED, pixel.BOTH})
            self.assertFalse(np.isin(told[changed & (label == pixel.PAPER)], pixel.PRINTED).any())
            hidden += (told == pixel.PRINTED).sum()
        self.assertGreater(hidden, 500)

    def test_filled_bubbles_are_not_laid_elsewhere(self):
        mask = np.zeros((60, 60), np.uint8)
        cv2.circle(mask, (15, 15), 8, 1, -1)
        cv2.line(mask, (30, 30), (55, 50), 1, 3)
        kept = views.strokes(mask > 0)
        self.assertEqual(kept[:25, :25].sum(), 0)
        self.assertTrue(np.array_equal(kept[26:, 26:], mask[26:, 26:]))

    def test_one_word_of_a_page_is_left_whole_and_the_rest_is_not_laid(self):
        _, label = page()
        label[100:104, 60:680] = pixel.WRITTEN
        for seed in range(20):
            out = views.sparse(np.random.default_rng(seed), label)
            rows, columns = np.nonzero(out == pixel.WRITTEN)
            self.assertGreater(len(rows), 0)
            self.assertLess(np.ptp(rows), pixel.EM * views.SPARSE[1][1] + 2)
            self.assertLess(np.ptp(columns), pixel.EM * views.SPARSE[0][1] + 2)
            kept = out == pixel.WRITTEN
            self.assertTrue((label[kept] == pixel.WRITTEN).all())
            self.assertTrue(
                np.array_equal(
                    out[~kept & (label != pixel.WRITTEN)], label[~kept & (label != pixel.WRITTEN)]
                )
            )

    def test_other_ink_is_seen_and_stays_in_its_place(self):
        image, label = page()
        for seed in range(20):
            out = views.reinked(np.random.default_rng(seed), image, label == pixel.WRITTEN)
            self.assertTrue((out[label == pixel.PRINT] == 0).all())
            self.assertTrue((out[:590] == image[:590]).all())
            self.assertLess(out[602:606, 310:370].min(2).max(), 200)

    def test_dim_paper_becomes_white(self):
        image, _ = page()
        dim = (image * np.array([0.5, 0.45, 0.4])).astype(np.uint8)
        self.assertGreater(np.median(views.expose(dim)[:100].astype(float)), 250)

    def test_a_page_moves_with_its_labels(self):
        image, label = page()
        for seed in range(10):
            a, b = views.placed(np.random.default_rng(seed), image, label, 1.0)
            inside = cv2.erode((b == pixel.WRITTEN).astype(np.uint8), np.ones((3, 3), np.uint8)) > 0
            self.assertTrue((a[inside][:, 0] > 150).all() and (a[inside][:, 1] < 120).all())


class Labels(unittest.TestCase):
    def test_a_wide_label_shrinks_to_its_ink(self):
        image, label = np.full((100, 100, 3), 255, np.uint8), np.zeros((100, 100), np.uint8)
        image[48:52, 20:80], label[44:56, 20:80] = 40, 2
        trained = real.trained_label(image, label)
        self.assertTrue((trained[48:52, 22:78] == pixel.WRITTEN).all())
        self.assertTrue((trained[44:47, 22:78] == pixel.IGNORE).all())
        self.assertTrue((trained[:40] == pixel.PAPER).all())

    def test_no_print_lies_under_writing_far_from_print(self):
        given = np.zeros((200, 200), np.uint8)
        given[20:180, 100:110], given[95:101, 20:105], given[150:156, 20:60] = 1, 2, 2
        trained = np.array(real.GIVEN, np.uint8)[given]
        told = real.alone(trained, given, 20)
        self.assertTrue((told[150:156, 20:60] == pixel.HAND).all())
        self.assertTrue((told[95:101, 95:100] == pixel.WRITTEN).all())
        self.assertTrue((told[95:101, 20:85] == pixel.HAND).all())
        self.assertTrue((told[given != 2] == trained[given != 2]).all())

    def test_the_size_of_print_is_found(self):
        mask = np.zeros((1754, 1240), bool)
        for row in range(10):
            for i in range(40):
                mask[100 + 60 * row : 118 + 60 * row, 100 + 20 * i : 104 + 20 * i] = True
                mask[114 + 60 * row : 118 + 60 * row, 100 + 20 * i : 114 + 20 * i] = True
        self.assertAlmostEqual(real.print_size(mask), 24, delta=3)

    def test_folds_part_the_training_pages_and_leave_what_is_held_out(self):
        repos = [f"owner/repo-{i}" for i in range(400)]
        for repo in repos:
            splits = [real.split_of(repo, fold) for fold in (None, 0, 1)]
            held_out = ["val", "val", "val"]
            self.assertIn(
                splits, (held_out, ["train", "fold", "train"], ["train", "train", "fold"])
            )
        share = sum(real.split_of(repo, 0) == "fold" for repo in repos) / len(repos)
        self.assertTrue(0.3 < share < 0.6)


class Papers(unittest.TestCase):
    def test_an_empty_box_is_a_place_to_write(self):
        image = np.full((400, 400, 3), 255, np.uint8)
        cv2.rectangle(image, (100, 100), (300, 160), (0, 0, 0), 2)
        for x in (100, 160, 220):
            cv2.rectangle(image, (x, 200), (x + 24, 224), (0, 0, 0), 2)
        kinds = [s["kind"] for s in papers.slots_of(image, 24)]
        self.assertIn("cell", kinds)
        self.assertEqual(kinds.count("check"), 3)

    def test_a_lone_hole_is_no_box_for_a_tick(self):
        image = np.full((400, 400, 3), 255, np.uint8)
        cv2.circle(image, (200, 200), 14, (0, 0, 0), 2)
        kinds = {s["kind"] for s in papers.slots_of(image, 24)}
        self.assertFalse({"check", "bubble"} & kinds)


class Without(unittest.TestCase):
    def test_without_real_pages_there_are_none(self):
        with (
            tempfile.TemporaryDirectory() as folder,
            mock.patch.dict("os.environ", {"UNINK_DATA": folder}),
        ):
            self.assertEqual(real.sources("train"), [])


class Solids(unittest.TestCase):
    def test_solid_marks_are_print_and_hide_no_writing(self):
        clean, label = page()
        for seed in range(12):
            image, told = solids.printed(np.random.default_rng(seed), clean, label)
            changed = told != label
            self.assertTrue(changed.any())
            self.assertTrue(set(np.unique(told[changed])) <= {pixel.PRINT, pixel.IGNORE})
            self.assertTrue((told[label == pixel.WRITTEN] == pixel.WRITTEN).all())
            self.assertTrue((image[changed & (told == pixel.PRINT)] < 200).all())
            self.assertTrue((image[(told == pixel.PAPER)] > 230).all())


class Stamps(unittest.TestCase):
    def test_stamps_are_print_and_hide_no_writing(self):
        page = np.full((600, 500, 3), 240, np.uint8)
        label = np.zeros((600, 500), np.uint8)
        page[100:500:40, 50:450], label[100:500:40, 50:450] = 60, pixel.HAND
        stamped = 0
        for seed in range(30):
            image, told = stamps.stamped(np.random.default_rng(seed), page, label)
            changed = told != label
            stamped += changed.any()
            self.assertTrue((image <= page).all())
            self.assertTrue(
                set(np.unique(told[changed])) <= {pixel.PRINT, pixel.BOTH, pixel.IGNORE}
            )
            self.assertTrue((label[told == pixel.BOTH] == pixel.HAND).all())
            self.assertTrue((label[told == pixel.PRINT] == pixel.PAPER).all())
            self.assertTrue((image[told == pixel.PRINT].min(1) < 200).all())
        self.assertGreater(stamped, 20)


class Tints(unittest.TestCase):
    def test_highlighter_is_writing_and_leaves_what_is_under_it(self):
        page = np.full((600, 500, 3), 240, np.uint8)
        label = np.zeros((600, 500), np.uint8)
        page[100:500:40, 50:450], label[100:500:40, 50:450] = 20, pixel.PRINT
        before = page.copy(), label.copy()
        for seed in range(8):
            image, told = tints.highlighted(np.random.default_rng(seed), page, label)
            changed = told != label
            self.assertTrue(set(np.unique(told[changed])) <= {pixel.HAND, pixel.BOTH, pixel.IGNORE})
            # print is not said to be gone
            self.assertTrue((told[label == pixel.PRINT] != pixel.HAND).all())
            # what shows is labelled
            self.assertTrue((image[told == label] >= page[told == label] - 14).all())
            self.assertTrue((image[told == pixel.HAND].min(1) < 235).all())
        self.assertTrue((page == before[0]).all() and (label == before[1]).all())

    def test_a_correctors_marks_are_writing_and_darken_the_page(self):
        page = np.full((600, 500, 3), 240, np.uint8)
        label = np.zeros((600, 500), np.uint8)
        page[100:500:40, 50:450], label[100:500:40, 50:450] = 20, pixel.PRINT
        for seed in range(30):
            image, told = corrections.corrected(np.random.default_rng(seed), page, label)
            changed = told != label
            self.assertTrue((image <= page).all())
            self.assertTrue(set(np.unique(told[changed])) <= {pixel.HAND, pixel.BOTH, pixel.IGNORE})
            self.assertTrue((label[told == pixel.BOTH] == pixel.PRINT).all())
            self.assertTrue((image[told == pixel.HAND].min(1) < 240).all())

    def test_panels_tint_the_page_alone(self):
        page = np.full((600, 500, 3), 240, np.uint8)
        image = tints.panelled(np.random.default_rng(1), page, np.zeros((600, 500), np.uint8))
        self.assertTrue((image < page).any() and (image <= page).all() and (page == 240).all())


if __name__ == "__main__":
    unittest.main()
