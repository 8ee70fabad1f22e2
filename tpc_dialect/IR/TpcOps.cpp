// SPDX-License-Identifier: Apache-2.0
#include "mct/Support/Printable.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OpImplementation.h"
#include "tpc_dialect/IR/Elements.h"
#include "tpc_dialect/IR/TpcBytecode.h"
#include "tpc_dialect/IR/TpcDialect.h"
#include "tpc_dialect/IR/TpcVerification.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mct::tpc;

//===----------------------------------------------------------------------===//
// Custom directives
//===----------------------------------------------------------------------===//

/// One attribute a line: a target is read by people.
static ParseResult parseAttributeLines(OpAsmParser &parser, ArrayAttr &array) {
  SmallVector<Attribute> attributes;
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
        return parser.parseAttribute(attributes.emplace_back());
      }))
    return failure();
  array = ArrayAttr::get(parser.getContext(), attributes);
  return success();
}

static void printAttributeLines(OpAsmPrinter &printer, Operation *,
                                ArrayAttr array) {
  printer << '[';
  printer.increaseIndent();
  llvm::interleave(
      array,
      [&](Attribute attribute) {
        printer.printNewline();
        printer.printAttribute(attribute);
      },
      [&] { printer << ','; });
  printer.decreaseIndent();
  if (!array.empty())
    printer.printNewline();
  printer << ']';
}

/// Parses `1, 0`, with `?` for an unknown number.
static ParseResult parseVersion(OpAsmParser &parser, IntegerAttr &minor,
                                IntegerAttr &patch) {
  auto parseNumber = [&](IntegerAttr &number) -> ParseResult {
    if (succeeded(parser.parseOptionalQuestion()))
      return success();
    return parser.parseAttribute(number, parser.getBuilder().getI64Type());
  };
  return failure(parseNumber(minor) || parser.parseComma() ||
                 parseNumber(patch));
}

static void printVersion(OpAsmPrinter &printer, Operation *, IntegerAttr minor,
                         IntegerAttr patch) {
  auto printNumber = [&](IntegerAttr number) {
    if (number)
      printer << number.getInt();
    else
      printer << '?';
  };
  printNumber(minor);
  printer << ", ";
  printNumber(patch);
}

#define GET_OP_CLASSES
#include "tpc_dialect/IR/TpcOps.cpp.inc"

//===----------------------------------------------------------------------===//
// PlatformOp
//===----------------------------------------------------------------------===//

OperatorSetAttr PlatformOp::lookupOperatorSet(StringRef name) {
  for (auto set : getOperatorSets().getAsRange<OperatorSetAttr>())
    if (set.getName().getValue() == name)
      return set;
  return {};
}

QCOptionsAttr PlatformOp::getOptionsOf(StringRef name) {
  OperatorSetAttr set = lookupOperatorSet(name);
  return set && set.getOptions() ? set.getOptions() : getDefaultOptions();
}

LogicalResult PlatformOp::verify() {
  // P1
  if (size_t count = getDefaultOptions().getConfigs().size(); count != 1)
    return emitOpError() << "default options must contain exactly one "
                            "op_quant_config, but got "
                         << count;
  // P2
  llvm::StringSet<> defined;
  for (auto set : getOperatorSets().getAsRange<OperatorSetAttr>())
    if (!defined.insert(set.getName().getValue()).second)
      return emitOpError() << "operator set '" << set.getName().getValue()
                           << "' is defined more than once";
  llvm::StringSet<> fusingNames;
  for (auto [index, pattern] :
       llvm::enumerate(getFusing().getAsRange<FusingAttr>())) {
    // P3
    for (Attribute group : pattern.getGroups()) {
      SmallVector<StringAttr> names;
      if (auto name = dyn_cast<StringAttr>(group))
        names.push_back(name);
      else
        llvm::append_range(names, cast<OperatorSetGroupAttr>(group).getSets());
      for (StringAttr name : names) {
        if (!defined.contains(name.getValue()))
          return emitOpError() << "fusing pattern #" << index
                               << " refers to undefined operator set '"
                               << name.getValue() << "'";
        if (lookupOperatorSet(name.getValue()).getOneByOne())
          return emitOpError()
                 << "fusing pattern #" << index << " refers to operator set '"
                 << name.getValue() << "', which is matched one by one";
      }
    }
    // P4
    if (pattern.getName() &&
        !fusingNames.insert(pattern.getName().getValue()).second)
      return emitOpError() << "fusing pattern name '"
                           << pattern.getName().getValue() << "' is used twice";
  }
  return success();
}

