// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_EXECUTION_NETWORKPASS_H
#define MCT_EXECUTION_NETWORKPASS_H

#include "mct/Execution/Run.h"
#include "mct/Support/ContextFiles.h"
#include "mlir/IR/BuiltinOps.h"
#include "tpc_dialect/IR/TpcDialect.h"

namespace mct::execution {

/// Base of the passes that run the network on samples: what they load, and how
/// they read the options that they have in common (Mct_SampleOptions).
template <typename PassBase> class NetworkPass : public PassBase {
public:
  using PassBase::PassBase;

  void getDependentDialects(mlir::DialectRegistry &registry) const override {
    PassBase::getDependentDialects(registry);
    registry.insert<tpc::TpcDialect>();
    Executor::registerDependencies(registry);
  }

protected:
  /// Emits an error at the module of the pass.
  mlir::InFlightDiagnostic fail() {
    return mlir::emitError(this->getOperation().getLoc());
  }

  /// Fails where no samples are given. `purpose` begins the diagnostic:
  /// "training", for example.
  mlir::LogicalResult checkSamples(llvm::StringRef purpose) {
    if (this->calibrationData.empty())
      return fail() << purpose
                    << " needs samples; give calibration-data=FILE.npy";
    return mlir::success();
  }

  /// Returns the settings that the options describe; fails as `checkSamples`.
  /// Not every pass has an option for the last two.
  mlir::FailureOr<RunSettings> parseRunSettings(llvm::StringRef purpose,
                                                uint64_t batchSize,
                                                unsigned threads) {
    if (failed(checkSamples(purpose)))
      return mlir::failure();
    return RunSettings::parse(this->getOperation().getLoc(),
                              this->calibrationData, this->inputScale,
                              this->inputOffset, this->calibrationSamples,
                              batchSize, threads, this->maxMemory);
  }

  /// Fails when a file that the pass writes is one that it reads: the samples,
  /// the file of the module, or one of `inputs`.
  mlir::LogicalResult checkOutputs(llvm::ArrayRef<std::string> outputs,
                                   std::vector<std::string> inputs = {},
                                   llvm::StringRef prefix = "") {
    llvm::append_range(inputs, SampleOptions::getPaths(this->calibrationData));
    if (auto file = this->getOperation()
                        .getLoc()
                        ->template findInstanceOf<mlir::FileLineColLoc>())
      inputs.push_back(file.getFilename().str());
    if (llvm::Error error =
            support::checkOutputFiles(&this->getContext(), outputs, inputs))
      return fail() << prefix << llvm::toString(std::move(error));
    return mlir::success();
  }
};

} // namespace mct::execution

#endif // MCT_EXECUTION_NETWORKPASS_H
