# SPDX-License-Identifier: Apache-2.0
"""Hardware, described as MCT describes it.

    import mct.target_platform as tp

Classes, parameters and defaults are those of MCT 1.9 to 2.6; a script written for it works once its import line names
this package. What they make is given to `mct.quantize(target=...)`, and `to_mlir` shows it as the compiler reads it.
"""

from mct.target_platform._derived import DerivedTarget
from mct.target_platform._errors import TargetError
from mct.target_platform._filters import (
    AndAttributeFilter,
    AttributeFilter,
    Contains,
    Eq,
    Greater,
    GreaterEq,
    LayerFilterParams,
    NotEq,
    OrAttributeFilter,
    Smaller,
    SmallerEq,
)
from mct.target_platform._json import (
    export_target_platform_capabilities,
    load_target_platform_capabilities,
    read_json,
)
from mct.target_platform._platform import (
    CustomOpsetLayers,
    FrameworkQuantizationCapabilities,
    OperationsSetToLayers,
    OperationsToLayers,
    TargetPlatformCapabilities,
    TargetPlatformModel,
)
from mct.target_platform._schema import (
    BIAS,
    BIAS_ATTR,
    FLOAT_BITWIDTH,
    KERAS_DEPTHWISE_KERNEL,
    KERAS_KERNEL,
    KERNEL_ATTR,
    POS_ATTR,
    POSITIONAL_ATTR,
    PYTORCH_KERNEL,
    WEIGHTS_N_BITS,
    WEIGHTS_QUANTIZATION_METHOD,
    AttributeQuantizationConfig,
    DefaultDict,
    Fusing,
    OperatorSetConcat,
    OperatorSetGroup,
    OperatorSetNames,
    OperatorsSet,
    OpQuantizationConfig,
    QuantizationConfigOptions,
    QuantizationMethod,
    Signedness,
)

__all__ = [
    "BIAS",
    "BIAS_ATTR",
    "FLOAT_BITWIDTH",
    "KERAS_DEPTHWISE_KERNEL",
    "KERAS_KERNEL",
    "KERNEL_ATTR",
    "POSITIONAL_ATTR",
    "POS_ATTR",
    "PYTORCH_KERNEL",
    "WEIGHTS_N_BITS",
    "WEIGHTS_QUANTIZATION_METHOD",
    "AndAttributeFilter",
    "AttributeFilter",
    "AttributeQuantizationConfig",
    "Contains",
    "CustomOpsetLayers",
    "DefaultDict",
    "DerivedTarget",
    "Eq",
    "FrameworkQuantizationCapabilities",
    "Fusing",
    "Greater",
    "GreaterEq",
    "LayerFilterParams",
    "NotEq",
    "OpQuantizationConfig",
    "OperationsSetToLayers",
    "OperationsToLayers",
    "OperatorSetConcat",
    "OperatorSetGroup",
    "OperatorSetNames",
    "OperatorsSet",
    "OrAttributeFilter",
    "QuantizationConfigOptions",
    "QuantizationMethod",
    "Signedness",
    "Smaller",
    "SmallerEq",
    "TargetError",
    "TargetPlatformCapabilities",
    "TargetPlatformModel",
    "export_target_platform_capabilities",
    "load_target_platform_capabilities",
    "read_json",
]
