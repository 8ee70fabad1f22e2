// SPDX-License-Identifier: Apache-2.0
#include "MetricRun.h"

#include "Metrics.h"
#include "mct/Evaluation/ResultComparison.h"
#include "mct/Evaluation/Signature.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ScopedPrinter.h"

using namespace mlir;
using namespace mct;
using namespace mct::execution;
using llvm::Error;
using llvm::Expected;

/// Returns the shape of the part of a result that belongs to one sample; none
/// if the batch does not come first.
static std::optional<SmallVector<int64_t>> findShape(const TensorSpec &spec,
                                                     int64_t unit) {
  SmallVector<int64_t> shape(spec.type.getShape());
  if (shape.empty() || shape.front() % unit != 0)
    return std::nullopt;
  shape.front() /= unit;
  if (shape.front() == 1)
    shape.erase(shape.begin());
  return shape;
}

/// Returns the elements of the valid samples, as real numbers if the integers
/// represent known ones. Returns none for other types.
static std::optional<std::vector<float>>
readNumbers(const TensorSpec &spec, const void *data, int64_t unit,
            int64_t valid, const QuantizedValues &stored, size_t number) {
  if (auto reals = readResult(spec, data, unit, valid, stored, number))
    return reals;
  int64_t count = spec.type.getNumElements() / unit * valid;
  auto convert = [&](auto *codes) {
    return std::vector<float>(codes, codes + count);
  };
  Type type = spec.type.getElementType();
  if (type.isInteger(8))
    return type.isUnsignedInteger()
               ? convert(static_cast<const uint8_t *>(data))
               : convert(static_cast<const int8_t *>(data));
  if (type.isInteger(16))
    return convert(static_cast<const int16_t *>(data));
  if (type.isInteger(32))
    return convert(static_cast<const int32_t *>(data));
  if (type.isInteger(64))
    return convert(static_cast<const int64_t *>(data));
  return std::nullopt;
}

std::vector<std::string>
execution::readResultNames(func::FuncOp function,
                           const QuantizedValues &stored) {
  std::vector<std::string> names;
  for (unsigned number = 0; number != function.getNumResults(); ++number)
    names.push_back(number < stored.size() && stored[number]
                        ? stored[number]->name
                        : getResultName(function, number));
  return names;
}

/// Returns the index of the result that a metric measures.
static Expected<size_t> findResult(const MetricRun::Inputs &inputs) {
  llvm::StringRef result = inputs.metric->getResult();
  if (result.empty())
    return 0;
  size_t index = 0;
  if (!result.getAsInteger(10, index) && index < inputs.specs.size())
    return index;
  auto named = llvm::find(inputs.names, result);
  if (named != inputs.names.end())
    return size_t(named - inputs.names.begin());
  return refuse("there is no result '" + result + "'; there are " +
                llvm::join(inputs.names, ", "));
}

MetricRun::MetricRun(Inputs given, size_t result, MetricLabels labels)
    : inputs(std::move(given)), result(result), labels(std::move(labels)) {
  rows.length = inputs.metric->getRowLength();
  rows.values.resize(size_t(rows.length * inputs.samples->numSamples()));
  if (!inputs.referenceSpecs.empty())
    referenceRows = rows;
}

/// Adds the name of the metric to a message.
Error MetricRun::name(Error error) const {
  if (!error)
    return Error::success();
  return refuse("metric '" + inputs.metric->getText() +
                "': " + llvm::toString(std::move(error)));
}

Expected<std::unique_ptr<MetricRun>> MetricRun::create(Inputs inputs) {
  llvm::StringRef text = inputs.metric->getText();
  auto fail = [&](const Twine &message) {
    return refuse("metric '" + text + "': " + message);
  };
  if (inputs.labelsFile.empty())
    return fail("it needs labels, which say what is right of each sample");
  if (inputs.specs.empty())
    return fail("the network has no result");
  Expected<size_t> result = findResult(inputs);
  if (!result)
    return fail(llvm::toString(result.takeError()));
  std::string which =
      *result == 0 ? "the first result" : "result " + std::to_string(*result);
  auto shape = findShape(inputs.specs[*result], inputs.unit);
  if (!shape)
    return fail("expected " + which + " with the batch first");
  if (!inputs.referenceSpecs.empty() &&
      (inputs.referenceSpecs.size() <= *result ||
       findShape(inputs.referenceSpecs[*result], inputs.unit) != shape))
    return fail(which + " has different shapes in both networks");
  auto labels = MetricLabels::open(inputs.labelsFile);
  if (!labels)
    return labels.takeError();
  int64_t count = labels->getNumSamples();
  bool isPart = !inputs.positions.empty();
  int64_t expected = isPart ? inputs.labelled : inputs.samples->numAvailable();
  if (count != expected && (isPart || count != inputs.samples->numSamples()))
    return labels->fail("expected " + Twine(expected) + " labels, found " +
                        Twine(count));
  if (Error error = inputs.metric->prepare(*shape, *labels))
    return fail(llvm::toString(std::move(error)));
  return std::unique_ptr<MetricRun>(
      new MetricRun(std::move(inputs), *result, std::move(*labels)));
}

Error MetricRun::measure(const TensorSpec &spec, const void *data,
                         const Unit &unit, const QuantizedValues &stored,
                         MetricRows &to) const {
  auto values =
      readNumbers(spec, data, inputs.unit, unit.validSamples, stored, result);
  if (!values)
    return refuse("expected a result of numbers, found " +
                  llvm::to_string(spec.type));
  size_t length = values->size() / size_t(unit.validSamples);
  std::vector<double> label;
  for (int64_t index = 0; index != unit.validSamples; ++index) {
    int64_t sample = unit.firstSample + index;
    int64_t position =
        inputs.positions.empty() ? sample : inputs.positions[size_t(sample)];
    if (Error error = labels.read(position, label))
      return error;
    if (Error error = inputs.metric->measure(
            ArrayRef<float>(*values).slice(size_t(index) * length, length),
            label, to[sample]))
      return labels.fail(llvm::toString(std::move(error)), position);
  }
  return Error::success();
}

Error MetricRun::measure(const Unit &unit, ArrayRef<void *> reference) {
  if (Error error = measure(inputs.specs[result], unit.outputs[result], unit,
                            inputs.stored, rows))
    return name(std::move(error));
  if (inputs.referenceSpecs.empty())
    return Error::success();
  return name(measure(inputs.referenceSpecs[result], reference[result], unit,
                      {}, referenceRows));
}

MetricTotals MetricRun::totals() const {
  MetricTotals all{rows, std::nullopt};
  if (!inputs.referenceSpecs.empty())
    all.reference = referenceRows;
  all.sort();
  return all;
}
