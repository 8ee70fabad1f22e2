# SPDX-License-Identifier: Apache-2.0
"""Configuration of the site; tools/dev/docs builds it."""

project = "mct"
author = "The mct authors"
copyright = "The mct authors"
extensions = ["myst_parser", "sphinx_copybutton"]
myst_heading_anchors = 4
exclude_patterns = ["**/_*"]
html_theme = "furo"
html_title = "mct"
# MLIR has no lexer here; its blocks are shown as they are.
suppress_warnings = ["misc.highlighting_failure"]
