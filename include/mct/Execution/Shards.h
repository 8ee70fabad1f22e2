// SPDX-License-Identifier: Apache-2.0
//
// Lets several processes, each with a shard of the samples, compute together
// the result of one process with all samples.
#ifndef MCT_EXECUTION_SHARDS_H
#define MCT_EXECUTION_SHARDS_H

#include "mct/Execution/Run.h"
#include "mct/Support/ContextScope.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/JSON.h"
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace mct::execution {

/// Identifies one of several processes that each have a shard of the samples.
struct Shard {
  int64_t index = 0, count = 1;

  /// Parses `I/N`, I from 0 to N - 1; empty text is the only shard.
  static llvm::Expected<Shard> parse(llvm::StringRef text);
};

/// The answer of some shards to one question: statistics of one `kind` of one
/// network, which `key` identifies by its content.
struct ShardPart {
  std::string file, kind, key;
  std::set<int64_t> shards;
  /// Total number of shards.
  int64_t count = 1;
  /// Members that the kind defines.
  llvm::json::Object content;
};

/// The parts that are stored in files of shards.
///
/// ```json
/// {"format": "mct-shards", "version": 1, "instruction_set": "…",
///  "parts": [{"kind": "calibration", "key": "…", "shards": [0], "of": 2,
///             "content": {…}}]}
/// ```
class ShardFiles {
public:
  /// Loads files. Fails with the name of the file and the problem in it, and
  /// for a file that is given twice.
  static llvm::Expected<std::shared_ptr<const ShardFiles>>
  load(llvm::ArrayRef<std::string> paths);

  /// Returns the parts of all shards for one question, in ascending order of
  /// shards; none if no file has any. Fails if some shards are missing or given
  /// twice, or if samples were divided in two ways.
  llvm::Expected<std::vector<const ShardPart *>>
  find(llvm::StringRef kind, llvm::StringRef key) const;
  /// Returns the parts of one kind.
  std::vector<const ShardPart *> findKind(llvm::StringRef kind) const;
  /// Returns the instruction sets of the machines that made the files.
  const std::set<std::string> &getInstructionSets() const {
    return instructionSets;
  }
  llvm::ArrayRef<ShardPart> getParts() const { return parts; }

  /// Writes parts to a temporary file that is renamed when complete. `missing`
  /// is the kind of statistics that shards have to collect next; empty if it is
  /// not known.
  static llvm::Error save(llvm::StringRef path,
                          llvm::ArrayRef<const ShardPart *> parts,
                          const std::set<std::string> &instructionSets,
                          llvm::StringRef missing = {});

private:
  std::vector<ShardPart> parts;
  std::set<std::string> instructionSets;
};

/// State of the shards that the passes of a pipeline share.
struct ShardState {
  /// Open files, by their paths.
  std::map<std::vector<std::string>, std::shared_ptr<const ShardFiles>> files;
  /// Parts that have answered a question.
  std::set<const ShardPart *> used;
  /// True once the warning about instruction sets was given.
  bool warnsOfInstructionSets = false;
  /// The file to which the pipeline wrote the results of a shard; the pipeline
  /// ends there, without a module.
  std::string written;
  /// The kind of statistics that no file has; the pipeline ends there.
  std::string missing;
};
using ShardStateScope = support::ContextScope<ShardState>;

/// The shards as a pass sees them.
class Shards {
public:
  struct Options {
    std::vector<std::string> in;
    std::string out, shard;
    bool hasSamples = false;
  };
  /// Opens the files. Emits a diagnostic at the module if there is no such
  /// shard, and for files that cannot be read.
  static mlir::FailureOr<Shards> open(mlir::ModuleOp module,
                                      const Options &options);

  const Shard &getShard() const { return shard; }
  /// Returns whether this process has samples to measure.
  bool canMeasure() const { return hasSamples; }

  /// Does the same as `ShardFiles::find`, with a diagnostic, and marks the
  /// returned parts as used.
  mlir::FailureOr<std::vector<const ShardPart *>>
  find(llvm::StringRef kind, llvm::StringRef key) const;
  /// The same for all parts of a kind, whatever their key.
  std::vector<const ShardPart *> findKind(llvm::StringRef kind) const;

  /// Keeps the results of this shard.
  void record(llvm::StringRef kind, llvm::StringRef key,
              llvm::json::Object content);
  /// Returns whether this process has recorded results.
  bool hasRecorded() const { return !recorded.empty(); }
  /// Writes the recorded results; `kind` is the kind of statistics that the
  /// other shards have to answer as well. Always fails, because the pipeline
  /// ends here; without a diagnostic if the tool reports it.
  mlir::LogicalResult stop(llvm::StringRef kind) const;
  /// Fails if no file has an answer and no samples can be measured: with a
  /// diagnostic, unless a file is written that names the missing kind.
  mlir::LogicalResult reportMissing(llvm::StringRef kind) const;

  /// Fails if parts of this kind belong to another network than those that were
  /// requested.
  mlir::LogicalResult checkOthers(llvm::StringRef kind) const;
  /// Parses a part by `read`; emits a diagnostic that names its file if `read`
  /// fails.
  mlir::LogicalResult
  read(const ShardPart &part,
       llvm::function_ref<llvm::Error(const llvm::json::Object &)> read) const;

private:
  Shards(mlir::ModuleOp module) : module(module) {}

  mutable mlir::ModuleOp module;
  Shard shard;
  std::string out;
  bool hasSamples = false;
  std::shared_ptr<const ShardFiles> files;
  std::vector<std::unique_ptr<ShardPart>> recorded;
};

/// Returns a name for the computation of a module, in 32 hexadecimal digits: it
/// depends on operations, attributes and constants, but not on locations. The
/// same module has the same name on every machine.
std::string nameContent(mlir::ModuleOp module);

/// Returns a name for the way in which a function reads samples, in 32
/// hexadecimal digits.
mlir::FailureOr<std::string> nameReading(mlir::func::FuncOp function,
                                         const RunSettings &settings);

/// Describes the samples of all shards that a pass uses.
struct ShardSampleNeed {
  /// Number of samples that `thinSamples` keeps; 0 for all.
  int64_t most = 0;
  /// True to keep `most` of each half (`takeHalf`).
  bool halves = false;
};

/// Records the hashes of the samples of this shard, from which the samples of
/// all shards are chosen. Records at most some thousand, whatever their number.
mlir::LogicalResult recordSampleHashes(Shards &shards,
                                       mlir::func::FuncOp function,
                                       const RunSettings &settings,
                                       const SampleSource &samples);

/// Adds the sample hashes or samples of other shards to `content`. Returns
/// false for another kind.
llvm::Expected<bool> mergeSampleParts(llvm::StringRef kind,
                                      llvm::json::Object &content,
                                      const llvm::json::Object &other);

/// Returns the settings for a run on the samples that all shards choose
/// together: a set from which `thinSamples`, `holdOut` and, if requested,
/// `takeHalf` choose the same samples as from all. Fails, as `Shards::stop`
/// does, until all shards have provided theirs. `settings` has the samples of
/// this shard.
mlir::FailureOr<RunSettings> takeShardSamples(Shards &shards,
                                              mlir::func::FuncOp function,
                                              RunSettings settings,
                                              const ShardSampleNeed &need);

} // namespace mct::execution

#endif // MCT_EXECUTION_SHARDS_H
