# SPDX-License-Identifier: Apache-2.0
"""Module paths of MCT, `mct_quantizers` and `tensorflow_model_optimization`, which Python's imports find here."""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import sys
import types
from collections.abc import Sequence
from typing import Any

from mct._compat.names import MCT_VERSION, NAMES
from mct._compat.unavailable import Unavailable
from mct.target_platform import TargetError

ROOT = "model_compression_toolkit"
_QUANTIZERS = "mct_quantizers"
_TFMOT = "tensorflow_model_optimization"

_CORE = ("mct.core", "mct.mct_names", "mct.framework_info", "mct.network_editor", "mct.constants")
_TPC = ("mct.target_platform", "mct._compat.stock", "mct.constants", "mct.core")
_INFRASTRUCTURE = ("mct.trainable_infrastructure", "mct.trained_quantizers", "mct.constants")

# Modules below these paths, by the modules of ours in which their names are looked for. A path stands for all below it.
_MODULES: dict[str, tuple[str, ...]] = {
    "": ("mct.compat", "mct"),
    "constants": ("mct.constants", "mct.target_platform"),
    "core": _CORE,
    "data_generation": (),
    "defaultdict": ("mct.target_platform",),
    "exporter": ("mct.exporter",),
    "gptq": ("mct.gptq", "mct.trainable_infrastructure"),
    "logger": ("mct.mct_names",),
    "metadata": (),
    "pruning": (),
    "ptq": ("mct.ptq",),
    "quantization_preparation": (),
    "qat": ("mct.qat", "mct.trained_quantizers"),
    "target_platform_capabilities": _TPC,
    "target_platform_capabilities.schema.schema_compatability": ("mct._compat.schemas",),
    "target_platform_capabilities.schema.schema_functions": ("mct.target_platform.schema_functions",),
    "target_platform": _TPC,
    "trainable_infrastructure": _INFRASTRUCTURE,
    "verify_packages": (),
    "wrapper": ("mct.wrapper",),
    "xquant": ("mct.xquant",),
}
# Names that another path has in MCT, or that have another name here, by path.
_OTHERS: dict[str, str] = {
    "target_platform": "mct.target_platform",
    "core.common.quantization.quantization_config": "mct.core",
    "target_platform_capabilities.schema.mct_current_schema.schema": "mct.target_platform",
    "target_platform_capabilities.tpc_models.imx500_tpc.latest.generate_keras_tpc": (
        "mct._compat.stock:generate_framework_tpc"
    ),
    "target_platform_capabilities.tpc_models.imx500_tpc.latest.generate_pytorch_tpc": (
        "mct._compat.stock:generate_framework_tpc"
    ),
    "target_platform_capabilities.tpc_models.imx500_tpc.latest.get_pytorch_tpc_latest": "mct._compat.stock:get_tpc",
    "target_platform_capabilities.tpc_models.imx500_tpc.latest.get_keras_tpc_latest": "mct._compat.stock:get_tpc",
}
# The same for the two other packages.
_FOREIGN: dict[str, tuple[str, ...]] = {
    _QUANTIZERS: ("mct.quantizers", "mct.trained_quantizers", "mct.trainable_infrastructure", "mct.target_platform"),
    _TFMOT: ("mct.quantize_config",),
}
_FOREIGN_NAMES: dict[str, str] = {
    f"{_QUANTIZERS}.KerasActivationQuantizationHolder": "mct.trained_quantizers:ActivationQuantizationHolder",
    f"{_QUANTIZERS}.keras_load_quantized_model": "mct:load",
    f"{_QUANTIZERS}.pytorch_load_quantized_model": "mct:load",
}
# Modules of torch; without it, what stands for them: an object, or the words of an error.
_TORCH_LAYERS: dict[str, str] = {
    "PytorchActivationQuantizationHolder": "mct.trained_quantizers:ActivationQuantizationHolder",
    "PytorchQuantizationWrapper": "",
}
_WRAPPERS = (
    "a quantized network is a module of the compiler, without layers of a framework: QuantizedModel.points has bits "
    "and parameters, mct.exporters.export_parameters the integers, and ActivationQuantizationHolder calls one quantizer"
)
_INSIDE = "it is a part of MCT's own graphs; the page 'Names of MCT' has those that scripts use"
# Names without meaning that MCT does not export from its packages, but whose modules scripts name.
_UNAVAILABLE: dict[str, str] = {
    "KerasQuantizationWrapper": _WRAPPERS,
    "BaseNode": _INSIDE,
    "Graph": _INSIDE,
    "PytorchQuantizationWrapper": (
        "it is a module of PyTorch, which is not installed; install PyTorch (pip install torch)"
    ),
    "PytorchImplementation": _INSIDE,
    "KerasImplementation": _INSIDE,
    "get_ort_session_options": (
        "files of mct_quantizers run in ONNX Runtime with that package's own function; those of profile qdq need none"
    ),
}
# Flags of MCT by the package that each one is about.
_FOUND = {"FOUND_TORCH": "torch", "FOUND_TF": "tensorflow", "FOUND_ONNX": "onnx", "FOUND_TORCHVISION": "torchvision"}


