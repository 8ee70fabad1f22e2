// SPDX-License-Identifier: Apache-2.0
#include "mct/Execution/Comparison.h"

#include "llvm/ADT/STLExtras.h"
#include <cmath>
#include <limits>

using namespace mct::execution;
using llvm::ArrayRef;

/// NaN when either is.
static double largerOf(double left, double right) {
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
    largest = largerOf(largest, std::abs(difference));
  }
}

void ErrorSums::merge(const ErrorSums &other) {
  reference += other.reference;
  value += other.value;
  product += other.product;
  error += other.error;
  largest = largerOf(largest, other.largest);
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

/// Keeps the values of the unit that the executor runs.
class Comparison::Capture : public TensorObserver {
public:
  void observe(const TensorView &view) override {
    values = view.floats().vec();
  }
  std::vector<float> values;
};

/// The elements of a tensor with its axes in another order.
static std::vector<float> transpose(ArrayRef<float> data,
                                    ArrayRef<int64_t> shape,
                                    ArrayRef<int32_t> permutation) {
  llvm::SmallVector<int64_t> strides(shape.size(), 1), sizes, steps;
  for (size_t axis = shape.size(); axis-- > 1;)
    strides[axis - 1] = strides[axis] * shape[axis];
  for (int32_t axis : permutation) {
    sizes.push_back(shape[axis]);
    steps.push_back(strides[axis]);
  }
  std::vector<float> result;
  result.reserve(data.size());
  llvm::SmallVector<int64_t> index(sizes.size(), 0);
  int64_t position = 0;
  while (result.size() != data.size()) {
    result.push_back(data[position]);
    for (size_t axis = sizes.size(); axis-- > 0;) {
      position += steps[axis];
      if (++index[axis] < sizes[axis])
        break;
      position -= steps[axis] * sizes[axis];
      index[axis] = 0;
    }
  }
  return result;
}

/// Compares the reference's values with those captured.
class Comparison::Compare : public TensorObserver {
public:
  Compare(const Capture &capture, ArrayRef<int32_t> permutation)
      : capture(capture), permutation(permutation) {}
  void observe(const TensorView &view) override {
    ArrayRef<float> data = view.floats();
    *sums = {};
    std::vector<float> transposed;
    if (!permutation.empty()) {
      transposed = transpose(data, view.shape(), permutation);
      data = transposed;
    }
    // The same values in another shape are fine; a different number is not the
    // same value.
    if (data.size() == capture.values.size())
      sums->add(capture.values, data);
  }
  const Capture &capture;
  ArrayRef<int32_t> permutation;
  ErrorSums *sums = nullptr;
};

struct Comparison::WorkerState {
  std::unique_ptr<Worker> reference;
  std::vector<Capture> captures;
  std::vector<std::unique_ptr<Compare>> compares; // null without a partner
  std::vector<std::vector<char>> outputs;
  std::vector<void *> outputPointers;
};

/// Whether `permutation` is one, and brings the sizes `from` to be `to`.
static bool isPermuted(ArrayRef<int64_t> from, ArrayRef<int32_t> permutation,
                       ArrayRef<int64_t> to) {
  llvm::SmallVector<bool> taken(from.size(), false);
  if (permutation.size() != from.size() || to.size() != from.size())
    return false;
  for (auto [axis, size] : llvm::zip_equal(permutation, to)) {
    if (axis < 0 || size_t(axis) >= from.size() || taken[axis] ||
        from[axis] != size)
      return false;
    taken[axis] = true;
  }
  return true;
}

Comparison::Comparison(const Executor &executor, const Executor &reference,
                       const TransposedNames &transposed, size_t numWorkers,
                       int64_t units)
    : executor(executor),
      sums(units, std::vector<ErrorSums>(executor.observed().size())) {
  for (const TensorSpec &own : executor.observed()) {
    std::optional<Partner> &partner = partners.emplace_back();
    for (auto [index, other] : llvm::enumerate(reference.observed()))
      if (other.name == own.name && own.type.getElementType().isF32() &&
          other.type.getElementType().isF32() &&
          other.type.getNumElements() == own.type.getNumElements())
        partner = Partner{index, {}};
    auto order = transposed.find(own.name);
    if (partner || order == transposed.end())
      continue;
    for (auto [index, other] : llvm::enumerate(reference.observed()))
      if (order->second.original == other.name &&
          other.type.getElementType().isF32() &&
          isPermuted(other.type.getShape(), order->second.permutation,
                     own.type.getShape()))
        partner = Partner{index, order->second.permutation};
  }
  for (size_t index = 0; index != numWorkers; ++index) {
    auto state = std::make_unique<WorkerState>();
    state->reference = std::make_unique<Worker>(reference);
    state->captures.resize(partners.size());
    for (auto [own, partner] : llvm::enumerate(partners)) {
      std::unique_ptr<Compare> &compare = state->compares.emplace_back();
      if (!partner)
        continue;
      compare =
          std::make_unique<Compare>(state->captures[own], partner->permutation);
      state->reference->setObserver(partner->index, compare.get());
    }
    for (const TensorSpec &output : reference.outputs()) {
      size_t bytes = output.type.getNumElements() *
                     getElementBytes(output.type.getElementType());
      state->outputs.emplace_back(bytes);
      state->outputPointers.push_back(state->outputs.back().data());
    }
    workers.push_back(std::move(state));
  }
}

Comparison::~Comparison() = default;

void Comparison::setUp(size_t index, Worker &worker) {
  for (size_t own = 0; own != partners.size(); ++own)
    if (partners[own])
      worker.setObserver(own, &workers[index]->captures[own]);
}

llvm::Error Comparison::compare(const Unit &unit) {
  WorkerState &state = *workers[unit.worker];
  for (auto [own, compare] : llvm::enumerate(state.compares))
    if (compare)
      compare->sums = &sums[unit.index][own];
  return state.reference->run(unit.inputs, state.outputPointers,
                              unit.validSamples);
}

ArrayRef<void *> Comparison::referenceOutputs(size_t worker) const {
  return workers[worker]->outputPointers;
}

std::vector<std::pair<std::string, ErrorSums>> Comparison::results() const {
  std::vector<std::pair<std::string, ErrorSums>> results;
  for (auto [own, spec] : llvm::enumerate(executor.observed())) {
    if (!partners[own])
      continue;
    ErrorSums total;
    for (const std::vector<ErrorSums> &unit : sums)
      total.merge(unit[own]);
    results.emplace_back(spec.name, total);
  }
  return results;
}

std::vector<std::string> Comparison::withoutPartner() const {
  std::vector<std::string> names;
  for (auto [partner, spec] : llvm::zip_equal(partners, executor.observed()))
    if (!partner)
      names.push_back(spec.name);
  return names;
}
