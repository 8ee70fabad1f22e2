// SPDX-License-Identifier: Apache-2.0
#include "mct/Quantization/Lut.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/DialectImplementation.h"
#include "tpc_dialect/IR/TpcDialect.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallSet.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/TypeSwitch.h"
#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>

using namespace mlir;
using namespace mct::tpc;

using EmitError = llvm::function_ref<InFlightDiagnostic()>;

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

/// Parentheses inside of each other; whoever reads a filter recurses as deeply.
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

//===----------------------------------------------------------------------===//
// What a platform offers
//===----------------------------------------------------------------------===//

LogicalResult
AttrQuantConfigAttr::verify(EmitError emitError, QuantizationMethod,
                            int64_t bits, bool, bool,
                            std::optional<int64_t> lutValuesBits) {
  // A1
  if (bits <= 0)
    return emitError() << "weight bit width must be positive, but got " << bits;
  // A2
  if (lutValuesBits && *lutValuesBits <= 0)
    return emitError() << "'lut_values_bits' must be positive, but got "
                       << *lutValuesBits;
  return success();
}

/// O7 and O8: the fixed output grid is complete and exists.
static LogicalResult verifyFixedGrid(EmitError emitError,
                                     QuantizationMethod method, int64_t bits,
                                     Signedness signedness, FloatAttr scale,
                                     std::optional<int64_t> zeroPoint) {
  if (static_cast<bool>(scale) != zeroPoint.has_value())
    return emitError()
           << "'fixed_scale' and 'fixed_zero_point' must be given together";
  if (!scale)
    return success();
  double value = scale.getValueAsDouble();
  if (!(value > 0) || !std::isfinite(value))
    return emitError() << "'fixed_scale' must be positive and finite, but got "
                       << value;
  if (bits < 63) {
    int64_t lowest =
        signedness == Signedness::Unsigned ? 0 : -(int64_t(1) << (bits - 1));
    int64_t highest = signedness == Signedness::Signed
                          ? (int64_t(1) << (bits - 1)) - 1
                          : (int64_t(1) << bits) - 1;
    if (*zeroPoint < lowest || *zeroPoint > highest)
      return emitError() << "'fixed_zero_point' " << *zeroPoint
                         << " does not fit in " << bits << " bits";
  }
  int exponent = 0;
  if (method == QuantizationMethod::PowerOfTwo &&
      std::frexp(value, &exponent) != 0.5)
    return emitError() << "'fixed_scale' must be a power of two for method "
                          "power_of_two, but got "
                       << value;
  return success();
}

LogicalResult
OpQuantConfigAttr::verify(EmitError emitError, QuantizationMethod method,
                          int64_t bits, ArrayRef<int64_t> inputBits, bool, bool,
                          Signedness signedness, FloatAttr fixedScale,
                          std::optional<int64_t> fixedZeroPoint,
                          std::optional<int64_t> simdSize,
                          DictionaryAttr weights, AttrQuantConfigAttr) {
  // O1
  if (bits <= 0)
    return emitError() << "activation bit width must be positive, but got "
                       << bits;
  // O2
  if (inputBits.empty())
    return emitError()
           << "'input_bits' must name at least one supported input bit width";
  for (int64_t width : inputBits)
    if (width <= 0)
      return emitError() << "'input_bits' entries must be positive, but got "
                         << width;
  // O4
  if (method == QuantizationMethod::LutSymmetric)
    return emitError()
           << "'lut_sym_quantizer' is not an activation quantization method";
  // O5
  if (simdSize && *simdSize <= 0)
    return emitError() << "'simd_size' must be positive, but got " << *simdSize;
  // O6
  if (weights)
    for (NamedAttribute entry : weights)
      if (!isa<AttrQuantConfigAttr>(entry.getValue()))
        return emitError() << "weight attribute '" << entry.getName().getValue()
                           << "' must map to #tpc.attr_quant_config";
  return verifyFixedGrid(emitError, method, bits, signedness, fixedScale,
                         fixedZeroPoint);
}

