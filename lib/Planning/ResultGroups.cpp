// SPDX-License-Identifier: Apache-2.0
#include "mct/Planning/ResultGroups.h"

#include "mct/IR/Names.h"
#include "mct/Interfaces/OpInterfaces.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "tpc_dialect/IR/TpcDialect.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <map>
#include <set>

using namespace mlir;
using namespace mct;

namespace {
/// Numbers of the values from which elements come, ascending.
using Sources = std::set<size_t>;

/// Origin of the elements of a value.
struct Origin {
  Sources all;
  /// Sources of each position along each axis; empty if all positions along an
  /// axis have all sources.
  std::vector<std::vector<Sources>> along;
  /// Axis that corresponds to the last axis of the only source, or -1 if it is
  /// not known.
  int64_t channelAxis = -1;
};

class OriginFinder {
public:
  const Origin &find(Value value);
  StringRef nameOf(size_t source) const { return names[source]; }
  bool isProbability(size_t source) const { return probabilities[source]; }

private:
  Origin compute(Value value);
  Origin findSource(Value value);
  Origin followMovement(DataMovementOpInterface moving);
  void add(DataMovementOpInterface moving, unsigned number, Origin &to);

  llvm::DenseMap<Value, Origin> origins;
  /// Name of each source, and whether it is the result of a sigmoid.
  std::vector<std::string> names;
  std::vector<char> probabilities;
};
} // namespace

/// Returns true if each element of the result is an element of an operand.
static bool onlyMoves(Movement movement) {
  return movement == Movement::Permute || movement == Movement::Select;
}

static int64_t getRank(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type ? type.getRank() : 0;
}

Origin OriginFinder::findSource(Value value) {
  Origin origin;
  origin.all = {names.size()};
  StringAttr name = getName(value);
  names.push_back(name ? name.str() : std::to_string(names.size()));
  probabilities.push_back(
      isa_and_present<tosa::SigmoidOp>(value.getDefiningOp()));
  origin.along.resize(getRank(value));
  origin.channelAxis = getRank(value) - 1;
  return origin;
}

/// Adds the sources of one operand at the positions to which its elements are
/// moved.
void OriginFinder::add(DataMovementOpInterface moving, unsigned number,
                       Origin &to) {
  Value operand = moving->getOperand(number);
  const Origin &from = origins.find(operand)->second;
  to.all.insert(from.all.begin(), from.all.end());
  for (int64_t axis = 0; axis != getRank(operand); ++axis) {
    std::optional<ChannelMap> map = moving.mapChannels(number, axis);
    if (!map || map->axis >= int64_t(to.along.size()))
      continue;
    if (axis == from.channelAxis)
      to.channelAxis = map->axis;
    std::vector<Sources> &positions = to.along[map->axis];
    positions.resize(std::max(positions.size(), map->channels.size()));
    for (auto [sources, channel] : llvm::zip(positions, map->channels)) {
      if (channel == ChannelMap::kNone)
        continue;
      const Sources &added = size_t(channel) < from.along[axis].size()
                                 ? from.along[axis][channel]
                                 : from.all;
      sources.insert(added.begin(), added.end());
    }
  }
}

Origin OriginFinder::followMovement(DataMovementOpInterface moving) {
  Origin origin;
  origin.along.resize(getRank(moving->getResult(0)));
  for (unsigned number : moving.getMovedOperands())
    add(moving, number, origin);
  if (origin.all.size() > 1)
    origin.channelAxis = -1;
  for (std::vector<Sources> &positions : origin.along)
    if (llvm::all_equal(positions))
      positions.clear();
  return origin;
}

/// Returns the op that defines the value if it only moves elements, or null.
static DataMovementOpInterface getMovingOp(Value value) {
  auto moving =
      dyn_cast_or_null<DataMovementOpInterface>(value.getDefiningOp());
  std::optional<Movement> movement =
      moving ? moving.getMovement() : std::nullopt;
  return movement && onlyMoves(*movement) ? moving : DataMovementOpInterface();
}

Origin OriginFinder::compute(Value value) {
  if (auto point = value.getDefiningOp<tpc::QuantizeOp>())
    return origins.find(point.getInput())->second;
  if (DataMovementOpInterface moving = getMovingOp(value))
    return followMovement(moving);
  return findSource(value);
}

const Origin &OriginFinder::find(Value value) {
  // Visit operands before their users, without recursion, since chains may be
  // long.
  SmallVector<Value> waiting = {value};
  while (!waiting.empty()) {
    Value next = waiting.back();
    size_t before = waiting.size();
    auto require = [&](Value operand) {
      if (!origins.contains(operand))
        waiting.push_back(operand);
    };
    if (auto point = next.getDefiningOp<tpc::QuantizeOp>())
      require(point.getInput());
    else if (DataMovementOpInterface moving = getMovingOp(next))
      for (unsigned number : moving.getMovedOperands())
        require(moving->getOperand(number));
    if (waiting.size() != before)
      continue;
    waiting.pop_back();
    if (!origins.contains(next)) {
      Origin origin = compute(next);
      origins[next] = std::move(origin);
    }
  }
  return origins.find(value)->second;
}

/// Lists the sources of a group as part of a sentence.
static std::string describe(const Sources &sources,
                            const OriginFinder &finder) {
  constexpr size_t kMost = 3;
  std::vector<std::string> listed;
  for (size_t source : sources)
    if (listed.size() != kMost)
      listed.push_back(finder.nameOf(source).str());
  std::string text = llvm::join(listed, ", ");
  if (sources.size() > kMost)
    text += ", …";
  return text;
}

static ResultGroups findGroups(Value result, OriginFinder &finder) {
  ResultGroups groups;
  int64_t rank = getRank(result);
  groups.axis = std::max<int64_t>(rank - 1, 0);
  if (rank < 2)
    return groups;
  const Origin &origin = finder.find(result);
  if (origin.channelAxis > 0)
    groups.axis = origin.channelAxis;
  const std::vector<Sources> *shortest = nullptr;
  for (int64_t axis = 1; axis != rank; ++axis) {
    const std::vector<Sources> &positions = origin.along[axis];
    if (positions.empty() || (shortest && positions.size() >= shortest->size()))
      continue;
    shortest = &positions;
    groups.axis = axis;
  }
  if (!shortest)
    return groups;
  std::map<Sources, int64_t> numbers;
  for (const Sources &sources : *shortest) {
    auto [found, isNew] =
        numbers.try_emplace(sources, int64_t(groups.names.size()));
    if (isNew) {
      groups.names.push_back(describe(sources, finder));
      groups.areProbabilities.push_back(llvm::all_of(
          sources, [&](size_t each) { return finder.isProbability(each); }));
    }
    groups.groupByChannel.push_back(found->second);
  }
  return groups;
}

std::vector<ResultGroups> mct::findResultGroups(func::FuncOp function) {
  std::vector<ResultGroups> all(function.getNumResults());
  if (function.isExternal() || !function.getBody().hasOneBlock())
    return all;
  OriginFinder finder;
  Operation *end = function.getBody().front().getTerminator();
  for (auto [groups, result] : llvm::zip(all, end->getOperands()))
    groups = findGroups(result, finder);
  return all;
}
