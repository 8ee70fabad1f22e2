# SPDX-License-Identifier: Apache-2.0
"""Descriptions of hardware in the style of MCT's own, for tests: only the import line is not MCT's.

The first generation is that of MCT 1.9 to 2.2 (`with` blocks), the second that of 2.3 to 2.6 (plain values), and there
is one in the flat configs of 1.9 to 1.11.
"""

import mct.target_platform as tp


def words(text):
    return text.split()


IMX500_FLOAT = words(
    "Unstack Dropout Flatten SplitChunk GetItem Reshape Unsqueeze Size Permute Transpose Equal ArgMax Gather TopK "
    "Squeeze MaxPool Pad ZeroPadding2D Cast CombinedNonMaxSuppression FakeQuant SSDPostProcess"
)
IMX500_PLAIN = words("ReLU ReLU6 LeakyReLU Add Sub Mul Div PReLU Swish HardSwish Sigmoid Tanh HardTanh")


def framework(module, names):
    """Classes of a framework, as far as anybody looks: `torch.nn.Conv2d` without torch."""
    return {name: type(name, (), {"__module__": module}) for name in names.split()}


TORCH = framework(
    "torch.nn.modules",
    "Conv2d ConvTranspose2d Linear ReLU ReLU6 LeakyReLU PReLU SiLU Hardswish Sigmoid Tanh Hardtanh Dropout Flatten "
    "MaxPool2d ZeroPad2d BatchNorm2d Softmax",
)
FUNCTIONS = framework(
    "torch.nn.functional",
    "relu relu6 leaky_relu prelu silu hardswish sigmoid tanh hardtanh dropout flatten pad max_pool2d normalize",
) | framework(
    "torch",
    "split chunk unbind getitem reshape unsqueeze size permute transpose equal argmax gather topk squeeze type stack "
    "add sub mul div fake_quantize_per_channel_affine MulticlassNMS SSDPostProcess truediv multiply subtract divide",
)
KERAS = framework("keras.src.layers", "Conv2D DepthwiseConv2D Conv2DTranspose Dense ReLU Activation Softmax Reshape")


def weight(method, bits, **more):
    return tp.AttributeQuantizationConfig(weights_quantization_method=method, weights_n_bits=bits, **more)


# ----------------------------------------------------------------------------------------------------------------------
# IMX500 version 1
# ----------------------------------------------------------------------------------------------------------------------


def imx500_op_configs():
    """Returns the configurations that both generations describe in the same words."""
    default_weight = weight(tp.QuantizationMethod.POWER_OF_TWO, 8)
    kernel = tp.AttributeQuantizationConfig(
        weights_quantization_method=tp.QuantizationMethod.SYMMETRIC,
        weights_n_bits=8,
        weights_per_channel_threshold=True,
        enable_weights_quantization=True,
        lut_values_bitwidth=None,
    )
    bias = tp.AttributeQuantizationConfig(
        weights_quantization_method=tp.QuantizationMethod.POWER_OF_TWO,
        weights_n_bits=tp.FLOAT_BITWIDTH,
        weights_per_channel_threshold=False,
        enable_weights_quantization=False,
        lut_values_bitwidth=None,
    )
    common = dict(
        activation_quantization_method=tp.QuantizationMethod.POWER_OF_TWO,
        activation_n_bits=8,
        supported_input_activation_n_bits=8,
        enable_activation_quantization=True,
        quantization_preserving=False,
        fixed_scale=None,
        fixed_zero_point=None,
        simd_size=32,
        signedness=tp.Signedness.AUTO,
    )
    default = tp.OpQuantizationConfig(
        default_weight_attr_config=default_weight, attr_weights_configs_mapping={}, **common
    )
    linear = tp.OpQuantizationConfig(
        default_weight_attr_config=default_weight,
        attr_weights_configs_mapping={tp.KERNEL_ATTR: kernel, tp.BIAS_ATTR: bias},
        **common,
    )
    mixed = [
        linear.clone_and_edit(
            attr_to_edit={tp.KERNEL_ATTR: {tp.WEIGHTS_N_BITS: bits}}, simd_size=linear.simd_size * 8 // bits
        )
        for bits in (8, 4, 2)
    ]
    return default, mixed[0], mixed


