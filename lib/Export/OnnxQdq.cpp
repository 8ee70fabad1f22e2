// SPDX-License-Identifier: Apache-2.0
#include "OnnxQdq.h"
#include "OnnxPoints.h"
#include "mct/Planning/IntegerLayer.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/ScopedPrinter.h"
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <numeric>

using namespace mlir;
using namespace mct;
using namespace mct::onnx;
using quantization::Grid;

// The first operator sets with integers of these widths.
static constexpr int64_t kNarrowSet = 21, kNarrowestSet = 25, kWideSet = 21;

static ElementType integerType(unsigned bits, bool isSigned) {
  switch (bits) {
  case 2:
    return isSigned ? ElementType::Int2 : ElementType::UInt2;
  case 4:
    return isSigned ? ElementType::Int4 : ElementType::UInt4;
  case 8:
    return isSigned ? ElementType::Int8 : ElementType::UInt8;
  default:
    return isSigned ? ElementType::Int16 : ElementType::UInt16;
  }
}

/// Fails if neither the operator set nor any other one has integers for the
/// codes of a point.
static LogicalResult checkWidth(GraphBuilder &graph, tpc::QuantizeOp point,
                                int64_t range) {
  if (range <= 255 || (range <= 65535 && graph.getOperatorSet() >= kWideSet))
    return success();
  bool isWide = range <= 65535;
  return refusePoint(
      point,
      Twine("has ") + Twine(point.getParametersAttr().getBits()) +
          " bits; QuantizeLinear of operator set " +
          Twine(graph.getOperatorSet()) + " makes integers of " +
          (isWide ? "8" : "at most 16"),
      isWide ? "write operator set 21, or give it 8 bits (overrides)"
             : "give it fewer bits (overrides)");
}

static LogicalResult checkStep(tpc::QuantizeOp point, const Grid &grid) {
  auto step = static_cast<float>(grid.step);
  if (std::isnormal(step) && std::isnormal(1 / step))
    return success();
  return refusePoint(point,
                     "has the step " + std::to_string(grid.step) +
                         ", which a float does not hold, or whose inverse it "
                         "does not",
                     "choose its parameters anew");
}

FailureOr<Storage> onnx::findStorage(GraphBuilder &graph, tpc::QuantizeOp point,
                                     const Grid &grid) {
  const int64_t range = grid.qmax - grid.qmin;
  if (failed(checkWidth(graph, point, range)) || failed(checkStep(point, grid)))
    return failure();
  Storage storage;
  storage.type =
      integerType(range <= 255 ? 8 : 16,
                  graph.options.activations == OnnxActivations::Signed);
  storage.offset = storage.lowest() - grid.qmin;
  return storage;
}

//===----------------------------------------------------------------------===//
// Weights
//===----------------------------------------------------------------------===//

namespace {
/// Assignment of the parameters of weights to the tensor of their scales.
struct ScaleLayout {
  /// Shape of that tensor; empty for a single scale.
  SmallVector<int64_t> shape;
  /// The axis along which they differ, or along which there are blocks.
  int64_t axis = 0;
  /// Size of a block; 0 if there are no blocks.
  int64_t block = 0;
  /// Index of the parameter for each scale.
  std::vector<int64_t> parameters{0};
};
} // namespace

/// Returns the size of the longest blocks along an axis whose elements have the
/// same parameter.
static int64_t findBlock(ArrayRef<int64_t> numbers, int64_t size,
                         int64_t inner) {
  int64_t block = size;
  for (int64_t i = 0, end = numbers.size(); i < end; ++i) {
    const int64_t place = i / inner % size;
    // Where the parameter changes, a block ends.
    if (place > 0 && numbers[i] != numbers[i - inner])
      block = std::gcd(block, place);
  }
  return block;
}

