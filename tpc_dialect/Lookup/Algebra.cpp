// SPDX-License-Identifier: Apache-2.0
#include "tpc_dialect/Lookup/Algebra.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/TypeUtilities.h"
#include "tpc_dialect/Lookup/FormulaPatterns.h"
#include "tpc_dialect/Lookup/TpcLookup.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSwitch.h"
#include <set>

using namespace mlir;
using namespace mct::tpc;

static constexpr Formula kFormulas[] = {
    {"layer_norm", "(x - mean(x)) / sqrt(variance(x) + e) * c + c"},
    {"group_norm", "layer_norm, reshape, * c + c"},
    {"instance_norm", "layer_norm over the axes of an image"},
    {"rms_norm", "x / sqrt(mean(x * x) + e) * c + c"},
    {"gelu", "x / 2 * (1 + erf(x / sqrt(2))), "
             "x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3)))"},
    {"softmax", "exp(x - max(x)) / sum(exp(x - max(x)))"},
    {"global_avg_pool", "mean(x) over the axes of an image"},
    {"mean", "mean(x)"},
};

ArrayRef<Formula> mct::tpc::listFormulas() { return kFormulas; }

/// Number of ops that are computed with from one x on: twice those of the
/// longest formula.
static constexpr unsigned kMaxOps = 64;

namespace {
/// The search for formulas that begin at one x.
class FormulaSearch {
public:
  explicit FormulaSearch(Value input)
      : input(input), block(input.getParentBlock()), patterns(atoms) {
    known[input] = atoms.atomPower(0, 1, 1);
  }

  /// Computes what follows from x, and calls `found` for every formula. Returns
  /// how many ops it computed with.
  unsigned run(llvm::function_ref<void(FormulaMatch)> found);

private:
  using Result = Polynomials::Result;
  Result compute(Operation *op);
  Result constant(Value value, unsigned depth = 0);
  Result operand(Value value) {
    auto it = known.find(value);
    return it != known.end() ? Result(it->second) : constant(value);
  }
  Result applyTo(Operation *op, ArrayRef<Polynomial> operands);
  Result reduce(Operation *op, const Polynomial &operand);

  StringRef nameNorm(ArrayRef<Operation *> ops) const;
  llvm::SmallSetVector<int64_t, 4> reducedAxes(ArrayRef<Operation *> ops) const;
  bool isImage(const llvm::SmallSetVector<int64_t, 4> &axes) const;
  std::optional<SmallVector<Operation *>> collect(Operation *root) const;
  bool onlyReshapes(ArrayRef<Operation *> ops) const;

  Value input;
  Block *block;
  Polynomials atoms;
  FormulaPatterns patterns;
  llvm::DenseMap<Value, Polynomial> known;
};
} // namespace

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

std::optional<double> mct::tpc::getSplatNumber(ElementsAttr elements) {
  auto dense = dyn_cast_or_null<DenseElementsAttr>(elements);
  if (dense && dense.isSplat() && isa<FloatType>(dense.getElementType()))
    return dense.getSplatValue<APFloat>().convertToDouble();
  // A small constant may be held as a resource, as the large ones are.
  auto resource = dyn_cast_or_null<DenseF32ResourceElementsAttr>(elements);
  if (!resource)
    return std::nullopt;
  std::optional<ArrayRef<float>> values = resource.tryGetAsArrayRef();
  if (!values || values->empty() || !llvm::all_equal(*values))
    return std::nullopt;
  return values->front();
}

static bool isFloat(Type type) {
  return isa<FloatType>(getElementTypeOrSelf(type));
}

/// Returns whether the op changes the place of elements at most.
static bool isMove(Operation *op) {
  StringRef name = op->getName().getStringRef();
  if (name == "tosa.cast")
    return isFloat(op->getOperand(0).getType()) &&
           isFloat(op->getResult(0).getType());
  return llvm::is_contained({"tosa.reshape", "tosa.identity", "tosa.transpose"},
                            name);
}

