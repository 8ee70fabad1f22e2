# SPDX-License-Identifier: Apache-2.0
"""The operators of ONNX that quantize, or compute with codes: those of the standard, of ONNX Runtime (`com.microsoft`),
of mct_quantizers, and FakeQuantize of OpenVINO.

Each becomes operators on real numbers and points (`_onnx_quantized`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from mct.importers._onnx_quantized import MOST_IN_BLOCKS, Codes, Reader, refuse
from mct.importers._onnx_recurrent import name_of
from mct.importers._points import Parameters, Quantizer

Handler = Callable[[Reader, onnx.NodeProto], None]

# Operators by which a quotient becomes an integer with the shape of the sums that it is added to.
_TO_INTEGER = ("Floor", "Round", "Cast", "Reshape")
# Layers whose results are sums of 32 bits.
_SUMMING = {"ConvInteger", "MatMulInteger"}


def attributes(node: onnx.NodeProto) -> dict[str, Any]:
    return {attribute.name: helper.get_attribute_value(attribute) for attribute in node.attribute}


def operand(node: onnx.NodeProto, index: int) -> str:
    """The name of an operand; "" where it is left out."""
    return str(node.input[index]) if index < len(node.input) else ""


def _initializer(reader: Reader, wanted: str, values: np.ndarray[Any, Any]) -> str:
    """Adds a constant to the graph, and returns its name."""
    name = reader.fresh(wanted)
    reader.model.graph.initializer.append(numpy_helper.from_array(values, name))
    return name


def layer_name(node: onnx.NodeProto) -> str:
    """Suffix that ONNX Runtime appends to the name of an operator for its form on codes."""
    return name_of(node).removesuffix("_quant")


# ----------------------------------------------------------------------------------------------------------------------
# Quantizers
# ----------------------------------------------------------------------------------------------------------------------


def _quantize(reader: Reader, node: onnx.NodeProto) -> None:
    source, scale, zero_point = (operand(node, index) for index in range(3))
    given = attributes(node)
    type = reader.type_of(zero_point) if zero_point else given.get("output_dtype") or TensorProto.UINT8
    values = reader.constant(source)
    if source in reader.codes:
        raise refuse(node, f"quantizes the codes '{source}'")
    shape = None if values is None else values.shape
    axis, block = given.get("axis", 1), given.get("block_size", 0)
    parameters = reader.parameters(node, scale, zero_point, type, shape, axis, block)
    if parameters.bits > 23:
        raise refuse(node, f"quantizes to {parameters.bits} bits, where no quantizer has more than 23")
    if values is None:
        source, parameters = reader.shift(node, source, parameters)
        reader.codes[node.output[0]] = Codes(reader.add_point(node, source, parameters), parameters)
        return
    real = reader.stored_real(source, values.astype(np.float32), parameters)
    reader.codes[node.output[0]] = Codes(real, parameters, values.shape)


def _dequantize(reader: Reader, node: onnx.NodeProto) -> None:
    given = attributes(node)
    axis, block = given.get("axis", 1), given.get("block_size", 0)
    real = reader.real(node, node.input[0], node.input[1], operand(node, 2), axis, block)
    reader.emit("Identity", name_of(node), [real], node.output[0])
    if real in reader.quantized:
        reader.quantized[node.output[0]] = reader.quantized[real]


def _fake_quantize(reader: Reader, node: onnx.NodeProto) -> None:
    """OpenVINO: bounds of what is quantized and of the result, and the number of levels."""
    bounds = [reader.constant(operand(node, index)) for index in range(1, 5)]
    if any(each is None for each in bounds):
        raise refuse(node, "has bounds that are computed at run time")
    low, high, out_low, out_high = (np.asarray(each, np.float64) for each in bounds)
    levels = int(attributes(node).get("levels", 256))
    bits = max(1, (levels - 1).bit_length())
    narrow = levels == (1 << bits) - 1
    values = reader.constant(node.input[0])
    if (levels != 1 << bits and not narrow) or (narrow and values is None):
        raise refuse(node, f"has {levels} levels, which are not all codes of some bits")
    if not (np.array_equal(low, out_low) and np.array_equal(high, out_high)):
        raise refuse(node, "has a result with other bounds than what it quantizes")
    if not (high > low).all():
        raise refuse(node, "has bounds that are not ascending")
    scale = (high - low) / (levels - 1)
    zero_point = np.round(-low / scale)
    if (np.abs(-low / scale - zero_point) > 1e-3).any():
        raise refuse(node, "has levels none of which is zero", "move the bounds so that zero is a level")
    # Without its lowest code a grid of weights is symmetric: one of all codes has these levels as well.
    zero_points = np.where(zero_point > 0, zero_point + (1 if narrow else 0), zero_point).astype(np.int64)
    signed = bool((zero_points == 1 << (bits - 1)).all())
    axes = tuple(i for i, extent in enumerate(scale.shape) if extent != 1)
    parameters = Parameters(
        tuple(map(float, scale.ravel())),
        tuple(int(each) - ((1 << (bits - 1)) if signed else 0) for each in zero_points.ravel()),
        bits,
        signed,
        axes,
    )
    _give(reader, node, values, parameters)


def _give(
    reader: Reader, node: onnx.NodeProto, values: np.ndarray[Any, Any] | None, parameters: Parameters | Quantizer
) -> None:
    """The result of a node that quantizes and dequantizes."""
    source = node.input[0]
    if values is not None:
        real = reader.stored_real(source, values.astype(np.float32), parameters)
    elif parameters.axes:
        raise refuse(node, "quantizes an activation with parameters for each channel", "quantize it per tensor")
    else:
        real = reader.add_point(node, source, parameters)
        reader.quantized[node.output[0]] = parameters
    reader.emit("Identity", name_of(node), [real], node.output[0])


def _numbers(values: Any) -> list[float]:
    return [float(value) for value in np.asarray(values, np.float64).ravel()]


def _sony(reader: Reader, node: onnx.NodeProto) -> None:
    """mct_quantizers: of weights the parameters are operands, of activations attributes."""
    given = attributes(node)
    kind = node.op_type.removesuffix("Quantizer")
    is_weight = kind.startswith("Weights")
    kind = kind.removeprefix("Weights").removeprefix("Activation").upper()
    operands = [reader.constant(name) for name in node.input[1:]]
    if any(each is None for each in operands):
        raise refuse(node, "has parameters that are computed at run time")
    values = reader.constant(node.input[0]) if is_weight else None
    if is_weight and values is None:
        raise refuse(node, "quantizes weights that are not constant")
    axes = (int(given["channel_axis"]),) if given.get("per_channel") else ()
    signed = bool(given.get("signed", 1))
    bits = int(given.get("num_bits", 8))
    parameters: Parameters | Quantizer
    if kind == "UNIFORM":
        low, high = (
            [np.asarray(each, np.float64) for each in operands]
            if is_weight
            else [np.float64(given["min_range"]), np.float64(given["max_range"])]
        )
        scale = (high - low) / ((1 << bits) - 1)
        zero = np.round(-low / scale)
        parameters = Parameters(tuple(_numbers(scale)), tuple(map(int, np.ravel(zero))), bits, False, axes)
    elif kind.startswith("LUT"):
        table: Any
        thresholds: Any
        table, thresholds = operands if is_weight else (given["lut_values"], given["threshold"])
        entries = sorted({int(entry) for entry in np.ravel(table)})
        width = int(given.get("lut_values_bitwidth", 8))
        method = "lut_pot_quantizer" if "POT" in kind else "lut_sym_quantizer"
        needed = max(1, (len(entries) - 1).bit_length())
        parameters = Quantizer(
            f"#tpc.lookup_table<method = {method}, threshold = {_list(thresholds)}, table = {entries}, "
            f"bits = {max(needed, bits) if 'num_bits' in given else needed}, is_signed = {str(signed).lower()}, "
            f"table_bits = {width}>",
            axes,
        )
    else:
        thresholds = operands[0] if is_weight else given["threshold"]
        method = "power_of_two" if kind == "POT" else "symmetric"
        signs = "" if is_weight or signed else ", is_signed = false"
        parameters = Quantizer(f"#tpc.{method}<threshold = {_list(thresholds)}, bits = {bits}{signs}>", axes)
    _give(reader, node, values, parameters)


def _list(values: Any) -> str:
    return f"[{', '.join(f'{value:.17e}' for value in _numbers(values))}]"


# ----------------------------------------------------------------------------------------------------------------------
# Layers on codes
# ----------------------------------------------------------------------------------------------------------------------


def _parameters_of(reader: Reader, node: onnx.NodeProto, index: int, axis: int = 1) -> Parameters:
    """The codes of operand `index`, with the scale and zero point that follow it."""
    name = operand(node, index)
    elements = reader.constant(name)
    type = reader.type_of(name)
    if name in reader.codes:
        return reader.codes[name].parameters
    shape = None if elements is None else elements.shape
    return reader.parameters(node, operand(node, index + 1), operand(node, index + 2), type, shape, axis)


def _real(reader: Reader, node: onnx.NodeProto, index: int, axis: int = 1) -> str:
    return reader.real(node, operand(node, index), operand(node, index + 1), operand(node, index + 2), axis)


def _bias(
    reader: Reader, node: onnx.NodeProto, name: str, input: Parameters, kernel: Parameters, factor: float = 1
) -> str:
    """A bias has the scale of the products that it is added to."""
    elements = reader.constant(name)
    if elements is None:
        raise refuse(node, f"has a bias that is computed at run time, '{name}'")
    if elements.dtype.kind in "fcSUO":
        raise refuse(node, f"has a bias of {elements.dtype}, not of integers")
    scale = tuple(factor * input.scale[0] * each for each in kernel.scale)
    axes = (elements.ndim - 1,) if len(scale) > 1 else ()
    return reader.stored_real(name, elements.astype(np.int64), Parameters(scale, (0,), 32, True, axes))


def _finish(
    reader: Reader,
    node: onnx.NodeProto,
    kind: str,
    inputs: Sequence[str],
    scale: str,
    zero_point: str,
    **given: Any,
) -> None:
    """The operator on real numbers, and the point of its result."""
    real = reader.emit(kind, layer_name(node), inputs, reader.fresh(f"{node.output[0]}/real"), **given)
    reader.output(node, real, node.output[0], scale, zero_point)


def _convolution(reader: Reader, node: onnx.NodeProto) -> None:
    inputs = [_real(reader, node, 0), _real(reader, node, 3, axis=0)]
    if operand(node, 8):
        kernel = _parameters_of(reader, node, 3, axis=0)
        inputs.append(_bias(reader, node, node.input[8], _parameters_of(reader, node, 0), kernel))
    _finish(reader, node, "Conv", inputs, node.input[6], node.input[7], **attributes(node))


def _product(reader: Reader, node: onnx.NodeProto) -> None:
    inputs = [_real(reader, node, 0), _real(reader, node, 3, axis=-1)]
    _finish(reader, node, "MatMul", inputs, node.input[6], node.input[7])


def _dense(reader: Reader, node: onnx.NodeProto) -> None:
    given = attributes(node)
    axis = 0 if given.get("transB") else 1
    inputs = [_real(reader, node, 0), _real(reader, node, 3, axis=axis)]
    if operand(node, 6):
        kernel = _parameters_of(reader, node, 3, axis=axis)
        factor = float(given.get("alpha", 1))
        inputs.append(_bias(reader, node, node.input[6], _parameters_of(reader, node, 0), kernel, factor))
    if operand(node, 7):
        _finish(reader, node, "Gemm", inputs, node.input[7], operand(node, 8), **given)
    else:
        reader.emit("Gemm", layer_name(node), inputs, node.output[0], **given)


def _binary(kind: str) -> Handler:
    def handle(reader: Reader, node: onnx.NodeProto) -> None:
        inputs = [_real(reader, node, 0), _real(reader, node, 3)]
        _finish(reader, node, kind, inputs, node.input[6], operand(node, 7))

    return handle


def _unary(kind: str) -> Handler:
    def handle(reader: Reader, node: onnx.NodeProto) -> None:
        given = attributes(node)
        if given.pop("channels_last", 0):
            raise refuse(node, "has its channels last, which no operator of the standard has")
        given.pop("opset", None)
        inputs = [_real(reader, node, 0)]
        if kind == "ReduceMean" and reader.opset >= 18 and "axes" in given:
            inputs.append(_initializer(reader, f"{name_of(node)}/axes", np.array(given.pop("axes"), np.int64)))
        _finish(reader, node, kind, inputs, node.input[3], operand(node, 4), **given)

    return handle


def _concatenation(reader: Reader, node: onnx.NodeProto) -> None:
    inputs = [_real(reader, node, index) for index in range(2, len(node.input), 3)]
    _finish(reader, node, "Concat", inputs, node.input[0], node.input[1], **attributes(node))


def _selection(reader: Reader, node: onnx.NodeProto) -> None:
    inputs = [node.input[0], _real(reader, node, 1), _real(reader, node, 4)]
    _finish(reader, node, "Where", inputs, node.input[7], operand(node, 8))


# ----------------------------------------------------------------------------------------------------------------------
# Layers with sums of 32 bits, and quantization at run time
# ----------------------------------------------------------------------------------------------------------------------


def _quantize_at_run_time(reader: Reader, node: onnx.NodeProto) -> None:
    """Nothing is left of it: what reads the codes reads the real numbers."""
    codes, scale, _ = node.output
    reader.dynamic[codes] = (node.input[0], scale)
    for user in reader.readers.get(scale, []):
        if user.op_type == "Mul":
            # It scales the scale of a kernel, or else sums, whose layer takes care of it.
            if any(reader.constant(name) is not None for name in user.input):
                reader.skipped.add(id(user))
                _find_integer_biases(reader, user.output[0])
        elif user.op_type != "MatMulIntegerToFloat":
            raise refuse(node, f"has a scale that {user.op_type} '{name_of(user)}' computes with")


def _find_integer_biases(reader: Reader, factor: str) -> None:
    """Finds biases that become integers at run time, the nearest numbers of the steps of sums below bias / factor, as
    ONNX Runtime's quantizer of 2020 writes them."""
    for division in reader.readers.get(factor, []):
        if division.op_type != "Div" or reader.constant(division.input[0]) is None:
            continue
        chain = [division]
        while len(users := reader.readers.get(chain[-1].output[0], [])) == 1 and users[0].op_type in _TO_INTEGER:
            chain.append(users[0])
        for user in users:
            makers = [reader.makers[name].op_type for name in user.input if name in reader.makers]
            if user.op_type != "Add" or not _SUMMING.intersection(makers):
                raise refuse(division, f"divides by a scale for {user.op_type} '{name_of(user)}', which adds no bias")
        reader.biases[chain[-1].output[0]] = (division.input[0], factor)
        reader.skipped |= {id(each) for each in chain}


