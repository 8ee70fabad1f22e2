# SPDX-License-Identifier: Apache-2.0
"""Matrix and deviations in Markdown, and as tables of docs/results/conformance.md."""

from __future__ import annotations

import results
import survey
import tool_environments
import verdicts
from reducer import Deviation
from runtimes import RUNTIMES

COMMAND = "build/venv/bin/python tools/dev/conformance --record"
COLUMNS = ["runtime", "family", "verdict", "cases", "smallest case", "integers in", "expected", "found"]
# Longer lists are cut.
MOST_VALUES = 6
# Rounding of a runtime's kernels, which a file does not define.
RULES = {
    "tosa": "the integer network, by the specification of TOSA",
    "simulation": "the simulation, halves up",
    "half-even": "the simulation, halves to even",
    "double-convolutions": "the integer network with `rounding=double-convolutions`",
    "double": "the integer network with `rounding=double`",
    "": "nothing: compiled, not run",
}


def markdown(columns: list[str], rows: list[list[str]]) -> str:
    lines = [columns, ["---"] * len(columns), *rows]
    return "".join("| " + " | ".join(escape(cell) for cell in line) + " |\n" for line in lines)


def escape(cell: str) -> str:
    return cell.replace("\\|", "|").replace("|", "\\|")


def matrix(result: survey.Result) -> str:
    return markdown(*verdicts.matrix(result.cases, result.verdicts))


def deviations(found: list[Deviation]) -> str:
    return markdown(COLUMNS, [row(one) for one in found])


def row(one: Deviation) -> list[str]:
    arguments = ", ".join(f"{key} {value}" for key, value in one.case.arguments.items() if key != "kind")
    kind = f"{one.case.arguments['kind']}: " if "kind" in one.case.arguments else ""
    shown = [RUNTIMES[one.runtime].title, one.family, one.kind, str(one.count), f"{one.case.maker}, {kind}{arguments}"]
    if one.verdict.first is None:
        explanation = one.verdict.reason.replace("`", "'")
        return [*shown, "", "", f"`{explanation}`"]
    _, place, expected, found = one.verdict.first
    where = f" at {place}" if one.verdict.compared > 1 else ""
    return [*shown, values(one), f"{expected}{where}", f"{found:.2f}" if isinstance(found, float) else str(found)]


def values(one: Deviation) -> str:
    lists = [entry["values"] for entry in one.entry["inputs"]]
    return "; ".join(
        " ".join(map(str, found[:MOST_VALUES])) + (f" … ({len(found)})" if len(found) > MOST_VALUES else "")
        for found in lists
    )


def versions(keys: list[str]) -> tuple[list[str], list[list[str]]]:
    """Returns a table of the runtime of each column, and of the rule by which it is judged."""
    rows = []
    for key in keys:
        runtime = RUNTIMES[key]
        packages = tool_environments.PACKAGES.get(runtime.environment, [])
        named = {"onnxruntime": "onnxruntime", "openvino": "openvino"}.get(key)
        shown = [package for package in packages if not named or package.split("==")[0] == named]
        rows.append([runtime.title, ", ".join(shown) or "this repository", RULES[runtime.rule]])
    return ["runtime", "packages", "judged by"], rows


def record(result: survey.Result, found: list[Deviation]) -> None:
    """Writes the tables, and the pages that show them."""
    for name, (columns, rows) in {
        "conformance": verdicts.matrix(result.cases, result.verdicts),
        "conformance-runtimes": versions(list(result.verdicts)),
        "conformance-deviations": (COLUMNS, [row(one) for one in found]),
    }.items():
        results.write(name, COMMAND, columns, [[escape(cell) for cell in line] for line in rows])
    for path in sorted(results.RESULTS.glob("*.md")):
        path.write_text(results.render_page(path.read_text()))
