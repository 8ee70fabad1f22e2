# SPDX-License-Identifier: Apache-2.0
"""Where MCT has its targets: the names of `mct.target_platform` by the path of scripts."""

from mct import target_platform
from mct.target_platform import *  # noqa: F403

__all__ = []
__all__ += target_platform.__all__
