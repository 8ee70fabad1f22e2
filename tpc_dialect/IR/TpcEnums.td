// SPDX-License-Identifier: Apache-2.0
#ifndef TPC_DIALECT_IR_TPCENUMS_TD
#define TPC_DIALECT_IR_TPCENUMS_TD

include "mlir/IR/EnumAttr.td"

class Tpc_Enum<string name, string summary, list<I32EnumCase> cases> : I32Enum<name, summary, cases> {
  let cppNamespace = "::mct::tpc";
}

def Tpc_Signedness : Tpc_Enum<"Signedness", "signedness", [
  I32EnumCase<"Auto", 0, "auto">,
  I32EnumCase<"Signed", 1, "signed">,
  I32EnumCase<"Unsigned", 2, "unsigned">
]>;

def Tpc_RoundingMode : Tpc_Enum<"RoundingMode", "rounding", [
  I32EnumCase<"HalfEven", 0, "half_even">,
  I32EnumCase<"HalfUp", 1, "half_up">
]>;

def Tpc_PredicateKind : Tpc_Enum<"PredicateKind", "filter comparison or connective", [
  I32EnumCase<"Equal", 0, "eq">,
  I32EnumCase<"NotEqual", 1, "ne">,
  I32EnumCase<"Greater", 2, "gt">,
  I32EnumCase<"GreaterEqual", 3, "ge">,
  I32EnumCase<"Less", 4, "lt">,
  I32EnumCase<"LessEqual", 5, "le">,
  I32EnumCase<"Contains", 6, "contains">,
  I32EnumCase<"And", 7, "and">,
  I32EnumCase<"Or", 8, "or">
]>;

def Tpc_LearnedRole : Tpc_Enum<"LearnedRole", "role of a learned value", [
  I32EnumCase<"Threshold", 0, "threshold">,
  I32EnumCase<"Minimum", 1, "minimum">,
  I32EnumCase<"Maximum", 2, "maximum">,
  I32EnumCase<"Rounding", 3, "rounding">,
  I32EnumCase<"Perturbation", 4, "perturbation">,
  I32EnumCase<"Scale", 5, "scale">,
  I32EnumCase<"ObservedMinimum", 6, "observed_minimum">,
  I32EnumCase<"ObservedMaximum", 7, "observed_maximum">,
  I32EnumCase<"Fraction", 8, "fraction">
]>;

def Tpc_StepGradient : Tpc_Enum<"StepGradient", "gradient of a step", [
  I32EnumCase<"StraightThrough", 0, "straight_through">,
  I32EnumCase<"LearnedStep", 1, "learned_step">
]>;

def Tpc_ClipGradient : Tpc_Enum<"ClipGradient", "gradient of clipped values", [
  I32EnumCase<"Masked", 0, "masked">,
  I32EnumCase<"Passed", 1, "passed">
]>;

def Tpc_Observer : Tpc_Enum<"Observer", "observer of a range", [
  I32EnumCase<"LastValue", 0, "last_value">,
  I32EnumCase<"MovingAverage", 1, "moving_average">,
  I32EnumCase<"AllValues", 2, "all_values">,
  I32EnumCase<"Fixed", 3, "fixed">
]>;

#endif // TPC_DIALECT_IR_TPCENUMS_TD
