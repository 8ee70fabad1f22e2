// SPDX-License-Identifier: Apache-2.0
#include "Rejections.h"

#include <cmath>

using namespace mlir;
using namespace mct;
using namespace mct::corrections;

FailureOr<std::optional<execution::SampleParts>>
mct::corrections::divideToJudge(
    Location loc, const execution::Executor &executor,
    const std::shared_ptr<const execution::SampleSource> &samples,
    bool judges) {
  int64_t available = samples->numSamples();
  if (!judges || !executor.allowsPartialUnits() || available < kFewSamples)
    return std::optional<execution::SampleParts>();
  auto parts = available >= kManySamples
                   ? execution::holdOut(samples, kJudgingSamples)
                   : execution::halve(samples);
  if (!parts)
    return emitError(loc) << llvm::toString(parts.takeError());
  return std::move(*parts);
}

void Rejection::add(Layer *layer, const JudgedLoss &own) {
  if (layers.empty() || own.loss.loss > loss.loss.loss)
    loss = own;
  layers.push_back(layer);
}

tpc::RejectedCorrection
mct::corrections::describeRejection(StringRef correction,
                                    const JudgedLoss &loss) {
  tpc::RejectedCorrection rejected;
  rejected.correction = correction.str();
  rejected.output = loss.output;
  rejected.loss = loss.loss.loss;
  if (std::isfinite(loss.loss.standardError))
    rejected.standardError = loss.loss.standardError;
  rejected.samples = loss.loss.samples;
  return rejected;
}

Record mct::corrections::describeLoss(const JudgedLoss &loss) {
  Record record(Reason::ErrorWouldRise);
  if (loss.output)
    record << "result " << named("output", *loss.output)
           << " of the network has ";
  else
    record << "the means of its channels have ";
  record << named("loss", loss.loss.loss, "%.2f") << " dB more error with it";
  if (std::isfinite(loss.loss.standardError))
    record << ", with a standard error of "
           << named("standard_error", loss.loss.standardError, "%.2f") << " dB";
  record << ", on " << named("samples", loss.loss.samples) << " samples";
  return record;
}

void Rejection::record(const Layers &found, StringRef correction,
                       StringRef pass) const {
  func::FuncOp function = found.function;
  tpc::RejectedCorrection rejected = describeRejection(correction, loss);
  for (Layer *layer : layers)
    rejected.layers.push_back(tpc::QuantizeOp(layer->point).getUniqueName());
  tpc::addRejectedCorrection(function, rejected);
  if (pass.empty())
    return;
  for (Layer *layer : layers)
    emitRecord(layer->op.getOperation(), pass, describeLoss(loss),
               "'" + layer->op.getOperation()->getName().getStringRef() +
                   "' op is not corrected: ");
}