def imx500_first():
    """As MCT up to 2.2 writes it, with layers of torch and Keras."""
    default, linear, mixed = imx500_op_configs()
    default_options = tp.QuantizationConfigOptions([default])
    model = tp.TargetPlatformModel(
        default_options,
        tpc_minor_version=1,
        tpc_patch_version=0,
        tpc_platform_type="imx500",
        add_metadata=False,
        name="imx500_tpc",
    )
    model.set_simd_padding(is_simd_padding=True)
    with model:
        tp.OperatorsSet("Stack", default_options)
        no_quantization = default_options.clone_and_edit(enable_activation_quantization=False)
        for name in IMX500_FLOAT:
            tp.OperatorsSet(name, no_quantization)
        mixed_options = tp.QuantizationConfigOptions(mixed, base_config=linear)
        conv, transposed, depthwise, dense = (
            tp.OperatorsSet(name, mixed_options)
            for name in ("Conv", "ConvTranspose", "DepthwiseConv2D", "FullyConnected")
        )
        relu, relu6, leaky, add, sub, mul, div, prelu, swish, hard_swish, sigmoid, tanh, hard_tanh = (
            tp.OperatorsSet(name) for name in IMX500_PLAIN
        )
        after_conv = (relu, relu6, leaky, hard_tanh, swish, hard_swish, prelu, sigmoid, tanh)
        tp.Fusing([tp.OperatorSetConcat(conv, transposed, depthwise), tp.OperatorSetConcat(*after_conv)])
        after_dense = tp.OperatorSetConcat(relu, relu6, leaky, hard_tanh, swish, hard_swish, sigmoid)
        tp.Fusing([dense, after_dense])
        tp.Fusing([tp.OperatorSetConcat(add, sub, mul, div), tp.OperatorSetConcat(relu, relu6, leaky, hard_tanh)])

    capabilities = tp.TargetPlatformCapabilities(model, name="imx500", version="v1")
    with capabilities:
        attributes = {
            tp.KERNEL_ATTR: tp.DefaultDict({KERAS["DepthwiseConv2D"]: tp.KERAS_DEPTHWISE_KERNEL}, tp.PYTORCH_KERNEL),
            tp.BIAS_ATTR: tp.DefaultDict(default_value=tp.BIAS),
        }
        t, f = TORCH, FUNCTIONS
        layers = {
            "Stack": [f["stack"]],
            "Unstack": [f["unbind"]],
            "Dropout": [t["Dropout"], f["dropout"]],
            "Flatten": [t["Flatten"], f["flatten"]],
            "SplitChunk": [f["split"], f["chunk"]],
            "GetItem": [f["getitem"]],
            "Reshape": [f["reshape"]],
            "Unsqueeze": [f["unsqueeze"]],
            "Size": [f["size"]],
            "Permute": [f["permute"]],
            "Transpose": [f["transpose"]],
            "Equal": [f["equal"]],
            "ArgMax": [f["argmax"]],
            "Gather": [f["gather"]],
            "TopK": [f["topk"]],
            "Squeeze": [f["squeeze"]],
            "MaxPool": [t["MaxPool2d"], f["max_pool2d"]],
            "Pad": [f["pad"]],
            "ZeroPadding2D": [t["ZeroPad2d"]],
            "Cast": [f["type"]],
            "CombinedNonMaxSuppression": [f["MulticlassNMS"]],
            "FakeQuant": [f["fake_quantize_per_channel_affine"]],
            "SSDPostProcess": [f["SSDPostProcess"]],
            "ReLU": [t["ReLU"], f["relu"]],
            "ReLU6": [t["ReLU6"], f["relu6"]],
            "LeakyReLU": [t["LeakyReLU"], f["leaky_relu"]],
            "Add": [f["add"], "torch.add"],
            "Sub": [f["sub"], f["subtract"]],
            "Mul": [f["mul"], f["multiply"]],
            "Div": [f["truediv"], f["div"]],
            "PReLU": [t["PReLU"], f["prelu"]],
            "Swish": [t["SiLU"], f["silu"]],
            "HardSwish": [t["Hardswish"], f["hardswish"]],
            "Sigmoid": [t["Sigmoid"], f["sigmoid"]],
            "Tanh": [t["Tanh"], f["tanh"]],
            "HardTanh": [
                tp.LayerFilterParams(t["Hardtanh"], min_val=0),
                tp.LayerFilterParams(f["hardtanh"], tp.Eq("min_val", 0)),
            ],
        }
        for name, of_set in layers.items():
            tp.OperationsSetToLayers(name, of_set)
        tp.OperationsSetToLayers("Conv", [t["Conv2d"]], attr_mapping=attributes)
        tp.OperationsSetToLayers("ConvTranspose", [t["ConvTranspose2d"]], attr_mapping=attributes)
        tp.OperationsSetToLayers("DepthwiseConv2D", [KERAS["DepthwiseConv2D"]], attr_mapping=attributes)
        tp.OperationsSetToLayers("FullyConnected", [t["Linear"]], attr_mapping=attributes)
    return capabilities


