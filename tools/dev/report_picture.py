#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Takes the pictures of a report that the documentation shows, of the network that tools/dev/demo has quantized.

    tools/dev/demo && build/venv/bin/python tools/dev/report_picture.py

Needs Chromium, its driver and selenium (tools/dev/setup browser), as the tests of the page do.
"""

from __future__ import annotations

import io
import shutil
import subprocess
import time
from pathlib import Path

import measure
from PIL import Image
from selenium import webdriver
from selenium.webdriver.support.ui import WebDriverWait

DEMO = Path("build/demo")
PICTURES = measure.REPOSITORY / "docs" / "_static"
# File, address on the page, and the size of the picture.
VIEWS = {
    "report.png": ("", (1200, 640)),
    "report-network.png": ("#network", (1200, 700)),
    "report-points.png": ("#points", (1200, 560)),
    "report-point.png": ("#point-2", (1200, 820)),
}
# A page has few colours; a palette makes the file a third as large.
COLOURS = 64


def make_page() -> Path:
    """Makes the report in the repository's folder, so that its title has no path of this machine."""
    page = DEMO / "digits_report.html"
    data = ["--data", "test/data/digits_test.npy", "--labels", "test/data/digits_test_labels.npy", "--scale", "0.0625"]
    model = ["--model", "test/data/digits.mlirbc"]
    command = [measure.BIN / "mct", "report", DEMO / "digits_quantized.mlir", *model, *data, "-o", page]
    subprocess.run(command, cwd=measure.REPOSITORY, check=True)
    return measure.REPOSITORY / page


def main() -> None:
    address = make_page().as_uri()
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"):
        options.add_argument(argument)
    with webdriver.Chrome(options, webdriver.ChromeService(shutil.which("chromedriver"))) as browser:
        for name, (place, (width, height)) in VIEWS.items():
            # The size of the view, not that of the window around it.
            metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
            browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
            browser.get("about:blank")
            browser.get(address + place)
            WebDriverWait(browser, 20).until(
                lambda one: one.execute_script("return document.documentElement.dataset.ready") == "yes"
            )
            time.sleep(1)  # the page scrolls smoothly
            picture = Image.open(io.BytesIO(browser.get_screenshot_as_png())).convert("RGB")
            path = PICTURES / name
            path.parent.mkdir(exist_ok=True)
            picture.quantize(COLOURS, dither=Image.Dither.NONE).save(path, optimize=True)
            print(f"{path.relative_to(measure.REPOSITORY)}: {path.stat().st_size // 1024} KiB")


if __name__ == "__main__":
    main()
