# SPDX-License-Identifier: Apache-2.0
"""tools/dev/zoo without its frameworks: the list, the table, files left by a chain that fails, the numbers."""

import sys

import measure
import numpy as np
import pytest

sys.path.insert(0, str(measure.REPOSITORY / "tools" / "dev" / "zoo" / "chains"))
sys.path.insert(0, str(measure.REPOSITORY / "tools" / "dev" / "zoo"))

import chain
import costs
import environments
import grids
import importing
import integers
import judging
import networks
import table

ZOO = measure.REPOSITORY / "tools" / "dev" / "zoo"
NETWORK = networks.Network("toy", "onnx", "toy==1/toy.onnx")
TOSA = """func.func @main(%x: tensor<1x2xf32>) -> tensor<1x2xf32> {
  %0 = tosa.tanh %x : (tensor<1x2xf32>) -> tensor<1x2xf32>
  return %0 : tensor<1x2xf32>
}
"""
RESULT = {
    "chain": "tflite",
    "ops": 12,
    "float_error": 2e-7,
    "prepared_error": 0.25,
    "compile": 1.25,
    "unmatched": ["tosa.exp x2"],
    "warnings": ["odd"],
    "targets": {
        "imx500": {"sqnr": [30.0, 40.0], "seconds": 2.0, "peak_mb": 99.6, "warnings": ["odd"]},
        # dB that a correction costs each output, and two standard errors of that.
        "tflite": {"sqnr": [20.0, 21.0], "corrections": {"bias": [(-5.0, 0.1), (2.0, 0.5)], "shift": [(0.4, 0.0)]}},
        "qnnpack": {"failure": "mct-run: exit status 139"},
    },
}


def zoo(*arguments):
    return measure.run([sys.executable, ZOO, *arguments])


def script(body):
    """A chain that is this Python code; `folder` is where it writes."""
    prefix = "import pathlib, sys; folder = pathlib.Path(sys.argv[1])\n"
    return lambda network, folder: [sys.executable, "-c", prefix + body, folder]


def test_list_names_every_network_once():
    lines = zoo("--list").stdout.splitlines()
    listed = networks.NETWORKS + networks.LARGE
    assert [line.split()[0] for line in lines] == [network.name for network in listed]
    assert len(networks.BY_NAME) == len(listed) >= 25


def test_unknown_network_is_refused():
    finished = zoo("resnet19", "--table")
    assert finished.returncode == 2
    assert "no network named resnet19; --list shows them" in finished.stderr


def test_every_chain_has_its_script_and_pinned_packages():
    for network in networks.NETWORKS:
        assert (ZOO / "chains" / f"from_{network.chain}.py").exists()
        assert all("==" in package for package in environments.packages(network.chain))
        assert all(spec["kind"] for spec in network.samples)


def test_table_shows_worst_output_of_each_target():
    rows = table.markdown({"toy": RESULT}).splitlines()
    assert rows[0].split(" | ")[-3:] == ["imx500 dB", "tflite dB", "qnnpack dB |"]
    assert rows[2] == "| toy | tflite | 12 | 2.5e-01 | 1.2 | 2.0 | 100 | 2 | 30.0 | 20.0 | failed |"


def test_table_lists_what_needs_an_explanation():
    assert table.findings(RESULT) == [
        "float error 2.5e-01 after mct-prepare",
        "qnnpack: mct-run: exit status 139",
        "tflite: bias correction costs output 1 2.0 dB, two standard errors are 0.5",
        "warning: odd",
    ]
    assert table.row("toy", {"chain": "onnx", "import": "chain onnx: left tf.If"})[:3] == [
        "toy",
        "onnx",
        "not imported",
    ]


def test_table_gathers_what_has_no_operator_set():
    other = RESULT | {"unmatched": ["tosa.abs", "tosa.exp", "+".join(["tosa.mul"] * 11 + ["tosa.add"])]}
    assert table.unmatched({"a": RESULT, "b": other}) == [
        "`exp`: a x2, b",
        "`abs`: b",
        "`mul + mul + mul + 8 more + add`: b",
    ]


