# SPDX-License-Identifier: Apache-2.0
"""Recurrent layers and control flow of ONNX, written out: ONNX Runtime computes the same before and after.

Most compare the graphs alone, which is quick; what `mct.load` makes of them is compared for some of each kind.
"""

import re

import importer_networks as networks
import numpy as np
import pytest

mct = pytest.importorskip("mct", reason="the package is not built (tools/dev/build)")
for module in ("torch_mlir", "onnx", "onnxruntime"):
    pytest.importorskip(module, reason='the extra "onnx" is not installed (tools/dev/importers)')

import onnx  # noqa: E402
import onnxruntime  # noqa: E402
from mct import importers  # noqa: E402
from mct.importers import _onnx_control, _onnx_recurrent  # noqa: E402
from onnx import helper, numpy_helper  # noqa: E402

FLOAT, INT64, BOOL = onnx.TensorProto.FLOAT, onnx.TensorProto.INT64, onnx.TensorProto.BOOL
# Relative to the larger of 1 and the largest value: sums are made in another order; 1e-6 is seen over 2000 networks.
TOLERANCE = 1e-5

GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}
ACTIVATIONS = {"LSTM": 3, "GRU": 2, "RNN": 1}
WITH_ALPHA = ["Affine", "LeakyRelu", "ThresholdedRelu", "ScaledTanh", "HardSigmoid", "Elu"]
WITH_BETA = ["Affine", "ScaledTanh", "HardSigmoid"]
NAMES = [*WITH_ALPHA, "Relu", "Tanh", "Sigmoid", "Softsign", "Softplus"]


def random_layer(seed):
    """A model of one recurrent layer with any of its attributes and inputs, and a sample."""
    generator = np.random.default_rng(seed)

    def normal(*shape):
        return generator.normal(0, 0.7, shape).astype(np.float32)

    kind = str(generator.choice(list(GATES)))
    steps, batch, inputs, hidden = (int(value) for value in generator.integers(1, 5, 4))
    direction = str(generator.choice(["forward", "reverse", "bidirectional"]))
    directions, rows = 2 if direction == "bidirectional" else 1, GATES[kind] * hidden
    attributes = {"direction": direction, "hidden_size": hidden}
    sample = {"x": normal(steps, batch, inputs)}
    constants = {"W": normal(directions, rows, inputs), "R": normal(directions, rows, hidden)}
    names = ["x", "W", "R", *[""] * 5]
    if generator.random() < 0.6:
        names[3], constants["B"] = "B", normal(directions, 2 * rows)
    if generator.random() < 0.4:
        names[4], constants["lengths"] = "lengths", generator.integers(0, steps + 1, batch).astype(np.int32)
    for index, name in ((5, "h"), (6, "c")):
        where = generator.random()
        if where < 0.5 and (kind == "LSTM" or name == "h"):
            names[index] = name
            state = normal(directions, batch, hidden) * (where > 0.1)
            (sample if where < 0.3 else constants)[name] = state
    if kind == "LSTM":
        if generator.random() < 0.4:
            names[7], constants["P"] = "P", normal(directions, 3 * hidden)
        attributes["input_forget"] = int(generator.random() < 0.3)
    if kind == "GRU":
        attributes["linear_before_reset"] = int(generator.random() < 0.5)
    if generator.random() < 0.3:
        attributes["clip"] = float(generator.uniform(0.2, 1))
    if generator.random() < 0.5:
        chosen = [str(name) for name in generator.choice(NAMES, ACTIVATIONS[kind] * directions)]
        attributes["activations"] = chosen
        for key, those in (("activation_alpha", WITH_ALPHA), ("activation_beta", WITH_BETA)):
            if count := sum(name in those for name in chosen):
                attributes[key] = [float(value) for value in generator.uniform(0.2, 1.2, count)]
    while not names[-1]:
        names.pop()
    outputs = ["y", "y_h", "y_c"][: 3 if kind == "LSTM" else 2]
    kept = [name if generator.random() < 0.7 else "" for name in outputs]
    kept = kept if any(kept) else outputs
    node = helper.make_node(kind, names, kept, name="layer", **attributes)
    shapes = [(name, value.shape) for name, value in sample.items()]
    return networks.onnx_model([node], shapes, [(name, None) for name in kept if name], constants), sample


