# SPDX-License-Identifier: Apache-2.0
"""tools/dev/pass_times.py: its networks, what it reads of a report, and its table."""

import sys

import measure
import pytest

sys.path.insert(0, str(measure.REPOSITORY / "tools" / "dev"))

import pass_times

REPORT = """===----===
                         ... Execution time report ...
  Total Execution Time: 3.5521 seconds

  ----Wall Time----  ----Name----
    0.1768 (  5.0%)  Parser
    0.1381 (  3.9%)  'func.func' Pipeline
    0.0354 (  1.0%)    AssignNamesPass
    0.2500 (  1.0%)  SelectParametersPass
    0.5000 (  1.0%)  SelectParametersPass
    0.0007 (  0.0%)  (A) mct::KernelOps
    3.5521 (100.0%)  Total
"""


@pytest.mark.parametrize("size", [1, 50, 201])
def test_network_has_as_many_ops(size):
    text = pass_times.network(size)
    count = sum(text.count(f"tosa.{name} ") for name in ("conv2d", "clamp", "add"))
    assert size <= count <= size + 4


def test_report_is_summed_by_pass_without_pipelines_and_analyses():
    assert pass_times.parse_timing(REPORT) == {"AssignNamesPass": 0.0354, "SelectParametersPass": 0.75}


def test_table_has_the_passes_of_all_commands_and_those_that_run_the_network_last(monkeypatch):
    monkeypatch.setattr(pass_times, "ROUNDS", 1)
    monkeypatch.setattr(pass_times, "LEAST_SECONDS", 0)
    lines = pass_times.markdown([30, 60]).splitlines()
    assert lines[0] == "| pass | 30 ops, s | 60 ops, s | runs the network |"
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]
    names = [row[0] for row in rows]
    assert {"SelectParameters", "LowerToInteger", "CheckInteger", "ReportMemory", "LowerToQuant"} <= set(names)
    runs = [row[3] == "yes" for row in rows]
    assert runs == sorted(runs) and names[runs.index(True) :] and "Calibrate" in names[runs.index(True) :]
