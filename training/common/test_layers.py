import unittest

import torch

from training.common import layers
from training.common.average import average


class Weights(unittest.TestCase):
    def test_weights_are_learned_as_they_are_rounded(self):
        conv = layers.Conv(3, 4, 3)
        levels = lambda w: torch.tensor([len(c.unique()) for c in w])
        rounded = layers.rounded(conv.weight)
        self.assertTrue((levels(rounded) <= 2 * layers.WEIGHT_LEVELS + 1).all())
        image = torch.rand(1, 3, 8, 8)
        self.assertTrue(
            torch.allclose(
                conv.train()(image), torch.nn.functional.conv2d(image, rounded, conv.bias)
            )
        )
        conv(image).sum().backward()
        self.assertGreater(conv.weight.grad.abs().sum().item(), 0)

    def test_multiplications_are_counted(self):
        net = torch.nn.Sequential(layers.Conv(3, 4, 3, 2, 1), torch.nn.ReLU(), layers.Conv(4, 5, 1))
        self.assertEqual(
            layers.products(net, (torch.rand(1, 3, 8, 6),)), 4 * 3 * (4 * 3 * 9 + 5 * 4)
        )

    def test_the_mean_of_trainings(self):
        for weights in ("ema", "state"):  # the segmenter's and the judge's
            states = [
                {weights: {"w": torch.full((2,), v)}, "version": "2026-11-2" + str(int(v))}
                for v in (1.0, 3.0)
            ]
            mean = average(states)
            self.assertEqual(mean[weights]["w"].tolist(), [2.0, 2.0])
            self.assertEqual(mean["version"], "2026-11-23")

    def test_the_mean_counts_the_windows_of_all(self):
        states = [
            {"ema": {"w": torch.zeros(1)}, "windows": n, "version": "2026-11-23"} for n in (10, 20)
        ]
        self.assertEqual(average(states)["windows"], 30)


if __name__ == "__main__":
    unittest.main()
