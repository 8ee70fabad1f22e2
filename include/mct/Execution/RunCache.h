// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_EXECUTION_RUNCACHE_H
#define MCT_EXECUTION_RUNCACHE_H

#include "mct/Execution/StoredTensor.h"
#include "mlir/Pass/AnalysisManager.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringMap.h"

#include <mutex>

namespace mct::execution {

class PartSet;

/// What the runs of one pipeline share: files of samples that are open, and
/// code that is compiled.
///
/// It is an analysis of a module that nothing invalidates: the passes that a
/// pass manager runs on the module have one together, others have others, and
/// it goes when that run of the pass manager ends. So all passes of a run see
/// the file that its first one has opened, whatever becomes of the path, and
/// the next run opens files again. Thread safe.
class RunCache {
public:
  RunCache();
  explicit RunCache(mlir::Operation * /*module*/) : RunCache() {}
  ~RunCache();
  RunCache(const RunCache &) = delete;
  RunCache &operator=(const RunCache &) = delete;

  bool isInvalidated(const mlir::AnalysisManager::PreservedAnalyses &) {
    return false;
  }

  /// As NpyFile::open, once for each path.
  llvm::Expected<std::shared_ptr<const StoredTensor>>
  openFile(llvm::StringRef path);

  /// Compiles with the parts that there are; forgets them when that fails.
  mlir::LogicalResult
  compileWith(mlir::Location loc,
              llvm::function_ref<mlir::LogicalResult(PartSet &)> compile);

private:
  std::mutex mutex;
  llvm::StringMap<std::shared_ptr<const StoredTensor>> files;
  std::unique_ptr<PartSet> parts;
};

} // namespace mct::execution

#endif // MCT_EXECUTION_RUNCACHE_H
