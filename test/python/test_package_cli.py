# SPDX-License-Identifier: Apache-2.0
"""The console command `mct`, as a process."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import measure
import numpy as np
import pytest

mct = pytest.importorskip("mct", reason="the package is not built (tools/dev/build)")

DATA = measure.REPOSITORY / "test" / "data"
DIGITS, CALIBRATION, TEST = DATA / "digits.mlirbc", DATA / "digits_calib.npy", DATA / "digits_test.npy"
LABELS = DATA / "digits_test_labels.npy"
SCALE = "--scale=0.0625"
COMMANDS = ("quantize", "run", "compare", "report", "explain", "targets", "import", "export", "completion")


def call(*arguments: object, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "mct", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=cwd)


def output(*arguments: object, cwd: Path | None = None) -> str:
    finished = call(*arguments, cwd=cwd)
    assert finished.returncode == 0, finished.stderr
    # The last line of `mct quantize`.
    assert re.fullmatch(r"(\d+ of \d+ layers? in integers\n)?", finished.stderr)
    return finished.stdout


def refused(*arguments: object, status: int = 1) -> str:
    finished = call(*arguments)
    assert finished.returncode == status and finished.stdout == "", finished
    assert "Traceback" not in finished.stderr
    return finished.stderr


@pytest.fixture(scope="module")
def quantized(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("cli") / "q.mlirbc"
    output("quantize", DIGITS, "--target", "imx500", "--data", CALIBRATION, SCALE, "-o", path)
    return path


@pytest.mark.alternating
def test_quantize_writes_what_mct_opt_writes(tools: Path, tmp_path: Path, quantized: Path) -> None:
    expected = tmp_path / "expected.mlirbc"
    options = f"target=imx500 calibration-data={CALIBRATION}"
    record = "--mct-record-preprocessing=input=0 scale=0.0625"
    subprocess.run([tools / "mct-opt", DIGITS, record, f"--mct-ptq={options}", "-o", expected], check=True)
    text = [output("import", path, "-o", tmp_path / f"{path.stem}.mlir") for path in (expected, quantized)]
    assert text == [f"{tmp_path / path.stem}.mlir\n" for path in (expected, quantized)]
    assert (tmp_path / "expected.mlir").read_text() == (tmp_path / "q.mlir").read_text()


def test_layers_that_stay_float_are_warned_of_and_counted(tmp_path: Path) -> None:
    number = "tensor<1xf32>"
    kernel, image = "tensor<2x1x1x2xf32>", "tensor<1x4x4x2xf32>"
    attributes = (
        "{acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>}"
    )
    layer = f"%k, %b, %z, %z {attributes} : ({image}, {kernel}, tensor<2xf32>, {number}, {number}) -> {image}"
    (tmp_path / "two.mlir").write_text(
        f"""func.func @main(%x: {image}) -> {image} {{
        %k = "tosa.const"() <{{values = dense<[[[[0.5, -0.3]]], [[[0.2, 0.7]]]]> : {kernel}}}> : () -> {kernel}
        %b = "tosa.const"() <{{values = dense<0.1> : tensor<2xf32>}}> : () -> tensor<2xf32>
        %z = "tosa.const"() <{{values = dense<0.0> : {number}}}> : () -> {number}
        %0 = tosa.conv2d %x, {layer} loc("first")
        %1 = tosa.exp %0 : ({image}) -> {image} loc("middle")
        %2 = tosa.conv2d %1, {layer} loc("second")
        return %2 : {image} }}"""
    )
    np.save(tmp_path / "samples.npy", np.random.default_rng(0).normal(size=(8, 4, 4, 2)).astype(np.float32))
    data = ("--data", tmp_path / "samples.npy")
    common = ("quantize", tmp_path / "two.mlir", "--target", "tflite", *data, "-o", tmp_path / "q.mlir")
    assert call(*common).stderr.endswith("2 of 2 layers in integers\n")
    lines = call(*common, "--keep-float", "middle").stderr.splitlines()
    warnings = [line for line in lines if "warning" in line or "stays float" in line]
    assert (
        len(warnings) == 1 and "'second' stays float although the target quantizes it: it reads 'middle'" in warnings[0]
    )
    assert lines[-1] == "1 of 2 layers in integers"
    report = ("report", tmp_path / "q.mlir", "--model", tmp_path / "two.mlir", *data, "-o", tmp_path / "report.json")
    assert call(*report).returncode == 0
    verdict = json.loads((tmp_path / "report.json").read_text())["verdict"]
    assert verdict.endswith(" 1 of 2 layers in integers: 'second' stays float.")


@pytest.mark.alternating
def test_options_of_the_pipeline_are_options_of_the_command(tmp_path: Path) -> None:
    (tmp_path / "float.rules").write_text('name "*" activation=float\n')
    common = ("quantize", DIGITS, "--target", "imx500", "-o", tmp_path / "q.mlir")
    output(*common, "--overrides", tmp_path / "float.rules", "--weights-error-method", "no-clipping")
    plain = (tmp_path / "q.mlir").read_text()
    output(*common, "--overrides", tmp_path / "float.rules", "--linear-collapsing", "false")
    assert (tmp_path / "q.mlir").read_text() != plain
    assert "expected true or false" in refused(*common, "--linear-collapsing", "no", status=2)
    assert "invalid choice: 'best'" in refused(*common, "--weights-error-method", "best", status=2)


@pytest.mark.alternating
def test_widths_and_what_stays_float_are_said_in_a_few_words(tmp_path: Path) -> None:
    common = ("quantize", DIGITS, "--target", "imx500", "--data", CALIBRATION, "--scale", "0.0625")
    path = tmp_path / "q.mlirbc"
    output(*common, "--weights", "4", "--activations", "8", "--keep-float", "head*", "--effort", "fast", "-o", path)
    points = mct.QuantizedModel(mct.load(path).module, None, None).points
    assert {point.bits for point in points if point.weight == "kernel_attr"} == {4}
    assert {point.bits for point in points if not point.weight} == {8}
    assert not [point.name for point in points if point.name.startswith("head")]
    message = refused(*common, "--weights", "5", "-o", path)
    assert message.startswith(
        "error: --weights 5: none of the quantized weights can have 5 bits; the target offers 8, 4"
    )
    message = refused(*common, "--keep-float", "haed*", "-o", path)
    assert message.startswith("error: --keep-float haed*: the rule matches nothing")
    assert "invalid choice: 'quick'" in refused(*common, "--effort", "quick", "-o", path, status=2)


def test_help_lists_the_options_of_the_pipeline_by_section() -> None:
    text = output("quantize", "--help")
    sections = ["general", "bit widths", "calibration", "preparation", "selection", "corrections", "training"]
    places = [text.index(f"\n{section}:\n") for section in sections]
    assert places == sorted(places)
    for section, option in {"bit widths": "--weights N", "training": "--gptq-epochs N"}.items():
        begin = text.index(f"\n{section}:\n")
        assert f"\n  {option}" in text[begin : text.index("\n\n", begin + 1)]


@pytest.mark.alternating
def test_images_of_a_folder_are_samples(tmp_path: Path) -> None:
    image = pytest.importorskip("PIL.Image", reason="Pillow is not installed (extra images)")
    labels = np.load(LABELS)[:40]
    for number, (pixels, label) in enumerate(zip(np.load(TEST)[:40], labels, strict=True)):
        (tmp_path / "images" / str(label)).mkdir(parents=True, exist_ok=True)
        image.fromarray(pixels[..., 0]).save(tmp_path / "images" / str(label) / f"{number:02}.png")
    common = ("--data", tmp_path / "images")
    output("quantize", DIGITS, "--target", "imx500", *common, SCALE, "-o", tmp_path / "q.mlirbc")
    # Folders are classes, and the scale stands in the module.
    found = json.loads(output("run", tmp_path / "q.mlirbc", *common, "--json"))
    assert found["samples"] == 40 and found["top1"] > 0.9
    limited = json.loads(output("run", tmp_path / "q.mlirbc", *common, "--json", "--samples", "10"))
    assert limited["samples"] == 10


@pytest.mark.alternating
def test_run_writes_outputs_and_counts_answers(tools: Path, tmp_path: Path, quantized: Path) -> None:
    text = output("run", quantized, "--data", TEST, "--labels", LABELS, "--output", tmp_path / "cli.npy")
    assert text.startswith("samples    899\ntop-1      9")
    command = [tools / "mct-run", quantized, f"--input={TEST}", f"--output={tmp_path / 'run.npy'}"]
    subprocess.run(command, check=True, capture_output=True)
    assert (tmp_path / "cli.npy").read_bytes() == (tmp_path / "run.npy").read_bytes()


@pytest.mark.alternating
def test_compare_prints_points_and_sorts_them(quantized: Path) -> None:
    common = ("compare", quantized, DIGITS, "--data", TEST, "--samples", "50")
    in_order = output(*common).splitlines()
    sorted_ = output(*common, "--sort", "error").splitlines()
    assert in_order[0] == "samples    50" and in_order[1].startswith("agreement ")
    head = next(number for number, line in enumerate(in_order) if line.startswith("point "))
    assert sorted(in_order[head:]) == sorted(sorted_[head:]) and in_order[head:] != sorted_[head:]
    found = json.loads(output(*common, "--json"))
    assert {"name", "sqnr_db", "cosine", "max_error"} == set(found["points"][0]) and found["samples"] == 50


@pytest.mark.alternating
def test_exact_comparison_is_an_exit_status(tools: Path, tmp_path: Path) -> None:
    record, ptq = (
        "--mct-record-preprocessing=scale=0.0625",
        f"--mct-ptq=target=imx500_v1_pot calibration-data={CALIBRATION}",
    )
    simulated, integer = tmp_path / "simulated.mlirbc", tmp_path / "integer.mlirbc"
    subprocess.run([tools / "mct-opt", DIGITS, record, ptq, "--mct-simulate-integers", "-o", simulated], check=True)
    subprocess.run([tools / "mct-opt", simulated, "--mct-lower-to-integer=io=integer", "-o", integer], check=True)
    common = ("--data", TEST, "--samples", "20", "--exact")
    assert output("compare", integer, simulated, *common).splitlines()[-1].split()[2] == "0"
    finished = call("compare", integer, DIGITS, *common)
    assert finished.returncode == 1 and "values differ" in finished.stderr


@pytest.mark.alternating
def test_explain_tells_what_the_target_asks(quantized: Path) -> None:
    text = output("explain", DIGITS, "--target", "imx500")
    assert "Conv" in text
    json.loads(output("explain", quantized, "--json"))


def test_targets_are_listed_and_printed(tools: Path) -> None:
    listed = subprocess.run(
        [tools / "mct-opt", "--tpc-list-targets"], capture_output=True, text=True, check=True
    ).stdout
    assert output("targets") == listed
    assert "\ntflite_v1_mct (as MCT ships it, for comparisons: refuses networks" in listed
    assert json.loads(output("targets", "--json"))["imx500"] == "imx500_v1_0"
    assert "tpc.target" in output("targets", "imx500")
    assert json.loads(output("targets", "imx500", "--json"))["name"] == "imx500_tpc"
    assert "'imx5000'" in refused("targets", "imx5000")


def test_import_writes_text_and_bytecode(tmp_path: Path) -> None:
    output("import", DIGITS, "-o", tmp_path / "digits.mlir")
    output("import", tmp_path / "digits.mlir", "-o", tmp_path / "digits.mlirbc")
    assert (tmp_path / "digits.mlir").read_text().startswith("module")
    assert (tmp_path / "digits.mlirbc").read_bytes()[:4] == b"ML\xefR"


@pytest.mark.alternating
@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_every_command_has_an_example(command: str) -> None:
    text = output(command, "--help")
    example = text.split("example:\n")[1].strip()
    assert f"mct {command} " in example
    # It is a line that the command itself understands.
    words = shlex.split(example.removeprefix("source <(").removesuffix(")"))[1:]
    from mct.cli import make_parser

    assert make_parser().parse_args(words).function_to_call


def test_help_lists_the_commands() -> None:
    text = output("--help")
    assert all(f"\n    {command} " in text for command in COMMANDS)
    assert "mct quantize model.tflite --target imx500 --data images/ -o q.mlirbc" in text


@pytest.mark.alternating
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("quantize", DIGITS, "--target", "imx5000", "--data", CALIBRATION, "-o", "q.mlir"), "imx5000"),
        (
            ("quantize", DIGITS, "--target", "imx500", "--data", "none.npy", "-o", "q.mlir"),
            "'none.npy': cannot be read",
        ),
        (("quantize", "none.mlir", "--target", "imx500", "-o", "q.mlir"), "cannot read 'none.mlir'"),
        (("run", DIGITS, "--data", TEST, "--scale", "1,2"), "expected one value, or one for each of the 1 channels"),
        (("run", DIGITS, "--data", LABELS), "expected shape 8x8x1, or Nx8x8x1 for a batch"),
        (("run", DIGITS, "--data", TEST, "--size", "8"), "--size: is for images"),
        (("run", DIGITS, "--data", DATA, TEST), "--data: expected one folder of images, images, or .npy files"),
        (("run", DIGITS, "--data", DATA), "images: no images below"),
        (("import", __file__, "-o", "x.mlir"), "error: "),
    ],
    ids=lambda value: " ".join(map(str, value[:1])) if isinstance(value, tuple) else "",
)
def test_what_is_wrong_is_one_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[object, ...], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    text = refused(*arguments)
    assert text.startswith("error: ") and message in text, text
    assert not list(tmp_path.iterdir())


@pytest.mark.alternating
def test_data_by_name_is_all_by_name() -> None:
    (name,) = (spec.name for spec in mct.samples.read_signature(mct.load(DIGITS).module))
    assert "names no input; the inputs are" in refused("run", DIGITS, "--data", f"{name}:{TEST}", TEST)
    assert output("run", DIGITS, "--data", f"{name}:{TEST}", "--samples", "3").startswith("samples    3\n")


def test_export_needs_a_format_that_there_is(tmp_path: Path) -> None:
    text = refused("export", DIGITS, "-o", tmp_path / "network.xyz")
    assert "cannot tell the format of" in text and "onnx, tflite, tosa, parameters, target" in text


def test_ctrl_c_is_status_130(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    from mct import _native, cli

    def interrupt() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(_native, "print_targets", interrupt)
    assert cli.main(["targets"]) == 130
    assert capsys.readouterr().err == "interrupted\n"


def test_usage_errors_are_status_2() -> None:
    run = ("run", "m", "--data", "d")
    assert "expected numbers separated by commas, got 'x'" in refused(*run, "--mean", "x", status=2)
    assert "expected HEIGHTxWIDTH or one number, got '3x'" in refused(*run, "--size", "3x", status=2)
    assert "required: COMMAND" in refused(status=2)


def complete(*words: str) -> list[str]:
    """Returns the completions that bash offers for the last of the words."""
    script = (
        'source <("$PYTHON" -m mct completion bash)\n'
        f"COMP_WORDS=({shlex.join(words)}); COMP_CWORD={len(words) - 1}; _mct\n"
        'printf "%s\\n" "${COMPREPLY[@]}"'
    )
    environment = os.environ | {"PYTHON": sys.executable}
    finished = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True, env=environment)
    assert finished.stderr == ""
    return finished.stdout.split()


@pytest.mark.alternating
def test_bash_completes_commands_options_and_words() -> None:
    assert complete("mct", "") == list(COMMANDS)
    assert complete("mct", "co") == ["compare", "completion"]
    assert complete("mct", "compare", "--e") == ["--exact"]
    assert complete("mct", "compare", "--sort", "") == ["program", "error"]
    assert complete("mct", "run", "--resize", "s") == ["stretch"]
    assert complete("mct", "export", "--profile", "q") == ["qdq"]
    assert "--weights-error-method" in complete("mct", "quantize", "--weights-")
    assert "no-clipping" in complete("mct", "quantize", "--weights-error-method", "no")
    assert {"imx500", "tflite_v1"} <= set(complete("mct", "quantize", "--target", ""))
    assert complete("mct", "targets", "imx500_v1_p") == ["imx500_v1_pot"]
    # Files are the shell's.
    assert complete("mct", "run", "q.m") == []


def test_zsh_gets_the_same_by_its_own_means() -> None:
    bash, zsh = (output("completion", shell) for shell in ("bash", "zsh"))
    assert zsh.endswith(bash) and "bashcompinit" in zsh


def test_fish_is_told_commands_options_and_values() -> None:
    lines = output("completion", "fish").splitlines()
    for command in COMMANDS:
        assert any(line.startswith(f"complete -c mct -n __fish_use_subcommand -f -a {command} -d ") for line in lines)
    completion = "complete -c mct -n '__fish_seen_subcommand_from {}'"
    assert f"{completion.format('compare')} -l sort -x -a 'program error'" in lines
    assert f"{completion.format('compare')} -l exact" in lines
    (target,) = (line for line in lines if line.startswith(f"{completion.format('quantize')} -l target "))
    assert " -r -a '" in target and " imx500 " in target
    if fish := shutil.which("fish"):
        subprocess.run([fish, "--no-execute"], input="\n".join(lines), text=True, check=True)


def test_version_is_that_of_the_project() -> None:
    text = (measure.REPOSITORY / "CMakeLists.txt").read_text()
    (version,) = re.findall(r"^project\(Mct VERSION ([0-9.]+)", text, re.MULTILINE)
    assert output("--version") == f"mct {version}\n"
    assert mct.__version__ == version


def test_build_tree_has_the_command_and_a_script_that_finds_it(tools: Path) -> None:
    script = f"source {tools.parent}/activate && command -v mct mct-opt && mct --version && python -m mct --version"
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    finished = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True, env=environment)
    version = f"mct {mct.__version__}"
    assert finished.stdout.splitlines() == [str(tools / "mct"), str(tools / "mct-opt"), version, version]


def test_fish_has_a_script_of_its_own(tools: Path) -> None:
    script = tools.parent / "activate.fish"
    folders = (tools, tools.parent / "python")
    assert all(f'"{folder}"' in script.read_text() for folder in folders)
    fish = shutil.which("fish")
    if not fish:
        pytest.skip("fish is not installed")
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    command = [fish, "--no-config", "--command", f"source {script}; command -v mct mct-opt; python -m mct --version"]
    finished = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    assert finished.stdout.splitlines() == [str(tools / "mct"), str(tools / "mct-opt"), f"mct {mct.__version__}"]


@pytest.mark.parametrize("shape", ["1x3", "x=1x0", "x=1,3", "x="])
def test_shapes_are_a_name_and_sizes(shape: str, tmp_path: Path) -> None:
    message = refused("import", "model.onnx", "-o", tmp_path / "m.mlir", "--shape", shape, status=2)
    assert f"expected NAME=DIMS such as x=1x3x320x320, got '{shape}'" in message


@pytest.mark.alternating
@pytest.mark.parametrize("command", ["import", "quantize"])
def test_shapes_are_for_files_that_leave_them_open(command: str, tmp_path: Path) -> None:
    words = [command, DIGITS, "-o", tmp_path / "m.mlir", "--shape", "x=1x8x8x1"]
    words += ["--target", "imx500"] if command == "quantize" else []
    assert f"--shape: is for .onnx and .pt2 files; '{DIGITS}' has shapes of its own" in refused(*words)
    assert not (tmp_path / "m.mlir").exists()
    assert "--shape" in output("completion", "bash").partition(f"{command}) COMPREPLY")[2].partition(";;")[0]


def test_an_integer_network_is_not_quantized_again(tmp_path: Path) -> None:
    np.save(tmp_path / "codes.npy", np.zeros((2, 4, 4, 2), np.int8))
    words = ("quantize", DATA / "integer.mlir", "--target", "imx500", "--data", tmp_path / "codes.npy")
    message = refused(*words, "-o", tmp_path / "q.mlirbc")
    assert message.count("\n") == 1 and "the network is quantized already: 'tosa.conv2d'" in message
    assert not (tmp_path / "q.mlirbc").exists()
