# SPDX-License-Identifier: Apache-2.0
"""Writes the pages of the reference from definitions, help texts and docstrings beside a copy of the other pages.

    generate.py BUILD SITE

BUILD: a build tree with the tools, the Python package and the target `mct-docs`. SITE: the folder that Sphinx reads.
"""

from __future__ import annotations

import inspect
import itertools
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

DOCS = Path(__file__).resolve().parent
# In the order in which a network meets them.
LIBRARIES = {
    "TpcTransforms": "Targets",
    "MctInspection": "Inspection",
    "MctTransforms": "Transforms",
    "MctCalibration": "Calibration",
    "MctCorrections": "Corrections",
    "MctBitWidths": "Bit widths",
    "MctTraining": "Training",
    "MctConversion": "Conversion",
    "MctExport": "Export",
}
PIPELINES = {"prepare": "mct-prepare", "correct": "mct-correct", "quantize": "mct-ptq"}
TOOLS = ("mct-run", "mct-translate", "mct-opt", "mct-reduce", "mct-lsp-server")


def read_definitions(path: Path, levels: int) -> str:
    """Returns the text that mlir-tblgen wrote, its headings `levels` deeper and without the comment in front of it."""
    text = re.sub(r"\A<!--.*?-->\s*", "", path.read_text(), flags=re.DOTALL)
    text = re.sub(r"\[TOC\]\s*", "", text)
    return re.sub(r"^(#+ )", "#" * levels + r"\1", text, flags=re.MULTILINE)


def passes(build: Path) -> str:
    parts = ["# Passes\n\nEvery pass runs alone on a module with what its description names.\n"]
    for library, title in LIBRARIES.items():
        parts.append(f"## {title}\n\n{read_definitions(build / 'docs' / f'{library}Passes.md', 0)}")
    return "\n".join(parts)


def dialect(build: Path) -> str:
    devices = read_definitions(build / "docs" / "TpcDevices.md", 0)
    return read_definitions(build / "docs" / "TpcDialect.md", 0) + "\n## Devices\n\n" + devices


def interfaces(build: Path) -> str:
    parts = ["# Interfaces of ops and attributes\n\nA dialect of yours takes part by implementing these.\n"]
    for name in ("OpInterfaces", "DifferentiableOp", "IntegerOp", "TpcInterfaces", "TrainableQuantizer"):
        parts.append(re.sub(r"^## .*definitions$", "", read_definitions(build / "docs" / f"{name}.md", 1), flags=re.M))
    return "\n".join(parts).replace("### ", "## ")


def options_of(function: object, sections: dict[str, str]) -> Iterator[tuple[str, str, str, str]]:
    """Yields section, option, default and description of a pipeline."""
    described = dict(re.findall(r"^ *(\w+): (.*(?:\n {4,}.*)*)", inspect.getdoc(function) or "", re.MULTILINE))
    for name, parameter in inspect.signature(function).parameters.items():
        # Parameters of the function that are no options of the pipeline have no section.
        if name not in sections or name not in described:
            continue
        initial = parameter.default
        if initial is inspect.Parameter.empty or initial in ("", ()):
            shown = ""
        else:
            shown = f"`{str(initial).lower() if isinstance(initial, bool) else initial}`"
        text = " ".join(described[name].split()).replace("|", "\\|")
        yield sections[name], name.replace("_", "-"), shown, text


def pipelines(build: Path) -> str:
    from mct import stages

    parts = [
        "# Pipelines and their options\n\nThe functions of the Python package have the same options, with `_` for `-`;",
        "so has the command `mct quantize`. Lists are separated by commas in a pipeline and are sequences in Python.\n",
    ]
    for name, flag in PIPELINES.items():
        function = getattr(stages, name)
        summary = (inspect.getdoc(function) or "").splitlines()[0]
        parts.append(f"## `--{flag}`, `mct.{name}`\n\n{summary}\n")
        options = options_of(function, stages.SECTIONS[name])
        for section, rows in itertools.groupby(options, key=lambda option: option[0]):
            parts.append(f"### {section.capitalize()} of `{flag}`\n\n| option | default | meaning |\n|---|---|---|")
            parts += [f"| `{option}` | {initial} | {text} |" for _, option, initial, text in rows]
            parts.append("")
    return "\n".join(parts)


