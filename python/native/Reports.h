// SPDX-License-Identifier: Apache-2.0
//
// Reports as the Python package reads them.
#ifndef MCT_PYTHON_NATIVE_REPORTS_H
#define MCT_PYTHON_NATIVE_REPORTS_H

#include "Module.h"

namespace mct::python {

/// Returns a report, which messages call `name`, as it is printed. Returns an
/// empty text, and reports to `job`, if it is not a report.
std::string readReport(llvm::StringRef text, llvm::StringRef name, Job &job);
/// Returns the comparison of two reports as JSON (`mct/Report/Compare.h`).
/// Returns an empty text, and reports to `job`, if one of them is not a report.
std::string compareReports(llvm::StringRef before, llvm::StringRef after,
                           Job &job);
/// Returns the JSON Schema of reports.
std::string getReportSchema();

} // namespace mct::python

#endif // MCT_PYTHON_NATIVE_REPORTS_H
