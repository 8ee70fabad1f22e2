// SPDX-License-Identifier: Apache-2.0
//
// Printing and parsing of attributes.
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "tpc_dialect/IR/TpcDialect.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cstring>

using namespace mlir;
using namespace mct::tpc;

#include "tpc_dialect/IR/TpcEnums.cpp.inc"
#include "tpc_dialect/IR/TpcInterfaces.cpp.inc"

bool mct::tpc::operator==(const RealList &lhs, const RealList &rhs) {
  return lhs.size() == rhs.size() &&
         (lhs.empty() || std::memcmp(lhs.data(), rhs.data(),
                                     lhs.size() * sizeof(double)) == 0);
}

llvm::hash_code mct::tpc::hash_value(const RealList &list) {
  auto bits = llvm::map_range(
      list, [](double value) { return llvm::bit_cast<uint64_t>(value); });
  return llvm::hash_combine_range(bits.begin(), bits.end());
}

//===----------------------------------------------------------------------===//
// Custom directives
//===----------------------------------------------------------------------===//

template <typename ParseElement>
static ParseResult parseSquareList(AsmParser &parser,
                                   ParseElement parseElement) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square,
                                        parseElement);
}

template <typename Range, typename PrintElement>
static void printSquareList(AsmPrinter &printer, Range &&range,
                            PrintElement printElement) {
  printer << '[';
  llvm::interleaveComma(range, printer, printElement);
  printer << ']';
}

template <typename Number>
static ParseResult parseReal(AsmParser &parser, Number &value) {
  APFloat parsed(0.0);
  if (parser.parseFloat(APFloat::IEEEdouble(), parsed))
    return failure();
  value = parsed.convertToDouble();
  return success();
}

static void printReal(AsmPrinter &printer, double value) {
  printer.printFloat(APFloat(value));
}

static ParseResult parseOptionalReal(AsmParser &parser,
                                     std::optional<Real> &value) {
  return parseReal(parser, value.emplace());
}

static void printOptionalReal(AsmPrinter &printer, std::optional<Real> value) {
  printReal(printer, *value);
}

static ParseResult parseBound(AsmParser &parser, std::optional<Real> &bound) {
  if (succeeded(parser.parseOptionalQuestion()))
    return success();
  return parseReal(parser, bound.emplace());
}

static void printBound(AsmPrinter &printer, std::optional<double> bound) {
  if (bound)
    printReal(printer, *bound);
  else
    printer << '?';
}

static ParseResult parseRealList(AsmParser &parser,
                                 SmallVector<double> &values) {
  return parseSquareList(
      parser, [&] { return parseReal(parser, values.emplace_back()); });
}

static void printRealList(AsmPrinter &printer, ArrayRef<double> values) {
  printSquareList(printer, values,
                  [&](double value) { printReal(printer, value); });
}

static ParseResult parseBitList(AsmParser &parser,
                                SmallVector<int64_t> &values) {
  return parseSquareList(
      parser, [&] { return parser.parseInteger(values.emplace_back()); });
}

static void printBitList(AsmPrinter &printer, ArrayRef<int64_t> values) {
  printSquareList(printer, values, [&](int64_t value) { printer << value; });
}

static ParseResult parseNameList(AsmParser &parser,
                                 SmallVector<StringAttr> &names) {
  return parseSquareList(
      parser, [&] { return parser.parseAttribute(names.emplace_back()); });
}

static void printNameList(AsmPrinter &printer, ArrayRef<StringAttr> names) {
  printSquareList(printer, names,
                  [&](StringAttr name) { printer.printAttribute(name); });
}

static ParseResult parseOperatorSet(AsmParser &parser, StringAttr &name,
                                    QCOptionsAttr &options, bool &isOneByOne) {
  if (parser.parseAttribute(name))
    return failure();
  while (succeeded(parser.parseOptionalComma())) {
    if (succeeded(parser.parseOptionalKeyword("one_by_one")))
      isOneByOne = true;
    else if (parser.parseKeyword("options") || parser.parseEqual() ||
             parser.parseAttribute(options))
      return failure();
  }
  return success();
}

