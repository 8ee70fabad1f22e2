# SPDX-License-Identifier: Apache-2.0
"""Runs of the pipelines that are killed or interrupted go on to the same bytes (`checkpoint=DIR`)."""

import json
import random
import shutil
import signal
import subprocess
import sys
import time

import measure
import numpy as np
import pytest

# Most of them run the pipeline.
pytestmark = pytest.mark.alternating

MODEL = measure.DIGITS / "digits.mlirbc"
CALIBRATION = measure.DIGITS / "digits_calib.npy"
# Every stage that runs the network: sensitivities, an assignment, rounding, biases, training.
LONG = {"input_scale": 0.0625, "weights": 4, "activations": 8, "gptq_epochs": 2, "threads": 2}
BUDGET = {"input_scale": 0.0625, "budget": "weights:50%", "threads": 2}


def files_of(folder):
    """Names of all files below a folder."""
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


@pytest.fixture(scope="module", params=[LONG, BUDGET], ids=["rounding", "budget"])
def case(request, tmp_path_factory):
    """Options, the bytes of a run without a checkpoint, and its seconds."""
    output = tmp_path_factory.mktemp("whole") / "whole.mlirbc"
    finished = measure.run_ok(measure.ptq_command(MODEL, CALIBRATION, output, **request.param))
    return request.param, output.read_bytes(), finished.seconds


def kill_again_and_again(case, folder, kills, seed):
    """Kills runs at random moments, and compares what those write that come to their end. Runs go on from the folder
    of the one before, until one has ended."""
    options, whole, seconds = case
    moments = random.Random(seed)
    killed = runs = 0
    while killed < kills:
        runs += 1
        checkpoint, output = folder / f"run{runs}", folder / f"out{runs}.mlirbc"
        command = list(map(str, measure.ptq_command(MODEL, CALIBRATION, output, **options, checkpoint=checkpoint)))
        while True:
            process = subprocess.Popen(command)
            try:
                process.wait(moments.uniform(0, 1) * seconds if killed < kills else None)
            except subprocess.TimeoutExpired:
                process.send_signal(moments.choice([signal.SIGKILL, signal.SIGINT, signal.SIGTERM]))
                process.wait()
            if process.returncode == 0:
                break
            killed += 1
            # A partial file would have any other name, or not be read by the next run.
            assert not output.exists()
            assert not checkpoint.exists() or set(files_of(checkpoint)) <= {"module.mlirbc", "training"}
        assert output.read_bytes() == whole
    return killed


def test_killed_runs_go_on_to_the_same_bytes(case, tmp_path):
    assert kill_again_and_again(case, tmp_path, kills=3, seed=7) >= 3


@pytest.mark.thorough
def test_killed_runs_go_on_to_the_same_bytes_from_twenty_moments(case, tmp_path):
    assert kill_again_and_again(case, tmp_path, kills=20, seed=20261127) >= 20


def test_finished_run_is_its_result_with_its_records(case, tmp_path):
    options, whole, _ = case
    traces = []
    for name in ("first", "second"):
        output, records, trace = (tmp_path / f"{name}.{suffix}" for suffix in ("mlirbc", "records.json", "trace.json"))
        command = measure.ptq_command(
            MODEL, CALIBRATION, output, **options, checkpoint=tmp_path / "run", remarks="true"
        )
        measure.run_ok([*command, f"--mct-records={records}", f"--mct-trace={trace}"])
        assert output.read_bytes() == whole
        document = json.loads(trace.read_text())
        passes = {entry.pop("pass") if "pass" in entry else entry["name"] for entry in document.pop("passes")}
        traces.append((records.read_text(), document["records"], document.get("front"), passes))
    first, second = traces
    assert first[0] == second[0] and len(json.loads(first[0])["records"]) > 3
    assert first[1:3] == second[1:3]
    assert "mct-calibrate" in first[3] and "mct-calibrate" not in second[3]


