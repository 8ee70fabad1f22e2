# SPDX-License-Identifier: Apache-2.0
"""The table of two operators in front of a layer, and a target: the layer reads codes, or a warning names it.

The operators are all ops of TOSA (`test/unit/OpSupport/TosaOps.mlir`) and, in `operator_sets.mlir` and below, one form
of every operator set of a stock target that consists of several ops, or of an op with other constants.
"""

import re
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
IMAGE = "tensor<1x4x4x2xf32>"

# An op per line, of `x`; numbers are constants, `table` has one for each channel.
FORMS = {
    "BatchNorm": "g = mul x table; y = add g table",
    "AddBias": "y = add x table",
    "L2Norm": "q = mul x x; s = reduce_sum q; m = maximum s 0.001; r = rsqrt m; y = mul x r",
    "ReLU": "y = maximum x 0.0",
    "ReLU6": "m = maximum x 0.0; y = minimum m 6.0",
    "HardTanh": "m = maximum x 0.0; y = minimum m 1.0",
    "LeakyReLU": "m = mul x 0.1; y = maximum x m",
    "PReLU": "m = mul x table; c = greater_equal x 0.0; y = select c x m",
    "Elu": "e = exp x; d = sub e 1.0; c = greater_equal x 0.0; y = select c x d",
    "Gelu": "s = mul x 0.70710678; e = erf s; a = add e 1.0; h = mul a 0.5; y = mul x h",
    "Swish": "s = sigmoid x; y = mul x s",
    "Selu": "e = exp x; d = sub e 1.0; m = mul d 2.0; c = greater_equal x 0.0; y = select c x m",
    "HardSigmoid": "a = add x 3.0; m = mul a 0.16666666666; n = minimum m 1.0; y = maximum n 0.0",
    "Softmax": "m = reduce_max x; d = sub x m; e = exp d; s = reduce_sum e; r = reciprocal s; y = mul e r",
    "LogSoftmax": "m = reduce_max x; d = sub x m; e = exp d; s = reduce_sum e; l = log s; y = sub d l",
    "Div": "r = reciprocal x; y = mul x r",
    "Max of a constant": "y = maximum x -0.4",
    "Min of a constant": "y = minimum x 0.4",
    "Max of channels": "y = maximum x table",
    "Mul of a constant": "y = mul x 2.0",
    "Mean": "s = reduce_sum x; y = mul s 0.5",
}
# Operators in front of those, of any shape.
FRONTS = {
    "": "",
    "sigmoid": "%front_{A} = tosa.sigmoid %{A} : ({T}) -> {T}\n",
    "tanh": "%front_{A} = tosa.tanh %{A} : ({T}) -> {T}\n",
    "abs": "%front_{A} = tosa.abs %{A} : ({T}) -> {T}\n",
    "relu": "%front_{A} = tosa.clamp %{A} {{min_val = 0.0 : f32, max_val = 3.40282347E+38 : f32}} : ({T}) -> {T}\n",
    "identity": "%front_{A} = tosa.identity %{A} : ({T}) -> {T}\n",
}
# Ops whose results are elements of their operands.
MOVEMENTS = ("concat", "gather", "identity", "max_pool2d", "reduce_max", "reduce_min")
MOVEMENTS += ("pad", "reshape", "reverse", "slice", "tile", "transpose")


def shape_of(line: str, op: str, types: list[str]) -> str:
    if op.startswith("reduce"):
        return "tensor<1x4x4x1xf32>"
    widest = max(types, key=len)
    widest = IMAGE if IMAGE in types else widest
    return "tensor<1x4x4x2xi1>" if op == "greater_equal" else widest.replace("i1", "f32")


