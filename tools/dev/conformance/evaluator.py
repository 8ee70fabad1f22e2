# SPDX-License-Identifier: Apache-2.0
"""Integers that cases have to make, by the evaluator in double that shares no code with what is judged."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterable
from typing import NamedTuple

import measure
import numpy as np

# Steps by which a code of 16 bits may lie beside its place when f32 holds its value.
FLOAT_PLACES = 0.01
# The rule of networks each of whose points may round to the code beside the right one.
NEIGHBOURS = "neighbours"
SIMULATIONS = ("simulation", "half-even", NEIGHBOURS)
# The bounds are doubles, and rounded too.
BOUND_PLACES = 1e-14
PROGRAM = measure.BIN / "MctEvaluateNetworks"


class Expected(NamedTuple):
    """Describes one output.

    codes: integers; of float outputs with a grid those that they stand for, and of others the real numbers.
    slack: by how much a right execution in f32 may be away from each; -1: nothing is known.
    """

    codes: np.ndarray
    slack: np.ndarray


class EvaluatorError(Exception):
    pass


def ask(jobs: Iterable[dict]) -> list[dict]:
    """Returns the answers of the evaluator, one process for all."""
    if not PROGRAM.exists():
        raise EvaluatorError(f"{PROGRAM} is not built: tools/dev/build {PROGRAM.name}")
    lines = [json.dumps(job) for job in jobs]
    finished = subprocess.run([PROGRAM], input="".join(f"{line}\n" for line in lines), capture_output=True, text=True)
    answers = finished.stdout.splitlines()
    if finished.returncode != 0 or len(answers) != len(lines):
        raise EvaluatorError(f"{PROGRAM.name} ended with {finished.returncode}: {finished.stderr.strip()[:500]}")
    return [json.loads(answer) for answer in answers]


def job(entry: dict, rule: str) -> dict:
    """Returns a rule of a case as `ask` takes it. Simulations read real numbers, all others integers."""
    real = rule in SIMULATIONS
    inputs = [one["numbers"] if real and "numbers" in one else one["values"] for one in entry["inputs"]]
    if rule == NEIGHBOURS:
        return {"module": entry["modules"]["half-even"], "inputs": inputs, "codes_away": 1}
    return {"module": entry["modules"][rule], "inputs": inputs}


def expected(entry: dict, answer: dict) -> list[Expected]:
    """Raises EvaluatorError for a module that the evaluator does not know."""
    if "error" in answer:
        raise EvaluatorError(answer["error"])
    found = []
    for output, grid in zip(answer["outputs"], entry["outputs"], strict=True):
        values = np.array(output["values"], np.float64)
        errors = np.array(output.get("errors", np.zeros_like(values)), np.float64)
        if output["type"] == "f32" and "scale" not in grid:
            rounded = np.where(errors == 0, 0, BOUND_PLACES * (errors + np.abs(values)))
            found.append(Expected(values, np.where(errors < 0, -1, errors + rounded)))
            continue
        if output["type"] == "f32":
            places = to_places(values, grid)
            codes = np.round(places)
            away = np.abs(places - codes)
            if np.any(away[errors >= 0] > FLOAT_PLACES):
                raise EvaluatorError(f"a value lies {away[errors >= 0].max()} steps beside a code")
            slack = np.where(errors < 0, -1, np.round(errors / grid.get("scale", 1.0)))
        else:
            codes = values
            slack = np.where(errors < 0, -1, np.ceil(errors))
        found.append(Expected(codes.astype(np.int64), slack.astype(np.int64)))
    return found


def to_places(values: np.ndarray, grid: dict) -> np.ndarray:
    """Returns the codes that real numbers stand for, with fractions."""
    return values / grid.get("scale", 1.0) + grid.get("zero_point", 0)


def rules_of(entry: dict) -> list[str]:
    """Returns the names of the rules of a case. Nothing is explained by neighbours where there is one op."""
    rules = list(entry.get("modules", {}))
    return [*rules, NEIGHBOURS] if entry.get("random") and "half-even" in rules else rules


def all_rules(entries: dict[str, dict]) -> dict[str, dict[str, list[Expected] | str]]:
    """Returns what is expected, or why nothing is, by case and rule."""
    keys = [(name, rule) for name, entry in entries.items() for rule in rules_of(entry)]
    answers = ask(job(entries[name], rule) for name, rule in keys)
    found: dict[str, dict[str, list[Expected] | str]] = {name: {} for name in entries}
    for (name, rule), answer in zip(keys, answers, strict=True):
        try:
            found[name][rule] = expected(entries[name], answer)
        except EvaluatorError as problem:
            found[name][rule] = str(problem)
    return found
