# SPDX-License-Identifier: Apache-2.0
"""Costs of layers on Ethos-U: what becomes of Vela's answers, tables of them, and networks with fewer cycles."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import mct
import measure
import numpy as np
import pytest

sys.path.insert(0, str(measure.REPOSITORY / "tools" / "dev" / "downstream"))

import tool_environments

jsonschema = pytest.importorskip("jsonschema")

SCHEMAS = measure.REPOSITORY / "docs" / "reference" / "schemas"
DATA = measure.DIGITS
TEST, LABELS = DATA / "digits_test.npy", DATA / "digits_test_labels.npy"
SCALE = {"preprocessing": mct.Preprocessing.of(0.0625), "progress": False}

# Writes the rows in $FAKE_VELA, and counts its calls.
VELA = """\
#!{python}
import json, os, pathlib, sys
if "--version" in sys.argv:
    print("5.2.0")
    sys.exit(0)
with open(os.environ["FAKE_CALLS"], "a") as calls:
    print(" ".join(sys.argv[1:]), file=calls)
told = json.loads(os.environ["FAKE_VELA"])
if "error" in told:
    print("Error: " + told["error"])
    sys.exit(1)
folder = pathlib.Path(sys.argv[sys.argv.index("--output-dir") + 1])
folder.mkdir()
rows = ["Target,Op Cycles,Staging Usage,Name", *(",".join(map(str, row)) for row in told["rows"])]
(folder / "network_per-layer.csv").write_text("\\n".join(rows) + "\\n")
total = sum(row[1] for row in told["rows"])
(folder / "network_summary_x.csv").write_text(f"cycles_total,sram_memory_used\\n{{total}},2.5\\n")
"""
SERIALIZER = """\
#!{python}
import re, shutil, sys
shutil.copy(sys.argv[2], re.search(r"filename=(\\S+)", sys.argv[1])[1])
"""


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Programs in place of Vela and the serializer: a function that sets their results, and the calls of Vela."""
    mct.cost._version.cache_clear()
    for name, text in (("vela", VELA), ("tosa-opt", SERIALIZER)):
        program = tmp_path / "bin" / name
        program.parent.mkdir(exist_ok=True)
        program.write_text(text.format(python=sys.executable))
        program.chmod(0o755)
    calls = tmp_path / "calls"
    calls.touch()
    environment = {"MCT_VELA": tmp_path / "bin", "MCT_TOSA_TOOLS": tmp_path / "bin", "FAKE_CALLS": calls}
    for variable, value in environment.items():
        monkeypatch.setenv(variable, str(value))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    def configure(**settings: Any) -> Any:
        monkeypatch.setenv("FAKE_VELA", json.dumps(settings))
        return lambda: calls.read_text().splitlines()

    yield configure
    mct.cost._version.cache_clear()


@pytest.fixture(scope="module")
def quantized() -> Any:
    return mct.quantize(
        mct.load(DATA / "digits.mlirbc"), "imx500", np.load(DATA / "digits_calib.npy"), effort="fast", **SCALE
    )


def lower(model: Any) -> Any:
    return mct.lower_to_integer(mct.simulate_integers(model), profile="ethos-u55", io="integer", softmax="cut")


def test_rows_belong_to_the_operators_whose_results_they_are(quantized: Any, fake: Any) -> None:
    integer = lower(quantized)
    [ops] = json.loads(integer.module.run("mct-lower-to-quant").op_names())
    layers = [layer["name"] for layer in quantized.costs()["functions"][0]["layers"]]
    name = next(name for name in layers if name in ops["names"])
    last = ops["names"][ops["results"][0]]
    number = max(at for at, each in enumerate(ops["names"]) if each == name)
    # A row without a name belongs to the next row with one, and the last row to the previous one.
    rows = [
        ["NPU", 30, 64, "unknown"],
        ["NPU", 70, 32, f"layer_{number}"],
        ["NPU", 5, 16, "TosaOutput_0"],
        ["NPU", 1, 1, "x"],
    ]
    calls = fake(rows=rows)
    for given in (quantized, integer):
        costs = mct.cost.ethos_u(given, "ethos-u55-256")
        assert costs[name] == mct.cost.OperatorCost(name, 100, 64)
        assert costs[last] == mct.cost.OperatorCost(last, 6, 16)
        assert costs["nothing"].cycles == 0
        assert (costs.cycles, costs.memory_bytes, costs.device) == (106, 2560, "ethos-u55-256")
    # The tool is called once for the same network, and again for another device.
    assert len(calls()) == 1
    assert "--accelerator-config ethos-u55-256 " in calls()[0]
    mct.cost.ethos_u(integer, "ethos-u85-256", memory="Sram_Only")
    assert len(calls()) == 2 and "--memory-mode Sram_Only " in calls()[1]


