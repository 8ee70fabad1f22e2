#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures each correction on real networks: accuracy, agreement with float, SQNR of the logits.

    build/venv/bin/python tools/dev/corrections.py [resnet8] [vww] [resnet20] [darknet] [wakeword] [autoencoder]

Prints one table for each network, in Markdown, without names for the first two, and at the end one of all, which
docs/results/accuracy.md shows. Needs built tools and ../shared, see measure.py. The targets are IMX500 with other
widths, derived as tpc_dialect/README.md shows.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import measure

DATA = measure.SHARED / "data"

RESNET8 = {
    "model": DATA / "models" / "resnet8_cifar10.mlirbc",
    "calibration": DATA / "cifar10" / "calib_images.npy",
    "inputs": DATA / "cifar10" / "test_images.npy",
    "labels": DATA / "cifar10" / "test_labels.npy",
    "options": {},
}
# ResNet8 judged on the 10 000 training images, of which the float network classifies 78.53 % correctly. Results of
# quantization depend on the last bits of sums, and so on the processor, by more than a test on 2000 images can allow.
RESNET8_TRAINING_IMAGES = RESNET8 | {
    "inputs": DATA / "cifar10" / "train_images.npy",
    "labels": DATA / "cifar10" / "train_labels.npy",
}
VWW = {
    "model": DATA / "models" / "mobilenet_vww.mlirbc",
    "calibration": DATA / "vww" / "calib_images.npy",
    "inputs": DATA / "vww" / "test_images.npy",
    "labels": None,
    "options": {"input_scale": 1 / 255},
}

# Pixels as ResNet-20 was trained on: (pixel / 255 - mean) / deviation.
MEAN, DEVIATION = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
RESNET20 = RESNET8 | {
    "model": DATA / "models" / "resnet20_cifar10.mlirbc",
    "options": {
        "input_scale": ";".join(repr(1 / 255 / deviation) for deviation in DEVIATION),
        "input_offset": ";".join(repr(-mean / deviation) for mean, deviation in zip(MEAN, DEVIATION, strict=True)),
    },
}
DARKNET = {
    "model": DATA / "models" / "tiny_darknet_imagenet.mlirbc",
    "calibration": DATA / "imagenet" / "calib_images.npy",
    "inputs": DATA / "imagenet" / "test_images.npy",
    "labels": DATA / "imagenet" / "test_labels.npy",
    "options": {"input_scale": 1 / 255},
}
WAKEWORD = {
    "model": DATA / "models" / "wakeword_ds_cnn.mlirbc",
    "calibration": DATA / "ww" / "features.npy",
    "inputs": DATA / "ww" / "features.npy",
    "labels": DATA / "ww" / "labels.npy",
    "options": {},
}
AUTOENCODER = {
    "model": DATA / "models" / "autoencoder_ad.mlirbc",
    "calibration": DATA / "ad" / "synthetic_calib_windows.npy",
    "inputs": DATA / "ad" / "synthetic_test_windows.npy",
    "labels": None,
    "options": {},
}

# Weight bits and method, activation bits; None is the stock target.
TARGETS = {
    "imx500 (8/8)": None,
    "4-bit weights": (4, "symmetric", 8),
    "4-bit power-of-two weights": (4, "power_of_two", 8),
    "3-bit weights": (3, "symmetric", 8),
    "2-bit weights": (2, "symmetric", 8),
    "4-bit weights, 4-bit activations": (4, "symmetric", 4),
    "8-bit weights, 4-bit activations": (8, "symmetric", 4),
}

# Options of mct-ptq. The rows differ from the default, or from the corrections without rounding, or from no correction,
# or from MCT's, in one thing.
NO_ROUNDING = {"round_weights": "false"}
NO_SECOND_MOMENT = NO_ROUNDING | {"weights_second_moment_correction": "false"}
NO_BIAS = NO_ROUNDING | {"weights_bias_correction": "false"}
INPUT_MEAN = NO_SECOND_MOMENT | {"bias_estimate": "input-mean"}
ROWS = {
    "the default": {},
    "without rounding": NO_ROUNDING,
    "bias from all samples": NO_ROUNDING | {"bias_max_samples": 0},
    "without second moment": NO_SECOND_MOMENT,
    "without bias": NO_BIAS,
    "without shift of negative tails": NO_ROUNDING | {"shift_negative_activation_correction": "false"},
    "with second moment at 8 bits": NO_ROUNDING | {"second_moment_max_bits": 8},
    "with equalization": NO_ROUNDING | {"activation_channel_equalization": "true"},
    "no correction": NO_SECOND_MOMENT | NO_BIAS,
    "equalization alone": NO_SECOND_MOMENT | NO_BIAS | {"activation_channel_equalization": "true"},
    "activation bias alone": NO_SECOND_MOMENT | NO_BIAS | {"activation_bias_correction": "true"},
    "bias by MCT's formula": INPUT_MEAN,
    "bias by MCT's formula, activation bias": INPUT_MEAN | {"activation_bias_correction": "true"},
}

DERIVED = """\
#float = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#kernel = #tpc.attr_quant_config<method = {method}, bits = {bits}, per_channel = true, enabled = true>
#act = #tpc.op_quant_config<act_method = power_of_two, act_bits = {act}, input_bits = [4, 8], default_weight = #float>
#conv = #tpc.op_quant_config<act_method = power_of_two, act_bits = {act}, input_bits = [4, 8],
  weights = {{kernel_attr = #kernel, bias_attr = #float}}, default_weight = #float>
#moves = #tpc.op_quant_config<act_method = power_of_two, act_bits = {act}, input_bits = [4, 8], act_enabled = false,
  default_weight = #float>
#moved = #tpc.qc_options<[#moves]>
tpc.derive @derived from "imx500" type("derived") version 1, 0
  default(#tpc.qc_options<[#act]>)
  linear(#tpc.qc_options<[#conv]>)
  operator_sets [{sets}]
"""

