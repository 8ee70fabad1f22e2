// SPDX-License-Identifier: Apache-2.0
#include "OnnxPoints.h"
#include "OnnxQdq.h"
#include "mct/Support/RowMajor.h"
#include "llvm/Support/ScopedPrinter.h"
#include <cmath>

using namespace mlir;
using namespace mct;
using namespace mct::onnx;

static constexpr StringLiteral kQuantizerVersion = "1.6.0";

namespace {
/// Form of a quantizer in the file.
struct PointForm {
  enum class Kind { Thresholds, Range, Table } kind;
  /// One value, or one for each channel.
  std::vector<float> thresholds, lowest, highest;
  std::vector<float> table;
  bool isPowerOfTwo = false;
};
} // namespace

// Width of the entries of a table, including the sign.
static constexpr unsigned kTableBits = 8;

LogicalResult onnx::refusePoint(tpc::QuantizeOp point, const Twine &what,
                                const Twine &remedy) {
  InFlightDiagnostic error = point.emitOpError()
                             << "'" << point.getUniqueName() << "' " << what;
  error.attachNote() << remedy;
  return failure();
}

LogicalResult onnx::refuseHalfUp(tpc::QuantizeOp point) {
  return refusePoint(point,
                     "rounds halves up; quantizers of the format round them to "
                     "the even level",
                     "mct-simulate-integers{rounding=half-even} changes it");
}

static FailureOr<PointForm> describe(tpc::QuantizeOp point) {
  tpc::QuantizerAttrInterface parameters = point.getParametersAttr();
  PointForm form;
  SmallVector<quantization::Grid> grids = parameters.getGrids();
  ArrayRef<double> thresholds = parameters.getThresholds();
  form.isPowerOfTwo = llvm::all_of(thresholds, quantization::isPowerOfTwo);
  for (double threshold : thresholds)
    form.thresholds.push_back(static_cast<float>(threshold));
  if (!grids.empty() && !thresholds.empty()) {
    form.kind = PointForm::Kind::Thresholds;
    return form;
  }
  if (!grids.empty()) {
    form.kind = PointForm::Kind::Range;
    for (const quantization::Grid &grid : grids) {
      form.lowest.push_back(grid.step * double(grid.qmin - grid.zeroPoint));
      form.highest.push_back(grid.step * double(grid.qmax - grid.zeroPoint));
    }
    return form;
  }
  form.kind = PointForm::Kind::Table;
  if (!thresholds.empty())
    for (float level : parameters.getLevels(0)) {
      double entry = double(level) / thresholds.front() *
                     double(1 << (kTableBits - parameters.getIsSigned()));
      // The levels are floats.
      double nearest = std::nearbyint(entry);
      if (std::abs(entry - nearest) > 1e-4 ||
          std::abs(nearest) > double(1 << (kTableBits - 1)))
        break;
      form.table.push_back(static_cast<float>(nearest));
    }
  if (form.table.empty() || form.table.size() != parameters.getLevels(0).size())
    return refusePoint(point,
                       "has a quantizer, " + llvm::to_string(parameters) +
                           ", that mct_quantizers has no op for",
                       "there are powers of two, thresholds, ranges, and for "
                       "weights tables of 8-bit entries");
  return form;
}

/// Emits an error: the device has no quantizer like that of the point.
static LogicalResult notForDevice(tpc::QuantizeOp point, const Twine &what,
                                  const Twine &remedy) {
  return refusePoint(point, what,
                     remedy +
                         ", or write the file with profile 'mct_quantizers'");
}

static LogicalResult checkActivation(tpc::QuantizeOp point,
                                     const PointForm &form,
                                     tpc::OnnxLimitsOp limits) {
  tpc::QuantizerAttrInterface parameters = point.getParametersAttr();
  unsigned bits = parameters.getBits();
  bool isSigned = parameters.getIsSigned();
  if (form.kind == PointForm::Kind::Table || parameters.getNumChannels() != 1)
    return refusePoint(point,
                       "is an activation with a table, or with parameters for "
                       "each channel",
                       "mct_quantizers has no op for that in ONNX");
  if (!limits)
    return success();
  if (limits.getPowerOfTwo() &&
      (form.kind == PointForm::Kind::Range || !form.isPowerOfTwo)) {
    std::string what =
        form.kind == PointForm::Kind::Range
            ? "a zero point"
            : "the threshold " +
                  std::to_string(parameters.getThresholds().front());
    return notForDevice(point,
                        "has " + what + "; activations of " +
                            limits.getDeviceName() +
                            " have a threshold that is a power of two",
                        "choose a target with power-of-two activations");
  }
  if (!llvm::is_contained(isSigned ? limits.getSignedWidths()
                                   : limits.getUnsignedWidths(),
                          int64_t(bits)))
    return notForDevice(
        point,
        "has " + Twine(bits) +
            (isSigned ? " bits, signed; " : " bits, unsigned; ") +
            limits.describeActivations(),
        "give it one of them (overrides)");
  return success();
}

