// SPDX-License-Identifier: Apache-2.0
#include "Golden.h"
#include "TestPaths.h"

#include "llvm/Support/MemoryBuffer.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>

namespace mct::golden {

File::File(llvm::StringRef name) {
  path = testing::getGoldenPath(name);
  auto buffer = llvm::MemoryBuffer::getFile(path);
  if (!buffer)
    return;
  auto parsed = json::parse((*buffer)->getBuffer());
  if (!parsed) {
    ADD_FAILURE() << path << ": " << llvm::toString(parsed.takeError());
    return;
  }
  root = std::move(*parsed);
  present = true;
}

std::vector<const json::Object *> File::objects(llvm::StringRef key) const {
  std::vector<const json::Object *> result;
  for (const json::Value &value : *root.getAsObject()->getArray(key))
    result.push_back(value.getAsObject());
  return result;
}

double number(const json::Value *value) {
  if (!value)
    return std::nan("");
  if (auto result = value->getAsNumber())
    return *result;
  if (auto text = value->getAsString()) {
    if (*text == "inf")
      return std::numeric_limits<double>::infinity();
    if (*text == "-inf")
      return -std::numeric_limits<double>::infinity();
  }
  return std::nan("");
}

std::vector<double> numbers(const json::Value *value) {
  std::vector<double> result;
  if (!value)
    return result;
  if (const json::Array *array = value->getAsArray()) {
    for (const json::Value &element : *array)
      result.push_back(number(&element));
    return result;
  }
  return {number(value)};
}

std::vector<float> floats(const json::Value *value) {
  std::vector<double> wide = numbers(value);
  return std::vector<float>(wide.begin(), wide.end());
}

std::vector<int64_t> integers(const json::Value *value) {
  std::vector<double> wide = numbers(value);
  return std::vector<int64_t>(wide.begin(), wide.end());
}

std::string text(const json::Object &object, llvm::StringRef key) {
  return object.getString(key).value_or("").str();
}

bool hasDefect(const json::Object &object, llvm::StringRef label) {
  if (const json::Array *defects = object.getArray("known_defects"))
    for (const json::Value &defect : *defects)
      if (defect.getAsString() == label)
        return true;
  return false;
}

bool hasAnyDefect(const json::Object &object) {
  const json::Array *defects = object.getArray("known_defects");
  return defects && !defects->empty();
}

static int failures() {
  const ::testing::TestResult &result =
      *::testing::UnitTest::GetInstance()->current_test_info()->result();
  int count = 0;
  for (int i = 0; i != result.total_part_count(); ++i)
    count += result.GetTestPartResult(i).failed();
  return count;
}

void Report::check(const std::string &family, const std::string &what,
                   llvm::function_ref<void()> body) {
  int before = failures();
  {
    SCOPED_TRACE(what);
    body();
  }
  Counts &counts = families[family];
  ++(failures() == before ? counts.passed : counts.failed);
}

void Report::skip(const std::string &family, const std::string &reason) {
  ++families[family].skipped[reason];
}

Report::~Report() {
  for (const auto &[family, counts] : families) {
    int skipped = 0;
    for (const auto &[reason, count] : counts.skipped)
      skipped += count;
    std::printf("  %-44s cases %5d  passed %5d  failed %3d  skipped %4d\n",
                family.c_str(), counts.passed + counts.failed + skipped,
                counts.passed, counts.failed, skipped);
    for (const auto &[reason, count] : counts.skipped)
      std::printf("    skipped %d: %s\n", count, reason.c_str());
  }
}

double meanError(const quantization::Grid &grid, llvm::ArrayRef<double> values,
                 llvm::ArrayRef<double> weights, double power) {
  double sum = 0, total = 0;
  for (size_t i = 0; i != values.size(); ++i) {
    double zeroPoint = static_cast<double>(grid.zeroPoint);
    double q = std::nearbyint(values[i] / grid.step) + zeroPoint;
    q = std::clamp(q, static_cast<double>(grid.qmin),
                   static_cast<double>(grid.qmax));
    double error = std::fabs(values[i] - grid.step * (q - zeroPoint));
    double weight = weights.empty() ? 1.0 : weights[i];
    sum += weight * (power == 2   ? error * error
                     : power == 1 ? error
                                  : std::pow(error, power));
    total += weight;
  }
  return sum / total;
}

double meanPower(llvm::ArrayRef<double> values, llvm::ArrayRef<double> weights,
                 double power) {
  double sum = 0, total = 0;
  for (size_t i = 0; i != values.size(); ++i) {
    double weight = weights.empty() ? 1.0 : weights[i];
    sum += weight * std::pow(std::fabs(values[i]), power);
    total += weight;
  }
  return sum / total;
}

void expectNear(double actual, double expected, double relative,
                llvm::StringRef what) {
  EXPECT_LE(std::fabs(actual - expected), relative * std::fabs(expected))
      << what.str() << ": " << actual << " instead of " << expected;
}

} // namespace mct::golden
