# SPDX-License-Identifier: Apache-2.0
"""Functions that the compiler calls: quantizers of points that are written in Python (`#tpc.host_quantizer`), and
callbacks of the caller for training."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np
import numpy.typing as npt

from mct.errors import Error, describe
from mct.target_platform import TargetError
from mct.target_platform._predicates import quote, write_real

# By module and name the classes whose objects a module may name: subclasses put themselves here.
_classes: dict[str, type[Any]] = {}
# Classes of `quantize_config.quantize_scope`, the innermost last; for all threads, since callbacks come on several.
_scopes: list[Mapping[str, Any]] = []


def name_of(cls: type[Any]) -> str:
    """How a module names the class."""
    return f"{cls.__module__}.{cls.__qualname__}"


def register(cls: type[Any]) -> None:
    _classes[name_of(cls)] = cls


@contextmanager
def scope(*objects: Mapping[str, Any]) -> Iterator[None]:
    for mapping in objects:
        if not isinstance(mapping, Mapping):
            raise TargetError(f"quantize_scope takes dictionaries of classes by name, but got {describe(mapping)}")
    merged: dict[str, Any] = {}
    for mapping in objects:
        merged |= mapping
    _scopes.append(merged)
    try:
        yield
    finally:
        # By identity: an enclosing scope may be equal.
        del _scopes[next(index for index, one in enumerate(_scopes) if one is merged)]


def find(name: str) -> type[Any] | None:
    """The class of that name; a scope may know it by the last part of the name, too."""
    for known in reversed(_scopes):
        for key in (name, name.rpartition(".")[2]):
            if key in known:
                found: type[Any] = known[key]
                return found
    return _classes.get(name)


def write_attribute(value: Any) -> str:
    """Returns the content of a configuration, as an attribute: `make` gets it back, tuples and arrays as lists."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if value is None:
        return "unit"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int) and -(1 << 63) <= value < 1 << 63:
        return f"{value} : i64"
    if isinstance(value, float):
        return f"{write_real(value)} : f64"
    if isinstance(value, str):
        return quote(value)
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(write_attribute, value))}]"
    if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
        return f"{{{', '.join(f'{quote(key)} = {write_attribute(one)}' for key, one in value.items())}}}"
    raise TargetError(
        "get_config may give numbers, strings, truth values, None, lists and dictionaries of those, not "
        f"{describe(value)}"
    )


def write_quantizer(quantizer: Any) -> str:
    """The attribute that names a quantizer, with what it is made of."""
    name, config = quote(name_of(type(quantizer))), write_attribute(quantizer.get_config())
    return f"#tpc.host_quantizer<name = {name}, config = {config}>"


