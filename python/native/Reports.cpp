// SPDX-License-Identifier: Apache-2.0
#include "Reports.h"

#include "mct/Report/Compare.h"
#include "llvm/Support/raw_ostream.h"

using namespace mct;
using llvm::StringRef;

static std::string
write(llvm::function_ref<void(llvm::json::OStream &)> print) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::json::OStream json(stream);
  print(json);
  return text;
}

std::string mct::python::readReport(StringRef text, StringRef name, Job &job) {
  llvm::Expected<report::Report> found = report::parse(text);
  if (!found) {
    job.fail(("'" + name + "': " + llvm::toString(found.takeError())).str());
    return "";
  }
  return write([&](llvm::json::OStream &json) { report::print(json, *found); });
}

std::string mct::python::compareReports(StringRef before, StringRef after,
                                        Job &job) {
  auto read = [&](StringRef text, StringRef which) {
    llvm::Expected<report::Report> found = report::parse(text);
    if (found)
      return std::optional<report::Report>(std::move(*found));
    job.fail(("the " + which + " report: " + llvm::toString(found.takeError()))
                 .str());
    return std::optional<report::Report>();
  };
  std::optional<report::Report> old = read(before, "earlier");
  if (!old)
    return "";
  std::optional<report::Report> now = read(after, "later");
  if (!now)
    return "";
  return write([&](llvm::json::OStream &json) {
    report::print(json, report::compare(*old, *now));
  });
}

std::string mct::python::getReportSchema() {
  return write(report::printSchema);
}
