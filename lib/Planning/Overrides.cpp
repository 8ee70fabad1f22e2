// SPDX-License-Identifier: Apache-2.0
#include "mct/Planning/Overrides.h"
#include "mct/Planning/Decoding.h"
#include "mct/Support/InputFile.h"
#include "mct/Support/Troubleshooting.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Diagnostics.h"
#include "tpc_dialect/IR/TpcOverrides.h"
#include "tpc_dialect/Lookup/TpcLookup.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/LineIterator.h"

using namespace mlir;
using namespace mct;

/// Splits a line into words, without quotes and comment.
static SmallVector<StringRef> split(StringRef line) {
  SmallVector<StringRef> words;
  for (line = line.ltrim(); !line.empty() && line.front() != '#';
       line = line.ltrim()) {
    size_t end =
        line.front() == '"' ? line.find('"', 1) : line.find_first_of(" \t\r");
    if (line.front() == '"' && end != StringRef::npos) {
      words.push_back(line.slice(1, end));
      line = line.drop_front(end + 1);
      continue;
    }
    words.push_back(line.take_front(end));
    line = line.drop_front(words.back().size());
  }
  return words;
}

/// Parses a word that requests a method; returns none for other words.
static std::optional<LogicalResult> parseMethod(StringRef what, StringRef value,
                                                OverrideRule &rule) {
  bool isActivation = what == "activation-method";
  if (!isActivation && !what.consume_front("weights-method"))
    return std::nullopt;
  std::optional<tpc::QuantizationMethod> method =
      tpc::symbolizeQuantizationMethod(value);
  if (!method)
    return emitError(rule.loc)
           << "there is no method '" << value
           << "'; there are 'power_of_two', 'symmetric', 'uniform', "
              "'lut_pot_quantizer' and 'lut_sym_quantizer'";
  if (isActivation) {
    rule.activationMethod = method;
    return success();
  }
  if (what.empty()) {
    rule.weightMethod = method;
    rule.namedWeightMethods.clear();
    return success();
  }
  if (!what.consume_front(".") || what.empty())
    return std::nullopt;
  rule.namedWeightMethods[what] = *method;
  return success();
}

static LogicalResult parseAction(StringRef word, OverrideRule &rule) {
  if (word == "float") {
    rule.activationBits = 0;
    rule.weightBits = 0;
    rule.namedWeightBits.clear();
    return success();
  }
  auto [what, width] = word.split('=');
  if (std::optional<LogicalResult> parsed = parseMethod(what, width, rule))
    return *parsed;
  int64_t bits = 0;
  bool isWidth = width == "float" ||
                 (!width.getAsInteger(10, bits) && bits > 0 && bits <= 64);
  if (isWidth && what == "activation") {
    rule.activationBits = bits;
    return success();
  }
  if (isWidth && what == "weights") {
    rule.weightBits = bits;
    rule.namedWeightBits.clear();
    return success();
  }
  if (isWidth && what.consume_front("weights.") && !what.empty()) {
    rule.namedWeightBits[what] = bits;
    return success();
  }
  return emitError(rule.loc)
         << "cannot read '" << word
         << "'; expected 'float', 'activation=BITS', 'weights=BITS' or "
            "'weights.NAME=BITS', where BITS is a width or 'float', or "
            "'activation-method=METHOD', 'weights-method=METHOD' or "
            "'weights-method.NAME=METHOD'"
         << support::kTroubleshooting << "a-rule-of-overrides-cannot-be-read";
}

/// Parses the actions of a rule, which are the last words of its line, and adds
/// the rule.
static LogicalResult addRule(OverrideRule rule, StringRef line,
                             ArrayRef<StringRef> actions, FileLineColLoc loc,
                             std::vector<OverrideRule> &rules) {
  rule.loc = loc;
  // Drop the comment.
  rule.text = line.take_front(actions.back().end() - line.begin()).trim().str();
  for (StringRef word : actions)
    if (failed(parseAction(word, rule)))
      return failure();
  rules.push_back(std::move(rule));
  return success();
}

