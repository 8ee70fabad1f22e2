// SPDX-License-Identifier: Apache-2.0
#include "ClosestLevels.h"

#include <algorithm>
#include <cmath>

namespace mct::quantization {

namespace {
/// Levels by index, ascending.
class NumberedLevels {
public:
  explicit NumberedLevels(const WeightLevels &levels)
      : levels(levels), lowest(levels.grid.qmin - levels.grid.zeroPoint),
        count(levels.levels.empty()
                  ? levels.grid.qmax - levels.grid.qmin + 1
                  : static_cast<int64_t>(levels.levels.size())) {}

  int64_t size() const { return count; }
  double at(int64_t number) const {
    if (!levels.levels.empty())
      return double(levels.levels[number]);
    return double(float(lowest + number) * float(levels.grid.step));
  }
  /// Returns the index of the highest level that is not above `value`, or -1.
  int64_t below(double value) const {
    if (!levels.levels.empty())
      return std::upper_bound(levels.levels.begin(), levels.levels.end(), value,
                              [](double limit, float level) {
                                return limit < double(level);
                              }) -
             levels.levels.begin() - 1;
    double code = std::floor(value / double(float(levels.grid.step)));
    return int64_t(std::clamp(code - double(lowest), -1.0, double(count - 1)));
  }

private:
  const WeightLevels &levels;
  int64_t lowest, count;
};

/// State of the search in one column.
struct Column {
  /// Value of its weight without levels, given those of the later columns, and
  /// their contribution to the objective.
  double centre = 0, before = 0;
  /// The next levels below and above.
  int64_t below = 0, above = 0;
  /// The level that is tried, and its objective.
  double level = 0, objective = 0;
};
} // namespace

ClosestLevels findClosestLevels(const ClosestLevelsProblem &problem) {
  auto columns = int64_t(problem.target.size());
  NumberedLevels levels(*problem.levels);
  ClosestLevels best;
  std::vector<Column> stack(columns);

  auto enter = [&](int64_t i, double before) {
    Column &column = stack[i];
    const double *row = &problem.factor[i * columns];
    double offset = 0;
    for (int64_t j = i + 1; j != columns; ++j)
      offset += row[j] * (stack[j].level - problem.target[j]);
    column.centre = problem.target[i] - offset / row[i];
    column.before = before;
    column.below = levels.below(column.centre);
    column.above = column.below + 1;
  };
  // The closest level that was not tried yet.
  auto advance = [&](int64_t i) {
    Column &column = stack[i];
    bool hasBelow = column.below >= 0, hasAbove = column.above < levels.size();
    if (!hasBelow && !hasAbove)
      return false;
    double low = hasBelow ? levels.at(column.below) : 0,
           high = hasAbove ? levels.at(column.above) : 0;
    bool goesUp =
        !hasBelow || (hasAbove && high - column.centre < column.centre - low);
    column.level = goesUp ? high : low;
    if (goesUp)
      ++column.above;
    else
      --column.below;
    double miss =
        problem.factor[i * columns + i] * (column.level - column.centre);
    column.objective = column.before + miss * miss;
    return column.objective < best.objective;
  };

  int64_t i = columns - 1;
  enter(i, 0);
  for (; best.steps < problem.maxSteps; ++best.steps) {
    // Levels ascend in distance: if one is too far, so are the rest.
    while (!advance(i))
      if (++i == columns)
        return best;
    if (i != 0) {
      --i;
      enter(i, stack[i + 1].objective);
      continue;
    }
    best.objective = stack[0].objective;
    best.levels.clear();
    for (const Column &column : stack)
      best.levels.push_back(float(column.level));
  }
  return best;
}

} // namespace mct::quantization
