# SPDX-License-Identifier: Apache-2.0
"""Costs of layers on a device, as its vendor's compiler or a program of yours estimates them.

    costs = mct.cost.ethos_u(quantized, "ethos-u55-256")            cycles and bytes of each operator
    mct.cost.write_table(quantized, "ethos-u55-256", "costs.json")  that of all alternatives, for `minimize="cycles"`
    mct.cost.update_table(quantized, "costs.json")                  the same with what this network really takes
    mct.cost.measure(quantized, ["simulator", "--json"])            the same as `ethos_u`, by a program of yours

Arm's Vela estimates the cycles of Ethos-U: `pip install "mct-mlir[ethos-u]"`. It runs once for each network of
integers: its answers are kept in the user's cache folder, by the bytes of the network and the version of Vela.
"""

from __future__ import annotations

import csv
import functools
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mct import _extras, _native
from mct.errors import Error, describe
from mct.exporters.tosa import export_tosa
from mct.model import Model

__all__ = ["Costs", "OperatorCost", "ethos_u", "measure", "update_table", "write_table"]

# Memory and clock of Arm's reference systems, as in vela.ini, by the family of the device.
_SYSTEMS = {
    "ethos-u55": ("Ethos_U55_High_End_Embedded", "Shared_Sram"),
    "ethos-u65": ("Ethos_U65_High_End", "Dedicated_Sram"),
    "ethos-u85": ("Ethos_U85_SYS_DRAM_Mid", "Dedicated_Sram_384KB"),
}
# Families with a `tpc.device` of their own; the others are lowered as the first.
_PROFILES = ("ethos-u55", "ethos-u85")
# The end of a name that the lowering to integers gives to parts of an operator.
_PART = re.compile(r"/integer(_\d+)?$")
_TOLERANCES = (2, 4, 8, 16, 32, 64)


@dataclass(frozen=True)
class OperatorCost:
    """Cost of an operator.

    name:         as in the network that was quantized.
    cycles:       for which the device is busy with it.
    memory_bytes: of the device's memory that live while it runs.
    """

    name: str
    cycles: int
    memory_bytes: int


@dataclass(frozen=True)
class Costs:
    """Costs of a network on a device.

    device:       the configuration, `ethos-u55-256`.
    operators:    those that the device spends cycles on, in the order in which it runs them.
    cycles:       of the whole network.
    memory_bytes: of the device's memory that it needs.
    """

    device: str
    operators: tuple[OperatorCost, ...]
    cycles: int
    memory_bytes: int

    def __getitem__(self, name: str) -> OperatorCost:
        """The cost of an operator; that of one on which no cycles are spent is 0."""
        return next((one for one in self.operators if one.name == name), OperatorCost(name, 0, 0))


def find_vela() -> Path:
    """Finds `vela` in $MCT_VELA, beside this interpreter, or on the PATH; raises ImportError if there is none."""
    for folder in (os.environ.get("MCT_VELA"), os.path.dirname(sys.executable), None):
        found = shutil.which("vela", path=folder) if folder != "" else None
        if found:
            return Path(found)
    raise ImportError(f"cycles of Ethos-U need vela: {_extras.install_command('ethos-u')}")


def ethos_u(
    model: Model, accelerator: str = "ethos-u55-256", *, softmax: str = "cut", system: str = "", memory: str = ""
) -> Costs:
    """Cycles and bytes of a quantized network on Arm's Ethos-U, as Vela estimates them.

    model:       a quantized network, which is lowered to integers for the device, or a network of integers.
    accelerator: a configuration of Vela, "ethos-u55-256" or "ethos-u85-256", say.
    softmax:     what becomes of one at the end; see `mct.lower_to_integer`.
    system, memory: names of a system and a memory mode of Arm/vela.ini; empty for those of Arm's reference systems.

    Raises ImportError with the command that installs it if Vela or the serializer of TOSA is missing, and `mct.Error`
    for what they refuse.
    """
    return _run_vela(_lower(model, accelerator, softmax), accelerator, system, memory)