FormulaSearch::Result FormulaSearch::constant(Value value, unsigned depth) {
  Polynomial result;
  if (getConstantOp(value)) {
    ElementsAttr elements = getConstant(value);
    if (!elements)
      return std::nullopt;
    Term &term = result.terms.emplace_back();
    if (std::optional<double> number = getSplatNumber(elements)) {
      term.coefficient = *number;
      if (*number == 0)
        result.terms.clear();
    } else {
      // Equal constants have one address, as attributes are unique.
      term.constants.push_back(elements.getAsOpaquePointer());
    }
    return result;
  }
  constexpr unsigned kMaxDepth = 4;
  Operation *op = value.getDefiningOp();
  if (!op || depth == kMaxDepth || op->getNumRegions() != 0 ||
      op->getNumResults() != 1 || op->getNumOperands() == 0 ||
      isa<QuantizeOp>(op))
    return std::nullopt;
  // The op must be an expression of constants.
  SmallVector<Polynomial> operands;
  for (Value each : op->getOperands()) {
    if (!isa<TensorType>(each.getType()))
      continue;
    Result one = constant(each, depth + 1);
    if (!one)
      return std::nullopt;
    operands.push_back(std::move(*one));
  }
  if (operands.empty())
    return std::nullopt;
  if (Result applied = applyTo(op, operands))
    return applied;
  result.terms.emplace_back().constants.push_back(op);
  return result;
}

/// Computes a reduction along one axis, or the mean of whole images.
FormulaSearch::Result FormulaSearch::reduce(Operation *op,
                                            const Polynomial &operand) {
  StringRef name = op->getName().getStringRef();
  auto type = dyn_cast<RankedTensorType>(op->getOperand(0).getType());
  if (!type)
    return std::nullopt;
  if (name == "tosa.avg_pool2d") {
    auto kernel = op->getAttrOfType<DenseI64ArrayAttr>("kernel");
    if (!kernel || type.getShape().slice(1, 2) != kernel.asArrayRef())
      return std::nullopt;
    int64_t size = kernel[0] * kernel[1];
    Result total = atoms.reduced(operand, size, "12");
    return total ? atoms.sum({}, *total, 1 / double(size)) : std::nullopt;
  }
  auto axis = op->getAttrOfType<IntegerAttr>("axis");
  if (!axis || type.isDynamicDim(axis.getInt()))
    return std::nullopt;
  int64_t size = type.getDimSize(axis.getInt()), count = operand.count * size;
  std::string axes = std::to_string(axis.getInt());
  if (name == "tosa.reduce_sum")
    return atoms.reduced(operand, size, axes);
  return atoms.atomPower(atoms.getAtom(Atom::Largest, axes, operand, count), 1,
                         count);
}

FormulaSearch::Result FormulaSearch::applyTo(Operation *op,
                                             ArrayRef<Polynomial> operands) {
  StringRef name = op->getName().getStringRef();
  const Polynomial &first = operands.front();
  if (isMove(op))
    return first;
  if (!name.consume_front("tosa."))
    return std::nullopt;
  if (name == "add")
    return atoms.sum(first, operands[1], 1);
  if (name == "sub")
    return atoms.sum(first, operands[1], -1);
  if (name == "mul")
    return atoms.product(first, operands[1]);
  if (name == "negate")
    return atoms.sum({}, first, -1);
  if (name == "reciprocal")
    return atoms.power(first, -1);
  if (name == "rsqrt")
    return atoms.power(first, -0.5);
  if (name == "pow") {
    const Polynomial &exponent = operands[1];
    if (exponent.terms.size() != 1 || !exponent.terms.front().isScalar())
      return std::nullopt;
    return atoms.power(first, exponent.terms.front().coefficient);
  }
  if (name == "tanh" || name == "erf" || name == "exp")
    return atoms.function(name, first);
  if (name == "maximum" || name == "clamp") {
    // Ignore the bound of a variance, which only rounding makes negative, or of
    // a maximum.
    for (auto [i, value] : llvm::enumerate(operands))
      if ((patterns.isVariance(value) || patterns.isMaximum(value)) &&
          (name == "clamp" || operands[1 - i].isConstant()))
        return value;
    return std::nullopt;
  }
  if (name == "reduce_sum" || name == "reduce_max" || name == "avg_pool2d")
    return reduce(op, first);
  if (llvm::is_contained({"equal", "greater", "greater_equal", "logical_not",
                          "logical_and", "logical_or", "reduce_all",
                          "reduce_any"},
                         name))
    return atoms.atomPower(atoms.getAtom(Atom::Predicate, name, first, 1), 1,
                           1);
  if (name == "select") {
    // A softmax of nothing but -inf may be replaced by zero.
    for (auto [zero, other] : {std::pair(1, 2), std::pair(2, 1)})
      if (operands[zero].terms.empty() && operands[other].terms.size() == 1 &&
          patterns.isSoftmax(operands[other].terms.front()))
        return operands[other];
    return std::nullopt;
  }
  return std::nullopt;
}

