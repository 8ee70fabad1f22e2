// SPDX-License-Identifier: Apache-2.0
#include "tpc_dialect/Lookup/Subgraphs.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Diagnostics.h"
#include "tpc_dialect/Lookup/Algebra.h"
#include "tpc_dialect/Lookup/Filters.h"
#include "tpc_dialect/Lookup/TpcLookup.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace mct::tpc;

namespace {
/// Forms of the user, which belong to the dialect that a context has loaded.
struct RegisteredForms : DialectInterface::Base<RegisteredForms> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(RegisteredForms)
  explicit RegisteredForms(Dialect *dialect) : Base(dialect) {}
  std::vector<SubgraphForm> forms;
};
} // namespace

void mct::tpc::registerSubgraph(MLIRContext *context, StringRef name,
                                StringRef ops) {
  auto *dialect = context->getOrLoadDialect<TpcDialect>();
  auto *registered = dialect->getRegisteredInterface<RegisteredForms>();
  if (!registered)
    registered = &dialect->addInterface<RegisteredForms>();
  registered->forms.push_back({name.str(), ops.str()});
}

std::vector<SubgraphForm> mct::tpc::listSubgraphs(MLIRContext *context) {
  std::vector<SubgraphForm> forms = listOurSubgraphs();
  auto *dialect = context ? context->getLoadedDialect<TpcDialect>() : nullptr;
  if (auto *registered =
          dialect ? dialect->getRegisteredInterface<RegisteredForms>()
                  : nullptr)
    llvm::append_range(forms, registered->forms);
  return forms;
}

//===----------------------------------------------------------------------===//
// Reading the table
//===----------------------------------------------------------------------===//

namespace {
/// A line of a form in its textual form.
struct Line {
  StringRef result, opName, same, filter;
  SmallVector<StringRef> operands;
  bool isKernel = false, isOptional = false;
  /// The last operand stands for all operands from there on.
  bool isLastEach = false;
};
} // namespace

static constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Returns the bounds of `LO..HI`.
static std::optional<std::pair<double, double>> parseRange(StringRef word) {
  auto [low, high] = word.split("..");
  double lowest = 0, highest = 0;
  if (low.getAsDouble(lowest) || high.getAsDouble(highest))
    return std::nullopt;
  return std::pair(lowest, highest);
}

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
    else if (words[i] == "each" && i + 2 == words.size())
      line.isLastEach = true;
    else
      line.operands.push_back(words[i]);
  }
  if (line.isOptional && line.operands.empty())
    return emitError(loc) << "subgraph '" << name << "' has the optional line '"
                          << text.trim()
                          << "' without an operand to take its place";
  return line;
}