static ScaleLayout layOutBlocks(ArrayRef<int64_t> numbers,
                                ArrayRef<int64_t> shape) {
  ScaleLayout layout;
  int64_t inner = 1;
  for (int64_t axis = int64_t(shape.size()) - 1; axis >= 0;
       inner *= shape[axis--])
    if (int64_t block = findBlock(numbers, shape[axis], inner);
        block > layout.block) {
      layout.block = block;
      layout.axis = axis;
    }
  layout.shape.assign(shape.begin(), shape.end());
  layout.shape[layout.axis] /= layout.block;
  inner = llvm::product_of(shape.drop_front(layout.axis + 1));
  layout.parameters.clear();
  const int64_t size = shape[layout.axis];
  for (auto [i, number] : llvm::enumerate(numbers))
    if (int64_t(i) / inner % size % layout.block == 0)
      layout.parameters.push_back(number);
  return layout;
}

/// Replaces the channel number of each element by the first channel that has
/// the same grid, so that parameters that were read in blocks are written in
/// blocks.
static void shareEqualGrids(std::vector<int64_t> &numbers,
                            ArrayRef<Grid> grids) {
  std::map<std::array<double, 4>, int64_t> firsts;
  for (int64_t &number : numbers) {
    const Grid &grid = grids[number];
    std::array<double, 4> key{grid.step, double(grid.zeroPoint),
                              double(grid.qmin), double(grid.qmax)};
    number = firsts.try_emplace(key, number).first->second;
  }
}

static FailureOr<ScaleLayout>
layOutScales(GraphBuilder &graph, tpc::QuantizeOp point,
             ArrayRef<int64_t> constantShape, ArrayRef<int64_t> shape,
             ArrayRef<int64_t> elements, ArrayRef<Grid> grids) {
  ScaleLayout layout;
  if (point.getParametersAttr().getNumChannels() == 1)
    return layout;
  std::vector<int64_t> numbers = findParameters(point, constantShape, elements);
  if (std::optional<FileChannels> channels = findChannels(numbers, shape)) {
    layout.axis = channels->axis;
    layout.shape = {int64_t(channels->order.size())};
    layout.parameters = std::move(channels->order);
    return layout;
  }
  if (graph.getOperatorSet() < kNarrowSet)
    return refusePoint(point,
                       "has channels over several axes, for which operator "
                       "set " +
                           Twine(graph.getOperatorSet()) + " has no form",
                       "operator set 21 has scales of blocks; or choose its "
                       "parameters anew, per tensor or for each output "
                       "channel");
  shareEqualGrids(numbers, grids);
  return layOutBlocks(numbers, shape);
}

/// Returns the narrowest integers of the operator set that hold the codes.
static ElementType weightType(int64_t operatorSet, const Grid &grid) {
  const int64_t range = grid.qmax - grid.qmin;
  unsigned bits = range <= 255 ? 8 : 16;
  if (range <= 15 && operatorSet >= kNarrowSet)
    bits = 4;
  if (range <= 3 && operatorSet >= kNarrowestSet)
    bits = 2;
  return integerType(bits, grid.qmin < 0);
}

