# SPDX-License-Identifier: Apache-2.0
"""Shared by all importers: which one is taken, what is missing, converters that fail; and the text they look into.

Needs none of the extras. Their own tests are test_package_importers_*.py, skipped where an extra is missing;
`build/venv/bin/python tools/dev/importers` installs all of them and runs these tests.
"""

import importlib.util
import os
import shlex
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
from pathlib import Path

import pytest

mct = pytest.importorskip("mct", reason="the package is not built (tools/dev/build)")

import numpy as np  # noqa: E402
from mct import _extras, importers  # noqa: E402
from mct.importers import _flatbuffer, _process, _repairs, _text  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "test" / "data"

CONVERTED = """#loc1 = loc("m.tflite":0:0)
module {
  func.func @main(%arg0: tensor<1x4xf32> loc("main"(#loc1))) -> tensor<1x2xf32> {
    %0 = "tosa.const"() <{values = dense<"0x0000"> : tensor<1xf16>}> : () -> tensor<1xf16> loc(#loc2)
    %1 = tosa.exp %arg0 : (tensor<1x4xf32>) -> tensor<1x4xf32> loc(#loc2)
    %2 = tosa.abs %1 : (tensor<1x4xf32>) -> tensor<1x4xf32> loc(#loc2)
    %3 = tosa.reshape %2, %s : (tensor<1x4xf32>, !tosa.shape<2>) -> tensor<1x4xf32> loc(#loc2)
    %values, %indices = "tfl.topk_v2"(%3, %k) : (tensor<1x4xf32>, tensor<i32>) -> tensor<1x2xf32> loc(#loc4)
    %4 = tosa.custom %values {domain_name = "tfl"} : (tensor<1x2xf32>) -> tensor<1x2xf32> loc("odd\\22one"(#loc1))
    return %4 : tensor<1x2xf32> loc(#loc1)
  } loc(#loc1)
} loc(#loc1)
#loc2 = loc("dense"(#loc1))
#loc3 = loc("top"(#loc1))
#loc4 = loc(fused[#loc1, #loc3])
"""


def test_left_over_operations_have_the_names_of_their_layers():
    assert _text.left_over(CONVERTED) == [("tfl.topk_v2", "top"), ("tosa.custom", 'odd"one')]


def test_the_last_computation_of_a_layer_has_its_name():
    names = {operation.kind: operation.name for operation in _text.operations(_text.name_layers(CONVERTED))}
    assert names["tosa.abs"] == names["tosa.const"] == "dense"
    assert names["tosa.exp"] == "dense/exp"
    assert names["tosa.reshape"] == "dense/reshape"
    assert names["tosa.custom"] == 'odd"one'


def test_elements_of_constants_are_not_searched_for_operations():
    resource = '\n{-#\n  dialect_resources: {\n    builtin: {\n      tfl.weights: "0x00"\n    }\n  }\n#-}\n'
    assert _text.left_over(CONVERTED + resource) == _text.left_over(CONVERTED)
    assert _text.name_layers(CONVERTED + resource).endswith(resource)


def test_names_go_into_strings_and_back():
    name = 'ärger "quoted" \\ back\nline'
    assert _text.unescape(_text.escape(name)) == name
    module = f'module {{\n  func.func private @f(tensor<1xf32> {{a.b = "{_text.escape(name)}"}})\n}}'
    assert _text.escape(name) in mct.Model.parse(module).text


@pytest.mark.parametrize(
    "source, importer",
    [
        ("a.tflite", "tflite"),
        (Path("b/A.ONNX"), "onnx"),
        ("c.pt2", "torch"),
        ("d.keras", "keras"),
        ("e.h5", "keras"),
        ("e.hdf5", "keras"),
        (b"\x1c\0\0\0TFL3", "tflite"),
        ("f.mlir", None),
        (b"ML\xefR", None),
        (7, None),
    ],
)
def test_the_source_decides_on_the_importer(source, importer):
    assert importers.importer_of(source) == importer


def test_an_object_without_importer_is_refused():
    with pytest.raises(TypeError, match=r"no importer for int 7"):
        importers.import_model(7)
    with pytest.raises(mct.Error, match=r"cannot load an object of type int"):
        mct.load(7)