def test_import_keeps_module_and_samples_and_runs_the_chain_once(tools, tmp_path):
    body = f"(folder / 'module.mlir').write_text({TOSA!r}); (folder / 'input0.npy').write_text('x')"
    folder = importing.import_network(NETWORK, tmp_path, script(body))
    assert sorted(path.name for path in folder.iterdir()) == ["input0.npy", "log.txt", "network.mlirbc"]
    assert importing.import_network(NETWORK, tmp_path, script("raise SystemExit(1)")) == folder


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("raise ValueError('argument has no fixed shape')", "exit status 1: ValueError: argument has no fixed shape"),
        ("import os; os.abort()", "exit status -6: no message"),
        (
            "(folder / 'module.mlir').write_text('  %0 = \"tfl.topk_v2\"(%x)\\n  %1 = tf.If(%0)\\n')",
            "left tfl.topk_v2, tf.If",
        ),
        ("(folder / 'module.mlir').write_text('  %0 = tosa.custom %x\\n')", "left tosa.custom"),
        ("(folder / 'module.mlir').write_text('func.func @main(')", "mct-opt cannot read what chain onnx wrote"),
    ],
)
def test_chain_that_fails_says_why_and_leaves_no_network(tools, tmp_path, body, message):
    with pytest.raises(importing.ImportFailure, match=message.replace("(", r"\(")):
        importing.import_network(NETWORK, tmp_path, script(body))
    assert not (tmp_path / NETWORK.name).exists()


def test_elements_of_constants_are_no_ops():
    assert importing.left_over(TOSA + '\n{-#\n  dialect_resources: {\n    weights.f32: "0x04"\n  }\n#-}\n') == []


def test_samples_depend_on_name_and_argument_alone():
    arguments = [
        ((1, 6, 8, 3), np.float32, {"kind": "image", "low": -1}),
        ((1, 40), np.int64, {"kind": "text", "pad": 256}),
    ]
    first, again, other = (chain.samples(name, arguments) for name in ("a", "a", "b"))
    assert all((x == y).all() for row, twin in zip(first, again, strict=True) for x, y in zip(row, twin, strict=True))
    assert (first[0][0] != other[0][0]).any()
    assert first[0][0].shape == (1, 6, 8, 3) and first[0][0].min() == -1 and first[0][0].max() == 1
    assert first[0][1].max() == 256


def test_more_samples_go_on_where_those_of_the_chain_end(tmp_path, monkeypatch):
    network = networks.Network("toy", "onnx", "toy", [{"kind": "image", "low": -1}])
    arguments = [((1, 6, 8, 3), np.float32, network.samples[0]), ((2, 5), np.float32, {})]
    monkeypatch.setattr(chain, "SAMPLES", 7)
    rows = chain.samples("toy", arguments)
    chain.save(tmp_path, "input", rows[:3])
    more = judging.draw(tmp_path, network, judging.numbered(tmp_path, "input"), 3, 4)
    assert [np.load(path).shape for path in more] == [(4, 6, 8, 3), (8, 5)]
    for index, path in enumerate(more):
        assert (np.load(path) == np.concatenate([row[index] for row in rows[3:]])).all()


def test_seconds_are_those_of_the_processor():
    sleeping = measure.run_ok(["sleep", "0.2"])
    assert sleeping.cpu_seconds < sleeping.seconds


def test_numbers_by_hand():
    reference = np.array([0.0, 10.0, -np.inf])
    assert judging.relative_error(np.array([0.0, 9.0, -np.inf]), reference) == 0.1
    assert judging.relative_error(np.array([0.0, 9.0, 3.0]), reference) == np.inf
    assert judging.relative_error(np.array([0.0]), reference) == np.inf
    assert judging.sqnr(np.array([0.0, 9.0, 5.0]), reference) == pytest.approx(20.0)
    assert judging.sqnr(reference, reference) == np.inf


def toy(folder):
    """A network in a folder as a chain leaves it."""
    (folder / "toy.mlir").write_text(TOSA)
    measure.run_ok([measure.BIN / "mct-opt", folder / "toy.mlir", "-o", folder / "network.mlirbc"])
    values = np.sin(np.arange(32, dtype=np.float32)).reshape(16, 2)
    np.save(folder / "input0.npy", values)
    np.save(folder / "output0.npy", np.tanh(values))


