#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures tables of costs on Ethos-U: predicted cycles beside those of Vela, and the cycles of a promised drop.

    build/venv/bin/python tools/dev/downstream --install tosa vela
    build/venv/bin/python tools/dev/cost_results.py [NETWORK...]               predicted and measured cycles
    build/venv/bin/python tools/dev/cost_results.py --minimize [NETWORK...]    minimize=cycles with max-drop

Prints a table in Markdown. Needs the built tools and ../shared (see measure.py); networks of the zoo that were not
imported are left out. A table of costs is measured of networks in which all operators take the same alternative, and
predicts those of a mixture.
docs/results/downstream.md has both tables.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent / "downstream"))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "build" / "python"))

import contract
import ethos_results
import integer_results
import mct
import tool_environments

# Options of mct-ptq; {device} stands for the device, {table} for the table.
ROWS = {
    "none": {},
    "device": {"device": "{device}"},
    "budget=weights:50%": {"budget": ("weights:50%",)},
    "budget=cycles:90%": {"budget": ("cycles:90%",), "cost_table": "{table}"},
}
# Networks with samples for a promise, as tools/dev/contract.py has them.
PROMISED = {"ResNet8": "resnet8", "MobileNet-VWW": "vww", "wake word": "wakeword"}


def spaced(number: int) -> str:
    return f"{number:,}".replace(",", " ")


def table_of(network: dict, accelerator: str, path: Path) -> None:
    """Writes the table of a network that is quantized with defaults."""
    plain = mct.quantize(
        mct.load(network["model"]), "imx500", network["calibration"], progress=False, **network["options"]
    )
    mct.cost.write_table(plain, accelerator, path)


def predicted(model: mct.Model, table: Path) -> int:
    return model.costs(table)["functions"][0]["cycles"]


def compare(name: str, network: dict, device: str, accelerator: str, folder: Path) -> Iterator[list[str]]:
    table = folder / "costs.json"
    table_of(network, accelerator, table)
    for label, options in ROWS.items():
        given = {
            key: value.format(device=device, table=table) if isinstance(value, str) else value
            for key, value in options.items()
        }
        try:
            model = mct.quantize(
                mct.load(network["model"]),
                "imx500",
                network["calibration"],
                progress=False,
                **network["options"],
                **given,
            )
        except mct.Error as error:
            if "cannot keep to its budget" not in str(error):
                raise
            continue
        expected, measured = predicted(model, table), mct.cost.ethos_u(model, accelerator).cycles
        difference = f"{100 * (expected / measured - 1):+.2f}"
        yield [
            name,
            accelerator,
            f"`{label}`" if label != "none" else label,
            spaced(expected),
            spaced(measured),
            difference,
        ]


def minimize(name: str, device: str, accelerator: str, folder: Path) -> Iterator[list[str]]:
    """Rows of the defaults, of `device`, and of a promised drop with the fewest cycles."""
    case = contract.make_case(PROMISED[name], folder)
    order = np.random.default_rng(0).permutation(len(case.images))
    first, second = case.calibration, case.calibration + case.validation
    calibration = case.images[order[:first]] if first else np.load(case.network["calibration"])
    held, others = order[first:second], order[second:]
    table = folder / "costs.json"
    for part, numbers in {"held": held}.items():
        np.save(folder / f"{part}.npy", case.images[numbers])
        np.save(folder / f"{part}_labels.npy", case.labels[numbers])
    floating = mct.load(case.network["model"])
    given = {"progress": False} | case.network["options"]
    plain = mct.quantize(floating, "imx500", calibration, **given)
    mct.cost.write_table(plain, accelerator, table)
    promise = {
        "max_drop": case.max_drop,
        "drop_metric": "top1",
        "minimize": "cycles",
        "cost_table": table,
        "validation_data": [folder / "held.npy"],
        "labels": folder / "held_labels.npy",
    }
    models = {
        "none": plain,
        f"device={device}": mct.quantize(floating, "imx500", calibration, device=device, **given),
        f"max-drop={case.max_drop:g} minimize=cycles": mct.quantize(
            floating, "imx500", calibration, **promise, **given
        ),
    }
    answers = case.labels[others]
    top1 = {label: share_right(model, case, others, answers) for label, model in {"float": floating, **models}.items()}
    for label, model in models.items():
        cycles = mct.cost.ethos_u(model, accelerator).cycles
        drop = 100 * (top1["float"] - top1[label])
        yield [
            name,
            accelerator,
            f"`{label}`" if label != "none" else label,
            spaced(cycles),
            f"{drop:.2f}",
            str(len(others)),
        ]


def share_right(model: mct.Model, case: contract.Case, numbers: np.ndarray, answers: np.ndarray) -> float:
    scale = case.network["options"].get("input_scale", 1.0)
    scores = model.run(case.images[numbers] * np.float32(scale))
    return float((np.asarray(scores).reshape(len(numbers), -1).argmax(axis=1) == answers).mean())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("networks", nargs="*")
    parser.add_argument("--minimize", action="store_true", help="cycles of a promised drop")
    parser.add_argument("--devices", default="ethos-u55,ethos-u85")
    options = parser.parse_args()
    for variable, tool in (("MCT_VELA", "vela"), ("MCT_TOSA_TOOLS", "tosa")):
        program = tool_environments.program(tool)
        if not program:
            parser.error(f"{tool} is not installed: tools/dev/downstream --install {tool}")
        os.environ[variable] = str(program.parent)
    columns = ["network", "device", "options"]
    columns += (
        ["cycles", "drop on others, points", "judging samples"]
        if options.minimize
        else ["predicted", "Vela", "difference, %"]
    )
    print("| " + " | ".join(columns) + " |\n" + "|---" * len(columns) + "|")
    with tempfile.TemporaryDirectory() as work:
        for name in options.networks or (PROMISED if options.minimize else ethos_results.NETWORKS):
            network = ethos_results.NETWORKS[name]
            if not network["model"].exists():
                continue
            for device in options.devices.split(","):
                accelerator = integer_results.DEVICES[device]
                folder = Path(work)
                rows = (
                    minimize(name, device, accelerator, folder)
                    if options.minimize
                    else compare(name, network, device, accelerator, folder)
                )
                for row in rows:
                    print("| " + " | ".join(row) + " |", flush=True)


if __name__ == "__main__":
    main()