SOURCES = {"tflite": b"\x1c\0\0\0TFL3", "onnx": "model.onnx", "torch": "model.pt2", "keras": "model.keras"}


@pytest.mark.parametrize("extra", SOURCES)
def test_without_an_extra_the_command_is_named(extra, monkeypatch, tmp_path):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    source = SOURCES[extra]
    if isinstance(source, str):
        (tmp_path / source).write_bytes(b"")
        source = tmp_path / source
    monkeypatch.setattr(_extras, "is_installed_by_pip", lambda: True)
    with pytest.raises(ImportError, match=rf'pip install "mct-mlir\[{extra}\]"'):
        mct.load(source)


@pytest.mark.parametrize("extra", _extras.PACKAGES)
def test_a_build_tree_names_packages_that_pip_knows(extra):
    """pip knows no `mct-mlir[extra]` of a checkout, and `mct` in the package index is another project."""
    command = _extras.install_command(extra)
    assert command == f"{sys.executable} -m pip install {shlex.join(_extras.PACKAGES[extra])}"


def test_extras_are_pinned_to_what_is_tested():
    project = tomllib.loads((ROOT / "python" / "pyproject.toml").read_text())["project"]
    assert project["name"] == _extras.DISTRIBUTION
    assert project["optional-dependencies"] == {extra: list(packages) for extra, packages in _extras.PACKAGES.items()}


def test_another_version_is_warned_about(monkeypatch, caplog):
    monkeypatch.setitem(_extras.PACKAGES, "onnx", ("numpy==0.0.1",))
    monkeypatch.setitem(_extras._MODULES, "onnx", ("numpy",))
    _extras.require("onnx", "an ONNX model")
    assert "tested with 0.0.1" in caplog.text


@pytest.mark.parametrize("name", ["nothing.tflite", "nothing.onnx"])
def test_a_file_that_is_not_there_is_an_error(tmp_path, name):
    with pytest.raises(mct.Error, match=r"cannot read it") as caught:
        mct.load(tmp_path / name)
    assert caught.value.location.endswith(name)


def test_a_file_of_another_kind_is_an_error(tmp_path):
    (tmp_path / "text.tflite").write_text("not a flatbuffer")
    with pytest.raises(mct.Error, match=r"text.tflite: not a TensorFlow Lite file"):
        mct.load(tmp_path / "text.tflite")


@pytest.fixture
def converter(tmp_path, monkeypatch):
    """Runs a script as a converter, and checks that its folder is gone afterwards."""

    def run(script: str, **options):
        (tmp_path / "fake_converter.py").write_text("import os, signal, sys, time\n" + script)
        monkeypatch.setenv("PYTHONPATH", str(tmp_path))
        monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
        (tmp_path / "temporary").mkdir(exist_ok=True)
        try:
            with _process.folder() as work:
                _process.run("the converter", "model.x", ["fake_converter"], work, **options)
                return _process.read("the converter", "model.x", work / "module.mlir")
        finally:
            assert list((tmp_path / "temporary").iterdir()) == []

    return run


@pytest.mark.parametrize("name", ["SIGSEGV", "SIGABRT", "SIGKILL"])
def test_a_converter_that_crashes_is_one_error(converter, name):
    with pytest.raises(mct.Error, match=rf"model.x: the converter crashed \({name}") as caught:
        converter(
            f"open('module.mlir', 'w').write('half'); print('so far', flush=True); os.kill(0, 0)\n"
            f"os.kill(os.getpid(), signal.{name})"
        )
    assert caught.value.notes == ("so far",)


def test_a_converter_that_fails_is_quoted(converter):
    with pytest.raises(mct.Error, match=r"model.x: the converter failed: error: no such thing") as caught:
        converter("print('error: no such thing', file=sys.stderr); print('goodbye'); sys.exit(3)")
    assert caught.value.notes == ("error: no such thing", "goodbye")


def test_warnings_of_ours_reach_logging_and_chatter_does_not(converter, caplog):
    text = "module {\n  func.func @main() {\n  }\n}\n"
    script = "from mct.importers import _child\n_child.warn('look here')\nprint('warning: chatter')\n"
    assert converter(script + f"open('module.mlir', 'w').write({text!r})") == text
    assert [record.message for record in caplog.records] == ["model.x: look here"]


