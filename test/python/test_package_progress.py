# SPDX-License-Identifier: Apache-2.0
"""Progress of a job: bars on a terminal, calls of a callback if there is one, and no output otherwise."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
import textwrap

import pytest

pytest.importorskip("mct", reason="the package is not built (cmake --build build --target python)")

from mct.progress import Report, Reporter, reporting

SCRIPT = textwrap.dedent("""
    import time
    from mct.progress import reporting
    with reporting({progress}) as report:
        if report:
            report("mct-prepare")
            for done in range(0, 501, 50):
                report("mct-calibrate", done, 500, 1)
                time.sleep(0.06)
            report("mct-correct-bias", 3, None, 1)
    print("done")
""")


def on_terminal(progress: object, source: str = SCRIPT) -> str:
    """Returns the text that the script writes to a terminal as its standard error."""
    own, its = pty.openpty()
    script = source.format(progress=progress)
    environment = os.environ | {"TERM": "xterm", "COLUMNS": "120"}
    with subprocess.Popen([sys.executable, "-c", script], stderr=its, stdout=subprocess.PIPE, env=environment) as child:
        os.close(its)
        text = b""
        while True:
            try:
                piece = os.read(own, 4096)
            except OSError:
                break
            if not piece:
                break
            text += piece
        assert child.stdout and child.stdout.read() == b"done\n"
    os.close(own)
    assert child.returncode == 0
    return text.decode()


def test_bars_show_stage_samples_rate_and_time() -> None:
    pytest.importorskip("rich")
    text = on_terminal(True)
    for part in ("mct-prepare", "mct-calibrate", "500/500", "samples/s", "mct-correct-bias", "0:00:0"):
        assert part in text, text


def test_bars_of_stages_with_parts_are_those_of_the_parts() -> None:
    pytest.importorskip("rich")
    parts = """for part in range(4):
                for done in (0, 250, 500):
                    report("mct-round-weights", done, 500, part + 1, part, 4)
                    time.sleep(0.06)"""
    text = on_terminal(True, SCRIPT.replace('report("mct-correct-bias", 3, None, 1)', parts))
    for shown in ("mct-round-weights", "1/4 parts", "3/4 parts", "4/4 parts"):
        assert shown in text, text


def test_nothing_is_shown_where_it_is_switched_off() -> None:
    assert on_terminal(False) == ""


def test_nothing_is_shown_where_nobody_looks() -> None:
    finished = subprocess.run(
        [sys.executable, "-c", SCRIPT.format(progress=True)], capture_output=True, text=True, check=True
    )
    assert finished.stderr == "" and finished.stdout == "done\n"


def test_a_callback_is_told_of_stages_at_once_and_of_samples_now_and_then() -> None:
    reports: list[Report] = []
    with reporting(reports.append) as report:
        assert report
        report("a")
        for done in range(1001):
            report("b", done, 1000, 1)
        report("c")
    assert [(one.stage, one.done, one.total) for one in reports if one.stage != "b"] == [("a", 0, 0), ("c", 0, 0)]
    samples = [one.done for one in reports if one.stage == "b"]
    assert samples[0] == 0 and samples[-1] == 1000 and len(samples) < 500


def test_what_has_not_changed_is_not_told_again() -> None:
    reports: list[Report] = []
    reporter = Reporter(reports.append, interval=0)
    for _ in range(3):
        reporter("a", 1, 2, 1)
    reporter("a", 1, 2, 2)
    assert [(one.done, one.run) for one in reports] == [(1, 1), (1, 2)]
