# SPDX-License-Identifier: Apache-2.0
"""The wheel that tools/dev/wheel has left: it brings all that it needs. Skipped where there is none."""

import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = """
import sys
import numpy as np
import mct

model, samples, output = sys.argv[1:]
quantized = mct.quantize(mct.load(model), "imx500", np.load(samples), input_scale=0.0625)
quantized.save(output)
print(mct.__file__)
"""


@pytest.fixture(scope="module")
def wheel():
    found = sorted((ROOT / "build" / "wheel").glob("mct_mlir-*.whl"))
    if not found:
        pytest.skip("build/wheel has no wheel (tools/dev/wheel)")
    return found[-1]


def interpreters():
    """The one that the wheel was built with, and others that are requested."""
    built_with = ROOT / "build" / "wheel" / "tools" / "bin" / "python"
    others = os.environ.get("MCT_WHEEL_PYTHONS", "")
    return [str(built_with if built_with.exists() else sys.executable), *filter(None, others.split(":"))]


@pytest.fixture(scope="module", params=interpreters())
def python(request, wheel, tmp_path_factory):
    """The interpreter of an environment that holds the wheel, and nothing that was built here."""
    folder = tmp_path_factory.mktemp("wheel") / "venv"
    subprocess.run([request.param, "-m", "venv", folder], check=True)
    command = [folder / "bin/python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", wheel]
    if subprocess.run(command, check=False).returncode != 0:
        pytest.skip("pip could not install the wheel and numpy: there is no package index")
    return folder / "bin/python"


def environment():
    return {key: value for key, value in os.environ.items() if key not in ("LD_LIBRARY_PATH", "PYTHONPATH")}


def test_wheel_has_types_and_no_sources(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    assert {"mct/py.typed", "mct/_native.pyi", "mct/stages.py"} <= set(names)
    assert {f"mct/report/page/{file.name}" for file in (ROOT / "python/mct/report/page").iterdir()} <= set(names)
    assert not [name for name in names if name.endswith((".cpp", ".h", ".td"))]


def test_wheel_is_small_and_runs_with_an_old_libc(wheel):
    """auditwheel names a wheel by the newest symbols that it takes from the C and C++ libraries of the system."""
    assert wheel.stat().st_size <= 70e6
    major, minor = map(int, re.search(r"-manylinux_(\d+)_(\d+)_", wheel.name).groups())
    assert (major, minor) <= (2, 34)
    # The parts of them that are reached are linked in.
    assert not [name for name in zipfile.ZipFile(wheel).namelist() if "libMLIR" in name or "libLLVM" in name]


def test_wheel_takes_no_newer_symbols_than_glibc_2_34_has(wheel, tmp_path):
    """With it come the C++ library of GCC 11 and no newer one: every library of the wheel, by what its symbols require.

    A dynamic linker refuses a library only for a version that the C or C++ library lacks.
    """
    zipfile.ZipFile(wheel).extractall(tmp_path)
    newest = {"GLIBC": (2, 34), "GLIBCXX": (3, 4, 29), "CXXABI": (1, 3, 13)}
    libraries = [*tmp_path.glob("mct/**/*.so*"), *tmp_path.glob("mct_mlir.libs/*.so*")]
    assert len(libraries) > 3
    found = dict.fromkeys(newest, ())
    for library in libraries:
        command = ["/usr/lib/llvm-22/bin/llvm-objdump", "-p", library]
        text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        required = text.partition("Version References:")[2]
        for name, version in re.findall(r"\b(GLIBC|GLIBCXX|CXXABI)_([0-9.]+)$", required, re.MULTILINE):
            found[name] = max(found[name], tuple(map(int, version.split("."))))
            assert found[name] <= newest[name], f"{library.name}: {name}_{version}"
    assert all(found.values())


def test_wheel_quantizes_in_an_empty_environment(tools, python, tmp_path):
    data = ROOT / "test" / "data"
    command = [python, "-c", SCRIPT, data / "digits.mlirbc", data / "digits_calib.npy", tmp_path / "found.mlirbc"]
    text = subprocess.run(command, env=environment(), cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert text.startswith(str(python.parents[1]))
    options = f"target=imx500 calibration-data={data / 'digits_calib.npy'} input-scale=0.0625"
    expected = tmp_path / "expected.mlirbc"
    passes = ["--mct-record-preprocessing=scale=0.0625", f"--mct-ptq={options}"]
    subprocess.run([tools / "mct-opt", data / "digits.mlirbc", *passes, "-o", expected], check=True)
    assert (tmp_path / "found.mlirbc").read_bytes() == expected.read_bytes()


def test_libraries_of_the_wheel_are_its_own(python):
    packages = next(python.parents[1].glob("lib/python*/site-packages"))
    libraries = [*packages.glob("mct/**/*.so*"), *packages.glob("mct_mlir.libs/*.so*")]
    assert len(libraries) > 3
    for library in libraries:
        needed = subprocess.run(["ldd", library], env=environment(), capture_output=True, text=True, check=True).stdout
        assert "not found" not in needed
        for line in needed.splitlines():
            name, _, path = line.partition(" => ")
            if any(part in name for part in ("dnnl", "gomp")):
                assert str(packages) in path, f"{library.name}: {line.strip()}"
