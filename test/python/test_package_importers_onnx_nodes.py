# SPDX-License-Identifier: Apache-2.0
"""The tests of operators that the onnx package carries: what is imported computes what the standard says."""

import re
from pathlib import Path

import numpy as np
import pytest

mct = pytest.importorskip("mct", reason="the package is not built (tools/dev/build)")
for module in ("torch_mlir", "onnx"):
    pytest.importorskip(module, reason='the extra "onnx" is not installed (tools/dev/importers)')

import onnx  # noqa: E402
from onnx import TensorProto, numpy_helper  # noqa: E402

FOLDER = Path(onnx.__file__).parent / "backend" / "test" / "data" / "node"
# Operators that are rewritten for the converter.
REWRITTEN = ["attention", "averagepool_1d", "convtranspose", "dft", "l1normalization", "l2normalization", "lrn"]
REWRITTEN += ["resize_downsample_scales", "rms_normalization", "rotary", "slice", "stft"]
# No numbers go in or come out; types without values here; tests that the generator of others expands.
OTHERS = re.compile(
    r"_expanded|training|string|optional|sequence|adagrad|adam|momentum|bernoulli|random|_ml_|label_encoder|regex|tfidf|"
    r"image_decoder|loop|quantizelinear|float8|float4|e4m3|e5m2|bfloat|float16|u?int[24]$|complex|gradient"
)
# Results that depend on the first axis otherwise than sample by sample: samples are run one by one.
WHOLE = re.compile(
    r"test_(shape|size|dropout_default_mask|transpose_default|transpose_all_permutations_[2-5]|expand_dim_changed)"
)
# Their other operands are weights, which do not change from run to run.
LAYERS = ["BatchNormalization", "Conv", "ConvTranspose", "DFT", "DeformConv", "GRU", "Gemm", "GroupNormalization"]
LAYERS += ["InstanceNormalization", "LSTM", "LayerNormalization", "PRelu", "RMSNormalization", "RNN", "Resize", "STFT"]

# The relative one is that with which onnx judges its own backends; the absolute one is the rounding of sums of some
# hundred products in f32, for results near zero.
TOLERANCE = {"rtol": 1e-3, "atol": 1e-5, "equal_nan": True}


def read(folder: Path, kind: str) -> list[np.ndarray]:
    values = []
    for path in sorted(folder.glob(f"{kind}_*.pb"), key=lambda path: int(path.stem.rpartition("_")[2])):
        tensor = TensorProto()
        tensor.ParseFromString(path.read_bytes())
        values.append(numpy_helper.to_array(tensor))
    return values


def run(name: str) -> str:
    """Returns what is wrong with a test of an operator: "", "refused: ..." for an error of ours, or "skipped"."""
    proto = onnx.load(FOLDER / name / "model.onnx")
    data = FOLDER / name / "test_data_set_0"
    try:
        inputs, expected = read(data, "input"), read(data, "output")
    except Exception:
        return "skipped"  # values that are no tensors
    names = [value.name for value in proto.graph.input]
    given = {n: a for n, a in zip(names, inputs, strict=False) if a.dtype == np.float32 and a.ndim and a.size}
    if not given or any(value.dtype.kind not in "fiub" for value in expected):
        return "skipped"
    if proto.graph.node[0].op_type in LAYERS:
        given = dict([next(iter(given.items()))])
    for value, array in zip(list(proto.graph.input), inputs, strict=False):
        if value.name not in given:
            proto.graph.initializer.append(numpy_helper.from_array(array, value.name))
            proto.graph.input.remove(value)
    samples = list(given.values())
    try:
        found = mct.load(proto, samples).run(samples)
    except mct.Error as error:
        return f"refused: {error.message}"
    found = found if isinstance(found, tuple) else (found,)
    for value, array in zip(found, expected, strict=True):
        # Results without a batch have one of 1.
        if value.size != array.size or not np.allclose(value.reshape(array.shape), array, **TOLERANCE):
            return f"{value.ravel()[:4]} of {value.shape} for {array.ravel()[:4]} of {array.shape}"
    return ""


def names(pattern: str = "") -> list[str]:
    return sorted(
        path.name
        for path in FOLDER.glob("test_*")
        if re.search(pattern, path.name) and not OTHERS.search(path.name) and not WHOLE.match(path.name)
    )


@pytest.mark.alternating
@pytest.mark.parametrize("operator", REWRITTEN)
def test_operators_that_are_rewritten_compute_what_the_standard_says(operator):
    results = {name: run(name) for name in names(f"^test_{operator}")}
    # An empty slice has no values, and one attention has an operand of an unknown type.
    allowed = {"test_slice_start_out_of_bounds", "test_attention_4d_diff_heads_mask4d_padded_kv"}
    wrong = {name: result for name, result in results.items() if result not in ("", "skipped")}
    assert set(wrong) <= allowed and all(result.startswith("refused") for result in wrong.values()), wrong
    assert any(result == "" for result in results.values())


@pytest.mark.thorough
def test_what_is_imported_computes_what_the_standard_says():
    """About ten minutes. Others are refused by name."""
    results = {name: run(name) for name in names()}
    wrong = {name: result for name, result in results.items() if result not in ("", "skipped")}
    assert not {name: result for name, result in wrong.items() if not result.startswith("refused")}
    assert sum(result == "" for result in results.values()) > 2 * len(wrong)
