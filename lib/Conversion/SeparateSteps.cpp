// SPDX-License-Identifier: Apache-2.0
#include "mct/Conversion/Passes.h"
#include "mct/IR/Names.h"
#include "mct/Interfaces/OpInterfaces.h"
#include "mct/Planning/IntegerLayer.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include <cmath>

namespace mct {
#define GEN_PASS_DEF_SEPARATESTEPSPASS
#include "mct/Conversion/Passes.h.inc"
} // namespace mct

using namespace mlir;
using namespace mct;
using quantization::Grid;

// f32 represents all integers below this bound exactly.
static constexpr double kExactBound = 0x1p24;

namespace {
/// A layer whose sums are exact in f32 once its kernel has other steps.
struct ExactLayer {
  /// The step of each output channel's accumulator, split into a power of two
  /// and a mantissa.
  std::vector<double> powers, mantissas;
  std::vector<float> kernel, bias;
};

struct SeparateStepsPass
    : public WithOpModels<mct::impl::SeparateStepsPassBase<SeparateStepsPass>> {
  void runOnOperation() override {
    for (const KernelOp &layer :
         getAnalysis<KernelOps>().findBelow(getOperation()))
      if (std::optional<ExactLayer> exact = describe(layer))
        separate(layer, *exact);
  }

private:
  static std::optional<ExactLayer> describe(const KernelOp &layer) {
    std::optional<Grid> input = findGrid(layer.getInput().get());
    std::optional<std::vector<float>> bias = layer.getBias();
    if (!input || !bias || !quantization::isPowerOfTwo(input->step))
      return std::nullopt;
    std::variant<IntegerLayer, Reason> found = IntegerLayer::get(layer, *input);
    const auto *integers = std::get_if<IntegerLayer>(&found);
    if (!integers)
      return std::nullopt;
    ExactLayer exact;
    for (auto [channel, value] : llvm::enumerate(*bias)) {
      const double step = integers->getStep(int64_t(channel));
      // A channel without weights keeps its bias.
      int exponent = 0;
      const double mantissa = step == 0 ? 1 : 2 * std::frexp(step, &exponent);
      exact.mantissas.push_back(mantissa);
      exact.powers.push_back(step == 0 ? 0 : std::ldexp(1, exponent - 1));
      if (step == 0) {
        exact.bias.push_back(value);
        continue;
      }
      const double code = integers->getBiasCode(int64_t(channel), value);
      if (integers->getReach(int64_t(channel)) + std::abs(code) >= kExactBound)
        return std::nullopt;
      exact.bias.push_back(float(code * exact.powers.back()));
    }
    if (llvm::all_of(exact.mantissas, [](double each) { return each == 1; }))
      return std::nullopt;
    for (auto [element, code] : llvm::enumerate(integers->getKernelCodes()))
      exact.kernel.push_back(float(
          double(code) * exact.powers[layer.outChannelOf(int64_t(element))] /
          double(float(input->step))));
    return exact;
  }

  static void separate(const KernelOp &layer, const ExactLayer &exact) {
    OpBuilder builder(layer.getOperation());
    layer.setKernel(builder, exact.kernel);
    layer.setBias(builder, exact.bias);
    // The result includes a bias that is added by a separate op.
    Value result = layer.getResult();
    auto type = cast<RankedTensorType>(result.getType());
    const std::string name = getNameOrKind(layer.getOperation()) + ".step";
    Location loc = NameLoc::get(builder.getStringAttr(name), result.getLoc());
    builder.setInsertionPointAfterValue(result);
    SmallVector<int64_t> shape(type.getRank(), 1);
    shape[layer.resultAxis()] = int64_t(exact.mantissas.size());
    Value factors = createConstant(
        builder, loc, RankedTensorType::get(shape, builder.getF32Type()),
        llvm::to_vector_of<float>(exact.mantissas), name);
    tosa::MulOp product = createProduct(builder, loc, type, result, factors);
    result.replaceAllUsesExcept(product.getResult(), product);
  }
};
} // namespace
