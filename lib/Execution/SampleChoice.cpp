// SPDX-License-Identifier: Apache-2.0
//
// Chooses samples, and parts of them.
#include "mct/Execution/SampleParts.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/xxhash.h"

#include <algorithm>
#include <vector>

using namespace mct::execution;

namespace {
/// A number of 128 bits.
struct Digest {
  uint64_t high = 0, low = 0;

  void add(llvm::XXH128_hash_t hash) {
    low += hash.low64;
    high += hash.high64 + (low < hash.low64);
  }
  std::string toHex() const {
    return llvm::formatv("{0:x-16}{1:x-16}", high, low).str();
  }
  static bool fromHex(llvm::StringRef text, Digest &digest) {
    return text.size() == 32 &&
           !text.take_front(16).getAsInteger(16, digest.high) &&
           !text.drop_front(16).getAsInteger(16, digest.low);
  }
};
} // namespace

llvm::Expected<std::string>
mct::execution::digestSamples(const SampleSource &samples) {
  constexpr int64_t kBlock = 64;
  size_t inputs = samples.numInputs();
  std::vector<uint8_t> block;
  Digest sum;
  for (int64_t first = 0; first < samples.numSamples(); first += kBlock) {
    int64_t count = std::min(kBlock, samples.numSamples() - first);
    // All values of a sample are hashed together.
    std::vector<llvm::XXH128_hash_t> hashes(size_t(count) * inputs);
    for (size_t input = 0; input != inputs; ++input) {
      size_t bytes = samples.sampleBytes(input);
      block.resize(bytes * size_t(count));
      if (llvm::Error error = samples.load(input, first, count, block.data()))
        return std::move(error);
      for (size_t sample = 0; sample != size_t(count); ++sample)
        hashes[sample * inputs + input] =
            llvm::xxh3_128bits({block.data() + sample * bytes, bytes});
    }
    for (size_t sample = 0; sample != size_t(count); ++sample)
      sum.add(llvm::xxh3_128bits(
          {reinterpret_cast<const uint8_t *>(&hashes[sample * inputs]),
           inputs * sizeof(llvm::XXH128_hash_t)}));
  }
  return sum.toHex();
}