AttrQuantConfigAttr
OpQuantConfigAttr::getWeightConfig(StringRef genericName) const {
  if (DictionaryAttr weights = getWeights())
    if (auto config = weights.getAs<AttrQuantConfigAttr>(genericName))
      return config;
  return getDefaultWeight();
}

int64_t OpQuantConfigAttr::getMaxInputBits() const {
  return *std::max_element(getInputBits().begin(), getInputBits().end());
}

LogicalResult QCOptionsAttr::verify(EmitError emitError,
                                    ArrayRef<OpQuantConfigAttr> configs,
                                    OpQuantConfigAttr base) {
  // Q1
  if (configs.empty())
    return emitError() << "quantization config options require at least one "
                          "op_quant_config";
  // Q2
  if (configs.size() > 1 && !base)
    return emitError()
           << "'base' is required when there is more than one op_quant_config";
  // Q3
  if (base && !llvm::is_contained(configs, base))
    return emitError() << "'base' must be one of the listed op_quant_configs";
  // Q4
  OpQuantConfigAttr first = configs.front();
  for (OpQuantConfigAttr config : configs.drop_front()) {
    if (config.getActEnabled() != first.getActEnabled() ||
        config.getPreserving() != first.getPreserving())
      return emitError() << "candidates disagree on activation mode";
    if (!first.getWeights() || !config.getWeights())
      continue;
    for (NamedAttribute entry : first.getWeights()) {
      auto other =
          config.getWeights().getAs<AttrQuantConfigAttr>(entry.getName());
      if (other && other.getEnabled() !=
                       cast<AttrQuantConfigAttr>(entry.getValue()).getEnabled())
        return emitError() << "candidates disagree on whether weight '"
                           << entry.getName().getValue() << "' is quantized";
    }
  }
  return success();
}

OpQuantConfigAttr QCOptionsAttr::getBaseConfig() const {
  return getBase() ? getBase() : getConfigs().front();
}

LogicalResult OperatorSetAttr::verify(EmitError emitError, StringAttr name,
                                      QCOptionsAttr) {
  // OS1
  if (name.empty())
    return emitError() << "operator set name must not be empty";
  return success();
}

LogicalResult OperatorSetGroupAttr::verify(EmitError emitError,
                                           ArrayRef<StringAttr> sets,
                                           StringAttr) {
  // G1
  if (sets.empty())
    return emitError()
           << "operator set group must contain at least one operator set";
  llvm::StringSet<> seen;
  for (StringAttr set : sets)
    if (!seen.insert(set.getValue()).second)
      return emitError() << "operator set '" << set.getValue()
                         << "' is repeated in the group";
  return success();
}

LogicalResult FusingAttr::verify(EmitError emitError,
                                 ArrayRef<Attribute> groups, OpQuantConfigAttr,
                                 StringAttr) {
  // F1
  if (groups.size() < 2)
    return emitError()
           << "fusing pattern needs at least two operator groups, but got "
           << groups.size();
  // F2
  for (Attribute group : groups)
    if (!isa<StringAttr, OperatorSetGroupAttr>(group))
      return emitError() << "fusing group must be an operator set name or "
                            "#tpc.operator_set_group";
  return success();
}

//===----------------------------------------------------------------------===//
// How operator sets are spelled in an IR
//===----------------------------------------------------------------------===//

LogicalResult PredicateAttr::verify(EmitError emitError, PredicateKind kind,
                                    StringAttr name, Attribute value,
                                    ArrayRef<PredicateAttr> operands) {
  if (isConnective(kind) ? operands.size() < 2
                         : (!name || !value || !operands.empty()))
    return emitError() << "a filter is a comparison of a name with a value, or "
                          "joins at least two filters";
  return success();
}

LogicalResult OpPatternAttr::verify(EmitError emitError, StringAttr opName,
                                    PredicateAttr) {
  if (opName.empty())
    return emitError() << "op pattern must name an op";
  return success();
}

LogicalResult SubgraphAttr::verify(EmitError emitError, StringAttr name) {
  if (name.empty())
    return emitError() << "subgraph name must not be empty";
  return success();
}