def imx500_second():
    """As MCT 2.3 to 2.6 write it."""
    default, linear, mixed = imx500_op_configs()
    default_options = tp.QuantizationConfigOptions(quantization_configurations=tuple([default]))
    names = tp.OperatorSetNames
    no_quantization = default_options.clone_and_edit(enable_activation_quantization=False)
    mixed_options = tp.QuantizationConfigOptions(quantization_configurations=tuple(mixed), base_config=linear)
    sets = [tp.OperatorsSet(name=names.STACK, qc_options=default_options)]
    sets += [tp.OperatorsSet(name=name, qc_options=no_quantization) for name in IMX500_FLOAT]
    conv = tp.OperatorsSet(name=names.CONV, qc_options=mixed_options)
    transposed = tp.OperatorsSet(name=names.CONV_TRANSPOSE, qc_options=mixed_options)
    depthwise = tp.OperatorsSet(name=names.DEPTHWISE_CONV, qc_options=mixed_options)
    dense = tp.OperatorsSet(name=names.FULLY_CONNECTED, qc_options=mixed_options)
    plain = {name: tp.OperatorsSet(name=name) for name in IMX500_PLAIN}

    def group(*members):
        return tp.OperatorSetGroup(operators_set=[plain[name] for name in members])

    after_conv = group("ReLU", "ReLU6", "LeakyReLU", "HardTanh", "Swish", "HardSwish", "PReLU", "Sigmoid", "Tanh")
    after_dense = group("ReLU", "ReLU6", "LeakyReLU", "HardTanh", "Swish", "HardSwish", "Sigmoid")
    convolutions = tp.OperatorSetGroup(operators_set=[conv, transposed, depthwise])
    fusing = [
        tp.Fusing(operator_groups=(convolutions, after_conv)),
        tp.Fusing(operator_groups=(dense, after_dense)),
        tp.Fusing(operator_groups=(group("Add", "Sub", "Mul", "Div"), group("ReLU", "ReLU6", "LeakyReLU", "HardTanh"))),
    ]
    return tp.TargetPlatformCapabilities(
        default_qco=default_options,
        tpc_minor_version=1,
        tpc_patch_version=0,
        tpc_platform_type="imx500",
        operator_set=tuple([*sets, conv, transposed, depthwise, dense, *plain.values()]),
        fusing_patterns=tuple(fusing),
        add_metadata=False,
        name="imx500_tpc",
        is_simd_padding=True,
    )


# ----------------------------------------------------------------------------------------------------------------------
# TFLite version 1
# ----------------------------------------------------------------------------------------------------------------------