def _only_reader(reader: Reader, node: onnx.NodeProto, name: str, kind: str) -> onnx.NodeProto:
    found = reader.readers.get(name, [])
    if len(found) != 1 or found[0].op_type != kind:
        raise refuse(node, f"makes sums of 32 bits that are not scaled by Cast and Mul: '{name}'")
    return found[0]


def _kernel_scale(reader: Reader, node: onnx.NodeProto, factor: str, input_scale: str | float) -> np.ndarray[Any, Any]:
    """The scale of the kernel, in the product with that of the input by which sums are scaled."""
    if factor == input_scale:
        return np.ones(1)
    maker = reader.makers.get(factor)
    if maker is not None and maker.op_type == "Mul":
        for index in (0, 1):
            own, other = reader.constant(maker.input[index]), maker.input[1 - index]
            number = reader.constant(other)
            matches = other == input_scale or (
                number is not None and number.size == 1 and float(number.reshape(())) == input_scale
            )
            if own is not None and matches:
                return own
    product = reader.constant(factor)
    if product is None or isinstance(input_scale, str):
        raise refuse(node, f"makes sums that are scaled by '{factor}', in which no scale of its kernel is found")
    return np.asarray(product.astype(np.float64) / input_scale)


def _input_of_sums(reader: Reader, node: onnx.NodeProto) -> tuple[str, str | float]:
    """Real numbers of the first operand, and its scale, or the tensor of it."""
    name = node.input[0]
    if name in reader.dynamic:
        reader.free.append(layer_name(node))
        return reader.dynamic[name]
    if name in reader.codes:
        return reader.codes[name].real, reader.codes[name].parameters.scale[0]
    raise refuse(node, f"reads the codes '{name}', which no quantizer makes")


