// SPDX-License-Identifier: Apache-2.0
#include "tpc_dialect/Lookup/Subgraphs.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Diagnostics.h"
#include "tpc_dialect/Lookup/Filters.h"
#include "tpc_dialect/Lookup/TpcLookup.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>
#include <mutex>

using namespace mlir;
using namespace mct::tpc;

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

// One row for every form in which importers write the operator. Numbers in
// brackets: spec/tpc.md 3.4.
static const SubgraphForm kForms[] = {
    // S1. A dense layer on rank-2 data: TFLite writes a 1x1 convolution on a
    // 1x1 image.
    {"fully_connected", R"(
        r = tosa.reshape x optional where "$keeps_last_axis" eq 1
        c = tosa.conv2d r const const kernel where "$kernel_h" eq 1 and "$kernel_w" eq 1
            and "$in_h" eq 1 and "$in_w" eq 1 and pad eq array<i64: 0, 0, 0, 0>
        y = tosa.reshape c optional where "$keeps_last_axis" eq 1)"},
    // S1. torch-mlir writes a product with a constant, its bias before or after
    // the reshape back.
    {"fully_connected", R"(
        r = tosa.reshape x optional where "$keeps_last_axis" eq 1
        m = tosa.matmul r const kernel
        b = tosa.add m per_channel optional
        y = tosa.reshape b optional where "$keeps_last_axis" eq 1)"},
    {"fully_connected", R"(
        r = tosa.reshape x optional where "$keeps_last_axis" eq 1
        m = tosa.matmul r const kernel
        b = tosa.reshape m where "$keeps_last_axis" eq 1
        y = tosa.add b per_channel)"},
    // S2. As torch-mlir writes it, then with more and more of the constants
    // folded.
    {"batch_norm", R"(
        d = tosa.sub x per_channel
        v = tosa.add const const
        r = tosa.rsqrt v
        n = tosa.mul d r
        g = tosa.mul n per_channel
        y = tosa.add g per_channel)"},
    {"batch_norm", R"(
        d = tosa.sub x per_channel
        r = tosa.rsqrt per_channel
        n = tosa.mul d r
        g = tosa.mul n per_channel
        y = tosa.add g per_channel)"},
    {"batch_norm", R"(
        d = tosa.sub x per_channel
        n = tosa.mul d per_channel
        g = tosa.mul n per_channel optional
        y = tosa.add g per_channel)"},
    {"batch_norm", R"(
        g = tosa.mul x per_channel
        y = tosa.add g per_channel)"},
    // S8
    {"swish", R"(
        s = tosa.sigmoid x
        y = tosa.mul x s)"},
    // S9
    {"softmax", R"(
        m = tosa.reduce_max x same axis
        d = tosa.sub x m
        e = tosa.exp d
        s = tosa.reduce_sum e same axis
        r = tosa.reciprocal s
        y = tosa.mul e r)"},
    // S13. TFLite multiplies with x first, torch-mlir last and with ReLU6 split
    // in two.
    {"hard_swish", R"(
        a = tosa.add x 3
        c = tosa.clamp a where min_val eq 0.0 : f32 and max_val eq 6.0 : f32
        m = tosa.mul x c
        y = tosa.mul m 0.16666666666)"},
    {"hard_swish", R"(
        a = tosa.add x 3
        c = tosa.clamp a where min_val eq 0.0 : f32 and max_val eq 6.0 : f32
        m = tosa.mul c 0.16666666666
        y = tosa.mul x m)"},
    {"hard_swish", R"(
        a = tosa.add x 3
        c = tosa.clamp a where min_val eq 0.0 : f32 and max_val gt 6.0 : f32
        n = tosa.minimum c 6
        m = tosa.mul n 0.16666666666
        y = tosa.mul x m)"},
};

namespace {
/// Forms of the user, shared by all contexts as passes are.
struct RegisteredForms {
  std::mutex mutex;
  std::vector<SubgraphForm> forms;
};
} // namespace

static RegisteredForms &getRegistered() {
  static RegisteredForms registered;
  return registered;
}

void mct::tpc::registerSubgraph(StringRef name, StringRef ops) {
  RegisteredForms &registered = getRegistered();
  std::lock_guard<std::mutex> lock(registered.mutex);
  registered.forms.push_back({name.str(), ops.str()});
}

std::vector<SubgraphForm> mct::tpc::listSubgraphs() {
  std::vector<SubgraphForm> forms(std::begin(kForms), std::end(kForms));
  RegisteredForms &registered = getRegistered();
  std::lock_guard<std::mutex> lock(registered.mutex);
  llvm::append_range(forms, registered.forms);
  return forms;
}

//===----------------------------------------------------------------------===//
// Reading the table
//===----------------------------------------------------------------------===//

namespace {
/// A line of a form as it is written.
struct Line {
  StringRef result, opName, same, filter;
  SmallVector<StringRef> operands;
  bool isKernel = false, isOptional = false;
};
} // namespace