static void printOperatorSet(AsmPrinter &printer, StringAttr name,
                             QCOptionsAttr options, bool isOneByOne) {
  printer.printAttribute(name);
  if (options)
    printer << ", options = " << options;
  if (isOneByOne)
    printer << ", one_by_one";
}

static ParseResult parseConfigList(AsmParser &parser,
                                   SmallVector<OpQuantConfigAttr> &configs) {
  return parseSquareList(
      parser, [&] { return parser.parseAttribute(configs.emplace_back()); });
}

static void printConfigList(AsmPrinter &printer,
                            ArrayRef<OpQuantConfigAttr> configs) {
  printSquareList(printer, configs, [&](OpQuantConfigAttr config) {
    printer.printAttribute(config);
  });
}

static ParseResult parseAttributeList(AsmParser &parser,
                                      SmallVector<Attribute> &attributes) {
  return parseSquareList(
      parser, [&] { return parser.parseAttribute(attributes.emplace_back()); });
}

static void printAttributeList(AsmPrinter &printer,
                               ArrayRef<Attribute> attributes) {
  printSquareList(printer, attributes, [&](Attribute attribute) {
    printer.printAttribute(attribute);
  });
}

static constexpr StringLiteral kMethods =
    "[power_of_two, lut_pot_quantizer, symmetric, uniform, lut_sym_quantizer]";

/// One of the known methods as a word, or an attribute of another dialect.
static ParseResult parseMethod(AsmParser &parser,
                               QuantizationMethodAttrInterface &method) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef word;
  if (succeeded(parser.parseOptionalKeyword(&word))) {
    std::optional<QuantizationMethod> known = symbolizeQuantizationMethod(word);
    if (!known)
      return parser.emitError(loc) << "expected one of " << kMethods
                                   << " for quantization method, got: " << word;
    method = MethodAttr::get(parser.getContext(), *known);
    return success();
  }
  Attribute attribute;
  if (parser.parseAttribute(attribute))
    return failure();
  method = dyn_cast<QuantizationMethodAttrInterface>(attribute);
  if (method)
    return success();
  return parser.emitError(loc)
         << "expected one of " << kMethods
         << ", or an attribute that implements "
            "QuantizationMethodAttrInterface, for quantization method, got: "
         << attribute;
}

static void printMethod(AsmPrinter &printer,
                        QuantizationMethodAttrInterface method) {
  if (std::optional<QuantizationMethod> known = MethodAttr::getKnown(method))
    printer << stringifyQuantizationMethod(*known);
  else
    printer.printAttribute(method);
}

// Either may come without the other, which optional groups that both begin
// with a comma cannot say.
static ParseResult parseFusing(AsmParser &parser,
                               SmallVector<Attribute> &groups,
                               OpQuantConfigAttr &config, StringAttr &name) {
  if (parseAttributeList(parser, groups))
    return failure();
  while (succeeded(parser.parseOptionalComma())) {
    SMLoc loc = parser.getCurrentLocation();
    StringRef field;
    if (parser.parseKeyword(&field) || parser.parseEqual())
      return failure();
    if (field == "config" && !config) {
      if (parser.parseAttribute(config))
        return failure();
    } else if (field == "name" && !name) {
      if (parser.parseAttribute(name))
        return failure();
    } else {
      return parser.emitError(loc)
             << "expected 'config' or 'name', each at most once, but got '"
             << field << "'";
    }
  }
  return success();
}

static void printFusing(AsmPrinter &printer, ArrayRef<Attribute> groups,
                        OpQuantConfigAttr config, StringAttr name) {
  printAttributeList(printer, groups);
  if (config) {
    printer << ", config = ";
    printer.printAttribute(config);
  }
  if (name) {
    printer << ", name = ";
    printer.printAttribute(name);
  }
}

//===----------------------------------------------------------------------===//
// Filters
//===----------------------------------------------------------------------===//

static bool isConnective(PredicateKind kind) {
  return kind == PredicateKind::And || kind == PredicateKind::Or;
}

/// Limit on nested parentheses, since readers of a filter recurse as deeply.
static constexpr unsigned kMaxFilterDepth = 64;

