# SPDX-License-Identifier: Apache-2.0
"""Runs the tools on modules of a folder, which has samples that calibrate, `calibration.npy`, and others that judge,
`others.npy`."""

import measure
import numpy as np


def write_samples(folder, shape):
    """Writes both files of samples, of this shape each, with a fixed seed."""
    samples = np.random.default_rng(2).normal(size=(2 * shape[0], *shape[1:])).astype(np.float32)
    np.save(folder / "calibration.npy", samples[: shape[0]])
    np.save(folder / "others.npy", samples[shape[0] :])


def run(tools, folder, module):
    """Returns the result of a module for the samples that judge."""
    path = folder / f"{module}.npy"
    measure.run_ok([tools / "mct-run", folder / module, f"--input={folder / 'others.npy'}", f"--output={path}"])
    return np.load(path)


def opt(tools, folder, module, pipeline, output):
    """Writes what passes on modules make of one."""
    command = [tools / "mct-opt", folder / module, f"--pass-pipeline=builtin.module({pipeline})", "-o", folder / output]
    return measure.run_ok(command)


def calibrate(tools, folder, module, target, output):
    """Writes a module with points for a target, and with statistics of their channels."""
    statistics = f"mct-calibrate{{channel-statistics=true calibration-data={folder / 'calibration.npy'}}}"
    points = f"tpc-attach-target{{target={target}}},mct-prepare,mct-insert-quantizers"
    opt(tools, folder, module, f"{points},{statistics}", output)


def quantize(tools, folder, module, target, options, output):
    """Writes a quantized module, and returns its result for the samples that judge."""
    ptq = f"mct-ptq{{target={target} calibration-data={folder / 'calibration.npy'} {options}}}"
    opt(tools, folder, module, ptq, output)
    return run(tools, folder, output)


def decibels(reference, values):
    """Returns the SQNR in dB."""
    return 10 * np.log10(np.square(reference).sum() / np.square(values - reference).sum())
