# SPDX-License-Identifier: Apache-2.0
"""The names of `mct.target_platform`, where MCT 1.9 to 2.2 have them."""

from mct import target_platform
from mct.target_platform import *  # noqa: F403

__all__ = []
__all__ += target_platform.__all__