FailureOr<std::string>
onnx::writeQdqWeights(GraphBuilder &graph, tpc::QuantizeOp point,
                      const Constant &constant, ArrayRef<int64_t> shape,
                      ArrayRef<int64_t> elements, bool isKernel) {
  tpc::QuantizerAttrInterface parameters = point.getParametersAttr();
  SmallVector<Grid> grids = getKernelGrids(parameters);
  if (grids.empty())
    return refusePoint(point,
                       "has a quantizer, " + llvm::to_string(parameters) +
                           ", whose levels are not evenly spaced",
                       "DequantizeLinear has none for them: write the file "
                       "with profile 'mct_quantizers', or choose parameters of "
                       "another method");
  for (const Grid &grid : grids)
    if (failed(checkWidth(graph, point, grid.qmax - grid.qmin)) ||
        failed(checkStep(point, grid)))
      return failure();
  FailureOr<ScaleLayout> layout =
      layOutScales(graph, point, constant.shape, shape, elements, grids);
  if (failed(layout))
    return failure();
  std::vector<int64_t> numbers =
      findParameters(point, constant.shape, elements);
  Storage storage;
  storage.type = weightType(graph.getOperatorSet(), grids.front());
  if (!isKernel && grids.size() == 1)
    storage = *findStorage(graph, point, grids.front());
  const std::string name = point.getUniqueName();
  auto getGrid = [&](int64_t number) -> const Grid & {
    return grids[grids.size() == 1 ? 0 : number];
  };
  std::vector<float> scales;
  for (int64_t number : layout->parameters)
    scales.push_back(static_cast<float>(getGrid(number).step));
  std::vector<std::string> inputs{
      graph.addPacked(name + "/codes", storage.type, shape,
                      [&](int64_t i) {
                        const Grid &grid = getGrid(numbers[i]);
                        double code = double(constant.values[elements[i]]) /
                                      double(float(grid.step));
                        return std::llround(code) + grid.zeroPoint +
                               storage.offset;
                      }),
      graph.addFloats(name + "/scale", layout->shape, std::move(scales)),
      graph.addPacked(
          name + "/zero_point", storage.type, layout->shape, [&](int64_t i) {
            return getGrid(layout->parameters[i]).zeroPoint + storage.offset;
          })};
  std::vector<NodeAttribute> attributes;
  if (!layout->shape.empty())
    attributes.push_back({"axis", layout->axis});
  if (layout->block)
    attributes.push_back({"block_size", layout->block});
  graph.weightBits += int64_t(elements.size()) * parameters.getBits();
  return graph.addNode(point, "DequantizeLinear", std::move(inputs),
                       name + "/quantized", std::move(attributes));
}

/// Returns a bias in steps of the accumulator; none if it does not fit in 32
/// bits.
static std::optional<BiasCodes> countSteps(const IntegerLayer &layer,
                                           ArrayRef<float> bias) {
  BiasCodes result;
  for (auto [channel, value] : llvm::enumerate(bias)) {
    double step = layer.getStep(int64_t(channel));
    // The step of a channel without weights is arbitrary.
    if (step == 0)
      step = value == 0 ? 1 : std::abs(double(value));
    const double code = std::nearbyint(double(value) / step);
    constexpr double kLargest = std::numeric_limits<int32_t>::max();
    if (!(std::abs(code) <= kLargest) || !std::isnormal(float(step)))
      return std::nullopt;
    result.scales.push_back(static_cast<float>(step));
    result.codes.push_back(int64_t(code));
  }
  return result;
}

std::optional<BiasCodes> onnx::findBiasCodes(const KernelOp &layer,
                                             ArrayRef<float> bias) {
  std::optional<Grid> input = findGrid(layer.getInput().get());
  if (!input)
    return std::nullopt;
  std::variant<IntegerLayer, Reason> found = IntegerLayer::get(layer, *input);
  if (const auto *integers = std::get_if<IntegerLayer>(&found)) {
    if (std::optional<BiasCodes> codes = countSteps(*integers, bias))
      return codes;
  } else if (std::get<Reason>(found) != Reason::KernelNotQuantized) {
    return std::nullopt;
  }
  BiasCodes result;
  result.isInteger = false;
  for (float value : bias) {
    result.scales.push_back(value == 0 ? 1 : std::abs(value));
    result.codes.push_back((value > 0) - (value < 0));
  }
  return result;
}

std::string onnx::writeBiasCodes(GraphBuilder &graph, const KernelOp &layer,
                                 const BiasCodes &bias, const Twine &name) {
  const int64_t channels = bias.codes.size();
  std::vector<std::string> inputs{
      graph.addPacked(name + "/codes", ElementType::Int32, {channels},
                      [&](int64_t i) { return bias.codes[i]; }),
      graph.addFloats(name + "/scale", {channels}, bias.scales)};
  return graph.addNode(layer.getOperation(), "DequantizeLinear",
                       std::move(inputs), name + "/quantized",
                       {{"axis", int64_t(0)}});
}

//===----------------------------------------------------------------------===//
// Activations
//===----------------------------------------------------------------------===//

// The node of a point until `lowerQdqPoints`. Its `source` is the point; these
// attributes are a number that is added to the input, and limits of the sum.
static constexpr StringLiteral kLow = "low", kHigh = "high", kShift = "shift";

