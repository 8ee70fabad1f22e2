# SPDX-License-Identifier: Apache-2.0
"""Environments of other tools: installed once, for all checkouts of a user."""

import measure  # noqa: F401  (puts tools/dev on the path)
import pytest
import python_environments


@pytest.fixture
def created(tmp_path, monkeypatch):
    """Folders that were installed in a cache of this test, with their packages. The package `absent` does not exist."""
    folders = []

    def create(folder, interpreter, packages):
        if "absent" in packages:
            raise RuntimeError("pip cannot install absent")
        folder.mkdir()
        (folder / python_environments.STAMP).write_text(python_environments.stamp_text(packages))
        folders.append((folder, packages))

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(python_environments, "create", create)
    return folders


def test_checkouts_share_what_has_the_same_packages(created, tmp_path):
    first, second = (tmp_path / name / "build" / "tosa" for name in ("first", "second"))
    for folder in (first, second, first):
        python_environments.install(folder, ["tool==1"], "test")
    assert len(created) == 1
    assert first.resolve() == second.resolve() == created[0][0]
    assert python_environments.is_installed(first, ["tool==1"])


def test_other_packages_are_another_folder_and_leave_the_first_alone(created, tmp_path):
    first, second = tmp_path / "first", tmp_path / "second" / "first"
    for folder in (first, second):
        python_environments.install(folder, ["tool==1"], "test")
    python_environments.install(first, ["tool==2"], "test")
    assert [packages for _, packages in created] == [["tool==1"], ["tool==2"]]
    assert python_environments.is_installed(first, ["tool==2"])
    assert python_environments.is_installed(second, ["tool==1"])
    assert not python_environments.is_installed(second, ["tool==2"])


def test_a_folder_of_an_earlier_version_becomes_a_link(created, tmp_path):
    folder = tmp_path / "tosa"
    folder.mkdir()
    (folder / python_environments.STAMP).write_text("tool==0\n")
    python_environments.install(folder, ["tool==1"], "test")
    assert folder.is_symlink() and python_environments.is_installed(folder, ["tool==1"])


def test_what_cannot_be_installed_is_not_there(created, tmp_path):
    with pytest.raises(RuntimeError, match="pip cannot install absent"):
        python_environments.install(tmp_path / "tosa", ["absent"], "test")
    assert not python_environments.is_installed(tmp_path / "tosa")
    assert not (tmp_path / "tosa").exists()
