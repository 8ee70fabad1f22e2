// SPDX-License-Identifier: Apache-2.0
#include "TestPaths.h"
#include <cstdlib>

namespace mct::testing {

static std::string inFolder(const char *variable, const char *folder,
                            llvm::StringRef file) {
  const char *value = variable ? std::getenv(variable) : nullptr;
  return std::string(value ? value : folder) + "/" + file.str();
}

std::string getSourcePath(llvm::StringRef file) {
  return inFolder(nullptr, MCT_SOURCE_DIR, file);
}

std::string getSharedPath(llvm::StringRef file) {
  return inFolder("MCT_SHARED_DIR", MCT_SOURCE_DIR "/../shared", file);
}

std::string getGoldenPath(llvm::StringRef file) {
  return inFolder("MCT_GOLDEN_DIR", MCT_SOURCE_DIR "/../shared/golden", file);
}

} // namespace mct::testing