static FailureOr<Line> parseLine(StringRef text, Location loc, StringRef name) {
  Line line;
  auto [left, right] = text.split('=');
  line.result = left.trim();
  auto [head, filter] = right.split(" where ");
  line.filter = filter.trim();
  SmallVector<StringRef> words;
  head.split(words, ' ', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  if (line.result.empty() || line.result.contains(' ') || words.empty())
    return emitError(loc) << "subgraph '" << name << "' has the line '"
                          << text.trim()
                          << "', expected 'RESULT = OP OPERAND...'";
  line.opName = words.front();
  for (size_t i = 1; i < words.size(); ++i) {
    if (words[i] == "optional")
      line.isOptional = true;
    else if (words[i] == "kernel")
      line.isKernel = true;
    else if (words[i] == "same" && i + 1 < words.size())
      line.same = words[++i];
    else
      line.operands.push_back(words[i]);
  }
  if (line.isOptional && line.operands.empty())
    return emitError(loc) << "subgraph '" << name << "' has the optional line '"
                          << text.trim()
                          << "' without an operand to take its place";
  return line;
}

/// The form with those of its optional lines whose bit in `present` is set.
static FailureOr<std::shared_ptr<const CompiledSubgraph>>
compile(StringRef name, ArrayRef<Line> lines, unsigned present, Location loc) {
  auto compiled = std::make_shared<CompiledSubgraph>();
  compiled->name = name.str();
  llvm::StringMap<CompiledSubgraph::Operand> known;
  std::optional<unsigned> kernel;
  for (const Line &line : lines) {
    SmallVector<CompiledSubgraph::Operand> operands;
    for (StringRef word : line.operands) {
      using Kind = CompiledSubgraph::OperandKind;
      double number = 0;
      if (word == "const")
        operands.push_back({Kind::Constant});
      else if (word == "per_channel")
        operands.push_back({Kind::PerChannelConstant});
      else if (!word.getAsDouble(number))
        operands.push_back({Kind::Number, 0, number});
      else if (auto it = known.find(word); it != known.end())
        operands.push_back(it->second);
      else
        operands.push_back(known[word] = {Kind::Input, compiled->numInputs++});
    }
    bool isPresent = !line.isOptional || (present & 1);
    if (line.isOptional)
      present >>= 1;
    if (!isPresent) {
      known[line.result] = operands.front();
      continue;
    }
    known[line.result] = {CompiledSubgraph::OperandKind::Step,
                          unsigned(compiled->steps.size())};
    if (line.isKernel)
      kernel = compiled->steps.size();
    CompiledSubgraph::Step step{line.opName.str(), std::move(operands),
                                line.same.str(), PredicateAttr()};
    if (!line.filter.empty()) {
      std::string text = ("#tpc.predicate<" + line.filter + ">").str();
      step.filter = dyn_cast_or_null<PredicateAttr>(
          parseAttribute(text, loc.getContext()));
      if (!step.filter)
        return emitError(loc) << "subgraph '" << name << "' has the filter '"
                              << line.filter << "', which cannot be read";
    }
    compiled->steps.push_back(std::move(step));
  }
  SmallVector<bool> isUsed(compiled->steps.size());
  for (const CompiledSubgraph::Step &step : compiled->steps)
    for (const CompiledSubgraph::Operand &operand : step.operands)
      if (operand.kind == CompiledSubgraph::OperandKind::Step)
        isUsed[operand.index] = true;
  // The search climbs from the root and would never meet the others.
  for (size_t i = 0; i + 1 < compiled->steps.size(); ++i)
    if (!isUsed[i])
      return emitError(loc)
             << "subgraph '" << name << "' has a '" << compiled->steps[i].opName
             << "' whose result no later line uses";
  if (compiled->steps.empty())
    return emitError(loc) << "subgraph '" << name << "' has no ops";
  compiled->kernelStep = kernel.value_or(compiled->steps.size() - 1);
  return std::shared_ptr<const CompiledSubgraph>(std::move(compiled));
}

FailureOr<std::vector<std::shared_ptr<const CompiledSubgraph>>>
mct::tpc::compileSubgraph(const SubgraphForm &form, Location loc) {
  SmallVector<std::string> texts;
  for (StringRef text : llvm::split(form.ops, '\n')) {
    if (text.contains('=') || texts.empty())
      texts.emplace_back();
    texts.back() += text;
  }
  SmallVector<Line> lines;
  for (StringRef text : texts) {
    if (text.trim().empty())
      continue;
    FailureOr<Line> line = parseLine(text, loc, form.name);
    if (failed(line))
      return failure();
    lines.push_back(std::move(*line));
  }
  unsigned numOptional =
      llvm::count_if(lines, [](const Line &line) { return line.isOptional; });
  std::vector<std::shared_ptr<const CompiledSubgraph>> variants;
  for (unsigned present = 0; present < (1u << numOptional); ++present) {
    auto variant = compile(form.name, lines, present, loc);
    if (failed(variant))
      return failure();
    variants.push_back(std::move(*variant));
  }
  return variants;
}

//===----------------------------------------------------------------------===//
// Matching
//===----------------------------------------------------------------------===//

/// The number that all elements of a constant are, if they are one.
static std::optional<double> getSplatNumber(ElementsAttr elements) {
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

static bool isPerChannel(ElementsAttr elements) {
  return elements && llvm::count_if(elements.getShapedType().getShape(),
                                    [](int64_t size) { return size > 1; }) == 1;
}

namespace {
/// A depth-first search for ops and inputs that fit a form, from its root
/// upwards. The only choice is the order of commutative operands.
class Matcher {
public:
  Matcher(const CompiledSubgraph &form)
      : form(form), ops(form.steps.size()), inputs(form.numInputs) {}

  bool match(Operation *root) {
    goals.push_back(
        {{CompiledSubgraph::OperandKind::Step, unsigned(form.steps.size() - 1)},
         root->getResult(0)});
    block = root->getBlock();
    return solve();
  }

  SmallVector<Operation *> takeOps() { return std::move(ops); }

private:
  struct Goal {
    CompiledSubgraph::Operand operand;
    Value value;
  };

  bool solve();
  bool fits(const CompiledSubgraph::Operand &operand, Value value);
  bool fitsStep(const CompiledSubgraph::Step &step, Operation *op);

  const CompiledSubgraph &form;
  Block *block = nullptr;
  SmallVector<Goal> goals;
  SmallVector<Operation *> ops;
  SmallVector<Value> inputs;
};
} // namespace

bool Matcher::fitsStep(const CompiledSubgraph::Step &step, Operation *op) {
  if (op->getName().getStringRef() != step.opName || op->getBlock() != block ||
      op->getNumResults() != 1 || op->getNumOperands() < step.operands.size())
    return false;
  if (step.filter && !matches(step.filter, op))
    return false;
  if (step.same.empty())
    return true;
  for (auto [other, otherOp] : llvm::zip_equal(form.steps, ops))
    if (otherOp && other.same == step.same &&
        otherOp->getAttr(step.same) != op->getAttr(step.same))
      return false;
  return true;
}

/// For everything but steps, which put up new goals.
bool Matcher::fits(const CompiledSubgraph::Operand &operand, Value value) {
  switch (operand.kind) {
  case CompiledSubgraph::OperandKind::Input:
    if (inputs[operand.index])
      return inputs[operand.index] == value;
    inputs[operand.index] = value;
    return true;
  case CompiledSubgraph::OperandKind::Constant:
    return getConstantOp(value) != nullptr;
  case CompiledSubgraph::OperandKind::PerChannelConstant:
    return isPerChannel(getConstant(value));
  case CompiledSubgraph::OperandKind::Number: {
    std::optional<double> number = getSplatNumber(getConstant(value));
    // Importers compute 1/6 and the like in single precision.
    return number && std::abs(*number - operand.number) <=
                         1e-6 * std::abs(operand.number);
  }
  case CompiledSubgraph::OperandKind::Step:
    return false;
  }
  llvm_unreachable("covered switch");
}

static bool isCommutative(Operation *op) {
  // The shift, a third operand, keeps tosa.mul from having the trait.
  return op->hasTrait<OpTrait::IsCommutative>() ||
         op->getName().getStringRef() == "tosa.mul";
}

bool Matcher::solve() {
  if (goals.empty())
    return true;
  auto [operand, value] = goals.pop_back_val();
  if (operand.kind != CompiledSubgraph::OperandKind::Step)
    return fits(operand, value) && solve();
  Operation *op = value.getDefiningOp();
  if (Operation *known = ops[operand.index])
    return known == op && solve();
  const CompiledSubgraph::Step &step = form.steps[operand.index];
  if (!op || !fitsStep(step, op))
    return false;
  ops[operand.index] = op;
  bool canSwap = step.operands.size() == 2 && isCommutative(op);
  for (bool swap : {false, true}) {
    if (swap && !canSwap)
      continue;
    Matcher attempt = *this;
    for (auto [index, expected] : llvm::enumerate(step.operands))
      attempt.goals.push_back(
          {expected, op->getOperand(swap ? 1 - index : index)});
    if (attempt.solve()) {
      ops = std::move(attempt.ops);
      return true;
    }
  }
  return false;
}

SmallVector<Operation *> CompiledSubgraph::match(Operation *root) const {
  Matcher matcher(*this);
  if (root->getNumResults() != 1 || !matcher.match(root))
    return {};
  SmallVector<Operation *> ops = matcher.takeOps();
  // What is computed inside is seen by nobody else: fusing removes its
  // quantizer.
  for (Operation *op : ops)
    if (op != root && !llvm::all_of(op->getUsers(), [&](Operation *user) {
          return llvm::is_contained(ops, user);
        }))
      return {};
  return ops;
}