LogicalResult OpsOfAttr::verify(EmitError emitError, StringAttr set,
                                ArrayRef<Attribute> patterns,
                                DictionaryAttr weights) {
  for (Attribute pattern : patterns)
    if (!isa<OpPatternAttr, SubgraphAttr>(pattern))
      return emitError() << "operator set '" << set.getValue()
                         << "' must list #tpc.op or #tpc.subgraph";
  if (weights)
    for (NamedAttribute entry : weights) {
      auto operand = dyn_cast<IntegerAttr>(entry.getValue());
      // B6
      if (!operand || operand.getInt() < 0)
        return emitError() << "weight attribute '" << entry.getName().getValue()
                           << "' must map to an operand number";
    }
  return success();
}

/// Bounds are of f32 values, and there is something between them.
static LogicalResult verifyBounds(EmitError emitError, const Twine &what,
                                  std::optional<Real> min,
                                  std::optional<Real> max) {
  for (std::optional<Real> bound : {min, max})
    if (bound && !std::isfinite(float(*bound)))
      return emitError() << what << " has the bound " << *bound
                         << ", which is no finite f32 number; write ? where "
                            "there is none";
  if (min && max && *min > *max)
    return emitError() << what << " is empty: " << *min << " to " << *max;
  return success();
}

LogicalResult
OpInfoAttr::verify(EmitError emitError, StringAttr opName,
                   std::optional<int64_t> kernel, std::optional<int64_t> bias,
                   ArrayRef<int64_t> outAxes, std::optional<int64_t> inAxis,
                   std::optional<int64_t>, std::optional<Real> rangeMin,
                   std::optional<Real> rangeMax, bool) {
  if (opName.empty())
    return emitError() << "op description must name an op";
  if ((kernel && *kernel < 0) || (bias && *bias < 0))
    return emitError() << "operand numbers of '" << opName.getValue()
                       << "' must not be negative";
  if (llvm::any_of(outAxes, [](int64_t axis) { return axis < 0; }) ||
      (inAxis && *inAxis < 0))
    return emitError() << "kernel axes of '" << opName.getValue()
                       << "' must not be negative";
  // What walks over channels goes through the axes in their order in memory.
  if (std::adjacent_find(outAxes.begin(), outAxes.end(),
                         std::greater_equal<int64_t>()) != outAxes.end())
    return emitError() << "'out_axes' of '" << opName.getValue()
                       << "' must ascend";
  return verifyBounds(emitError, "range of '" + opName.getValue() + "'",
                      rangeMin, rangeMax);
}

