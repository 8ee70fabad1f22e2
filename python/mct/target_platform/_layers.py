# SPDX-License-Identifier: Apache-2.0
"""Patterns of ops for the layers of frameworks.

Layers are known by name, so that no framework has to be imported. `_TABLES` lists, one operator set a line, the layers
of Keras (TensorFlow), torch, TFLite and ONNX it is; the few layers that become several operator sets, or whose
attributes can be told from the ops that they become, stand below.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from mct.errors import describe
from mct.target_platform import _vocabulary as vocabulary
from mct.target_platform._enums import OperatorSetNames
from mct.target_platform._errors import TargetError
from mct.target_platform._filters import (
    AndAttributeFilter,
    AttributeFilter,
    Comparison,
    LayerFilterParams,
    OrAttributeFilter,
    compare,
)
from mct.target_platform._predicates import Leaf, Truth, join, negate, write_value
from mct.target_platform._schema import BIAS_ATTR, KERNEL_ATTR
from mct.target_platform._vocabulary import Pattern


@dataclass(frozen=True)
class Known:
    """The attribute has this value in every layer that becomes the pattern."""

    value: Any


# Asks the op for an attribute: of a comparison's word and value.
AttributeTest = Callable[[str, Any], Truth]


@dataclass(frozen=True)
class Form:
    """A pattern that a layer becomes, and the attributes of the layer that it determines; None: it does not.

    is_extra:    the pattern is the layer's only where no other operator set names it.
    is_narrowed: a filter of the script's is a part of it.
    sharper:     a pattern that leaves out other layers that become the same op; it takes the place of the pattern where
        an operator set of such layers has other options.
    """

    pattern: Pattern
    attributes: Mapping[str, Known | AttributeTest | None] = field(default_factory=dict)
    is_extra: bool = False
    is_narrowed: bool = False
    sharper: Pattern | None = None


@dataclass(frozen=True)
class Layer:
    """A kind of layers.

    weights: by the framework's name of a weight the operand of the op that it becomes.
    """

    name: str
    forms: tuple[Form, ...]
    linalg: tuple[Pattern, ...] = ()
    weights: Mapping[str, int] = field(default_factory=dict)
    is_op: bool = False


# ----------------------------------------------------------------------------------------------------------------------
# Questions to ops
# ----------------------------------------------------------------------------------------------------------------------


def _number(name: str) -> AttributeTest:
    def test(word: str, value: Any) -> Truth:
        if value is None:
            return word == "ne"
        return Leaf(name, word, write_value(float(value) if name.endswith("_val") else value))

    return test


def _below_zero(word: str, value: Any) -> Truth:
    """The lower bound of a clamp that does not begin at zero."""
    if value == 0 and word in ("eq", "ne"):
        return word == "ne"
    return _number("min_val")(word, value)


def _window(*names: str) -> AttributeTest:
    """Height and width, one number for both or two."""

    def test(word: str, value: Any) -> Truth:
        sizes = (value,) * len(names) if isinstance(value, int) else tuple(value)
        if len(sizes) != len(names):
            raise TargetError(f"expected {len(names)} sizes, but got {describe(value)}")
        if word == "ne":
            return negate(test("eq", value))
        if word != "eq" and not isinstance(value, int):
            raise TargetError(f"{describe(value)} can be compared by Eq and NotEq only")
        return join("and", *(Leaf(name, word, str(size)) for name, size in zip(names, sizes, strict=True)))

    return test


def _pair(name: str) -> AttributeTest:
    """An attribute of the op that is an array of two."""

    def test(word: str, value: Any) -> Truth:
        if word not in ("eq", "ne"):
            raise TargetError(f"'{name}' can be compared by Eq and NotEq only")
        return Leaf(name, word, write_value([value, value] if isinstance(value, int) else list(value)))

    return test


def _axis(word: str, value: Any) -> Truth:
    if not isinstance(value, int) or value < 0:
        raise TargetError(f"an axis can be asked for when it counts from the front, but is {describe(value)}")
    return Leaf("axis", word, str(value))


def _resize_mode(word: str, value: Any) -> Truth:
    mode = {"bilinear": "BILINEAR", "nearest": "NEAREST_NEIGHBOR"}.get(str(getattr(value, "value", value)).lower())
    if word not in ("eq", "ne") or mode is None:
        if mode is None and word in ("eq", "ne"):
            return word == "ne"
        raise TargetError("a resizing can be compared by Eq and NotEq only")
    return Leaf("mode", word, f"#tosa.resize_mode<{mode}>")


_KERNEL = _window("$kernel_h", "$kernel_w")
_CONV: dict[str, Known | AttributeTest | None] = {
    "kernel_size": _KERNEL,
    "stride": _pair("stride"),
    "strides": _pair("stride"),
    "dilation": _pair("dilation"),
    "dilation_rate": _pair("dilation"),
    "in_channels": _number("$in_channels"),
    "out_channels": _number("$out_channels"),
    "filters": _number("$out_channels"),
}
_POOL: dict[str, Known | AttributeTest | None] = {
    "kernel_size": _KERNEL,
    "pool_size": _KERNEL,
    "stride": _pair("stride"),
    "strides": _pair("stride"),
}

# ----------------------------------------------------------------------------------------------------------------------
# Names
# ----------------------------------------------------------------------------------------------------------------------

# Operator set, then its layers.
_TABLES = {
    "keras": """