def results(model, sample):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return session.run(None, sample)


def assert_equal(found, expected, what=""):
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        assert one.shape == other.shape
        finite = np.isfinite(other)
        assert (np.isfinite(one) == finite).all()
        scale = max(1.0, np.abs(other[finite]).max(initial=0))
        assert np.abs(one[finite] - other[finite]).max(initial=0) <= TOLERANCE * scale, what


def load_and_run(model, sample):
    found = mct.load(model).run(list(sample.values()) if len(sample) > 1 else next(iter(sample.values())))
    return [found] if isinstance(found, np.ndarray) else list(found)


def assert_imports(model, sample):
    assert_equal(load_and_run(model, sample), results(model, sample))


@pytest.mark.alternating
@pytest.mark.parametrize("block", range(4))
def test_recurrent_layers_of_any_attributes_compute_what_onnx_runtime_computes(block):
    for seed in range(100 * block, 100 * (block + 1)):
        model, sample = random_layer(seed)
        expected = results(model, sample)
        _onnx_recurrent.write_out(model)
        assert not any(map(_onnx_recurrent.is_recurrent, model.graph.node))
        assert_equal(results(model, sample), expected, f"seed {seed}")


@pytest.mark.parametrize("seed", [0, 3, 11, 38])
def test_imported_recurrent_layers_compute_what_onnx_runtime_computes(seed):
    assert_imports(*random_layer(seed))


def lstm(steps=3, inputs=2, hidden=4, shape=None, **attributes):
    """Batch second, as in the standard."""
    generator = np.random.default_rng(0)
    constants = {
        "W": generator.normal(size=(1, 4 * hidden, inputs)).astype(np.float32),
        "R": generator.normal(size=(1, 4 * hidden, hidden)).astype(np.float32),
    }
    node = helper.make_node("LSTM", ["x", "W", "R"], ["y"], name="lstm", hidden_size=hidden, **attributes)
    return networks.onnx_model([node], [("x", shape or [steps, 1, inputs])], [("y", None)], constants)


def locations(model):
    return set(re.findall(r'loc\("([^"]*)"', importers.import_model(model).decode()))


def test_steps_have_the_name_of_their_layer_and_their_number():
    names = locations(lstm())
    assert {"lstm", "lstm/input", "lstm/step0/i", "lstm/step1/state", "lstm/step2/h"} <= names
    data = np.random.default_rng(1).normal(size=(12, 1, 2)).astype(np.float32)
    points = [point.name for point in mct.quantize(mct.load(lstm()), "imx500", data, progress=False).points]
    assert {"x", "lstm/step1/c", "lstm/step2/gates"} <= set(points)


def test_layout_with_the_batch_first_is_that_of_the_standard_transposed():
    model, other = lstm(layout=1, shape=[2, 3, 2]), lstm(shape=[3, 2, 2])
    sample = np.random.default_rng(1).normal(size=(2, 3, 2)).astype(np.float32)
    (expected,) = results(other, {"x": sample.transpose(1, 0, 2)})
    assert_equal(load_and_run(model, {"x": sample}), [expected.transpose(2, 0, 1, 3)])


def test_an_open_batch_may_be_any():
    """As PyTorch exports it: the batch first in the input, second in the layer."""
    model = lstm()
    model.graph.node[0].input[0], model.graph.node[0].output[0] = "sequence", "directions"
    before = helper.make_node("Transpose", ["x"], ["sequence"], perm=[1, 0, 2])
    after = helper.make_node("Transpose", ["directions"], ["y"], perm=[2, 0, 1, 3])
    nodes = [before, model.graph.node[0], after]
    constants = {tensor.name: numpy_helper.to_array(tensor) for tensor in model.graph.initializer}
    model = networks.onnx_model(nodes, [("x", ["N", 3, 2])], [("y", None)], constants)
    sample = np.random.default_rng(1).normal(size=(5, 3, 2)).astype(np.float32)
    assert_imports(model, {"x": sample})


