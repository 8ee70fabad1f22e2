// SPDX-License-Identifier: Apache-2.0
#include "ShardMoments.h"

using namespace mlir;
using namespace mct;
using namespace mct::corrections;
using quantization::ChannelStatistics;
using quantization::ExactSum;
namespace json = llvm::json;

static constexpr llvm::StringLiteral kMoments = "second moments";

static json::Object toJson(const ChannelStatistics &statistics) {
  json::Array counts, sums, squares;
  for (const ChannelStatistics::Channel &channel : statistics.channels()) {
    counts.push_back(channel.count);
    sums.push_back(channel.sum.toHex());
    squares.push_back(channel.sumOfSquares.toHex());
  }
  return json::Object{{"counts", std::move(counts)},
                      {"sums", std::move(sums)},
                      {"sums_of_squares", std::move(squares)}};
}

static llvm::Error readSum(const json::Value &value, ExactSum &sum) {
  llvm::Expected<ExactSum> read =
      ExactSum::fromHex(value.getAsString().value_or("?"));
  if (!read)
    return read.takeError();
  sum = *read;
  return llvm::Error::success();
}

/// Adds the moments that a shard has measured for a layer.
static llvm::Error add(const json::Object *object,
                       ChannelStatistics &statistics) {
  const json::Array *counts = object ? object->getArray("counts") : nullptr,
                    *sums = object ? object->getArray("sums") : nullptr,
                    *squares =
                        object ? object->getArray("sums_of_squares") : nullptr;
  if (!counts || !sums || !squares || sums->size() != counts->size() ||
      squares->size() != counts->size() ||
      (!statistics.channels().empty() &&
       statistics.channels().size() != counts->size()))
    return llvm::createStringError("expected 'counts', 'sums' and "
                                   "'sums_of_squares' of the same channels");
  std::vector<ChannelStatistics::Channel> channels(counts->size());
  for (auto [index, channel] : llvm::enumerate(channels)) {
    std::optional<uint64_t> count = (*counts)[index].getAsUINT64();
    if (!count)
      return llvm::createStringError("expected a count");
    channel.count = *count;
    if (llvm::Error error = readSum((*sums)[index], channel.sum))
      return error;
    if (llvm::Error error = readSum((*squares)[index], channel.sumOfSquares))
      return error;
  }
  statistics.merge(ChannelStatistics::fromChannels(std::move(channels)));
  return llvm::Error::success();
}

static llvm::Error addLayers(const json::Object &content,
                             MomentsOfLayers &layers) {
  for (const auto &[name, value] : content) {
    const json::Object *moments = value.getAsObject();
    size_t layer;
    if (!moments || StringRef(name).getAsInteger(10, layer))
      return llvm::createStringError("expected moments by the number of the "
                                     "layer");
    LayerMoments &own = layers[layer];
    if (llvm::Error error = add(moments->getObject("exact"), own.exact))
      return error;
    if (llvm::Error error = add(moments->getObject("seen"), own.measured))
      return error;
  }
  return llvm::Error::success();
}

FailureOr<ShardMoments> ShardMoments::find(execution::Shards &shards,
                                           StringRef key) {
  ShardMoments all(shards, key);
  for (;; ++all.rounds) {
    auto parts =
        shards.find(kMoments, (key + " round " + Twine(all.rounds)).str());
    if (failed(parts))
      return failure();
    if (parts->empty())
      return all;
    for (const execution::ShardPart *part : *parts)
      if (failed(shards.read(*part, [&](const json::Object &content) {
            return addLayers(content, all.layers);
          })))
        return failure();
  }
}

LogicalResult ShardMoments::stop(const MomentsOfLayers &found) const {
  json::Object content;
  for (const auto &[layer, moments] : found)
    content[std::to_string(layer)] = json::Object{
        {"exact", toJson(moments.exact)}, {"seen", toJson(moments.measured)}};
  shards->record(kMoments, key + " round " + std::to_string(rounds),
                 std::move(content));
  return shards->stop(kMoments);
}

LogicalResult ShardMoments::reportMissing() const {
  return shards->reportMissing(kMoments);
}
