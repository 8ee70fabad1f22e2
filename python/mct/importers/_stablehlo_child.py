# SPDX-License-Identifier: Apache-2.0
"""The process that converts a module of StableHLO: `python -m mct.importers._stablehlo_child MODULE LINALG.mlir`.

torch-mlir carries StableHLO with its conversion to linalg. MODULE is text, bytecode, or the portable artifact that
`jax.export` and others serialize.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from torch_mlir import ir
from torch_mlir._mlir_libs import _stablehlo
from torch_mlir.dialects import arith, func, math, tensor
from torch_mlir.passmanager import PassManager

from mct.importers import _text
from mct.importers._child import Refused, run

INLINE = "builtin.module(inline,symbol-dce)"
CONVERT = "builtin.module(stablehlo-legalize-to-linalg,canonicalize,cse)"
# Dialects that raising to TOSA reads.
DIALECTS = frozenset({"arith", "builtin", "cf", "func", "linalg", "math", "tensor"})
# A function, and what begins in JAX's names as the name of a function that was compiled: `jit(f)`, `pjit(f)`.
_WRAPPED = re.compile(r"p?jit\((.*)\)")
# Operations of CHLO, a dialect that torch-mlir's Python does not read, that are functions of one operand.
_FUNCTIONS: dict[str, Callable[[ir.Value], Any]] = {
    "chlo.acos": math.AcosOp,
    "chlo.acosh": math.AcoshOp,
    "chlo.asin": math.AsinOp,
    "chlo.asinh": math.AsinhOp,
    "chlo.atan": math.AtanOp,
    "chlo.atanh": math.AtanhOp,
    "chlo.cosh": math.CoshOp,
    "chlo.erf": math.ErfOp,
    "chlo.erfc": math.ErfcOp,
    "chlo.sinh": math.SinhOp,
    "chlo.square": lambda x: (arith.MulIOp if isinstance(x.type.element_type, ir.IntegerType) else arith.MulFOp)(x, x),
    "chlo.tan": math.TanOp,
}
_CHLO = re.compile(rb"^(\s*%\w+ = )(chlo\.\w+) (%\w+) : (tensor<[^>]*>) -> (tensor<[^>]*>)", re.MULTILINE)


def read(path: Path, context: ir.Context) -> ir.Module:
    data = path.read_bytes()
    try:
        if data.startswith(b"ML\xefR"):
            return _stablehlo.deserialize_portable_artifact(context, data)
        # In the form that is read without their dialect.
        data = _CHLO.sub(rb'\1"\2"(\3) : (\4) -> \5', data)
        context.allow_unregistered_dialects = True
        return ir.Module.parse(data, context)
    except (ir.MLIRError, ValueError) as error:
        refuse_chlo(data.decode(errors="replace"))
        lines = [line for line in str(error).splitlines() if line.strip()]
        raise Refused(f"cannot read it: {lines[0] if lines else 'no module'}", lines[1:8]) from error


def refuse_chlo(text: str) -> None:
    """Refuses operations of CHLO that were not read, by the names of their layers."""
    names = _text.location_names(text)
    left = []
    for line in text.splitlines():
        if match := re.search(r"= (chlo\.\w+)[ (]", line):
            location = re.search(r"\bloc\((.*)$", line)
            left.append((match[1], "/".join(scopes(names.get(location[1], ""))[:-1]) if location else ""))
    if left:
        raise Refused("", left_over=left)


def operations(module: ir.Module) -> Iterator[ir.OpView]:
    """All operations but the module, those of regions after the one that they belong to."""

    def visit(operation: Any) -> Iterator[ir.OpView]:
        for region in operation.regions:
            for block in region.blocks:
                for inner in block.operations:
                    yield inner
                    yield from visit(inner)

    yield from visit(module.operation)


def name_of(location: ir.Location) -> str:
    """The names in a location, from the outermost call inwards, with `/` between; empty where it has none."""
    if isinstance(location, ir.NameLoc):
        return str(location.name_str)
    if isinstance(location, ir.CallSiteLoc):
        return "/".join(filter(None, [name_of(location.caller), name_of(location.callee)]))
    if isinstance(location, ir.FusedLoc):
        return next(filter(None, map(name_of, location.locations)), "")
    return ""


def scopes(name: str) -> list[str]:
    """Parts of a name without the compiled function: `Net`, `relu`, `max` of `jit(f)/Net/jit(relu)/max`."""
    parts = [part for part in name.split("/") if part]
    if parts and _WRAPPED.fullmatch(parts[0]):
        parts = parts[1:]
    return [match[1] if (match := _WRAPPED.fullmatch(part)) else part for part in parts]


# They show the values of another operation.
_VIEWS = frozenset({"stablehlo.broadcast_in_dim", "stablehlo.constant", "stablehlo.reshape", "stablehlo.transpose"})


def name_operations(module: ir.Module) -> None:
    """Gives operations the names that JAX has for them, without what begins all of them, such as the network's class.

    The last one of a layer that computes something has the name of the layer, which goes without the primitive.
    """
    named = [(operation, scopes(name_of(operation.location))) for operation in operations(module)]
    firsts = {parts[0] for _, parts in named if parts}
    if len(firsts) == 1 and all(len(parts) != 1 for _, parts in named):
        named = [(operation, parts[1:]) for operation, parts in named]
    later: list[str] = []
    for operation, parts in reversed(named):
        if parts and operation.operation.name not in _VIEWS:
            layer = parts[:-1]
            parts, later = layer if layer and layer != later else parts, layer
        location = ir.Location.name("/".join(parts)) if parts else ir.Location.unknown()
        operation.operation.location = location


def replace(operation: ir.OpView, build: Callable[[ir.OpView], Any]) -> None:
    with ir.InsertionPoint(operation), operation.location:
        results = build(operation).results
    for before, after in zip(operation.results, results, strict=True):
        before.replace_all_uses_with(after)
    operation.operation.erase()


def replace_composites(module: ir.Module) -> None:
    """Writes an operation that comes with a function that computes the same as a call of that."""

    def call(operation: ir.OpView) -> Any:
        types = [result.type for result in operation.results]
        callee = ir.FlatSymbolRefAttr(operation.attributes["decomposition"])
        return func.CallOp(types, callee, list(operation.operands))

    for operation in list(operations(module)):
        if operation.operation.name == "stablehlo.composite":
            replace(operation, call)


def replace_others(module: ir.Module) -> None:
    """Writes as ops of MLIR, which have tensors as operands, too, what the conversion does not have, or writes as
    control flow."""

    def concatenate(operation: ir.OpView) -> Any:
        axis = ir.IntegerAttr(operation.attributes["dimension"]).value
        return tensor.ConcatOp(operation.results[0].type, axis, list(operation.operands))

    def apply(operation: ir.OpView) -> Any:
        return _FUNCTIONS[operation.operation.name](operation.operands[0])

    for operation in list(operations(module)):
        if operation.operation.name in _FUNCTIONS:
            replace(operation, apply)
        elif operation.operation.name == "stablehlo.concatenate":
            replace(operation, concatenate)


def strip_attributes(module: ir.Module) -> None:
    """Removes what JAX notes of a module, and of arguments and results."""
    owners = [module.operation, *(operation.operation for operation in module.body.operations)]
    for owner in owners:
        for name in list(owner.attributes):
            if "." in name or name in ("arg_attrs", "res_attrs"):
                del owner.attributes[name]


def check_functions(module: ir.Module) -> None:
    """Refuses a module without one function to enter, or whose shapes are open."""
    functions = [operation for operation in module.body.operations if operation.operation.name == "func.func"]
    if not functions:
        raise Refused("the module has no function")
    for operation in operations(module):
        for result in operation.results:
            if isinstance(result.type, ir.RankedTensorType) and not result.type.has_static_shape:
                layer = "/".join(scopes(name_of(operation.location)))
                raise Refused(
                    f"'{operation.operation.name}' makes a tensor of open shape, {result.type}",
                    ["export the network for inputs of fixed shapes; mct-set-batch changes the batch of the result"],
                    layer=layer,
                )


def convert(module: ir.Module) -> str:
    strip_attributes(module)
    replace_composites(module)
    PassManager.parse(INLINE).run(module.operation)
    check_functions(module)
    name_operations(module)
    replace_others(module)
    PassManager.parse(CONVERT).run(module.operation)
    left = [
        (operation.operation.name, name_of(operation.location))
        for operation in operations(module)
        if operation.operation.name.split(".")[0] not in DIALECTS
    ]
    # The terminator of a region is left only because the operation around it is.
    left = [entry for entry in left if entry[0] != "stablehlo.return"]
    if left:
        raise Refused("", left_over=left)
    return str(module.operation.get_asm(enable_debug_info=True))


def main(source: str, output: str) -> None:
    context = ir.Context()
    _stablehlo.register_dialect(context)
    _stablehlo.register_stablehlo_passes()
    with context, ir.Location.unknown():
        Path(output).write_text(convert(read(Path(source), context)))


if __name__ == "__main__":
    run(main)