def mct_names(_: Path | None) -> str:
    """Returns the page of the names of MCT, with a row for each of them."""
    from mct._compat.names import MCT_VERSION, NAMES

    parts = [
        "# Names of MCT\n",
        f"The public names of MCT {MCT_VERSION}, by path below `model_compression_toolkit`. All can be",
        "imported once [`mct.compat`](../guide/from-mct.md#change-one-line) is; those with a module are in it,",
        "which a script may import from there as well. Using one without is one error, with the sentence of its row.\n",
        "| name | here |\n|---|---|",
    ]
    for path, name in NAMES.items():
        here = f"`{name.here.replace(':', '.')}`: {name.does}" if name.here else f"no meaning: {name.does}"
        parts.append(f"| `{path}` | {here} |")
    return "\n".join(parts) + "\n"


def call(*command: str | Path) -> str:
    return subprocess.run(list(map(str, command)), check=True, capture_output=True, text=True).stdout


def own_options(tool: str, text: str) -> str:
    """Returns the help of a tool without the options that MLIR and LLVM give to each one."""
    if tool == "mct-opt":
        found = re.findall(r"^  --(?:mct-records|mct-trace|tpc-list|load-)[\w-]*\b.*$", text, re.MULTILINE)
        return "\n".join(re.sub(r" {2,}- ", "  ", line) for line in found) + "\n"
    return re.sub(r"Generic Options:.*?(?=^\w)", "", text, flags=re.DOTALL | re.MULTILINE)


def command_line(build: Path) -> str:
    from mct._completion import commands_of
    from mct.cli import make_parser

    parser = make_parser()
    parser.prog = "mct"
    parts = ["# Command-line tools\n\n## `mct`\n\n```text", parser.format_help(), "```\n"]
    for name, command in commands_of(parser).items():
        parts += [f"### `mct {name}`\n\n```text", command.format_help(), "```\n"]
    for tool in TOOLS:
        parts.append(f"## `{tool}`\n")
        if tool == "mct-opt":
            parts.append(
                "`mct-opt` is `mlir-opt` with the dialect and the passes of this project: [passes](passes.md), "
                "[pipelines](pipelines.md). It writes bytecode where the name of the output ends in `.mlirbc`, and the "
                "output file only when all passes have succeeded. Beside the options of `mlir-opt` it has these:\n"
            )
        if tool == "mct-lsp-server":
            parts.append("The language server of MLIR with this project's dialect, for editors: `mlir.server_path`.\n")
        elif tool == "mct-reduce":
            parts.append(
                "`mct-reduce` is `mlir-reduce` with the dialect of this project, and with what makes networks of TOSA "
                "smaller: ops are left out, or zeros take the place of their results, as long as a program of yours "
                '(`--reduction-tree="traversal-mode=0 test=PROGRAM"`) ends with status 1 for the file that it is '
                "given. It ends with 0 for files that `mct-opt` does not read. Options are those of `mlir-reduce`.\n"
            )
        else:
            parts += ["```text", own_options(tool, call(build / "bin" / tool, "--help")), "```\n"]
    return "\n".join(parts)


def docstring(value: object) -> str:
    """Returns a docstring, whose text is Markdown, with its descriptions of arguments ("name: meaning") as a list."""
    parts: list[str] = []
    for paragraph in re.split(r"\n\s*\n", inspect.getdoc(value) or ""):
        lines = paragraph.splitlines()
        starts = [bool(re.match(r"\w+(, \w+)*: +\S", line)) for line in lines]
        rest = [line.startswith("  ") for line in lines]
        if starts and starts[0] and all(start or inner for start, inner in zip(starts, rest, strict=True)):
            items = [
                re.sub(r"^([\w, ]+?): +", r"* `\1`: ", line) if start else f"  {line.strip()}"
                for line, start in zip(lines, starts, strict=True)
            ]
            paragraph = "\n".join(items)
        elif rest and all(rest):
            paragraph = "```text\n" + inspect.cleandoc(paragraph) + "\n```"
        parts.append(paragraph)
    return re.sub(r"^#+ (.*)$", r"**\1**", "\n\n".join(parts), flags=re.MULTILINE)