TFLITE_PRESERVING = words(
    "Unstack Transpose Gather Reshape MaxPool AvgPool StridedSlice Concatenate Mul Min Max ZeroPadding2D Resize Pad "
    "Fold"
)


def tflite_op_configs():
    default_weight = weight(tp.QuantizationMethod.SYMMETRIC, 8)
    kernel = weight(
        tp.QuantizationMethod.SYMMETRIC, 8, weights_per_channel_threshold=True, enable_weights_quantization=True
    )
    bias = weight(tp.QuantizationMethod.SYMMETRIC, tp.FLOAT_BITWIDTH)
    common = dict(
        activation_n_bits=8,
        supported_input_activation_n_bits=8,
        enable_activation_quantization=True,
        quantization_preserving=False,
        fixed_scale=None,
        fixed_zero_point=None,
        signedness=tp.Signedness.AUTO,
    )
    default = tp.OpQuantizationConfig(
        default_weight_attr_config=default_weight,
        attr_weights_configs_mapping={},
        activation_quantization_method=tp.QuantizationMethod.POWER_OF_TWO,
        simd_size=32,
        **common,
    )
    linear = tp.OpQuantizationConfig(
        default_weight_attr_config=default_weight,
        attr_weights_configs_mapping={tp.KERNEL_ATTR: kernel, tp.BIAS_ATTR: bias},
        activation_quantization_method=tp.QuantizationMethod.UNIFORM,
        simd_size=None,
        **common,
    )
    return default, linear


def tflite_options():
    """By operator set, as MCT ships them."""
    default, linear = tflite_op_configs()
    options = tp.QuantizationConfigOptions([default])
    dense = tp.QuantizationConfigOptions([linear]).clone_and_edit_weight_attribute(weights_per_channel_threshold=False)
    by_set = {name: options.clone_and_edit(quantization_preserving=True) for name in TFLITE_PRESERVING}
    return options, by_set | {
        "L2Norm": options.clone_and_edit(fixed_scale=1 / 128, fixed_zero_point=0),
        "LogSoftmax": options.clone_and_edit(fixed_scale=16 / 256, fixed_zero_point=127),
        "Softmax": options.clone_and_edit(fixed_scale=1 / 256, fixed_zero_point=-128),
        "FullyConnected": dense,
        "Conv": tp.QuantizationConfigOptions([linear]),
        "ReLU": None,
        "ReLU6": None,
        "Tanh": options.clone_and_edit(fixed_scale=1 / 256, fixed_zero_point=-128),
        "Sigmoid": options,
        "BatchNorm": None,
        "Add": None,
        "AddBias": None,
        "Elu": None,
        "Squeeze": options.clone_and_edit(quantization_preserving=True),
    }


def tflite_fusing(sets, group, fusing):
    kernels, after = group(sets["Conv"], sets["FullyConnected"]), group(sets["ReLU"], sets["Elu"])
    chains = [
        [kernels, sets["AddBias"]],
        [kernels, sets["AddBias"], after],
        [sets["Conv"], sets["BatchNorm"], after],
        [sets["Conv"], sets["Squeeze"], after],
        [sets["BatchNorm"], after],
        [sets["BatchNorm"], sets["Add"], after],
    ]
    return [fusing(chain) for chain in chains]


def tflite_first():
    default_options, by_set = tflite_options()
    model = tp.TargetPlatformModel(
        default_options, name="tflite_tpc", tpc_minor_version=1, tpc_patch_version=0, tpc_platform_type="tflite"
    )
    with model:
        sets = {name: tp.OperatorsSet(name, options) for name, options in by_set.items()}
        tflite_fusing(sets, tp.OperatorSetConcat, tp.Fusing)
    return tp.TargetPlatformCapabilities(model, name="tflite", version="v1")


