# SPDX-License-Identifier: Apache-2.0
"""A report as one HTML file that needs no network.

Numbers are taken from the document as they are; what is decided here is how they are shown. The plots are drawn in the
browser by Vega, which vl-convert carries.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import importlib.util
import json
import os
import re
import struct
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from mct import _extras

_FOLDER = Path(__file__).parent / "page"
# In the order in which they need each other.
_SCRIPTS = ("base.js", "plots.js", "graph.js", "table.js", "point.js", "overview.js", "compare.js", "main.js")

_MAX_IMAGES = 64
_MAX_IMAGE_BYTES = 1_200_000
# Largest document; a report of 500 points with wide layers is longer, and then the long lists of channels are cut.
_MAX_DOCUMENT = 5_500_000
_MAX_COMPARISON = 1_500_000
_LONG_NAME = 300
_FEWEST = 8


def render(
    report: dict[str, Any],
    comparison: dict[str, Any] | None = None,
    images: Mapping[int, npt.NDArray[np.uint8]] | None = None,
    classes: Sequence[str] = (),
) -> str:
    """The HTML file of a report.

    report:     the document of include/mct/Report/Report.h, as json.loads reads it; stands in the page, in
                `<script type="application/json" id="report">`. Lists by channel are cut to the worst channels where the
                file would be larger than 10 MB.
    comparison: the document of include/mct/Report/Compare.h that compares an earlier report with it, shown first.
    images:     pixels of samples whose prediction changed, by number: height x width, or height x width x 1, 3 or 4
                channels. Others than those of `changed` are not used.
    classes:    names of classes.

    The same arguments give the same text. Raises ImportError with a command where the extra `report` is missing.
    """
    if report.get("format") != "mct-report":
        raise ValueError(f"expected a document of the format 'mct-report', got {report.get('format')!r}")
    cut, kept = _bounded(report)
    shown = {
        "layout": _layout(cut),
        "kept": kept,
        "classes": [str(name) for name in classes],
        "images": _encode_images([change["sample"] for change in report.get("changed", [])], images or {}),
    }
    documents = {"report": cut, "shown": shown}
    if comparison is not None:
        documents["comparison"] = (
            comparison if len(_json(comparison)) <= _MAX_COMPARISON else _map_strings(comparison, _shortened)
        )
    style = _resource("page.css")
    scripts = [_plots(), "(() => {\n'use strict';\n" + "\n".join(map(_resource, _SCRIPTS)) + "})();\n"]
    parts = {
        "policy": _policy(scripts, [style]),
        "notices": _resource("notices.txt"),
        "style": style,
        "documents": "\n".join(
            f'<script type="application/json" id="{name}">{_json(value)}</script>' for name, value in documents.items()
        ),
        "scripts": "\n".join(f"<script>{script}</script>" for script in scripts),
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda match: parts[match[1]], _resource("page.html"))


def _resource(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8")


def _json(value: Any) -> str:
    """JSON that ends no script element, whatever stands in it: ASCII without <, > and &."""
    text = json.dumps(value, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _policy(scripts: Iterable[str], styles: Iterable[str]) -> str:
    """The rights that a browser gives the page: run these scripts, show images that stand in it, and nothing else."""

    def hashes(texts: Iterable[str]) -> str:
        digests = (hashlib.sha256(text.encode()).digest() for text in texts)
        return " ".join(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)

    return (
        f"default-src 'none'; script-src {hashes(scripts)}; style-src {hashes(styles)}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


# ----------------------------------------------------------------------------------------------------------------------
# Plots
# ----------------------------------------------------------------------------------------------------------------------


# Names of the bundle stay its own.
_HEAD, _TAIL = "(() => {", "})();"


def _missing(package: str) -> ImportError:
    return ImportError(f"the page of a report needs {package}: {_extras.install_command('report')}")


def require() -> None:
    """Raises the ImportError of `render` where the extra is missing, before someone makes a report for a page."""
    for module, package in (("fast_sugiyama", "fast-sugiyama"), ("vl_convert", "vl-convert-python")):
        if importlib.util.find_spec(module) is None:
            raise _missing(package)


@functools.cache
def _plots() -> str:
    """Vega, Vega-Lite and Vega-Embed as one script that defines `vega` and `vegaEmbed`.

    Making it takes a second or several; it is kept in the user's cache, by version.
    """
    try:
        version = metadata.version("vl-convert-python")
    except metadata.PackageNotFoundError:
        raise _missing("vl-convert-python") from None
    file = _cache() / f"vega-{version}.js"
    try:
        kept = file.read_text(encoding="utf-8")
        if kept.startswith(_HEAD) and kept.endswith(_TAIL):
            return kept
    except (OSError, UnicodeDecodeError):
        pass
    try:
        import vl_convert
    except ImportError as error:
        raise _missing("vl-convert-python") from error
    bundle = vl_convert.javascript_bundle("window.vega = vega; window.vegaEmbed = vegaEmbed;")
    # Nothing in it ends a script element.
    script = _HEAD + re.sub(r"</(?=script)", r"<\\/", bundle, flags=re.IGNORECASE) + _TAIL
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=file.parent, delete=False, encoding="utf-8") as part:
            part.write(script)
        os.replace(part.name, file)
    except OSError:
        pass  # is made again the next time
    return script


def _cache() -> Path:
    if sys.platform == "win32":
        root = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
    elif sys.platform == "darwin":
        root = Path.home() / "Library" / "Caches"
    else:
        root = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(root) / "mct"


# ----------------------------------------------------------------------------------------------------------------------
# The graph
# ----------------------------------------------------------------------------------------------------------------------


def _layout(report: dict[str, Any]) -> dict[str, Any]:
    """Where operators and what the network reads stand, in columns and rows: `nodes` are [name, column, row], the
    operators first, in order; `edges` are lists of [column, row] from one node to the other, with the bends between."""
    names = [operator["name"] for operator in report["operators"]]
    number = {name: index for index, name in enumerate(names)}
    edges: list[tuple[int, int]] = []
    for to, operator in enumerate(report["operators"]):
        for name in operator["inputs"]:
            start = number.setdefault(name, len(number))
            if (start, to) not in edges[-16:] and start != to:
                edges.append((start, to))
    names = list(number)
    try:
        from fast_sugiyama import from_edges
    except ImportError as error:
        raise _missing("fast-sugiyama") from error
    parts: list[Any] = []
    if edges:
        parts = from_edges(edges, vertex_spacing=1, dummy_vertices=True, dummy_size=0.3, check_layout=False)
    spots: dict[int, tuple[float, float]] = {}
    lines: list[list[int]] = []
    right = 0.0
    # Parts that nothing connects stand beside each other.
    for positions, *_, pieces in sorted(parts, key=lambda part: min(vertex for vertex, _ in part[0])):
        left = min(x for _, (x, _) in positions)
        top = max(y for _, (_, y) in positions)
        for vertex, (x, y) in positions:
            spots[vertex] = (right + x - left, top - y)
        lines += _joined(pieces, len(names))
        right = max(x for x, _ in spots.values()) + 1
    for vertex in range(len(names)):
        if vertex not in spots:  # reads nothing, and nothing reads it
            spots[vertex] = (right, 0.0)
            right += 1
    return {
        "nodes": [[name, *map(_rounded, spots[vertex])] for vertex, name in enumerate(names)],
        "edges": [
            [line[0], line[-1], [list(map(_rounded, spots[vertex])) for vertex in line]] for line in sorted(lines)
        ],
    }


def _rounded(value: float) -> float:
    return round(value, 3)


def _joined(pieces: Iterable[tuple[int, int]], num_nodes: int) -> Iterator[list[int]]:
    """Edges whose pieces between the layers go over vertices from `num_nodes` on."""
    following = {start: end for start, end in pieces if start >= num_nodes}
    for start, end in pieces:
        if start < num_nodes:
            line = [start, end]
            while line[-1] >= num_nodes:
                line.append(following[line[-1]])
            yield line


# ----------------------------------------------------------------------------------------------------------------------
# Bounds
# ----------------------------------------------------------------------------------------------------------------------


_BY_CHANNEL = {
    "parameters": ("threshold", "lowest", "highest", "step"),
    "selection": ("error",),
    "statistics": ("channel_min", "channel_max"),
    "observed": ("channel_min", "channel_max"),
}


def _bounded(report: dict[str, Any]) -> tuple[dict[str, Any], dict[int, list[int]]]:
    """The document, and where it is too long for a page one whose points have so few channels, names and texts so few
    characters that it is not; with the channels that are left, by point."""
    if len(_json(report)) <= _MAX_DOCUMENT:
        return report, {}
    short = _map_strings(report, _shortened)
    sizes = [_sizes_of_channels(point) for point in short["points"]]
    # The length of a point grows evenly from few channels to all of them.
    fewest = [_with_channels(point, size, _FEWEST)[0] for point, size in zip(short["points"], sizes, strict=True)]
    lengths = [(len(_json(few)), len(_json(all_))) for few, all_ in zip(fewest, short["points"], strict=True)]
    rest = len(_json({**short, "points": []}))

    def length(limit: int) -> float:
        shares = (min(1.0, limit / max(1, len(size))) for size in sizes)
        return rest + sum(few + (most - few) * share for (few, most), share in zip(lengths, shares, strict=True))

    limit = next((limit for limit in (512, 256, 128, 64, 32, 16) if length(limit) <= _MAX_DOCUMENT), _FEWEST)
    cut = [_with_channels(point, size, limit) for point, size in zip(short["points"], sizes, strict=True)]
    kept = {index: channels for index, (_, channels) in enumerate(cut) if channels}
    return {**short, "points": [point for point, _ in cut]}, kept


def _map_strings(value: Any, change: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list):
        return [_map_strings(item, change) for item in value]
    if isinstance(value, dict):
        return {key: _map_strings(item, change) for key, item in value.items()}
    return value


def _shortened(text: str) -> str:
    """Equal texts stay equal, and different ones different, since names show what belongs together."""
    if len(text) <= _LONG_NAME:
        return text
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{text[: _LONG_NAME - 100]}… ({len(text)} characters, {digest})"


def _sizes_of_channels(point: dict[str, Any]) -> list[float]:
    """Size of each channel in the chart: its error, or the range of its values."""
    if point["channels"]:
        return [channel["error"] or 0.0 for channel in point["channels"]]
    statistics = point.get("observed") or point.get("statistics") or {}
    ranges = zip(statistics.get("channel_min", []), statistics.get("channel_max", []), strict=True)
    return [max(abs(low or 0.0), abs(high or 0.0)) for low, high in ranges]


def _with_channels(point: dict[str, Any], sizes: list[float], limit: int) -> tuple[dict[str, Any], list[int]]:
    """A point with the `limit` largest of its channels, and their numbers; none where it has no more."""
    if len(sizes) <= limit:
        return point, []
    kept = sorted(sorted(range(len(sizes)), key=lambda channel: (-sizes[channel], channel))[:limit])

    def cut(values: list[Any]) -> list[Any]:
        return [values[channel] for channel in kept] if len(values) == len(sizes) else values

    result = {**point, "channels": cut(point["channels"])}
    for key, members in _BY_CHANNEL.items():
        if key in point:
            result[key] = {**point[key], **{member: cut(point[key][member]) for member in members}}
    return result, kept


# ----------------------------------------------------------------------------------------------------------------------
# Images
# ----------------------------------------------------------------------------------------------------------------------


def _encode_images(samples: Sequence[int], images: Mapping[int, npt.NDArray[np.uint8]]) -> dict[int, str]:
    """PNG files as data URIs by sample, few and small enough to be sent around."""
    pixels = {sample: images[sample] for sample in samples[:_MAX_IMAGES] if sample in images}
    for side in (96, 64, 48, 32):
        uris = {sample: _data_uri(_thumbnail(image, side)) for sample, image in pixels.items()}
        if sum(map(len, uris.values())) <= _MAX_IMAGE_BYTES:
            break
    return uris


def _thumbnail(image: npt.NDArray[np.uint8], side: int) -> npt.NDArray[np.uint8]:
    """Height x width x channels, at most `side` high and wide: means of squares of pixels."""
    if image.dtype != np.uint8 or image.ndim not in (2, 3) or (image.ndim == 3 and image.shape[2] not in (1, 3, 4)):
        raise ValueError(
            "images: expected uint8 of shape height x width, with 1, 3 or 4 channels, "
            f"got {image.dtype} of {image.shape}"
        )
    image = image.reshape(*image.shape[:2], -1)
    factor = max(1, -(-max(image.shape[:2]) // side))
    height, width = (max(1, size // factor) for size in image.shape[:2])
    if factor == 1:
        return image
    rows = np.arange(height) * factor
    columns = np.arange(width) * factor
    sums = np.add.reduceat(np.add.reduceat(image.astype(np.uint32), rows, axis=0), columns, axis=1)
    counts = np.outer(
        np.diff([*rows, image.shape[0]]),
        np.diff([*columns, image.shape[1]]),
    )
    means: npt.NDArray[np.uint8] = (sums // counts[:, :, None]).astype(np.uint8)
    return means


def _data_uri(image: npt.NDArray[np.uint8]) -> str:
    return "data:image/png;base64," + base64.b64encode(_png(image)).decode()


def _png(image: npt.NDArray[np.uint8]) -> bytes:
    """Height x width x 1, 3 or 4 channels as a PNG file."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    height, width, channels = image.shape
    color = {1: 0, 3: 2, 4: 6}[channels]
    # Every row starts with the number of its filter: 0, none.
    rows = np.concatenate([np.zeros((height, 1), np.uint8), image.reshape(height, width * channels)], axis=1)
    header = struct.pack(">IIBBBBB", width, height, 8, color, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(rows.tobytes(), 9))
        + chunk(b"IEND", b"")
    )
