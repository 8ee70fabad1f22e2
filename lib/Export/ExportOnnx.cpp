// SPDX-License-Identifier: Apache-2.0
#include "OnnxChecks.h"
#include "OnnxPoints.h"
#include "OnnxQdq.h"
#include "OnnxRows.h"
#include "OnnxRules.h"
#include "OnnxSuppression.h"
#include "ShiftPoints.h"
#include "mct/Conversion/Passes.h"
#include "mct/Conversion/RoundTwice.h"
#include "mct/Evaluation/Signature.h"
#include "mct/IR/EntryFunction.h"
#include "mct/IR/FrozenPoints.h"
#include "mct/IR/Names.h"
#include "mct/IR/Preprocessing.h"
#include "mct/Planning/Device.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace mct;
using namespace mct::onnx;

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

Rules::Rules() {
  addLayerRules(*this);
  addElementwiseRules(*this);
  addShapeRules(*this);
  addOperatorRules(*this);
}

LogicalResult Rules::emit(GraphBuilder &graph, Operation *op) const {
  // Constants are written together with the ops that use them.
  if (graph.written.contains(op) || op->hasTrait<OpTrait::ConstantLike>() ||
      isa<tosa::ConstShapeOp>(op))
    return success();
  auto rule = ops.find(op->getName().getStringRef());
  return rule == ops.end() ? refuse(op, kUnknownForm) : rule->second(graph, op);
}

