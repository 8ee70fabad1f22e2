// SPDX-License-Identifier: Apache-2.0
//
// Samples that all shards together choose.
#include "mct/Execution/Shards.h"

#include "mct/Execution/Check.h"
#include "mct/Execution/SampleParts.h"
#include "mct/Support/Digest.h"
#include "llvm/Support/Base64.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/xxhash.h"

#include <array>

using namespace mlir;
using namespace mct;
using namespace mct::execution;
namespace json = llvm::json;

static constexpr llvm::StringLiteral kHashes = "sample hashes",
                                     kSamples = "samples";
/// Number of hashes of each half that are kept at both ends, and of the
/// largest ones that decide about samples which are held out.
static constexpr int64_t kMostHashes = 1024, kHeldOut = 64;
/// Smallest number of samples that are chosen, so that several passes use the
/// same ones.
static constexpr int64_t kFewestSamples = 256;

//===----------------------------------------------------------------------===//
// Hashes
//===----------------------------------------------------------------------===//

namespace {
/// The smallest and largest hashes of both halves of the samples: merged, they
/// are those of all.
struct HashEnds {
  struct Half {
    std::vector<uint64_t> smallest, largest;
  };
  std::array<Half, 2> halves;
  int64_t samples = 0;

  void add(ArrayRef<uint64_t> hashes) {
    samples += int64_t(hashes.size());
    for (uint64_t hash : hashes) {
      Half &half = halves[size_t(llvm::popcount(hash) % 2)];
      half.smallest.push_back(hash);
      half.largest.push_back(hash);
    }
    trim();
  }
  void merge(const HashEnds &other) {
    samples += other.samples;
    for (auto [half, added] : llvm::zip(halves, other.halves)) {
      llvm::append_range(half.smallest, added.smallest);
      llvm::append_range(half.largest, added.largest);
    }
    trim();
  }

private:
  void trim() {
    for (Half &half : halves) {
      llvm::sort(half.smallest);
      if (half.smallest.size() > size_t(kMostHashes))
        half.smallest.resize(kMostHashes);
      llvm::sort(half.largest, std::greater<>());
      if (half.largest.size() > size_t(kHeldOut))
        half.largest.resize(kHeldOut);
    }
  }
};

/// Determines by its hash whether a sample is chosen.
class Choice {
public:
  /// Chooses all samples.
  Choice() = default;
  Choice(const HashEnds &ends, int64_t most, bool ofHalves) : isAll(false) {
    std::vector<uint64_t> smallest, largest;
    for (auto [limit, half] : llvm::zip(limits, ends.halves)) {
      limit = findLimits(half.smallest, half.largest, most);
      llvm::append_range(smallest, half.smallest);
      llvm::append_range(largest, half.largest);
    }
    if (ofHalves)
      return;
    llvm::sort(smallest);
    llvm::sort(largest, std::greater<>());
    limits.fill(findLimits(smallest, largest, most));
  }

  bool contains(uint64_t hash) const {
    const Limits &limit = limits[size_t(llvm::popcount(hash) % 2)];
    return isAll || hash <= limit.low || hash >= limit.high;
  }

private:
  struct Limits {
    uint64_t low = std::numeric_limits<uint64_t>::max(), high = 0;
  };
  /// If there are no more than that, all samples are chosen.
  static Limits findLimits(ArrayRef<uint64_t> smallest,
                           ArrayRef<uint64_t> largest, int64_t most) {
    Limits limits;
    if (int64_t(smallest.size()) >= most)
      limits.low = smallest[size_t(most - 1)];
    if (int64_t(largest.size()) >= kHeldOut)
      limits.high = largest[size_t(kHeldOut - 1)];
    return limits;
  }

  bool isAll = true;
  std::array<Limits, 2> limits;
};
} // namespace

static std::string toHex(ArrayRef<uint64_t> hashes) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  for (uint64_t hash : hashes)
    stream << llvm::format_hex_no_prefix(hash, 16);
  return text;
}