//===----------------------------------------------------------------------===//
// BindingOp
//===----------------------------------------------------------------------===//

LogicalResult BindingOp::verify() {
  // B3
  llvm::StringSet<> bound;
  for (auto entry : getEntries().getAsRange<OpsOfAttr>())
    if (!bound.insert(entry.getSet().getValue()).second)
      return emitOpError() << "operator set '" << entry.getSet().getValue()
                           << "' is bound more than once";
  return success();
}

LogicalResult BindingOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  // A stock binding serves any platform.
  if (!getPlatformAttr())
    return success();
  Operation *symbol =
      symbolTable.lookupNearestSymbolFrom(*this, getPlatformAttr());
  // The sets that it defines are known when its base is.
  if (isa_and_nonnull<DeriveOp>(symbol))
    return success();
  // B1
  auto platform = dyn_cast_or_null<PlatformOp>(symbol);
  if (!platform)
    return emitOpError() << "'" << getPlatformAttr()
                         << "' does not name a tpc.platform";
  // B2
  for (auto entry : getEntries().getAsRange<OpsOfAttr>()) {
    if (platform.lookupOperatorSet(entry.getSet().getValue()))
      continue;
    InFlightDiagnostic diagnostic =
        emitOpError() << "names operator set '" << entry.getSet().getValue()
                      << "' that '" << getPlatformAttr() << "' does not define";
    diagnostic.attachNote(platform.getLoc()) << "platform defined here";
    return diagnostic;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// FrameworkOp
//===----------------------------------------------------------------------===//

LogicalResult FrameworkOp::verify() {
  llvm::StringSet<> described;
  for (auto entry : getEntries().getAsRange<OpInfoAttr>())
    if (!described.insert(entry.getOpName().getValue()).second)
      return emitOpError() << "'" << entry.getOpName().getValue()
                           << "' is described more than once";
  return success();
}

//===----------------------------------------------------------------------===//
// QuantizeOp
//===----------------------------------------------------------------------===//

std::string QuantizeOp::getUniqueName() {
  std::string name = getPointName().str();
  if (isWeight())
    name += "/" + getWeight()->str();
  return support::isPrintable(name) ? name : support::makePrintable(name);
}

void QuantizeOp::build(OpBuilder &builder, OperationState &state, Value input,
                       StringAttr pointName, StringAttr weight,
                       DenseI64ArrayAttr axes, Attribute config,
                       QuantizerAttrInterface parameters) {
  state.addOperands(input);
  state.addTypes(input.getType());
  auto &properties = state.getOrAddProperties<Properties>();
  properties.point_name = pointName;
  properties.weight = weight;
  properties.axes = axes;
  properties.config = config;
  properties.parameters = parameters;
}

bool QuantizeOp::hasImportedParameters() {
  SelectionAttr selection = getSelectionAttr();
  return getParametersAttr() && selection &&
         selection.getErrorMethod() == ErrorMethod::Imported;
}

OpQuantConfigAttr QuantizeOp::getActivationConfig() {
  return dyn_cast_or_null<OpQuantConfigAttr>(getConfigAttr());
}

QuantizeConfigAttrInterface QuantizeOp::getOperatorConfig() {
  return dyn_cast_or_null<QuantizeConfigAttrInterface>(getConfigAttr());
}

AttrQuantConfigAttr QuantizeOp::getWeightConfig() {
  return dyn_cast_or_null<AttrQuantConfigAttr>(getConfigAttr());
}

AlternativesAttr QuantizeOp::getAlternatives() {
  return dyn_cast_or_null<AlternativesAttr>(getCandidatesAttr());
}

void QuantizeOp::setQuantizer(QuantizerAttrInterface parameters,
                              SelectionAttr selection) {
  setParametersAttr(parameters);
  setSelectionAttr(selection);
}

void QuantizeOp::removeQuantizer() {
  removeParametersAttr();
  removeSelectionAttr();
}

Value mct::tpc::lookThroughPoints(Value value) {
  while (auto point = value.getDefiningOp<QuantizeOp>())
    value = point.getInput();
  return value;
}

LogicalResult QuantizeOp::readProperties(DialectBytecodeReader &reader,
                                         OperationState &state) {
  auto &attributes = state.getOrAddProperties<Properties>();
  if (BytecodeVersion::get(reader) > 0) {
    DictionaryAttr dictionary;
    if (failed(reader.readAttribute(dictionary)))
      return failure();
    return setPropertiesFromAttr(attributes, dictionary,
                                 [&] { return reader.emitError(); });
  }
  return failure(failed(reader.readOptionalAttribute(attributes.axes)) ||
                 failed(reader.readOptionalAttribute(attributes.candidates)) ||
                 failed(reader.readOptionalAttribute(attributes.config)) ||
                 failed(reader.readOptionalAttribute(attributes.corrections)) ||
                 failed(reader.readOptionalAttribute(attributes.group)) ||
                 failed(reader.readOptionalAttribute(attributes.parameters)) ||
                 failed(reader.readAttribute(attributes.point_name)) ||
                 failed(reader.readOptionalAttribute(attributes.range)) ||
                 failed(reader.readOptionalAttribute(attributes.statistics)) ||
                 failed(reader.readOptionalAttribute(attributes.weight)));
}

void QuantizeOp::writeProperties(DialectBytecodeWriter &writer) {
  writer.writeAttribute(getPropertiesAsAttr(getContext(), getProperties()));
}

/// Name under which statistics files, overrides and reports know a point, or
/// nothing for an op that has not been verified and has none.
static std::string nameOf(QuantizeOp point) {
  return point.getPointNameAttr() ? point.getUniqueName() : std::string();
}

/// The first point of the function (or of whatever is isolated) around `point`.
static QuantizeOp firstPointAround(QuantizeOp point, Operation *function) {
  QuantizeOp first;
  function->walk<WalkOrder::PreOrder>([&](Operation *op) {
    first = dyn_cast<QuantizeOp>(op);
    if (first)
      return WalkResult::interrupt();
    return op != function && op->hasTrait<OpTrait::IsIsolatedFromAbove>()
               ? WalkResult::skip()
               : WalkResult::advance();
  });
  return first;
}

/// C2: `point` takes the alternative that the other points of its operator
/// take. `operators`: the first point of each, by name.
static LogicalResult
verifyAlternatives(QuantizeOp point, llvm::StringMap<QuantizeOp> &operators) {
  AlternativesAttr own = point.getAlternatives();
  if (!own)
    return success();
  auto [first, isNew] = operators.try_emplace(own.getOf().getValue(), point);
  AlternativesAttr other = first->second.getAlternatives();
  if (isNew ||
      (own.size() == other.size() && own.getChosen() == other.getChosen()))
    return success();
  InFlightDiagnostic diagnostic =
      point.emitOpError() << "takes alternative " << own.getChosen() << " of "
                          << own.size() << " of '" << own.getOf().getValue()
                          << "', and another point of that operator "
                          << other.getChosen() << " of " << other.size()
                          << "; change all of them with mct-choose-candidates";
  diagnostic.attachNote(first->second.getLoc()) << "the other point is here";
  return diagnostic;
}

/// No two points of a function have one name, and those of an operator take one
/// alternative. The first point checks all of them. Every other point searches
/// backwards to the previous point of its block, which shows that it is not the
/// first, so the total cost is linear.
static LogicalResult verifyTogether(QuantizeOp point) {
  for (Operation *op = point->getPrevNode(); op; op = op->getPrevNode())
    if (isa<QuantizeOp>(op))
      return success();
  Operation *function = point->getParentOp();
  while (function && !function->hasTrait<OpTrait::IsIsolatedFromAbove>())
    function = function->getParentOp();
  if (!function || firstPointAround(point, function) != point)
    return success();
  llvm::StringMap<QuantizeOp> points, operators;
  WalkResult result = function->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op != function && op->hasTrait<OpTrait::IsIsolatedFromAbove>())
      return WalkResult::skip();
    auto named = dyn_cast<QuantizeOp>(op);
    if (!named)
      return WalkResult::advance();
    if (failed(verifyAlternatives(named, operators)))
      return WalkResult::interrupt();
    std::string name = nameOf(named);
    if (name.empty())
      return WalkResult::advance();
    auto [other, isNew] = points.try_emplace(name, named);
    if (isNew)
      return WalkResult::advance();
    InFlightDiagnostic diagnostic =
        named.emitOpError() << "has the name '" << name
                            << "' of another point of the function, with which "
                               "its statistics would be mixed; rename one";
    diagnostic.attachNote(other->second.getLoc()) << "the other point is here";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

/// Attributes that a pass made are checked here, so that none is written that
/// cannot be read back.
static LogicalResult verifyAttributes(QuantizeOp point) {
  auto emitError = [&] { return point.emitOpError(); };
  if (RangeAttr range = point.getRangeAttr())
    if (failed(RangeAttr::verify(emitError, range.getMin(), range.getMax())))
      return failure();
  if (StatisticsAttr pointStatistics = point.getStatisticsAttr()) {
    if (HistogramAttr histogram = pointStatistics.getHistogram())
      if (failed(HistogramAttr::verify(emitError, histogram.getStepExponent(),
                                       histogram.getFirst(),
                                       histogram.getCounts())))
        return failure();
    if (failed(StatisticsAttr::verify(
            emitError, pointStatistics.getCount(), pointStatistics.getZeros(),
            pointStatistics.getMin(), pointStatistics.getMax(),
            pointStatistics.getHistogram(), pointStatistics.getChannelMean(),
            pointStatistics.getChannelMeanSquare(),
            pointStatistics.getChannelMin(), pointStatistics.getChannelMax())))
      return failure();
  }
  if (CorrectionsAttr made = point.getCorrectionsAttr())
    if (failed(CorrectionsAttr::verify(
            emitError, made.getApplied(), made.getBiasOffset(),
            made.getKernelScale(), made.getSamples(), made.getKernel())))
      return failure();
  if (SelectionAttr made = point.getSelectionAttr())
    if (failed(SelectionAttr::verify(emitError, made.getErrorMethod(),
                                     made.getNorm(), made.getPercentile(),
                                     made.getCovers(), made.getError(),
                                     made.getCertificate(), made.getBound())))
      return failure();
  if (QuantizerAttrInterface parameters = point.getParametersAttr())
    return parameters.verifyParameters(emitError);
  return success();
}

LogicalResult QuantizeOp::verify() {
  auto type = cast<RankedTensorType>(getInput().getType());
  if (!type.getElementType().isF32())
    return emitOpError() << "quantizes f32 tensors, but got " << type;
  if (getPointName().empty())
    return emitOpError() << "needs a name";
  if (isActivation() && getAxes())
    return emitOpError()
           << "has channel axes, but activations are quantized per tensor";
  if (isActivation() && getCorrections())
    return emitOpError() << "has corrections, which belong to a weight";
  if (CorrectionsAttr made = getCorrectionsAttr();
      made && made.getKernel() && made.getKernel().getShapedType() != type)
    return emitOpError() << "has corrections with a float kernel of "
                         << made.getKernel().getShapedType()
                         << ", but quantizes " << type;
  int64_t channels = 1;
  std::optional<int64_t> previous;
  for (int64_t axis : getChannelAxes()) {
    if (axis < 0 || axis >= type.getRank() || type.isDynamicDim(axis))
      return emitOpError() << "channel axis " << axis
                           << " is not a static axis of " << type;
    if (previous && axis <= *previous)
      return emitOpError() << "channel axes must ascend, but got " << axis
                           << " after " << *previous;
    previous = axis;
    if (llvm::MulOverflow(channels, type.getDimSize(axis), channels))
      return emitOpError() << "has more channels than can be counted in "
                           << type;
  }
  auto fits = [&](Attribute config) {
    return isActivation() ? isa<OpQuantConfigAttr>(config)
                          : isa<AttrQuantConfigAttr>(config);
  };
  StringRef expected =
      isActivation() ? "#tpc.op_quant_config" : "#tpc.attr_quant_config";
  bool isMark = isActivation() && getOperatorConfig();
  if (getConfigAttr() && !fits(getConfigAttr()) && !isMark)
    return emitOpError() << "'config' must be " << expected
                         << (isActivation() ? " or #tpc.quantize_config" : "")
                         << ", but got " << getConfigAttr();
  // C3
  if (isMark && (getParametersAttr() || getTrainableAttr()))
    return emitOpError("marks an operator, and has no quantizer of its own; "
                       "mct-quantize-apply inserts the points that 'config' "
                       "asks for");
  // O3
  if (OpQuantConfigAttr config = getActivationConfig();
      config && config.getActEnabled() && config.getPreserving())
    return emitOpError()
           << "'act_enabled' and 'preserving' are mutually exclusive";
  AlternativesAttr alternatives = getAlternatives();
  auto candidates = alternatives ? alternatives.getConfigs()
                                 : cast_or_null<ArrayAttr>(getCandidatesAttr());
  if (candidates)
    for (Attribute candidate : candidates)
      if (!fits(candidate))
        return emitOpError() << "'candidates' must be " << expected
                             << ", but got " << candidate;
  if (alternatives) {
    if (failed(AlternativesAttr::verify(
            [&] { return emitOpError(); }, alternatives.getOf(),
            alternatives.getConfigs(), alternatives.getChosen())))
      return failure();
    // C1
    if (candidates[alternatives.getChosen()] != getConfigAttr())
      return emitOpError() << "takes alternative " << alternatives.getChosen()
                           << ", which is "
                           << candidates[alternatives.getChosen()]
                           << ", but 'config' is " << getConfigAttr()
                           << "; change both with mct-choose-candidates";
  }
  if (QuantizerAttrInterface parameters = getParametersAttr())
    if (parameters.getNumChannels() != 1 &&
        int64_t(parameters.getNumChannels()) != channels)
      return emitOpError() << "has " << parameters.getNumChannels()
                           << " parameters for " << channels << " channels";
  // S5
  if (SelectionAttr selection = getSelectionAttr()) {
    QuantizerAttrInterface parameters = getParametersAttr();
    if (!parameters)
      return emitOpError() << "has a selection, but no parameters";
    size_t errors = selection.getError().size();
    if (errors > 1 && errors != parameters.getNumChannels())
      return emitOpError() << "has a selection with " << errors
                           << " errors for " << parameters.getNumChannels()
                           << " parameters";
  }
  if (failed(verifyAttributes(*this)) || failed(verifyLearned(*this)))
    return failure();
  return verifyTogether(*this);
}

//===----------------------------------------------------------------------===//
// BiasOp
//===----------------------------------------------------------------------===//

OpFoldResult BiasOp::fold(FoldAdaptor) { return getValuesAttr(); }

std::optional<std::pair<SmallVector<float>, SmallVector<float>>>
BiasOp::getMoments() {
  std::optional<SmallVector<float>> mean = readElements<float>(getMean());
  std::optional<SmallVector<float>> deviation =
      readElements<float>(getDeviation());
  if (!mean || !deviation)
    return std::nullopt;
  return std::pair(std::move(*mean), std::move(*deviation));
}

LogicalResult BiasOp::verify() {
  // M1
  auto type = cast<ShapedType>(getOutput().getType());
  if (getValues().getShapedType() != type || !type.getElementType().isF32())
    return emitOpError() << "is an f32 constant, but has values of type "
                         << getValues().getShapedType() << " for a result of "
                         << type;
  // M2
  ShapedType mean = getMean().getShapedType(),
             deviation = getDeviation().getShapedType();
  if (mean.getRank() != 1 || !mean.getElementType().isF32() ||
      mean != deviation)
    return emitOpError() << "has moments of the types " << mean << " and "
                         << deviation << ", expected two equal f32 vectors";
  int64_t values = type.getNumElements(), channels = mean.getNumElements();
  if (values != channels && values != 1)
    return emitOpError() << "has " << channels << " moments for " << values
                         << " values";
  // M3
  ElementsAttr deviations = getDeviation();
  // A splat stands for any number of channels; it is not written out.
  if (auto dense = dyn_cast<DenseElementsAttr>(deviations);
      dense && dense.isSplat())
    deviations = dense.resizeSplat(deviation.clone({1}));
  if (std::optional<SmallVector<float>> numbers =
          readElements<float>(deviations))
    for (auto [channel, number] : llvm::enumerate(*numbers))
      if (!(number >= 0))
        return emitOpError() << "has the standard deviation " << number
                             << " in channel " << channel;
  return success();
}
