# SPDX-License-Identifier: Apache-2.0
"""One corpus of small networks in every runtime that is installed: who computes the integers that the format asks for.

    build/venv/bin/python tools/dev/conformance                     all cases, all runtimes
    build/venv/bin/python tools/dev/conformance --family sum --runtimes mct-run,onnxruntime
    build/venv/bin/python tools/dev/conformance --list              the cases
    build/venv/bin/python tools/dev/conformance --network FILE.mlir a network of your own
    build/venv/bin/python tools/dev/conformance --random 2000 --seed 7       random networks

Each case exists as integer TOSA, and as ONNX and `.tflite` where these can say it. What it has to compute comes from an
evaluator in double that shares no code with mct-run (build/bin/MctEvaluateNetworks). The matrix counts, by family and
runtime, cases that are exact, off by one (±1), wrong or refused; below it is the smallest case of each deviation, which
the maker of the case was asked for with smaller and smaller sizes (--no-reduce leaves that out). Runtimes are those of
tools/dev/downstream, installed by its --install; those that are missing are named. --record writes the tables of
docs/results/conformance.md.

Random networks are those of the unit tests (test/unit/Execution/RandomNetworks.h). A seed determines the network, a
target, any alternatives of its operators and options of mct.quantize; the result is simulated with each of the four
roundings and lowered to integers. What differs is reduced to the smallest network that differs, and its file is named.
What verdicts.py explains, and what is within one code at each point of LiteRT ("rounded"), is counted. The runtimes are
those that execute what is written for them.

Exit status 2 for a problem; 1 where random networks have a difference without an explanation, or where a `--network`
is not exact in every runtime: mct-reduce makes that one smaller,
    mct-reduce FILE.mlir --reduction-tree="traversal-mode=0 test=PROGRAM"
where PROGRAM is a script that calls this with --network "$1" and --runtimes, and ends with 1 if this did, else with 0.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "downstream"))

import corpus
import measure
import page
import random_survey
import reducer
import runtimes
import survey
from evaluator import EvaluatorError
from runtimes import RuntimeFailure

DEFAULT_FOLDER = measure.REPOSITORY / "build" / "conformance"


def parse(arguments: list[str]) -> tuple[argparse.ArgumentParser, argparse.Namespace]:
    parser = argparse.ArgumentParser(prog="conformance", description=__doc__.split("\n")[0])
    parser.add_argument(
        "--runtimes",
        help=f"default: {','.join(runtimes.RUNTIMES)}; of random networks: {','.join(random_survey.RUNTIMES)}",
    )
    parser.add_argument("--family", action="append", default=[], help="cases of this family alone; may be repeated")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="each N-th case of every family")
    parser.add_argument("--folder", type=Path, default=DEFAULT_FOLDER, help="files of the cases, default: %(default)s")
    parser.add_argument("--network", type=Path, metavar="FILE", help="text in MLIR: float with points, or integers")
    parser.add_argument("--random", type=int, default=0, metavar="N", help="N random networks instead of the cases")
    parser.add_argument("--seed", type=int, default=1, help="of the first random network, default: %(default)s")
    parser.add_argument("--list", action="store_true", help="print the cases, run nothing")
    parser.add_argument("--no-reduce", dest="reduce", action="store_false", help="print the smallest case as it is")
    parser.add_argument("--record", action="store_true", help="write the tables of docs/results/conformance.md")
    return parser, parser.parse_args(arguments)


def choose(parser: argparse.ArgumentParser, options: argparse.Namespace) -> tuple[list[corpus.Case], list[str]]:
    try:
        cases = [corpus.read(options.network)] if options.network else corpus.build()
    except (OSError, ValueError) as problem:
        parser.error(f"--network: {problem}; mct-opt prints the text of a module")
    known = random_survey.RUNTIMES if options.random else runtimes.RUNTIMES
    keys = options.runtimes.split(",") if options.runtimes else list(known)
    for names, known, what in (
        (keys, runtimes.RUNTIMES, "runtime"),
        (options.family, list(dict.fromkeys(case.family for case in cases)), "family"),
    ):
        unknown = [name for name in names if name not in known]
        if unknown:
            parser.error(f"no {what} named {', '.join(unknown)}; there are {', '.join(known)}")
    if options.every < 1:
        parser.error("--every: at least 1")
    if options.random < 0 or options.seed < 0:
        parser.error("--random, --seed: at least 0")
    if options.random and (options.family or options.network or options.list):
        parser.error("--random is about other networks; leave out --family, --network and --list")
    if options.record and (options.every != 1 or options.family or options.network or options.random):
        parser.error("--record is about all cases; leave out --family, --every, --network and --random")
    if options.network:
        return cases, keys
    chosen = [case for case in cases if not options.family or case.family in options.family]
    return [case for case in chosen if int(case.name.rsplit("-", 1)[1]) % options.every == 0], keys


def judge_random(options: argparse.Namespace, keys: list[str], progress: Callable[[str], None]) -> int:
    """Prints what random networks show; the exit status."""
    folder = options.folder / "random"
    seeds = range(options.seed, options.seed + options.random)
    found = random_survey.judge_all(seeds, keys, folder, progress)
    # A reduction may take as long as the survey.
    print(found.report(), flush=True)
    smallest = reducer.smallest(found.result, folder) if options.reduce else reducer.unchanged(found.result)
    print(page.deviations(smallest))
    for number, one in enumerate(smallest):
        path = folder / f"unexplained-{number}.mlir"
        path.write_text(one.case.text)
        print(f"{one.runtime}, {one.family}, {one.kind}: {path}")
    return 1 if smallest or found.unexplained else 0


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
    progress = lambda text: print(text, file=sys.stderr, flush=True)  # noqa: E731
    try:
        if options.random:
            return judge_random(options, keys, progress)
        result = survey.judge_all(cases, keys, options.folder, progress)
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
