# SPDX-License-Identifier: Apache-2.0
"""The names of `mct.target_platform` under the path by which scripts of MCT import them."""

from mct import target_platform
from mct.target_platform import *  # noqa: F403

__all__ = []
__all__ += target_platform.__all__
