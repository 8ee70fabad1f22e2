# SPDX-License-Identifier: Apache-2.0
"""Integer networks in the hands of others: who takes them, whether all compute the same, what they cost.

    build/venv/bin/python tools/dev/downstream NETWORK...     one or more files that mct-opt reads
    build/venv/bin/python tools/dev/downstream --install all  the consumers, each into an environment of its own

Each network goes through mct-check-integer, Arm's serializer and reference model, mct-run, IREE, Vela for Ethos-U55 and
Ethos-U85 (256 MACs) and the model-converter of the ML SDK. Samples are those of --samples, one file for each input
(stored integers, or real numbers where the network says what its integers stand for), or generated ones. A tool that is
not installed is skipped by name. Exit status 1 when a tool disagrees: it refuses a network that mct-check-integer takes
(for Vela: with the profile of the device), or computes other values than the reference model.
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import json
import sys
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import consumers
import integer_network
import numpy as np
import tool_environments
from consumers import Verdict
from integer_network import Network, NetworkError

CONSUMERS = {
    "tosa": [consumers.serialize, consumers.reference],
    "ours": [consumers.executor],
    "iree": [consumers.iree],
    "vela": [
        lambda network: consumers.vela(network, "ethos-u55"),
        lambda network: consumers.vela(network, "ethos-u85"),
    ],
    "mlsdk": [consumers.mlsdk],
}
HEADER = ["network", "tool", "taken", "differing", "largest", "cycles", "SRAM KiB", "s", ""]


@contextlib.contextmanager
def claimed(folder: Path) -> Iterator[None]:
    """Waits for other runs, perhaps of other checkouts, that judge a network of the same name."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with folder.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def judge(
    source: Path, folder: Path, tools: list[str], samples: list[Path], options: argparse.Namespace
) -> list[Verdict]:
    """Returns the verdict of each tool on one network, whose files go into `folder`."""
    network: Network = integer_network.prepare(source, folder, options.points)
    values = (
        integer_network.load(network.inputs, samples, options.count, options.input_scale, options.input_offset)
        if samples
        else integer_network.generate(network.inputs, options.count)
    )
    for i, value in enumerate(values):
        np.save(folder / f"input{i}.npy", value)
    verdicts = [consumers.check(network)]
    expected = None
    for tool in tools:
        for consume in CONSUMERS[tool]:
            verdict = consume(network)
            if verdict.tool == "reference model" and verdict.taken:
                expected = verdict.outputs
            elif verdict.taken and verdict.outputs and expected is not None:
                consumers.compare(verdict, expected, network)
            consumers.excuse(verdict, network)
            verdicts.append(verdict)
    return verdicts


def row(name: str, verdict: Verdict) -> list[str]:
    if verdict.taken is None:
        return [name, verdict.tool, "", "", "", "", "", "", verdict.reason]
    return [
        name,
        verdict.tool,
        "yes" if verdict.taken else "no",
        "" if verdict.differing is None else f"{verdict.differing} of {verdict.compared}",
        "" if not verdict.differing else f"{verdict.largest:g}",
        "" if verdict.cycles is None else str(verdict.cycles),
        "" if verdict.sram_kib is None else f"{verdict.sram_kib:.1f}",
        f"{verdict.seconds:.1f}",
        verdict.reason,
    ]


def markdown(rows: list[list[str]]) -> str:
    lines = [HEADER, ["---"] * len(HEADER), *rows]
    return "".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |\n" for line in lines)


def as_json(name: str, verdict: Verdict) -> dict:
    fields = {key: value for key, value in vars(verdict).items() if key != "outputs"}
    return {"network": name, **fields}


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="downstream", description=__doc__.split("\n")[0])
    parser.add_argument("networks", nargs="*", type=Path, metavar="NETWORK", help="integer networks, text or bytecode")
    parser.add_argument("--install", nargs="+", default=[], metavar="TOOL", help="install these first, or all")
    parser.add_argument("--tools", default=",".join(CONSUMERS), help="those to run, default: %(default)s")
    parser.add_argument("--samples", default="", metavar="A.npy[,B.npy]", help="samples, one file for each input")
    parser.add_argument("--input-scale", type=float, default=1.0, help="real number = value * scale + offset")
    parser.add_argument("--input-offset", type=float, default=0.0, help="for samples of another type than is stored")
    parser.add_argument("--count", type=int, default=8, help="samples to run, default: %(default)s")
    parser.add_argument("--points", action="store_true", help="compare every point, not only the results")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the results there, too")
    options = parser.parse_args(arguments)
    tools = options.tools.split(",")
    wanted = list(tool_environments.PACKAGES) if options.install == ["all"] else options.install
    for names, known in ((tools, CONSUMERS), (wanted, tool_environments.PACKAGES)):
        unknown = [name for name in names if name not in known]
        if unknown:
            parser.error(f"no tool named {', '.join(unknown)}; there are {', '.join(known)}")
    if options.count < 1:
        parser.error("--count: at least 1")
    if not options.networks and not wanted:
        parser.error("name a network, or what to --install")
    failed = False
    for name in wanted:
        try:
            tool_environments.install(name)
        except RuntimeError as problem:
            print(f"downstream: {problem}", file=sys.stderr)
            failed = True
    samples = [Path(name) for name in options.samples.split(",") if name]
    rows, results = [], []
    for source in options.networks:
        folder = tool_environments.ROOT / "networks" / source.stem
        try:
            with claimed(folder):
                verdicts = judge(source, folder, tools, samples, options)
        except NetworkError as problem:
            print(f"downstream: {source}: {problem}", file=sys.stderr)
            failed = True
            continue
        for verdict in verdicts:
            rows.append(row(source.stem, verdict))
            results.append(as_json(source.stem, verdict))
            failed |= not verdict.agrees
    if options.networks:
        print(markdown(rows), end="")
    if options.json:
        options.json.write_text(json.dumps(results, indent=1) + "\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
