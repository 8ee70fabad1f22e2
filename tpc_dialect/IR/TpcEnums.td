// SPDX-License-Identifier: Apache-2.0
#ifndef TPC_DIALECT_IR_TPCENUMS_TD
#define TPC_DIALECT_IR_TPCENUMS_TD

include "mlir/IR/EnumAttr.td"

class Tpc_Enum<string name, string summary, list<I32EnumCase> cases> : I32Enum<name, summary, cases> {
  let cppNamespace = "::mct::tpc";
}

// The integer codes are the ones that MCT's JSON stores.
def Tpc_QuantizationMethod : Tpc_Enum<"QuantizationMethod", "quantization method", [
  I32EnumCase<"PowerOfTwo", 0, "power_of_two">,
  I32EnumCase<"LutPowerOfTwo", 1, "lut_pot_quantizer">,
  I32EnumCase<"Symmetric", 2, "symmetric">,
  I32EnumCase<"Uniform", 3, "uniform">,
  I32EnumCase<"LutSymmetric", 4, "lut_sym_quantizer">
]>;

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

#endif // TPC_DIALECT_IR_TPCENUMS_TD
