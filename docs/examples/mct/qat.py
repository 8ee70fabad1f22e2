# SPDX-License-Identifier: Apache-2.0
"""Quantization-aware training by MCT's calls, for a target with weights of 2 bits."""

import sys

if "--mct" not in sys.argv:
    import mct.compat  # the line that a script for MCT gets; with --mct it runs MCT itself

import common
import model_compression_toolkit as mct
import torch

tp = mct.target_platform_capabilities
network = common.trained()


def weight(bits: int, enabled: bool) -> tp.AttributeQuantizationConfig:
    return tp.AttributeQuantizationConfig(
        weights_quantization_method=tp.QuantizationMethod.SYMMETRIC,
        weights_n_bits=bits,
        weights_per_channel_threshold=True,
        enable_weights_quantization=enabled,
        lut_values_bitwidth=None,
    )


config = tp.OpQuantizationConfig(
    default_weight_attr_config=weight(8, False),
    attr_weights_configs_mapping={"kernel_attr": weight(2, True), "bias_attr": weight(32, False)},
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
options = tp.QuantizationConfigOptions(quantization_configurations=(config,))
plain = tp.QuantizationConfigOptions(
    quantization_configurations=(config.clone_and_edit(attr_weights_configs_mapping={}),)
)
tpc = tp.TargetPlatformCapabilities(
    default_qco=plain,
    tpc_minor_version=1,
    tpc_patch_version=0,
    tpc_platform_type="two_bits",
    operator_set=(
        tp.OperatorsSet(name=tp.OperatorSetNames.CONV, qc_options=options),
        tp.OperatorsSet(name=tp.OperatorSetNames.FULLY_CONNECTED, qc_options=options),
    ),
    add_metadata=False,
    name="two_bits",
)


def train_by_torch(trainable: torch.nn.Module, epochs: int) -> torch.nn.Module:
    """Trains as MCT leaves it to its users."""
    device = next(trainable.parameters()).device
    images = torch.from_numpy(common.IMAGES[: common.TRAINING]).to(device)
    labels = torch.from_numpy(common.LABELS[: common.TRAINING]).to(device)
    optimizer = torch.optim.Adam(trainable.parameters(), 1e-3)
    for _ in range(epochs):
        for rows in torch.randperm(common.TRAINING).split(50):
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(trainable(images[rows]), labels[rows]).backward()
            optimizer.step()
    return trainable


with common.Measured() as cost:
    trainable, information = mct.qat.pytorch_quantization_aware_training_init_experimental(
        network, common.representative_data, target_platform_capabilities=tpc
    )
    before = common.accuracy(trainable)
    if isinstance(trainable, torch.nn.Module):
        trained = train_by_torch(trainable, epochs=5)
    else:
        # The pass of the compiler, in the place of a loop of torch.
        from mct import train

        images, labels = common.IMAGES[: common.TRAINING], common.LABELS[: common.TRAINING]
        trained = train(trainable, data=images, labels=labels, epochs=5)
    quantized = mct.qat.pytorch_quantization_aware_training_finalize_experimental(trained)
print(f"before training {100 * before:.2f} %")
common.show(network, quantized, cost)
