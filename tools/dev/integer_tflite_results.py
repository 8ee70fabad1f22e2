#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints a table of quantized `.tflite` files: codes that LiteRT's reference kernels make otherwise, and Vela's cycles.

    build/venv/bin/python tools/dev/importers --install-only small
    build/venv/bin/python tools/dev/downstream --install tosa vela
    PYTHONPATH=$PWD/build/python build/importers/small/bin/python tools/dev/integer_tflite_results.py FILE.tflite...

Each file has one input and one result of int8. It becomes a network with points, and that a network of integers, which
rounds twice behind convolutions, as the reference kernels do, or once. All values that have a name in both are
compared, end to end, on random codes. Cycles are those of the file, of the file without its last softmax, and of the
network of integers for the device, which leaves that out. Exit status 1 where a value differs or ours takes more cycles
than the file. docs/results/tflite.md has the table for the files of mlcommons/tiny.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path

import measure
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent / "downstream"))

import consumers
import integer_network
import mct
import tool_environments
from ai_edge_litert import schema_py_generated as schema
from ai_edge_litert.interpreter import Interpreter, OpResolverType

PROFILES = {"ethos-u55": "U55-256", "ethos-u85": "U85-256"}
COLUMNS = ["network (samples)", "values", "differing", "rounded once"]
COLUMNS += [f"cycles {name}{of}" for name in PROFILES.values() for of in ("", ", no softmax", ", ours")]


class Reference:
    """LiteRT's reference kernels on a file: random codes of its input, and what they make of every tensor."""

    def __init__(self, data: bytes, samples: int) -> None:
        interpreter = Interpreter(
            model_content=data,
            experimental_op_resolver_type=OpResolverType.BUILTIN_REF,
            experimental_preserve_all_tensors=True,
        )
        interpreter.allocate_tensors()
        (source,), (result,) = interpreter.get_input_details(), interpreter.get_output_details()
        if source["dtype"] != np.int8 or result["dtype"] != np.int8:
            raise SystemExit("the input and the result are to be of int8")
        shape = (samples, *source["shape"][1:])
        codes = np.random.default_rng(0).integers(-128, 127, shape, np.int8, endpoint=True)
        scale, zero_point = source["quantization"]
        self.samples = (codes.astype(np.float32) - zero_point) * np.float32(scale)
        # Tensors of constants have values before anything runs, which changes nothing.
        made = [each for each in interpreter.get_tensor_details() if each["dtype"] == np.int8 and each["name"]]
        runs: dict[str, list[np.ndarray]] = {each["name"]: [] for each in made}
        for sample in codes:
            interpreter.set_tensor(source["index"], sample[None])
            interpreter.invoke()
            for each in made:
                runs[each["name"]].append(interpreter.get_tensor(each["index"]).copy())
        self.values = {name: np.stack(run) for name, run in runs.items()}

    def find(self, name: str, size: int) -> np.ndarray | None:
        """Returns the name of a value in the compiler; the converter joins names of fused layers by semicolons."""
        named = [key for key in self.values if name == key or name in key.split(";")]
        return next((self.values[key] for key in named if self.values[key].size == size), None)


def compare(model: mct.Model, reference: Reference, rounding: str) -> tuple[int, int]:
    """Returns how many values of the network of integers differ, and of how many."""
    passes = (
        f"mct-simulate-integers,mct-lower-to-integer{{io=integer softmax=cut rounding={rounding}}},mct-return-points"
    )
    integers = mct.Model(model.module.run(passes))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "integer.mlirbc"
        integers.save(path)
        signature = json.loads(measure.run_ok([measure.BIN / "mct-run", "--signature", "--json", path]).stdout)
    # A result may be a point, too.
    names = [entry["name"] for entry in signature["outputs"]]
    named = dict(zip(names, integers.run(reference.samples), strict=True))
    differing = values = 0
    for name, found in named.items():
        expected = reference.find(name, found.size)
        if expected is not None:
            differing += int(np.count_nonzero(found != expected.reshape(found.shape)))
            values += found.size
    return differing, values


def without_softmax(data: bytes) -> bytes:
    """The file without a softmax at its end."""
    import flatbuffers

    model = schema.ModelT.InitFromPackedBuf(data, 0)
    (graph,) = model.subgraphs
    last = graph.operators[-1]
    code = model.operatorCodes[last.opcodeIndex]
    if max(code.builtinCode, code.deprecatedBuiltinCode) != schema.BuiltinOperator.SOFTMAX:
        return data
    graph.operators.pop()
    graph.outputs = [last.inputs[0]]
    for signature in model.signatureDefs or []:
        signature.outputs[0].tensorIndex = last.inputs[0]
    builder = flatbuffers.Builder(len(data))
    builder.Finish(model.Pack(builder), b"TFL3")
    return bytes(builder.Output())


def cycles_of_file(data: bytes, profile: str, folder: Path) -> int:
    """Returns what Vela estimates of a `.tflite`."""
    file = folder / "network.tflite"
    file.write_bytes(data)
    finished, row = consumers.compile_with_vela(tool("vela"), file, profile, folder / profile)
    if finished.returncode != 0:
        raise SystemExit(f"vela: {consumers.last_line(finished.stderr + finished.stdout)}")
    return round(float(row["cycles_total"]))


def cycles_of_integers(model: mct.Model, profile: str, folder: Path) -> int:
    """Returns what Vela estimates of the network of integers for a device; all of it has to run there."""
    lowering = f"mct-simulate-integers,mct-lower-to-integer{{io=integer softmax=cut batch=1 profile={profile}}}"
    path = folder / f"{profile}.mlirbc"
    mct.Model(model.module.run(lowering)).save(path)
    network = integer_network.prepare(path, folder / f"{profile}-ours")
    for verdict in (consumers.serialize(network), consumers.vela(network, profile)):
        if not verdict.taken or not verdict.agrees:
            raise SystemExit(f"{verdict.tool}: {verdict.reason}")
    return verdict.cycles or 0


def tool(name: str) -> Path:
    program = tool_environments.program(name)
    if program is None:
        raise SystemExit(f"{name} is not installed (tools/dev/downstream --install {name})")
    return program


def judge(file: Path, samples: int) -> tuple[list[str], bool]:
    """Returns the row of a file, and whether nothing differs and ours takes no more cycles."""
    data = file.read_bytes()
    model, reference = mct.load(data), Reference(data, samples)
    differing, values = compare(model, reference, "double-convolutions")
    numbers, holds = [values, differing, compare(model, reference, "half-up")[0]], differing == 0
    with tempfile.TemporaryDirectory() as folder:
        for profile in PROFILES:
            found = [cycles_of_file(each, profile, Path(folder)) for each in (data, without_softmax(data))]
            found.append(cycles_of_integers(model, profile, Path(folder)))
            holds = holds and found[2] <= found[0]
            numbers += found
    return [f"{file.stem} ({samples})", *(f"{number:,}".replace(",", " ") for number in numbers)], holds


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE.tflite")
    parser.add_argument("--samples", type=int, default=5, help="random samples of each, default: %(default)s")
    options = parser.parse_args()
    for name in ("tosa", "vela"):
        tool(name)
    print("| " + " | ".join(COLUMNS) + " |\n" + "|---" * len(COLUMNS) + "|")
    all_hold = True
    for file in options.files:
        cells, holds = judge(file, options.samples)
        all_hold = all_hold and holds
        print("| " + " | ".join(cells) + " |", flush=True)
    return 0 if all_hold else 1


if __name__ == "__main__":
    sys.exit(main())
