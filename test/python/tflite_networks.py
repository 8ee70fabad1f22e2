# SPDX-License-Identifier: Apache-2.0
"""Small quantized networks, one kind of operator each, for the export to `.tflite`."""

from __future__ import annotations

from dataclasses import dataclass, field


def quantizer(threshold: float, bits: int = 8, signed: bool = True, rounding: str = ", rounding = half_up") -> str:
    sign = "" if signed else ", is_signed = false"
    return f"#tpc.symmetric<threshold = [{threshold}], bits = {bits}{sign}{rounding}>"


def uniform(scale: float, zero_point: int) -> str:
    return f"#tpc.uniform<scale = [{scale}], zero_point = [{zero_point}], bits = 8, rounding = half_up>"


FIXED = {"probability": quantizer(1.0, signed=False), "tanh": quantizer(1.0)}


@dataclass
class Case:
    """A network.

    inputs:    shapes of its arguments, each behind a point of `grids`.
    result:    type of its result.
    body:      ops; arguments behind their points are %x0, %x1, ..., the result %r.
    operators: those that the file has to have.
    steps:     how far codes of LiteRT may be from ours; 0 where no rounding is left to it.
    output:    quantizer of the result; "" for none.
    """

    inputs: list[str]
    result: str
    body: str
    operators: list[str]
    steps: int = 1
    output: str = quantizer(4.0)
    grids: list[str] = field(default_factory=list)


def text(case: Case) -> str:
    grids = case.grids or [quantizer(4.0), quantizer(3.0), quantizer(2.5)]
    arguments = ", ".join(f'%a{i}: {shape} loc("a{i}")' for i, shape in enumerate(case.inputs))
    lines = [f"func.func @main({arguments}) -> {case.result} {{"]
    for i, shape in enumerate(case.inputs):
        lines.append(f'%x{i} = tpc.quantize %a{i} as "in{i}" activation parameters({grids[i]}) : {shape}')
    lines.append(case.body)
    result = "%r"
    if case.output:
        lines.append(f'%out = tpc.quantize %r as "out" activation parameters({case.output}) : {case.result}')
        result = "%out"
    lines += [f"return {result} : {case.result}", "}"]
    return "\n".join(lines)


def constant(name: str, type_: str, values: str) -> str:
    return f'%{name} = "tosa.const"() {{values = dense<{values}> : {type_}}} : () -> {type_}\n'


def shape(name: str, *sizes: int) -> str:
    values = ", ".join(map(str, sizes))
    count = len(sizes)
    type_ = f"tensor<{count}xindex>"
    return f"%{name} = tosa.const_shape {{values = dense<[{values}]> : {type_}}} : () -> !tosa.shape<{count}>\n"


# A sum over a whole image of more than 25 positions, which are the channels of a convolution.
WHOLE_SUM = ["RESHAPE", "TRANSPOSE", "RESHAPE", "CONV_2D", "RESHAPE"]
FEW_SUM = ["RESHAPE", "DEPTHWISE_CONV_2D", "RESHAPE"]
ZERO = constant("zero", "tensor<1xf32>", "0.0")
SHIFT = constant("shift", "tensor<1xi8>", "0")


def numbers(*sizes: int) -> str:
    """Different numbers in [-1, 1] as nested lists."""
    count = 1
    for size in sizes:
        count *= size
    values: list = [round(((7 * i + 3) % 23 - 11) / 11.5, 4) for i in range(count)]
    for size in reversed(sizes[1:]):
        values = [values[i : i + size] for i in range(0, len(values), size)]
    return str(values)


def layer(
    op: str,
    image: str,
    kernel: tuple[int, ...],
    channels: int,
    result: str,
    attributes: str,
    axes: str,
    bits: int = 8,
    thresholds: str = "",
    point: bool = True,
    name: str = "r",
) -> str:
    """A convolution with a kernel and a bias."""
    kernel_type = f"tensor<{'x'.join(map(str, kernel))}xf32>"
    lines = (
        ZERO
        + constant("k", kernel_type, numbers(*kernel))
        + constant("b", f"tensor<{channels}xf32>", numbers(channels))
    )
    weights = "%k"
    if point:
        thresholds = thresholds or ", ".join(["1.0"] * (channels if axes else 1))
        lines += (
            f'%w = tpc.quantize %k as "layer" weight "kernel_attr" {f"axes {axes} " if axes else ""}'
            f"parameters(#tpc.symmetric<threshold = [{thresholds}], bits = {bits}>) : {kernel_type}\n"
        )
        weights = "%w"
    return lines + (
        f"%{name} = tosa.{op} %x0, {weights}, %b, %zero, %zero {{acc_type = f32, {attributes}}} : "
        f"({image}, {kernel_type}, tensor<{channels}xf32>, tensor<1xf32>, tensor<1xf32>) -> {result}\n"
    )


