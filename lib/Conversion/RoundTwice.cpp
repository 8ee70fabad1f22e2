// SPDX-License-Identifier: Apache-2.0
#include "mct/Conversion/RoundTwice.h"
#include "IntegerModels.h"
#include "mct/IR/ConstantEvaluator.h"
#include "mct/IR/EraseUnused.h"
#include "mct/Planning/IntegerLayer.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "tpc_dialect/IR/TpcDialect.h"
#include "tpc_dialect/Lookup/Subgraphs.h"
#include <cmath>

using namespace mlir;
using namespace mct;
using quantization::Grid;

/// Returns true for ops that select, move or limit elements of a value.
static bool keepsElements(Operation *op, Value value) {
  OpOperand *moved = getMovedOperand(op, takesElements);
  return isa<tosa::ClampOp>(op) || (moved && moved->get() == value);
}

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
    if (!keepsElements(user, value))
      return std::nullopt;
    value = user->getResult(0);
  }
  return std::nullopt;
}

/// Returns the numbers of a constant, or none for other values.
static std::optional<std::vector<double>>
readNumbers(Value value, ConstantEvaluator &constants) {
  std::optional<ConstantTensor> found = constants.evaluate(value);
  if (!found)
    return std::nullopt;
  return found->decode<double>();
}

namespace {
/// Numbers to add to values of at least `limit`, and to smaller values: one
/// number each, or one per position along an axis. With a step, to values whose
/// code below them is odd, and to those where it is even.
struct Nudge {
  float limit = 0;
  std::vector<float> above, below;
  int64_t axis = 0;
  double step = 0;
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

/// Adds to the value that an operand reads.
static void insertNudge(OpOperand &operand, const Nudge &nudge) {
  auto isZero = [](float number) { return number == 0; };
  if (llvm::all_of(nudge.above, isZero) && llvm::all_of(nudge.below, isZero))
    return;
  Value value = operand.get();
  auto type = cast<RankedTensorType>(value.getType());
  ImplicitLocOpBuilder b(value.getLoc(), value.getContext());
  b.setInsertionPointAfterValue(value);
  Value compared = value;
  if (nudge.step != 0) {
    Value shift = tosa::ConstOp::create(
        b, RankedTensorType::get(1, b.getI8Type()),
        DenseElementsAttr::get(RankedTensorType::get(1, b.getI8Type()),
                               int8_t(0)));
    auto multiply = [&](Value factor, float number) -> Value {
      return tosa::MulOp::create(b, type, factor,
                                 createNumbers(b, type, number, 0), shift);
    };
    // Half of an odd number is not a whole one.
    Value code =
        tosa::FloorOp::create(b, type, multiply(value, 1 / nudge.step));
    Value half = multiply(code, 0.5f);
    compared = tosa::SubOp::create(b, type, half,
                                   tosa::FloorOp::create(b, type, half));
  }
  auto isAbove = tosa::GreaterEqualOp::create(
      b, type.clone(b.getI1Type()), compared,
      createNumbers(b, type, nudge.step != 0 ? 0.25f : nudge.limit,
                    nudge.axis));
  auto numbers = tosa::SelectOp::create(
      b, type, isAbove, createNumbers(b, type, nudge.above, nudge.axis),
      createNumbers(b, type, nudge.below, nudge.axis));
  operand.set(tosa::AddOp::create(b, type, value, numbers));
}

/// Returns what rounding twice adds to a positive product with a factor that
/// results in codes of this step. Factors of half a code or more are rounded
/// once.
static float getNudge(double factor, double step) {
  int exponent = 0;
  std::frexp(factor, &exponent);
  return factor > 0 && exponent < 0 ? float(std::ldexp(step, exponent - 1)) : 0;
}

/// Rounds the products of integers in `unit` twice.
static void roundProducts(OpOperand &operand, double unit, const Grid &after) {
  float number = getNudge(unit / after.step, after.step);
  insertNudge(operand, {0, {number}, {-number}});
}

/// Rounds the products of a layer twice.
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
    nudge.above.push_back(
        getNudge(integers->getStep(channel) / after->step, after->step));
    nudge.below.push_back(-nudge.above.back());
  }
  insertNudge(*layer.getResult().use_begin(), nudge);
}