/// Parses the patterns at the beginning of `text` and removes them from it;
/// returns null if there are none.
static ArrayAttr parsePatterns(StringRef &text, MLIRContext *context) {
  // The caller reports what is expected.
  ScopedDiagnosticHandler quiet(context,
                                [](Diagnostic &) { return success(); });
  size_t numRead = 0;
  auto patterns = dyn_cast_or_null<ArrayAttr>(
      parseAttribute(text, context, Type(), &numRead));
  if (!patterns || patterns.empty() ||
      !llvm::all_of(patterns,
                    llvm::IsaPred<tpc::OpPatternAttr, tpc::SubgraphAttr>))
    return {};
  text = text.drop_front(numRead);
  return patterns;
}

/// Parses a rule that begins with `pattern`; `rest` is the text after that.
static LogicalResult parsePatternRule(StringRef line, StringRef rest,
                                      bool isOptional, FileLineColLoc loc,
                                      std::vector<OverrideRule> &rules) {
  ArrayAttr patterns = parsePatterns(rest, loc.getContext());
  SmallVector<StringRef> actions = split(rest);
  if (!patterns || actions.empty())
    return emitError(loc) << "expected 'pattern', a list of #tpc.op and "
                             "#tpc.subgraph, and an action, for example "
                             "'pattern [#tpc.op<\"tosa.conv2d\">] weights=4'"
                          << support::kTroubleshooting
                          << "a-rule-of-overrides-cannot-be-read";
  OverrideRule rule;
  rule.selector = OverrideRule::Selector::Pattern;
  rule.patterns = patterns;
  rule.isOptional = isOptional;
  return addRule(std::move(rule), line, actions, loc, rules);
}

/// Parses a line and adds its rule, if it has one.
static LogicalResult parseRule(StringRef line, FileLineColLoc loc,
                               std::vector<OverrideRule> &rules) {
  StringRef rest = line.ltrim();
  bool startsOptional = rest.consume_front("?");
  rest = rest.ltrim();
  if (rest.consume_front("pattern") && (rest.empty() || llvm::isSpace(rest[0])))
    return parsePatternRule(line, rest.ltrim(), startsOptional, loc, rules);
  SmallVector<StringRef> words = split(line);
  if (words.empty())
    return success();
  // Accept `?name` and `? name`.
  bool isOptional = words[0].consume_front("?");
  if (isOptional && words[0].empty() && words.size() > 1)
    words.erase(words.begin());
  if ((words[0] == "all" || words[0] == "decoding") && words.size() > 1) {
    OverrideRule rule;
    rule.selector = words[0] == "all" ? OverrideRule::Selector::All
                                      : OverrideRule::Selector::Decoding;
    rule.isOptional = isOptional;
    return addRule(std::move(rule), line, ArrayRef(words).drop_front(), loc,
                   rules);
  }
  auto selector =
      llvm::StringSwitch<std::optional<OverrideRule::Selector>>(words[0])
          .Case("name", OverrideRule::Selector::Name)
          .Case("op", OverrideRule::Selector::Op)
          .Case("set", OverrideRule::Selector::Set)
          .Default(std::nullopt);
  if (!selector || words.size() < 3)
    return emitError(loc)
           << "expected 'name', 'op', 'set' or 'pattern', a pattern, and an "
              "action, for example 'name \"conv*\" weights=4', or 'all' or "
              "'decoding' and an action, for example 'all weights=4'"
           << support::kTroubleshooting << "a-rule-of-overrides-cannot-be-read";
  // A GlobPattern refers to its text, which has to outlive the buffer.
  auto text = StringAttr::get(loc.getContext(), words[1]);
  auto pattern = llvm::GlobPattern::create(text.getValue());
  if (!pattern)
    return emitError(loc) << "'" << words[1] << "' is not a glob pattern: "
                          << llvm::toString(pattern.takeError());
  OverrideRule rule;
  rule.selector = *selector;
  rule.pattern = std::move(*pattern);
  rule.isOptional = isOptional;
  return addRule(std::move(rule), line, ArrayRef(words).drop_front(2), loc,
                 rules);
}

FailureOr<Overrides> Overrides::read(StringRef path, Location loc) {
  Overrides overrides;
  if (path.empty())
    return overrides;
  auto buffer = support::readInputFile(path);
  if (!buffer)
    return emitError(loc) << "cannot read overrides file '" << path
                          << "': " << llvm::toString(buffer.takeError());
  for (llvm::line_iterator line(**buffer); !line.is_at_eof(); ++line)
    if (failed(parseRule(
            *line,
            FileLineColLoc::get(loc.getContext(), path, line.line_number(), 1),
            overrides.rules)))
      return failure();
  return overrides;
}

