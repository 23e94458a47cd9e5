import unittest

import numpy as np
import torch

from training.common import pixel
from training.segment import net
from training.segment.measure import figures_of, tally_of
from training.segment.train import loss_of


class Net(unittest.TestCase):
    def test_the_network_answers_at_the_size_asked(self):
        model = net.Segmenter().eval()
        with torch.no_grad():
            logits = model(torch.rand(1, 12, 48, 80), torch.zeros(1, net.CONTEXT, 3, 5))
        self.assertEqual(logits.shape, (1, 4 * len(pixel.CLASSES), 48, 80))

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
            told = logits[:, pixel.BOTH] - logits[:, pixel.HAND]
            self.assertTrue((told < 0).all() if logits is found[0] else (told > 0).all())
        written = [logits[:, [pixel.HAND, pixel.BOTH]].amax(1) for logits in found]
        self.assertTrue(torch.equal(*written))
        self.assertTrue(torch.equal(found[0][:, :2], found[1][:, :2]))


class Loss(unittest.TestCase):
    def test_unlabelled_pixels_do_not_train(self):
        logits = torch.randn(1, 4, 32, 32, requires_grad=True)
        label = torch.full((1, 32, 32), pixel.IGNORE)
        label[:, 16:] = pixel.PRINT
        loss_of(logits, label)[0].backward()
        self.assertEqual(logits.grad[:, :, :16].abs().sum().item(), 0)
        self.assertGreater(logits.grad[:, :, 16:].abs().sum().item(), 0)

    def test_labels_of_real_pages_ask_for_handwriting_of_either_kind(self):
        label = torch.full((1, 8, 8), pixel.WRITTEN)
        for kind in (pixel.HAND, pixel.BOTH):
            logits = torch.zeros(1, 4, 8, 8)
            logits[:, kind] = 12
            self.assertLess(loss_of(logits, label)[0].item(), 0.5)

    def test_print_that_hides_writing_is_to_stay_and_may_be_written_over(self):
        label = torch.full((1, 8, 8), pixel.PRINTED)
        losses = []
        for kind in range(4):
            logits = torch.zeros(1, 4, 8, 8)
            logits[:, kind] = 12
            losses.append(loss_of(logits, label)[0].item())
        kept, gone = (pixel.PRINT, pixel.BOTH), (pixel.PAPER, pixel.HAND)
        self.assertLess(max(losses[k] for k in kept), min(losses[k] for k in gone))
        self.assertAlmostEqual(losses[pixel.PRINT], losses[pixel.BOTH], places=4)

    def test_what_lies_under_few_strokes_counts(self):
        """One pixel in a hundred of the writing lies over print: to call it bare costs more than
        its share."""
        label = torch.full((1, 10, 10), pixel.HAND)
        label[0, 0, 0] = pixel.BOTH
        bare, right = torch.zeros(1, 4, 10, 10), torch.zeros(1, 4, 10, 10)
        bare[:, pixel.HAND], right[:, pixel.HAND] = 6, 6
        right[0, :, 0, 0] = torch.tensor([0.0, 0, 0, 6])
        difference = loss_of(bare, label)[0] - loss_of(right, label)[0]
        self.assertGreater(difference.item(), 0.1)


class Figures(unittest.TestCase):
    def test_trainings_compare_where_as_much_print_is_lost(self):
        """Moving all answers by a constant moves what is missed and what is lost, and not what is
        missed alike."""
        rng = np.random.default_rng(1)
        label = np.where(np.arange(40000).reshape(200, 200) % 2, pixel.WRITTEN, pixel.PRINT)
        logits = np.zeros((4, 200, 200), np.float32)
        logits[pixel.HAND] = np.where(label == pixel.WRITTEN, 1.5, -1.5) + rng.normal(
            0, 1, label.shape
        )
        lax = figures_of([tally_of(logits + np.array([0, 0, 1, -9]).reshape(4, 1, 1), label)])
        strict = figures_of([tally_of(logits + np.array([0, 0, -1, -9]).reshape(4, 1, 1), label)])
        self.assertLess(lax["hand_missed"], strict["hand_missed"])
        self.assertGreater(lax["print_lost"], strict["print_lost"])
        self.assertAlmostEqual(lax["missed_alike"], strict["missed_alike"], places=2)


if __name__ == "__main__":
    unittest.main()
