import unittest

import numpy as np
import torch

from training.common import pixel
from training.common.test_views import page
from training.segment import data, net


class Windows(unittest.TestCase):
    def test_windows_keep_picture_and_label_together(self):
        image, label = page()
        for seed in range(10):
            v = data.view(np.random.default_rng(seed), image, label, 4, 256)
            self.assertEqual(v.windows.shape, (4, 256, 256, 3))
            light = v.windows.min(3)
            self.assertTrue((light[v.labels == pixel.PAPER] > 230).all())
            self.assertTrue((light[v.labels != pixel.PAPER] < 50).all())

    def test_windows_are_chosen_by_print_under_writing(self):
        rng = np.random.default_rng(2)
        image, label = np.full((900, 700, 3), 255, np.uint8), np.zeros((900, 700), np.uint8)
        label[100:800:4, 100:600] = pixel.HAND
        label[400:416, 300:316] = pixel.BOTH
        seen = data.view(rng, image, label, 8, 128, crossed=1)
        self.assertTrue((seen.labels == pixel.BOTH).any((1, 2)).all())

    def test_a_page_smaller_than_a_window_is_filled_up(self):
        image, label = page()
        v = data.view(np.random.default_rng(1), image[:240, :200], label[:240, :200], 2, 256)
        self.assertEqual(v.windows.shape, (2, 256, 256, 3))

    def test_the_overview_shows_the_place_under_a_window(self):
        image, label = page()
        scale = data.overview_scale(*label.shape)
        small = net.as_input(data.overview_of(image)[None])
        pooled = torch.nn.functional.avg_pool2d(
            torch.nn.functional.pixel_shuffle(small, 2), net.OVERVIEW_STRIDE
        )
        places = torch.from_numpy(data.places_of(288, 576, 64, scale))[None]
        told = net.seen_by(pooled, places)[0]
        self.assertLess(told[1].min(), 0.98)  # the red bar is not green
        away = torch.from_numpy(data.places_of(288, 384, 64, scale))[None]
        self.assertGreater(net.seen_by(pooled, away).min(), 0.999)

    def test_what_is_present_is_told_where_it_is(self):
        _, label = page()
        hand, printed = data.present_in(label)
        scale = data.overview_scale(*label.shape) / net.OVERVIEW_STRIDE
        self.assertEqual(hand[int(604 * scale), int(340 * scale)], 1)
        self.assertEqual(printed[int(210 * scale), int(300 * scale)], 1)
        self.assertEqual(hand[int(210 * scale), int(300 * scale)], 0)
        self.assertEqual(printed.sum(), (printed == 1).sum())


if __name__ == "__main__":
    unittest.main()
