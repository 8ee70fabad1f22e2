# SPDX-License-Identifier: Apache-2.0
"""Runs the console command as `python -m mct`."""

import sys

from mct.cli import main

sys.exit(main())
