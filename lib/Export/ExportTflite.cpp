// SPDX-License-Identifier: Apache-2.0
#include "TfliteGraph.h"
#include "mct/Conversion/RoundTwice.h"
#include "mct/Export/Tflite.h"
#include "mct/IR/EntryFunction.h"
#include "mct/IR/FrozenPoints.h"
#include "mct/IR/Names.h"
#include "mct/IR/Preprocessing.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"

using namespace mlir;

namespace mct::tflite {

/// Fails at the first point whose codes files cannot store, and at the first op
/// with regions.
static LogicalResult checkOps(func::FuncOp function) {
  WalkResult result = function.walk([](Operation *op) {
    auto point = dyn_cast<tpc::QuantizeOp>(op);
    if (point && point.isActivation() && point.getParametersAttr() &&
        !Encoding::get(point.getParametersAttr())) {
      (void)refuse(point,
                   "'" + point.getUniqueName() +
                       "' has levels other than codes of 8 or 16 bits, "
                       "symmetric ones beyond 8",
                   "choose its parameters anew, by a power of two, a "
                   "threshold, or up to 8 bits a range");
      return WalkResult::interrupt();
    }
    if (op->getNumRegions() != 0 && !isa<func::FuncOp>(op)) {
      (void)refuse(op, "is a branch or a loop, and a file here is straight",
                   "compute its condition outside, and export the parts");
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

/// Returns the grid to which all users of an argument quantize it, or none.
static std::optional<Encoding> findArgumentGrid(BlockArgument argument) {
  std::optional<Encoding> common;
  for (Operation *user : argument.getUsers()) {
    auto point = dyn_cast<tpc::QuantizeOp>(user);
    if (!point || !point.getParametersAttr())
      return std::nullopt;
    std::optional<Encoding> encoding = Encoding::get(point.getParametersAttr());
    if (!encoding || (common && *common != *encoding))
      return std::nullopt;
    common = encoding;
  }
  return common;
}

static LogicalResult writeArguments(GraphBuilder &graph) {
  for (BlockArgument argument : graph.function.getArguments()) {
    FailureOr<RankedTensorType> type = onnx::readArgumentType(argument);
    if (failed(type))
      return failure();
    Type element = type->getElementType();
    std::optional<Encoding> encoding;
    if (graph.options.boundary == IntegerBoundary::Integer && element.isF32())
      encoding = findArgumentGrid(argument);
    std::string name = onnx::nameOf(argument);
    int64_t tensor;
    if (encoding) {
      tensor = graph.addCodes(name, type->getShape(), *encoding);
      graph.define(argument, tensor, *encoding);
    } else {
      tensor = graph.addTensor(name, *numberTypeOf(argument), type->getShape());
      graph.defineNumbers(argument, tensor);
    }
    graph.model.inputs.push_back(tensor);
  }
  return success();
}

static LogicalResult writeResults(GraphBuilder &graph, func::ReturnOp end) {
  for (Value result : end.getOperands()) {
    bool isCodes = graph.options.boundary == IntegerBoundary::Integer &&
                   graph.findEncoding(result);
    FailureOr<int64_t> tensor =
        isCodes ? graph.readStored(result) : graph.readNumbers(end, result);
    if (failed(tensor))
      return failure();
    bool isTaken = graph.model.tensors[*tensor].isConstant ||
                   llvm::is_contained(graph.model.inputs, *tensor) ||
                   llvm::is_contained(graph.model.outputs, *tensor);
    // Runtimes identify tensors by their indices.
    if (isTaken) {
      ArrayRef<int64_t> shape = onnx::typeOf(result).getShape();
      tensor = graph.reshape(*tensor, shape,
                             graph.model.tensors[*tensor].name + "/output");
    }
    graph.model.outputs.push_back(*tensor);
  }
  return success();
}

/// Records the normalization of samples for users of the file: (x - mean) /
/// std.
static void writeNormalization(GraphBuilder &graph,
                               const Preprocessings &records) {
  for (auto [number, record] : llvm::enumerate(records)) {
    if (!record || (record->scale.empty() && record->offset.empty()))
      continue;
    Normalization entry;
    entry.input = graph.model.tensors[graph.model.inputs[number]].name;
    size_t count = std::max(record->scale.size(), record->offset.size());
    for (size_t i = 0; i < count; ++i) {
      auto get = [&](ArrayRef<double> values, double standard) {
        return values.empty() ? standard : values[values.size() == 1 ? 0 : i];
      };
      double scale = get(record->scale, 1);
      entry.mean.push_back(-get(record->offset, 0) / scale);
      entry.deviation.push_back(1 / scale);
    }
    graph.model.normalizations.push_back(std::move(entry));
  }
}

static LogicalResult writeNetwork(GraphBuilder &graph, func::ReturnOp end) {
  FailureOr<Preprocessings> records = readPreprocessing(graph.function);
  if (failed(records) || failed(checkOps(graph.function)) ||
      failed(writeArguments(graph)))
    return failure();
  // In program order, so that recursion is not deeper than the ops between two
  // points.
  for (Operation &op : end->getBlock()->without_terminator())
    if (auto point = dyn_cast<tpc::QuantizeOp>(op);
        point && point.isActivation() && graph.findEncoding(point.getResult()))
      if (failed(graph.readStored(point.getResult())))
        return failure();
  if (failed(writeResults(graph, end)))
    return failure();
  writeNormalization(graph, *records);
  return success();
}

} // namespace mct::tflite

LogicalResult mct::exportTflite(ModuleOp module, const TfliteOptions &options,
                                raw_ostream &os) {
  // Work on a copy, to which names are added.
  OwningOpRef<ModuleOp> copy = module.clone();
  FailureOr<func::FuncOp> function = findEntryFunction(*copy, options.function);
  if (failed(function) || failed(requireFrozenPoints(*function)))
    return failure();
  // Remove the simulated rounding: the kernels of runtimes round twice
  // themselves.
  roundOnce(*function);
  assignNames(*function);
  Block &body = function->getBody().front();
  auto end = dyn_cast<func::ReturnOp>(body.getTerminator());
  if (!function->getBody().hasOneBlock() || !end) {
    InFlightDiagnostic error =
        function->emitOpError("has several blocks, and a file holds one");
    error.attachNote() << "write what is computed under a condition outside";
    return failure();
  }
  FailureOr<onnx::Operators> operators = onnx::findOperators(body);
  if (failed(operators))
    return failure();
  tflite::GraphBuilder graph(*function, options, std::move(*operators));
  graph.model.function = function->getName().str();
  if (failed(tflite::writeNetwork(graph, end)))
    return failure();
  tflite::print(graph.model, os);
  return success();
}
