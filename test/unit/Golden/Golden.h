// SPDX-License-Identifier: Apache-2.0
//
// Reading the golden vectors (recorded runs of MCT 2.6.1 and mct-quantizers
// 1.7.0), and counting what was compared with them. The rules are those of
// their README.md.
#ifndef MCT_TEST_UNIT_GOLDEN_GOLDEN_H
#define MCT_TEST_UNIT_GOLDEN_GOLDEN_H

#include "mct/Quantizers/Grid.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/JSON.h"
#include "gtest/gtest.h"

#include <map>
#include <string>
#include <vector>

namespace mct::golden {

namespace json = llvm::json;

/// A file of the folder that MCT_GOLDEN_DIR names (default: ../shared/golden).
struct File {
  json::Value root = nullptr;
  bool present = false;
  std::string path;
  explicit File(llvm::StringRef name);
  /// The objects of the array `key`.
  std::vector<const json::Object *> objects(llvm::StringRef key) const;
};

#define MCT_REQUIRE_GOLDEN(file)                                               \
  if (!(file).present)                                                         \
  GTEST_SKIP() << "no golden vectors at " << (file).path                       \
               << "; set MCT_GOLDEN_DIR"

/// A number, "inf" or "-inf"; NaN for "nan", null and what is missing.
double number(const json::Value *value);
/// A list of them; one number is a list of one.
std::vector<double> numbers(const json::Value *value);
std::vector<float> floats(const json::Value *value);
std::vector<int64_t> integers(const json::Value *value);
/// "" when there is no such string.
std::string text(const json::Object &object, llvm::StringRef key);
/// Returns whether `known_defects` lists the label.
bool hasDefect(const json::Object &object, llvm::StringRef label);
bool hasAnyDefect(const json::Object &object);

/// Counts cases by family, and prints a line for each when it goes out of
/// scope.
class Report {
public:
  ~Report();
  /// Runs `body`, which compares one case with EXPECT_…, and counts it as
  /// passed or failed. `what` names the case in failures.
  void check(const std::string &family, const std::string &what,
             llvm::function_ref<void()> body);
  void skip(const std::string &family, const std::string &reason);

private:
  struct Counts {
    int passed = 0, failed = 0;
    std::map<std::string, int> skipped;
  };
  std::map<std::string, Counts> families;
};

/// Mean over the values of |value - nearest level|^power, weighted, in double:
/// step * (clamp(RNE(x / step) + z, …) - z), section 2 of the rules.
double meanError(const quantization::Grid &grid, llvm::ArrayRef<double> values,
                 llvm::ArrayRef<double> weights = {}, double power = 2);
/// Weighted mean of |value|^power.
double meanPower(llvm::ArrayRef<double> values,
                 llvm::ArrayRef<double> weights = {}, double power = 2);

/// EXPECT |actual - expected| <= relative * |expected|.
void expectNear(double actual, double expected, double relative,
                llvm::StringRef what = "");

} // namespace mct::golden

#endif // MCT_TEST_UNIT_GOLDEN_GOLDEN_H
