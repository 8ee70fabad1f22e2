# SPDX-License-Identifier: Apache-2.0
"""The scripts of docs/examples/mct, with the calls of MCT; all run in one process, which loads PyTorch."""

import re
import subprocess
import sys

import measure
import pytest

pytest.importorskip("mct", reason="the package is not built (tools/dev/build)")
pytest.importorskip("torch", reason='the extra "torch" is not installed')

FOLDER = measure.REPOSITORY / "docs/examples/mct"
# The last one changes the modules of the network that all share.
SCRIPTS = ("ptq", "mixed_precision", "gptq", "qat", "imx500_export", "layers")
# Points of the accuracy that a script may lose: those of 4 bits and less have the width to lose some.
MOST_LOST = {"ptq": 1.0, "mixed_precision": 2.0, "gptq": 2.0, "qat": 3.0, "imx500_export": 1.0, "layers": 3.0}


@pytest.fixture(scope="module")
def printed():
    """Returns what each script prints, by its name."""
    loop = f"""
import runpy, sys
sys.path.insert(0, {str(FOLDER)!r})
for name in {SCRIPTS!r}:
    print("script", name)
    runpy.run_path({str(FOLDER)!r} + "/" + name + ".py", run_name="__main__")
"""
    done = subprocess.run([sys.executable, "-c", loop], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    parts = done.stdout.split("script ")[1:]
    return {part.partition("\n")[0]: part for part in parts}


@pytest.mark.parametrize("name", SCRIPTS)
def test_script_of_mct_runs_and_keeps_the_accuracy(printed, name):
    text = printed[name]
    before, after = map(float, re.search(r"float ([\d.]+) % quantized ([\d.]+) %", text).groups())
    # The network is seeded, and good enough for a loss to show.
    assert before > 95 and before - after <= MOST_LOST[name], text


def test_scripts_say_what_they_did(printed):
    assert re.search(r"weights (\d+) of (\d+) bytes, within the limit: True", printed["mixed_precision"])
    used, needed = map(int, re.search(r"weights (\d+) of (\d+) bytes", printed["mixed_precision"]).groups())
    assert used <= 0.6 * needed
    # Training does not lose what two bits leave.
    before = float(re.search(r"before training ([\d.]+) %", printed["qat"]).group(1))
    assert before <= float(re.search(r"quantized ([\d.]+) %", printed["qat"]).group(1)) + 1
    assert int(re.search(r"bytes with (\d+) points of activations", printed["imx500_export"]).group(1)) > 0
    # Thresholds are learned, from 2 and 4 on.
    learned = [float(one) for one in re.search(r"thresholds ([\d.]+) ([\d.]+)", printed["layers"]).groups()]
    assert learned != [2, 4] and 1 < learned[0] < 3 and 3 < learned[1] < 5


def test_scripts_are_written_for_mct():
    for name in SCRIPTS:
        text = (FOLDER / f"{name}.py").read_text()
        assert "model_compression_toolkit" in text and text.count("import mct.compat") == 1
