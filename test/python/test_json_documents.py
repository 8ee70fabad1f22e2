# SPDX-License-Identifier: Apache-2.0
"""Every JSON document of the tools has a schema in the reference, and what they write agrees with it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import measure
import pytest

# Most of them run the pipeline.
pytestmark = pytest.mark.alternating

jsonschema = pytest.importorskip("jsonschema")
pytest.importorskip("mct", reason="the package is not built (tools/dev/build)")

SCHEMAS = measure.REPOSITORY / "docs" / "reference" / "schemas"
MODEL = measure.DIGITS / "digits.mlirbc"
CALIBRATION = measure.DIGITS / "digits_calib.npy"
TEST = measure.DIGITS / "digits_test.npy"
LABELS = measure.DIGITS / "digits_test_labels.npy"
SAMPLES = [f"--input={TEST}", "--input-scale=0.0625", "--samples=64"]
DATA = ["--data", TEST, "--scale", "0.0625"]
JUDGED = [*DATA, "--labels", LABELS]

# Sources that print JSON, and the schemas of what they print; "report", "trace" and "comparison" come from mct-run.
WRITERS = {
    "lib/Inspection/Explain.cpp": ["explain"],
    "lib/Inspection/FunctionReports.cpp": ["explain", "memory", "resources", "layer-costs"],
    "lib/Inspection/ReportCosts.cpp": ["layer-costs"],
    "lib/Cost/CostedLayers.cpp": ["layer-costs"],
    "lib/Cost/CostTable.cpp": [],  # only reads
    "lib/Inspection/ReportMemory.cpp": ["memory"],
    "lib/IR/Records.cpp": ["records"],
    "lib/Inspection/ReportResources.cpp": ["resources"],
    "lib/BitWidths/BitWidthsFile.cpp": ["bit-widths"],
    "lib/Calibration/StatisticsFile.cpp": ["statistics"],
    "lib/BitWidths/MeasureSensitivity.cpp": ["shards"],
    "lib/BitWidths/MeasureTogether.cpp": ["shards"],
    "lib/Calibration/Calibrate.cpp": ["shards"],
    "lib/Calibration/MergeShards.cpp": ["shards"],
    "lib/Corrections/ShardMoments.cpp": ["shards"],
    "lib/Execution/ShardSamples.cpp": ["shards"],
    "lib/Execution/Shards.cpp": ["shards"],
    "lib/Evaluation/EvaluateShards.cpp": ["shards"],
    "lib/Evaluation/EvaluationTotals.cpp": ["shards"],
    "lib/Evaluation/ResultComparison.cpp": ["shards"],
    "lib/Support/MeasuredFile.cpp": ["shards", "statistics"],
    "lib/Execution/Evaluation.cpp": ["evaluation", "signature"],
    "lib/Export/ExportOnnx.cpp": ["signature"],  # its preprocessing, in the metadata of the file
    "lib/Export/ExportParameters.cpp": ["parameters"],
    "lib/Export/TfliteModel.cpp": ["tflite"],
    "lib/Report/ChangedAnswers.cpp": ["shards"],
    "lib/Report/Compare.cpp": ["comparison"],
    "lib/Report/JsonFields.h": ["report", "trace", "comparison"],
    "lib/Report/Observe.cpp": ["shards"],
    "lib/Report/Report.cpp": ["report"],
    "lib/Report/Schema.cpp": [],  # prints the schemas
    "lib/Report/Trace.cpp": ["trace"],
    "tools/mct-opt/mct-opt.cpp": ["trace", "records"],
    "tools/mct-run/mct-run.cpp": ["evaluation", "signature", "report"],
    "python/mct/cost.py": ["costs"],  # test_cost.py
    "python/mct/cli.py": ["run", "comparison-of-networks", "targets", "trace"],
    "python/native/Execute.cpp": ["evaluation"],
    "python/native/Module.cpp": ["trace"],  # the rest does not leave the package
    "python/native/Reports.cpp": ["report", "comparison"],
    "tpc_dialect/Json/Export.cpp": [],  # the JSON of MCT, which describes it
}


def schema_of(name: str, tools: Path) -> dict[str, Any]:
    if name in ("report", "trace", "comparison"):
        return json.loads(measure.run_ok([tools / "mct-run", f"--{name}-schema"]).stdout)
    return json.loads((SCHEMAS / f"{name}.json").read_text())


def check(name: str, text: str, tools: Path) -> None:
    schema = schema_of(name, tools)
    jsonschema.Draft202012Validator.check_schema(schema)
    errors = [
        f"{error.json_path}: {error.message}"
        for error in jsonschema.Draft202012Validator(schema).iter_errors(json.loads(text))
    ]
    assert not errors, errors[:3]


@pytest.fixture(scope="module")
def work(tools: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The digits network with chosen bit widths, and the files that were written on the way."""
    folder = tmp_path_factory.mktemp("documents")
    command = measure.ptq_command(
        MODEL,
        CALIBRATION,
        folder / "quantized.mlirbc",
        input_scale=0.0625,
        budget="weights:50%",
        bit_widths_out=folder / "bit-widths.json",
        statistics_out=folder / "statistics.json",
        remarks="true",
    )
    measure.run_ok([*command, f"--mct-records={folder / 'records.json'}", f"--mct-trace={folder / 'trace.json'}"])
    # An integer network that computes what its simulation computes, as steps are powers of two.
    options = {"target": "imx500_v1_pot", "input_scale": 0.0625}
    simulate = measure.ptq_command(MODEL, CALIBRATION, folder / "simulated.mlirbc", **options)
    measure.run_ok([*simulate, "--mct-simulate-integers"])
    lower = [tools / "mct-opt", folder / "simulated.mlirbc", "--mct-lower-to-integer", "-o", folder / "integer.mlirbc"]
    measure.run_ok(lower)
    return folder


