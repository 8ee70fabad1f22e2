# SPDX-License-Identifier: Apache-2.0
"""One corpus of small networks in every runtime that is installed: who computes the integers that the format asks for.

    build/venv/bin/python tools/dev/conformance                     all cases, all runtimes
    build/venv/bin/python tools/dev/conformance --family sum --runtimes mct-run,onnxruntime
    build/venv/bin/python tools/dev/conformance --list              the cases
    build/venv/bin/python tools/dev/conformance --network FILE.mlir a network of your own

Each case exists as integer TOSA, and as ONNX and `.tflite` where these can say it. What it has to compute comes from an
evaluator in double that shares no code with mct-run (build/bin/MctEvaluateNetworks). The matrix counts, by family and
runtime, cases that are exact, off by one (±1), wrong or refused; below it is the smallest case of each deviation, which
the maker of the case was asked for with smaller and smaller sizes (--no-reduce leaves that out). Runtimes are those of
tools/dev/downstream, installed by its --install; those that are missing are named. --record writes the tables of
docs/results/conformance.md.

Exit status 2 for a problem, and 1 where a `--network` is not exact in every runtime: mct-reduce makes that one smaller,
    mct-reduce FILE.mlir --reduction-tree="traversal-mode=0 test=PROGRAM"
where PROGRAM is a script that calls this with --network "$1" and --runtimes, and ends with 1 if this did, else with 0.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "downstream"))

import corpus
import measure
import page
import reducer
import runtimes
import survey
from evaluator import EvaluatorError
from runtimes import RuntimeFailure

DEFAULT_FOLDER = measure.REPOSITORY / "build" / "conformance"


def parse(arguments: list[str]) -> tuple[argparse.ArgumentParser, argparse.Namespace]:
    parser = argparse.ArgumentParser(prog="conformance", description=__doc__.split("\n")[0])
    parser.add_argument("--runtimes", default=",".join(runtimes.RUNTIMES), help="default: %(default)s")
    parser.add_argument("--family", action="append", default=[], help="cases of this family alone; may be repeated")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="each N-th case of every family")
    parser.add_argument("--folder", type=Path, default=DEFAULT_FOLDER, help="files of the cases, default: %(default)s")
    parser.add_argument("--network", type=Path, metavar="FILE", help="text in MLIR: float with points, or integers")
    parser.add_argument("--list", action="store_true", help="print the cases, run nothing")
    parser.add_argument("--no-reduce", dest="reduce", action="store_false", help="print the smallest case as it is")
    parser.add_argument("--record", action="store_true", help="write the tables of docs/results/conformance.md")
    return parser, parser.parse_args(arguments)


def choose(parser: argparse.ArgumentParser, options: argparse.Namespace) -> tuple[list[corpus.Case], list[str]]:
    try:
        cases = [corpus.read(options.network)] if options.network else corpus.build()
    except (OSError, ValueError) as problem:
        parser.error(f"--network: {problem}; mct-opt prints the text of a module")
    keys = options.runtimes.split(",")
    for names, known, what in (
        (keys, runtimes.RUNTIMES, "runtime"),
        (options.family, list(dict.fromkeys(case.family for case in cases)), "family"),
    ):
        unknown = [name for name in names if name not in known]
        if unknown:
            parser.error(f"no {what} named {', '.join(unknown)}; there are {', '.join(known)}")
    if options.every < 1:
        parser.error("--every: at least 1")
    if options.record and (options.every != 1 or options.family or options.network):
        parser.error("--record is about all cases; leave out --family, --every and --network")
    if options.network:
        return cases, keys
    chosen = [case for case in cases if not options.family or case.family in options.family]
    return [case for case in chosen if int(case.name.rsplit("-", 1)[1]) % options.every == 0], keys


def main(arguments: list[str]) -> int:
    parser, options = parse(arguments)
    cases, keys = choose(parser, options)
    if options.list:
        for case in cases:
            print(f"{case.name}: {case.family}: {case.maker} {case.arguments}")
        return 0
    absent = runtimes.missing(keys)
    for key, remedy in absent.items():
        print(f"{runtimes.RUNTIMES[key].title}: not installed ({remedy})")
    keys = [key for key in keys if key not in absent]
    try:
        result = survey.judge_all(cases, keys, options.folder, progress=lambda text: print(text, file=sys.stderr))
        for problem in result.problems:
            raise RuntimeFailure(problem)
        reduce = options.reduce and not options.network
        smallest = reducer.smallest(result, options.folder) if reduce else reducer.unchanged(result)
    except (EvaluatorError, RuntimeFailure) as problem:
        print(f"conformance: {problem}", file=sys.stderr)
        return 2
    print(page.matrix(result))
    print(page.deviations(smallest))
    if options.record:
        page.record(result, smallest)
    return 1 if options.network and smallest else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
