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

/// Base of the passes that run the network on samples: the dialects that they
/// load, and the parsing of their common options (Mct_SampleOptions).
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

  /// Returns the options of shards; none if the pass has no such options.
  virtual std::optional<Shards::Options> getShardOptions() {
    return std::nullopt;
  }

  /// Returns whether samples are given, or shards with the statistics of
  /// samples.
  bool hasSamples() { return !this->calibrationData.empty() || isSharded(); }

  /// Returns whether the samples are divided among several processes.
  bool isSharded() {
    std::optional<Shards::Options> options = getShardOptions();
    return options && (!options->in.empty() || !options->out.empty());
  }

  /// Returns the shards that the options describe. Requires `isSharded()`.
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

  /// Fails if no samples are given. `purpose` begins the diagnostic:
  /// "training", for example.
  mlir::LogicalResult checkSamples(llvm::StringRef purpose) {
    if (!hasSamples())
      return fail() << purpose
                    << " needs samples; give calibration-data=FILE.npy";
    return mlir::success();
  }

  /// Returns the settings that the options describe; fails like `checkSamples`.
  /// Not every pass has an option for the last two parameters. `need` describes
  /// the samples that the pass uses of those of all shards, if there are any.
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

  /// Returns the same settings with the samples of this process alone.
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

  /// Fails if a file that the pass writes is also one that it reads: the
  /// samples, the file of the module, or one of `inputs`.
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

/// Base of the network passes whose samples may be divided among several
/// processes (Mct_ShardOptions).
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
