# SPDX-License-Identifier: Apache-2.0
"""Names of MCT 2.x below `mct.ptq`."""

from mct.mct_names import keras_post_training_quantization, pytorch_post_training_quantization

__all__ = ["keras_post_training_quantization", "pytorch_post_training_quantization"]