def _kernel_of_sums(
    reader: Reader, node: onnx.NodeProto, name: str, scale: np.ndarray[Any, Any], zero_point: str, axis: int
) -> str:
    elements = reader.constant(name)
    if elements is None:
        raise refuse(node, f"has a kernel that is computed at run time, '{name}'")
    zero_points = reader.constant(zero_point) if zero_point else np.zeros(1)
    if zero_points is None:
        raise refuse(node, f"has a zero point that is computed at run time, '{zero_point}'")
    type = reader.type_of(name)
    axes: tuple[int, ...] = ()
    if scale.size > 1:
        axes = (axis % elements.ndim,)
        if scale.size != elements.shape[axes[0]]:
            raise refuse(node, f"has {scale.size} scales for {elements.shape[axes[0]]} channels")
    parameters = Parameters(
        tuple(_numbers(scale)),
        tuple(int(each) for each in zero_points.ravel()),
        8 if type in (TensorProto.INT8, TensorProto.UINT8) else 16,
        type in (TensorProto.INT8, TensorProto.INT16),
        axes,
    )
    if len(parameters.zero_point) > 1 and len(parameters.zero_point) != len(parameters.scale):
        if len(set(parameters.zero_point)) > 1:
            raise refuse(node, f"has {len(parameters.zero_point)} zero points for {scale.size} scales")
        parameters = parameters._replace(zero_point=parameters.zero_point[:1])
    return reader.stored_real(name, elements.astype(np.int64), parameters)


