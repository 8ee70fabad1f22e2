# SPDX-License-Identifier: Apache-2.0
"""Times an integer network in mct-run against a .tflite in LiteRT with XNNPACK, one thread each.

    build/venv/bin/python tools/dev/xnnpack NETWORK MODEL.tflite     NETWORK: any file that mct-opt reads
    build/venv/bin/python tools/dev/xnnpack --install                LiteRT, into an environment of its own

Both get the same random codes, in turns: a round is all images in one and then all in the other. Printed is the median
over the rounds of the microseconds for an image, and the ratio. Compiling and loading are not timed. The network has
one input of i8 (mct-lower-to-integer=io=integer), and the model one of as many bytes for an image.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "downstream"))

import measure
import numpy as np
import tool_environments

HERE = Path(__file__).resolve().parent


class TimingError(Exception):
    """An error that the user has to mend."""


def check_files(network: Path, model: Path) -> None:
    for path in (network, model):
        if not path.is_file():
            raise TimingError(f"{path}: no such file")
    with model.open("rb") as file:
        if file.read(8)[4:] != b"TFL3":
            raise TimingError(f"{model}: not a .tflite file")


def input_shape(network: Path) -> list[int]:
    """Returns the shape of one image."""
    finished = measure.run([measure.BIN / "mct-run", network, "--signature"])
    if finished.returncode != 0:
        raise TimingError(f"{network}: {finished.stderr.strip()}")
    inputs = re.findall(r"^input +.*?tensor<([^>]*)>", finished.stdout, re.MULTILINE)
    if len(inputs) != 1 or not inputs[0].endswith("xi8"):
        raise TimingError(
            f"{network}: has the inputs {', '.join(inputs)}, and one of i8 is timed (mct-lower-to-integer=io=integer)"
        )
    sizes = inputs[0].removesuffix("xi8").split("x")
    if sizes[0] not in ("1", "?"):
        raise TimingError(f"{network}: has a batch of {sizes[0]}, and single images are timed (batch=1)")
    return [1, *map(int, sizes[1:])]


class LiteRt:
    """An interpreter in a process of its environment, which runs all images for each request."""

    def __init__(self, program: Path, model: Path, samples: Path) -> None:
        command = [program.parent / "python", HERE / "run_litert.py", model, samples]
        self.process = subprocess.Popen(
            list(map(str, command)), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        self.answer()

    def answer(self) -> dict:
        line = self.process.stdout.readline() if self.process.stdout else ""
        if not line:
            _, errors = self.process.communicate()
            raise TimingError(f"LiteRT: {errors.strip().splitlines()[-1] if errors.strip() else 'ended'}")
        found = json.loads(line)
        if "error" in found:
            self.close()
            raise TimingError(found["error"])
        return found

    def seconds(self) -> float:
        assert self.process.stdin
        self.process.stdin.write("run\n")
        self.process.stdin.flush()
        return self.answer()["seconds"]

    def close(self) -> None:
        self.process.communicate()


def time_both(program: Path, network: Path, model: Path, images: int, rounds: int) -> dict:
    """Microseconds for an image, of each round."""
    codes = np.random.default_rng(1).integers(-128, 128, [images, *input_shape(network)[1:]], dtype=np.int8)
    ours, theirs = [], []
    with tempfile.TemporaryDirectory() as folder:
        samples = Path(folder) / "codes.npy"
        np.save(samples, codes)
        interpreter = LiteRt(program, model, samples)
        try:
            for _ in range(rounds):
                ours.append(measure.run_json(network, samples, num_threads=1)["seconds"] / images * 1e6)
                theirs.append(interpreter.seconds() / images * 1e6)
        except RuntimeError as problem:
            raise TimingError(str(problem)) from problem
        finally:
            interpreter.close()
    return {"mct-run": ours, "xnnpack": theirs}


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="xnnpack", description=__doc__.split("\n")[0])
    parser.add_argument("network", nargs="?", type=Path, help="integer network, text or bytecode")
    parser.add_argument("model", nargs="?", type=Path, help="a .tflite file")
    parser.add_argument("--install", action="store_true", help="install LiteRT first")
    parser.add_argument("--images", type=int, default=1000, help="images in a round, default: %(default)s")
    parser.add_argument("--rounds", type=int, default=9, help="default: %(default)s")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the microseconds of all rounds there, too")
    options = parser.parse_args(arguments)
    if options.images < 1 or options.rounds < 1:
        parser.error("--images, --rounds: at least 1")
    if not options.model and (options.network or not options.install):
        parser.error("name a network and a .tflite, or --install")
    try:
        if options.model:
            check_files(options.network, options.model)
        # Before minutes are spent.
        if options.json and not options.json.parent.is_dir():
            raise TimingError(f"{options.json.parent}: no such folder")
        if options.install:
            tool_environments.install("litert")
        if not options.model:
            return 0
        program = tool_environments.program("litert")
        if not program:
            raise TimingError("LiteRT is not installed; tools/dev/xnnpack --install does it")
        found = time_both(program, options.network, options.model, options.images, options.rounds)
        if options.json:
            options.json.write_text(json.dumps(found, indent=1) + "\n")
    except (TimingError, RuntimeError, OSError) as problem:
        print(f"xnnpack: {problem}", file=sys.stderr)
        return 1
    ours, theirs = (statistics.median(found[name]) for name in ("mct-run", "xnnpack"))
    print("| network | mct-run, us an image | LiteRT with XNNPACK, us an image | ratio |\n| --- | --- | --- | --- |")
    print(f"| {options.network.stem} | {ours:.1f} | {theirs:.1f} | {ours / theirs:.2f} |")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
