// SPDX-License-Identifier: Apache-2.0
//
// What the interfaces of OpInterfaces.h say of ops that are not ours.
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

struct IdentityMovement
    : DataMovementOpInterface::ExternalModel<IdentityMovement,
                                             tosa::IdentityOp> {
  std::optional<Movement> getMovement(Operation *) const {
    return Movement::Permute;
  }
  std::optional<ChannelMap> mapChannels(Operation *op, unsigned,
                                        int64_t axis) const {
    return keepChannels(op->getOperand(0), axis);
  }
};

/// Another shape of the same elements.
template <typename Op>
struct ReshapeMovement
    : DataMovementOpInterface::ExternalModel<ReshapeMovement<Op>, Op> {
  std::optional<Movement> getMovement(Operation *) const {
    return Movement::Permute;
  }
  std::optional<ChannelMap> mapChannels(Operation *op, unsigned,
                                        int64_t axis) const {
    return mapThroughReshape(op->getOperand(0), op->getResult(0), axis);
  }
};

struct TransposeMovement
    : DataMovementOpInterface::ExternalModel<TransposeMovement,
                                             tosa::TransposeOp> {
  std::optional<Movement> getMovement(Operation *) const {
    return Movement::Permute;
  }
  std::optional<ChannelMap> mapChannels(Operation *op, unsigned,
                                        int64_t axis) const {
    return mapThroughTranspose(
        op->getOperand(0), axis,
        SmallVector<int64_t>(cast<tosa::TransposeOp>(op).getPerms()));
  }
};

struct ReverseMovement
    : DataMovementOpInterface::ExternalModel<ReverseMovement, tosa::ReverseOp> {
  std::optional<Movement> getMovement(Operation *) const {
    return Movement::Permute;
  }
  std::optional<ChannelMap> mapChannels(Operation *op, unsigned,
                                        int64_t axis) const {
    std::optional<ChannelMap> map = keepChannels(op->getOperand(0), axis);
    if (map && axis == int64_t(cast<tosa::ReverseOp>(op).getAxis()))
      std::reverse(map->channels.begin(), map->channels.end());
    return map;
  }
};

/// Operands side by side.
template <typename Op, int64_t (*getAxis)(Op)>
struct ConcatMovement
    : DataMovementOpInterface::ExternalModel<ConcatMovement<Op, getAxis>, Op> {
  std::optional<Movement> getMovement(Operation *) const {
    return Movement::Permute;
  }
  SmallVector<unsigned, 4> getMovedOperands(Operation *op) const {
    return llvm::to_vector<4>(llvm::seq(0u, op->getNumOperands()));
  }
  unsigned getNumDataOperands(Operation *op) const {
    return op->getNumOperands();
  }
  std::optional<ChannelMap> mapChannels(Operation *op, unsigned operand,
                                        int64_t axis) const {
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
    return mapEach(op->getResult(0), axis, [&](int64_t position) {
      bool isOwn = position >= start && position < start + size;
      return isOwn ? position - start : ChannelMap::kNone;
    });
  }
};

int64_t getTosaAxis(tosa::ConcatOp op) { return op.getAxis(); }
int64_t getTensorAxis(tensor::ConcatOp op) { return op.getDim(); }

/// An element of a `tosa.const_shape`.
std::optional<int64_t> getShapeValue(Value shape, int64_t index) {
  SmallVector<int64_t> values;
  Operation *constant = shape.getDefiningOp();
  if (!constant || !tosa::getConstShapeValues(constant, values) ||
      index >= int64_t(values.size()))
    return std::nullopt;
  return values[index];
}

struct TileMovement
    : DataMovementOpInterface::ExternalModel<TileMovement, tosa::TileOp> {
  std::optional<Movement> getMovement(Operation *) const {
    return Movement::Repeat;
  }
  std::optional<ChannelMap> mapChannels(Operation *op, unsigned,
                                        int64_t axis) const {
    RankedTensorType type = getTensorType(op->getOperand(0));
    if (!type || axis >= type.getRank() || type.getDimSize(axis) <= 0)
      return std::nullopt;
    return mapEach(op->getResult(0), axis, [&](int64_t position) {
      return position % type.getDimSize(axis);
    });
  }
};

