// SPDX-License-Identifier: Apache-2.0
#include "mct/Transforms/Passes.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "tpc_dialect/IR/TpcDialect.h"
#include "llvm/ADT/STLExtras.h"

namespace mct {
#define GEN_PASS_DEF_UPDATECONCATTHRESHOLDSPASS
#include "mct/Transforms/Passes.h.inc"
} // namespace mct

using namespace mlir;
using namespace mct;

/// Whether the result holds values of the first operand and no others.
static bool movesValues(Operation *op) {
  return isa<tosa::ReshapeOp, tosa::TransposeOp, tosa::SliceOp, tosa::ReverseOp,
             tosa::TileOp, tosa::IdentityOp, tosa::MaxPool2dOp,
             tensor::ReshapeOp, tensor::CollapseShapeOp, tensor::ExpandShapeOp,
             tensor::ExtractSliceOp>(op);
}

/// The activation point whose values `value` holds, when nobody else reads
/// them.
static tpc::QuantizeOp getProducer(Value value) {
  while (value.hasOneUse()) {
    Operation *op = value.getDefiningOp();
    if (auto point = dyn_cast_or_null<tpc::QuantizeOp>(op))
      return point.isActivation() ? point : tpc::QuantizeOp();
    if (!op || !movesValues(op))
      break;
    value = op->getOperand(0);
  }
  return {};
}

/// The point of an op's result: its only reader.
static tpc::QuantizeOp getPoint(Operation *op) {
  if (!op->getResult(0).hasOneUse())
    return {};
  auto point = dyn_cast<tpc::QuantizeOp>(*op->getResult(0).user_begin());
  return point && point.isActivation() ? point : tpc::QuantizeOp();
}

namespace {
/// What the two kinds of threshold quantizers have in common.
struct ThresholdGrid {
  TypeID kind;
  double threshold;
  unsigned bits;
  bool isSigned;

  static std::optional<ThresholdGrid> get(tpc::QuantizerAttrInterface grid) {
    if (auto powerOfTwo = dyn_cast_or_null<tpc::PowerOfTwoAttr>(grid))
      return read(powerOfTwo);
    if (auto symmetric = dyn_cast_or_null<tpc::SymmetricAttr>(grid))
      return read(symmetric);
    return std::nullopt;
  }

private:
  template <typename Grid> static std::optional<ThresholdGrid> read(Grid grid) {
    if (grid.getThreshold().size() != 1)
      return std::nullopt;
    return ThresholdGrid{TypeID::get<Grid>(), grid.getThreshold().front(),
                         grid.getBits(), grid.getIsSigned()};
  }
};

struct UpdateConcatThresholdsPass
    : public mct::impl::UpdateConcatThresholdsPassBase<
          UpdateConcatThresholdsPass> {
  using UpdateConcatThresholdsPassBase::UpdateConcatThresholdsPassBase;

  void runOnOperation() override {
    // What one concatenation hands to another one, that one hands on.
    SmallVector<Operation *> concats;
    getOperation().walk([&](Operation *op) {
      if (isa<tosa::ConcatOp, tensor::ConcatOp>(op))
        concats.push_back(op);
    });
    for (Operation *concat : llvm::reverse(concats))
      update(concat);
  }

private:
  void update(Operation *concat) {
    tpc::QuantizeOp result = getPoint(concat);
    if (!result)
      return;
    std::optional<ThresholdGrid> wanted =
        ThresholdGrid::get(result.getParametersAttr());
    if (!wanted)
      return leave(result, [](Diagnostic &remark) {
        remark << "has no threshold to hand to its operands";
      });
    for (Value operand : concat->getOperands())
      if (tpc::QuantizeOp producer = getProducer(operand))
        update(producer, result, *wanted);
  }

  void update(tpc::QuantizeOp producer, tpc::QuantizeOp result,
              const ThresholdGrid &wanted) {
    std::optional<ThresholdGrid> present =
        ThresholdGrid::get(producer.getParametersAttr());
    auto refuse = [&](llvm::function_ref<void(Diagnostic &)> why) {
      leave(producer, [&](Diagnostic &remark) {
        remark << "keeps its parameters before the concatenation '"
               << result.getPointName() << "': ";
        why(remark);
      });
    };
    if (!present || present->kind != wanted.kind)
      return refuse(
          [](Diagnostic &remark) { remark << "their methods differ"; });
    // A grid of another width has other levels, whatever its threshold.
    if (present->bits != wanted.bits)
      return refuse([&](Diagnostic &remark) {
        remark << "it has " << present->bits << " bits, the other "
               << wanted.bits;
      });
    if (present->isSigned && !wanted.isSigned)
      return refuse([](Diagnostic &remark) {
        remark << "it is signed, the other is not";
      });
    tpc::OpQuantConfigAttr config = producer.getActivationConfig();
    if (!present->isSigned && wanted.isSigned && config &&
        config.getSignedness() == tpc::Signedness::Unsigned)
      return refuse([](Diagnostic &remark) {
        remark << "the target wants it unsigned, the other is signed";
      });
    producer.setParametersAttr(result.getParametersAttr());
  }

  void leave(tpc::QuantizeOp point,
             llvm::function_ref<void(Diagnostic &)> explain) {
    if (!remarks)
      return;
    InFlightDiagnostic remark = point->emitRemark();
    remark << "'" << point.getPointName() << "' ";
    explain(*remark.getUnderlyingDiagnostic());
  }
};
} // namespace
