// SPDX-License-Identifier: Apache-2.0
#include "MeasureTogether.h"

#include "llvm/Support/Format.h"

using namespace mlir;
using namespace mct;
using namespace mct::bit_widths;

std::string mct::bit_widths::toHex(ArrayRef<double> numbers) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  for (double number : numbers)
    stream << llvm::format_hex_no_prefix(llvm::bit_cast<uint64_t>(number), 16);
  return text;
}

bool mct::bit_widths::fromHex(StringRef text, MutableArrayRef<double> numbers) {
  if (text.size() != 16 * numbers.size())
    return false;
  for (double &number : numbers) {
    uint64_t bits;
    if (text.take_front(16).getAsInteger(16, bits))
      return false;
    number = llvm::bit_cast<double>(bits);
    text = text.drop_front(16);
  }
  return true;
}

std::string mct::bit_widths::nameMeasurements(ArrayRef<HalfMeasurement> all) {
  std::string name;
  for (const HalfMeasurement &each : all)
    name +=
        " " + execution::nameContent(each.module) +
        (each.fitted == execution::SampleHalf::First ? " first" : " second");
  return name;
}

FailureOr<std::vector<double>> mct::bit_widths::measureTogether(
    execution::Shards *shards, StringRef kind, StringRef key, size_t count,
    llvm::function_ref<FailureOr<double>(size_t)> measure) {
  std::vector<double> numbers(count);
  std::vector<bool> isOwn(count, true);
  if (shards) {
    auto parts = shards->find(kind, key);
    if (failed(parts))
      return failure();
    auto read = [&](const llvm::json::Object &content) -> llvm::Error {
      for (auto [number, value] : llvm::enumerate(numbers))
        if (auto text = content.getString(std::to_string(number));
            text && !fromHex(*text, value))
          return llvm::createStringError("expected the bits of a number, found "
                                         "'" +
                                         *text + "'");
      return llvm::Error::success();
    };
    for (const execution::ShardPart *part : *parts)
      if (failed(shards->read(*part, read)))
        return failure();
    if (!parts->empty())
      return numbers;
    if (!shards->canMeasure())
      return LogicalResult(shards->reportMissing(kind));
    const execution::Shard &shard = shards->getShard();
    for (size_t number = 0; number != count; ++number)
      isOwn[number] = int64_t(number) % shard.count == shard.index;
  }
  llvm::json::Object content;
  for (auto [number, value] : llvm::enumerate(numbers)) {
    if (!isOwn[number])
      continue;
    FailureOr<double> measured = measure(number);
    if (failed(measured))
      return failure();
    value = *measured;
    content[std::to_string(number)] = toHex(value);
  }
  if (!shards)
    return numbers;
  shards->record(kind, key, std::move(content));
  return LogicalResult(shards->stop(kind));
}
