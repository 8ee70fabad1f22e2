# SPDX-License-Identifier: Apache-2.0
"""Reports made by hand, in the form that the compiler reads."""

from __future__ import annotations

import json
from typing import Any

import mct


def minimal(schema: dict[str, Any]) -> Any:
    """The smallest value that a schema takes: what is not required is left out."""
    if "const" in schema:
        return schema["const"]
    kind = schema["type"]
    if kind == "object":
        return {key: minimal(schema["properties"][key]) for key in schema["required"]}
    return {"boolean": False, "integer": 0, "string": "", "array": []}.get(kind if isinstance(kind, str) else "", 0.5)


def item(*path: str) -> Any:
    """The smallest entry of an array, or optional object, of the document: `item("points", "effect")`."""
    schema = mct.report.schema()
    for key in path:
        schema = schema["properties"][key]
        schema = schema.get("items", schema)
    return minimal(schema)


def document(points: list[dict[str, Any]], diagnoses: list[dict[str, Any]] = (), **members: Any) -> dict[str, Any]:
    """A report with one operator for each owner of points."""
    made = minimal(mct.report.schema())
    owners = dict.fromkeys(point["owner"] for point in points)
    operators = []
    before = ""
    for owner in owners:
        mine = [point["name"] for point in points if point["owner"] == owner]
        entry = {"name": owner, "ops": ["tosa.conv2d"], "operator_set": "Conv", "cover": "point", "points": mine}
        operators.append(item("operators") | entry | {"inputs": [before] if before else []})
        before = owner
    made |= {"model": "model.mlirbc", "function": "main", "target": "imx500", "metric": "kl", "samples": 100}
    made |= {"points": points, "operators": operators, "diagnoses": list(diagnoses)}
    return made | members


def point(name: str, own: float = 0.01, sqnr: float = 30.0, **members: Any) -> dict[str, Any]:
    parameters = item("points", "parameters") | {"method": "power_of_two", "bits": 8, "threshold": [4.0]}
    parameters |= {"lowest": [-4.0], "highest": [3.97], "step": [0.03125], "is_signed": True}
    histogram = item("points", "statistics", "histogram") | {"first": -4.5, "width": 0.5, "counts": [1, 3, 9, 40] * 4}
    made = item("points") | {
        "name": name,
        "owner": name,
        "shape": [1, 8, 8, 16],
        "parameters": parameters,
        "statistics": item("points", "statistics") | {"count": 212, "min": -4.4, "max": 3.4, "histogram": histogram},
        "effect": item("points", "effect") | {"gain": own, "share": own},
        "total": item("points", "total") | {"sqnr": sqnr},
        "own": item("points", "own") | {"sqnr": sqnr + 3},
    }
    return made | members


def diagnosis(subject: str, cause: str, remedy: str = "", **members: Any) -> dict[str, Any]:
    made = {"rule": "clipped-tail", "severity": 0.5, "subject": subject, "cause": cause, "remedy": remedy}
    # The compiler writes names in this way, since a line of overrides cannot contain the end of a line.
    pattern = subject.replace("\n", "?").replace("\r", "?")
    made |= {"kind": "overrides", "paste": f'name "{pattern}" activation=16'}
    return item("diagnoses") | made | members


def report(*arguments: Any, **members: Any) -> mct.report.Report:
    return mct.report.Report(json.dumps(document(*arguments, **members)))
