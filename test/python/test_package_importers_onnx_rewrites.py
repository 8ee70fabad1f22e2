# SPDX-License-Identifier: Apache-2.0
"""Operators of ONNX that become others: Fourier transforms, reversed slices, padding with elements of the tensor."""

import re

import numpy as np
import pytest

mct = pytest.importorskip("mct", reason="the package is not built (tools/dev/build)")
for module in ("torch_mlir", "onnx"):
    pytest.importorskip(module, reason='the extra "onnx" is not installed (tools/dev/importers)')

import importer_networks as networks  # noqa: E402
from onnx import TensorProto, helper  # noqa: E402

SIGNAL = np.random.default_rng(3).normal(size=(1, 96, 1)).astype(np.float32)
# Sums of at most 24 products of magnitude 1 to 10 in f32 deviate by some 24 units in the last place.
ROUNDING = 1e-5
COMPLEX = np.random.default_rng(4).normal(size=(1, 24, 5, 2)).astype(np.float32)


def load(kind: str, x: np.ndarray, constants: dict, *inputs: str, version: int = 17, **attributes):
    """The network of one operator that reads `x` and `inputs`: constants, "size", which depends on data, "": none."""
    nodes = [helper.make_node(kind, ["x", *inputs], ["y"], "layer", **attributes)]
    if "size" in inputs:
        # A number of 64 bits that depends on data.
        largest = helper.make_node("ReduceMax", ["x"], ["largest"], "largest", keepdims=0)
        nodes = [largest, helper.make_node("Cast", ["largest"], ["size"], "size", to=TensorProto.INT64), *nodes]
    proto = networks.onnx_model(nodes, [("x", list(x.shape))], [("y", None)], constants)
    proto.opset_import[0].version = version
    return mct.load(proto)


def as_complex(values: np.ndarray) -> np.ndarray:
    return values[..., 0] if values.shape[-1] == 1 else values[..., 0] + 1j * values[..., 1]


def stft(x: np.ndarray, step: int, window: np.ndarray, one_sided: bool) -> np.ndarray:
    frames = np.lib.stride_tricks.sliding_window_view(as_complex(x), window.size, axis=1)[:, ::step] * window
    return np.fft.rfft(frames) if one_sided else np.fft.fft(frames)


@pytest.mark.parametrize(
    ("window", "length", "one_sided", "shape"),
    [("hann", None, 1, (1, 96, 1)), (None, 20, 0, (1, 96)), ("hann", 16, 0, (1, 48, 2))],
    ids=["window", "length", "complex"],
)
def test_an_stft_is_a_convolution(window, length, one_sided, shape):
    x = SIGNAL.reshape(shape)
    values = np.hanning(16).astype(np.float32)
    constants = {"step": np.array(6)}
    constants |= {"window": values} if window else {}
    constants |= {"length": np.array(length)} if length else {}
    inputs = ["step", "window" if window else "", "length" if length else ""]
    model = load("STFT", x, constants, *inputs, onesided=one_sided)
    expected = stft(x.reshape(*x.shape[:2], -1), 6, values if window else np.ones(length), bool(one_sided))
    found = model.run(x)
    assert found.shape == (*expected.shape, 2)
    assert np.abs(as_complex(found) - expected).max() < ROUNDING
    assert "tosa.conv2d" in model.text


@pytest.mark.parametrize(
    ("version", "length", "axis", "inverse", "one_sided", "parts"),
    [
        (17, None, 1, 0, 0, 1),
        (17, None, 1, 0, 0, 2),
        (17, None, 2, 1, 0, 1),
        (17, None, 2, 1, 0, 2),
        (17, 30, 1, 0, 1, 1),
        (20, 16, -3, 0, 0, 2),
        (20, None, None, 0, 1, 1),
    ],
)
def test_a_dft_is_a_product(version, length, axis, inverse, one_sided, parts):
    x = COMPLEX[..., :parts]
    constants = {"length": np.array(length)} if length else {}
    inputs, attributes = ["length" if length else ""], {"inverse": inverse, "onesided": one_sided}
    if version < 20:
        attributes["axis"] = axis
    elif axis is not None:
        constants["axis"] = np.array(axis)
        inputs.append("axis")
    along = -2 if axis is None else axis
    # Numbers without their last axis, of parts.
    along = along - 1 if along > 0 else along + 1
    transform = np.fft.rfft if one_sided else np.fft.ifft if inverse else np.fft.fft
    expected = transform(as_complex(x), length, axis if axis and axis > 0 else along)
    found = load("DFT", x, constants, *inputs, version=version, **attributes).run(x)
    assert found.shape == (*expected.shape, 2)
    assert np.abs(as_complex(found) - expected).max() < ROUNDING


