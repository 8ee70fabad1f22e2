# SPDX-License-Identifier: Apache-2.0
"""Verdicts of the consumers on a network: taken or not and why, values, cycles, memory, seconds."""

from __future__ import annotations

import csv
import functools
import re
from dataclasses import dataclass, field
from pathlib import Path

import forks
import measure
import numpy as np
import tool_environments
from integer_network import Network

HERE = Path(__file__).resolve().parent
# Memory and clock of Arm's reference systems, as in vela.ini.
VELA_SYSTEMS = {
    "ethos-u55": ("ethos-u55-256", "Ethos_U55_High_End_Embedded", "Shared_Sram"),
    "ethos-u85": ("ethos-u85-256", "Ethos_U85_SYS_DRAM_Mid", "Dedicated_Sram_384KB"),
}
IREE_OPTIONS = [
    "--iree-input-type=tosa",
    "--iree-hal-target-device=local",
    "--iree-hal-local-target-device-backends=llvm-cpu",
    "--iree-llvmcpu-target-cpu=host",
]
# Known errors of a consumer, by a word of the network: no disagreement about the network.
KNOWN = {
    "iree": [
        (r"xi48>", "zero-extends constants of 48 bits"),
        (r"xi4>", "has no constants of 4 bits"),
        (r"INEXACT_ROUND", "has no INEXACT_ROUND"),
    ],
}
# Float results differ in the last bits between executors; this is some hundred times more.
FLOAT_TOLERANCE = 1e-4


@dataclass
class Verdict:
    """The verdict of one tool on one network. `taken` is None if the tool was not run."""

    tool: str
    taken: bool | None
    reason: str = ""
    seconds: float = 0.0
    differing: int | None = None
    compared: int = 0
    largest: float = 0.0
    cycles: int | None = None
    sram_kib: float | None = None
    agrees: bool = True
    outputs: list[np.ndarray] = field(default_factory=list, repr=False)


def last_line(text: str, pattern: str = r"(?i)error|require|could not|cannot|graph result|unpredictable") -> str:
    """The first line of the error, without the position in the file."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    chosen = next((line for line in lines if re.search(pattern, line)), lines[-1] if lines else "no message")
    return re.sub(r"^.*?(?:error|Error): ", "", chosen)[:160]


def failure(tool: str, finished: measure.Finished) -> Verdict:
    reason = last_line(finished.stderr + finished.stdout)
    if finished.returncode < 0:
        reason = f"ended by signal {-finished.returncode}: {reason}"
    return Verdict(tool, False, reason, finished.seconds, agrees=False)


def skipped(tool: str, installable: str) -> Verdict:
    return Verdict(tool, None, f"skipped: {installable} is not installed")


def load_outputs(folder: Path, stem: str) -> list[np.ndarray]:
    outputs = []
    while (folder / f"{stem}{len(outputs)}.npy").exists():
        outputs.append(np.load(folder / f"{stem}{len(outputs)}.npy"))
    return outputs


@functools.cache
def findings(path: Path, profile: str) -> measure.Finished:
    return measure.run([measure.BIN / "mct-opt", path, f"--mct-check-integer=profile={profile}", "-o", "/dev/null"])


def check(network: Network, profile: str = "none") -> Verdict:
    """Our own verifier."""
    finished = findings(network.path, profile)
    if finished.returncode != 0:
        return failure("mct-check-integer", finished)
    return Verdict("mct-check-integer", True, seconds=finished.seconds)


def serialize(network: Network) -> Verdict:
    """To the flatbuffer that the reference model and Vela read, `network.tosa`."""
    program = tool_environments.program("tosa")
    if not program:
        return skipped("tosa-opt", "tosa")
    option = f"--tosa-serialize=tosa-flatbuffer-filename={flatbuffer(network)} retain-graph-input-output-names"
    finished = measure.run([program, option, network.path, "-o", "/dev/null"])
    if finished.returncode != 0:
        return failure("tosa-opt", finished)
    return Verdict("tosa-opt", True, seconds=finished.seconds)


def flatbuffer(network: Network) -> Path:
    return network.path.with_suffix(".tosa")


def reference(network: Network) -> Verdict:
    """Arm's reference model, which the others are compared with."""
    program = tool_environments.program("tosa")
    if not program:
        return skipped("reference model", "tosa")
    if not flatbuffer(network).exists():
        return Verdict("reference model", None, "skipped: it was not serialized")
    folder = network.path.parent
    finished = forks.run(
        [program.parent / "python", HERE / "run_reference.py", flatbuffer(network), folder, str(len(network.inputs))],
        "numpy,tosa_reference_model",
    )
    if finished.returncode != 0:
        return failure("reference model", finished)
    return Verdict("reference model", True, seconds=finished.seconds, outputs=load_outputs(folder, "reference"))


def executor(network: Network) -> Verdict:
    """mct-run."""
    folder = network.path.parent
    given, outputs = [], []
    for i, entry in enumerate(network.inputs):
        # Samples follow one another along the first axis, as the real numbers that they stand for.
        samples = np.load(folder / f"input{i}.npy")
        if entry.scale is not None:
            samples = (entry.scale * (samples.astype(np.float64) - entry.zero_point)).astype(np.float32)
        path = folder / f"rows{i}.npy"
        np.save(path, samples.reshape(-1, *entry.shape[1:]) if entry.shape else samples)
        given.append(f"{i}:{path}")
    count = len(np.load(folder / "input0.npy"))
    results = re.search(r"return [^:]*: (.*)$", network.text, re.MULTILINE)
    outputs = [folder / f"ours{i}.npy" for i in range(len(re.findall(r"tensor<", results[1])) if results else 1)]
    finished = measure.run(
        [
            measure.BIN / "mct-run",
            network.path,
            f"--input={','.join(given)}",
            f"--output={','.join(map(str, outputs))}",
        ]
    )
    if finished.returncode != 0:
        return failure("mct-run", finished)
    # One row of outputs for each sample again.
    values = [output.reshape(count, -1) for output in load_outputs(folder, "ours")]
    return Verdict("mct-run", True, seconds=finished.seconds, outputs=values)


