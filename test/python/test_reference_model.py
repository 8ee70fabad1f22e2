# SPDX-License-Identifier: Apache-2.0
"""Random networks on Arm's TOSA reference model (PyPI `tosa-tools`), an executor that is not part of this project.

`tools/dev/downstream --install tosa` installs it; MCT_TOSA_TOOLS names the folder of its programs where they are
elsewhere and not on the PATH. MCT_RANDOM_NETWORKS=200 runs more.
"""

import os
import subprocess
import sys
from pathlib import Path

import measure
import numpy as np
import pytest

sys.path.insert(0, str(measure.REPOSITORY / "tools" / "dev" / "downstream"))

import tool_environments

# MLIR takes more than TOSA does (regions that read what is outside of them), and more types than the model.
REFUSED = ("is not conformant to the TOSA specification", "OpFactory could not allocate op")
NETWORKS = int(os.environ.get("MCT_RANDOM_NETWORKS", "25"))
WRITER = measure.BIN.parent / "unit" / "MctRandomNetworkTests"


@pytest.fixture(scope="module")
def tosa():
    """Paths of the programs of tosa-tools by their names."""
    found = {name: tool_environments.program("tosa", name) for name in ("tosa-opt", "tosa_reference_model")}
    missing = [name for name, path in found.items() if path is None]
    if missing:
        pytest.skip(f"{' and '.join(missing)} not found (tools/dev/downstream --install tosa, or set MCT_TOSA_TOOLS)")
    return found


@pytest.fixture(scope="module")
def networks(tosa, tmp_path_factory):
    """Folder of the networks, with what they read and make."""
    if not WRITER.exists():
        pytest.skip(f"{WRITER} is not built (tools/dev/build mct-unit-tests)")
    folder = tmp_path_factory.mktemp("networks")
    environment = {
        **os.environ,
        "MCT_RANDOM_NETWORKS_FOLDER": str(folder),
        "MCT_RANDOM_NETWORKS": str(NETWORKS),
    }
    result = subprocess.run(
        [WRITER, "--gtest_filter=*AreWrittenForOtherExecutors"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stdout
    return folder


def run_model(tosa, network: Path, work: Path) -> list[np.ndarray] | str:
    """Outputs of the reference model, or why it has none."""
    flatbuffer = work / "net.tosa"
    serialized = subprocess.run(
        [tosa["tosa-opt"], "--tosa-serialize", f"--tosa-flatbuffer-filename={flatbuffer}", network, "-o", os.devnull],
        capture_output=True,
        text=True,
        check=False,
    )
    if serialized.returncode != 0:
        return f"tosa-opt: {serialized.stderr.strip()}"
    stem = str(network.with_suffix(""))
    inputs = [f"{stem}_in{i}.npy" for i in range(count(stem, "in"))]
    outputs = [str(work / f"out{i}.npy") for i in range(count(stem, "out"))]
    model = subprocess.run(
        [
            tosa["tosa_reference_model"],
            f"--tosa_file={flatbuffer}",
            "--tosa_level=EIGHTK",
            f"--ifm_name={','.join(f'TosaInput_{i}' for i in range(len(inputs)))}",
            f"--ifm_file={','.join(inputs)}",
            f"--ofm_name={','.join(f'TosaOutput_{i}' for i in range(len(outputs)))}",
            f"--ofm_file={','.join(outputs)}",
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    if model.returncode != 0:
        text = (model.stdout + model.stderr).splitlines()
        return "; ".join(
            line for line in text if any(word in line for word in ("REQUIRE", "ERROR", "OpFactory", "result"))
        )
    return [np.load(path) for path in outputs]


def count(stem: str, kind: str) -> int:
    number = 0
    while Path(f"{stem}_{kind}{number}.npy").exists():
        number += 1
    return number


@pytest.mark.alternating
def test_random_networks_compute_what_the_reference_model_computes(tosa, networks, tmp_path):
    # TOSA leaves tanh an absolute error, and the model takes some of it near 0: 1.1e-8 of 0.0088.
    slack = 1e-6
    # The model rounds to float32 as any execution does, so it lies within the bounds of the evaluator, and at most
    # both of them away from the executor.
    judged, refused, problems = 0, 0, []
    for network in sorted(networks.glob("*.mlir"), key=lambda path: int(path.stem)):
        found = run_model(tosa, network, tmp_path)
        if isinstance(found, str) and any(reason in found for reason in REFUSED):
            refused += 1
            continue
        if isinstance(found, str):
            problems.append(f"{network.name}: not run: {found}")
            continue
        for i, theirs in enumerate(found):
            stem = network.with_suffix("")
            ours, value, error = (np.load(f"{stem}_{kind}{i}.npy") for kind in ("out", "value", "error"))
            assert theirs.shape == ours.shape
            known = np.isfinite(error)
            for name, distance, allowed in (
                ("evaluator", np.abs(theirs.astype(float) - value), error + slack),
                ("executor", np.abs(theirs.astype(float) - ours.astype(float)), 2 * error + slack),
            ):
                wrong = known & ~(distance <= allowed)
                if wrong.any():
                    where = np.unravel_index(np.argmax(wrong), wrong.shape)
                    problems.append(
                        f"{network.name}: result {i} is {theirs[where]} at {where}; {name}: {value[where]} +- "
                        f"{error[where]}, {ours[where]}"
                    )
            judged += int(known.sum())
    assert not problems, "\n".join(problems)
    assert refused <= NETWORKS / 3
    assert judged > 10 * NETWORKS