def write_form(text: str) -> tuple[str, str]:
    """The ops of a form, and the type of its result `%y`."""
    types = {"x": IMAGE, "table": "tensor<1x1x1x2xf32>"}
    body = '%shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>\n'
    body += (
        f'%table = "tosa.const"() <{{values = dense<[[[[0.1, 0.3]]]]> : {types["table"]}}}> : () -> {types["table"]}\n'
    )
    for line in text.split("; "):
        result, _, op, *operands = line.split()
        for number, word in enumerate(operands):
            if re.match(r"-?\d", word):
                operands[number] = name = f"c{len(types)}"
                types[name] = "tensor<1x1x1x1xf32>"
                body += f'%{name} = "tosa.const"() <{{values = dense<{word}> : {types[name]}}}> : () -> {types[name]}\n'
        types[result] = shape_of(line, op, [types[name] for name in operands])
        attributes = " {axis = 3 : i32}" if op.startswith("reduce") else ""
        more = [("%shift", "tensor<1xi8>")] if op == "mul" else []
        given = [(f"%{name}", types[name]) for name in operands] + more
        names, kinds = (", ".join(part) for part in zip(*given, strict=True))
        body += f"%{result} = tosa.{op} {names}{attributes} : ({kinds}) -> {types[result]}\n"
    return body, types["y"]


@cache
def list_operators() -> list[tuple[str, list[tuple[str, str]], str, list[tuple[str, str]]]]:
    """Name, arguments, ops and results of each operator; values and types."""
    operators = []
    files = (ROOT / "test" / "unit" / "OpSupport" / "TosaOps.mlir", Path(__file__).with_name("operator_sets.mlir"))
    text = "".join(file.read_text() for file in files)
    for name, arguments, body in re.findall(r"^func\.func @(\w+)\((.*?)\)(?: ->.*?)? \{\n(.*?)^\}", text, re.M | re.S):
        *ops, end = body.strip().splitlines()
        values, _, kinds = end.strip().removeprefix("return").partition(":")
        pairs = re.findall(r"%(\w+): (tensor<[^>]*>)", arguments)
        results = list(zip(re.findall(r"%[\w#]+", values), re.findall(r"tensor<[^>]*>", kinds), strict=True))
        if "@" not in body and "^bb" not in body:
            operators.append((name, pairs, "\n".join(ops) + "\n", results))
    for name, form in FORMS.items():
        body, kind = write_form(form)
        operators.append((name.replace(" ", "_"), [("x", IMAGE)], body, [("%y", kind)]))
    return operators


def is_static(kind: str) -> bool:
    return bool(re.fullmatch(r"tensor<(\d+x)+f32>", kind))


def write_layer(value: str, kind: str, number: int) -> str:
    """A convolution of the elements of a value as channels of one pixel."""
    count = 1
    for size in re.findall(r"(\d+)x", kind):
        count *= int(size)
    pixel, kernel = f"tensor<1x1x1x{count}xf32>", f"tensor<2x1x1x{count}xf32>"
    return (
        f"%shape{number} = tosa.const_shape "
        f"{{values = dense<[1, 1, 1, {count}]> : tensor<4xindex>}} : () -> !tosa.shape<4>\n"
        f"%pixel{number} = tosa.reshape {value}, %shape{number} : ({kind}, !tosa.shape<4>) -> {pixel}\n"
        f'%kernel{number} = "tosa.const"() <{{values = dense<0.5> : {kernel}}}> : () -> {kernel}\n'
        f'%bias{number} = "tosa.const"() <{{values = dense<0.0> : tensor<2xf32>}}> : () -> tensor<2xf32>\n'
        f'%point{number} = "tosa.const"() <{{values = dense<0.0> : tensor<1xf32>}}> : () -> tensor<1xf32>\n'
        f"%layer{number} = tosa.conv2d %pixel{number}, %kernel{number}, %bias{number}, %point{number}, %point{number} "
        "{acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : "
        f"({pixel}, {kernel}, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x2xf32>\n"
    )


def write_networks() -> Iterator[str]:
    for front, ops in FRONTS.items():
        for name, arguments, body, results in list_operators():
            numbers = [argument for argument, kind in arguments if is_static(kind)]
            layers = [(value, kind) for value, kind in results if is_static(kind)]
            if not numbers or not layers:
                continue
            body = "".join(write_layer(value, kind, number) for number, (value, kind) in enumerate(layers)).join(
                [body, ""]
            )
            before = ""
            for argument in numbers if front else ():
                before += ops.format(A=argument, T=dict(arguments)[argument])
                body = re.sub(rf"%{argument}\b", f"%front_{argument}", body)
            inputs = ", ".join(f"%{argument}: {kind}" for argument, kind in arguments)
            outputs = ", ".join(f"%layer{number}" for number in range(len(layers)))
            kinds = ", ".join(["tensor<1x1x1x2xf32>"] * len(layers))
            function = f"@{name}_after_{front or 'nothing'}"
            yield f"func.func {function}({inputs}) -> ({kinds}) {{\n{before}{body}return {outputs} : {kinds}\n}}\n"


