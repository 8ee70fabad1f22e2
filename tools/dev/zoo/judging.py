# SPDX-License-Identifier: Apache-2.0
"""What the compiler makes of an imported network, in numbers."""

from __future__ import annotations

import json
import re
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import chain
import measure
import networks
import numpy as np

TARGETS = ("imx500", "tflite", "qnnpack")

# Without the correction that runs the network, and without the other one that is on by default either.
NO_BIAS = {"weights_bias_correction": "false"}
NO_SHIFT = NO_BIAS | {"shift_negative_activation_correction": "false"}

# dB by which a correction may make an output worse. What loses more is judged again by more samples, so many for the
# calibration and so many others: the noise of one number, seen eight times, is known to some 2 dB only.
CORRECTION_LOSS = 1.0
MORE_SAMPLES = 64

# Seconds. A network that takes longer has failed.
LIMIT = 900


def limited(command: Sequence[str | Path]) -> measure.Finished:
    return measure.run(["timeout", str(LIMIT), *command])


def limited_ok(command: Sequence[str | Path]) -> measure.Finished:
    finished = limited(command)
    if finished.returncode != 0:
        errors = [line for line in finished.stderr.splitlines() if re.search(r"\berror:|LLVM ERROR|Assertion", line)]
        reason = "longer than the limit" if finished.returncode == 124 else (errors or ["no message"])[0][:300]
        raise RuntimeError(f"{Path(command[0]).name}: exit status {finished.returncode}: {reason}")
    return finished


def messages(stderr: str) -> list[str]:
    """The warnings among diagnostics, without their places, each once with its count."""
    found = Counter(re.findall(r"\bwarning: (.*)", stderr))
    return [f"{text} (x{count})" if count > 1 else text for text, count in found.items()]


def relative_error(value: np.ndarray, reference: np.ndarray) -> float:
    """Largest difference over the range of the reference; infinite where only one is a number or the shapes differ."""
    if value.size != reference.size:
        return float("inf")
    value, reference = value.astype(np.float64).ravel(), reference.astype(np.float64).ravel()
    if (np.isfinite(value) != np.isfinite(reference)).any():
        return float("inf")
    finite = np.isfinite(reference)
    difference = np.abs(value[finite] - reference[finite]).max(initial=0.0)
    extent = np.ptp(reference[finite]) if finite.any() else 0.0
    return float(difference / extent) if extent > 0 else float(difference)


def sqnr(value: np.ndarray, reference: np.ndarray) -> float:
    """Signal over noise in dB; where the reference is infinite (a logarithm of zero) nothing is compared."""
    value, reference = value.astype(np.float64).ravel(), reference.astype(np.float64).ravel()
    finite = np.isfinite(reference)
    noise = np.square(value[finite] - reference[finite]).sum()
    signal = np.square(reference[finite]).sum()
    return float("inf") if noise == 0 else float(10 * np.log10(signal / noise)) if signal > 0 else float("-inf")


def numbered(folder: Path, stem: str) -> list[Path]:
    return sorted(folder.glob(f"{stem}*.npy"), key=lambda path: int(path.stem.removeprefix(stem)))


def halves(folder: Path, files: list[Path], samples: int) -> tuple[list[Path], list[Path]]:
    """The samples that calibrate and those that judge, as files in `folder`."""
    both: tuple[list[Path], list[Path]] = ([], [])
    for path in files:
        array = np.load(path)
        middle = len(array) // samples * (samples // 2)
        for part, stem, paths in ((array[:middle], "calibration", both[0]), (array[middle:], "test", both[1])):
            paths.append(folder / f"{stem}_{path.name}")
            np.save(paths[-1], part)
    return both


def by_number(files: list[Path]) -> str:
    return ",".join(f"{index}:{path}" for index, path in enumerate(files))


def outputs_of(module: Path, inputs: list[Path], count: int, folder: Path) -> list[np.ndarray]:
    """Results of `module` on the samples."""
    files = [folder / f"result{index}.npy" for index in range(count)]
    command = [measure.BIN / "mct-run", module, f"--input={by_number(inputs)}"]
    limited_ok([*command, "--output=" + ",".join(map(str, files))])
    return [np.load(path) for path in files]


def compile_seconds(module: Path, inputs: list[Path]) -> float:
    """CPU seconds of `mct-run` on one sample."""
    command = [measure.BIN / "mct-run", module, f"--input={by_number(inputs)}", "--samples=1"]
    return limited_ok(command).cpu_seconds