def measure(
    model: Model, command: Sequence[str], *, device: str = "", profile: str = "", softmax: str = "cut"
) -> Costs:
    """Cycles and bytes of a quantized network as a program estimates or measures them.

    model:   a quantized network, which is lowered to integers, or a network of integers.
    command: words of a command, which no shell reads. It gets a JSON object on standard input: `format`
             ("mct-cost-question"), `version` (1), `device`, `network` (the path of a module of integers, as MLIR) and
             `layers`, those of `Model.costs`, with the names of operators. It prints another one: `cycles` and
             `memory_bytes` of the network, and `operators`, with `name`, `cycles` and `memory_bytes` of those that
             cost some.
    device:  what the result and the question call the device; "": the program.
    profile, softmax: of the network of integers; see `mct.lower_to_integer`.

    The program runs with the rights of the caller. No file names one: neither a model nor a target makes it run.
    Raises `mct.Error` where the command fails, or prints something else.
    """
    integer = _lower_for(model, profile, softmax) if model.points else model
    return _run_command(integer, _layers(model), command, device)


def _run_command(integer: Model, layers: Sequence[Mapping[str, Any]], command: Sequence[str], device: str) -> Costs:
    if isinstance(command, str) or not command:
        raise Error(f"command: expected a list of words, the first of which is a program, found {describe(command)}")
    words = [os.fspath(word) for word in command]
    with tempfile.TemporaryDirectory(prefix="mct-cost-") as work:
        file = Path(work, "network.mlir")
        integer.save(file)
        device = device or Path(words[0]).name
        question = {"format": "mct-cost-question", "version": 1, "device": device, "network": str(file)}
        try:
            finished = subprocess.run(
                words,
                input=json.dumps(question | {"layers": layers}),
                capture_output=True,
                text=True,
                errors="replace",
                check=False,
            )
        except OSError as error:
            raise Error(f"command: '{words[0]}' cannot be run: {error.strerror}") from None
    if finished.returncode != 0:
        output = finished.stderr.strip().splitlines()
        raise Error(
            f"command: '{words[0]}' ends with {finished.returncode}: {output[-1] if output else 'it says nothing'}",
            diagnostics=finished.stderr,
        )
    return _read_answer(finished.stdout, {layer["name"] for layer in layers}, words[0], device)


def _read_answer(text: str, names: Container[str], program: str, device: str) -> Costs:
    """Returns what a command printed."""

    def fail(why: str) -> Error:
        return Error(
            f"command: '{program}' answers {why}",
            notes=[
                'expected {"cycles": 12, "memory_bytes": 34, "operators": [{"name": "conv", "cycles": 12, '
                '"memory_bytes": 34}]}'
            ],
        )

    def number(of: Mapping[str, Any], key: str) -> int:
        value = of.get(key)
        if type(value) is not int or value < 0:
            raise fail(f"{value!r} as '{key}' of {of.get('name', 'the network')}, and not a number of them")
        return value

    try:
        answer = json.loads(text)
    except ValueError:
        raise fail("what is not JSON") from None
    if not isinstance(answer, dict) or not isinstance(answer.get("operators"), list):
        raise fail("without a list of 'operators'")
    operators = []
    for each in answer["operators"]:
        if not isinstance(each, dict) or each.get("name") not in names:
            raise fail(f"with {each.get('name') if isinstance(each, dict) else each!r}, which does not name a layer")
        operators.append(OperatorCost(each["name"], number(each, "cycles"), number(each, "memory_bytes")))
    if len({one.name for one in operators}) != len(operators):
        raise fail("with an operator that is there twice")
    return Costs(device, tuple(operators), number(answer, "cycles"), number(answer, "memory_bytes"))