def conv(image: str, kernel: tuple[int, ...], result: str, pad: str, stride: str = "1, 1", **options) -> str:
    dilation = options.pop("dilation", "1, 1")
    attributes = f"pad = array<i64: {pad}>, stride = array<i64: {stride}>, dilation = array<i64: {dilation}>"
    return layer("conv2d", image, kernel, kernel[0], result, attributes, options.pop("axes", "[0]"), **options)


I8 = "tensor<1x8x8x4xf32>"
THREE = "0.9, 0.5, 1.3"


def unary(op: str, operator: str, **options) -> Case:
    body = f"%r = tosa.{op} %x0 : ({I8}) -> {I8}"
    return Case([I8], I8, body, [operator], **options)


def pair(op: str, operand: str = "", type_: str = "") -> str:
    return f"%r = tosa.{op} %x0, %x1{operand} : ({I8}, {I8}{type_}) -> {I8}"


def binary(op: str, operator: str, left: str = I8, right: str = I8, **options) -> Case:
    return Case([left, right], I8, f"%r = tosa.{op} %x0, %x1 : ({left}, {right}) -> {I8}", [operator], **options)


def clamp(low: str, high: str, source: str = "%y", result: str = "%r", type_: str = I8) -> str:
    return f"{result} = tosa.clamp {source} {{min_val = {low} : f32, max_val = {high} : f32}} : ({type_}) -> {type_}\n"


def pool(operation: str, kernel: str, pad: str) -> str:
    zeros, types, sums = ("", "", "") if operation == "max_pool2d" else (", %zero, %zero", ONE * 2, "acc_type = f32, ")
    sizes = f"kernel = array<i64: {kernel}>, stride = array<i64: 2, 2>, pad = array<i64: {pad}>"
    return ZERO + f"%r = tosa.{operation} %x0{zeros} {{{sums}{sizes}}} : ({I8}{types}) -> tensor<1x4x4x4xf32>"


def resize(mode: str) -> str:
    positions = shape("s", 4, 2, 4, 2) + shape("o", -1, -1) + shape("e", 1, 1)
    types = f"{I8}, !tosa.shape<4>, !tosa.shape<2>, !tosa.shape<2>"
    return positions + f"%r = tosa.resize %x0, %s, %o, %e {{mode = {mode}}} : ({types}) -> tensor<1x16x16x4xf32>"


def matmul(left: str, right: str, result: str, factor: str) -> str:
    return f"%r = tosa.matmul %x0, {factor}, %zero, %zero : ({left}, {right}{ONE * 2}) -> {result}"


ONE = ", tensor<1xf32>"
KERNEL = "tensor<1x16x5xf32>"
LARGEST = "3.40282347E+38"
SUM = f"%y = tosa.add %x0, %x1 : ({I8}, {I8}) -> {I8}\n"
C3 = "tensor<1x8x8x3xf32>"
SAME = conv(I8, (3, 3, 3, 4), C3, "1, 1, 1, 1", thresholds=THREE)
WIDE = quantizer(4.0, bits=16)
FOUR = quantizer(4.0)
# Far below the operands, as the threshold of a tensor whose values are all zero.
FAR = quantizer(2.0**-20)


def after_cut(window: int, operators: list[str]) -> Case:
    """A convolution of stride 2 that reads 7 of 8 rows and columns."""
    size = (7 - window) // 2 + 1
    result = f"tensor<1x{size}x{size}x3xf32>"
    cut = "tensor<1x7x7x4xf32>"
    body = conv(cut, (3, window, window, 4), result, "0, 0, 0, 0", "2, 2").replace("%x0,", "%x9,")
    slice_ = f"%x9 = tosa.slice %x0, %s, %z : ({I8}, !tosa.shape<4>, !tosa.shape<4>) -> {cut}\n"
    return Case([I8], result, shape("s", 0, 0, 0, 0) + shape("z", 1, 7, 7, 4) + slice_ + body, operators)


