# SPDX-License-Identifier: Apache-2.0
"""How a network is quantized, in the words of MCT: `QuantizationConfig` of MCT 1.0 and, in `mct.core`, of 2.6."""

from __future__ import annotations

import math
from collections.abc import Mapping
from enum import Enum
from typing import TYPE_CHECKING, Any, ClassVar

from mct.errors import describe
from mct.target_platform import (
    KERNEL_ATTR,
    AttributeQuantizationConfig,
    DerivedTarget,
    OperatorsSet,
    OpQuantizationConfig,
    QuantizationConfigOptions,
    QuantizationMethod,
    Signedness,
    TargetError,
    TargetPlatformCapabilities,
    TargetPlatformModel,
)
from mct.target_platform._schema import check_bits, check_bool, check_enum
from mct.target_platform._vocabulary import LINEAR_SETS

if TYPE_CHECKING:
    from mct.framework_info import FrameworkInfo

# The stock target that a `QuantizationConfig` changes.
_BASE = "imx500"
# Smallest threshold of the searches; the pipeline's own.
MIN_THRESHOLD = 2.0**-16


class ThresholdSelectionMethod(Enum):
    """The error that thresholds minimize. `Lp` is the name of `LP` in MCT 1.0; `HMSE` is for weights."""

    NOCLIPPING = 0
    MSE = 1
    MAE = 2
    KL = 4
    LP = 5
    HMSE = 6
    Lp = 5


# MCT uses this name from 1.3 on.
QuantizationErrorMethod = ThresholdSelectionMethod

_ERROR_METHODS = {
    "NOCLIPPING": "no-clipping",
    "MSE": "mse",
    "MAE": "mae",
    "KL": "kl",
    "LP": "lp",
    "HMSE": "hmse",
}
Option = bool | int | float | str


class _Config:
    """Parameters with defaults; each is an option of `mct.quantize`, or describes the hardware."""

    # Parameters that are options of the pipeline; all but one have its name.
    _OPTIONS: ClassVar[tuple[str, ...]] = (
        "activation_error_method",
        "weights_error_method",
        "relu_bound_to_power_of_2",
        "weights_bias_correction",
        "weights_second_moment_correction",
        "input_scaling",
        "softmax_shift",
        "shift_negative_activation_correction",
        "activation_channel_equalization",
        "z_threshold",
        "min_threshold",
        "l_p_value",
        "linear_collapsing",
        "residual_collapsing",
        "shift_negative_ratio",
        "shift_negative_threshold_recalculation",
        "shift_negative_params_search",
        "concat_threshold_update",
        "activation_bias_correction",
        "activation_bias_correction_threshold",
    )
    # Names of some fields in MCT 1.0.
    _EARLIER: ClassVar[Mapping[str, str]] = {
        "activation_threshold_method": "activation_error_method",
        "weights_threshold_method": "weights_error_method",
        "relu_unbound_correction": "relu_bound_to_power_of_2",
    }
    # Checks of numbers: least value, and whether infinity will do.
    _NUMBERS: ClassVar[Mapping[str, tuple[float, bool]]] = {
        "z_threshold": (0, True),
        "min_threshold": (0, False),
        "l_p_value": (1, False),
        "shift_negative_ratio": (0, True),
        "activation_bias_correction_threshold": (0, False),
    }

    def _check(self, name: str, value: Any) -> Any:
        owner = type(self).__name__
        later = self._EARLIER.get(name, name)
        if later.endswith("error_method"):
            method = check_enum(owner, name, value, ThresholdSelectionMethod)
            if method is ThresholdSelectionMethod.HMSE and later.startswith("activation"):
                raise TargetError(f"{owner}: {name} cannot be HMSE, which is for weights")
            return method
        if later not in self._NUMBERS:
            return check_bool(owner, name, value)
        least, takes_infinity = self._NUMBERS[later]
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool) and not math.isnan(value)
        if not is_number or value < least or (math.isinf(value) and not takes_infinity):
            raise TargetError(f"{owner}: {name} must be a number from {least:g} on, but is {describe(value)}")
        return value

    def _to_options(self, names: list[str]) -> dict[str, Option]:
        options: dict[str, Option] = {}
        for name in names:
            value = getattr(self, name)
            later = self._EARLIER.get(name, name)
            if isinstance(value, ThresholdSelectionMethod):
                value = _ERROR_METHODS[value.name]
            elif later == "z_threshold" and math.isinf(value):
                value = 0.0
            options["lp_norm" if later == "l_p_value" else later] = value
        return options

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in vars(self).items())})"

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    __hash__ = None  # type: ignore[assignment]


