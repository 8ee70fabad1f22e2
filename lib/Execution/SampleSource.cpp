// SPDX-License-Identifier: Apache-2.0
#include "mct/Execution/SampleSource.h"
#include "SampleRows.h"
#include "mct/Execution/RunCache.h"
#include "mct/Support/RowMajor.h"
#include "mct/Support/Troubleshooting.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/ScopedPrinter.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

using namespace mct::execution;
using namespace mct::support;

template <typename... Parts>
static llvm::Error fail(const char *format, Parts &&...parts) {
  return llvm::createStringError(
      llvm::formatv(format, std::forward<Parts>(parts)...).str());
}

static std::string shapeText(llvm::ArrayRef<int64_t> shape) {
  std::string text;
  for (int64_t size : shape)
    text += (text.empty() ? "" : "x") + std::to_string(size);
  return text.empty() ? "scalar" : text;
}

/// Numbers separated by ';'; empty text gives none.
static llvm::Error parseChannelValues(llvm::StringRef text,
                                      llvm::StringRef option,
                                      llvm::SmallVector<double> &values) {
  if (text.empty())
    return llvm::Error::success();
  llvm::SmallVector<llvm::StringRef> parts;
  text.split(parts, ';');
  for (llvm::StringRef part : parts)
    if (part.trim().getAsDouble(values.emplace_back()) ||
        !std::isfinite(values.back()))
      return fail("{0}: expected a number, or numbers separated by ';', but "
                  "got '{1}'",
                  option, text);
  return llvm::Error::success();
}

llvm::Expected<SampleOptions>
SampleOptions::parse(llvm::ArrayRef<std::string> files, llvm::StringRef scale,
                     llvm::StringRef offset, uint64_t limit) {
  SampleOptions options;
  options.files.append(files.begin(), files.end());
  options.limit = limit == 0 ? -1 : static_cast<int64_t>(limit);
  if (llvm::Error error =
          parseChannelValues(scale, "input-scale", options.scale))
    return std::move(error);
  if (llvm::Error error =
          parseChannelValues(offset, "input-offset", options.offset))
    return std::move(error);
  if (llvm::is_contained(options.scale, 0))
    return fail("input-scale: a scale of 0 makes all samples equal");
  return options;
}

std::vector<std::string>
SampleOptions::getPaths(llvm::ArrayRef<std::string> files) {
  std::vector<std::string> paths;
  for (llvm::StringRef file : files) {
    paths.push_back(file.str());
    paths.push_back(file.split(':').second.str());
  }
  return paths;
}

/// Parses `NAME:PATH` if NAME is that of an input; a path may contain colons.
static std::pair<std::optional<size_t>, llvm::StringRef>
splitName(llvm::StringRef text, llvm::ArrayRef<TensorSpec> inputs) {
  auto [name, path] = text.split(':');
  if (path.empty())
    return {std::nullopt, text};
  for (size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i].name == name)
      return {i, path};
  size_t number;
  if (!name.getAsInteger(10, number) && number < inputs.size())
    return {number, path};
  return {std::nullopt, text};
}

/// Returns whether a stored type can be converted to the network's, with or
/// without a scale.
static bool isConvertible(ElementType from, mlir::Type to) {
  if (to.isF32())
    return from != ElementType::F64 && from != ElementType::I64 &&
           from != ElementType::Bool;
  if (to.isF16())
    return from == ElementType::F16;
  if (to.isInteger(1))
    return from == ElementType::Bool;
  if (to.isInteger(8))
    return to.isUnsignedInteger(8)
               ? from == ElementType::U8
               : from == ElementType::I8 || from == ElementType::U8;
  if (to.isInteger(16))
    return from == ElementType::I16 || from == ElementType::U16;
  if (to.isInteger(32))
    return from == ElementType::I32 || from == ElementType::U32;
  if (to.isInteger(64))
    return from == ElementType::I64;
  return false;
}

