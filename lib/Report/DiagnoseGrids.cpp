// SPDX-License-Identifier: Apache-2.0
//
// Rules about values of very different ranges that share one grid.
#include "DiagnoseParts.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include <cmath>

using namespace mct;
using namespace mct::report;
using llvm::ArrayRef;
using llvm::StringRef;

// Three of eight bits.
static constexpr Real kRangeFactor = 8;
// Loss in dB: a group that loses more retains a tenth of its precision.
static constexpr Real kGraveLoss = 10;

namespace {
/// A group of values in a tensor that has its own range.
struct Group {
  /// The name as it appears in a sentence.
  std::string name;
  Real magnitude = 0;
  /// Mean squared error on the grid of the tensor, and on the same grid when it
  /// is scaled down as is best for the group.
  Real shared = 0, own = 0;

  Real getLoss() const {
    if (!(own > 0))
      return shared > 0 ? std::numeric_limits<Real>::infinity() : 0;
    return 10 * std::log10(shared / own);
  }
};
} // namespace

static const Statistics &getValues(const Point &point) {
  return point.observed ? *point.observed : *point.statistics;
}

/// Returns the values of a point as a group on the grid of another point, or
/// none without a histogram.
static std::optional<Group> getGroup(const Point &part,
                                     const Parameters &shared) {
  if (!part.statistics)
    return std::nullopt;
  const Statistics &values = getValues(part);
  std::optional<GridError> error = estimateError(values, shared);
  if (!error)
    return std::nullopt;
  Group group{quoted(part.name), getMagnitude(values), error->total(),
              error->total()};
  // Grids have at most 16 bits.
  for (int bits = 1; bits <= 16; ++bits)
    if (auto narrow = estimateError(values, shared, std::ldexp(Real(1), -bits)))
      group.own = std::min(group.own, narrow->total());
  return group;
}

static bool isConcat(const Operator &op) {
  return op.inputs.size() > 1 && llvm::all_of(op.ops, [](StringRef name) {
           return name == "tosa.concat" || name == "tensor.concat";
         });
}

/// Returns the points of the parts that an operator concatenates, skipping
/// operators without points that only move values. Returns an empty list for
/// other operators, or if a part is not known.
static std::vector<const Point *> findParts(const DiagnosisContext &network,
                                            const Operator &op) {
  std::vector<const Point *> parts;
  llvm::StringSet<> visited;
  std::vector<const Operator *> open = {&op};
  while (!open.empty()) {
    const Operator *next = open.back();
    open.pop_back();
    if (!next || !(isConcat(*next) || movesOrSelects(*next)))
      return {};
    for (const std::string &input : next->inputs) {
      if (!visited.insert(input).second)
        continue;
      if (const Point *point = network.getResultPoint(input))
        parts.push_back(point);
      else
        open.push_back(network.getOperator(input));
    }
  }
  return parts;
}

static void add(const DiagnosisContext &network, const Point &point,
                const Group &largest, const Group &smallest, const Group &worst,
                StringRef what, Diagnoses &found) {
  Diagnosis diagnosis;
  diagnosis.subject = point.name;
  diagnosis.severity = network.getSeverity(point);
  if (worst.getLoss() > kGraveLoss)
    diagnosis.severity = std::max(diagnosis.severity, kGrave);
  diagnosis.cause = quoted(point.name) + " holds " + largest.name + " up to " +
                    brief(largest.magnitude) + " beside " + smallest.name +
                    " up to " + brief(smallest.magnitude) +
                    ", and one grid serves both: it costs " + worst.name + " " +
                    brief(worst.getLoss()) + " dB against a grid of their own" +
                    what.str() + ".";
  diagnosis.numbers = {{"largest", largest.magnitude},
                       {"smallest", smallest.magnitude},
                       {"loss", worst.getLoss()}};
  diagnosis.kind = "overrides";
  diagnosis.paste = leaveFloat(getInsertedName(point));
  diagnosis.remedy =
      "Leave the common grid away (split-shared-grids=true does it where "
      "nothing is computed with the whole), or return the parts by themselves.";
  found.push_back(std::move(diagnosis));
}

