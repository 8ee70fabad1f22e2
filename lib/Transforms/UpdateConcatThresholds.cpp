// SPDX-License-Identifier: Apache-2.0
#include "mct/IR/Records.h"
#include "mct/Interfaces/OpInterfaces.h"
#include "mct/Transforms/Passes.h"
#include "mct/Transforms/PreservedParameters.h"
#include "mct/Transforms/SelectedParameters.h"
#include "tpc_dialect/IR/TpcDialect.h"
#include "llvm/ADT/STLExtras.h"

namespace mct {
#define GEN_PASS_DEF_UPDATECONCATTHRESHOLDSPASS
#include "mct/Transforms/Passes.h.inc"
} // namespace mct

using namespace mlir;
using namespace mct;

/// Returns the activation point whose values `value` holds, if they have no
/// other users. A filled-in number does not have a point; the point after the
/// concatenation quantizes it, as before.
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

/// Returns the point of an op's result, if it is the only user.
static tpc::QuantizeOp getPoint(Operation *op) {
  if (!op->getResult(0).hasOneUse())
    return {};
  auto point = dyn_cast<tpc::QuantizeOp>(*op->getResult(0).user_begin());
  return point && point.isActivation() ? point : tpc::QuantizeOp();
}

/// Returns whether the op concatenates several operands.
static bool isConcat(Operation *op) {
  auto moving = dyn_cast<DataMovementOpInterface>(op);
  return moving && moving.getMovement() == Movement::Permute &&
         moving.getMovedOperands().size() > 1;
}

namespace {
struct UpdateConcatThresholdsPass
    : public WithOpModels<mct::impl::UpdateConcatThresholdsPassBase<
          UpdateConcatThresholdsPass>> {
  using WithOpModels::WithOpModels;

  void runOnOperation() override {
    // Visit the last concatenation first: those before it pass its threshold
    // on.
    SmallVector<Operation *> concats;
    getOperation().walk([&](Operation *op) {
      if (isConcat(op))
        concats.push_back(op);
    });
    for (Operation *concat : llvm::reverse(concats))
      update(concat);
    sharePreservedParameters(getOperation());
  }

private:
  void update(Operation *concat) {
    tpc::QuantizeOp result = getPoint(concat);
    if (!result)
      return;
    tpc::QuantizerAttrInterface target = result.getParametersAttr();
    if (!target || !target.getGridThreshold())
      return leave(result, Record(Reason::NoThreshold)
                               << "has no threshold to hand to its operands");
    for (unsigned number :
         cast<DataMovementOpInterface>(concat).getMovedOperands())
      if (tpc::QuantizeOp producer = getProducer(concat->getOperand(number)))
        update(producer, result, target);
  }

  void update(tpc::QuantizeOp producer, tpc::QuantizeOp result,
              tpc::QuantizerAttrInterface target) {
    tpc::QuantizerAttrInterface present = producer.getParametersAttr();
    auto refuse = [&](const Record &why) {
      leave(producer, why,
            "keeps its parameters before the concatenation '" +
                result.getPointName().str() + "': ");
    };
    if (!present || !present.getGridThreshold() ||
        present.getQuantizationMethod() != target.getQuantizationMethod())
      return refuse(Reason::MethodsDiffer);
    // A grid of another width has other levels, whatever its threshold.
    if (present.getBits() != target.getBits())
      return refuse(Record(Reason::BitsDiffer)
                    << "it has " << named("bits", int64_t(present.getBits()))
                    << " bits, the other "
                    << named("result_bits", int64_t(target.getBits())));
    if (present.getIsSigned() && !target.getIsSigned())
      return refuse(Record(Reason::SignednessDiffers)
                    << "it is signed, the other is not");
    tpc::OpQuantConfigAttr config = producer.getActivationConfig();
    if (config && config.getFixedScale())
      return refuse(Reason::FixedGrid);
    if (producer.hasImportedParameters())
      return refuse(Reason::ImportedParameters);
    if (!present.getIsSigned() && target.getIsSigned() && config &&
        config.getSignedness() == tpc::Signedness::Unsigned)
      return refuse(
          Record(Reason::SignednessDiffers)
          << "the target requires an unsigned grid, the other one is signed");
    // The rounding of the producer does not change.
    if (std::optional<quantization::Rounding> rounding =
            present.getRoundingMode())
      if (tpc::QuantizerAttrInterface rounded =
              target.withRoundingMode(*rounding))
        target = rounded;
    if (present == target)
      return;
    producer.setQuantizer(target, measureGiven(producer, target));
    if (remarks)
      emitRecord(
          producer, getArgument(),
          Record(Decision::Applied, Reason::TookParameters)
              << "'" << producer.getPointName()
              << "' takes the parameters of the concatenation '"
              << named("result", result.getPointName()) << "': threshold "
              << named("threshold", *present.getGridThreshold()) << " to "
              << named("new_threshold", *target.getGridThreshold()));
  }

  void leave(tpc::QuantizeOp point, const Record &why,
             const Twine &prefix = "") {
    if (remarks)
      emitRecord(point, getArgument(), why,
                 "'" + point.getPointName() + "' " + prefix);
  }
};
} // namespace
