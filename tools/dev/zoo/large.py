# SPDX-License-Identifier: Apache-2.0
"""Large networks from the import to the report: processor seconds and peak memory of each step, as a table."""

from __future__ import annotations

import re
import shutil
import sys
import tempfile
from collections import Counter
from pathlib import Path

import chain
import costs
import environments
import importing
import judging
import measure
import networks

TARGET = "imx500"
HEADER = [
    *("network", "import", *costs.OPTIONS, "integers", "report"),
    *("no operator set", "float in the integer network, and why"),
]


def _cell(run: measure.Finished) -> str:
    """Processor seconds and peak MB, or what went wrong."""
    if run.returncode != 0:
        return importing.last_line(run.stderr)[:80].replace("|", "/")
    return f"{run.cpu_seconds:.1f} s, {run.peak_mb:.0f} MB"


def _import(network: networks.Network) -> tuple[Path, str]:
    """The folder of the network, and what its chain has cost; a network that is there is imported again for that."""
    runs = []

    def run(command: list[str | Path]) -> measure.Finished:
        runs.append(measure.run(command))
        return runs[-1]

    shutil.rmtree(environments.ROOT / network.name, ignore_errors=True)
    folder = importing.import_network(network, run=run)
    return folder, _cell(runs[0])


def _why(stderr: str) -> str:
    """The reasons for which operators stay float, with their numbers, the most frequent first."""
    reasons = Counter(re.sub(r"'[^']*'", "…", text) for text in re.findall(r"stays float: (.*)", stderr))
    return "; ".join(f"{count}x {reason}" for reason, count in reasons.most_common(3)) or "none"


def measure_network(network: networks.Network) -> list[str]:
    """A row of the table."""
    folder, imported = _import(network)
    module = folder / "network.mlirbc"
    row = [network.name, imported]
    with tempfile.TemporaryDirectory(dir=folder) as name:
        scratch = Path(name)
        inputs = judging.numbered(folder, "input")
        samples, rest = judging.divide(scratch, inputs, chain.SAMPLES, costs.SAMPLES)
        calibration, test = judging.by_number(samples), judging.by_number(rest)
        quantized, integer = scratch / "quantized.mlirbc", scratch / "integer.mlirbc"
        for label, options in costs.OPTIONS.items():
            output = quantized if label == "8/8" else scratch / "other.mlirbc"
            row.append(_cell(measure.run(measure.ptq_command(module, calibration, output, target=TARGET, **options))))
        lowered = measure.run([measure.BIN / "mct-opt", quantized, "--mct-lower-to-integer", "-o", integer])
        row.append(_cell(lowered))
        report = [measure.BIN / "mct-run", quantized, f"--compare={module}", f"--input={test}"]
        row.append(_cell(measure.run([*report, f"--report={scratch}/report.json"])))
    row.append(", ".join(judging.unmatched(module, TARGET)) or "none")
    row.append(_why(lowered.stderr))
    return row


def markdown(names: list[str]) -> str:
    lines = ["| " + " | ".join(HEADER) + " |", "|" + " --- |" * len(HEADER)]
    for network in networks.LARGE:
        if names and network.name not in names:
            continue
        lines.append("| " + " | ".join(measure_network(network)) + " |")
        print(lines[-1], file=sys.stderr, flush=True)
    return "\n".join(lines) + "\n"
