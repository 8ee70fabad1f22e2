# SPDX-License-Identifier: Apache-2.0
"""Judges cases: makes their forms and expected integers, and runs the runtimes."""

from __future__ import annotations

import dataclasses
import json
import shutil
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import evaluator
import runtimes
import verdicts
from corpus import STAYS_FLOAT, Case


class Result(NamedTuple):
    """All that is known of cases.

    verdicts: by runtime and case; a case without a form for a runtime is not there.

    problems: networks that are none, and what the evaluator does not know, one line each.
    """

    cases: list[Case]
    forms: dict[str, dict[str, Any]]
    expected: dict[str, dict[str, Any]]
    answers: dict[str, dict[str, Any]]
    verdicts: verdicts.Verdicts
    problems: list[str]


def judge_all(
    cases: list[Case],
    keys: list[str],
    root: Path,
    progress: Callable[[str], None] = lambda text: None,
    requested: Mapping[str, Collection[str]] | None = None,
) -> Result:
    """Files go to `root`/cases, and answers of runtimes are kept in `root`/answers. `asked`: names of the
    cases for each runtime, where it is not to run all. Raises RuntimeFailure and EvaluatorError."""
    folder = root / "cases"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / "cases.json").write_text(json.dumps([dataclasses.asdict(case) for case in cases]))
    progress(f"conformance: forms of {len(cases)} cases")
    forms = runtimes.make_forms(folder)
    problems = [f"{name}: {entry['error']}" for name, entry in forms.items() if "error" in entry]
    forms = {name: entry for name, entry in forms.items() if "error" not in entry}
    if any(runtimes.RUNTIMES[key].form == "tosa" for key in keys):
        runtimes.serialize(folder, forms)
    expected = evaluator.all_rules(forms)
    problems += [
        f"{name}: {rule}: {found}"
        for name, rules in expected.items()
        for rule, found in rules.items()
        if isinstance(found, str)
    ]
    answers, found = {}, {}
    for key in keys:
        progress(f"conformance: {key}")
        names = [name for name in forms if requested is None or name in requested[key]]
        chosen = {name: forms[name] for name in names}
        if key == "lowering":
            judged = {name: verdicts.judge_lowering(expected[name]) for name in names}
        else:
            answers[key] = runtimes.answer(key, folder, chosen, root / "answers")
            judged = {name: judge(key, name, forms, expected, answers) for name in names}
        found[key] = {name: verdict for name, verdict in judged.items() if verdict}
    return Result(cases, forms, expected, answers, found, problems)


def judge(key: str, name: str, forms: dict, expected: dict, answers: dict) -> verdicts.Verdict | None:
    answer = answers[key].get(name)
    if answer is None and (problem := not_written(key, forms[name])):
        return verdicts.Verdict("refused", problem)
    return verdicts.judge(key, forms[name], expected[name], answer)


def not_written(key: str, entry: dict[str, Any]) -> str:
    """Returns why a serializer refused what the case has; nothing where the case has no such form."""
    reason = entry["reasons"].get("tosa", "")
    is_missing = runtimes.RUNTIMES[key].form == "tosa" and "tosa" in entry.get("modules", {})
    return reason if is_missing and reason != STAYS_FLOAT else ""
