# SPDX-License-Identifier: Apache-2.0
"""The results as Markdown: one table, and below it what needs an explanation."""

from __future__ import annotations

from judging import CORRECTIONS, TARGETS, losses

# A float error above this, relative to the range of the output, has to be explained.
FLOAT_ERROR = 1e-3

HEADER = ["network", "chain", "ops", "float error", "compile s", "mct-ptq s", "peak MB", "unmatched"]


def number(value: float | None, form: str) -> str:
    return "-" if value is None else format(value, form)


def counted(text: str) -> tuple[str, int]:
    """An entry of "unmatched" as the name of its ops and their number."""
    ops, _, count = text.partition(" x")
    names = ops.replace("tosa.", "").split("+")
    return " + ".join(names if len(names) < 10 else [*names[:3], f"{len(names) - 4} more", names[-1]]), int(count or 1)


def unmatched(results: dict[str, dict]) -> list[str]:
    """Returns ops without an operator set, the commonest first, with the networks that have them."""
    found: dict[str, list[str]] = {}
    for name, result in results.items():
        for text in result.get("unmatched", []):
            ops, count = counted(text)
            found.setdefault(ops, []).append(f"{name} x{count}" if count > 1 else name)
    ordered = sorted(found.items(), key=lambda item: (-len(item[1]), item[0]))
    return [f"`{ops}`: {', '.join(names)}" for ops, names in ordered]


def row(name: str, result: dict) -> list[str]:
    if "import" in result:
        return [name, result["chain"], "not imported", *["-"] * (len(HEADER) - 3 + len(TARGETS))]
    targets = result["targets"]
    first = targets.get(TARGETS[0], {})
    errors = [result[key] for key in ("float_error", "prepared_error") if key in result]
    cells = [
        name,
        result["chain"],
        str(result.get("ops", "-")),
        number(max(errors, default=None), ".1e"),
        number(result.get("compile"), ".1f"),
        number(first.get("seconds"), ".1f"),
        number(first.get("peak_mb"), ".0f"),
        str(sum(counted(text)[1] for text in result["unmatched"])) if "unmatched" in result else "-",
    ]
    for target in TARGETS:
        decibels = targets.get(target, {}).get("sqnr")
        cells.append("failed" if not decibels else f"{min(decibels):.1f}")
    return cells


def describe_losses(result: dict) -> list[str]:
    """Corrections that cost an output more than they may."""
    return [
        f"{target}: {correction} correction costs output {output} {loss:.1f} dB, two standard errors are {doubt:.1f}"
        for target, correction, output, loss, doubt in losses(result)
    ]


def corrections(results: dict[str, dict]) -> str:
    """Returns a table of the loss of the output that each correction costs most, by networks and targets.

    Losses are in dB, with two standard errors; a dash stands where a correction changes nothing.
    """
    header = ["network", *(f"{correction}, {target}" for correction in CORRECTIONS for target in TARGETS)]
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    for name, result in results.items():
        cells = [name]
        for correction in CORRECTIONS:
            for target in TARGETS:
                entry = result["targets"][target]
                outputs = entry.get("corrections", {}).get(correction)
                worst = max(outputs, key=lambda pair: pair[0] - pair[1]) if outputs else None
                cells.append("failed" if "failure" in entry else f"{worst[0]:.1f} ± {worst[1]:.1f}" if worst else "-")
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def findings(result: dict) -> list[str]:
    found = [result[key] for key in ("import", "failure") if key in result]
    for key, what in (("float_error", "as imported"), ("prepared_error", "after mct-prepare")):
        if result.get(key, 0) > FLOAT_ERROR:
            found.append(f"float error {result[key]:.1e} {what}")
    for target, entry in result.get("targets", {}).items():
        if "failure" in entry:
            found.append(f"{target}: {entry['failure']}")
    found += describe_losses(result)
    warnings = dict.fromkeys(result.get("warnings", []))
    for entry in result.get("targets", {}).values():
        warnings |= dict.fromkeys(entry.get("warnings", []))
    return found + [f"warning: {text}" for text in warnings]


def markdown(results: dict[str, dict]) -> str:
    header = [*HEADER, *(f"{target} dB" for target in TARGETS)]
    rows = [row(name, result) for name, result in results.items()]
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    lines += ["| " + " | ".join(cells) + " |" for cells in rows]
    listed = {name: findings(result) for name, result in results.items()}
    if any(listed.values()):
        lines += ["", "To explain:", ""]
        lines += [f"* {name}: {text}" for name, texts in listed.items() for text in texts]
    if without := unmatched(results):
        lines += ["", f"Without an operator set of {TARGETS[0]}:", "", *(f"* {line}" for line in without)]
    return "\n".join(lines) + "\n"
