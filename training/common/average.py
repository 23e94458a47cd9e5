"""The mean of checkpoints whose trainings began with the same weights, which often does
better than each of them on pages that none has seen (Wortsman et al., 2022, model soups).

    python3 -m training.common.average A.pt B.pt ... --out C.pt

A checkpoint named twice counts twice.
"""

import argparse

import torch


def average(states):
    """states: as the trainings write them, with their weights under "ema", the judge's under
    "state"."""
    name = "ema" if "ema" in states[0] else "state"
    mean = {k: sum(s[name][k].float() for s in states) / len(states) for k in states[0][name]}
    return {
        name: mean,
        "windows": sum(s.get("windows", 0) for s in states),
        "version": max(s["version"] for s in states),
    }


def main():
    p = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    p.add_argument("checkpoints", nargs="+")
    p.add_argument("--out", required=True)
    a = p.parse_args()
    torch.save(average([torch.load(path, map_location="cpu") for path in a.checkpoints]), a.out)


if __name__ == "__main__":
    main()
