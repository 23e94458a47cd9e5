import json
import os
import random
import subprocess
import sys
import tempfile
import unittest
from dataclasses import asdict
from pathlib import Path
from unittest import mock

import cv2
import numpy as np
import torch

from training.common import pixel, real
from training.segment.data import Ahead, Hardness, Material
from training.segment.train import Run, forget_after, recipe_of

RECIPE = """
begin = ""
seed = 3
crop = 64
pages = 1
windows = 2
overview = 0.0
segmenter = 1.2e-3
under = 1.2e-3
warmup = 20
constant = 300
decay = 100
averaging = 0.9
blind = 0.2

[shares]
real = 1.0
written = 0.6
laid = 0.5
laid_over = 0.5
sheets = 0.5
doubtful = 0.5
rendered = 0.5
crossed = 0.2
"""


def pages(folder, repos=("a", "a", "a", "b")):
    """Pages of print with a written word each, and as many without, as training.common.real leaves
    them."""
    rng, found = np.random.default_rng(1), []
    (folder / "real").mkdir(parents=True)
    for i, repo in enumerate(repos):
        image, label = np.full((300, 260, 3), 250, np.uint8), np.zeros((300, 260), np.uint8)
        for y in range(20, 200, 30):
            for x in range(10, 240, 14):
                h = int(rng.integers(8, 14))
                image[y : y + h, x : x + 9], label[y : y + h, x : x + 9] = 20, pixel.PRINT
        for name, hand in (("clean", False), ("written", True)):
            if hand:
                line = np.zeros(label.shape, np.uint8)
                points = [(30, 250 + i), (80, 230), (120, 260), (200, 240)]
                cv2.polylines(line, [np.array(points)], False, 1, 3)
                image, label = image.copy(), label.copy()
                image[line > 0], label[line > 0] = (20, 30, 160), pixel.WRITTEN
            path, told = (folder / "real" / f"{i}.{name}.{end}.png" for end in ("image", "label"))
            cv2.imwrite(str(path), image[..., ::-1])
            cv2.imwrite(str(told), label)
            found.append(
                real.Source(str(path), str(told), 14, 5, 0.01 if hand else 0.0, "train", repo)
            )
    (folder / "real" / "index.json").write_text(json.dumps([asdict(s) for s in found]))