/// Finds the size of a sample of an input: rows of its leading dimension,
/// elements and bytes. Sizes come from the network and may be anything.
static llvm::Error measure(const TensorSpec &spec, int64_t unit, int64_t &rows,
                           int64_t &elements, size_t &bytes) {
  auto refuse = [&](llvm::StringRef why) {
    return fail("input '{0}' of the network cannot be read: its type {1} {2}",
                spec.name, llvm::to_string(spec.type), why);
  };
  if (!spec.type.hasStaticShape() || !spec.type.getElementType().isIntOrFloat())
    return refuse("is not one of numbers of a known shape");
  uint64_t total = getElementBytes(spec.type.getElementType());
  for (int64_t size : spec.type.getShape()) {
    bool overflow = false;
    total = llvm::SaturatingMultiply<uint64_t>(total, size, &overflow);
    if (overflow || total > uint64_t(INT64_MAX))
      return refuse("is too large");
  }
  if (total == 0)
    return refuse("holds no elements");
  int64_t leading = spec.type.getRank() == 0 ? 1 : spec.type.getDimSize(0);
  if (unit < 1 || leading % unit != 0)
    return refuse("does not hold " + std::to_string(unit) + " samples");
  rows = leading / unit;
  elements = spec.type.getNumElements() / unit;
  bytes = total / unit;
  return llvm::Error::success();
}

/// Returns the shapes that a file for an input of this shape may have.
static std::string expectedShape(llvm::ArrayRef<int64_t> whole,
                                 bool ownLeadingSizes) {
  if (whole.empty())
    return "N";
  llvm::ArrayRef<int64_t> row = whole.drop_front();
  std::string rows = row.empty() ? "N" : "Nx" + shapeText(row);
  if (!ownLeadingSizes)
    return rows;
  if (whole.front() != 1)
    rows += llvm::formatv(" with {0} rows for each sample,", whole.front());
  return rows + " or Nx" + shapeText(whole);
}

/// Returns a remedy for images with channels first for a network with channels
/// last, or vice versa; empty for shapes that differ in another way. `found`
/// and `row` are without the leading dimension.
static std::string layoutHint(llvm::ArrayRef<int64_t> found,
                              llvm::ArrayRef<int64_t> row) {
  auto explain = [](llvm::StringRef samples, llvm::StringRef network,
                    llvm::StringRef options) {
    return llvm::formatv("; the file has channels {0}, and the network has "
                         "them {1}: transpose it, or run "
                         "mct-record-preprocessing=\"{2}\" before{3}"
                         "samples-that-do-not-fit",
                         samples, network, options,
                         mct::support::kTroubleshooting)
        .str();
  };
  if (row.size() != 3 || found.size() != 3)
    return "";
  if (found == llvm::ArrayRef<int64_t>{row[2], row[0], row[1]})
    return explain("first", "last", "permutation=1,2,0");
  if (found == llvm::ArrayRef<int64_t>{row[1], row[2], row[0]})
    return explain("last", "first", "permutation=2,0,1 axis=1");
  return "";
}

SampleSource::~SampleSource() = default;

namespace {
/// Samples in stored tensors, converted to the types that a network reads.
class StoredSamples : public SampleSource {
public:
  llvm::Error open(const SampleOptions &options,
                   llvm::ArrayRef<TensorSpec> specs, int64_t unit,
                   RunCache &cache);

  int64_t numSamples() const override { return sampleCount; }
  int64_t numAvailable() const override { return availableCount; }
  size_t numInputs() const override { return inputs.size(); }
  size_t sampleBytes(size_t input) const override {
    return inputs[input].sampleBytes;
  }
  llvm::Error load(size_t input, int64_t first, int64_t count,
                   void *buffer) const override;

private:
  struct Shard {
    std::shared_ptr<const StoredTensor> tensor;
    int64_t first = 0, count = 0;
    /// Number of rows of the file that make a sample.
    int64_t rows = 1;
    /// True if its elements are integers that represent real numbers.
    bool holdsCodes = false;
  };
  struct Input {
    std::string name;
    mlir::Type elementType;
    llvm::SmallVector<int64_t> shape;
    /// Number of rows of the leading dimension in a sample; 1 for a scalar.
    int64_t sampleRows = 1;
    int64_t sampleElements = 0;
    size_t sampleBytes = 0;
    /// Shape of a row in a file with another order of elements.
    llvm::SmallVector<int64_t> permutation;
    /// Index in the file's row of each element of the input's row.
    std::vector<int64_t> order;
    /// Scales and offsets of the elements of a sample, repeated; empty for 1
    /// and 0.
    llvm::SmallVector<float> scale, offset;
    std::deque<Shard> shards;
    /// Records of the integers in files.
    std::optional<mct::QuantizedValue> codes;
  };
  llvm::Error add(std::shared_ptr<const StoredTensor> tensor, Input &input,
                  const TensorSpec &spec);
  static llvm::Error setScale(Input &input, llvm::ArrayRef<double> scale,
                              llvm::ArrayRef<double> offset, int64_t axis);
  /// True if a sample of some input has several rows.
  bool haveOwnLeadingSizes() const {
    return llvm::any_of(
        inputs, [](const Input &input) { return input.sampleRows != 1; });
  }
  llvm::Error loadFrom(const Input &input, const Shard &shard, int64_t first,
                       int64_t count, char *buffer) const;
  llvm::SmallVector<Input, 1> inputs;
  int64_t sampleCount = 0, availableCount = 0;
};
} // namespace