FormulaSearch::Result FormulaSearch::compute(Operation *op) {
  if (op->getNumRegions() != 0 || op->getNumResults() != 1 ||
      op->getNumOperands() == 0 ||
      !isa<RankedTensorType>(op->getResult(0).getType()))
    return std::nullopt;
  StringRef name = op->getName().getStringRef();
  // Shifts, zero points and shapes are not operands of the formula.
  unsigned numOperands =
      llvm::StringSwitch<unsigned>(name)
          .Cases({"tosa.mul", "tosa.add", "tosa.sub", "tosa.pow",
                  "tosa.maximum", "tosa.equal", "tosa.greater",
                  "tosa.greater_equal", "tosa.logical_and", "tosa.logical_or"},
                 2)
          .Case("tosa.select", 3)
          .Default(1);
  SmallVector<Polynomial> operands;
  for (Value value : op->getOperands().take_front(numOperands)) {
    Result one = operand(value);
    if (!one)
      return std::nullopt;
    operands.push_back(std::move(*one));
  }
  return applyTo(op, operands);
}

//===----------------------------------------------------------------------===//
// Formulas
//===----------------------------------------------------------------------===//

/// Returns the axes over which sums run, as long as the rank is that of x.
llvm::SmallSetVector<int64_t, 4>
FormulaSearch::reducedAxes(ArrayRef<Operation *> ops) const {
  llvm::SmallSetVector<int64_t, 4> axes;
  int64_t rank = cast<RankedTensorType>(input.getType()).getRank();
  for (Operation *op : ops) {
    StringRef name = op->getName().getStringRef();
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    if (name == "tosa.reduce_sum" && type.getRank() == rank)
      axes.insert(op->getAttrOfType<IntegerAttr>("axis").getInt());
    if (name == "tosa.avg_pool2d" && rank == 4)
      for (int64_t axis : {1, 2})
        axes.insert(axis);
  }
  return axes;
}

/// Returns whether these are exactly the axes between those of the batch and of
/// the channels, or after both.
bool FormulaSearch::isImage(
    const llvm::SmallSetVector<int64_t, 4> &axes) const {
  int64_t rank = cast<RankedTensorType>(input.getType()).getRank();
  if (rank < 3 || int64_t(axes.size()) != rank - 2)
    return false;
  auto isRange = [&](int64_t first) {
    for (size_t i = 0; i != axes.size(); ++i)
      if (!axes.contains(first + int64_t(i)))
        return false;
    return true;
  };
  return isRange(1) || isRange(2);
}

StringRef FormulaSearch::nameNorm(ArrayRef<Operation *> ops) const {
  auto type = cast<RankedTensorType>(input.getType());
  auto rootType = cast<RankedTensorType>(ops.back()->getResult(0).getType());
  // Groups of channels are an axis of their own between two reshapes.
  if (type.getShape() != rootType.getShape())
    return "group_norm";
  llvm::SmallSetVector<int64_t, 4> axes = reducedAxes(ops);
  if (!isImage(axes))
    return "layer_norm";
  // The scale of a layer norm varies along the axes that it normalizes
  // together, and that of an instance norm along the other axes.
  bool variesInside = false, variesOutside = false;
  for (Operation *op : ops)
    for (Value value : op->getOperands()) {
      auto constantType = dyn_cast<RankedTensorType>(value.getType());
      if (!constantType || known.contains(value) || !isFloat(constantType) ||
          constantType.getRank() != type.getRank())
        continue;
      for (auto [axis, size] : llvm::enumerate(constantType.getShape()))
        if (size > 1)
          (axes.contains(axis) ? variesInside : variesOutside) = true;
    }
  bool isLast = axes.size() == 1 && axes.contains(type.getRank() - 1);
  return variesInside || (isLast && !variesOutside) ? "layer_norm"
                                                    : "instance_norm";
}

std::optional<SmallVector<Operation *>>
FormulaSearch::collect(Operation *root) const {
  llvm::SetVector<Operation *> ops;
  ops.insert(root);
  for (size_t next = 0; next != ops.size(); ++next)
    for (Value value : ops[next]->getOperands())
      if (Operation *op = value.getDefiningOp();
          op && value != input && known.contains(value))
        ops.insert(op);
  // Ops on constants belong to it if they have no other users.
  for (size_t next = 0; next != ops.size(); ++next)
    for (Value value : ops[next]->getOperands())
      if (Operation *op = value.getDefiningOp();
          op && value != input && !known.contains(value) &&
          op->getBlock() == block && !getConstantOp(value) &&
          isa<RankedTensorType>(value.getType()) &&
          llvm::all_of(op->getUsers(),
                       [&](Operation *user) { return ops.contains(user); }))
        ops.insert(op);
  for (Operation *op : ops)
    if (op != root && !llvm::all_of(op->getUsers(), [&](Operation *user) {
          return ops.contains(user);
        }))
      return std::nullopt;
  SmallVector<Operation *> sorted(ops.begin(), ops.end());
  llvm::sort(sorted, [](Operation *lhs, Operation *rhs) {
    return lhs->isBeforeInBlock(rhs);
  });
  return sorted;
}