def write_table(
    models: Model | Sequence[Model],
    accelerator: str,
    path: str | os.PathLike[str],
    *,
    tolerances: Sequence[int] = _TOLERANCES,
    softmax: str = "cut",
    system: str = "",
    memory: str = "",
    command: Sequence[str] | None = None,
    profile: str = "",
) -> None:
    """Write a table of the costs of layers, for `mct.quantize(…, minimize="cycles", cost_table=path)`.

    models:     quantized networks with their alternatives, as `mct.quantize` makes them. For each alternative Vela
                runs on the network in which all operators take it, so that layers are measured among their neighbours,
                unless the costs of all layers are known from other networks.
    path:       of the JSON document `mct-costs`.
    tolerances: error tolerances of kernels that are alternatives, too (`weights-error-tolerances`).
    command:    is run instead of Vela, as by `measure`, for a device of any name. `profile` is that of the integers.

    The other arguments, and what is raised, are those of `ethos_u`.
    """
    measured: dict[str, tuple[dict[str, Any], dict[int, list[OperatorCost]]]] = {}
    for model in [models] if isinstance(models, Model) else models:
        for network in _alternatives(model, tolerances):
            layers = _layers(network)
            rows = [
                (measured.setdefault(json.dumps(form, sort_keys=True), (form, {}))[1], layer)
                for layer in layers
                for form in [layer["form"]]
            ]
            if all(layer["compressed_bytes"] in points for points, layer in rows):
                continue
            costs = _ask(network, accelerator, layers, softmax, system, memory, command, profile)
            for points, layer in rows:
                points.setdefault(layer["compressed_bytes"], []).append(costs[layer["name"]])
    layers = [
        form | {"points": [_mean(size, points[size]) for size in sorted(points)]} for form, points in measured.values()
    ]
    document = {
        "format": "mct-costs",
        "version": 1,
        "device": accelerator,
        "tool": _version(find_vela()) if command is None else Path(command[0]).name,
        "layers": layers,
    }
    _native.write_file(os.fspath(path), json.dumps(document, indent=1).encode() + b"\n")


def _ask(
    network: Model,
    accelerator: str,
    layers: Sequence[Mapping[str, Any]],
    softmax: str,
    system: str,
    memory: str,
    command: Sequence[str] | None,
    profile: str,
) -> Costs:
    """Costs of a quantized network and its layers, by Vela or by a command."""
    if command is not None:
        return _run_command(_lower_for(network, profile, softmax), layers, command, accelerator)
    names = frozenset(layer["name"] for layer in layers)
    return _run_vela(_lower(network, accelerator, softmax), accelerator, system, memory, names)


def update_table(
    model: Model,
    path: str | os.PathLike[str],
    *,
    softmax: str = "cut",
    system: str = "",
    memory: str = "",
    command: Sequence[str] | None = None,
    profile: str = "",
) -> Costs:
    """Measure a quantized network as it is, and write the costs of its layers to a table of `write_table`.

    A layer may take more or less time if its neighbours have other kernels than in the networks of the table. After
    an update the table predicts this network; quantizing again with it takes that into account.

    model:   a network that `mct.quantize` made with this table.
    path:    of the table, whose device is asked.

    The other arguments, and what is raised, are those of `write_table`. Returns the measured costs.
    """
    # A broken table is an error here, not after the measurement.
    model.costs(path)
    document = json.loads(Path(path).read_text())
    layers = _layers(model)
    costs = _ask(model, document["device"], layers, softmax, system, memory, command, profile)

    def describe_form(entry: Mapping[str, Any], *without: str) -> str:
        return json.dumps({key: value for key, value in entry.items() if key not in without}, sort_keys=True)

    known = {describe_form(entry, "points") for entry in document["layers"]}
    measured: dict[tuple[str, int], list[OperatorCost]] = {}
    for layer in layers:
        form = describe_form(layer["form"])
        # An entry without a width is for kernels of all widths that have no entry.
        form = form if form in known else describe_form(layer["form"], "kernel_bits")
        measured.setdefault((form, layer["compressed_bytes"]), []).append(costs[layer["name"]])
    for entry in document["layers"]:
        points = {point["compressed_bytes"]: point for point in entry["points"]}
        own = describe_form(entry, "points")
        points |= {size: _mean(size, each) for (form, size), each in measured.items() if form == own}
        entry["points"] = [points[size] for size in sorted(points)]
    _native.write_file(os.fspath(path), json.dumps(document, indent=1).encode() + b"\n")
    return costs


