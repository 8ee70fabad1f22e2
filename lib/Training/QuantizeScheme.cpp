// SPDX-License-Identifier: Apache-2.0
#include "QuantizeScheme.h"

#include "mct/IR/Names.h"
#include "mct/Interfaces/OpInterfaces.h"
#include "mct/Planning/QuantizationPlan.h"
#include "mlir/IR/Builders.h"
#include "tpc_dialect/targets/LoadTarget.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace mct;
using mct::tpc::QuantizeOp;

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

/// Based on TensorFlow Model Optimization, `Default8BitQuantizeRegistry`, layer
/// by layer. There, a depthwise kernel has a range for each multiplier; here,
/// it has one for each output channel.
static SchemeEntry lookUp(const tpc::Node &node) {
  SchemeEntry entry;
  StringRef set = node.operatorSet ? node.operatorSet.getValue() : "";
  entry.isPassThrough = llvm::StringSwitch<bool>(set)
                            .Cases({"SplitChunk", "GetItem", "StridedSlice",
                                    "Unstack", "MaxPool", "Dropout"},
                                   true)
                            .Default(false);
  if (Operation *root = node.root(); node.ops.size() == 1) {
    entry.isPassThrough |= root->getName().getStringRef() == "tosa.reduce_max";
    if (getMovedOperand(
            root,
            [](Movement movement) { return movement != Movement::Average; }) &&
        set != "Concatenate")
      entry.isPassThrough = true;
  }
  entry.isPerChannel = set == "Conv" || set == "DepthwiseConv2D";
  entry.hasKernel =
      entry.isPerChannel || set == "ConvTranspose" || set == "FullyConnected";
  entry.isRelu = set == "ReLU" || set == "ReLU6" || set == "HardTanh";
  entry.isAfter = entry.isRelu || set == "Swish" || set == "Gelu";
  entry.isBefore = llvm::StringSwitch<bool>(set)
                       .Cases({"Softmax", "Sigmoid", "Tanh", "Gelu"}, true)
                       .Default(false);
  entry.isBatchNorm = set == "BatchNorm";
  entry.isConcatenation = set == "Concatenate";
  entry.quantizesOutput =
      entry.isAfter || llvm::StringSwitch<bool>(set)
                           .Cases({"Add", "AddBias", "Concatenate", "LeakyReLU",
                                   "Resize", "AvgPool", "GlobalAvgPool"},
                                  true)
                           .Default(false);
  entry.isSupported = entry.isPassThrough || entry.hasKernel ||
                      entry.isActivation() || entry.quantizesOutput;
  return entry;
}

/// Returns a platform, with the stock vocabularies, that distinguishes all sets
/// and requests nothing.
static OwningOpRef<ModuleOp> createVocabulary(MLIRContext *context) {
  OwningOpRef<ModuleOp> module = tpc::loadStockVocabularies(context);
  if (!module)
    return module;
  OpBuilder builder(context);
  auto weight = tpc::AttrQuantConfigAttr::get(
      context,
      tpc::MethodAttr::get(context, tpc::QuantizationMethod::PowerOfTwo),
      /*bits=*/8, /*per_channel=*/false, /*enabled=*/false,
      /*lut_values_bits=*/std::nullopt, /*error_tolerance=*/std::nullopt);
  auto config = tpc::OpQuantConfigAttr::get(
      context,
      tpc::MethodAttr::get(context, tpc::QuantizationMethod::PowerOfTwo),
      /*act_bits=*/8, /*input_bits=*/{8}, /*act_enabled=*/false,
      /*preserving=*/false, tpc::Signedness::Auto, FloatAttr(), std::nullopt,
      std::nullopt, DictionaryAttr(), weight);
  SmallVector<Attribute> sets;
  llvm::StringSet<> known;
  for (auto binding : module->getOps<tpc::BindingOp>())
    for (auto entry : binding.getEntries().getAsRange<tpc::OpsOfAttr>())
      if (known.insert(entry.getSet().getValue()).second)
        sets.push_back(tpc::OperatorSetAttr::get(context, entry.getSet(),
                                                 nullptr,
                                                 /*one_by_one=*/false));
  builder.setInsertionPointToStart(module->getBody());
  auto platform = tpc::PlatformOp::create(
      builder, builder.getUnknownLoc(), builder.getStringAttr("scheme"),
      StringAttr(), IntegerAttr(), IntegerAttr(), UnitAttr(), UnitAttr(),
      UnitAttr(), tpc::QCOptionsAttr::get(context, config, nullptr),
      builder.getArrayAttr(sets), builder.getArrayAttr({}));
  (*module)->setAttr(tpc::TpcDialect::kTargetAttrName,
                     FlatSymbolRefAttr::get(platform.getSymNameAttr()));
  return module;
}

