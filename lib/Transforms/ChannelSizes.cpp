// SPDX-License-Identifier: Apache-2.0
#include "ChannelSizes.h"
#include "mct/IR/NestedPasses.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

using namespace mlir;
using namespace mct;

std::optional<ChannelSizes> mct::getChannelSizes(tpc::QuantizeOp point) {
  tpc::StatisticsAttr statistics = point.getStatisticsAttr();
  auto type = cast<RankedTensorType>(point.getType());
  int64_t channels = type.getRank() == 0 ? 0 : type.getShape().back();
  if (!statistics || channels <= 0)
    return std::nullopt;
  auto squares =
      dyn_cast_or_null<DenseElementsAttr>(statistics.getChannelMeanSquare());
  if (!squares || squares.getNumElements() != channels ||
      !squares.getElementType().isF64())
    return std::nullopt;
  std::vector<double> magnitudes(channels, 0.0);
  for (ElementsAttr bounds :
       {statistics.getChannelMin(), statistics.getChannelMax()}) {
    auto dense = dyn_cast_or_null<DenseElementsAttr>(bounds);
    if (!dense || dense.getNumElements() != channels ||
        !dense.getElementType().isF32())
      return std::nullopt;
    for (auto [magnitude, bound] :
         llvm::zip_equal(magnitudes, dense.getValues<float>())) {
      if (!std::isfinite(bound))
        return std::nullopt;
      magnitude = std::max(magnitude, std::abs(double(bound)));
    }
  }
  return ChannelSizes{std::move(magnitudes),
                      std::vector<double>(squares.value_begin<double>(),
                                          squares.value_end<double>())};
}

FailureOr<SizesOfPoints>
mct::measureChannelSizes(ModuleOp module, ArrayRef<tpc::QuantizeOp> needed,
                         ArrayRef<OpPassManager> measuredBy) {
  bool isKnown = llvm::all_of(needed, [](tpc::QuantizeOp point) {
    return getChannelSizes(point).has_value();
  });
  OwningOpRef<ModuleOp> copy;
  if (!isKnown && !measuredBy.empty()) {
    // Measure on a copy, so that the statistics do not stay in the module.
    copy = module.clone();
    if (failed(runPasses(measuredBy, *copy)))
      return failure();
  }
  SmallVector<tpc::QuantizeOp> points, measured;
  module.walk([&](tpc::QuantizeOp point) { points.push_back(point); });
  if (copy)
    copy->walk([&](tpc::QuantizeOp point) { measured.push_back(point); });
  else
    measured = points;
  if (points.size() != measured.size())
    return module.emitError()
           << "'measured-by' changes the points of the module; give passes "
              "that only calibrate";
  SizesOfPoints sizes;
  for (auto [point, from] : llvm::zip_equal(points, measured))
    if (point.isActivation())
      if (std::optional<ChannelSizes> each = getChannelSizes(from))
        sizes.try_emplace(point, std::move(*each));
  return sizes;
}