/// Adds a quantizer `opType` with `inputs` and returns the name of its result.
static std::string
addQuantizer(GraphBuilder &graph, tpc::QuantizeOp point, StringRef opType,
             std::vector<std::string> inputs, const Twine &name,
             std::vector<NodeAttribute> attributes, ArrayRef<int64_t> shape) {
  attributes.insert(
      attributes.begin(),
      {{"mctq_version", kQuantizerVersion.str()},
       {"num_bits", int64_t(point.getParametersAttr().getBits())}});
  std::string output = graph.addNode(point, opType, std::move(inputs), name,
                                     std::move(attributes), kQuantizerDomain);
  graph.model.graph.values.push_back(
      {output, ElementType::Float, SmallVector<int64_t>(shape)});
  return output;
}

LogicalResult onnx::emitPoint(GraphBuilder &graph, tpc::QuantizeOp point) {
  // Points of constants are written together with the ops that use them.
  if (point.isWeight())
    return success();
  if (!typeOf(point.getResult()).getElementType().isF32())
    return refuse(point, kUnknownForm);
  if (graph.isQdq())
    return emitQdqPoint(graph, point);
  FailureOr<TensorRef> input = graph.read(point, point.getInput());
  if (failed(input))
    return failure();
  tpc::QuantizerAttrInterface parameters = point.getParametersAttr();
  if (!parameters) {
    if (graph.limits)
      return notForDevice(point, "has no parameters",
                          "run mct-select-parameters, after mct-calibrate");
    graph.define(point.getResult(), input->name, input->layout);
    return success();
  }
  if (parameters.getRoundingMode() == quantization::Rounding::HalfUp)
    return refuseHalfUp(point);
  FailureOr<PointForm> form = describe(point);
  if (failed(form) || failed(checkActivation(point, *form, graph.limits)))
    return failure();
  StringRef opType = "ActivationUniformQuantizer";
  std::vector<NodeAttribute> attributes;
  if (form->kind == PointForm::Kind::Thresholds) {
    opType = form->isPowerOfTwo ? "ActivationPOTQuantizer"
                                : "ActivationSymmetricQuantizer";
    attributes = {{"signed", int64_t(parameters.getIsSigned())},
                  {"threshold", form->thresholds.front()}};
  } else {
    attributes = {{"min_range", form->lowest.front()},
                  {"max_range", form->highest.front()}};
  }
  graph.define(
      point.getResult(),
      addQuantizer(
          graph, point, opType, {input->name},
          point.getUniqueName() + "/quantized", std::move(attributes),
          fileShape(input->layout.apply(typeOf(point.getResult()).getShape()))),
      input->layout);
  return success();
}

//===----------------------------------------------------------------------===//
// Weights
//===----------------------------------------------------------------------===//

static LogicalResult checkWeights(tpc::QuantizeOp point, const PointForm &form,
                                  tpc::OnnxLimitsOp limits) {
  tpc::QuantizerAttrInterface parameters = point.getParametersAttr();
  unsigned bits = parameters.getBits();
  if (!parameters.getIsSigned() && form.kind != PointForm::Kind::Range)
    return refusePoint(point,
                       "has unsigned codes, which weights of mct_quantizers "
                       "cannot have",
                       "choose its parameters anew: "
                       "mct-select-weight-parameters makes signed ones");
  if (!limits)
    return success();
  if (limits.getSymmetric() && form.kind == PointForm::Kind::Range)
    return notForDevice(point,
                        "has zero points, which weights of " +
                            limits.getDeviceName() + " cannot have",
                        "choose a target with symmetric weights");
  if (!llvm::is_contained(limits.getWeightWidths(), int64_t(bits)))
    return notForDevice(
        point, "has " + Twine(bits) + " bits; " + limits.describeWeights(),
        "give it one of them (overrides)");
  if (limits.getTablesWithZero() && form.kind == PointForm::Kind::Table &&
      form.table.size() == size_t(1) << bits &&
      !llvm::is_contained(form.table, 0.0f))
    return notForDevice(point,
                        "has a table of " + Twine(form.table.size()) +
                            " entries without 0, which " +
                            limits.getDeviceName() + " refuses",
                        "choose its parameters anew with a target of fewer "
                        "bits, or without tables");
  return success();
}

