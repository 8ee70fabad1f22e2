// SPDX-License-Identifier: Apache-2.0
#include "mct/Execution/SampleSource.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <cmath>
#include <cstring>
#include <vector>

using namespace mct::execution;

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

static std::string typeText(mlir::Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
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
  return options;
}

static float fromHalf(uint16_t bits) {
  uint32_t sign = uint32_t(bits & 0x8000) << 16;
  uint32_t exponent = (bits >> 10) & 0x1f, mantissa = bits & 0x3ff;
  if (exponent == 0) {
    float value = std::ldexp(static_cast<float>(mantissa), -24);
    return sign ? -value : value;
  }
  uint32_t wide = exponent == 31 ? 0xff : exponent + 112;
  uint32_t result = sign | (wide << 23) | (mantissa << 13);
  float value;
  std::memcpy(&value, &result, sizeof(value));
  return value;
}

/// `NAME:PATH` when NAME is that of an input; a path may contain colons.
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

/// Whether a stored type can stand for the network's, with or without a scale.
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

llvm::Expected<std::unique_ptr<SampleSource>>
SampleSource::open(const SampleOptions &options,
                   llvm::ArrayRef<TensorSpec> specs, int64_t unit) {
  std::unique_ptr<SampleSource> source(new SampleSource());
  bool scales = !options.scale.empty() || !options.offset.empty();
  for (const TensorSpec &spec : specs) {
    Input &input = source->inputs.emplace_back();
    input.name = spec.name;
    input.elementType = spec.type.getElementType();
    input.sampleElements = spec.type.getNumElements() / unit;
    unsigned width = spec.type.getElementTypeBitWidth();
    input.sampleBytes = input.sampleElements * ((width + 7) / 8);
    if (spec.type.getRank() > 1)
      input.channels = spec.type.getShape().back();
    if (!scales || !input.elementType.isF32())
      continue;
    auto expand = [&](llvm::ArrayRef<double> values, float missing,
                      llvm::StringRef what,
                      llvm::SmallVector<float> &result) -> llvm::Error {
      if (values.size() > 1 &&
          static_cast<int64_t>(values.size()) != input.channels)
        return fail("{0}: expected one value or {1}, one for each channel of "
                    "input '{2}', found {3}",
                    what, input.channels, input.name, values.size());
      for (double value : values)
        if (!std::isfinite(value))
          return fail("{0}: expected finite values, found {1}", what, value);
      // Repeated, so that the loop that applies them is long.
      constexpr int64_t kLoopLength = 256;
      int64_t repeats = (kLoopLength + input.channels - 1) / input.channels;
      result.assign(repeats * input.channels, missing);
      for (auto [i, factor] : llvm::enumerate(result))
        if (!values.empty())
          factor = static_cast<float>(
              values.size() == 1 ? values[0] : values[i % input.channels]);
      return llvm::Error::success();
    };
    if (llvm::Error error =
            expand(options.scale, 1, "input scale", input.scale))
      return std::move(error);
    if (llvm::Error error =
            expand(options.offset, 0, "input offset", input.offset))
      return std::move(error);
  }

  for (const std::string &text : options.files) {
    auto [number, path] = splitName(text, specs);
    if (!number) {
      if (specs.size() != 1) {
        std::string names;
        for (const TensorSpec &spec : specs)
          names += (names.empty() ? "'" : ", '") + spec.name + "'";
        return fail("'{0}': the network has {1} inputs ({2}); write NAME:PATH",
                    text, specs.size(), names);
      }
      number = 0;
    }
    auto file = NpyFile::open(path);
    if (!file)
      return file.takeError();
    Input &input = source->inputs[*number];
    const TensorSpec &spec = specs[*number];
    llvm::ArrayRef<int64_t> found = (*file)->shape();
    llvm::SmallVector<int64_t> sample(spec.type.getShape());
    // A dimension that holds several rows per sample is not the sample's own.
    std::string expected =
        "Nx" + shapeText(llvm::ArrayRef<int64_t>(sample).drop_front());
    if (sample.size() == 1)
      expected = "N";
    if (found.empty() || sample.empty() ||
        found.drop_front() != llvm::ArrayRef<int64_t>(sample).drop_front())
      return fail("'{0}': expected shape {1} for input '{2}', found {3}", path,
                  expected, input.name, shapeText(found));
    if (!isConvertible((*file)->elementType(), input.elementType))
      return fail("'{0}': expected elements that can be read as {1} for input "
                  "'{2}', found {3}",
                  path, typeText(input.elementType), input.name,
                  getName((*file)->elementType()));
    if (found.front() == 0)
      return fail("'{0}': expected at least one sample, found none", path);
    Shard shard;
    shard.first = input.shards.empty()
                      ? 0
                      : input.shards.back().first + input.shards.back().count;
    shard.count = found.front();
    shard.file = std::move(*file);
    input.shards.push_back(std::move(shard));
  }

  bool first = true;
  for (const Input &input : source->inputs) {
    if (input.shards.empty())
      return fail("input '{0}' of the network has no data", input.name);
    int64_t count = input.shards.back().first + input.shards.back().count;
    if (!first && count != source->sampleCount)
      return fail("expected {0} samples for input '{1}' as for '{2}', found "
                  "{3}",
                  source->sampleCount, input.name, source->inputs[0].name,
                  count);
    source->sampleCount = count;
    first = false;
  }
  if (options.limit >= 0)
    source->sampleCount = std::min(source->sampleCount, options.limit);
  return std::move(source);
}

