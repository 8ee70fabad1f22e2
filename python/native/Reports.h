// SPDX-License-Identifier: Apache-2.0
//
// Reports as the Python package reads them.
#ifndef MCT_PYTHON_NATIVE_REPORTS_H
#define MCT_PYTHON_NATIVE_REPORTS_H

#include "Module.h"

namespace mct::python {

/// A report as it is printed; `name` is what messages call it. Empty, and told
/// to `job`, where it is none.
std::string readReport(llvm::StringRef text, llvm::StringRef name, Job &job);
/// Two reports side by side, as JSON (`mct/Report/Compare.h`). Empty, and told
/// to `job`, where one is none.
std::string compareReports(llvm::StringRef before, llvm::StringRef after,
                           Job &job);
/// The JSON Schema of reports.
std::string getReportSchema();

} // namespace mct::python

#endif // MCT_PYTHON_NATIVE_REPORTS_H
