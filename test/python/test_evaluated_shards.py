# SPDX-License-Identifier: Apache-2.0
"""Processes that each evaluate a shard of the samples, and merge what they found, as one process finds it."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import measure
import numpy as np
import pytest

# Most of them run the pipeline.
pytestmark = pytest.mark.alternating

DATA = measure.REPOSITORY / "test" / "data"
DIGITS = DATA / "digits.mlirbc"


@pytest.fixture(scope="module")
def quantized(tools: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    output = tmp_path_factory.mktemp("shards") / "q.mlirbc"
    measure.run_ok(
        measure.ptq_command(
            DIGITS, DATA / "digits_calib.npy", output, target="imx500", input_scale=0.0625, effort="fast"
        )
    )
    return output


@pytest.fixture(scope="module")
def samples() -> tuple[Any, Any]:
    return np.load(DATA / "digits_test.npy"), np.load(DATA / "digits_test_labels.npy")


def run(quantized: Path, *words: Any, metric: str = "top1") -> subprocess.CompletedProcess[str]:
    command = [measure.BIN / "mct-run", quantized, f"--compare={DIGITS}", "--input-scale=0.0625", "--json"]
    return subprocess.run(
        [*map(str, command), f"--metric={metric}", *map(str, words)], capture_output=True, text=True, check=True
    )


def read(printed: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(printed)
    return {name: value for name, value in found.items() if name not in ("seconds", "peak_rss_mb")}


def merge(quantized: Path, images: Any, labels: Any, shards: int, folder: Path, metric: str) -> dict[str, Any]:
    files = []
    for number, (part, right) in enumerate(
        zip(np.array_split(images, shards), np.array_split(labels, shards), strict=True)
    ):
        np.save(folder / "x.npy", part)
        np.save(folder / "y.npy", right)
        files.append(folder / f"{shards}.{number}.json")
        words = [f"--input={folder}/x.npy", f"--labels={folder}/y.npy", f"--shard={number}/{shards}"]
        run(quantized, *words, f"--shards-out={files[-1]}", metric=metric)
    # The files name their shards; their order does not matter.
    return read(run(quantized, f"--shards-in={','.join(map(str, reversed(files)))}", metric=metric).stdout)


@pytest.mark.parametrize("metric", ["top1", pytest.param("retrieval", marks=pytest.mark.thorough)])
def test_any_number_of_shards_and_order_finds_what_one_process_finds(
    quantized: Path, samples: tuple[Any, Any], tmp_path: Path, metric: str
) -> None:
    images, labels = samples
    words = [f"--input={DATA}/digits_test.npy", f"--labels={DATA}/digits_test_labels.npy"]
    whole = read(run(quantized, *words, metric=metric).stdout)
    assert whole["metric"]["samples"] == len(images) and len(whole["points"]) > 5
    order = np.random.default_rng(0).permutation(len(images))
    for shards in (1, 2, 7):
        assert merge(quantized, images[order], labels[order], shards, tmp_path, metric) == whole


def test_sums_of_one_process_do_not_depend_on_the_order_of_the_samples(
    quantized: Path, samples: tuple[Any, Any], tmp_path: Path
) -> None:
    images, labels = (array[::-1] for array in samples)
    np.save(tmp_path / "x.npy", images)
    np.save(tmp_path / "y.npy", labels)
    forwards = run(quantized, f"--input={DATA}/digits_test.npy", f"--labels={DATA}/digits_test_labels.npy")
    backwards = run(quantized, f"--input={tmp_path}/x.npy", f"--labels={tmp_path}/y.npy", "--num-threads=1")
    assert read(forwards.stdout) == read(backwards.stdout)
