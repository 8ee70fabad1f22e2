// SPDX-License-Identifier: Apache-2.0
#include "OnnxRows.h"
#include "OnnxQdq.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace mct;
using namespace mct::onnx;

using Shape = ArrayRef<int64_t>;

/// Returns the only axis before the last with more than one element; 0 if there
/// is a single row, and nothing if there are several such axes.
static std::optional<int64_t> findRowAxis(Shape shape) {
  std::optional<int64_t> found;
  for (auto [axis, size] : llvm::enumerate(shape.drop_back()))
    if (size != 1) {
      if (found)
        return std::nullopt;
      found = int64_t(axis);
    }
  return found.value_or(0);
}

/// Returns the shape of a tensor as rows.
static SmallVector<int64_t> getRows(Shape shape) {
  int64_t rows = 1;
  for (int64_t size : shape.drop_back())
    rows = size == kDynamic || rows == kDynamic ? kDynamic : rows * size;
  return {rows, shape.back()};
}

static bool isUnary(const Node &node) {
  static constexpr StringLiteral kUnary[] = {
      "Abs",       "Ceil",       "Clip",  "Cos",
      "Erf",       "Exp",        "Floor", "Gelu",
      "Log",       "HardSwish",  "Neg",   "LayerNormalization",
      "LeakyRelu", "Softmax",    "Relu",  "Sigmoid",
      "Sin",       "Reciprocal", "Sqrt",  "Tanh",
      kPointType};
  return llvm::is_contained(kUnary, node.opType);
}

static bool isBinary(const Node &node) {
  static constexpr StringLiteral kBinary[] = {"Add", "Div", "Max", "Min",
                                              "Mul", "Pow", "Sub"};
  return llvm::is_contained(kBinary, node.opType);
}

namespace {
/// A constant, and the node that dequantizes it if it is stored in integers.
struct ConstantInput {
  const Tensor *tensor = nullptr;
  Node *decoder = nullptr;
};

class RowKeeper {
public:
  explicit RowKeeper(GraphBuilder &graph)
      : graph(graph), nodes(graph.model.graph.nodes) {
    for (const Tensor &tensor : graph.model.graph.initializers)
      constants[tensor.name] = &tensor;
    for (const auto *infos :
         {&graph.model.graph.inputs, &graph.model.graph.outputs})
      for (const ValueInfo &info : *infos)
        boundary.insert(info.name);
    for (Node &node : nodes) {
      producers[node.name] = &node;
      for (const std::string &input : node.inputs)
        users[input].push_back(&node);
    }
  }

  void run() {
    for (Node &node : nodes)
      if (isCarrier(node))
        join(node);
    SmallVector<Region> regions = findRegions();
    for (const Region &region : regions)
      if (countSaved(region) > 0)
        kept.insert_range(region);
    std::vector<Node *> carried;
    for (Node &node : nodes)
      if (carriers.contains(&node) && kept.contains(node.name))
        carried.push_back(&node);
    // Constants are added, which moves those that there are.
    SmallVector<std::pair<Node *, Node>> changed;
    for (Node *node : carried) {
      if (joinsRows(*node))
        joined.insert(node->name);
      changed.push_back({node, carry(*node)});
    }
    for (auto &[node, carried] : changed)
      *node = std::move(carried);
    rewrite();
  }

private:
  using Region = SmallVector<StringRef>;

  Shape shapeOf(StringRef tensor) const {
    auto found = graph.shapes.find(tensor);
    return found == graph.shapes.end() ? Shape() : Shape(found->second);
  }

  /// Returns whether a tensor may be converted to rows.
  bool isWide(StringRef tensor) const {
    return shapeOf(tensor).size() > 2 && !boundary.contains(tensor);
  }