def image_mean(size: int, channels: int, operators: list[str], **options) -> Case:
    """A mean over a whole image, on a grid of its own."""
    image, row, result = (f"tensor<1x{sizes}x{channels}xf32>" for sizes in (f"{size}x{size}", f"1x{size}", "1x1"))
    body = (
        SHIFT
        + constant("c", "tensor<1x1x1x1xf32>", str(1 / size**2))
        + f"%s = tosa.reduce_sum %x0 {{axis = 1 : i32}} : ({image}) -> {row}\n"
        + f"%t = tosa.reduce_sum %s {{axis = 2 : i32}} : ({row}) -> {result}\n"
        + f"%r = tosa.mul %t, %c, %shift : ({result}, tensor<1x1x1x1xf32>, tensor<1xi8>) -> {result}"
    )
    return Case([image], result, body, operators, output=quantizer(0.5), **options)


CASES = {
    # Results with far smaller scales than their operands: all that is not zero saturates, in two steps.
    "difference that is always zero": Case(
        [I8, I8], I8, pair("sub"), ["SUB", "QUANTIZE"], output=FAR, grids=[FOUR] * 2
    ),
    "sum that is always zero": Case([I8, I8], I8, pair("add"), ["ADD", "QUANTIZE"], output=FAR, grids=[FOUR] * 2),
    "sum of two grids that is always zero": Case(
        [I8, I8],
        I8,
        pair("add"),
        ["DEQUANTIZE", "DEQUANTIZE", "ADD", "QUANTIZE"],
        output=FAR,
        grids=[FOUR, quantizer(2.0**-9)],
    ),
    "product that is always zero": Case(
        [I8, I8], I8, SHIFT + pair("mul", ", %shift", ", tensor<1xi8>"), ["MUL", "QUANTIZE"], output=FAR
    ),
    "conv that is always zero": Case([I8], C3, SAME, ["CONV_2D", "QUANTIZE"], output=FAR),
    "codes of another grid that are always zero": Case(
        [I8], I8, f"%r = tosa.identity %x0 : ({I8}) -> {I8}", ["QUANTIZE", "QUANTIZE"], output=quantizer(2.0**-24)
    ),
    "conv SAME": Case([I8], C3, SAME, ["CONV_2D"]),
    "conv VALID": Case(
        [I8], "tensor<1x6x6x3xf32>", conv(I8, (3, 3, 3, 4), "tensor<1x6x6x3xf32>", "0, 0, 0, 0"), ["CONV_2D"]
    ),
    "conv SAME, strided": Case(
        [I8], "tensor<1x4x4x3xf32>", conv(I8, (3, 3, 3, 4), "tensor<1x4x4x3xf32>", "0, 1, 0, 1", "2, 2"), ["CONV_2D"]
    ),
    "conv of other pads": Case(
        [I8],
        "tensor<1x4x4x3xf32>",
        conv(I8, (3, 3, 3, 4), "tensor<1x4x4x3xf32>", "1, 0, 1, 0", "2, 2"),
        ["PAD", "CONV_2D"],
    ),
    "conv of other pads, zero point": Case(
        [I8],
        "tensor<1x4x4x3xf32>",
        conv(I8, (3, 3, 3, 4), "tensor<1x4x4x3xf32>", "1, 0, 1, 0", "2, 2"),
        ["PAD", "CONV_2D"],
        grids=[uniform(0.015, 65)],
        output=uniform(0.021, 93),
    ),
    "conv, dilated": Case(
        [I8],
        "tensor<1x4x4x3xf32>",
        conv(I8, (3, 3, 3, 4), "tensor<1x4x4x3xf32>", "0, 0, 0, 0", dilation="2, 2"),
        ["CONV_2D"],
    ),
    "conv per tensor": Case([I8], C3, conv(I8, (3, 3, 3, 4), C3, "1, 1, 1, 1", axes=""), ["CONV_2D"]),
    "conv of 16 bits": Case([I8], C3, SAME, ["CONV_2D"], grids=[WIDE], output=WIDE),
    "conv from 8 to 16 bits": Case([I8], C3, SAME, ["QUANTIZE", "CONV_2D"], output=WIDE),
    "conv without kernel point": Case(
        [I8], C3, conv(I8, (3, 3, 3, 4), C3, "1, 1, 1, 1", point=False), ["DEQUANTIZE", "CONV_2D", "QUANTIZE"]
    ),
    "conv, ReLU": Case([I8], C3, SAME.replace("%r =", "%y =") + clamp("0.0", LARGEST, type_=C3), ["CONV_2D"]),
    "conv, ReLU6": Case(
        [I8], C3, SAME.replace("%r =", "%y =") + clamp("0.0", "6.0", type_=C3), ["CONV_2D"], output=quantizer(8.0)
    ),
    "conv, other limits": Case(
        [I8], C3, SAME.replace("%r =", "%y =") + clamp("-0.5", "2.0", type_=C3), ["CONV_2D", "MAXIMUM", "MINIMUM"]
    ),
    "conv behind a cut": after_cut(3, ["CONV_2D"]),
    "conv that skips positions, behind a cut": after_cut(1, ["SLICE", "CONV_2D"]),
    "depthwise": Case(
        [I8],
        I8,
        layer(
            "depthwise_conv2d",
            I8,
            (3, 3, 4, 1),
            4,
            I8,
            "pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>, dilation = array<i64: 1, 1>",
            "[2, 3]",
        ),
        ["DEPTHWISE_CONV_2D"],
    ),
    "depthwise, multiplier 2": Case(
        [I8],
        "tensor<1x8x8x8xf32>",
        layer(
            "depthwise_conv2d",
            I8,
            (3, 3, 4, 2),
            8,
            "tensor<1x8x8x8xf32>",
            "pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>, dilation = array<i64: 1, 1>",
            "[2, 3]",
        ),
        ["DEPTHWISE_CONV_2D"],
    ),
    "transposed conv": Case(
        [I8],
        "tensor<1x16x16x3xf32>",
        layer(
            "transpose_conv2d",
            I8,
            (3, 2, 2, 4),
            3,
            "tensor<1x16x16x3xf32>",
            "out_pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>",
            "[0]",
        ),
        ["TRANSPOSE_CONV"],
    ),
    "dense": Case(
        ["tensor<1x6x16xf32>"],
        "tensor<1x6x5xf32>",
        ZERO
        + constant("k", KERNEL, numbers(1, 16, 5))
        + '%w = tpc.quantize %k as "layer" weight "kernel_attr" '
        + f"parameters(#tpc.symmetric<threshold = [1.0], bits = 8>) : {KERNEL}\n"
        + matmul("tensor<1x6x16xf32>", KERNEL, "tensor<1x6x5xf32>", "%w"),
        ["FULLY_CONNECTED", "RESHAPE"],
    ),
    "product": Case(
        ["tensor<2x6x8xf32>", "tensor<2x8x5xf32>"],
        "tensor<2x6x5xf32>",
        ZERO + matmul("tensor<2x6x8xf32>", "tensor<2x8x5xf32>", "tensor<2x6x5xf32>", "%x1"),
        ["BATCH_MATMUL"],
        output=quantizer(16.0),
    ),
    "add": binary("add", "ADD"),
    "add, broadcast": binary("add", "ADD", right="tensor<1x1x1x4xf32>"),
    "add, ReLU": Case([I8, I8], I8, SUM + clamp("0.0", LARGEST), ["ADD"]),
    "add of 16 bits": binary("add", "ADD", grids=[WIDE, WIDE], output=WIDE),
    "add of a number": Case(
        [I8],
        I8,
        constant("c", "tensor<1x1x1x1xf32>", "0.7") + f"%r = tosa.add %x0, %c : ({I8}, tensor<1x1x1x1xf32>) -> {I8}",
        ["ADD"],
    ),
    "add of many numbers": Case(
        [I8],
        I8,
        constant("c", "tensor<1x1x1x4xf32>", "[[[[0.7, 0.1, -0.3, 1.9]]]]")
        + f"%r = tosa.add %x0, %c : ({I8}, tensor<1x1x1x4xf32>) -> {I8}",
        ["DEQUANTIZE", "ADD", "QUANTIZE"],
    ),
    "add of many numbers with a point": Case(
        [I8],
        I8,
        constant("c", "tensor<1x1x1x4xf32>", "[[[[0.7, 0.1, -0.3, 1.9]]]]")
        + f'%p = tpc.quantize %c as "c" weight "pos_attr" parameters({uniform(0.0078125, 40)}) : tensor<1x1x1x4xf32>\n'
        + f"%r = tosa.add %x0, %p : ({I8}, tensor<1x1x1x4xf32>) -> {I8}",
        ["ADD"],
    ),
    "sub": binary("sub", "SUB"),
    "mul": Case([I8, I8], I8, SHIFT + pair("mul", ", %shift", ", tensor<1xi8>"), ["MUL"]),
    "maximum": binary("maximum", "MAXIMUM", grids=[quantizer(4.0), quantizer(4.0)], steps=0),
    "maximum of two grids": Case(
        [I8, I8], I8, f"%r = tosa.maximum %x0, %x1 : ({I8}, {I8}) -> {I8}", ["QUANTIZE", "MAXIMUM"]
    ),
    "minimum": binary("minimum", "MINIMUM", grids=[quantizer(4.0), quantizer(4.0)], steps=0),
    "max pool": Case(
        [I8],
        "tensor<1x4x4x4xf32>",
        pool("max_pool2d", "2, 2", "0, 0, 0, 0"),
        ["MAX_POOL_2D"],
        steps=0,
    ),
    "max pool of other pads": Case(
        [I8],
        "tensor<1x4x4x4xf32>",
        pool("max_pool2d", "3, 3", "1, 0, 1, 0"),
        ["PADV2", "MAX_POOL_2D"],
        steps=0,
    ),
    "average pool": Case(
        [I8],
        "tensor<1x4x4x4xf32>",
        pool("avg_pool2d", "2, 2", "0, 0, 0, 0"),
        ["AVERAGE_POOL_2D"],
    ),
    "average pool, finer": Case(
        [I8],
        "tensor<1x4x4x4xf32>",
        pool("avg_pool2d", "2, 2", "0, 0, 0, 0"),
        ["DEPTHWISE_CONV_2D"],
        output=quantizer(2.0),
        steps=0,
    ),
    "mean over images": image_mean(8, 4, WHOLE_SUM, steps=0),
    "mean over images of few positions": image_mean(5, 6, FEW_SUM),
    "mean over images of few positions, many channels": image_mean(4, 48, FEW_SUM, steps=0),
    "sum over images": Case(
        [I8],
        "tensor<1x1x1x4xf32>",
        f"%s = tosa.reduce_sum %x0 {{axis = 1 : i32}} : ({I8}) -> tensor<1x1x8x4xf32>\n"
        + "%r = tosa.reduce_sum %s {axis = 2 : i32} : (tensor<1x1x8x4xf32>) -> tensor<1x1x1x4xf32>",
        WHOLE_SUM,
        output=quantizer(32.0),
        steps=0,
    ),
    "sigmoid": unary("sigmoid", "LOGISTIC", output=FIXED["probability"]),
    "sigmoid on another grid": Case(
        [I8],
        I8,
        f"%r = tosa.sigmoid %x0 : ({I8}) -> {I8}",
        ["DEQUANTIZE", "LOGISTIC", "QUANTIZE"],
        output=quantizer(1.0),
    ),
    "tanh": unary("tanh", "TANH", output=FIXED["tanh"]),
    "exp": Case(
        [I8], I8, f"%r = tosa.exp %x0 : ({I8}) -> {I8}", ["DEQUANTIZE", "EXP", "QUANTIZE"], output=quantizer(16.0)
    ),
    "hard swish": Case(
        [I8],
        I8,
        SHIFT
        + constant("three", "tensor<1x1x1x1xf32>", "3.0")
        + constant("sixth", "tensor<1x1x1x1xf32>", "0.166666672")
        + f"%p = tosa.add %x0, %three : ({I8}, tensor<1x1x1x1xf32>) -> {I8}\n"
        + clamp("0.0", "6.0", "%p", "%q")
        + f"%m = tosa.mul %x0, %q, %shift : ({I8}, {I8}, tensor<1xi8>) -> {I8}\n"
        + f"%r = tosa.mul %m, %sixth, %shift : ({I8}, tensor<1x1x1x1xf32>, tensor<1xi8>) -> {I8}",
        ["HARD_SWISH"],
    ),
    "leaky ReLU": Case(
        [I8],
        I8,
        SHIFT
        + constant("slope", "tensor<1x1x1x1xf32>", "0.1")
        + f"%m = tosa.mul %x0, %slope, %shift : ({I8}, tensor<1x1x1x1xf32>, tensor<1xi8>) -> {I8}\n"
        + f"%r = tosa.maximum %x0, %m : ({I8}, {I8}) -> {I8}",
        ["LEAKY_RELU"],
    ),
    "PReLU": Case(
        [I8],
        I8,
        SHIFT
        + constant("table", "tensor<1x1x1x4xf32>", "[[[[0.3, -0.6, 0.0, 1.7]]]]")
        + constant("nothing", "tensor<1x1x1x1xf32>", "0.0")
        + '%slope = tpc.quantize %table as "out" weight "pos_attr" '
        + f"parameters({uniform(0.01, 40)}) : tensor<1x1x1x4xf32>\n"
        + f"%m = tosa.mul %x0, %slope, %shift : ({I8}, tensor<1x1x1x4xf32>, tensor<1xi8>) -> {I8}\n"
        + f"%c = tosa.greater_equal %x0, %nothing : ({I8}, tensor<1x1x1x1xf32>) -> tensor<1x8x8x4xi1>\n"
        + f"%r = tosa.select %c, %x0, %m : (tensor<1x8x8x4xi1>, {I8}, {I8}) -> {I8}",
        ["PRELU"],
    ),
    "clamp": Case([I8], I8, clamp("0.0", LARGEST, "%x0"), ["RELU"], steps=0),
    "clamp to [-1, 1]": Case([I8], I8, clamp("-1.0", "1.0", "%x0"), ["MAXIMUM", "MINIMUM"], steps=0),
    "reshape": Case(
        [I8],
        "tensor<1x256xf32>",
        shape("s", 1, 256) + f"%r = tosa.reshape %x0, %s : ({I8}, !tosa.shape<2>) -> tensor<1x256xf32>",
        ["RESHAPE"],
        steps=0,
        output="",
    ),
    "transpose": Case(
        [I8],
        "tensor<1x4x8x8xf32>",
        f"%r = tosa.transpose %x0 {{perms = array<i32: 0, 3, 1, 2>}} : ({I8}) -> tensor<1x4x8x8xf32>",
        ["TRANSPOSE"],
        steps=0,
        output="",
    ),
    "slice": Case(
        [I8],
        "tensor<1x3x8x2xf32>",
        shape("s", 0, 2, 0, 1)
        + shape("z", 1, 3, 8, 2)
        + f"%r = tosa.slice %x0, %s, %z : ({I8}, !tosa.shape<4>, !tosa.shape<4>) -> tensor<1x3x8x2xf32>",
        ["SLICE"],
        steps=0,
        output="",
    ),
    "tile": Case(
        [I8],
        "tensor<1x16x8x4xf32>",
        shape("s", 1, 2, 1, 1) + f"%r = tosa.tile %x0, %s : ({I8}, !tosa.shape<4>) -> tensor<1x16x8x4xf32>",
        ["TILE"],
        steps=0,
        output="",
    ),
    "reverse": Case(
        [I8], I8, f"%r = tosa.reverse %x0 {{axis = 2 : i32}} : ({I8}) -> {I8}", ["REVERSE_V2"], steps=0, output=""
    ),
    "pad": Case(
        [I8],
        "tensor<1x10x9x4xf32>",
        shape("s", 0, 0, 1, 1, 0, 1, 0, 0)
        + constant("c", "tensor<1xf32>", "0.5")
        + f"%r = tosa.pad %x0, %s, %c : ({I8}, !tosa.shape<8>, tensor<1xf32>) -> tensor<1x10x9x4xf32>",
        ["PADV2"],
        steps=0,
        output="",
    ),
    "pad by zeros": Case(
        [I8],
        "tensor<1x10x9x4xf32>",
        shape("s", 0, 0, 1, 1, 0, 1, 0, 0)
        + ZERO
        + f"%r = tosa.pad %x0, %s, %zero : ({I8}, !tosa.shape<8>, tensor<1xf32>) -> tensor<1x10x9x4xf32>",
        ["PAD"],
        steps=0,
        output="",
        grids=[uniform(0.015, 65)],
    ),
    "concat": Case(
        [I8, I8],
        "tensor<1x8x8x8xf32>",
        f"%r = tosa.concat %x0, %x1 {{axis = 3 : i32}} : ({I8}, {I8}) -> tensor<1x8x8x8xf32>",
        ["QUANTIZE", "CONCATENATION"],
    ),
    "gather": Case(
        ["tensor<1x8x4xf32>"],
        "tensor<1x3x4xf32>",
        constant("i", "tensor<1x3xi32>", "[[5, 0, 7]]")
        + "%r = tosa.gather %x0, %i : (tensor<1x8x4xf32>, tensor<1x3xi32>) -> tensor<1x3x4xf32>",
        ["GATHER"],
        steps=0,
        output="",
    ),
    "resize, nearest": Case(
        [I8],
        "tensor<1x16x16x4xf32>",
        resize("NEAREST_NEIGHBOR"),
        ["RESIZE_NEAREST_NEIGHBOR"],
        steps=0,
    ),
    "resize, bilinear": Case(
        [I8],
        "tensor<1x16x16x4xf32>",
        resize("BILINEAR"),
        ["RESIZE_BILINEAR"],
    ),
    "reduce max": Case(
        [I8],
        "tensor<1x1x8x4xf32>",
        f"%r = tosa.reduce_max %x0 {{axis = 1 : i32}} : ({I8}) -> tensor<1x1x8x4xf32>",
        ["REDUCE_MAX"],
        steps=0,
        output="",
    ),
    "argmax": Case(
        [I8],
        "tensor<1x8x8xi32>",
        f"%r = tosa.argmax %x0 {{axis = 3 : i32}} : ({I8}) -> tensor<1x8x8xi32>",
        ["ARG_MAX"],
        steps=0,
        output="",
    ),
    "select": Case(
        [I8, I8],
        I8,
        f"%g = tosa.greater %x0, %x1 : ({I8}, {I8}) -> tensor<1x8x8x4xi1>\n"
        + f"%r = tosa.select %g, %x0, %x1 : (tensor<1x8x8x4xi1>, {I8}, {I8}) -> {I8}",
        ["GREATER", "SELECT_V2"],
        steps=0,
        grids=[quantizer(4.0), quantizer(4.0)],
    ),
    "softmax": Case(
        ["tensor<1x10xf32>"],
        "tensor<1x10xf32>",
        SHIFT
        + "%m = tosa.reduce_max %x0 {axis = 1 : i32} : (tensor<1x10xf32>) -> tensor<1x1xf32>\n"
        + "%d = tosa.sub %x0, %m : (tensor<1x10xf32>, tensor<1x1xf32>) -> tensor<1x10xf32>\n"
        + "%e = tosa.exp %d : (tensor<1x10xf32>) -> tensor<1x10xf32>\n"
        + "%s = tosa.reduce_sum %e {axis = 1 : i32} : (tensor<1x10xf32>) -> tensor<1x1xf32>\n"
        + "%i = tosa.reciprocal %s : (tensor<1x1xf32>) -> tensor<1x1xf32>\n"
        + "%r = tosa.mul %e, %i, %shift : (tensor<1x10xf32>, tensor<1x1xf32>, tensor<1xi8>) -> tensor<1x10xf32>",
        ["SOFTMAX"],
        output=FIXED["probability"],
    ),
}

