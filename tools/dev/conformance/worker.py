# SPDX-License-Identifier: Apache-2.0
"""Runs cases in one runtime; the Python of its environment runs this.

    worker.py RUNTIME FOLDER FIRST

Reads FOLDER/RUNTIME.json and appends lines of JSON to FOLDER/RUNTIME.jsonl: for each case `begun`, its number, before
it runs, so that the parent knows which one ended the process, and then `outputs` or `refused`. Starts with the case of
number FIRST.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent / "downstream")]

SETTINGS = json.loads(os.environ.get("MCT_CONFORMANCE_SETTINGS", "{}"))


class Refused(Exception):
    """A runtime does not take a case."""


def stored(entry):
    """Returns the integers of the inputs."""
    return [np.array(one["values"], one["dtype"]).reshape(one["shape"]) for one in entry["inputs"]]


def real(entry):
    """Returns what they stand for; integers without a scale stay what they are."""
    return [
        np.array(one.get("numbers", one["values"]), np.float32 if "numbers" in one else one["dtype"]).reshape(
            one["shape"]
        )
        for one in entry["inputs"]
    ]


def mct_runtime(form, samples):
    import mct

    def run(path, entry):
        inputs = samples(entry)
        model = mct.Model.parse(Path(path).read_bytes(), Path(path).name)
        result = model.run(tuple(inputs) if len(inputs) > 1 else inputs[0])
        return list(result) if isinstance(result, tuple) else [result]

    return form, run


def mct_exact():
    """Compares every point with the simulation, each computed from the integers that the integer network has."""
    import measure

    def run(path, entry):
        with tempfile.TemporaryDirectory() as folder:
            options = [f"--compare={path}", "--exact", "--local"]
            for number, sample in enumerate(real(entry)):
                np.save(Path(folder, f"{number}.npy"), sample)
                options.append(f"--input={number}:{folder}/{number}.npy")
            command = [measure.BIN / "mct-run", path.with_name(entry["files"]["integers"]), *options]
            finished = subprocess.run(command, capture_output=True, text=True)
        if finished.returncode != 0:
            raise Refused(finished.stderr.replace(str(path), "the simulation"))
        return []

    return "pair", run


def reference():
    import run_reference

    return "tosa", lambda path, entry: run_reference.evaluate(Path(path).read_bytes(), stored(entry))


def iree():
    import iree.runtime
    import run_iree
    from iree.compiler import api

    def run(path, entry):
        session = api.Session()
        session.set_flags(*SETTINGS["iree"])
        invocation = session.invocation()
        invocation.enable_console_diagnostics()
        source = api.Source.wrap_buffer(session, Path(path).read_bytes())
        if not invocation.parse_source(source) or not invocation.execute():
            raise Refused("")
        with tempfile.TemporaryDirectory() as folder:
            output = api.Output.open_file(str(Path(folder, "network.vmfb")))
            invocation.output_vm_bytecode(output)
            output.keep()
            output.close()
            module = iree.runtime.load_vm_flatbuffer_file(str(Path(folder, "network.vmfb")), driver="local-sync")
            return run_iree.evaluate(module, "main", stored(entry))

    return "integers", run


def vela(profile):
    from ethosu.vela import vela as compiler

    accelerator, system, memory = SETTINGS["vela"][profile]

    def run(path, entry):
        with tempfile.TemporaryDirectory() as folder:
            options = ["--config", "Arm/vela.ini", "--system-config", system, "--memory-mode", memory]
            options += ["--accelerator-config", accelerator, "--output-dir", folder, str(path)]
            try:
                status = compiler.main(options)
            except SystemExit as stop:
                status = stop.code
        if status:
            raise Refused("")
        return []

    return "tosa", run


def onnxruntime():
    import onnx
    import onnxruntime as runtime
    import run_onnx

    runtime.set_default_logger_severity(3)

    def run(path, entry):
        axes = run_onnx.read_axes(onnx.load(path))
        options = run_onnx.session_options(is_plain=True)
        options.intra_op_num_threads = 1
        session = runtime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        names = [one.name for one in session.get_inputs()]
        feeds = {name: run_onnx.in_file_order(x, name, axes) for name, x in zip(names, real(entry), strict=True)}
        results = [one.name for one in session.get_outputs()]
        found = session.run(None, feeds)
        return [run_onnx.in_module_order(y, name, axes) for name, y in zip(results, found, strict=True)]

    return "onnx", run


def openvino():
    import onnx
    import openvino as ov
    import run_onnx

    core = ov.Core()

    def run(path, entry):
        model = onnx.load(path)
        axes = run_onnx.read_axes(model)
        compiled = core.compile_model(core.read_model(str(path)), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
        names = [one.name for one in model.graph.input]
        feeds = [run_onnx.in_file_order(x, name, axes) for name, x in zip(names, real(entry), strict=True)]
        found = compiled(feeds)
        results = [one.name for one in model.graph.output]
        return [run_onnx.in_module_order(found[i], name, axes) for i, name in enumerate(results)]

    return "onnx", run


def litert(kernels):
    from ai_edge_litert.interpreter import Interpreter, OpResolverType

    def run(path, entry):
        interpreter = Interpreter(
            model_path=str(path), num_threads=1, experimental_op_resolver_type=getattr(OpResolverType, kernels)
        )
        interpreter.allocate_tensors()
        samples = zip(interpreter.get_input_details(), stored(entry), real(entry), strict=True)
        for detail, integers, numbers in samples:
            interpreter.set_tensor(detail["index"], integers if detail["dtype"] == integers.dtype else numbers)
        interpreter.invoke()
        return [interpreter.get_tensor(detail["index"]).copy() for detail in interpreter.get_output_details()]

    return "tflite", run


def micro():
    from tflite_micro.python.tflite_micro import runtime

    def run(path, entry):
        interpreter = runtime.Interpreter.from_bytes(Path(path).read_bytes())
        for number, sample in enumerate(stored(entry)):
            interpreter.set_input(sample, number)
        interpreter.invoke()
        return [np.array(interpreter.get_output(number)) for number in range(len(entry["outputs"]))]

    return "tflite", run


RUNTIMES = {
    "mct-run": lambda: mct_runtime("integers", stored),
    "mct-exact": mct_exact,
    "mct-simulation": lambda: mct_runtime("simulation", real),
    "reference": reference,
    "iree": iree,
    "vela-u55": lambda: vela("ethos-u55"),
    "vela-u85": lambda: vela("ethos-u85"),
    "onnxruntime": onnxruntime,
    "openvino": openvino,
    "litert": lambda: litert("AUTO"),
    "litert-reference": lambda: litert("BUILTIN_REF"),
    "micro": micro,
}


def reason(problem: Exception, printed: str) -> str:
    """Returns one line: the message of the exception, or the output of the runtime."""
    texts = [str(problem), printed] if str(problem).strip() else [printed]
    lines = [line.strip() for text in texts for line in text.splitlines() if line.strip()]
    chosen = next((line for line in lines if re.search(r"(?i)error|require|could not|cannot|didn't|fail", line)), "")
    return re.sub(r"^.*?(?:error|Error): ", "", chosen or (lines[0] if lines else "no message"))[:200]


class Printed:
    """Sends what is printed meanwhile, by C++ as well, to a file."""

    def __enter__(self):
        self.file = tempfile.TemporaryFile()
        self.kept = [os.dup(number) for number in (1, 2)]
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        for number in (1, 2):
            os.dup2(self.file.fileno(), number)
        return self

    def __exit__(self, *_):
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        for number, kept in zip((1, 2), self.kept, strict=True):
            os.dup2(kept, number)
            os.close(kept)
        self.file.seek(0)
        self.text = self.file.read().decode(errors="replace")
        self.file.close()


def main(name, folder, first):
    folder = Path(folder)
    cases = json.loads((folder / f"{name}.json").read_text())
    form, run = RUNTIMES[name]()
    with (folder / f"{name}.jsonl").open("a") as results:

        def write(**fields):
            results.write(json.dumps(fields) + "\n")
            results.flush()

        for number, (case, entry) in enumerate(cases.items()):
            if number < int(first):
                continue
            write(begun=number, case=case)
            printed = Printed()
            try:
                with printed:
                    outputs = run(folder / entry["files"][form], entry)
                found = [{"dtype": str(one.dtype), "values": one.reshape(-1).tolist()} for one in outputs]
                write(case=case, outputs=found)
            except Exception as problem:  # whatever a runtime raises is its refusal
                write(case=case, refused=reason(problem, printed.text))


if __name__ == "__main__":
    main(*sys.argv[1:])
