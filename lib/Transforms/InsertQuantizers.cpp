// SPDX-License-Identifier: Apache-2.0
#include "mct/Analysis/QuantizationPlan.h"
#include "mct/Transforms/Names.h"
#include "mct/Transforms/Passes.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/Matchers.h"

namespace mct {
#define GEN_PASS_DEF_INSERTQUANTIZERSPASS
#include "mct/Transforms/Passes.h.inc"
} // namespace mct

using namespace mlir;
using namespace mct;

/// The name under which a node's result is known. Where only reshapes follow
/// the kernel op, the values are the kernel op's, and its name says more than
/// theirs.
static StringAttr getNodeName(const tpc::Node &node) {
  bool onlyReshapes = true;
  for (Operation *op : llvm::reverse(node.ops)) {
    if (op == node.kernelOp)
      break;
    onlyReshapes &= isa<tosa::ReshapeOp>(op);
  }
  return getName((onlyReshapes ? node.kernelOp : node.root())->getLoc());
}

/// Alternatives that differ in the result's quantizer.
static SmallVector<Attribute>
getActivationCandidates(ArrayRef<tpc::OpQuantConfigAttr> configs) {
  SmallVector<Attribute> distinct;
  SmallVector<std::tuple<tpc::QuantizationMethod, int64_t, tpc::Signedness>>
      seen;
  for (tpc::OpQuantConfigAttr config : configs) {
    std::tuple quantizer(config.getActMethod(), config.getActBits(),
                         config.getSignedness());
    if (llvm::is_contained(seen, quantizer))
      continue;
    seen.push_back(quantizer);
    distinct.push_back(config);
  }
  return distinct;
}

static ArrayAttr getCandidatesAttr(MLIRContext *context,
                                   ArrayRef<Attribute> distinct) {
  return distinct.size() > 1 ? ArrayAttr::get(context, distinct) : ArrayAttr();
}

static tpc::RangeAttr
getRangeAttr(MLIRContext *context,
             std::pair<std::optional<double>, std::optional<double>> range) {
  if (!range.first && !range.second)
    return {};
  return tpc::RangeAttr::get(context, range.first, range.second);
}

static bool isQuantizable(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.getElementType().isF32();
}

/// Puts a point behind `value` and lets everybody read the point instead.
static void insertActivationPoint(OpBuilder &builder, Value value,
                                  StringAttr name,
                                  tpc::OpQuantConfigAttr config,
                                  ArrayRef<tpc::OpQuantConfigAttr> candidates,
                                  ArrayAttr group, tpc::RangeAttr range) {
  MLIRContext *context = builder.getContext();
  auto point = tpc::QuantizeOp::create(
      builder, value.getLoc(), value.getType(), value, name,
      /*weight=*/StringAttr(), /*axes=*/DenseI64ArrayAttr(), config,
      getCandidatesAttr(context, getActivationCandidates(candidates)), group,
      range,
      /*statistics=*/tpc::StatisticsAttr(),
      /*parameters=*/tpc::QuantizerAttrInterface());
  value.replaceAllUsesExcept(point.getOutput(), point);
}