def _mean(size: int, costs: Sequence[OperatorCost]) -> dict[str, int]:
    """Returns a point of the table: layers of one form and size may have different neighbours."""
    return {
        "compressed_bytes": size,
        "cycles": round(sum(one.cycles for one in costs) / len(costs)),
        "memory_bytes": max(one.memory_bytes for one in costs),
    }


def _alternatives(model: Model, tolerances: Sequence[int]) -> Iterable[Model]:
    """Yields the network in which all operators take their first alternative, then their second, and so on."""
    from mct import stages

    wide = stages.add_error_tolerances(model, weights_error_tolerances=tolerances) if tolerances else model
    with tempfile.TemporaryDirectory(prefix="mct-cost-") as work:
        chosen, known = Path(work, "chosen.json"), Path(work, "known.json")
        chosen.write_text(json.dumps({"operators": []}))
        stages.assign_bit_widths(wide, bit_widths_in=chosen, bit_widths_out=known)
        operators = json.loads(known.read_text())["operators"]
        for number in range(max([len(one["alternatives"]) for one in operators], default=1)):
            rows = [
                {"name": one["name"], "alternative": min(number, len(one["alternatives"]) - 1)} for one in operators
            ]
            chosen.write_text(json.dumps({"operators": rows}))
            yield stages.select_weight_parameters(stages.assign_bit_widths(wide, bit_widths_in=chosen))


def _layers(model: Model) -> list[dict[str, Any]]:
    """The layers of the only function, or of `main`."""
    functions = {one["name"]: one["layers"] for one in model.costs()["functions"]}
    layers: list[dict[str, Any]] = functions["main"] if "main" in functions else next(iter(functions.values()))
    return layers


def _family(accelerator: str) -> str:
    family = accelerator.rpartition("-")[0]
    if family not in _SYSTEMS:
        known = ", ".join(f"{name}-…" for name in _SYSTEMS)
        raise Error(f"accelerator: expected a configuration of Vela ({known}), found {accelerator!r}")
    return family


def _lower(model: Model, accelerator: str, softmax: str) -> Model:
    """Returns the network of integers for a device of Arm's."""
    family = _family(accelerator)
    if not model.points:
        return model
    return _lower_for(model, family if family in _PROFILES else _PROFILES[0], softmax)


def _lower_for(model: Model, profile: str, softmax: str) -> Model:
    from mct import stages

    simulated = stages.simulate_integers(model)
    return stages.lower_to_integer(simulated, profile=profile, io="integer", softmax=softmax)  # type: ignore[arg-type]


def _run_vela(model: Model, accelerator: str, system: str, memory: str, layers: Container[str] | None = None) -> Costs:
    """Returns Vela's estimates of a network of integers. `layers`: the names that operators have; None: any."""
    default = _SYSTEMS[_family(accelerator)]
    program = find_vela()
    options = [
        "--config",
        "Arm/vela.ini",
        "--system-config",
        system or default[0],
        "--memory-mode",
        memory or default[1],
    ]
    options += ["--accelerator-config", accelerator, "--verbose-performance"]
    with tempfile.TemporaryDirectory(prefix="mct-cost-") as work:
        file = Path(work, "network.tosa")
        export_tosa(model, file)
        digest = hashlib.sha256(
            "\n".join([_version(program), *options]).encode() + b"\n" + file.read_bytes()
        ).hexdigest()
        kept = _cache() / f"{digest}.json"
        if kept.exists():
            answer = json.loads(kept.read_text())
        else:
            answer = _run(program, options, file, Path(work))
            kept.parent.mkdir(parents=True, exist_ok=True)
            _native.write_file(os.fspath(kept), json.dumps(answer).encode())
    return _read(answer, _ops(model), accelerator, layers)