Conv: Conv2D conv2d
DepthwiseConv2D: DepthwiseConv2D depthwise_conv2d depthwise_conv2d_native
ConvTranspose: Conv2DTranspose conv2d_transpose conv2d_transpose_v2
FullyConnected: Dense
Concatenate: concat Concatenate
Stack: stack
Unstack: unstack
Gather: gather gather_v2
BatchNorm: BatchNormalization batch_normalization
L2Norm: l2_normalize l2_normalize_v2
ReLU6: relu6
LeakyReLU: leaky_relu LeakyReLU
Elu: elu ELU
Add: add Add
Sub: subtract Subtract
Mul: multiply Multiply
Div: divide truediv div
Min: minimum Minimum
Max: maximum Maximum
PReLU: PReLU
AddBias: bias_add
Swish: swish silu
Sigmoid: sigmoid
Softmax: softmax softmax_v2 Softmax
LogSoftmax: log_softmax log_softmax_v2
Tanh: tanh
Gelu: gelu
HardSigmoid: hard_sigmoid
Flatten: Flatten
GetItem: getitem _slice_helper SlicingOpLambda
Reshape: Reshape reshape
Unsqueeze: expand_dims expand_dims_v2
Squeeze: squeeze squeeze_v2
Permute: Permute
Transpose: transpose transpose_v2
SplitChunk: split
MaxPool: MaxPooling2D MaxPool2D max_pool2d
AvgPool: AveragePooling2D AvgPool2D avg_pool2d
Size: size size_v2
Shape: shape shape_v2
Equal: equal
ArgMax: argmax argmax_v2
Dropout: Dropout Identity identity
TopK: top_k
FakeQuant: fake_quant_with_min_max_vars
CombinedNonMaxSuppression: combined_non_max_suppression
ZeroPadding2D: ZeroPadding2D
Cast: cast
Resize: resize resize_images_v2
Pad: pad pad_v2
StridedSlice: strided_slice slice Cropping2D
Fold: space_to_batch_nd
SSDPostProcess: SSDPostProcess
Exp: exp
Sin: sin
Cos: cos
LayerNorm: LayerNormalization
GroupNorm: GroupNormalization
GlobalAvgPool: GlobalAveragePooling2D
Mean: reduce_mean
""",
    "torch": """
