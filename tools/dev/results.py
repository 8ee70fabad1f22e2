#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tables of measured figures in docs/results: what was measured, when, where and by which command.

    COMMAND | build/venv/bin/python tools/dev/results.py NAME    records a table that COMMAND prints in Markdown
    build/venv/bin/python tools/dev/results.py                   writes all tables into the pages anew

The data of a table are docs/results/data/NAME.json: the command, the date, the machine, columns and rows. A page shows
a table between `<!-- table NAME -->` and `<!-- end -->`. To add one, write these two lines into a page and record it;
`--command` then names the command. Of several tables the last one with the columns recorded before is taken.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import re
import sys
from pathlib import Path

import measure

RESULTS = measure.REPOSITORY / "docs" / "results"
BLOCK = re.compile(r"(<!-- table ([\w-]+) -->\n).*?(<!-- end -->)", re.DOTALL)
KEYS = ["command", "date", "machine", "columns", "rows"]


def data_file(name: str) -> Path:
    return RESULTS / "data" / f"{name}.json"


def read(name: str) -> dict:
    """Returns the data of a table; raises ValueError where the file is not one."""
    table = json.loads(data_file(name).read_text())
    if list(table) != KEYS:
        raise ValueError(f"{data_file(name)}: expected the keys {', '.join(KEYS)}, found {', '.join(table)}")
    datetime.date.fromisoformat(table["date"])
    for number, row in enumerate(table["rows"]):
        if len(row) != len(table["columns"]):
            raise ValueError(f"{data_file(name)}: row {number} has {len(row)} cells, not {len(table['columns'])}")
    return table


def write(name: str, command: str, columns: list[str], rows: list[list[str]]) -> None:
    """Records a table that was measured here and now; one row a line, so that differences can be read."""
    values = [command, datetime.date.today().isoformat(), machine(), columns]
    entries = [f"{json.dumps(key)}: {dump(value)}" for key, value in zip(KEYS, values, strict=False)]
    entries.append('"rows": [\n' + ",\n".join(f"  {dump(row)}" for row in rows) + "\n ]")
    data_file(name).parent.mkdir(exist_ok=True)
    data_file(name).write_text("{\n " + ",\n ".join(entries) + "\n}\n")


def dump(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def render(name: str) -> str:
    """Returns a table and the line below it as Markdown."""
    table = read(name)
    lines = [table["columns"], ["---"] * len(table["columns"]), *table["rows"]]
    text = "\n".join("| " + " | ".join(cells) + " |" for cells in lines)
    return f"{text}\n\n*Measured on {table['date']}, {table['machine']}: `{table['command']}`*\n"


def render_page(text: str) -> str:
    return BLOCK.sub(lambda match: match[1] + "\n" + render(match[2]) + "\n" + match[3], text)


def parse(text: str, expected: list[str] | None = None) -> tuple[list[str], list[list[str]]]:
    """Returns columns and rows of the last Markdown table in a text that has the expected columns, or else the last."""
    tables = re.findall(r"^\|.*\|\n\|[-| :]+\|\n(?:\|.*\|\n?)+", text, re.MULTILINE)
    if not tables:
        raise ValueError("standard input has no table in Markdown")
    found = []
    for table in tables:
        cells = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line[1:-1])] for line in table.splitlines()]
        found.append((cells[0], cells[2:]))
    return ([table for table in found if table[0] == expected] or found)[-1]


def machine() -> str:
    match = re.search(r"model name\s*:\s*(.*)", Path("/proc/cpuinfo").read_text())
    return f"{match[1] if match else 'unknown processor'}, {len(os.sched_getaffinity(0))} processors"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("name", nargs="?", help="table to record from standard input")
    parser.add_argument("--command", help="what prints the table; default: as recorded")
    options = parser.parse_args()
    if options.name:
        known = read(options.name) if data_file(options.name).exists() else None
        if not known and not options.command:
            parser.error(f"{options.name} is a new table: --command has to name what prints it")
        try:
            columns, rows = parse(sys.stdin.read(), known["columns"] if known else None)
        except ValueError as error:
            parser.error(str(error))
        write(options.name, options.command or known["command"], columns, rows)
    for page in sorted(RESULTS.glob("*.md")):
        page.write_text(render_page(page.read_text()))


if __name__ == "__main__":
    main()
