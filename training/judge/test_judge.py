"""The judge of regions: what it answers does not hang on how its regions are listed."""

import unittest

import numpy as np
import torch

from training.judge import net, train


def page(rng, n):
    regions = torch.from_numpy(rng.normal(0, 0.5, (n, net.TRAITS)).astype(np.float32))
    regions[:, 0] = 1
    near = torch.from_numpy(rng.integers(0, n, (n, net.NEAR)).astype(np.float32))
    bonds = torch.from_numpy(rng.normal(0, 0.5, (n, net.NEAR, net.BOND_TRAITS)).astype(np.float32))
    bonds[..., 0] = torch.from_numpy(rng.integers(0, 2, (n, net.NEAR)).astype(np.float32))
    return regions, near, bonds


def trained():
    torch.manual_seed(1)
    model = net.Judge()
    torch.nn.init.normal_(model.answer[1].weight)
    return model.eval()


class TestJudge(unittest.TestCase):
    def test_begins_with_the_segmenters_word(self):
        regions, near, bonds = page(np.random.default_rng(1), 40)
        odds = net.Judge()(regions, near, bonds)
        clear = regions[:, net.HAND].abs() > 0.15
        self.assertTrue(torch.equal((odds > 0)[clear], (regions[:, net.HAND] > 0)[clear]))

    def test_where_nobody_seems_to_have_written_regions_must_be_surer(self):
        model, regions = trained(), page(np.random.default_rng(4), 40)

        def odds_if(page_odds):
            model.page.think[2].bias.fill_(page_odds)
            return model(*regions)

        with torch.no_grad():
            written, doubtful = odds_if(3.0), odds_if(-3.0)
        self.assertLess((written - doubtful - 3).abs().max(), 1e-4)

    def test_padding_changes_nothing(self):
        model, (regions, near, bonds) = trained(), page(np.random.default_rng(2), 40)
        more = lambda t: torch.cat([t, torch.zeros(24, *t.shape[1:])])
        with torch.no_grad():
            alone, padded = (
                model(regions, near, bonds),
                model(more(regions), more(near), more(bonds))[:40],
            )
        self.assertLess((alone - padded).abs().max(), 1e-4)

    def test_order_changes_nothing(self):
        rng = np.random.default_rng(3)
        model, (regions, near, bonds) = trained(), page(rng, 40)
        order = torch.from_numpy(rng.permutation(40))
        place = torch.empty_like(order)
        place[order] = torch.arange(40)
        with torch.no_grad():
            as_listed = model(regions, near, bonds)
            shuffled = model(regions[order], place[near.long()][order].float(), bonds[order])
        self.assertLess((as_listed[order] - shuffled).abs().max(), 1e-4)

    def test_every_page_counts_the_same(self):
        known = torch.tensor([[5000.0, 0], [0, 800]])
        odds, page = torch.tensor([-2.0, 1.0]), torch.tensor([3.0])
        once, ten_times = train.loss_of(odds, page, known), train.loss_of(odds, page, 10 * known)
        self.assertAlmostEqual(float(once), float(ten_times), places=4)
        self.assertGreater(float(train.loss_of(-odds, page, known)), float(once))
        self.assertGreater(float(train.loss_of(odds, -page, known)), float(once))

    def test_print_lost_weighs_more_than_writing_left(self):
        known, sure = torch.tensor([[500.0, 0], [0, 500]]), torch.tensor([3.0])
        as_writing = train.loss_of(torch.tensor([2.0, 2.0]), sure, known)
        as_print = train.loss_of(torch.tensor([-2.0, -2.0]), sure, known)
        self.assertGreater(float(as_writing), float(as_print))

    def test_one_small_region_spoils_a_page_that_nobody_wrote_on(self):
        known, page_odds = torch.tensor([[9000.0, 0], [1, 0]]), torch.tensor([-3.0])
        of_last = lambda odds: float(train.loss_of(torch.tensor([-9.0, odds]), page_odds, known))
        by_area = train.PRINT_WEIGHT * 12 / 9001
        self.assertGreater(of_last(6.0) - of_last(-6.0), 0.5 + by_area)


if __name__ == "__main__":
    unittest.main()