def test_a_number_of_steps_that_is_open_is_refused():
    model = lstm(shape=["T", 1, 2])
    message = r"LSTM 'lstm' runs a number of steps that depends on the first dimension of input 'x'"
    with pytest.raises(mct.Error, match=message) as caught:
        mct.load(model)
    assert "give example_inputs / --shape x=" in str(caught.value)
    sample = np.random.default_rng(1).normal(size=(4, 1, 2)).astype(np.float32)
    found = mct.load(model, sample).run(sample)
    assert_equal([found], results(model, {"x": sample}))


def refused(model, message):
    with pytest.raises(mct.Error, match=message):
        mct.load(model)


def test_lengths_that_are_data_are_refused():
    model = lstm()
    model.graph.node[0].input.extend(["", "lengths"])
    model.graph.input.append(helper.make_tensor_value_info("lengths", onnx.TensorProto.INT32, [1]))
    refused(model, "LSTM 'lstm' has lengths of sequences that are computed at run time, 'lengths'")


def test_an_activation_without_a_default_is_refused():
    acts = ["Sigmoid", "ScaledTanh", "Tanh"]
    refused(lstm(activations=acts), "LSTM 'lstm' has an activation ScaledTanh without activation_alpha")


def graph(name, nodes, inputs, outputs, constants=None):
    """The body of control flow; values are (name, type, shape)."""
    values = [[helper.make_tensor_value_info(*value) for value in those] for those in (inputs, outputs)]
    stored = [numpy_helper.from_array(np.asarray(value), key) for key, value in (constants or {}).items()]
    return helper.make_graph(nodes, name, *values, stored)


def loop_model(body, trips=None, condition=None, outputs=("y", "all"), extra=()):
    constants = dict(extra)
    if trips is not None:
        constants["trips"] = np.array(trips)
    if condition is not None:
        constants["condition"] = np.array(condition)
    names = ["trips" if trips is not None else "", "condition" if condition is not None else "", "x"]
    names += [name for name, _ in extra if name.startswith("carried")]
    node = helper.make_node("Loop", names, list(outputs), name="loop", body=body)
    used = [(name, None) for name in outputs if name != "unused"]
    return networks.onnx_model([node], [("x", [1, 3])], used, constants)


def body(nodes, condition="go", carried=(), constants=None):
    """x becomes `new`, which is also a result of every step."""
    inputs = [("i", INT64, []), ("go", BOOL, []), ("old", FLOAT, [1, 3]), *((name, INT64, []) for name, _ in carried)]
    outputs = [(condition, BOOL, []), ("new", FLOAT, [1, 3]), *((name, INT64, []) for _, name in carried)]
    return graph("body", nodes, inputs, [*outputs, ("scanned", FLOAT, [1, 3])], constants)


# Adds the number of the step to twice the value.
STEP = [
    helper.make_node("Cast", ["i"], ["i_float"], to=FLOAT),
    helper.make_node("Add", ["old", "old"], ["twice"], name="double"),
    helper.make_node("Add", ["twice", "i_float"], ["new"], name="shift"),
    helper.make_node("Neg", ["new"], ["scanned"], name="negate"),
]
SAMPLE = {"x": np.array([[0.5, -1, 2]], np.float32)}


def loop_while_below(limit):
    """Ends by a condition on a number that starts at 1 and grows by 2."""
    nodes = [
        *STEP,
        helper.make_node("Add", ["count", "two"], ["more"]),
        helper.make_node("Less", ["more", "limit"], ["goes_on"]),
    ]
    inside = body(nodes, "goes_on", [("count", "more")], {"two": np.array(2), "limit": np.array(limit)})
    return loop_model(inside, None, None, ("y", "unused", "all"), [("carried", np.array(1))])


def keeps_going():
    return [*STEP, helper.make_node("Identity", ["go"], ["goes_on"])]


@pytest.mark.parametrize(
    "model",
    [
        loop_model(body(keeps_going(), "goes_on"), 3, True),
        loop_model(body(keeps_going(), "goes_on"), 3),
        loop_model(body(STEP), 4, True, ("y", "unused")),
        loop_model(body(keeps_going(), "goes_on"), 0, None, ("y", "unused")),
        loop_model(body(keeps_going(), "goes_on"), 5, False, ("y", "unused")),
        loop_while_below(8),
    ],
    ids=["trips and condition", "trips", "condition passed on", "no trips", "no condition", "while"],
)
def test_loops_of_a_known_number_of_steps_compute_what_onnx_runtime_computes(model):
    expected = results(model, SAMPLE)
    _onnx_control.write_out(model)
    assert "Loop" not in [node.op_type for node in model.graph.node]
    assert_equal(results(model, SAMPLE), expected)


