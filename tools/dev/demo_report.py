# SPDX-License-Identifier: Apache-2.0
"""The main job on the embedded model and data; called by tools/dev/demo."""

from __future__ import annotations

import json
import os
import shlex
from pathlib import Path

import measure

INPUT_SCALE = 0.0625  # the network was trained on pixel / 16


def announce(command: list[str | Path]) -> measure.Finished:
    """Shows the command as one would type it in the repository, then runs it."""
    words = [str(word).replace(f"{measure.REPOSITORY}/", "") for word in command]
    print("$ " + shlex.join(words).replace("'--mct-ptq=", "--mct-ptq='"), flush=True)
    return measure.run_ok(command)


def main() -> None:
    folder = measure.REPOSITORY / "build" / "demo"
    folder.mkdir(parents=True, exist_ok=True)
    model = measure.DIGITS / "digits.mlirbc"
    quantized = folder / "digits_quantized.mlir"
    test = measure.DIGITS / "digits_test.npy"
    options = {"input_scale": INPUT_SCALE, "labels": measure.DIGITS / "digits_test_labels.npy"}

    ptq = announce(measure.ptq_command(model, measure.DIGITS / "digits_calib.npy", quantized, input_scale=INPUT_SCALE))
    float_run = json.loads(announce(measure.run_command(model, test, **options)).stdout)
    quantized_run = json.loads(announce(measure.run_command(quantized, test, **options, compare=model)).stdout)

    page = folder / "digits_report.html"
    report = [measure.BIN / "mct", "report", quantized, "--model", model, "--data", test]
    announce([*report, "--labels", options["labels"], "--scale", str(INPUT_SCALE), "-o", page])

    rows = [
        ("test images", f"{quantized_run['samples']}"),
        ("float accuracy", f"{100 * float_run['top1']:.2f} %"),
        ("quantized accuracy", f"{100 * quantized_run['top1']:.2f} %"),
        ("agreement with float", f"{100 * quantized_run['agreement']:.2f} %"),
        ("weight bytes before", f"{measure.weight_bytes(model):.0f}"),
        ("weight bytes after", f"{measure.weight_bytes(quantized):.0f}"),
        ("seconds to quantize", f"{ptq.seconds:.2f}"),
        ("peak memory", f"{ptq.peak_mb:.0f} MB"),
    ]
    width = max(len(name) for name, _ in rows)
    print()
    for name, value in rows:
        print(f"{name:<{width}}  {value:>9}")
    place = os.path.relpath(folder, measure.REPOSITORY)
    print(f"\nThe quantized module is in {place}/: {quantized.name}")
    print(f"Where its errors come from, for a browser: {place}/{page.name}")


if __name__ == "__main__":
    main()
