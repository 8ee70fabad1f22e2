// SPDX-License-Identifier: Apache-2.0
#include "OnnxChecks.h"
#include "mct/Planning/Overrides.h"
#include "mct/Support/Troubleshooting.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace mct::onnx;

/// Operators that move or select values, for which a quantizer before them is
/// equivalent to one after them.
static constexpr StringLiteral kMovingOps[] = {
    "Concat",    "Gather",  "Identity", "MaxPool",  "Pad",
    "ReduceMax", "Reshape", "Slice",    "Transpose"};
/// Layers with a kernel.
static constexpr StringLiteral kLayers[] = {"Conv", "ConvTranspose", "Gemm",
                                            "MatMul"};

/// Adds to an error about a float value that decoding parts stay float by
/// default.
static void noteDecoding(InFlightDiagnostic &error, Operation *op,
                         const mct::KernelOps &kernels) {
  auto function = op->getParentOfType<func::FuncOp>();
  if (!function)
    return;
  FailureOr<mct::Overrides> overrides = mct::Overrides::getFrom(function);
  if (failed(overrides) || !overrides->leavesDecodingFloat())
    return;
  overrides->findDecoding(function.getBody().front(), kernels);
  if (overrides->keepsFloatAsDecoding(op))
    error.attachNote() << "it decodes the places of objects, which stays "
                          "float; give decode=cut to end at the heads, or "
                          "decode=quantize";
}

namespace {
class Checker {
public:
  Checker(const Model &model, mct::tpc::DeviceOp device,
          mct::tpc::OnnxOperatorsOp operators, const mct::KernelOps &kernels)
      : graph(model.graph), device(device), operators(operators),
        kernels(kernels) {
    for (const Node &node : graph.nodes) {
      for (const std::string &input : node.inputs)
        users[input].push_back(&node);
      producers[node.outputs.front()] = &node;
    }
    for (const Tensor &tensor : graph.initializers)
      constants.insert(tensor.name);
    for (const ValueInfo &output : graph.outputs)
      outputs.insert(output.name);
  }

  LogicalResult run() {
    for (const ValueInfo &input : graph.inputs)
      if (failed(checkInput(input)))
        return failure();
    for (const Node &node : graph.nodes) {
      if (node.domain.empty() && has(operators.getMissing(), node.opType)) {
        InFlightDiagnostic error = node.source->emitOpError()
                                   << "becomes '" << node.opType << "', which "
                                   << device.getDisplayName()
                                   << " does not have";
        error.attachNote()
            << "split the network in front of it and compute it "
               "outside, or write the file with profile 'mct_quantizers'"
            << mct::support::kTroubleshooting
            << "an-op-cannot-be-exported-to-onnx";
        return failure();
      }
      if (isQuantizer(node)) {
        if (failed(checkWide(node)))
          return failure();
        continue;
      }
      if (!node.domain.empty() || isMoving(node) || node.opType == "ArgMax")
        continue;
      if (failed(checkQuantized(node)))
        return failure();
    }
    return success();
  }

private:
  static bool has(ArrayAttr names, StringRef name) {
    return llvm::any_of(names.getAsRange<StringAttr>(),
                        [&](StringAttr each) { return each == name; });
  }
  bool isConstant(StringRef name) const {
    if (constants.contains(name))
      return true;
    auto producer = producers.find(name);
    return producer != producers.end() &&
           StringRef(producer->second->opType).starts_with("Weights");
  }
  static bool isMoving(const Node &node) {
    const NodeAttribute *mode =
        node.opType == "Resize" ? node.lookup("mode") : nullptr;
    return llvm::is_contained(kMovingOps, node.opType) ||
           (mode && std::get<std::string>(mode->value) == "nearest");
  }
  static bool isQuantizer(const Node &node) {
    return StringRef(node.opType).starts_with("Activation");
  }
  /// Checks the uses of a value, or of its moved forms, which has `name`. A
  /// moved value is visited once, however often it is concatenated with itself.
  LogicalResult
  forEachUser(const std::string &name,
              llvm::function_ref<LogicalResult(const std::string &)> visitValue,
              llvm::function_ref<LogicalResult(const Node &)> visitUser) {
    SmallVector<std::string> open{name};
    llvm::StringSet<> visited;
    visited.insert(name);
    while (!open.empty()) {
      std::string next = open.pop_back_val();
      if (failed(visitValue(next)))
        return failure();
      for (const Node *user : users[next]) {
        if (failed(visitUser(*user)))
          return failure();
        if (isMoving(*user) && visited.insert(user->outputs.front()).second)
          open.push_back(user->outputs.front());
      }
    }
    return success();
  }