@pytest.mark.parametrize("length", [None, 7, 8])
def test_one_side_of_a_transform_becomes_real_numbers(length):
    constants = {"length": np.array(length)} if length else {}
    inputs = ["length" if length else ""]
    found = load("DFT", COMPLEX, constants, *inputs, version=20, inverse=1, onesided=1).run(COMPLEX)
    expected = np.fft.irfft(as_complex(COMPLEX), length)[..., None]
    assert found.shape == expected.shape
    assert np.abs(found - expected).max() < ROUNDING


@pytest.mark.parametrize(
    ("bounds", "expected"),
    [
        (([7], [-(1 << 63)], [2], [-1]), np.s_[:, :, 7::-1]),
        (([-1, 1], [1, 9], [1, 2], [-2, 3]), np.s_[:, -1:1:-2, 1:9:3]),
        (([0, -1], [1, -9], None, [1, -1]), np.s_[0:1, -1:-9:-1]),
    ],
    ids=["reversed", "two", "first"],
)
def test_a_slice_goes_backwards(bounds, expected):
    x = np.arange(2 * 10 * 12, dtype=np.float32).reshape(2, 10, 12)
    names = ("starts", "ends", "axes", "steps")
    constants = {name: np.array(value) for name, value in zip(names, bounds, strict=True) if value is not None}
    inputs = [name if name in constants else "" for name in names]
    np.testing.assert_array_equal(load("Slice", x, constants, *inputs).run(x), x[expected])


@pytest.mark.parametrize("mode", ["edge", "wrap"])
@pytest.mark.parametrize("axes", [None, [2, -2]], ids=["all", "some"])
def test_padding_takes_elements_of_the_tensor(mode, axes):
    x = np.random.default_rng(5).normal(size=(2, 4, 6)).astype(np.float32)
    widths = [(0, 0), (1, 2), (3, 0)]
    given = widths if axes is None else [widths[axis] for axis in axes]
    constants = {"pads": np.array([*(before for before, _ in given), *(after for _, after in given)])}
    inputs = ["pads"]
    if axes is not None:
        constants["axes"] = np.array(axes)
        inputs += ["", "axes"]
    found = load("Pad", x, constants, *inputs, version=19, mode=mode).run(x)
    np.testing.assert_array_equal(found, np.pad(x, widths, mode))


def test_padding_may_crop():
    x = np.random.default_rng(5).normal(size=(1, 4, 6)).astype(np.float32)
    found = load("Pad", x, {"pads": np.array([0, 0, 2, 0, 0, -1])}, "pads", mode="edge").run(x)
    np.testing.assert_array_equal(found, np.pad(x, [(0, 0), (0, 0), (2, 0)], "edge")[..., :-1])


def test_a_spectrum_is_quantized():
    """The kernel of the transform is a layer like others."""
    nodes = [
        helper.make_node("STFT", ["x", "step", "window"], ["s"], "stft"),
        helper.make_node("ReduceSumSquare", ["s", "last"], ["p"], "power", keepdims=0),
        helper.make_node("MatMul", ["p", "mel"], ["y"], "mel"),
    ]
    random = np.random.default_rng(6)
    constants = {"step": np.array(8), "window": np.hanning(16).astype(np.float32), "last": np.array([-1])}
    constants["mel"] = random.uniform(0, 1, (9, 4)).astype(np.float32)
    proto = networks.onnx_model(nodes, [("x", [1, 96, 1])], [("y", None)], constants)
    proto.opset_import[0].version = 18
    x = random.normal(size=(32, 96, 1)).astype(np.float32)
    model = mct.load(proto)
    expected = np.concatenate([model.run(sample[None]) for sample in x])
    power = np.abs(stft(x, 8, constants["window"], True)) ** 2
    # Sums of powers, which are at most some 200 times as large as the spectrum.
    assert np.abs(expected - power @ constants["mel"]).max() < 10 * ROUNDING
    quantized = mct.quantize(model, target="imx500", data=x)
    assert {"stft", "mel"} <= {point.name.split("/")[0] for point in quantized.points if point.weight}
    error = np.concatenate([quantized.run(sample[None]) for sample in x]) - expected
    # Points of 8 bits result in 31 dB here; a spectrum whose parts are mixed up has no correct digit.
    assert 10 * np.log10((expected**2).sum() / (error**2).sum()) > 25


@pytest.mark.parametrize(
    ("kind", "x", "constants", "inputs", "attributes", "message"),
    [
        ("STFT", SIGNAL, {}, ["size", "", "size"], {}, "STFT 'layer' has a step that is computed at run time"),
        ("STFT", SIGNAL, {"step": np.array(4)}, ["step"], {}, "STFT 'layer' has neither a window nor a length of its"),
        ("DFT", np.zeros((1, 8, 3), np.float32), {}, [], {}, "DFT 'layer' transforms a signal with 3 parts"),
    ],
    ids=["step", "frames", "parts"],
)
def test_transforms_that_cannot_be_written_out_are_refused_by_name(kind, x, constants, inputs, attributes, message):
    with pytest.raises(mct.Error, match=re.escape(message)) as caught:
        load(kind, x, constants, *inputs, **attributes)
    assert caught.value.location == 'model.onnx: "layer"'
