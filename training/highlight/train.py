"""Learns what tells a highlighter's strokes from other tints, printed or written: a logistic
regression on the traits that the engine sees of a tint, and on their products.

    python3 -m training.highlight.train TINTS --val TINTS    to internal/restore/highlight
"""

import argparse
import json
from pathlib import Path

import numpy as np

from training.highlight import data

WEIGHTS = Path(__file__).parents[2] / "internal/restore/highlight/weights.json"
FARTHEST = 3  # deviations from the mean; beyond, traits say no more
PENALTY = 5.0  # on the squares of the weights
STEPS = 30  # of Newton's method
COST = 5  # of lifting another tint, in strokes that stay


def features(traits, mean, deviation):
    """Traits on one scale, and their products, in the order in which the engine adds them."""
    z = np.clip((traits - mean) / deviation, -FARTHEST, FARTHEST)
    i, j = np.triu_indices(z.shape[1])
    return np.hstack([z, z[:, i] * z[:, j]])


def fit(traits, struck):
    """The regression: above 0 a tint is lifted."""
    mean, deviation = traits.mean(0), traits.std(0)
    x = features(traits, mean, deviation)
    x = np.hstack([x, np.ones((len(x), 1))])
    penalty = PENALTY * np.append(np.ones(x.shape[1] - 1), 0)
    weights = np.zeros(x.shape[1])
    for _ in range(STEPS):
        p = 1 / (1 + np.exp(-(x @ weights)))
        slope = x.T @ (p - struck) + penalty * weights
        bend = (x.T * (p * (1 - p))) @ x + np.diag(penalty + 1e-9)
        weights -= np.linalg.solve(bend, slope)
    return {
        "mean": mean,
        "deviation": deviation,
        "weights": weights[:-1],
        "bias": weights[-1] - np.log(COST),
    }


def tally(traits, struck, found):
    """How many strokes there are and are lifted, and how many others."""
    x = features(traits, found["mean"], found["deviation"])
    lifted = x @ found["weights"] + found["bias"] > 0
    return tuple(int(v.sum()) for v in (struck, lifted & struck, ~struck, lifted & ~struck))


def main():
    p = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    p.add_argument("tints", nargs="+")
    p.add_argument("--val", required=True)
    p.add_argument("--out", default=WEIGHTS, type=Path)
    a = p.parse_args()
    parts = [data.read(path) for path in a.tints]
    traits, struck = (np.concatenate([part[i] for part in parts]) for i in (0, 1))
    found = fit(traits, struck)
    print("strokes, of these lifted, others, of these lifted")
    print("training", *tally(traits, struck, found))
    print("held out", *tally(*data.read(a.val)[:2], found))
    rounded = {name: np.round(value, 4).tolist() for name, value in found.items()}
    a.out.write_text(json.dumps({"traits": parts[0][2], **rounded}, indent=1) + "\n")


if __name__ == "__main__":
    main()
