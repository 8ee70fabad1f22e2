// SPDX-License-Identifier: Apache-2.0
//
// Rules about corrections that make results worse.
#include "DiagnoseParts.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include <algorithm>

using namespace mct;
using namespace mct::report;
using llvm::StringRef;

static StringRef describeCorrection(StringRef correction) {
  return llvm::StringSwitch<StringRef>(correction)
      .Cases({"quantized_network", "input_mean"}, "bias correction")
      .Case("second_moment", "the second-moment correction")
      .Case("activation_bias", "the activation-bias correction")
      .Case("rounded_weights", "the rounding of weights together")
      .Default(correction);
}

std::string mct::report::getSwitchOff(StringRef correction) {
  return llvm::StringSwitch<std::string>(correction)
      .Cases({"quantized_network", "input_mean"},
             "weights-bias-correction=false")
      .Case("second_moment", "weights-second-moment-correction=false")
      .Case("activation_bias", "activation-bias-correction=false")
      .Case("rounded_weights", "round-weights=false")
      .Default("");
}

/// Returns the share of the worst part's distance that the correction causes.
static Real getWorstShare(const CorrectionEffect &effect) {
  return effect.worstWith > 0 ? 1 - effect.worstWithout / effect.worstWith : 0;
}

static Diagnosis describe(const DiagnosisContext &network,
                          const CorrectionEffect &effect) {
  const Report &report = network.report;
  Diagnosis diagnosis;
  Real share = report.distance > 0 ? effect.loss / report.distance : 0;
  diagnosis.severity =
      network.getHarm() *
      std::clamp<Real>(std::max(share, getWorstShare(effect)), 0, 1);
  std::string results =
      report.comparesByDivergence()
          ? "the divergence of the results is " + brief(report.distance) +
                " with it and " + brief(effect.without) + " without"
          : quoted(effect.worst) + " is at " +
                describeDecibels(effect.worstWith) + " with it and at " +
                describeDecibels(effect.worstWithout) + " without";
  StringRef name = describeCorrection(effect.correction);
  diagnosis.cause =
      name.substr(0, 1).upper() + name.drop_front().str() +
      (effect.layers.size() == 1
           ? " of " + quoted(effect.layers.front())
           : " of " + std::to_string(effect.layers.size()) + " layers") +
      " makes the results worse: " + results + ".";
  diagnosis.kind = "data";
  diagnosis.numbers = {{"with", report.distance},
                       {"without", effect.without},
                       {"standard error", effect.standardError},
                       {"worst with", effect.worstWith},
                       {"worst without", effect.worstWithout}};
  return diagnosis;
}

static void findHarmfulCorrections(const DiagnosisContext &network,
                                   Diagnoses &found) {
  const Report &report = network.report;
  std::vector<StringRef> reported;
  for (const CorrectionEffect &effect : report.corrections) {
    if (!effect.isWhole || !effect.isHarmful)
      continue;
    Diagnosis diagnosis = describe(network, effect);
    const CorrectionEffect *worst = nullptr;
    for (const CorrectionEffect &layer : report.corrections)
      if (!layer.isWhole && layer.isHarmful &&
          llvm::is_contained(effect.layers, layer.layers.front()) &&
          (!worst || layer.loss > worst->loss))
        worst = &layer;
    if (worst && effect.layers.size() > 1)
      diagnosis.cause.insert(diagnosis.cause.size() - 1,
                             "; that of " + quoted(worst->layers.front()) +
                                 " costs the most");
    diagnosis.paste = getSwitchOff(effect.correction);
    if (!diagnosis.paste.empty()) {
      diagnosis.kind = "option";
      diagnosis.remedy = "Switch it off.";
    }
    for (const std::string &layer : effect.layers)
      reported.push_back(layer);
    found.push_back(std::move(diagnosis));
  }
  for (const CorrectionEffect &effect : report.corrections) {
    if (effect.isWhole || !effect.isHarmful ||
        llvm::is_contained(reported, effect.layers.front()))
      continue;
    Diagnosis diagnosis = describe(network, effect);
    diagnosis.subject = effect.layers.front();
    found.push_back(std::move(diagnosis));
  }
}

llvm::ArrayRef<Rule> mct::report::getCorrectionRules() {
  static const Rule kRules[] = {
      {{"harmful-correction",
        "the results, or a group of their channels, are worse by half a dB and "
        "by two standard errors with a correction than without it: of all "
        "layers that have it, or of one",
        "the option that switches it off, where the results are better without "
        "it in all layers"},
       findHarmfulCorrections},
  };
  return kRules;
}
