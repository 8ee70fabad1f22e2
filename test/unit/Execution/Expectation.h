// SPDX-License-Identifier: Apache-2.0
//
// The results of the reference for the random samples of a network.
#ifndef MCT_TEST_UNIT_EXECUTION_EXPECTATION_H
#define MCT_TEST_UNIT_EXECUTION_EXPECTATION_H

#include "RandomNetworks.h"
#include "ReferenceEvaluator.h"

#include "mct/Support/Npy.h"

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <random>

namespace mct::testing {

inline size_t numRandomNetworks(size_t usual) {
  const char *variable = std::getenv("MCT_RANDOM_NETWORKS");
  return variable ? std::strtoul(variable, nullptr, 10) : usual;
}
inline unsigned firstSeed() {
  const char *variable = std::getenv("MCT_RANDOM_SEED");
  return variable ? unsigned(std::strtoul(variable, nullptr, 10)) : 1;
}

/// Counts of what a run judged, to show that the bounds leave something to
/// judge.
struct Judged {
  uint64_t elements = 0, tight = 0;
};

inline mlir::func::FuncOp mainOf(mlir::ModuleOp module) {
  return module.lookupSymbol<mlir::func::FuncOp>("main");
}

inline llvm::ArrayRef<int64_t> shapeOf(mlir::Value value) {
  return mlir::cast<mlir::RankedTensorType>(value.getType()).getShape();
}

inline double readNumber(const void *data, int64_t i, mlir::Type type) {
  auto *bytes = static_cast<const char *>(data);
  auto read = [&](auto value) {
    std::memcpy(&value, bytes + i * int64_t(sizeof(value)), sizeof(value));
    return static_cast<double>(value);
  };
  if (type.isF32())
    return read(float());
  if (type.isInteger(32))
    return read(int32_t());
  if (type.isInteger(16))
    return read(int16_t());
  return read(int8_t());
}

/// The samples that a network gets, and what the reference makes of them.
class Expectation {
public:
  /// `samples` are as many as the batch of the arguments, or a part of them,
  /// several times. `uncertain`: of the evaluator, or null.
  /// `callIsSample`: the executor takes the leading dimension of the arguments
  /// for no batch.
  Expectation(mlir::ModuleOp module, unsigned seed, int64_t samples,
              bool simulate,
              const llvm::DenseMap<mlir::Value, double> *uncertain = nullptr,
              bool callIsSample = false)
      : samples(samples) {
    mlir::func::FuncOp function = mainOf(module);
    llvm::append_range(argumentTypes, function.getArgumentTypes());
    llvm::append_range(
        outputs, function.getBody().front().getTerminator()->getOperands());
    auto first =
        mlir::cast<mlir::RankedTensorType>(function.getArgumentTypes().front());
    batch = first.getRank() == 0 ? 1 : first.getDimSize(0);
    // Arguments of different leading sizes have no batch: a call is a sample.
    hasBatch = !callIsSample &&
               llvm::all_of(function.getArgumentTypes(), [&](mlir::Type type) {
                 auto tensor = mlir::cast<mlir::RankedTensorType>(type);
                 return tensor.getRank() != 0 && tensor.getDimSize(0) == batch;
               });
    if (!hasBatch)
      batch = 1;
    groups = (samples + batch - 1) / batch;
    for (auto [number, type] : llvm::enumerate(function.getArgumentTypes()))
      data.push_back(randomInput(mlir::cast<mlir::RankedTensorType>(type),
                                 groups, seed * 31 + unsigned(number)));
    evaluators.reserve(size_t(groups));
    for (int64_t group = 0; group != groups; ++group) {
      std::vector<ReferenceTensor> arguments;
      for (auto [number, type] : llvm::enumerate(function.getArgumentTypes())) {
        ReferenceTensor tensor = ReferenceEvaluator::zeros(type);
        size_t bytes = data[number].size() / size_t(groups);
        for (size_t i = 0; i != tensor.numbers.size(); ++i)
          tensor.numbers[i].value =
              readNumber(data[number].data() + size_t(group) * bytes,
                         int64_t(i), tensor.element);
        arguments.push_back(std::move(tensor));
      }
      evaluators.emplace_back(function, simulate);
      if (uncertain)
        evaluators.back().uncertain = *uncertain;
      if (!evaluators.back().run(arguments)) {
        error = evaluators.back().error;
        return;
      }
    }
  }

