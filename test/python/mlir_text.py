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