def find_float_layers(text: str) -> list[str]:
    """The function of each convolution whose input comes from anything but points, or whose kernel has none."""
    found = []
    for function, body in re.findall(r"func\.func @(\w+)\((.*?)\n  \}", text, re.S):
        makers = {
            value: (op.removeprefix("tosa."), re.findall(r"%[\w#]+", rest))
            for value, op, rest in re.findall(r"^ *(%\w+)(?::\d+)? = \"?([\w.]+)\"?(.*)$", body, re.MULTILINE)
        }

        def has_codes(value: str, makers: dict[str, tuple[str, list[str]]] = makers) -> bool:
            op, operands = makers.get(value, ("", []))
            moved = operands if op == "concat" else operands[:1] if op in MOVEMENTS else []
            return op == "tpc.quantize" or (bool(moved) and all(map(has_codes, moved)))

        layers = [operands[:2] for op, operands in makers.values() if op == "conv2d"]
        found += [function for factors in layers if not all(map(has_codes, factors))]
    return found


def stock_targets() -> list[str]:
    return sorted(path.stem for path in (ROOT / "tpc_dialect" / "targets").glob("*_v*.mlir"))


@pytest.mark.parametrize("target", stock_targets())
def test_layer_after_every_operator_reads_codes(target: str, tools: Path, tmp_path: Path) -> None:
    network = tmp_path / "networks.mlir"
    network.write_text("".join(write_networks()))
    done = subprocess.run(
        [tools / "mct-opt", network, f"--tpc-attach-target=target={target}", "--mct-insert-quantizers=function=*"],
        capture_output=True,
        text=True,
        check=False,
    )
    if target == "tflite_v1_mct":
        assert "has a configuration with both 'act_enabled' and 'preserving'" in done.stderr
        return
    assert done.returncode == 0, done.stderr
    floats = find_float_layers(done.stdout)
    if target == "qnnpack_v1_mct":
        assert len(floats) == done.stdout.count("tosa.conv2d %"), "this target quantizes no kernel"
        return
    expected = {function for function in floats if function.startswith(("fft2d", "rfft2d"))}
    # The imaginary part is a second result.
    assert done.stderr.count("only the first result of an operator has a point") == len(expected)
    if target.startswith(("imx500_v1_lut", "imx500_v1_pot", "imx500_v2", "imx500_v3")):
        # These targets say that results of batch norms are not quantized.
        expected |= {function for function in floats if function.startswith("BatchNorm_after")}
    assert set(floats) == expected
    assert done.stderr.count("stays float although the target quantizes it") == len(floats)


def test_every_operator_set_of_several_ops_is_among_the_operators(tools: Path, tmp_path: Path) -> None:
    texts = [path.read_text() for path in (ROOT / "tpc_dialect" / "targets").glob("*_v*.mlir")]
    in_targets = set(re.findall(r'#tpc.operator_set<"(\w+)"', "".join(texts)))
    binding = (ROOT / "tpc_dialect" / "targets" / "tosa.mlir").read_text()
    wanted: set[str] = set()
    for name, forms in re.findall(r'#tpc.ops_of<"(\w+)", (\[.*\])', binding):
        wanted |= set(re.findall(r'#tpc.subgraph<"(\w+)">', forms)) if name in in_targets else set()
    network = tmp_path / "networks.mlir"
    network.write_text("".join(write_networks()))
    found: set[str] = set()
    for target in ("tflite", "imx500_v4_0"):
        command = [
            tools / "mct-opt",
            network,
            f"--tpc-attach-target=target={target}",
            "--tpc-explain",
            "-o",
            tmp_path / "o",
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        found |= set(re.findall(r'matched by #tpc.subgraph<"(\w+)">', done.stdout))
    assert "prelu" in wanted
    assert wanted <= found
