// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_EXECUTION_NETWORKPASS_H
#define MCT_EXECUTION_NETWORKPASS_H

#include "mct/Execution/Run.h"
#include "mct/Execution/Shards.h"
#include "mct/IR/EntryFunction.h"
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

  /// Returns the options of shards; none of a pass that has none.
  virtual std::optional<Shards::Options> getShardOptions() {
    return std::nullopt;
  }

  /// Returns whether samples are given, or what shards of them say.
  bool hasSamples() { return !this->calibrationData.empty() || isSharded(); }

  /// Returns whether the samples are those of several processes.
  bool isSharded() {
    std::optional<Shards::Options> options = getShardOptions();
    return options && (!options->in.empty() || !options->out.empty());
  }

  /// Returns the shards that the options describe; only where `isSharded`.
  mlir::FailureOr<Shards> openShards() {
    Shards::Options options = *getShardOptions();
    options.hasSamples = !this->calibrationData.empty();
    if (failed(checkOutputs(options.out, options.in, "shards-out: ")))
      return mlir::failure();
    if (this->calibrationSamples != 0)
      return fail() << "calibration-samples counts the samples of one process; "
                       "leave it out where there are shards";
    if (options.out.empty() && options.hasSamples)
      return fail() << "calibration-data beside shards-in is a shard of the "
                       "samples; give shards-out=FILE, too";
    return Shards::open(this->getOperation(), options);
  }

  /// Fails where no samples are given. `purpose` begins the diagnostic:
  /// "training", for example.
  mlir::LogicalResult checkSamples(llvm::StringRef purpose) {
    if (!hasSamples())
      return fail() << purpose
                    << " needs samples; give calibration-data=FILE.npy";
    return mlir::success();
  }

  /// Returns the settings that the options describe; fails as `checkSamples`.
  /// Not every pass has an option for the last two. `need`: what the pass looks
  /// at of the samples of all shards, where there are any.
  mlir::FailureOr<RunSettings> parseRunSettings(llvm::StringRef purpose,
                                                uint64_t batchSize,
                                                unsigned threads,
                                                ShardSampleNeed need = {}) {
    mlir::FailureOr<RunSettings> settings =
        parseOwnSettings(purpose, batchSize, threads);
    if (failed(settings) || !isSharded())
      return settings;
    mlir::FailureOr<Shards> shards = openShards();
    if (failed(shards))
      return mlir::failure();
    mlir::FailureOr<mlir::func::FuncOp> entry =
        findEntryFunction(this->getOperation(), this->function);
    if (failed(entry))
      return mlir::failure();
    return takeShardSamples(*shards, *entry, std::move(*settings), need);
  }

  /// Returns the same with the samples of this process alone.
  mlir::FailureOr<RunSettings> parseOwnSettings(llvm::StringRef purpose,
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

/// Base of those of them whose samples may be those of several processes
/// (Mct_ShardOptions).
template <typename PassBase>
class ShardedNetworkPass : public NetworkPass<PassBase> {
public:
  using NetworkPass<PassBase>::NetworkPass;

protected:
  std::optional<Shards::Options> getShardOptions() override {
    Shards::Options options;
    options.in.assign(this->shardsIn.begin(), this->shardsIn.end());
    options.out = this->shardsOut;
    options.shard = this->shard;
    return options;
  }
};

} // namespace mct::execution

#endif // MCT_EXECUTION_NETWORKPASS_H
