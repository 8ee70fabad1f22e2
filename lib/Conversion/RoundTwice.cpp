// SPDX-License-Identifier: Apache-2.0
#include "mct/Conversion/RoundTwice.h"
#include "IntegerModels.h"
#include "mct/IR/ConstantEvaluator.h"
#include "mct/Planning/IntegerLayer.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "tpc_dialect/IR/TpcDialect.h"
#include "tpc_dialect/Lookup/Subgraphs.h"
#include "llvm/ADT/SetVector.h"
#include <cmath>

using namespace mlir;
using namespace mct;
using quantization::Grid;

/// Returns the grid of the point that rounds a value, perhaps after clamps and
/// moves; none if there is another user.
static std::optional<Grid> findRoundingGrid(Value value) {
  while (value.hasOneUse()) {
    Operation *user = *value.user_begin();
    if (auto point = dyn_cast<tpc::QuantizeOp>(user)) {
      tpc::QuantizerAttrInterface parameters = point.getParametersAttr();
      if (!point.isActivation() || !parameters ||
          parameters.getGrids().size() != 1)
        return std::nullopt;
      return parameters.getGrids().front();
    }
    if (!isa<tosa::ClampOp, tosa::ReshapeOp, tosa::TransposeOp>(user))
      return std::nullopt;
    value = user->getResult(0);
  }
  return std::nullopt;
}

namespace {
/// Numbers to add to values of at least `limit`, and to smaller values: one
/// number each, or one per position along an axis.
struct Nudge {
  float limit = 0;
  std::vector<float> above, below;
  int64_t axis = 0;
};
} // namespace

static Value createNumbers(ImplicitLocOpBuilder &b, RankedTensorType like,
                           ArrayRef<float> numbers, int64_t axis) {
  SmallVector<int64_t> shape(like.getRank(), 1);
  if (numbers.size() > 1)
    shape[axis] = int64_t(numbers.size());
  auto type = RankedTensorType::get(shape, b.getF32Type());
  return tosa::ConstOp::create(b, type, DenseElementsAttr::get(type, numbers));
}

static void insertNudge(Value value, const Nudge &nudge) {
  auto type = cast<RankedTensorType>(value.getType());
  ImplicitLocOpBuilder b(value.getLoc(), value.getContext());
  b.setInsertionPointAfterValue(value);
  auto isAbove = tosa::GreaterEqualOp::create(
      b, type.clone(b.getI1Type()), value,
      createNumbers(b, type, nudge.limit, nudge.axis));
  auto numbers = tosa::SelectOp::create(
      b, type, isAbove, createNumbers(b, type, nudge.above, nudge.axis),
      createNumbers(b, type, nudge.below, nudge.axis));
  auto sum = tosa::AddOp::create(b, type, value, numbers);
  value.replaceUsesWithIf(sum.getResult(), [&](OpOperand &use) {
    return use.getOwner() != isAbove && use.getOwner() != sum;
  });
}

/// Rounds the products of a layer twice. Factors of half a code or more are
/// rounded once.
static void roundLayer(const KernelOp &layer) {
  std::optional<Grid> input = findGrid(layer.getInput().get()),
                      after = findRoundingGrid(layer.getResult());
  if (!input || !after)
    return;
  std::variant<IntegerLayer, Reason> found = IntegerLayer::get(layer, *input);
  const auto *integers = std::get_if<IntegerLayer>(&found);
  if (!integers)
    return;
  Nudge nudge;
  nudge.axis = layer.resultAxis();
  for (int64_t channel = 0; channel != layer.numOutputChannels(); ++channel) {
    int exponent = 0;
    std::frexp(integers->getStep(channel) / after->step, &exponent);
    bool isShifted = integers->getStep(channel) > 0 && exponent < 0;
    nudge.above.push_back(
        isShifted ? float(std::ldexp(after->step, exponent - 1)) : 0);
    nudge.below.push_back(-nudge.above.back());
  }
  if (llvm::any_of(nudge.above, [](float number) { return number != 0; }))
    insertNudge(layer.getResult(), nudge);
}

