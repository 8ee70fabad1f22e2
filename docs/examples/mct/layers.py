# SPDX-License-Identifier: Apache-2.0
"""Layers of torch with quantizers, by the names of mct_quantizers and MCT: 3-bit weights and learned 4-bit activations
that a loop of torch trains."""

import sys

if "--mct" not in sys.argv:
    import mct.compat  # the line that a script for MCT gets; with --mct it runs MCT itself

import common
import mct_quantizers as mctq
import model_compression_toolkit as mct
import torch


def quantized_weights(layer: torch.nn.Module) -> torch.nn.Module:
    """Returns the layer with weights of 3 bits, which reach to the largest one of each channel."""
    limits = layer.weight.detach().abs().flatten(1).amax(1).tolist()
    quantizer = mctq.pytorch_quantizers.WeightsSymmetricInferableQuantizer(
        num_bits=3, threshold=limits, per_channel=True, channel_axis=0
    )
    return mctq.PytorchQuantizationWrapper(layer, {"weight": quantizer})


def quantized_result(layer: torch.nn.Module, threshold: float) -> torch.nn.Module:
    """Returns the layer, followed by a quantizer of 4 bits that learns its threshold."""
    config = mct.trainable_infrastructure.TrainableQuantizerActivationConfig(
        activation_quantization_method=mct.target_platform_capabilities.QuantizationMethod.SYMMETRIC,
        activation_n_bits=4,
        activation_quantization_params={"threshold": threshold, "is_signed": True},
        enable_activation_quantization=True,
        min_threshold=2**-16,
    )
    quantizer = mct.trainable_infrastructure.STESymmetricActivationTrainableQuantizer(config)
    return torch.nn.Sequential(layer, mctq.PytorchActivationQuantizationHolder(quantizer))


network = common.trained()
exact = common.accuracy(network)
images = torch.from_numpy(common.IMAGES[: common.TRAINING])
labels = torch.from_numpy(common.LABELS[: common.TRAINING])
with common.Measured() as cost:
    network.stem = quantized_result(quantized_weights(network.stem), threshold=2.0)
    network.down = quantized_result(quantized_weights(network.down), threshold=4.0)
    network.head = quantized_weights(network.head)
    before = common.accuracy(network)
    learned = [one for one in network.parameters() if one.requires_grad]
    optimizer = torch.optim.Adam(learned, 1e-3)
    for _ in range(3):
        for rows in torch.randperm(common.TRAINING).split(50):
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(network(images[rows]), labels[rows]).backward()
            optimizer.step()
    thresholds = [
        one.detach().numpy().item() for name, one in network.named_parameters() if "activation_holder" in name
    ]
    for module in network.modules():
        if hasattr(module, "convert_to_inferable_quantizers"):
            module.convert_to_inferable_quantizers()
print(f"before training {100 * before:.2f} % thresholds {thresholds[0]:.3f} {thresholds[1]:.3f}")
print(
    f"float {100 * exact:.2f} % quantized {100 * common.accuracy(network):.2f} % "
    f"processor {cost.seconds:.1f} s wall {cost.wall:.1f} s memory {cost.megabytes:.0f} MB"
)