class QuantizationConfig(_Config):
    """How a network is quantized, in the words of MCT 1.0. Arguments that are not given have these defaults.

    activation_threshold_method, weights_threshold_method: error that thresholds minimize (2.6: *_error_method).
    relu_unbound_correction:         scale layers so that bounded ReLUs get a bound that is a power of two (2.6:
                                     relu_bound_to_power_of_2).
    weights_bias_correction:         give layers back the mean of their outputs.
    input_scaling:                   scale the input so that it fills its threshold.
    shift_negative_activation_correction, shift_negative_ratio, shift_negative_threshold_recalculation: shift
        activations with a short negative tail above zero.
    activation_channel_equalization: make the channels between two layers equally wide.
    z_threshold:                     leave out activations so many standard deviations from the mean.
    min_threshold:                   smallest threshold.
    l_p_value:                       the power of `Lp`.

    The properties of the hardware are those of a target (`to_target`): activation_quantization_method,
    weights_quantization_method, activation_n_bits, weights_n_bits, weights_per_channel_threshold,
    enable_weights_quantization and enable_activation_quantization.

    The parameters of MCT 2.6 (`mct.core.QuantizationConfig`) are taken by their names too. Where none is given the
    default is the pipeline's.
    """

    _TARGET: ClassVar[tuple[str, ...]] = (
        "activation_quantization_method",
        "weights_quantization_method",
        "activation_n_bits",
        "weights_n_bits",
        "weights_per_channel_threshold",
        "enable_weights_quantization",
        "enable_activation_quantization",
    )

    def __init__(
        self,
        activation_threshold_method: ThresholdSelectionMethod = ThresholdSelectionMethod.MSE,
        weights_threshold_method: ThresholdSelectionMethod = ThresholdSelectionMethod.MSE,
        activation_quantization_method: QuantizationMethod = QuantizationMethod.SYMMETRIC_UNIFORM,
        weights_quantization_method: QuantizationMethod = QuantizationMethod.SYMMETRIC_UNIFORM,
        activation_n_bits: int = 8,
        weights_n_bits: int = 8,
        relu_unbound_correction: bool = False,
        weights_bias_correction: bool = True,
        weights_per_channel_threshold: bool = True,
        input_scaling: bool = False,
        enable_weights_quantization: bool = True,
        enable_activation_quantization: bool = True,
        shift_negative_activation_correction: bool = False,
        activation_channel_equalization: bool = False,
        z_threshold: float = math.inf,
        min_threshold: float = MIN_THRESHOLD,
        l_p_value: int = 2,
        shift_negative_ratio: float = 0.25,
        shift_negative_threshold_recalculation: bool = False,
        **later: Any,
    ) -> None:
        values = {name: value for name, value in locals().items() if name not in ("self", "later", "__class__")}
        renamed = {name: earlier for earlier, name in self._EARLIER.items()}
        self._more: list[str] = []
        for name, value in later.items():
            if name in renamed:
                values[renamed[name]] = value
            elif name in self._OPTIONS:
                self._more.append(name)
                values[name] = value
            else:
                known = ", ".join([*values, *self._OPTIONS])
                raise TargetError(f"QuantizationConfig has no parameter {name!r}; known: {known}")
        for name, value in values.items():
            setattr(self, name, value if name in self._TARGET else self._check(name, value))
        for name in self._TARGET[:2]:
            setattr(self, name, check_enum("QuantizationConfig", name, getattr(self, name), QuantizationMethod))
        for name in self._TARGET[2:4]:
            check_bits("QuantizationConfig", name, getattr(self, name))
        for name in self._TARGET[4:]:
            check_bool("QuantizationConfig", name, getattr(self, name))
        self._target_config()

    activation_quantization_method: QuantizationMethod
    weights_quantization_method: QuantizationMethod
    activation_n_bits: int
    weights_n_bits: int
    weights_per_channel_threshold: bool
    enable_weights_quantization: bool
    enable_activation_quantization: bool

    def describes_target(self) -> bool:
        """Returns whether a parameter of the hardware is another than its default."""
        default = QuantizationConfig()
        return any(getattr(self, name) != getattr(default, name) for name in self._TARGET)

    def to_options(self, *, target_is_made_of_it: bool = False) -> dict[str, Option]:
        """Options of `mct.quantize`, by name, for all parameters that MCT 1.0 has, and the others that were given.

        target_is_made_of_it: the target is that of `to_target`. Otherwise parameters of the hardware are an error, for
            the target decides them.
        """
        if self.describes_target() and not target_is_made_of_it:
            default = QuantizationConfig()
            names = [name for name in self._TARGET if getattr(self, name) != getattr(default, name)]
            raise TargetError(
                f"QuantizationConfig: {', '.join(names)} say what the hardware can do, which the target decides; give "
                "target=config.to_target(), or leave them out"
            )
        page = ["activation_threshold_method", "weights_threshold_method", "relu_unbound_correction"]
        page += [name for name in vars(self) if name in self._OPTIONS and name not in self._more]
        return self._to_options([*page, *self._more])

    def _target_config(self) -> tuple[OpQuantizationConfig, OpQuantizationConfig]:
        kernel = AttributeQuantizationConfig(
            self.weights_quantization_method,
            self.weights_n_bits,
            self.weights_per_channel_threshold,
            self.enable_weights_quantization,
        )
        default = OpQuantizationConfig(
            default_weight_attr_config=AttributeQuantizationConfig(),
            attr_weights_configs_mapping={},
            activation_quantization_method=self.activation_quantization_method,
            activation_n_bits=self.activation_n_bits,
            supported_input_activation_n_bits=None,
            enable_activation_quantization=self.enable_activation_quantization,
            quantization_preserving=False,
            signedness=Signedness.AUTO,
        )
        return default, default.with_weights({KERNEL_ATTR: kernel})

    def _other_sets(self) -> list[OperatorsSet]:
        """The operator sets of the base with options of their own, those without a kernel, with the requested bits."""
        from mct.mct_names import get_target_platform_capabilities

        sets = []
        for operators in get_target_platform_capabilities(device_type=_BASE).plain_sets:
            own = operators.qc_options
            if own is None or operators.name in LINEAR_SETS:
                continue
            is_quantized = own.quantization_configurations[0].enable_activation_quantization
            options = own.clone_and_edit(
                activation_quantization_method=self.activation_quantization_method,
                activation_n_bits=self.activation_n_bits,
                supported_input_activation_n_bits=None,
                enable_activation_quantization=is_quantized and self.enable_activation_quantization,
            )
            sets.append(OperatorsSet(operators.name, options))
        return sets

    def to_target(
        self, fw_info: FrameworkInfo | None = None
    ) -> DerivedTarget | TargetPlatformCapabilities | InfoTarget:
        """The hardware that the parameters describe.

        Like the stock target `imx500`, with other methods and bits: those of all operator sets, so that each of them
        reads what the others make. With a `FrameworkInfo` its layers alone are quantized: weights of kernel_ops, and
        results of kernel_ops and activation_ops.
        """
        default, linear = self._target_config()
        if fw_info is None:
            return DerivedTarget(
                _BASE,
                name="quantization_config",
                default_qco=QuantizationConfigOptions([default]),
                linear_qco=QuantizationConfigOptions([linear]),
                operator_set=self._other_sets(),
            )
        return InfoTarget(fw_info, default, linear)


