# SPDX-License-Identifier: Apache-2.0
"""Progress of a job: bars on a terminal, or calls of a callback."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import ProgressColumn, Task, TaskID
    from rich.text import Text


@dataclass(frozen=True)
class Report:
    """Progress of a job.

    stage: the pass that runs, such as `mct-calibrate`, or what comes before it.
    done, total: samples of the run over them that is under way; total is None while it is not known, and 0 where no
        samples are read. In a stage "… of shards" they count shards of the samples.
    run:   count of the runs within the stage, from 1; a stage may read the samples several times.
    seconds: since the stage began.
    part, parts: finished parts of the stage, such as layers, and how many there are; 0 and 0 while that is not known.
        Runs belong to the part that is under way.
    """

    stage: str
    done: int = 0
    total: int | None = 0
    run: int = 0
    seconds: float = 0.0
    part: int = 0
    parts: int = 0


Callback = Callable[[Report], None]

# Suffix of the names of stages whose progress is counted in shards of the samples.
_OF_SHARDS = " of shards"
# Ends what bars show of stages whose parts are counted.
_PARTS = " parts"


class Reporter:
    """Passes reports on to a callback, a few times a second, and adds the time. Use it from one thread."""

    def __init__(self, callback: Callback, interval: float = 0.05) -> None:
        self.callback, self.interval = callback, interval
        self.started = self.last_time = 0.0
        self.last: Report | None = None
        self.stage, self.runs_before = "", 0

    def __call__(
        self, stage: str, done: int = 0, total: int | None = 0, run: int = 0, part: int = 0, parts: int = 0
    ) -> None:
        now = time.monotonic()
        new_stage = self.last is None or self.last.stage != stage
        if new_stage:
            self.started = now
        report = Report(stage, done, total, run, now - self.started, part, parts)
        unchanged = self.last is not None and report == replace(self.last, seconds=report.seconds)
        finished = bool(total) and done == total
        # New stages and the last sample are reported at once.
        if not new_stage and (unchanged or (now - self.last_time < self.interval and not finished)):
            return
        self.last, self.last_time = report, now
        self.callback(report)

    def poll(self, stage: str, done: int, total: int, runs: int, part: int, parts: int) -> None:
        """Shows progress when `_native.Module` calls it: `runs` counts the runs of all stages."""
        if stage != self.stage:
            # One that is under way belongs to the new stage.
            self.stage, self.runs_before = stage, runs - (1 if total else 0)
        if stage:
            self(stage, done, total, runs - self.runs_before, part, parts)


class _Bars:
    """One bar for each stage."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            Progress,
            ProgressColumn,
            TextColumn,
            TimeElapsedColumn,
            TimeRemainingColumn,
        )
        from rich.text import Text

        class Rate(ProgressColumn):
            def render(self, task: Task) -> Text:
                speed = task.finished_speed or task.speed
                samples = task.fields["samples"]
                if samples.endswith(_PARTS):
                    return Text("")
                unit = "shards" if "shards" in samples else "samples"
                rate = f"{speed or 0:,.1f}" if unit == "shards" else f"{speed or 0:,.0f}"
                return Text(f"{rate} {unit}/s" if samples and speed else "", style="progress.data.speed")

        class Left(TimeRemainingColumn):
            def render(self, task: Task) -> Text:
                return super().render(task) if task.fields["samples"] and not task.finished else Text("")

        columns: list[ProgressColumn] = [
            TextColumn("{task.description}"),
            BarColumn(bar_width=24),
            TextColumn("{task.fields[samples]}"),
            Rate(),
            TimeElapsedColumn(),
            Left(),
        ]
        self.progress = Progress(*columns, console=Console(stderr=True), transient=False)
        self.task: TaskID | None = None
        self.report: Report | None = None

    def __call__(self, report: Report) -> None:
        bars = self.progress
        if self.task is None or self.report is None or self.report.stage != report.stage:
            self.finish()
            self.task = bars.add_task(report.stage, total=None, samples="")
        elif report.parts:
            if report.parts != self.report.parts or report.part < self.report.part:
                bars.reset(self.task)
        elif report.run != self.report.run or self.report.parts:
            bars.reset(self.task)
        elif report.total == 0:
            return  # between two runs
        if report.parts:
            # The bar and the time that is left are those of the stage.
            done = report.part + (report.done / report.total if report.total else 0)
            text = f"{report.part}/{report.parts}{_PARTS}"
            bars.update(self.task, description=report.stage, completed=done, total=report.parts, samples=text)
            self.report = report
            return
        samples = ""
        if report.done or report.total:
            samples = f"{report.done}/{report.total}" if report.total else f"{report.done}"
        if samples and report.stage.endswith(_OF_SHARDS):
            samples += " shards"
        # A stage may read the samples several times.
        stage = report.stage if report.run <= 1 else f"{report.stage} ({report.run})"
        bars.update(self.task, description=stage, completed=report.done, total=report.total or None, samples=samples)
        self.report = report

    def finish(self) -> None:
        if self.task is not None and self.report:
            done = self.report.total or self.report.done
            # The last samples are often done before the next poll.
            samples = f"{done}/{done}" if done else ""
            if self.report.parts:
                done, samples = self.report.parts, f"{self.report.parts}/{self.report.parts}{_PARTS}"
            if samples and self.report.stage.endswith(_OF_SHARDS):
                samples += " shards"
            self.progress.update(self.task, completed=done or 1, total=done or 1, samples=samples)
            self.progress.stop_task(self.task)


@contextlib.contextmanager
def reporting(progress: bool | Callback | None) -> Iterator[Reporter | None]:
    """The reporter of a job, for as long as the `with` block lasts; None without progress.

    progress: False: nothing. True, or None: bars on standard error, where that is a terminal. A function: it is
              called with a `Report` whenever something has changed, at most 20 times a second but for new stages.
    """
    if callable(progress):
        yield Reporter(progress)
        return
    if progress is False or not sys.stderr.isatty():
        yield None
        return
    bars = _Bars()
    with bars.progress:
        yield Reporter(bars)
        bars.finish()
