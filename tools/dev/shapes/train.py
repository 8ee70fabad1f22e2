# SPDX-License-Identifier: Apache-2.0
"""Trains the detector and the segmentation network of `test/data/shapes` and writes what is stored of them.

    PYTHONPATH=build/python build/importers/torch/bin/python tools/dev/shapes/train.py detector unet

`NAME.npz` has the weights, rounded to float16, `NAME.mlirbc` the network with them as `mct.load` imports it.
Images come from `scenes.py`. The same versions on the same kind of processor give the same files; each takes some
minutes of one.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import networks
import numpy as np
import scenes
import torch
from torch.nn import functional

FOLDER = Path(__file__).resolve().parents[3] / "test" / "data" / "shapes"
IMAGES = 6000
BATCH = 32
LEARNING_RATE = 4e-3
NETWORKS = {"detector": (networks.Detector, 40), "unet": (networks.UNet, 5)}  # with epochs


def shuffled(images: torch.Tensor, boxes: torch.Tensor, classes: torch.Tensor, random: np.random.Generator):
    """Batches of an epoch. Each is mirrored, turned and recoloured at random, which changes no shape."""
    order = torch.from_numpy(random.permutation(len(images)))
    for start in range(0, len(order) - BATCH + 1, BATCH):
        chosen = order[start : start + BATCH]
        batch, places, labels = images[chosen], boxes[chosen].clone(), classes[chosen]
        for axis in range(2):
            if random.integers(2):
                batch, labels = batch.flip(3 - axis), labels.flip(2 - axis)
                places[..., [axis, axis + 2]] = scenes.SIZE - places[..., [axis + 2, axis]]
        if random.integers(2):
            batch, labels, places = batch.transpose(2, 3), labels.transpose(1, 2), places[..., [1, 0, 3, 2, 4]]
        yield batch[:, random.permutation(3).tolist()].contiguous(), places, labels


def overlap(one: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    """Generalized intersection over union of boxes [n, 4] as left, top, right, bottom."""

    def area(boxes):
        return (boxes[:, 2:] - boxes[:, :2]).clamp(min=0).prod(1)

    common = area(torch.cat([torch.maximum(one[:, :2], other[:, :2]), torch.minimum(one[:, 2:], other[:, 2:])], 1))
    around = area(torch.cat([torch.minimum(one[:, :2], other[:, :2]), torch.maximum(one[:, 2:], other[:, 2:])], 1))
    union = area(one) + area(other) - common
    return common / union - (around - union) / around


def detector_loss(network: networks.Detector, images: torch.Tensor, boxes: torch.Tensor, _) -> torch.Tensor:
    """Returns how wrong the cells around the centers of shapes are, and how certain the others."""
    rows = network(images)
    image, shape = torch.nonzero(boxes[..., 4] >= 0, as_tuple=True)
    truth = boxes[image, shape]
    column, line = ((truth[:, :2] + truth[:, 2:4]) / 2 / network.STRIDE).long().clamp(max=7).unbind(1)
    cell = line * (scenes.SIZE // network.STRIDE) + column
    found = rows[image, cell]
    edges = torch.cat([found[:, :2] - found[:, 2:4] / 2, found[:, :2] + found[:, 2:4] / 2], 1)
    score = torch.zeros_like(rows[..., 4:])
    score[image, cell, truth[:, 4].long()] = 1
    certain = functional.binary_cross_entropy(rows[..., 4:], score, reduction="sum")
    return ((1 - overlap(edges, truth[:, :4])).sum() * 3 + certain) / len(truth)


def unet_loss(network: networks.UNet, images: torch.Tensor, _, classes: torch.Tensor) -> torch.Tensor:
    return functional.cross_entropy(network(images), classes.long(), weight=torch.tensor([1.0, 2.0, 2.0, 2.0]))


def train(name: str) -> torch.nn.Module:
    kind, epochs = NETWORKS[name]
    torch.manual_seed(1)
    network = kind()
    loss_of = {"detector": detector_loss, "unet": unet_loss}[name]
    made = [torch.from_numpy(part) for part in scenes.scenes(IMAGES, scenes.TRAINING)]
    random = np.random.default_rng(1)
    optimizer = torch.optim.AdamW(network.parameters(), LEARNING_RATE, weight_decay=1e-3)
    steps = epochs * (IMAGES // BATCH)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, LEARNING_RATE, steps, pct_start=0.1)
    for epoch in range(epochs):
        start, total = time.process_time(), 0.0
        for batch in shuffled(*made, random):
            loss = loss_of(network, *batch)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            total += loss.item()
        mean = total / (IMAGES // BATCH)
        print(
            f"{name}: epoch {epoch + 1} of {epochs}, loss {mean:.4f}, {time.process_time() - start:.0f} s", flush=True
        )
    return network.eval()


def stored(name: str, folder: Path = FOLDER) -> torch.nn.Module:
    """Returns the network with the weights of `NAME.npz`."""
    network = NETWORKS[name][0]()
    with np.load(folder / f"{name}.npz") as weights:
        stored = {key: torch.from_numpy(weights[key].astype(np.float32)) for key in weights}
        network.load_state_dict(stored, strict=False)  # batch norms count batches, which no one reads
    return network.eval()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="+", choices=NETWORKS, help="networks to train")
    parser.add_argument("--import-only", action="store_true", help="write the modules of weights that are stored")
    parser.add_argument("--out", type=Path, default=FOLDER, metavar="FOLDER")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(1)
    import mct

    for name in options.names:
        if not options.import_only:
            weights = {key: value for key, value in train(name).state_dict().items() if "num_batches" not in key}
            np.savez_compressed(
                options.out / f"{name}.npz", **{key: one.half().numpy() for key, one in weights.items()}
            )
        example = torch.zeros(1, 3, scenes.SIZE, scenes.SIZE)
        mct.load(stored(name, options.out), example).save(options.out / f"{name}.mlirbc")


if __name__ == "__main__":
    main()
