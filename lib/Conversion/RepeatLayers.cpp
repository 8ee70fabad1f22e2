// SPDX-License-Identifier: Apache-2.0
#include "IntegerLowering.h"
#include "mct/IR/Records.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>

using namespace mlir;
using namespace mct;

/// Returns true if the layer is fast enough to be computed several times.
static bool paysOff(Operation *layer, tpc::RepeatedLayersOp costs) {
  auto numElements = [](Value value) {
    return double(cast<RankedTensorType>(value.getType()).getNumElements());
  };
  double results = numElements(layer->getResult(0)),
         weights = numElements(layer->getOperand(1)), products;
  // Each weight is multiplied with all inputs or with all results.
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
  auto cycles = [](const APFloat &cost, double count) {
    return cost.convertToDouble() * count;
  };
  return std::max(cycles(costs.getResult(), results),
                  cycles(costs.getProduct(), products)) +
             cycles(costs.getWeight(), weights) <
         cycles(costs.getSum(), results);
}

void mct::repeatLayers(func::FuncOp function, tpc::RepeatedLayersOp costs) {
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
    // The rescales from the last to the first.
    SmallVector<Operation *> rescales(layer->getUsers());
    if (!paysOff(layer, costs)) {
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
