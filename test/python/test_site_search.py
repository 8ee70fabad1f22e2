# SPDX-License-Identifier: Apache-2.0
"""The search of the site, in Chromium: a newcomer's words lead to the page with the answer."""

from __future__ import annotations

import urllib.parse
from pathlib import Path

import measure
import pytest

pytest.importorskip("mct", reason="the package is not built (tools/dev/build)")
pytest.importorskip("selenium.webdriver", reason="selenium is not installed (tools/dev/setup)")

from test_docs import questions
from test_report_browser import Browser, chromium  # noqa: F401

SITE = measure.BIN.parent / "docs" / "html"


def found(browser: Browser, words: str) -> list[str]:
    """Pages in the order of the results, each once."""
    browser.driver.get("about:blank")
    browser.driver.get(f"{(SITE / 'search.html').as_uri()}?q={urllib.parse.quote(words)}")
    state = "return document.querySelector('#search-results p.search-summary')?.textContent ?? ''"
    browser.wait(lambda: str(browser.script(state)).startswith(("Search finished", "Your search")))
    links = "return [...document.querySelectorAll('#search-results ul.search li > a')].map((a) => a.pathname)"
    pages = [str(Path(urllib.parse.unquote(link)).relative_to(SITE)) for link in browser.script(links)]
    return list(dict.fromkeys(pages))


@pytest.mark.skipif(not (SITE / "searchindex.js").exists(), reason="the site is not built (tools/dev/docs)")
@pytest.mark.alternating
def test_search_finds_the_answers_of_newcomers(chromium: Browser) -> None:  # noqa: F811
    missed = {}
    for question, page, _, _, words in questions():
        pages = found(chromium, words)
        if str(Path(page).with_suffix(".html")) not in pages[:5]:
            missed[question] = pages[:8]
    assert missed == {}