static bool fromHex(StringRef text, std::vector<uint64_t> &hashes) {
  for (; text.size() >= 16; text = text.drop_front(16))
    if (text.take_front(16).getAsInteger(16, hashes.emplace_back()))
      return false;
  return text.empty();
}

static json::Object toJson(const HashEnds &ends) {
  json::Array smallest, largest;
  for (const HashEnds::Half &half : ends.halves) {
    smallest.push_back(toHex(half.smallest));
    largest.push_back(toHex(half.largest));
  }
  return json::Object{{"samples", ends.samples},
                      {"smallest", std::move(smallest)},
                      {"largest", std::move(largest)}};
}

static llvm::Expected<HashEnds> readEnds(const json::Object &object) {
  HashEnds ends;
  const json::Array *smallest = object.getArray("smallest"),
                    *largest = object.getArray("largest");
  std::optional<int64_t> samples = object.getInteger("samples");
  bool isRead = smallest && largest && samples && *samples >= 0 &&
                smallest->size() == 2 && largest->size() == 2;
  for (size_t half = 0; isRead && half != 2; ++half) {
    auto low = (*smallest)[half].getAsString(),
         high = (*largest)[half].getAsString();
    isRead = low && high && fromHex(*low, ends.halves[half].smallest) &&
             fromHex(*high, ends.halves[half].largest);
  }
  if (!isRead)
    return llvm::createStringError(
        "expected hexadecimal hashes of two halves "
        "in 'smallest' and 'largest', and 'samples'");
  ends.samples = *samples;
  return ends;
}

//===----------------------------------------------------------------------===//
// Samples
//===----------------------------------------------------------------------===//

namespace {
/// A tensor in memory of its own.
class OwnedTensor : public support::StoredTensor {
public:
  OwnedTensor(support::ElementType type, ArrayRef<int64_t> shape,
              std::vector<char> bytes)
      : StoredTensor("samples of the shards", type, shape),
        bytes(std::move(bytes)) {}
  llvm::Error read(uint64_t offset, size_t size, void *to) const override {
    std::copy_n(bytes.data() + offset, size, static_cast<char *>(to));
    return llvm::Error::success();
  }

private:
  std::vector<char> bytes;
};

/// Samples of some shards, as the network reads them.
struct SampleSet {
  struct Input {
    std::string name, type;
    /// Shape of one sample.
    std::vector<int64_t> shape;
    /// Size in bytes of one sample.
    size_t bytes = 0;
  };
  std::vector<Input> inputs;
  struct Sample {
    uint64_t hash = 0;
    /// Values of all inputs, one after the other.
    std::string values;
    bool operator<(const Sample &other) const {
      return std::tie(hash, values) < std::tie(other.hash, other.values);
    }
  };
  std::vector<Sample> samples;
};
} // namespace

static std::optional<support::ElementType> findType(StringRef name) {
  using support::ElementType;
  for (ElementType type :
       {ElementType::F16, ElementType::F32, ElementType::F64, ElementType::I8,
        ElementType::U8, ElementType::I16, ElementType::U16, ElementType::I32,
        ElementType::U32, ElementType::I64, ElementType::Bool})
    if (support::getName(type) == name)
      return type;
  return std::nullopt;
}

static json::Object toJson(const SampleSet &set) {
  json::Array inputs;
  size_t begin = 0;
  for (const SampleSet::Input &input : set.inputs) {
    std::string values;
    for (const SampleSet::Sample &sample : set.samples)
      values.append(sample.values, begin, input.bytes);
    begin += input.bytes;
    inputs.push_back(json::Object{{"name", input.name},
                                  {"type", input.type},
                                  {"shape", json::Array(input.shape)},
                                  {"values", llvm::encodeBase64(values)}});
  }
  return json::Object{{"samples", int64_t(set.samples.size())},
                      {"inputs", std::move(inputs)}};
}

