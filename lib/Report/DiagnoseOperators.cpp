// SPDX-License-Identifier: Apache-2.0
//
// Rules about operators: how they are matched and fused, and their sums.
#include "DiagnoseParts.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

using namespace mct;
using namespace mct::report;
using llvm::ArrayRef;
using llvm::StringRef;

/// Begins a diagnosis about the point of an operator's result.
static Diagnosis aboutResult(const DiagnosisContext &network,
                             const Operator &op, const Point &point) {
  Diagnosis diagnosis;
  diagnosis.subject = op.name;
  diagnosis.severity = network.getSeverity(point);
  diagnosis.kind = "overrides";
  diagnosis.numbers = {{"share", network.getShare(point)}};
  return diagnosis;
}

static std::string listOps(const Operator &op) {
  std::string text;
  for (const std::string &name : op.ops)
    text += (text.empty() ? "" : ", ") + name;
  return text;
}

static void findUnmatched(const DiagnosisContext &network, Diagnoses &found) {
  // Without a target that matches the module, operator sets are not known.
  if (llvm::all_of(network.report.operators,
                   [](const Operator &op) { return op.operatorSet.empty(); }))
    return;
  for (const Operator &op : network.report.operators) {
    if (isArgument(op))
      continue;
    const Point *point = network.getResultPoint(op.name);
    if (!op.operatorSet.empty() || !point)
      continue;
    Diagnosis diagnosis = aboutResult(network, op, *point);
    diagnosis.cause = quoted(op.name) + " (" + listOps(op) +
                      ") is in no operator set of the target and is quantized "
                      "by default, to " +
                      std::to_string(point->parameters->bits) + " bits.";
    diagnosis.remedy = "Bind it to the operator set that it is in the target "
                       "(tpc.set), or leave it in float.";
    diagnosis.paste = leaveFloat(getInsertedName(*point));
    found.push_back(std::move(diagnosis));
  }
}

/// Returns whether the operator is an element-wise function, as activation
/// functions are.
static bool isActivationFunction(const Operator &op) {
  return op.inputs.size() == 1 && llvm::any_of(op.ops, [](StringRef name) {
           return llvm::is_contained(
               {"tosa.clamp", "tosa.sigmoid", "tosa.tanh", "tosa.erf"}, name);
         });
}

static bool isLayer(const DiagnosisContext &network, const Operator &op) {
  return llvm::is_contained(network.getLayers(), &op);
}

static void findUnfused(const DiagnosisContext &network, Diagnoses &found) {
  for (const Operator &op : network.report.operators) {
    const Point *point = network.getResultPoint(op.name);
    if (!isActivationFunction(op) || isLayer(network, op) || !point ||
        point->group.size() > 1)
      continue;
    const Operator *before = network.getOperator(op.inputs.front());
    const Point *input =
        before ? network.getResultPoint(before->name) : nullptr;
    if (!input || !isLayer(network, *before) ||
        network.countUsers(before->name) != 1)
      continue;
    Diagnosis diagnosis = aboutResult(network, *before, *input);
    diagnosis.cause = quoted(op.name) + " is not fused with " +
                      quoted(before->name) +
                      ", so that what is between them is quantized as well.";
    diagnosis.remedy = "Write the chain into the target (tpc.fusing), or leave "
                       "the value between them in float.";
    diagnosis.paste = leaveFloat(getInsertedName(*input));
    found.push_back(std::move(diagnosis));
  }
}

bool mct::report::movesOrSelects(const Operator &op) {
  return !op.ops.empty() && op.inputs.size() == 1 &&
         llvm::all_of(op.ops, [](StringRef name) {
           return llvm::is_contained(
               {"tosa.reshape", "tosa.transpose", "tosa.slice", "tosa.pad",
                "tosa.reverse", "tosa.tile", "tosa.max_pool2d", "tosa.identity",
                "tosa.gather", "tosa.reduce_max", "tosa.reduce_min"},
               name);
         });
}

