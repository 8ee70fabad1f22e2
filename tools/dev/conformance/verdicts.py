# SPDX-License-Identifier: Apache-2.0
"""Judges what runtimes computed, and puts the verdicts into tables."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from corpus import Case
from evaluator import NEIGHBOURS, Expected, to_places
from runtimes import RUNTIMES

# Steps by which a float result may lie beside a code: nothing that is on a grid does.
BESIDE = 0.02
KINDS = ("exact", "off by one", "wrong", "refused", "rounded")


class Explanation(NamedTuple):
    """Why a runtime deviates although file and runtime are as they are documented.

    reason: a pattern of what a runtime says that refuses a case.
    """

    runtimes: tuple[str, ...]
    reason: str
    text: str


# These hold for random networks; docs/results/conformance.md describes what runtimes do with single operators.
EXPLANATIONS = (
    Explanation(("litert-reference",), "Didn't find op for builtin opcode", "LiteRT has no reference kernel"),
)


@dataclass
class Verdict:
    """One case in one runtime.

    kind:      one of KINDS; "taken" by a compiler that runs nothing. "rounded": of a network whose operators may each
               be off by one, which explains it.
    reason:    of a refusal.
    differing: values that differ, of `compared`, by `largest` at most.
    first:     of the first one that differs the output, its index, what is expected and what is found.
    """

    kind: str
    reason: str = ""
    differing: int = 0
    compared: int = 0
    largest: int = 0
    first: tuple[int, int, int, float] | None = None


def judge(key: str, entry: dict[str, Any], expected: dict[str, Any], answer: dict[str, Any] | None) -> Verdict | None:
    """None where a case has no form for a runtime, or no rule."""
    if answer is None:
        return None
    if "refused" in answer:
        return Verdict("refused", answer["refused"])
    rule = RUNTIMES[key].rule
    if not rule:
        return Verdict("taken")
    found = found_codes(entry, answer["outputs"])
    verdict = compare(wanted, found) if isinstance(wanted := expected.get(rule), list) else None
    neighbours = expected.get(NEIGHBOURS)
    if not RUNTIMES[key].rounds or not isinstance(neighbours, list) or (verdict and verdict.kind == "exact"):
        return verdict
    within = compare(neighbours, found)
    return Verdict("rounded") if within.kind == "exact" else verdict or within


def explanation(key: str, verdict: Verdict) -> str:
    """Returns why a case deviates in a runtime, or nothing."""
    if verdict.kind != "refused":
        return ""
    return next((one.text for one in EXPLANATIONS if key in one.runtimes and re.search(one.reason, verdict.reason)), "")


def judge_lowering(expected: dict[str, Any]) -> Verdict | None:
    """Compares the integer network with the simulation, both as the evaluator has them."""
    simulated, integers = (expected.get(rule) for rule in ("simulation", "tosa"))
    if not isinstance(simulated, list) or not isinstance(integers, list):
        return None
    pairs = list(zip(simulated, integers, strict=True))
    slacks = [np.where((a.slack < 0) | (b.slack < 0), -1, a.slack + b.slack) for a, b in pairs]
    wanted = [Expected(a.codes, slack) for (a, _), slack in zip(pairs, slacks, strict=True)]
    return compare(wanted, [b.codes.astype(np.float64) for b in integers])


def found_codes(entry: dict[str, Any], outputs: list[dict[str, Any]]) -> list[np.ndarray]:
    """Returns the codes of each output; float results may lie between two."""
    found = []
    for number, output in enumerate(outputs):
        values = np.array(output["values"], np.float64)
        grid = entry["outputs"][number] if number < len(entry["outputs"]) else {}
        is_real = output["dtype"].startswith("float")
        found.append(to_places(np.nan_to_num(values, nan=1e9), grid) if is_real else values)
    return found


def compare(expected: list[Expected], found: list[np.ndarray]) -> Verdict:
    if [one.codes.size for one in expected] != [places.size for places in found]:
        return Verdict("wrong", "other results than the network has")
    verdict = Verdict("exact")
    for number, (wanted, places) in enumerate(zip(expected, found, strict=True)):
        known = wanted.slack >= 0
        codes = places if wanted.codes.dtype.kind == "f" else np.round(places)
        distance = np.abs(codes - wanted.codes)
        beside = np.abs(places - codes) > BESIDE
        differs = known & ((distance > wanted.slack) | beside)
        verdict.compared += int(np.count_nonzero(known))
        verdict.differing += int(np.count_nonzero(differs))
        if differs.any():
            verdict.largest = max(verdict.largest, int(np.ceil(distance[differs].max())))
            if verdict.first is None:
                place = int(np.flatnonzero(differs)[0])
                value = float(places[place]) if beside[place] else codes[place].item()
                verdict.first = (number, place, wanted.codes[place].item(), value)
            # A result between two codes is none of the grid, however near.
            if beside[differs].any():
                verdict.largest = max(verdict.largest, 2)
    if verdict.differing:
        verdict.kind = "off by one" if verdict.largest <= 1 else "wrong"
    return verdict


Verdicts = dict[str, dict[str, Verdict]]


def cell(verdicts: list[Verdict]) -> str:
    """`24`; or by kind, with what is not exact named."""
    counts = Counter(verdict.kind for verdict in verdicts)
    good = counts.pop("exact", 0) + counts.pop("taken", 0)
    words = {"off by one": "±1", "wrong": "wrong", "refused": "refused", "rounded": "rounded"}
    parts = [str(good)] if good or not counts else []
    return ", ".join(parts + [f"{counts[kind]} {words[kind]}" for kind in KINDS if counts[kind]])


def matrix(cases: list[Case], verdicts: Verdicts) -> tuple[list[str], list[list[str]]]:
    """Families by runtimes; the last row has the sums."""
    keys = list(verdicts)
    families = list(dict.fromkeys(case.family for case in cases))
    rows = []
    for family in [*families, ""]:
        chosen = [case.name for case in cases if family in (case.family, "")]
        cells = []
        for key in keys:
            found = [verdicts[key][name] for name in chosen if name in verdicts[key]]
            cells.append(cell(found) if found else "")
        rows.append([f"{family or '**all**'} ({len(chosen)})", *cells])
    return ["family (cases)", *(RUNTIMES[key].title for key in keys)], rows


def deviations(cases: list[Case], verdicts: Verdicts) -> list[tuple[str, str, str, list[Case]]]:
    """(runtime, family, kind, cases from the smallest on) of everything that is not exact."""
    groups: dict[tuple[str, str, str], list[Case]] = {}
    for key, found in verdicts.items():
        for case in cases:
            verdict = found.get(case.name)
            if verdict and verdict.kind not in ("exact", "taken", "rounded"):
                groups.setdefault((key, case.family, verdict.kind), []).append(case)
    return [(*group, sorted(chosen, key=weight)) for group, chosen in groups.items()]


def weight(case: Case) -> tuple[int, int, str]:
    """Orders cases by their ops, then by their sizes."""
    return case.text.count(" = tosa."), case.size, case.name