  /// Finds a constant, including one of integers with a single scale.
  std::optional<ConstantInput> findConstant(StringRef name) const {
    if (const Tensor *tensor = constants.lookup(name))
      return ConstantInput{tensor, nullptr};
    Node *producer = producers.lookup(name);
    if (!producer || producer->opType != "DequantizeLinear")
      return std::nullopt;
    const Tensor *codes = constants.lookup(producer->inputs[0]);
    const Tensor *scale = constants.lookup(producer->inputs[1]);
    if (!codes || !scale || !scale->shape.empty())
      return std::nullopt;
    return ConstantInput{codes, producer};
  }

  /// Returns the shape of a constant that is combined with rows of a tensor, or
  /// nothing if its values differ within a row's position.
  static std::optional<SmallVector<int64_t>> getBesideRows(Shape constant,
                                                           Shape whole) {
    if (constant.size() <= 1)
      return SmallVector<int64_t>(constant);
    if (llvm::all_of(constant.drop_back(),
                     [](int64_t size) { return size == 1; }))
      return SmallVector<int64_t>{1, constant.back()};
    if (constant.drop_back() != whole.drop_back())
      return std::nullopt;
    return getRows(constant);
  }

  bool isCarrier(const Node &node) const {
    Shape shape = shapeOf(node.name);
    if (!isWide(node.name) || node.outputs.size() != 1)
      return false;
    if (isUnary(node))
      return isWide(node.inputs.front()) &&
             shapeOf(node.inputs.front()) == shape &&
             isAlongLast(node, shape.size()) &&
             llvm::all_of(ArrayRef(node.inputs).drop_front(),
                          [&](const std::string &input) {
                            return input.empty() || constants.lookup(input);
                          });
    if (isBinary(node))
      return llvm::all_of(node.inputs, [&](const std::string &input) {
        if (std::optional<ConstantInput> constant = findConstant(input))
          return getBesideRows(constant->tensor->shape, shape).has_value();
        return isWide(input) && shapeOf(input) == shape;
      });
    if (node.opType == "Slice")
      return isCarriedSlice(node, shape);
    return node.opType == "Concat" && isCarriedConcat(node, shape);
  }

  /// Returns whether a node that has an axis works along the last one.
  static bool isAlongLast(const Node &node, int64_t rank) {
    const NodeAttribute *axis = node.lookup("axis");
    if (!axis)
      return true;
    const auto number = std::get<int64_t>(axis->value);
    return number == -1 || number == rank - 1;
  }

  bool isCarriedSlice(const Node &node, Shape shape) const {
    const std::string &input = node.inputs.front();
    if (!isWide(input) || node.inputs.size() != 4)
      return false;
    const Tensor *axes = constants.lookup(node.inputs[3]);
    if (!axes)
      return false;
    const int64_t last = int64_t(shape.size()) - 1;
    for (int64_t i = 0; i != axes->size(); ++i)
      if (axes->unpack(i) != last &&
          (findRowAxis(shapeOf(input)) != axes->unpack(i) ||
           !findRowAxis(shape)))
        return false;
    return true;
  }

  /// Returns whether a node concatenates single rows, along an axis other than
  /// the last. They are concatenated along the last axis and reshaped, since
  /// the CPU plugin of OpenVINO 2026 crashes on concatenated rows of codes.
  bool joinsRows(const Node &node) const {
    return node.opType == "Concat" &&
           !isAlongLast(node, shapeOf(node.name).size());
  }

  bool isCarriedConcat(const Node &node, Shape shape) const {
    const bool isJoined = joinsRows(node);
    auto isCarried = [&](Shape input) {
      return input.size() == shape.size() &&
             (!isJoined || llvm::all_of(input.drop_back(), [](int64_t size) {
               return size == 1;
             }));
    };
    return llvm::all_of(node.inputs, [&](const std::string &input) {
      if (std::optional<ConstantInput> constant = findConstant(input))
        return isCarried(constant->tensor->shape);
      return isWide(input) && isCarried(shapeOf(input));
    });
  }

  /// Puts the tensors of a node into one region.
  void join(Node &node) {
    carriers.insert(&node);
    for (const std::string &input : node.inputs)
      if (isWide(input))
        regionClasses.unionSets(StringRef(node.name), StringRef(input));
    regionClasses.insert(StringRef(node.name));
  }