def test_what_vela_refuses_is_an_error(quantized: Any, fake: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(mct.Error, match=r"accelerator: expected a configuration of Vela .* found 'cortex-m4'"):
        mct.cost.ethos_u(quantized, "cortex-m4")
    fake(error="no such op")
    with pytest.raises(mct.Error, match="vela refuses the network: Error: no such op"):
        mct.cost.ethos_u(quantized)
    fake(rows=[["CPU", 1, 1, "layer_1"]])
    with pytest.raises(mct.Error, match="vela leaves 1 operators to the processor, whose cycles it does not know"):
        mct.cost.ethos_u(quantized)
    monkeypatch.setenv("MCT_VELA", "/nowhere")
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(ImportError, match=r"cycles of Ethos-U need vela: .*ethos-u-vela"):
        mct.cost.ethos_u(quantized)


def test_a_table_has_every_layer_with_all_sizes_of_its_kernel(quantized: Any, fake: Any, tmp_path: Path) -> None:
    calls = fake(rows=[["NPU", 10, 64, "TosaOutput_0"]])
    path = tmp_path / "costs.json"
    mct.cost.write_table(quantized, "ethos-u55-256", path, tolerances=(4, 64))
    table = json.loads(path.read_text())
    jsonschema.validate(table, json.loads((SCHEMAS / "costs.json").read_text()))
    assert (table["device"], table["tool"]) == ("ethos-u55-256", "vela 5.2.0")
    # Kernels of 8, 4 and 2 bits, and two tolerances of 8 bits.
    assert len(calls()) == 5
    layers = quantized.costs()["functions"][0]["layers"]
    known = {json.dumps(layer["form"], sort_keys=True) for layer in layers}
    forms = [{key: value for key, value in layer.items() if key != "points"} for layer in table["layers"]]
    assert {json.dumps(form, sort_keys=True) for form in forms} == known and len(forms) == len(known)
    sizes = [len(layer["points"]) for layer in table["layers"] if layer["ops"][0] == "tosa.conv2d"]
    assert sizes and all(count >= 4 for count in sizes)
    found = quantized.costs(path)
    jsonschema.validate(found, json.loads((SCHEMAS / "layer-costs.json").read_text()))
    assert found["functions"][0]["cycles"] == 10
    # Tables of other networks do not know these layers.
    path.write_text(json.dumps(table | {"layers": table["layers"][1:]}))
    with pytest.raises(mct.Error, match=r"costs of '.*' are not in '.*costs.json'"):
        quantized.costs(path)


# A device that spends a cycle on each byte of a kernel, 5 on each layer, and 100 on the network.
SIMULATOR = """
import json, pathlib, sys
question = json.load(sys.stdin)
assert question["format"] == "mct-cost-question" and question["version"] == 1
assert "i8" in pathlib.Path(question["network"]).read_text()
operators = [
    {"name": layer["name"], "cycles": layer["compressed_bytes"] + 5, "memory_bytes": 64} for layer in question["layers"]
]
with open(sys.argv[1], "a") as calls:
    print(question["device"], file=calls)
total = 100 + sum(operator["cycles"] for operator in operators)
print(json.dumps({"cycles": total, "memory_bytes": 2048, "operators": operators}))
"""


def test_a_command_measures_networks_and_writes_tables(quantized: Any, tmp_path: Path) -> None:
    calls, path = tmp_path / "calls", tmp_path / "costs.json"
    command = [sys.executable, "-c", SIMULATOR, calls]
    layers = quantized.costs()["functions"][0]["layers"]
    costs = mct.cost.measure(quantized, command, device="own")
    assert costs.device == "own" and costs.memory_bytes == 2048 and len(costs.operators) == len(layers)
    assert costs.cycles == 100 + sum(layer["compressed_bytes"] + 5 for layer in layers)
    assert costs[layers[0]["name"]].cycles == layers[0]["compressed_bytes"] + 5
    mct.cost.write_table(quantized, "own", path, tolerances=(), command=command)
    table = json.loads(path.read_text())
    jsonschema.validate(table, json.loads((SCHEMAS / "costs.json").read_text()))
    assert (table["device"], table["tool"]) == ("own", Path(sys.executable).name)
    assert all(one["cycles"] == one["compressed_bytes"] + 5 for layer in table["layers"] for one in layer["points"])
    # The command is called once for the network, and once each for kernels of 8, 4 and 2 bits.
    assert calls.read_text().split() == ["own"] * 4
    mixed = quantize(budget=("cycles:75%",), cost_table=path)
    found = mixed.costs(path)["functions"][0]
    assert found["cycles"] <= 0.75 * quantized.costs(path)["functions"][0]["cycles"]
    # The table predicts the cost of a network for which the command was not called.
    assert found["cycles"] + 100 == pytest.approx(mct.cost.measure(mixed, command).cycles, rel=0.01)


# A layer takes as long as its kernel is large, and the next one 1000 cycles more if that kernel is large.
NEIGHBOURS = """
import json, sys
operators, before = [], 0
for layer in json.load(sys.stdin)["layers"]:
    cycles = layer["compressed_bytes"] + 5 + (1000 if before > 400 else 0)
    operators.append({"name": layer["name"], "cycles": cycles, "memory_bytes": 64})
    before = layer["compressed_bytes"]
print(json.dumps({"cycles": sum(one["cycles"] for one in operators), "memory_bytes": 64, "operators": operators}))
"""


def test_an_updated_table_predicts_a_network_whose_layers_depend_on_their_neighbours(
    quantized: Any, tmp_path: Path
) -> None:
    path, command = tmp_path / "costs.json", [sys.executable, "-c", NEIGHBOURS]
    mct.cost.write_table(quantized, "own", path, tolerances=(), command=command)
    # In one of the three networks of the table, the layer before the last one is large.
    measured = mct.cost.measure(quantized, command).cycles
    assert abs(quantized.costs(path)["functions"][0]["cycles"] - measured) > 500
    assert mct.cost.update_table(quantized, path, command=command).cycles == measured
    assert quantized.costs(path)["functions"][0]["cycles"] == measured
    table = json.loads(path.read_text())
    jsonschema.validate(table, json.loads((SCHEMAS / "costs.json").read_text()))
    before = path.read_bytes()
    mct.cost.update_table(quantized, path, command=command)
    assert path.read_bytes() == before
    # Layers of the table that are for kernels of any width.
    wide = [
        {key: [dict(point, cycles=1) for point in value] if key == "points" else value for key, value in layer.items()}
        for layer in table["layers"]
        if layer.pop("kernel_bits", 8) == 8
    ]
    path.write_text(json.dumps(table | {"layers": wide}))
    assert quantized.costs(path)["functions"][0]["cycles"] != measured
    mct.cost.update_table(quantized, path, command=command)
    assert quantized.costs(path)["functions"][0]["cycles"] == measured
    assert len(json.loads(path.read_text())["layers"]) == len(wide)
    path.write_text(json.dumps(table | {"layers": table["layers"][1:]}))
    with pytest.raises(mct.Error, match=r"costs of '.*' are not in '.*costs.json'"):
        mct.cost.update_table(quantized, path, command=command)


def test_layers_whose_costs_are_known_are_not_asked_for_again(quantized: Any, fake: Any, tmp_path: Path) -> None:
    """The second network has no layer and no width that the first one has not, but is another network."""
    calls = fake(rows=[["NPU", 10, 64, "TosaOutput_0"]])
    one, both = tmp_path / "one.json", tmp_path / "both.json"
    again = mct.Model.parse(quantized.text.replace("func.func @main", "func.func @other"), "again.mlir")
    assert again.text != quantized.text
    mct.cost.write_table(quantized, "ethos-u55-256", one, tolerances=())
    assert len(calls()) == 3
    mct.cost.write_table([quantized, again], "ethos-u55-256", both, tolerances=())
    assert len(calls()) == 3 and one.read_bytes() == both.read_bytes()


@pytest.mark.parametrize(
    ("program", "message"),
    [
        ("print('none')", "answers what is not JSON"),
        ("print('{}')", "answers without a list of 'operators'"),
        ('print(\'{"operators": [{"name": "x"}]}\')', "answers with 'x', which does not name a layer"),
        ('print(\'{"operators": [], "cycles": -1}\')', "answers -1 as 'cycles' of the network, and not a number"),
        ("import sys; sys.exit('no chip')", "ends with 1: no chip"),
    ],
)
def test_what_a_command_cannot_say_is_an_error(quantized: Any, program: str, message: str) -> None:
    with pytest.raises(mct.Error) as raised:
        mct.cost.measure(quantized, [sys.executable, "-c", program])
    assert message in str(raised.value)


def test_a_command_is_a_list_of_words(quantized: Any) -> None:
    with pytest.raises(mct.Error, match="command: expected a list of words, the first of which is a program, found"):
        mct.cost.measure(quantized, "rm -r x")
    with pytest.raises(mct.Error, match="command: '/nowhere/simulator' cannot be run: No such file or directory"):
        mct.cost.measure(quantized, ["/nowhere/simulator"])
    twice = (
        "import json, sys; row = {'name': json.load(sys.stdin)['layers'][0]['name'], 'cycles': 1, 'memory_bytes': 1}; "
    )
    twice += "print(json.dumps({'cycles': 1, 'memory_bytes': 1, 'operators': [row, row]}))"
    with pytest.raises(mct.Error, match="answers with an operator that is there twice"):
        mct.cost.measure(quantized, [sys.executable, "-c", twice])


@pytest.fixture
def vela(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable, tool in (("MCT_VELA", "vela"), ("MCT_TOSA_TOOLS", "tosa")):
        program = tool_environments.program(tool)
        if not program:
            pytest.skip(f"{tool} is not installed (tools/dev/downstream --install {tool})")
        monkeypatch.setenv(variable, str(program.parent))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))