namespace {
/// Samples that a network reads as integers on grids.
class QuantizedSamples : public SampleSource {
public:
  /// `inputs` are those of the network.
  QuantizedSamples(std::unique_ptr<SampleSource> samples,
                   const mct::QuantizedValues &records,
                   llvm::ArrayRef<TensorSpec> inputs)
      : samples(std::move(samples)) {
    for (auto [record, spec] : llvm::zip_equal(records, inputs)) {
      std::optional<Target> &target = targets.emplace_back();
      if (!record)
        continue;
      unsigned bits = spec.type.getElementTypeBitWidth();
      target = Target{record->getGrid(bits), bits / 8};
    }
  }

  int64_t numSamples() const override { return samples->numSamples(); }
  int64_t numAvailable() const override { return samples->numAvailable(); }
  size_t numInputs() const override { return samples->numInputs(); }
  size_t sampleBytes(size_t input) const override {
    size_t bytes = samples->sampleBytes(input);
    return targets[input] ? bytes / sizeof(float) * targets[input]->bytes
                          : bytes;
  }
  llvm::Error load(size_t input, int64_t first, int64_t count,
                   void *buffer) const override {
    if (!targets[input])
      return samples->load(input, first, count, buffer);
    std::vector<float> values(count * samples->sampleBytes(input) /
                              sizeof(float));
    if (llvm::Error error = samples->load(input, first, count, values.data()))
      return error;
    if (targets[input]->bytes == 1)
      store<int8_t>(targets[input]->grid, values, buffer);
    else if (targets[input]->bytes == 2)
      store<int16_t>(targets[input]->grid, values, buffer);
    else
      store<int32_t>(targets[input]->grid, values, buffer);
    return llvm::Error::success();
  }

private:
  struct Target {
    mct::quantization::Grid grid;
    /// Size in bytes of a stored value.
    unsigned bytes;
  };
  /// Uses the simulation's quantizer to choose the level of a value, so that
  /// both agree.
  template <typename Stored>
  static void store(const mct::quantization::Grid &grid,
                    std::vector<float> &values, void *buffer) {
    mct::quantization::fakeQuantize(grid, values.data(), values.data(),
                                    values.size());
    auto *to = static_cast<Stored *>(buffer);
    if constexpr (sizeof(Stored) <= 2) {
      // The values are on the grid, so this product is off an integer by less
      // than a hundredth.
      float inverse = 1 / static_cast<float>(grid.step);
      auto zero = static_cast<int32_t>(grid.zeroPoint);
      for (size_t i = 0; i != values.size(); ++i) {
        float level = values[i] * inverse;
        to[i] = static_cast<Stored>(
            static_cast<int32_t>(level + (level < 0 ? -0.5f : 0.5f)) + zero);
      }
      return;
    }
    double step = static_cast<float>(grid.step);
    for (size_t i = 0; i != values.size(); ++i)
      to[i] = static_cast<Stored>(
          std::clamp(std::nearbyint(values[i] / step) + grid.zeroPoint,
                     double(grid.qmin), double(grid.qmax)));
  }

  std::unique_ptr<SampleSource> samples;
  std::vector<std::optional<Target>> targets;
};
} // namespace

llvm::Expected<std::unique_ptr<SampleSource>>
SampleSource::open(const SampleOptions &options,
                   llvm::ArrayRef<TensorSpec> specs, int64_t unit,
                   RunCache *cache) {
  RunCache own;
  std::vector<TensorSpec> stored(specs);
  for (auto [record, spec] : llvm::zip(options.quantized, stored))
    if (record)
      spec.type = mlir::RankedTensorType::get(
          spec.type.getShape(), mlir::Float32Type::get(spec.type.getContext()));
  auto source = std::make_unique<StoredSamples>();
  if (llvm::Error error =
          source->open(options, stored, unit, cache ? *cache : own))
    return std::move(error);
  if (llvm::none_of(options.quantized,
                    [](const auto &record) { return record.has_value(); }))
    return std::move(source);
  return std::make_unique<QuantizedSamples>(std::move(source),
                                            options.quantized, specs);
}

