# SPDX-License-Identifier: Apache-2.0
"""Reports of the native module: those of mct-run, in the background, and cancelled on request."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import measure
import numpy as np
import pytest

mct = pytest.importorskip("mct", reason="the package is not built (tools/dev/build)")

MODEL, CALIBRATION = measure.DIGITS / "digits.mlirbc", measure.DIGITS / "digits_calib.npy"
TEST, LABELS = measure.DIGITS / "digits_test.npy", measure.DIGITS / "digits_test_labels.npy"


@pytest.fixture(scope="module")
def scaled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Samples as the network reads them."""
    path = tmp_path_factory.mktemp("samples") / "scaled.npy"
    np.save(path, np.load(TEST).astype(np.float32) / 16)
    return path


@pytest.fixture
def modules(quantize: Any) -> tuple[Any, Any]:
    quantized = mct.load(quantize(MODEL, CALIBRATION, input_scale=0.0625))
    return quantized.module, mct.load(MODEL).module


def test_a_report_is_the_one_of_mct_run(quantize, modules, scaled, tmp_path):
    quantized, floating = modules
    found = json.loads(quantized.report([str(scaled)], floating, labels=str(LABELS), samples=200, effect_samples=20))
    options = {"compare": MODEL, "labels": LABELS, "samples": 200, "report_samples": 20}
    module = quantize(MODEL, CALIBRATION, input_scale=0.0625)
    measure.run_json(module, scaled, report=tmp_path / "r.json", **options)
    expected = json.loads((tmp_path / "r.json").read_text())
    for document in (found, expected):
        for key in ("seconds", "model"):
            del document[key]
    assert found == expected


def test_other_threads_run_meanwhile_and_may_end_it(modules, scaled):
    quantized, floating = modules
    ticks, stages, end = 0, set(), threading.Event()

    def count() -> None:
        nonlocal ticks
        while not end.wait(0.001):
            ticks += 1

    class Enough(Exception):
        pass

    def poll(stage: str, *_counts: int) -> None:
        stages.add(stage)
        # The report runs networks, which have a stage of their own: either may be the first one that is polled.
        if ticks > 3 and "report" in stages:
            raise Enough

    thread = threading.Thread(target=count)
    thread.start()
    try:
        with pytest.raises(Enough):
            # Long enough for a call of `poll`.
            for _ in range(1000):
                quantized.report([str(scaled)], floating, effect_samples=0, poll=poll)
    finally:
        end.set()
        thread.join()


@pytest.mark.parametrize(
    ("samples", "options", "message"),
    [
        ("none.npy", {}, "none.npy"),
        (None, {"labels": "none.npy"}, "none.npy"),
        (None, {"function": "nobody"}, "nobody"),
    ],
)
def test_what_goes_wrong_is_one_error(modules, scaled, samples, options, message):
    quantized, floating = modules
    with pytest.raises(mct.Error, match=message):
        quantized.report([samples or str(scaled)], floating, **options)
