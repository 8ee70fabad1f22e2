// SPDX-License-Identifier: Apache-2.0
//
// The order of the passes.
#ifndef MCT_PIPELINES_PIPELINES_H
#define MCT_PIPELINES_PIPELINES_H

#include "mct/Quantization/Selection.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"

namespace mct {

/// Options of `mct-ptq`. They are the options of its passes, under the same
/// names where only one pass has them.
struct PtqOptions : public mlir::PassPipelineOptions<PtqOptions> {
  Option<std::string> target{
      *this, "target",
      llvm::cl::desc("Target: a name of --tpc-list-targets, or a file"),
      llvm::cl::init("imx500")};
  Option<std::string> overrides{
      *this, "overrides",
      llvm::cl::desc("File with rules that go before the target's; see "
                     "mct-insert-quantizers"),
      llvm::cl::init("")};
  ListOption<std::string> calibrationData{
      *this, "calibration-data",
      llvm::cl::desc("Samples: FILE.npy or INPUT:FILE.npy, …")};
  Option<uint64_t> calibrationSamples{
      *this, "calibration-samples",
      llvm::cl::desc("Read that many samples; 0: all"), llvm::cl::init(0)};
  Option<uint64_t> batchSize{
      *this, "batch-size",
      llvm::cl::desc("Samples that a worker takes at once; 0: automatic"),
      llvm::cl::init(0)};
  Option<unsigned> threads{*this, "threads",
                           llvm::cl::desc("Worker threads; 0: one per core"),
                           llvm::cl::init(0)};
  Option<std::string> inputScale{
      *this, "input-scale",
      llvm::cl::desc("Factor from stored value to network input, S or S;S;… "
                     "per channel"),
      llvm::cl::init("")};
  Option<std::string> inputOffset{*this, "input-offset",
                                  llvm::cl::desc("Added after the factor"),
                                  llvm::cl::init("")};
  ListOption<std::string> statisticsIn{
      *this, "statistics-in", llvm::cl::desc("Statistics files to start from")};
  Option<std::string> statisticsOut{*this, "statistics-out",
                                    llvm::cl::desc("Write the statistics here"),
                                    llvm::cl::init("")};
  Option<quantization::ErrorMethod> activationErrorMethod{
      *this, "activation-error-method",
      llvm::cl::desc("Error minimized when thresholds of activations are "
                     "chosen"),
      llvm::cl::init(quantization::ErrorMethod::MSE),
      llvm::cl::values(clEnumValN(quantization::ErrorMethod::NoClipping,
                                  "no-clipping", "cover the whole range"),
                       clEnumValN(quantization::ErrorMethod::MSE, "mse",
                                  "smallest mean squared error"))};
  Option<quantization::ErrorMethod> weightsErrorMethod{
      *this, "weights-error-method",
      llvm::cl::desc("Error minimized when thresholds of weights are chosen"),
      llvm::cl::init(quantization::ErrorMethod::MSE),
      llvm::cl::values(clEnumValN(quantization::ErrorMethod::NoClipping,
                                  "no-clipping", "cover the whole range"),
                       clEnumValN(quantization::ErrorMethod::MSE, "mse",
                                  "smallest mean squared error"))};
};

/// `mct-prepare`: names, then rewrites that are exact in float.
void buildPreparePipeline(mlir::OpPassManager &passManager);

/// `mct-ptq`: from a float module to one whose points have parameters.
void buildPtqPipeline(mlir::OpPassManager &passManager,
                      const PtqOptions &options);

/// All passes and pipelines of the project.
void registerAllMctPasses();

} // namespace mct

#endif // MCT_PIPELINES_PIPELINES_H