LogicalResult onnx::emitQdqPoint(GraphBuilder &graph, tpc::QuantizeOp point) {
  FailureOr<TensorRef> input = graph.read(point, point.getInput());
  if (failed(input))
    return failure();
  tpc::QuantizerAttrInterface parameters = point.getParametersAttr();
  if (!parameters) {
    graph.define(point.getResult(), input->name, input->layout);
    return success();
  }
  SmallVector<Grid> grids = parameters.getGrids();
  if (grids.size() != 1)
    return refusePoint(point,
                       "is an activation with a table, or with parameters for "
                       "each channel",
                       "QuantizeLinear is written with one step and zero "
                       "point: choose a target with such activations");
  if (failed(findStorage(graph, point, grids.front())))
    return failure();
  graph.define(point.getResult(),
               graph.addNode(point, kPointType, {input->name},
                             point.getUniqueName() + "/quantized"),
               input->layout);
  return success();
}

bool onnx::isPoint(const Node &node) { return node.opType == kPointType; }

Grid onnx::getGrid(const Node &point) {
  return cast<tpc::QuantizeOp>(point.source)
      .getParametersAttr()
      .getGrids()
      .front();
}

bool onnx::haveSameGrid(const Node &lhs, const Node &rhs) {
  return lhs.source == rhs.source || getGrid(lhs) == getGrid(rhs);
}

static float getLimit(const Node &point, StringRef name) {
  if (const NodeAttribute *limit = point.lookup(name))
    return std::get<float>(limit->value);
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  return name == kLow ? -kInfinity : kInfinity;
}

static float getShift(const Node &point) {
  const NodeAttribute *shift = point.lookup(kShift);
  return shift ? std::get<float>(shift->value) : 0;
}

/// Returns a number in steps of a grid if it is a whole number of steps, or
/// none.
static std::optional<int64_t> countSteps(const Grid &grid, float number) {
  const double steps = std::round(double(number) / double(float(grid.step)));
  constexpr double kMost = 65535;
  if (std::abs(steps) > kMost || steps * double(float(grid.step)) != number)
    return std::nullopt;
  return int64_t(steps);
}

bool onnx::isMoving(const Node &node) {
  static constexpr StringLiteral kMoving[] = {
      "Concat",  "MaxPool", "Pad",  "ReduceMax", "ReduceMin",
      "Reshape", "Slice",   "Tile", "Transpose"};
  const NodeAttribute *mode =
      node.opType == "Resize" ? node.lookup("mode") : nullptr;
  return llvm::is_contained(kMoving, node.opType) ||
         (mode && std::get<std::string>(mode->value) == "nearest");
}

namespace {
class PointLowering {
public:
  explicit PointLowering(GraphBuilder &graph) : graph(graph) {
    for (Node &node : graph.model.graph.nodes)
      nodes.push_back(std::make_unique<Node>(std::move(node)));
    graph.model.graph.nodes.clear();
    for (const std::unique_ptr<Node> &node : nodes)
      for (const std::string &input : node->inputs)
        users[input].push_back(node.get());
    for (const ValueInfo &output : graph.model.graph.outputs)
      outputs.insert(output.name);
    for (const Tensor &tensor : graph.model.graph.initializers)
      if (tensor.type == ElementType::Float && tensor.size() == 1)
        numbers[tensor.name] = tensor.floats.front();
  }

  void run() {
    for (const std::unique_ptr<Node> &node : llvm::reverse(nodes))
      dropUnread(*node);
    for (const std::unique_ptr<Node> &node : llvm::reverse(nodes)) {
      if (removed.contains(node.get()))
        continue;
      takeShift(*node);
      takeLimit(*node);
      quantizeBefore(*node);
    }
    for (const std::unique_ptr<Node> &node : nodes)
      quantizeAfter(*node);
    for (const auto *each : {&nodes, &added})
      for (const std::unique_ptr<Node> &node : *each)
        if (isPoint(*node))
          requantized.insert(node->inputs.front());
    for (const std::unique_ptr<Node> &node : nodes) {
      if (removed.contains(node.get()))
        continue;
      if (const Node *point = before.lookup(node.get()))
        write(*point);
      write(*node);
      if (const Node *point = after.lookup(node.get()))
        write(*point);
    }
    dropUnusedConstants();
  }

private:
  void dropUnread(Node &node) {
    if (!users[node.name].empty() || outputs.contains(node.name))
      return;
    for (const std::string &input : node.inputs)
      llvm::erase(users[input], &node);
    removed.insert(&node);
  }