static FailureOr<PredicateAttr> parseOr(AsmParser &parser, unsigned depth);

static FailureOr<PredicateAttr> parseLeaf(AsmParser &parser, unsigned depth) {
  SMLoc loc = parser.getCurrentLocation();
  if (succeeded(parser.parseOptionalLParen())) {
    if (depth == kMaxFilterDepth) {
      parser.emitError(loc) << "filter has more than " << kMaxFilterDepth
                            << " parentheses inside of each other";
      return failure();
    }
    FailureOr<PredicateAttr> inner = parseOr(parser, depth + 1);
    if (failed(inner) || parser.parseRParen())
      return failure();
    return inner;
  }
  std::string name;
  if (parser.parseKeywordOrString(&name))
    return failure();
  SMLoc comparisonLoc = parser.getCurrentLocation();
  StringRef word;
  std::optional<PredicateKind> kind;
  if (succeeded(parser.parseOptionalKeyword(&word)))
    kind = symbolizePredicateKind(word);
  // B8
  if (!kind || isConnective(*kind)) {
    parser.emitError(comparisonLoc,
                     "expected one of eq, ne, gt, ge, lt, le, contains");
    return failure();
  }
  Attribute value;
  if (parser.parseAttribute(value))
    return failure();
  MLIRContext *context = parser.getContext();
  return PredicateAttr::get(context, *kind, StringAttr::get(context, name),
                            value, {});
}

static FailureOr<PredicateAttr>
parseChain(AsmParser &parser, PredicateKind kind, unsigned depth,
           llvm::function_ref<FailureOr<PredicateAttr>(AsmParser &, unsigned)>
               parseOperand) {
  SmallVector<PredicateAttr> operands;
  do {
    FailureOr<PredicateAttr> operand = parseOperand(parser, depth);
    if (failed(operand))
      return failure();
    operands.push_back(*operand);
  } while (
      succeeded(parser.parseOptionalKeyword(stringifyPredicateKind(kind))));
  if (operands.size() == 1)
    return operands.front();
  return PredicateAttr::get(parser.getContext(), kind, StringAttr(),
                            Attribute(), operands);
}

static FailureOr<PredicateAttr> parseAnd(AsmParser &parser, unsigned depth) {
  return parseChain(parser, PredicateKind::And, depth, parseLeaf);
}

static FailureOr<PredicateAttr> parseOr(AsmParser &parser, unsigned depth) {
  return parseChain(parser, PredicateKind::Or, depth, parseAnd);
}

static void printFilter(AsmPrinter &printer, PredicateAttr filter) {
  if (!isConnective(filter.getKind())) {
    printer.printKeywordOrString(filter.getName().getValue());
    printer << ' ' << stringifyPredicateKind(filter.getKind()) << ' ';
    printer.printAttribute(filter.getValue());
    return;
  }
  std::string separator =
      (" " + stringifyPredicateKind(filter.getKind()) + " ").str();
  llvm::interleave(
      filter.getOperands(),
      [&](PredicateAttr operand) {
        // `and` binds closer than `or`; a connective inside itself only comes
        // from explicit parentheses.
        bool parenthesize = isConnective(operand.getKind()) &&
                            !(filter.getKind() == PredicateKind::Or &&
                              operand.getKind() == PredicateKind::And);
        if (parenthesize)
          printer << '(';
        printFilter(printer, operand);
        if (parenthesize)
          printer << ')';
      },
      [&] { printer << separator; });
}

static ParseResult parsePredicate(AsmParser &parser, PredicateKind &kind,
                                  StringAttr &name, Attribute &value,
                                  SmallVector<PredicateAttr> &operands) {
  FailureOr<PredicateAttr> filter = parseOr(parser, /*depth=*/0);
  if (failed(filter))
    return failure();
  kind = filter->getKind();
  name = filter->getName();
  value = filter->getValue();
  llvm::append_range(operands, filter->getOperands());
  return success();
}

static void printPredicate(AsmPrinter &printer, PredicateKind kind,
                           StringAttr name, Attribute value,
                           ArrayRef<PredicateAttr> operands) {
  MLIRContext *context =
      name ? name.getContext() : operands.front().getContext();
  printFilter(printer,
              PredicateAttr::get(context, kind, name, value, operands));
}

