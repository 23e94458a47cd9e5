import tempfile
import unittest
from pathlib import Path
from unittest import mock

import torch
from torch import nn

from training.common import loop


def recipe(**more):
    values = dict(begin="", seed=3, batch=4, rate=0.05, weight_decay=0.01, clip=1, averaging=0.9)
    return loop.Recipe(**values | more)


def net():
    torch.manual_seed(1)
    return nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3), nn.Linear(3, 1))


def learned(run, until=None):
    """Has a run learn to add, and stops it after so many steps."""

    def learn(step, rng):
        if step == until:
            raise KeyboardInterrupt
        x = torch.from_numpy(rng.normal(size=(4, 2)).astype("float32"))
        loss = (run.model(x)[:, 0] - x.sum(1)).square().mean()
        loss.backward()
        return [loss.item()]

    with mock.patch("builtins.print"):
        run.go(learn, str, 5)


class Run(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.out = Path(folder.name)

    def weights(self, name):
        return torch.load(self.out / name / "weights.pt")["ema"]

    def test_a_stopped_run_goes_on_to_the_same_weights(self):
        learned(loop.Run(net(), recipe(), self.out / "whole", steps=40))
        with self.assertRaises(KeyboardInterrupt):
            learned(loop.Run(net(), recipe(), self.out / "stopped", steps=40), until=22)
        run = loop.Run(net(), recipe(), self.out / "stopped", steps=40)
        run.resume()
        self.assertEqual(run.step, 20)
        learned(run)
        for key, value in self.weights("whole").items():
            self.assertTrue(torch.equal(value, self.weights("stopped")[key]), key)

    def test_a_run_begins_with_other_weights(self):
        torch.save({"ema": {k: v + 1 for k, v in net().state_dict().items()}}, self.out / "a.pt")
        run = loop.Run(net(), recipe(begin=self.out / "a.pt"), self.out / "b", steps=1)
        for key, value in net().state_dict().items():
            self.assertTrue(torch.equal(value + 1, run.model.state_dict()[key]))
            self.assertTrue(torch.equal(value + 1, run.mean.module.state_dict()[key]))

    def test_the_rate_falls_by_the_clock(self):
        run = loop.Run(net(), recipe(minutes=10, warmup=100), self.out)
        self.assertLess(run.share(0), 0.02)
        rates = []
        for run.spent in (0, 300, 599):
            rates.append(run.share(1000))
        self.assertEqual(rates, sorted(rates, reverse=True))
        self.assertAlmostEqual(rates[1], 0.5)
        self.assertAlmostEqual(rates[2], loop.LEAST)

    def test_weights_are_averaged_and_what_is_counted_is_not(self):
        means, counts = [torch.zeros(2)], [torch.tensor(3)]
        loop.averaging(0.9)(means, [torch.ones(2)], 10**6)
        loop.averaging(0.9)(counts, [torch.tensor(4)], 10**6)
        self.assertAlmostEqual(means[0][0].item(), 0.1, places=6)
        self.assertEqual(counts[0].item(), 4)


if __name__ == "__main__":
    unittest.main()