LogicalResult Overrides::add(StringRef rule, StringRef origin,
                             MLIRContext *context) {
  return parseRule(rule, FileLineColLoc::get(context, origin, 1, 1), rules);
}

void Overrides::addDecodingFloat(MLIRContext *context) {
  std::vector<OverrideRule> rule;
  LogicalResult parsed =
      parseRule("?decoding float",
                FileLineColLoc::get(context, "decode=float", 1, 1), rule);
  assert(succeeded(parsed) && "the rule is well formed");
  (void)parsed;
  rules.insert(rules.begin(), std::move(rule.front()));
}

FailureOr<Overrides> Overrides::getFrom(func::FuncOp function) {
  Overrides overrides;
  auto rules = function->getAttrOfType<ArrayAttr>(tpc::kOverridesAttrName);
  if (!rules)
    return overrides;
  for (auto [index, rule] : llvm::enumerate(rules.getAsRange<StringAttr>()))
    if (failed(parseRule(rule.getValue(),
                         FileLineColLoc::get(function.getContext(),
                                             tpc::kOverridesAttrName,
                                             unsigned(index) + 1, 1),
                         overrides.rules)))
      return failure();
  return overrides;
}

void Overrides::setOn(func::FuncOp function) const {
  if (rules.empty())
    return;
  SmallVector<StringRef> lines;
  for (const OverrideRule &rule : rules)
    lines.push_back(rule.text);
  function->setAttr(tpc::kOverridesAttrName,
                    OpBuilder(function).getStrArrayAttr(lines));
}

void Overrides::append(func::FuncOp function, ArrayRef<std::string> rules) {
  if (rules.empty())
    return;
  OpBuilder builder(function);
  SmallVector<Attribute> lines;
  if (auto present =
          function->getAttrOfType<ArrayAttr>(tpc::kOverridesAttrName))
    llvm::append_range(lines, present);
  for (const std::string &rule : rules)
    lines.push_back(builder.getStringAttr(rule));
  function->setAttr(tpc::kOverridesAttrName, builder.getArrayAttr(lines));
}

bool OverrideRule::asksForFloatAlone() const {
  auto isFloat = [](int64_t bits) { return bits == 0; };
  return !activationMethod && !weightMethod && namedWeightMethods.empty() &&
         isFloat(activationBits.value_or(0)) &&
         isFloat(weightBits.value_or(0)) &&
         llvm::all_of(llvm::make_second_range(namedWeightBits), isFloat);
}

void Overrides::findDecoding(Block &block, const KernelOps &kernels) {
  decoding.clear();
  if (llvm::none_of(rules, [](const OverrideRule &rule) {
        return rule.selector == OverrideRule::Selector::Decoding;
      }))
    return;
  if (std::optional<Decoding> found = mct::findDecoding(block, kernels))
    decoding.insert_range(found->ops);
}

bool Overrides::leavesDecodingFloat() const {
  return llvm::any_of(rules, [](const OverrideRule &rule) {
    return rule.selector == OverrideRule::Selector::Decoding &&
           rule.activationBits == 0;
  });
}

bool Overrides::keepsFloatAsDecoding(Operation *op) const {
  return decoding.contains(op) && leavesDecodingFloat();
}

bool Overrides::isReadByDecodingAlone(Value value) const {
  return !value.use_empty() &&
         llvm::all_of(value.getUsers(),
                      [&](Operation *user) { return decoding.contains(user); });
}

bool Overrides::selects(const OverrideRule &rule, StringAttr name,
                        const tpc::Node &node) const {
  switch (rule.selector) {
  case OverrideRule::Selector::Name:
    return name && rule.pattern.match(name.getValue());
  case OverrideRule::Selector::Op:
    return llvm::any_of(node.ops, [&](Operation *op) {
      return rule.pattern.match(op->getName().getStringRef());
    });
  case OverrideRule::Selector::Set:
    return node.operatorSet && rule.pattern.match(node.operatorSet.getValue());
  case OverrideRule::Selector::Pattern:
    return llvm::any_of(rule.patterns, [&](Attribute each) {
      return tpc::matches(each, node);
    });
  case OverrideRule::Selector::Decoding:
    return !node.ops.empty() && decoding.contains(node.root());
  case OverrideRule::Selector::All:
    return true;
  }
  llvm_unreachable("unknown selector");
}

