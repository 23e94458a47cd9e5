"""The flattening network: how bent sheets are drawn for it, and what its grid says.

python3 -m unittest training.flatten.test_flatten
"""

import json
import os
import tempfile
import unittest
from dataclasses import asdict
from pathlib import Path
from unittest import mock

import cv2
import numpy as np
import onnx
import torch

from training.common import real
from training.common.quantise import quantise, to_onnx
from training.flatten import data, measure, net
from training.flatten.sheet import Sheet


def crosses():
    """A page with a black square in the middle of every 80 pixels."""
    page = np.full((800, 560), 255, np.uint8)
    for y in range(40, 800, 80):
        for x in range(40, 560, 80):
            page[y - 12 : y + 12, x - 12 : x + 12] = 0
    return page


def middles(picture):
    """Where whole squares of a picture are: float [N, 2]."""
    ink = cv2.GaussianBlur(picture, (0, 0), 0.7) < 0.55 * np.median(picture)
    _, _, stats, middle = cv2.connectedComponentsWithStats(ink.astype(np.uint8))
    area = stats[:, cv2.CC_STAT_AREA]
    return middle[(area > 40) & (area < 400)]


class Sheets(unittest.TestCase):
    def test_points_are_found_again(self):
        rng = np.random.default_rng(1)
        u, v = np.meshgrid(np.linspace(-0.6, 0.6, 7), np.linspace(-0.9, 0.9, 9))
        for _ in range(40):
            body = Sheet(
                across=lambda s: 0.4 * np.sin(2 * s),
                axis=rng.normal(0, 20),
                turn=rng.normal(0, 5),
                tilt=rng.normal(0, 10, 2),
                distance=3,
            )
            x, y = body.place(u, v)
            np.testing.assert_allclose(body.back(x, y), np.stack([u, v]), atol=1e-4)

    def test_bending_does_not_stretch(self):
        body = Sheet(across=lambda s: 0.5 * np.cos(3 * s))
        s = np.linspace(-0.8, 0.8, 2000)
        path = body.space(s, 0 * s)
        self.assertAlmostEqual(np.linalg.norm(np.diff(path, axis=1), axis=0).sum(), 1.6, places=2)


class Samples(unittest.TestCase):
    def test_the_grid_makes_the_picture_flat(self):
        page = crosses()
        for body in (
            Sheet(across=lambda s: 0.5 * np.sin(2.5 * s), tilt=(12, 0), distance=2.5),
            Sheet(tilt=(14, -12), turn=5, distance=2.5),
        ):
            rng, shot = np.random.default_rng(4), None
            while shot is None or shot[0].std() < 30:  # some are drawn too faint to be measured
                shot = data.drawn(rng, page, body)
            flat = data.flat(*shot[:2])
            at = middles(flat)
            apart = at[None] - at[:, None]
            pitch = np.sort(np.linalg.norm(apart, axis=2), 1)[:, 1].mean()
            right, below = (
                (np.abs(apart[..., k] - pitch) < 0.3 * pitch)
                & (np.abs(apart[..., 1 - k]) < 0.3 * pitch)
                for k in (0, 1)
            )
            self.assertGreater(right.sum() + below.sum(), 80)
            self.assertLess(np.abs(apart[right][:, 1]).mean(), 0.4)
            self.assertLess(np.abs(apart[below][:, 0]).mean(), 0.4)


class Pages(unittest.TestCase):
    def test_real_pages_are_bent_that_were_never_on_paper_or_are_clean(self):
        with (
            tempfile.TemporaryDirectory() as folder,
            mock.patch.dict(os.environ, UNINK_DATA=folder),
        ):
            drawn, found = Path(folder) / "pages" / "train", Path(folder) / "real"
            drawn.mkdir(parents=True)
            found.mkdir()
            (drawn / "page.json").write_text("{}")
            sources = []
            for k, (path, label, digital) in enumerate(
                (
                    (drawn / "page.png", None, False),
                    (found / "clean.png", "", False),
                    (found / "photo.png", "photo.label.png", False),
                    (found / "slides.png", "slides.label.png", True),
                )
            ):
                cv2.imwrite(str(path), np.full((1600, 1200), 50 * k, np.uint8))
                if label is not None:
                    sources.append(
                        asdict(real.Source(str(path), label, 24, 5, 0, "train", digital=digital))
                    )
            (found / "index.json").write_text(json.dumps(sources))
            pages = data.pages("train")
        self.assertEqual([int(page[0, 0]) for page in pages], [0, 50, 150])
        for page in pages:
            self.assertEqual(page.shape, (data.FINE * net.HEIGHT, 624))


class Network(unittest.TestCase):
    def test_slopes_add_up_to_places(self):
        ys, xs = np.mgrid[0 : net.ROWS, 0 : net.COLUMNS].astype(np.float32)
        places = 0.01 * xs * xs + 0.02 * xs * ys
        slopes = torch.from_numpy(
            np.concatenate([(0.02 * xs + 0.02 * ys).ravel(), (0.02 * xs).ravel()])
        )
        found = (slopes @ net.integral()).numpy().reshape(places.shape)
        np.testing.assert_allclose(found, places - places.mean(), atol=1e-4)

    def test_the_place_and_the_size_of_a_page_are_no_errors(self):
        ys, xs = torch.meshgrid(
            torch.arange(net.ROWS).float(), torch.arange(net.COLUMNS).float(), indexing="ij"
        )
        grid, counts = (
            torch.zeros(1, 2, net.ROWS, net.COLUMNS),
            torch.ones(1, net.ROWS, net.COLUMNS, dtype=torch.bool),
        )
        moved = torch.stack([0.3 + 0.1 * xs, 0.1 * ys - 2, 0 * xs])[None]
        self.assertLess(measure.errors(moved, grid, counts)[0].abs().max(), 1e-4)
        turned = torch.stack([-0.1 * ys, 0.1 * xs, 0 * xs])[None]
        self.assertGreater(measure.errors(turned, grid, counts)[0].abs().max(), 0.5)

    def test_the_network_in_eight_bits_sees_alike_and_can_be_written(self):
        torch.manual_seed(1)
        model = net.Flattener().eval()
        torch.nn.init.normal_(model.slopes.weight, std=0.02)
        samples = [torch.rand(2, 1, net.HEIGHT, net.WIDTH) for _ in range(2)]
        with torch.no_grad():
            before = model(samples[0])
            rounded = quantise(model, [(s,) for s in samples])
            after = rounded(samples[0])
        self.assertLess((after - before).abs().max(), 0.05 * before.abs().max())
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "flatten.onnx"
            to_onnx(rounded, path, (samples[0][:1],), ["page"], ["grid"])
            onnx.checker.check_model(onnx.load(str(path)))


if __name__ == "__main__":
    unittest.main()