def compile_with_vela(
    program: Path, file: Path, profile: str, folder: Path, *options: str
) -> tuple[measure.Finished, dict[str, str]]:
    """Arm's compiler on a flatbuffer of TOSA or a `.tflite`: how it ended, and the last row of its summary."""
    accelerator, system, memory = VELA_SYSTEMS[profile]
    command = [program.parent / "python", program, "--config", "Arm/vela.ini", "--system-config", system]
    command += ["--memory-mode", memory, "--accelerator-config", accelerator, "--output-dir", folder, *options, file]
    finished = forks.run(command, "ethosu.vela.vela")
    if finished.returncode != 0:
        return finished, {}
    (summary,) = folder.glob(f"{file.stem}_summary_*.csv")
    with summary.open() as rows:
        return finished, list(csv.DictReader(rows))[-1]


def operators_of_cpu(finished: measure.Finished) -> int:
    """How many operators Vela leaves to the processor."""
    left = re.search(r"CPU operators = (\d+)", finished.stdout)
    return int(left[1]) if left else 0


def vela(network: Network, profile: str) -> Verdict:
    """Arm's compiler for a device. It runs nothing; mct-check-integer lists the operators that it cannot map."""
    name = f"vela {VELA_SYSTEMS[profile][0]}"
    program = tool_environments.program("vela")
    if not program:
        return skipped(name, "vela")
    if not flatbuffer(network).exists():
        return Verdict(name, None, "skipped: it was not serialized")
    finished, row = compile_with_vela(program, flatbuffer(network), profile, network.path.parent / profile)
    expected = check(network, profile)
    if finished.returncode != 0:
        verdict = failure(name, finished)
        verdict.agrees = expected.taken is False
        if not verdict.agrees:
            verdict.reason += f"; mct-check-integer=profile={profile} did not say so"
        return verdict
    verdict = Verdict(name, True, seconds=finished.seconds)
    verdict.cycles = round(float(row["cycles_total"]))
    verdict.sram_kib = float(row["sram_memory_used"])
    if left := operators_of_cpu(finished):
        verdict.reason, verdict.agrees = f"{left} operators are left to the CPU", False
    elif expected.taken is False and check(network).taken:
        verdict.reason, verdict.agrees = f"mct-check-integer=profile={profile}: {expected.reason}", False
    return verdict


def iree(network: Network) -> Verdict:
    program = tool_environments.program("iree")
    if not program:
        return skipped("iree", "iree")
    folder = network.path.parent
    compiled = folder / "network.vmfb"
    finished = measure.run([program, *IREE_OPTIONS, network.path, "-o", compiled])
    seconds = finished.seconds
    if finished.returncode == 0:
        finished = measure.run(
            [
                program.parent / "python",
                HERE / "run_iree.py",
                compiled,
                network.function,
                folder,
                str(len(network.inputs)),
            ]
        )
    if finished.returncode != 0:
        return failure("iree", finished)
    return Verdict("iree", True, seconds=seconds + finished.seconds, outputs=load_outputs(folder, "iree"))


def mlsdk(network: Network) -> Verdict:
    """Arm's model-converter for Vulkan; running what it makes needs a device with its extensions."""
    program = tool_environments.program("mlsdk")
    if not program:
        return skipped("model-converter", "mlsdk")
    finished = measure.run([program, "--input", network.path, "--output", network.path.with_suffix(".vgf")])
    if finished.returncode != 0:
        return failure("model-converter", finished)
    return Verdict("model-converter", True, seconds=finished.seconds)


def compare(verdict: Verdict, expected: list[np.ndarray], network: Network) -> None:
    """Counts the values that differ from the reference model's."""
    if len(verdict.outputs) != len(expected):
        verdict.reason, verdict.agrees = (
            f"{len(verdict.outputs)} results, the reference model has {len(expected)}",
            False,
        )
        return
    verdict.differing = 0
    for ours, theirs in zip(verdict.outputs, expected, strict=True):
        ours, theirs = ours.reshape(-1), theirs.reshape(-1)
        if ours.shape != theirs.shape:
            verdict.reason, verdict.agrees = f"{ours.size} values, the reference model has {theirs.size}", False
            return
        distance = np.abs(ours.astype(np.float64) - theirs.astype(np.float64))
        allowed = FLOAT_TOLERANCE * np.maximum(np.abs(theirs), 1.0) if theirs.dtype.kind == "f" else 0.0
        verdict.differing += int(np.count_nonzero(~(distance <= allowed)))
        verdict.compared += ours.size
        verdict.largest = max(verdict.largest, float(np.max(distance, initial=0.0)))
    verdict.agrees = verdict.differing == 0


def excuse(verdict: Verdict, network: Network) -> None:
    """A difference that is known to be the tool's is printed, and does not count for the network."""
    if verdict.agrees:
        return
    for pattern, text in KNOWN.get(verdict.tool, []):
        if re.search(pattern, network.text):
            verdict.reason = f"known: {text}" + (f" ({verdict.reason})" if verdict.reason else "")
            verdict.agrees = True
            return
