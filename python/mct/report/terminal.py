# SPDX-License-Identifier: Apache-2.0
"""A report as text: what is wrong with the network, and its worst points with cause and remedy."""

from __future__ import annotations

import io
import math
import os
import shutil
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TextIO

from rich import box
from rich.cells import cell_len, set_cell_size
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from mct.errors import printable

# Characters of a name, of a sentence, and of a line to paste that is worth printing.
_NAME, _SENTENCE, _PASTE = 100, 400, 400
_WIDTH = 80


def clean(text: str, most: int | None = None) -> str:
    """Text of a model for a terminal: `printable`.

    most: of more characters the middle is left out.
    """
    if most is not None and len(text) > most:
        ahead = (most - 1) * 2 // 3
        text = f"{text[:ahead]}…{text[len(text) - (most - 1 - ahead) :]}"
    return printable(text)


def name_text(name: str, width: int) -> str:
    """A name in at most so many cells; the middle of a long one is left out."""
    text = clean(name, _NAME)
    if cell_len(text) <= width:
        return text
    ahead = max(0, (width - 1) * 2 // 3)
    room_after = max(0, width - 1 - ahead)
    tail = text
    while cell_len(tail) > room_after:
        tail = tail[1:]
    return set_cell_size(text, ahead).rstrip() + "…" + tail


def number(value: Any, form: str = ".3g", unit: str = "") -> str:
    """A number of a report; a dash where it is infinite, not defined or not there."""
    if not isinstance(value, (int, float)) or not math.isfinite(value):
        return "-"
    return f"{value:{form}}{unit}"


def share(value: Any) -> str:
    return number(100 * value if isinstance(value, (int, float)) else value, ".2f", " %")


def worst_points(report: Mapping[str, Any], most: int = 10) -> list[Mapping[str, Any]]:
    """The points without which the results gain most; where that was not measured, those whose own error is the
    largest."""

    def key(point: Mapping[str, Any]) -> tuple[float, float]:
        effect, own = point.get("effect"), point.get("own") or point.get("total") or {}
        gain = effect.get("gain") if effect else None
        sqnr = own.get("sqnr")
        return (
            -gain if isinstance(gain, (int, float)) else math.inf,
            sqnr if isinstance(sqnr, (int, float)) else math.inf,
        )

    quantized = [point for point in report["points"] if point.get("parameters")]
    return sorted(quantized, key=key)[:most]


def _decibels(found: Mapping[str, Any] | None) -> str:
    if not found:
        return "-"
    sqnr = found.get("sqnr")
    return "float" if sqnr is None and found.get("largest") == 0 else number(sqnr, ".2f", " dB")


def _results(report: Mapping[str, Any], width: int) -> Table | None:
    """Each result and each group of its channels; None where there is one alone."""
    results: Sequence[Mapping[str, Any]] = report.get("results", ())
    if len(results) < 2 and not any(result["groups"] for result in results):
        return None
    networks = {"quantized": "simulated"} | ({"integer": "integer"} if report.get("integer") else {})
    table = Table(box=None, pad_edge=False)
    cells = max(16, width - 16 * len(networks))
    table.add_column("SQNR of", no_wrap=True, max_width=cells)
    for name in networks:
        table.add_column(name, justify="right", no_wrap=True)
    for result in results:
        for indent, one in (("", result), *(("  ", group) for group in result["groups"])):
            title = Text(indent + name_text(one["name"], cells - len(indent)))
            table.add_row(title, *(_decibels(one.get(key)) for key in networks.values()))
    return table


def _trials(report: Mapping[str, Any], width: int) -> Table | None:
    """Remedies that were tried and gain, those that gain most first."""
    trials = [trial for trial in report.get("trials", ()) if trial["is_worthwhile"]]
    if not trials:
        return None
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    cells = max(16, width - 36)
    table.add_column("tried, and worth it", overflow="fold", width=cells)
    for title in ("worst result", "gain"):
        table.add_column(title, justify="right", no_wrap=True)
    trials.sort(key=lambda trial: trial["after"] - trial["before"])
    for trial in trials:
        before, after = trial["worst_before"], trial["worst_after"]
        is_decibels = trial.get("worst_gain") is not None
        shown = [
            number(-10 * math.log10(one), ".1f") if is_decibels and one > 0 else number(one) for one in (before, after)
        ]
        gain = number(trial.get("worst_gain"), "+.1f", " dB") if is_decibels else number(after - before, "+.2g")
        lines = " and ".join(clean(line, _NAME) for line in trial["lines"])
        table.add_row(Text(lines), " → ".join(shown), gain)
    return table


def _sentences(diagnosis: Mapping[str, Any]) -> Text:
    text = Text(clean(diagnosis["cause"], _SENTENCE))
    if diagnosis["remedy"]:
        text.append("\n→ " + clean(diagnosis["remedy"], _SENTENCE), style="green")
    return text


def _accuracy(report: Mapping[str, Any]) -> Table:
    """One column for each network that ran."""
    runs = [("float", report["floating"]), ("quantized", report["simulated"])]
    if report.get("integer"):
        runs.append(("integer", report["integer"]))
    table = Table(box=None, pad_edge=False, show_header=True)
    table.add_column("")
    for name, _ in runs:
        table.add_column(name, justify="right")
    name = clean((report.get("judged_by") or {}).get("name", ""), _NAME)
    rows = {
        name: [(run.get("judged") or {}).get("shown", "-") for _, run in runs],
        "top-1": [share(run.get("top1")) for _, run in runs],
        "agreement with float": [share(run.get("agreement")) for _, run in runs],
        "SQNR of the results": [number((run.get("output") or {}).get("sqnr"), ".2f", " dB") for _, run in runs],
    }
    for name, cells in rows.items():
        if any(text != "-" for text in cells):
            table.add_row(name, *cells)
    return table


def _diagnosis_of(report: Mapping[str, Any], point: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The worst one that is about it, or about its operator."""
    for subject in (point["name"], point["owner"]):
        for diagnosis in report["diagnoses"]:
            if diagnosis["subject"] == subject:
                found: Mapping[str, Any] = diagnosis
                return found
    return None


def _points(report: Mapping[str, Any], width: int) -> RenderableType:
    points = worst_points(report)
    if not points:
        return Text("No point is quantized.")
    titles = ("bits", "of the error", "SQNR dB")
    cells = width - sum(map(len, titles)) - 3 * len(titles) - 3
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("worst points, cause and remedy", overflow="fold", width=cells)
    for title in titles:
        table.add_column(title, justify="right", no_wrap=True)
    for point in points:
        text = Text(name_text(point["name"], cells), style="bold")
        if found := _diagnosis_of(report, point):
            text = Text("\n").join([text, _sentences(found)])
        table.add_row(
            text,
            number(point["parameters"]["bits"], "d"),
            share((point.get("effect") or {}).get("share")),
            number((point.get("total") or {}).get("sqnr"), ".1f"),
        )
    return table


def dearest_operators(report: Mapping[str, Any], most: int = 10) -> list[Mapping[str, Any]]:
    """The operators that lose most for each cycle that their alternatives save, and then those of the most cycles."""

    def key(operator: Mapping[str, Any]) -> tuple[float, float]:
        cost = operator["cost"]
        loss = cost.get("loss_per_cycle")
        return -loss if isinstance(loss, (int, float)) else math.inf, -cost["cycles"]

    return sorted((one for one in report["operators"] if (one.get("cost") or {}).get("cycles")), key=key)[:most]


def _costs(report: Mapping[str, Any], width: int) -> Table | None:
    costs = report.get("costs")
    operators = dearest_operators(report) if costs else []
    if not costs or not operators:
        return None
    titles = ("cycles", "saved", "loss per cycle", "memory KiB")
    cells = width - sum(map(len, titles)) - 3 * len(titles) - 3
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column(
        f"{number(costs['cycles'], 'd')} cycles on {clean(costs['device'], 40)}", overflow="fold", width=max(cells, 16)
    )
    for title in titles:
        table.add_column(title, justify="right", no_wrap=True)
    for operator in operators:
        cost = operator["cost"]
        table.add_row(
            Text(name_text(operator["name"], max(cells, 16))),
            number(cost["cycles"], "d"),
            number(cost["saved_cycles"], "d"),
            number(cost.get("loss_per_cycle")),
            number(cost["memory_bytes"] / 1024, ".1f"),
        )
    return table


def _lines(lines: Iterable[str]) -> list[str]:
    """Lines to paste, each once; those that are not legible are left to the other forms."""
    unique = dict.fromkeys(line for line in lines if line)
    return [clean(line) if len(line) <= _PASTE else f"# {clean(line, 40)}: too long for here" for line in unique]


def render(report: Mapping[str, Any], width: int) -> list[RenderableType]:
    """Returns what is printed, from top to bottom; lines to paste are `str`, which are never broken."""
    heads = [clean(report["model"], 200)]
    if report["function"]:
        heads.append(f"function {clean(report['function'], 80)}")
    if report["target"]:
        heads.append(f"target {clean(report['target'], 80)}")
    heads.append(f"{report['samples']} samples")
    parts: list[RenderableType] = [Text(" · ".join(heads), style="bold")]
    if report["verdict"]:
        parts += [Text(), Text(clean(report["verdict"], 2 * _SENTENCE))]
    accuracy = _accuracy(report)
    if accuracy.row_count:
        parts += [Text(), accuracy]
    for table in (_results(report, width), _trials(report, width)):
        if table:
            parts += [Text(), table]
    diagnoses: Sequence[Mapping[str, Any]] = report["diagnoses"]
    of_network = [diagnosis for diagnosis in diagnoses if not diagnosis["subject"]]
    for diagnosis in of_network:
        rule = Text(clean(diagnosis["rule"], 60), style="bold")
        parts += [Text(), rule, Padding(_sentences(diagnosis), (0, 0, 0, 2))]
    parts += [Text(), _points(report, width)]
    if costs := _costs(report, width):
        parts += [Text(), costs]
    of_points = [found for point in worst_points(report) if (found := _diagnosis_of(report, point))]
    shown = [diagnosis for diagnosis in diagnoses if diagnosis in of_network or diagnosis in of_points]
    if len(shown) < len(diagnoses):
        hidden = len(diagnoses) - len(shown)
        parts.append(Text(f"{hidden} more {'diagnosis' if hidden == 1 else 'diagnoses'}: see the HTML or JSON."))
    for kind, title in (("overrides", "Lines of overrides to paste:"), ("option", "Options to paste:")):
        lines = _lines(
            line for diagnosis in shown if diagnosis["kind"] == kind for line in diagnosis["paste"].split("\n")
        )
        if lines:
            parts += [Text(), Text(title), *lines]
    return parts


# ----------------------------------------------------------------------------------------------------------------------
# Two reports
# ----------------------------------------------------------------------------------------------------------------------

# The most important numbers of the network; the others are in the other forms.
_NUMBERS = (
    *("floating.top1", "simulated.top1", "simulated.agreement", "integer.top1", "integer.agreement"),
    *("simulated.output.sqnr", "distance", "num_changed", "resources.weight_bytes", "resources.bops", "seconds"),
)
_SHARES = ("top1", "agreement")


def _change(entry: Mapping[str, Any]) -> tuple[str, str, str]:
    """A number before, after, and by how much it changed."""
    is_share = entry["name"].rpartition(".")[2] in _SHARES
    difference = entry.get("difference")
    if is_share:
        points = 100 * difference if isinstance(difference, (int, float)) else difference
        return share(entry.get("before")), share(entry.get("after")), number(points, "+.2f", " points")
    return number(entry.get("before"), ".5g"), number(entry.get("after"), ".5g"), number(difference, "+.5g")


def _changes(title: str, rows: Iterable[tuple[str, Mapping[str, Any]]], width: int) -> Table:
    cells = max(16, width - 3 * 14)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column(title, no_wrap=True, max_width=cells)
    for name in ("before", "after", "change"):
        table.add_column(name, justify="right", no_wrap=True)
    for name, entry in rows:
        table.add_row(Text(name_text(name, cells)), *_change(entry))
    return table


def render_comparison(comparison: Mapping[str, Any], width: int) -> list[RenderableType]:
    """Returns, as `render` does, the network, the ten points whose effect or error changed most, and the diagnoses."""
    parts: list[RenderableType] = []
    for side in ("before", "after"):
        about = comparison[side]
        head = f"{side:<7}{clean(about['model'], 200)} · target {clean(about['target'], 80)}"
        parts += [Text(head, style="bold"), Padding(Text(clean(about["verdict"], 2 * _SENTENCE)), (0, 0, 0, 7))]
    if not comparison["same_samples"]:
        parts += [Text(), Text("The reports may be about different samples.", style="yellow")]
    by_name = {entry["name"]: entry for entry in comparison["numbers"]}
    rows = [(name, by_name[name]) for name in _NUMBERS if name in by_name]
    parts += [Text(), _changes("network", rows, width)]
    for key, what in (("effect.gain", "gain in float"), ("total.sqnr", "SQNR dB")):
        found = [
            (point["name"], entry)
            for point in comparison["points"]
            for entry in point["numbers"]
            if entry["name"] == key and entry.get("difference")
        ]
        if found:
            found.sort(key=lambda row: -abs(row[1]["difference"]))
            parts += [_changes(f"points, {what}", found[:10], width)]
    for key, sign in (("diagnoses_that_came", "+"), ("diagnoses_that_went", "-")):
        for diagnosis in comparison[key][:10]:
            subject = f" {name_text(diagnosis['subject'], 40)}" if diagnosis["subject"] else ""
            line = Text(f"{sign} {clean(diagnosis['rule'], 60)}{subject}: ", style="red" if sign == "+" else "green")
            parts.append(line.append(clean(diagnosis["cause"], _SENTENCE), style="default"))
    for key, what in (("points_only_before", "only before"), ("points_only_after", "only after")):
        if names := comparison[key]:
            listed = ", ".join(clean(name, 40) for name in names[:10])
            parts.append(Text(f"Points {what}: {listed}{', …' if len(names) > 10 else ''}"))
    return parts


# ----------------------------------------------------------------------------------------------------------------------
# Printed
# ----------------------------------------------------------------------------------------------------------------------


def print_parts(parts: Sequence[RenderableType], file: TextIO, width: int, is_coloured: bool) -> None:
    """Prints a report; without colours it is plain text, regardless of the environment."""
    console = Console(
        file=file,
        width=width,
        color_system="auto" if is_coloured else None,
        force_terminal=is_coloured,
        no_color=None if is_coloured else True,
        highlight=False,
        markup=False,
        emoji=False,
        legacy_windows=False,
    )
    for part in parts:
        if isinstance(part, str):
            # A line that is marked and copied is complete.
            console.out("  " + part, highlight=False)
        else:
            console.print(Group(part))


def to_text(parts: Sequence[RenderableType], width: int = _WIDTH) -> str:
    stream = io.StringIO()
    print_parts(parts, stream, width, False)
    return "\n".join(line.rstrip() for line in stream.getvalue().splitlines()) + "\n"


def terminal_width(stream: TextIO) -> int:
    """Returns the width of a terminal; 80 columns elsewhere."""
    if not stream.isatty():
        return _WIDTH
    return max(40, min(160, shutil.get_terminal_size((_WIDTH, 24)).columns))


def show(make: Any, stream: TextIO | None = None) -> None:
    """Prints `make(width)`, in colours where the stream is a terminal."""
    stream = stream or sys.stdout
    width = terminal_width(stream)
    parts = make(width)
    if stream.isatty() and not os.environ.get("NO_COLOR"):
        print_parts(parts, stream, width, True)
        return
    text = to_text(parts, width)
    encoding = stream.encoding or "utf-8"
    stream.write(text.encode(encoding, "backslashreplace").decode(encoding))