LogicalResult Rules::emit(GraphBuilder &graph, const Operator &matched) const {
  if (EmitOperator rule = operators.lookup(matched.name)) {
    FailureOr<bool> isEmitted = rule(graph, matched);
    if (failed(isEmitted) || *isEmitted)
      return isEmitted;
  }
  for (Operation *op : matched.ops)
    if (failed(emit(graph, op)))
      return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// The network
//===----------------------------------------------------------------------===//

/// Records for users of the file that a tensor's axes are in another order than
/// those of the value, as `axes.NAME`: axis i of the tensor is the axis of the
/// value that the list has at i.
static void recordAxes(Model &model, const std::string &name,
                       const Layout &layout) {
  if (layout.isIdentity())
    return;
  std::string axes;
  llvm::raw_string_ostream os(axes);
  llvm::interleave(layout.permutation, os, ",");
  model.metadata.push_back({"axes." + name, axes});
}

/// Returns whether a value of rank 4 is read as an image [N, H, W, C], perhaps
/// after ops that do not change its axes.
static bool isReadAsImage(Value value) {
  SmallVector<Value> open{value};
  llvm::DenseSet<Value> visited;
  while (!open.empty()) {
    Value next = open.pop_back_val();
    if (!visited.insert(next).second)
      continue;
    for (Operation *user : next.getUsers()) {
      if (isa<tosa::Conv2DOp, tosa::DepthwiseConv2DOp, tosa::TransposeConv2DOp,
              tosa::MaxPool2dOp, tosa::AvgPool2dOp, tosa::ResizeOp>(user))
        return true;
      if (isa<tosa::TransposeOp>(user))
        continue;
      for (Value result : user->getResults())
        if (auto type = dyn_cast<RankedTensorType>(result.getType());
            type && type.getRank() == 4)
          open.push_back(result);
    }
  }
  return false;
}

/// Fails if a size is not known, except for the first one of a tensor.
static LogicalResult checkSizes(Operation *op) {
  if (op->hasTrait<OpTrait::ConstantLike>() || isa<tosa::ConstShapeOp>(op))
    return success();
  for (Value result : op->getResults())
    if (!isa<RankedTensorType>(result.getType()) ||
        llvm::any_of(typeOf(result).getShape().drop_front(
                         typeOf(result).getRank() ? 1 : 0),
                     ShapedType::isDynamic))
      return refuse(op, "has a result whose sizes are not known, the batch "
                        "apart");
  return success();
}

/// Fails if an argument has more samples than the device processes at once.
static LogicalResult checkBatch(GraphBuilder &graph, RankedTensorType type) {
  tpc::OnnxLimitsOp limits = graph.limits;
  if (!limits || type.getRank() < 2 || type.isDynamicDim(0) ||
      type.getDimSize(0) <= int64_t(limits.getBatch()))
    return success();
  InFlightDiagnostic error = graph.function.emitOpError()
                             << "has a batch of " << type.getDimSize(0) << "; "
                             << limits.getDeviceName() << " takes "
                             << limits.getBatch() << " at once";
  error.attachNote() << "mct-set-batch{size=" << limits.getBatch()
                     << "}, or size=0 for one that is not known";
  return failure();
}

static LogicalResult emitArguments(GraphBuilder &graph) {
  for (BlockArgument argument : graph.function.getArguments()) {
    FailureOr<RankedTensorType> type = readArgumentType(argument);
    if (failed(type) || failed(checkBatch(graph, *type)))
      return failure();
    bool isImage = type->getRank() == 4 && isReadAsImage(argument);
    Layout layout =
        isImage ? Layout::channelsFirst() : Layout::identity(type->getRank());
    std::string name = graph.makeName(nameOf(argument));
    ElementType element = elementTypeOf(argument);
    if (type->getElementType().isInteger(32))
      element = ElementType::Int32;
    graph.model.graph.inputs.push_back(
        {name, element, fileShape(layout.apply(type->getShape()))});
    recordAxes(graph.model, name, layout);
    if (element == ElementType::Int32)
      name = graph.addNode(graph.function, "Cast", {name}, name + "/wide",
                           {{"to", int64_t(ElementType::Int64)}});
    graph.define(argument, name, layout);
  }
  return success();
}

static LogicalResult emitResults(GraphBuilder &graph, func::ReturnOp end) {
  llvm::StringSet<> taken;
  for (const ValueInfo &input : graph.model.graph.inputs)
    taken.insert(input.name);
  for (Value result : end.getOperands()) {
    FailureOr<Layout> layout = graph.layoutOf(end, result);
    if (failed(layout))
      return failure();
    // Images keep their layout; other values have the order of the module.
    if (*layout != Layout::channelsFirst())
      layout = Layout::identity(typeOf(result).getRank());
    FailureOr<std::string> tensor = graph.read(end, result, *layout);
    if (failed(tensor))
      return failure();
    std::string name = *tensor;
    if (!taken.insert(name).second)
      taken.insert(name = graph.addNode(graph.function, "Identity", {*tensor},
                                        *tensor + "/output"));
    recordAxes(graph.model, name, *layout);
    graph.model.graph.outputs.push_back(
        {name, elementTypeOf(result),
         fileShape(layout->apply(typeOf(result).getShape()))});
  }
  return success();
}

static LogicalResult checkMemory(GraphBuilder &graph) {
  tpc::OnnxLimitsOp limits = graph.limits;
  if (graph.weightBits / 8 <= int64_t(limits.getBytes()))
    return success();
  InFlightDiagnostic error = graph.function.emitOpError()
                             << "has weights of " << graph.weightBits / 8
                             << " bytes; " << limits.getDeviceName() << " has "
                             << limits.getBytes()
                             << " for them and for activations";
  error.attachNote() << "mct-assign-bit-widths{budget=weights:…} finds fewer "
                        "bits; mct-report-memory tells where they are";
  return failure();
}

namespace {
/// An operator set that files of profile Qdq can have, and the version of the
/// format that ONNX published with it.
struct QdqSet {
  int64_t operatorSet, irVersion;
};
} // namespace

static constexpr QdqSet kQdqSets[] = {{13, 7}, {21, 10}, {25, 13}};
// The version of files with operator set 20, which the other profiles write.
static constexpr int64_t kIrVersion = 9;

static LogicalResult writeHeader(GraphBuilder &graph) {
  Model &model = graph.model;
  const OnnxOptions &options = graph.options;
  const int64_t operatorSet = graph.getOperatorSet();
  const QdqSet *qdq = llvm::find_if(kQdqSets, [&](const QdqSet &each) {
    return each.operatorSet == operatorSet;
  });
  if (graph.isQdq() ? qdq == std::end(kQdqSets) : operatorSet != 20) {
    InFlightDiagnostic error = graph.function.emitOpError()
                               << "cannot be written with operator set "
                               << operatorSet;
    error.attachNote() << "files of profile 'qdq' have 13, 21 or 25, those of "
                          "the other profiles 20";
    return failure();
  }
  model.irVersion = graph.isQdq() ? qdq->irVersion : kIrVersion;
  model.operatorSets = {{"", operatorSet}};
  if (!graph.isQdq())
    model.operatorSets.push_back({kQuantizerDomain.str(), 1});
  bool isOurs = options.producer.empty();
  model.producerName = isOurs ? "mct" : options.producer;
  model.producerVersion = options.producerVersion.empty() && isOurs
                              ? MCT_VERSION
                              : options.producerVersion;
  model.metadata = {{"exporter", "mct"}, {"exporter_version", MCT_VERSION}};
  model.graph.name = graph.function.getName().str();
  return success();
}

/// Converts the points and biases of the module to those of a file of profile
/// Qdq.
static LogicalResult simulateIntegers(ModuleOp module, func::FuncOp function) {
  // Refuse points with another rounding than that of the format.
  WalkResult walked = function.walk([&](tpc::QuantizeOp point) {
    tpc::QuantizerAttrInterface parameters = point.getParametersAttr();
    if (!point.isActivation() || !parameters ||
        parameters.getRoundingMode() != quantization::Rounding::HalfUp)
      return WalkResult::advance();
    (void)refuseHalfUp(point);
    return WalkResult::interrupt();
  });
  if (walked.wasInterrupted())
    return failure();
  SimulateIntegersPassOptions options;
  options.rounding = IntegerRounding::HalfEven;
  PassManager passes(module.getContext());
  passes.addPass(createSimulateIntegersPass(options));
  return passes.run(module);
}

/// Writes the network into the model of `graph`.
static LogicalResult writeNetwork(GraphBuilder &graph) {
  Block &body = graph.function.getBody().front();
  auto end = dyn_cast<func::ReturnOp>(body.getTerminator());
  if (!graph.function.getBody().hasOneBlock() || !end) {
    InFlightDiagnostic error =
        graph.function.emitOpError("has several blocks, and a file holds one");
    error.attachNote() << "write what is computed under a condition outside";
    return failure();
  }
  if (failed(writeHeader(graph)))
    return failure();
  FailureOr<Preprocessings> records = readPreprocessing(graph.function);
  if (failed(records))
    return failure();

  FailureOr<Operators> operators = findOperators(body);
  if (failed(operators) || failed(emitArguments(graph)))
    return failure();
  // Record the preprocessing of samples, which refers to the axes of the
  // module's argument.
  for (auto [input, record] :
       llvm::zip_equal(graph.model.graph.inputs, *records)) {
    if (!record)
      continue;
    std::string text;
    llvm::raw_string_ostream os(text);
    llvm::json::OStream json(os);
    execution::print(json, *record);
    graph.model.metadata.push_back({"preprocessing." + input.name, text});
  }
  std::optional<SuppressedValues> suppressed;
  if (graph.options.suppression) {
    FailureOr<SuppressedValues> found = findSuppressed(graph, end);
    if (failed(found))
      return failure();
    suppressed = *found;
  }
  const Rules rules;
  for (Operation &op : body.without_terminator()) {
    if (failed(checkSizes(&op)))
      return failure();
    if (operators->interior.contains(&op))
      continue;
    auto matched = operators->byRoot.find(&op);
    if (failed(matched != operators->byRoot.end()
                   ? rules.emit(graph, matched->second)
                   : rules.emit(graph, &op)))
      return failure();
  }
  if (failed(suppressed ? emitSuppression(graph, end, *suppressed)
                        : emitResults(graph, end)))
    return failure();
  if (graph.isQdq()) {
    keepRows(graph);
    quantizeConstants(graph);
    lowerQdqPoints(graph);
  }
  if (!graph.limits)
    return success();
  return failure(
      failed(checkForDevice(graph.model,
                            graph.limits->getParentOfType<tpc::DeviceOp>(),
                            graph.kernels)) ||
      failed(checkMemory(graph)));
}

void OnnxOptions::setProfile(StringRef name) {
  profile = llvm::StringSwitch<OnnxProfile>(name)
                .Case("mct_quantizers", OnnxProfile::MctQuantizers)
                .Case("qdq", OnnxProfile::Qdq)
                .Default(OnnxProfile::Device);
  device = profile == OnnxProfile::Device ? name.str() : "";
}

/// Returns the device for which a file is written, or none for other profiles.
static FailureOr<Device> findDevice(ModuleOp module,
                                    const OnnxOptions &options) {
  if (options.profile != OnnxProfile::Device)
    return Device();
  // A profile that is not known is looked up as a device.
  ScopedDiagnosticHandler handler(
      module.getContext(), [&](Diagnostic &diagnostic) {
        if (!options.device.empty())
          diagnostic.attachNote(module.getLoc())
              << "profiles that name no device: 'qdq', 'mct_quantizers'";
        return failure();
      });
  FailureOr<Device> device = Device::find(options.device, module);
  if (failed(device) || device->getFact<tpc::OnnxLimitsOp>())
    return device;
  InFlightDiagnostic error = module.emitOpError();
  if (device->get())
    error << "is for " << device->getDisplayName()
          << ", which has no tpc.onnx_limits and runs no files of ONNX";
  else
    error << "is compiled for no target whose device runs files of ONNX";
  error.attachNote() << "choose the profile: 'qdq' for any user of ONNX, "
                        "'mct_quantizers', or the name of a device";
  return failure();
}

LogicalResult mct::exportOnnx(ModuleOp module, const OnnxOptions &options,
                              raw_ostream &os) {
  // Work on a copy, to which names and points are added.
  OwningOpRef<ModuleOp> copy = module.clone();
  FailureOr<func::FuncOp> function = findEntryFunction(*copy, options.function);
  if (failed(function) || failed(requireFrozenPoints(*function)))
    return failure();
  assignNames(*function);
  FailureOr<Device> device = findDevice(*copy, options);
  if (failed(device))
    return failure();
  const KernelOps kernels(*copy);
  auto limits = device->getFact<tpc::OnnxLimitsOp>();
  if (limits && llvm::is_contained(limits.getSignedWidths(), kShiftPointBits))
    insertShiftPoints(*function, kernels);
  if (options.profile == OnnxProfile::Qdq &&
      failed(simulateIntegers(*copy, *function)))
    return failure();
  // Runtimes round themselves.
  roundOnce(*function);
  GraphBuilder graph(*function, kernels, options, limits);
  if (failed(writeNetwork(graph)))
    return failure();
  if (options.format == OnnxFormat::Text) {
    printModel(graph.model, os);
    return success();
  }
  uint64_t size = countBytes(graph.model);
  if (size > options.largestFile && options.openData) {
    moveData(graph.model, options.dataName);
    writeData(graph.model, options.openData());
  } else if (size > options.largestFile) {
    InFlightDiagnostic error = function->emitOpError()
                               << "makes a file of " << size
                               << " bytes, and protobuf is limited to "
                               << options.largestFile;
    error.attachNote() << "write it to a file, which gets another one beside "
                          "it for the constants";
    return failure();
  }
  writeModel(graph.model, os);
  return success();
}
