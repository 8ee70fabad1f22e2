# SPDX-License-Identifier: Apache-2.0
"""Reports where a quantized network loses accuracy, why, and what to do.

    q = mct.quantize(model, target="imx500", data=images)
    q.report("report.html")

All numbers come from the compiler, as one JSON document; `schema` tells what it may hold. Here it is shown: as a page,
as text, or beside another one.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mct import _native
from mct._arguments import Count, checked
from mct.errors import Error, check_place
from mct.evaluation import _labels, judge, run_distributed
from mct.progress import Callback, reporting
from mct.report.pictures import read_pictures
from mct.running import ClientLike, MetricLike, find_metric
from mct.samples import Array, recorded, spool

if TYPE_CHECKING:
    from mct.model import Model
    from mct.preprocessing import Preprocessing
    from mct.report.comparison import Comparison

__all__ = ["Report", "load", "make_report", "schema"]


class Report:
    """The report of a quantized network.

    json:     the document of the compiler.
    pictures: of samples whose prediction changed, by their index, of height x width x 1 or 3 of uint8; only where the
              report was just made: the document has none.
    classes:  their names, where the samples know them.
    """

    def __init__(
        self,
        text: str,
        pictures: Mapping[int, Array] | None = None,
        classes: Sequence[str] = (),
        name: str = "report",
    ) -> None:
        """text: a JSON document, which messages call `name`."""
        self.json = _native.read_report(text, name)
        self.pictures = dict(pictures or {})
        self.classes = tuple(classes)
        self._document: dict[str, Any] | None = None

    @property
    def document(self) -> dict[str, Any]:
        """The same as objects of Python: `report.document["points"]`."""
        if self._document is None:
            self._document = json.loads(self.json)
        return self._document

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a page to a `.html`, the document to a `.json`. The file has its name when it is complete, or never."""
        path = os.fspath(path)
        _native.write_file(path, self.html().encode() if check_suffix(path) == ".html" else self.json.encode())

    def html(self, path: str | os.PathLike[str] | None = None) -> str:
        """One page that needs nothing else, written to `path` where there is one."""
        from mct.report.page import render

        text = render(self.document, images=self.pictures, classes=self.classes)
        if path is not None:
            _native.write_file(os.fspath(path), text.encode())
        return text

    def text(self, width: int = 80) -> str:
        """The verdict, and the ten worst points with cause and remedy."""
        from mct.report import terminal

        return terminal.to_text(terminal.render(self.document, width), width)

    def show(self) -> None:
        """Prints the text, in colours on a terminal."""
        from mct.report import terminal

        terminal.show(lambda width: terminal.render(self.document, width))

    def against(self, earlier: Report) -> Comparison:
        """Differences from an earlier report: of the same network with other settings, or for another target."""
        from mct.report.comparison import Comparison

        return Comparison(earlier, self)

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return f"<Report of {self.document['model']}>"


def check_suffix(path: str | os.PathLike[str]) -> str:
    """The suffix `.html` or `.json`; any other suffix is an error."""
    suffix = Path(path).suffix.lower()
    if suffix not in (".html", ".json"):
        raise Error(f"cannot write a report to '{os.fspath(path)}'", notes=["its name must end in .html or .json"])
    return suffix


def check_output(path: str | os.PathLike[str]) -> None:
    """Checks the path of a report before the report is made, which takes a while."""
    if check_suffix(path) == ".html":
        from mct.report import page

        page.require()
    check_place(path)