  /// Lets a user of a value read another one.
  void replaceInput(Node &user, const std::string &from,
                    const std::string &to) {
    llvm::replace(user.inputs, from, to);
    llvm::erase(users[from], &user);
    users[to].push_back(&user);
  }

  /// Merges a clamp into the points that are its only users. Clamping and
  /// rounding commute, since both are monotonic.
  void takeLimit(Node &node) {
    const bool isRelu = node.opType == "Relu";
    if ((!isRelu && node.opType != "Clip") || !isReadByPoints(node))
      return;
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    auto bound = [&](size_t number, float otherwise) {
      if (node.inputs.size() <= number || node.inputs[number].empty())
        return otherwise;
      return numbers.lookup(node.inputs[number]);
    };
    const float low = isRelu ? 0 : bound(1, -kInfinity);
    const float high = isRelu ? kInfinity : bound(2, kInfinity);
    for (Node *point : SmallVector<Node *>(users[node.name])) {
      const float outerLow = getLimit(*point, kLow);
      const float outerHigh = getLimit(*point, kHigh);
      const float shift = getShift(*point);
      auto limit = [&](float value) {
        return std::min(std::max(value + shift, outerLow), outerHigh);
      };
      point->attributes = {{kLow.str(), limit(low)},
                           {kHigh.str(), limit(high)},
                           {kShift.str(), shift}};
      replaceInput(*point, node.name, node.inputs.front());
    }
    llvm::erase(users[node.inputs.front()], &node);
    removed.insert(&node);
  }

  /// Merges the addition of a number into the zero points of the points that
  /// are its only users, if it is a whole number of their steps. Does not apply
  /// to sums of quantized values.
  void takeShift(Node &node) {
    if (node.opType != "Add" || !isReadByPoints(node))
      return;
    const bool isFirst = numbers.contains(node.inputs.front());
    const std::string shifted = node.inputs[isFirst ? 1 : 0];
    auto number = numbers.find(node.inputs[isFirst ? 0 : 1]);
    auto producer = producers().find(shifted);
    if (number == numbers.end() || producer == producers().end() ||
        isMovedPoint(*producer->second))
      return;
    const float shift = number->second;
    ArrayRef<Node *> points = users[node.name];
    if (llvm::any_of(points, [&](Node *point) {
          const Grid grid = getGrid(*point);
          std::optional<int64_t> steps = countSteps(grid, shift);
          FailureOr<Storage> storage =
              findStorage(graph, cast<tpc::QuantizeOp>(point->source), grid);
          if (!steps || failed(storage) || getShift(*point) != 0)
            return true;
          const int64_t zeroPoint = grid.zeroPoint + storage->offset + *steps;
          return zeroPoint < storage->lowest() ||
                 zeroPoint > storage->highest();
        }))
      return;
    for (Node *point : SmallVector<Node *>(points)) {
      point->attributes = {{kLow.str(), getLimit(*point, kLow)},
                           {kHigh.str(), getLimit(*point, kHigh)},
                           {kShift.str(), shift}};
      replaceInput(*point, node.name, shifted);
    }
    llvm::erase(users[shifted], &node);
    removed.insert(&node);
  }

  bool isReadByPoints(const Node &node) {
    ArrayRef<Node *> found = users[node.name];
    return !found.empty() && !outputs.contains(node.name) &&
           llvm::all_of(found, [](Node *user) { return isPoint(*user); });
  }