  /// Bytes of the samples from `first` on, the last one repeated.
  std::vector<char> inputUnit(size_t argument, int64_t first, int64_t valid,
                              int64_t unit) const {
    size_t bytes = sampleBytes(argument);
    std::vector<char> unitData;
    for (int64_t i = 0; i != unit; ++i) {
      const char *begin = data[argument].data() +
                          size_t(first + std::min(i, valid - 1)) * bytes;
      unitData.insert(unitData.end(), begin, begin + bytes);
    }
    return unitData;
  }
  size_t sampleBytes(size_t argument) const {
    return data[argument].size() / size_t(groups * batch);
  }

  /// Compares what was computed for `value`, a tensor of `shape` that holds
  /// `held` samples of which the first `valid` count, and are those from
  /// `first` on. Empty when everything lies within its bounds.
  std::string compare(mlir::Value value, const void *actual,
                      llvm::ArrayRef<int64_t> shape, int64_t held,
                      int64_t first, int64_t valid, Judged &judged) const {
    llvm::ArrayRef<int64_t> wanted = shapeOf(value);
    if (shape.size() != wanted.size())
      return "another rank";
    auto element =
        mlir::cast<mlir::RankedTensorType>(value.getType()).getElementType();
    // The dimension of the batch is the one that differs.
    int64_t axis = -1, differing = 0;
    for (int64_t d = 0; d != int64_t(shape.size()); ++d)
      if (shape[d] != wanted[d]) {
        axis = d;
        ++differing;
      }
    llvm::SmallVector<int64_t> flat, flatWanted;
    if (differing > 1 ||
        (differing == 1 && shape[axis] * batch != wanted[axis] * held)) {
      // A batch that is outermost in memory may lie in another one.
      if (numElements(shape) * batch != numElements(wanted) * held ||
          !isOutermost(wanted, batch) || !isOutermost(shape, held))
        return "has the shape " + print(shape) + " for " +
               std::to_string(held) + " samples, not " + print(wanted);
      flat = {held, numElements(shape) / held};
      flatWanted = {batch, numElements(wanted) / batch};
      shape = flat;
      wanted = flatWanted;
      axis = 0;
    }
    // Samples may come from two groups even if they are as many as one has.
    if (axis < 0 && held == batch && (valid != held || first % batch != 0))
      for (int64_t d = 0; d != int64_t(shape.size()) && axis < 0; ++d)
        if (shape[d] != 1)
          axis = d;
    int64_t outer = 1, inner = 1;
    for (int64_t d = 0; d < axis; ++d)
      outer *= shape[d];
    for (int64_t d = axis + 1; d < int64_t(shape.size()); ++d)
      inner *= shape[d];
    if (axis < 0) {
      // One group, or a value that does not depend on the samples.
      const ReferenceTensor &tensor = evaluators[first / batch][value];
      return compareElements(actual, element, tensor, 0, 0, inner, judged);
    }
    int64_t rows = wanted[axis] / batch;
    for (int64_t sample = 0; sample != valid; ++sample) {
      int64_t from = (first + sample) % batch;
      const ReferenceTensor &tensor =
          evaluators[(first + sample) / batch][value];
      for (int64_t block = 0; block != outer; ++block) {
        std::string difference = compareElements(
            actual, element, tensor,
            (block * shape[axis] + sample * rows) * inner,
            (block * wanted[axis] + from * rows) * inner, rows * inner, judged);
        if (!difference.empty())
          return "sample " + std::to_string(first + sample) + ": " + difference;
      }
    }
    return "";
  }

  static std::string print(llvm::ArrayRef<int64_t> shape) {
    std::string text;
    for (int64_t size : shape)
      text += (text.empty() ? "" : "x") + std::to_string(size);
    return text;
  }