def tflite_second():
    default_options, by_set = tflite_options()
    sets = {name: tp.OperatorsSet(name=name, qc_options=options) for name, options in by_set.items()}
    patterns = tflite_fusing(
        sets,
        lambda *members: tp.OperatorSetGroup(operators_set=members),
        lambda chain: tp.Fusing(operator_groups=tuple(chain)),
    )
    return tp.TargetPlatformCapabilities(
        default_qco=default_options,
        tpc_minor_version=1,
        tpc_patch_version=0,
        tpc_platform_type="tflite",
        operator_set=tuple(sets.values()),
        fusing_patterns=tuple(patterns),
        add_metadata=False,
        name="tflite_tpc",
    )


# ----------------------------------------------------------------------------------------------------------------------
# The coarse sets and flat configs of 1.9 to 1.11
# ----------------------------------------------------------------------------------------------------------------------


def imx500_flat():
    """IMX500 in few sets of many layers, its configs without weights by name."""
    eight_bits = tp.OpQuantizationConfig(
        activation_quantization_method=tp.QuantizationMethod.POWER_OF_TWO,
        weights_quantization_method=tp.QuantizationMethod.SYMMETRIC,
        activation_n_bits=8,
        weights_n_bits=8,
        weights_per_channel_threshold=True,
        enable_weights_quantization=True,
        enable_activation_quantization=True,
        quantization_preserving=False,
        fixed_scale=None,
        fixed_zero_point=None,
        weights_multiplier_nbits=None,
        simd_size=32,
    )
    four_bits = eight_bits.clone_and_edit(weights_n_bits=4, simd_size=64)
    two_bits = eight_bits.clone_and_edit(weights_n_bits=2, simd_size=128)
    default_options = tp.QuantizationConfigOptions([eight_bits])
    model = tp.TargetPlatformModel(default_options, name="imx500_tp_model")
    with model:
        tp.OperatorsSet(
            "NoQuantization",
            default_options.clone_and_edit(enable_activation_quantization=False, enable_weights_quantization=False),
        )
        mixed = tp.QuantizationConfigOptions([eight_bits, four_bits, two_bits], base_config=eight_bits)
        conv = tp.OperatorsSet("Conv", mixed)
        dense = tp.OperatorsSet("FullyConnected", mixed)
        any_relu = tp.OperatorsSet("AnyReLU")
        add = tp.OperatorsSet("Add")
        tp.Fusing([conv, any_relu])
        tp.Fusing([dense, any_relu])
        tp.Fusing([add, any_relu])
    capabilities = tp.TargetPlatformCapabilities(model, name="imx500_flat", version="v1")
    with capabilities:
        tp.OperationsSetToLayers(
            "NoQuantization", [KERAS["Reshape"], "tf.reshape", "Permute", "tf.transpose", "Flatten", "MaxPooling2D"]
        )
        tp.OperationsSetToLayers("Conv", [KERAS["Conv2D"], KERAS["DepthwiseConv2D"], KERAS["Conv2DTranspose"]])
        tp.OperationsSetToLayers("FullyConnected", [KERAS["Dense"]])
        tp.OperationsSetToLayers(
            "AnyReLU",
            [
                "tf.nn.relu",
                "tf.nn.relu6",
                "tf.nn.leaky_relu",
                tp.LayerFilterParams(KERAS["ReLU"], tp.Eq("max_value", None) | tp.Eq("max_value", 6)),
                tp.LayerFilterParams(KERAS["Activation"], activation="relu"),
            ],
        )
        tp.OperationsSetToLayers("Add", ["tf.add", "keras.layers.Add"])
    return capabilities


# ----------------------------------------------------------------------------------------------------------------------
# The coarse sets of 2.0 to 2.2
# ----------------------------------------------------------------------------------------------------------------------