/// Rounds the means of codes half away from the stored code 0.
static void roundPool(tosa::AvgPool2dOp pool) {
  std::optional<Grid> input = findGrid(pool.getInput()),
                      after = findRoundingGrid(pool.getResult());
  if (!input || !after || input->step != after->step ||
      input->zeroPoint != after->zeroPoint)
    return;
  // Unsigned 8-bit codes are stored minus 128.
  int64_t stored = input->qmin < 0 ? 0 : (input->qmax + 1) / 2;
  double count = double(pool.getKernel()[0]) * double(pool.getKernel()[1]);
  Nudge nudge;
  nudge.limit = float(input->step * double(stored - input->zeroPoint));
  // This is less than the difference between the means of two sums.
  nudge.above = {0};
  nudge.below = {float(-input->step / (4 * count))};
  insertNudge(pool.getResult(), nudge);
}

/// Returns the value that is summed along axes, perhaps with a reshape after
/// that; null for other values.
static Value findSummands(Value value) {
  while (auto reshape = value.getDefiningOp<tosa::ReshapeOp>())
    value = reshape.getInput1();
  if (!value.getDefiningOp<tosa::ReduceSumOp>())
    return nullptr;
  while (auto sum = value.getDefiningOp<tosa::ReduceSumOp>())
    value = sum.getInput();
  return value;
}

/// Rounds a mean that is written as a sum along axes times a number.
static void roundMean(tosa::MulOp mean, ConstantEvaluator &constants) {
  for (unsigned i : {0, 1}) {
    std::optional<ConstantTensor> number =
        constants.evaluate(mean->getOperand(i));
    Value summands = findSummands(mean->getOperand(1 - i));
    if (!number || number->getNumElements() != 1 || !summands)
      continue;
    std::optional<Grid> input = findGrid(summands),
                        after = findRoundingGrid(mean.getResult());
    double factor = number->decode<double>().front();
    if (!input || !after || !(factor > 0))
      return;
    double ratio = input->step / after->step;
    int exponent = 0;
    if (std::optional<double> count = findCount(factor))
      exponent = getMeanExponent(ratio, *count);
    else
      std::frexp(factor * ratio, &exponent);
    if (exponent >= 0)
      return;
    Nudge nudge;
    nudge.above = {float(std::ldexp(after->step, exponent - 1))};
    nudge.below = {-nudge.above.front()};
    return insertNudge(mean.getResult(), nudge);
  }
}

namespace {
/// A leaky ReLU in the form that TOSA has.
struct LeakyRelu {
  Value input, result;
  double slope = 0;
};
} // namespace

/// Returns the only value from outside that the ops use, or null if there are
/// several.
static Value findInput(ArrayRef<Operation *> ops,
                       ConstantEvaluator &constants) {
  Value input;
  for (Operation *op : ops)
    for (Value operand : op->getOperands()) {
      if (llvm::is_contained(ops, operand.getDefiningOp()) ||
          constants.evaluate(operand))
        continue;
      if (input && input != operand)
        return {};
      input = operand;
    }
  return input;
}

static SmallVector<LeakyRelu> findLeakyRelus(func::FuncOp function,
                                             ConstantEvaluator &constants) {
  SmallVector<std::shared_ptr<const tpc::CompiledSubgraph>> forms;
  for (const tpc::SubgraphForm &form :
       tpc::listSubgraphs(function.getContext())) {
    if (form.name != "leaky_relu")
      continue;
    auto compiled = tpc::compileSubgraph(form, function.getLoc());
    if (succeeded(compiled))
      llvm::append_range(forms, *compiled);
  }
  SmallVector<LeakyRelu> found;
  function.walk([&](Operation *op) {
    for (const auto &form : forms) {
      std::optional<tpc::CompiledSubgraph::Match> match = form->match(op);
      if (!match)
        continue;
      LeakyRelu relu{findInput(match->ops, constants), op->getResult(0)};
      for (Operation *part : match->ops)
        if (auto product = dyn_cast<tosa::MulOp>(part))
          for (Value factor : {product.getInput1(), product.getInput2()})
            if (std::optional<ConstantTensor> number =
                    constants.evaluate(factor))
              relu.slope = number->decode<double>().front();
      if (relu.input)
        found.push_back(relu);
      return;
    }
  });
  return found;
}

