# SPDX-License-Identifier: Apache-2.0
"""Foreign networks: imports them, runs and quantizes them, prints how right and how fast that was.

    build/venv/bin/python tools/dev/zoo [NAME...]      all, or the networks named
    build/venv/bin/python tools/dev/zoo --list         what there is
    build/venv/bin/python tools/dev/zoo --import-only  imports, judges nothing
    build/venv/bin/python tools/dev/zoo --integers     goes on to integers and to the report
    build/venv/bin/python tools/dev/zoo --corrections  what each correction costs the outputs, and nothing else
    build/venv/bin/python tools/dev/zoo --grids        detectors with one grid for boxes and scores, and with two
    build/venv/bin/python tools/dev/zoo --linalg       networks by linalg beside the same ones by TOSA
    build/venv/bin/python tools/dev/zoo --table        the table of what was judged before
    build/venv/bin/python tools/dev/zoo --costs [--before DIR]
                                                       processor seconds and memory of mct-ptq on large networks, beside
                                                       those of the tools in DIR
    build/venv/bin/python tools/dev/zoo --large        large networks from the import to the report: seconds and memory

Everything lies below build/zoo: environments of the converters (env), wheels and their files, and one folder for each
network with `network.mlirbc`, `input<i>.npy`, `output<i>.npy` and `result.json`. A network is imported once; delete its
folder to import it again. The first run needs a package index and 5 GB; later ones need neither.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parent / "chains"))

import chain
import costs
import environments
import grids
import importing
import integers
import judging
import large
import linalg
import networks
import table


def judge(network: networks.Network, to_integers: bool = False) -> dict:
    """The result of one network, which also goes into its folder."""
    result = {"chain": network.chain}
    try:
        folder = importing.import_network(network)
    except (importing.ImportFailure, RuntimeError) as failure:
        return result | {"import": str(failure)}
    result |= judging.judge(folder, chain.SAMPLES, network)
    if to_integers:
        result["integers"] = integers.check(folder, chain.SAMPLES)
    (folder / "result.json").write_text(json.dumps(result, indent=1) + "\n")
    return result


def judge_corrections(network: networks.Network) -> dict:
    """The corrections of one network, which also go into its folder; those that are there are not judged again."""
    folder = importing.import_network(network)
    path = folder / "corrections.json"
    if path.exists():
        return json.loads(path.read_text())
    result: dict = {"targets": {target: {} for target in judging.TARGETS}}
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        judging.judge_corrections(result, folder, chain.SAMPLES, network, Path(scratch))
    path.write_text(json.dumps(result) + "\n")
    print("\n".join([network.name, *table.describe_losses(result)]), file=sys.stderr, flush=True)
    return result


def recorded(network: networks.Network) -> dict | None:
    path = environments.ROOT / network.name / "result.json"
    return json.loads(path.read_text()) if path.exists() else None


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="zoo", description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="networks; default: all")
    parser.add_argument("--list", action="store_true", help="list the networks")
    parser.add_argument("--import-only", action="store_true", help="import and judge nothing")
    parser.add_argument("--integers", action="store_true", help="go on to integers and to the report")
    parser.add_argument("--corrections", action="store_true", help="judge the corrections alone")
    parser.add_argument("--grids", action="store_true", help="compare common grids of boxes and scores with their own")
    parser.add_argument("--linalg", action="store_true", help="compare imports by linalg with those by TOSA")
    parser.add_argument("--costs", action="store_true", help="measure time and memory of large networks")
    parser.add_argument("--large", action="store_true", help="measure large networks from the import to the report")
    parser.add_argument("--before", type=Path, metavar="DIR", help="tools that --costs measures as well, in turns")
    parser.add_argument("--table", action="store_true", help="print recorded results and run nothing")
    options = parser.parse_args(arguments)
    known = {*networks.BY_NAME, *([costs.RESNET8] if options.costs else [])}
    unknown = [name for name in options.names if name not in known]
    if unknown:
        parser.error(f"no network named {', '.join(unknown)}; --list shows them")
    if options.before and not options.costs:
        parser.error("--before goes with --costs")
    if options.costs:
        print(costs.markdown(options.names, importing.import_network, options.before), end="")
        return 0
    if options.large:
        print(large.markdown(options.names), end="")
        return 0
    chosen = [networks.BY_NAME[name] for name in options.names] or networks.NETWORKS
    if options.list:
        for network in chosen if options.names else networks.NETWORKS + networks.LARGE:
            print(f"{network.name:24} {network.chain:10} {network.about}")
        return 0
    if options.corrections:
        judged = {network.name: judge_corrections(network) for network in chosen}
        print(table.corrections(judged), end="")
        return 1 if any(judging.losses(result) for result in judged.values()) else 0
    if options.grids:
        names = [name for name in grids.NETWORKS if not options.names or name in options.names]
        folders = {name: importing.import_network(networks.BY_NAME[name]) for name in names}
        print(grids.markdown({name: grids.compare(folder, chain.SAMPLES) for name, folder in folders.items()}), end="")
        return 0
    if options.linalg:
        names = [name for name in linalg.PAIRS if not options.names or name in options.names]
        print(linalg.markdown({name: linalg.compare(name, importing.import_network, chain.SAMPLES) for name in names}))
        return 0
    results, failed = {}, 0
    for network in chosen:
        if options.table:
            result = recorded(network)
        elif options.import_only:
            try:
                importing.import_network(network)
                print(f"{network.name}: imported", flush=True)
            except (importing.ImportFailure, RuntimeError) as failure:
                print(f"{network.name}: {failure}", flush=True)
                failed += 1
            continue
        else:
            result = judge(network, options.integers)
            print(f"{network.name}: " + "; ".join(table.row(network.name, result)[2:]), file=sys.stderr, flush=True)
        if result:
            results[network.name] = result
            failed += "import" in result or "failure" in result
    if results:
        print(table.markdown(results) + integers.markdown(results), end="")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