def test_a_converter_that_does_not_end_is_stopped(converter):
    with pytest.raises(mct.Error, match=r"did not end within 0.5 seconds"):
        converter("time.sleep(3600)", timeout=0.5)


def test_a_converter_that_writes_nothing_is_an_error(converter):
    with pytest.raises(mct.Error, match=r"ended without an error and wrote nothing"):
        converter("pass")


def test_a_module_without_a_function_is_an_error(converter):
    with pytest.raises(mct.Error, match=r"wrote a module without a function"):
        converter("open('module.mlir', 'w').write('module {\\n}\\n')")


@pytest.fixture
def loaded(converter, tmp_path, monkeypatch):
    """Executes the value of a variable of the environment in a process that is loaded once."""

    def run(main: str, before: str = "", **options):
        monkeypatch.setenv("DO", main)
        script = f"{before}\nopen({str(tmp_path / 'loads.txt')!r}, 'a').write('loaded ')\n"
        script += "def main():\n    exec(os.environ['DO'])\n"
        return converter(script, keeps_loaded=True, **options)

    yield run
    for kept in _process._Kept._free.values():
        kept._stop()
    _process._Kept._free.clear()


WRITES = r"open('module.mlir', 'w').write(f'module {{\n  func.func @main() // {os.getpid()}\n}}\n')"


def test_a_converter_that_is_kept_loads_once_and_converts_each_network_by_itself(loaded, tmp_path):
    assert loaded(WRITES) != loaded(WRITES)
    assert (tmp_path / "loads.txt").read_text() == "loaded "


def test_a_network_that_crashes_a_kept_converter_is_one_error_and_the_next_is_converted(loaded, tmp_path):
    with pytest.raises(mct.Error, match=r"model.x: the converter crashed \(SIGSEGV") as caught:
        loaded("print('so far', flush=True); os.kill(os.getpid(), signal.SIGSEGV)")
    assert caught.value.notes == ("so far",)
    with pytest.raises(mct.Error, match=r"model.x: the converter failed: error: no such thing"):
        loaded("print('error: no such thing', file=sys.stderr); sys.exit(3)")
    with pytest.raises(mct.Error, match=r"model.x: the converter: ValueError: odd"):
        loaded("raise ValueError('odd')")
    assert "func.func @main" in loaded(WRITES)
    assert (tmp_path / "loads.txt").read_text() == "loaded "


def test_a_kept_converter_that_cannot_load_is_quoted(loaded):
    with pytest.raises(
        mct.Error, match=r"model.x: the converter failed: ModuleNotFoundError: No module named 'nothing_'"
    ):
        loaded("pass", before="import nothing_")


def test_a_kept_converter_that_dies_while_it_loads_is_one_error(loaded):
    with pytest.raises(mct.Error, match=r"model.x: the converter crashed \(SIGKILL"):
        loaded("pass", before="os.kill(os.getpid(), signal.SIGKILL)")


def test_a_kept_converter_that_cannot_start_is_one_error(loaded, monkeypatch):
    """The interpreter ends before it reads the request."""
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with pytest.raises(mct.Error, match=r"model.x: the converter failed: it says nothing"):
        loaded("pass")


def test_a_kept_converter_that_does_not_end_is_stopped_and_the_next_one_loads_again(loaded, tmp_path):
    with pytest.raises(mct.Error, match=r"did not end within 2 seconds"):
        loaded(f"open({str(tmp_path / 'pid')!r}, 'w').write(str(os.getpid())); time.sleep(3600)", timeout=2)
    assert not is_running(int((tmp_path / "pid").read_text()))
    loaded(WRITES)
    assert (tmp_path / "loads.txt").read_text() == "loaded loaded "


def test_a_kept_converter_without_a_network_ends_by_itself(loaded, tmp_path, monkeypatch):
    monkeypatch.setattr(_process._Kept, "IDLE", 0.2)
    loaded(WRITES)
    (kept,) = _process._Kept._free.values()
    assert kept._server.wait(60) == 0
    loaded(WRITES)
    assert (tmp_path / "loads.txt").read_text() == "loaded loaded "


