# SPDX-License-Identifier: Apache-2.0
"""Keras: what a model computes, our executor computes from the import."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

mct = pytest.importorskip("mct", reason="the package is not built (tools/dev/build)")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
for module in ("tensorflow", "keras", "tosa_converter_for_tflite"):
    pytest.importorskip(module, reason='the extra "keras" is not installed (tools/dev/importers)')

import importer_networks as networks  # noqa: E402
import keras  # noqa: E402
import numpy as np  # noqa: E402
from keras import layers  # noqa: E402

# Relative to the range of the outputs. Folded batch norms and orders of summation differ; 1e-6 is seen.
TOLERANCE = 1e-4


def network() -> keras.Model:
    keras.utils.set_random_seed(3)
    image = keras.Input((16, 16, 3), name="image")
    x = layers.Conv2D(8, 3, padding="same", use_bias=False, name="stem")(image)
    x = layers.BatchNormalization(name="norm")(x)
    x = layers.ReLU(name="relu")(x)
    y = layers.DepthwiseConv2D(3, padding="same", name="depthwise")(x)
    x = layers.Add(name="sum")([x, layers.Activation("hard_silu", name="swish")(y)])
    return keras.Model(image, layers.Dense(5, name="head")(layers.GlobalAveragePooling2D(name="pool")(x)), name="net")


def images(count: int) -> np.ndarray:
    return np.random.default_rng(5).normal(size=(count, 16, 16, 3)).astype(np.float32)


@pytest.fixture(scope="module")
def model():
    """Batch norms have seen images."""
    model = network()
    model(images(16), training=True)
    return model


def test_a_model_goes_to_a_quantized_module(model):
    imported = mct.load(model)
    assert "tensor<?x16x16x3xf32>" in imported.text
    expected = model.predict(images(4), verbose=0)
    assert networks.relative_error(imported.run(images(4)), expected) < TOLERANCE
    quantized = mct.quantize(imported, target="imx500", data=images(16))
    assert 'as "image" activation' in quantized.text
    assert 'as "head' in quantized.text
    assert networks.relative_error(quantized.run(images(4)), expected) < 0.1  # eight bits


@pytest.mark.parametrize("first", ["tensorflow", "mct"])
def test_the_compiler_and_tensorflow_share_a_process(first):
    """Both carry an LLVM, and TensorFlow shows its own to everybody."""
    digits = Path(__file__).resolve().parents[1] / "data" / "digits"
    samples = f"calibration-data={digits}_calib.npy input-scale=0.0625"
    script = f"""if True:
        import {"tensorflow" if first == "tensorflow" else "mct._native"}
        import mct
        model = mct.load("{digits}.mlirbc")
        import tensorflow
        print(len(mct.Model(model.module.run("mct-ptq{{target=imx500 {samples}}}")).bytecode))"""
    plain = script.replace("import tensorflow", "pass")
    sizes = [subprocess.check_output([sys.executable, "-c", text], text=True) for text in (script, plain)]
    assert sizes[0] == sizes[1]


@pytest.mark.parametrize("suffix", ["keras", "h5", "hdf5"])
def test_a_saved_model_is_imported_as_the_model_is(tmp_path, model, suffix):
    model.save(tmp_path / f"net.{suffix}")
    imported = mct.load(tmp_path / f"net.{suffix}")
    expected = model.predict(images(4), verbose=0)
    assert networks.relative_error(imported.run(images(4)), expected) < TOLERANCE


def test_a_folder_of_a_graph_is_imported(tmp_path, model):
    model.export(tmp_path / "saved", verbose=False)
    expected = model.predict(images(4), verbose=0)
    assert networks.relative_error(mct.load(tmp_path / "saved").run(images(4)), expected) < TOLERANCE


def test_layers_of_the_model_give_names(model):
    from mct.importers.keras import describe, layer_name

    names = describe(model)
    assert layer_name("serving_default_image:0", names) == "image"
    assert layer_name("StatefulPartitionedCall_1:0", names) == "head"
    assert layer_name("net_1/relu_1/Relu;net_1/stem_1/convolution", names) == "relu/Relu;stem/convolution"
    assert layer_name("net_1/conv_2/x", names) == "conv_2/x"
    # Scopes of a graph that was traced again are numbered, whatever layers there are.
    numbered = {"model": "net", "layers": ["conv2d", "conv2d_1"], "outputs": []}
    assert layer_name("net_1/conv2d_1/convolution", numbered) == "conv2d/convolution"
    assert layer_name("net_1/conv2d_1_2/convolution", numbered) == "conv2d_1/convolution"
    assert layer_name("net/conv2d_1/convolution", numbered) == "conv2d_1/convolution"


def test_points_have_the_names_of_their_layers():
    keras.utils.set_random_seed(3)
    image = keras.Input((8, 8, 3), name="image")
    # Convolutions with their own numbers, one that keeps its activation, one whose activation is a layer.
    x = layers.Conv2D(4, 3, activation="relu", name="bounded")(image)
    x = layers.Conv2D(4, 3, name="conv2d")(x)
    x = layers.ReLU(name="relu")(x)
    x = layers.Conv2D(4, 1, name="conv2d_1")(x)
    x = layers.LayerNormalization(name="norm")(layers.Activation("hard_silu", name="swish")(x))
    x = layers.Dense(5, name="head")(layers.GlobalAveragePooling2D(name="pool")(x))
    model = keras.Model(image, layers.Softmax(name="shares")(x), name="net")
    imported = mct.load(model)
    prepared = mct.attach_target(mct.prepare(imported), "imx500")
    points = mct.insert_quantizers(prepared).points
    kernels = [point.name.removesuffix("/kernel_attr") for point in points if point.weight == "kernel_attr"]
    assert kernels == ["bounded", "conv2d", "conv2d_1", "head"]
    results = {point.name for point in points if point.weight is None}
    assert {"image", "relu", "swish", "norm", "pool", "head", "shares"} <= results
    bits = mct.core.BitWidthConfig()
    bits.set_manual_weights_bit_width(mct.core.NodeNameFilter("conv2d_1"), 4, "kernel")
    narrow = mct.insert_quantizers(prepared, overrides=bits.rules).points
    assert [point.name for point in narrow if "bits = 4" in point.config and point.weight] == ["conv2d_1/kernel_attr"]


def recurrent(layer, shape=(5, 3)) -> keras.Model:
    keras.utils.set_random_seed(3)
    series = keras.Input(shape, name="series")
    return keras.Model(series, layers.Dense(2, name="head")(layer(series)), name="net")


@pytest.mark.parametrize(
    "layer",
    [
        layers.LSTM(4, return_sequences=True, name="memory"),
        layers.Bidirectional(layers.GRU(4, name="memory")),
        layers.RNN([layers.LSTMCell(4), layers.SimpleRNNCell(3)], name="memory"),
    ],
    ids=["LSTM", "both directions", "cells"],
)
def test_recurrent_layers_are_unrolled_and_left_as_they_were(layer, tmp_path):
    model = recurrent(layer)
    series = np.random.default_rng(5).normal(size=(4, 5, 3)).astype(np.float32)
    expected = model.predict(series, verbose=0)
    assert networks.relative_error(mct.load(model).run(series), expected) < TOLERANCE
    from mct.importers.keras import recurrent_layers

    assert recurrent_layers(model) and not any(one.unroll for one in recurrent_layers(model))
    if isinstance(layer, layers.LSTM):
        model.save(tmp_path / "net.keras")
        assert networks.relative_error(mct.load(tmp_path / "net.keras").run(series), expected) < TOLERANCE


def test_recurrent_layers_without_a_number_of_steps_are_refused():
    message = r"input 'series' has the shape \(None, None, 3\), and the recurrent layers 'memory' need a fixed number"
    with pytest.raises(mct.Error, match=message):
        mct.load(recurrent(layers.GRU(4, name="memory"), (None, 3)))


def test_what_the_converter_leaves_is_refused():
    scores = keras.Input((8,), name="scores")
    model = keras.Model(scores, keras.ops.top_k(scores, 2)[0])
    with pytest.raises(mct.Error, match=r"has no TOSA for tfl\.topk_v2"):
        mct.load(model)


def test_a_file_that_is_no_model_is_an_error(tmp_path):
    (tmp_path / "cut.keras").write_bytes(b"PK\3\4")
    with pytest.raises(mct.Error, match=r"cut\.keras: TensorFlow's converter: "):
        mct.load(tmp_path / "cut.keras")
    with pytest.raises(mct.Error, match="cannot read it"):
        mct.load(tmp_path / "nothing.keras")
