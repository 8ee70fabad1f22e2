# SPDX-License-Identifier: Apache-2.0
"""Random networks: float ones that a seed determines, quantized for a stock target. Each is one case for each rounding.

    random_networks.py FOLDER      reads FOLDER/float.json and writes FOLDER/quantized.json

The Python of the package runs this as a program.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from corpus import Case

ROUNDINGS = ("half-up", "half-even", "double-convolutions", "double")
# Inputs that have no grid are integers of these ranges, or real numbers: what the networks are made for.
RANGES = {"i32": (-8, 8), "i1": (0, 1)}
CALIBRATION_SAMPLES = 4
METHODS = ("mse", "mse", "no-clipping", "mae", "hmse", "percentile", "octav")
# Messages with these words are right: ops of the network compute with integers of 8 bits, or the target contradicts
# itself about them, as MCT ships it.
NOT_QUANTIZED = ("the network is quantized already", "which exclude each other")


class Quantized(NamedTuple):
    """Cases, and for each network that is none its seed and the message of `mct.quantize`."""

    cases: list[Case]
    refused: dict[int, str]


def quantized(seeds: range, folder: Path) -> Quantized:
    """Makes the cases of networks; files go to `folder`. Raises EvaluatorError and RuntimeFailure."""
    import evaluator
    import runtimes

    folder.mkdir(parents=True, exist_ok=True)
    answers = evaluator.ask({"random": seed} for seed in seeds)
    networks = [[seed, answer["modules"][0]] for seed, answer in zip(seeds, answers, strict=True)]
    (folder / "float.json").write_text(json.dumps(networks))
    finished = runtimes.call(runtimes.forms_python(), __file__, folder)
    if finished.returncode != 0:
        raise runtimes.RuntimeFailure(f"the random networks cannot be quantized:\n{finished.stderr[-2000:]}")
    cases, refused = [], {}
    for seed, answer in zip(seeds, json.loads((folder / "quantized.json").read_text()), strict=True):
        if "refused" in answer:
            refused[seed] = f"{answer['target']}: {answer['refused']}"
        else:
            cases += with_roundings(seed, answer["text"], {"seed": seed} | answer["chosen"])
    return Quantized(cases, refused)


def with_roundings(seed: int, text: str, arguments: dict[str, Any]) -> Iterator[Case]:
    types = re.findall(r"%arg\d+: tensor<(?:\d+x)*(\w+)>", text.split("func.func", 1)[1].split(") ->", 1)[0])
    ranges = tuple(RANGES.get(one) for one in types)
    for rounding in ROUNDINGS:
        chosen = arguments | {"rounding": rounding}
        yield Case(f"random-{seed}-{rounding}", f"random, {rounding}", "random", chosen, seed, text, ranges=ranges)


def smaller(case: Case) -> Iterator[Case]:
    """Yields cases with one op, result, point or input less."""
    import evaluator

    (answer,) = evaluator.ask([{"smaller": case.text}])
    for text in answer.get("modules", []):
        (one,) = (each for each in with_roundings(case.seed, text, case.arguments) if each.family == case.family)
        yield replace(one, name=case.name)


# ===--- In the Python of the package ---------------------------------------------------------------------------------


def samples(random: np.random.Generator, shape: list[int], element: str) -> np.ndarray:
    """Returns samples for a calibration."""
    count = (CALIBRATION_SAMPLES * shape[0], *shape[1:]) if shape else (CALIBRATION_SAMPLES,)
    if element == "f32":
        # Numbers with few digits make ties and zeros.
        coarse = random.random() < 0.25
        values = random.integers(-16, 16, count, endpoint=True) / 8 if coarse else random.uniform(-2, 2, count)
        return values.astype(np.float32)
    if element == "i1":
        return random.integers(0, 1, count, endpoint=True).astype(bool)
    low, high = RANGES.get(element, (-(1 << (int(element[1:]) - 1)), (1 << (int(element[1:]) - 1)) - 1))
    return random.integers(low, high, count, endpoint=True).astype(f"int{element[1:]}")


def choose_alternatives(module, target: str, random: np.random.Generator) -> list[dict]:
    """Returns any of the alternatives of each operator, as `bit_widths_in` has them."""
    text = module.run(f"tpc-attach-target{{target={target}}},mct-prepare,mct-insert-quantizers").text()
    offered = dict(re.findall(r'#tpc\.alternatives<of = "([^"]+)", configs = \[([^\]]+)\]', text))
    return [
        {"name": name, "alternative": int(random.integers(len(configs.split(","))))}
        for name, configs in offered.items()
    ]


def quantize(text: str, seed: int, folder: Path) -> dict:
    """Returns the text of the quantized network and what was chosen, or why there is none."""
    import mct
    from mct import _native

    random = np.random.default_rng(seed)
    target = str(random.choice([name for name, real in _native.stock_targets() if name == real]))
    model = mct.Model.parse(text, f"random-{seed}")
    inputs = re.findall(r"tensor<((?:\d+x)*)(\w+)>", " ".join(one["type"] for one in signature(model)))
    data = [samples(random, [int(size) for size in shape.split("x")[:-1]], element) for shape, element in inputs]
    options: dict[str, Any] = {"effort": "default" if random.random() < 0.12 else "fast"}
    options["activation_error_method"] = str(random.choice(METHODS))
    try:
        if widths := choose_alternatives(model.module, target, random):
            (folder / "widths.json").write_text(json.dumps({"operators": widths}))
            options["bit_widths_in"] = folder / "widths.json"
        made = mct.quantize(model, target, data if len(data) > 1 else data[0], progress=False, threads=1, **options)
    except mct.Error as problem:
        return {"refused": str(problem).splitlines()[0], "target": target}
    if "parameters(" not in made.text:
        return {"refused": "no point", "target": target}
    return {"text": made.text, "chosen": {"target": target, "effort": options["effort"]}}


def signature(model) -> list[dict]:
    return json.loads(model.module.signature(""))["inputs"]


def main(folder: Path) -> None:
    networks = json.loads((folder / "float.json").read_text())
    (folder / "quantized.json").write_text(json.dumps([quantize(text, seed, folder) for seed, text in networks]))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