//===----------------------------------------------------------------------===//
// Operators and marks
//===----------------------------------------------------------------------===//

static LogicalResult checkPoints(func::FuncOp function) {
  if (!function.getBody().hasOneBlock())
    return function.emitOpError()
           << "has " << function.getBody().getBlocks().size()
           << " blocks; operators are marked in a network without control flow";
  WalkResult others = function.walk([](QuantizeOp point) {
    if (point.isActivation() && point.getOperatorConfig())
      return WalkResult::advance();
    point.emitOpError("is already there; mark the operators of a network "
                      "without points that quantize");
    return WalkResult::interrupt();
  });
  return failure(others.wasInterrupted());
}

FailureOr<MarkedOperators> MarkedOperators::find(func::FuncOp function) {
  if (failed(checkPoints(function)))
    return failure();
  assignNames(function);
  OwningOpRef<ModuleOp> vocabulary = createVocabulary(function.getContext());
  if (!vocabulary)
    return failure();
  FailureOr<tpc::TpcLookup> lookup = tpc::TpcLookup::create(*vocabulary);
  if (failed(lookup))
    return failure();
  FailureOr<SmallVector<tpc::Node>> nodes =
      lookup->match(function.getBody().front());
  if (failed(nodes))
    return failure();
  MarkedOperators found;
  for (tpc::Node &node : *nodes) {
    MarkedOperator &made = found.operators.emplace_back();
    for (Operation *op : node.ops)
      found.owner[op] = found.operators.size() - 1;
    made.name = getNodeName(node);
    made.entry = lookUp(node);
    made.kernelInfo =
        lookup->getOpInfo(node.kernelOp->getName().getStringRef());
    made.node = std::move(node);
  }
  for (auto mark : function.getOps<QuantizeOp>()) {
    Operation *root = mark.getInput().getDefiningOp();
    auto marked = root ? found.owner.find(root) : found.owner.end();
    if (marked == found.owner.end() ||
        found.operators[marked->second].node.root() != root)
      return mark.emitOpError("marks no operator: what it reads is ")
             << (root ? "the result of another point, or of no operator"
                      : "an argument");
    MarkedOperator &by = found.operators[marked->second];
    if (by.mark) {
      InFlightDiagnostic error = mark.emitOpError("marks '")
                                 << by.name.getValue()
                                 << "' a second time; remove one";
      error.attachNote(by.mark.getLoc()) << "the first mark is here";
      return error;
    }
    by.mark = mark;
  }
  return found;
}

std::optional<size_t> MarkedOperators::producerOf(Value value) const {
  Operation *producer = value.getDefiningOp();
  if (auto mark = dyn_cast_or_null<QuantizeOp>(producer))
    producer = mark.getInput().getDefiningOp();
  auto found = owner.find(producer);
  return found == owner.end() ? std::nullopt
                              : std::optional<size_t>(found->second);
}

std::optional<size_t> MarkedOperators::onlyUser(size_t index) const {
  std::optional<size_t> userIndex;
  Value result = operators[index].node.result();
  for (Value value : {result, operators[index].result()})
    for (Operation *user : value.getUsers()) {
      if (user == operators[index].mark)
        continue;
      auto found = owner.find(user);
      if (found == owner.end() || (userIndex && *userIndex != found->second))
        return std::nullopt;
      userIndex = found->second;
    }
  return userIndex;
}