/// Returns all of them, for messages.
static std::string namesOf(llvm::ArrayRef<TensorSpec> specs) {
  std::string names;
  for (const TensorSpec &spec : specs)
    names += (names.empty() ? "'" : ", '") + spec.name + "'";
  return names;
}

/// Appends the samples of a tensor to those of an input.
llvm::Error StoredSamples::add(std::shared_ptr<const StoredTensor> tensor,
                               Input &input, const TensorSpec &spec) {
  llvm::ArrayRef<int64_t> found = tensor->shape();
  Shard shard;
  if (input.codes) {
    ElementType stored = input.codes->bits <= 8    ? ElementType::I8
                         : input.codes->bits <= 16 ? ElementType::I16
                                                   : ElementType::I32;
    shard.holdsCodes = tensor->elementType() == stored;
  }
  llvm::SmallVector<int64_t> sizes(spec.type.getShape());
  if (!shard.holdsCodes)
    for (auto [dimension, from] : llvm::enumerate(input.permutation))
      sizes[from + 1] = spec.type.getDimSize(dimension + 1);
  llvm::ArrayRef<int64_t> whole = sizes;
  llvm::ArrayRef<int64_t> row = whole.drop_front(whole.empty() ? 0 : 1);
  bool ownLeadingSizes = haveOwnLeadingSizes();
  // The file holds rows, or samples of the whole shape stacked along the first
  // axis.
  bool isRows = !found.empty() && found.drop_front() == row;
  bool isStacked = ownLeadingSizes && !whole.empty() && !found.empty() &&
                   found.drop_front() == whole;
  int64_t sampleRows = isStacked ? 1 : input.sampleRows;
  if ((!isRows && !isStacked) || found.front() % sampleRows != 0)
    return fail("'{0}': expected shape {1} for input '{2}', found {3}{4}",
                tensor->name(), expectedShape(whole, ownLeadingSizes),
                input.name, shapeText(found),
                found.empty() ? "" : layoutHint(found.drop_front(), row));
  if (!isConvertible(tensor->elementType(), input.elementType))
    return fail("'{0}': expected elements that can be read as {1} for input "
                "'{2}', found {3}",
                tensor->name(), llvm::to_string(input.elementType), input.name,
                getName(tensor->elementType()));
  if (found.front() == 0)
    return fail("'{0}': expected at least one sample, found none",
                tensor->name());
  shard.first = input.shards.empty()
                    ? 0
                    : input.shards.back().first + input.shards.back().count;
  shard.rows = sampleRows;
  shard.count = found.front() / sampleRows;
  shard.tensor = std::move(tensor);
  input.shards.push_back(std::move(shard));
  return llvm::Error::success();
}

/// Returns for each element of a row of `shape` (without its leading size) its
/// index in a row whose dimensions become those of `shape` by `permutation`;
/// empty if the order is the same.
static std::vector<int64_t> getOrder(llvm::ArrayRef<int64_t> shape,
                                     llvm::ArrayRef<int64_t> permutation) {
  if (permutation.empty())
    return {};
  llvm::ArrayRef<int64_t> row = shape.drop_front();
  llvm::SmallVector<int64_t> stored(row.size()), steps;
  for (auto [dimension, from] : llvm::enumerate(permutation))
    stored[from] = row[dimension];
  llvm::SmallVector<int64_t> strides = mct::support::getRowMajorStrides(stored);
  for (int64_t from : permutation)
    steps.push_back(strides[from]);
  std::vector<int64_t> order;
  mct::support::forEachPosition<1>(row, {steps},
                                   [&](auto at) { order.push_back(at[0]); });
  return order;
}

