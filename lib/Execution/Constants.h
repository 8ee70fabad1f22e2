// SPDX-License-Identifier: Apache-2.0
//
// Values of constant expressions, without attributes made of them: the context
// would keep those for ever.
#ifndef MCT_LIB_EXECUTION_CONSTANTS_H
#define MCT_LIB_EXECUTION_CONSTANTS_H

#include "Program.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"

#include <memory>
#include <vector>

namespace mct::execution {

/// Float values of a constant, in place where the IR stores them as floats.
struct ConstantTensor {
  ConstantTensor() = default;
  ConstantTensor(ConstantTensor &&) = default;
  ConstantTensor &operator=(ConstantTensor &&) = default;

  llvm::SmallVector<int64_t> shape;
  llvm::ArrayRef<float> values;
  std::vector<float> owned;

  void own(std::vector<float> newValues) {
    owned = std::move(newValues);
    values = owned;
  }
};

/// The stored bytes of a constant that is not a splat, or nothing.
llvm::ArrayRef<char> rawData(mlir::ElementsAttr attribute);

/// The parameters of a point, ready to run.
QuantizeSite makeQuantizer(tpc::QuantizeOp point);

/// Evaluates expressions of constants: weights are dequantized, scaled and
/// quantized in the graph. Every value is evaluated once.
class ConstantEvaluator {
public:
  /// `simulate`: points with parameters quantize. `maxBytes`: no value that is
  /// larger is expanded.
  ConstantEvaluator(bool simulate, int64_t maxBytes)
      : simulate(simulate), maxBytes(maxBytes) {}

  /// Values of `value`, owned by the evaluator, or null when it is no constant
  /// expression of numbers that are exact in f32.
  const ConstantTensor *evaluate(mlir::Value value);

  /// Whether all elements are zero.
  bool isZero(mlir::Value value);

private:
  std::optional<ConstantTensor> compute(mlir::Value value);

  bool simulate;
  int64_t maxBytes;
  /// Null: no constant expression.
  llvm::DenseMap<mlir::Value, std::unique_ptr<ConstantTensor>> known;
};

} // namespace mct::execution

#endif // MCT_LIB_EXECUTION_CONSTANTS_H
