// SPDX-License-Identifier: Apache-2.0
#include "IntegerLowering.h"
#include "mct/IR/Records.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>

using namespace mlir;
using namespace mct;

namespace {
/// Costs of a device, in cycles.
struct Costs {
  /// Costs of a convolution with its rescale: for each result at least, for
  /// each product, and for each weight.
  double result, product, weight;
  /// Cost of one result of a rescale that reads sums from memory, and of
  /// writing them there.
  double sum;
};
/// Fitted to what Vela 5.2.0 says of convolutions with 9 to 2304 products for
/// each of 10 to 65536 results, on 256 MACs; where both forms are about as
/// fast, the usual one is taken.
constexpr Costs kEthosU55{0.65, 1.1 / 256, 1.4, 2},
    kEthosU85{0.9, 1.0 / 52, 0.15, 3};
} // namespace

/// Returns true if the layer is fast enough to be computed again.
static bool paysOff(Operation *layer, const Costs &costs) {
  auto numElements = [](Value value) {
    return double(cast<RankedTensorType>(value.getType()).getNumElements());
  };
  double results = numElements(layer->getResult(0)),
         weights = numElements(layer->getOperand(1)), products;
  // Each weight is multiplied with all inputs, or with all results.
  if (isa<tosa::TransposeConv2DOp>(layer)) {
    double channels =
        double(cast<RankedTensorType>(layer->getOperand(0).getType())
                   .getShape()
                   .back());
    products = weights * numElements(layer->getOperand(0)) / channels;
  } else {
    double channels =
        double(cast<RankedTensorType>(layer->getResult(0).getType())
                   .getShape()
                   .back());
    products = weights * results / channels;
  }
  return std::max(costs.result * results, costs.product * products) +
             costs.weight * weights <
         costs.sum * results;
}

void mct::repeatLayers(func::FuncOp function, IntegerProfile profile) {
  SmallVector<Operation *> layers;
  function.walk([&](Operation *op) {
    if (isa<tosa::Conv2DOp, tosa::DepthwiseConv2DOp, tosa::TransposeConv2DOp>(
            op) &&
        getElementTypeOrSelf(op->getResult(0)).isInteger() &&
        llvm::range_size(op->getUsers()) > 1 &&
        llvm::all_of(op->getUsers(), llvm::IsaPred<tosa::RescaleOp>))
      layers.push_back(op);
  });
  for (Operation *layer : layers) {
    // From the last one on.
    SmallVector<Operation *> rescales(layer->getUsers());
    if (!paysOff(layer,
                 profile == IntegerProfile::EthosU55 ? kEthosU55 : kEthosU85)) {
      emitRecord(layer, "mct-lower-to-integer", Reason::SumsReadTwice);
      continue;
    }
    emitRecord(layer, "mct-lower-to-integer",
               Record(Decision::Applied, Reason::LayerRepeated)
                   << "is computed " << named("times", int64_t(rescales.size()))
                   << " times, once for each of the points that read it with "
                      "other parameters: so its sums stay inside of the "
                      "device");
    for (Operation *rescale : llvm::drop_end(rescales)) {
      OpBuilder builder(rescale);
      rescale->setOperand(0, builder.clone(*layer)->getResult(0));
    }
  }
}
