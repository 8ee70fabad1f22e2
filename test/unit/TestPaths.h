// SPDX-License-Identifier: Apache-2.0
//
// Paths of the files that tests and benchmarks read. They are functions: an
// option with the folder of the sources would keep a compiler cache from
// sharing the objects of tests between two checkouts.
#ifndef TEST_UNIT_TESTPATHS_H
#define TEST_UNIT_TESTPATHS_H

#include "llvm/ADT/StringRef.h"
#include <string>

namespace mct::testing {

/// Returns the path of a file of the repository, given from its root.
std::string getSourcePath(llvm::StringRef file);

/// Returns the path of a file with models or data, which are not part of the
/// repository and may be missing: in MCT_SHARED_DIR, or in `shared` beside the
/// repository.
std::string getSharedPath(llvm::StringRef file);

/// Returns the path of a file of recorded reference results, which may be
/// missing: in MCT_GOLDEN_DIR, or in the folder `golden` of what is shared.
std::string getGoldenPath(llvm::StringRef file);

} // namespace mct::testing

#endif // TEST_UNIT_TESTPATHS_H