ConvTranspose: ConvTranspose2d conv_transpose2d
FullyConnected: Linear linear
Concatenate: cat concat concatenate
Stack: stack
Unstack: unbind
Gather: gather
Expend: expand
BatchNorm: BatchNorm2d batch_norm
ReLU: relu ReLU relu_
ReLU6: ReLU6 relu6
LeakyReLU: LeakyReLU leaky_relu
Elu: ELU elu
Add: add
Sub: sub subtract
Mul: mul multiply
Div: truediv div divide true_divide
Min: minimum min
Max: maximum max
PReLU: PReLU prelu
Swish: SiLU silu
Sigmoid: Sigmoid sigmoid
Softmax: Softmax softmax
LogSoftmax: LogSoftmax log_softmax
Tanh: Tanh tanh
Gelu: GELU gelu
HardSigmoid: Hardsigmoid hardsigmoid
HardSwish: Hardswish hardswish
Flatten: Flatten flatten
GetItem: getitem select narrow
Reshape: reshape view
Unsqueeze: unsqueeze
Squeeze: squeeze
Permute: permute
Transpose: transpose
Dropout: Dropout dropout Identity
SplitChunk: split chunk
Size: size
Shape: shape
Equal: equal
ArgMax: argmax
TopK: topk
FakeQuant: fake_quantize_per_channel_affine
CombinedNonMaxSuppression: MulticlassNMS MulticlassNMSWithIndices MulticlassNMSOBB
ZeroPadding2D: ZeroPad2d
Cast: type to
Pad: pad
Fold: fold
Exp: exp
Sin: sin
Cos: cos
Take: take
IndexSelect: index_select
LayerNorm: LayerNorm layer_norm
RMSNorm: RMSNorm rms_norm
GroupNorm: GroupNorm group_norm
InstanceNorm: InstanceNorm2d instance_norm
GlobalAvgPool: AdaptiveAvgPool2d adaptive_avg_pool2d
Mean: mean
""",
    "tflite": """
Conv: CONV_2D
DepthwiseConv2D: DEPTHWISE_CONV_2D
ConvTranspose: TRANSPOSE_CONV
FullyConnected: FULLY_CONNECTED
Concatenate: CONCATENATION
Stack: PACK
Unstack: UNPACK
Gather: GATHER GATHER_ND
Expend: TILE BROADCAST_TO
L2Norm: L2_NORMALIZATION
ReLU: RELU
ReLU6: RELU6
LeakyReLU: LEAKY_RELU
Elu: ELU
Add: ADD
Sub: SUB
Mul: MUL
Div: DIV
Min: MINIMUM
Max: MAXIMUM
PReLU: PRELU
Sigmoid: LOGISTIC
Softmax: SOFTMAX
LogSoftmax: LOG_SOFTMAX
Tanh: TANH
Gelu: GELU
HardSwish: HARD_SWISH
Reshape: RESHAPE
Unsqueeze: EXPAND_DIMS
Squeeze: SQUEEZE
Transpose: TRANSPOSE
SplitChunk: SPLIT SPLIT_V
StridedSlice: STRIDED_SLICE SLICE
MaxPool: MAX_POOL_2D
AvgPool: AVERAGE_POOL_2D
Shape: SHAPE
Equal: EQUAL
ArgMax: ARG_MAX
TopK: TOPK_V2
FakeQuant: FAKE_QUANT
Cast: CAST
Resize: RESIZE_BILINEAR RESIZE_NEAREST_NEIGHBOR
Pad: PAD PADV2
Fold: SPACE_TO_BATCH_ND
Exp: EXP
Sin: SIN
Cos: COS
Mean: MEAN
""",
    "onnx": """
