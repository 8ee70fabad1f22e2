# SPDX-License-Identifier: Apache-2.0
"""Reports of the package: made, read and written."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

mct = pytest.importorskip("mct", reason="the package is not built (tools/dev/build)")

import report_minimal as documents  # noqa: E402


def test_a_report_is_read_as_it_was_written(tmp_path: Path) -> None:
    made = documents.report([documents.point("conv")], [documents.diagnosis("conv", "Clipped.")])
    made.save(tmp_path / "r.json")
    read = mct.report.load(tmp_path / "r.json")
    assert read.json == made.json == (tmp_path / "r.json").read_text()
    assert read.document["points"][0]["name"] == "conv"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "r.json': "),
        ("[]", """expected an object with "format": "mct-report\""""),
        (json.dumps({"format": "mct-report", "version": 99}), "report has version 99"),
        (json.dumps(documents.document([]) | {"samples": "many"}), "expected an integer"),
        (json.dumps(documents.document([]) | {"extra": 1}), "extra"),
    ],
)
def test_what_is_no_report_is_an_error_that_names_the_place(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "r.json").write_text(text)
    with pytest.raises(mct.Error) as raised:
        mct.report.load(tmp_path / "r.json")
    assert message in str(raised.value) and str(tmp_path / "r.json") in str(raised.value)


def test_a_file_that_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(mct.Error, match=r"cannot read '.*none.json': No such file"):
        mct.report.load(tmp_path / "none.json")
    (tmp_path / "binary.json").write_bytes(b"\xff\xfe")
    with pytest.raises(mct.Error, match=r"cannot read '.*binary.json': it is no text"):
        mct.report.load(tmp_path / "binary.json")


def test_the_schema_tells_what_keys_mean() -> None:
    points = mct.report.schema()["properties"]["points"]["items"]["properties"]
    assert points["effect"]["properties"]["own"]["description"]