class InfoTarget:
    """The layers of a `FrameworkInfo`, each quantized according to its list, and their patterns."""

    def __init__(self, fw_info: FrameworkInfo, default: OpQuantizationConfig, linear: OpQuantizationConfig) -> None:
        from mct.target_platform import Fusing, OperationsSetToLayers, OperatorsSet

        lists = {
            "kernel_ops": (fw_info.kernel_ops, linear),
            "activation_ops": (fw_info.activation_ops, default),
            "no_quantization_ops": (
                fw_info.no_quantization_ops,
                default.clone_and_edit(enable_activation_quantization=False),
            ),
        }
        float_result = default.clone_and_edit(enable_activation_quantization=False)
        model = TargetPlatformModel(QuantizationConfigOptions([float_result]), name="framework_info_target")
        with model:
            sets = {
                name: OperatorsSet(name, QuantizationConfigOptions([config]))
                for name, (layers, config) in lists.items()
                if layers
            }
            if "kernel_ops" in sets and "activation_ops" in sets:
                Fusing([sets["kernel_ops"], sets["activation_ops"]])
        self.capabilities = TargetPlatformCapabilities(model, name="framework_info")
        with self.capabilities:
            for name in sets:
                OperationsSetToLayers(name, lists[name][0])
        self.fw_info = fw_info

    def to_mlir(self) -> str:
        """The text of a module with platform, bindings and framework."""
        return self.capabilities.to_mlir() + self.fw_info.to_mlir()
