// SPDX-License-Identifier: Apache-2.0
//
// Verifiers of targets and bindings.
#include "tpc_dialect/IR/TpcDialect.h"
#include "tpc_dialect/IR/TpcVerification.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace mct::tpc;

//===----------------------------------------------------------------------===//
// Offers of a platform
//===----------------------------------------------------------------------===//

LogicalResult
AttrQuantConfigAttr::verify(EmitError emitError,
                            QuantizationMethodAttrInterface, int64_t bits, bool,
                            bool, std::optional<int64_t> lutValuesBits,
                            std::optional<int64_t> errorTolerance) {
  // A1
  if (bits <= 0)
    return emitError() << "weight bit width must be positive, but got " << bits;
  // A2
  if (lutValuesBits && *lutValuesBits <= 0)
    return emitError() << "'lut_values_bits' must be positive, but got "
                       << *lutValuesBits;
  // A3
  if (errorTolerance && *errorTolerance <= 1)
    return emitError() << "'error_tolerance' must be more than 1, but got "
                       << *errorTolerance << "; leave it out for the least "
                       << "error";
  return success();
}

AttrQuantConfigAttr
AttrQuantConfigAttr::withErrorTolerance(int64_t tolerance) const {
  return get(getContext(), getMethod(), getBits(), getPerChannel(),
             getEnabled(), getLutValuesBits(), tolerance);
}

/// O7 and O8: the fixed output grid is complete and exists.
static LogicalResult verifyFixedGrid(EmitError emitError,
                                     std::optional<QuantizationMethod> method,
                                     int64_t bits, Signedness signedness,
                                     FloatAttr scale,
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

LogicalResult OpQuantConfigAttr::verify(
    EmitError emitError, QuantizationMethodAttrInterface requestedMethod,
    int64_t bits, ArrayRef<int64_t> inputBits, bool, bool,
    Signedness signedness, FloatAttr fixedScale,
    std::optional<int64_t> fixedZeroPoint, std::optional<int64_t> simdSize,
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
  std::optional<QuantizationMethod> method =
      MethodAttr::getKnown(requestedMethod);
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

LogicalResult AlternativesAttr::verify(EmitError emitError, StringAttr,
                                       ArrayAttr configs, int64_t chosen) {
  // AL1
  if (configs.size() < 2)
    return emitError() << "alternatives are two or more, but got "
                       << configs.size();
  bool areResults = isa<OpQuantConfigAttr>(configs[0]);
  for (Attribute config : configs)
    if (areResults ? !isa<OpQuantConfigAttr>(config)
                   : !isa<AttrQuantConfigAttr>(config))
      return emitError() << "alternatives are all #tpc.op_quant_config or all "
                            "#tpc.attr_quant_config, but got "
                         << config;
  // AL2
  if (chosen < 0 || chosen >= int64_t(configs.size()))
    return emitError() << "'chosen' must be 0 to " << configs.size() - 1
                       << ", but got " << chosen;
  return success();
}

AlternativesAttr AlternativesAttr::withChosen(int64_t index) const {
  return get(getContext(), getOf(), getConfigs(), index);
}

LogicalResult OperatorSetAttr::verify(EmitError emitError, StringAttr name,
                                      QCOptionsAttr options, bool oneByOne) {
  // OS1
  if (name.empty())
    return emitError() << "operator set name must not be empty";
  // OS2
  if (oneByOne && options)
    return emitError() << "operator set " << name
                       << " is matched one by one and must have no options; "
                          "the sets of its ops have them";
  return success();
}

LogicalResult OperatorSetGroupAttr::verify(EmitError emitError,
                                           ArrayRef<StringAttr> sets,
                                           StringAttr) {
  // G1
  if (sets.empty())
    return emitError()
           << "operator set group must contain at least one operator set";
  llvm::StringSet<> visited;
  for (StringAttr set : sets)
    if (!visited.insert(set.getValue()).second)
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
// Spelling of operator sets in an IR
//===----------------------------------------------------------------------===//

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
                           << "' must map to an operand index";
    }
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
    return emitError() << "operand indices of '" << opName.getValue()
                       << "' must not be negative";
  if (llvm::any_of(outAxes, [](int64_t axis) { return axis < 0; }) ||
      (inAxis && *inAxis < 0))
    return emitError() << "kernel axes of '" << opName.getValue()
                       << "' must not be negative";
  // Code that iterates over channels visits the axes in their order in memory.
  if (std::adjacent_find(outAxes.begin(), outAxes.end(),
                         std::greater_equal<int64_t>()) != outAxes.end())
    return emitError() << "'out_axes' of '" << opName.getValue()
                       << "' must ascend";
  return verifyBounds(emitError, "range of '" + opName.getValue() + "'",
                      rangeMin, rangeMax);
}