def quantize(**options: Any) -> Any:
    data = np.load(DATA / "digits_calib.npy")
    return mct.quantize(mct.load(DATA / "digits.mlirbc"), "imx500", data, effort="fast", **SCALE, **options)


@pytest.mark.alternating
def test_predicted_cycles_are_those_of_vela(quantized: Any, vela: None, tmp_path: Path) -> None:
    """Operators take different alternatives, and Vela was not asked for that network."""
    table = tmp_path / "costs.json"
    mct.cost.write_table(quantized, "ethos-u55-256", table, tolerances=(16,))
    before = quantized.costs(table)["functions"][0]["cycles"]
    assert before == mct.cost.ethos_u(quantized).cycles
    mixed = quantize(budget=("cycles:85%",), cost_table=table, weights_error_tolerances=(16,))
    found, predicted = mct.cost.ethos_u(mixed), mixed.costs(table)["functions"][0]
    assert predicted["cycles"] <= 0.86 * before
    assert predicted["cycles"] == pytest.approx(found.cycles, rel=0.02)
    assert sum(operator.cycles for operator in found.operators) == found.cycles
    for layer in predicted["layers"]:
        assert layer["cycles"] == pytest.approx(found[layer["name"]].cycles, rel=0.05, abs=50)


@pytest.mark.alternating
def test_a_promised_drop_takes_the_fewest_cycles(quantized: Any, tmp_path: Path) -> None:
    table, path = DATA / "digits_costs.json", tmp_path / "bits.json"
    jsonschema.validate(json.loads(table.read_text()), json.loads((SCHEMAS / "costs.json").read_text()))
    judge = {"metric": "top1", "validation": np.load(TEST), "labels": np.load(LABELS)}
    promise = {"max_drop": 0.02, "minimize": "cycles", "device": "ethos-u55-256", "cost_table": table}
    made = quantize(bit_widths_out=path, **promise, **judge)
    written = json.loads(path.read_text())
    jsonschema.validate(written, json.loads((SCHEMAS / "bit-widths.json").read_text()))
    assert written["contract"]["minimized"] == "cycles"
    assert f"cycles: {written['resources']['cycles']} cycles" in made.contract.text
    cycles = made.costs(table)["functions"][0]["cycles"]
    # Kernels of few bits are rounded together after the choice, which changes their sizes a little.
    assert written["resources"]["cycles"] == pytest.approx(cycles, rel=0.02)
    assert cycles < 0.9 * quantized.costs(table)["functions"][0]["cycles"]


