# SPDX-License-Identifier: Apache-2.0
"""Makes `mct/stages.py` of the definitions of passes and pipelines: a function for each, with its options.

generate.py words STAGES.json OUT.inc    what native/OptionWords.cpp asks the C++ compiler for
generate.py stages STAGES.json OUT.py    with `_native`, which has been asked, on the path

STAGES.json is `llvm-tblgen --dump-json` of native/Stages.td.
"""

from __future__ import annotations

import json
import re
import sys
import textwrap
from pathlib import Path
from typing import Any, NamedTuple

# These print, and leave the module as it is: methods of models do that.
PRINTING = ("tpc-explain", "mct-report-memory", "mct-report-resources", "mct-report-costs")
# `mct.gptq` and `mct.qat` are modules with the names of MCT.
NAMES = {"mct-ptq": "quantize", "mct-gptq": "train_rounding", "mct-qat": "train"}
# Python has better types than text for these, whatever pass has them.
ARGUMENT_TYPES = {
    "target": "Target",
    "overrides": "Overrides",
    "calibration-data": "Sequence[PathLike]",
    "statistics-in": "Sequence[PathLike]",
    "statistics-out": "PathLike",
    "shards-in": "Sequence[PathLike]",
    "shards-out": "PathLike",
    "bit-widths-in": "PathLike",
    "bit-widths-out": "PathLike",
    "validation-data": "Sequence[PathLike]",
    "cost-table": "PathLike",
    "labels": "Labels",
    "checkpoint": "PathLike",
    "losses-out": "PathLike",
    "input-scale": "Channels",
    "input-offset": "Channels",
}
# Headings of a pipeline's options, in order.
SECTIONS = ("general", "bit widths", "calibration", "preparation", "selection", "corrections", "training")
NUMBERS = {"bool": "bool", "double": "float"} | dict.fromkeys(("unsigned", "int64_t", "uint64_t"), "int")
WIDTH = 120

Definitions = dict[str, Any]


class Option(NamedTuple):
    flag: str
    annotation: str
    initial: str
    text: str
    # Python source of the check that `running` makes of values.
    kind: str
    # Heading below which a pipeline's options are listed; empty for those of a pass.
    section: str = ""

    @property
    def name(self) -> str:
        return self.flag.replace("-", "_")


def enumerations(definitions: Definitions) -> list[tuple[str, str, str]]:
    """Type, initial value and `cl::values` of the options that have one of a closed set, each once."""
    found = {}
    for name in definitions["!instanceof"]["Option"]:
        option = definitions[name]
        if option["additionalOptFlags"]:
            found.setdefault((option["type"], option["defaultValue"]), option["additionalOptFlags"])
    return [(*key, " ".join(values.split())) for key, values in sorted(found.items())]


def write_words(definitions: Definitions) -> str:
    lines = []
    for kind, initial, values in enumerations(definitions):
        names = json.dumps(kind), json.dumps(initial)
        # The last argument has commas of its own.
        lines.append(f"MCT_WORDS({kind}, {names[0]}, {initial}, {names[1]}, ({values}))")
    return "\n".join(lines) + "\n"


def load_words() -> dict[tuple[str, str], tuple[str, list[tuple[str, str]]]]:
    import _native

    return {(entry[0], entry[1]): (entry[2], entry[3]) for entry in _native.option_words()}


def read_option(definition: Definitions, words: dict[tuple[str, str], Any]) -> Option:
    flag, kind = definition["argument"], definition["type"]
    initial, text = definition["defaultValue"], " ".join(definition["description"].split())
    if "ListOption" in definition["!superclasses"]:
        items = ARGUMENT_TYPES.get(flag, f"Sequence[{NUMBERS.get(kind, 'str')}]")
        return Option(flag, items, "()", text, '"list"')
    if definition["additionalOptFlags"]:
        first, known = words[kind, initial]
        listed = "; ".join(f'"{word}": {meaning}' for word, meaning in known)
        literals = ", ".join(json.dumps(word) for word, _ in known)
        return Option(flag, f"Literal[{literals}]", json.dumps(first), f"{text}. {listed}", f"({literals},)")
    if kind in NUMBERS:
        value = {"true": "True", "false": "False"}.get(initial, initial or "0")
        checked = {"unsigned": "uint32", "uint64_t": "uint64", "int64_t": "int64"}.get(kind, NUMBERS[kind])
        return Option(flag, NUMBERS[kind], value, text, json.dumps(checked))
    return Option(flag, ARGUMENT_TYPES.get(flag, "str"), json.dumps(json.loads(initial or '""')), text, '"str"')


