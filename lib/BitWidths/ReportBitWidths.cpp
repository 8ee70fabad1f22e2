// SPDX-License-Identifier: Apache-2.0
#include "BitWidthsFile.h"

#include "mct/IR/Records.h"
#include "mct/Support/PassSideOutputs.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;
using namespace mct;
using namespace mct::bit_widths;

void mct::bit_widths::reportBitWidths(mlir::MLIRContext *context,
                                      ArrayRef<OperatorPoints> choices,
                                      const Assignment &assignment,
                                      const ResourceUse &use) {
  constexpr size_t kMostPoints = 256;
  auto *findings = support::PassSideOutputsScope::find(context);
  if (!findings)
    return;
  support::PassSideOutputs::BitWidths &reported = findings->bitWidths.emplace();
  for (const OperatorPoints &of : choices)
    reported.operators.push_back(of.name.str());
  support::PassSideOutputs::BitWidths::Choice chosen{
      double(use.weights) / 8, assignment.sum.value_or(std::nan("")),
      assignment.alternatives, true};
  ArrayRef<Assignment::Point> front;
  if (assignment.front)
    front = *assignment.front;
  bool isOnFront = false;
  size_t step = divideCeil(std::max<size_t>(front.size(), 1), kMostPoints);
  for (auto [number, point] : enumerate(front)) {
    bool isChosen = point.alternatives == chosen.alternatives;
    isOnFront |= isChosen;
    if (isChosen || number % step == 0 || number + 1 == front.size())
      reported.front.push_back(
          {double(point.weights) / 8, point.sum, point.alternatives, isChosen});
  }
  if (!isOnFront)
    reported.front.insert(
        find_if(reported.front,
                [&](const auto &point) { return point.bytes > chosen.bytes; }),
        std::move(chosen));
}

std::string
mct::bit_widths::describeAlternatives(ArrayRef<OperatorPoints> choices,
                                      ArrayRef<unsigned> alternatives) {
  std::string text;
  for (auto [of, index] : zip(choices, alternatives)) {
    text += (text.empty() ? "" : ", ") + of.name.str();
    StringRef separator = " ";
    for (tpc::QuantizeOp point : of.points) {
      text += (separator + Twine(getBitsIn(point, index))).str();
      separator = "/";
    }
  }
  return text;
}

void mct::bit_widths::remarkBitWidths(
    mlir::func::FuncOp entry, StringRef pass, ArrayRef<OperatorPoints> choices,
    const std::optional<Sensitivities> &sensitivities,
    const Assignment &assignment) {
  if (assignment.contract)
    emitRecord(entry, pass, assignment.contract->toRecord());
  for (auto [number, of] : enumerate(choices)) {
    unsigned index = assignment.alternatives[number];
    Record record(Decision::Applied, Reason::AssignedBits);
    record << "'" << of.name.getValue() << "' takes alternative "
           << named("alternative", int64_t(index)) << " of "
           << named("alternatives", of.numAlternatives()) << ":";
    StringRef separator = " ";
    for (tpc::QuantizeOp point : of.points) {
      StringRef what =
          point.isActivation() ? StringRef("activation") : *point.getWeight();
      record << separator << what << " " << named(what, getBitsIn(point, index))
             << " bits";
      separator = ", ";
    }
    if (sensitivities)
      record << ", which costs "
             << named("sensitivity", sensitivities->distances[number][index]);
    emitRecord(of.points.front(), pass, record);
  }
}
