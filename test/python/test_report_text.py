# SPDX-License-Identifier: Apache-2.0
"""The terminal form of reports."""

from __future__ import annotations

import io
import re
from typing import Any

import pytest

mct = pytest.importorskip("mct", reason="the package is not built (tools/dev/build)")

import report_minimal as documents  # noqa: E402
from mct.report import terminal  # noqa: E402


def rows(text: str, names: list[str]) -> list[str]:
    """The names that rows begin with, in their order."""
    return [name for line in text.splitlines() for name in names if line.startswith(f" {name} ")]


def test_the_ten_worst_points_come_with_the_worst_first() -> None:
    names = [f"layer{number:02}" for number in range(14)]
    points = [documents.point(name, own=0.001 * (number * 5 % 14)) for number, name in enumerate(names)]
    points.append(documents.point("not_quantized") | {"parameters": None})
    del points[-1]["parameters"]
    found = rows(documents.report(points).text(), [*names, "not_quantized"])
    ordered = sorted(names, key=lambda name: -(names.index(name) * 5 % 14))
    assert found == ordered[:10]


def test_without_effects_the_own_error_is_the_order() -> None:
    points = [documents.point(name, sqnr=sqnr) for name, sqnr in (("a", 40.0), ("b", 12.0), ("c", 25.0))]
    for point in points:
        del point["effect"]
    assert rows(documents.report(points).text(), ["a", "b", "c"]) == ["b", "c", "a"]


def test_a_point_has_its_cause_and_remedy_and_the_line_to_paste() -> None:
    points = [documents.point("conv"), documents.point("conv/kernel_attr", owner="conv", weight="kernel_attr")]
    found = [
        documents.diagnosis("conv", "0.3 % of the values are clipped.", "Raise the threshold."),
        documents.diagnosis("", "Four samples are few.", "Give more.", rule="few-samples", kind="data", paste=""),
    ]
    text = documents.report(points, found, verdict="It is bad. Here is why.").text(120)
    assert text.index("It is bad. Here is why.") < text.index("few-samples") < text.index("Four samples are few.")
    assert text.index("Four samples") < text.index("\n conv ") < text.index("0.3 % of the values are clipped.")
    assert "→ Raise the threshold." in text and "→ Give more." in text
    assert text.splitlines()[-1] == '  name "conv" activation=16'


def test_diagnoses_that_are_not_shown_are_counted_and_not_to_paste() -> None:
    points = [documents.point(f"p{number}", own=number) for number in range(12)]
    found = [documents.diagnosis(name, "Clipped.") for name in ("p0", "p1", "p5")]
    text = documents.report(points, found).text()
    assert "2 more diagnoses: see" in text
    assert 'name "p5" activation=16' in text and 'name "p0"' not in text


def test_accuracy_of_each_network_has_a_column() -> None:
    run = documents.item("floating")
    floating, simulated = run | {"top1": 0.75}, run | {"top1": 0.7425, "agreement": 0.9875}
    text = documents.report([documents.point("a")], floating=floating, simulated=simulated).text()
    assert re.search(r"^ +float +quantized$", text, re.MULTILINE)
    assert re.search(r"^top-1 +75.00 % +74.25 %$", text, re.MULTILINE)
    assert re.search(r"^agreement with float +- +98.75 %$", text, re.MULTILINE)
    with_integer = documents.report([documents.point("a")], simulated=simulated, integer=simulated).text()
    assert re.search(r"^ +float +quantized +integer$", with_integer, re.MULTILINE)


DISTANCE = {"cosine": 1.0, "largest": 0.5}


def result(name: str, sqnr: float, groups: list[dict[str, Any]]) -> dict[str, Any]:
    shared = {"name": name, "simulated": DISTANCE | {"sqnr": sqnr}, "worst_point": "", "worst_share": 0.0}
    return shared | {"number": 0, "is_scores": False, "axis": 1, "groups": groups, "verdict": f"{name} it is."}


def test_groups_of_channels_have_a_line_each() -> None:
    groups = [
        {"name": name, "channels": [0], "simulated": DISTANCE | {"sqnr": sqnr}, "worst_point": "", "worst_share": 0.0}
        for name, sqnr in (("boxes", 51.2), ("scores", -0.5))
    ]
    text = documents.report([documents.point("a")], results=[result("out", 49.8, groups)]).text()
    assert re.search(r"^SQNR of +quantized$", text, re.MULTILINE)
    assert re.search(r"^out +49.80 dB\n  boxes +51.20 dB\n  scores +-0.50 dB$", text, re.MULTILINE)
    assert "SQNR of  " not in documents.report([documents.point("a")], results=[result("out", 49.8, [])]).text()


def test_remedies_that_gain_are_listed_with_their_gains() -> None:
    def trial(line: str, after: float, is_worthwhile: bool) -> dict[str, Any]:
        shared = {"kind": "overrides", "lines": [line], "points": ["a"], "standard_error": 0.0, "worst": "out"}
        return shared | {
            **{"before": 0.1, "after": after, "gain": 0.1 - after, "worst_before": 0.1, "worst_after": after},
            **{"worst_gain": 10.0, "is_worthwhile": is_worthwhile},
        }

    trials = [trial("first", 0.01, True), trial("second", 0.1, False), trial("third", 0.001, True)]
    text = documents.report([documents.point("a")], trials=trials).text()
    assert text.index("third") < text.index("first") and "second" not in text
    assert re.search(r"first +10.0 → 20.0 +\+10.0 dB", text)