/// Returns true for codes of two values. One table computes what depends on a
/// single value.
static bool areCodes(Value first, Value second) {
  return first != second && findGrid(first) && findGrid(second);
}

/// Rounds codes twice that become those of another grid, perhaps after ops that
/// select, move or limit them.
static void roundCodes(OpOperand &operand, const Grid &after) {
  if (std::optional<Grid> input = findGrid(operand.get()))
    return roundProducts(operand, input->step, after);
  Operation *op = operand.get().getDefiningOp();
  if (!op || !op->hasOneUse())
    return;
  SmallVector<unsigned, 4> numbers;
  if (isa<tosa::ClampOp>(op))
    numbers = {0};
  else if (isa<tosa::MaximumOp, tosa::MinimumOp>(op) &&
           areCodes(op->getOperand(0), op->getOperand(1)))
    numbers = {0, 1};
  else if (isa<tosa::SelectOp>(op) &&
           areCodes(op->getOperand(1), op->getOperand(2)))
    numbers = {1, 2};
  else if (auto moving = dyn_cast<DataMovementOpInterface>(op);
           moving && moving.getMovement() &&
           takesElements(*moving.getMovement()))
    numbers = moving.getMovedOperands();
  for (unsigned number : numbers)
    roundCodes(op->getOpOperand(number), after);
}

/// Rounds products of codes, or their sums, twice.
static void roundProductOfCodes(Value first, Value second, Value result) {
  std::optional<Grid> after = findRoundingGrid(result);
  if (after && areCodes(first, second))
    roundProducts(*result.use_begin(),
                  findGrid(first)->step * findGrid(second)->step, *after);
}

/// Rounds sums of codes halfway between two codes away from zero. They are
/// multiplied with 19 more bits, so that others are rounded as once.
static void roundSumOfCodes(Value first, Value second, Value result) {
  std::optional<Grid> after = findRoundingGrid(result);
  if (!after || !areCodes(first, second))
    return;
  double steps[] = {findGrid(first)->step, findGrid(second)->step, after->step};
  double unit = std::min(steps[0], steps[1]);
  // Other sums do not lie halfway.
  if (llvm::all_of(steps, quantization::isPowerOfTwo) && unit < after->step)
    insertNudge(*result.use_begin(),
                {0, {float(unit / 4)}, {float(-unit / 4)}});
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
  // This is less than the difference between the means of two sums. With other
  // steps than powers of two, f32 does not say which means lie halfway.
  auto part = float(input->step / (4 * count));
  nudge.above = {quantization::isPowerOfTwo(input->step) ? 0 : part};
  nudge.below = {-part};
  insertNudge(*pool.getResult().use_begin(), nudge);
}

