// SPDX-License-Identifier: Apache-2.0
//
// The `tpc` dialect: descriptions of target platforms, and quantization points.
#ifndef TPC_DIALECT_IR_TPCDIALECT_H
#define TPC_DIALECT_IR_TPCDIALECT_H

#include "mct/Quantizers/Grid.h"
#include "mct/Quantizers/Kinds.h"
#include "mct/Quantizers/TensorQuantizer.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/Error.h"
#include <memory>
#include <optional>
#include <string>

namespace mct::quantization {
class Histogram;
struct LutParameters;
struct SelectedParameters;
struct SelectionOptions;
} // namespace mct::quantization

namespace mct::tpc {
using quantization::Certificate;
using quantization::ErrorMethod;
using quantization::getMaxEnumValForQuantizationMethod;
using quantization::QuantizationMethod;
using quantization::stringifyCertificate;
using quantization::stringifyErrorMethod;
using quantization::stringifyQuantizationMethod;
using quantization::symbolizeQuantizationMethod;

/// A double as a parameter of an attribute: equal to another one if all bits
/// are, as its hash requires.
struct Real {
  Real(double value = 0.0) : value(value) {}
  operator double() const { return value; }
  double value;
};
inline bool operator==(const Real &lhs, const Real &rhs) {
  return llvm::bit_cast<uint64_t>(lhs.value) ==
         llvm::bit_cast<uint64_t>(rhs.value);
}
inline llvm::hash_code hash_value(const Real &real) {
  return llvm::hash_value(llvm::bit_cast<uint64_t>(real.value));
}

/// The same for a list of doubles.
struct RealList : llvm::ArrayRef<double> {
  using llvm::ArrayRef<double>::ArrayRef;
  RealList(llvm::ArrayRef<double> values) : llvm::ArrayRef<double>(values) {}
  /// Converts for the generated parsers, which expect this type for an optional
  /// list.
  operator llvm::SmallVector<double>() const {
    return llvm::SmallVector<double>(begin(), end());
  }
};
bool operator==(const RealList &lhs, const RealList &rhs);
llvm::hash_code hash_value(const RealList &list);

/// Names of the corrections of a layer in `#tpc.corrections`.
inline constexpr llvm::StringLiteral kSecondMomentCorrection = "second_moment";
inline constexpr llvm::StringLiteral kActivationBiasCorrection =
    "activation_bias";
inline constexpr llvm::StringLiteral kInputMeanCorrection = "input_mean";
inline constexpr llvm::StringLiteral kQuantizedNetworkCorrection =
    "quantized_network";
inline constexpr llvm::StringLiteral kRoundedWeights = "rounded_weights";

class QuantizationMethodAttrInterface;
class QuantizerAttrInterface;

/// Default implementations of the interfaces of quantizers and methods.
namespace detail {
llvm::SmallVector<float>
getLevelsOfGrids(llvm::ArrayRef<quantization::Grid> grids, size_t channel);
mlir::Type getQuantizedType(QuantizerAttrInterface quantizer,
                            mlir::FloatType expressed,
                            llvm::ArrayRef<int64_t> axes);
std::unique_ptr<quantization::TensorQuantizer>
prepare(QuantizerAttrInterface quantizer);
void fakeQuantize(QuantizerAttrInterface quantizer,
                  llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> axes,
                  const float *input, float *output);
std::optional<double> getGridThreshold(QuantizerAttrInterface quantizer);
std::string printAttribute(mlir::Attribute attribute);
llvm::Error cannotSelect(QuantizationMethodAttrInterface method,
                         llvm::StringRef what);
} // namespace detail
} // namespace mct::tpc

#include "tpc_dialect/IR/TpcDialect.h.inc"
#include "tpc_dialect/IR/TpcEnums.h.inc"
#include "tpc_dialect/IR/TpcInterfaces.h.inc"

#define GET_ATTRDEF_CLASSES
#include "tpc_dialect/IR/TpcAttributes.h.inc"

#define GET_OP_CLASSES
#include "tpc_dialect/IR/TpcOps.h.inc"

namespace mct::tpc {

/// Returns the value that the points after it quantize; the value itself if it
/// is not the result of a point.
mlir::Value lookThroughPoints(mlir::Value value);

} // namespace mct::tpc

#endif // TPC_DIALECT_IR_TPCDIALECT_H
