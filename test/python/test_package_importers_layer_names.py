# SPDX-License-Identifier: Apache-2.0
"""Layers of the frameworks themselves are what their names are: `torch.nn.Conv2d` is "torch.nn.Conv2d"."""

import functools
import operator

import pytest

layers = pytest.importorskip("mct.target_platform._layers", reason="the package is not built (tools/dev/build)")

TORCH = """
nn.Conv2d nn.ConvTranspose2d nn.Linear nn.ReLU nn.ReLU6 nn.LeakyReLU nn.PReLU nn.SiLU nn.Hardswish nn.Sigmoid nn.Tanh
nn.Hardtanh nn.Dropout nn.Flatten nn.MaxPool2d nn.ZeroPad2d nn.BatchNorm2d nn.Softmax nn.GELU nn.ELU nn.LogSoftmax
nn.AvgPool2d nn.AdaptiveAvgPool2d nn.LayerNorm nn.Hardsigmoid nn.functional.relu nn.functional.relu6
nn.functional.leaky_relu nn.functional.prelu nn.functional.silu nn.functional.hardswish nn.functional.sigmoid
nn.functional.hardtanh nn.functional.dropout nn.functional.pad nn.functional.max_pool2d nn.functional.normalize
nn.functional.avg_pool2d nn.functional.interpolate nn.functional.softmax nn.functional.gelu nn.functional.elu
nn.functional.linear nn.functional.conv2d nn.functional.hardsigmoid nn.functional.fold nn.functional.log_softmax relu
split chunk unbind reshape unsqueeze Tensor.size Tensor.view Tensor.expand Tensor.type permute transpose equal argmax
gather topk squeeze stack cat concat concatenate add sub mul div divide multiply subtract sigmoid softmax tanh flatten
dropout minimum maximum min max exp sin cos take index_select select mean matmul bmm
"""
TENSORFLOW = """
keras.layers.Conv2D nn.conv2d keras.layers.DepthwiseConv2D nn.depthwise_conv2d keras.layers.Conv2DTranspose
nn.conv2d_transpose keras.layers.Dense concat keras.layers.Concatenate stack unstack gather compat.v1.gather
keras.layers.BatchNormalization nn.batch_normalization math.l2_normalize nn.relu keras.layers.ReLU
keras.layers.Activation nn.relu6 nn.leaky_relu keras.layers.LeakyReLU nn.elu add keras.layers.Add subtract
keras.layers.Subtract math.multiply keras.layers.Multiply math.divide math.truediv math.minimum keras.layers.Minimum
math.maximum keras.layers.Maximum keras.layers.PReLU nn.bias_add nn.swish nn.sigmoid nn.softmax keras.layers.Softmax
nn.log_softmax nn.tanh nn.gelu keras.activations.hard_sigmoid keras.layers.Flatten __operators__.getitem
keras.layers.Reshape reshape expand_dims squeeze keras.layers.Permute transpose keras.layers.Dropout split
keras.layers.MaxPooling2D nn.avg_pool2d keras.layers.AveragePooling2D size shape compat.v1.shape math.equal
math.argmax nn.top_k quantization.fake_quant_with_min_max_vars image.combined_non_max_suppression
keras.layers.ZeroPadding2D cast image.resize pad keras.layers.Cropping2D space_to_batch_nd strided_slice math.exp
math.sin math.cos identity keras.layers.GlobalAveragePooling2D keras.layers.UpSampling2D reduce_mean batch_to_space
"""


def check(framework, module, names):
    assert len(names) > 80
    for name in names:
        found = functools.reduce(getattr, name.split("."), module)
        known, named = layers.resolve_layer(found), layers.resolve_layer(f"{framework}.{name}")
        assert known.forms == named.forms and known.linalg == named.linalg, name


def test_layers_of_torch_are_their_names():
    torch = pytest.importorskip("torch", reason='the extra "torch" is not installed (tools/dev/importers)')
    check("torch", torch, TORCH.split())
    for function, name in ((operator.add, "Add"), (operator.truediv, "Div"), (operator.getitem, "GetItem")):
        assert [form.pattern for form in layers.resolve_layer(function).forms] == [
            form.pattern for form in layers.resolve_layer(name).forms
        ]


def test_layers_of_tensorflow_are_their_names():
    tensorflow = pytest.importorskip("tensorflow", reason='the extra "keras" is not installed (tools/dev/importers)')
    check("tf", tensorflow, TENSORFLOW.split())
