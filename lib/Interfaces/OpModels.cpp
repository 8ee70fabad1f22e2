// SPDX-License-Identifier: Apache-2.0
//
// Models of the interfaces of OpInterfaces.h for ops that are not ours.
#include "OpModels.h"
#include "mct/IR/Constants.h"
#include "mct/IR/EraseUnused.h"
#include "mct/Interfaces/OpInterfaces.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Quant/IR/Quant.h"
#include "mlir/Dialect/Quant/IR/QuantTypes.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/Dialect/Tosa/Utils/ConversionUtils.h"
#include "mlir/IR/Matchers.h"
#include "tpc_dialect/Lookup/TpcLookup.h"

using namespace mlir;
using namespace mct;

static RankedTensorType getTensorType(Value value) {
  return dyn_cast<RankedTensorType>(value.getType());
}

/// A map whose position p has the channel `channelAt(p)`, where the size of the
/// result is known.
static std::optional<ChannelMap>
mapEach(Value result, int64_t axis,
        llvm::function_ref<int64_t(int64_t)> channelAt) {
  std::optional<ChannelMap> map = keepChannels(result, axis);
  if (map)
    for (int64_t &channel : map->channels)
      channel = channelAt(channel);
  return map;
}

static std::optional<ChannelMap>
mapThroughTranspose(Value operand, int64_t axis,
                    ArrayRef<int64_t> permutation) {
  std::optional<ChannelMap> map = keepChannels(operand, axis);
  const int64_t *found = llvm::find(permutation, axis);
  if (!map || found == permutation.end())
    return std::nullopt;
  map->axis = found - permutation.begin();
  return map;
}

static std::optional<ChannelMap> mapThroughReshape(Value operand, Value result,
                                                   int64_t axis) {
  RankedTensorType from = getTensorType(operand), to = getTensorType(result);
  if (!from || !to || axis >= from.getRank())
    return std::nullopt;
  return mct::mapThroughReshape(from, to, axis);
}

/// Channels along another axis than the one that the op works along stay where
/// they are.
static std::optional<ChannelMap> keepOtherChannels(Operation *op, int64_t axis,
                                                   int64_t worksAlong) {
  return axis == worksAlong ? std::nullopt
                            : keepChannels(op->getOperand(0), axis);
}

//===----------------------------------------------------------------------===//
// Element by element
//===----------------------------------------------------------------------===//