def _read(here: str) -> Any:
    module, _, name = here.partition(":")
    found = importlib.import_module(module)
    return getattr(found, name) if name else found


def _sources_of(path: str) -> tuple[str, ...] | None:
    """Returns the modules of ours for a path below MCT; None for one that is not known."""
    while path not in _MODULES:
        path, dot, _ = path.rpartition(".")
        if not dot:
            return None
    return _MODULES[path]


def _find_public(path: str, name: str) -> Any:
    """Returns a public name of MCT, at its own path or at that of the module that defines it; None: none of them."""
    if own := NAMES.get(f"{path}.{name}" if path else name):
        # A package has names without meaning, too.
        if not path and name in _MODULES:
            return importlib.import_module(f"{ROOT}.{name}")
        return _read(own.here) if own.here else Unavailable(f"{path}.{name}", own.does)
    package = path.partition(".")[0]
    for public, entry in NAMES.items():
        if public.startswith(f"{package}.") and public.rpartition(".")[2] == name:
            return _read(entry.here) if entry.here else Unavailable(public, entry.does)
    return None


def _find(fullname: str, name: str) -> Any:
    """Returns the object that a name of a module stands for."""
    root, _, path = fullname.partition(".")
    if root == ROOT:
        if here := _OTHERS.get(f"{path}.{name}" if path else name):
            return _read(here)
        if (found := _find_public(path, name)) is not None:
            return found
        sources = _sources_of(path) or ()
    else:
        if here := _FOREIGN_NAMES.get(f"{root}.{name}"):
            return _read(here)
        if root == _QUANTIZERS and name in _TORCH_LAYERS:
            if importlib.util.find_spec("torch") is not None:
                return _read(f"mct.torch_layers:{name}")
            if _TORCH_LAYERS[name]:
                return _read(_TORCH_LAYERS[name])
        sources = _FOREIGN[root]
    for source in sources:
        found = importlib.import_module(source)
        # `mct.compat` looks up the names that it lacks in this module.
        if name in vars(found) or (source != "mct.compat" and hasattr(found, name)):
            return getattr(found, name)
    if name in _FOUND:
        return importlib.util.find_spec(_FOUND[name]) is not None
    if name in _UNAVAILABLE:
        return Unavailable(f"{fullname}.{name}", _UNAVAILABLE[name])
    if root == ROOT and path not in _MODULES and not name.startswith("_"):
        return Unavailable(f"{fullname}.{name}", _INSIDE)
    raise AttributeError(f"module {fullname!r} has no {name!r} that mct knows; the page 'Names of MCT' has them")


