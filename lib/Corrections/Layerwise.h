// SPDX-License-Identifier: Apache-2.0
//
// Runs a network layer by layer, so that what a layer is told to change is seen
// by the layers behind it.
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

/// Values of a layer that a visitor sees. Its output is added to a summand.
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
  /// Change of the output of each channel; empty: none.
  llvm::SmallVector<quantization::Affine> output;
  /// New values of constants that it reads, by their numbers in
  /// `execution::CompileOptions::replaceable`.
  std::vector<std::pair<size_t, std::vector<float>>> constants;
  /// New quantizers of points, by their numbers in
  /// `execution::CompileOptions::replaceablePoints`; null: none. Of points that
  /// quantize in the layer's stage or behind it.
  std::vector<std::pair<size_t, mlir::Attribute>> quantizers;
};

/// Removes what does not lead to `values`, results of the function included,
/// or not (`keepsResults`).
void keepOnly(mlir::func::FuncOp function, llvm::ArrayRef<ChannelValue> values,
              bool keepsResults = false);

/// Multiplies and adds in float, as the bias of a layer would.
execution::TensorEditor
changeChannels(llvm::ArrayRef<quantization::Affine> change, int64_t axis);

struct LayerwiseOptions {
  /// Workers and samples at a time, as elsewhere.
  execution::RunOptions run;
  /// Bytes in memory of what is kept of all samples between two layers; the
  /// rest lies in a temporary file. Results do not depend on it.
  int64_t memoryBudget = int64_t(8) << 20;
  /// Layers, ascending, that `compileLayerwise` got a summand for.
  llvm::SmallVector<size_t> summands;
  /// Becomes what all workers visited (`Worker::numVisits`), and the layers of
  /// each stage; null: nobody counts.
  size_t *numVisits = nullptr;
};

/// Looks at layers one after the other and says what is to become of them.
class LayerVisitor {
public:
  virtual ~LayerVisitor();

  /// Called before the layers are run on all samples.
  virtual void begin(llvm::ArrayRef<size_t> layers, size_t workers) = 0;
  /// Sees values of a layer for some samples, in the order of LayerValue, of
  /// a summand before the output at some time.
  /// Called by several workers at once.
  virtual void observe(size_t layer, size_t worker, LayerValue what,
                       const execution::TensorView &values) = 0;
  /// Returns when all samples were seen.
  virtual mlir::FailureOr<LayerChange> finish(size_t layer) = 0;
  /// Returns whether it looks at such values of a layer: what only leads to
  /// others is not computed for it.
  virtual bool looksAt(size_t layer, LayerValue what) const { return true; }
  /// Returns whether constants or quantizers that the layer's stage reads may
  /// change: layers are then run a second time.
  virtual bool changesConstants() const { return false; }
  /// Returns whether `observeResults` and `observeFloatResults` are to be
  /// called.
  virtual bool looksAtResults() const { return false; }
  /// Called when all layers were changed, and all results of the float network
  /// were seen.
  virtual void beginResults(size_t workers) {}
  /// Sees what the function returns for a unit, by its number, of which so many
  /// samples are valid, when all layers were changed. Called like `observe`.
  virtual llvm::Error observeResults(size_t worker, int64_t unit, int64_t valid,
                                     llvm::ArrayRef<void *> results) {
    return llvm::Error::success();
  }
  /// Sees the same of the float network, for each unit before the other one.
  virtual llvm::Error observeFloatResults(int64_t unit, int64_t valid,
                                          llvm::ArrayRef<void *> results) {
    return llvm::Error::success();
  }
};

/// Returns how to compile a function for `runLayerwise`, in which all that does
/// not lead to `layers` is removed; with `inputs`, one for each layer, what
/// they read is shown, too, and with `summands`, one for each layer, perhaps
/// null, what they are added to (`makeOtherSummands`). `keepsResults`: those of
/// the function stay. The function is the caller's to throw away.
execution::CompileOptions compileLayerwise(
    mlir::func::FuncOp function, llvm::ArrayRef<ChannelValue> layers,
    llvm::ArrayRef<mlir::OpOperand *> inputs = {},
    llvm::ArrayRef<mlir::Value> summands = {}, bool keepsResults = false);

/// Shows the layers, f32 values of a function that was compiled so, to
/// `visitor`. A layer is run when all layers that it depends on have been
/// changed; those that are independent of each other are run at the same time.
/// What layers behind them read is kept, so that all layers together cost one
/// pass over the network and the samples, or two when constants change.
///
/// `exact` (null: none): the same layers of the float network, which is run
/// beside it and stays as it is.
///
/// One diagnostic, at `loc`, for everything that fails. What is seen does not
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
