# SPDX-License-Identifier: Apache-2.0
"""The parts of `mct.compat`, which change nothing when they are imported."""