std::vector<int64_t> onnx::findParameters(tpc::QuantizeOp point,
                                          ArrayRef<int64_t> constantShape,
                                          ArrayRef<int64_t> elements) {
  std::vector<int64_t> parameters(elements.size(), 0);
  if (point.getParametersAttr().getNumChannels() == 1)
    return parameters;
  SmallVector<int64_t> strides = support::getRowMajorStrides(constantShape);
  for (auto [i, element] : llvm::enumerate(elements))
    for (int64_t axis : point.getChannelAxes())
      parameters[i] = parameters[i] * constantShape[axis] +
                      element / strides[axis] % constantShape[axis];
  return parameters;
}

std::optional<FileChannels> onnx::findChannels(ArrayRef<int64_t> parameters,
                                               ArrayRef<int64_t> shape) {
  FileChannels channels;
  int64_t inner = 1;
  for (channels.axis = int64_t(shape.size()) - 1; channels.axis >= 0;
       inner *= shape[channels.axis--]) {
    channels.order.assign(shape[channels.axis], -1);
    bool isAlone = true;
    for (auto [i, number] : llvm::enumerate(parameters)) {
      int64_t &first =
          channels.order[int64_t(i) / inner % shape[channels.axis]];
      if (first < 0)
        first = number;
      isAlone &= first == number;
    }
    if (isAlone)
      return channels;
  }
  return std::nullopt;
}

FailureOr<std::string> onnx::quantizeWeights(GraphBuilder &graph,
                                             tpc::QuantizeOp point,
                                             const std::string &tensor,
                                             ArrayRef<int64_t> constantShape,
                                             ArrayRef<int64_t> shape,
                                             ArrayRef<int64_t> elements) {
  FailureOr<PointForm> form = describe(point);
  if (failed(form) || failed(checkWeights(point, *form, graph.limits)))
    return failure();
  std::optional<FileChannels> channels = FileChannels();
  if (point.getParametersAttr().getNumChannels() != 1)
    channels =
        findChannels(findParameters(point, constantShape, elements), shape);
  if (!channels)
    return refusePoint(point,
                       "has channels over several axes, for which "
                       "mct_quantizers has no op",
                       "choose its parameters anew, per tensor or for each "
                       "output channel");
  auto list = [&](const std::vector<float> &values, StringRef name) {
    std::vector<float> chosen;
    for (int64_t number : channels->order)
      chosen.push_back(values[number]);
    int64_t size = chosen.size();
    return graph.addFloats(tensor + "/" + name, {size}, std::move(chosen));
  };
  std::vector<NodeAttribute> attributes{
      {"per_channel", int64_t(point.getParametersAttr().getNumChannels() != 1)},
      {"channel_axis", channels->axis}};
  std::vector<std::string> inputs{tensor};
  StringRef opType;
  switch (form->kind) {
  case PointForm::Kind::Thresholds:
    opType = form->isPowerOfTwo ? "WeightsPOTQuantizer"
                                : "WeightsSymmetricQuantizer";
    inputs.push_back(list(form->thresholds, "threshold"));
    attributes.push_back({"signed", int64_t(1)});
    break;
  case PointForm::Kind::Range:
    opType = "WeightsUniformQuantizer";
    inputs.push_back(list(form->lowest, "min_range"));
    inputs.push_back(list(form->highest, "max_range"));
    break;
  case PointForm::Kind::Table: {
    opType = form->isPowerOfTwo ? "WeightsLUTPOTQuantizer"
                                : "WeightsLUTSymmetricQuantizer";
    int64_t size = form->table.size();
    inputs.push_back(graph.addFloats(tensor + "/table", {size}, form->table));
    inputs.push_back(list(form->thresholds, "threshold"));
    attributes.push_back({"signed", int64_t(1)});
    attributes.push_back({"lut_values_bitwidth", int64_t(kTableBits)});
    attributes.push_back({"eps", 1e-8f});
    attributes.push_back({"input_rank", int64_t(shape.size())});
    break;
  }
  }
  return addQuantizer(graph, point, opType, std::move(inputs),
                      tensor + "/quantized", std::move(attributes), shape);
}