  llvm::SmallVector<mlir::Type> argumentTypes;
  llvm::SmallVector<mlir::Value> outputs;
  int64_t samples, batch = 1, groups = 1;
  bool hasBatch = true;
  std::string error;
  /// Bytes of each argument, for whole groups.
  std::vector<std::vector<char>> data;
  /// One for each group of `batch` samples.
  std::vector<ReferenceEvaluator> evaluators;

private:
  static int64_t numElements(llvm::ArrayRef<int64_t> shape) {
    int64_t count = 1;
    for (int64_t size : shape)
      count *= size;
    return count;
  }
  /// Returns whether the first dimension that is not 1 holds whole samples.
  static bool isOutermost(llvm::ArrayRef<int64_t> shape, int64_t samples) {
    for (int64_t size : shape)
      if (size != 1)
        return size % samples == 0;
    return samples == 1;
  }
  static std::string compareElements(const void *actual, mlir::Type element,
                                     const ReferenceTensor &tensor,
                                     int64_t actualBegin, int64_t begin,
                                     int64_t count, Judged &judged) {
    for (int64_t i = 0; i != count; ++i) {
      const Number &number = tensor.numbers[size_t(begin + i)];
      ++judged.elements;
      if (!(number.error < std::numeric_limits<double>::infinity()))
        continue;
      judged.tight +=
          number.error <= 1e-3 * std::max(1.0, std::abs(number.value));
      double found = readNumber(actual, actualBegin + i, element);
      // The bounds are doubles, and rounded too.
      double slack = number.error == 0
                         ? 0
                         : 1e-14 * (number.error + std::abs(number.value));
      if (std::abs(found - number.value) <= number.error + slack)
        continue;
      char text[200];
      std::snprintf(
          text, sizeof(text), "element %lld is %.9g, not %.9g +- %.3g",
          static_cast<long long>(begin + i), found, number.value, number.error);
      return text;
    }
    return "";
  }
};

inline support::ElementType npyElement(mlir::Type type) {
  mlir::Type element =
      mlir::cast<mlir::RankedTensorType>(type).getElementType();
  return element.isF32()         ? support::ElementType::F32
         : element.isInteger(32) ? support::ElementType::I32
         : element.isInteger(16) ? support::ElementType::I16
         : element.isInteger(8)  ? support::ElementType::I8
                                 : support::ElementType::Bool;
}

/// Writes the samples of each argument to a file in `folder`, as NUMBER:FILE.
inline llvm::SmallVector<std::string> writeSamples(const Expectation &expected,
                                                   const std::string &folder) {
  llvm::SmallVector<std::string> files;
  bool ownLeadingSizes =
      !expected.hasBatch &&
      llvm::any_of(expected.argumentTypes, [](mlir::Type type) {
        auto tensor = mlir::cast<mlir::RankedTensorType>(type);
        return tensor.getRank() != 0 && tensor.getDimSize(0) != 1;
      });
  for (auto [number, type] : llvm::enumerate(expected.argumentTypes)) {
    auto tensor = mlir::cast<mlir::RankedTensorType>(type);
    llvm::SmallVector<int64_t> shape(tensor.getShape());
    // Samples that share no batch lie row after row, or side by side.
    if (shape.empty() || (ownLeadingSizes && number % 2 == 0))
      shape.insert(shape.begin(), expected.samples);
    else
      shape[0] = shape[0] / expected.batch * expected.samples;
    std::string path = folder + "/" + std::to_string(number) + ".npy";
    auto writer = llvm::cantFail(
        support::NpyWriter::create(path, npyElement(type), shape));
    writer->write(expected.data[number].data(),
                  expected.sampleBytes(number) * size_t(expected.samples));
    llvm::cantFail(writer->commit());
    files.push_back(std::to_string(number) + ":" + path);
  }
  return files;
}

} // namespace mct::testing

#endif // MCT_TEST_UNIT_EXECUTION_EXPECTATION_H