def imx500_coarse():
    """IMX500 version 1 as MCT 2.2 has it for torch."""
    default, linear, mixed = imx500_op_configs()
    default_options = tp.QuantizationConfigOptions([default])
    model = tp.TargetPlatformModel(default_options, name="imx500_tp_model")
    model.set_simd_padding(True)
    with model:
        tp.OperatorsSet(
            "NoQuantization",
            tp.get_default_quantization_config_options()
            .clone_and_edit(enable_activation_quantization=False)
            .clone_and_edit_weight_attribute(enable_weights_quantization=False),
        )
        mixed_options = tp.QuantizationConfigOptions(mixed, base_config=linear)
        conv = tp.OperatorsSet("Conv", mixed_options)
        dense = tp.OperatorsSet("FullyConnected", mixed_options)
        any_relu, add, sub, mul, div, prelu, swish, sigmoid, tanh = (
            tp.OperatorsSet(name) for name in words("AnyReLU Add Sub Mul Div PReLU Swish Sigmoid Tanh")
        )
        tp.Fusing([conv, tp.OperatorSetConcat(any_relu, swish, prelu, sigmoid, tanh)])
        tp.Fusing([dense, tp.OperatorSetConcat(any_relu, swish, sigmoid)])
        tp.Fusing([tp.OperatorSetConcat(add, sub, mul, div), any_relu])
    t, f = TORCH, FUNCTIONS
    capabilities = tp.TargetPlatformCapabilities(model, name="imx500_tpc", version="v1")
    with capabilities:
        tp.OperationsSetToLayers(
            "NoQuantization",
            [t[name] for name in words("Dropout Flatten BatchNorm2d MaxPool2d")]
            + [f[name] for name in words("dropout flatten split getitem reshape unsqueeze chunk unbind size permute")]
            + [f[name] for name in words("transpose equal argmax gather topk squeeze")],
        )
        attributes = {
            tp.KERNEL_ATTR: tp.DefaultDict(default_value=tp.PYTORCH_KERNEL),
            tp.BIAS_ATTR: tp.DefaultDict(default_value=tp.BIAS),
        }
        tp.OperationsSetToLayers("Conv", [t["Conv2d"], t["ConvTranspose2d"]], attr_mapping=attributes)
        tp.OperationsSetToLayers("FullyConnected", [t["Linear"]], attr_mapping=attributes)
        tp.OperationsSetToLayers(
            "AnyReLU",
            [
                *(t["ReLU"], t["ReLU6"], t["LeakyReLU"], f["relu"], f["relu6"], f["leaky_relu"]),
                tp.LayerFilterParams(t["Hardtanh"], min_val=0),
                tp.LayerFilterParams(f["hardtanh"], min_val=0),
            ],
        )
        tp.OperationsSetToLayers("Add", [f["add"]])
        tp.OperationsSetToLayers("Sub", [f["sub"], f["subtract"]])
        tp.OperationsSetToLayers("Mul", [f["mul"], f["multiply"]])
        tp.OperationsSetToLayers("Div", [f["div"], f["truediv"]])
        tp.OperationsSetToLayers("PReLU", [t["PReLU"], f["prelu"]])
        tp.OperationsSetToLayers("Swish", [t["SiLU"], f["silu"], t["Hardswish"], f["hardswish"]])
        tp.OperationsSetToLayers("Sigmoid", [t["Sigmoid"], f["sigmoid"]])
        tp.OperationsSetToLayers("Tanh", [t["Tanh"], f["tanh"]])
    return capabilities


