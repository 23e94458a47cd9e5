"""Makes a benchmark of real pairs: printed pages that nobody wrote on, and the same with the
writing of a real page laid on them, so that what lies under each stroke is known. Both are held
out from training (training.common.real).

    python3 -m training.segment.pairs --out DIR [--count 28] [--seed 7]
    make bench-quality DIR=DIR

The files are those of training.segment.benchmark. They show others' pages: they are for measuring,
and are not kept in the repository.
"""

import argparse
from pathlib import Path

import numpy as np

from training.common import pixel, real, views
from training.segment import benchmark

LEAST = 0.002  # share of a pair's pixels that are written


def pairs(seed, count):
    """Pictures with and without writing, their labels, and their ruled lines, of which none is
    known."""
    sources = real.sources("val")
    printed = [s for s in sources if s.hand == 0]
    written = [s for s in sources if s.hand > 0 and s.trust > real.DOUBTFUL and not s.digital]
    rng = np.random.default_rng(seed)
    while count > 0:
        page, other = (of[int(rng.integers(len(of)))] for of in (printed, written))
        clean, label = views.sized(rng, page)
        image, label = views.transplanted(rng, clean, label, *views.sized(rng, other))
        if np.isin(label, pixel.HANDS).mean() > LEAST:
            count -= 1
            known = np.where(np.isin(label, (pixel.WRITTEN, pixel.PRINTED)), pixel.IGNORE, label)
            yield image, clean, known, np.zeros_like(label)


def main():
    p = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    p.add_argument("--out", required=True, type=Path)
    p.add_argument("--count", default=28, type=int)
    p.add_argument("--seed", default=7, type=int)
    a = p.parse_args()
    benchmark.store(a.out, pairs(a.seed, a.count))


if __name__ == "__main__":
    main()