/// Adds the samples of one part.
static llvm::Error readSamples(const json::Object &object, SampleSet &set) {
  auto fail = [](const Twine &message) {
    return llvm::createStringError(message);
  };
  const json::Array *inputs = object.getArray("inputs");
  std::optional<int64_t> count = object.getInteger("samples");
  if (!inputs || !count || *count < 0)
    return fail("expected 'samples' and 'inputs'");
  SampleSet own;
  own.samples.resize(size_t(*count));
  std::vector<llvm::XXH128_hash_t> hashes;
  for (const json::Value &value : *inputs) {
    const json::Object *each = value.getAsObject();
    json::Path::Root root;
    SampleSet::Input input;
    auto name = each ? each->getString("name") : std::nullopt,
         type = each ? each->getString("type") : std::nullopt,
         values = each ? each->getString("values") : std::nullopt;
    const json::Value *shape = each ? each->get("shape") : nullptr;
    if (!name || !type || !values || !shape || !findType(*type) ||
        !json::fromJSON(*shape, input.shape, root))
      return fail("expected 'name', 'type', 'shape' and 'values' of each "
                  "input");
    input.name = name->str();
    input.type = type->str();
    uint64_t bytes = support::getByteSize(*findType(*type));
    bool overflow = false;
    for (int64_t size : input.shape) {
      if (size < 1)
        return fail("expected sizes from 1 on");
      bytes =
          llvm::SaturatingMultiply<uint64_t>(bytes, uint64_t(size), &overflow);
    }
    std::vector<char> decoded;
    if (llvm::Error error = llvm::decodeBase64(*values, decoded))
      return error;
    if (overflow ||
        decoded.size() / std::max<size_t>(own.samples.size(), 1) !=
            (own.samples.empty() ? 0 : bytes) ||
        (!own.samples.empty() && decoded.size() % own.samples.size() != 0))
      return fail("expected values of " + Twine(*count) + " samples of " +
                  Twine(bytes) + " bytes, found " + Twine(decoded.size()) +
                  " bytes");
    input.bytes = size_t(bytes);
    for (auto [number, sample] : llvm::enumerate(own.samples))
      sample.values.append(decoded.data() + number * bytes, bytes);
    own.inputs.push_back(std::move(input));
  }
  if (set.inputs.empty())
    set.inputs = own.inputs;
  if (!llvm::equal(
          set.inputs, own.inputs,
          [](const SampleSet::Input &left, const SampleSet::Input &right) {
            return std::tie(left.name, left.type, left.shape) ==
                   std::tie(right.name, right.type, right.shape);
          }))
    return fail("has samples of other inputs than the files before it");
  for (SampleSet::Sample &sample : own.samples) {
    std::vector<ArrayRef<uint8_t>> values;
    size_t begin = 0;
    for (const SampleSet::Input &input : set.inputs) {
      values.push_back(
          {reinterpret_cast<const uint8_t *>(sample.values.data()) + begin,
           input.bytes});
      begin += input.bytes;
    }
    sample.hash = hashSample(values);
    set.samples.push_back(std::move(sample));
  }
  return llvm::Error::success();
}

/// Reads those samples of a shard that are chosen.
static llvm::Expected<SampleSet> collect(const SampleSource &samples,
                                         const Executor &executor,
                                         ArrayRef<uint64_t> hashes,
                                         const Choice &choice) {
  SampleSet set;
  int64_t unit = executor.unit();
  for (auto [number, spec] : llvm::enumerate(executor.inputs())) {
    auto type = getFileType(spec.type.getElementType());
    if (!type)
      return llvm::createStringError("input '" + spec.name +
                                     "' has a type that no file has");
    SampleSet::Input &input = set.inputs.emplace_back();
    input.name = spec.name;
    input.type = support::getName(*type).str();
    input.shape = spec.type.getShape().vec();
    if (!input.shape.empty())
      input.shape.front() /= unit;
    input.bytes = samples.sampleBytes(number);
  }
  for (auto [number, hash] : llvm::enumerate(hashes)) {
    if (!choice.contains(hash))
      continue;
    SampleSet::Sample &sample = set.samples.emplace_back();
    for (auto [index, input] : llvm::enumerate(set.inputs)) {
      size_t begin = sample.values.size();
      sample.values.resize(begin + input.bytes);
      if (llvm::Error error = samples.load(index, int64_t(number), 1,
                                           sample.values.data() + begin))
        return std::move(error);
    }
  }
  return set;
}

