// SPDX-License-Identifier: Apache-2.0
//
// Evaluates a TOSA function by the definitions of the TOSA 1.0
// specification and of the `tpc` dialect: one loop after the other, in double,
// integers exactly. It shares no code with what it judges.
//
// Every number comes with a bound on how far a right float32 execution may be
// from it: each rounding, in any order of a sum, is accounted for where it
// happens, and carried on by interval arithmetic. A comparison therefore has no
// tolerance to choose: a result is right when it lies within the bound.
#ifndef MCT_TEST_UNIT_EXECUTION_REFERENCEEVALUATOR_H
#define MCT_TEST_UNIT_EXECUTION_REFERENCEEVALUATOR_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/Twine.h"

#include <optional>
#include <string>
#include <vector>

namespace mct::testing {

/// A value and how far an execution may be from it. A bound of 0 requires the
/// very same number, and an infinite one allows any (the value decides between
/// two integers, say). Integers and booleans are held exactly.
struct Number {
  double value = 0, error = 0;
  double low() const { return value - error; }
  double high() const { return value + error; }
  bool isExact() const { return error == 0; }
};

struct ReferenceTensor {
  llvm::SmallVector<int64_t, 4> shape;
  mlir::Type element;
  /// Row-major.
  std::vector<Number> numbers;
  /// Terms of the sums of a convolution or matrix product, 0 for other ops:
  /// an execution may begin such a sum with what is added after it.
  int64_t terms = 0;
};

/// Evaluates one function of a module, again and again.
class ReferenceEvaluator {
public:
  /// `simulate`: points with parameters quantize; otherwise they are the
  /// identity.
  ReferenceEvaluator(mlir::func::FuncOp function, bool simulate)
      : function(function), simulate(simulate) {}

  /// Computes every value. False when an op is not known; `error` names it.
  bool run(llvm::ArrayRef<ReferenceTensor> arguments);
  std::string error;

  /// Evaluates the function of real numbers that the network stands for: in
  /// double, without the roundings to float32 and without bounds, so that small
  /// differences of it are derivatives.
  bool real = false;

  /// Codes by which an execution with roundings of its own may be away from the
  /// right one at each point inside the network.
  double codesAway = 0;

  /// Constants that are only known up to an error.
  llvm::DenseMap<mlir::Value, double> uncertain;

  /// A value of the last run.
  const ReferenceTensor &operator[](mlir::Value value) const;

  /// A tensor of the shape of `type`, all zero.
  static ReferenceTensor zeros(mlir::Type type);

private:
  bool evaluate(mlir::Block &block);
  bool evaluate(mlir::Operation &op);
  bool evaluate(mlir::tosa::IfOp branch);
  bool evaluate(mlir::tosa::WhileOp loop);
  /// Results of a block for these arguments; none where an op is not known.
  std::optional<std::vector<ReferenceTensor>>
  runBlock(mlir::Block &block, llvm::ArrayRef<ReferenceTensor> arguments);
  bool fail(mlir::Operation &op, const llvm::Twine &why);

  mlir::func::FuncOp function;
  bool simulate;
  llvm::DenseMap<mlir::Value, ReferenceTensor> values;
};

} // namespace mct::testing

#endif // MCT_TEST_UNIT_EXECUTION_REFERENCEEVALUATOR_H