@checked
def load(path: str | os.PathLike[str]) -> Report:
    """A report from its JSON, of this version or an earlier one; a damaged one is an error that names the place."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not text"
        raise Error(f"cannot read '{os.fspath(path)}': {reason}") from error
    return Report(text, name=os.fspath(path))


def _read_trace(path: str | os.PathLike[str]) -> str:
    try:
        return Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not text"
        raise Error(f"cannot read '{os.fspath(path)}': {reason}") from error


def schema() -> dict[str, Any]:
    """JSON Schema of the document, with what each key means."""
    found: dict[str, Any] = json.loads(_native.report_schema())
    return found


@checked
def make_report(
    model: Model,
    data: Any = None,
    labels: Any = None,
    *,
    reference: Model | None = None,
    integer: Model | None = None,
    preprocessing: Preprocessing | Mapping[str, Preprocessing] | None = None,
    samples: Count | None = None,
    effect_samples: Count = 128,
    metric: MetricLike | None = None,
    higher_is_better: bool = True,
    function: str = "",
    batch_size: Count = 0,
    threads: Count = 0,
    max_memory: str = "",
    trace: str | os.PathLike[str] | None = None,
    cost_table: str | os.PathLike[str] = "",
    client: ClientLike = None,
    progress: bool | Callback | None = None,
) -> Report:
    """Runs a quantized model and its float one on samples, and reports the findings.

    data:           samples, see `mct.samples`; default: those that the model was quantized with.
    labels:         class numbers, or what the metric takes, an array or a `.npy`; default: those that the data has.
    reference:      the float model; default: the one that the model was made of.
    integer:        the integer network that was made of it; its columns are left out without.
    preprocessing:  of the samples, in place of what the module has recorded.
    samples:        takes at most so many.
    effect_samples: so many of them to measure the effect of every point, which takes most of the time; 0: all.
    metric, higher_is_better: what the networks are judged by, as for `mct.evaluation.evaluate`; default: what the model
                    was quantized with, else top-1 where there are labels.
    trace:          a file that `Model.save` or mct-opt wrote of the run that made the model; default: what the model
                    knows of it.
    cost_table:     a table of `mct.cost.write_table`, by which operators have cycles and bytes on the device.
    client:         whose workers each run the networks on some of the samples; see `mct.distributed`. The report has no
                    pictures then.

    Raises mct.Error.
    """
    reference = reference or getattr(model, "float_model", None)
    if reference is None:
        raise Error("report: the float model is not known; give it: reference=mct.load(...)")
    kept = getattr(model, "calibration", None)
    if data is None:
        if kept is None:
            raise Error(
                "report: the samples are not known; give data=",
                notes=["a model that was loaded has none, and a generator can be read once"],
            )
        data, samples = kept.data, samples or kept.limit
    metric = metric if metric is not None else getattr(model, "metric", None)
    metric = find_metric(metric)
    how: dict[str, Any] = {"function": function, "batch_size": batch_size, "threads": threads}
    how["max_memory"] = max_memory
    known = model.trace if trace is None else _read_trace(trace)
    alone: dict[str, Any] = {"trace": known, "cost_table": os.fspath(cost_table)}
    if client is not None:
        if samples:
            raise Error("samples: with a client, workers read all samples; leave it out")
        if metric is not None and not isinstance(metric, str):
            raise Error("metric: with a client, expected a name; a function sees the outputs of all samples")
        how |= {"effect_samples": effect_samples, "metric": metric or ""}
        others = {"reference": reference, "integer": integer}
        return Report(
            run_distributed(model, data, labels, "report", others, how, client, preprocessing, progress, **alone)
        )
    judged = None
    if metric is not None and not isinstance(metric, str):
        models = (model, reference, integer)
        read = {"preprocessing": preprocessing, "samples": samples, "progress": progress}
        judged = judge(metric, models, data, labels, higher_is_better=higher_is_better, **read, **how)
        # Labels of a function are its own affair.
        labels, metric = None, None
    module, signature = recorded(model.module, data, preprocessing, function)
    with reporting(progress) as report, spool(data, signature, limit=samples, report=report) as spooled:
        classes = _labels(labels, data, spooled, metric) if judged is None else None
        with tempfile.TemporaryDirectory(prefix="mct-") as folder:
            label_file = ""
            if classes is not None:
                label_file = os.path.join(folder, "labels.npy")
                np.save(label_file, classes)
            text = module.report(
                spooled.arguments,
                reference.module,
                integer=integer.module if integer else None,
                labels=label_file,
                samples=samples or 0,
                effect_samples=effect_samples,
                metric=metric or "",
                judged=judged,
                poll=report.poll if report else None,
                **how,
                **alone,
            )
        assert text is not None
        changed = [entry["sample"] for entry in json.loads(text)["changed"]]
        return Report(text, read_pictures(spooled, changed), getattr(data, "classes", ()))