def options_of(definition: Definitions, definitions: Definitions, words: dict[tuple[str, str], Any]) -> list[Option]:
    """Returns the options of a pass in the order of the definitions, or those of a pipeline by section."""
    if "members" not in definition:
        return [read_option(definitions[option["def"]], words) for option in definition["options"]]
    options = []
    for base in definition["base"]:
        options += options_of(definitions[base["def"]], definitions, words)
    for member in definition["members"]:
        group = definitions[definitions[member["def"]]["group"]["def"]]
        for option in group["options"]:
            options.append(read_option(definitions[option["def"]], words)._replace(section=group["section"]))
    return sorted(options, key=lambda option: SECTIONS.index(option.section))


def paragraphs(description: str) -> str:
    """The description of a pass without its examples of IR."""
    text = textwrap.dedent(description).strip("\n")
    text = re.split(r"^(?:Before|Source):", text, flags=re.MULTILINE)[0]
    return text.strip()


def wrap(text: str) -> list[str]:
    """Returns the lines of an entry. Names with hyphens stay whole."""
    return textwrap.wrap(text, WIDTH - 4, subsequent_indent="    ", break_on_hyphens=False)


def docstring(summary: str, description: str, options: list[Option], extra: list[tuple[str, str]], flag: str) -> str:
    lines = [summary.rstrip(".") + ".", ""]
    if description:
        lines += [*description.splitlines(), ""]
    for name, text in extra:
        lines += wrap(f"{name}: {text}")
    section = ""
    for option in options:
        if option.section != section:
            section = option.section
            lines += ["", f"{section.capitalize()}:", ""]
        lines += wrap(f"{option.name}: {option.text}")
    lines += ["", f"The options are those of `{flag}`; the result is another model. Raises `mct.Error`."]
    body = "\n".join(lines).replace("\\", "\\\\").replace('"""', "'''")
    return textwrap.indent(f'"""{body}\n"""', "    ", lambda line: bool(line.strip()))