def test_a_report_tells_the_loss_for_each_saved_cycle(quantized: Any, capsys: pytest.CaptureFixture[str]) -> None:
    table = DATA / "digits_costs.json"
    mixed = quantize(budget=("cycles:75%",), cost_table=table)
    report = mixed.report(data=np.load(TEST)[:64], effect_samples=16, cost_table=table)
    found = report.document
    assert found["costs"] == {"device": "ethos-u55-256", "cycles": mixed.costs(table)["functions"][0]["cycles"]}
    costs = {one["name"]: one for one in found["operators"] if "cost" in one}
    assert sum(one["cost"]["cycles"] for one in costs.values()) == found["costs"]["cycles"]
    first = {layer["name"]: layer["cycles"] for layer in quantized.costs(table)["functions"][0]["layers"]}
    saved = [one for one in costs.values() if one["cost"]["saved_cycles"] > 0]
    assert saved
    for one in saved:
        cost = one["cost"]
        assert cost["saved_cycles"] == first[one["name"]] - cost["cycles"]
        assert cost["loss_per_cycle"] == pytest.approx(one["effect"]["gain"] / cost["saved_cycles"])
    assert not any("loss_per_cycle" in one["cost"] for one in costs.values() if one["cost"]["saved_cycles"] <= 0)
    report.show()
    shown = capsys.readouterr().out
    dearest = max(saved, key=lambda one: one["cost"]["loss_per_cycle"])
    rows = shown.split(f"{found['costs']['cycles']} cycles on ethos-u55-256")[1].splitlines()
    assert next(row for row in rows[1:] if row.strip(" ─")).split()[0] == dearest["name"]
