# SPDX-License-Identifier: Apache-2.0
"""Messages name what people gave, in the words of the interface that they use, and say what to do."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import measure
import numpy as np
import pytest

mct = pytest.importorskip("mct", reason="the package is not built (tools/dev/build)")

from mct import errors  # noqa: E402

DATA = measure.REPOSITORY / "test" / "data"
DIGITS, CALIBRATION, TEST = DATA / "digits.mlirbc", DATA / "digits_calib.npy", DATA / "digits_test.npy"
SCALE = mct.Preprocessing.of(1 / 16)


def refused(call: Any) -> str:
    """The one error that a call raises, with all its notes; nothing of it names a temporary file."""
    with pytest.raises(mct.Error) as caught:
        call()
    for text in (str(caught.value), caught.value.diagnostics):
        assert "/mct-" not in text, text
    return str(caught.value)


def quantize(**options: Any) -> Any:
    given = {"target": "imx500", "data": CALIBRATION, "preprocessing": SCALE} | options
    return mct.quantize(mct.load(DIGITS), **given)


def trainable() -> Any:
    return mct.quantize(mct.load(DIGITS), "imx500", overrides=['name "*" activation=float'])


# ----------------------------------------------------------------------------------------------------------------------
# What was given, not the file that it became
# ----------------------------------------------------------------------------------------------------------------------


def test_rules_are_called_by_their_places() -> None:
    rules = ['name "*" weights=4', "", 'name "nothing" weights=4']
    assert refused(lambda: quantize(overrides=rules)).startswith("overrides[2]: the rule matches nothing")
    assert refused(lambda: quantize(overrides=["name x weights=7 bits"])).startswith("overrides[0]: cannot read 'bits'")
    message = refused(lambda: quantize(overrides=["name a weights=4\nname b weights=4"]))
    assert message.startswith("overrides[0]: expected a rule of one line")
    message = refused(lambda: quantize(overrides=["name a float", 3]))
    assert message == "overrides[1]: expected a rule of one line, found 3"


def test_reasons_that_name_rules_call_them_by_their_places(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "mct")
    quantize(overrides=['name "head*" float'], remarks=True)
    assert "/mct-" not in caplog.text


def test_labels_that_are_wrong_are_labels() -> None:
    many = np.zeros(5000, np.int64)
    message = refused(lambda: mct.train(trainable(), data=TEST, labels=many, loss="cross-entropy", epochs=1))
    assert "labels" in message and "[0" not in message
    message = refused(lambda: mct.load(DIGITS).evaluate(TEST, many, preprocessing=SCALE))
    assert message.startswith("labels: ") and "5000" in message
    message = refused(lambda: mct.train(trainable(), data=TEST, labels=many.astype(float), epochs=1))
    assert message == (
        "labels: expected the path of a .npy file, or one class number for each sample, found an array of float64, 5000"
    )


def test_a_target_that_is_wrong_is_the_target() -> None:
    class Broken:
        def to_mlir(self) -> str:
            return "tpc.platform @broken"

    assert refused(lambda: quantize(target=Broken())).startswith("target:1:")


def test_a_link_is_called_by_the_file_that_it_stands_for(tmp_path: Path) -> None:
    # A path that the text of a pipeline cannot hold is given to the compiler by a link.
    path = tmp_path / "two words, and more.npy"
    samples = np.zeros((4, 8, 8, 1), np.float32)
    samples[2] = np.nan
    np.save(path, samples)
    assert f"'{path}': sample 2: expected finite values, found nan" in refused(lambda: quantize(data=path))


@pytest.mark.alternating
def test_samples_of_another_range_are_told_in_the_words_of_the_interface(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    pixels = np.load(CALIBRATION)
    # The network reads 0 to 1. Eight bits for four are too many, a scale that is forgotten is one too few, and a scale
    # twice is one too much.
    for samples, remedy in (
        (pixels * 16.0, "Preprocessing.of(0.00392157)"),
        (pixels, "Preprocessing.of(0.0625)"),
        (pixels / 4080, "Preprocessing.of(255)"),
    ):
        caplog.clear()
        mct.quantize(mct.load(DIGITS), "imx500", samples.astype(np.float32))
        (reported,) = (record.getMessage() for record in caplog.records if "another range" in record.getMessage())
        assert "the samples of input 'input' seem to have another range than the network expects" in reported
        assert f"give preprocessing=mct.{remedy}" in reported and "input-scale" not in reported
    caplog.clear()
    quantize()
    # Real numbers of both signs are no pixels, however large: embeddings.
    embeddings = np.random.default_rng(1).normal(scale=20, size=pixels.shape)
    mct.quantize(mct.load(DIGITS), "imx500", embeddings.astype(np.float32), effort="fast")
    assert "another range" not in caplog.text
    # The scale of pixels that the module has recorded shows that samples of 0 to 1 are not pixels.
    recorded = mct.record_preprocessing(mct.load(DIGITS), scale=[1 / 255])
    mct.quantize(recorded, "imx500", (pixels / 16).astype(np.float32))
    assert "which were 0 to 1 before the recorded scale of 0.003922" in caplog.text
    np.save(tmp_path / "pixels.npy", (pixels * 16.0).astype(np.float32))
    finished = console(
        "quantize", DIGITS, "--target", "imx500", "--data", tmp_path / "pixels.npy", "-o", tmp_path / "q.mlirbc"
    )
    assert finished.returncode == 0 and "give --scale 0.00392157" in finished.stderr


def test_files_of_arguments_are_known_wherever_they_lie() -> None:
    for folder in ("/tmp", "/var/folders/a-b/T", os.environ.get("TMPDIR", "/tmp")):
        for name, word in {
            "overrides.rules:12:1": "overrides[11]",
            "overrides.rules": "overrides",
            "target.mlir": "target",
            "labels.npy": "labels",
            "input3.npy": "data",
        }.items():
            reported = errors.Diagnostic(
                "error", f"{folder}/mct-ab_12xyz/{name}", f"'{folder}/mct-ab_12xyz/{name}': bad"
            )
            error = mct.Error.of([reported])
            assert (error.location, error.message) == (word, f"{word}: bad")
    kept = errors.Diagnostic("error", "", "'/home/me/mct-runs/labels.npy': bad")
    assert mct.Error.of([kept]).message == kept.text


# ----------------------------------------------------------------------------------------------------------------------
# Words of the interface
# ----------------------------------------------------------------------------------------------------------------------


def console(*arguments: object, **options: Any) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "mct.cli", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)


def test_samples_are_asked_for_in_the_words_of_the_interface(tmp_path: Path) -> None:
    message = refused(lambda: mct.quantize(mct.load(DIGITS), "imx500"))
    assert "give data=…" in message and "calibration-data" not in message
    finished = console("quantize", DIGITS, "--target", "imx500", "-o", tmp_path / "q.mlirbc")
    assert finished.returncode == 1 and "give --data" in finished.stderr
    assert "calibration-data" not in finished.stderr and not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("shape", "layout", "network"),
    [((4, 3, 6, 8), "NCHW", "6x8x3"), ((3, 6, 8), "NCHW", "6x8x3"), ((4, 6, 8, 3), "NHWC", "3x6x8")],
)
def test_a_transposed_shape_says_so(tmp_path: Path, shape: tuple[int, ...], layout: str, network: str) -> None:
    text = f"""
        func.func @main(%x: tensor<1x{network}xf32>) -> tensor<1x{network}xf32> {{
          %0 = tosa.abs %x : (tensor<1x{network}xf32>) -> tensor<1x{network}xf32>
          return %0 : tensor<1x{network}xf32>
        }}"""
    model = mct.Model.parse(text)
    samples = np.ones(shape, np.float32)
    message = refused(lambda: model.run(samples))
    assert f"the samples have the layout {layout}, channels {'first' if layout == 'NCHW' else 'last'}" in message
    assert f'mct.Preprocessing.of(layout="{layout}")' in message and f"--layout {layout}" in message
    # The remedy helps.
    if len(shape) == 4:
        found = model.run(samples, preprocessing=mct.Preprocessing.of(layout=layout))
        assert found.shape == (4, *map(int, network.split("x")))
    # Files, and the compiler itself.
    np.save(tmp_path / "samples.npy", samples if len(shape) == 4 else samples[np.newaxis])
    assert f"--layout {layout}" in refused(lambda: model.run(tmp_path / "samples.npy"))
    message = refused(lambda: model.module.execute([f"0:{tmp_path / 'samples.npy'}"], []))
    channels = "first" if layout == "NCHW" else "last"
    assert f"the file has channels {channels}" in message and "mct-record-preprocessing=" in message


def test_other_shapes_say_nothing_of_layouts() -> None:
    message = refused(lambda: mct.load(DIGITS).run(np.ones((4, 8, 9, 1), np.float32)))
    assert message.endswith("expected shape 8x8x1, or Nx8x8x1 for a batch, found 4x8x9x1")


def test_no_message_prints_an_array() -> None:
    array = np.zeros((40, 8, 8, 1), np.float32)
    network = mct.load(DIGITS)
    for call in (
        lambda: mct.post_training_quantization(network, array),
        lambda: mct.quantize(network, array, TEST),
        lambda: mct.quantize(network, "imx500", TEST, overrides=array),
        lambda: mct.QuantizationConfig(activation_n_bits=array),
        lambda: mct.gptq.GradientPTQConfig(1, loss=array),
        lambda: mct.target_platform.OperatorsSet("a", array),
    ):
        message = refused(call)
        assert "an array of float32, 40x8x8x1" in message and "0." not in message, message
    message = refused(lambda: mct.post_training_quantization(network, array))
    assert message.endswith("; give lambda: [[samples]]")
    assert errors.describe([1] * 20) == "[1, 1, 1, 1, 1, 1, 1, 1, ...]" and errors.describe("a") == "'a'"
    assert errors.describe(object).startswith("<class") and len(errors.describe("x" * 1000)) < 210


# ----------------------------------------------------------------------------------------------------------------------
# Files
# ----------------------------------------------------------------------------------------------------------------------


def test_models_of_unknown_names_say_which_are_known(tmp_path: Path) -> None:
    binary, text = tmp_path / "model.pt", tmp_path / "model.txt"
    binary.write_bytes(b"PK\3\4\0\0")
    message = refused(lambda: mct.load(binary))
    assert message.startswith(f"cannot tell what '{binary}' is")
    assert "ends in .mlir, .mlirbc, .tflite, .onnx, .pt2, .keras, .h5, .hdf5" in message
    text.write_text("no module")
    assert "ends in .mlir, .mlirbc, .tflite" in refused(lambda: mct.load(text))
    # A module is one under any name.
    text.write_bytes(DIGITS.read_bytes())
    assert mct.load(text).text == mct.load(DIGITS).text
    (tmp_path / "broken.mlir").write_text("no module")
    assert "ends in" not in refused(lambda: mct.load(tmp_path / "broken.mlir"))


def test_exports_of_unknown_names_say_which_are_known(tmp_path: Path) -> None:
    text = console("export", DIGITS, "-o", tmp_path / "network.xyz").stderr
    assert "names end in .onnx, .tflite, .tosa, .json, .npz; or give --format, one of onnx, tflite" in text


@pytest.mark.alternating
@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "expected a .npy file, found an empty file"),
        (b"\x93NUM", "expected a .npy file, found other contents"),
        (b"1,2,3\n", "expected a .npy file, found other contents"),
        (b"PK\3\4", "expected a .npy file, found other contents\nnote: numpy.savez makes archives, numpy.save a .npy"),
        (b"\x93NUMPY\x01\x00\x76\x00", "cannot be read as a .npy file: EOF"),
    ],
)
def test_a_file_that_is_no_array_is_one_error(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "samples.npy"
    path.write_bytes(content)
    assert f"'{path}': {message}" in refused(lambda: mct.load(DIGITS).run(path))
    assert f"'{path}': {message}" in refused(lambda: mct.load(DIGITS).evaluate(TEST, path, preprocessing=SCALE))
    if b"," in content:
        assert "samples are .npy files (numpy.save), or images: .bmp" in refused(lambda: mct.load(DIGITS).run(path))


@pytest.mark.alternating
def test_paths_of_images_are_samples(tmp_path: Path) -> None:
    image = pytest.importorskip("PIL.Image", reason='Pillow is not installed (pip install "mct-mlir[images]")')
    pixels = np.load(TEST)[:6]
    for number, each in enumerate(pixels):
        image.fromarray(each[..., 0]).save(tmp_path / f"{number}.png")
    network = mct.load(DIGITS)
    expected = network.run(pixels, preprocessing=SCALE)
    # In the order of the list.
    backwards = [tmp_path / f"{number}.png" for number in reversed(range(6))]
    assert np.array_equal(network.run(backwards, preprocessing=SCALE), expected[::-1])
    assert np.array_equal(network.run([str(path) for path in backwards], preprocessing=SCALE), expected[::-1])
    assert np.array_equal(network.run(tmp_path / "3.png", preprocessing=SCALE), expected[3:4])
    assert np.array_equal(network.run(tmp_path, preprocessing=SCALE), expected)
    assert np.array_equal(network.run(mct.images(backwards, scale=1 / 16)), expected[::-1])
    message = refused(lambda: network.run([*backwards, CALIBRATION]))
    assert message.startswith(f"samples: expected images or .npy files, found '{CALIBRATION}' beside images")
    assert refused(lambda: mct.images([])) == "images: expected at least one path, found none"
    found = console("run", DIGITS, "--data", *backwards, "--scale", "0.0625", "--output", tmp_path / "o.npy")
    assert found.returncode == 0, found.stderr
    assert np.array_equal(np.load(tmp_path / "o.npy"), expected[::-1])


# ----------------------------------------------------------------------------------------------------------------------
# The console
# ----------------------------------------------------------------------------------------------------------------------


@pytest.mark.alternating
@pytest.mark.parametrize(
    "arguments", [("targets", "imx500"), ("quantize", "--help"), ("explain", DIGITS, "--target", "imx500")]
)
def test_a_reader_that_leaves_ends_the_command_quietly(arguments: tuple[object, ...]) -> None:
    read, write = os.pipe()
    os.close(read)
    # Its standard output has no reader at all, whenever it writes.
    finished = subprocess.run(
        [sys.executable, "-m", "mct.cli", *map(str, arguments)],
        stdout=write,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    os.close(write)
    # The status is that of a process that the signal ends; argparse returns 0 if nothing reads its help.
    assert finished.returncode in ((0, 141) if "--help" in arguments else (141,))
    assert finished.stderr == ""


@pytest.mark.alternating
def test_what_is_written_is_printed(tmp_path: Path) -> None:
    text, bytecode = tmp_path / "digits.mlir", tmp_path / "q.mlirbc"
    finished = console("import", DIGITS, "-o", text)
    assert (finished.returncode, finished.stdout, finished.stderr) == (0, f"{text}\n", "")
    finished = console("quantize", text, "--target", "imx500", "--data", CALIBRATION, "--scale", 0.0625, "-o", bytecode)
    layers = "5 of 5 layers in integers\n"
    assert (finished.returncode, finished.stdout, finished.stderr) == (0, f"{bytecode}\n", layers)
    parameters = tmp_path / "parameters.json"
    assert console("export", bytecode, "-o", parameters).stdout == f"{parameters}\n"
    assert all(path.is_file() for path in (text, bytecode, parameters))
