# SPDX-License-Identifier: Apache-2.0
"""Only sources with loops over the values of tensors are compiled with -O3: others take a third less to compile."""

import json

import measure
import pytest

COMMANDS = measure.BIN.parent / "compile_commands.json"
WITH_LOOPS = {"lib/Execution", "lib/Corrections"}


@pytest.mark.skipif(not COMMANDS.exists(), reason=f"{COMMANDS} is missing")
def test_sources_without_loops_are_not_optimized_as_loops_are():
    levels = {}
    for entry in json.loads(COMMANDS.read_text()):
        words = entry["command"].split()
        folder = "/".join((COMMANDS.parent / entry["output"]).relative_to(COMMANDS.parent).parts[:2])
        # Libraries without MLIR, which are loops, take no precompiled header.
        if "-include-pch" in words and folder.startswith(("lib/", "tpc_dialect/")):
            # The last level of a command holds.
            levels.setdefault(folder, set()).add([word for word in words if word.startswith("-O")][-1])
    assert levels.keys() > WITH_LOOPS
    assert levels == {folder: {"-O1", "-O3"} if folder in WITH_LOOPS else {"-O1"} for folder in levels}
