# SPDX-License-Identifier: Apache-2.0
"""Judges random networks, in parts, so that memory does not grow with their number."""

from __future__ import annotations

import re
import shutil
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import page
import random_networks
import survey
import verdicts

# Runtimes that execute what is written of them.
RUNTIMES = ("lowering", "mct-run", "mct-exact", "reference", "onnxruntime", "litert", "litert-reference")
NETWORKS_OF_A_PART = 40


@dataclass
class Found:
    """Holds what is known of all networks so far.

    result:      as of a survey; forms and texts of deviations alone.
    explained:   how many deviations each explanation has.
    unexplained: a line for each network that is none for a reason that is not known.
    reasons:     why formats cannot express networks, by format.
    """

    result: survey.Result
    explained: Counter[str] = field(default_factory=Counter)
    unexplained: list[str] = field(default_factory=list)
    reasons: dict[str, Counter[str]] = field(default_factory=dict)
    refused: Counter[str] = field(default_factory=Counter)

    def add(self, part: survey.Result, quantized: random_networks.Quantized, progress: Callable[[str], None]) -> None:
        for seed, message in quantized.refused.items():
            self.refused[message.split(": ", 1)[1]] += 1
            if not any(known in message for known in random_networks.NOT_QUANTIZED):
                self.unexplained.append(f"seed {seed}, {message}")
        self.unexplained += part.problems
        for entry in part.forms.values():
            for format_, reason in entry["reasons"].items():
                self.reasons.setdefault(format_, Counter())[without_names(reason)] += 1
        deviating = set()
        for key, found in part.verdicts.items():
            for name, verdict in found.items():
                if why := verdicts.explanation(key, verdict):
                    self.explained[f"{key}: {why}"] += 1
                    verdict = verdicts.Verdict("taken", verdict.reason)
                elif verdict.kind not in ("exact", "taken", "rounded"):
                    deviating.add(name)
                    progress(f"conformance: {key}, {name}: {verdict.kind} {verdict.reason}")
                self.result.verdicts[key][name] = verdict
        for case in part.cases:
            self.result.cases.append(case if case.name in deviating else replace(case, text=""))
        self.result.forms.update({name: part.forms[name] for name in deviating})

    def report(self) -> str:
        lines = [page.matrix(self.result)]
        for title, counts in {
            "not quantized": self.refused,
            "explained": self.explained,
            **{f"no {format_}": counts for format_, counts in self.reasons.items()},
        }.items():
            lines += [f"{title}: {count} times: {text}" for text, count in counts.most_common()]
        return "\n".join([*lines, *(f"unexplained: {line}" for line in self.unexplained)])


def without_names(reason: str) -> str:
    """Returns a message that names no value of one network."""
    return re.sub(r"'[^']*'|\b[avp]?\d[\w.]*", "…", reason)


def judge_all(seeds: range, keys: list[str], root: Path, progress: Callable[[str], None]) -> Found:
    """Returns what is known of the networks of some seeds. Raises EvaluatorError and RuntimeFailure."""
    found = Found(survey.Result([], {}, {}, {}, {key: {} for key in keys}, []))
    for first in range(0, len(seeds), NETWORKS_OF_A_PART):
        shutil.rmtree(root, ignore_errors=True)
        part = seeds[first : first + NETWORKS_OF_A_PART]
        progress(f"conformance: networks {part[0]} to {part[-1]}")
        quantized = random_networks.quantized(part, root)
        found.add(survey.judge_all(quantized.cases, keys, root), quantized, progress)
    return found
