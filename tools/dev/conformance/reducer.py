# SPDX-License-Identifier: Apache-2.0
"""The smallest case of each deviation: the maker of a case makes smaller ones as long as the runtime deviates."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import corpus
import numpy as np
import random_networks
import survey
import verdicts
from corpus import Case
from verdicts import Verdict

# Each round halves at least one size; what is larger then stays so.
MOST_ROUNDS = 8


@dataclass
class Deviation:
    """One kind of verdict that is not exact, in a runtime and a family, with the smallest case.

    count:  cases of the corpus that deviate so.
    entry:  forms of the smallest one.
    """

    runtime: str
    family: str
    kind: str
    count: int
    case: Case
    entry: dict[str, Any]
    verdict: Verdict


def unchanged(result: survey.Result) -> list[Deviation]:
    """Returns the smallest cases of the corpus itself."""
    return [
        Deviation(
            key, family, kind, len(cases), cases[0], result.forms[cases[0].name], result.verdicts[key][cases[0].name]
        )
        for key, family, kind, cases in verdicts.deviations(result.cases, result.verdicts)
    ]


def is_reducible(deviation: Deviation) -> bool:
    """Tells refusals apart, which follow from the op of a case and not from its sizes."""
    return deviation.kind != "refused" or deviation.case.maker == "random"


def smallest(result: survey.Result, root: Path) -> list[Deviation]:
    """All deviations take a step at a time, so that each runtime is started once for all of them."""
    found = unchanged(result)
    active = [deviation for deviation in found if is_reducible(deviation)]
    for _ in range(MOST_ROUNDS):
        # Several runtimes may deviate in one case.
        known: dict[str, Case] = {}
        tried = [[named(case, known) for case in candidates(deviation)] for deviation in active]
        if not known:
            break
        requested: dict[str, set[str]] = {}
        for deviation, cases in zip(active, tried, strict=True):
            requested.setdefault(deviation.runtime, set()).update(case.name for case in cases)
        judged = survey.judge_all(list(known.values()), list(requested), root, requested=requested)
        active = [one for one, cases in zip(active, tried, strict=True) if take_smallest(one, cases, judged)]
    return found


def candidates(deviation: Deviation) -> Iterator[Case]:
    if deviation.case.maker == "random":
        yield from random_networks.smaller(deviation.case)
        return
    yield from one_place(deviation)
    yield from corpus.smaller(deviation.case)


def named(case: Case, known: dict[str, Case]) -> Case:
    """Returns a case under a name of its own, the same for the same network and values."""
    return known.setdefault(repr((case.text, case.seed, case.values)), replace(case, name=f"reduced-{len(known)}"))


def take_smallest(deviation: Deviation, cases: list[Case], judged: survey.Result) -> bool:
    """Puts the smallest candidate that still deviates in place of the case; whether there is one."""
    answers = judged.verdicts[deviation.runtime]
    good = [case for case in cases if case.name in answers and answers[case.name].kind == deviation.kind]
    if not good:
        return False
    chosen = min(good, key=verdicts.weight)
    deviation.case, deviation.entry = chosen, judged.forms[chosen.name]
    deviation.verdict = answers[chosen.name]
    return True


def one_place(deviation: Deviation) -> Iterator[Case]:
    """A case of ones, on the values that the first deviating element is made of, where an element of the result is made
    of the elements at its place."""
    case, first = deviation.case, deviation.verdict.first
    if first is None or not {"count", "channels", "columns"} & set(case.arguments) or case.maker == "softmax":
        return
    sizes = {key: 1 for key in case.arguments if key in corpus.SIZES}
    if all(case.arguments[key] == 1 for key in sizes):
        return
    shape = deviation.entry["outputs"][first[0]]["shape"]
    place = np.unravel_index(first[1], shape)
    chosen = []
    for entry in deviation.entry["inputs"]:
        if len(entry["shape"]) != len(shape):
            return
        index = tuple(i if i < size else 0 for i, size in zip(place, entry["shape"], strict=True))
        chosen.append((int(np.reshape(entry["values"], entry["shape"])[index]),))
    try:
        one = corpus.make(case.family, case.maker, case.arguments | sizes, case.seed, case.name)
    except ValueError:
        return
    yield replace(one, values=tuple(chosen))