class HostedQuantizer:
    """The quantizer of one point, as the compiler calls it. Arrays that it gives are its own, and gone afterwards.

    quantizer: what a person wrote.
    weights:   what its `build` made, where it has one.
    """

    def __init__(self, quantizer: Any, point: str, shape: Sequence[int]) -> None:
        from mct.trainable_infrastructure import BaseTrainableQuantizer, VariableOwner

        self.quantizer = quantizer
        self.arguments: dict[str, Any] = {}
        owner = VariableOwner(point)
        takes = inspect.signature(type(quantizer).__call__).parameters
        self.takes_training = "training" in takes or any(one.kind is one.VAR_KEYWORD for one in takes.values())
        if isinstance(quantizer, BaseTrainableQuantizer):
            quantizer.initialize_quantization(tuple(shape), point, owner)
        else:
            self.arguments["weights"] = quantizer.build(tuple(shape), point, owner)

    def quantize(self, values: npt.NDArray[np.float32], results: npt.NDArray[np.float32], is_training: bool) -> None:
        training = {"training": is_training} if self.takes_training else {}
        results[...] = self._check("__call__", self.quantizer(values.copy(), **training, **self.arguments), values)

    def backward(self, values: npt.NDArray[np.float32], gradients: npt.NDArray[np.float32]) -> None:
        if hasattr(self.quantizer, "backward"):
            made = self.quantizer.backward(values.copy(), gradients.copy())
            gradients[...] = self._check("backward", made, values)

    def freeze(self) -> str:
        if not hasattr(self.quantizer, "convert2inferable"):
            raise TargetError(
                f"{type(self.quantizer).__name__} has no convert2inferable, which gives the quantizer that a deployed "
                "network has; add one that returns an object of mct.quantizers"
            )
        made = self.quantizer.convert2inferable()
        if not hasattr(made, "to_mlir"):
            raise TargetError(
                f"{type(self.quantizer).__name__}: convert2inferable must give a quantizer of mct.quantizers, "
                f"but gives {describe(made)}"
            )
        return str(made.to_mlir())

    def _check(self, method: str, made: Any, like: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        if hasattr(made, "detach"):
            made = made.detach()
        array = np.asarray(made, np.float32)
        if array.shape != like.shape:
            raise TargetError(
                f"{type(self.quantizer).__name__}.{method} must give an array of the shape {like.shape} of its input, "
                f"but gives one of {array.shape}"
            )
        return array


def make(name: str, config: Mapping[str, Any], point: str, shape: Sequence[int]) -> HostedQuantizer | None:
    """Called by the compiler: the quantizer of a point, or None where no class has the name."""
    found = find(name)
    return None if found is None else HostedQuantizer(found.from_config(config), point, shape)


class HostedTraining:
    """Callbacks of the caller for training, as the compiler calls them. Arrays that it gives are gone afterwards.

    loss:         as `mct.gptq.GradientPTQConfig` has it; None: the compiler's.
    log_function: likewise; None: no callback.
    """

    def __init__(self, loss: Callable[..., Any] | None, log_function: Callable[..., Any] | None) -> None:
        self.loss = loss
        self.log_function = log_function
        self.has_loss = loss is not None
        self.watches_steps = log_function is not None
        self.name = name_of(type(loss) if not hasattr(loss, "__qualname__") else loss) if loss else ""  # type: ignore[arg-type]

    def compute_loss(
        self,
        quantized: list[npt.NDArray[np.float32]],
        floats: list[npt.NDArray[np.float32]],
        weights: list[float],
        gradients: list[npt.NDArray[np.float32]],
    ) -> float:
        """Computes the gradients, which are written into `gradients`."""
        assert self.loss is not None
        made = self.loss(
            [value.copy() for value in quantized],
            [value.copy() for value in floats],
            np.array(weights or [1.0] * len(quantized), np.float64),
        )
        if not isinstance(made, (tuple, list)) or len(made) != 2:
            raise TargetError(
                f"{self.name} must return the loss and the list of its gradients by the values of the quantized "
                f"network, but returns {type(made).__name__}; see mct.gptq.torch_loss"
            )
        value, found = made
        if not isinstance(found, (tuple, list)):
            raise TargetError(f"{self.name} must return a list of gradients, one of each layer, not {describe(found)}")
        if len(found) != len(gradients):
            raise TargetError(
                f"{self.name} must return {len(gradients)} gradients, one of each layer, not {len(found)}"
            )
        for number, (gradient, one) in enumerate(zip(gradients, found, strict=True)):
            array = np.asarray(one, np.float32)
            if array.shape != gradient.shape:
                raise TargetError(
                    f"{self.name}: gradient {number} must have the shape {gradient.shape} of the values, "
                    f"not {array.shape}"
                )
            gradient[...] = array
        return float(value)

    def after_step(
        self,
        loss: float,
        gradients: list[npt.NDArray[np.float32]],
        values: list[npt.NDArray[np.float32]],
        compared: list[str],
    ) -> None:
        assert self.log_function is not None
        self.log_function(loss, [one.copy() for one in gradients], [one.copy() for one in values], compared)


# The training that the calling thread hosts.
_training: ContextVar[HostedTraining | None] = ContextVar("mct_training", default=None)


@contextmanager
def training(loss: Callable[..., Any] | None, log_function: Callable[..., Any] | None) -> Iterator[None]:
    """Within it, stages that train call these."""
    hosted = None if loss is None and log_function is None else HostedTraining(loss, log_function)
    token = _training.set(hosted)
    try:
        yield
    finally:
        _training.reset(token)


def current_training() -> HostedTraining | None:
    return _training.get()


class HostedMetric:
    """A metric that is computed in Python when the compiler requests it. Arrays that it gives are gone afterwards.

    metric: a function of outputs and labels that returns a number for each sample, or `mct.detection.AveragePrecision`.
    labels: of all samples, an array or a sequence; None: the function takes None.
    """

    def __init__(self, name: str, metric: Callable[[Any, Any], Any], labels: Any) -> None:
        self.name = name
        self.metric = metric
        self.labels = labels

    def measure(self, outputs: list[npt.NDArray[np.float32]], positions: list[int], samples: int) -> Any:
        """Numbers, one for each sample of these positions among all, or `mct.detection.Matched`."""
        from mct import detection, evaluation

        arrays = tuple(output.copy() for output in outputs)
        found = arrays[0] if len(arrays) == 1 else arrays
        labels = self.labels
        if labels is not None and len(labels) != samples:
            raise Error(f"labels: {len(labels)} for {samples} samples")
        if labels is not None:
            labels = labels[positions] if hasattr(labels, "dtype") else [labels[position] for position in positions]
        if isinstance(self.metric, detection.AveragePrecision):
            return self.metric.match(found, labels)
        numbers, has_rows = evaluation.numbers_of(self.metric(found, labels), len(positions), self.name)
        if not has_rows:
            raise Error(
                f"max_drop: '{self.name}' returns one number for all samples, which says nothing of chance; return a "
                "number for each sample"
            )
        return numbers