  std::unique_ptr<Node> makePoint(const Node &like, const std::string &input) {
    auto point = std::make_unique<Node>();
    point->opType = kPointType.str();
    point->name = graph.makeName(StringRef(input).ends_with("/quantized")
                                     ? Twine(input)
                                     : input + "/quantized");
    point->inputs = {input};
    point->outputs = {point->name};
    point->source = like.source;
    return point;
  }

  /// Quantizes a value before it is moved, if all users of the moved value are
  /// points with one grid.
  void quantizeBefore(Node &node) {
    static constexpr StringLiteral kPermuting[] = {"Reshape", "Transpose",
                                                   "Slice", "MaxPool"};
    if (!llvm::is_contained(kPermuting, node.opType) || !isReadByPoints(node))
      return;
    const std::string input = node.inputs.front();
    Node &first = *users[node.name].front();
    if (outputs.contains(input) || users[input].size() != 1 ||
        llvm::any_of(users[node.name], [&](Node *user) {
          return !haveSameGrid(*user, first) ||
                 getLimit(*user, kLow) != getLimit(first, kLow) ||
                 getLimit(*user, kHigh) != getLimit(first, kHigh) ||
                 getShift(*user) != getShift(first);
        }))
      return;
    auto producer = producers().find(input);
    if (producer == producers().end() || isPoint(*producer->second) ||
        isMovedPoint(*producer->second))
      return;
    std::unique_ptr<Node> point = makePoint(first, input);
    point->attributes = first.attributes;
    replaceInput(node, input, point->name);
    users[input].push_back(point.get());
    before[&node] = point.get();
    added.push_back(std::move(point));
  }

  /// Returns whether a node is a point, perhaps followed by moves.
  bool isMovedPoint(const Node &node) {
    const Node *producer = &node;
    while (isMoving(*producer)) {
      auto next = producers().find(producer->inputs.front());
      if (next == producers().end())
        return false;
      producer = next->second;
    }
    return isPoint(*producer);
  }

  const llvm::StringMap<const Node *> &producers() {
    if (producersOfValues.empty())
      for (const std::unique_ptr<Node> &node : nodes)
        producersOfValues[node->name] = node.get();
    return producersOfValues;
  }

  /// Quantizes a value again after moving values of points with one grid. That
  /// does not change it, but shows runtimes that integers are moved.
  void quantizeAfter(Node &node) {
    if (const Node *point = before.lookup(&node))
      quantized[point->name] = point;
    if (isPoint(node))
      quantized[node.name] = &node;
    if (!isMoving(node))
      return;
    const Node *point = nullptr;
    size_t count = node.opType == "Concat" ? node.inputs.size() : 1;
    for (const std::string &input : ArrayRef(node.inputs).take_front(count)) {
      const Node *other = quantized.lookup(input);
      if (!other || (point && !haveSameGrid(*point, *other)))
        return;
      point = other;
    }
    if (node.opType == "Pad" && !isOnGrid(getGrid(*point), node.inputs[2]))
      return;
    SmallVector<Node *> others;
    for (Node *user : users[node.name])
      if (!isPoint(*user) || !haveSameGrid(*user, *point))
        others.push_back(user);
    if (others.empty()) {
      quantized[node.name] = point;
      return;
    }
    std::unique_ptr<Node> copy = makePoint(*point, node.name);
    for (Node *user : others)
      replaceInput(*user, node.name, copy->name);
    users[node.name].push_back(copy.get());
    quantized[copy->name] = copy.get();
    after[&node] = copy.get();
    added.push_back(std::move(copy));
  }

  bool isOnGrid(const Grid &grid, const std::string &constant) {
    auto number = numbers.find(constant);
    if (number == numbers.end())
      return false;
    float level = 0;
    quantization::fakeQuantize(grid, &number->second, &level, 1);
    return level == number->second;
  }