def _bias_of_sums(
    reader: Reader, node: onnx.NodeProto, name: str, scale: np.ndarray[Any, Any], input_scale: str | float
) -> np.ndarray[Any, Any]:
    """The real numbers of the integers that are added to sums."""
    if name in reader.biases:
        bias, factor = reader.biases[name]
        if not np.array_equal(_kernel_scale(reader, node, factor, input_scale), scale):
            raise refuse(node, f"adds '{name}', which has another scale than its sums")
        return np.asarray(reader.constant(bias), np.float32).reshape(-1)
    integers = reader.constant(name)
    if integers is None or isinstance(input_scale, str):
        raise refuse(node, f"adds '{name}' to its sums, which is computed at run time")
    return (integers.reshape(-1) * (scale.reshape(-1) * input_scale)).astype(np.float32)


def _integer_layer(kind: str, axis: int) -> Handler:
    """The sums become real numbers by Cast and Mul, perhaps behind an Add, which vanish with them."""

    def handle(reader: Reader, node: onnx.NodeProto) -> None:
        real, input_scale = _input_of_sums(reader, node)
        sums, added = node.output[0], ""
        users = reader.readers.get(sums, [])
        if len(users) == 1 and users[0].op_type == "Add":
            added = next(name for name in users[0].input if name != sums)
            sums = users[0].output[0]
            reader.skipped.add(id(users[0]))
        cast = _only_reader(reader, node, sums, "Cast")
        scaled = _only_reader(reader, node, cast.output[0], "Mul")
        factor = next(name for name in scaled.input if name != cast.output[0])
        scale = _kernel_scale(reader, node, factor, input_scale)
        kernel = _kernel_of_sums(reader, node, node.input[1], scale, operand(node, 3), axis)
        reader.skipped |= {id(cast), id(scaled)}
        inputs, result, name = [real, kernel], scaled.output[0], layer_name(node)
        bias = ""
        if added:
            bias = _initializer(reader, f"{name}/bias", _bias_of_sums(reader, node, added, scale, input_scale))
        if kind == "MatMul":
            _add_bias(reader, node, inputs, bias, result)
        else:
            reader.emit(kind, name, [*inputs, bias] if bias else inputs, result, **attributes(node))

    return handle