def draw(folder: Path, network: networks.Network, inputs: list[Path], samples: int) -> list[Path]:
    """Twice MORE_SAMPLES samples as the chain would draw them next, as files in `folder`; the first ones are those of
    `inputs`, of which there are `samples`."""
    arguments = []
    for index, path in enumerate(inputs):
        array = np.load(path, mmap_mode="r")
        spec = network.samples[index] if index < len(network.samples) else {}
        arguments.append(([len(array) // samples, *array.shape[1:]], array.dtype, spec))
    generator = chain.random(network.name)
    rows = [
        [chain.one_sample(generator, *argument) for argument in arguments] for _ in range(samples + 2 * MORE_SAMPLES)
    ]
    chain.save(folder, "more", rows[samples:])
    return numbered(folder, "more")


def unmatched(module: Path, target: str) -> list[str]:
    """Ops on float data for which the target has no operator set, with their numbers."""
    command = [measure.BIN / "mct-opt", module, f"--tpc-attach-target=target={target}"]
    text = limited_ok([*command, "--tpc-explain=format=json", "-o", "/dev/null"])
    nodes = [node for function in json.loads(text.stdout or text.stderr)["functions"] for node in function["nodes"]]
    found = Counter("+".join(node["ops"]) for node in nodes if node["operator_set"] is None)
    return [f"{name} x{count}" if count > 1 else name for name, count in sorted(found.items())]


def count_ops(module: Path) -> int:
    """Ops that compute something."""
    text = limited_ok([measure.BIN / "mct-opt", module, "--mlir-elide-elementsattrs-if-larger=2"]).stdout
    return len(re.findall(r"^\s+%[\w:]+ = \"?tosa\.(?!const)", text, re.MULTILINE))


def error(module: Path, inputs: list[Path], references: list[np.ndarray], folder: Path) -> float:
    """Largest relative error of any output."""
    values = outputs_of(module, inputs, len(references), folder)
    return max(relative_error(value, reference) for value, reference in zip(values, references, strict=True))


def losses(entry: dict) -> list[tuple[str, int, float, float]]:
    """Corrections that cost an output of a target more than CORRECTION_LOSS: name, output, dB without, dB with."""
    without = entry.get("without", {})
    steps = {
        "bias": (entry.get("sqnr", []), without.get("bias", [])),
        "shift": (without.get("bias", []), without.get("bias and shift", [])),
    }
    return [
        (correction, index, before, after)
        for correction, pair in steps.items()
        for index, (after, before) in enumerate(zip(*pair, strict=False))
        if before - after > CORRECTION_LOSS
    ]


def judge(folder: Path, samples: int, network: networks.Network | None = None) -> dict:
    """All numbers of the network in `folder` (see `importing`). Failures stand in the result under "failure".

    With `network`, a correction that loses is judged again, under "again", by more samples; there the reference is the
    imported network in float.
    """
    result: dict = {"warnings": [], "targets": {}}
    module = folder / "network.mlirbc"
    inputs, references = numbered(folder, "input"), [np.load(path) for path in numbered(folder, "output")]
    tests = [array[len(array) // 2 :] for array in references]
    with tempfile.TemporaryDirectory(dir=folder) as name:
        scratch = Path(name)
        calibration, test = halves(scratch, inputs, samples)
        prepared = scratch / "prepared.mlirbc"
        try:
            result["ops"] = count_ops(module)
            finished = limited_ok([measure.BIN / "mct-opt", module, "--mct-prepare", "-o", prepared])
            result["warnings"] = messages(finished.stderr)
            result["unmatched"] = unmatched(prepared, TARGETS[0])
            result["compile"] = compile_seconds(module, test)
            result["float_error"] = error(module, test, tests, scratch)
            result["prepared_error"] = error(prepared, test, tests, scratch)
        except RuntimeError as failure:
            result["failure"] = str(failure)
            return result
        for target in TARGETS:
            result["targets"][target] = judge_target(prepared, module, target, calibration, test, tests, scratch)
        lost = [target for target, entry in result["targets"].items() if losses(entry)]
        if network and lost:
            more = draw(scratch, network, inputs, samples)
            calibration, test = halves(scratch, more, 2 * MORE_SAMPLES)
            tests = outputs_of(module, test, len(references), scratch)
            for target in lost:
                again = judge_target(prepared, module, target, calibration, test, tests, scratch)
                result["targets"][target]["again"] = again
    return result


def judge_target(
    prepared: Path,
    module: Path,
    target: str,
    calibration: list[Path],
    test: list[Path],
    tests: list[np.ndarray],
    scratch: Path,
) -> dict:
    """`sqnr` of every output with the default options, and in `without` with fewer corrections; CPU seconds."""
    quantized, statistics = scratch / "quantized.mlirbc", scratch / "statistics.json"

    def signal(data: str | None, options: dict) -> tuple[list[float], measure.Finished]:
        command = measure.ptq_command(module, data, quantized, target=target, **options)
        finished = limited_ok(command)
        values = outputs_of(quantized, test, len(tests), scratch)
        return [sqnr(value, reference) for value, reference in zip(values, tests, strict=True)], finished

    entry: dict = {"without": {}}
    try:
        entry["sqnr"], finished = signal(by_number(calibration), {"statistics_out": statistics})
        entry |= {"seconds": finished.cpu_seconds, "peak_mb": finished.peak_mb, "warnings": messages(finished.stderr)}
        again = {"statistics_in": statistics}
        entry["without"]["bias"], _ = signal(None, again | NO_BIAS)
        # A shift adds ops; where there is none, nothing differs without it.
        if count_ops(quantized) > count_ops(prepared):
            entry["without"]["bias and shift"], _ = signal(None, again | NO_SHIFT)
    except RuntimeError as failure:
        entry["failure"] = str(failure)
    return entry