# Operators on numbers from 1 to 5.
ONES = constant("one", "tensor<1x1x1x1xf32>", "1.0")
MORE = ONES + f"%p = tosa.add %x0, %one : ({I8}, tensor<1x1x1x1xf32>) -> {I8}\n"
NUMBERS = {
    "abs": "ABS",
    "ceil": "CEIL",
    "cos": "COS",
    "floor": "FLOOR",
    "log": "LOG",
    "reciprocal": "DIV",
    "rsqrt": "RSQRT",
    "sin": "SIN",
}
FLAGS = "tensor<1x8x8x4xi1>"


def numeric(body: str, *operators: str, inputs: int = 1, result: str = I8, output: str = "") -> Case:
    grids = [quantizer(4.0, signed=False)] * inputs
    return Case([I8] * inputs, result, body, list(operators), grids=grids, output=output or quantizer(8.0))


for name, operator in NUMBERS.items():
    CASES[name] = numeric(MORE + f"%r = tosa.{name} %p : ({I8}) -> {I8}", "DEQUANTIZE", "ADD", operator, "QUANTIZE")
CASES["negate"] = numeric(
    ZERO + MORE + f"%r = tosa.negate %p, %zero, %zero : ({I8}{ONE * 2}) -> {I8}", "DEQUANTIZE", "ADD", "NEG", "QUANTIZE"
)
CASES["power"] = numeric(
    MORE + f"%r = tosa.pow %p, %x1 : ({I8}, {I8}) -> {I8}",
    *("DEQUANTIZE", "ADD", "DEQUANTIZE", "POW", "QUANTIZE"),
    inputs=2,
    output=quantizer(512.0),
)
CASES["division"] = numeric(
    SHIFT
    + MORE
    + f"%i = tosa.reciprocal %p : ({I8}) -> {I8}\n"
    + f"%r = tosa.mul %x1, %i, %shift : ({I8}, {I8}, tensor<1xi8>) -> {I8}",
    *("DEQUANTIZE", "DEQUANTIZE", "ADD", "DIV", "QUANTIZE"),
    inputs=2,
)
for name, operator in {"reduce_sum": "SUM", "reduce_product": "REDUCE_PROD"}.items():
    CASES[name] = numeric(
        f"%r = tosa.{name} %x0 {{axis = 2 : i32}} : ({I8}) -> tensor<1x8x1x4xf32>",
        *("DEQUANTIZE", operator, "QUANTIZE"),
        result="tensor<1x8x1x4xf32>",
        output=quantizer(64.0),
    )
