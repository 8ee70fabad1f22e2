# SPDX-License-Identifier: Apache-2.0
"""Figures of the compiler for an imported network."""

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

# Corrections that are on by default and do anything to 8-bit networks, and the options that leave each of them out.
CORRECTIONS = {
    "bias": {"weights_bias_correction": "false"},
    "shift": {"shift_negative_activation_correction": "false"},
}

# No correction may cost an output more than so many dB beyond two standard errors, with so many samples for the
# calibration and so many others that judge.
CORRECTION_LOSS = 0.5
CORRECTION_CALIBRATION, CORRECTION_TESTS = 32, 64

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


def divide(folder: Path, files: list[Path], samples: int, first: int) -> tuple[list[Path], list[Path]]:
    """The first samples, which calibrate, and the others, which judge, as files in `folder`."""
    both: tuple[list[Path], list[Path]] = ([], [])
    for path in files:
        array = np.load(path)
        middle = len(array) // samples * first
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


def draw(folder: Path, network: networks.Network, inputs: list[Path], samples: int, count: int) -> list[Path]:
    """So many samples as the chain would draw them next, as files in `folder`; the first ones are those of `inputs`, of
    which there are `samples`."""
    arguments = []
    for index, path in enumerate(inputs):
        array = np.load(path, mmap_mode="r")
        spec = network.samples[index] if index < len(network.samples) else {}
        arguments.append(([len(array) // samples, *array.shape[1:]], array.dtype, spec))
    generator = chain.random(network.name)
    rows = [[chain.one_sample(generator, *argument) for argument in arguments] for _ in range(samples + count)]
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


def sample_errors(value: np.ndarray, reference: np.ndarray, samples: int) -> np.ndarray:
    """Squared error of each sample; where the reference is infinite nothing is compared."""
    difference = np.where(np.isfinite(reference), value.astype(np.float64) - reference.astype(np.float64), 0.0)
    return np.square(difference).reshape(samples, -1).sum(axis=1)


def paired_loss(with_: np.ndarray, without: np.ndarray) -> tuple[float, float]:
    """dB by which the errors of samples are larger in the first, and twice the standard error of that."""
    if with_.sum() == without.sum():
        return 0.0, 0.0
    if without.sum() == 0 or with_.sum() == 0:
        return (float("inf") if without.sum() == 0 else float("-inf")), 0.0
    share = with_ / with_.mean() - without / without.mean()
    decibels = 10 / np.log(10)
    return (
        float(decibels * np.log(with_.sum() / without.sum())),
        float(2 * decibels * share.std(ddof=1) / np.sqrt(len(share))),
    )


def losses(result: dict) -> list[tuple[str, str, int, float, float]]:
    """Corrections that cost an output more than they may: target, correction, output, dB, two standard errors."""
    return [
        (target, correction, output, loss, doubt)
        for target, entry in result.get("targets", {}).items()
        for correction, outputs in entry.get("corrections", {}).items()
        for output, (loss, doubt) in enumerate(outputs)
        if loss - doubt > CORRECTION_LOSS
    ]


def judge(folder: Path, samples: int, network: networks.Network | None = None) -> dict:
    """All numbers of the network in `folder` (see `importing`). Failures stand in the result under "failure".

    With `network`, every correction is judged by more samples; there the reference is the imported network in float.
    """
    result: dict = {"warnings": [], "targets": {}}
    module = folder / "network.mlirbc"
    inputs, references = numbered(folder, "input"), [np.load(path) for path in numbered(folder, "output")]
    tests = [array[len(array) // 2 :] for array in references]
    with tempfile.TemporaryDirectory(dir=folder) as name:
        scratch = Path(name)
        calibration, test = divide(scratch, inputs, samples, samples // 2)
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
            result["targets"][target] = judge_target(module, target, calibration, test, tests, scratch)
        if network:
            judge_corrections(result, folder, samples, network, scratch)
    return result


def judge_target(
    module: Path, target: str, calibration: list[Path], test: list[Path], tests: list[np.ndarray], scratch: Path
) -> dict:
    """`sqnr` of every output with the default options; CPU seconds."""
    quantized = scratch / "quantized.mlirbc"
    try:
        finished = limited_ok(measure.ptq_command(module, by_number(calibration), quantized, target=target))
        values = outputs_of(quantized, test, len(tests), scratch)
    except RuntimeError as failure:
        return {"failure": str(failure)}
    decibels = [sqnr(value, reference) for value, reference in zip(values, tests, strict=True)]
    entry = {"sqnr": decibels, "seconds": finished.cpu_seconds, "peak_mb": finished.peak_mb}
    return entry | {"warnings": messages(finished.stderr)}


def judge_corrections(result: dict, folder: Path, samples: int, network: networks.Network, scratch: Path) -> None:
    """Into each target's entry, `corrections`: of each one that changes anything what it costs every output, in dB,
    with two standard errors; negative where it gains."""
    module, inputs = folder / "network.mlirbc", numbered(folder, "input")
    count = CORRECTION_CALIBRATION + CORRECTION_TESTS
    more = draw(scratch, network, inputs, samples, count)
    calibration, test = divide(scratch, more, count, CORRECTION_CALIBRATION)
    outputs = len(numbered(folder, "output"))
    references = outputs_of(module, test, outputs, scratch)

    def errors(target: str, options: dict) -> tuple[bytes, list[np.ndarray]]:
        quantized = scratch / "quantized.mlirbc"
        limited_ok(measure.ptq_command(module, by_number(calibration), quantized, target=target, **options))
        values = outputs_of(quantized, test, outputs, scratch)
        of_outputs = [
            sample_errors(value, reference, CORRECTION_TESTS)
            for value, reference in zip(values, references, strict=True)
        ]
        return quantized.read_bytes(), of_outputs

    for target, entry in result["targets"].items():
        if "failure" in entry:
            continue
        try:
            default, with_ = errors(target, {})
            entry["corrections"] = {}
            for correction, options in CORRECTIONS.items():
                other, without = errors(target, options)
                if other != default:
                    pairs = zip(with_, without, strict=True)
                    entry["corrections"][correction] = [paired_loss(*pair) for pair in pairs]
        except RuntimeError as failure:
            entry["failure"] = str(failure)
