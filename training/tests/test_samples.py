import unittest

import cv2
import numpy as np
import torch

from training import capture, net, scene
from training.average import average
from training.data import decode, encode
from training.train import figures_of, loss_of, tally_of


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
        self.assertEqual(lab[30, 30], net.HAND)
        self.assertEqual(lab[100, 100], net.BOTH)
        self.assertEqual(lab[100, 30], net.PRINT)
        self.assertEqual(lab[10, 150], net.PAPER)

    def test_nothing_written_gives_no_handwriting(self):
        page = np.full((200, 200, 3), 255, np.uint8)
        page[95:105, 20:180] = 90
        lab = scene.labels(page, np.full_like(page, 255))
        self.assertEqual(set(np.unique(lab)), {net.PAPER, net.PRINT})

    def test_what_the_capture_hides_has_no_label(self):
        ink = stroke()
        lab = scene.labels(np.full_like(ink, 255), ink)
        hidden = scene.forget_invisible(np.full_like(ink, 240), lab.copy())
        self.assertNotIn(net.HAND, hidden)
        seen = scene.forget_invisible(ink, lab.copy())
        self.assertEqual((seen == net.HAND).sum(), (lab == net.HAND).sum())

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


class Training(unittest.TestCase):
    def test_a_sample_survives_its_shard(self):
        rng = np.random.default_rng(1)
        label = rng.integers(0, 4, (64, 64)).astype(np.uint8)
        image, back = decode(encode(rng, np.full((64, 64, 3), 200, np.uint8), label))
        np.testing.assert_array_equal(back, label)
        self.assertLess(np.abs(image.astype(int) - 200).max(), 4)

    def test_unlabelled_pixels_do_not_train(self):
        logits = torch.randn(1, 4, 32, 32, requires_grad=True)
        label = torch.full((1, 32, 32), net.IGNORE)
        label[:, 16:] = net.PRINT
        loss_of(logits, label)[0].backward()
        self.assertEqual(logits.grad[:, :, :16].abs().sum().item(), 0)
        self.assertGreater(logits.grad[:, :, 16:].abs().sum().item(), 0)

    def test_the_network_answers_at_the_size_asked(self):
        model = net.Segmenter().eval()
        with torch.no_grad():
            logits = model(torch.rand(1, 12, 48, 80), torch.zeros(1, net.CONTEXT, 3, 5))
        self.assertEqual(logits.shape, (1, 4 * len(net.CLASSES), 48, 80))

    def test_labels_of_real_pages_ask_for_handwriting_of_either_kind(self):
        label = torch.full((1, 8, 8), net.WRITTEN)
        for kind in (net.HAND, net.BOTH):
            logits = torch.zeros(1, 4, 8, 8)
            logits[:, kind] = 12
            self.assertLess(loss_of(logits, label)[0].item(), 0.5)

    def test_print_that_hides_writing_is_to_stay_and_may_be_written_over(self):
        label = torch.full((1, 8, 8), net.PRINTED)
        losses = []
        for kind in range(4):
            logits = torch.zeros(1, 4, 8, 8)
            logits[:, kind] = 12
            losses.append(loss_of(logits, label)[0].item())
        kept, gone = (net.PRINT, net.BOTH), (net.PAPER, net.HAND)
        self.assertLess(max(losses[k] for k in kept), min(losses[k] for k in gone))
        self.assertAlmostEqual(losses[net.PRINT], losses[net.BOTH], places=4)

    def test_what_lies_under_few_strokes_counts(self):
        """One pixel in a hundred of the writing lies over print: to call it bare costs more than
        its share."""
        label = torch.full((1, 10, 10), net.HAND)
        label[0, 0, 0] = net.BOTH
        bare, right = torch.zeros(1, 4, 10, 10), torch.zeros(1, 4, 10, 10)
        bare[:, net.HAND], right[:, net.HAND] = 6, 6
        right[0, :, 0, 0] = torch.tensor([0.0, 0, 0, 6])
        difference = loss_of(bare, label)[0] - loss_of(right, label)[0]
        self.assertGreater(difference.item(), 0.1)

    def test_trainings_compare_where_as_much_print_is_lost(self):
        """Moving all answers by a constant moves what is missed and what is lost, and not what is
        missed alike."""
        rng = np.random.default_rng(1)
        label = np.where(np.arange(40000).reshape(200, 200) % 2, net.WRITTEN, net.PRINT)
        logits = np.zeros((4, 200, 200), np.float32)
        logits[net.HAND] = np.where(label == net.WRITTEN, 1.5, -1.5) + rng.normal(0, 1, label.shape)
        lax = figures_of([tally_of(logits + np.array([0, 0, 1, -9]).reshape(4, 1, 1), label)])
        strict = figures_of([tally_of(logits + np.array([0, 0, -1, -9]).reshape(4, 1, 1), label)])
        self.assertLess(lax["hand_missed"], strict["hand_missed"])
        self.assertGreater(lax["print_lost"], strict["print_lost"])
        self.assertAlmostEqual(lax["missed_alike"], strict["missed_alike"], places=2)

    def test_what_lies_under_writing_does_not_change_what_is_written(self):
        torch.manual_seed(1)
        segmenter = net.Segmenter().eval()
        image, context = torch.rand(1, 12, 32, 32), torch.zeros(1, net.CONTEXT, 2, 2)
        with torch.no_grad():
            found = []
            for odds in (-5.0, 5.0):
                segmenter.under.head.bias.fill_(odds)
                found.append(torch.nn.functional.pixel_shuffle(segmenter(image, context), 2))
        for logits in found:
            told = logits[:, net.BOTH] - logits[:, net.HAND]
            self.assertTrue((told < 0).all() if logits is found[0] else (told > 0).all())
        written = [logits[:, [net.HAND, net.BOTH]].amax(1) for logits in found]
        self.assertTrue(torch.equal(*written))
        self.assertTrue(torch.equal(found[0][:, :2], found[1][:, :2]))

    def test_weights_are_learned_as_they_are_rounded(self):
        conv = net.Conv(3, 4, 3)
        levels = lambda w: torch.tensor([len(c.unique()) for c in w])
        rounded = net.rounded(conv.weight)
        self.assertTrue((levels(rounded) <= 2 * net.WEIGHT_LEVELS + 1).all())
        image = torch.rand(1, 3, 8, 8)
        self.assertTrue(
            torch.allclose(
                conv.train()(image), torch.nn.functional.conv2d(image, rounded, conv.bias)
            )
        )
        conv(image).sum().backward()
        self.assertGreater(conv.weight.grad.abs().sum().item(), 0)

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
