// SPDX-License-Identifier: Apache-2.0
//
// Several processes, each with a shard of the samples, do together what one
// process does with all of them.
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

/// One of several processes that each have a shard of the samples.
struct Shard {
  int64_t index = 0, count = 1;

  /// Reads `I/N`, I from 0 to N - 1; empty text is the only shard.
  static llvm::Expected<Shard> parse(llvm::StringRef text);
};

/// The answer of some shards to one question: a kind of statistics of
/// one network, which `key` names by its content.
struct ShardPart {
  std::string file, kind, key;
  std::set<int64_t> shards;
  /// Number of shards that there are.
  int64_t count = 1;
  /// Members that the kind defines.
  llvm::json::Object content;
};

/// The parts that files of shards have.
///
/// ```json
/// {"format": "mct-shards", "version": 1, "instruction_set": "…",
///  "parts": [{"kind": "calibration", "key": "…", "shards": [0], "of": 2,
///             "content": {…}}]}
/// ```
class ShardFiles {
public:
  /// Fails with the name of the file and what is wrong in it, and for a file
  /// that is given twice.
  static llvm::Expected<std::shared_ptr<const ShardFiles>>
  load(llvm::ArrayRef<std::string> paths);

  /// Returns the parts of all shards for one question, by rising shards; none
  /// where no file has any. Fails where some shards are missing, or are there
  /// twice, or samples were divided in two ways.
  llvm::Expected<std::vector<const ShardPart *>>
  find(llvm::StringRef kind, llvm::StringRef key) const;
  /// Returns the parts of one kind.
  std::vector<const ShardPart *> findKind(llvm::StringRef kind) const;
  /// Returns the instruction sets of the machines that made the files.
  const std::set<std::string> &getInstructionSets() const {
    return instructionSets;
  }
  llvm::ArrayRef<ShardPart> getParts() const { return parts; }

  /// Writes parts to a temporary that is renamed when complete. `missing`: the
  /// kind of statistics that shards are to find out next; empty: it is not
  /// known.
  static llvm::Error save(llvm::StringRef path,
                          llvm::ArrayRef<const ShardPart *> parts,
                          const std::set<std::string> &instructionSets,
                          llvm::StringRef missing = {});

private:
  std::vector<ShardPart> parts;
  std::set<std::string> instructionSets;
};

/// The knowledge that the passes of a pipeline share of the shards.
struct ShardState {
  /// Files that are open, by their paths.
  std::map<std::vector<std::string>, std::shared_ptr<const ShardFiles>> files;
  /// Parts that have answered a question.
  std::set<const ShardPart *> used;
  /// Warnings that were given, once each.
  bool warnsOfInstructionSets = false;
  /// The file in which the pipeline has left what a shard has found out; it
  /// ends there, and makes no module.
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
  /// Opens the files. Emits a diagnostic at the module for a shard that there
  /// is not, and for files that cannot be read.
  static mlir::FailureOr<Shards> open(mlir::ModuleOp module,
                                      const Options &options);

  const Shard &getShard() const { return shard; }
  /// Returns whether the samples of this process are to be asked.
  bool canMeasure() const { return hasSamples; }

  /// Does the same as ShardFiles::find, with a diagnostic. Parts that it
  /// returns have answered.
  mlir::FailureOr<std::vector<const ShardPart *>>
  find(llvm::StringRef kind, llvm::StringRef key) const;
  /// The same for all parts of a kind, whatever their key.
  std::vector<const ShardPart *> findKind(llvm::StringRef kind) const;

  /// Keeps what this shard has found out.
  void record(llvm::StringRef kind, llvm::StringRef key,
              llvm::json::Object content);
  /// Returns whether this process has found out something.
  bool hasRecorded() const { return !recorded.empty(); }
  /// Writes what was recorded; `kind` is what the other shards are to answer as
  /// well. Fails always, for the pipeline ends; without a diagnostic where the
  /// tool says so.
  mlir::LogicalResult stop(llvm::StringRef kind) const;
  /// Fails where no file has an answer, and no samples can be asked: with a
  /// diagnostic, unless a file is written that says what is missing.
  mlir::LogicalResult reportMissing(llvm::StringRef kind) const;

  /// Fails where parts of this kind are about another network than any that
  /// was asked for.
  mlir::LogicalResult checkOthers(llvm::StringRef kind) const;
  /// Reads a part; a diagnostic that names its file where `read` fails.
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

/// Returns a name of what a module computes, in 32 hexadecimal digits: of its
/// operations, attributes and constants, without locations. The same module is
/// the same name on every machine.
std::string nameContent(mlir::ModuleOp module);

/// Returns a name of how a function reads samples, in 32 hexadecimal digits.
mlir::FailureOr<std::string> nameReading(mlir::func::FuncOp function,
                                         const RunSettings &settings);

/// Samples of all shards that a pass looks at.
struct ShardSampleNeed {
  /// Number of samples that thinSamples keeps; 0: all.
  int64_t most = 0;
  /// Keeps so many of each half (`takeHalf`).
  bool halves = false;
};

/// Records the hashes of the samples of this shard, by which those of all
/// shards are chosen. No more than some thousand, whatever their number.
mlir::LogicalResult recordSampleHashes(Shards &shards,
                                       mlir::func::FuncOp function,
                                       const RunSettings &settings,
                                       const SampleSource &samples);

/// Adds what other shards have of sample hashes or of samples. Returns false
/// for another kind.
llvm::Expected<bool> mergeSampleParts(llvm::StringRef kind,
                                      llvm::json::Object &content,
                                      const llvm::json::Object &other);

/// Returns the settings for a run on the samples that all shards together
/// choose: those among which thinSamples, holdOut and, if asked for, takeHalf
/// choose what they choose among all. Fails, as `Shards::stop` does, until all
/// shards have given theirs. `settings`: with the samples of this shard.
mlir::FailureOr<RunSettings> takeShardSamples(Shards &shards,
                                              mlir::func::FuncOp function,
                                              RunSettings settings,
                                              const ShardSampleNeed &need);

} // namespace mct::execution

#endif // MCT_EXECUTION_SHARDS_H
