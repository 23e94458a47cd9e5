"""Trains the flattening network, as training.common.loop says.

python3 -m training.flatten.train training/recipes/flatten.toml --out build/flatten [--resume]
"""

import multiprocessing

import torch

from training.common import loop
from training.flatten.data import maker
from training.flatten.measure import errors
from training.flatten.net import STEP, Flattener

TOLD = 200  # steps from line to line


def loss_of(out, grid, counts):
    e, m = errors(out, grid, counts)
    far = (e * e).sum(1, keepdim=True).add(1e-6).sqrt()
    n = m.sum()
    place = (far * m).sum() / n
    shape = (
        sum(
            (
                torch.diff(e, dim=d).abs()
                * torch.minimum(*(m.narrow(d, k, m.shape[d] - 1) for k in (0, 1)))
            ).sum()
            for d in (2, 3)
        )
        / n
    )
    b = out[:, 2:].clamp(-6, 3)
    doubt = ((far.detach() * torch.exp(-b) + b) * m).sum() / n
    return place + 3 * shape + 0.1 * doubt, place, shape


def train(a):
    torch.set_num_threads(a.threads)
    torch.manual_seed(a.recipe.seed)
    run = loop.begun(a, Flattener().to(memory_format=torch.channels_last))
    queue = multiprocessing.Queue(8)
    makers = [
        multiprocessing.Process(
            target=maker,
            args=([a.recipe.seed, run.step, k], "train", a.recipe.batch, queue),
            daemon=True,
        )
        for k in range(a.processes)
    ]
    for m in makers:
        m.start()

    def learn(*_):
        pictures, grid, counts = (torch.from_numpy(v) for v in queue.get())
        x = (pictures[:, None].float() / 255).contiguous(memory_format=torch.channels_last)
        with torch.autocast("cpu", torch.bfloat16):
            predicted = run.model(x)
        losses = loss_of(predicted.float(), grid, counts)
        losses[0].backward()
        return [loss.item() for loss in losses]

    def tell(means):
        loss, off, shape = means
        return f"loss {loss:.4f}  off {off * STEP:.2f} px  shape {shape * STEP:.3f} px"

    run.go(learn, tell, TOLD)
    for m in makers:
        m.terminate()


def main():
    p = loop.arguments(__doc__)
    p.add_argument("--processes", default=1, type=int, help="that make samples")
    train(p.parse_args())


if __name__ == "__main__":
    main()