  /// Adds a node to the graph; a point becomes the nodes of the format.
  void write(const Node &node) {
    if (!isPoint(node)) {
      graph.model.graph.nodes.push_back(node);
      return;
    }
    auto op = cast<tpc::QuantizeOp>(node.source);
    const Grid grid = getGrid(node);
    const Storage storage = *findStorage(graph, op, grid);
    auto [parameters, isNew] = parametersOf.try_emplace(op);
    std::string &scale = parameters->second.first,
                &zeroPoint = parameters->second.second;
    if (isNew) {
      const std::string name = op.getUniqueName();
      scale = graph.addFloats(name + "/scale", {}, {float(grid.step)});
      zeroPoint =
          graph.addPacked(name + "/zero_point", storage.type, {}, [&](int64_t) {
            return grid.zeroPoint + storage.offset;
          });
    }
    StringRef base = node.name;
    base.consume_back("/quantized");
    // The codes of the limits.
    auto toCode = [&](float limit) {
      float level = 0;
      quantization::fakeQuantize(grid, &limit, &level, 1);
      return std::llround(double(level) / double(float(grid.step))) +
             grid.zeroPoint + storage.offset;
    };
    const int64_t steps = *countSteps(grid, getShift(node));
    std::string shifted = zeroPoint;
    if (steps != 0)
      shifted = graph.addPacked(
          base + "/shifted_zero_point", storage.type, {},
          [&](int64_t) { return grid.zeroPoint + storage.offset + steps; });
    const int64_t low = toCode(getLimit(node, kLow));
    const int64_t high = toCode(getLimit(node, kHigh));
    // ONNX Runtime merges two consecutive pairs into one whose step neither of
    // them has; a clamp between them prevents that.
    const bool isLimited = low > storage.lowest() || high < storage.highest() ||
                           requantized.contains(node.name);
    std::string value = node.inputs.front();
    if (isLimited && bitsOf(storage.type) != 8) {
      // ONNX Runtime clamps 8-bit integers only.
      auto real = [&](int64_t code) {
        return float(double(float(grid.step)) *
                     double(code - storage.offset - grid.zeroPoint - steps));
      };
      value =
          graph.addNode(op, "Clip",
                        {value, graph.addFloats(base + "/low", {}, {real(low)}),
                         graph.addFloats(base + "/high", {}, {real(high)})},
                        base + "/limited");
    }
    value = graph.addNode(op, "QuantizeLinear", {value, scale, shifted},
                          base + "/codes");
    if (isLimited && bitsOf(storage.type) == 8) {
      auto constant = [&](StringRef name, int64_t code) {
        return graph.addPacked(base + name, storage.type, {},
                               [&](int64_t) { return code; });
      };
      value = graph.addNode(
          op, "Clip", {value, constant("/low", low), constant("/high", high)},
          base + "/limited");
    }
    Node real = node;
    real.opType = "DequantizeLinear";
    real.attributes.clear();
    real.inputs = {value, scale, zeroPoint};
    graph.model.graph.nodes.push_back(std::move(real));
  }

  void dropUnusedConstants() {
    llvm::StringSet<> used;
    for (const Node &node : graph.model.graph.nodes)
      for (const std::string &input : node.inputs)
        used.insert(input);
    llvm::erase_if(graph.model.graph.initializers, [&](const Tensor &tensor) {
      return !used.contains(tensor.name) && !outputs.contains(tensor.name);
    });
  }

  GraphBuilder &graph;
  std::vector<std::unique_ptr<Node>> nodes, added;
  llvm::StringMap<SmallVector<Node *>> users;
  llvm::StringMap<const Node *> producersOfValues;
  llvm::StringSet<> outputs;
  /// Constants of one element.
  llvm::StringMap<float> numbers;
  llvm::DenseSet<const Node *> removed;
  /// Names of values that points quantize.
  llvm::StringSet<> requantized;
  /// Points that are inserted before and after nodes.
  llvm::DenseMap<const Node *, const Node *> before, after;
  /// Point of each tensor on whose grid its values are.
  llvm::StringMap<const Node *> quantized;
  /// Names of scale and zero point.
  llvm::DenseMap<Operation *, std::pair<std::string, std::string>> parametersOf;
};
} // namespace

void onnx::lowerQdqPoints(GraphBuilder &graph) { PointLowering(graph).run(); }
