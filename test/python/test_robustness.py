# SPDX-License-Identifier: Apache-2.0
"""Bad input gives one diagnostic and no output; a killed process leaves the output as it was; --help works."""

import subprocess
import time

import measure
import numpy as np
import pytest

MODEL = measure.DIGITS / "digits.mlirbc"
DIGITS = {"input_scale": 0.0625}
OLD = b"what was there before\n"


def good_samples():
    return np.load(measure.DIGITS / "digits_calib.npy")


def write_truncated(path):
    np.save(path, good_samples())
    path.write_bytes(path.read_bytes()[:5000])


def write_cut_header(path):
    np.save(path, good_samples())
    path.write_bytes(path.read_bytes()[:40])


def write_with(value):
    def write(path):
        samples = good_samples().astype(np.float32)
        samples[17, 3, 4, 0] = value
        np.save(path, samples)

    return write


# Function that makes the file, and words that the diagnostic must contain besides the file's name.
BAD_FILES = {
    "missing": (lambda path: None, ()),
    "empty": (lambda path: path.write_bytes(b""), ()),
    "no-array": (
        lambda path: path.write_bytes(b"this is text and no array\n" * 10),
        (),
    ),
    "cut-header": (write_cut_header, ()),
    "truncated": (write_truncated, ()),
    "wrong-dtype": (lambda path: np.save(path, good_samples().astype(np.complex64)), ("c8",)),
    "wrong-shape": (lambda path: np.save(path, good_samples()[:, :7]), ("7", "8")),
    "wrong-rank": (lambda path: np.save(path, good_samples()[0, 0, 0, 0]), ()),
    "no-samples": (lambda path: np.save(path, good_samples()[:0]), ()),
    "nan-sample": (write_with(np.nan), ("17",)),
    "infinite-sample": (write_with(np.inf), ("17",)),
}


def assert_one_error(finished, path, words):
    assert finished.returncode > 0, "ended by a signal or without an error"
    errors = [line for line in finished.stderr.splitlines() if "error:" in line]
    assert len(errors) == 1, finished.stderr
    assert path.name in errors[0]
    for word in words:
        assert word in finished.stderr, f"expected '{word}' in: {finished.stderr}"


@pytest.mark.alternating
@pytest.mark.parametrize("existing", [False, True], ids=["new", "existing"])
@pytest.mark.parametrize("case", BAD_FILES)
def test_calibration_data(tools, tmp_path, case, existing):
    make, words = BAD_FILES[case]
    path = tmp_path / "samples.npy"
    make(path)
    output = tmp_path / "out" / "quantized.mlir"
    output.parent.mkdir()
    if existing:
        output.write_bytes(OLD)
    finished = measure.run(measure.ptq_command(MODEL, path, output, **DIGITS))
    assert_one_error(finished, path, words)
    assert {file.name: file.read_bytes() for file in output.parent.iterdir()} == (
        {output.name: OLD} if existing else {}
    )


@pytest.mark.alternating
@pytest.mark.parametrize("case", BAD_FILES)
def test_run_input(tools, tmp_path, case):
    make, words = BAD_FILES[case]
    path = tmp_path / "samples.npy"
    make(path)
    output = tmp_path / "out" / "outputs.npy"
    output.parent.mkdir()
    finished = measure.run(measure.run_command(MODEL, path, output=output, **DIGITS))
    assert_one_error(finished, path, words)
    assert list(output.parent.iterdir()) == []


def test_one_bad_file_among_good_ones_is_named(tools, tmp_path):
    path = tmp_path / "samples.npy"
    write_with(np.nan)(path)
    output = tmp_path / "quantized.mlir"
    both = f"{measure.DIGITS / 'digits_calib.npy'},{path}"
    finished = measure.run(measure.ptq_command(MODEL, both, output, **DIGITS))
    assert_one_error(finished, path, ("17",))
    assert not output.exists()


def test_labels_of_another_length(tools, tmp_path):
    labels = tmp_path / "labels.npy"
    np.save(labels, np.zeros(7, np.int32))
    finished = measure.run(measure.run_command(MODEL, measure.DIGITS / "digits_test.npy", labels=labels, **DIGITS))
    assert_one_error(finished, labels, ("7", "899"))


def test_missing_model(tools, tmp_path):
    model = tmp_path / "absent.mlirbc"
    output = tmp_path / "quantized.mlir"
    finished = measure.run(measure.ptq_command(model, measure.DIGITS / "digits_calib.npy", output))
    assert_one_error(finished, model, ())
    assert not output.exists()


def test_unknown_target(tools, tmp_path):
    output = tmp_path / "quantized.mlir"
    calibration = measure.DIGITS / "digits_calib.npy"
    finished = measure.run(measure.ptq_command(MODEL, calibration, output, target="imx5000"))
    assert finished.returncode > 0
    (error,) = [line for line in finished.stderr.splitlines() if "error:" in line]
    assert "imx5000" in error
    assert not output.exists()


