# SPDX-License-Identifier: Apache-2.0
"""Names of MCT 2.6 below `mct.core`: how a network is quantized, and what it may use."""

from __future__ import annotations

import importlib
import math
from collections.abc import Mapping, Sequence
from enum import Enum, auto
from typing import TYPE_CHECKING, Any, ClassVar

from mct.errors import describe
from mct.quantization_config import (
    MIN_THRESHOLD,
    Option,
    QuantizationErrorMethod,
    ThresholdSelectionMethod,
    _Config,
)
from mct.target_platform import CustomOpsetLayers, TargetError
from mct.target_platform._layers import resolve_layer
from mct.target_platform._schema import Frozen, check_bits, check_bool, check_instance, check_name

if TYPE_CHECKING:
    from mct import network_editor
    from mct.framework_info import FrameworkInfo
    from mct.mct_names import resource_utilization_data as keras_resource_utilization_data
    from mct.mct_names import resource_utilization_data as pytorch_resource_utilization_data

__all__ = [
    "DEFAULTCONFIG",
    "BitWidthConfig",
    "ChannelAxis",
    "CoreConfig",
    "CustomOpsetLayers",
    "DebugConfig",
    "FrameworkInfo",
    "MixedPrecisionQuantizationConfig",
    "MpDistanceWeighting",
    "MpMetricNormalization",
    "NodeNameFilter",
    "NodeNameScopeFilter",
    "NodeTypeFilter",
    "QuantizationConfig",
    "QuantizationErrorMethod",
    "RUTarget",
    "ResourceUtilization",
    "keras_resource_utilization_data",
    "network_editor",
    "pytorch_resource_utilization_data",
]

# Names of `mct.core` that stand in modules which themselves import this one.
_ELSEWHERE = {
    "FrameworkInfo": ("mct.framework_info", "FrameworkInfo"),
    "keras_resource_utilization_data": ("mct.mct_names", "resource_utilization_data"),
    "mixed_precision_quantization_config": ("mct.core", ""),
    "network_editor": ("mct.network_editor", ""),
    "pytorch_resource_utilization_data": ("mct.mct_names", "resource_utilization_data"),
    "quantization_config": ("mct.core", ""),
}


def __getattr__(name: str) -> Any:
    if name not in _ELSEWHERE:
        raise AttributeError(f"module 'mct.core' has no attribute {name!r}")
    module, member = _ELSEWHERE[name]
    found = importlib.import_module(module)
    return getattr(found, member) if member else found


class QuantizationConfig(_Config):
    """How a network is quantized, in the words and with the defaults of MCT 2.6.

    Parameters are options of `mct.quantize`, which describes them; `custom_tpc_opset_to_layer` has the layers of
    operator sets by name, as `FrameworkQuantizationCapabilities` takes them.
    """

    def __init__(
        self,
        activation_error_method: ThresholdSelectionMethod = QuantizationErrorMethod.MSE,
        weights_error_method: ThresholdSelectionMethod = QuantizationErrorMethod.MSE,
        relu_bound_to_power_of_2: bool = False,
        weights_bias_correction: bool = True,
        weights_second_moment_correction: bool = False,
        input_scaling: bool = False,
        softmax_shift: bool = False,
        shift_negative_activation_correction: bool = True,
        activation_channel_equalization: bool = False,
        z_threshold: float = math.inf,
        min_threshold: float = MIN_THRESHOLD,
        l_p_value: int = 2,
        linear_collapsing: bool = True,
        residual_collapsing: bool = True,
        shift_negative_ratio: float = 0.05,
        shift_negative_threshold_recalculation: bool = False,
        shift_negative_params_search: bool = False,
        concat_threshold_update: bool = False,
        activation_bias_correction: bool = False,
        activation_bias_correction_threshold: float = 0.0,
        custom_tpc_opset_to_layer: Mapping[str, CustomOpsetLayers | tuple[Any, ...]] | None = None,
    ) -> None:
        values = {name: value for name, value in locals().items() if name in self._OPTIONS}
        for name, value in values.items():
            setattr(self, name, self._check(name, value))
        if custom_tpc_opset_to_layer is not None:
            check_instance("QuantizationConfig", "custom_tpc_opset_to_layer", custom_tpc_opset_to_layer, Mapping)
        self.custom_tpc_opset_to_layer = dict(custom_tpc_opset_to_layer or {})

    def to_options(self) -> dict[str, Option]:
        """All parameters as options of `mct.quantize`, by name."""
        return self._to_options([name for name in vars(self) if name in self._OPTIONS])


