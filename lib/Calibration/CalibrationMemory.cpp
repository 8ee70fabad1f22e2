// SPDX-License-Identifier: Apache-2.0
#include "CalibrationMemory.h"

#include "mct/Execution/SampleParts.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "tpc_dialect/IR/TpcRejections.h"

using namespace mlir;
using namespace mct;
using namespace mct::calibration;

/// A correction is judged by two networks, and measured on a third one.
static constexpr size_t kMostCalibrations = 3;

OwningOpRef<func::FuncOp>
CalibrationMemory::cloneMeasured(func::FuncOp function) {
  func::FuncOp clone = function.clone();
  clone.walk([](tpc::QuantizeOp point) {
    point.removeConfigAttr();
    point.removeCandidatesAttr();
    point.removeGroupAttr();
    point.removeRangeAttr();
    point.removeStatisticsAttr();
    point.removeQuantizer();
    point.removeCorrectionsAttr();
  });
  return clone;
}

llvm::Expected<const Calibration *>
CalibrationMemory::find(func::FuncOp function, ArrayRef<tpc::QuantizeOp> points,
                        const execution::SampleSource &samples,
                        bool needsChannels) const {
  OwningOpRef<func::FuncOp> measured = cloneMeasured(function);
  for (const Calibration &each : calibrations) {
    if ((needsChannels && !each.hasChannels) ||
        each.samples->numSamples() != samples.numSamples() ||
        each.samples->numInputs() != samples.numInputs() ||
        !llvm::all_of(points,
                      [&](tpc::QuantizeOp point) {
                        return each.points.contains(point.getUniqueName());
                      }) ||
        !tpc::areEqualButForRejections(each.function.get(), measured.get()))
      continue;
    llvm::Expected<std::string> known = execution::digestSamples(*each.samples);
    if (!known)
      return known.takeError();
    llvm::Expected<std::string> digest = execution::digestSamples(samples);
    if (!digest)
      return digest.takeError();
    if (*known == *digest)
      return &each;
  }
  return nullptr;
}

void CalibrationMemory::remember(Calibration calibration) {
  // Only one function is compared.
  bool calls =
      calibration.function
          ->walk([](CallOpInterface) { return WalkResult::interrupt(); })
          .wasInterrupted();
  if (calls)
    return;
  calibrations.push_back(std::move(calibration));
  if (calibrations.size() > kMostCalibrations)
    calibrations.pop_front();
}
