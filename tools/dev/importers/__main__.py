# SPDX-License-Identifier: Apache-2.0
"""Installs the extras of the Python package that import networks, and runs their tests there.

    build/venv/bin/python tools/dev/importers            # all of them: 5 GB and some minutes the first time
    build/venv/bin/python tools/dev/importers small      # .tflite, ONNX and StableHLO: 1 GB

Each environment is a link below `build/importers`, to a folder that checkouts share, with the versions that
`python/pyproject.toml` pins. The package is the one of the build tree.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
FOLDER = ROOT / "build" / "importers"
sys.path.insert(0, str(ROOT / "tools" / "dev"))

import python_environments  # noqa: E402

# The extras of each environment: those of one can be installed together.
# ONNX has what StableHLO needs.
ENVIRONMENTS = {
    "small": ["tflite", "onnx", "tosa", "images", "report"],
    "torch": ["torch"],
    "keras": ["keras"],
    "jax": ["jax"],
}
# Packages that judge the results and write the files that are imported.
TESTS = {"small": ["ai-edge-litert==2.3.0"], "torch": [], "keras": [], "jax": ["flax==0.12.8"]}
# Tests that need what an environment has, beside those of the importers.
OTHERS = {
    "small": ["test_package_exporters_tflite.py"],
    "torch": ["test_gradients_torch.py", "test_qat_torch.py"],
    "keras": [],
    "jax": [],
}


def packages(name: str) -> list[str]:
    project = tomllib.loads((ROOT / "python" / "pyproject.toml").read_text())["project"]
    extras = [package for extra in ENVIRONMENTS[name] for package in project["optional-dependencies"][extra]]
    pinned = (ROOT / "tools" / "dev" / "requirements-tests.txt").read_text().split()
    runner = [line for line in pinned if line.startswith(("pytest==", "pytest-xdist=="))]
    return [*project["dependencies"], *extras, *TESTS[name], *runner]


def python(name: str) -> Path:
    return FOLDER / name / "bin" / "python"


def test(name: str, workers: int, arguments: list[str]) -> int:
    """Runs the tests with the environment's Python; those of other extras are skipped by name."""
    path = os.pathsep.join(filter(None, [str(ROOT / "build" / "python"), os.environ.get("PYTHONPATH")]))
    folder = ROOT / "test" / "python"
    # The page's first line reads a .tflite file, and samples come from PyTorch, too.
    others = [folder / f"test_package_{name}.py" for name in ("readme", "samples")]
    pages = "tflite-ethos-u", "pytorch-imx500", "foreign-report"
    examples = [f"{folder / 'test_docs.py'}::test_what_a_page_shows_runs[{page}]" for page in pages]
    others += [folder / file for file in OTHERS[name]]
    files = [*sorted(folder.glob("test_package_importers*.py")), *others, *examples]
    # Few tests share what they import, so that no file gains from one worker. Loading PyTorch, however, takes some ten
    # seconds for each worker, and as many for the converter that it keeps.
    distribution = "loadfile" if name == "torch" else "worksteal"
    parallel = ["-n", str(workers), "--dist", distribution]
    command = [python(name), "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", *parallel, *arguments, *files]
    return subprocess.run(command, cwd=ROOT, env=dict(os.environ, PYTHONPATH=path), check=False).returncode


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="importers", description=__doc__.split("\n")[0])
    parser.add_argument("environments", nargs="*", help=f"of {', '.join(ENVIRONMENTS)}; default: all")
    parser.add_argument("--install-only", action="store_true", help="run no tests")
    parser.add_argument("--no-install", action="store_true", help="leave out what is not installed, by name")
    parser.add_argument("--thorough", action="store_true", help="also the tests that tools/dev/check leaves out")
    parser.add_argument(
        "--workers", metavar="N", type=int, default=os.cpu_count(), help="processes; default: a core each"
    )
    parser.add_argument("--part", metavar="K/N", help="only part K (from 0) of N of the tests marked `alternating`")
    parser.add_argument("--junit-xml", metavar="FILE", help="of one environment: write the results there, too")
    options = parser.parse_args(arguments)
    names = options.environments or list(ENVIRONMENTS)
    if unknown := [name for name in names if name not in ENVIRONMENTS]:
        parser.error(f"no environment named {', '.join(unknown)}; there are {', '.join(ENVIRONMENTS)}")
    if options.junit_xml and len(names) != 1:
        parser.error("--junit-xml: name one environment")
    failed = False
    for name in names:
        if options.no_install and not python_environments.is_installed(FOLDER / name, packages(name)):
            print(f"importers: {name} is not installed (tools/dev/importers {name}); its tests are left out")
            continue
        try:
            python_environments.install(FOLDER / name, packages(name), "importers")
        except RuntimeError as problem:
            print(f"importers: {problem}", file=sys.stderr)
            failed = True
            continue
        if not options.install_only:
            chosen = [f"--junit-xml={options.junit_xml}"] if options.junit_xml else []
            chosen += [] if options.thorough else ["-m", "not thorough"]
            chosen += [f"--part={options.part}"] if options.part else []
            failed |= test(name, options.workers, chosen) != 0
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