LONG = "a_name/" * 1500
EVIL = "\x1b[31mred\x1b]0;title\x07\x1b[2J\r\nforged line\u202egnp.\u200b\x9b1m[bold red]markup[/] :smile:"


@pytest.mark.parametrize("width", [80, 60, 132])
def test_any_name_fits_and_steers_nothing(width: int) -> None:
    points = [documents.point(name) for name in (LONG, EVIL, "名前" * 40, "", "[/red]")]
    found = [documents.diagnosis(name, f"{name} is clipped.", f"Do not call it {name}.") for name in (LONG, EVIL)]
    text = documents.report(points, found, model=EVIL, target=LONG, verdict=EVIL).text(width)
    assert text.replace("\n", "").isprintable()
    assert "\nforged" not in text and r"\x1b[31mred" in text and "[bold red]markup[/]" in text and ":smile:" in text
    pasted = text.index("Lines of overrides to paste:")
    assert max(terminal.cell_len(line) for line in text[:pasted].splitlines()) <= width
    assert "too long for here" in text[pasted:]
    # A line to paste is one line, however long.
    assert max(map(len, text[pasted:].splitlines())) > 100


def test_no_point_is_no_table() -> None:
    assert "No point is quantized." in documents.report([]).text()


class Terminal(io.StringIO):
    encoding = "utf-8"  # type: ignore[assignment]

    def isatty(self) -> bool:
        return True


def test_colours_only_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.delenv("NO_COLOR", raising=False)
    report = documents.report([documents.point("a")], [documents.diagnosis("a", "Clipped.", "Raise it.")])

    def shown(stream: io.StringIO) -> str:
        terminal.show(lambda width: terminal.render(report.document, width), stream)
        return stream.getvalue()

    assert "\x1b[" in shown(Terminal())
    assert shown(io.StringIO()) == report.text()
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert shown(io.StringIO()) == report.text()
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[" not in shown(Terminal())


def test_what_an_encoding_lacks_is_written_out() -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="ascii")
    report = documents.report([documents.point("größe")])
    terminal.show(lambda width: terminal.render(report.document, width), stream)
    stream.flush()
    assert rb"gr\xf6\xdfe" in raw.getvalue()


def test_str_is_the_text() -> None:
    report = documents.report([documents.point("a")])
    assert str(report) == report.text(80) and repr(report) == "<Report of model.mlirbc>"


def change(name: str, before: float | None, after: float | None) -> dict[str, Any]:
    known = before is not None and after is not None
    return {"name": name, "before": before, "after": after} | ({"difference": after - before} if known else {})


def comparison(names: list[str], text: str = "model") -> dict[str, Any]:
    side = {"model": text, "target": text, "verdict": text}
    point = [
        [change("effect.gain", 0.5, 0.5 + at / 8), change("total.sqnr", 20.0, 20.0 - at)] for at in range(len(names))
    ]
    return {
        "before": side,
        "after": side,
        "same_samples": True,
        "numbers": [change("simulated.top1", 0.75, 0.5), change("distance", None, 0.25)],
        "points": [{"name": name, "numbers": numbers} for name, numbers in zip(names, point, strict=True)],
        "points_only_before": [text],
        "points_only_after": [],
        "diagnoses_that_came": [documents.diagnosis(text, f"{text} is clipped.")],
        "diagnoses_that_went": [],
    }


def compared(document: dict[str, Any], width: int = 80) -> str:
    return terminal.to_text(terminal.render_comparison(document, width), width)


def test_what_changed_most_stands_first() -> None:
    names = [f"layer{at:02}" for at in range(12)]
    text = compared(comparison(names))
    effects, errors = text.split("points, gain in float")[1].split("points, SQNR dB")
    assert rows(effects, names) == rows(errors, names) == names[:1:-1]
    assert re.search(r"^ simulated.top1 +75.00 % +50.00 % +-25.00 points$", text, re.MULTILINE)
    assert re.search(r"^ distance +- +0.25 +-$", text, re.MULTILINE)
    assert re.search(r"^ layer11 +0.5 +1.875 +\+1.375$", effects, re.MULTILINE)
    assert "\n+ clipped-tail model: model is clipped.\n" in text and "Points only before: model" in text
    assert "different samples" not in text
    assert "different samples" in compared(comparison(names) | {"same_samples": False})


@pytest.mark.parametrize("name", [LONG, EVIL])
def test_any_name_in_a_comparison_fits_and_steers_nothing(name: str) -> None:
    text = compared(comparison([name, "b"], name), 80)
    assert text.replace("\n", "").isprintable() and "\nforged" not in text
    assert max(terminal.cell_len(line) for line in text.splitlines()) <= 80
