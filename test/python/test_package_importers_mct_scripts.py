# SPDX-License-Identifier: Apache-2.0
"""The scripts of docs/examples/mct, with the calls of MCT; each runs in a process of its own."""

import re
import subprocess
import sys

import measure
import pytest

pytest.importorskip("mct", reason="the package is not built (tools/dev/build)")
pytest.importorskip("torch", reason='the extra "torch" is not installed')

FOLDER = measure.REPOSITORY / "docs/examples/mct"
SCRIPTS = ("ptq", "mixed_precision", "gptq", "qat", "imx500_export", "layers")
# Points of the accuracy that a script may lose: those of 4 bits and less have the width to lose some.
MOST_LOST = {"ptq": 1.0, "mixed_precision": 2.0, "gptq": 2.0, "qat": 3.0, "imx500_export": 1.0, "layers": 3.0}


def check_limit(text: str) -> None:
    used, needed = map(int, re.search(r"weights (\d+) of (\d+) bytes, within the limit: True", text).groups())
    assert used <= 0.6 * needed


def check_training(text: str) -> None:
    """Training does not lose what two bits leave."""
    before, after = (
        float(re.search(rf"{name} ([\d.]+) %", text).group(1)) for name in ("before training", "quantized")
    )
    assert before <= after + 1


def check_file(text: str) -> None:
    assert int(re.search(r"bytes with (\d+) points of activations", text).group(1)) > 0


def check_thresholds(text: str) -> None:
    """They are learned, from 2 and 4 on."""
    learned = [float(one) for one in re.search(r"thresholds ([\d.]+) ([\d.]+)", text).groups()]
    assert learned != [2, 4] and 1 < learned[0] < 3 and 3 < learned[1] < 5


CHECKS = {
    "mixed_precision": check_limit,
    "qat": check_training,
    "imx500_export": check_file,
    "layers": check_thresholds,
}


@pytest.mark.alternating
@pytest.mark.parametrize("name", SCRIPTS)
def test_script_of_mct_runs_and_keeps_the_accuracy(name):
    done = subprocess.run([sys.executable, FOLDER / f"{name}.py"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    before, after = map(float, re.search(r"float ([\d.]+) % quantized ([\d.]+) %", done.stdout).groups())
    # The network is seeded, and good enough for a loss to show.
    assert before > 95 and before - after <= MOST_LOST[name], done.stdout
    if name in CHECKS:
        CHECKS[name](done.stdout)


def test_scripts_are_written_for_mct():
    for name in SCRIPTS:
        text = (FOLDER / f"{name}.py").read_text()
        assert "model_compression_toolkit" in text and text.count("import mct.compat") == 1
