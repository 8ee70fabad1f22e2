// SPDX-License-Identifier: Apache-2.0
#include "mct/Analysis/OpInterfaces.h"
#include "mct/Transforms/Passes.h"
#include "tpc_dialect/IR/TpcDialect.h"
#include "llvm/ADT/STLExtras.h"

namespace mct {
#define GEN_PASS_DEF_UPDATECONCATTHRESHOLDSPASS
#include "mct/Transforms/Passes.h.inc"
} // namespace mct

using namespace mlir;
using namespace mct;

/// The activation point whose values `value` holds, when nobody else reads
/// them. A number that is filled in beside them has no point of its own; the
/// one behind the concatenation quantizes it as before.
static tpc::QuantizeOp getProducer(Value value) {
  while (value.hasOneUse()) {
    Operation *op = value.getDefiningOp();
    if (auto point = dyn_cast_or_null<tpc::QuantizeOp>(op))
      return point.isActivation() ? point : tpc::QuantizeOp();
    OpOperand *moved = op ? getMovedOperand(op, takesElements) : nullptr;
    if (!moved)
      break;
    value = moved->get();
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

/// Whether the op puts several operands side by side.
static bool isConcat(Operation *op) {
  auto moving = dyn_cast<DataMovementOpInterface>(op);
  return moving && moving.getMovement() == Movement::Permute &&
         moving.getMovedOperands().size() > 1;
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
    : public WithOpModels<mct::impl::UpdateConcatThresholdsPassBase<
          UpdateConcatThresholdsPass>> {
  using WithOpModels::WithOpModels;

  void runOnOperation() override {
    // What one concatenation hands to another one, that one hands on.
    SmallVector<Operation *> concats;
    getOperation().walk([&](Operation *op) {
      if (isConcat(op))
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
    for (unsigned number :
         cast<DataMovementOpInterface>(concat).getMovedOperands())
      if (tpc::QuantizeOp producer = getProducer(concat->getOperand(number)))
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