CASES["reduce min"] = numeric(
    f"%r = tosa.reduce_min %x0 {{axis = 2 : i32}} : ({I8}) -> tensor<1x8x1x4xf32>",
    "REDUCE_MIN",
    result="tensor<1x8x1x4xf32>",
    output=quantizer(4.0, signed=False),
)
for name, operator in {"equal": "EQUAL", "greater_equal": "GREATER_EQUAL"}.items():
    CASES[name] = numeric(
        f"%f = tosa.{name} %x0, %x1 : ({I8}, {I8}) -> {FLAGS}\n%r = tosa.cast %f : ({FLAGS}) -> {I8}",
        *(operator, "CAST", "QUANTIZE"),
        inputs=2,
        output=quantizer(2.0),
    )
for name, operator in {"and": "LOGICAL_AND", "or": "LOGICAL_OR", "xor": "NOT_EQUAL"}.items():
    CASES[f"logical {name}"] = numeric(
        f"%f = tosa.greater %x0, %x1 : ({I8}, {I8}) -> {FLAGS}\n"
        + f"%g = tosa.equal %x0, %x1 : ({I8}, {I8}) -> {FLAGS}\n"
        + f"%n = tosa.logical_not %g : ({FLAGS}) -> {FLAGS}\n"
        + f"%h = tosa.logical_{name} %f, %n : ({FLAGS}, {FLAGS}) -> {FLAGS}\n"
        + f"%r = tosa.cast %h : ({FLAGS}) -> {I8}",
        *("GREATER", "EQUAL", "LOGICAL_NOT", operator, "CAST", "QUANTIZE"),
        inputs=2,
        output=quantizer(2.0),
    )
