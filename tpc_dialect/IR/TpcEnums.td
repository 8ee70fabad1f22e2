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

def Tpc_ErrorMethod : Tpc_Enum<"ErrorMethod", "error method", [
  I32EnumCase<"MSE", 0, "mse">,
  I32EnumCase<"MAE", 1, "mae">,
  I32EnumCase<"LP", 2, "lp">,
  I32EnumCase<"KL", 3, "kl">,
  I32EnumCase<"HMSE", 4, "hmse">,
  I32EnumCase<"NoClipping", 5, "no_clipping">,
  I32EnumCase<"Percentile", 6, "percentile">,
  I32EnumCase<"OCTAV", 7, "octav">,
  I32EnumCase<"Range", 8, "range">,
  I32EnumCase<"Own", 9, "own">,
  I32EnumCase<"Given", 10, "given">,
  I32EnumCase<"LeastSquares", 11, "least_squares">
]>;

def Tpc_Certificate : Tpc_Enum<"Certificate", "certificate", [
  I32EnumCase<"None", 0, "none">,
  I32EnumCase<"Exact", 1, "exact">,
  I32EnumCase<"ExactAtThreshold", 2, "exact_at_threshold">,
  I32EnumCase<"Bound", 3, "bound">
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