def signature(name: str, value: object) -> str:
    """Returns a signature, one parameter a line where it is long."""
    try:
        found = inspect.signature(value)
    except (TypeError, ValueError):
        return name
    line = f"{name}{found}".replace("'", "")
    if len(line) <= 100:
        return line
    rest = f" -> {found.return_annotation}".replace("'", "") if found.return_annotation is not found.empty else ""
    marks, words = [], []
    for parameter in found.parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY and not marks:
            marks.append("*")
            words.append("*")
        words.append(str(parameter).replace("'", ""))
    return f"{name}(\n" + "".join(f"    {word},\n" for word in words) + f"){rest}"


def entry(name: str, value: object, depth: int) -> list[str]:
    """Returns the heading, signature and docstring of a function, class or property, and those of a class's members."""
    parts = [f"{'#' * depth} `{name}`\n"]
    if isinstance(value, property):
        return [*parts, docstring(value) + "\n"]
    parts += ["```python", signature(name.removeprefix("mct."), value), "```\n", docstring(value) + "\n"]
    if inspect.isclass(value):
        for member, inner in vars(value).items():
            if member.startswith("_") or not inspect.getdoc(inner) or inspect.isclass(inner):
                continue
            function = getattr(inner, "__func__", inner)
            if isinstance(function, property) or inspect.isfunction(function):
                parts += entry(f"{name}.{member}", function, depth + 1)
    return parts


# Modules whose public names belong to the interface beside those of `mct` itself.
MODULES = (
    "constants",
    "core",
    "cost",
    "errors",
    "detection",
    "evaluation",
    "exporters",
    "gptq",
    "image_folder",
    "importers",
    "preprocessing",
)
MODULES += ("progress", "ptq", "qat", "quantize_config", "quantizers", "report", "samples", "target_platform")
MODULES += ("trainable_infrastructure", "trained_quantizers", "network_editor", "exporter", "wrapper", "xquant")


def public_names(module: object) -> Iterator[tuple[str, object]]:
    """Yields the functions and classes that a module offers: those that it lists, or else those that it defines."""
    listed = getattr(module, "__all__", None)
    for name in sorted(listed if listed is not None else vars(module)):
        value = getattr(module, name)
        is_own = listed is not None or getattr(value, "__module__", None) == module.__name__
        if not name.startswith("_") and is_own and (inspect.isclass(value) or inspect.isfunction(value)):
            yield name, value


def python(build: Path) -> str:
    import importlib

    import mct
    from mct import stages

    parts = ["# Python package\n\n## `mct`\n"]
    for name in sorted(set(mct.__all__) | set(stages.__all__), key=str.lower):
        if callable(getattr(mct, name)):
            parts += entry(f"mct.{name}", getattr(mct, name), 3)
    for name in MODULES:
        module = importlib.import_module(f"mct.{name}")
        parts += [f"## `mct.{name}`\n", docstring(module) + "\n"]
        constants = [inner for inner in getattr(module, "__all__", ()) if isinstance(getattr(module, inner), str)]
        parts += [f"* `{inner}` = `{getattr(module, inner)!r}`" for inner in sorted(constants)] + [""] * bool(constants)
        for inner, value in public_names(module):
            parts += entry(f"mct.{name}.{inner}", value, 3)
    return "\n".join(parts)


def diagnoses(build: Path) -> str:
    return (
        "# Diagnoses\n\nA report applies these rules to the numbers of every point and operator. Each names a subject, "
        "a cause and a remedy.\n\n" + call(build / "bin" / "mct-run", "--report-rules")
    )


# A reason: name, identifier, text and remedy; a long text is several literals.
REASON = re.compile(r'^MCT_REASON\(\w+, "([^"]*)",\s*((?:"[^"]*"\s*)+),\s*((?:"[^"]*"\s*)+)\)$', re.MULTILINE)