def is_running(process: int) -> bool:
    """Waits for the end of a killed process, which takes effect when it runs next; zombies have ended."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        try:
            if Path(f"/proc/{process}/stat").read_text().split()[2] == "Z":
                return False
        except FileNotFoundError:
            return False
        time.sleep(0.01)
    return True


def test_left_over_operations_are_refused_with_their_layers(converter):
    with pytest.raises(mct.Error, match=r"the converter has no TOSA for tfl.topk_v2, tosa.custom") as caught:
        converter(f"open('module.mlir', 'w').write({CONVERTED!r})")
    assert caught.value.location == 'model.x: "top"'
    assert caught.value.notes[:2] == ('tfl.topk_v2 of layer "top"', 'tosa.custom of layer "odd"one"')
    assert "cut it in front of them" in caught.value.notes[-1]


def test_many_left_over_operations_are_counted():
    with pytest.raises(mct.Error) as caught:
        _process.refuse("the converter", "model.x", [_text.Operation("tfl.x", f"layer{i}") for i in range(30)])
    assert len(caught.value.notes) == 22
    assert caught.value.notes[20] == "and 10 more"


def test_ctrl_c_ends_a_converter_with_all_that_it_has_started(tmp_path):
    (tmp_path / "fake_converter.py").write_text(
        "import subprocess, sys, time\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(3600)'])\n"
        f"open({str(tmp_path / 'pid')!r}, 'w').write(f'{{child.pid}}\\n')\n"
        "time.sleep(3600)\n"
    )
    # Python handles Ctrl-C unless it was started to ignore it, as jobs in the background are.
    script = (
        "import signal\n"
        "from mct.importers import _process\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "with _process.folder() as work:\n"
        "    _process.run('the converter', 'model.x', ['fake_converter'], work)\n"
    )
    path = os.pathsep.join([str(tmp_path), str(Path(mct.__file__).absolute().parents[1])])
    environment = dict(os.environ, PYTHONPATH=path, TMPDIR=str(tmp_path))
    process = subprocess.Popen([sys.executable, "-c", script], env=environment, stderr=subprocess.PIPE, text=True)
    while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text().endswith("\n"):
        assert process.poll() is None, process.stderr.read()
    process.send_signal(signal.SIGINT)
    assert "KeyboardInterrupt" in process.communicate(timeout=60)[1]
    assert not is_running(int((tmp_path / "pid").read_text()))
    assert list(tmp_path.glob("mct-import-*")) == []


def test_ctrl_c_while_a_converter_starts_ends_it(converter, tmp_path, monkeypatch):
    """The signal comes when there is a process that `run` does not have yet."""

    class Interrupted(subprocess.Popen):
        def __init__(self, *arguments, **options):
            super().__init__(*arguments, **options)
            (tmp_path / "pid").write_text(str(self.pid))
            os.kill(os.getpid(), signal.SIGINT)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        monkeypatch.setattr(subprocess, "Popen", Interrupted)
        with pytest.raises(KeyboardInterrupt):
            converter("time.sleep(3600)")
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)
    assert not is_running(int((tmp_path / "pid").read_text()))


QUANTIZED = """#loc1 = loc("m.tflite":0:0)
module {
  func.func @main(%arg0: tensor<1x4xf32> loc("x"(#loc1))) -> (tensor<1x4xi8>, tensor<1x4xi8>) {
    %0 = "tosa.const"() <{values = dense<-128> : tensor<1x1xi32>}> : () -> tensor<1x1xi32> loc(#loc2)
    %1 = tosa.cast %arg0 : (tensor<1x4xf32>) -> tensor<1x4xi32> loc(#loc2)
    %2 = tosa.add %1, %0 : (tensor<1x4xi32>, tensor<1x1xi32>) -> tensor<1x4xi32> loc(#loc2)
    %3 = tosa.cast %2 : (tensor<1x4xi32>) -> tensor<1x4xi8> loc(#loc2)
    %4 = tosa.cast %arg0 : (tensor<1x4xf32>) -> tensor<1x4xi32> loc(#loc3)
    %5 = tosa.add %4, %0 : (tensor<1x4xi32>, tensor<1x1xi32>) -> tensor<1x4xi32> loc(#loc3)
    %6 = tosa.cast %5 : (tensor<1x4xi32>) -> tensor<1x4xi8> loc(#loc3)
    return %3, %6 : tensor<1x4xi8>, tensor<1x4xi8> loc(#loc1)
  } loc(#loc1)
} loc(#loc1)
#loc2 = loc("codes"(#loc1))
#loc3 = loc("sums"(#loc1))
"""


def test_only_layers_of_the_operator_are_repaired():
    """LiteRT saturates where it quantizes; sums of a network wrap."""
    operators = [_flatbuffer.Operator("QUANTIZE", "codes", (9,), (False, False))]
    text = _repairs.repair_tflite(QUANTIZED, operators)
    assert text.count("tosa.clamp") == 1
    assert _repairs.repair_tflite(QUANTIZED, []) == QUANTIZED
    codes, sums = mct.Model.parse(text).run(np.array([[-1, 0, 255, 300]], np.float32))
    assert codes.tolist() == [[-128, -128, 127, 127]]
    assert sums.tolist() == [[127, -128, 127, -84]]


def test_what_a_repair_makes_obsolete_stays_where_others_read_it():
    text = """#loc1 = loc("m.tflite":0:0)
module {
  func.func @main(%arg0: tensor<1x4xf32> loc("x"(#loc1))) -> (tensor<1x4xf32>, tensor<1x1xf32>) {
    %0 = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8> loc(#loc2)
    %1 = tosa.exp %arg0 : (tensor<1x4xf32>) -> tensor<1x4xf32> loc(#loc2)
    %2 = tosa.reduce_sum %1 {axis = 1 : i32} : (tensor<1x4xf32>) -> tensor<1x1xf32> loc(#loc2)
    %3 = tosa.reciprocal %2 : (tensor<1x1xf32>) -> tensor<1x1xf32> loc(#loc2)
    %4 = tosa.mul %1, %3, %0 : (tensor<1x4xf32>, tensor<1x1xf32>, tensor<1xi8>) -> tensor<1x4xf32> loc(#loc2)
    %5 = tosa.log %4 : (tensor<1x4xf32>) -> tensor<1x4xf32> loc(#loc2)
    return %5, %2 : tensor<1x4xf32>, tensor<1x1xf32> loc(#loc1)
  } loc(#loc1)
} loc(#loc1)
#loc2 = loc("scores"(#loc1))
"""
    operators = [_flatbuffer.Operator("LOG_SOFTMAX", "scores", (0,), (False, False))]
    repaired = _repairs.repair_tflite(text, operators)
    # The sum has another reader, its reciprocal and the product have none.
    assert "%2 = tosa.reduce_sum" in repaired and "reciprocal" not in repaired and "tosa.mul" not in repaired
    samples = np.array([[200, 100, 0, -100]], np.float32)
    found = mct.Model.parse(repaired).run(samples)[0]
    assert np.allclose(found, [[0, -100, -200, -300]])


def test_casts_that_hide_an_unknown_type_and_values_without_a_rank_are_left_over():
    text = """module {
  func.func @main(%arg0: tensor<1x4xf32>) -> tensor<*xi32> {
    %0 = builtin.unrealized_conversion_cast %arg0 : tensor<1x4xf32> to tensor<1x4xcomplex<f32>> loc(#loc2)
    %1 = "tosa.const"() <{values = dense<4> : tensor<*xi32>}> : () -> tensor<*xi32> loc(#loc2)
    return %1 : tensor<*xi32>
  }
}
#loc2 = loc("odd")
"""
    kinds = [operation.kind for operation in _text.left_over(text)]
    assert kinds == ["builtin.unrealized_conversion_cast", "tosa.const"]


def test_what_the_executor_does_not_take_is_known_before_it_runs():
    """As mct.load finds out of what importers give."""
    wide = mct.Model.parse(
        "func.func @main(%x: tensor<1x4xf32>) -> tensor<1x4xf64> {\n"
        "  %0 = tosa.cast %x : (tensor<1x4xf32>) -> tensor<1x4xf64>\n  return %0 : tensor<1x4xf64>\n}"
    )
    with pytest.raises(mct.Error, match=r"'tosa.cast' op makes result 0 of type 'tensor<1x4xf64>', which the executor"):
        wide.module.check()
    argument = mct.Model.parse(
        "func.func @main(%x: tensor<1x4xf64>) -> tensor<1x4xf64> {\n  return %x : tensor<1x4xf64>\n}"
    )
    with pytest.raises(mct.Error, match=r"argument 0 of type 'tensor<1x4xf64>', which the executor cannot read"):
        argument.module.check()
    integers = mct.Model.parse(
        "func.func @main(%x: tensor<1x4xi32>) -> tensor<1x4xi32> {\n"
        "  %0 = tosa.reciprocal %x : (tensor<1x4xi32>) -> tensor<1x4xi32>\n  return %0 : tensor<1x4xi32>\n}"
    )
    with pytest.raises(mct.Error, match=r"'tosa\.reciprocal' op cannot be executed"):
        integers.module.check()
    mct.load(DATA / "digits.mlirbc").module.check()


def test_integer_networks_run_and_are_not_quantized_again(caplog):
    model = mct.load(DATA / "integer.mlir")
    model.module.check()
    codes = np.arange(32, dtype=np.int8).reshape(1, 4, 4, 2)
    assert model.run(codes).dtype == np.int8
    with pytest.raises(mct.Error, match=r"the network is quantized already: 'tosa.conv2d' makes 'tensor<1x4x4x2xi32>'"):
        mct.quantize(model, "imx500", codes)
    assert not caplog.records


def test_one_operation_of_a_layer_of_keras_has_its_name():
    from mct.importers.keras import layer_name, layer_of

    names = {"model": "net", "layers": ["stem", "relu", "conv2d", "norm", "block"], "outputs": ["block"]}
    text = """module {
  func.func @main(%arg0: tensor<1xf32> loc("x")) -> tensor<1xf32> {
    %0 = "tosa.const"() <{values = dense<1.0> : tensor<1xf32>}> : () -> tensor<1xf32> loc("net_1/stem_1/convolution")
    %1 = tosa.conv2d %arg0, %0 : (tensor<1xf32>) -> tensor<1xf32> loc("net_1/relu_1/Relu;net_1/stem_1/convolution")
    %2 = tosa.clamp %1 : (tensor<1xf32>) -> tensor<1xf32> loc("net_1/relu_1/Relu;net_1/stem_1/convolution")
    %3 = tosa.conv2d %2, %0 : (tensor<1xf32>) -> tensor<1xf32> loc("net_1/conv2d_1/Relu;net_1/conv2d_1/convolution1")
    %4 = tosa.clamp %3 : (tensor<1xf32>) -> tensor<1xf32> loc("net_1/conv2d_1/Relu;net_1/conv2d_1/convolution1")
    %5 = tosa.rsqrt %4 : (tensor<1xf32>) -> tensor<1xf32> loc("net_1/norm_1/Rsqrt")
    %6 = tosa.mul %4, %5 : (tensor<1xf32>) -> tensor<1xf32> loc("net_1/norm_1/mul_1")
    %7 = tosa.conv2d %6, %0 : (tensor<1xf32>) -> tensor<1xf32> loc("StatefulPartitionedCall_1:0")
    %8 = tosa.clamp %7 : (tensor<1xf32>) -> tensor<1xf32> loc("StatefulPartitionedCall_1:0")
    %9 = tosa.abs %8 : (tensor<1xf32>) -> tensor<1xf32> loc("net_1/Abs")
    return %9 : tensor<1xf32> loc(unknown)
  } loc(unknown)
} loc(unknown)
"""
    text = _text.name_layers(_text.rename(text, lambda tensor: layer_name(tensor, names)))
    text = _text.give_layer_names(text, lambda kind, called: layer_of(kind, called, names))
    assert [operation.name for operation in _text.operations(text) if operation.kind.startswith("tosa.")][1:] == [
        "stem",
        "relu",
        "conv2d",
        "conv2d/Relu",
        "norm/Rsqrt",
        "norm",
        "block",
        "block/clamp",
        "Abs",
    ]
