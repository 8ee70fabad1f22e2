# SPDX-License-Identifier: Apache-2.0
"""tools/dev/conformance: the corpus, how runtimes are run and judged, and a few cases on those that are installed."""

import dataclasses
import hashlib
import json
import subprocess
import sys

import measure
import numpy as np
import pytest

sys.path.insert(0, str(measure.REPOSITORY / "tools" / "dev" / "downstream"))
sys.path.insert(0, str(measure.REPOSITORY / "tools" / "dev" / "conformance"))

import corpus
import evaluator
import random_networks
import reducer
import runtimes
import survey
import verdicts
from evaluator import Expected
from network import Network, pot
from verdicts import Verdict

TOOL = measure.REPOSITORY / "tools" / "dev" / "conformance"
# One case each of a layer, a sum of two grids, a table, codes on another grid, bytes without sign, and a position.
FEW = [
    "convolution-08",
    "sum-01",
    "function-by-table-00",
    "another-grid-01",
    "rescale-of-8-and-16-bits-20",
    "argmax-00",
]


@pytest.fixture(scope="module")
def cases():
    return {case.name: case for case in corpus.build()}


def call(*arguments):
    return subprocess.run([sys.executable, TOOL, *map(str, arguments)], capture_output=True, text=True)


# ===--- The corpus ---------------------------------------------------------------------------------------------------


def test_the_corpus_has_every_family_many_times(cases):
    assert len(cases) >= 500
    families = {case.family for case in cases.values()}
    assert families == set(corpus.FAMILIES)
    assert all(sum(case.family == family for case in cases.values()) >= 6 for family in families)
    text = "\n".join(case.text for case in cases.values())
    for words in (
        *("conv2d", "depthwise_conv2d", "transpose_conv2d", "matmul", "add", "sub", "mul", "avg_pool2d", "max_pool2d"),
        *("reduce_sum", "reduce_max", "concat", "pad", "table", "clamp", "argmax", "resize", "gather", "transpose"),
    ):
        assert f"tosa.{words} " in text
    for words in ("bits = 4", "bits = 8", "bits = 16", "SINGLE_ROUND", "DOUBLE_ROUND", "per_channel = true"):
        assert words in text
    # Every network stands there once.
    assert len({(case.text, case.ranges) for case in cases.values()}) == len(cases)


def digest(all_cases):
    return hashlib.sha256(json.dumps([dataclasses.asdict(case) for case in all_cases]).encode()).hexdigest()


def test_the_corpus_is_the_same_each_time(cases):
    script = (
        f"import sys; sys.path[:0] = [{str(TOOL.parent)!r}, {str(TOOL)!r}]\n"
        "import corpus, dataclasses, hashlib, json\n"
        "text = json.dumps([dataclasses.asdict(case) for case in corpus.build()])\n"
        "print(hashlib.sha256(text.encode()).hexdigest())"
    )
    for seed in ("1", "2"):
        finished = subprocess.run(
            [sys.executable, "-c", script], env={"PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True
        )
        assert finished.stdout.strip() == digest(cases.values())


def test_samples_have_named_values_first_and_every_code_that_fits(cases):
    case = cases["another-grid-01"]
    codes = corpus.sample(case, 0, (1, 256), -128, 127)
    assert sorted(codes.reshape(-1)) == list(range(-128, 128))
    named = dataclasses.replace(case, values=((7, 300, -7),), ranges=((-10, 10),))
    codes = corpus.sample(named, 0, (2, 2), -128, 127).reshape(-1)
    assert codes[:2].tolist() == [7, -7] and np.all(np.abs(codes) <= 10)


def test_middles_between_codes_are_among_the_values(cases):
    case = next(case for case in cases.values() if case.arguments.get("factor") == "1/4")
    assert {2, -2, 6, -6} <= set(case.values[0])


def test_smaller_cases_are_of_the_same_maker_and_seed(cases):
    case = cases["convolution-00"]
    found = list(corpus.smaller(case))
    assert found and all(one.size < case.size and one.seed == case.seed for one in found)
    # A kernel that does not fit into the image makes no network.
    assert all(one.arguments["height"] + 2 >= one.arguments["kernel_height"] for one in found)


# ===--- Verdicts -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("found", "slack", "beside", "kind", "differing"),
    [
        ([1, 2, 3], [0, 0, 0], 0.0, "exact", 0),
        ([1, 3, 3], [0, 0, 0], 0.0, "off by one", 1),
        ([1, 3, 3], [0, 1, 0], 0.0, "exact", 0),
        ([1, 9, 3], [0, 1, 0], 0.0, "wrong", 1),
        ([1, 9, 3], [0, -1, 0], 0.0, "exact", 0),
        ([1, 2, 3], [0, 0, 0], 0.25, "wrong", 3),
        ([1, 2], [0, 0, 0], 0.0, "wrong", 0),
    ],
)
def test_values_are_compared_within_what_a_right_execution_may_do(found, slack, beside, kind, differing):
    expected = [Expected(np.array([1, 2, 3]), np.array(slack))]
    verdict = verdicts.compare(expected, [np.array(found) + beside])
    assert (verdict.kind, verdict.differing) == (kind, differing)
    if verdict.first:
        _, place, _, value = verdict.first
        assert value == found[place] + beside


