// SPDX-License-Identifier: Apache-2.0
#include "OnnxSuppression.h"

#include "mct/Support/Troubleshooting.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mct;
using namespace mct::onnx;

static constexpr StringLiteral kOp = "MultiClassNMS";
static constexpr int64_t kDomainVersion = 1;

llvm::Error OnnxOptions::setSuppression(StringRef text) {
  SmallVector<StringRef> parts;
  text.split(parts, ':');
  OnnxSuppression found;
  auto isShare = [](double number) { return number >= 0 && number <= 1; };
  if (parts.size() < 3 || parts.size() > 4 ||
      parts[0].getAsDouble(found.leastScore) || !isShare(found.leastScore) ||
      parts[1].getAsDouble(found.mostOverlap) || !isShare(found.mostOverlap) ||
      parts[2].getAsInteger(10, found.detections) || found.detections <= 0 ||
      (parts.size() == 4 && parts[3].empty()))
    return llvm::createStringError(
        "onnx-nms: expected SCORE:OVERLAP:DETECTIONS[:DOMAIN], as in "
        "0.25:0.7:300, with shares from 0 to 1, found '" +
        text + "'");
  if (parts.size() == 4)
    found.domain = parts[3].str();
  suppression = std::move(found);
  return llvm::Error::success();
}

/// Returns boxes and scores in this order, or none if the values are not boxes
/// and scores.
static std::optional<SuppressedValues> order(Value first, Value second) {
  auto belongTogether = [](Value boxes, Value scores) {
    RankedTensorType own = typeOf(boxes), other = typeOf(scores);
    return own.getRank() == 3 && other.getRank() == 3 &&
           own.getDimSize(2) == 4 && own.getDimSize(1) == other.getDimSize(1) &&
           own.getElementType().isF32() && other.getElementType().isF32();
  };
  if (belongTogether(first, second))
    return SuppressedValues{first, second};
  if (belongTogether(second, first))
    return SuppressedValues{second, first};
  return std::nullopt;
}

FailureOr<SuppressedValues> onnx::findSuppressed(GraphBuilder &graph,
                                                 func::ReturnOp end) {
  if (graph.isQdq()) {
    InFlightDiagnostic error = graph.function.emitOpError()
                               << "cannot end with " << kOp
                               << ": files of profile 'qdq' have ops of ONNX "
                                  "itself alone";
    error.attachNote() << "choose a device, or profile 'mct_quantizers'";
    return failure();
  }
  std::optional<SuppressedValues> found;
  if (end.getNumOperands() == 2)
    found = order(end.getOperand(0), end.getOperand(1));
  auto concat = end.getNumOperands() == 1
                    ? end.getOperand(0).getDefiningOp<tosa::ConcatOp>()
                    : tosa::ConcatOp();
  if (concat && concat.getInput1().size() == 2 && concat.getAxis() == 2 &&
      concat->hasOneUse()) {
    found = order(concat.getInput1()[0], concat.getInput1()[1]);
    if (found)
      graph.written.insert(concat);
  }
  if (found)
    return *found;
  InFlightDiagnostic error =
      graph.function.emitOpError()
      << "cannot end with " << kOp
      << ": expected boxes [batch, n, 4] and scores [batch, n, classes] as "
         "results, or the concatenation of both, found ";
  llvm::interleaveComma(end.getOperandTypes(), error);
  error.attachNote() << "heads have no boxes: with decode=quantize, what "
                        "decodes them is a part of the network"
                     << support::kTroubleshooting
                     << "an-op-cannot-be-exported-to-onnx";
  return failure();
}

LogicalResult onnx::emitSuppression(GraphBuilder &graph, func::ReturnOp end,
                                    const SuppressedValues &values) {
  const OnnxSuppression &suppressionOptions = *graph.options.suppression;
  const Layout layout = Layout::identity(3);
  FailureOr<std::string> boxes = graph.read(end, values.boxes, layout),
                         scores = graph.read(end, values.scores, layout);
  if (failed(boxes) || failed(scores))
    return failure();
  int64_t batch = fileShape(typeOf(values.boxes).getShape()).front(),
          most = suppressionOptions.detections;
  Node node;
  node.name = graph.makeName("nms");
  node.opType = kOp.str();
  node.domain = suppressionOptions.domain;
  node.inputs = {*boxes, *scores};
  node.attributes = {{"score_threshold", float(suppressionOptions.leastScore)},
                     {"iou_threshold", float(suppressionOptions.mostOverlap)},
                     {"max_detections", most}};
  node.source = graph.function;
  std::vector<ValueInfo> &outputs = graph.model.graph.outputs;
  outputs.push_back({"boxes", ElementType::Float, {batch, most, 4}});
  outputs.push_back({"scores", ElementType::Float, {batch, most}});
  outputs.push_back({"labels", ElementType::Int32, {batch, most}});
  outputs.push_back({"n_valid", ElementType::Int32, {batch, 1}});
  for (ValueInfo &output : outputs) {
    output.name = graph.makeName("detections/" + output.name);
    node.outputs.push_back(output.name);
  }
  graph.model.graph.nodes.push_back(std::move(node));
  graph.model.operatorSets.push_back(
      {suppressionOptions.domain, kDomainVersion});
  return success();
}
