// SPDX-License-Identifier: Apache-2.0
#include "mct/Evaluation/Comparison.h"

#include "mct/Support/AlignedBuffer.h"
#include "mct/Support/RowMajor.h"
#include "llvm/ADT/STLExtras.h"

using namespace mct;
using namespace mct::execution;
using llvm::ArrayRef;

/// Keeps the values of the unit that the executor runs.
class Comparison::Capture : public TensorObserver {
public:
  void observe(const TensorView &view) override {
    if (!grid) {
      values = view.floats().vec();
      if (quantizer) {
        shape = view.shape().vec();
        quantized = quantize(values);
      }
      return;
    }
    unsigned bits = view.elementType().getIntOrFloatBitWidth();
    if (bits == 8)
      decode<int8_t>(view);
    else if (bits == 16)
      decode<int16_t>(view);
    else
      decode<int32_t>(view);
  }
  /// Returns the values as the quantizer rounds them.
  std::vector<float> quantize(ArrayRef<float> from) const {
    std::vector<float> to(from.size());
    quantizer->run(shape, axes, from.data(), to.data());
    return to;
  }

  /// Stored integers, if there is a grid, and real numbers, which are rounded
  /// if there is a quantizer.
  std::vector<int64_t> stored;
  std::vector<float> values, quantized;
  const quantization::Grid *grid = nullptr;
  const quantization::TensorQuantizer *quantizer = nullptr;
  ArrayRef<int64_t> axes;

private:
  template <typename Stored> void decode(const TensorView &view) {
    ArrayRef<Stored> integers = view.values<Stored>();
    stored.assign(integers.begin(), integers.end());
    values.clear();
    for (int64_t code : stored)
      values.push_back(
          static_cast<float>(grid->step * double(code - grid->zeroPoint)));
  }
  std::vector<int64_t> shape;
};

/// Returns the elements of a tensor with its axes in another order.
static std::vector<float> transpose(ArrayRef<float> data,
                                    ArrayRef<int64_t> shape,
                                    ArrayRef<int32_t> permutation) {
  llvm::SmallVector<int64_t> strides = support::getRowMajorStrides(shape),
                             sizes, steps;
  for (int32_t axis : permutation) {
    sizes.push_back(shape[axis]);
    steps.push_back(strides[axis]);
  }
  std::vector<float> result;
  result.reserve(data.size());
  support::forEachPosition<1>(sizes, {steps},
                              [&](auto at) { result.push_back(data[at[0]]); });
  return result;
}

/// Compares the reference's values with those captured.
class Comparison::Compare : public TensorObserver {
public:
  Compare(const Capture &capture, ArrayRef<int32_t> permutation,
          bool isBatchFirst)
      : capture(capture), permutation(permutation), isBatchFirst(isBatchFirst) {
  }
  void observe(const TensorView &view) override {
    ArrayRef<float> data = view.floats();
    std::vector<float> transposed;
    if (!permutation.empty()) {
      transposed = transpose(data, view.shape(), permutation);
      data = transposed;
    }
    // The same values in another shape are fine; a different number is not the
    // same value.
    if (data.size() != capture.values.size())
      return;
    int64_t samples = isBatchFirst ? validSamples : 0;
    if (capture.quantizer) {
      difference.sums.add(capture.quantized, data, samples);
      difference.own.add(capture.quantize(data), data, samples);
      difference.inherited.add(capture.values, data, samples);
      return;
    }
    difference.sums.add(capture.values, data, samples);
    if (capture.grid)
      difference.steps.add(*capture.grid, capture.stored, data);
  }
  const Capture &capture;
  ArrayRef<int32_t> permutation;
  bool isBatchFirst;
  Difference difference;
  /// Number of samples of the unit that is compared.
  int64_t validSamples = 0;
};

struct Comparison::WorkerState {
  std::unique_ptr<Worker> reference;
  std::vector<Capture> captures;
  std::vector<std::unique_ptr<Compare>> compares; // null without a partner
  /// Inputs of the reference, if it reads samples of its own.
  std::vector<support::AlignedBuffer> inputs;
  std::vector<const void *> inputPointers;
  std::vector<std::vector<char>> outputs;
  std::vector<void *> outputPointers;
};

/// Returns the permutation of the axes of a tensor with the sizes `from` that
/// gives the sizes `to`, or none if `permutation` does not give them.
/// `permutation` may include axes of size 1 that `from` lacks.
static std::optional<llvm::SmallVector<int32_t>>
findOrder(ArrayRef<int64_t> from, ArrayRef<int32_t> permutation,
          ArrayRef<int64_t> to) {
  if (permutation.size() != to.size())
    return std::nullopt;
  llvm::SmallVector<int64_t> before(to.size(), -1);
  for (auto [axis, size] : llvm::zip_equal(permutation, to)) {
    if (axis < 0 || size_t(axis) >= to.size() || before[axis] >= 0)
      return std::nullopt;
    before[axis] = size;
  }
  // The axis of `from` for each axis, or -1 if `from` lacks it.
  llvm::SmallVector<int32_t> axes;
  int32_t next = 0;
  for (int64_t size : before) {
    bool isThere = size_t(next) != from.size() && from[next] == size;
    if (!isThere && size != 1)
      return std::nullopt;
    axes.push_back(isThere ? next++ : -1);
  }
  if (size_t(next) != from.size())
    return std::nullopt;
  llvm::SmallVector<int32_t> order;
  for (int32_t axis : permutation)
    if (axes[axis] >= 0)
      order.push_back(axes[axis]);
  return order;
}