def test_steps_of_an_imported_loop_are_named_and_compute_the_same():
    model = loop_while_below(8)
    names = locations(model)
    assert {"loop/step0/double", "loop/step3/negate"} <= names and "loop/step4/double" not in names
    assert_imports(model, SAMPLE)


def test_a_loop_of_computed_shape_around_recurrent_layers_is_written_out():
    """The number of steps is a dimension of the input, and the layer in the body reads weights from around it."""
    layer = lstm(steps=1, inputs=3, hidden=3)
    inner = [
        helper.make_node("Unsqueeze", ["old", "zero"], ["row"]),
        helper.make_node("LSTM", ["row", "W", "R"], ["", "state"], name="cell", hidden_size=3),
        helper.make_node("Squeeze", ["state", "zero"], ["new"]),
        helper.make_node("Identity", ["go"], ["goes_on"]),
        helper.make_node("Neg", ["new"], ["scanned"], name="negate"),
    ]
    nodes = [
        helper.make_node("Shape", ["x"], ["shape"]),
        helper.make_node("Gather", ["shape", "one"], ["trips"]),
        helper.make_node("Loop", ["trips", "", "x"], ["y", "all"], name="loop", body=body(inner, "goes_on")),
    ]
    constants = {tensor.name: numpy_helper.to_array(tensor) for tensor in layer.graph.initializer}
    constants |= {"zero": np.array([0]), "one": np.array(1)}
    model = networks.onnx_model(nodes, [("x", [1, 3])], [("y", None), ("all", None)], constants)
    assert "loop/step2/cell/step0/h" in locations(model)
    assert_imports(model, SAMPLE)


def test_loops_whose_number_of_steps_is_data_are_refused():
    nodes = [
        *STEP,
        helper.make_node("ReduceMax", ["new"], ["most"], keepdims=0),
        helper.make_node("Less", ["most", "limit"], ["goes_on"]),
    ]
    model = loop_model(body(nodes, "goes_on", (), {"limit": np.float32(100)}), None, None, ("y", "unused"))
    refused(model, "Loop 'loop' ends by a condition that is computed at run time, from 'x'")
    model = loop_model(body(STEP), None, True, ("y", "unused"))
    model.graph.node[0].input[0] = "count"
    model.graph.input.append(helper.make_tensor_value_info("count", INT64, []))
    refused(model, "Loop 'loop' has a trip count that is computed at run time, 'count'")


def test_a_loop_without_an_end_is_refused():
    refused(loop_model(body(STEP), None, True, ("y", "unused")), "Loop 'loop' runs more than 4096 steps")


@pytest.mark.parametrize("backward", [0, 1])
@pytest.mark.parametrize("axis", [0, 1])
def test_scans_compute_what_onnx_runtime_computes(axis, backward):
    nodes = [
        helper.make_node("Add", ["state", "element"], ["sum"], name="add"),
        helper.make_node("Identity", ["sum"], ["each"]),
    ]
    inside = graph(
        "body", nodes, [("state", FLOAT, [2]), ("element", FLOAT, [2])], [("sum", FLOAT, [2]), ("each", FLOAT, [2])]
    )
    attributes = {
        "scan_input_axes": [axis],
        "scan_input_directions": [backward],
        "scan_output_directions": [1 - backward],
    }
    node = helper.make_node(
        "Scan",
        ["start", "x"],
        ["last", "y"],
        "scan",
        body=inside,
        num_scan_inputs=1,
        scan_output_axes=[1],
        **attributes,
    )
    shape = [3, 2] if axis == 0 else [2, 3]
    model = networks.onnx_model([node], [("x", shape)], [("y", None)], {"start": np.array([1, 2], np.float32)})
    sample = {"x": np.random.default_rng(0).normal(size=shape).astype(np.float32)}
    expected = results(model, sample)
    _onnx_control.write_out(model)
    assert_equal(results(model, sample), expected)