/// Accepts one value for all, or one for each element along `axis`.
llvm::Error StoredSamples::setScale(Input &input, llvm::ArrayRef<double> scale,
                                    llvm::ArrayRef<double> offset,
                                    int64_t axis) {
  int64_t channels = axis > 0 ? input.shape[axis] : 1, after = 1;
  for (int64_t size :
       llvm::drop_begin(input.shape, std::max<int64_t>(axis + 1, 0)))
    after *= size;
  // One value for all channels needs no table of all elements.
  if (scale.size() <= 1 && offset.size() <= 1)
    after = 1;
  auto expand = [&](llvm::ArrayRef<double> values, float missing,
                    llvm::StringRef what,
                    llvm::SmallVector<float> &result) -> llvm::Error {
    if (values.size() > 1 && static_cast<int64_t>(values.size()) != channels)
      return fail("{0}: expected one value or {1}, one for each channel of "
                  "input '{2}', found {3}",
                  what, channels, input.name, values.size());
    for (double value : values)
      if (!std::isfinite(value))
        return fail("{0}: expected finite values, found {1}", what, value);
    // Repeat the values, so that the loop that applies them is long.
    constexpr int64_t kLoopLength = 256;
    int64_t period = channels * after;
    int64_t repeats = (kLoopLength + period - 1) / period;
    result.assign(repeats * period, missing);
    for (auto [i, factor] : llvm::enumerate(result))
      if (!values.empty())
        factor = static_cast<float>(
            values.size() == 1 ? values[0] : values[i / after % channels]);
    return llvm::Error::success();
  };
  if (scale.empty() && offset.empty())
    return llvm::Error::success();
  if (llvm::Error error = expand(scale, 1, "input scale", input.scale))
    return error;
  return expand(offset, 0, "input offset", input.offset);
}

llvm::Error StoredSamples::open(const SampleOptions &options,
                                llvm::ArrayRef<TensorSpec> specs, int64_t unit,
                                RunCache &cache) {
  bool scales = !options.scale.empty() || !options.offset.empty();
  auto getRecord = [&](size_t number) -> const auto & {
    return number < options.preprocessing.size() ? options.preprocessing[number]
                                                 : specs[number].preprocessing;
  };
  for (const TensorSpec &spec : specs) {
    Input &input = inputs.emplace_back();
    input.name = spec.name;
    input.elementType = spec.type.getElementType();
    input.shape.assign(spec.type.getShape().begin(),
                       spec.type.getShape().end());
    if (llvm::Error error = measure(spec, unit, input.sampleRows,
                                    input.sampleElements, input.sampleBytes))
      return error;
    size_t number = inputs.size() - 1;
    if (!scales && input.elementType.isF32() && number < options.codes.size())
      input.codes = options.codes[number];
    const std::optional<mct::Preprocessing> &record = getRecord(number);
    if (record)
      input.permutation = record->permutation;
    if (scales && input.elementType.isF32())
      if (llvm::Error error = setScale(input, options.scale, options.offset,
                                       spec.type.getRank() - 1))
        return error;
  }

  for (const std::string &text : options.files) {
    auto [number, path] = splitName(text, specs);
    if (!number && specs.size() == 1)
      number = 0;
    if (!number)
      return fail("'{0}': the network has {1} inputs ({2}); write NAME:PATH",
                  text, specs.size(), namesOf(specs));
    auto file = cache.openFile(path);
    if (!file)
      return file.takeError();
    if (llvm::Error error =
            add(std::move(*file), inputs[*number], specs[*number]))
      return error;
  }
  for (const SampleOptions::Tensor &given : options.tensors) {
    auto spec = llvm::find_if(
        specs, [&](const TensorSpec &one) { return one.name == given.input; });
    if (spec == specs.end() && given.input.empty() && specs.size() == 1)
      spec = specs.begin();
    if (spec == specs.end())
      return fail("'{0}': the network has no input '{1}', but {2}",
                  given.tensor->name(), given.input, namesOf(specs));
    if (llvm::Error error =
            add(given.tensor, inputs[spec - specs.begin()], *spec))
      return error;
  }

  bool first = true;
  for (const Input &input : inputs) {
    if (input.shards.empty())
      return fail("input '{0}' of the network has no data", input.name);
    int64_t count = input.shards.back().first + input.shards.back().count;
    if (!first && count != availableCount)
      return fail("expected {0} samples for input '{1}' as for '{2}', found "
                  "{3}{4}",
                  availableCount, input.name, inputs[0].name, count,
                  !haveOwnLeadingSizes()
                      ? ""
                      : "; the inputs have leading sizes of their own, so that "
                        "a sample of '" +
                            input.name + "' is all of " +
                            shapeText(input.shape) + ", and not one row of it");
    availableCount = count;
    first = false;
  }
  // Tables of the size of a sample are acceptable, since the files hold
  // samples.
  for (auto [number, input] : llvm::enumerate(inputs)) {
    const std::optional<mct::Preprocessing> &record = getRecord(number);
    if (!record)
      continue;
    llvm::ArrayRef<int64_t> shape = specs[number].type.getShape();
    input.order = getOrder(shape, record->permutation);
    int64_t last = static_cast<int64_t>(shape.size()) - 1;
    if (!scales && input.elementType.isF32())
      if (llvm::Error error = setScale(input, record->scale, record->offset,
                                       record->axis.value_or(last)))
        return error;
  }
  sampleCount = availableCount;
  if (options.limit >= 0)
    sampleCount = std::min(sampleCount, options.limit);
  return llvm::Error::success();
}