def trainer(folder, out, *more):
    """The trainer on the pages of the folder, as a process."""
    command = [
        sys.executable,
        "-m",
        "training.segment.train",
        str(folder / "recipe.toml"),
        "--out",
        str(out),
        "--every",
        "0.01",
        "--measure",
        "1000000",
        "--processes",
        "1",
        *more,
    ]
    return subprocess.Popen(
        command,
        env={**os.environ, "UNINK_DATA": str(folder)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


class Stopped(unittest.TestCase):
    def test_a_run_killed_five_times_goes_on_to_the_same_curve(self):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            pages(folder)
            (folder / "recipe.toml").write_text(RECIPE)
            whole, broken = folder / "whole", folder / "broken"
            _, errors = trainer(folder, whole).communicate(timeout=600)
            self.assertTrue((whole / "weights.pt").exists(), errors)

            kills, rng = 0, random.Random(7)
            while not (broken / "weights.pt").exists():
                resume = ["--resume"] if (broken / "state.pt").exists() else []
                process = trainer(folder, broken, *resume)
                try:
                    _, errors = process.communicate(
                        timeout=rng.uniform(4, 12) if kills < 5 else 600
                    )
                    self.assertEqual(process.returncode, 0, errors)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.communicate()
                    kills += 1

            self.assertGreater(kills, 0)
            curves = [
                [
                    {k: v for k, v in json.loads(line).items() if k != "speed"}
                    for line in (out / "curve.jsonl").read_text().splitlines()
                ]
                for out in (whole, broken)
            ]
            self.assertEqual(*curves)
            states = [torch.load(out / "state.pt", weights_only=False) for out in (whole, broken)]
            for key in states[0]["mean"]:
                self.assertTrue(torch.equal(states[0]["mean"][key], states[1]["mean"][key]), key)

    def test_a_run_is_not_begun_over_another(self):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "run").mkdir()
            (folder / "run" / "state.pt").touch()
            _, errors = trainer(folder, folder / "run").communicate(timeout=600)
            self.assertIn("--resume", errors)

    def test_what_came_after_the_state_leaves_the_curve(self):
        with tempfile.TemporaryDirectory() as name:
            path = Path(name) / "curve.jsonl"
            path.write_text("".join(json.dumps({"windows": n}) + "\n" for n in (100, 200, 300)))
            forget_after(path, 200)
            self.assertEqual(
                [json.loads(line)["windows"] for line in path.read_text().splitlines()], [100, 200]
            )


class Fixed(unittest.TestCase):
    def test_what_has_no_rate_stays_as_it_is(self):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            pages(folder)
            (folder / "recipe.toml").write_text(
                RECIPE.replace("segmenter = 1.2e-3", "segmenter = 0")
            )
            with mock.patch.dict(os.environ, {"UNINK_DATA": name}):
                ahead = Ahead(recipe_of(folder / "recipe.toml"), 0, 1)
                run = Run(ahead.recipe, folder / "run", ahead)
                before = {k: v.clone() for k, v in run.model.state_dict().items()}
                ahead.ask(0, np.ones(len(ahead.material.sources)))
                run.learn(*ahead.batch(0))
                ahead.stop()
            changed = {k for k, v in run.model.state_dict().items() if not v.equal(before[k])}
            self.assertTrue(changed)
            self.assertEqual([k for k in changed if not k.startswith("segmenter.under.")], [])


class Chosen(unittest.TestCase):
    def test_repositories_share_what_they_are_shown(self):
        with tempfile.TemporaryDirectory() as name:
            pages(Path(name), ("a",) * 9 + ("b",))
            with mock.patch.dict(os.environ, {"UNINK_DATA": name}):
                material = Material({"sheets": 1, "doubtful": 1, "rendered": 1})
            odds = {}
            for source, share in zip(material.sources, material.odds[True]):
                odds[source.repo] = odds.get(source.repo, 0) + share
            self.assertAlmostEqual(odds["a"] / odds["b"], 3)

    def test_a_page_is_the_same_whoever_makes_it(self):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            pages(folder)
            (folder / "recipe.toml").write_text(RECIPE)
            made = []
            with mock.patch.dict(os.environ, {"UNINK_DATA": name}):
                for processes in (0, 2):
                    ahead = Ahead(recipe_of(folder / "recipe.toml"), 0, 1, processes)
                    ahead.ask(5, np.ones(len(ahead.material.sources)))
                    made.append(ahead.batch(5))
                    ahead.stop()
            self.assertEqual(made[0][1], made[1][1])
            for one, other in zip(made[0][0], made[1][0]):
                self.assertTrue(np.array_equal(one, other))

    def test_a_run_goes_on_with_pages_made_more_steps_ahead(self):
        before, after = Hardness(2, 2), Hardness(2, 4)
        before.note([0, 1], [0.9, 0.1])
        after.go_on(vars(before))
        self.assertEqual(
            [odds.tolist() for odds in after.shown[:2]], [odds.tolist() for odds in before.shown]
        )
        self.assertEqual(len(after.shown), 4)

    def test_hard_pages_are_shown_more_often_two_steps_later(self):
        hard = Hardness(3, 2)
        hard.note([0, 1, -1], [0.9, 0.1, 5])
        self.assertEqual(hard.shown[0].tolist(), [1, 1, 1])
        self.assertGreater(hard.shown[1][0], hard.shown[1][1])
        self.assertEqual(hard.shown[1][2], 1)


if __name__ == "__main__":
    unittest.main()