def _recurrent_at_run_time(reader: Reader, node: onnx.NodeProto) -> None:
    """ONNX Runtime: an LSTM whose codes have the axes of its weights in another order, [direction, input, gate]."""
    inputs = [operand(node, index) for index in range(8)]
    for index, first in ((1, 8), (2, 10)):
        codes, scale, zero_point = (reader.constant(each) for each in (inputs[index], *node.input[first : first + 2]))
        if codes is None or scale is None or zero_point is None:
            raise refuse(node, f"has weights that are computed at run time, '{inputs[index]}'")
        # One for each direction, or one for each gate as well.
        scale, zero_point = (each.reshape(codes.shape[0], 1, -1) for each in (scale, zero_point))
        values = (codes.astype(np.float64) - zero_point) * scale
        inputs[index] = _initializer(reader, f"{inputs[index]}/real", values.astype(np.float32).transpose(0, 2, 1))
    reader.free.append(layer_name(node))
    reader.nodes.append(helper.make_node("LSTM", inputs, list(node.output), layer_name(node), **attributes(node)))


def _product_to_float(reader: Reader, node: onnx.NodeProto) -> None:
    a, b, _, b_scale, _, b_zero_point = (operand(node, index) for index in range(6))
    scale = reader.constant(b_scale)
    if scale is None:
        raise refuse(node, f"has a scale that is computed at run time, '{b_scale}'")
    real = _real_of_float_product(reader, node, a)
    kernel = _kernel_of_sums(reader, node, b, scale, b_zero_point, -1)
    _add_bias(reader, node, [real, kernel], operand(node, 6))


