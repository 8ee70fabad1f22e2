# SPDX-License-Identifier: Apache-2.0
"""The page of a report: one file, bounded, that does nothing but show what stands in the document."""

import base64
import builtins
import copy
import hashlib
import io
import json
import re
import sys
from html.parser import HTMLParser

import measure
import pytest
from report_documents import make_comparison, make_document, make_odd_document

np = pytest.importorskip("numpy")
sys.path.insert(0, str(measure.BIN.parent / "python"))
pytest.importorskip("mct", reason="the Python package is not built (tools/dev/build)")
pytest.importorskip("vl_convert", reason='the extra "report" is not installed (tools/dev/setup)')
pytest.importorskip("fast_sugiyama", reason='the extra "report" is not installed (tools/dev/setup)')

from mct.report import Report, page  # noqa: E402

HOSTILE = [
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "\" onmouseover='alert(1)' x=`",
    "javascript:alert(1)",
    "]]><!--",
    "\u202egnp.exe\u2066\u0000\u2028",
    "datum['a'].b\\.c[0]",
    "{{scripts}}",
    "x" * 10_000,
    "\ud800",
]


class Elements(HTMLParser):
    """Tags in order, and the text of each script."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.tags, self.scripts, self.styles, self.urls, self.policy = [], [], [], [], None
        self.inside = None
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        attributes = dict(attrs)
        self.urls += [value for name, value in attrs if name in ("src", "href", "data", "action")]
        if attributes.get("http-equiv") == "Content-Security-Policy":
            self.policy = attributes["content"]
        if tag in ("script", "style"):
            (self.scripts if tag == "script" else self.styles).append([attributes, ""])

        self.inside = {"script": self.scripts, "style": self.styles}.get(tag)

    def handle_endtag(self, tag):
        self.inside = None

    def handle_data(self, data):
        if self.inside:
            self.inside[-1][1] += data

    def document(self, name):
        (text,) = [text for attributes, text in self.scripts if attributes.get("id") == name]
        return json.loads(text)


def renamed(document, names):
    """The same with other names of operators, points and all that refers to them."""
    text = json.dumps(document)
    old = sorted({operator["name"] for operator in document["operators"]}, key=len, reverse=True)
    for index, name in enumerate(old):
        new = json.dumps(names[index % len(names)] + str(index))[1:-1]
        text = re.sub(rf'(?<=["/ \']){re.escape(name)}(?=["/ \'])', lambda _, new=new: new, text)
    return json.loads(text)


def test_document_in_the_page_is_the_document_of_the_compiler():
    document = make_document()
    assert Elements(page.render(document)).document("report") == document


@pytest.mark.parametrize("make", [make_document, make_odd_document])
def test_documents_of_these_tests_are_of_the_present_form(make):
    assert Report(json.dumps(make())).document == make()


def test_page_has_no_parts_but_its_own():
    elements = Elements(page.render(make_document()))
    assert elements.tags.count("script") == 4  # report, layout, plots, page
    assert elements.urls == []


def test_policy_lets_nothing_run_but_the_scripts_of_the_page():
    elements = Elements(page.render(make_document()))
    policy = dict(part.strip().split(" ", 1) for part in elements.policy.split(";"))
    assert policy["default-src"] == "'none'"
    assert policy["img-src"] == "data:"
    assert not {"'unsafe-inline'", "'unsafe-eval'"} & set(elements.policy.replace(";", " ").split())
    code = [text for attributes, text in elements.scripts if "type" not in attributes]
    for name, texts in (("script-src", code), ("style-src", [text for _, text in elements.styles])):
        digests = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in texts]
        assert policy[name].split() == [f"'sha256-{digest}'" for digest in digests]


def test_hostile_names_stay_data():
    plain = Elements(page.render(make_document()))
    document = renamed(make_document(), HOSTILE)
    document["model"] = document["verdict"] = document["reproduce"] = HOSTILE[0]
    document["diagnoses"][0]["paste"] = HOSTILE[1]
    elements = Elements(page.render(document, classes=HOSTILE))
    assert elements.tags == plain.tags
    assert [text for attributes, text in elements.scripts if "type" not in attributes] == [
        text for attributes, text in plain.scripts if "type" not in attributes
    ]
    assert elements.document("report") == document


def test_no_script_of_the_page_makes_markup_of_texts():
    for file in (page._FOLDER).glob("*.js"):
        found = re.findall(
            r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function|DOMParser|srcdoc",
            file.read_text(),
        )
        assert found == [], file.name


def test_same_document_same_bytes():
    images = {10: np.full((32, 32, 3), 7, np.uint8)}
    first = page.render(make_document(), images=images)
    assert page.render(copy.deepcopy(make_document()), images=images) == first


def test_size_of_a_small_network():
    document = make_document(num_points=22, channels=64)
    images = {
        change["sample"]: np.random.default_rng(0).integers(0, 255, (32, 32, 3), np.uint8)
        for change in document["changed"]
    }
    assert len(page.render(document, images=images).encode()) < 3_000_000


@pytest.mark.thorough
def test_five_hundred_points_with_wide_layers_stay_below_ten_megabytes():
    document = make_document(num_points=500, channels=1024)
    text = page.render(document)
    assert len(text.encode()) < 10_000_000
    elements = Elements(text)
    cut, shown = elements.document("report"), elements.document("shown")
    assert [point["name"] for point in cut["points"]] == [point["name"] for point in document["points"]]
    for index, kept in shown["kept"].items():
        before, after = document["points"][int(index)], cut["points"][int(index)]
        assert after["channels"] == [before["channels"][channel] for channel in kept if before["channels"]]
        if before["channels"]:
            left_out = {channel: row for channel, row in enumerate(before["channels"]) if channel not in kept}
            assert max(row["error"] for row in left_out.values()) <= min(row["error"] for row in after["channels"])
            assert after["parameters"]["threshold"] == [before["parameters"]["threshold"][channel] for channel in kept]
        assert after["selection"]["curve"] == before["selection"]["curve"]
        assert after["statistics"]["histogram"] == before["statistics"]["histogram"]


def test_names_of_ten_kilobytes_stay_below_ten_megabytes_and_apart():
    document = make_document(num_points=500, name=lambda index: "n" * 10_000 + str(index))
    text = page.render(document)
    assert len(text.encode()) < 10_000_000
    cut = Elements(text).document("report")
    assert len({point["name"] for point in cut["points"]}) == 500
    assert {point["owner"] for point in cut["points"]} <= {operator["name"] for operator in cut["operators"]} | {
        "input"
    }


def without(document, *keys):
    for key in keys:
        *parents, last = key.split(".")
        for parent in [document[parents[0]]] if parents else [document]:
            for part in parent if isinstance(parent, list) else [parent]:
                part.pop(last, None)
    return document


@pytest.mark.parametrize(
    "left_out",
    [
        ("points.total", "points.own", "points.inherited", "points.effect", "operators.effect", "simulated.output"),
        ("points.statistics", "points.observed", "points.clipped", "points.used"),
        ("floating.top1", "simulated.top1", "integer.top1"),
        ("integer", "points.integer"),
        ("points.parameters", "points.selection"),
    ],
    ids=["no float network", "no statistics", "no labels", "no integer network", "nothing quantized"],
)
def test_what_is_not_there_is_left_out(left_out):
    document = without(make_document(), *left_out)
    document["diagnoses"], document["front"], document["passes"] = [], [], []
    document["changed"], document["confusion"] = [], []
    assert Elements(page.render(document)).document("report") == document


def test_comparison_stands_in_the_page():
    document = make_document()
    comparison = make_comparison(document)
    elements = Elements(page.render(document, comparison))
    assert elements.document("comparison") == comparison
    assert elements.document("report") == document


@pytest.mark.thorough
def test_comparison_of_five_hundred_points_stays_below_ten_megabytes():
    document = make_document(num_points=500, channels=512)
    comparison = make_comparison(document)
    for matched in comparison["points"]:
        matched["texts"] = [{"name": "parameters", "before": "0.125, " * 1024, "after": "0.25, " * 1024}]
    assert len(page.render(document, comparison).encode()) < 10_000_000


def test_network_without_operators():
    document = make_document()
    document["operators"], document["points"] = [], []
    assert Elements(page.render(document)).document("shown")["layout"] == {"nodes": [], "edges": []}


def test_layout_has_every_operator_once_and_edges_go_down():
    document = make_document(num_points=500)
    layout = Elements(page.render(document)).document("shown")["layout"]
    names = [node[0] for node in layout["nodes"]]
    assert names[: len(document["operators"])] == [operator["name"] for operator in document["operators"]]
    assert len({(column, row) for _, column, row in layout["nodes"]}) == len(names)
    expected = {(name, operator["name"]) for operator in document["operators"] for name in operator["inputs"]}
    assert {(names[start], names[end]) for start, end, _ in layout["edges"]} == expected
    for _, _, spots in layout["edges"]:
        rows = [row for _, row in spots]
        assert rows == sorted(set(rows))


def test_images_are_png_files_of_changed_samples(tmp_path):
    Image = pytest.importorskip("PIL.Image")
    document = make_document()
    rng = np.random.default_rng(1)
    pixels = {
        3: rng.integers(0, 255, (32, 32, 3), np.uint8),
        10: rng.integers(0, 255, (8, 8), np.uint8),
        17: rng.integers(0, 255, (5, 9, 1), np.uint8),
        24: rng.integers(0, 255, (16, 16, 4), np.uint8),
        1: rng.integers(0, 255, (4, 4), np.uint8),
    }
    shown = Elements(page.render(document, images=pixels)).document("shown")["images"]
    assert sorted(map(int, shown)) == [3, 10, 17, 24]
    for sample, uri in shown.items():
        head, data = uri.split(",")
        assert head == "data:image/png;base64"
        image = np.asarray(Image.open(io.BytesIO(base64.b64decode(data))))
        assert (image == pixels[int(sample)].squeeze()).all()


def test_large_images_are_shown_small():
    document = make_document()
    checks = np.kron(np.indices((64, 64)).sum(0) % 2 * 255, np.ones((4, 4))).astype(np.uint8)
    shown = Elements(page.render(document, images={3: checks})).document("shown")["images"]
    data = base64.b64decode(shown["3"].split(",")[1])
    assert int.from_bytes(data[16:20]) == int.from_bytes(data[20:24]) == 85  # 256 / 3, rounded down


def test_many_large_images_are_bounded():
    document = make_document()
    document["changed"] = [{**document["changed"][0], "sample": sample} for sample in range(100)]
    rng = np.random.default_rng(0)
    images = {sample: rng.integers(0, 255, (224, 224, 3), np.uint8) for sample in range(100)}
    elements = Elements(page.render(document, images=images))
    uris = elements.document("shown")["images"]
    assert len(uris) == 64
    assert sum(map(len, uris.values())) <= 1_200_000


def test_other_arrays_are_no_images():
    with pytest.raises(ValueError, match=r"expected uint8 of shape height x width.*float64 of \(4, 4\)"):
        page.render(make_document(), images={3: np.zeros((4, 4))})


def test_other_documents_are_refused():
    with pytest.raises(ValueError, match="expected a document of the format 'mct-report', got None"):
        page.render({})


@pytest.mark.parametrize("module", ["fast_sugiyama", "vl_convert"])
def test_without_the_extra_the_command_is_named(module, monkeypatch, tmp_path):
    real = builtins.__import__

    def refuse(name, *arguments, **named):
        if name == module:
            raise ImportError(name)
        return real(name, *arguments, **named)

    monkeypatch.setattr(builtins, "__import__", refuse)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    page._plots.cache_clear()
    with pytest.raises(ImportError, match="pip install fast-sugiyama=="):
        page.render(make_document())
    monkeypatch.setattr(page.importlib.util, "find_spec", lambda name: None if name == module else name)
    with pytest.raises(ImportError, match="pip install fast-sugiyama=="):
        page.require()


def test_plots_are_kept_and_made_again_where_they_are_damaged(monkeypatch, tmp_path):
    made = []
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr("vl_convert.javascript_bundle", lambda snippet: made.append(snippet) or "x('</script>')")

    def plots():
        page._plots.cache_clear()
        return page._plots()

    try:
        assert plots() == "(() => {x('<\\/script>')})();"
        (file,) = (tmp_path / "mct").iterdir()
        assert plots() == file.read_text()
        assert len(made) == 1
        file.write_bytes(b"\xff")
        assert plots() == file.read_text()
        assert len(made) == 2
    finally:
        page._plots.cache_clear()