@pytest.mark.alternating
@pytest.mark.parametrize("delay", [0.02, 0.1, 0.2, 0.4, 0.8])
@pytest.mark.parametrize("existing", [False, True], ids=["new", "existing"])
def test_killed_process_leaves_the_output_alone(tools, tmp_path, existing, delay):
    calibration = tmp_path / "samples.npy"
    np.save(calibration, np.tile(good_samples(), (2000, 1, 1, 1)))  # enough work to be killed in the middle of
    output = tmp_path / "out" / "quantized.mlir"
    output.parent.mkdir()
    if existing:
        output.write_bytes(OLD)
    command = list(map(str, measure.ptq_command(MODEL, calibration, output, **DIGITS)))
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    time.sleep(delay)
    running = process.poll() is None
    process.kill()
    process.wait()
    if not running:
        pytest.skip(f"ended within {delay} s")
    assert {file.name: file.read_bytes() for file in output.parent.iterdir()} == (
        {output.name: OLD} if existing else {}
    )


@pytest.mark.parametrize(
    ("tool", "words"),
    [
        ("mct-opt", ("--mct-ptq", "--mct-prepare", "--tpc-attach-target", "calibration-data")),
        ("mct-run", ("--input", "--labels", "--compare", "--output", "--json")),
    ],
)
def test_help_names_the_options(tools, tool, words):
    text = measure.run_ok([tools / tool, "--help"]).stdout
    for word in words:
        assert word in text


def limited(limit, command):
    """The command under a limit of the shell."""
    return ["bash", "-c", f'{limit} && exec "$@"', "bash", *command]


def test_file_size_limit_is_one_error(tools, tmp_path):
    calibration = measure.DIGITS / "digits_calib.npy"
    output = tmp_path / "quantized.mlir"
    statistics = tmp_path / "statistics.json"
    scores = tmp_path / "scores.npy"
    for path, command in [
        (output, measure.ptq_command(MODEL, calibration, output, **DIGITS)),
        (statistics, measure.ptq_command(MODEL, calibration, output, statistics_out=statistics, **DIGITS)),
        (scores, measure.run_command(MODEL, calibration, output=scores, **DIGITS)),
    ]:
        finished = measure.run(limited("ulimit -f 1", command))
        assert_one_error(finished, path, ("File too large",))
        assert list(tmp_path.iterdir()) == []


@pytest.mark.alternating
def test_refused_threads_change_nothing(tools, tmp_path):
    calibration = measure.DIGITS / "digits_calib.npy"
    refused = "ulimit -Ss 1000000000000"  # there is no memory for a stack of a petabyte
    if measure.run(["bash", "-c", refused]).returncode != 0:
        pytest.skip("the size of a stack cannot be raised here")
    outputs = []
    for name, limit in [("plain", "true"), ("refused", refused)]:
        output, scores = tmp_path / f"{name}.mlir", tmp_path / f"{name}.npy"
        command = measure.ptq_command(MODEL, calibration, output, **DIGITS, threads=4, weights_error_method="hmse")
        measure.run_ok(limited(limit, command))
        measure.run_ok(limited(limit, measure.run_command(output, calibration, output=scores, num_threads=4, **DIGITS)))
        outputs.append((output.read_bytes(), scores.read_bytes()))
    assert outputs[0] == outputs[1]


def test_output_is_written_where_there_is_no_proc(tools, tmp_path):
    hide = ["unshare", "--mount", "sh", "-c", 'mount -t tmpfs none /proc && exec "$@"', "sh"]
    if subprocess.run([*hide, "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("this user cannot hide /proc (unshare, mount)")
    plain, hidden = tmp_path / "plain.mlirbc", tmp_path / "hidden.mlirbc"
    subprocess.run([tools / "mct-opt", MODEL, "-o", plain], check=True)
    subprocess.run([*hide, tools / "mct-opt", MODEL, "-o", hidden], check=True)
    assert hidden.read_bytes() == plain.read_bytes()
    assert sorted(tmp_path.iterdir()) == [hidden, plain]


def write_large_network(folder, tools):
    """Writes bytecode that is large enough to be mapped."""
    text, path = folder / "large.mlir", folder / "large.mlirbc"
    size = 1100
    values = np.random.default_rng(0).standard_normal((size, size)).astype(np.float32)
    kind = f"tensor<{size}x{size}xf32>"
    text.write_text(
        f"func.func @main(%x: {kind}) -> {kind} {{\n"
        f'  %c = "tosa.const"() <{{values = dense_resource<w> : {kind}}}> : () -> {kind}\n'
        f"  %y = tosa.add %x, %c : ({kind}, {kind}) -> {kind}\n"
        f"  return %y : {kind}\n}}\n"
        f'{{-#\n  dialect_resources: {{ builtin: {{ w: "0x40000000{values.tobytes().hex()}" }} }}\n#-}}\n'
    )
    finished = measure.run([tools / "mct-opt", text, "-o", path])
    assert finished.returncode == 0, finished.stderr
    assert path.stat().st_size > 4 << 20
    return path


@pytest.mark.parametrize(("size", "what"), [(8 << 20, "changed"), (4096, "shortened")])
def test_a_large_network_that_changes_while_it_is_read(tools, tmp_path, size, what):
    path = write_large_network(tmp_path, tools)
    command = [tools / "mct-opt", path, "--emit-bytecode", "-o", "-"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        # It writes now, and the pipe is full.
        process.stdout.read(1)
        with open(path, "r+b") as file:
            file.truncate(size)
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 1
    assert errors.decode().splitlines() == [f"error: '{path}' was {what} while it was read; run it again"]
