// SPDX-License-Identifier: Apache-2.0
#include "mct/Execution/RunCache.h"

#include "Parts.h"
#include "mct/Support/Npy.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "mlir/Pass/PassManager.h"

using namespace mct::execution;
using namespace mct::support;

RunCache::RunCache() = default;
RunCache::~RunCache() = default;

std::shared_ptr<RunCache> RunCache::of(mlir::MLIRContext *context) {
  if (RunCache *open = RunCacheScope::find(context))
    return {std::shared_ptr<RunCache>(), open};
  return std::make_shared<RunCache>();
}

namespace {
/// A cache that a pass manager owns; it observes no pass.
class OwnedRunCache : public mlir::PassInstrumentation {
public:
  explicit OwnedRunCache(mlir::MLIRContext *context) : scope(context, cache) {}

private:
  RunCache cache;
  RunCacheScope scope;
};
} // namespace

void RunCache::shareAmong(mlir::PassManager &passes) {
  passes.addInstrumentation(
      std::make_unique<OwnedRunCache>(passes.getContext()));
}

llvm::Expected<std::shared_ptr<const StoredTensor>>
RunCache::openFile(llvm::StringRef path) {
  std::lock_guard<std::mutex> lock(mutex);
  std::shared_ptr<const StoredTensor> &file = files[path];
  if (!file) {
    auto opened = NpyFile::open(path);
    if (!opened)
      return opened.takeError();
    file = std::move(*opened);
  }
  return file;
}

mlir::LogicalResult RunCache::compileWith(
    mlir::Location loc,
    llvm::function_ref<mlir::LogicalResult(PartSet &)> compile) {
  std::lock_guard<std::mutex> lock(mutex);
  if (!parts)
    parts = std::make_unique<PartSet>(loc);
  mlir::LogicalResult result = compile(*parts);
  if (failed(result))
    parts.reset();
  return result;
}
