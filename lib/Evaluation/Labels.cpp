// SPDX-License-Identifier: Apache-2.0
#include "mct/Evaluation/Labels.h"

#include "mct/Support/Npy.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mct;
using support::ElementType;

int64_t execution::findAnswer(const TensorSpec &output, const void *data,
                              int64_t sample, int64_t count) {
  auto largest = [&](auto *typed) -> int64_t {
    auto *begin = typed + sample * count;
    // Only NaN differs from itself.
    if (std::any_of(begin, begin + count, [](auto x) { return x != x; }))
      return -1;
    return std::max_element(begin, begin + count) - begin;
  };
  Type type = output.type.getElementType();
  if (type.isF32())
    return largest(static_cast<const float *>(data));
  if (type.isInteger(8))
    return type.isUnsignedInteger()
               ? largest(static_cast<const uint8_t *>(data))
               : largest(static_cast<const int8_t *>(data));
  if (type.isInteger(16))
    return largest(static_cast<const int16_t *>(data));
  return largest(static_cast<const int32_t *>(data));
}

/// Returns whether an output has the same number of comparable elements for
/// each sample of a unit.
static bool hasAnswers(const execution::TensorSpec &output, int64_t unit) {
  Type type = output.type.getElementType();
  return (type.isF32() || type.isInteger(8) || type.isInteger(16) ||
          type.isInteger(32)) &&
         output.type.getNumElements() > 0 &&
         output.type.getNumElements() % unit == 0;
}

bool execution::hasScores(const TensorSpec &output, int64_t unit) {
  if (!hasAnswers(output, unit) || output.type.getRank() == 0 ||
      output.type.getDimSize(0) % unit != 0)
    return false;
  int64_t classes = output.type.getNumElements() / unit;
  return output.type.getDimSize(0) / unit == classes ||
         llvm::is_contained(output.type.getShape().drop_front(), classes);
}

llvm::Expected<std::vector<int64_t>> execution::readLabels(StringRef path) {
  auto fail = [&](const Twine &message) {
    return llvm::createStringError(path + ": " + message);
  };
  auto file = support::NpyFile::open(path);
  if (!file)
    return file.takeError();
  ArrayRef<int64_t> shape = (*file)->shape();
  if (shape.empty() || (*file)->numElements() != shape.front())
    return fail("expected one class number for each sample, shape N or Nx1, "
                "found shape " +
                (shape.empty()
                     ? "of a scalar"
                     : llvm::join(llvm::map_range(shape,
                                                  [](int64_t size) {
                                                    return std::to_string(size);
                                                  }),
                                  "x")));
  auto convert = [&](auto zero) -> llvm::Expected<std::vector<int64_t>> {
    auto values = (*file)->readAll<decltype(zero)>();
    if (!values)
      return values.takeError();
    return std::vector<int64_t>(values->begin(), values->end());
  };
  switch ((*file)->elementType()) {
  case ElementType::U8:
    return convert(uint8_t());
  case ElementType::I8:
    return convert(int8_t());
  case ElementType::U16:
    return convert(uint16_t());
  case ElementType::I16:
    return convert(int16_t());
  case ElementType::U32:
    return convert(uint32_t());
  case ElementType::I32:
    return convert(int32_t());
  case ElementType::I64:
    return convert(int64_t());
  default:
    return fail("expected integer labels, found " +
                support::getName((*file)->elementType()));
  }
}

llvm::Expected<std::vector<int64_t>>
execution::readLabels(const SampleSource &samples, StringRef path,
                      int64_t classes) {
  auto fail = [&](const Twine &message) {
    return llvm::createStringError(path + ": " + message);
  };
  auto labels = execution::readLabels(path);
  if (!labels)
    return labels;
  auto count = int64_t(labels->size());
  if (count != samples.numAvailable() && count != samples.numSamples())
    return fail("expected " + Twine(samples.numAvailable()) +
                " labels, found " + Twine(count));
  for (auto [index, label] : llvm::enumerate(*labels))
    if (label < 0 || label >= classes)
      return fail("expected classes in [0, " + Twine(classes) +
                  "), as many as the output has scores, found " + Twine(label) +
                  " at " + Twine(index));
  return labels;
}