def test_flipped_bits_are_refused(case, tmp_path):
    options, whole, _ = case
    output, checkpoint = tmp_path / "out.mlirbc", tmp_path / "run"
    command = measure.ptq_command(MODEL, CALIBRATION, output, **options, checkpoint=checkpoint)
    measure.run_ok(command)
    kept = (checkpoint / "module.mlirbc").read_bytes()
    output.unlink()
    places = random.Random(len(kept))
    for _ in range(8):
        damaged = bytearray(kept)
        damaged[places.randrange(len(kept))] ^= 1 << places.randrange(8)
        (checkpoint / "module.mlirbc").write_bytes(damaged)
        finished = measure.run(command)
        assert finished.returncode == 1 and finished.stderr.count("error:") == 1
        assert "module.mlirbc' is damaged, or no checkpoint" in finished.stderr
        assert not output.exists()
    (checkpoint / "module.mlirbc").write_bytes(kept)
    measure.run_ok(command)
    assert output.read_bytes() == whole


@pytest.fixture(scope="module")
def mct():
    return pytest.importorskip("mct", reason="the package is not built (tools/dev/build)")


def test_cancelled_call_goes_on_to_the_same_bytes(mct, tmp_path):
    data, scale = np.load(CALIBRATION), mct.Preprocessing.of(0.0625)

    def quantize(**options):
        return mct.quantize(mct.load(MODEL), "imx500", data, preprocessing=scale, weights=4, activations=8, **options)

    class EnoughError(Exception):
        pass

    checkpoint = tmp_path / "run"

    def watch(report):
        if (checkpoint / "module.mlirbc").exists():
            raise EnoughError

    whole = quantize()
    with pytest.raises(EnoughError):
        quantize(checkpoint=checkpoint, progress=watch)
    kept = (checkpoint / "module.mlirbc").read_bytes()
    stages = []
    resumed = quantize(checkpoint=checkpoint, progress=lambda report: stages.append(report.stage))
    assert (checkpoint / "module.mlirbc").read_bytes() != kept
    assert "mct-fold-batch-norm" not in stages
    assert resumed.module.bytecode() == whole.module.bytecode()
    assert resumed.module.text() == whole.module.text()
    with pytest.raises(mct.Error, match="was made with other options"):
        quantize(checkpoint=checkpoint, effort="fast")
    with pytest.raises(mct.Error, match="was made with other samples"):
        data += 1
        quantize(checkpoint=checkpoint)


def interrupt(command, checkpoint):
    """Ctrl-C after the first stage of a run: returns the exit status, the output, and seconds until it has ended."""
    # Jobs that a shell runs in the background ignore Ctrl-C, and so do their children.
    process = subprocess.Popen(
        list(map(str, command)),
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    while not (checkpoint / "module.mlirbc").exists():
        assert process.poll() is None
        time.sleep(0.001)
    process.send_signal(signal.SIGINT)
    begin = time.monotonic()
    _, errors = process.communicate()
    return process.returncode, errors, time.monotonic() - begin


def test_interrupted_command_ends_soon_and_goes_on_to_the_same_bytes(mct, case, tmp_path):
    options, _, _ = case
    output, checkpoint = tmp_path / "out.mlirbc", tmp_path / "run"
    texts = {name: str(value) for name, value in options.items() if name not in ("input_scale", "gptq_epochs")}
    words = [word for name, value in texts.items() for word in (f"--{name.replace('_', '-')}", value)]
    command = [sys.executable, "-m", "mct", "quantize", MODEL, "--target", "imx500", "--data", CALIBRATION]
    # Training makes the stages after the first one long enough.
    command += ["--scale", "0.0625", "--effort", "best", *words, "-o", output]
    measure.run_ok(command)
    expected = output.read_bytes()
    output.unlink()
    command += ["--checkpoint", checkpoint]
    # On a machine that others use, a run may end before the test sees its first stage.
    for _ in range(10):
        status, errors, seconds = interrupt(command, checkpoint)
        if status != 0:
            break
        assert output.read_bytes() == expected
        output.unlink()
        shutil.rmtree(checkpoint)
    # A second, and patience for a machine that others use.
    assert seconds < 5
    assert (status, errors) == (130, "interrupted\n")
    assert files_of(tmp_path) == ["run/module.mlirbc"]
    measure.run_ok(command)
    assert output.read_bytes() == expected
