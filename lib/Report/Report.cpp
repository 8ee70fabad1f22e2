// SPDX-License-Identifier: Apache-2.0
#include "mct/Report/Report.h"
#include "JsonFields.h"

using namespace mct;
using namespace mct::report;

void mct::report::print(json::OStream &stream, const Report &report) {
  printDocument(stream, kReportFormat, kFormatVersion, report);
}

llvm::Expected<Report> mct::report::parse(StringRef text) {
  return parseDocument<Report>(text, "report", kReportFormat, kFormatVersion);
}