def _real_of_float_product(reader: Reader, node: onnx.NodeProto, name: str) -> str:
    if name in reader.dynamic:
        reader.free.append(layer_name(node))
        return reader.dynamic[name][0]
    return reader.real(node, name, operand(node, 2), operand(node, 4))


def _product_at_run_time(reader: Reader, node: onnx.NodeProto) -> None:
    a, b, b_scale, b_zero_point = (operand(node, index) for index in range(4))
    scale = reader.constant(b_scale)
    if scale is None:
        raise refuse(node, f"has a scale that is computed at run time, '{b_scale}'")
    reader.free.append(layer_name(node))
    kernel = _kernel_of_sums(reader, node, b, scale, b_zero_point, -1)
    _add_bias(reader, node, [a, kernel], operand(node, 4))


def _unpacked(packed: np.ndarray[Any, Any], bits: int) -> np.ndarray[Any, Any]:
    """The fields of bytes along the last axis, the lowest bits first."""
    fields = (packed.astype(np.uint8)[..., None] >> np.arange(0, 8, bits, dtype=np.uint8)) & ((1 << bits) - 1)
    return fields.reshape(*packed.shape[:-1], -1).astype(np.int64)


def _zero_points_of_blocks(
    reader: Reader, node: onnx.NodeProto, name: str, bits: int, shape: tuple[int, int]
) -> np.ndarray[Any, Any]:
    values = reader.constant(name)
    if values is None:
        raise refuse(node, f"has a zero point that is computed at run time, '{name}'")
    outputs, blocks = shape
    if values.dtype == np.uint8:
        return _unpacked(values.reshape(outputs, -1), bits)[:, :blocks]
    if (values != np.round(values)).any():
        raise refuse(node, "has a zero point that is not an integer")
    return values.reshape(shape).astype(np.int64)