def test_network_goes_to_integers_and_to_the_report(tools, tmp_path):
    toy(tmp_path)
    found = integers.check(tmp_path, 16)
    assert set(found) == set(integers.TARGETS)
    for entry in found.values():
        assert entry["differing"] == 0 < entry["values"] and entry["check"] == [] and entry["sqnr"][0] > 20


def test_table_of_integers_shows_what_differs_and_what_failed():
    entry = {"sqnr": [30.0, 20.0], "values": 100, "differing": 2, "steps": 1, "check": ["i32"], "seconds": 1.0}
    done = {"integers": {"imx500": entry | {"diagnoses": ["noisy"]}, "tflite_v1": {"failure": "mct-opt: no"}}}
    assert integers.markdown({"toy": done, "other": {}}).splitlines()[3:] == [
        "| toy | imx500 | 20.0 | 100 | 2 | 1 | 1 errors | 1.0 | 1 | noisy |",
        "| toy | tflite_v1 | - | - | - | - | - | - | - | failed: mct-opt: no |",
    ]
    assert integers.markdown({"other": {}}) == ""


def test_network_is_judged_from_its_folder_alone(tools, tmp_path):
    toy(tmp_path)
    result = judging.judge(tmp_path, 16)
    assert result["ops"] == 1 and result["float_error"] < 1e-6 and result["unmatched"] == []
    assert set(result["targets"]) == set(judging.TARGETS)
    assert all(entry["sqnr"][0] > 20 for entry in result["targets"].values())
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "input0.npy",
        "network.mlirbc",
        "output0.npy",
        "toy.mlir",
    ]


def test_table_of_corrections_shows_what_costs_most():
    targets = {"imx500": {}, "tflite": RESULT["targets"]["tflite"], "qnnpack": RESULT["targets"]["qnnpack"]}
    row = table.corrections({"toy": {"targets": targets}}).splitlines()[-1]
    assert row == "| toy | - | 2.0 ± 0.5 | failed | - | 0.4 ± 0.0 | failed |"


def test_table_of_grids_shows_all_results_where_one_was_split():
    head = [["boxes_and_scores", "", 40.0, 41.0], ["boxes_and_scores", "a/b;c/BiasAdd;resource1", 0.0, None]]
    lines = grids.markdown(
        {
            "toy": {
                "imx500": {"split": 1, "results": head},
                "tflite_v1": {"split": 0, "results": [["x", "", 50.0, 50.0], *head]},
                "qnnpack": {"failure": "longer than the limit"},
            }
        }
    ).splitlines()
    assert lines[2:] == [
        "| toy | imx500 | boxes_and_scores |  | 40.0 | 41.0 | 1 |",
        "| toy | imx500 | boxes_and_scores | c | 0.0 | equal | 1 |",
        "| toy | tflite_v1 | boxes_and_scores | c | 0.0 | equal | 0 |",
        "| toy | qnnpack | - | - | - | - | failed: longer than the limit |",
    ]


def test_costs_are_measured_for_both_tools_in_turns(tools, tmp_path, monkeypatch):
    (tmp_path / "network.mlirbc").write_text(TOSA)
    np.save(tmp_path / "input0.npy", np.eye(10, 2, dtype=np.float32))
    monkeypatch.setattr(costs, "CASES", (("unet", "8/8"), ("lstm", "8/8")))
    text = costs.markdown(["unet"], lambda network: tmp_path, measure.BIN, rounds=1)
    header, line, row = text.splitlines()
    assert header.count("|") == line.count("|") == row.count("|") == 8
    assert row.startswith("| unet | 8/8 | ")
    assert row.endswith(" | same bytes |")
    assert all(float(cell) > 0 for cell in row.split(" | ")[2:6])


def test_tools_to_compare_with_belong_to_costs():
    finished = zoo("--before", "build", "--table")
    assert finished.returncode == 2
    assert "--before goes with --costs" in finished.stderr