static void insertWeightPoints(const tpc::TpcLookup &lookup,
                               const PlannedNode &planned, StringAttr name) {
  const tpc::Node &node = planned.node;
  if (!node.weights)
    return;
  tpc::OpInfoAttr info =
      lookup.getOpInfo(node.kernelOp->getName().getStringRef());
  OpBuilder builder(node.kernelOp);
  MLIRContext *context = builder.getContext();
  for (NamedAttribute entry : node.weights) {
    StringRef genericName = entry.getName().getValue();
    unsigned operandNumber = cast<IntegerAttr>(entry.getValue()).getInt();
    tpc::AttrQuantConfigAttr config = planned.base.getWeightConfig(genericName);
    if (!config.getEnabled() ||
        operandNumber >= node.kernelOp->getNumOperands())
      continue;
    OpOperand &operand = node.kernelOp->getOpOperand(operandNumber);
    if (!isQuantizable(operand.get()) ||
        !matchPattern(operand.get(), m_Constant()))
      continue;
    SmallVector<Attribute> candidates;
    for (tpc::OpQuantConfigAttr candidate : planned.candidates)
      if (Attribute weight = candidate.getWeightConfig(genericName);
          !llvm::is_contained(candidates, weight))
        candidates.push_back(weight);
    DenseI64ArrayAttr axes;
    if (config.getPerChannel() && info &&
        info.getKernel() == int64_t(operandNumber) &&
        !info.getOutAxes().empty())
      axes = DenseI64ArrayAttr::get(context, info.getOutAxes());
    auto point = tpc::QuantizeOp::create(
        builder, operand.get().getLoc(), operand.get().getType(), operand.get(),
        name, builder.getStringAttr(genericName), axes, config,
        getCandidatesAttr(context, candidates), /*group=*/ArrayAttr(),
        /*range=*/tpc::RangeAttr(), /*statistics=*/tpc::StatisticsAttr(),
        /*parameters=*/tpc::QuantizerAttrInterface());
    operand.set(point.getOutput());
  }
}

static LogicalResult insertPoints(tpc::TpcLookup &lookup,
                                  func::FuncOp function) {
  if (!function.getBody().hasOneBlock())
    return function.emitOpError()
           << "has " << function.getBody().getBlocks().size()
           << " blocks; quantizer points need a network without control flow";
  WalkResult present =
      function.walk([](tpc::QuantizeOp point) {
        point.emitOpError()
            << "is already there; insert points into a module without any";
        return WalkResult::interrupt();
      });
  if (present.wasInterrupted())
    return failure();
  assignNames(function);
  Block &block = function.getBody().front();
  FailureOr<QuantizationPlan> plan = QuantizationPlan::create(lookup, block);
  if (failed(plan))
    return failure();

  OpBuilder builder(function.getContext());
  SmallVector<StringAttr> names =
      llvm::map_to_vector(plan->nodes, [](const PlannedNode &planned) {
        return getNodeName(planned.node);
      });
  for (auto [index, planned] : llvm::enumerate(plan->nodes)) {
    const tpc::Node &node = planned.node;
    if (node.info && !node.info.getQuantize())
      continue;
    insertWeightPoints(lookup, planned, names[index]);
    ArrayAttr group;
    if (planned.group) {
      ArrayRef<size_t> chain = plan->groups[*planned.group];
      if (chain.back() != index)
        continue;
      group = builder.getArrayAttr(llvm::map_to_vector(
          chain, [&](size_t link) -> Attribute { return names[link]; }));
    }
    if (!planned.base.getActEnabled() || !isQuantizable(node.result()))
      continue;
    builder.setInsertionPointAfter(node.root());
    insertActivationPoint(builder, node.result(), names[index], planned.base,
                          planned.candidates, group,
                          getRangeAttr(function.getContext(), node.range));
  }
  // The target's default speaks for what no operator makes: MCT quantizes the
  // inputs of the network the same way.
  tpc::OpQuantConfigAttr inputConfig =
      lookup.platform().getDefaultOptions().getBaseConfig();
  builder.setInsertionPointToStart(&block);
  for (BlockArgument argument : function.getArguments())
    if (inputConfig.getActEnabled() && isQuantizable(argument) &&
        !argument.use_empty())
      insertActivationPoint(builder, argument, getName(argument), inputConfig,
                            inputConfig, ArrayAttr(), tpc::RangeAttr());
  return success();
}

namespace {
struct InsertQuantizersPass
    : public mct::impl::InsertQuantizersPassBase<InsertQuantizersPass> {
  void runOnOperation() override {
    FailureOr<tpc::TpcLookup> lookup = tpc::TpcLookup::create(getOperation());
    if (failed(lookup))
      return signalPassFailure();
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isExternal() && failed(insertPoints(*lookup, function)))
        return signalPassFailure();
  }
};
} // namespace