  SmallVector<Region> findRegions() {
    llvm::MapVector<StringRef, Region> regions;
    auto add = [&](StringRef tensor) {
      if (auto leader = regionClasses.findLeader(tensor);
          leader != regionClasses.member_end())
        regions[*leader].push_back(tensor);
    };
    for (const Node &node : nodes)
      add(node.name);
    return llvm::to_vector(llvm::make_second_range(regions.getArrayRef()));
  }

  /// Returns whether a reshape converts between a matrix and a tensor with the
  /// same channels.
  bool isBetweenRows(const Node &node, StringRef tensor) const {
    StringRef other = tensor == node.name ? StringRef(node.inputs.front())
                                          : StringRef(node.name);
    Shape shape = shapeOf(other);
    return shape.size() == 2 && shape.back() == shapeOf(tensor).back() &&
           (other != node.name || !boundary.contains(other));
  }

  /// Returns whether a node neither works on rows nor is a reshape, so that its
  /// result also exists in its original shape.
  bool isMadeWhole(const Node &producer) const {
    return !carriers.contains(&producer) && producer.opType != "Reshape";
  }

  /// Returns the number of reshapes that are saved if the tensors of a region
  /// are rows.
  int64_t countSaved(const Region &region) const {
    int64_t saved = 0;
    for (StringRef tensor : region) {
      const Node &producer = *producers.lookup(tensor);
      if (isMadeWhole(producer))
        --saved;
      else if (joinsRows(producer))
        --saved;
      else if (!carriers.contains(&producer) && isBetweenRows(producer, tensor))
        ++saved;
      bool needsWhole = false;
      auto found = users.find(tensor);
      if (found == users.end())
        continue;
      for (const Node *user : found->second) {
        if (carriers.contains(user))
          continue;
        if (user->opType != "Reshape")
          needsWhole = !isMadeWhole(producer);
        else if (isBetweenRows(*user, tensor))
          ++saved;
      }
      saved -= needsWhole;
    }
    return saved;
  }

  /// Adds a copy of a constant in the shape that is combined with rows.
  std::string addReshaped(const ConstantInput &constant, Shape shape) {
    Tensor copy = *constant.tensor;
    copy.name = graph.makeName(copy.name + "/rows");
    copy.shape.assign(shape.begin(), shape.end());
    std::string name = copy.name;
    addedConstants.push_back(std::move(copy));
    if (!constant.decoder)
      return name;
    Node decoder = *constant.decoder;
    decoder.inputs.front() = name;
    decoder.name = graph.makeName(decoder.name + "/rows");
    decoder.outputs = {decoder.name};
    name = decoder.name;
    addedDecoders.push_back(std::move(decoder));
    return name;
  }

  /// Returns the node for rows.
  Node carry(const Node &node) {
    Node carried = node;
    Shape shape = shapeOf(node.name);
    for (NodeAttribute &attribute : carried.attributes)
      if (attribute.name == "axis")
        attribute.value = int64_t(1);
    if (node.opType == "Slice") {
      const ConstantInput axes{constants.lookup(node.inputs[3]), nullptr};
      Tensor moved = *axes.tensor;
      moved.name = graph.makeName(moved.name + "/rows");
      const int64_t last = int64_t(shape.size()) - 1;
      moved.pack(
          [&](int64_t i) { return int64_t(axes.tensor->unpack(i) == last); });
      carried.inputs[3] = moved.name;
      addedConstants.push_back(std::move(moved));
      return carried;
    }
    if (!isBinary(node) && node.opType != "Concat")
      return carried;
    for (std::string &input : carried.inputs) {
      std::optional<ConstantInput> constant = findConstant(input);
      if (!constant)
        continue;
      Shape own = constant->tensor->shape;
      SmallVector<int64_t> rows =
          node.opType == "Concat" ? getRows(own) : *getBesideRows(own, shape);
      if (Shape(rows) != own)
        input = addReshaped(*constant, rows);
    }
    return carried;
  }