@pytest.mark.parametrize("name", ["bit-widths", "statistics", "records", "trace"])
def test_what_quantization_writes_agrees_with_its_schema(tools: Path, work: Path, name: str) -> None:
    check(name, (work / f"{name}.json").read_text(), tools)


def test_statistics_of_channels_agree_with_the_schema(tools: Path, work: Path) -> None:
    file = work / "channels.json"
    options = f"calibration-data={CALIBRATION} input-scale=0.0625 channel-statistics=true statistics-out={file}"
    passes = ["--tpc-attach-target=target=imx500", "--mct-insert-quantizers", f"--mct-calibrate={options}"]
    measure.run_ok([tools / "mct-opt", MODEL, *passes, "-o", "/dev/null"])
    assert '"channels"' in file.read_text()
    check("statistics", file.read_text(), tools)


def test_what_a_shard_says_agrees_with_the_schema(tools: Path, work: Path) -> None:
    shard, request = work / "shard.json", work / "asked.json"
    command = measure.ptq_command(MODEL, CALIBRATION, work / "none.mlirbc", input_scale=0.0625, shards_out=shard)
    measure.run_ok(command)
    assert not (work / "none.mlirbc").exists()
    check("shards", shard.read_text(), tools)
    command = measure.ptq_command(
        MODEL, None, work / "none.mlirbc", input_scale=0.0625, shards_in=shard, shards_out=request
    )
    assert measure.run(command).returncode == 3
    check("shards", request.read_text(), tools)
    assert json.loads(request.read_text())["missing"] == "samples"


@pytest.mark.parametrize(
    "name, flag",
    [
        ("explain", "tpc-explain"),
        ("memory", "mct-report-memory"),
        ("resources", "mct-report-resources"),
        ("layer-costs", "mct-report-costs"),
    ],
)
def test_what_passes_print_agrees_with_its_schema(tools: Path, work: Path, name: str, flag: str) -> None:
    for module in (work / "quantized.mlirbc", MODEL):
        attach = ["--tpc-attach-target=target=imx500"] * (module == MODEL)
        printed = measure.run_ok([tools / "mct-opt", module, *attach, f"--{flag}=format=json", "-o", "/dev/null"])
        check(name, printed.stdout, tools)


def test_dropped_options_agree_with_the_schema(tools: Path) -> None:
    """A target with 16-bit results offers some that users of the value do not take."""
    for path in sorted((measure.REPOSITORY / "test" / "Inspection" / "tpc-explain").glob("*.mlir")):
        printed = measure.run(
            [tools / "mct-opt", path, "--split-input-file", "--tpc-explain=format=json", "-o", "/dev/null"]
        )
        decoder, text, place = json.JSONDecoder(), printed.stdout, 0
        while (place := text.find("{", place)) >= 0:
            document, place = decoder.raw_decode(text, place)
            check("explain", json.dumps(document), tools)


def test_what_mct_run_prints_agrees_with_its_schema(tools: Path, work: Path) -> None:
    quantized = work / "quantized.mlirbc"
    run = [tools / "mct-run", quantized]
    check("evaluation", measure.run_ok([*run, *SAMPLES, f"--labels={LABELS}", "--json"]).stdout, tools)
    judged = [f"--compare={MODEL}", f"--labels={LABELS}", "--metric=top2"]
    check("evaluation", measure.run_ok([*run, *SAMPLES, *judged, "--json"]).stdout, tools)
    exact = [tools / "mct-run", work / "integer.mlirbc", f"--compare={work / 'simulated.mlirbc'}", "--exact"]
    check("evaluation", measure.run_ok([*exact, *SAMPLES, "--json"]).stdout, tools)
    recorded = work / "recorded.mlirbc"
    measure.run_ok([tools / "mct-opt", MODEL, "--mct-record-preprocessing=scale=0.0625", "-o", recorded])
    for module in (quantized, recorded):
        check("signature", measure.run_ok([tools / "mct-run", module, "--signature", "--json"]).stdout, tools)