/// Returns the point that quantizes the input of an operator, skipping
/// operators without points of their own; null if it is not known.
static const Point *findInputPoint(const DiagnosisContext &network,
                                   const Operator &op) {
  const Operator *user = &op;
  // Each step leads to an earlier operator.
  for (size_t i = 0; i != network.report.operators.size(); ++i) {
    const std::string &input = user->inputs.front();
    if (const Point *point = network.getResultPoint(input))
      return point;
    user = network.getOperator(input);
    if (!user || user->inputs.size() != 1 || user->cover != "preserved")
      return nullptr;
  }
  return nullptr;
}

static bool haveSameLevels(const Parameters &one, const Parameters &other) {
  return one.method == other.method && one.bits == other.bits &&
         one.lowest == other.lowest && one.highest == other.highest &&
         one.step == other.step;
}

static void findNeedless(const DiagnosisContext &network, Diagnoses &found) {
  for (const Operator &op : network.report.operators) {
    const Point *point = network.getResultPoint(op.name);
    if (!point || op.operatorSet.empty() || !movesOrSelects(op))
      continue;
    // Quantizing again with the same levels changes nothing.
    const Point *input = findInputPoint(network, op);
    if (!input || haveSameLevels(*input->parameters, *point->parameters))
      continue;
    Diagnosis diagnosis = aboutResult(network, op, *point);
    diagnosis.cause = quoted(op.name) + " (" + listOps(op) +
                      ") only moves or selects values that are quantized "
                      "already, and quantizes them again with other levels.";
    diagnosis.remedy =
        "Let the target preserve its input's quantization, or leave its "
        "result without a quantizer.";
    diagnosis.paste = leaveFloat(getInsertedName(*point));
    found.push_back(std::move(diagnosis));
  }
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

// RMS error, in steps, of rounding to the grid of the result: a larger error of
// the bias dominates it.
static const Real kRoundingOfResult = std::sqrt(1.0 / 12);

static const Point *getKernelPoint(const DiagnosisContext &network,
                                   const Operator &op) {
  for (const std::string &name : op.points)
    for (const Point &point : network.report.points)
      if (point.name == name && point.isWeight() && point.parameters)
        return &point;
  return nullptr;
}

/// Returns an option that sets a lower limit for the kernel's thresholds, so
/// that a number of steps that is too large by `factor` becomes small enough.
static std::string asMinThreshold(const Point &kernel, int64_t channel,
                                  Real factor) {
  const std::vector<Real> &thresholds = kernel.parameters->threshold;
  Real threshold =
      thresholds.size() == 1 ? thresholds.front() : thresholds[size_t(channel)];
  return "min-threshold=" +
         brief(std::exp2(std::ceil(std::log2(threshold * factor))));
}

static void findBiasOffGrid(const DiagnosisContext &network, Diagnoses &found) {
  for (const Operator &op : network.report.operators) {
    const Point *kernel = op.sums ? getKernelPoint(network, op) : nullptr;
    if (!kernel)
      continue;
    const Operator::Sums &sums = *op.sums;
    Real limit = std::exp2(sums.bits - 1) - 1;
    bool isTooLarge = sums.largestBias > limit;
    if (!isTooLarge && !(sums.biasError > kRoundingOfResult))
      continue;
    Diagnosis diagnosis;
    diagnosis.subject = op.name;
    diagnosis.severity = network.getSeverity(*kernel);
    diagnosis.numbers = {{"largest bias", sums.largestBias},
                         {"bias error", sums.biasError}};
    bool hasThreshold =
        size_t(sums.biasChannel) < kernel->parameters->threshold.size() ||
        kernel->parameters->threshold.size() == 1;
    if (isTooLarge && hasThreshold) {
      // The layer has no integer form at all.
      diagnosis.severity = std::max(diagnosis.severity, kGrave);
      diagnosis.cause = "The bias of " + quoted(op.name) + " is " +
                        brief(sums.largestBias) +
                        " steps of the accumulator in channel " +
                        std::to_string(sums.biasChannel) + ", more than " +
                        std::to_string(sums.bits) + " bits hold.";
      diagnosis.kind = "option";
      diagnosis.paste =
          asMinThreshold(*kernel, sums.biasChannel, sums.largestBias / limit);
      diagnosis.remedy =
          "A larger threshold of the kernel makes the steps larger.";
    } else if (!isTooLarge) {
      // Each additional bit halves the steps.
      int64_t bits = 0;
      for (const Operator::Alternative &alternative : op.alternatives) {
        Real error = sums.biasError * std::exp2(kernel->parameters->bits -
                                                alternative.weightBits);
        if (error <= kRoundingOfResult &&
            (bits == 0 || alternative.weightBits < bits))
          bits = alternative.weightBits;
      }
      diagnosis.cause =
          "The bias of " + quoted(op.name) + " is " + brief(sums.biasError) +
          " steps of the result off what the accumulator can add, more than "
          "rounding the result costs.";
      diagnosis.kind = "overrides";
      diagnosis.paste = giveBits(*kernel, bits);
      diagnosis.remedy = bits == 0
                             ? "Leave the kernel in float: no width that the "
                               "target offers makes the steps small enough."
                             : "Give the kernel " + std::to_string(bits) +
                                   " bits, which make the steps small enough.";
    } else {
      continue;
    }
    found.push_back(std::move(diagnosis));
  }
}

static void findSaturated(const DiagnosisContext &network, Diagnoses &found) {
  for (const Operator &op : network.report.operators) {
    const Point *kernel = op.sums ? getKernelPoint(network, op) : nullptr;
    if (!kernel)
      continue;
    const Operator::Sums &sums = *op.sums;
    Real limit = std::exp2(sums.bits - 1) - 1;
    // A bias that is too large by itself is another diagnosis.
    if (!(sums.largest > limit) || sums.largestBias > limit ||
        kernel->parameters->threshold.empty())
      continue;
    Diagnosis diagnosis;
    diagnosis.subject = op.name;
    // It is not known whether samples reach this value.
    diagnosis.severity = std::max(network.getSeverity(*kernel), kGrave);
    diagnosis.cause = "The sums of " + quoted(op.name) + " can reach " +
                      brief(sums.largest) + ", more than the " +
                      std::to_string(sums.bits) +
                      " bits of the accumulator hold.";
    diagnosis.numbers = {{"largest", sums.largest}, {"limit", limit}};
    int64_t fewer = 0;
    for (const Operator::Alternative &alternative : op.alternatives)
      if (alternative.weightBits < kernel->parameters->bits &&
          alternative.weightBits > fewer)
        fewer = alternative.weightBits;
    // The factor increases the steps and decreases the products.
    bool areEnough =
        fewer > 0 &&
        std::exp2(kernel->parameters->bits - fewer) * limit > sums.largest;
    if (areEnough) {
      diagnosis.kind = "overrides";
      diagnosis.paste = giveBits(*kernel, fewer);
      diagnosis.remedy = "Fewer bits of the kernel make smaller sums.";
    } else {
      diagnosis.kind = "option";
      diagnosis.paste =
          asMinThreshold(*kernel, sums.channel, sums.largest / limit);
      diagnosis.remedy = "A larger threshold of the kernel makes smaller sums.";
    }
    found.push_back(std::move(diagnosis));
  }
}

ArrayRef<Rule> mct::report::getOperatorRules() {
  static const Rule kRules[] = {
      {{"unmatched-operator",
        "an operator in no operator set of the target is quantized by default",
        "float, or a binding"},
       findUnmatched},
      {{"unfused-activation",
        "an activation function and the layer that it alone reads both have a "
        "quantizer",
        "float between them, or a fused chain in the target"},
       findUnfused},
      {{"needless-quantizer",
        "an operator that only moves or selects quantized values has a "
        "quantizer with other levels",
        "float"},
       findNeedless},
      {{"bias-off-grid",
        "a bias that the accumulator does not hold, or that is further off its "
        "steps than rounding the result costs (the root of 1/12 step)",
        "`min-threshold`, or more bits of the kernel"},
       findBiasOffGrid},
      {{"saturated-accumulator",
        "the sums of a layer can exceed the accumulator",
        "fewer bits of the kernel, or `min-threshold`"},
       findSaturated},
  };
  return kRules;
}