/// Rounds a leaky ReLU of codes, which has one factor for positive and one for
/// negative codes.
static void roundLeakyRelu(const LeakyRelu &relu) {
  std::optional<Grid> input = findGrid(relu.input),
                      after = findRoundingGrid(relu.result);
  if (!input || !after || !(relu.slope > 0))
    return;
  auto part = [&](double factor) {
    int exponent = 0;
    std::frexp(factor * input->step / after->step, &exponent);
    return exponent < 0 ? float(std::ldexp(after->step, exponent - 1)) : 0.0f;
  };
  Nudge nudge;
  nudge.above = {part(1)};
  nudge.below = {-part(relu.slope)};
  if (nudge.above.front() != 0 || nudge.below.front() != 0)
    insertNudge(relu.result, nudge);
}

void mct::roundLeakyRelusTwice(func::FuncOp function) {
  ConstantEvaluator constants;
  for (const LeakyRelu &relu : findLeakyRelus(function, constants))
    roundLeakyRelu(relu);
}

void mct::roundTwice(func::FuncOp function, const KernelOps &kernels,
                     IntegerRounding rounding) {
  SmallVector<KernelOp> layers;
  SmallVector<tosa::AvgPool2dOp> pools;
  SmallVector<tosa::MulOp> products;
  function.walk([&](Operation *op) {
    if (std::optional<KernelOp> layer = kernels.get(op))
      layers.push_back(*layer);
    else if (auto pool = dyn_cast<tosa::AvgPool2dOp>(op))
      pools.push_back(pool);
    else if (auto product = dyn_cast<tosa::MulOp>(op))
      products.push_back(product);
  });
  for (const KernelOp &layer : layers)
    if (rounding == IntegerRounding::Double || !isFullyConnected(layer))
      roundLayer(layer);
  for (tosa::AvgPool2dOp pool : pools)
    roundPool(pool);
  ConstantEvaluator constants;
  for (tosa::MulOp product : products)
    roundMean(product, constants);
  roundLeakyRelusTwice(function);
}

/// Returns the numbers of a constant, or none for other values.
static std::optional<std::vector<double>>
readNumbers(Value value, ConstantEvaluator &constants) {
  std::optional<ConstantTensor> found = constants.evaluate(value);
  if (!found)
    return std::nullopt;
  return found->decode<double>();
}

/// Returns the value to which a sum adds a nudge, or null for other sums.
static Value findNudged(tosa::AddOp sum, ConstantEvaluator &constants) {
  auto numbers = sum.getInput2().getDefiningOp<tosa::SelectOp>();
  auto isAbove = numbers
                     ? numbers.getInput1().getDefiningOp<tosa::GreaterEqualOp>()
                     : tosa::GreaterEqualOp();
  if (!isAbove || isAbove.getInput1() != sum.getInput1() ||
      !readNumbers(isAbove.getInput2(), constants))
    return nullptr;
  auto above = readNumbers(numbers.getInput2(), constants),
       below = readNumbers(numbers.getInput3(), constants);
  std::optional<Grid> after = findRoundingGrid(sum.getResult());
  if (!above || !below || !after)
    return nullptr;
  // Shifts are by one bit or more, so a nudge is at most half of half a code.
  auto fits = [&](double number) {
    return number >= 0 && number <= after->step / 4;
  };
  return llvm::all_of(*above, fits) &&
                 llvm::all_of(*below,
                              [&](double number) { return fits(-number); })
             ? sum.getInput1()
             : Value();
}

void mct::roundOnce(func::FuncOp function) {
  ConstantEvaluator constants;
  SmallVector<std::pair<tosa::AddOp, Value>> sums;
  function.walk([&](tosa::AddOp sum) {
    if (Value nudged = findNudged(sum, constants))
      sums.emplace_back(sum, nudged);
  });
  for (auto [sum, nudged] : sums) {
    Operation *numbers = sum.getInput2().getDefiningOp();
    llvm::SetVector<Operation *> unused;
    unused.insert(sum);
    unused.insert(numbers);
    for (Value operand : numbers->getOperands())
      unused.insert(operand.getDefiningOp());
    unused.insert(unused[2]->getOperand(1).getDefiningOp());
    sum.getResult().replaceAllUsesWith(nudged);
    for (Operation *op : unused)
      if (op->use_empty())
        op->erase();
  }
}