  LogicalResult checkInput(const ValueInfo &input) {
    auto isRead = [&](const Node &user) -> LogicalResult {
      if (isQuantizer(user) || isMoving(user))
        return success();
      InFlightDiagnostic error = user.source->emitOpError()
                                 << "reads input '" << input.name
                                 << "', which no point quantizes";
      error.attachNote()
          << "insert points into the module before its operators "
             "are changed: mct-ptq, or mct-insert-quantizers";
      return failure();
    };
    return forEachUser(
        input.name, [](const std::string &) { return success(); }, isRead);
  }

  /// Returns whether `user` is computed together with `producer`.
  bool isFused(const Node &producer, const Node &user) {
    if (llvm::is_contained(kLayers, producer.opType)) {
      // x * sigmoid(x), or the addition of a bias.
      bool isSwish = user.opType == "Mul" &&
                     llvm::any_of(user.inputs, [&](const std::string &name) {
                       auto other = producers.find(name);
                       return other != producers.end() &&
                              other->second->opType == "Sigmoid" &&
                              other->second->inputs == producer.outputs;
                     });
      bool isBias = producer.opType == "MatMul" && user.opType == "Add" &&
                    llvm::any_of(user.inputs, [&](const std::string &name) {
                      return isConstant(name);
                    });
      return has(operators.getBehindLayers(), user.opType) || isSwish || isBias;
    }
    if (producer.opType == "Add" || producer.opType == "Sub") {
      // The bias of a matrix product.
      for (const std::string &name : producer.inputs) {
        auto other = producers.find(name);
        if (other != producers.end() && other->second->opType == "MatMul" &&
            isFused(*other->second, producer))
          return has(operators.getBehindLayers(), user.opType);
      }
      return has(operators.getBehindSums(), user.opType);
    }
    if (producer.opType == "Sigmoid")
      return user.opType == "Mul" &&
             llvm::is_contained(user.inputs, producer.inputs.front());
    // A mean, written as a sum and a factor.
    if (producer.opType == "ReduceSum")
      return user.opType == "ReduceSum" ||
             (user.opType == "Mul" &&
              llvm::any_of(user.inputs, [&](const std::string &name) {
                return isConstant(name);
              }));
    return false;
  }

  LogicalResult checkQuantized(const Node &node) {
    auto isMade = [&](const std::string &name) -> LogicalResult {
      if (!outputs.contains(name) || node.opType == "Softmax")
        return success();
      InFlightDiagnostic error = node.source->emitOpError()
                                 << "makes output '" << name
                                 << "', and no point quantizes it";
      noteDecoding(error, node.source, kernels);
      error.attachNote() << "only a softmax at the end may stay float; see "
                            "tpc-explain for why there is no point"
                         << mct::support::kTroubleshooting
                         << "an-operator-stays-float";
      return failure();
    };
    auto isRead = [&](const Node &user) -> LogicalResult {
      if (isQuantizer(user) || isFused(node, user) || isMoving(user))
        return success();
      InFlightDiagnostic error = node.source->emitOpError()
                                 << "becomes '" << node.opType
                                 << "', whose result no point quantizes before "
                                 << "'" << user.opType << "' reads it";
      noteDecoding(error, node.source, kernels);
      error.attachNote(user.source->getLoc())
          << "read here; " << device.getDisplayName()
          << " has no float values: see tpc-explain for why there is no point, "
             "or write the file with profile 'mct_quantizers'"
          << mct::support::kTroubleshooting << "an-operator-stays-float";
      return failure();
    };
    return forEachUser(node.outputs.front(), isMade, isRead);
  }

  /// Checks that only operators that support 16-bit values read them.
  LogicalResult checkWide(const Node &point) {
    const NodeAttribute *bits = point.lookup("num_bits");
    if (!bits || std::get<int64_t>(bits->value) != 16)
      return success();
    auto isRead = [&](const Node &user) -> LogicalResult {
      if (isQuantizer(user) || has(operators.getWide(), user.opType))
        return success();
      InFlightDiagnostic error = user.source->emitOpError()
                                 << "becomes '" << user.opType
                                 << "', which reads 8 bits on "
                                 << device.getDisplayName() << ", and gets 16";
      error.attachNote(point.source->getLoc())
          << "from this point; give it 8 bits (overrides)";
      return failure();
    };
    return forEachUser(
        point.outputs.front(), [](const std::string &) { return success(); },
        isRead);
  }

  const Graph &graph;
  mct::tpc::DeviceOp device;
  mct::tpc::OnnxOperatorsOp operators;
  const mct::KernelOps &kernels;
  llvm::StringMap<SmallVector<const Node *>> users;
  llvm::StringMap<const Node *> producers;
  llvm::StringSet<> constants, outputs;
};
} // namespace

LogicalResult mct::onnx::checkForDevice(const Model &model,
                                        tpc::DeviceOp device,
                                        const KernelOps &kernels) {
  auto operators = device.getFact<tpc::OnnxOperatorsOp>();
  return operators ? Checker(model, device, operators, kernels).run()
                   : success();
}