def test_real_numbers_are_compared_within_their_bounds():
    expected = [Expected(np.array([0.5, -1.25]), np.array([1e-6, 0.0]))]
    for found, kind in (([0.5, -1.25], "exact"), ([0.5 + 9e-7, -1.25], "exact"), ([0.5, -1.2500001], "off by one")):
        assert verdicts.compare(expected, [np.array(found)]).kind == kind


@pytest.mark.parametrize(
    ("key", "found", "kind"),
    [
        ("litert", [1, 2], "exact"),
        ("litert", [1, 5], "rounded"),
        ("litert", [1, 6], "wrong"),
        ("onnxruntime", [1, 3], "off by one"),
        ("litert-reference", [1, 5], "rounded"),
        ("litert-reference", [2, 2], "off by one"),
    ],
)
def test_roundings_of_each_operator_explain_what_a_network_may_differ_by(key, found, kind):
    codes = np.array([1, 2])
    rules = {rule: [Expected(codes, np.array([0, 0]))] for rule in ("half-even", "double-convolutions")}
    rules[evaluator.NEIGHBOURS] = [Expected(codes, np.array([0, 3]))]
    answer = {"outputs": [{"dtype": "int8", "values": found}]}
    verdict = verdicts.judge(key, {"outputs": [{}]}, rules, answer)
    assert verdict.kind == kind


def test_a_lowering_may_differ_by_what_either_side_leaves_open():
    rules = {
        "simulation": [Expected(np.array([1, 2, 3]), np.array([0, 1, -1]))],
        "tosa": [Expected(np.array([1, 4, 9]), np.array([0, 1, 0]))],
    }
    assert verdicts.judge_lowering(rules).kind == "exact"
    rules["tosa"] = [Expected(np.array([1, 4, 9]), np.array([0, 0, 0]))]
    assert verdicts.judge_lowering(rules).kind == "wrong"
    assert verdicts.judge_lowering({"simulation": "unknown op", "tosa": rules["tosa"]}) is None


def test_refusals_are_explained_by_what_a_runtime_says():
    missing = Verdict("refused", "Didn't find op for builtin opcode 'CEIL' version '1'. An older version")
    assert "no reference kernel" in verdicts.explanation("litert-reference", missing)
    assert verdicts.explanation("litert", missing) == ""
    assert verdicts.explanation("litert-reference", Verdict("refused", "ends the process by signal 6")) == ""
    assert verdicts.explanation("litert-reference", Verdict("wrong")) == ""


def test_cells_name_what_is_not_exact():
    kinds = ["exact", "off by one", "exact", "refused", "wrong"]
    assert verdicts.cell([Verdict(kind) for kind in kinds]) == "2, 1 ±1, 1 wrong, 1 refused"
    assert verdicts.cell([Verdict("refused")]) == "1 refused"


# ===--- Runtimes -----------------------------------------------------------------------------------------------------


def test_a_case_that_ends_the_process_is_refused_and_the_next_one_runs(monkeypatch, tmp_path):
    def ends_at_the_first(python, script, key, folder, first):
        with (folder / f"{key}.jsonl").open("a") as file:
            file.write(json.dumps({"begun": int(first), "case": "ab"[int(first)]}) + "\n")
            if first == "1":
                file.write(json.dumps({"case": "b", "outputs": []}) + "\n")
        return subprocess.CompletedProcess([], 0 if first == "1" else -11, "", "")

    monkeypatch.setattr(runtimes, "call", ends_at_the_first)
    monkeypatch.setattr(runtimes, "python_of", lambda runtime: sys.executable)
    found = runtimes.run("reference", tmp_path, {"a": {}, "b": {}})
    assert found["a"]["refused"] == "ends the process by signal 11" and found["b"]["outputs"] == []


def test_a_runtime_that_does_not_start_says_why(monkeypatch, tmp_path):
    monkeypatch.setattr(runtimes, "call", lambda *_: subprocess.CompletedProcess([], 1, "", "x\nNo module named y\n"))
    monkeypatch.setattr(runtimes, "python_of", lambda runtime: sys.executable)
    with pytest.raises(runtimes.RuntimeFailure, match="reference cannot be started: No module named y"):
        runtimes.run("reference", tmp_path, {"a": {}})