llvm::Error StoredSamples::loadFrom(const Input &input, const Shard &shard,
                                    int64_t first, int64_t count,
                                    char *buffer) const {
  int64_t elements = count * input.sampleElements;
  RowReader rows(*shard.tensor, first * shard.rows, count * shard.rows);
  if (!input.elementType.isF32()) {
    if (llvm::Error error = rows.read(0, elements, buffer))
      return error;
    reorder(input.order, elements, getElementBytes(input.elementType), buffer);
    if (!input.elementType.isInteger(1))
      return llvm::Error::success();
    for (int64_t i = 0; i < elements; ++i)
      if (buffer[i] != 0 && buffer[i] != 1)
        return fail("'{0}': sample {1}: expected 0 or 1, found {2} at element "
                    "{3}",
                    shard.tensor->name(), first + i / input.sampleElements,
                    unsigned(static_cast<unsigned char>(buffer[i])),
                    i % input.sampleElements);
    return llvm::Error::success();
  }
  auto *to = reinterpret_cast<float *>(buffer);
  if (llvm::Error error =
          readAsFloats(rows, shard.tensor->elementType(), elements, to))
    return error;
  if (shard.holdsCodes) {
    // Codes are small integers, which f32 represents exactly; it rounds wide
    // ones.
    auto step = static_cast<float>(input.codes->scale);
    auto zero = static_cast<float>(input.codes->zeroPoint);
    for (int64_t i = 0; i < elements; ++i)
      to[i] = (to[i] - zero) * step;
  } else {
    reorder(input.order, elements, sizeof(float), buffer);
  }
  auto period = shard.holdsCodes ? 0 : static_cast<int64_t>(input.scale.size());
  for (int64_t i = 0; period != 0 && i < elements; i += period) {
    const float *__restrict scale = input.scale.data();
    const float *__restrict offset = input.offset.data();
    float *__restrict block = to + i;
    int64_t length = std::min(period, elements - i);
    for (int64_t j = 0; j < length; ++j)
      block[j] = block[j] * scale[j] + offset[j];
  }

  // NaN and infinity are the values whose exponent bits are all ones; the sum
  // of that condition is cheaper than a branch per element.
  uint32_t bad = 0;
  for (int64_t i = 0; i < elements; ++i) {
    uint32_t bits;
    std::memcpy(&bits, to + i, sizeof(bits));
    bad |= (bits & 0x7f800000u) == 0x7f800000u;
  }
  if (!bad)
    return llvm::Error::success();
  for (int64_t i = 0; i < elements; ++i)
    if (!std::isfinite(to[i]))
      return fail("'{0}': sample {1}: expected finite values, found {2} at "
                  "element {3}",
                  shard.tensor->name(), first + i / input.sampleElements,
                  std::isnan(to[i]) ? "nan"
                  : to[i] > 0       ? "inf"
                                    : "-inf",
                  i % input.sampleElements);
  return llvm::Error::success();
}

/// Calls `visit(shard, first sample within it, count)` for the parts of a range
/// of samples.
template <typename Shards, typename Visit>
static void forEachPart(const Shards &shards, int64_t first, int64_t count,
                        Visit visit) {
  for (const auto &shard : shards) {
    int64_t begin = std::max(first, shard.first);
    int64_t end = std::min(first + count, shard.first + shard.count);
    if (begin < end)
      visit(shard, begin - shard.first, end - begin);
  }
}

llvm::Error StoredSamples::load(size_t number, int64_t first, int64_t count,
                                void *buffer) const {
  const Input &input = inputs[number];
  auto *position = static_cast<char *>(buffer);
  llvm::Error result = llvm::Error::success();
  forEachPart(input.shards, first, count,
              [&](const Shard &shard, int64_t begin, int64_t length) {
                if (result)
                  return;
                if (llvm::Error error =
                        loadFrom(input, shard, begin, length, position))
                  result = std::move(error);
                position += length * input.sampleBytes;
              });
  return result;
}