/// Returns whether a value can be compared, because it has real numbers, or
/// integers that represent them.
static bool hasRealValues(const TensorSpec &spec, const ComparedValue &value) {
  return value.stored || spec.type.getElementType().isF32();
}

Comparison::Comparison(const Executor &executor, ArrayRef<ComparedValue> values,
                       const Executor &reference,
                       std::shared_ptr<const SampleSource> samples,
                       const TransposedNames &transposed, size_t numWorkers,
                       bool isLocal, size_t numEdited)
    : reference(reference), samples(std::move(samples)),
      values(values.begin(), values.end()) {
  for (auto [own, value] : llvm::zip_equal(executor.observed(), values)) {
    std::optional<quantization::Grid> &grid = grids.emplace_back();
    if (value.stored)
      grid = value.stored->getGrid(own.type.getElementTypeBitWidth());
    quantizers.push_back(value.quantizer ? value.quantizer.prepare() : nullptr);
    std::optional<Partner> &partner = partners.emplace_back();
    for (auto [index, other] : llvm::enumerate(reference.observed()))
      if (other.name == value.name && hasRealValues(own, value) &&
          other.type.getElementType().isF32() &&
          other.type.getNumElements() == own.type.getNumElements())
        partner = Partner{index, {}};
    auto order = transposed.find(value.name);
    if (partner || order == transposed.end() || !hasRealValues(own, value))
      continue;
    for (auto [index, other] : llvm::enumerate(reference.observed()))
      if (order->second.original == other.name &&
          other.type.getElementType().isF32())
        if (auto found =
                findOrder(other.type.getShape(), order->second.permutation,
                          own.type.getShape()))
          partner = Partner{index, *found};
  }
  for (size_t index = 0; index != numWorkers; ++index) {
    auto state = std::make_unique<WorkerState>();
    state->reference = std::make_unique<Worker>(reference);
    state->captures.resize(partners.size());
    for (auto [own, partner] : llvm::enumerate(partners)) {
      state->captures[own].grid = grids[own] ? &*grids[own] : nullptr;
      state->captures[own].quantizer = quantizers[own].get();
      state->captures[own].axes = this->values[own].axes;
      std::unique_ptr<Compare> &compare = state->compares.emplace_back();
      if (!partner)
        continue;
      compare =
          std::make_unique<Compare>(state->captures[own], partner->permutation,
                                    this->values[own].isBatchFirst);
      state->reference->setObserver(partner->index, compare.get());
      const Capture &capture = state->captures[own];
      if (isLocal && capture.grid && partner->index < numEdited &&
          partner->permutation.empty())
        state->reference->setEditor(
            partner->index,
            [&capture](llvm::MutableArrayRef<float> values, ArrayRef<int64_t>) {
              if (values.size() == capture.values.size())
                llvm::copy(capture.values, values.begin());
            });
    }
    for (const TensorSpec &output : reference.outputs()) {
      size_t bytes = output.type.getNumElements() *
                     getElementBytes(output.type.getElementType());
      state->outputs.emplace_back(bytes);
      state->outputPointers.push_back(state->outputs.back().data());
    }
    if (this->samples)
      for (const TensorSpec &input : reference.inputs()) {
        state->inputs.emplace_back(
            input.type.getNumElements() *
            getElementBytes(input.type.getElementType()));
        state->inputPointers.push_back(state->inputs.back().get());
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
  for (const std::unique_ptr<Compare> &compare : state.compares)
    if (compare)
      compare->validSamples = unit.validSamples;
  ArrayRef<const void *> inputs = unit.inputs;
  if (samples) {
    for (auto [input, buffer] : llvm::enumerate(state.inputs)) {
      if (!buffer.get())
        return llvm::createStringError(
            "not enough memory for the inputs of the network to compare with");
      if (llvm::Error error =
              loadUnit(*samples, input, unit.firstSample, unit.validSamples,
                       reference.unit(), buffer.get()))
        return error;
    }
    inputs = state.inputPointers;
  }
  return state.reference->run(inputs, state.outputPointers, unit.validSamples);
}

ArrayRef<void *> Comparison::referenceOutputs(size_t worker) const {
  return workers[worker]->outputPointers;
}

std::vector<PointTotals> Comparison::totals() const {
  std::vector<PointTotals> all;
  for (auto [own, value] : llvm::enumerate(values)) {
    if (!partners[own])
      continue;
    Difference total;
    for (const std::unique_ptr<WorkerState> &worker : workers) {
      const Difference &workerDifference = worker->compares[own]->difference;
      total.sums.merge(workerDifference.sums);
      total.own.merge(workerDifference.own);
      total.inherited.merge(workerDifference.inherited);
      total.steps.merge(workerDifference.steps);
    }
    PointTotals &point = all.emplace_back();
    point.name = value.name;
    point.sums = total.sums;
    if (value.stored)
      point.steps = total.steps;
    if (value.quantizer) {
      point.own = total.own;
      point.inherited = total.inherited;
    }
  }
  return all;
}

std::vector<std::string> Comparison::withoutPartner() const {
  std::vector<std::string> names;
  for (auto [partner, value] : llvm::zip_equal(partners, values))
    if (!partner)
      names.push_back(value.name);
  return names;
}
