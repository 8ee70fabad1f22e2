# SPDX-License-Identifier: Apache-2.0
"""A chip described by its differences from another one."""

from __future__ import annotations

from collections.abc import Sequence

from mct.target_platform._mlir import write_derived
from mct.target_platform._schema import Frozen, OperatorsSet, QuantizationConfigOptions, check_instance, check_name


class DerivedTarget(Frozen):
    """A target that is like another one: what is not said is the other's.

    base:        name of a stock target.
    name:        of this one.
    default_qco: options, one alternative, of the operators that no set names, and of sets without options.
    linear_qco:  options of convolutions and dense layers.
    operator_set: sets of the base that get other options.
    """

    def __init__(
        self,
        base: str,
        name: str = "derived",
        default_qco: QuantizationConfigOptions | None = None,
        linear_qco: QuantizationConfigOptions | None = None,
        operator_set: Sequence[OperatorsSet] = (),
    ) -> None:
        for field, value in (("default_qco", default_qco), ("linear_qco", linear_qco)):
            if value is not None:
                check_instance("DerivedTarget", field, value, QuantizationConfigOptions)
        for index, operators in enumerate(operator_set):
            check_instance("DerivedTarget", f"operator set #{index}", operators, OperatorsSet)
        self.base = check_name("DerivedTarget", base)
        self.name = check_name("DerivedTarget", name)
        self.default_qco, self.linear_qco, self.operator_set = default_qco, linear_qco, tuple(operator_set)

    def to_mlir(self) -> str:
        """The text of a module with the `tpc.derive`."""
        return write_derived(self.base, self.name, self.default_qco, self.linear_qco, self.operator_set)
