# SPDX-License-Identifier: Apache-2.0
"""The page of a report in Chromium, from disk: what people do with it, and that nothing else happens."""

from __future__ import annotations

import copy
import json
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import measure
import pytest
from report_documents import make_comparison, make_document, make_odd_document

mct = pytest.importorskip("mct", reason="the package is not built (tools/dev/build)")
webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed (tools/dev/setup)")

from mct.report.page import render  # noqa: E402
from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402
from selenium.webdriver.support.wait import WebDriverWait  # noqa: E402

DIGITS = measure.DIGITS / "digits.mlirbc"
CALIBRATION, TEST = measure.DIGITS / "digits_calib.npy", measure.DIGITS / "digits_test.npy"
LABELS = measure.DIGITS / "digits_test_labels.npy"


class Browser:
    """Chromium without a window."""

    def __init__(self, folder: Path) -> None:
        options = webdriver.ChromeOptions()
        options.binary_location = shutil.which("chromium") or ""
        # CI runs as root and has a small /dev/shm.
        for flag in ("headless=new", "no-sandbox", "disable-dev-shm-usage", "disable-gpu", "window-size=1280,900"):
            options.add_argument(f"--{flag}")
        options.add_argument(f"--user-data-dir={folder}")
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        service = webdriver.ChromeService(shutil.which("chromedriver"))
        self.driver = webdriver.Chrome(options=options, service=service)
        self.driver.set_page_load_timeout(60)
        self.driver.execute_cdp_cmd("Browser.grantPermissions", {"permissions": ["clipboardReadWrite"]})

    def open(self, page: Path) -> None:
        self.driver.get("about:blank")
        self.errors(), self.requests()
        self.page = page.as_uri()
        self.driver.get(self.page)
        self.wait(lambda: self.script("return document.documentElement.dataset.ready") == "yes")

    def script(self, text: str, *arguments: Any) -> Any:
        return self.driver.execute_script(text, *arguments)

    def wait(self, condition: Any) -> Any:
        return WebDriverWait(self.driver, 20).until(lambda _: condition())

    def all(self, selector: str) -> list[Any]:
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def one(self, selector: str) -> Any:
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def press(self, *keys: str) -> None:
        self.driver.switch_to.active_element.send_keys(*keys)

    def errors(self) -> list[str]:
        return [entry["message"] for entry in self.driver.get_log("browser") if entry["level"] != "DEBUG"]

    def requests(self) -> list[str]:
        """Addresses that the page asked for, but for itself and what stands in it."""
        events = (json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance"))
        sent = [event["params"]["request"]["url"] for event in events if event["method"] == "Network.requestWillBeSent"]
        return [url for url in sent if not url.startswith("data:") and url.split("#")[0] != self.page]

    def rows(self) -> list[int]:
        """Numbers of the points in the table, from top to bottom."""
        numbers = "return [...document.querySelectorAll('table.points tbody tr')].map((row) => +row.dataset.point)"
        return list(self.script(numbers))

    def hash(self) -> str:
        return str(self.script("return location.hash"))


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    for program in ("chromium", "chromedriver"):
        if not shutil.which(program):
            pytest.skip(f"{program} is not installed (tools/dev/setup browser)")
    with tempfile.TemporaryDirectory(prefix="mct-chromium-", ignore_cleanup_errors=True) as folder:
        started = Browser(Path(folder))
        try:
            yield started
        finally:
            started.driver.quit()


@pytest.fixture
def browser(chromium: Browser) -> Iterator[Browser]:
    """After each test: no error on the console, and nothing was asked for."""
    chromium.page = ""
    yield chromium
    assert chromium.errors() == []
    assert chromium.requests() == []
    chromium.script("localStorage.clear()")


@pytest.fixture(scope="module")
def digits() -> mct.report.Report:
    preprocessing = mct.Preprocessing.of(1 / 16)
    rules = ['name "*" weights=2']
    q = mct.quantize(mct.load(DIGITS), "imx500", CALIBRATION, preprocessing=preprocessing, overrides=rules)
    return q.report(data=TEST, labels=LABELS)


@pytest.fixture
def opened(browser: Browser, digits: mct.report.Report, tmp_path: Path) -> Browser:
    digits.html(tmp_path / "digits.html")
    browser.open(tmp_path / "digits.html")
    return browser


def show(browser: Browser, document: dict[str, Any], folder: Path) -> Path:
    """The page of a document that was changed by hand."""
    path = folder / "report.html"
    mct.report.Report(json.dumps(document)).html(path)
    browser.open(path)
    return path


@pytest.mark.alternating
def test_columns_sort_both_ways(opened: Browser, digits: mct.report.Report) -> None:
    points = digits.document["points"]
    alone = [point.get("effect", {}).get("share") for point in points]
    measured = sorted((n for n in range(len(points)) if alone[n] is not None), key=lambda n: (-alone[n], n))
    others = [n for n in range(len(points)) if alone[n] is None]
    # The worst stands first.
    assert opened.rows() == measured + others

    def click(title: str) -> str:
        button = next(button for button in opened.all("table.points thead button") if button.text == title)
        opened.script("arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", button)
        button.click()
        return str(button.find_element(By.XPATH, "..").get_attribute("aria-sort"))

    assert click("#") == "ascending"
    assert opened.rows() == list(range(len(points)))
    assert click("#") == "descending"
    assert opened.rows() == list(range(len(points)))[::-1]
    assert click("Share") == "descending"
    assert opened.rows() == measured + others


@pytest.mark.alternating
def test_costs_are_columns_and_the_dearest_cycles_stand_first(
    browser: Browser, digits: mct.report.Report, tmp_path: Path
) -> None:
    document = copy.deepcopy(digits.document)
    owners = [point["owner"] for point in document["points"] if not point["weight"]]
    for number, name in enumerate(owners):
        operator = next(one for one in document["operators"] if one["name"] == name)
        operator["cost"] = {"cycles": 1000 + number, "memory_bytes": 64, "saved_cycles": number}
        # All but the first save some.
        operator["cost"] |= {"loss_per_cycle": 1e-6 * (number % 3 + 1)} if number else {}
    document["costs"] = {"device": "ethos-u55-256", "cycles": 7654}
    show(browser, document, tmp_path)
    assert "7654" in browser.one(".tiles").text.replace(",", "") or "7.65" in browser.one(".tiles").text
    titles = {button.text: button for button in browser.all("table.points thead button")}
    assert {"Cycles", "Memory", "Loss per cycle"} <= titles.keys()
    button = titles["Loss per cycle"]
    browser.script("arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", button)
    button.click()
    results = [number for number, point in enumerate(document["points"]) if not point["weight"]]
    dearest = sorted(range(1, len(owners)), key=lambda number: (-(number % 3), number))
    assert browser.rows()[: len(dearest)] == [results[number] for number in dearest]


@pytest.mark.alternating
def test_the_filter_leaves_what_has_all_its_words(opened: Browser, digits: mct.report.Report) -> None:
    points = digits.document["points"]
    filter_ = opened.one("#filter")
    filter_.send_keys("kernel_attr")
    expected = {n for n, point in enumerate(points) if "kernel_attr" in point["name"]}
    opened.wait(lambda: set(opened.rows()) == expected)
    assert 0 < len(expected) < len(points)
    assert opened.one("#points .count").text == f"{len(expected)} of {len(points)} points"
    filter_.send_keys(" no_such_word")
    opened.wait(lambda: opened.rows() == [])
    assert opened.one("#points .empty").is_displayed()
    filter_.send_keys(Keys.ESCAPE)
    opened.wait(lambda: len(opened.rows()) == len(points))


def test_a_click_opens_the_page_of_a_point(opened: Browser, digits: mct.report.Report) -> None:
    first = opened.rows()[0]
    opened.script("arguments[0].click()", opened.one(f"tr[data-point='{first}'] td a"))
    opened.wait(lambda: opened.hash() == f"#point-{first}")
    opened.wait(lambda: opened.all("article.detail svg, article.detail canvas"))
    assert opened.one("article.detail h1").text == digits.document["points"][first]["name"]
    opened.press(Keys.ESCAPE)
    opened.wait(lambda: not opened.all("article.detail"))
    assert opened.driver.switch_to.active_element.get_attribute("data-point") == str(first)


@pytest.mark.alternating
def test_every_view_opens_without_an_error(opened: Browser, digits: mct.report.Report) -> None:
    for kind in ("point", "operator"):
        for number in range(len(digits.document[f"{kind}s"])):
            opened.script(f"location.hash = '#{kind}-{number}'")
            opened.wait(lambda number=number: opened.one("article.detail").get_attribute("data-index") == str(number))
            name = digits.document[f"{kind}s"][number]["name"]
            assert opened.one("article.detail h1").text == name
    # A point that is not there shows the whole report.
    opened.script("location.hash = '#point-99999'")
    opened.wait(lambda: opened.all("#overview"))


@pytest.mark.alternating
def test_keys_do_what_a_mouse_does(opened: Browser) -> None:
    opened.press("/")
    opened.wait(lambda: opened.driver.switch_to.active_element.get_attribute("id") == "filter")
    order = opened.rows()
    opened.press(Keys.ARROW_DOWN)
    opened.press(Keys.ARROW_DOWN)
    assert opened.driver.switch_to.active_element.get_attribute("data-point") == str(order[1])
    opened.press(Keys.ENTER)
    opened.wait(lambda: opened.hash() == f"#point-{order[1]}")
    opened.wait(lambda: opened.all("article.detail"))
    opened.press("j")
    opened.wait(lambda: opened.hash() == f"#point-{order[2]}")
    opened.press("k")
    opened.wait(lambda: opened.hash() == f"#point-{order[1]}")
    opened.press(Keys.ESCAPE)
    opened.wait(lambda: not opened.all("article.detail"))


def test_a_remedy_is_copied_as_it_is(opened: Browser, digits: mct.report.Report) -> None:
    pastes = [diagnosis["paste"] for diagnosis in digits.document["diagnoses"] if diagnosis["paste"]]
    assert pastes
    button = opened.one("#diagnoses button.copy")
    opened.script("arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", button)
    button.click()
    opened.wait(lambda: button.text == "Copied")
    read = "navigator.clipboard.readText().then(arguments[0], (error) => arguments[0](String(error)))"
    assert opened.driver.execute_async_script(read) == pastes[0]


def test_the_theme_changes_and_stays(opened: Browser) -> None:
    colour = "return getComputedStyle(document.body).backgroundColor"
    before, theme = opened.script(colour), opened.script("return document.documentElement.dataset.theme")
    opened.one("#theme").click()
    assert {theme, opened.script("return document.documentElement.dataset.theme")} == {"light", "dark"}
    after = opened.script(colour)
    assert after != before
    opened.driver.refresh()
    opened.wait(lambda: opened.script("return document.documentElement.dataset.ready") == "yes")
    assert opened.script(colour) == after


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_theme_is_that_of_the_system(
    browser: Browser, digits: mct.report.Report, tmp_path: Path, scheme: str
) -> None:
    features = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", features)
    digits.html(tmp_path / "r.html")
    browser.open(tmp_path / "r.html")
    assert browser.script("return document.documentElement.dataset.theme") == scheme
    browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


def test_a_telephone_shows_it_without_scrolling_sideways(opened: Browser) -> None:
    size = {"width": 390, "height": 844, "deviceScaleFactor": 2, "mobile": True}
    opened.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    try:
        for address in ("#overview", "#point-0", "#operator-0"):
            opened.script("location.hash = arguments[0]", address)
            opened.wait(lambda address=address: opened.all(address if address == "#overview" else "article.detail"))
            width = "return [document.documentElement.scrollWidth, document.documentElement.clientWidth]"
            scrolled, visible = opened.script(width)
            assert scrolled <= visible, address
    finally:
        opened.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_it_prints(opened: Browser) -> None:
    printed = opened.driver.execute_cdp_cmd("Page.printToPDF", {"printBackground": False})
    assert len(printed["data"]) > 20_000


def test_the_pictures_of_changed_predictions_are_shown(opened: Browser, digits: mct.report.Report) -> None:
    changed = digits.document["changed"]
    assert changed and set(digits.pictures) == {change["sample"] for change in changed}
    shown = opened.all("#predictions img")
    assert [picture.get_attribute("alt") for picture in shown] == [f"Sample {change['sample']}" for change in changed]
    opened.script("arguments[0].scrollIntoView()", shown[0])
    opened.wait(lambda: opened.script("return arguments[0].naturalWidth", shown[0]) == 8)


def test_numbers_are_those_of_the_document_with_all_digits(opened: Browser, digits: mct.report.Report) -> None:
    points = digits.document["points"]
    read = """return Object.fromEntries([...document.querySelectorAll('table.points tbody tr')].map((row) =>
        [row.dataset.point, row.querySelector('td.gauged .number')?.title ?? null]))"""
    shown = opened.script(read)
    for number, point in enumerate(points):
        own = point.get("effect", {}).get("share")
        assert (None if shown[str(number)] is None else float(shown[str(number)])) == own
    assert json.loads(opened.script("return document.getElementById('report').textContent")) == digits.document


# ----------------------------------------------------------------------------------------------------------------------
# Names of other people
# ----------------------------------------------------------------------------------------------------------------------

NAMES = [
    "</script><script>window.owned = 1</script>",
    "<!--<script>",
    '"><img src=x onerror="window.owned = 2">',
    "' onmouseover='window.owned = 3",
    "javascript:window.owned=4",
    "<svg onload=window.owned=5>",
    "{{constructor.constructor('window.owned=6')()}}",
    "${window.owned=7}",
    "</style><style>body{display:none}",
    "__proto__",
    "constructor",
    "]]>&lt;&quot;\\u003cscript\\u003e",
    "\u202egnp.exe\u0000\u2028\u2029\ufeff",
    "\\'; window.owned = 8; //",
    "x" * 10_000,
    "</SCRIPT " + "y" * 10_000,
    "",
]


def rename(value: Any, names: dict[str, str]) -> Any:
    if isinstance(value, str):
        return names.get(value, value)
    if isinstance(value, list):
        return [rename(entry, names) for entry in value]
    if isinstance(value, dict):
        return {key: rename(entry, names) for key, entry in value.items()}
    return value


@pytest.mark.alternating
def test_names_do_nothing(browser: Browser, digits: mct.report.Report, tmp_path: Path) -> None:
    document = digits.document
    old = [entry["name"] for kind in ("operators", "points") for entry in document[kind]]
    names = {
        name: NAMES[number % len(NAMES)] + str(number // len(NAMES) or "")
        for number, name in enumerate(dict.fromkeys(old))
    }
    changed = rename(document, names)
    evil = NAMES[0] + NAMES[2]
    changed |= {key: evil for key in ("model", "function", "target", "verdict", "reproduce", "mct_version", "metric")}
    for diagnosis in changed["diagnoses"]:
        diagnosis |= {"rule": evil, "cause": evil, "remedy": evil, "paste": evil}
    for point in changed["points"]:
        if "parameters" in point:
            point["parameters"]["text"] = evil
        for decision in point["decisions"]:
            decision |= {"pass": evil, "text": evil, "reason": evil}
    show(browser, document, tmp_path)
    tags = "['script', 'style', 'iframe', 'object', 'link', 'form']"
    elements = f"return {tags}.map((tag) => document.getElementsByTagName(tag).length)"
    expected = browser.script(elements)
    show(browser, changed, tmp_path)
    assert browser.script(elements) == expected
    for kind in ("point", "operator"):
        for number in range(len(changed[f"{kind}s"])):
            browser.script(f"location.hash = '#{kind}-{number}'")
            browser.wait(lambda number=number: browser.one("article.detail").get_attribute("data-index") == str(number))
    browser.script("location.hash = '#overview'")
    browser.wait(lambda: browser.all("#overview"))
    for selector in ("#diagnoses button.copy", "table.points thead button", "g.node"):
        for found in browser.all(selector)[:4]:
            browser.script("arguments[0].dispatchEvent(new MouseEvent('mouseover', {bubbles: true}))", found)
    assert browser.script("return window.owned") is None
    assert not browser.all("[onerror], [onload], [onmouseover], img[src='x'], a[href^='javascript']")
    assert browser.script("return document.documentElement.scrollWidth <= document.documentElement.clientWidth")


@pytest.mark.alternating
def test_five_hundred_points_open(browser: Browser, digits: mct.report.Report, tmp_path: Path) -> None:
    document = copy.deepcopy(digits.document)
    count = -(-500 // len(document["points"]))
    for kind in ("operators", "points"):
        copies = []
        for number in range(count):
            names = {
                entry["name"]: f"{entry['name']}_{number}" for k in ("operators", "points") for entry in document[k]
            }
            copies += rename(document[kind], names)
        document[kind + "_"] = copies
    document |= {kind: document.pop(kind + "_") for kind in ("operators", "points")}
    path = show(browser, document, tmp_path)
    assert path.stat().st_size < 10_000_000
    assert len(browser.rows()) == len(document["points"]) >= 500


# ----------------------------------------------------------------------------------------------------------------------
# Documents made by hand
# ----------------------------------------------------------------------------------------------------------------------


@pytest.mark.alternating
def test_odd_numbers_are_drawn_without_complaint(browser: Browser, tmp_path: Path) -> None:
    document = make_odd_document()
    (tmp_path / "odd.html").write_text(render(document))
    browser.open(tmp_path / "odd.html")
    for number in range(len(document["points"])):
        browser.script(f"location.hash = '#point-{number}'")
        browser.wait(lambda number=number: browser.one("article.detail").get_attribute("data-index") == str(number))
        browser.script("dispatchEvent(new Event('beforeprint'))")  # draws those that are not near the window, too
        browser.wait(lambda: len(browser.all(".plot")) == len(browser.all(".plot svg.marks")))


def test_comparison_comes_first_and_says_what_changed(browser: Browser, tmp_path: Path) -> None:
    document = make_document()
    comparison = make_comparison(document)
    (tmp_path / "compared.html").write_text(render(document, comparison))
    browser.open(tmp_path / "compared.html")
    assert browser.all("main section")[0].get_attribute("id") == "comparison"
    first = browser.all("#comparison .changes tbody tr")[0].text
    assert " ".join(first.split()) == "Top-1 accuracy, quantized 87.0 % 86.2 % \N{MINUS SIGN}0.8 points ✕ worse"
    most = max(comparison["points"], key=lambda matched: abs(matched["numbers"][2]["difference"]))
    assert browser.one("#comparison .wide-table tbody tr td").text == most["name"]
    assert len(browser.all("#comparison .wide-table tbody tr")) == 15
    browser.script("arguments[0].click()", browser.one("#comparison button.more"))
    assert len(browser.all("#comparison .wide-table tbody tr")) == len(document["points"])
    browser.script("location.hash = '#point-1'")
    browser.wait(lambda: browser.all("article.detail .text-change"))
    assert browser.one("article.detail .text-change del").text == comparison["points"][1]["texts"][0]["before"]
