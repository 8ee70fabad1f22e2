// SPDX-License-Identifier: Apache-2.0
//
// Passes that convert quantization points to the input of other compilers.
#ifndef MCT_CONVERSION_PASSES_H
#define MCT_CONVERSION_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "llvm/Support/CommandLine.h"

namespace mct {

/// Rounding of values halfway between two codes, in the order of
/// `tpc::kIntegerRoundings`. `Simulated` is that which a function records, or
/// HalfUp.
enum class IntegerRounding {
  HalfUp,
  HalfEven,
  Double,
  DoubleConvolutions,
  Simulated
};
/// Returns true if products are rounded to 31 bits before they are shifted.
inline bool roundsTwice(IntegerRounding rounding) {
  return rounding == IntegerRounding::Double ||
         rounding == IntegerRounding::DoubleConvolutions;
}
/// Kind of the arguments and results of an integer network.
enum class IntegerBoundary { Float, Integer };
/// Lowering of a softmax: float between conversions, a chain of integer ops, or
/// removed if it is the last op.
enum class IntegerSoftmax { Float, Integer, Cut };
/// Lowering of a layer norm whose only point is after it.
enum class IntegerLayerNorm { Float, Integer };

/// Values of command-line options.
template <typename... Others>
llvm::cl::ValuesClass integerRoundingValues(Others... others) {
  return llvm::cl::values(
      clEnumValN(IntegerRounding::HalfUp, "half-up", "to the larger code"),
      clEnumValN(IntegerRounding::HalfEven, "half-even",
                 "to the even one, counted from the zero point"),
      clEnumValN(IntegerRounding::Double, "double",
                 "products are rounded to 31 bits first and then to codes, "
                 "halves away from zero"),
      clEnumValN(IntegerRounding::DoubleConvolutions, "double-convolutions",
                 "the same, but once after fully connected layers"),
      others...);
}
inline llvm::cl::ValuesClass loweredRoundingValues() {
  return integerRoundingValues(
      clEnumValN(IntegerRounding::Simulated, "simulated",
                 "that of the simulation; half-up if there is none"));
}
inline llvm::cl::ValuesClass integerBoundaryValues() {
  return llvm::cl::values(
      clEnumValN(IntegerBoundary::Float, "float", "f32, converted inside"),
      clEnumValN(IntegerBoundary::Integer, "integer", "codes"));
}
inline llvm::cl::ValuesClass integerSoftmaxValues() {
  return llvm::cl::values(
      clEnumValN(IntegerSoftmax::Float, "float", "stays float"),
      clEnumValN(IntegerSoftmax::Integer, "integer",
                 "tables, sums and divisions"),
      clEnumValN(IntegerSoftmax::Cut, "cut",
                 "one that makes a result is left out"));
}

inline llvm::cl::ValuesClass integerLayerNormValues() {
  return llvm::cl::values(
      clEnumValN(IntegerLayerNorm::Float, "float", "stays float"),
      clEnumValN(IntegerLayerNorm::Integer, "integer",
                 "sums, and the root by a table and Newton's method"));
}

#define GEN_PASS_DECL
#include "mct/Conversion/Passes.h.inc"

} // namespace mct

#endif // MCT_CONVERSION_PASSES_H
