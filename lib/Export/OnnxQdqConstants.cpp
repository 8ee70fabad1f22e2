// SPDX-License-Identifier: Apache-2.0
//
// Converts constants to codes for integer kernels, and removes points that only
// float operators read.
#include "OnnxQdq.h"
#include <cmath>

using namespace mlir;
using namespace mct;
using namespace mct::onnx;
using quantization::Grid;

/// Returns whether ONNX Runtime has the operator for float tensors only.
static bool isFloatOnly(const Node &node) {
  static constexpr StringLiteral kFloat[] = {
      "Erf", "Exp", "Gelu", "HardSwish", "LayerNormalization", "Tanh"};
  return llvm::is_contained(kFloat, node.opType);
}

namespace {
class ConstantQuantizer {
public:
  explicit ConstantQuantizer(GraphBuilder &graph)
      : graph(graph), nodes(graph.model.graph.nodes) {
    for (Node &node : nodes) {
      producers[node.name] = &node;
      for (const std::string &input : node.inputs)
        users[input].push_back(&node);
    }
    for (const ValueInfo &output : graph.model.graph.outputs)
      outputs.insert(output.name);
    for (auto [i, tensor] : llvm::enumerate(graph.model.graph.initializers))
      if (tensor.type == ElementType::Float)
        constants[tensor.name] = i;
  }

  void run() {
    for (Node &node : nodes) {
      if (node.opType == "Add" || node.opType == "Mul")
        quantizeNumber(node);
      else if (node.opType == "Concat")
        quantizeParts(node);
      else if (isPoint(node))
        limitInstead(node);
    }
    nodes.insert(nodes.begin(), std::make_move_iterator(added.begin()),
                 std::make_move_iterator(added.end()));
  }

private:
  /// Returns the point that quantized a tensor, which may have been moved
  /// since, or null.
  const Node *findPoint(StringRef tensor) const {
    const Node *producer = producers.lookup(tensor);
    while (producer && isMoving(*producer) && producer->opType != "Concat" &&
           producer->opType != "Pad")
      producer = producers.lookup(producer->inputs.front());
    return producer && isPoint(*producer) ? producer : nullptr;
  }

  /// Returns the points that read a tensor, perhaps after clamps or reshapes,
  /// or none if it has other users.
  SmallVector<Node *> findReadingPoints(StringRef tensor) const {
    ArrayRef<Node *> found = getUsers(tensor);
    if (outputs.contains(tensor))
      return {};
    if (found.size() == 1 &&
        (found.front()->opType == "Relu" || found.front()->opType == "Clip" ||
         found.front()->opType == "Reshape"))
      return findReadingPoints(found.front()->name);
    if (!llvm::all_of(found, [](Node *user) { return isPoint(*user); }))
      return {};
    return SmallVector<Node *>(found);
  }

  ArrayRef<Node *> getUsers(StringRef tensor) const {
    auto found = users.find(tensor);
    return found == users.end() ? ArrayRef<Node *>() : found->second;
  }

  Storage getStorage(const Node &point) {
    return *findStorage(graph, cast<tpc::QuantizeOp>(point.source),
                        getGrid(point));
  }

  bool isNarrow(const Node &point) {
    return bitsOf(getStorage(point).type) == 8;
  }

  /// Adds a constant of codes and the node that dequantizes it.
  std::string addCodes(const Node &user, const std::string &name,
                       ElementType type, ArrayRef<int64_t> shape, float scale,
                       int64_t zeroPoint,
                       llvm::function_ref<int64_t(int64_t)> get) {
    Node real;
    real.opType = "DequantizeLinear";
    real.name = graph.makeName(name + "/quantized");
    real.outputs = {real.name};
    real.source = user.source;
    real.inputs = {graph.addPacked(name + "/codes", type, shape, get),
                   graph.addFloats(name + "/scale", {}, {scale}),
                   graph.addPacked(name + "/zero_point", type, {},
                                   [&](int64_t) { return zeroPoint; })};
    added.push_back(real);
    return real.name;
  }