/// Sets the samples of the settings, which read them without conversion.
static void take(SampleSet set, RunSettings &settings) {
  llvm::sort(set.samples);
  SampleOptions &options = settings.samples;
  options.files.clear();
  options.scale.clear();
  options.offset.clear();
  options.preprocessing.assign(set.inputs.size(), std::nullopt);
  size_t begin = 0;
  for (const SampleSet::Input &input : set.inputs) {
    std::vector<char> bytes;
    bytes.reserve(input.bytes * set.samples.size());
    for (const SampleSet::Sample &sample : set.samples)
      bytes.insert(bytes.end(), sample.values.begin() + int64_t(begin),
                   sample.values.begin() + int64_t(begin + input.bytes));
    begin += input.bytes;
    SmallVector<int64_t> shape(input.shape.begin(), input.shape.end());
    if (shape.empty())
      shape.push_back(1);
    shape.front() *= int64_t(set.samples.size());
    options.tensors.push_back(
        {input.name, std::make_shared<OwnedTensor>(*findType(input.type), shape,
                                                   std::move(bytes))});
  }
}

//===----------------------------------------------------------------------===//
// The interface
//===----------------------------------------------------------------------===//

FailureOr<std::string>
mct::execution::nameReading(func::FuncOp function,
                            const RunSettings &settings) {
  FailureOr<Preprocessings> records = readPreprocessing(function);
  if (failed(records))
    return failure();
  support::DigestStream stream;
  for (auto [number, type] : llvm::enumerate(function.getArgumentTypes())) {
    stream << type;
    if (number < records->size() && (*records)[number])
      stream << (*records)[number]->toAttribute(function.getContext());
    stream << ';';
  }
  for (double value : settings.samples.scale)
    stream << llvm::formatv("*{0:x}", llvm::bit_cast<uint64_t>(value));
  for (double value : settings.samples.offset)
    stream << llvm::formatv("+{0:x}", llvm::bit_cast<uint64_t>(value));
  return stream.digits();
}

llvm::Expected<bool>
mct::execution::mergeSampleParts(StringRef kind, json::Object &content,
                                 const json::Object &other) {
  if (kind == kHashes) {
    auto ends = readEnds(content), added = readEnds(other);
    if (!ends || !added)
      return llvm::joinErrors(ends.takeError(), added.takeError());
    ends->merge(*added);
    content = toJson(*ends);
    return true;
  }
  if (kind != kSamples)
    return false;
  SampleSet set;
  for (const json::Object *each : {&std::as_const(content), &other})
    if (llvm::Error error = readSamples(*each, set))
      return std::move(error);
  llvm::sort(set.samples);
  content = toJson(set);
  return true;
}

LogicalResult mct::execution::recordSampleHashes(Shards &shards,
                                                 func::FuncOp function,
                                                 const RunSettings &settings,
                                                 const SampleSource &samples) {
  FailureOr<std::string> reading = nameReading(function, settings);
  if (failed(reading))
    return failure();
  auto known = shards.find(kHashes, *reading);
  if (failed(known) || !known->empty())
    return LogicalResult(known);
  auto hashes = hashSamples(samples);
  if (!hashes)
    return emitError(function.getLoc()) << llvm::toString(hashes.takeError());
  HashEnds ends;
  ends.add(*hashes);
  shards.record(kHashes, *reading, toJson(ends));
  return success();
}

namespace {
/// Samples that were chosen, or are to be.
struct Request {
  int64_t most = 0;
  bool halves = false;
  std::string key;
};
} // namespace

/// Returns the number of samples of all shards, or none if it is not known.
static std::optional<int64_t> countSamples(const Shards &shards,
                                           StringRef reading) {
  std::optional<int64_t> count;
  for (const ShardPart *part : shards.findKind(kHashes))
    if (auto own = part->content.getInteger("samples");
        own && part->key == reading)
      count = count.value_or(0) + *own;
  return count;
}