def test_flatbuffers_in_a_stream_are_told_apart():
    files = [b"\x10\0\0\0TOSAabc", b"\x20\0\0\0TOSA"]
    assert runtimes.split(b"".join(files)) == files


def test_answers_are_kept_for_the_same_file_and_samples(monkeypatch, tmp_path):
    requested = []

    def run(key, folder, entries):
        requested.append(list(entries))
        return {name: {"case": name, "outputs": []} for name in entries}

    monkeypatch.setattr(runtimes, "run", run)
    (tmp_path / "x.onnx").write_bytes(b"1")
    forms = {"x": {"files": {"onnx": "x.onnx"}, "inputs": [{"values": [1]}]}}
    for _ in range(2):
        assert "x" in runtimes.answer("onnxruntime", tmp_path, forms, tmp_path / "kept")
    assert requested == [["x"]]
    (tmp_path / "x.onnx").write_bytes(b"2")
    runtimes.answer("onnxruntime", tmp_path, forms, tmp_path / "kept")
    assert requested == [["x"], ["x"]]


def test_the_reducer_keeps_what_deviates(cases, monkeypatch, tmp_path):
    """A runtime that is wrong for every image of at least two rows and three columns."""

    def judge_all(candidates, keys, root, requested):
        deviates = lambda case: case.arguments["height"] >= 2 and case.arguments["width"] >= 3  # noqa: E731
        found = {case.name: Verdict("wrong" if deviates(case) else "exact") for case in candidates}
        return survey.Result(candidates, {case.name: {} for case in candidates}, {}, {}, {"iree": found}, [])

    monkeypatch.setattr(survey, "judge_all", judge_all)
    case = cases["concatenation-00"]
    found = {"iree": {case.name: Verdict("wrong")}}
    (smallest,) = reducer.smallest(survey.Result([case], {case.name: {}}, {}, {}, found, []), tmp_path)
    sizes = [smallest.case.arguments[key] for key in ("height", "width", "channels")]
    assert sizes == [2, 3, 1] and smallest.verdict.kind == "wrong"


# ===--- A few cases, on what is there --------------------------------------------------------------------------------


def need_evaluator(tools):
    if not evaluator.PROGRAM.exists() or not (runtimes.PACKAGE / "mct").is_dir():
        pytest.skip("MctEvaluateNetworks or the package is not built (tools/dev/build all mct-unit-tests)")


def test_the_evaluator_says_what_it_does_not_know(tools):
    need_evaluator(tools)
    one = "func.func @main(%x: tensor<1xi8>) -> tensor<1xi8> {\n  return %x : tensor<1xi8>\n}"
    two = "func.func @main() {\n  return\n}\nfunc.func @other() {\n  return\n}"
    jobs = [(one, [[5]]), (one, [[5, 6]]), (one, []), (two, []), ("nonsense", [])]
    answers = evaluator.ask({"module": text, "inputs": inputs} for text, inputs in jobs)
    assert answers[0]["outputs"][0]["values"] == [5]
    for answer, words in zip(
        answers[1:],
        ("not those of its type", "expected values for 1 arguments, found 0", "expected one function", "custom op"),
        strict=True,
    ):
        assert words in answer["error"]


def test_the_evaluator_bounds_what_one_code_at_each_point_changes(tools):
    need_evaluator(tools)
    made = Network()
    x = made.argument((1, 2), pot(128))
    double = made.point(made.binary("add", x, x), pot(128))
    text = made.finish(made.binary("add", double, double))
    jobs = [{"module": text, "inputs": [[3, 100]], "codes_away": away} for away in (0, 1)]
    exact, bounded = (answer["outputs"][0] for answer in evaluator.ask(jobs))
    assert exact["values"] == bounded["values"] == [12, 254] and "errors" not in exact
    # The argument is given; the second sum saturates whether it is one more or less.
    # f32 rounds the bound's own sums.
    assert bounded["errors"] == pytest.approx([2, 0], abs=1e-5)


@pytest.fixture(scope="module")
def judged(tools, cases, tmp_path_factory):
    need_evaluator(tools)
    installed = [key for key in runtimes.RUNTIMES if key != "iree" and key not in runtimes.missing([key])]
    chosen = [cases[name] for name in FEW]
    return survey.judge_all(chosen, installed, tmp_path_factory.mktemp("conformance"))


