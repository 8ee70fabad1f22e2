# SPDX-License-Identifier: Apache-2.0
"""Nothing that users can call or read is missing from the generated reference."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import pkgutil
import re
from pathlib import Path
from types import ModuleType

import measure
import pytest

pytest.importorskip("mct", reason="the package is not built (tools/dev/build)")

SOURCES = measure.REPOSITORY
BUILD = measure.BIN.parent


@pytest.fixture(scope="module")
def generate() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate", SOURCES / "docs" / "generate.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_public_name_of_the_package_is_there(generate: ModuleType, tools: Path) -> None:
    import mct

    page = generate.python(BUILD)
    missing = [name for name in mct.__all__ if callable(getattr(mct, name)) and f"`mct.{name}`" not in page]
    for found in pkgutil.walk_packages(mct.__path__, "mct."):
        # `stages` is listed as names of `mct`; the other one is an alias of `mct.target_platform`, as in MCT.
        if "._" in found.name or found.name in ("mct.stages", "mct.target_platform_capabilities.target_platform"):
            continue
        # `importers` and `torch_layers` need frameworks; `compat` changes the process, and has a page of its own
        # (test_package_compat).
        if found.name.startswith(("mct.__main__", "mct.importers.", "mct.compat", "mct.torch_layers")):
            continue
        module = importlib.import_module(found.name)
        for name in getattr(module, "__all__", ()):
            value = getattr(module, name)
            if inspect.isclass(value) or inspect.isfunction(value) or isinstance(value, str):
                missing += [f"{found.name}.{name}"] * (f"{name}`" not in page)
    assert missing == []


def test_every_reason_is_there_and_declined_ones_have_a_remedy(generate: ModuleType) -> None:
    page = generate.reasons(BUILD)
    text = (SOURCES / "include" / "mct" / "IR" / "Reasons.def").read_text()
    identifiers = re.findall(r'^MCT_REASON\(\w+, "([\w-]+)"', text, re.MULTILINE)
    rows = dict(re.findall(r"^\| `([\w-]+)` \| (.*) \|$", page, re.MULTILINE))
    assert len(identifiers) > 80
    assert list(rows) == identifiers
    # Work that was done, or is in order, needs none.
    without = {identifier for identifier, row in rows.items() if row.endswith("| -")}
    assert without == {
        "selected-parameters",
        "covers-known-range",
        "fixed-grid",
        "bound-moved",
        "equalized",
        "equal-already",
        "threshold-refined",
        "residual-equalized",
        "no-outliers",
        "parts-rescaled",
        "scaled",
        "grid-split",
        "took-parameters",
        "shifted",
        "corrected-before",
        "mean-corrected",
        "rounded-together",
        "exact-in-f32",
        "table-point",
        "assigned-bits",
    }


def test_every_library_of_passes_and_every_file_of_interfaces_is_there(generate: ModuleType) -> None:
    libraries = {f"Mct{path.parent.name}" for path in (SOURCES / "include" / "mct").glob("*/Passes.td")}
    assert libraries | {"TpcTransforms"} == set(generate.LIBRARIES)
    interfaces = inspect.getsource(generate.interfaces)
    for folder in ("include", "tpc_dialect"):
        for path in (SOURCES / folder).rglob("*.td"):
            if re.search(r"^def \w+ : (?:Op|Attr)Interface<", path.read_text(), re.MULTILINE):
                assert f'"{path.stem}"' in interfaces


def test_every_tool_is_there(generate: ModuleType, tools: Path) -> None:
    programs = {path.name for path in tools.glob("mct-*")} - {"mct-tblgen"}  # which only the build uses
    assert programs == set(generate.TOOLS)
    page = generate.command_line(BUILD)
    for words in (
        "## `mct`",
        "### `mct quantize`",
        "--mct-records",
        "--tpc-list-targets",
        "--report-schema",
        "--export-onnx",
    ):
        assert words in page