def branching(condition_nodes, constants=None, inputs=(), branch_nodes=None):
    branch_nodes = branch_nodes or {
        name: [helper.make_node(kind, ["x"], [f"{name}_y"], name=kind.lower())]
        for name, kind in (("then_branch", "Neg"), ("else_branch", "Exp"))
    }
    branches = {name: graph(name, nodes, [], [(f"{name}_y", FLOAT, None)]) for name, nodes in branch_nodes.items()}
    node = helper.make_node("If", ["condition"], ["y"], name="if", **branches)
    model = networks.onnx_model([*condition_nodes, node], [("x", [1, 3]), *inputs], [("y", None)], constants or {})
    return model


@pytest.mark.parametrize("rank", [2, 3])
def test_a_branch_that_shapes_decide_is_the_network(rank):
    nodes = [
        helper.make_node("Shape", ["x"], ["shape"]),
        helper.make_node("Size", ["shape"], ["rank"]),
        helper.make_node("Equal", ["rank", "wanted"], ["condition"]),
    ]
    found = mct.load(branching(nodes, {"wanted": np.array(rank)})).run(SAMPLE["x"])
    assert_equal([found], [-SAMPLE["x"] if rank == 2 else np.exp(SAMPLE["x"])])


def positive(keepdims):
    """Nodes whose condition is whether the largest value of `x` is positive, of the shape [] or [1, 1]."""
    axes = {"axes": [1]} if keepdims else {}
    return [
        helper.make_node("ReduceMax", ["x"], ["most"], keepdims=keepdims, **axes),
        helper.make_node("Greater", ["most", "zero"], ["condition"], name="compare"),
    ]


CONSTANTS = {"zero": np.float32(0), "last": np.array([1])}


@pytest.mark.parametrize("sign", [-1, 1])
@pytest.mark.parametrize("keepdims", [0, 1])
def test_a_branch_that_data_decide_is_selected(keepdims, sign, caplog):
    model = branching(positive(keepdims), CONSTANTS)
    x = sign * np.abs(SAMPLE["x"])
    expected = results(model, {"x": x})
    loaded = mct.load(model)
    assert "both branches of If 'if' are computed, as its condition 'condition' depends on data" in caplog.text
    assert_equal([loaded.run(x)], expected)
    assert_equal(expected, [-x if sign > 0 else np.exp(x)])


def test_a_condition_with_the_batch_selects_for_each_sample():
    x = np.array([[1, 2, 3], [-1, -2, -3], [-4, 5, -6]], np.float32)
    found = mct.load(branching(positive(1), CONSTANTS)).run(x)
    assert_equal([found], [np.where(x.max(axis=1, keepdims=True) > 0, -x, np.exp(x))])


def test_a_condition_of_higher_rank_than_the_results_selects():
    model = branching(
        positive(1),
        {**CONSTANTS, "shape": np.array([3])},
        branch_nodes={
            name: [helper.make_node("Reshape", [value, "shape"], [f"{name}_y"], name=name)]
            for name, value in (("then_branch", "x"), ("else_branch", "most3"))
        },
    )
    model.graph.node.insert(0, helper.make_node("Exp", ["x"], ["most3"]))
    for x in (SAMPLE["x"], -np.abs(SAMPLE["x"])):
        before = results(model, {"x": x})
        written = onnx.ModelProto.FromString(model.SerializeToString())
        _onnx_control.write_out(written)
        assert_equal(results(written, {"x": x}), before)
        assert before[0].shape == (3,)


def test_branches_of_different_shapes_that_data_decide_are_refused_by_name():
    branch_nodes = {
        "then_branch": [helper.make_node("Neg", ["x"], ["then_branch_y"])],
        "else_branch": [helper.make_node("ReduceSum", ["x", "last"], ["else_branch_y"])],
    }
    refused(
        branching(positive(0), CONSTANTS, branch_nodes=branch_nodes),
        "If 'if' chooses by a condition that is computed at run time, 'condition', between results of the shapes "
        r"\[1, 3\] and \[1, 1\] for 'y'",
    )