def _product_of_blocks(reader: Reader, node: onnx.NodeProto) -> None:
    """The kernel has one scale for each of the blocks along its first axis, and for each of its outputs."""
    given = attributes(node)
    rows, outputs, bits, block = (int(given.get(name, other)) for name, other in _BLOCKS.items())
    packed, scales = reader.constant(operand(node, 1)), reader.constant(operand(node, 2))
    if packed is None or scales is None:
        raise refuse(node, "has a kernel that is computed at run time")
    if operand(node, 4):
        raise refuse(node, "sorts the rows of its kernel by g_idx", "leave it out: give the rows their own order")
    if bits not in (2, 4, 8) or block <= 0 or rows <= 0:
        raise refuse(node, f"has a kernel of {rows} rows in blocks of {block} with codes of {bits} bits")
    blocks = -(-rows // block)
    codes = _unpacked(packed.reshape(outputs, -1), bits)[:, :rows]
    scales = scales.reshape(outputs, blocks).astype(np.float32)
    # Codes without a zero point are signed ones with the middle of the unsigned added.
    signed = not operand(node, 3)
    zeros = np.zeros((1, 1), np.int64)
    if signed:
        codes -= 1 << (bits - 1)
    else:
        zeros = _zero_points_of_blocks(reader, node, operand(node, 3), bits, (outputs, blocks))
    along = 1 if blocks == 1 else block

    def spread(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        return (np.repeat(values, along, 1)[:, :rows] if blocks > 1 and values.size > 1 else values).T

    if blocks > 1 and codes.size > MOST_IN_BLOCKS:
        message = (
            f"has {codes.size} weights in blocks of {block}, and constants in blocks have at most {MOST_IN_BLOCKS}"
        )
        raise refuse(node, f"{message} here", "quantize it with a scale for each channel")
    positive = np.isfinite(scales) & (scales > 0)
    if not positive.all():
        raise refuse(node, f"has the scale {scales[~positive][0]}, which is not positive and finite")
    axes = (1,) if blocks == 1 else (0, 1)
    parameters = Parameters(tuple(_numbers(spread(scales))), tuple(map(int, spread(zeros).ravel())), bits, signed, axes)
    kernel = reader.stored_real(operand(node, 1), codes.T, parameters)
    _add_bias(reader, node, [node.input[0], kernel], operand(node, 5))


_BLOCKS = {"K": 0, "N": 0, "bits": 4, "block_size": 0}


def _add_bias(reader: Reader, node: onnx.NodeProto, inputs: Sequence[str], bias: str, result: str = "") -> None:
    name, result = layer_name(node), result or node.output[0]
    if not bias:
        reader.emit("MatMul", name, inputs, result)
        return
    product = reader.emit("MatMul", f"{name}/product", inputs, reader.fresh(f"{result}/product"))
    reader.emit("Add", name, [product, bias], result)


def _unknown(reader: Reader, node: onnx.NodeProto) -> None:
    raise refuse(node, "is an operator of quantized networks that has no form here")


HANDLERS: dict[str, Handler] = {
    "QuantizeLinear": _quantize,
    "DequantizeLinear": _dequantize,
    "FakeQuantize": _fake_quantize,
    "QLinearConv": _convolution,
    "QLinearMatMul": _product,
    "QGemm": _dense,
    "QLinearAdd": _binary("Add"),
    "QLinearMul": _binary("Mul"),
    "QLinearSigmoid": _unary("Sigmoid"),
    "QLinearLeakyRelu": _unary("LeakyRelu"),
    "QLinearSoftmax": _unary("Softmax"),
    "QLinearAveragePool": _unary("AveragePool"),
    "QLinearGlobalAveragePool": _unary("GlobalAveragePool"),
    "QLinearReduceMean": _unary("ReduceMean"),
    "QLinearConcat": _concatenation,
    "QLinearWhere": _selection,
    "ConvInteger": _integer_layer("Conv", 0),
    "MatMulInteger": _integer_layer("MatMul", -1),
    "MatMulIntegerToFloat": _product_to_float,
    "DynamicQuantizeLinear": _quantize_at_run_time,
    "DynamicQuantizeLSTM": _recurrent_at_run_time,
    "DynamicQuantizeMatMul": _product_at_run_time,
    "MatMulNBits": _product_of_blocks,
}
HANDLERS |= dict.fromkeys(
    [
        "ActivationPOTQuantizer",
        "ActivationSymmetricQuantizer",
        "ActivationUniformQuantizer",
        "ActivationLutPOTQuantizer",
        "WeightsPOTQuantizer",
        "WeightsSymmetricQuantizer",
        "WeightsUniformQuantizer",
        "WeightsLUTSymmetricQuantizer",
        "WeightsLUTPOTQuantizer",
    ],
    _sony,
)
HANDLERS |= dict.fromkeys(
    [
        "MatMulBnb4",
        "MatMulFpQ4",
        "MatMulInteger16",
        "QAttention",
        "QEmbedLayerNormalization",
        "QOrderedAttention",
        "QOrderedGelu",
        "QOrderedLayerNormalization",
        "QOrderedLongformerAttention",
        "QOrderedMatMul",
        "QuantizeWithOrder",
        "DequantizeWithOrder",
        "QuantizeBFP",
        "DequantizeBFP",
        "QMoE",
        "GatherBlockQuantized",
        "MulInteger",
        "QLinearConvTranspose",
        "TRT_FP8QuantizeLinear",
        "TRT_FP8DequantizeLinear",
        "TRT_FP4DynamicQuantize",
        "TRT_MXFP8QuantizeLinear",
        "TRT_MXFP8DequantizeLinear",
        "TRT_INT4DequantizeLinear",
    ],
    _unknown,
)
