# SPDX-License-Identifier: Apache-2.0
"""Writes TOSA as text, for networks that tests make up."""

import numpy as np


def shape_text(shape):
    """Returns the type of a tensor of f32."""
    return f"tensor<{'x'.join(map(str, shape))}xf32>"


def const(name, values):
    """Returns the op that makes a constant of f32."""
    values = np.asarray(values, np.float32)
    return (
        f'%{name} = "tosa.const"() <{{values = dense<"0x{values.tobytes().hex()}"> : {shape_text(values.shape)}}}> '
        f": () -> {shape_text(values.shape)}"
    )


def const_shape(name, values):
    """Returns the op that makes the sizes of a tensor."""
    kind = f"!tosa.shape<{len(values)}>"
    return f"%{name} = tosa.const_shape {{values = dense<{list(values)}> : tensor<{len(values)}xindex>}} : () -> {kind}"


def conv(result, value, kernel, bias, size):
    """Returns the ops of a convolution of 1x1 on pictures of `size` rows and columns; `%zero` is a constant 0."""
    outputs, channels = len(bias), kernel.shape[-1]
    kinds = ", ".join(map(shape_text, [(1, size, size, channels), kernel.shape, bias.shape, (1,), (1,)]))
    return [
        const(f"{result}_kernel", kernel),
        const(f"{result}_bias", bias),
        f"%{result} = tosa.conv2d %{value}, %{result}_kernel, %{result}_bias, %zero, %zero {{acc_type = f32, "
        f"pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>, dilation = array<i64: 1, 1>}} : ({kinds}) -> "
        f'{shape_text((1, size, size, outputs))} loc("{result}")',
    ]