  /// Stores a number that is added to codes, or multiplied by them, as one code
  /// of a grid whose step is the number's magnitude, which is exact.
  void quantizeNumber(Node &node) {
    const bool isFirst = constants.contains(node.inputs[0]);
    std::string &number = node.inputs[isFirst ? 0 : 1];
    const Node *point = findPoint(node.inputs[isFirst ? 1 : 0]);
    SmallVector<Node *> after = findReadingPoints(node.name);
    auto found = constants.find(number);
    if (found == constants.end() || !point || !isNarrow(*point) ||
        after.empty() ||
        llvm::any_of(after, [&](Node *each) { return !isNarrow(*each); }))
      return;
    const Tensor &constant = graph.model.graph.initializers[found->second];
    if (constant.size() != 1)
      return;
    const float value = constant.floats.front(), scale = std::abs(value);
    if (!std::isnormal(scale) || !std::isnormal(1 / scale))
      return;
    const Storage storage = getStorage(*point);
    const int64_t code = storage.lowest() + (value > 0);
    const SmallVector<int64_t> shape = constant.shape;
    number =
        addCodes(node, node.name + "/number", storage.type, shape, scale,
                 storage.lowest() + (value < 0), [&](int64_t) { return code; });
  }

  /// Stores constants that are concatenated with codes as codes of the
  /// following point, which would round them to the same levels.
  void quantizeParts(Node &node) {
    SmallVector<Node *> after = findReadingPoints(node.name);
    if (after.empty() || !isNarrow(*after.front()) ||
        llvm::any_of(after, [&](Node *each) {
          return !haveSameGrid(*each, *after.front());
        }))
      return;
    auto isConstant = [&](const std::string &input) {
      return constants.contains(input);
    };
    if (llvm::none_of(node.inputs, isConstant) ||
        !llvm::all_of(node.inputs, [&](const std::string &input) {
          const Node *point = findPoint(input);
          return isConstant(input) || (point && isNarrow(*point));
        }))
      return;
    const Grid grid = getGrid(*after.front());
    const Storage storage = getStorage(*after.front());
    const auto step = double(float(grid.step));
    for (auto [i, input] : llvm::enumerate(node.inputs)) {
      auto found = constants.find(input);
      if (found == constants.end())
        continue;
      const Tensor constant = graph.model.graph.initializers[found->second];
      std::vector<float> levels(constant.floats.size());
      quantization::fakeQuantize(grid, constant.floats.data(), levels.data(),
                                 levels.size());
      const int64_t zeroPoint = grid.zeroPoint + storage.offset;
      input = addCodes(
          node, (node.name + "/part_" + Twine(i)).str(), storage.type,
          constant.shape, float(grid.step), zeroPoint, [&](int64_t element) {
            return std::llround(double(levels[element]) / step) + zeroPoint;
          });
    }
  }

  /// If only float operators read a point, and its grid contains all codes of
  /// the point before it (except beyond its limits), replaces it by a clamp, or
  /// removes it.
  void limitInstead(Node &node) {
    const Node *point = findPoint(node.inputs.front());
    ArrayRef<Node *> found = getUsers(node.name);
    if (!point || outputs.contains(node.name) || found.empty() ||
        !llvm::all_of(found, [](Node *each) { return isFloatOnly(*each); }))
      return;
    const Grid outer = getGrid(node), inner = getGrid(*point);
    const auto step = double(float(outer.step));
    const double ratio = double(float(inner.step)) / step;
    if (haveSameGrid(node, *point) || ratio != std::nearbyint(ratio))
      return;
    const auto factor = int64_t(ratio);
    if (factor * (inner.qmin - inner.zeroPoint) >=
            outer.qmin - outer.zeroPoint &&
        factor * (inner.qmax - inner.zeroPoint) <=
            outer.qmax - outer.zeroPoint) {
      for (Node *user : SmallVector<Node *>(found)) {
        llvm::replace(user->inputs, node.name, node.inputs.front());
        users[node.inputs.front()].push_back(user);
      }
      users[node.name].clear();
      return;
    }
    auto real = [&](int64_t code) {
      return float(step * double(code - outer.zeroPoint));
    };
    node.opType = "Clip";
    node.attributes.clear();
    node.inputs = {
        node.inputs.front(),
        graph.addFloats(node.name + "/low", {}, {real(outer.qmin)}),
        graph.addFloats(node.name + "/high", {}, {real(outer.qmax)})};
  }

  GraphBuilder &graph;
  std::vector<Node> &nodes;
  llvm::StringMap<const Node *> producers;
  llvm::StringMap<SmallVector<Node *>> users;
  llvm::StringSet<> outputs;
  /// Indices of float constants.
  llvm::StringMap<size_t> constants;
  std::vector<Node> added;
};
} // namespace

void onnx::quantizeConstants(GraphBuilder &graph) {
  ConstantQuantizer(graph).run();
}