  std::string addReshape(std::vector<Node> &to, const Node &like,
                         const std::string &tensor, Shape shape,
                         StringRef label) {
    Node node;
    node.opType = "Reshape";
    node.name = graph.makeName(tensor + "/" + label);
    node.outputs = {node.name};
    node.source = like.source;
    node.inputs = {tensor,
                   graph.addIntegers(node.name + "/shape", integers(shape))};
    to.push_back(node);
    return node.name;
  }

  /// Returns whether a reshape converts between matrices with the same
  /// channels, once the tensors that are kept as rows are matrices.
  bool isIdentity(const Node &node) const {
    if (node.opType != "Reshape" || boundary.contains(node.name))
      return false;
    const std::string &input = node.inputs.front();
    Shape from = shapeOf(input), to = shapeOf(node.name);
    auto isMatrix = [&](StringRef tensor, Shape shape) {
      return kept.contains(tensor) || shape.size() == 2;
    };
    return isMatrix(input, from) && isMatrix(node.name, to) &&
           from.back() == to.back() && !boundary.contains(input);
  }

  /// Lets a reshape read the input of the one before it.
  void skipReshape(Node &node) {
    auto before = reshaped.find(node.inputs.front());
    if (before != reshaped.end())
      node.inputs.front() = before->second;
    reshaped[node.name] = node.inputs.front();
  }

  /// Rewrites the nodes: without reshapes that change nothing, and with the
  /// reshapes that are needed at the borders of regions.
  void rewrite() {
    std::vector<Node> written = std::move(addedDecoders);
    llvm::StringMap<std::string> replaced, whole;
    for (Node &node : nodes) {
      const bool isReshape = node.opType == "Reshape";
      const bool isCarried =
          carriers.contains(&node) && kept.contains(node.name);
      const bool isSame = isIdentity(node);
      for (std::string &input : node.inputs) {
        const std::string original = input;
        const bool takesRows = isCarried || isReshape;
        const bool isWhole =
            kept.contains(original) && isMadeWhole(*producers.lookup(original));
        if (auto found = replaced.find(input);
            found != replaced.end() && (takesRows || !isWhole))
          input = found->second;
        if (takesRows || isWhole || !kept.contains(original))
          continue;
        std::string &made = whole[original];
        if (made.empty())
          made = addReshape(written, node, input, shapeOf(original), "whole");
        input = made;
      }
      if (isSame) {
        replaced[node.name] = node.inputs.front();
        continue;
      }
      const bool makesRows = kept.contains(node.name) &&
                             (!isCarried || joined.contains(node.name));
      SmallVector<int64_t> rows;
      if (makesRows)
        rows = getRows(shapeOf(node.name));
      if (makesRows && isReshape)
        node.inputs[1] =
            graph.addIntegers(node.name + "/rows/shape", integers(rows));
      if (isReshape)
        skipReshape(node);
      written.push_back(node);
      if (makesRows && !isReshape)
        replaced[node.name] =
            addReshape(written, node, node.name, rows, "rows");
    }
    nodes = std::move(written);
    llvm::append_range(graph.model.graph.initializers, addedConstants);
  }

  GraphBuilder &graph;
  std::vector<Node> &nodes;
  llvm::StringMap<const Tensor *> constants;
  llvm::StringMap<Node *> producers;
  llvm::StringMap<SmallVector<Node *>> users;
  /// Inputs and outputs of the file, which keep their shapes.
  llvm::StringSet<> boundary;
  /// Nodes that can work on rows.
  llvm::DenseSet<const Node *> carriers;
  llvm::EquivalenceClasses<StringRef> regionClasses;
  /// Concatenations of rows.
  llvm::StringSet<> joined;
  /// Tensors that are converted to rows.
  llvm::StringSet<> kept;
  /// Inputs of reshapes, by the names of their results.
  llvm::StringMap<std::string> reshaped;
  std::vector<Tensor> addedConstants;
  std::vector<Node> addedDecoders;
};
} // namespace

void onnx::keepRows(GraphBuilder &graph) { RowKeeper(graph).run(); }
