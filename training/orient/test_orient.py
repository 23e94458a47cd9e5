"""The orientation network: how pages are cut for it, and how its votes are counted.

python3 -m unittest training.orient.test_orient
"""

import tempfile
import unittest
from pathlib import Path

import cv2
import numpy as np
import onnx
import torch

from training.common.quantise import quantise, to_onnx
from training.orient import data, lines, look, net

TESTDATA = Path(__file__).parents[2] / "internal" / "restore" / "testdata"


def read_grey(name):
    return cv2.imread(str(TESTDATA / name), cv2.IMREAD_GRAYSCALE)


def page_with_print(at, shape=(1400, 1000)):
    grey = np.full(shape, 240, np.uint8)
    for y, x in at:
        grey[y : y + 100 : 4, x : x + 100 : 4] = 20
    return grey


class Light(unittest.TestCase):
    def test_a_dim_page_in_uneven_light_is_evened_to_the_same(self):
        grey = page_with_print([(100, 100), (700, 300)], (900, 700))
        dim = (grey * 0.5 * np.linspace(1, 0.5, 700)[None]).astype(np.uint8)
        difference = np.abs(look.evened(grey).astype(int) - look.evened(dim))
        self.assertLess((difference > look.EDGE).sum(), 0.05 * (grey < 100).sum())

    def test_the_light_is_evened_as_the_engine_has_it(self):
        """even.png is what evened() makes of light.png: where evened() is to change, write it anew,
        and the engine's test tells what follows."""
        np.testing.assert_allclose(
            look.evened(read_grey("light.png")), read_grey("even.png"), atol=1
        )

    def test_an_empty_page_stays_empty(self):
        self.assertGreater(look.evened(np.full((100, 90), 70, np.uint8)).min(), look.PAPER - 10)


class Sides(unittest.TestCase):
    def test_a_page_is_turned_only_if_it_looks_turned_from_all_sides(self):
        grey = page_with_print([(40, 40)], (300, 300))
        always = lambda x: torch.tensor([[0.0, 0, 90, 0, 9]]).repeat(len(x), 1)
        in_turn = lambda x: torch.stack(
            [
                torch.tensor([0.0, 0, 0, 0, 9]).index_fill(0, torch.tensor((2 - k) % 4), 90)
                for k in range(len(x))
            ]
        )
        self.assertEqual(look.turned(always, grey), 0)
        self.assertEqual(look.turned(in_turn, grey), 2)


class Pieces(unittest.TestCase):
    def test_a_piece_stays_upright_however_it_is_altered(self):
        piece = np.full((data.PIECE, data.PIECE), look.PAPER, np.uint8)
        piece[: data.PIECE // 2] = look.INK
        rng = np.random.default_rng(1)
        for _ in range(100):
            part = data.altered(rng, piece)
            self.assertEqual(part.shape, (data.CROP, data.CROP))
            middle = data.CROP // 2
            self.assertLess(part[:middle].mean() + 40, part[middle:].mean())
            self.assertLess(abs(part[:, :middle].mean() - part[:, middle:].mean()), 40)

    def test_what_nobody_can_tell_is_taught_as_any_way_up(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("00001.npy", f"{data.UNTOLD}00001.npy"):
                np.save(
                    Path(folder) / name, np.full((3, data.PIECE, data.PIECE), look.PAPER, np.uint8)
                )
            _, probabilities = data.Pieces(Path(folder)).batch(np.random.default_rng(1), 200)
        untold = (probabilities == 0.25).all(1)
        self.assertTrue((probabilities[~untold].max(1).values == 1).all())
        self.assertAlmostEqual(untold.float().mean().item(), data.UNTOLD_SHARE, delta=0.1)


class Scripts(unittest.TestCase):
    def test_a_script_that_is_made_up_shows_as_print_and_is_another_each_time(self):
        blocks = [lines.invented(np.random.default_rng(k), data.PIECE, int(net.EM)) for k in (1, 2)]
        for block in blocks:
            self.assertEqual(block.shape, (data.PIECE, data.PIECE))
            self.assertTrue(look.shown(block))
        self.assertGreater((blocks[0] != blocks[1]).mean(), 0.05)


class Windows(unittest.TestCase):
    def test_the_busiest_comes_first_and_none_shows_the_same_print(self):
        grey = page_with_print([(40, 40), (1200, 800), (1200, 650)])
        found = list(look.windows(grey, net.SIDE))
        self.assertEqual(len(found), 2)
        edges = [look.edges(w).sum() for w in found]
        self.assertGreater(edges[0], 1.5 * edges[1])
        self.assertEqual(sum(edges), look.edges(grey).sum())

    def test_the_busiest_is_that_of_the_engine(self):
        """The engine's test has the same window of even.png, and as many edges."""
        even = read_grey("even.png")
        window = next(look.windows(even, 96))
        np.testing.assert_array_equal(window, even[64:160, :96])
        self.assertEqual(look.edges(even)[64:160, :96].sum(), 3720)

    def test_a_page_without_print_is_looked_at_once(self):
        self.assertEqual(len(list(look.windows(page_with_print([]), net.SIDE))), 1)


class Votes(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(1)
        self.voter = net.Orienter().eval()

    def test_the_sums_are_those_of_the_windows(self):
        x = torch.rand(1, 1, 64, 128)
        with torch.no_grad():
            votes, sums = self.voter(x), net.Counted(self.voter)(x)
        weight = torch.sigmoid(votes[0, 4])
        torch.testing.assert_close(sums[0, 4], weight.sum())
        torch.testing.assert_close(sums[0, 2], (votes[0, 2] * weight).sum())

    def test_twice_the_evidence_is_surer(self):
        sums = torch.tensor([[40.0, 10, 20, 10, 50]])
        once, twice = (net.logits(s).softmax(1)[0, 0].item() for s in (sums, 2 * sums))
        self.assertGreater(twice, once)

    def test_the_network_in_eight_bits_votes_alike_and_can_be_written(self):
        samples = [torch.rand(2, 1, 64, 64) for _ in range(4)]
        counted = net.Counted(self.voter)
        with torch.no_grad():
            before = counted(samples[0])
            counted.voter = quantise(counted.voter, [(s,) for s in samples])
            after = counted(samples[0])
        self.assertLess((after - before).abs().max(), 0.05 * before.abs().max())
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "orient.onnx"
            to_onnx(counted, path, (torch.rand(1, 1, 64, 64),), ["page"], ["votes"])
            onnx.checker.check_model(onnx.load(str(path)))


if __name__ == "__main__":
    unittest.main()
