# SPDX-License-Identifier: Apache-2.0
"""`FrameworkInfo` of MCT 1.0: operands, channel axes and ranges of the ops of an IR."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, overload

from mct.errors import describe
from mct.target_platform import DefaultDict, QuantizationMethod, TargetError
from mct.target_platform._layers import Layer, resolve_layer
from mct.target_platform._platform import describe_layer
from mct.target_platform._predicates import quote, write_real

# Axes of the kernel of a layer, and of the ops that it becomes: O and I are channels, M those that a depthwise
# convolution makes of each. A letter is the same axis on both sides.
_LAYOUTS = {
    "Conv2D": ("HWIO", {"tosa.conv2d": "OHWI"}),
    "DepthwiseConv2D": ("HWIM", {"tosa.depthwise_conv2d": "HWIM"}),
    "Conv2DTranspose": ("HWOI", {"tosa.transpose_conv2d": "OHWI"}),
    "Dense": ("IO", {"tosa.matmul": "NIO", "tosa.conv2d": "OHWI"}),
    "Conv2d": ("OIHW", {"tosa.conv2d": "OHWI"}),
    "ConvTranspose2d": ("IOHW", {"tosa.transpose_conv2d": "OHWI"}),
    "Linear": ("OI", {"tosa.matmul": "NIO", "tosa.conv2d": "OHWI"}),
}
_BIASES = {"tosa.conv2d": 2, "tosa.depthwise_conv2d": 2, "tosa.transpose_conv2d": 2}

_CALLABLES = (
    "FrameworkInfo: {name} maps methods to functions of Keras, which compiled passes cannot call. Leave it empty: the "
    "methods of QuantizationMethod need no function, and one of your own is a C++ attribute that implements "
    "QuantizationMethodAttrInterface (tpc_dialect/README.md)"
)


@dataclass(frozen=True)
class _OpInfo:
    """One `#tpc.op_info`."""

    name: str
    kernel: int | None = None
    bias: int | None = None
    out_axes: tuple[int, ...] = ()
    in_axis: int | None = None
    result_axis: int | None = None
    range: tuple[float | None, float | None] = (None, None)
    quantize: bool = True

    def __str__(self) -> str:
        parts = [quote(self.name)]
        for field in ("kernel", "bias"):
            if (number := getattr(self, field)) is not None:
                parts.append(f"{field} = {number}")
        if self.out_axes:
            parts.append(f"out_axes = [{', '.join(map(str, self.out_axes))}]")
        for field in ("in_axis", "result_axis"):
            if (number := getattr(self, field)) is not None:
                parts.append(f"{field} = {number}")
        if self.range != (None, None):
            bounds = ("?" if bound is None else write_real(bound) for bound in self.range)
            parts.append(f"range = [{', '.join(bounds)}]")
        if not self.quantize:
            parts.append("quantize = false")
        return f"#tpc.op_info<{', '.join(parts)}>"


class FrameworkInfo:
    """How layers should be quantized, and what they look like.

    kernel_ops:          layers whose weights are quantized.
    activation_ops:      layers whose results are quantized.
    no_quantization_ops: layers that are not.
    activation_quantizer_mapping, weights_quantizer_mapping: functions of the framework; empty here (see `_CALLABLES`).
    kernel_channels_mapping:    by layer the axes of its kernel that run over output and input channels, in the layout
        of the framework; of an op in its own.
    activation_min_max_mapping: by name of an activation function the least and the largest value of its results, None
        where there is none.
    layer_min_max_mapping:      the same by layer.

    Layers are named as in `OperationsSetToLayers`. The two quantizer mappings may be left out, as the examples of MCT's
    page do.
    """

    @overload
    def __init__(
        self,
        kernel_ops: Sequence[Any],
        activation_ops: Sequence[Any],
        no_quantization_ops: Sequence[Any],
        activation_quantizer_mapping: Mapping[QuantizationMethod, Any],
        weights_quantizer_mapping: Mapping[QuantizationMethod, Any],
        kernel_channels_mapping: DefaultDict | Mapping[Any, tuple[int | None, int | None]],
        activation_min_max_mapping: Mapping[str, tuple[float | None, float | None]],
        layer_min_max_mapping: Mapping[Any, tuple[float | None, float | None]],
    ) -> None: ...
    @overload
    def __init__(
        self,
        kernel_ops: Sequence[Any],
        activation_ops: Sequence[Any],
        no_quantization_ops: Sequence[Any],
        kernel_channels_mapping: DefaultDict | Mapping[Any, tuple[int | None, int | None]],
        activation_min_max_mapping: Mapping[str, tuple[float | None, float | None]],
        layer_min_max_mapping: Mapping[Any, tuple[float | None, float | None]],
    ) -> None: ...
    def __init__(
        self,
        kernel_ops: Sequence[Any],
        activation_ops: Sequence[Any],
        no_quantization_ops: Sequence[Any],
        *mappings: Any,
        **named: Any,
    ) -> None:
        positions = (
            "activation_quantizer_mapping",
            "weights_quantizer_mapping",
            "kernel_channels_mapping",
            "activation_min_max_mapping",
            "layer_min_max_mapping",
        )
        if len(mappings) == 3 and not named:
            named = dict(zip(positions[2:], mappings, strict=True))
        else:
            if len(mappings) > len(positions):
                raise TargetError(f"FrameworkInfo takes 8 parameters, but got {3 + len(mappings)}")
            given = dict(zip(positions, mappings, strict=False))
            for name in named:
                if name not in positions or name in given:
                    raise TargetError(
                        f"FrameworkInfo: {name!r} is unknown or given twice; known: {', '.join(positions)}"
                    )
            named = given | named
        self.kernel_ops = self._check_list("kernel_ops", kernel_ops)
        self.activation_ops = self._check_list("activation_ops", activation_ops)
        self.no_quantization_ops = self._check_list("no_quantization_ops", no_quantization_ops)
        for name in positions[:2]:
            if named.get(name):
                raise TargetError(_CALLABLES.format(name=name))
        self.activation_quantizer_mapping: dict[Any, Any] = {}
        self.weights_quantizer_mapping: dict[Any, Any] = {}
        self.kernel_channels_mapping = self._check_mapping("kernel_channels_mapping", named)
        self.activation_min_max_mapping = self._check_mapping("activation_min_max_mapping", named)
        self.layer_min_max_mapping = self._check_mapping("layer_min_max_mapping", named)
        self._infos = self._collect()

    @staticmethod
    def _check_list(name: str, value: Any) -> list[Any]:
        if not isinstance(value, (list, tuple)):
            raise TargetError(f"FrameworkInfo: {name} must be a list, but is {describe(value)}")
        for layer in value:
            resolve_layer(layer)
        return list(value)

    @staticmethod
    def _check_mapping(name: str, named: Mapping[str, Any]) -> dict[Any, Any]:
        value = named.get(name, {})
        if not isinstance(value, (Mapping, DefaultDict)):
            raise TargetError(f"FrameworkInfo: {name} must be a dictionary, but is {describe(value)}")
        return dict(value.items())

    def _collect(self) -> list[_OpInfo]:
        infos: dict[str, _OpInfo] = {}

        def add(info: _OpInfo, layer: Any) -> None:
            known = infos.setdefault(info.name, info)
            # The parts of one op come from several mappings.
            merged = {
                field: value
                for field, value in vars(info).items()
                if value != getattr(_OpInfo(info.name), field) and value != getattr(known, field)
            }
            for field in merged:
                if getattr(known, field) != getattr(_OpInfo(info.name), field):
                    raise TargetError(
                        f"FrameworkInfo: layer {describe_layer(layer)} says of {info.name!r} what another layer "
                        "contradicts; an op can be described once"
                    )
            infos[info.name] = replace(known, **merged)

        for layer, axes in self.kernel_channels_mapping.items():
            for info in _describe_kernel(layer, axes):
                add(info, layer)
        for layer in self.no_quantization_ops:
            if any(layer is other or layer == other for other in (*self.kernel_ops, *self.activation_ops)):
                raise TargetError(f"FrameworkInfo: layer {describe_layer(layer)} is to be quantized, and not to be")
            for name in _whole_ops(layer):
                add(_OpInfo(name, quantize=False), layer)
        ranges = [(layer, bounds) for layer, bounds in self.layer_min_max_mapping.items()]
        for name, bounds in self.activation_min_max_mapping.items():
            if not isinstance(name, str):
                raise TargetError(f"FrameworkInfo: an activation is known by its name, not by {name!r}")
            # It returns what it gets.
            if name not in ("linear", "identity"):
                ranges.append((name, bounds))
        for layer, bounds in ranges:
            checked = _check_range(layer, bounds)
            if checked == (None, None):
                continue
            for form in resolve_layer(layer).forms:
                # A clamp knows its own bounds, and is other layers as well.
                if not form.pattern.where and not form.is_extra:
                    add(_OpInfo(form.pattern.described_as, range=checked), layer)
        return list(infos.values())

    def to_mlir(self, name: str = "framework_info") -> str:
        """The text of a module with the `tpc.framework`."""
        lines = ",\n".join(f"  {info}" for info in self._infos)
        return f"tpc.framework @{name} [\n{lines}\n]\n" if lines else f"tpc.framework @{name} []\n"


def _describe_kernel(layer: Any, axes: Any) -> list[_OpInfo]:
    shown = describe_layer(layer)
    if not isinstance(axes, (tuple, list)) or len(axes) != 2:
        raise TargetError(
            f"FrameworkInfo: the channels of {shown} must be two axes, output and input, but are {describe(axes)}"
        )
    if tuple(axes) == (None, None):
        return []
    kind = resolve_layer(layer)
    if kind.is_op:
        return [_describe_op(kind, shown, axes)]
    if kind.name not in _LAYOUTS:
        raise TargetError(
            f"FrameworkInfo: the layout of the kernel of {shown} is not known; known: {', '.join(_LAYOUTS)}, or "
            "name the op"
        )
    layout, ops = _LAYOUTS[kind.name]
    letters = []
    for axis in axes:
        if not isinstance(axis, int) or not -len(layout) <= axis < len(layout):
            raise TargetError(
                f"FrameworkInfo: the kernel of {shown} has {len(layout)} axes, but none is {describe(axis)}"
            )
        letters.append(layout[axis])
    infos = []
    for op, op_layout in ops.items():
        out = tuple(sorted(op_layout.index(letter) for letter in {letters[0]} | _output_letters(op, letters[0])))
        infos.append(_OpInfo(op, 1, _BIASES.get(op), out, op_layout.index(letters[1]), -1))
    return infos


def _output_letters(op: str, letter: str) -> set[str]:
    """The output channels of a depthwise convolution run over two axes."""
    return {"I", "M"} if op == "tosa.depthwise_conv2d" and letter in "IM" else set()


def _describe_op(kind: Layer, shown: str, axes: Any) -> _OpInfo:
    for axis in axes:
        if not isinstance(axis, int) or axis < 0:
            raise TargetError(f"FrameworkInfo: the kernel of {shown} has no axis {describe(axis)}")
    bias = _BIASES.get(kind.name)
    return _OpInfo(kind.name, 1, bias, (axes[0],), axes[1], -1 if kind.name.startswith("tosa.") else None)


def _whole_ops(layer: Any) -> list[str]:
    names = []
    for form in resolve_layer(layer).forms:
        if form.pattern.where:
            raise TargetError(
                f"FrameworkInfo: {form.pattern.name!r} is {describe_layer(layer)} only sometimes, and is described as "
                "a whole; give a target an OperatorsSet of it whose options have enable_activation_quantization=False"
            )
        names.append(form.pattern.described_as)
    return names


def _check_range(layer: Any, bounds: Any) -> tuple[float | None, float | None]:
    shown = describe_layer(layer)
    if not isinstance(bounds, (tuple, list)) or len(bounds) != 2:
        raise TargetError(f"FrameworkInfo: the range of {shown} must be two numbers or None, but is {describe(bounds)}")
    checked: list[float | None] = []
    for bound in bounds:
        if bound is not None and (isinstance(bound, bool) or not isinstance(bound, (int, float)) or math.isnan(bound)):
            raise TargetError(
                f"FrameworkInfo: the range of {shown} must be two numbers or None, but is {describe(bounds)}"
            )
        checked.append(None if bound is None or math.isinf(bound) else float(bound))
    low, high = checked
    if low is not None and high is not None and low > high:
        raise TargetError(f"FrameworkInfo: the range of {shown} does not ascend: {describe(bounds)}")
    return low, high