@pytest.mark.alternating
@pytest.mark.parametrize("key", [key for key in runtimes.RUNTIMES if key != "iree"])
def test_a_few_cases_are_exact(judged, key):
    if key not in judged.verdicts:
        pytest.skip(f"{runtimes.RUNTIMES[key].title} is not installed ({runtimes.missing([key])[key]})")
    if runtimes.RUNTIMES[key].form == "tflite" and "tflite" not in judged.forms["sum-01"]["files"]:
        pytest.skip(f"no .tflite: {judged.forms['sum-01']['reasons']['tflite']}")
    assert judged.problems == []
    found = judged.verdicts[key]
    # Bytes without sign exist as TOSA alone.
    needed = {"tosa": 6, "integers": 6, "": 5}.get(runtimes.RUNTIMES[key].form, 5)
    assert len(found) == needed
    if key == "openvino" and measure.has_saturating_sums():
        # Sums of 8-bit products may saturate on this processor; the other cases have none.
        found = {name: verdict for name, verdict in found.items() if not name.startswith("convolution")}
    # XNNPACK has its own roundings, which docs/results/conformance.md describes.
    allowed = {"litert": {"off by one"}}.get(key, set())
    assert {verdict.kind for verdict in found.values()} <= {"exact", "taken"} | allowed


@pytest.mark.alternating
def test_a_network_of_ones_own_is_judged(tools, tmp_path):
    need_evaluator(tools)
    network = tmp_path / "network.mlir"
    network.write_text(
        "func.func @main(%x: tensor<1x4xi8>, %y: tensor<1x4xi8>) -> tensor<1x4xi8> {\n"
        "  %z = tosa.maximum %x, %y : (tensor<1x4xi8>, tensor<1x4xi8>) -> tensor<1x4xi8>\n"
        "  return %z : tensor<1x4xi8>\n}\n"
    )
    options = ["--runtimes", "mct-run", "--folder", tmp_path / "work"]
    finished = call("--network", network, *options)
    assert finished.returncode == 0, finished.stderr
    assert "| network (1) | 1 |" in finished.stdout
    network.write_text(network.read_text().replace("tosa.maximum", "tosa.nothing"))
    finished = call("--network", network, *options)
    assert finished.returncode == 2 and "tosa.nothing" in finished.stderr and "Traceback" not in finished.stderr


@pytest.mark.alternating
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--runtimes", "gcc"], "no runtime named gcc; there are lowering, mct-run"),
        (["--family", "sums"], "no family named sums; there are sum, difference"),
        (["--every", "0"], "--every: at least 1"),
        (
            ["--record", "--family", "sum"],
            "--record is about all cases; leave out --family, --every, --network and --random",
        ),
        (["--network", "absent.mlir"], "absent.mlir"),
        (["--random", "-1"], "--random, --seed: at least 0"),
        (["--random", "2", "--family", "sum"], "leave out --family, --network and --list"),
        (["--network", "{bytecode}"], "mct-opt prints the text of a module"),
    ],
)
def test_bad_input_is_one_clear_error(arguments, message):
    bytecode = measure.DIGITS / "digits.mlirbc"
    finished = call(*(argument.format(bytecode=bytecode) for argument in arguments))
    assert finished.returncode == 2
    assert message in finished.stderr and "Traceback" not in finished.stderr


def test_cases_are_listed(cases):
    finished = call("--list", "--family", "argmax", "--every", "2")
    assert finished.returncode == 0
    assert [line.split(":")[0] for line in finished.stdout.splitlines()] == ["argmax-00", "argmax-02", "argmax-04"]


# ===--- Random networks ----------------------------------------------------------------------------------------------


def test_random_networks_are_the_same_each_time(tools, tmp_path):
    need_evaluator(tools)
    one, other = (random_networks.quantized(range(3, 6), tmp_path / name) for name in "ab")
    assert [case.text for case in one.cases] == [case.text for case in other.cases]
    assert {case.arguments["rounding"] for case in one.cases} == set(random_networks.ROUNDINGS)
    # Messages say why the others cannot be quantized.
    texts = {case.text for case in one.cases}
    assert len(texts) + len(one.refused) == 3 and len(one.cases) == 4 * len(texts)
    assert all(case.arguments["target"] for case in one.cases)


def test_smaller_random_networks_keep_seed_and_rounding(tools, tmp_path):
    need_evaluator(tools)
    case = random_networks.quantized(range(1, 5), tmp_path).cases[1]
    found = list(random_networks.smaller(case))
    assert found and all(one.arguments == case.arguments and one.seed == case.seed for one in found)
    assert all(one.text.count(" = tosa.") <= case.text.count(" = tosa.") for one in found)
    assert any(one.text.count(" = tosa.") < case.text.count(" = tosa.") for one in found)