def test_reports_and_their_comparison_agree_with_their_schemas(tools: Path, work: Path) -> None:
    import mct

    reports = []
    for samples in (64, 48):
        file = work / f"report-{samples}.json"
        options = [f"--compare={MODEL}", f"--report={file}", "--report-samples=16", f"--trace={work / 'trace.json'}"]
        run = [tools / "mct-run", work / "quantized.mlirbc", *SAMPLES[:2], f"--samples={samples}"]
        measure.run_ok([*run, f"--labels={LABELS}", "--metric=top2", *options])
        check("report", file.read_text(), tools)
        reports.append(mct.report.load(file))
    check("comparison", reports[1].against(reports[0]).json, tools)


def test_exported_parameters_agree_with_their_schema(tools: Path, work: Path) -> None:
    tables = work / "tables.mlirbc"
    measure.run_ok(measure.ptq_command(MODEL, CALIBRATION, tables, target="imx500_v1_lut", input_scale=0.0625))
    for module in (work / "quantized.mlirbc", work / "integer.mlirbc", tables):
        check("parameters", measure.run_ok([tools / "mct-translate", "--export-parameters", module]).stdout, tools)


def test_what_describes_a_tflite_file_agrees_with_its_schema(tools: Path, work: Path) -> None:
    recorded = work / "quantized-recorded.mlirbc"
    record = "--mct-record-preprocessing=scale=0.0625"
    measure.run_ok([tools / "mct-opt", work / "quantized.mlirbc", record, "-o", recorded])
    described = measure.run_ok([tools / "mct-translate", "--export-tflite-json", recorded]).stdout
    document = json.loads(described)
    assert {"INT8", "INT32"} <= {tensor["type"] for tensor in document["tensors"]} and document["normalization"]
    check("tflite", described, tools)


@pytest.mark.parametrize(
    "name, words",
    [
        ("run", ["run", "{work}/quantized.mlirbc", *JUDGED]),
        ("run", ["run", "{work}/quantized.mlirbc", *JUDGED, "--metric", "top2", "--reference", MODEL]),
        ("comparison-of-networks", ["compare", "{work}/quantized.mlirbc", MODEL, *DATA]),
        ("comparison-of-networks", ["compare", "{work}/integer.mlirbc", "{work}/simulated.mlirbc", "--exact", *DATA]),
        ("explain", ["explain", MODEL, "--target", "imx500"]),
        ("targets", ["targets"]),
    ],
    ids=["run", "run-metric", "compare", "compare-exact", "explain", "targets"],
)
def test_what_the_command_prints_agrees_with_its_schema(tools: Path, work: Path, name: str, words: list[Any]) -> None:
    arguments = [str(word).format(work=work) for word in words]
    finished = subprocess.run(
        [sys.executable, "-m", "mct", *arguments, "--json"], capture_output=True, text=True, check=True
    )
    check(name, finished.stdout, tools)


def descriptions(schema: dict[str, Any], path: str) -> Iterator[tuple[str, str]]:
    for key, value in schema.get("properties", {}).items():
        yield f"{path}.{key}", value.get("description", "")
    for inner in (*schema.get("properties", {}).values(), *schema.get("anyOf", ())):
        yield from descriptions(inner, path)
    for key in ("items", "additionalProperties"):
        if isinstance(schema.get(key), dict):
            yield from descriptions(schema[key], f"{path}.{key}")


def test_every_key_has_a_meaning(tools: Path) -> None:
    names = [path.stem for path in SCHEMAS.glob("*.json")] + ["report", "trace", "comparison"]
    missing = [key for name in names for key, text in descriptions(schema_of(name, tools), name) if not text]
    assert len(names) > 12 and not missing


def test_every_source_that_writes_json_has_a_schema() -> None:
    written = {name for names in WRITERS.values() for name in names}
    assert written == {path.stem for path in SCHEMAS.glob("*.json")} | {"report", "trace", "comparison"}
    found = set()
    for folder in ("lib", "tools", "tpc_dialect", "python/native"):
        for path in (measure.REPOSITORY / folder).rglob("*"):
            if path.suffix not in (".cpp", ".h"):
                continue
            text = re.sub(r"//[^\n]*", "", path.read_text())
            # Writers stream, build objects, or dump; others only read.
            writes = r"json::OStream (?!&)|OStream json\(|json::Object\{\{|print(?:Document|Records)\("
            if re.search(writes, text):
                found.add(str(path.relative_to(measure.REPOSITORY)))
    assert found - WRITERS.keys() == set(), "give what it writes a schema"
