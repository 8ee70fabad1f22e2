// SPDX-License-Identifier: Apache-2.0
//
// A report in which every member has a value of its own.
#ifndef MCT_UNIT_REPORT_FILLED_H
#define MCT_UNIT_REPORT_FILLED_H

#include "lib/Report/Fields.h"
#include <type_traits>

namespace mct::report {

class Filler {
public:
  template <typename T>
  void operator()(llvm::StringRef key, T &member, llvm::StringRef) {
    fill(key, member);
  }
  template <typename T>
  void since(int64_t, llvm::StringRef key, T &member, llvm::StringRef) {
    fill(key, member);
  }
  void dropped(llvm::StringRef) {}

private:
  void fill(llvm::StringRef, bool &value) { value = ++count % 2; }
  void fill(llvm::StringRef, int64_t &value) { value = ++count; }
  void fill(llvm::StringRef, Real &value) { value = 1.0 / ++count; }
  void fill(llvm::StringRef key, std::string &value) {
    value = (key + llvm::Twine(++count)).str();
  }
  template <typename T>
  void fill(llvm::StringRef key, std::optional<T> &value) {
    fill(key, value.emplace());
  }
  template <typename T> void fill(llvm::StringRef key, std::vector<T> &values) {
    values.resize(2);
    for (T &value : values)
      fill(key, value);
  }
  template <typename T>
  std::enable_if_t<std::is_class_v<T>> fill(llvm::StringRef, T &object) {
    visitFields(Fields<T>(), *this, object);
  }

  int64_t count = 0;
};

inline Report createFilled() {
  Report report;
  Filler filler;
  visitFields(Fields<Report>(), filler, report);
  return report;
}

inline std::string toText(const Report &report) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::json::OStream json(stream);
  print(json, report);
  return text;
}

} // namespace mct::report

#endif // MCT_UNIT_REPORT_FILLED_H