def tflite_coarse():
    """TFLite version 1 as MCT 2.2 has it for Keras, with what it means by "no quantization"."""
    default, linear = tflite_op_configs()
    options = tp.QuantizationConfigOptions([default])
    model = tp.TargetPlatformModel(options, name="tflite_tp_model")
    with model:
        moved = options.clone_and_edit(enable_activation_quantization=False, quantization_preserving=True)
        tp.OperatorsSet("NoQuantization", moved)
        per_tensor = linear.clone_and_edit(attr_to_edit={tp.KERNEL_ATTR: {"weights_per_channel_threshold": False}})
        dense = tp.OperatorsSet("FullyConnected", tp.QuantizationConfigOptions([per_tensor]))
        tp.OperatorsSet("L2Normalization", options.clone_and_edit(fixed_zero_point=0, fixed_scale=1 / 128))
        tp.OperatorsSet("LogSoftmax", options.clone_and_edit(fixed_zero_point=127, fixed_scale=16 / 256))
        tp.OperatorsSet("Tanh", options.clone_and_edit(fixed_zero_point=0, fixed_scale=1 / 128))
        tp.OperatorsSet("Softmax", options.clone_and_edit(fixed_zero_point=-128, fixed_scale=1 / 256))
        tp.OperatorsSet("Logistic", options.clone_and_edit(fixed_zero_point=-128, fixed_scale=1 / 256))
        conv = tp.OperatorsSet("Conv2d", tp.QuantizationConfigOptions([linear]))
        relu, elu, norm, squeeze, bias, add = (
            tp.OperatorsSet(name) for name in words("Relu Elu BatchNorm Squeeze BiasAdd Add")
        )
        kernels, after = tp.OperatorSetConcat(conv, dense), tp.OperatorSetConcat(relu, elu)
        tp.Fusing([kernels, bias])
        tp.Fusing([kernels, bias, after])
        tp.Fusing([conv, norm, after])
        tp.Fusing([conv, squeeze, after])
        tp.Fusing([norm, after])
        tp.Fusing([norm, add, after])
    capabilities = tp.TargetPlatformCapabilities(model, name="tflite_tpc", version="v1")
    with capabilities:
        attributes = {
            tp.KERNEL_ATTR: tp.DefaultDict(
                {KERAS["DepthwiseConv2D"]: tp.KERAS_DEPTHWISE_KERNEL}, default_value=tp.KERAS_KERNEL
            ),
            tp.BIAS_ATTR: tp.DefaultDict(default_value=tp.BIAS),
        }
        tp.OperationsSetToLayers(
            "NoQuantization",
            [
                tp.LayerFilterParams("tf.image.resize", method="bilinear"),
                *words(
                    "AveragePooling2D tf.nn.avg_pool2d keras.layers.Concatenate tf.concat MaxPooling2D tf.multiply "
                    "tf.reshape keras.layers.Reshape tf.nn.space_to_depth ZeroPadding2D tf.unstack tf.gather "
                    "tf.batch_to_space_nd tf.space_to_batch_nd tf.transpose tf.maximum keras.layers.Maximum tf.minimum "
                    "keras.layers.Minimum tf.pad tf.slice SlicingOpLambda"
                ),
            ],
        )
        tp.OperationsSetToLayers("FullyConnected", [KERAS["Dense"]], attr_mapping=attributes)
        tp.OperationsSetToLayers("L2Normalization", ["tf.math.l2_normalize"])
        tp.OperationsSetToLayers("LogSoftmax", ["tf.nn.log_softmax"])
        tp.OperationsSetToLayers("Tanh", ["tf.nn.tanh", tp.LayerFilterParams(KERAS["Activation"], activation="tanh")])
        tp.OperationsSetToLayers("Softmax", [KERAS["Softmax"], "tf.nn.softmax"])
        tp.OperationsSetToLayers("Logistic", ["tf.sigmoid"])
        tp.OperationsSetToLayers("Conv2d", [KERAS["Conv2D"], KERAS["DepthwiseConv2D"]], attr_mapping=attributes)
        bounded = tp.LayerFilterParams(KERAS["ReLU"], tp.Eq("max_value", None) | tp.Eq("max_value", 6))
        by_name = tp.LayerFilterParams(KERAS["Activation"], activation="relu")
        tp.OperationsSetToLayers("Relu", ["tf.nn.relu", "tf.nn.relu6", bounded, by_name])
        tp.OperationsSetToLayers("Elu", ["tf.nn.elu"])
        tp.OperationsSetToLayers("BatchNorm", ["BatchNormalization"])
        tp.OperationsSetToLayers("Squeeze", ["tf.squeeze"])
        tp.OperationsSetToLayers("BiasAdd", ["tf.nn.bias_add"])
        tp.OperationsSetToLayers("Add", ["tf.add", "keras.layers.Add"])
    return capabilities
