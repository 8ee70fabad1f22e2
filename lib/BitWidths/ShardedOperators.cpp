// SPDX-License-Identifier: Apache-2.0
#include "ShardedOperators.h"
#include "MeasureTogether.h"

using namespace mct;
using namespace mct::bit_widths;
using llvm::ArrayRef;

/// Divides operators in program order among shards so that the largest amount
/// of work is as small as possible. Returns the index of the first operator of
/// each shard, followed by the number of operators.
///
/// The network after an operator is run for each of its alternatives. The
/// network up to the last operator of a shard is run once, with observers.
/// Contiguous ranges of operators spare all shards but the last one the end of
/// the network.
static std::vector<size_t> divide(ArrayRef<MeasuredOperator> operators,
                                  size_t shards) {
  // Cost of an observed run of one operator, in units of a plain run.
  constexpr int64_t kObserved = 2;
  size_t all = operators.size();
  auto getCost = [&](size_t number) {
    return int64_t(operators[number].alternatives) * int64_t(all - number) +
           kObserved;
  };
  auto divideBelow = [&](int64_t most) {
    std::vector<size_t> begins = {0};
    int64_t cost = 0;
    for (size_t number = 0; number != all; ++number) {
      if (cost + getCost(number) > most && number != begins.back()) {
        begins.push_back(number);
        // The operators before the range are run once.
        cost = kObserved * int64_t(number);
      }
      cost += getCost(number);
    }
    return begins;
  };
  int64_t low = 0, high = kObserved * int64_t(all);
  for (size_t number = 0; number != all; ++number)
    high += getCost(number);
  while (low < high) {
    int64_t middle = low + (high - low) / 2;
    if (divideBelow(middle).size() <= shards)
      high = middle;
    else
      low = middle + 1;
  }
  std::vector<size_t> begins = divideBelow(low);
  begins.resize(shards + 1, all);
  return begins;
}

std::vector<bool>
mct::bit_widths::selectForShard(ArrayRef<MeasuredOperator> operators,
                                const execution::Shard &shard) {
  std::vector<size_t> begins = divide(operators, size_t(shard.count));
  std::vector<bool> own(operators.size());
  std::fill(own.begin() + long(begins[size_t(shard.index)]),
            own.begin() + long(begins[size_t(shard.index) + 1]), true);
  return own;
}

llvm::json::Object
mct::bit_widths::writeDistances(ArrayRef<MeasuredOperator> operators,
                                const std::vector<bool> &own,
                                ArrayRef<std::vector<double>> distances) {
  llvm::json::Object recorded;
  for (auto [number, measured] : llvm::enumerate(operators))
    if (own[number])
      recorded[measured.name] = toHex(distances[number]);
  return recorded;
}

llvm::Error mct::bit_widths::readDistances(
    const llvm::json::Object &recorded, ArrayRef<MeasuredOperator> operators,
    llvm::MutableArrayRef<std::vector<double>> distances) {
  for (auto [measured, found] : llvm::zip_equal(operators, distances)) {
    auto numbers = recorded.getString(measured.name);
    if (!numbers)
      continue;
    found.resize(measured.alternatives);
    if (!fromHex(*numbers, found))
      return llvm::createStringError("expected the bits of " +
                                     llvm::Twine(found.size()) +
                                     " numbers of '" + measured.name + "'");
  }
  return llvm::Error::success();
}
