// SPDX-License-Identifier: Apache-2.0
//
// Choice of the operators that are quantized, and of their quantizers, if there
// are no annotations. `mct-quantize-annotate` and `mct-quantize-apply` share
// it.
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
  /// True for an activation function that is fused with the layer before it and
  /// quantized before the function, after it, or both.
  bool isBefore = false, isBehind = false;
  /// True for a ReLU, bounded or not.
  bool isRelu = false;
  bool isBatchNorm = false;
  bool isConcatenation = false;
  /// True if values are only moved or selected, so that they stay quantized.
  bool isPassThrough = false;

  bool isActivation() const { return isBefore || isBehind; }
};

/// One operator, and the point that marks it.
struct MarkedOperator {
  tpc::Node node;
  mlir::StringAttr name;
  SchemeEntry entry;
  /// The description of the kernel op; may be null.
  tpc::OpInfoAttr kernelInfo;
  /// Null if it is not marked.
  tpc::QuantizeOp mark;

  /// Returns the value that users of the result read.
  mlir::Value result() const {
    return mark ? mlir::Value(tpc::QuantizeOp(mark).getOutput())
                : node.result();
  }
};

/// The operators of a function, in program order.
///
/// Operators are those of the stock targets: their operator sets, and the
/// subgraphs that form one operator.
class MarkedOperators {
public:
  /// Finds the operators and names the values of the function. Fails with a
  /// diagnostic if the function has several blocks, points that are not marks,
  /// or marks that do not follow an operator.
  static mlir::FailureOr<MarkedOperators> find(mlir::func::FuncOp function);

  std::vector<MarkedOperator> operators;

  /// Returns the operator that computes the value, marked or not; none for
  /// arguments.
  std::optional<size_t> makerOf(mlir::Value value) const;
  /// Returns the only operator that uses the result of another one; none if
  /// there are several, or if the function returns the result.
  std::optional<size_t> onlyReader(size_t index) const;

private:
  llvm::DenseMap<mlir::Operation *, size_t> owner;
};

} // namespace mct

#endif // MCT_LIB_TRAINING_QUANTIZESCHEME_H