/// Returns the form with those of its optional lines whose bit in `present` is
/// set.
static FailureOr<std::shared_ptr<const CompiledSubgraph>>
compile(StringRef name, ArrayRef<Line> lines, unsigned present, Location loc) {
  auto compiled = std::make_shared<CompiledSubgraph>();
  compiled->name = name.str();
  llvm::StringMap<CompiledSubgraph::Operand> known;
  std::optional<unsigned> kernel;
  for (const Line &line : lines) {
    SmallVector<CompiledSubgraph::Operand> operands;
    if (line.isLastEach) {
      auto it = known.find(line.operands.back());
      if (it == known.end() ||
          it->second.kind != CompiledSubgraph::OperandKind::Step ||
          !compiled->steps[it->second.index].operands.empty())
        return emitError(loc)
               << "subgraph '" << name << "' repeats '" << line.operands.back()
               << "', which is not an earlier line without operands";
      it->second.kind = CompiledSubgraph::OperandKind::EachStep;
    }
    for (StringRef word : line.operands) {
      using Kind = CompiledSubgraph::OperandKind;
      double number = 0;
      std::optional<std::pair<double, double>> range = parseRange(word);
      if (word == "const")
        operands.push_back({Kind::Constant});
      else if (word == "scalar")
        operands.push_back({Kind::Number, 0, -kInfinity, kInfinity});
      else if (range)
        operands.push_back({Kind::Number, 0, range->first, range->second});
      else if (word == "per_channel")
        operands.push_back({Kind::PerChannelConstant});
      else if (!word.getAsDouble(number))
        operands.push_back({Kind::Number, 0, number, number});
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
      if (operand.kind == CompiledSubgraph::OperandKind::Step ||
          operand.kind == CompiledSubgraph::OperandKind::EachStep)
        isUsed[operand.index] = true;
  // The search starts at the root and would never reach the others.
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

/// Returns the texts of the lines of a form, each joined with what continues
/// it.
static SmallVector<std::string> splitLines(StringRef ops) {
  SmallVector<std::string> texts;
  for (StringRef text : llvm::split(ops, '\n')) {
    if (text.trim().empty())
      continue;
    if (text.contains('=') || texts.empty())
      texts.emplace_back();
    texts.back() += text;
  }
  return texts;
}

FailureOr<std::vector<std::shared_ptr<const CompiledSubgraph>>>
mct::tpc::compileSubgraph(const SubgraphForm &form, Location loc) {
  SmallVector<std::string> texts = splitLines(form.ops);
  SmallVector<Line> lines;
  for (StringRef text : texts) {
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
// Printing the table
//===----------------------------------------------------------------------===//

/// Returns the ops of a form, such as `[reshape] conv2d`, with optional ops in
/// brackets and an ellipsis after repeated ones. The names of TOSA ops omit the
/// dialect.
static std::string summarize(const SubgraphForm &form, Location loc) {
  SmallVector<std::string> texts = splitLines(form.ops);
  SmallVector<Line> lines;
  for (StringRef text : texts)
    if (FailureOr<Line> line = parseLine(text, loc, form.name); succeeded(line))
      lines.push_back(std::move(*line));
  auto isRepeated = [&](const Line &line) {
    return llvm::any_of(lines, [&](const Line &other) {
      return other.isLastEach && other.operands.back() == line.result;
    });
  };
  return llvm::join(llvm::map_range(lines,
                                    [&](const Line &line) {
                                      StringRef name = line.opName;
                                      name.consume_front("tosa.");
                                      std::string text = name.str();
                                      if (isRepeated(line))
                                        text += "...";
                                      return line.isOptional ? "[" + text + "]"
                                                             : text;
                                    }),
                    " ");
}

void mct::tpc::printSubgraphs(llvm::raw_ostream &os) {
  MLIRContext context;
  llvm::MapVector<StringRef, SmallVector<std::string>> rows;
  std::vector<SubgraphForm> forms = listOurSubgraphs();
  for (const SubgraphForm &form : forms) {
    SmallVector<std::string> &row = rows[form.name];
    // The table does not distinguish forms that differ only in operands.
    if (std::string summary = summarize(form, UnknownLoc::get(&context));
        !llvm::is_contained(row, summary))
      row.push_back(std::move(summary));
  }
  os << "| subgraph | its ops |\n|---|---|\n";
  for (const auto &[name, row] : rows)
    os << "| `" << name << "` | `" << llvm::join(row, "`, `") << "` |\n";
  for (const Formula &formula : listFormulas())
    os << "| `" << formula.name << "` | formula `" << formula.text << "` |\n";
}

//===----------------------------------------------------------------------===//
// Matching
//===----------------------------------------------------------------------===//

/// Returns whether a constant has exactly one axis longer than 1.
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

  /// Returns one for each step, the first of those that fit a repeated one.
  ArrayRef<Operation *> getOps() const { return ops; }
  /// Returns further ops that fit repeated steps.
  ArrayRef<Operation *> getRepetitions() const { return repetitions; }
  /// Returns how often an op was held against a step.
  uint64_t getNumVisited() const { return numVisited; }

private:
  struct Goal {
    CompiledSubgraph::Operand operand;
    Value value;
  };

  bool solve();
  bool fits(const CompiledSubgraph::Operand &operand, Value value);
  bool fitsStep(const CompiledSubgraph::Step &step, Operation *op);
  bool fitsRepetition(unsigned step, Value value);

  const CompiledSubgraph &form;
  Block *block = nullptr;
  SmallVector<Goal> goals;
  SmallVector<Operation *> ops, repetitions;
  SmallVector<Value> inputs;
  uint64_t numVisited = 0;
};
} // namespace

bool Matcher::fitsStep(const CompiledSubgraph::Step &step, Operation *op) {
  ++numVisited;
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

/// Matches everything but steps, which add goals.
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
    return number &&
           *number >= operand.lowest - 1e-6 * std::abs(operand.lowest) &&
           *number <= operand.highest + 1e-6 * std::abs(operand.highest);
  }
  case CompiledSubgraph::OperandKind::Step:
  case CompiledSubgraph::OperandKind::EachStep:
    return false;
  }
  llvm_unreachable("covered switch");
}

bool Matcher::fitsRepetition(unsigned step, Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || !fitsStep(form.steps[step], op))
    return false;
  if (!ops[step])
    ops[step] = op;
  else if (op != ops[step] && !llvm::is_contained(repetitions, op))
    repetitions.push_back(op);
  return true;
}

static bool isCommutative(Operation *op) {
  // tosa.mul lacks the trait because of its third operand, the shift; ops of
  // linalg lack it because of their initial value.
  StringRef name = op->getName().getStringRef();
  return op->hasTrait<OpTrait::IsCommutative>() || name == "tosa.mul" ||
         name == "linalg.add" || name == "linalg.mul" || name == "linalg.max" ||
         name == "linalg.min";
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
    bool fitsAll = true;
    for (auto [index, expected] : llvm::enumerate(step.operands))
      if (expected.kind == CompiledSubgraph::OperandKind::EachStep)
        for (Value each : op->getOperands().drop_front(index))
          fitsAll &= attempt.fitsRepetition(expected.index, each);
      else
        attempt.goals.push_back(
            {expected, op->getOperand(swap ? 1 - index : index)});
    if (fitsAll && attempt.solve()) {
      ops = std::move(attempt.ops);
      repetitions = std::move(attempt.repetitions);
      return true;
    }
  }
  return false;
}

std::optional<CompiledSubgraph::Match>
CompiledSubgraph::match(Operation *root, uint64_t *visited) const {
  Matcher matcher(*this);
  bool found = root->getNumResults() == 1 && matcher.match(root);
  if (visited)
    *visited += matcher.getNumVisited();
  if (!found)
    return std::nullopt;
  Match match;
  match.kernelOp = matcher.getOps()[kernelStep];
  llvm::append_range(match.ops, matcher.getRepetitions());
  llvm::append_range(match.ops, matcher.getOps());
  // Values inside have no other users: fusing removes their quantizers.
  for (Operation *op : match.ops)
    if (op != root && !llvm::all_of(op->getUsers(), [&](Operation *user) {
          return llvm::is_contained(match.ops, user);
        }))
      return std::nullopt;
  return match;
}