Attribute OpInfoAttr::parse(AsmParser &parser, Type) {
  StringAttr name;
  std::optional<int64_t> kernel, bias, inAxis, resultAxis;
  std::optional<Real> rangeMin, rangeMax;
  SmallVector<int64_t> outAxes;
  bool quantize = true;
  llvm::StringSet<> seen;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseAttribute(name))
    return {};
  while (succeeded(parser.parseOptionalComma())) {
    SMLoc fieldLoc = parser.getCurrentLocation();
    StringRef field;
    if (parser.parseKeyword(&field) || parser.parseEqual())
      return {};
    if (!seen.insert(field).second) {
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

//===----------------------------------------------------------------------===//
// What is known of a point
//===----------------------------------------------------------------------===//

LogicalResult RangeAttr::verify(EmitError emitError, std::optional<Real> min,
                                std::optional<Real> max) {
  return verifyBounds(emitError, "range", min, max);
}

LogicalResult HistogramAttr::verify(EmitError emitError, int64_t stepExponent,
                                    int64_t first, ElementsAttr counts) {
  // H1
  ShapedType type = counts.getShapedType();
  if (type.getRank() != 1 || !type.getElementType().isSignlessInteger(64))
    return emitError()
           << "'counts' must be one-dimensional with element type i64, but got "
           << type;
  // H2
  constexpr int64_t kSmallest = -1074, kLargest = 1023;
  if (stepExponent < kSmallest || stepExponent > kLargest)
    return emitError() << "'step_exponent' must be " << kSmallest << " to "
                       << kLargest << ", but got " << stepExponent;
  // H3
  constexpr int64_t kExact = int64_t(1) << 52;
  int64_t size = type.getDimSize(0);
  if (first < -kExact || first > kExact || size > kExact)
    return emitError() << "bins " << first << " and the " << size
                       << " from it on are not all within 2^52 of zero";
  return success();
}

/// Values of each channel: dense, of the element type that is read.
static LogicalResult verifyPerChannel(EmitError emitError, StringRef name,
                                      ElementsAttr values, unsigned width,
                                      std::optional<int64_t> &channels) {
  ShapedType type = values.getShapedType();
  if (type.getRank() != 1 || (channels && *channels != type.getDimSize(0)))
    return emitError() << "per-channel statistics must be one-dimensional "
                          "and equally long, but got "
                       << type;
  channels = type.getDimSize(0);
  auto element = dyn_cast<FloatType>(type.getElementType());
  if (!element || !(width == 64 ? element.isF64() : element.isF32()))
    return emitError() << "'" << name << "' must have element type f" << width
                       << ", but got " << type;
  if (!isa<DenseFPElementsAttr>(values))
    return emitError() << "'" << name << "' must be dense<...>";
  return success();
}

LogicalResult StatisticsAttr::verify(EmitError emitError, int64_t count,
                                     int64_t zeros, Real min, Real max,
                                     HistogramAttr, ElementsAttr mean,
                                     ElementsAttr meanSquare,
                                     ElementsAttr channelMin,
                                     ElementsAttr channelMax) {
  if (count <= 0)
    return emitError() << "'count' must be positive, but got " << count;
  if (zeros < 0 || zeros > count)
    return emitError() << "'zeros' must be between 0 and 'count', but got "
                       << zeros << " of " << count;
  if (!(min <= max) || !std::isfinite(float(min)) || !std::isfinite(float(max)))
    return emitError() << "'min' and 'max' must be finite f32 numbers and "
                          "ordered, but got "
                       << min << " and " << max;
  std::optional<int64_t> channels;
  size_t given = 0;
  for (auto [name, values, width] :
       {std::tuple("channel_mean", mean, 64u),
        std::tuple("channel_mean_square", meanSquare, 64u),
        std::tuple("channel_min", channelMin, 32u),
        std::tuple("channel_max", channelMax, 32u)}) {
    if (!values)
      continue;
    ++given;
    if (failed(verifyPerChannel(emitError, name, values, width, channels)))
      return failure();
  }
  if (given != 0 && given != 4)
    return emitError()
           << "per-channel statistics must be given all or not at all";
  return success();
}

//===----------------------------------------------------------------------===//
// What was done to a layer
//===----------------------------------------------------------------------===//

LogicalResult CorrectionsAttr::verify(EmitError emitError,
                                      ArrayRef<StringAttr> applied,
                                      RealList biasOffset,
                                      RealList kernelScale) {
  // K1
  if (applied.empty())
    return emitError() << "'applied' must name at least one correction";
  llvm::StringSet<> seen;
  for (StringAttr name : applied) {
    if (name != kSecondMomentCorrection && name != kActivationBiasCorrection &&
        name != kInputMeanCorrection && name != kQuantizedNetworkCorrection)
      return emitError() << "'" << name.getValue()
                         << "' is no correction; expected second_moment, "
                            "activation_bias, input_mean or quantized_network";
    if (!seen.insert(name.getValue()).second)
      return emitError() << "'" << name.getValue() << "' is applied twice";
  }
  // K2
  if (biasOffset.empty())
    return emitError() << "'bias_offset' must have one number per channel";
  for (double offset : biasOffset)
    if (!std::isfinite(offset))
      return emitError() << "'bias_offset' must be finite, but got " << offset;
  for (double scale : kernelScale)
    if (!(scale > 0) || !std::isfinite(scale))
      return emitError()
             << "'kernel_scale' must be positive and finite, but got " << scale;
  // K3
  if (kernelScale.size() != 1 && kernelScale.size() != biasOffset.size())
    return emitError() << "has " << kernelScale.size() << " kernel scales for "
                       << biasOffset.size() << " bias offsets";
  return success();
}

bool CorrectionsAttr::isApplied(StringRef name) const {
  return llvm::any_of(getApplied(), [&](StringAttr applied) {
    return applied.getValue() == name;
  });
}

//===----------------------------------------------------------------------===//
// Parameters of quantizers
//===----------------------------------------------------------------------===//

static void fakeQuantizeOnGrids(ArrayRef<mct::quantization::Grid> grids,
                                ArrayRef<int64_t> shape, ArrayRef<int64_t> axes,
                                const float *input, float *output) {
  if (grids.size() == 1) {
    size_t count = 1;
    for (int64_t size : shape)
      count *= size;
    mct::quantization::fakeQuantize(grids.front(), input, output, count);
    return;
  }
  mct::quantization::fakeQuantizePerChannel(grids, shape, axes, input, output);
}

static LogicalResult verifyBits(EmitError emitError, unsigned bits) {
  // 24 bits and more have no exact float representatives.
  if (bits < 1 || bits > 23)
    return emitError() << "quantizers have 1 to 23 bits, but got " << bits;
  return success();
}

static LogicalResult verifyThresholds(EmitError emitError,
                                      ArrayRef<double> thresholds,
                                      unsigned bits) {
  if (thresholds.empty())
    return emitError() << "a quantizer needs at least one threshold";
  for (double threshold : thresholds)
    if (!(threshold > 0) || !std::isfinite(threshold))
      return emitError() << "thresholds must be positive and finite, but got "
                         << threshold;
  return verifyBits(emitError, bits);
}

static LogicalResult verifyPowersOfTwo(EmitError emitError,
                                       ArrayRef<double> thresholds) {
  for (double threshold : thresholds) {
    int exponent = 0;
    if (std::frexp(threshold, &exponent) != 0.5)
      return emitError() << "threshold " << threshold
                         << " is not a power of two";
  }
  return success();
}

LogicalResult PowerOfTwoAttr::verify(EmitError emitError, RealList thresholds,
                                     unsigned bits, bool) {
  if (failed(verifyThresholds(emitError, thresholds, bits)))
    return failure();
  return verifyPowersOfTwo(emitError, thresholds);
}

LogicalResult SymmetricAttr::verify(EmitError emitError, RealList thresholds,
                                    unsigned bits, bool) {
  return verifyThresholds(emitError, thresholds, bits);
}

static SmallVector<mct::quantization::Grid>
gridsOf(ArrayRef<double> thresholds, unsigned bits, bool isSigned) {
  return llvm::map_to_vector(thresholds, [&](double threshold) {
    return mct::quantization::symmetricGrid(threshold, bits, isSigned);
  });
}

QuantizationMethod PowerOfTwoAttr::getMethod() const {
  return QuantizationMethod::PowerOfTwo;
}
size_t PowerOfTwoAttr::getNumChannels() const { return getThreshold().size(); }
SmallVector<mct::quantization::Grid> PowerOfTwoAttr::getGrids() const {
  return gridsOf(getThreshold(), getBits(), getIsSigned());
}
void PowerOfTwoAttr::fakeQuantize(ArrayRef<int64_t> shape,
                                  ArrayRef<int64_t> axes, const float *input,
                                  float *output) const {
  fakeQuantizeOnGrids(getGrids(), shape, axes, input, output);
}

QuantizationMethod SymmetricAttr::getMethod() const {
  return QuantizationMethod::Symmetric;
}
size_t SymmetricAttr::getNumChannels() const { return getThreshold().size(); }
SmallVector<mct::quantization::Grid> SymmetricAttr::getGrids() const {
  return gridsOf(getThreshold(), getBits(), getIsSigned());
}
void SymmetricAttr::fakeQuantize(ArrayRef<int64_t> shape,
                                 ArrayRef<int64_t> axes, const float *input,
                                 float *output) const {
  fakeQuantizeOnGrids(getGrids(), shape, axes, input, output);
}

LogicalResult UniformAttr::verify(EmitError emitError, RealList scales,
                                  ArrayRef<int64_t> zeroPoints, unsigned bits) {
  if (scales.empty() || scales.size() != zeroPoints.size())
    return emitError() << "a uniform quantizer needs as many zero points as "
                          "scales, but got "
                       << zeroPoints.size() << " and " << scales.size();
  if (failed(verifyBits(emitError, bits)))
    return failure();
  for (auto [scale, zeroPoint] : llvm::zip_equal(scales, zeroPoints)) {
    if (!(scale > 0) || !std::isfinite(scale))
      return emitError() << "scales must be positive and finite, but got "
                         << scale;
    if (zeroPoint < 0 || zeroPoint >= (int64_t(1) << bits))
      return emitError() << "zero point " << zeroPoint << " is outside of "
                         << bits << " bits";
  }
  return success();
}

QuantizationMethod UniformAttr::getMethod() const {
  return QuantizationMethod::Uniform;
}
size_t UniformAttr::getNumChannels() const { return getScale().size(); }
SmallVector<mct::quantization::Grid> UniformAttr::getGrids() const {
  SmallVector<mct::quantization::Grid> grids;
  for (auto [scale, zeroPoint] : llvm::zip_equal(getScale(), getZeroPoint()))
    grids.push_back(
        mct::quantization::uniformGrid(scale, zeroPoint, getBits()));
  return grids;
}
void UniformAttr::fakeQuantize(ArrayRef<int64_t> shape, ArrayRef<int64_t> axes,
                               const float *input, float *output) const {
  fakeQuantizeOnGrids(getGrids(), shape, axes, input, output);
}

LogicalResult LookupTableAttr::verify(EmitError emitError,
                                      QuantizationMethod method,
                                      RealList thresholds,
                                      ArrayRef<int64_t> table, unsigned bits,
                                      bool isSigned, unsigned tableBits) {
  // LT1
  if (method != QuantizationMethod::LutPowerOfTwo &&
      method != QuantizationMethod::LutSymmetric)
    return emitError() << "method of a lookup table must be lut_pot_quantizer "
                          "or lut_sym_quantizer, but got "
                       << stringifyQuantizationMethod(method);
  // LT2
  if (failed(verifyThresholds(emitError, thresholds, bits)) ||
      (method == QuantizationMethod::LutPowerOfTwo &&
       failed(verifyPowersOfTwo(emitError, thresholds))))
    return failure();
  // LT3
  if (tableBits > 8 || bits > tableBits)
    return emitError() << "an index into a lookup table has at most as many "
                          "bits as its entries, and these at most 8, but got "
                       << bits << " and " << tableBits;
  // LT4
  if (table.empty() || table.size() > (size_t(1) << bits))
    return emitError() << "a lookup table of " << bits << " bits has 1 to "
                       << (1 << bits) << " entries, but got " << table.size();
  // LT5
  int64_t lo = mct::quantization::tableMin(isSigned, tableBits);
  int64_t hi = mct::quantization::tableMax(isSigned, tableBits);
  for (auto [i, entry] : llvm::enumerate(table)) {
    if (entry < lo || entry > hi)
      return emitError() << "entry " << entry
                         << " of a lookup table is outside " << lo << " to "
                         << hi;
    if (i > 0 && entry <= table[i - 1])
      return emitError() << "entries of a lookup table must ascend, but got "
                         << table[i - 1] << " before " << entry;
  }
  return success();
}

size_t LookupTableAttr::getNumChannels() const { return getThreshold().size(); }
SmallVector<mct::quantization::Grid> LookupTableAttr::getGrids() const {
  return {};
}
void LookupTableAttr::fakeQuantize(ArrayRef<int64_t> shape,
                                   ArrayRef<int64_t> axes, const float *input,
                                   float *output) const {
  mct::quantization::LutQuantizer(getTable(), getThreshold(), getIsSigned(),
                                  getTableBits())
      .run(shape, axes, input, output);
}
