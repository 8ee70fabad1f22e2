# SPDX-License-Identifier: Apache-2.0
"""Shared fixtures. MCT_BIN_DIR names another folder of built tools, MCT_SHARED_DIR another copy of the real models."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools" / "dev"))

import measure


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        "thorough: takes seconds, beside a test of the same kind; tools/dev/check leaves it out and says what runs it",
    )
    config.addinivalue_line(
        "markers",
        "alternating: takes long for what it finds; tools/dev/check runs every eighth one, or case, as the commit says",
    )


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--part", metavar="K/N", help="run part K (from 0) of N of the cases of alternating tests")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    part = config.getoption("--part")
    if part is None:
        return
    number, parts = map(int, part.split("/"))
    alternating = [item for item in items if item.get_closest_marker("alternating")]
    left_out = set(alternating) - set(alternating[number::parts])
    config.hook.pytest_deselected(items=list(left_out))
    items[:] = [item for item in items if item not in left_out]


@pytest.fixture(scope="session")
def tools():
    """Skips a test that needs mct-opt and mct-run when they are not built."""
    for name in ("mct-opt", "mct-run"):
        if not (measure.BIN / name).exists():
            pytest.skip(f"{measure.BIN / name} is not built (tools/dev/build, or set MCT_BIN_DIR)")
    return measure.BIN


@pytest.fixture(scope="session")
def shared(tools):
    """Folder of the real models and data."""
    data = measure.SHARED / "data"
    if not data.exists():
        pytest.skip(f"{data} is not there (set MCT_SHARED_DIR to the folder that holds 'data')")
    return data


@pytest.fixture
def attach(tools, tmp_path):
    """The module that a target, an object, its text or its name, is attached to: a small network or none."""

    def run(target, network="module {}"):
        source, file = tmp_path / "network.mlir", tmp_path / "target.mlir"
        source.write_text(network)
        text = target if isinstance(target, str) else target.to_mlir()
        if not text.isidentifier():
            file.write_text(text)
            text = str(file)
        done = measure.run_ok([tools / "mct-opt", source, f"--tpc-attach-target=target={text}"])
        return done.stdout

    return run


@pytest.fixture(scope="session")
def quantize(tools, tmp_path_factory):
    """Quantizes a model once per set of options and session, and gives the path of the result."""
    folder = tmp_path_factory.mktemp("quantized")
    done = {}

    def get(model, calibration, **options):
        key = (model, calibration, tuple(sorted(options.items())))
        if key not in done:
            output = folder / f"{len(done)}_{Path(model).stem}.mlir"
            measure.run_ok(measure.ptq_command(model, calibration, output, **options))
            done[key] = output
        return done[key]

    return get