/// Rounds means of codes that lie halfway between two codes as integers do,
/// which know that they do: f32 only knows it if steps are powers of two.
static void roundHalfwayMean(Value summands, double count, Value mean,
                             IntegerRounding rounding) {
  std::optional<Grid> input = findGrid(summands),
                      after = findRoundingGrid(mean);
  if (!input || !after || input->step != after->step ||
      quantization::isPowerOfTwo(input->step))
    return;
  auto part = float(input->step / (4 * count));
  Nudge nudge{0, {part}, {part}};
  if (rounding == IntegerRounding::HalfEven) {
    nudge.step = input->step;
    nudge.below = {-part};
  }
  insertNudge(*mean.use_begin(), nudge);
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

void mct::roundHalfwayMeans(func::FuncOp function, IntegerRounding rounding) {
  ConstantEvaluator constants;
  SmallVector<tosa::AvgPool2dOp> pools;
  SmallVector<tosa::MulOp> products;
  function.walk([&](Operation *op) {
    if (auto pool = dyn_cast<tosa::AvgPool2dOp>(op))
      pools.push_back(pool);
    else if (auto product = dyn_cast<tosa::MulOp>(op))
      products.push_back(product);
  });
  for (tosa::AvgPool2dOp pool : pools)
    roundHalfwayMean(pool.getInput(),
                     double(pool.getKernel()[0]) * double(pool.getKernel()[1]),
                     pool.getResult(), rounding);
  for (tosa::MulOp product : products)
    for (unsigned i : {0, 1}) {
      std::optional<std::vector<double>> number =
          readNumbers(product->getOperand(i), constants);
      Value summands = findSummands(product->getOperand(1 - i));
      if (!number || number->size() != 1 || !summands)
        continue;
      if (std::optional<double> count = findCount(number->front()))
        roundHalfwayMean(summands, *count, product.getResult(), rounding);
      break;
    }
}

/// Rounds sums of codes along axes twice.
static void roundReduction(tosa::ReduceSumOp sum) {
  std::optional<Grid> input = findGrid(findSummands(sum.getResult())),
                      after = findRoundingGrid(sum.getResult());
  if (input && after)
    roundProducts(*sum.getResult().use_begin(), input->step, *after);
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
    return insertNudge(*mean.getResult().use_begin(), nudge);
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
    return getNudge(factor * input->step / after->step, after->step);
  };
  insertNudge(*Value(relu.result).use_begin(),
              {0, {part(1)}, {-part(relu.slope)}});
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
  SmallVector<tosa::MatMulOp> matrices;
  SmallVector<tosa::ReduceSumOp> reductions;
  SmallVector<Operation *> sums;
  SmallVector<tpc::QuantizeOp> points;
  function.walk([&](Operation *op) {
    if (std::optional<KernelOp> layer = kernels.get(op))
      layers.push_back(*layer);
    else if (auto point = dyn_cast<tpc::QuantizeOp>(op))
      points.push_back(point);
    else if (isa<tosa::AddOp, tosa::SubOp>(op))
      sums.push_back(op);
    else if (auto reduction = dyn_cast<tosa::ReduceSumOp>(op))
      reductions.push_back(reduction);
    else if (auto matrix = dyn_cast<tosa::MatMulOp>(op))
      matrices.push_back(matrix);
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
  for (tosa::MulOp product : products) {
    roundMean(product, constants);
    roundProductOfCodes(product.getInput1(), product.getInput2(),
                        product.getResult());
  }
  for (tosa::MatMulOp matrix : matrices)
    roundProductOfCodes(matrix.getA(), matrix.getB(), matrix.getResult());
  for (tosa::ReduceSumOp reduction : reductions)
    roundReduction(reduction);
  for (Operation *sum : sums)
    roundSumOfCodes(sum->getOperand(0), sum->getOperand(1), sum->getResult(0));
  for (tpc::QuantizeOp point : points)
    if (tpc::QuantizerAttrInterface parameters = point.getParametersAttr();
        parameters && point.isActivation() && parameters.getGrids().size() == 1)
      roundCodes(point.getInputMutable(), parameters.getGrids().front());
  roundLeakyRelusTwice(function);
}

/// Returns true for a value and what the parity of its codes is computed by.
static bool dependsOnlyOn(Value compared, Value value) {
  auto isConstant = [](Value operand) {
    return operand.getDefiningOp<tosa::ConstOp>() != nullptr;
  };
  Operation *op = compared.getDefiningOp();
  return compared == value ||
         (isa_and_present<tosa::MulOp, tosa::FloorOp, tosa::SubOp>(op) &&
          llvm::all_of(op->getOperands(), [&](Value operand) {
            return isConstant(operand) || dependsOnlyOn(operand, value);
          }));
}

/// Returns the value to which a sum adds a nudge, or null for other sums.
static Value findNudged(tosa::AddOp sum, ConstantEvaluator &constants) {
  auto numbers = sum.getInput2().getDefiningOp<tosa::SelectOp>();
  auto isAbove = numbers
                     ? numbers.getInput1().getDefiningOp<tosa::GreaterEqualOp>()
                     : tosa::GreaterEqualOp();
  if (!isAbove || !dependsOnlyOn(isAbove.getInput1(), sum.getInput1()) ||
      !readNumbers(isAbove.getInput2(), constants))
    return nullptr;
  auto above = readNumbers(numbers.getInput2(), constants),
       below = readNumbers(numbers.getInput3(), constants);
  std::optional<Grid> after = findRoundingGrid(sum.getResult());
  if (!above || !below || !after)
    return nullptr;
  // Shifts are by one bit or more, so a nudge is at most half of half a code.
  auto fits = [&](double number) {
    return std::abs(number) <= after->step / 4;
  };
  return llvm::all_of(*above, fits) && llvm::all_of(*below, fits)
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
    sum.getResult().replaceAllUsesWith(nudged);
    eraseUnused(sum.getOperation());
  }
}
