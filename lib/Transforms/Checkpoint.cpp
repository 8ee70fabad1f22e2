// SPDX-License-Identifier: Apache-2.0
#include "CheckpointFile.h"

#include "mct/Support/ContextFiles.h"
#include "mct/Support/ContextThreads.h"
#include "mct/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

namespace mct {
#define GEN_PASS_DEF_CHECKPOINTPASS
#include "mct/Transforms/Passes.h.inc"
} // namespace mct

using namespace mlir;
using namespace mct;

static std::string print(OpPassManager &passes) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  passes.printAsTextualPipeline(stream);
  return text;
}

/// Returns true if the text of a pipeline sets the option to a value.
static bool gives(StringRef text, StringRef option) {
  for (size_t at = 0; (at = text.find(option, at)) != StringRef::npos;
       at += option.size())
    if (StringRef value = text.drop_front(at + option.size());
        !value.empty() && value.front() != ' ' && value.front() != '}')
      return true;
  return false;
}

namespace {
struct CheckpointPass : public mct::impl::CheckpointPassBase<CheckpointPass> {
  using CheckpointPassBase::CheckpointPassBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    CheckpointPassBase::getDependentDialects(registry);
    for (const OpPassManager &passes : stages)
      passes.getDependentDialects(registry);
  }

  void runOnOperation() override {
    std::vector<std::string> texts;
    for (OpPassManager &passes : stages)
      texts.push_back(print(passes));
    if (failed(checkOptions(texts)) || failed(openFolder()))
      return signalPassFailure();
    llvm::Expected<RunIdentity> run = RunIdentity::of(getOperation(), texts);
    if (!run)
      return (void)fail(llvm::toString(run.takeError()));
    state.emplace();
    state->run = std::move(*run);
    // The side outputs are needed for the report of a run that resumes, even if
    // this run writes no report.
    auto *outputs = support::PassSideOutputsScope::find(&getContext());
    support::PassSideOutputs own;
    std::optional<support::PassSideOutputsScope> scope;
    if (!outputs) {
      scope.emplace(&getContext(), own);
      outputs = &own;
    }
    if (failed(resume(*outputs)))
      return signalPassFailure();
    for (auto [index, passes] : llvm::enumerate(stages))
      if (int64_t(index) >= state->stage &&
          failed(runStage(int64_t(index), passes, *outputs)))
        return signalPassFailure();
  }

private:
  LogicalResult fail(const Twine &message) {
    signalPassFailure();
    return emitError(getOperation().getLoc()) << message;
  }

  LogicalResult checkOptions(ArrayRef<std::string> texts) {
    if (directory.empty())
      return fail("a checkpoint needs a folder; give directory=DIR");
    for (const OpPassManager &each : stages)
      if (each.getOpName() != ModuleOp::getOperationName())
        return fail("runs passes on the module, but got some for '" +
                    each.getOpAnchorName() + "'; write builtin.module(PASSES)");
    for (const std::string &text : texts)
      for (StringRef option : {"shards-in=", "shards-out="})
        if (gives(text, option))
          return fail("files of shards keep what was measured, and a "
                      "checkpoint does not know of the others; give either "
                      "checkpoint or " +
                      option.drop_back());
    return success();
  }

  LogicalResult openFolder() {
    std::error_code error = llvm::sys::fs::create_directory(directory);
    if (!error && !llvm::sys::fs::is_directory(directory))
      error = std::make_error_code(std::errc::not_a_directory);
    if (error)
      return fail(
          "checkpoint: '" + directory +
          "' is not a folder, and cannot be made one: " + error.message());
    SmallString<128> joined(directory);
    llvm::sys::path::append(joined, "module.mlirbc");
    path = std::string(joined);
    if (llvm::Error unfit =
            support::checkOutputFiles(&getContext(), {path}, {}))
      return fail("checkpoint: " + llvm::toString(std::move(unfit)));
    return success();
  }

  /// Loads the module and the state from the file, if it exists.
  LogicalResult resume(support::PassSideOutputs &outputs) {
    if (!llvm::sys::fs::exists(path))
      return success();
    auto checkpoint = readCheckpoint(path, &getContext());
    if (!checkpoint)
      return fail(llvm::toString(checkpoint.takeError()));
    auto &[kept, module] = *checkpoint;
    for (auto [own, other, what] :
         {std::tuple(&state->run.version, &kept.run.version,
                     "another version of mct"),
          std::tuple(&state->run.network, &kept.run.network, "another network"),
          std::tuple(&state->run.options, &kept.run.options, "other options"),
          std::tuple(&state->run.files, &kept.run.files,
                     "other samples, or with another content of a file that "
                     "options name")})
      if (*own != *other)
        return refuse(what);
    if (kept.stage < 0 || kept.stage > int64_t(stages.size()))
      return refuse("other stages");
    *state = std::move(kept);
    getOperation()->setAttrs((*module)->getAttrDictionary());
    getOperation().getBodyRegion().takeBody(module->getBodyRegion());
    // The analyses of earlier passes belong to the replaced module.
    getAnalysisManager().invalidate(mlir::detail::PreservedAnalyses());
    outputs = state->sideOutputs;
    for (Attribute diagnostic : state->diagnostics)
      emitAgain(diagnostic);
    return success();
  }

  LogicalResult refuse(StringRef what) {
    signalPassFailure();
    InFlightDiagnostic error = emitError(getOperation().getLoc())
                               << "'" << path << "' was made with " << what;
    error.attachNote() << "a run goes on with what it began with; remove the "
                          "folder, or give another one";
    return error;
  }

  LogicalResult runStage(int64_t index, OpPassManager &passes,
                         support::PassSideOutputs &outputs) {
    {
      ScopedDiagnosticHandler keep(&getContext(), [&](Diagnostic &diagnostic) {
        if (diagnostic.getSeverity() != DiagnosticSeverity::Error)
          state->diagnostics.push_back(describeDiagnostic(diagnostic));
        // Let the next handler print the diagnostic.
        return failure();
      });
      if (failed(runPipeline(passes, getOperation())))
        return failure();
    }
    // A pass that is skipped because the job was cancelled succeeds.
    support::Progress *progress = support::findProgress(&getContext());
    if (progress && progress->isCancelled())
      return failure();
    state->stage = index + 1;
    state->sideOutputs = outputs;
    if (llvm::Error error = writeCheckpoint(path, getOperation(), *state))
      return fail("cannot write the checkpoint: " +
                  llvm::toString(std::move(error)));
    return success();
  }

  std::string path;
  std::optional<RunState> state;
};
} // namespace