/// Converts `count` elements; scale and offset, if any, repeat over the
/// channels.
template <typename Stored, typename Convert>
static void convert(const char *from, int64_t count, float *to,
                    Convert toFloat) {
  for (int64_t i = 0; i < count; ++i) {
    Stored value;
    std::memcpy(&value, from + i * sizeof(Stored), sizeof(Stored));
    to[i] = toFloat(value);
  }
}

/// Copies samples of a file in Fortran order, in which the elements of one
/// sample lie as far apart as there are samples.
static void gather(const NpyFile &file, int64_t first, int64_t count,
                   char *to) {
  llvm::ArrayRef<int64_t> sizes = file.shape();
  size_t bytes = getByteSize(file.elementType());
  llvm::SmallVector<int64_t> strides{1};
  for (int64_t size : sizes.drop_back())
    strides.push_back(strides.back() * size);
  llvm::SmallVector<int64_t> index(sizes.size(), 0);
  int64_t elements = count * (file.numElements() / sizes.front());
  int64_t source = first;
  for (int64_t i = 0; i < elements; ++i) {
    std::memcpy(to + i * bytes, file.data() + source * bytes, bytes);
    for (size_t d = sizes.size(); d-- > 0;) {
      source += strides[d];
      if (d == 0 || ++index[d] < sizes[d])
        break;
      source -= strides[d] * sizes[d];
      index[d] = 0;
    }
  }
}

llvm::Error SampleSource::loadFrom(const Input &input, const Shard &shard,
                                   int64_t first, int64_t count,
                                   char *buffer) const {
  ElementType type = shard.file->elementType();
  size_t storedBytes = input.sampleElements * getByteSize(type);
  const char *from = shard.file->data() + first * storedBytes;
  int64_t elements = count * input.sampleElements;
  std::vector<char> gathered;
  if (shard.file->isFortranOrder()) {
    gathered.resize(count * storedBytes);
    gather(*shard.file, first, count, gathered.data());
    from = gathered.data();
  }
  if (!input.elementType.isF32()) {
    std::memcpy(buffer, from, count * storedBytes);
    return llvm::Error::success();
  }
  auto *to = reinterpret_cast<float *>(buffer);
  auto plain = [](auto value) { return static_cast<float>(value); };
  switch (type) {
  case ElementType::F32:
    std::memcpy(to, from, elements * sizeof(float));
    break;
  case ElementType::F16:
    convert<uint16_t>(from, elements, to, fromHalf);
    break;
  case ElementType::I8:
    convert<int8_t>(from, elements, to, plain);
    break;
  case ElementType::U8:
    convert<uint8_t>(from, elements, to, plain);
    break;
  case ElementType::I16:
    convert<int16_t>(from, elements, to, plain);
    break;
  case ElementType::U16:
    convert<uint16_t>(from, elements, to, plain);
    break;
  case ElementType::I32:
    convert<int32_t>(from, elements, to, plain);
    break;
  case ElementType::U32:
    convert<uint32_t>(from, elements, to, plain);
    break;
  default:
    return fail("'{0}': cannot read {1}", shard.file->path(), getName(type));
  }
  auto period = static_cast<int64_t>(input.scale.size());
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
                  shard.file->path(), first + i / input.sampleElements,
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

llvm::Error SampleSource::load(size_t number, int64_t first, int64_t count,
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

void SampleSource::release(int64_t first, int64_t count) const {
  for (const Input &input : inputs)
    forEachPart(input.shards, first, count,
                [&](const Shard &shard, int64_t begin, int64_t length) {
                  // Every page of it holds parts of many samples.
                  if (shard.file->isFortranOrder())
                    return;
                  size_t bytes = input.sampleElements *
                                 getByteSize(shard.file->elementType());
                  shard.file->releasePages(begin * bytes,
                                           (begin + length) * bytes);
                });
}