for name, operator in {"any": "REDUCE_ANY", "all": "REDUCE_ALL"}.items():
    CASES[f"reduce {name}"] = numeric(
        f"%f = tosa.greater %x0, %x1 : ({I8}, {I8}) -> {FLAGS}\n"
        + f"%g = tosa.reduce_{name} %f {{axis = 3 : i32}} : ({FLAGS}) -> tensor<1x8x8x1xi1>\n"
        + "%r = tosa.cast %g : (tensor<1x8x8x1xi1>) -> tensor<1x8x8x1xf32>",
        *("GREATER", operator, "CAST", "QUANTIZE"),
        inputs=2,
        result="tensor<1x8x8x1xf32>",
        output=quantizer(2.0),
    )
CASES["round"] = numeric(
    f"%i = tosa.cast %x0 : ({I8}) -> tensor<1x8x8x4xi32>\n%r = tosa.cast %i : (tensor<1x8x8x4xi32>) -> {I8}",
    *("DEQUANTIZE", "ROUND", "CAST", "CAST", "QUANTIZE"),
)
CASES["GELU"] = Case(
    [I8],
    I8,
    SHIFT
    + ONES
    + constant("root", "tensor<1x1x1x1xf32>", "0.707106769")
    + constant("half", "tensor<1x1x1x1xf32>", "0.5")
    + f"%m = tosa.mul %x0, %root, %shift : ({I8}, tensor<1x1x1x1xf32>, tensor<1xi8>) -> {I8}\n"
    + f"%e = tosa.erf %m : ({I8}) -> {I8}\n"
    + f"%p = tosa.add %e, %one : ({I8}, tensor<1x1x1x1xf32>) -> {I8}\n"
    + f"%q = tosa.mul %x0, %half, %shift : ({I8}, tensor<1x1x1x1xf32>, tensor<1xi8>) -> {I8}\n"
    + f"%r = tosa.mul %q, %p, %shift : ({I8}, {I8}, tensor<1xi8>) -> {I8}",
    ["GELU"],
)