struct SliceMovement
    : DataMovementOpInterface::ExternalModel<SliceMovement, tosa::SliceOp> {
  std::optional<Movement> getMovement(Operation *) const {
    return Movement::Select;
  }
  std::optional<ChannelMap> mapChannels(Operation *op, unsigned,
                                        int64_t axis) const {
    std::optional<int64_t> start =
        getShapeValue(cast<tosa::SliceOp>(op).getStart(), axis);
    if (!start)
      return std::nullopt;
    return mapEach(op->getResult(0), axis,
                   [&](int64_t position) { return *start + position; });
  }
};

/// [N, K, C] at [N, W]: C keeps its place.
struct GatherMovement
    : DataMovementOpInterface::ExternalModel<GatherMovement, tosa::GatherOp> {
  std::optional<Movement> getMovement(Operation *) const {
    return Movement::Select;
  }
  unsigned getNumDataOperands(Operation *) const { return 2; }
  std::optional<ChannelMap> mapChannels(Operation *op, unsigned,
                                        int64_t axis) const {
    return keepOtherChannels(op, axis, /*worksAlong=*/1);
  }
};

struct ScatterMovement
    : DataMovementOpInterface::ExternalModel<ScatterMovement, tosa::ScatterOp> {
  std::optional<Movement> getMovement(Operation *) const {
    return Movement::Select;
  }
  SmallVector<unsigned, 4> getMovedOperands(Operation *) const {
    return {0, 2};
  }
  unsigned getNumDataOperands(Operation *) const { return 3; }
  std::optional<ChannelMap> mapChannels(Operation *, unsigned, int64_t) const {
    return std::nullopt;
  }
};

/// A window that moves over [N, H, W, C].
template <typename Op, Movement movement>
struct PoolMovement
    : DataMovementOpInterface::ExternalModel<PoolMovement<Op, movement>, Op> {
  std::optional<Movement> getMovement(Operation *) const { return movement; }
  std::optional<ChannelMap> mapChannels(Operation *op, unsigned,
                                        int64_t axis) const {
    return axis == 0 || axis == 3 ? keepChannels(op->getOperand(0), axis)
                                  : std::nullopt;
  }
};

template <typename Op>
struct Reduction : ReductionOpInterface::ExternalModel<Reduction<Op>, Op> {
  int64_t getReducedAxis(Operation *op) const { return cast<Op>(op).getAxis(); }
};

template <typename Op>
struct ReduceMovement
    : DataMovementOpInterface::ExternalModel<ReduceMovement<Op>, Op> {
  std::optional<Movement> getMovement(Operation *) const {
    return Movement::Extreme;
  }
  std::optional<ChannelMap> mapChannels(Operation *op, unsigned,
                                        int64_t axis) const {
    return keepOtherChannels(op, axis, cast<Op>(op).getAxis());
  }
};

