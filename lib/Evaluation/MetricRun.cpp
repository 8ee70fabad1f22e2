// SPDX-License-Identifier: Apache-2.0
#include "MetricRun.h"

#include "Metrics.h"
#include "mct/Evaluation/ResultComparison.h"

using namespace mlir;
using namespace mct;
using namespace mct::execution;
using llvm::Error;
using llvm::Expected;

/// Returns the shape of the part of a result that belongs to one sample; none
/// where the batch does not come first.
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

/// Returns the elements of the valid samples: real numbers, or integers of
/// which nothing is known as they are. None for other types.
static std::optional<std::vector<float>>
readNumbers(const TensorSpec &spec, const void *data, int64_t unit,
            int64_t valid, const QuantizedValues &stored) {
  if (auto reals = readResult(spec, data, unit, valid, stored, 0))
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

MetricRun::MetricRun(Inputs given, MetricLabels labels)
    : inputs(std::move(given)), labels(std::move(labels)) {
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
  auto shape = findShape(inputs.specs.front(), inputs.unit);
  if (!shape)
    return fail("expected a first result with the batch first");
  if (!inputs.referenceSpecs.empty() &&
      findShape(inputs.referenceSpecs.front(), inputs.unit) != shape)
    return fail("the first results of both networks have different shapes");
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
      new MetricRun(std::move(inputs), std::move(*labels)));
}

Error MetricRun::measure(const TensorSpec &spec, const void *data,
                         const Unit &unit, const QuantizedValues &stored,
                         MetricRows &to) const {
  auto values = readNumbers(spec, data, inputs.unit, unit.validSamples, stored);
  if (!values) {
    std::string type;
    llvm::raw_string_ostream(type) << spec.type;
    return refuse("expected a first result of numbers, found " + type);
  }
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
  if (Error error = measure(inputs.specs.front(), unit.outputs.front(), unit,
                            inputs.stored, rows))
    return name(std::move(error));
  if (inputs.referenceSpecs.empty())
    return Error::success();
  return name(measure(inputs.referenceSpecs.front(), reference.front(), unit,
                      {}, referenceRows));
}

Expected<MetricResult> MetricRun::judge() {
  for (MetricRows *each : {&rows, &referenceRows})
    if (!each->values.empty())
      if (Error error = inputs.metric->finish(*each))
        return name(std::move(error));
  return execution::judge(*inputs.metric, rows,
                          inputs.referenceSpecs.empty() ? nullptr
                                                        : &referenceRows);
}
