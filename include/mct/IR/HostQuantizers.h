// SPDX-License-Identifier: Apache-2.0
//
// Quantizers that the program around the compiler runs: what
// `#tpc.host_quantizer` names.
#ifndef MCT_IR_HOSTQUANTIZERS_H
#define MCT_IR_HOSTQUANTIZERS_H

#include "mlir/IR/DialectInterface.h"
#include "tpc_dialect/IR/TpcDialect.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace mct {

/// The quantizer of one point. It may keep what it has seen; it is called by
/// one thread at a time.
class HostQuantizer {
public:
  virtual ~HostQuantizer();

  /// Quantizes a row-major tensor of this shape. `isTraining`: in a
  /// function that computes gradients.
  virtual llvm::Error quantize(llvm::ArrayRef<int64_t> shape,
                               llvm::ArrayRef<float> values, bool isTraining,
                               llvm::MutableArrayRef<float> results) = 0;
  /// `gradients`: of what it made of the values, and then of the values.
  virtual llvm::Error backward(llvm::ArrayRef<int64_t> shape,
                               llvm::ArrayRef<float> values,
                               llvm::MutableArrayRef<float> gradients) = 0;
  /// Returns the attribute of the ordinary quantizer that it becomes, as text.
  virtual llvm::Expected<std::string> freeze() = 0;

  /// Held by whoever calls.
  std::mutex mutex;
};

/// A point that wants a quantizer: executed, it calls that, whatever parameters
/// it has.
struct HostPoint {
  /// Unique in the function.
  std::string name;
  tpc::HostQuantizerAttr quantizer;
  mlir::RankedTensorType type;
  llvm::SmallVector<int64_t> axes;
  bool isWeight = false;
};

/// Knows the quantizers that the program has, in one context.
class HostQuantizers : public mlir::DialectInterface::Base<HostQuantizers> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(HostQuantizers)

  /// Makes the quantizer of a point; null where nothing is registered under the
  /// name that the point says.
  using Maker = std::function<llvm::Expected<std::shared_ptr<HostQuantizer>>(
      const HostPoint &)>;

  HostQuantizers(mlir::Dialect *dialect, Maker maker)
      : Base(dialect), maker(std::move(maker)) {}

  /// Makes points in the context find their quantizers by `maker` from now on.
  /// Once.
  static void attach(mlir::MLIRContext *context, Maker maker);
  /// Forgets the quantizers that were made, and `maker`: for a context that
  /// outlives what they need.
  static void detach(mlir::MLIRContext *context);

  /// Returns the quantizer of a point; all functions that have a point of the
  /// name, and name the same quantizer for it, share one. Fails with a
  /// diagnostic at `op`.
  static mlir::FailureOr<std::shared_ptr<HostQuantizer>>
  get(mlir::Operation *op, const HostPoint &point);

private:
  mutable Maker maker;
  mutable std::mutex mutex;
  mutable std::map<std::pair<std::string, const void *>,
                   std::shared_ptr<HostQuantizer>>
      made;
};

/// Returns the request of a point to the program; none where it has none.
std::optional<HostPoint> getHostPoint(tpc::QuantizeOp point);

/// Returns the ordinary quantizer that a point's becomes. Fails with a
/// diagnostic at the point.
mlir::FailureOr<tpc::QuantizerAttrInterface>
freezeHostQuantizer(tpc::QuantizeOp point);

/// Creates the op that asks a point's quantizer for a gradient: of `values` and
/// the gradient of the result it makes the gradient of the values. It is a
/// `tosa.custom`.
mlir::Value buildHostGradient(mlir::OpBuilder &builder, mlir::Location loc,
                              const HostPoint &point, mlir::Value values,
                              mlir::Value gradient);
/// Returns the point that such an op asks; none of other ops.
std::optional<HostPoint> getHostGradient(mlir::Operation *op);

} // namespace mct

#endif // MCT_IR_HOSTQUANTIZERS_H
