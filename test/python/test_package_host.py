# SPDX-License-Identifier: Apache-2.0
"""The package in a program that has libraries of its own: it leaves their threads, kernels and environment alone."""

import json
import os
import subprocess
import sys

import pytest

pytest.importorskip("mct", reason="the package is not built (tools/dev/build)")
pytest.importorskip("numpy", reason="numpy is not installed")

DATA = os.path.join(os.path.dirname(__file__), "..", "data")
# Rounds weights together and solves an integer program.
PTQ = (
    f"mct-ptq{{target=imx500 calibration-data={DATA}/digits_calib.npy input-scale=0.0625 budget=weights:50% "
    "round-weights-max-bits=8}"
)
SCRIPT = """if True:
    import ctypes, hashlib, json, os, sys
    import numpy, mct

    def libraries():
        with open("/proc/self/maps") as maps:
            return sorted({line.split()[-1] for line in maps if "openblas" in line})

    def call(path, name, result):
        library = ctypes.CDLL(path)
        for spelling in (name, f"{name}64_", f"scipy_{name}", f"scipy_{name}64_"):
            if hasattr(library, spelling):
                function = getattr(library, spelling)
                function.restype = result
                return function()

    def observe():
        numpy.ones((64, 64)) @ numpy.ones((64, 64))
        environment = ctypes.POINTER(ctypes.c_char_p).in_dll(ctypes.CDLL(None), "environ")
        variables = []
        while environment[len(variables)] is not None:
            variables.append(environment[len(variables)].decode(errors="replace"))
        found = {
            path: [call(path, "openblas_get_num_threads", ctypes.c_int),
                   (call(path, "openblas_get_corename", ctypes.c_char_p) or b"").decode()]
            for path in libraries()
        }
        return found, sorted(variables), sorted(os.sched_getaffinity(0))

    model = mct.load(sys.argv[1])
    before = observe()
    quantized = mct.Model(model.module.run(sys.argv[2]))
    after = observe()
    print(json.dumps([before, after, hashlib.sha256(quantized.module.bytecode()).hexdigest()]))
"""


def observe(**environment):
    output = subprocess.check_output(
        [sys.executable, "-c", SCRIPT, os.path.join(DATA, "digits.mlirbc"), PTQ],
        text=True,
        env={**os.environ, **environment},
    )
    return json.loads(output.splitlines()[-1])


def test_host_finds_its_libraries_and_environment_as_before():
    plain = observe()
    # Kernels of an older processor, and more threads than a machine may have.
    other = observe(OPENBLAS_CORETYPE="Nehalem", OPENBLAS_NUM_THREADS="3")
    if not plain[0][0]:
        pytest.skip("neither numpy nor CBC has an OpenBLAS here")
    for before, after, _ in (plain, other):
        assert before == after
    assert other[0][0] != plain[0][0]
    assert other[2] == plain[2]