/// Returns the samples that the shards have provided, or none if they have not.
static FailureOr<std::optional<SampleSet>>
findSamples(Shards &shards, StringRef reading, const ShardSampleNeed &need) {
  std::optional<int64_t> all = countSamples(shards, reading);
  std::map<StringRef, int64_t> given;
  for (const ShardPart *part : shards.findKind(kSamples))
    given[part->key] += part->content.getInteger("samples").value_or(0);
  // A larger choice of samples contains the smaller ones.
  std::optional<Request> best;
  for (const ShardPart *part : shards.findKind(kSamples)) {
    auto [name, how] = StringRef(part->key).split(' ');
    Request request;
    request.key = part->key;
    request.halves = how.consume_back(" of each half");
    if (name != reading || how.getAsInteger(10, request.most))
      continue;
    // The shards have no more samples than these.
    if (all && given[part->key] == *all)
      request.most = 0;
    bool isEnough =
        request.most == 0 || (need.most != 0 && request.most >= need.most &&
                              request.halves >= need.halves);
    auto size = [](const Request &each) {
      return std::pair(each.most == 0 ? std::numeric_limits<int64_t>::max()
                                      : each.most,
                       each.halves);
    };
    if (isEnough && (!best || size(request) < size(*best)))
      best = request;
  }
  if (!best)
    return std::optional<SampleSet>();
  auto parts = shards.find(kSamples, best->key);
  if (failed(parts))
    return failure();
  SampleSet set;
  for (const ShardPart *part : *parts)
    if (failed(shards.read(*part, [&](const json::Object &content) {
          return readSamples(content, set);
        })))
      return failure();
  return std::optional<SampleSet>(std::move(set));
}

FailureOr<RunSettings>
mct::execution::takeShardSamples(Shards &shards, func::FuncOp function,
                                 RunSettings settings,
                                 const ShardSampleNeed &need) {
  FailureOr<std::string> reading = nameReading(function, settings);
  if (failed(reading))
    return failure();
  auto samples = findSamples(shards, *reading, need);
  if (failed(samples))
    return failure();
  if (*samples) {
    take(std::move(**samples), settings);
    return settings;
  }
  if (!shards.canMeasure())
    return shards.reportMissing(kSamples);

  auto module = function->getParentOfType<ModuleOp>();
  CompileOptions options;
  options.function = function.getSymName().str();
  options.simulateQuantization = false;
  FailureOr<NetworkRun> run = NetworkRun::prepare(module, options, settings);
  if (failed(run))
    return failure();
  auto report = [&](llvm::Error error) {
    return emitError(module.getLoc()) << llvm::toString(std::move(error));
  };
  // A network with a fixed batch reads all samples.
  int64_t most = run->executor().allowsPartialUnits() ? need.most : 0;
  if (most != 0)
    most = std::max(most, kFewestSamples);
  Choice choice;
  if (most > kMostHashes)
    most = 0;
  if (most != 0) {
    auto parts = shards.find(kHashes, *reading);
    if (failed(parts))
      return failure();
    if (parts->empty()) {
      if (failed(
              recordSampleHashes(shards, function, settings, run->samples())))
        return failure();
      return shards.stop(kHashes);
    }
    HashEnds ends;
    for (const ShardPart *part : *parts)
      if (failed(shards.read(*part,
                             [&](const json::Object &content) -> llvm::Error {
                               auto own = readEnds(content);
                               if (!own)
                                 return own.takeError();
                               ends.merge(*own);
                               return llvm::Error::success();
                             })))
        return failure();
    choice = Choice(ends, most, need.halves);
  }
  auto hashes = hashSamples(run->samples());
  if (!hashes)
    return report(hashes.takeError());
  auto chosen = collect(run->samples(), run->executor(), *hashes, choice);
  if (!chosen)
    return report(chosen.takeError());
  std::string key = *reading + " " + std::to_string(most) +
                    (most != 0 && need.halves ? " of each half" : "");
  shards.record(kSamples, key, toJson(*chosen));
  return shards.stop(kSamples);
}