# Operator sets of the base whose results stay as they are; they too must read what the others make.
UNQUANTIZED = [
    "Unstack",
    "Dropout",
    "Flatten",
    "SplitChunk",
    "GetItem",
    "Reshape",
    "Unsqueeze",
    "Size",
    "Permute",
    "Transpose",
    "Equal",
    "ArgMax",
    "Gather",
    "TopK",
    "Squeeze",
    "MaxPool",
    "Pad",
    "ZeroPadding2D",
    "Cast",
    "CombinedNonMaxSuppression",
    "FakeQuant",
    "SSDPostProcess",
]


def target_for(name: str, folder: Path) -> str | Path:
    """`imx500`, or the file of a target like it with other widths."""
    widths = TARGETS[name]
    if widths is None:
        return "imx500"
    bits, method, act = widths
    path = folder / f"w{bits}a{act}_{method}.mlir"
    sets = [f'#tpc.operator_set<"{one}", options = #moved>' for one in UNQUANTIZED]
    sets.append('#tpc.operator_set<"Stack", options = #tpc.qc_options<[#act]>>')
    path.write_text(DERIVED.format(bits=bits, method=method, act=act, sets=", ".join(sets)))
    return path


def quantize(network: dict, target: str | Path, row: dict, output: Path) -> measure.Finished:
    options = {"target": target} | network["options"] | row
    return measure.run_ok(measure.ptq_command(network["model"], network["calibration"], output, **options))


def judge(network: dict, quantized: Path) -> dict:
    """Top-1 (with labels), agreement with float (of classes), and SQNR of the last point, at the logits or after
    them."""
    labels = {"labels": network["labels"]} if network["labels"] else {}
    report = measure.run_json(quantized, network["inputs"], compare=network["model"], **labels, **network["options"])
    logits = [point for point in report["points"] if not point["name"].startswith(("mul", "softmax"))][-1]
    return {"top1": report.get("top1"), "agreement": report.get("agreement"), "sqnr": logits["sqnr_db"]}


# Results of MCT 2.6.1 with its defaults on ResNet8, with the same images for calibration and test.
MCT_RESNET8 = {
    "imx500 (8/8)": "75.05 / 97.85",
    "4-bit weights": "69.50 / 82.10",
    "4-bit power-of-two weights": "69.50 / 79.65",
    "3-bit weights": "46.25 / 49.65",
    "2-bit weights": "13.20 / 11.70",
    "4-bit weights, 4-bit activations": "53.10 / 58.50",
    "8-bit weights, 4-bit activations": "58.80 / 66.05",
}


def summarize(measured: dict[str, dict[str, dict[str, str]]]) -> None:
    """Prints one table of all networks: a row for each network and row of corrections, a column for each target."""
    found = {name for rows in measured.values() for cells in rows.values() for name in cells}
    targets = [name for name in TARGETS if name in found]
    print("\n| network | corrections | " + " | ".join(targets) + " |\n|" + "---|" * (len(targets) + 2))
    for network, rows in measured.items():
        for row, cells in rows.items():
            print(f"| {network} | {row} | " + " | ".join(cells.get(name, "") for name in targets) + " |")


def table(network: dict, targets: list[str], rows: list[str], folder: Path) -> dict[str, dict[str, str]]:
    """Prints a table, and returns top-1, agreement and decibels, as far as a network has them, by row and target."""
    summary: dict[str, dict[str, str]] = {row: {} for row in rows}
    print("| target | corrections | top-1 % | agreement % | SQNR of the logits dB | seconds | peak MB |")
    print("|---|---|---|---|---|---|---|")
    for name in targets:
        target = target_for(name, folder)
        for row in rows:
            output = folder / "quantized.mlirbc"
            finished = quantize(network, target, ROWS[row], output)
            result = judge(network, output)
            top1, agreement = (
                "" if result[key] is None else f"{100 * result[key]:.2f}" for key in ("top1", "agreement")
            )
            print(
                f"| {name} | {row} | {top1} | {agreement} | {result['sqnr']:.2f} "
                f"| {finished.seconds:.2f} | {finished.peak_mb:.0f} |",
                flush=True,
            )
            figures = [top1, agreement, f"{result['sqnr']:.1f} dB"]
            summary[row][name] = " / ".join(text for text in figures if text)
    return summary


# Networks, and the targets and rows of their tables.
FEW_BITS = ["imx500 (8/8)", "4-bit weights", "3-bit weights", "8-bit weights, 4-bit activations"]
TABLES = {
    "resnet8": (RESNET8, list(TARGETS), list(ROWS)),
    "vww": (VWW, [*FEW_BITS, "4-bit power-of-two weights"], list(ROWS)),
    "resnet20": (RESNET20, FEW_BITS, ["the default", "without rounding"]),
    "darknet": (DARKNET, FEW_BITS, ["the default", "without rounding"]),
    "wakeword": (WAKEWORD, FEW_BITS, ["the default", "without rounding"]),
    "autoencoder": (AUTOENCODER, FEW_BITS, ["the default", "without rounding"]),
}


def main() -> None:
    wanted = sys.argv[1:] or ["resnet8", "vww"]
    measured = {}
    with tempfile.TemporaryDirectory() as folder:
        for name in wanted:
            print(f"\n{name}\n")
            measured[name] = table(*TABLES[name], Path(folder))
    if "resnet8" in measured:
        measured["resnet8"]["MCT 2.6.1"] = MCT_RESNET8
    summarize(measured)


if __name__ == "__main__":
    main()
