# SPDX-License-Identifier: Apache-2.0
"""tools/dev/zoo/agreement.py without its photographs: what it keeps, what it draws, which rows it has."""

import sys

import measure
import numpy as np
import pytest

pytest.importorskip("PIL")

sys.path.insert(0, str(measure.REPOSITORY / "tools" / "dev" / "zoo"))

import agreement

PHOTOGRAPHS = [np.zeros((320, 320, 3), np.float32)] * 3


def test_kept_arrays_are_made_once(tmp_path):
    def get_twice(kept):
        return [kept.get("best", number.copy).item() for number in (np.array([1]), np.array([2]))]

    assert get_twice(agreement.Kept(tmp_path / "kept")) == [1, 1]
    assert get_twice(agreement.Kept(None)) == [1, 2]


def test_views_lie_alike_whether_those_before_are_placed_or_kept():
    view = agreement.JUDGING[0]
    random = agreement.draw_after(0)
    agreement.place(PHOTOGRAPHS, view, random)
    expected = agreement.place(PHOTOGRAPHS, view, random).corners
    assert np.array_equal(agreement.place(PHOTOGRAPHS, view, agreement.draw_after(3)).corners, expected)


def test_only_one_row_of_a_target_has_the_same_options():
    assert len({(case.target, case.title) for case in agreement.CASES}) == len(agreement.CASES)


def test_row_that_does_not_exist_is_refused(monkeypatch, tmp_path):
    (tmp_path / "one.JPEG").touch()
    monkeypatch.setattr(agreement, "NETWORK", tmp_path / "one.JPEG")
    monkeypatch.setattr(sys, "argv", ["agreement.py", str(tmp_path), "--only", "nothing"])
    with pytest.raises(SystemExit, match="no row has 'nothing'"):
        agreement.main()