def _cache() -> Path:
    """The folder of answers of Vela: below $XDG_CACHE_HOME, or ~/.cache."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "mct" / "vela"


@functools.cache
def _version(program: Path) -> str:
    output = subprocess.run([program, "--version"], capture_output=True, text=True, check=False).stdout.split()
    return "vela " + (output[-1] if output else "of an unknown version")


def _run(program: Path, options: Sequence[str], file: Path, work: Path) -> dict[str, Any]:
    """Returns the rows of Vela's tables of operators, and of the network."""
    finished = subprocess.run(
        [program, *options, "--output-dir", work / "vela", file],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    folder = work / "vela"
    tables = [*folder.glob("*_per-layer.csv"), *folder.glob("*_summary_*.csv")]
    output = finished.stdout + finished.stderr
    if finished.returncode != 0 or len(tables) != 2:
        lines = [line for line in output.splitlines() if line.strip()]
        reason = next((line for line in lines if "rror" in line), lines[-1] if lines else "it says nothing")
        raise Error(f"vela refuses the network: {reason}", notes=[_REMEDY], diagnostics=output)
    operators, networks = ([*csv.DictReader(table.read_text().splitlines())] for table in tables)
    if left := [row["Name"] for row in operators if row["Target"] != "NPU"]:
        raise Error(
            f"vela leaves {len(left)} operators to the processor, whose cycles it does not know", notes=[_REMEDY]
        )
    return {"operators": operators, "network": networks[-1]}


_REMEDY = 'mct.check_integer(integer, profile="ethos-u55") says what the device refuses, and why'


def _ops(model: Model) -> dict[str, Any]:
    """The ops of the network that is serialized: `names` by numbers of results, and `results` of the network."""
    functions = {one["function"]: one for one in json.loads(model.module.run("mct-lower-to-quant").op_names())}
    ops: dict[str, Any] = functions["main"] if "main" in functions else next(iter(functions.values()))
    return ops


def _read(answer: dict[str, Any], ops: Mapping[str, Any], accelerator: str, layers: Container[str] | None) -> Costs:
    """Adds up the rows of each operator. A row without an operator counts with the next one that has one."""
    found: dict[str, list[int]] = {}
    pending = [0, 0]
    last = ""
    for row in answer["operators"]:
        pending[0] += round(float(row["Op Cycles"]))
        pending[1] = max(pending[1], round(float(row["Staging Usage"])))
        name = _name_of(row["Name"], ops)
        if not name or (layers is not None and name not in layers):
            continue
        last = name
        total = found.setdefault(name, [0, 0])
        total[0], total[1] = total[0] + pending[0], max(total[1], pending[1])
        pending = [0, 0]
    if last:
        found[last][0] += pending[0]
    network = answer["network"]
    operators = tuple(OperatorCost(name, cycles, memory) for name, (cycles, memory) in found.items())
    memory = round(1024 * float(network["sram_memory_used"]))
    return Costs(accelerator, operators, round(float(network["cycles_total"])), memory)


def _name_of(result: str, ops: Mapping[str, Any]) -> str:
    """The operator that makes a result as Vela calls it, `layer_NUMBER` or `TosaOutput_NUMBER`; empty for none."""
    kind, _, number = result.partition("_")
    number = number.split("_")[0]
    if not number.isdigit():
        return ""
    op = int(number)
    if kind == "TosaOutput":
        op = ops["results"][op] if op < len(ops["results"]) else -1
    return _PART.sub("", ops["names"][op]) if 0 <= op < len(ops["names"]) else ""
