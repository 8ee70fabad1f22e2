# SPDX-License-Identifier: Apache-2.0
"""The package `mct`: modules that are read, changed by passes and saved."""

import json
import logging
import os
import signal
import subprocess
import sys
import threading
import time

import pytest

mct = pytest.importorskip("mct", reason="the package is not built (tools/dev/build)")

DATA = os.path.join(os.path.dirname(__file__), "..", "data")
DIGITS = os.path.join(DATA, "digits.mlirbc")
OPTIONS = f"target=imx500 calibration-data={DATA}/digits_calib.npy input-scale=0.0625"
PTQ = f"mct-ptq{{{OPTIONS}}}"
SAMPLES = OPTIONS.split(" ", 1)[1]
# Takes much longer than a test waits for.
LONG = ",".join(
    ["tpc-attach-target{target=imx500}", "mct-prepare", "mct-insert-quantizers"]
    + [f"mct-calibrate{{{SAMPLES}}}"] * 1000
)
INVALID = "func.func @main(%x: tensor<2xf32>) -> tensor<3xf32> {\n  return %x : tensor<2xf32>\n}"


@pytest.fixture(scope="module")
def digits():
    return mct.load(DIGITS)


def test_import_loads_no_framework():
    script = """if True:
        import mct, sys
        print(sorted({"torch", "tensorflow", "onnx", "numpy", "rich", "mct._native"} & set(sys.modules)))"""
    assert subprocess.check_output([sys.executable, "-c", script], text=True) == "[]\n"


@pytest.mark.parametrize("suffix", ["mlir", "mlirbc"])
def test_pipeline_writes_the_bytes_of_mct_opt(tools, tmp_path, digits, suffix):
    expected, found = tmp_path / f"expected.{suffix}", tmp_path / f"found.{suffix}"
    subprocess.run([tools / "mct-opt", DIGITS, f"--mct-ptq={OPTIONS}", "-o", expected], check=True)
    mct.Model(digits.module.run(PTQ)).save(found)
    assert found.read_bytes() == expected.read_bytes()


def test_passes_leave_their_input_alone(digits):
    before = digits.bytecode
    result = mct.Model(digits.module.run("mct-prepare"))
    assert digits.bytecode == before
    assert digits.pass_pipeline == ""
    assert result.pass_pipeline.startswith(
        "builtin.module(mct-lift-variables{function=},func.func(mct-raise-linalg{remarks=false},mct-assign-names"
    )
    assert result.bytecode != before


def test_clone_is_equal_and_another_object(digits):
    clone = digits.module.clone()
    assert clone is not digits.module
    assert clone.text() == digits.module.text()


def test_parse_error_has_place_and_text():
    with pytest.raises(mct.Error, match="doesn't match function result type") as caught:
        mct.Model.parse(INVALID, "invalid.mlir")
    assert caught.value.location.startswith("invalid.mlir:2:")
    assert "invalid.mlir:2:3: error: " in caught.value.diagnostics


def test_damaged_bytecode_is_an_error():
    with open(DIGITS, "rb") as file:
        damaged = file.read()[:1000]
    with pytest.raises(mct.Error, match="damaged"):
        mct.Model.parse(damaged, "damaged.mlirbc")


def test_file_that_ends_the_reader_is_an_error(tmp_path):
    """One byte of the embedded network is another one: counts and indices that MLIR's parser takes as they are."""
    with open(DIGITS, "rb") as file:
        network = file.read()
    messages = []
    for place, value in [(374, 0x1B), (1424, 0x03), (1759, 0x00), (1854, 0x00)]:
        damaged = tmp_path / f"damaged_{place}.mlirbc"
        damaged.write_bytes(network[:place] + bytes([value]) + network[place + 1 :])
        with pytest.raises(mct.Error) as caught:
            mct.load(damaged)
        messages.append(str(caught.value))
        assert damaged.name in messages[-1]
    assert any("MLIR's parser crashed (SIG" in message for message in messages), messages


@pytest.mark.parametrize(
    "pipeline, message",
    [("nonsense", "does not refer to a registered pass"), ("mct-ptq{target=nobody}", "unknown target 'nobody'")],
)
def test_pipeline_that_cannot_run_is_an_error(digits, pipeline, message):
    with pytest.raises(mct.Error, match=message):
        digits.module.run(pipeline)


def test_unreadable_file_is_an_error(tmp_path):
    with pytest.raises(mct.Error, match=r"cannot read '.*nothing\.mlir': No such file"):
        mct.load(tmp_path / "nothing.mlir")


def test_save_into_nowhere_is_an_error_and_leaves_nothing(digits, tmp_path):
    with pytest.raises(mct.Error, match="nowhere"):
        digits.save(tmp_path / "nowhere" / "model.mlir")
    assert list(tmp_path.iterdir()) == []


def test_remarks_reach_logging(digits, caplog):
    with caplog.at_level(logging.INFO, logger="mct"):
        digits.module.run(PTQ[:-1] + " remarks=true}")
    assert any(record.levelno == logging.INFO and "remark: " in record.message for record in caplog.records)


def test_poll_hears_of_stages_and_may_cancel(digits):
    stages = []

    def poll(stage, done, total, runs, part, parts):
        stages.append(stage)
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        digits.module.run(LONG, poll)
    assert len(stages) == 1


def test_two_threads_quantize_two_models(digits):
    expected = mct.Model(digits.module.run(PTQ)).bytecode
    found = {}

    def quantize(number):
        found[number] = mct.Model(mct.load(DIGITS).module.run(PTQ)).bytecode

    threads = [threading.Thread(target=quantize, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {0: expected, 1: expected}


def test_other_threads_run_meanwhile(digits):
    ticks, done = [], threading.Event()

    def tick():
        while not done.wait(0.001):
            ticks.append(time.monotonic())

    thread = threading.Thread(target=tick)
    thread.start()
    digits.module.run(PTQ)
    done.set()
    thread.join()
    assert len(ticks) > 10


@pytest.mark.parametrize("passes", ["many", "one"])
def test_interrupt_ends_a_run_and_leaves_no_file(tmp_path, passes):
    statistics = tmp_path / "statistics.json"
    files = ",".join([f"{DATA}/digits_calib.npy"] * 20000)
    one = f"mct-calibrate{{calibration-data={files} statistics-out={statistics}}}"
    pipeline = LONG if passes == "many" else ",".join([*LONG.split(",")[:3], one])
    (tmp_path / "pipeline").write_text(pipeline)
    script = f"""if True:
        import mct, signal
        # A process that was started to ignore Ctrl-C, as jobs in the background are, does not receive it.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        module = mct.load({DIGITS!r}).module
        pipeline = open("pipeline").read()
        print("begins", flush=True)
        try:
            module.run(pipeline)
        except KeyboardInterrupt:
            print("interrupted")"""
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, cwd=tmp_path)
    assert process.stdout.readline() == "begins\n"
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=60)[0] == "interrupted\n"
    assert process.returncode == 0
    assert [path.name for path in tmp_path.iterdir()] == ["pipeline"]


def test_resources_are_those_of_the_pass(tools):
    module = mct.load(DIGITS)
    document = module.resources()
    printed = subprocess.run(
        [tools / "mct-opt", DIGITS, "--mct-report-resources=format=json", "-o", "/dev/null"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    assert document == json.loads(printed)
    blocks = "func.func @main(%a: tensor<1xf32>) -> tensor<1xf32> { cf.br ^end\n ^end: return %a : tensor<1xf32> }"
    with pytest.raises(mct.Error, match="has several blocks"):
        mct.Model.parse(blocks).resources()