namespace {
/// Some of the operands hold no data.
template <typename Op, unsigned numData>
struct Elementwise
    : ElementwiseOpInterface::ExternalModel<Elementwise<Op, numData>, Op> {
  unsigned getNumDataOperands(Operation *) const { return numData; }
};

/// All of them do.
template <typename Op>
struct PlainElementwise
    : ElementwiseOpInterface::ExternalModel<PlainElementwise<Op>, Op> {};

template <typename Op>
struct LinalgElementwise
    : ElementwiseOpInterface::ExternalModel<LinalgElementwise<Op>, Op> {
  unsigned getNumDataOperands(Operation *op) const {
    return cast<Op>(op).getNumDpsInputs();
  }
};

struct RescaleElementwise
    : ElementwiseOpInterface::ExternalModel<RescaleElementwise,
                                            tosa::RescaleOp> {
  unsigned getNumDataOperands(Operation *) const { return 1; }
  bool hasParametersAlong(Operation *op, int64_t axis) const {
    RankedTensorType type = getTensorType(op->getResult(0));
    return cast<tosa::RescaleOp>(op).getPerChannel() && type &&
           axis == type.getRank() - 1;
  }
};

struct PointElementwise
    : ElementwiseOpInterface::ExternalModel<PointElementwise, tpc::QuantizeOp> {
  bool hasParametersAlong(Operation *op, int64_t axis) const {
    return llvm::is_contained(cast<tpc::QuantizeOp>(op).getChannelAxes(), axis);
  }
};

template <typename Op>
struct QuantElementwise
    : ElementwiseOpInterface::ExternalModel<QuantElementwise<Op>, Op> {
  bool hasParametersAlong(Operation *op, int64_t axis) const {
    for (Type type :
         {op->getOperand(0).getType(), op->getResult(0).getType()}) {
      Type element = getElementTypeOrSelf(type);
      if (auto perAxis = dyn_cast<quant::UniformQuantizedPerAxisType>(element);
          perAxis && perAxis.getQuantizedDimension() == axis)
        return true;
    }
    return false;
  }
};

//===----------------------------------------------------------------------===//
// Movement within TOSA
//===----------------------------------------------------------------------===//

/// Values of one kind of movement, whose channels `map` follows.
template <typename Model, typename Op, Movement movement, auto map>
struct MovementBase : DataMovementOpInterface::ExternalModel<Model, Op> {
  std::optional<Movement> getMovement(Operation *) const { return movement; }
  std::optional<ChannelMap> mapChannels(Operation *op, unsigned,
                                        int64_t axis) const {
    return map(cast<Op>(op), axis);
  }
};

template <typename Op, Movement movement, auto map>
struct PlainMovement
    : MovementBase<PlainMovement<Op, movement, map>, Op, movement, map> {};

using Channels = std::optional<ChannelMap>;

Channels mapIdentity(Operation *op, int64_t axis) {
  return keepChannels(op->getOperand(0), axis);
}

/// Another shape of the same elements.
Channels mapReshape(Operation *op, int64_t axis) {
  return mapThroughReshape(op->getOperand(0), op->getResult(0), axis);
}

Channels mapTranspose(tosa::TransposeOp op, int64_t axis) {
  return mapThroughTranspose(op.getInput1(), axis,
                             SmallVector<int64_t>(op.getPerms()));
}

Channels mapReverse(tosa::ReverseOp op, int64_t axis) {
  Channels map = keepChannels(op.getInput1(), axis);
  if (map && axis == int64_t(op.getAxis()))
    std::reverse(map->channels.begin(), map->channels.end());
  return map;
}

/// An element of a `tosa.const_shape`.
std::optional<int64_t> getShapeValue(Value shape, int64_t index) {
  SmallVector<int64_t> values;
  Operation *constant = shape.getDefiningOp();
  if (!constant || !tosa::getConstShapeValues(constant, values) ||
      index >= int64_t(values.size()))
    return std::nullopt;
  return values[index];
}

Channels mapTile(tosa::TileOp op, int64_t axis) {
  RankedTensorType type = getTensorType(op.getInput1());
  if (!type || axis >= type.getRank() || type.getDimSize(axis) <= 0)
    return std::nullopt;
  return mapEach(op.getResult(), axis, [&](int64_t position) {
    return position % type.getDimSize(axis);
  });
}

Channels mapSlice(tosa::SliceOp op, int64_t axis) {
  std::optional<int64_t> start = getShapeValue(op.getStart(), axis);
  if (!start)
    return std::nullopt;
  return mapEach(op.getResult(), axis,
                 [&](int64_t position) { return *start + position; });
}

/// [N, K, C] at [N, W]: C keeps its place.
Channels mapGather(Operation *op, int64_t axis) {
  return keepOtherChannels(op, axis, /*worksAlong=*/1);
}

Channels mapNothing(Operation *, int64_t) { return std::nullopt; }

/// A window that moves over [N, H, W, C], or over [N, C, H, W].
template <int64_t channelAxis> Channels mapPool(Operation *op, int64_t axis) {
  return axis == 0 || axis == channelAxis
             ? keepChannels(op->getOperand(0), axis)
             : std::nullopt;
}

template <typename Op> Channels mapReduction(Op op, int64_t axis) {
  return keepOtherChannels(op, axis, op.getAxis());
}

/// The channels of `source` begin after `low` others, which are filled in.
Channels mapPadded(Value source, Value result, int64_t axis,
                   std::optional<int64_t> low) {
  RankedTensorType type = getTensorType(source);
  if (!low || !type || axis >= type.getRank() || type.isDynamicDim(axis))
    return std::nullopt;
  return mapEach(result, axis, [&](int64_t position) {
    bool isOwn = position >= *low && position < *low + type.getDimSize(axis);
    return isOwn ? position - *low : ChannelMap::kNone;
  });
}

Channels mapPad(tosa::PadOp op, int64_t axis) {
  return mapPadded(op.getInput1(), op.getResult(), axis,
                   getShapeValue(op.getPadding(), 2 * axis));
}

Channels mapTensorPad(tensor::PadOp op, int64_t axis) {
  ArrayRef<int64_t> low = op.getStaticLow();
  bool isKnown =
      axis < int64_t(low.size()) && !ShapedType::isDynamic(low[axis]);
  return mapPadded(op.getSource(), op.getResult(), axis,
                   isKnown ? std::optional(low[axis]) : std::nullopt);
}

Channels mapLinalgTranspose(linalg::TransposeOp op, int64_t axis) {
  return mapThroughTranspose(op.getInput(), axis, op.getPermutation());
}

Channels mapBroadcast(linalg::BroadcastOp op, int64_t axis) {
  Channels map = keepChannels(op.getInput(), axis);
  // The axes of the operand are those of the result that are not added.
  if (map)
    for (int64_t added : op.getDimensions())
      map->axis += added <= map->axis;
  return map;
}

Channels mapExtractSlice(tensor::ExtractSliceOp op, int64_t axis) {
  if (axis >= op.getSourceType().getRank() ||
      op.getSourceType().getRank() != op.getType().getRank() ||
      op.isDynamicOffset(axis) || op.isDynamicStride(axis))
    return std::nullopt;
  int64_t start = op.getStaticOffset(axis), step = op.getStaticStride(axis);
  return mapEach(op.getResult(), axis,
                 [&](int64_t position) { return start + step * position; });
}

/// Operands side by side.
template <typename Op, int64_t (*getAxis)(Op)>
struct ConcatMovement : MovementBase<ConcatMovement<Op, getAxis>, Op,
                                     Movement::Permute, mapNothing> {
  SmallVector<unsigned, 4> getMovedOperands(Operation *op) const {
    return llvm::to_vector<4>(llvm::seq(0u, op->getNumOperands()));
  }
  unsigned getNumDataOperands(Operation *op) const {
    return op->getNumOperands();
  }
  Channels mapChannels(Operation *op, unsigned operand, int64_t axis) const {
    if (axis != getAxis(cast<Op>(op)))
      return keepChannels(op->getOperand(operand), axis);
    int64_t start = 0, size = 0;
    for (unsigned number = 0; number <= operand; ++number) {
      RankedTensorType type = getTensorType(op->getOperand(number));
      if (!type || axis >= type.getRank() || type.isDynamicDim(axis))
        return std::nullopt;
      start += size;
      size = type.getDimSize(axis);
    }
    return mapPadded(op->getOperand(operand), op->getResult(0), axis, start);
  }
};

int64_t getTosaAxis(tosa::ConcatOp op) { return op.getAxis(); }
int64_t getTensorAxis(tensor::ConcatOp op) { return op.getDim(); }

struct GatherMovement : MovementBase<GatherMovement, tosa::GatherOp,
                                     Movement::Select, mapGather> {
  unsigned getNumDataOperands(Operation *) const { return 2; }
};

struct ScatterMovement : MovementBase<ScatterMovement, tosa::ScatterOp,
                                      Movement::Select, mapNothing> {
  SmallVector<unsigned, 4> getMovedOperands(Operation *) const {
    return {0, 2};
  }
  unsigned getNumDataOperands(Operation *) const { return 3; }
};

template <typename Op>
struct Reduction : ReductionOpInterface::ExternalModel<Reduction<Op>, Op> {
  int64_t getReducedAxis(Operation *op) const { return cast<Op>(op).getAxis(); }
};

template <typename Op>
using ReduceMovement = PlainMovement<Op, Movement::Extreme, mapReduction<Op>>;

template <typename Op>
using ReshapeMovement = PlainMovement<Op, Movement::Permute, mapReshape>;

struct PadMovement
    : MovementBase<PadMovement, tosa::PadOp, Movement::Fill, mapPad> {
  std::optional<float> getFill(Operation *op) const {
    Operation *constant =
        tpc::getConstantOp(cast<tosa::PadOp>(op).getPadConst());
    std::optional<ConstantFloats> value =
        constant ? ConstantFloats::get(constant->getResult(0)) : std::nullopt;
    if (!value || value->values().size() != 1)
      return std::nullopt;
    return value->values().front();
  }
  void setFill(Operation *op, OpBuilder &builder, float value) const {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(op);
    OpOperand &operand = cast<tosa::PadOp>(op).getPadConstMutable();
    Operation *old = operand.get().getDefiningOp();
    operand.set(createConstant(builder, op->getLoc(),
                               RankedTensorType::get(1, builder.getF32Type()),
                               value, "fill"));
    eraseUnused(old);
  }
};

/// The maximum is also taken with what the result holds before.
template <typename Op, int64_t channelAxis>
struct LinalgMaxPoolMovement
    : MovementBase<LinalgMaxPoolMovement<Op, channelAxis>, Op,
                   Movement::Extreme, mapPool<channelAxis>> {
  std::optional<Movement> getMovement(Operation *op) const {
    auto fill = cast<Op>(op)
                    .getOutputs()
                    .front()
                    .template getDefiningOp<linalg::FillOp>();
    FloatAttr value;
    if (!fill || !matchPattern(fill.getInputs().front(), m_Constant(&value)) ||
        !value.getValue().isInfinity() || !value.getValue().isNegative())
      return std::nullopt;
    return Movement::Extreme;
  }
};

struct TensorPadMovement : MovementBase<TensorPadMovement, tensor::PadOp,
                                        Movement::Fill, mapTensorPad> {
  std::optional<float> getFill(Operation *op) const {
    FloatAttr value;
    Value padded = cast<tensor::PadOp>(op).getConstantPaddingValue();
    if (!padded || !matchPattern(padded, m_Constant(&value)))
      return std::nullopt;
    return static_cast<float>(value.getValueAsDouble());
  }
  void setFill(Operation *op, OpBuilder &builder, float value) const {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(op);
    OpOperand &operand =
        op->getRegion(0).front().getTerminator()->getOpOperand(0);
    Operation *old = operand.get().getDefiningOp();
    operand.set(arith::ConstantOp::create(builder, op->getLoc(),
                                          builder.getF32FloatAttr(value)));
    eraseUnused(old);
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Registration
//===----------------------------------------------------------------------===//

template <template <typename> typename Model, typename... Ops>
static void attach(MLIRContext *context) {
  (Ops::template attachInterface<Model<Ops>>(*context), ...);
}

template <typename Op, Movement movement, auto map>
static void attachMovement(MLIRContext *context) {
  Op::template attachInterface<PlainMovement<Op, movement, map>>(*context);
}

static void attachTosa(MLIRContext *context, tosa::TosaDialect *) {
  attachTosaBatchModels(context);
  attach<PlainElementwise, tosa::AbsOp, tosa::AddOp,
         tosa::ArithmeticRightShiftOp, tosa::BitwiseAndOp, tosa::BitwiseNotOp,
         tosa::BitwiseOrOp, tosa::BitwiseXorOp, tosa::CastOp, tosa::CeilOp,
         tosa::ClampOp, tosa::ClzOp, tosa::CosOp, tosa::EqualOp, tosa::ErfOp,
         tosa::ExpOp, tosa::FloorOp, tosa::GreaterEqualOp, tosa::GreaterOp,
         tosa::IdentityOp, tosa::IntDivOp, tosa::LogOp, tosa::LogicalAndOp,
         tosa::LogicalLeftShiftOp, tosa::LogicalNotOp, tosa::LogicalOrOp,
         tosa::LogicalRightShiftOp, tosa::LogicalXorOp, tosa::MaximumOp,
         tosa::MinimumOp, tosa::PowOp, tosa::ReciprocalOp, tosa::RsqrtOp,
         tosa::SelectOp, tosa::SigmoidOp, tosa::SinOp, tosa::SubOp,
         tosa::TanhOp>(context);
  // The operands that follow are shifts, zero points and a table.
  tosa::MulOp::attachInterface<Elementwise<tosa::MulOp, 2>>(*context);
  tosa::NegateOp::attachInterface<Elementwise<tosa::NegateOp, 1>>(*context);
  tosa::TableOp::attachInterface<Elementwise<tosa::TableOp, 1>>(*context);
  tosa::RescaleOp::attachInterface<RescaleElementwise>(*context);

  attachMovement<tosa::IdentityOp, Movement::Permute, mapIdentity>(context);
  attachMovement<tosa::TransposeOp, Movement::Permute, mapTranspose>(context);
  attachMovement<tosa::ReverseOp, Movement::Permute, mapReverse>(context);
  attachMovement<tosa::TileOp, Movement::Repeat, mapTile>(context);
  attachMovement<tosa::SliceOp, Movement::Select, mapSlice>(context);
  attachMovement<tosa::MaxPool2dOp, Movement::Extreme, mapPool<3>>(context);
  attachMovement<tosa::AvgPool2dOp, Movement::Average, mapPool<3>>(context);
  attach<ReshapeMovement, tosa::ReshapeOp>(context);
  tosa::ConcatOp::attachInterface<ConcatMovement<tosa::ConcatOp, getTosaAxis>>(
      *context);
  tosa::GatherOp::attachInterface<GatherMovement>(*context);
  tosa::ScatterOp::attachInterface<ScatterMovement>(*context);
  tosa::PadOp::attachInterface<PadMovement>(*context);
  attach<ReduceMovement, tosa::ReduceMaxOp, tosa::ReduceMinOp>(context);
  attach<Reduction, tosa::ReduceAllOp, tosa::ReduceAnyOp, tosa::ReduceMaxOp,
         tosa::ReduceMinOp, tosa::ReduceProductOp, tosa::ReduceSumOp>(context);
}

static void attachLinalg(MLIRContext *context, linalg::LinalgDialect *) {
  attach<LinalgElementwise, linalg::ExpOp, linalg::LogOp, linalg::AbsOp,
         linalg::CeilOp, linalg::FloorOp, linalg::NegFOp, linalg::ReciprocalOp,
         linalg::RoundOp, linalg::SqrtOp, linalg::RsqrtOp, linalg::SquareOp,
         linalg::TanhOp, linalg::ErfOp, linalg::AddOp, linalg::SubOp,
         linalg::MulOp, linalg::DivOp, linalg::DivUnsignedOp, linalg::MaxOp,
         linalg::MinOp, linalg::PowFOp, linalg::SelectOp>(context);
  attachMovement<linalg::TransposeOp, Movement::Permute, mapLinalgTranspose>(
      context);
  attachMovement<linalg::BroadcastOp, Movement::Repeat, mapBroadcast>(context);
  linalg::PoolingNhwcMaxOp::attachInterface<
      LinalgMaxPoolMovement<linalg::PoolingNhwcMaxOp, 3>>(*context);
  linalg::PoolingNchwMaxOp::attachInterface<
      LinalgMaxPoolMovement<linalg::PoolingNchwMaxOp, 1>>(*context);
}

static void attachTensor(MLIRContext *context, tensor::TensorDialect *) {
  attach<PlainElementwise, tensor::CastOp>(context);
  attach<ReshapeMovement, tensor::CastOp, tensor::ReshapeOp,
         tensor::CollapseShapeOp, tensor::ExpandShapeOp>(context);
  tensor::ConcatOp::attachInterface<
      ConcatMovement<tensor::ConcatOp, getTensorAxis>>(*context);
  attachMovement<tensor::ExtractSliceOp, Movement::Select, mapExtractSlice>(
      context);
  tensor::PadOp::attachInterface<TensorPadMovement>(*context);
}

static void attachQuant(MLIRContext *context, quant::QuantDialect *) {
  attach<QuantElementwise, quant::QuantizeCastOp, quant::DequantizeCastOp,
         quant::StorageCastOp>(context);
}

static void attachTpc(MLIRContext *context, tpc::TpcDialect *) {
  tpc::QuantizeOp::attachInterface<PointElementwise>(*context);
}

void mct::registerOpModels(DialectRegistry &registry) {
  registry.addExtension(attachTosa);
  registry.addExtension(attachLinalg);
  registry.addExtension(attachTensor);
  registry.addExtension(attachQuant);
  registry.addExtension(attachTpc);
}
