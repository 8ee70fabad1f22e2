# SPDX-License-Identifier: Apache-2.0
"""Judges what runtimes computed, and puts the verdicts into tables."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
from corpus import Case
from evaluator import Expected, to_places
from runtimes import RUNTIMES

# Steps by which a float result may lie beside a code: nothing that is on a grid does.
BESIDE = 0.02
KINDS = ("exact", "off by one", "wrong", "refused")


@dataclass
class Verdict:
    """One case in one runtime.

    kind:      one of KINDS; "taken" by a compiler that runs nothing.
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
    wanted = expected.get(rule)
    if not wanted or isinstance(wanted, str):
        return None
    return compare(wanted, found_codes(entry, answer["outputs"]))


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
        codes = np.round(places)
        distance = np.abs(codes - wanted.codes)
        beside = np.abs(places - codes) > BESIDE
        differs = known & ((distance > wanted.slack) | beside)
        verdict.compared += int(np.count_nonzero(known))
        verdict.differing += int(np.count_nonzero(differs))
        if differs.any():
            verdict.largest = max(verdict.largest, int(distance[differs].max()))
            if verdict.first is None:
                place = int(np.flatnonzero(differs)[0])
                value = float(places[place]) if beside[place] else int(codes[place])
                verdict.first = (number, place, int(wanted.codes[place]), value)
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
    words = {"off by one": "±1", "wrong": "wrong", "refused": "refused"}
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
            if verdict and verdict.kind not in ("exact", "taken"):
                groups.setdefault((key, case.family, verdict.kind), []).append(case)
    return [(*group, sorted(chosen, key=weight)) for group, chosen in groups.items()]


def weight(case: Case) -> tuple[int, int, str]:
    """Orders cases by their ops, then by their sizes."""
    return case.text.count(" = tosa."), case.size, case.name