class RUTarget(Enum):
    """Resources that can be limited."""

    WEIGHTS = "weights"
    ACTIVATION = "activation"
    TOTAL = "total"
    BOPS = "bops"


class ResourceUtilization(Frozen):
    """Limits of the resources of a network; infinity: no limit. Memories in bytes, `bops` in operations on bits."""

    weights_memory: float
    activation_memory: float
    total_memory: float
    bops: float

    def __init__(
        self,
        weights_memory: float = math.inf,
        activation_memory: float = math.inf,
        total_memory: float = math.inf,
        bops: float = math.inf,
    ) -> None:
        values = {
            "weights_memory": weights_memory,
            "activation_memory": activation_memory,
            "total_memory": total_memory,
            "bops": bops,
        }
        for name, value in values.items():
            is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
            if not is_number or not value >= 0:
                raise TargetError(f"ResourceUtilization: {name} must be a number from 0 on, but is {describe(value)}")
            setattr(self, name, value)

    def get_resource_utilization_dict(self, restricted_only: bool = False) -> dict[RUTarget, float]:
        """Returns the limits by resource, all or the finite ones."""
        limits = {
            RUTarget.WEIGHTS: self.weights_memory,
            RUTarget.ACTIVATION: self.activation_memory,
            RUTarget.TOTAL: self.total_memory,
            RUTarget.BOPS: self.bops,
        }
        return {target: value for target, value in limits.items() if not restricted_only or value < math.inf}

    def get_restricted_targets(self) -> set[RUTarget]:
        return set(self.get_resource_utilization_dict(restricted_only=True))

    def is_any_restricted(self) -> bool:
        return bool(self.get_restricted_targets())

    def weight_restricted(self) -> bool:
        return self.weights_memory < math.inf

    def activation_restricted(self) -> bool:
        return self.activation_memory < math.inf

    def total_mem_restricted(self) -> bool:
        return self.total_memory < math.inf

    def bops_restricted(self) -> bool:
        return self.bops < math.inf

    def is_satisfied_by(self, ru: ResourceUtilization) -> bool:
        """Returns whether another one, of what a network uses, is within these limits."""
        check_instance("ResourceUtilization.is_satisfied_by", "ru", ru, ResourceUtilization)
        used = ru.get_resource_utilization_dict()
        return all(used[target] <= limit for target, limit in self.get_resource_utilization_dict().items())

    def holds_constraints(self, ru: Any) -> bool:
        """Returns the same, as MCT up to 2.2 calls it: False for anything else."""
        return isinstance(ru, ResourceUtilization) and self.is_satisfied_by(ru)

    def get_summary_str(self, restricted: bool) -> str:
        """Returns the limits as text, all or the finite ones."""
        words = {"WEIGHTS": "Weights memory", "ACTIVATION": "Activation memory", "TOTAL": "Total memory"}
        limits = self.get_resource_utilization_dict(restricted_only=restricted)
        return ", ".join(f"{words.get(target.name, target.name)}: {limit}" for target, limit in limits.items())

    def to_budget(self) -> str:
        """The option `budget` of `mct.quantize`; empty where there are no limits."""
        words = {"weights": self.weights_memory, "activations": self.activation_memory, "total": self.total_memory}
        limits = {word: math.floor(value) for word, value in (words | {"bops": self.bops}).items() if value < math.inf}
        return ",".join(f"{word}:{limit}" for word, limit in limits.items())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ResourceUtilization) and vars(self) == vars(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"ResourceUtilization({', '.join(f'{name}={value}' for name, value in vars(self).items())})"


class MpDistanceWeighting(Enum):
    """How the distances of several points become one."""

    AVG = auto()
    LAST_LAYER = auto()
    EXP = auto()
    HESSIAN = auto()


class MpMetricNormalization(Enum):
    """The alternative by whose sensitivity MCT divides those of an operator.

    There is no such step here: only MAXBIT, the default, is taken.
    """

    MAXBIT = "MAXBIT"
    MINBIT = "MINBIT"
    NONE = "NONE"


class ChannelAxis(Enum):
    """The axis of channels in activations; an imported network has the layout of its source."""

    NHWC = -1
    NCHW = 1


class MixedPrecisionQuantizationConfig:
    """How the bits of operators are chosen; the choice itself is exact.

    num_of_images:              samples on which it is measured what alternatives cost.
    num_interest_points_factor: fraction of the points inside of the network that are compared with those of the float
        network, beside its results; None: results alone, or all of them if a weighting is given.
    distance_weighting_method:  how the distances of these points become one: "AVG", "LAST_LAYER", "EXP" or "HESSIAN",
        as text or as MCT's enum.
    use_hessian_based_scores:   True: "HESSIAN".

    The other parameters of MCT have no counterpart; only their defaults are taken.
    """

    _WEIGHTINGS: ClassVar[Mapping[str, str]] = {
        "AVG": "average",
        "LAST_LAYER": "last-layer",
        "EXP": "exponential",
        "HESSIAN": "hessian",
    }
    _OTHERS: ClassVar[Mapping[str, Any]] = {
        "compute_distance_fn": None,
        "custom_metric_fn": None,
        "norm_scores": True,
        "refine_mp_solution": True,
        "metric_normalization": None,
        "metric_normalization_threshold": 1e10,
        "metric_epsilon": 1e-6,
        "exp_distance_weighting_sigma": 0.1,
        "hessian_batch_size": 32,
        "configuration_overwrite": None,
    }
    # The default by the enum's name.
    _ALSO_DEFAULT: ClassVar[Mapping[str, tuple[Any, ...]]] = {"metric_normalization": (MpMetricNormalization.MAXBIT,)}

    def __init__(
        self,
        num_of_images: int = 32,
        num_interest_points_factor: float | None = None,
        distance_weighting_method: Any = None,
        use_hessian_based_scores: bool = False,
        **others: Any,
    ) -> None:
        owner = "MixedPrecisionQuantizationConfig"
        self.num_of_images = check_bits(owner, "num_of_images", num_of_images)
        factor = num_interest_points_factor
        if factor is not None and (
            isinstance(factor, bool) or not isinstance(factor, (int, float)) or not 0 < factor <= 1
        ):
            raise TargetError(
                f"{owner}: num_interest_points_factor must be above 0 and at most 1, but is {describe(factor)}"
            )
        self.num_interest_points_factor = factor
        weighting = getattr(distance_weighting_method, "name", distance_weighting_method)
        if weighting is not None and weighting not in self._WEIGHTINGS:
            known = ", ".join(self._WEIGHTINGS)
            raise TargetError(f"{owner}: distance_weighting_method {weighting!r} is not known; known: {known}")
        if not isinstance(use_hessian_based_scores, bool):
            raise TargetError(
                f"{owner}: use_hessian_based_scores must be True or False, but is {describe(use_hessian_based_scores)}"
            )
        if use_hessian_based_scores and weighting not in (None, "HESSIAN"):
            raise TargetError(
                f"{owner}: use_hessian_based_scores is the distance_weighting_method HESSIAN, and that is {weighting!r}"
            )
        self.use_hessian_based_scores = use_hessian_based_scores
        self.distance_weighting_method = "HESSIAN" if use_hessian_based_scores else weighting
        for name, value in others.items():
            if name not in self._OTHERS:
                known = ", ".join(self._OTHERS)
                raise TargetError(f"{owner} has no parameter {name!r}; known: num_of_images, {known}")
            if value not in (self._OTHERS[name], *self._ALSO_DEFAULT.get(name, ())):
                raise TargetError(
                    f"{owner}: {name} belongs to the search of MCT, which is not ours; leave it out (options "
                    "sensitivity_* of mct.quantize say how alternatives are compared)"
                )

    def to_options(self) -> dict[str, Option]:
        """Options of `mct.quantize`, by name."""
        options: dict[str, Option] = {"sensitivity_max_samples": self.num_of_images}
        if self.num_interest_points_factor is not None or self.distance_weighting_method is not None:
            factor = self.num_interest_points_factor
            options["sensitivity_compare_points"] = 1.0 if factor is None else float(factor)
        if self.distance_weighting_method is not None:
            options["sensitivity_weighting"] = self._WEIGHTINGS[self.distance_weighting_method]
        return options


# MCT's name of a configuration with its defaults.
DEFAULTCONFIG = QuantizationConfig()

# ----------------------------------------------------------------------------------------------------------------------
# Bits by hand
# ----------------------------------------------------------------------------------------------------------------------


class NodeNameFilter(Frozen):
    """The operator of a name."""

    def __init__(self, node_name: str) -> None:
        self.selectors = (f'name "{_escape(check_name("NodeNameFilter", node_name))}"',)


class NodeNameScopeFilter(Frozen):
    """The operators whose name has this part."""

    def __init__(self, node_name_scope: str) -> None:
        self.selectors = (f'name "*{_escape(check_name("NodeNameScopeFilter", node_name_scope))}*"',)


class NodeTypeFilter(Frozen):
    """The operators of a layer, named as in `OperationsSetToLayers`: those that a binding of it would take,
    independently of the operator sets of the target. A convolution that is a dense layer is `Dense`, not `Conv2D`.
    """

    def __init__(self, node_type: Any) -> None:
        layer = resolve_layer(node_type)
        patterns = dict.fromkeys([*(form.pattern for form in layer.forms), *layer.linalg])
        if not patterns:
            raise TargetError(
                f"NodeTypeFilter: {describe(node_type)} cannot be told from other layers by the ops that it "
                "becomes; take "
                "NodeNameFilter"
            )
        self.selectors = (f"?pattern [{', '.join(map(str, patterns))}]",)


_Filter = NodeNameFilter | NodeNameScopeFilter | NodeTypeFilter


def _escape(name: str) -> str:
    """A name in a glob pattern."""
    if '"' in name:
        raise TargetError(f"a rule cannot name {name!r}, which has a quotation mark")
    return "".join(f"\\{character}" if character in "*?[]{}\\" else character for character in name)


class BitWidthConfig:
    """Bits of operators, chosen by hand; they become rules of `overrides`."""

    # Names of the weights in the layers of frameworks.
    WEIGHTS: ClassVar[Mapping[str, str]] = {
        "kernel": "kernel_attr",
        "depthwise_kernel": "kernel_attr",
        "weight": "kernel_attr",
        "bias": "bias_attr",
    }

    def __init__(self) -> None:
        self.rules: list[str] = []

    def set_manual_activation_bit_width(
        self, filters: _Filter | Sequence[_Filter], bit_widths: int | Sequence[int]
    ) -> None:
        """Bits of the results of some operators; one number, or one for each filter."""
        for selector, bits in self._pair(filters, bit_widths):
            self.rules.append(f"{selector} activation={bits}")

    def set_manual_weights_bit_width(
        self, filters: _Filter | Sequence[_Filter], bit_widths: int | Sequence[int], attrs: str | Sequence[str]
    ) -> None:
        """The same for a weight, called as in the framework ("kernel", "weight", "bias") or by its generic name."""
        pairs = self._pair(filters, bit_widths)
        names = [attrs] if isinstance(attrs, str) else list(attrs)
        for index, (selector, bits) in enumerate(pairs):
            name = names[index] if len(names) == len(pairs) else names[0]
            self.rules.append(f"{selector} weights.{self.WEIGHTS.get(name, name)}={bits}")

    @staticmethod
    def _pair(filters: _Filter | Sequence[_Filter], bit_widths: int | Sequence[int]) -> list[tuple[str, int]]:
        of_filters = [filters] if isinstance(filters, _Filter) else list(filters)
        for index, one in enumerate(of_filters):
            if not isinstance(one, _Filter):
                raise TargetError(
                    f"BitWidthConfig: filter #{index} must be a NodeNameFilter or the like, but is {describe(one)}"
                )
        widths = [bit_widths] if isinstance(bit_widths, int) else list(bit_widths)
        if len(widths) not in (1, len(of_filters)):
            raise TargetError(f"BitWidthConfig: there are {len(of_filters)} filters, but {len(widths)} bit widths")
        widths = widths * len(of_filters) if len(widths) == 1 else widths
        pairs = zip(of_filters, widths, strict=True)
        return [(s, check_bits("BitWidthConfig", "bit_widths", bits)) for one, bits in pairs for s in one.selectors]


class DebugConfig(Frozen):
    """How single operators are quantized, and whether any is.

    network_editor: rules, each a `mct.core.network_editor.EditRule`.
    bypass:         the network is returned as it is.

    analyze_similarity and simulate_scheduler are MCT's own tools: True is an error that names what does the same.
    """

    def __init__(
        self,
        analyze_similarity: bool = False,
        network_editor: Sequence[Any] = (),
        simulate_scheduler: bool = False,
        bypass: bool = False,
    ) -> None:
        from mct import network_editor as editor

        if check_bool("DebugConfig", "analyze_similarity", analyze_similarity):
            raise TargetError(
                "DebugConfig: analyze_similarity draws plots of MCT; QuantizedModel.compare and report tell the same"
            )
        if check_bool("DebugConfig", "simulate_scheduler", simulate_scheduler):
            raise TargetError(
                "DebugConfig: simulate_scheduler prints what Model.resources returns: the operators and what lives "
                "while each one runs"
            )
        self.analyze_similarity, self.simulate_scheduler = False, False
        self.network_editor = list(network_editor)
        self.rules = editor.to_rules("DebugConfig", self.network_editor)
        self.bypass = check_bool("DebugConfig", "bypass", bypass)


class CoreConfig(Frozen):
    """All settings of the quantization of a network.

    quantization_config:    None: the pipeline's defaults.
    mixed_precision_config: how bits are chosen where resources are limited.
    bit_width_config:       bits chosen by hand.
    debug_config:           rules for single operators.
    """

    def __init__(
        self,
        quantization_config: QuantizationConfig | None = None,
        mixed_precision_config: MixedPrecisionQuantizationConfig | None = None,
        bit_width_config: BitWidthConfig | None = None,
        debug_config: DebugConfig | None = None,
    ) -> None:
        if quantization_config is not None:
            check_instance("CoreConfig", "quantization_config", quantization_config, _Config)
        if mixed_precision_config is not None:
            check_instance(
                "CoreConfig", "mixed_precision_config", mixed_precision_config, MixedPrecisionQuantizationConfig
            )
        if bit_width_config is not None:
            check_instance("CoreConfig", "bit_width_config", bit_width_config, BitWidthConfig)
        if debug_config is not None:
            check_instance("CoreConfig", "debug_config", debug_config, DebugConfig)
        self.quantization_config = quantization_config
        self.mixed_precision_config = mixed_precision_config
        self.bit_width_config = bit_width_config
        self.debug_config = debug_config
