# SPDX-License-Identifier: Apache-2.0
"""Reports state the same numbers as other outputs, and their headline is a remedy that helps when it is pasted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import measure
import numpy as np
import pytest

mct = pytest.importorskip("mct", reason="the package is not built (tools/dev/build)")

import report_numbers  # noqa: E402

LEAST = 1e-10


class Study:
    """A float network with the samples of its calibration and of its report."""

    def __init__(self, name: str, folder: Path) -> None:
        if name == "digits":
            path, folder = measure.DIGITS / "digits.mlirbc", measure.DIGITS
            files, preprocessing = ("digits_calib.npy", "digits_test.npy", "digits_test_labels.npy"), 1 / 16
        else:
            path, folder = (
                folder / "models" / f"{name}.mlirbc",
                folder / {"resnet8_cifar10": "cifar10"}[name],
            )
            files = ("calib_images.npy", "test_images.npy", "test_labels.npy")
            preprocessing = None
        self.model = mct.load(path)
        self.calibration, self.test, self.labels = (np.load(folder / file) for file in files)
        self.test, self.labels = self.test[:1000], self.labels[:1000]
        self.options = {"preprocessing": mct.Preprocessing.of(preprocessing)} if preprocessing else {}

    def quantize(self, **options: Any) -> Any:
        return mct.quantize(self.model, data=self.calibration, progress=False, **self.options, **options)

    def divergence(self, quantized: Any) -> float:
        """Mean Kullback-Leibler divergence of the probabilities, on the samples of the report."""
        floats, found = (
            np.maximum(np.asarray(each.run(self.test, **options), np.float64), LEAST)
            for each, options in ((self.model, self.options), (quantized, {}))
        )
        return float((floats * np.log(floats / found)).sum(axis=1).mean())


@pytest.fixture
def study(request: pytest.FixtureRequest) -> Any:
    def make(name: str) -> Study:
        return Study(name, measure.DIGITS if name == "digits" else request.getfixturevalue("shared"))

    return make


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("digits", {"target": "imx500"}),
        ("digits", {"target": "imx500", "weights": 4}),
        ("digits", {"target": "imx500", "budget": "weights:50%"}),
        ("digits", {"target": "tflite"}),
        pytest.param("resnet8_cifar10", {"target": "imx500", "weights": 4}, marks=pytest.mark.alternating),
    ],
)
def test_numbers_have_one_source(study: Any, name: str, options: dict[str, Any]) -> None:
    given = study(name)
    quantized = given.quantize(**options)
    report = quantized.report(data=given.test, labels=given.labels, effect_samples=16).document
    assert report_numbers.differences(quantized, report, given.test, given.labels) == []


@pytest.mark.parametrize(
    ("name", "bits"), [("digits", 2), pytest.param("resnet8_cifar10", 4, marks=pytest.mark.alternating)]
)
def test_the_headline_is_a_remedy_that_helps_when_it_is_pasted(
    study: Any, tmp_path: Path, name: str, bits: int
) -> None:
    given = study(name)
    quantized = given.quantize(target="imx500", weights=bits)
    report = quantized.report(data=given.test, labels=given.labels).document
    worthwhile = [trial for trial in report["trials"] if trial["is_worthwhile"]]
    if not worthwhile:
        assert f"None of {len(report['trials'])} remedies" in report["verdict"], report["verdict"]
        return
    best = max(worthwhile, key=lambda trial: trial["gain"])
    assert all(f"`{line}`" in report["verdict"] for line in best["lines"]), report["verdict"]
    rules = tmp_path / "rules"
    rules.write_text("\n".join(best["lines"]) + "\n")
    pasted = given.quantize(target="imx500", weights=bits, overrides=rules)
    # Samples and roundings of other layers differ from those of the trial.
    gain = given.divergence(quantized) - given.divergence(pasted)
    assert gain > best["gain"] / 4, (gain, best["gain"])
