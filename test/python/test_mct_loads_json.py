# SPDX-License-Identifier: Apache-2.0
"""MCT itself reads the targets that we export, and would write the same bytes."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import measure
import pytest

TARGETS = sorted(
    path.stem
    for path in (measure.REPOSITORY / "tpc_dialect" / "targets").glob("*.mlir")
    if path.stem not in ("tosa", "linalg")  # descriptions of an IR, not of a chip
)
# In a process of its own: MCT imports a framework where there is one, which takes seconds and much memory.
LOAD = """
import sys
from model_compression_toolkit.target_platform_capabilities import tpc_io_handler
for source, copy in zip(sys.argv[1::2], sys.argv[2::2]):
    tpc_io_handler.export_target_platform_capabilities(tpc_io_handler.load_target_platform_capabilities(source), copy)
"""


def test_mct_reads_and_writes_what_we_export(tools: Path, tmp_path: Path) -> None:
    if importlib.util.find_spec("model_compression_toolkit") is None:
        pytest.skip("MCT is not installed (pip install model-compression-toolkit torch)")
    pairs = []
    for target in TARGETS:
        ours, theirs = tmp_path / f"{target}.json", tmp_path / f"{target}_mct.json"
        source = measure.REPOSITORY / "tpc_dialect" / "targets" / f"{target}.mlir"
        measure.run_ok([tools / "mct-translate", "--export-tpc-json", source, "-o", ours])
        pairs += [ours, theirs]
    loaded = subprocess.run([sys.executable, "-c", LOAD, *pairs], capture_output=True, text=True, check=False)
    assert loaded.returncode == 0, loaded.stderr[-2000:]
    different = [
        ours.stem
        for ours, theirs in zip(pairs[::2], pairs[1::2], strict=True)
        if ours.read_bytes() != theirs.read_bytes()
    ]
    assert len(TARGETS) > 10 and not different