/// Returns whether the ops use nothing but x in another shape: that is their x
/// then.
bool FormulaSearch::onlyReshapes(ArrayRef<Operation *> ops) const {
  SmallVector<Operation *> users;
  for (Operation *op : ops)
    if (llvm::is_contained(op->getOperands(), input))
      users.push_back(op);
  return users.size() == 1 && isMove(users.front()) &&
         users.front()->getName().getStringRef() != "tosa.cast";
}

unsigned FormulaSearch::run(llvm::function_ref<void(FormulaMatch)> found) {
  auto isBefore = [](Operation *lhs, Operation *rhs) {
    return lhs->isBeforeInBlock(rhs);
  };
  std::set<Operation *, decltype(isBefore)> pending(isBefore);
  auto addUsers = [&](Value value) {
    unsigned number = 0;
    for (Operation *user : value.getUsers()) {
      if (++number > kMaxOps)
        break;
      if (user->getBlock() == block)
        pending.insert(user);
    }
  };
  addUsers(input);
  unsigned visited = 0;
  for (; !pending.empty() && visited != kMaxOps; ++visited) {
    Operation *op = *pending.begin();
    pending.erase(pending.begin());
    Result result = compute(op);
    if (!result)
      continue;
    Value value = op->getResult(0);
    if (known.contains(value))
      continue;
    StringRef name = patterns.classify(op->getName().getStringRef(), *result);
    known[value] = std::move(*result);
    addUsers(value);
    if (name.empty())
      continue;
    std::optional<SmallVector<Operation *>> ops = collect(op);
    if (!ops || ops->size() == 1 || onlyReshapes(*ops))
      continue;
    if (name == "norm")
      name = nameNorm(*ops);
    else if (name == "mean" &&
             cast<RankedTensorType>(input.getType()).getRank() == 4 &&
             isImage(reducedAxes(*ops)))
      name = "global_avg_pool";
    found({name, input, std::move(*ops)});
  }
  return visited;
}

//===----------------------------------------------------------------------===//
// Where a formula may begin
//===----------------------------------------------------------------------===//

static bool isOp(Operation *op, ArrayRef<StringRef> names) {
  return op && llvm::is_contained(names, op->getName().getStringRef());
}

/// Adds the values that may be x in a formula with this op: its operand, and
/// values before it that have several uses.
static void addInputs(Operation *op, llvm::SetVector<Value> &inputs) {
  if (!isOp(op,
            {"tosa.reduce_sum", "tosa.avg_pool2d", "tosa.tanh", "tosa.erf"}))
    return;
  constexpr size_t kMaxSteps = 10;
  llvm::SetVector<Value> above;
  above.insert(op->getOperand(0));
  for (size_t next = 0; next != std::min(above.size(), kMaxSteps); ++next) {
    Value value = above[next];
    bool isExponent = isOp(*value.user_begin(), {"tosa.exp"});
    if ((next == 0 || isExponent || !value.hasOneUse()) &&
        isFloat(value.getType()))
      inputs.insert(value);
    Operation *producer = value.getDefiningOp();
    if (!producer || (!isMove(producer) &&
                      !isOp(producer, {"tosa.mul", "tosa.add", "tosa.sub",
                                       "tosa.pow", "tosa.exp"})))
      continue;
    for (Value operand : producer->getOperands())
      if (isa<RankedTensorType>(operand.getType()) && !getConstantOp(operand))
        above.insert(operand);
  }
}

std::vector<FormulaMatch> mct::tpc::findFormulas(Block &block,
                                                 uint64_t *visited) {
  llvm::SetVector<Value> inputs;
  for (Operation &op : block)
    addInputs(&op, inputs);
  std::vector<FormulaMatch> matches;
  for (Value input : inputs) {
    unsigned count = FormulaSearch(input).run(
        [&](FormulaMatch match) { matches.push_back(std::move(match)); });
    if (visited)
      *visited += count;
  }
  llvm::sort(matches, [](const FormulaMatch &lhs, const FormulaMatch &rhs) {
    if (lhs.ops.back() != rhs.ops.back())
      return lhs.ops.back()->isBeforeInBlock(rhs.ops.back());
    return std::pair(lhs.ops.size(), lhs.name) <
           std::pair(rhs.ops.size(), rhs.name);
  });
  return matches;
}
