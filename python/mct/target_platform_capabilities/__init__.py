# SPDX-License-Identifier: Apache-2.0
"""Where MCT has its targets: `mct.target_platform` by the path of scripts."""
