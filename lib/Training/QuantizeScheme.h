// SPDX-License-Identifier: Apache-2.0
//
// Default choice of the quantized operators of a network, and of their
// quantizers, without annotations: shared by `mct-quantize-annotate` and
// `mct-quantize-apply`.
#ifndef MCT_LIB_TRAINING_QUANTIZESCHEME_H
#define MCT_LIB_TRAINING_QUANTIZESCHEME_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "tpc_dialect/Lookup/TpcLookup.h"
#include "llvm/ADT/DenseMap.h"
#include <vector>

namespace mct {

/// The entry of an operator in the default scheme.
struct SchemeEntry {
  bool isSupported = false;
  /// True if its kernel and its activation get quantizers.
  bool hasKernel = false;
  /// True if the kernel's quantizer has parameters for each output channel.
  bool isPerChannel = false;
  /// True if its result gets a quantizer.
  bool quantizesOutput = false;
  /// Set for an activation function that runs with the layer before it, and
  /// whose quantizer is before it, after it, or both.
  bool isBefore = false, isAfter = false;
  /// True for a ReLU, bounded or not.
  bool isRelu = false;
  bool isBatchNorm = false;
  bool isConcatenation = false;
  /// True if values are moved or selected: quantized values stay quantized.
  bool isPassThrough = false;

  bool isActivation() const { return isBefore || isAfter; }
};

/// An operator, and the point that marks it.
struct MarkedOperator {
  tpc::Node node;
  mlir::StringAttr name;
  SchemeEntry entry;
  /// The description of the kernel op; may be null.
  tpc::OpInfoAttr kernelInfo;
  /// The mark; null if there is none.
  tpc::QuantizeOp mark;

  /// Returns the value that others read.
  mlir::Value result() const {
    return mark ? mlir::Value(tpc::QuantizeOp(mark).getOutput())
                : node.result();
  }
};

/// The operators of a function, in program order.
///
/// Operators are those of the stock targets: their sets, and the subgraphs that
/// are one operator.
class MarkedOperators {
public:
  /// Finds the operators, and names the values of the function. Fails with a
  /// diagnostic if it has several blocks, points that are not marks, or marks
  /// that do not follow an operator.
  static mlir::FailureOr<MarkedOperators> find(mlir::func::FuncOp function);

  std::vector<MarkedOperator> operators;

  /// Returns the operator that defines the value, marked or not; none for
  /// arguments.
  std::optional<size_t> producerOf(mlir::Value value) const;
  /// Returns the operator that is the only user of the result of another one,
  /// if that does not leave the function; otherwise none.
  std::optional<size_t> onlyUser(size_t index) const;

private:
  llvm::DenseMap<mlir::Operation *, size_t> owner;
};

} // namespace mct

#endif // MCT_LIB_TRAINING_QUANTIZESCHEME_H