struct PadMovement
    : DataMovementOpInterface::ExternalModel<PadMovement, tosa::PadOp> {
  std::optional<Movement> getMovement(Operation *) const {
    return Movement::Fill;
  }
  std::optional<ChannelMap> mapChannels(Operation *op, unsigned,
                                        int64_t axis) const {
    RankedTensorType type = getTensorType(op->getOperand(0));
    std::optional<int64_t> low =
        getShapeValue(cast<tosa::PadOp>(op).getPadding(), 2 * axis);
    if (!low || !type || axis >= type.getRank() || type.isDynamicDim(axis))
      return std::nullopt;
    return mapEach(op->getResult(0), axis, [&](int64_t position) {
      bool isOwn = position >= *low && position < *low + type.getDimSize(axis);
      return isOwn ? position - *low : ChannelMap::kNone;
    });
  }
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

//===----------------------------------------------------------------------===//
// Movement within linalg and tensor
//===----------------------------------------------------------------------===//

struct LinalgTransposeMovement
    : DataMovementOpInterface::ExternalModel<LinalgTransposeMovement,
                                             linalg::TransposeOp> {
  std::optional<Movement> getMovement(Operation *) const {
    return Movement::Permute;
  }
  std::optional<ChannelMap> mapChannels(Operation *op, unsigned,
                                        int64_t axis) const {
    return mapThroughTranspose(op->getOperand(0), axis,
                               cast<linalg::TransposeOp>(op).getPermutation());
  }
};

struct LinalgBroadcastMovement
    : DataMovementOpInterface::ExternalModel<LinalgBroadcastMovement,
                                             linalg::BroadcastOp> {
  std::optional<Movement> getMovement(Operation *) const {
    return Movement::Repeat;
  }
  std::optional<ChannelMap> mapChannels(Operation *op, unsigned,
                                        int64_t axis) const {
    std::optional<ChannelMap> map = keepChannels(op->getOperand(0), axis);
    // The axes of the operand are those of the result that are not added.
    if (map)
      for (int64_t added : cast<linalg::BroadcastOp>(op).getDimensions())
        map->axis += added <= map->axis;
    return map;
  }
};

/// The maximum is also taken with what the result holds before.
template <typename Op, int64_t channelAxis>
struct LinalgMaxPoolMovement : DataMovementOpInterface::ExternalModel<
                                   LinalgMaxPoolMovement<Op, channelAxis>, Op> {
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
  std::optional<ChannelMap> mapChannels(Operation *op, unsigned,
                                        int64_t axis) const {
    return axis == 0 || axis == channelAxis
               ? keepChannels(op->getOperand(0), axis)
               : std::nullopt;
  }
};

struct ExtractSliceMovement
    : DataMovementOpInterface::ExternalModel<ExtractSliceMovement,
                                             tensor::ExtractSliceOp> {
  std::optional<Movement> getMovement(Operation *) const {
    return Movement::Select;
  }
  std::optional<ChannelMap> mapChannels(Operation *op, unsigned,
                                        int64_t axis) const {
    auto slice = cast<tensor::ExtractSliceOp>(op);
    if (axis >= slice.getSourceType().getRank() ||
        slice.getSourceType().getRank() != slice.getType().getRank() ||
        slice.isDynamicOffset(axis) || slice.isDynamicStride(axis))
      return std::nullopt;
    int64_t start = slice.getStaticOffset(axis),
            step = slice.getStaticStride(axis);
    return mapEach(op->getResult(0), axis,
                   [&](int64_t position) { return start + step * position; });
  }
};

struct TensorPadMovement
    : DataMovementOpInterface::ExternalModel<TensorPadMovement, tensor::PadOp> {
  std::optional<Movement> getMovement(Operation *) const {
    return Movement::Fill;
  }
  std::optional<ChannelMap> mapChannels(Operation *op, unsigned,
                                        int64_t axis) const {
    auto pad = cast<tensor::PadOp>(op);
    RankedTensorType type = pad.getSourceType();
    if (axis >= type.getRank() || type.isDynamicDim(axis) ||
        ShapedType::isDynamic(pad.getStaticLow()[axis]))
      return std::nullopt;
    int64_t low = pad.getStaticLow()[axis];
    return mapEach(op->getResult(0), axis, [&](int64_t position) {
      bool isOwn = position >= low && position < low + type.getDimSize(axis);
      return isOwn ? position - low : ChannelMap::kNone;
    });
  }
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
  // What follows are shifts, zero points and a table.
  tosa::MulOp::attachInterface<Elementwise<tosa::MulOp, 2>>(*context);
  tosa::NegateOp::attachInterface<Elementwise<tosa::NegateOp, 1>>(*context);
  tosa::TableOp::attachInterface<Elementwise<tosa::TableOp, 1>>(*context);
  tosa::RescaleOp::attachInterface<RescaleElementwise>(*context);

  tosa::IdentityOp::attachInterface<IdentityMovement>(*context);
  tosa::ReshapeOp::attachInterface<ReshapeMovement<tosa::ReshapeOp>>(*context);
  tosa::TransposeOp::attachInterface<TransposeMovement>(*context);
  tosa::ReverseOp::attachInterface<ReverseMovement>(*context);
  tosa::ConcatOp::attachInterface<ConcatMovement<tosa::ConcatOp, getTosaAxis>>(
      *context);
  tosa::TileOp::attachInterface<TileMovement>(*context);
  tosa::SliceOp::attachInterface<SliceMovement>(*context);
  tosa::GatherOp::attachInterface<GatherMovement>(*context);
  tosa::ScatterOp::attachInterface<ScatterMovement>(*context);
  tosa::PadOp::attachInterface<PadMovement>(*context);
  tosa::MaxPool2dOp::attachInterface<
      PoolMovement<tosa::MaxPool2dOp, Movement::Extreme>>(*context);
  tosa::AvgPool2dOp::attachInterface<
      PoolMovement<tosa::AvgPool2dOp, Movement::Average>>(*context);
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
  linalg::TransposeOp::attachInterface<LinalgTransposeMovement>(*context);
  linalg::BroadcastOp::attachInterface<LinalgBroadcastMovement>(*context);
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
  tensor::ExtractSliceOp::attachInterface<ExtractSliceMovement>(*context);
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
