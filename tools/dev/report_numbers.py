# SPDX-License-Identifier: Apache-2.0
"""Compares what a report, `explain`, `resources`, `evaluate` and `compare` say of one quantized network."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import mct


def explained_bits(model: mct.Model) -> dict[str, int]:
    """The bits of each point, by its name, as `explain` states them."""
    bits = {}
    for function in json.loads(model.explain("json"))["functions"]:
        for tensor in function["inputs"]:
            if tensor["point"]:
                bits[tensor["name"]] = tensor["bits"]
        for node in function["nodes"]:
            if node["result"]["cover"] == "point":
                bits[node["name"]] = node["result"]["bits"]
            for weight in node["weights"]:
                if weight["point"]:
                    bits[f"{node['name']}/{weight['name']}"] = weight["bits"]
    return bits


def _pairs(model: mct.Model, report: dict[str, Any], data: Any, labels: Any) -> Iterator[tuple[str, Any, Any]]:
    """Yields names of numbers, each with its values in the report and elsewhere."""
    (function,) = model.resources()["functions"]
    for key, other in (("resources", "totals"), ("eight_bit", "totals_at_8_bits")):
        for name, of_passes in (("weight", "weights"), ("activation", "activations"), ("total", "total")):
            yield f"{key} {name}", -(-report[key][f"{name}_bytes"] // 1), function[other][f"{of_passes}_bytes"]
        yield f"{key} bops", report[key]["bops"], function[other]["bops"]
    operators = report["operators"]
    yield "weights of the operators", sum(op["weight_bytes"] for op in operators), report["resources"]["weight_bytes"]
    yield "bops of the operators", sum(op["bops"] for op in operators), report["resources"]["bops"]
    floats = sum(op["float_weight_bytes"] for op in operators)
    yield "float weights of the operators", floats, report["float_weight_bytes"]

    points = {point["name"]: point["parameters"]["bits"] for point in report["points"] if "parameters" in point}
    yield "points", points, {point.name: point.bits for point in model.points if point.bits}
    explained = explained_bits(model)
    # Corrections add operators with points of their own, which were not planned.
    yield (
        "explained points",
        {name: points[name] for name in explained if name in points},
        {name: bits for name, bits in explained.items() if name in points},
    )
    weights = {point["name"] for point in report["points"] if point["weight"] and "parameters" in point}
    yield "weights that explain does not have", weights - explained.keys(), set()

    evaluated = model.evaluate(data, labels, reference=model.float_model)
    yield "agreement", report["simulated"].get("agreement"), evaluated.agreement
    yield "top-1", report["simulated"].get("top1"), evaluated.top1
    compared = {point.name: point.sqnr_db for point in model.compare(data).points}
    totals = {point["name"]: point["total"]["sqnr"] for point in report["points"] if point["name"] in compared}
    yield "SQNR", totals, {name: None if sqnr == float("inf") else sqnr for name, sqnr in compared.items()}


def differences(model: mct.Model, report: dict[str, Any], data: Any, labels: Any = None) -> list[str]:
    """Returns a line for each number of a report that another source states in another way.

    report: the document of `mct.report` on `data`.
    """
    return [
        f"{what}: {found} in the report, {other} elsewhere"
        for what, found, other in _pairs(model, report, data, labels)
        if found != other
    ]