/// Quotes and line breaks cannot be written in a rule, so `?` matches them.
std::string mct::selectByName(StringRef name) {
  std::string pattern;
  for (char c : name) {
    if (c == '"' || c == '\n' || c == '\r') {
      pattern += '?';
      continue;
    }
    if (StringRef("*?[]{}\\!").contains(c))
      pattern += '\\';
    pattern += c;
  }
  return "name \"" + pattern + "\"";
}

bool mct::isMethodWithin(tpc::QuantizationMethod method,
                         tpc::QuantizationMethod offered) {
  using Method = tpc::QuantizationMethod;
  if (method == offered)
    return true;
  switch (offered) {
  case Method::Uniform:
    return method == Method::Symmetric || method == Method::PowerOfTwo;
  case Method::Symmetric:
    return method == Method::PowerOfTwo;
  case Method::LutSymmetric:
    return method == Method::LutPowerOfTwo;
  default:
    return false;
  }
}

std::string mct::listWidths(ArrayRef<int64_t> widths) {
  llvm::SmallSetVector<int64_t, 4> distinct(widths.begin(), widths.end());
  std::string text;
  for (auto [index, width] : llvm::enumerate(distinct)) {
    if (index > 0)
      text += index + 1 == distinct.size() ? " and " : ", ";
    text += std::to_string(width);
  }
  return text;
}

Wishes Overrides::getWishes(StringAttr name, const tpc::Node &node,
                            bool hasResult,
                            function_ref<bool(StringRef)> hasWeight) {
  Wishes wishes;
  for (OverrideRule &rule : rules) {
    if (!selects(rule, name, node))
      continue;
    ++rule.numSelected;
    bool isAffected = false;
    if (rule.activationBits && hasResult) {
      wishes.activation = {*rule.activationBits, &rule};
      isAffected = true;
    }
    if (rule.weightBits) {
      wishes.weights = {*rule.weightBits, &rule};
      wishes.namedWeights.clear();
      isAffected |= hasWeight("");
    }
    for (const auto &[weight, bits] : rule.namedWeightBits) {
      wishes.namedWeights[weight] = std::pair(bits, &rule);
      isAffected |= hasWeight(weight);
    }
    if (rule.activationMethod && hasResult) {
      wishes.activationMethod = {*rule.activationMethod, &rule};
      isAffected = true;
    }
    if (rule.weightMethod) {
      wishes.weightMethod = {*rule.weightMethod, &rule};
      wishes.namedWeightMethods.clear();
      isAffected |= hasWeight("");
    }
    for (const auto &[weight, method] : rule.namedWeightMethods) {
      wishes.namedWeightMethods[weight] = std::pair(method, &rule);
      isAffected |= hasWeight(weight);
    }
    rule.numAffected += isAffected;
  }
  return wishes;
}

/// Fails if no tensor of a kind can have the width that a rule for all
/// operators requests.
static LogicalResult checkWidth(const OverrideRule &rule, StringRef tensors,
                                std::optional<int64_t> bits,
                                const OverrideRule::WidthUse &use) {
  if (!bits || use.numTaken > 0 || use.offered.empty())
    return success();
  return emitError(rule.loc)
         << "none of the " << tensors << " can have " << *bits
         << " bits; the target offers " << listWidths(use.offered.getArrayRef())
         << " in this network";
}

LogicalResult Overrides::checkUsed() const {
  bool allUsed = true;
  for (const OverrideRule &rule : rules) {
    if (rule.isOptional)
      continue;
    if (rule.appliesWhereOffered() &&
        (failed(checkWidth(rule, "results", rule.activationBits,
                           rule.activationUse)) ||
         failed(checkWidth(rule, "quantized weights", rule.weightBits,
                           rule.weightUse)))) {
      allUsed = false;
      continue;
    }
    if (rule.numAffected > 0)
      continue;
    allUsed = false;
    if (rule.numSelected == 0)
      emitError(rule.loc) << "the rule matches nothing; tpc-explain lists the "
                             "names, ops and operator sets that there are; a "
                             "rule that may match nothing begins with '?'"
                          << support::kTroubleshooting
                          << "a-rule-of-overrides-matches-nothing";
    else
      emitError(rule.loc) << "the rule has no effect: none of the "
                          << rule.numSelected
                          << " operators that it matches has a quantized tensor"
                             " of that kind; tpc-explain says why";
  }
  return success(allUsed);
}