ConvTranspose: ConvTranspose
FullyConnected: Gemm MatMul
Concatenate: Concat
Gather: Gather
Expend: Expand Tile
BatchNorm: BatchNormalization
L2Norm: LpNormalization
ReLU: Relu
LeakyReLU: LeakyRelu
Elu: Elu
Add: Add
Sub: Sub
Mul: Mul
Div: Div
Min: Min
Max: Max
PReLU: PRelu
Sigmoid: Sigmoid
Softmax: Softmax
LogSoftmax: LogSoftmax
Tanh: Tanh
Gelu: Gelu
HardSigmoid: HardSigmoid
HardSwish: HardSwish
Flatten: Flatten
Reshape: Reshape
Unsqueeze: Unsqueeze
Squeeze: Squeeze
Transpose: Transpose
Dropout: Dropout
SplitChunk: Split
StridedSlice: Slice
MaxPool: MaxPool
AvgPool: AveragePool
Size: Size
Shape: Shape
Equal: Equal
ArgMax: ArgMax
TopK: TopK
CombinedNonMaxSuppression: NonMaxSuppression
Cast: Cast
Resize: Resize Upsample
Pad: Pad
Exp: Exp
Sin: Sin
Cos: Cos
LayerNorm: LayerNormalization
RMSNorm: RMSNormalization
GroupNorm: GroupNormalization
InstanceNorm: InstanceNormalization
GlobalAvgPool: GlobalAveragePool
Mean: ReduceMean
""",
}

_WEIGHTS = {"kernel": 1, "depthwise_kernel": 1, "weight": 1, KERNEL_ATTR: 1, "bias": 2, BIAS_ATTR: 2}

# Layers whose ops cannot be distinguished from others. An operator set may contain them, without any effect.
_FORMLESS = {
    "keras": ("space_to_depth", "depth_to_space", "batch_to_space", "batch_to_space_nd", "crop_and_resize"),
    "torch": ("pixel_shuffle", "pixel_unshuffle"),
    "tflite": ("SPACE_TO_DEPTH", "DEPTH_TO_SPACE", "BATCH_TO_SPACE_ND"),
    "onnx": ("SpaceToDepth", "DepthToSpace"),
}
# Layers that are single ops, and none of an operator set of MCT.
_OPS = {
    "keras": {
        "matmul": "tosa.matmul",
        "reduce_max": "tosa.reduce_max",
        "reduce_min": "tosa.reduce_min",
        "reduce_sum": "tosa.reduce_sum",
    },
    "torch": {"matmul": "tosa.matmul", "bmm": "tosa.matmul", "amax": "tosa.reduce_max", "sum": "tosa.reduce_sum"},
    "tflite": {"BATCH_MATMUL": "tosa.matmul", "SUM": "tosa.reduce_sum", "REDUCE_MAX": "tosa.reduce_max"},
    "onnx": {"ReduceSum": "tosa.reduce_sum", "ReduceMax": "tosa.reduce_max"},
}

# Attributes that are known of any layer of a set.
_ATTRIBUTES: dict[str, Mapping[str, Known | AttributeTest | None]] = {
    "Conv": _CONV | {"groups": Known(1)},
    "DepthwiseConv2D": _CONV | {"groups": _number("$in_channels")},
    "ConvTranspose": {key: test for key, test in _CONV.items() if key != "dilation"} | {"groups": Known(1)},
    "MaxPool": _POOL,
    "AvgPool": _POOL,
    "Concatenate": {"axis": _axis},
    "Resize": {"mode": _resize_mode, "method": _resize_mode, "interpolation": _resize_mode},
    "L2Norm": {"p": Known(2)},
}


def _reshape(name: str, word: str, value: str) -> Pattern:
    return Pattern("tosa.reshape", Leaf(name, word, value))


_SHARPER = {
    "Squeeze": _reshape("$unit_axes", "lt", "0"),
    "Unsqueeze": _reshape("$unit_axes", "gt", "0"),
    "Flatten": _reshape("$rank", "eq", "2"),
}


def _forms_of(
    set_name: str, attributes: Mapping[str, Known | AttributeTest | None] | None = None, is_extra: bool = False
) -> tuple[Form, ...]:
    known = {**_ATTRIBUTES.get(set_name, {}), **(attributes or {})}
    patterns = vocabulary.TOSA[set_name].patterns
    return tuple(Form(pattern, known, is_extra, sharper=_SHARPER.get(set_name)) for pattern in patterns)


def _clamp_forms(upper: str, lower: str) -> dict[str, tuple[Form, ...]]:
    """The forms of bounded and unbounded ReLUs, whose bounds have these names."""
    top = _number("max_val")
    return {
        "ReLU": _forms_of("ReLU", {upper: Known(None), lower: Known(0)}),
        "ReLU6": _forms_of("ReLU6", {upper: Known(6), lower: Known(0)}),
        # Bounds of the two ops of the subgraph cannot be conditions; `mct-prepare` makes one clamp of them.
        "HardTanh": (
            Form(vocabulary.HARD_TANH, {upper: top, lower: Known(0)}),
            Form(vocabulary.TOSA["HardTanh"].patterns[1], {upper: None, lower: Known(0)}),
        ),
        "below": (Form(vocabulary.BELOW_ZERO, {upper: top, lower: _below_zero}),),
    }


def _extra(forms: Iterable[Form]) -> tuple[Form, ...]:
    return tuple(replace(form, is_extra=True) for form in forms)


def _layer(name: str, *sets: str, forms: tuple[Form, ...] | None = None) -> Layer:
    if forms is None:
        forms = tuple(form for set_name in sets for form in _forms_of(set_name))
    linalg = tuple(
        pattern for set_name in sets for pattern in vocabulary.LINALG.get(set_name, vocabulary.Entry(())).patterns
    )
    weights = _WEIGHTS if any(set_name in vocabulary.LINEAR_SETS for set_name in sets) else {}
    return Layer(name, forms, linalg, weights)


# Keras's `Activation`, by the name of the function.
_ACTIVATIONS = {
    "relu": "ReLU",
    "leaky_relu": "LeakyReLU",
    "elu": "Elu",
    "hard_tanh": "HardTanh",
    "swish": "Swish",
    "silu": "Swish",
    "sigmoid": "Sigmoid",
    "softmax": "Softmax",
    "log_softmax": "LogSoftmax",
    "tanh": "Tanh",
    "gelu": "Gelu",
    "hard_sigmoid": "HardSigmoid",
    "hard_swish": "HardSwish",
    "relu6": "ReLU6",
}


def _build_tables() -> dict[str, dict[str, Layer]]:
    tables: dict[str, dict[str, Layer]] = {
        "set": {name: _layer(name, name) for name in vocabulary.TOSA},
    }
    tables["set"]["Expand"] = tables["set"]["Expend"]
    for framework, text in _TABLES.items():
        table = tables[framework] = {}
        for line in text.strip().splitlines():
            set_name, _, names = line.partition(": ")
            for name in names.split():
                table[name] = _layer(name, set_name)
        for name in _FORMLESS[framework]:
            table[name] = Layer(name, ())
        for name, op in _OPS[framework].items():
            table[name] = Layer(name, (Form(Pattern(op)),))
    keras, torch, onnx = tables["keras"], tables["torch"], tables["onnx"]

    clamp = _clamp_forms("max_value", "threshold")
    bounded = _extra((*clamp["ReLU6"], *clamp["HardTanh"]))
    for name in ("ReLU", "relu"):
        forms = (*clamp["ReLU"], *bounded) if name == "ReLU" else clamp["ReLU"]
        forms = tuple(replace(form, attributes={**form.attributes, "negative_slope": Known(0)}) for form in forms)
        keras[name] = _layer(name, "ReLU", forms=forms)
    keras["Activation"] = Layer(
        "Activation",
        tuple(form for word, name in _ACTIVATIONS.items() for form in _forms_of(name, {"activation": Known(word)})),
    )
    clamp = _clamp_forms("max_val", "min_val")
    hard_tanh = (*clamp["HardTanh"], *_extra((*clamp["ReLU6"], *clamp["below"])))
    for name in ("Hardtanh", "hardtanh", "hardtanh_", "clamp", "clip"):
        torch[name] = _layer(name, "HardTanh", forms=hard_tanh)
    onnx["Clip"] = _layer("Clip", "HardTanh", "ReLU6", forms=hard_tanh)

    # A convolution of torch or ONNX with as many groups as channels is another op.
    conv = (*_forms_of("Conv"), *_forms_of("DepthwiseConv2D", is_extra=True))
    for table, name in ((torch, "Conv2d"), (torch, "conv2d"), (onnx, "Conv")):
        table[name] = _layer(name, "Conv", forms=conv)
    for name in ("MaxPool2d", "max_pool2d"):
        torch[name] = _layer(name, "MaxPool")
    for name in ("AvgPool2d", "avg_pool2d"):
        torch[name] = _layer(name, "AvgPool")
    for name in ("interpolate", "resize", "Upsample", "UpsamplingBilinear2d", "UpsamplingNearest2d"):
        torch[name] = _layer(name, "Resize")
    keras["UpSampling2D"] = _layer("UpSampling2D", "Resize")
    # The axes of a torch tensor are others than those of the op, which may have its channels last.
    for name in ("cat", "concat", "concatenate"):
        torch[name] = replace(torch[name], forms=tuple(Form(form.pattern) for form in torch[name].forms))
    # p = None stands for the default, which is 2.
    normalized = tuple(Form(form.pattern, {"p": Known(2)}) for form in _forms_of("L2Norm"))
    torch["normalize"] = _layer("normalize", "L2Norm", forms=normalized)
    keras["SeparableConv2D"] = _layer("SeparableConv2D", "DepthwiseConv2D", "Conv")
    # A layer of MCT beside those of the frameworks.
    torch["SSDPostProcess"] = keras["SSDPostProcess"]
    return tables


_LAYERS = _build_tables()
_FRAMEWORKS = {
    "torch": "torch",
    "tensorflow": "keras",
    "tf": "keras",
    "keras": "keras",
    "tf_keras": "keras",
    "_operator": "torch",
    "operator": "torch",
    "tfl": "tflite",
    "tflite": "tflite",
    "onnx": "onnx",
}
# Where a name without a framework is looked for, in this order.
_ORDER = ("set", "keras", "torch", "tflite", "onnx")


_HAS_KERNEL = re.compile(r"conv|matmul|fully_connected")


def _op_layer(name: str) -> Layer:
    """An op, or a subgraph, by its own name: `tosa.conv2d`, `subgraph:softmax`."""
    is_subgraph = name.startswith("subgraph:")
    pattern = Pattern(name.removeprefix("subgraph:"), is_subgraph=is_subgraph)
    is_known = name.split(".")[0] in ("tosa", "linalg", "tensor", "math", "arith") or is_subgraph
    weights = {} if is_known and not _HAS_KERNEL.search(name) else _WEIGHTS
    return Layer(name, (Form(pattern),), weights=weights, is_op=not is_subgraph)


def _find(framework: str | None, name: str, shown: str) -> Layer:
    for table in [framework] if framework else _ORDER:
        if found := _LAYERS[table].get(name):
            return found
    known = sorted({key for table in ([framework] if framework else _ORDER) for key in _LAYERS[table]})
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.7)
    hint = f"did you mean {near[0]!r}? Else " if near else ""
    raise TargetError(
        f"layer {shown!r} is not known; {hint}give the op that it becomes ('tosa.conv2d') or an operator set "
        "('Conv'), or mark its ops with the attribute 'tpc.set'"
    )


def _namesakes(layer: Any) -> list[Layer]:
    """The layers of frameworks that have the name of an operator set; of other layers none."""
    if not isinstance(layer, str) or layer not in _LAYERS["set"]:
        return []
    return [_LAYERS[table][layer] for table in _ORDER[1:] if layer in _LAYERS[table]]


def _find_by_name(text: str) -> Layer:
    if text.startswith("subgraph:"):
        return _op_layer(text)
    *path, name = re.split(r"\.|::", text)
    if not path:
        return _find(None, name, text)
    framework = _FRAMEWORKS.get(path[0])
    if framework is None:
        if path[0] in ("nn", "F", "functional", "layers", "math"):
            return _find(None, name, text)
        return _op_layer(text)
    return _find(framework, name, text)


def _find_object(layer: Any) -> Layer:
    name = getattr(layer, "__name__", None)
    if not isinstance(name, str):
        raise TargetError(
            f"a layer must be a class, a function or a name, but is {describe(layer)}; of an object give its class"
        )
    owner = getattr(layer, "__objclass__", None)
    module = getattr(layer, "__module__", None) or getattr(owner, "__module__", None) or ""
    framework = _FRAMEWORKS.get(str(module).split(".")[0])
    shown = f"{module}.{name}" if module else name
    # TensorFlow appends `_v2` and `_v1` to functions, and Python has `__` around methods.
    for spelling in (name, re.sub(r"_v\d$", "", name), name.strip("_")):
        try:
            return _find(framework, spelling, shown)
        except TargetError as error:
            reason = error
    raise reason


def resolve_layer(layer: Any) -> Layer:
    """Patterns of a layer, the filter of a `LayerFilterParams` included. Raises `TargetError`."""
    if isinstance(layer, LayerFilterParams):
        kind = resolve_layer(layer.layer)
        if layer.filter is None:
            return kind
        reason: UnknownAttributeError | None = None
        # A name without a framework is that of the first one whose layer has the attributes.
        for one in [kind, *_namesakes(layer.layer)]:
            try:
                return _apply(one, layer.filter)
            except UnknownAttributeError as error:
                reason = reason or error
        assert reason
        raise reason
    if isinstance(layer, OperatorSetNames):
        return _LAYERS["set"][layer.value]
    return _find_by_name(layer) if isinstance(layer, str) else _find_object(layer)


# ----------------------------------------------------------------------------------------------------------------------
# Filters
# ----------------------------------------------------------------------------------------------------------------------


class UnknownAttributeError(TargetError):
    """The ops that a layer becomes do not determine an attribute of it."""


class _UndecidedError(Exception):
    """The pattern does not determine the attribute."""


def _evaluate(condition: AttributeFilter, kind: Layer, form: Form) -> Truth:
    if isinstance(condition, AndAttributeFilter):
        return join("and", *(_evaluate(part, kind, form) for part in condition.filters))
    if isinstance(condition, OrAttributeFilter):
        return join("or", *(_evaluate(part, kind, form) for part in condition.filters))
    if not isinstance(condition, Comparison):
        raise TargetError(f"{describe(condition)} is not a condition on an op; take Eq, Greater and the like")
    name, value = condition.attr, condition.value
    if kind.is_op:
        return Leaf(name, condition.word, write_value(value))
    if name not in form.attributes:
        known = ", ".join(sorted({key for other in kind.forms for key in other.attributes})) or "none"
        raise UnknownAttributeError(
            f"attribute {name!r} of layer {kind.name!r} cannot be told from the ops that it becomes; known: {known}. "
            "Filter the op itself (LayerFilterParams('tosa.clamp', ...)), or give ops 'tpc.set'"
        )
    known_attribute = form.attributes[name]
    # A subgraph has no attributes for conditions.
    if known_attribute is None or (form.pattern.is_subgraph and not isinstance(known_attribute, Known)):
        raise _UndecidedError
    if isinstance(known_attribute, Known):
        return compare(condition.word, known_attribute.value, value)
    return known_attribute(condition.word, value)


def _apply(kind: Layer, condition: AttributeFilter) -> Layer:
    forms: list[Form] = []
    for form in kind.forms:
        try:
            truth = _evaluate(condition, kind, form)
        except _UndecidedError:
            continue
        if isinstance(truth, bool):
            if truth:
                forms.append(form)
            continue
        where = join("and", *([form.pattern.where] if form.pattern.where else []), truth)
        if not isinstance(where, bool):
            forms.append(replace(form, pattern=replace(form.pattern, where=where), is_narrowed=True))
    # The ops that linalg has for a layer cannot be filtered.
    is_whole = all(form in forms for form in kind.forms if not form.is_extra)
    return replace(kind, forms=tuple(forms), linalg=kind.linalg if is_whole else ())
