// SPDX-License-Identifier: Apache-2.0
//
// Choice of the operators of a network that are quantized, and how, where no
// annotation says it: what `mct-quantize-annotate` and `mct-quantize-apply`
// share.
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
  /// Its kernel and its activation get quantizers.
  bool hasKernel = false;
  /// The kernel's quantizer has parameters for each output channel.
  bool isPerChannel = false;
  /// Its result gets one.
  bool quantizesOutput = false;
  /// An activation function that runs with the layer in front of it, which is
  /// quantized before it, behind it, or both.
  bool isBefore = false, isBehind = false;
  /// A ReLU, bounded or not.
  bool isRelu = false;
  bool isBatchNorm = false;
  bool isConcatenation = false;
  /// Values are moved or selected: what is quantized stays so.
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
  /// Null where nobody has marked it.
  tpc::QuantizeOp mark;

  /// Returns what others read.
  mlir::Value result() const {
    return mark ? mlir::Value(tpc::QuantizeOp(mark).getOutput())
                : node.result();
  }
};

/// The operators of a function, in program order.
///
/// Operators are those of the stock targets: their sets, and the sub-graphs
/// that are one operator.
class MarkedOperators {
public:
  /// Returns the names the values of the function. Fails with a diagnostic
  /// where it has several blocks, points that are no marks, or marks that are
  /// behind no operator.
  static mlir::FailureOr<MarkedOperators> find(mlir::func::FuncOp function);

  std::vector<MarkedOperator> operators;

  /// Returns the operator that makes the value, marked or not; none for
  /// arguments.
  std::optional<size_t> makerOf(mlir::Value value) const;
  /// Returns the one operator that reads the result of another one, where it
  /// does not leave the function; otherwise none.
  std::optional<size_t> onlyReader(size_t index) const;

private:
  llvm::DenseMap<mlir::Operation *, size_t> owner;
};

} // namespace mct

#endif // MCT_LIB_TRAINING_QUANTIZESCHEME_H