static void findSharedGrids(const DiagnosisContext &network, Diagnoses &found) {
  for (const Operator &op : network.report.operators) {
    const Point *point = network.getResultPoint(op.name);
    if (!point || point->parameters->step.size() != 1)
      continue;
    std::vector<Group> groups;
    for (const Point *part : findParts(network, op))
      if (std::optional<Group> group = getGroup(*part, *point->parameters))
        if (group->magnitude > 0)
          groups.push_back(*group);
    if (groups.size() < 2)
      continue;
    auto [smallest, largest] = std::minmax_element(
        groups.begin(), groups.end(), [](const Group &lhs, const Group &rhs) {
          return lhs.magnitude < rhs.magnitude;
        });
    if (!(largest->magnitude > kRangeFactor * smallest->magnitude))
      continue;
    const Group &worst = *std::max_element(
        groups.begin(), groups.end(), [](const Group &lhs, const Group &rhs) {
          return lhs.getLoss() < rhs.getLoss();
        });
    add(network, *point, *largest, *smallest, worst, "", found);
  }
}

/// Returns whether at least two slices of the operator's result divide its
/// channels.
static bool isCutIntoChannels(const DiagnosisContext &network,
                              const Operator &op, size_t channels) {
  llvm::StringSet<> moved;
  moved.insert(op.name);
  size_t slices = 0;
  // Users come after the values that they use.
  for (const Operator &user : network.report.operators) {
    if (!movesOrSelects(user) || !moved.contains(user.inputs.front()))
      continue;
    bool isSlice = llvm::is_contained(user.ops, "tosa.slice") &&
                   !llvm::is_contained(user.shape, int64_t(channels));
    if (isSlice)
      ++slices;
    else
      moved.insert(user.name);
  }
  return slices > 1;
}

static void findSlicedGrids(const DiagnosisContext &network, Diagnoses &found) {
  for (const Operator &op : network.report.operators) {
    const Point *point = network.getResultPoint(op.name);
    if (!point || !point->statistics || point->parameters->step.size() != 1)
      continue;
    const Statistics &values = getValues(*point);
    size_t channels = values.channelMin.size();
    if (channels < 2 || values.channelMax.size() != channels ||
        !isCutIntoChannels(network, op, channels))
      continue;
    Real step = point->parameters->step.front(), limit = 0;
    for (Real end : {point->parameters->lowest.front(),
                     point->parameters->highest.front()})
      limit = std::max(limit, std::abs(end));
    std::vector<std::pair<Real, int64_t>> magnitudes;
    for (size_t channel = 0; channel != channels; ++channel)
      if (Real magnitude = std::max(std::abs(values.channelMin[channel]),
                                    std::abs(values.channelMax[channel]));
          magnitude > 0)
        magnitudes.emplace_back(magnitude, int64_t(channel));
    if (magnitudes.size() < 2)
      continue;
    auto [low, high] =
        std::minmax_element(magnitudes.begin(), magnitudes.end());
    if (!(high->first > kRangeFactor * low->first))
      continue;
    auto describe = [&](const std::pair<Real, int64_t> &channel) {
      Group group;
      group.name = "channel " + std::to_string(channel.second);
      group.magnitude = channel.first;
      // Width for uniformly distributed values: a step, or their whole range if
      // it is smaller.
      Real own = step * std::min<Real>(1, channel.first / limit);
      group.shared =
          std::min(step * step / 12, channel.first * channel.first / 3);
      group.own = own * own / 12;
      return group;
    };
    Group smallest = describe(*low);
    add(network, *point, describe(*high), smallest, smallest,
        ", and slices separate them again", found);
  }
}

static void findShared(const DiagnosisContext &network, Diagnoses &found) {
  findSharedGrids(network, found);
  findSlicedGrids(network, found);
}

ArrayRef<Rule> mct::report::getGridRules() {
  static const Rule kRules[] = {
      {{"shared-grid-concat",
        "parts of a concatenation, or channels that slices separate again, "
        "differ by more than 8 times in range and share one grid; grave where "
        "a part loses more than 10 dB",
        "float, so that each part keeps its own grid"},
       findShared},
  };
  return kRules;
}