def reasons(build: Path) -> str:
    """Returns why passes left something alone, as the list of the compiler has it."""
    parts = [
        "# Reasons\n\nA remark, and the record that `--mct-records` and reports have of it, names its reason by an "
        "identifier that does not change. A remark that has nothing more specific to say has the text below.\n"
    ]
    text = (DOCS.parent / "include" / "mct" / "IR" / "Reasons.def").read_text()
    for group in re.split(r"^// ", text, flags=re.MULTILINE):
        found = REASON.findall(group.partition("\n")[2])
        if not found:
            continue
        heading = re.sub(r"((?:mct|tpc)-[\w-]+)", r"`\1`", group.splitlines()[0])
        parts.append(f"## {heading}\n\n| identifier | text | what to do |\n|---|---|---|")
        for identifier, said, remedy in found:
            said, remedy = ("".join(re.findall(r'"([^"]*)"', literals)) for literals in (said, remedy))
            parts.append(f"| `{identifier}` | {said} | {remedy or '-'} |")
        parts.append("")
    return "\n".join(parts)


def kind_of(schema: dict) -> str:
    """Returns the type of a value as a table shows it; nothing for a constant."""
    if "anyOf" in schema:
        return " or ".join(dict.fromkeys(map(kind_of, schema["anyOf"])))
    if "enum" in schema:
        return " or ".join("null" if word is None else f"`{word}`" for word in schema["enum"])
    kind = schema.get("type", "")
    kind = " or ".join(kind) if isinstance(kind, list) else kind
    inner = kind_of(schema["items"]) if kind == "array" else ""
    return f"{kind} of {inner}" if inner else kind


def rows_of(schema: dict, path: str = "") -> Iterator[str]:
    """Yields a table row for each key of an object, in depth-first order; NAME stands for keys of any name."""
    for other in schema.get("anyOf", ()):
        yield from rows_of(other, path)
    for key, value in schema.get("properties", {}).items():
        name = f"{path}{key}"
        yield f"| `{name}` | {kind_of(value)} | {value.get('description', '')} |".replace("\n", " ")
        if value.get("type") == "array":
            yield from rows_of(value["items"], f"{name}[].")
        else:
            yield from rows_of(value, f"{name}.")
    if isinstance(schema.get("additionalProperties"), dict):
        yield from rows_of(schema["additionalProperties"], f"{path}NAME.")


def key_table(schema: dict) -> str:
    return "\n".join(["| key | type | meaning |", "|---|---|---|", *dict.fromkeys(rows_of(schema))])


# Options of mct-run that print schemas, and the titles of their pages.
REPORT_SCHEMAS = {
    "report-schema": "Schema of the report",
    "trace-schema": "Trace",
    "comparison-schema": "Comparison of two reports",
}


def report_schema(build: Path) -> str:
    parts = []
    for option, title in REPORT_SCHEMAS.items():
        schema = json.loads(call(build / "bin" / "mct-run", f"--{option}"))
        about = f"`mct-run --{option}` prints it as JSON Schema. {schema['description']}"
        parts.append(f"{'##' if parts else '#'} {title}\n\n{about}\n\n{key_table(schema)}\n")
    return "\n".join(parts)


SCHEMAS = DOCS / "reference" / "schemas"


def json_documents(build: Path) -> str:
    """Returns the pages of the schemas that are written by hand; a test compares them with what the tools write."""
    parts = [
        "# JSON documents\n\nThe tools write these documents beside [reports](report-schema.md). Each has a JSON "
        "Schema. Keys without a value are left out, and NAME stands for keys of any name.\n"
    ]
    for path in sorted(SCHEMAS.glob("*.json")):
        schema = json.loads(path.read_text())
        table = key_table(schema)
        shown = f"\n{table}\n" if table.count("\n") > 1 else ""
        parts.append(
            f"## {schema['title']}\n\n{schema['description']} Schema: [{path.name}](schemas/{path.name}).\n{shown}"
        )
    return "\n".join(parts)


PAGES = {
    "passes": passes,
    "pipelines": pipelines,
    "mct-names": mct_names,
    "dialect": dialect,
    "interfaces": interfaces,
    "command-line": command_line,
    "python": python,
    "diagnoses": diagnoses,
    "reasons": reasons,
    "report-schema": report_schema,
    "json-documents": json_documents,
}


def main(build: Path, site: Path) -> None:
    shutil.rmtree(site, ignore_errors=True)
    shutil.copytree(DOCS, site, ignore=shutil.ignore_patterns("*.txt", "generate.py", "__pycache__"))
    (site / "reference").mkdir(exist_ok=True)
    for name, generate in PAGES.items():
        (site / "reference" / f"{name}.md").write_text(generate(build).rstrip() + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve())
