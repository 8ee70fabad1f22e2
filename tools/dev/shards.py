#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures what shards of samples cost, and simulates many of them.

    build/venv/bin/python tools/dev/shards.py measure     # ResNet8 on 10 000 images, in one process and as two shards
    build/venv/bin/python tools/dev/shards.py simulate    # 10^9 samples on 1000 workers, some slow, some dying

Prints tables in Markdown. `measure` needs the built tools and ../shared (see measure.py), and counts processor time, so
that other programs on the machine matter little. `simulate` needs nothing but Python: its numbers are those of
`Costs`, which `measure` has found, and a random generator with a fixed seed.
"""

from __future__ import annotations

import argparse
import heapq
import random
import resource
import subprocess
import tempfile
import zlib
from dataclasses import dataclass
from pathlib import Path

# ----------------------------------------------------------------------------------------------------------------------
# Measurements
# ----------------------------------------------------------------------------------------------------------------------

BUDGET = "budget=weights:50%"
REPETITIONS = 2


def _seconds(command: list[str]) -> float:
    """Runs a command several times, and returns its processor seconds: the fewest, as other programs only add some."""
    least = float("inf")
    for _ in range(REPETITIONS):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        finished = subprocess.run(command, capture_output=True, text=True, check=False)
        if finished.returncode != 0:
            raise RuntimeError(f"{' '.join(command)}\n{finished.stderr}")
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        least = min(least, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return least


@dataclass
class Round:
    kind: str
    seconds: list[float]
    sizes: list[int]
    compressed: list[int]


def measure_rounds(folder: Path, shards: int, options: str) -> list[Round]:
    """The rounds of one network on so many shards, one thread each, until a module is there."""
    import json

    import corrections
    import measure
    import numpy as np

    images = np.load(corrections.DATA / "cifar10" / "train_images.npy", mmap_mode="r")
    model = str(corrections.RESNET8["model"])
    tool = str(measure.BIN / "mct-opt")
    settings = f"target=imx500 {options} threads=1"
    for number, part in enumerate(np.array_split(images, shards)):
        np.save(folder / f"{number}.npy", part)
    files: list[str] = []
    rounds: list[Round] = []
    while True:
        added = []
        seconds = []
        for number in range(shards):
            added.append(str(folder / f"{len(rounds)}.{number}.json"))
            known = f"shards-in={','.join(files)}" if files else ""
            shard = f"calibration-data={folder}/{number}.npy shard={number}/{shards} shards-out={added[-1]}"
            seconds.append(_seconds([tool, model, f"--mct-ptq={settings} {shard} {known}", "-o", "/dev/null"]))
        contents = [Path(path).read_bytes() for path in added]
        kind = json.loads(contents[0])["parts"][0]["kind"]
        compressed = [len(zlib.compress(content, 1)) for content in contents]
        rounds.append(Round(kind, seconds, [len(content) for content in contents], compressed))
        files += added
        request = folder / f"asked{len(rounds)}.json"
        known = f"shards-in={','.join(files)} shards-out={request}"
        command = [tool, model, f"--mct-ptq={settings} {known}", "-o", str(folder / "q.mlirbc")]
        finished = subprocess.run(command, capture_output=True, text=True, check=False)
        if finished.returncode == 0:
            return rounds
        if finished.returncode != 3:
            raise RuntimeError(finished.stderr)


def measure_evaluation(one: Path, two: Path) -> tuple[Round, Round]:
    """The evaluation of the network that `measure_rounds` has made, beside the float one."""
    import corrections
    import measure

    found = []
    for folder, shards in ((one, 1), (two, 2)):
        seconds, sizes, compressed = [], [], []
        for number in range(shards):
            file = folder / f"evaluation.{number}.json"
            command = [str(measure.BIN / "mct-run"), str(one / "q.mlirbc"), f"--compare={corrections.RESNET8['model']}"]
            command += [f"--input={folder}/{number}.npy", "--num-threads=1", f"--shards-out={file}"]
            seconds.append(_seconds([*command, f"--shard={number}/{shards}"]))
            sizes.append(file.stat().st_size)
            compressed.append(len(zlib.compress(file.read_bytes(), 1)))
        found.append(Round("evaluation", seconds, sizes, compressed))
    return found[0], found[1]


def measure_merge(folder: Path, files: int) -> float:
    """Seconds that merging so many files of calibration takes, those of `measure_rounds` under other numbers."""
    import measure

    source = (folder / "0.0.json").read_text()
    (folder / "empty.mlir").write_text("module {\n}\n")
    paths = []
    for number in range(files):
        paths.append(folder / f"copy{number}.json")
        renumbered = source.replace('"shards":[0]', f'"shards":[{number}]')
        paths[-1].write_text(renumbered.replace('"of":2', f'"of":{files}'))
    options = f"shards-in={','.join(map(str, paths))} shards-out={folder}/merged.json"
    command = [str(measure.BIN / "mct-opt"), str(folder / "empty.mlir"), f"--mct-merge-shards={options}"]
    return _seconds([*command, "-o", "/dev/null"])


def measure_all() -> None:
    print("| round | one process, CPU s | two shards, CPU s | ratio | bytes of a shard | compressed |")
    print("|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as two:
        alone = measure_rounds(Path(one), 1, BUDGET)
        both = measure_rounds(Path(two), 2, BUDGET)
        evaluated = measure_evaluation(Path(one), Path(two))
        for single, pair in [*zip(alone, both, strict=True), evaluated]:
            ratio = single.seconds[0] / max(pair.seconds)
            seconds = ", ".join(f"{each:.2f}" for each in pair.seconds)
            print(
                f"| {single.kind} | {single.seconds[0]:.2f} | {seconds} | {ratio:.2f} | {max(pair.sizes):,} | "
                f"{max(pair.compressed):,} |"
            )
        print()
        for files in (2, 32):
            print(f"{files} files of calibration are merged in {measure_merge(Path(two), files):.2f} CPU s")


# ----------------------------------------------------------------------------------------------------------------------
# Simulation
# ----------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Costs:
    """Seconds and bytes of ResNet8, as `measure` has found them on one core of this machine."""

    sample: float = 0.00027
    start: float = 0.35
    file_bytes: int = 231_174
    compressed_bytes: int = 98_178
    merge: float = 0.016
    # Bytes per second of the network at a worker.
    network: float = 100e6


@dataclass(frozen=True)
class Cluster:
    samples: int = 1_000_000_000
    workers: int = 1000
    shards_per_worker: int = 8
    fan_in: int = 32
    # Share of workers that are slow, and how slow; standard deviation of the others' speed.
    slow: float = 0.02
    slowness: float = 4.0
    spread: float = 0.1
    # Hours until a worker dies, on average; it is back after a minute.
    hours_to_failure: float = 100.0
    restart: float = 60.0


@dataclass
class Outcome:
    seconds: float
    ideal: float
    failures: int
    merge_seconds: float
    received: int


def simulate(cluster: Cluster, costs: Costs, seed: int) -> Outcome:
    """Hands out shards to workers that are free; one whose worker dies is handed out again."""
    generator = random.Random(seed)
    speeds = [
        1 / cluster.slowness if generator.random() < cluster.slow else max(0.3, generator.gauss(1, cluster.spread))
        for _ in range(cluster.workers)
    ]
    shards = cluster.workers * cluster.shards_per_worker
    work = costs.start + cluster.samples / shards * costs.sample
    waiting = shards
    failures = 0
    free = [(0.0, worker) for worker in range(cluster.workers)]
    heapq.heapify(free)
    running: list[tuple[float, bool]] = []
    ends: list[float] = []
    while waiting or running:
        while waiting and free and (not running or free[0][0] <= running[0][0]):
            now, worker = heapq.heappop(free)
            waiting -= 1
            needed = work / speeds[worker]
            until_failure = generator.expovariate(1 / (cluster.hours_to_failure * 3600))
            dies = until_failure < needed
            end = now + min(needed, until_failure)
            heapq.heappush(running, (end, dies))
            heapq.heappush(free, (end + (cluster.restart if dies else 0.0), worker))
        end, dies = heapq.heappop(running)
        if dies:
            failures += 1
            waiting += 1
        else:
            ends.append(end)
    # Files go up a tree; a node waits for all below it, and reads them one after the other.
    level = sorted(ends)
    merge_seconds = 0.0
    while len(level) > 1:
        groups = [level[first : first + cluster.fan_in] for first in range(0, len(level), cluster.fan_in)]
        above = []
        for group in groups:
            seconds = costs.start + len(group) * (costs.merge + costs.compressed_bytes / costs.network)
            merge_seconds += seconds
            above.append(max(group) + seconds)
        level = sorted(above)
    ideal = cluster.samples * costs.sample / cluster.workers
    return Outcome(level[0], ideal, failures, merge_seconds, shards * costs.compressed_bytes)


def simulate_all(seeds: int) -> None:
    costs = Costs()
    cases = {
        "all alike, none dies": Cluster(slow=0, spread=0, hours_to_failure=1e9),
        "2 % four times slower": Cluster(hours_to_failure=1e9),
        "and each dies every 100 h": Cluster(),
        "and each dies every hour": Cluster(hours_to_failure=1.0),
        "the same, one shard for each worker": Cluster(hours_to_failure=1.0, shards_per_worker=1),
        "the same, 32 shards for each worker": Cluster(hours_to_failure=1.0, shards_per_worker=32),
    }
    print("| cluster | minutes | of the ideal | workers died | merging, s in all | sent by a worker |")
    print("|---|---|---|---|---|---|")
    for name, cluster in cases.items():
        outcomes = [simulate(cluster, costs, seed) for seed in range(seeds)]
        middle = sorted(outcomes, key=lambda outcome: outcome.seconds)[len(outcomes) // 2]
        sent = middle.received / cluster.workers
        print(
            f"| {name} | {middle.seconds / 60:.1f} | {middle.seconds / middle.ideal:.2f} | {middle.failures} | "
            f"{middle.merge_seconds:.0f} | {sent / 1e6:.2f} MB |"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("measure", "simulate"))
    parser.add_argument("--seeds", type=int, default=5, help="simulations, of which the middle one is shown")
    arguments = parser.parse_args()
    measure_all() if arguments.what == "measure" else simulate_all(arguments.seeds)


if __name__ == "__main__":
    main()
