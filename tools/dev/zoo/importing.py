# SPDX-License-Identifier: Apache-2.0
"""Runs an import chain in its environment and keeps what it made; a network is imported once."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import environments
import measure
from networks import Network

CHAINS = Path(__file__).resolve().parent / "chains"
DIALECTS = {"builtin", "func", "tosa"}


class ImportFailure(Exception):
    """Returns the error in one line."""


def left_over(text: str) -> list[str]:
    """Names of the ops in the text of a module that no import should leave, in the order of their first use."""
    text = text.split("\n{-#")[0]  # then come the elements of constants
    names = re.findall(r"^\s*(?:%[\w:]+(?:, %[\w:]+)* = )?\"?([a-z_]\w*\.[\w.]+)\"?", text, re.MULTILINE)
    kept = [name for name in names if name.split(".")[0] not in DIALECTS or name in ("tosa.custom", "builtin.module")]
    return list(dict.fromkeys(kept))


def last_line(text: str) -> str:
    """The line with the error: the last error, or else the last line."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    errors = [line for line in lines if re.search(r"\berror:|Error:", line)]
    return (errors or lines or ["no message"])[-1][:300]


def chain_command(network: Network, folder: Path) -> list[str | Path]:
    source: str | Path = network.source
    if "==" in network.source:
        package, path = network.source.split("/", 1)
        source = environments.packaged_file(package, path)
    script = CHAINS / f"from_{network.chain}.py"
    return [environments.python(network.chain), script, source, folder, json.dumps(network.samples)]


def import_network(
    network: Network,
    root: Path = environments.ROOT,
    command: Callable[[Network, Path], list[str | Path]] = chain_command,
    run: Callable[[list[str | Path]], measure.Finished] = measure.run,
) -> Path:
    """The folder with `network.mlirbc`, `input<i>.npy` and `output<i>.npy`. Raises ImportFailure.

    run: runs the chain.
    """
    target = root / network.name
    if (target / "network.mlirbc").exists():
        return target
    # The chain derives its seeds from the name of its folder.
    folder = root / "partial" / network.name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    finished = run(command(network, folder))
    (folder / "log.txt").write_text(finished.stdout + finished.stderr)
    if finished.returncode != 0:
        raise ImportFailure(f"chain {network.chain}: exit status {finished.returncode}: {last_line(finished.stderr)}")
    module = folder / "module.mlir"
    if network.chain == "linalg":
        raised = folder / "module.raised.mlir"
        finished = measure.run(
            [measure.BIN / "mct-opt", module, "--mct-raise-linalg", "--mlir-print-debuginfo", "-o", raised]
        )
        if finished.returncode != 0:
            raise ImportFailure(f"mct-raise-linalg: {last_line(finished.stderr)}")
        module = raised
    if rest := left_over(module.read_text()):
        raise ImportFailure(f"chain {network.chain}: left {', '.join(rest)}")
    finished = measure.run([measure.BIN / "mct-opt", module, "-o", folder / "network.mlirbc"])
    if finished.returncode != 0:
        raise ImportFailure(f"mct-opt cannot read what chain {network.chain} wrote: {last_line(finished.stderr)}")
    for text in folder.glob("module.*"):
        text.unlink()
    shutil.rmtree(target, ignore_errors=True)
    folder.rename(target)
    return target