llvm::Error mct::execution::addDigest(std::string &digest,
                                      llvm::StringRef other) {
  Digest sum, added;
  if ((!digest.empty() && !Digest::fromHex(digest, sum)) ||
      !Digest::fromHex(other, added))
    return llvm::createStringError(
        "expected a digest of 32 hexadecimal digits, found '" + other + "'");
  sum.add({added.low, added.high});
  digest = sum.toHex();
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// Fewer samples
//===----------------------------------------------------------------------===//

namespace {
/// Some of the samples of another source.
class ChosenSamples : public SampleSource {
public:
  ChosenSamples(std::shared_ptr<const SampleSource> all,
                std::vector<int64_t> chosen)
      : all(std::move(all)), chosen(std::move(chosen)) {}

  int64_t numSamples() const override { return int64_t(chosen.size()); }
  int64_t numAvailable() const override { return numSamples(); }
  size_t numInputs() const override { return all->numInputs(); }
  size_t sampleBytes(size_t input) const override {
    return all->sampleBytes(input);
  }
  llvm::Error load(size_t input, int64_t first, int64_t count,
                   void *buffer) const override {
    auto *position = static_cast<char *>(buffer);
    for (int64_t sample = first; sample != first + count; ++sample) {
      if (llvm::Error error = all->load(input, chosen[sample], 1, position))
        return error;
      position += sampleBytes(input);
    }
    return llvm::Error::success();
  }

private:
  std::shared_ptr<const SampleSource> all;
  std::vector<int64_t> chosen;
};
} // namespace

/// Returns the hash of a sample with one more input.
static uint64_t addInput(uint64_t hash, llvm::ArrayRef<uint8_t> values) {
  uint64_t both[] = {hash, llvm::xxh3_64bits(values)};
  return llvm::xxh3_64bits(
      {reinterpret_cast<const uint8_t *>(both), sizeof(both)});
}

uint64_t
mct::execution::hashSample(llvm::ArrayRef<llvm::ArrayRef<uint8_t>> inputs) {
  uint64_t hash = 0;
  for (llvm::ArrayRef<uint8_t> values : inputs)
    hash = addInput(hash, values);
  return hash;
}

llvm::Expected<std::vector<uint64_t>>
mct::execution::hashSamples(const SampleSource &samples) {
  std::vector<uint64_t> hashes(samples.numSamples());
  for (size_t input = 0; input != samples.numInputs(); ++input) {
    std::vector<uint8_t> sample(samples.sampleBytes(input));
    for (auto [number, hash] : llvm::enumerate(hashes)) {
      if (llvm::Error error =
              samples.load(input, int64_t(number), 1, sample.data()))
        return std::move(error);
      hash = addInput(hash, sample);
    }
  }
  return hashes;
}

llvm::Expected<int64_t>
mct::execution::countShared(const SampleSource &samples,
                            const SampleSource &others) {
  auto own = hashSamples(samples), theirs = hashSamples(others);
  if (!own || !theirs)
    return llvm::joinErrors(own.takeError(), theirs.takeError());
  llvm::sort(*theirs);
  return llvm::count_if(*own, [&](uint64_t hash) {
    return std::binary_search(theirs->begin(), theirs->end(), hash);
  });
}

/// Returns the samples whose hashes are in the second part, and the others;
/// none if one of them is empty.
static std::optional<SampleParts>
divide(const std::shared_ptr<const SampleSource> &samples,
       llvm::ArrayRef<uint64_t> hashes,
       llvm::function_ref<bool(uint64_t)> isSecond) {
  std::vector<int64_t> first, second;
  for (auto [number, hash] : llvm::enumerate(hashes))
    (isSecond(hash) ? second : first).push_back(int64_t(number));
  if (first.empty() || second.empty())
    return std::nullopt;
  auto fitted = std::make_shared<ChosenSamples>(samples, first),
       judging = std::make_shared<ChosenSamples>(samples, second);
  return SampleParts{std::move(fitted), std::move(judging), std::move(first),
                     std::move(second)};
}

llvm::Expected<std::optional<SampleParts>>
mct::execution::halve(const std::shared_ptr<const SampleSource> &samples) {
  auto hashes = hashSamples(*samples);
  if (!hashes)
    return hashes.takeError();
  // Divide neither by the lowest bit nor by order: `thinSamples` keeps the
  // smallest hashes, and each half must get half of those, too.
  return divide(samples, *hashes,
                [](uint64_t hash) { return llvm::popcount(hash) % 2 != 0; });
}

llvm::Expected<std::optional<SampleParts>>
mct::execution::holdOut(const std::shared_ptr<const SampleSource> &samples,
                        int64_t count) {
  auto hashes = hashSamples(*samples);
  if (!hashes)
    return hashes.takeError();
  if (count <= 0 || count >= int64_t(hashes->size()))
    return std::nullopt;
  // `thinSamples` keeps the samples with the smallest hashes; hold out the
  // largest.
  std::vector<uint64_t> sorted = *hashes;
  std::nth_element(sorted.begin(), sorted.end() - count, sorted.end());
  uint64_t smallest = *(sorted.end() - count);
  return divide(samples, *hashes,
                [&](uint64_t hash) { return hash >= smallest; });
}

llvm::Expected<std::shared_ptr<const SampleSource>>
mct::execution::takeHalf(std::shared_ptr<const SampleSource> samples,
                         SampleHalf half) {
  if (half == SampleHalf::All)
    return samples;
  auto parts = halve(samples);
  if (!parts)
    return parts.takeError();
  if (!*parts)
    return samples;
  return half == SampleHalf::First ? (*parts)->fitted : (*parts)->judging;
}

llvm::Expected<std::shared_ptr<const SampleSource>>
mct::execution::thinSamples(std::shared_ptr<const SampleSource> samples,
                            int64_t count, SampleOrder order) {
  auto hashed = hashSamples(*samples);
  if (!hashed)
    return hashed.takeError();
  llvm::ArrayRef<uint64_t> hashes = *hashed;
  std::vector<uint64_t> sorted = hashes.vec();
  std::nth_element(sorted.begin(), sorted.begin() + (count - 1), sorted.end());
  uint64_t largest = sorted[count - 1];
  std::vector<int64_t> chosen;
  for (auto [number, hash] : llvm::enumerate(hashes))
    if (hash <= largest)
      chosen.push_back(int64_t(number));
  // Samples with one hash are equal, so that their order does not matter.
  if (order == SampleOrder::ByValue)
    llvm::sort(chosen, [&](int64_t left, int64_t right) {
      return std::pair(hashes[left], left) < std::pair(hashes[right], right);
    });
  return std::make_shared<ChosenSamples>(std::move(samples), std::move(chosen));
}
