// SPDX-License-Identifier: Apache-2.0
//
// Runs a network layer by layer, so that the layers after a changed one see the
// change.
#ifndef MCT_LIB_CORRECTIONS_LAYERWISE_H
#define MCT_LIB_CORRECTIONS_LAYERWISE_H

#include "mct/Execution/Run.h"
#include "mct/Quantization/Corrections.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mct::corrections {

/// A value and the axis of its channels.
struct ChannelValue {
  mlir::Value value;
  int64_t axis = 0;
};

/// Values of a layer that a visitor may observe. Its output is added to a
/// summand.
enum class LayerValue {
  FloatInput,
  FloatSummand,
  FloatOutput,
  Input,
  Summand,
  Output
};

/// A change of a layer.
struct LayerChange {
  /// Change of the output of each channel; empty if the output stays unchanged.
  llvm::SmallVector<quantization::Affine> output;
  /// New values of constants that it reads, by their indices in
  /// `execution::CompileOptions::replaceable`.
  std::vector<std::pair<size_t, std::vector<float>>> constants;
  /// New quantizers of points (null for none), by their indices in
  /// `execution::CompileOptions::replaceablePoints`. The points must quantize
  /// in the layer's stage or later.
  std::vector<std::pair<size_t, mlir::Attribute>> quantizers;
};

/// Removes all ops on which `values` do not depend, and the results of the
/// function unless `keepsResults`.
void keepOnly(mlir::func::FuncOp function, llvm::ArrayRef<ChannelValue> values,
              bool keepsResults = false);

/// Returns an editor that multiplies and adds in float, as the bias of a layer
/// would.
execution::TensorEditor
changeChannels(llvm::ArrayRef<quantization::Affine> change, int64_t axis);

struct LayerwiseOptions {
  /// Workers and samples at a time.
  execution::RunOptions run;
  /// Limit on the bytes in memory of the values kept for all samples between
  /// two layers; the rest is in a temporary file. Results do not depend on it.
  int64_t memoryBudget = int64_t(8) << 20;
  /// Layers, ascending, for which `compileLayerwise` got a summand.
  llvm::SmallVector<size_t> summands;
  /// Incremented by the visits of all workers (`Worker::numVisits`) and by
  /// those of the layers of each stage; may be null.
  size_t *numVisits = nullptr;
};

/// Observes layers one after the other and returns their changes.
class LayerVisitor {
public:
  virtual ~LayerVisitor();

  /// Called before the layers are run on all samples.
  virtual void begin(llvm::ArrayRef<size_t> layers, size_t workers) = 0;
  /// Observes values of a layer for some samples, in the order of LayerValue; a
  /// summand at any time before the output. Called by several workers at once.
  virtual void observe(size_t layer, size_t worker, LayerValue kind,
                       const execution::TensorView &values) = 0;
  /// Returns the change of a layer after all samples have been observed.
  virtual mlir::FailureOr<LayerChange> finish(size_t layer) = 0;
  /// Returns whether the visitor observes values of this kind; ops that only
  /// lead to others are not run.
  virtual bool observes(size_t layer, LayerValue kind) const { return true; }
  /// Returns whether the visitor may change constants or quantizers that the
  /// stage of a layer reads; layers are then run a second time.
  virtual bool changesConstants() const { return false; }
  /// Returns whether to call `observeResults` and `observeFloatResults`.
  virtual bool observesResults() const { return false; }
  /// Called after all layers have been changed, and all results of the float
  /// network have been observed.
  virtual void beginResults(size_t workers) {}
  /// Observes the results of the function for a unit, given by its index, of
  /// which `valid` samples are valid, after all layers have been changed.
  /// Called by several workers at once.
  virtual llvm::Error observeResults(size_t worker, int64_t unit, int64_t valid,
                                     llvm::ArrayRef<void *> results) {
    return llvm::Error::success();
  }
  /// Observes the results of the float network for a unit, before
  /// `beginResults`. Called by several workers at once.
  virtual llvm::Error observeFloatResults(int64_t unit, int64_t valid,
                                          llvm::ArrayRef<void *> results) {
    return llvm::Error::success();
  }
};

/// Returns the options to compile a function for `runLayerwise`. Removes ops on
/// which `layers` do not depend. With `inputs`, one for each layer, their
/// operands are observed, too, and with `summands`, one for each layer (may be
/// null), the values they are added to (`makeOtherSummands`). `keepsResults`
/// keeps those of the function. The caller must not use the function otherwise.
execution::CompileOptions compileLayerwise(
    mlir::func::FuncOp function, llvm::ArrayRef<ChannelValue> layers,
    llvm::ArrayRef<mlir::OpOperand *> inputs = {},
    llvm::ArrayRef<mlir::Value> summands = {}, bool keepsResults = false);

/// Shows the layers, f32 values of a function that was compiled with the
/// options of `compileLayerwise`, to `visitor`. A layer is run when all layers
/// that it depends on have been changed; independent layers are run at the same
/// time. The operands of later layers are kept, so that all layers together
/// cost one pass over the network and the samples, or two if constants change.
///
/// `exact` (may be null) is the float network with the same layers, which is
/// run in parallel and stays unchanged.
///
/// Emits one diagnostic, at `loc`, for every failure. Observations do not
/// depend on the options.
mlir::LogicalResult runLayerwise(mlir::Location loc,
                                 execution::Executor &executor,
                                 const execution::Executor *exact,
                                 llvm::ArrayRef<ChannelValue> layers,
                                 const execution::SampleSource &samples,
                                 const LayerwiseOptions &options,
                                 LayerVisitor &visitor);

} // namespace mct::corrections

#endif // MCT_LIB_CORRECTIONS_LAYERWISE_H