class _Module(types.ModuleType):
    """A module of one of the three packages."""

    def __getattr__(self, name: str) -> Any:
        if name == "__all__":
            return self.__dir__()
        if name.startswith("__"):
            raise AttributeError(name)
        try:
            found = _find(self.__name__, name)
        except AttributeError:
            fullname = f"{self.__name__}.{name}"
            # Any other name may be misspelt.
            if fullname not in sys.modules and name not in _SAID.get(self.__name__, ()):
                raise
            found = importlib.import_module(fullname)
        setattr(self, name, found)
        return found

    def __dir__(self) -> list[str]:
        root, _, path = self.__name__.partition(".")
        sources = _sources_of(path) or () if root == ROOT else _FOREIGN[root]
        prefix = f"{path}." if path else ""
        names = {public.removeprefix(prefix) for public in NAMES if root == ROOT and public.startswith(prefix)}
        for source in sources:
            names |= set(getattr(importlib.import_module(source), "__all__", ()))
        return sorted(name for name in names if "." not in name and not name.startswith("__"))


# Modules that are attributes of others without an import of their own, by full name.
_SAID = {
    ROOT: tuple(_MODULES),
    f"{ROOT}.core": ("network_editor",),
    f"{ROOT}.target_platform_capabilities": ("constants", "schema", "target_platform", "tpc_models"),
    f"{ROOT}.target_platform_capabilities.schema": ("mct_current_schema", "v1", "v2"),
    _QUANTIZERS: ("common", "keras", "keras_quantizers", "pytorch", "pytorch_quantizers"),
    _TFMOT: ("quantization",),
    f"{_TFMOT}.quantization": ("keras",),
    f"{_TFMOT}.quantization.keras": ("default_8bit", "experimental", "quantizers"),
}
# Modules directly below a package, beside those that its entry of `_SAID` has; below them any name in small letters is
# one, for the modules of MCT are many and its names are found in all of them.
_FRAMEWORKS = ("common", "keras", "pytorch", "runner")
_INNER = {
    "core": (*_FRAMEWORKS, "analyzer", "graph_prep_runner", "quantization_prep_runner"),
    "exporter": ("model_exporter", "model_wrapper"),
    "quantization_preparation": ("load_fqc",),
    "target_platform": ("targetplatform2framework",),
    "target_platform_capabilities": ("immutable", "targetplatform2framework", "tpc_io_handler"),
    "wrapper": ("constants", "mct_wrapper"),
}


def _is_module(fullname: str) -> bool:
    """Returns whether a path may be that of a module."""
    root, _, path = fullname.partition(".")
    parts = path.split(".") if path else []
    if not parts or parts[-1] in _SAID.get(fullname.rpartition(".")[0], ()):
        return True
    if root == ROOT:
        if parts[0] not in _MODULES or len(parts) == 1:
            return parts[0] in _MODULES
        said = (*_INNER.get(parts[0], _FRAMEWORKS), *_SAID.get(f"{ROOT}.{parts[0]}", ()))
        return parts[1] in said and parts[-1].islower()
    return parts[0] in (*_SAID[root], "python") and len(parts) > 1 and parts[-1].islower()


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds the modules of the three packages, ahead of those that are installed."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname.partition(".")[0] not in (ROOT, *_FOREIGN):
            return None
        if not _is_module(fullname):
            raise ModuleNotFoundError(
                f"mct has no counterpart of the module {fullname!r}; the page 'Names of MCT' has those it knows",
                name=fullname,
            )
        return importlib.machinery.ModuleSpec(fullname, self, origin="mct.compat", is_package=True)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        module = _Module(spec.name, f"{spec.name}, as mct has it.")
        if spec.name in (ROOT, _QUANTIZERS):
            module.__version__ = MCT_VERSION if spec.name == ROOT else "1.7.0"  # type: ignore[attr-defined]
        return module

    def exec_module(self, module: types.ModuleType) -> None:
        """Do nothing: names are found when they are looked up."""


def register() -> None:
    """Makes the paths importable. Raises `TargetError` where one of the packages itself has been imported."""
    if any(isinstance(finder, _Finder) for finder in sys.meta_path):
        return
    for root in (ROOT, *_FOREIGN):
        if root in sys.modules:
            raise TargetError(
                f"{root} has been imported from {getattr(sys.modules[root], '__file__', None)}; import mct.compat "
                "before it, in a process of its own"
            )
    sys.meta_path.insert(0, _Finder())
