// SPDX-License-Identifier: Apache-2.0
#include "mct/Evaluation/ErrorSums.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/bit.h"
#include <algorithm>
#include <cmath>
#include <limits>

using namespace mct;
using namespace mct::execution;
using llvm::ArrayRef;
using llvm::StringRef;

/// Returns the larger number, or NaN if one of them is NaN.
static double getLarger(double left, double right) {
  return std::isnan(left) || left > right ? left : right;
}

void ErrorSums::add(ArrayRef<float> values, ArrayRef<float> references) {
  for (auto [x, r] : llvm::zip_equal(values, references)) {
    // Infinities of one sign are the same value.
    double difference = x == r ? 0 : double(x) - double(r);
    reference += double(r) * double(r);
    value += double(x) * double(x);
    product += double(x) * double(r);
    error += difference * difference;
    largest = getLarger(largest, std::abs(difference));
  }
}

void ErrorSums::merge(const ErrorSums &other) {
  reference += other.reference;
  value += other.value;
  product += other.product;
  error += other.error;
  largest = getLarger(largest, other.largest);
}

double ErrorSums::sqnr() const {
  return error == 0 ? std::numeric_limits<double>::infinity()
                    : 10 * std::log10(reference / error);
}

double ErrorSums::cosine() const {
  // Two vectors of zeros are the same vector.
  if (reference == 0 && value == 0)
    return 1;
  if (std::isnan(product))
    return product;
  return reference == 0 || value == 0 ? 0
                                      : product / std::sqrt(reference * value);
}

//===----------------------------------------------------------------------===//
// Exact sums
//===----------------------------------------------------------------------===//

void ExactErrorSums::Sum::add(double value) {
  if (std::isfinite(value))
    finite.addExact(value);
  else
    other += value;
}

void ExactErrorSums::add(const ErrorSums &added) {
  sums[0].add(added.reference);
  sums[1].add(added.value);
  sums[2].add(added.product);
  sums[3].add(added.error);
  largest = getLarger(largest, added.largest);
}

void ExactErrorSums::add(ArrayRef<float> values, ArrayRef<float> references,
                         int64_t samples) {
  size_t parts = samples > 0 ? size_t(samples) : values.size();
  if (parts == 0 || values.size() % parts != 0)
    parts = values.size();
  size_t length = parts ? values.size() / parts : 0;
  for (size_t part = 0; part != parts; ++part) {
    ErrorSums own;
    own.add(values.slice(part * length, length),
            references.slice(part * length, length));
    add(own);
  }
}

void ExactErrorSums::merge(const ExactErrorSums &other) {
  for (auto [sum, added] : llvm::zip(sums, other.sums)) {
    sum.finite.merge(added.finite);
    sum.other += added.other;
  }
  largest = getLarger(largest, other.largest);
}

ErrorSums ExactErrorSums::round() const {
  return {sums[0].round(), sums[1].round(), sums[2].round(), sums[3].round(),
          largest};
}

/// Returns the word for a number that is not finite.
static StringRef nameInfinite(double value) {
  if (std::isnan(value))
    return "nan";
  return value > 0 ? "inf" : "-inf";
}

static std::optional<double> readInfinite(StringRef word) {
  for (double value : {std::numeric_limits<double>::quiet_NaN(),
                       std::numeric_limits<double>::infinity(),
                       -std::numeric_limits<double>::infinity()})
    if (word == nameInfinite(value))
      return value;
  return std::nullopt;
}

std::string ExactErrorSums::toText() const {
  std::string text;
  for (const Sum &sum : sums)
    text +=
        (sum.other == 0 ? sum.finite.toHex() : nameInfinite(sum.other).str()) +
        " ";
  if (!std::isfinite(largest))
    return text + nameInfinite(largest).str();
  return text + llvm::utohexstr(llvm::bit_cast<uint64_t>(largest),
                                /*LowerCase=*/true);
}

llvm::Expected<ExactErrorSums> ExactErrorSums::fromText(StringRef text) {
  llvm::SmallVector<StringRef> words;
  text.split(words, ' ');
  ExactErrorSums read;
  uint64_t bits = 0;
  if (words.size() != read.sums.size() + 1)
    return llvm::createStringError("expected four sums and the largest "
                                   "difference, found '" +
                                   text + "'");
  for (auto [sum, word] : llvm::zip(read.sums, words)) {
    if (std::optional<double> other = readInfinite(word)) {
      sum.other = *other;
      continue;
    }
    auto finite = quantization::ExactSum::fromHex(word);
    if (!finite)
      return finite.takeError();
    sum.finite = *finite;
  }
  if (std::optional<double> other = readInfinite(words.back()))
    read.largest = *other;
  else if (!words.back().getAsInteger(16, bits))
    read.largest = llvm::bit_cast<double>(bits);
  else
    return llvm::createStringError("'" + words.back() +
                                   "' is not the bits of a number");
  return read;
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

void StepCounts::add(const quantization::Grid &grid, ArrayRef<int64_t> stored,
                     ArrayRef<float> simulated) {
  values += stored.size();
  auto step = static_cast<float>(grid.step);
  for (auto [code, value] : llvm::zip_equal(stored, simulated)) {
    // The simulation's quantizer computes the value of a level in this way.
    if (value == static_cast<float>(code - grid.zeroPoint) * step)
      continue;
    ++differing;
    double level = value / grid.step;
    double nearest = std::nearbyint(level);
    if (value == static_cast<float>(nearest) * step)
      level = nearest;
    double distance = std::abs(double(code - grid.zeroPoint) - level);
    largest = std::isnan(distance) ? std::numeric_limits<double>::infinity()
                                   : std::max(largest, distance);
  }
}

void StepCounts::merge(const StepCounts &other) {
  values += other.values;
  differing += other.differing;
  largest = std::max(largest, other.largest);
}
