#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures tables of costs on Ethos-U: predicted cycles beside those of Vela, and the cycles of a promised drop.

    build/venv/bin/python tools/dev/downstream --install tosa vela
    build/venv/bin/python tools/dev/cost_results.py [NETWORK...]               predicted and measured cycles
    build/venv/bin/python tools/dev/cost_results.py --minimize [NETWORK...]    minimize=cycles with max-drop

Prints a table in Markdown. Needs the built tools and ../shared (see measure.py); networks of the zoo that were not
imported are left out. A table of costs is measured of networks in which all operators take the same alternative, and
predicts those of a mixture. Where it is more than 1 % off, it is updated, and the network is quantized again.
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
import corrections
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
PROMISED = {"ResNet8": "resnet8", "MobileNet-VWW": "vww", "wake word": "wakeword", "autoencoder": ""}


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


# A prediction that differs by more is made with an updated table, which may change the choice.
FEW_PERCENT, MOST_UPDATES = 1, 4


def compare(name: str, network: dict, device: str, accelerator: str, folder: Path) -> Iterator[list[str]]:
    table = folder / "costs.json"
    table_of(network, accelerator, table)
    first = table.read_bytes()
    for label, options in ROWS.items():
        table.write_bytes(first)
        given = {
            key: value.format(device=device, table=table) if isinstance(value, str) else value
            for key, value in options.items()
        }
        for updates in range(MOST_UPDATES + 1):
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
                break
            expected, measured = predicted(model, table), mct.cost.ethos_u(model, accelerator).cycles
            difference = 100 * (expected / measured - 1)
            yield [
                name,
                accelerator,
                f"`{label}`" if label != "none" else label,
                str(updates),
                spaced(expected),
                spaced(measured),
                f"{difference:+.2f}",
            ]
            if abs(difference) <= FEW_PERCENT:
                break
            mct.cost.update_table(model, table)


def promise_of(name: str, folder: Path) -> tuple[contract.Case, str]:
    """Returns images with labels, and the metric: an autoencoder is to make what it is given."""
    if name != "autoencoder":
        return contract.make_case(PROMISED[name], folder), "top1"
    windows = contract.load("ad/synthetic_test_windows.npy")
    peak = float(windows.max() - windows.min())
    return contract.Case(corrections.AUTOENCODER, windows, windows, len(windows) // 2, 0.1), f"psnr:{peak:g}"


def minimize(name: str, device: str, accelerator: str, folder: Path) -> Iterator[list[str]]:
    """Rows of the defaults, of `device`, and of a promised drop with the fewest cycles."""
    case, metric = promise_of(name, folder)
    order = np.random.default_rng(0).permutation(len(case.images))
    first, second = case.calibration, case.calibration + case.validation
    calibration = case.images[order[:first]] if first else np.load(case.network["calibration"])
    held, others = order[first:second], order[second:]
    table = folder / "costs.json"
    np.save(folder / "held.npy", case.images[held])
    np.save(folder / "held_labels.npy", case.labels[held])
    floating = mct.load(case.network["model"])
    given = {"progress": False} | case.network["options"]
    plain = mct.quantize(floating, "imx500", calibration, **given)
    mct.cost.write_table(plain, accelerator, table)
    promise = {
        "max_drop": case.max_drop,
        "drop_metric": metric,
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
    is_share = metric == "top1"
    values = {label: judge(model, case, others, is_share) for label, model in {"float": floating, **models}.items()}
    for label, model in models.items():
        cycles = mct.cost.ethos_u(model, accelerator).cycles
        drop = values["float"] - values[label]
        shown = f"{100 * drop:.2f} points" if is_share else f"{drop:.3f} dB"
        yield [name, accelerator, f"`{label}`" if label != "none" else label, spaced(cycles), shown, str(len(others))]


def judge(model: mct.Model, case: contract.Case, numbers: np.ndarray, is_share: bool) -> float:
    """Returns the share of right answers, or the mean ratio of peak to error in dB, up to a constant."""
    scale = case.network["options"].get("input_scale", 1.0)
    found = model.run(case.images[numbers], preprocessing=mct.Preprocessing.of(scale))
    outputs = np.asarray(found).reshape(len(numbers), -1)
    if is_share:
        return float((outputs.argmax(axis=1) == case.labels[numbers]).mean())
    errors = np.square(outputs - case.labels[numbers].reshape(len(numbers), -1)).mean(axis=1)
    return float(-10 * np.log10(errors).mean())


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
        ["cycles", "drop on others", "judging samples"]
        if options.minimize
        else ["updates", "predicted", "Vela", "difference, %"]
    )
    print("| " + " | ".join(columns) + " |\n" + "|---" * len(columns) + "|")
    with tempfile.TemporaryDirectory() as work:
        for name in options.networks or (PROMISED if options.minimize else ethos_results.NETWORKS):
            network = ethos_results.NETWORKS[name]
            if not network["model"].exists():
                continue
            ethos_results.draw_samples(network)
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