static ParseResult parseFilter(AsmParser &parser, PredicateAttr &where) {
  FailureOr<PredicateAttr> filter = parseOr(parser, /*depth=*/0);
  if (failed(filter))
    return failure();
  where = *filter;
  return success();
}

#define GET_ATTRDEF_CLASSES
#include "tpc_dialect/IR/TpcAttributes.cpp.inc"

void TpcDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "tpc_dialect/IR/TpcAttributes.cpp.inc"
      >();
}

LogicalResult
PredicateAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                      PredicateKind kind, StringAttr name, Attribute value,
                      ArrayRef<PredicateAttr> operands) {
  if (isConnective(kind) ? operands.size() < 2
                         : (!name || !value || !operands.empty()))
    return emitError() << "a filter is a comparison of a name with a value, or "
                          "joins at least two filters";
  return success();
}

//===----------------------------------------------------------------------===//
// Descriptions of ops
//===----------------------------------------------------------------------===//

Attribute OpInfoAttr::parse(AsmParser &parser, Type) {
  StringAttr name;
  std::optional<int64_t> kernel, bias, inAxis, resultAxis;
  std::optional<Real> rangeMin, rangeMax;
  SmallVector<int64_t> outAxes;
  bool quantize = true;
  llvm::StringSet<> visited;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseAttribute(name))
    return {};
  while (succeeded(parser.parseOptionalComma())) {
    SMLoc fieldLoc = parser.getCurrentLocation();
    StringRef field;
    if (parser.parseKeyword(&field) || parser.parseEqual())
      return {};
    if (!visited.insert(field).second) {
      parser.emitError(fieldLoc) << "duplicate field '" << field << "'";
      return {};
    }
    ParseResult result = success();
    if (field == "kernel")
      result = parser.parseInteger(kernel.emplace());
    else if (field == "bias")
      result = parser.parseInteger(bias.emplace());
    else if (field == "out_axes")
      result = parseBitList(parser, outAxes);
    else if (field == "in_axis")
      result = parser.parseInteger(inAxis.emplace());
    else if (field == "result_axis")
      result = parser.parseInteger(resultAxis.emplace());
    else if (field == "range")
      result = failure(parser.parseLSquare() || parseBound(parser, rangeMin) ||
                       parser.parseComma() || parseBound(parser, rangeMax) ||
                       parser.parseRSquare());
    else if (field == "quantize") {
      StringRef value;
      result = parser.parseKeyword(&value);
      if (succeeded(result) && value != "true" && value != "false")
        result = parser.emitError(fieldLoc)
                 << "'quantize' must be true or false";
      quantize = value != "false";
    } else {
      parser.emitError(fieldLoc) << "unknown field '" << field
                                 << "'; known: kernel, bias, out_axes, "
                                    "in_axis, result_axis, range, quantize";
      return {};
    }
    if (failed(result))
      return {};
  }
  if (parser.parseGreater())
    return {};
  return parser.getChecked<OpInfoAttr>(loc, parser.getContext(), name, kernel,
                                       bias, outAxes, inAxis, resultAxis,
                                       rangeMin, rangeMax, quantize);
}

void OpInfoAttr::print(AsmPrinter &printer) const {
  printer << '<';
  printer.printAttribute(getOpName());
  auto printInteger = [&](StringRef field, std::optional<int64_t> value) {
    if (value)
      printer << ", " << field << " = " << *value;
  };
  printInteger("kernel", getKernel());
  printInteger("bias", getBias());
  if (!getOutAxes().empty()) {
    printer << ", out_axes = ";
    printBitList(printer, getOutAxes());
  }
  printInteger("in_axis", getInAxis());
  printInteger("result_axis", getResultAxis());
  if (getRangeMin() || getRangeMax()) {
    printer << ", range = [";
    printBound(printer, getRangeMin());
    printer << ", ";
    printBound(printer, getRangeMax());
    printer << ']';
  }
  if (!getQuantize())
    printer << ", quantize = false";
  printer << '>';
}
