// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_EXECUTION_RUNCACHE_H
#define MCT_EXECUTION_RUNCACHE_H

#include "mct/Support/ContextScope.h"
#include "mct/Support/StoredTensor.h"
#include "mlir/IR/Location.h"
#include "mlir/Support/TypeID.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringMap.h"

#include <memory>
#include <mutex>

namespace mlir {
class PassManager;
} // namespace mlir

namespace mct::execution {

class PartSet;

/// Open files of samples and compiled code that several runs share, and objects
/// that passes leave for later passes. All runs see the file that the first one
/// opened, even if its path changes later. Thread safe.
class RunCache {
public:
  RunCache();
  ~RunCache();
  RunCache(const RunCache &) = delete;
  RunCache &operator=(const RunCache &) = delete;

  /// Returns the cache that a `RunCacheScope` has opened for the context, which
  /// must outlive the result, or else a new one.
  static std::shared_ptr<RunCache> of(mlir::MLIRContext *context);
  /// Opens a cache for the passes of the manager. It lives as long as the
  /// manager.
  static void shareAmong(mlir::PassManager &passes);

  /// Opens a file as NpyFile::open does, once for each path.
  llvm::Expected<std::shared_ptr<const support::StoredTensor>>
  openFile(llvm::StringRef path);

  /// Calls `compile` with the parts that have been compiled already, and
  /// forgets them if it fails.
  mlir::LogicalResult
  compileWith(mlir::Location loc,
              llvm::function_ref<mlir::LogicalResult(PartSet &)> compile);

  /// Returns the object of type `T`, which the first call creates.
  template <typename T> T &get() {
    std::lock_guard<std::mutex> lock(mutex);
    std::shared_ptr<void> &object = objects[mlir::TypeID::get<T>()];
    if (!object)
      object = std::make_shared<T>();
    return *static_cast<T *>(object.get());
  }

private:
  std::mutex mutex;
  llvm::DenseMap<mlir::TypeID, std::shared_ptr<void>> objects;
  llvm::StringMap<std::shared_ptr<const support::StoredTensor>> files;
  std::unique_ptr<PartSet> parts;
};

/// Makes the runs of modules of a context share a cache while it lives.
using RunCacheScope = support::ContextScope<RunCache>;

} // namespace mct::execution

#endif // MCT_EXECUTION_RUNCACHE_H
