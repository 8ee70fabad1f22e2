// SPDX-License-Identifier: Apache-2.0
//
// Quantizers that the calling program runs: those that `#tpc.host_quantizer`
// names.
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

/// The quantizer of one point. It may be stateful; only one thread at a time
/// calls it.
class HostQuantizer {
public:
  virtual ~HostQuantizer();

  /// Quantizes a row-major tensor of this shape. `isTraining` is true in a
  /// function that computes gradients.
  virtual llvm::Error quantize(llvm::ArrayRef<int64_t> shape,
                               llvm::ArrayRef<float> values, bool isTraining,
                               llvm::MutableArrayRef<float> results) = 0;
  /// Replaces `gradients`, those of the quantized values, by the gradients of
  /// `values`.
  virtual llvm::Error backward(llvm::ArrayRef<int64_t> shape,
                               llvm::ArrayRef<float> values,
                               llvm::MutableArrayRef<float> gradients) = 0;
  /// Returns the attribute of the equivalent ordinary quantizer, as text.
  virtual llvm::Expected<std::string> freeze() = 0;

  /// Held by callers during a call.
  std::mutex mutex;
};

/// A point that requests a quantizer of the calling program: executing it calls
/// that quantizer, whatever parameters the point has.
struct HostPoint {
  /// Unique in the function.
  std::string name;
  tpc::HostQuantizerAttr quantizer;
  mlir::RankedTensorType type;
  llvm::SmallVector<int64_t> axes;
  bool isWeight = false;
};

/// Provides the quantizers of the calling program in one context.
class HostQuantizers : public mlir::DialectInterface::Base<HostQuantizers> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(HostQuantizers)

  /// Creates the quantizer of a point; null if nothing is registered under the
  /// name that the point gives.
  using Factory = std::function<llvm::Expected<std::shared_ptr<HostQuantizer>>(
      const HostPoint &)>;

  HostQuantizers(mlir::Dialect *dialect, Factory factory)
      : Base(dialect), factory(std::move(factory)) {}

  /// Lets points in the context find their quantizers by `factory` from now on.
  /// May be called once.
  static void attach(mlir::MLIRContext *context, Factory factory);
  /// Forgets the created quantizers and `factory`, for a context that outlives
  /// the objects they need.
  static void detach(mlir::MLIRContext *context);

  /// Returns the quantizer of a point. All functions that have a point of this
  /// name, with the same quantizer, share one. Fails with a diagnostic at `op`.
  static mlir::FailureOr<std::shared_ptr<HostQuantizer>>
  get(mlir::Operation *op, const HostPoint &point);

private:
  mutable Factory factory;
  mutable std::mutex mutex;
  mutable std::map<std::pair<std::string, const void *>,
                   std::shared_ptr<HostQuantizer>>
      created;
};

/// Returns the host quantizer that a point requests; none if it does not
/// request one.
std::optional<HostPoint> getHostPoint(tpc::QuantizeOp point);

/// Returns the ordinary quantizer that is equivalent to the host quantizer of a
/// point. Fails with a diagnostic at the point.
mlir::FailureOr<tpc::QuantizerAttrInterface>
freezeHostQuantizer(tpc::QuantizeOp point);

/// Creates a `tosa.custom` by which the quantizer of a point computes the
/// gradient of `values` from `values` and `gradient`, the gradient of the
/// result.
mlir::Value buildHostGradient(mlir::OpBuilder &builder, mlir::Location loc,
                              const HostPoint &point, mlir::Value values,
                              mlir::Value gradient);
/// Returns the point whose quantizer such an op calls; none for other ops.
std::optional<HostPoint> getHostGradient(mlir::Operation *op);

} // namespace mct

#endif // MCT_IR_HOSTQUANTIZERS_H
