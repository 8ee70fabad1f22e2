// SPDX-License-Identifier: Apache-2.0
#include "mct/Execution/RunCache.h"

#include "Parts.h"
#include "mct/Execution/Npy.h"

using namespace mct::execution;

RunCache::RunCache() = default;
RunCache::~RunCache() = default;

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
