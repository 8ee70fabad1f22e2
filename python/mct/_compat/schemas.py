# SPDX-License-Identifier: Apache-2.0
"""Versions of MCT's schema of targets. One class reads and writes them all, so that they are one module here."""

from __future__ import annotations

import importlib
from typing import Any

from mct.target_platform import TargetError, TargetPlatformCapabilities

_SCHEMAS = "model_compression_toolkit.target_platform_capabilities.schema"
ALL_SCHEMA_VERSIONS = [importlib.import_module(f"{_SCHEMAS}.{version}") for version in ("v1", "v2")]
FUTURE_SCHEMA_VERSIONS: list[Any] = []
all_tpc_types = (TargetPlatformCapabilities,)
tpc_or_str_type = (*all_tpc_types, str)


def is_tpc_instance(tpc_obj_or_path: Any) -> bool:
    """Returns whether an object is a target."""
    return isinstance(tpc_obj_or_path, TargetPlatformCapabilities)


def tpc_to_current_schema_version(tpc: Any) -> TargetPlatformCapabilities:
    """Returns a target, which has the fields of the current version whatever it was read from."""
    if isinstance(tpc, TargetPlatformCapabilities):
        return tpc
    raise TargetError(f"a TargetPlatformCapabilities has a schema, not {tpc!r}")


_schema_v1_to_v2 = tpc_to_current_schema_version


def get_schema_by_version(schema_version: str) -> Any:
    """Returns the module of a version."""
    known = {"1": ALL_SCHEMA_VERSIONS[0], "2": ALL_SCHEMA_VERSIONS[1]}
    if schema_version not in known:
        raise TargetError(f"schema version {schema_version!r} is not known; known: {', '.join(known)}")
    return known[schema_version]