def function(
    flag: str, summary: str, description: str, options: list[Option], on_functions: bool = False
) -> tuple[str, str]:
    """Name and text of the function that runs a pass or a pipeline. `on_functions`: the pass takes one function."""
    name = NAMES.get(flag, flag.split("-", 1)[1].replace("-", "_"))
    flags = [option.flag for option in options]
    takes_samples = "calibration-data" in flags
    takes_shards = "calibration-data" in flags and "shards-in" in flags
    parameters = ["model: Model"]
    extra = []
    if "target" in flags:
        target = next(option for option in options if option.flag == "target")
        parameters.append(f"target: Target = {target.initial}")
    if takes_samples:
        parameters.append("data: Any = None")
        extra.append(("data", "samples as `mct.samples` describes them; instead of calibration_data"))
        extra.append(
            (
                "preprocessing",
                "of the samples, recorded in the result, as input_scale and input_offset of `data` are; "
                "None: what `data` says of itself",
            )
        )
    result = "Model"
    checks = ""
    parameters.append("*")
    if takes_samples:
        parameters.append("preprocessing: Preprocessing | Mapping[str, Preprocessing] | None = None")
    if takes_shards:
        parameters.append("client: ClientLike = None")
        extra.append(
            (
                "client",
                "a `dask.distributed.Client`, or the address of a scheduler, whose workers run on shards of `data`, as "
                "`mct.distributed` says",
            )
        )
    if flag == "mct-ptq":
        parameters.append("config: Config | None = None")
        parameters.append("metric: MetricLike | None = None")
        parameters.append("validation: Any = None")
        extra.append(
            (
                "metric",
                "what `evaluate` and `report` judge the result by, as `mct.evaluation.evaluate` has it, and max_drop "
                "where no drop_metric is given: a function gives a number for each sample then, the larger the better",
            )
        )
        extra.append(("validation", "samples for max_drop as those of `data`; instead of validation_data"))
        extra.append(("config", "a `mct.QuantizationConfig`; options that differ from their defaults go before it"))
        result = "QuantizedModel"
    parameters += [
        f"{option.name}: {option.annotation} = {option.initial}" for option in options if option.flag != "target"
    ]
    parameters.append("progress: Progress = None")
    extra.append(("progress", "bars, unless False or standard error is no terminal; a function is called with reports"))
    signature = "".join(f"    {parameter},\n" for parameter in parameters)
    values = "".join(
        f'        "{option.flag}": ({option.name}, {option.initial}, {option.kind}),\n' for option in options
    )
    call = ["model", json.dumps(flag), "options", "progress"]
    if takes_samples:
        call.append("data=data, preprocessing=preprocessing")
    if takes_shards:
        call.append("client=client")
    if flag == "mct-ptq":
        call.append("config=config, validation=validation, judge=judge")
    if on_functions:
        call.append("on_functions=True")
    returned = f"running.run_stage({', '.join(call)})"
    if result == "QuantizedModel":
        kept = "running.keep(data, calibration_data, calibration_samples, client)"
        returned = f"QuantizedModel({returned}.module, model, {kept}, metric)"
        checks = (
            "    metric = running.find_metric(metric, model.module, function)\n"
            "    drop_metric, judge = running.find_drop_metric(metric, max_drop, drop_metric)\n"
        )
    if flag == "mct-simulate-integers":
        returned = f"evaluation.report_loss(model, {returned})"
    body = (
        f"{checks}    options: running.Options = {{\n{values}    }}\n"
        if options
        else "    options: running.Options = {}\n"
    )
    return name, (
        f"@checked\ndef {name}(\n{signature}) -> {result}:\n{docstring(summary, description, options, extra, flag)}\n"
        f"{body}    return {returned}\n"
    )


def write_stages(definitions: Definitions) -> str:
    words = load_words()
    functions = []
    sections = {}
    for name in definitions["!instanceof"]["PassBase"]:
        definition = definitions[name]
        if definition["argument"] in PRINTING:
            continue
        description = paragraphs(definition["description"])
        options = options_of(definition, definitions, words)
        on_functions = "func::FuncOp" in definition["baseClass"]
        functions.append(function(definition["argument"], definition["summary"], description, options, on_functions))
    for name in definitions["!instanceof"]["Mct_Pipeline"]:
        definition = definitions[name]
        options = options_of(definition, definitions, words)
        functions.append(function(definition["flag"], definition["summary"], "", options))
        sections[functions[-1][0]] = {option.name: option.section for option in options}
    functions.sort()
    head = [
        "# SPDX-License-Identifier: Apache-2.0",
        "# Made by python/generate.py of the definitions of the passes.",
        '"""Every pass and pipeline as a function: a model in, another one out."""',
        "",
        "from __future__ import annotations",
        "",
        "from collections.abc import Mapping, Sequence",
        "from typing import TYPE_CHECKING, Any, Literal",
        "",
        "from mct import evaluation, running",
        "from mct._arguments import checked",
        "from mct.model import Model, QuantizedModel",
        "from mct.running import (",
        "    Channels,",
        "    ClientLike,",
        "    Config,",
        "    Labels,",
        "    MetricLike,",
        "    Overrides,",
        "    PathLike,",
        "    Progress,",
        "    Target,",
        ")",
        "",
        "if TYPE_CHECKING:",
        "    from mct.preprocessing import Preprocessing",
        "",
        "__all__ = [",
        *(f'    "{name}",' for name, _ in functions),
        "]",
        "",
        "# By pipeline and option: the heading below which help texts and the reference list the option.",
        f"SECTIONS: dict[str, dict[str, str]] = {json.dumps(sections, indent=4)}",
    ]
    return "\n".join(head) + "\n\n\n" + "\n\n".join(text for _, text in functions)


def main(mode: str, source: str, output: str) -> None:
    definitions = json.loads(Path(source).read_text())
    Path(output).write_text({"words": write_words, "stages": write_stages}[mode](definitions))


if __name__ == "__main__":
    main(*sys.argv[1:])
