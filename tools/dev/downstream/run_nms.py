# SPDX-License-Identifier: Apache-2.0
"""Runs an ONNX file that ends with MultiClassNMS of Sony's custom layers in ONNX Runtime, as run_onnx.py runs others.

The op is registered as `suppress` below, which follows the description of the package and shares no code with it.
Prints a JSON object with the last node of the file and the outputs of the graph.
"""

from __future__ import annotations

import json
import sys

import numpy as np


def overlap(one: np.ndarray, other: np.ndarray) -> float:
    """Intersection over union of two boxes."""
    sides = np.maximum(np.minimum(one[2:], other[2:]) - np.maximum(one[:2], other[:2]), 0)
    common = np.prod(sides)
    return common / (np.prod(one[2:] - one[:2]) + np.prod(other[2:] - other[:2]) - common)


def suppress(
    boxes: np.ndarray, scores: np.ndarray, score_threshold: float, iou_threshold: float, max_detections: int
) -> tuple[np.ndarray, ...]:
    """Boxes, scores and labels of each image by descending score, padded with zeros, and the number of valid ones."""
    images = len(boxes)
    found = np.zeros((images, max_detections, 6), np.float32)
    valid = np.zeros((images, 1), np.int32)
    for image in range(images):
        rows = [(-scores[image, box, label], box, label) for box, label in np.argwhere(scores[image] > score_threshold)]
        kept: list[tuple[float, int, int]] = []
        for row in sorted(rows):
            same = [other for other in kept if other[2] == row[2]]
            if all(overlap(boxes[image, row[1]], boxes[image, other[1]]) <= iou_threshold for other in same):
                kept.append(row)
        for place, (negative, box, label) in enumerate(kept[:max_detections]):
            found[image, place] = *boxes[image, box], -negative, label
        valid[image] = min(len(kept), max_detections)
    return found[..., :4].copy(), found[..., 4].copy(), found[..., 5].astype(np.int32), valid


def main(path: str, inputs: str, outputs: str) -> int:
    import onnx
    import onnxruntime_extensions
    import run_onnx

    model = onnx.load(path)
    node = model.graph.node[-1]
    kind = onnxruntime_extensions.PyCustomOpDef
    onnxruntime_extensions.onnx_op(
        op_type=f"{node.domain}::{node.op_type}",
        inputs=[kind.dt_float, kind.dt_float],
        outputs=[kind.dt_float, kind.dt_float, kind.dt_int32, kind.dt_int32],
        attrs={"score_threshold": kind.dt_float, "iou_threshold": kind.dt_float, "max_detections": kind.dt_int64},
    )(suppress)
    description = {
        "op": [node.domain, node.op_type],
        "attributes": {one.name: onnx.helper.get_attribute_value(one) for one in node.attribute},
        "sets": {one.domain: one.version for one in model.opset_import},
        "types": [one.type.tensor_type.elem_type for one in model.graph.output],
        "shapes": [[size.dim_value for size in one.type.tensor_type.shape.dim] for one in model.graph.output],
        "unread": [
            name
            for each in model.graph.node[:-1]
            for name in each.output
            if not any(name in other.input for other in model.graph.node)
        ],
    }
    print(json.dumps(description))
    return run_onnx.main(path, inputs, outputs)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
