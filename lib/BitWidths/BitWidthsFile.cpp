// SPDX-License-Identifier: Apache-2.0
#include "BitWidthsFile.h"

#include "mct/Support/InputFile.h"
#include "mct/Support/OutputFile.h"
#include "mct/Support/ParseJson.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;
using namespace mct;
using namespace mct::bit_widths;

static json::Array toArray(ArrayRef<unsigned> alternatives) {
  json::Array array;
  for (unsigned alternative : alternatives)
    array.push_back(int64_t(alternative));
  return array;
}

/// Returns the bits of an operator's points, by the kind of the point.
static json::Object describeBits(const OperatorPoints &of,
                                 unsigned alternative) {
  json::Object bits;
  for (tpc::QuantizeOp point : of.points)
    bits.try_emplace(point.isActivation() ? StringRef("activation")
                                          : *point.getWeight(),
                     getBitsIn(point, alternative));
  return bits;
}

std::string mct::bit_widths::describeAlternative(const OperatorPoints &of,
                                                 unsigned alternative) {
  std::string text = Twine(alternative).str();
  StringRef separator = " (";
  for (tpc::QuantizeOp point : of.points) {
    text +=
        (separator +
         (point.isActivation() ? StringRef("activation") : *point.getWeight()) +
         " " + Twine(getBitsIn(point, alternative)) + " bits")
            .str();
    separator = ", ";
  }
  return text + ")";
}

static json::Object describe(const ResourceUse &use) {
  auto bytes = [](int64_t bits) {
    return int64_t(divideCeil(uint64_t(bits), 8));
  };
  json::Object object{{"weights_bytes", bytes(use.weights)},
                      {"activations_bytes", bytes(use.activations)},
                      {"total_bytes", bytes(use.total())},
                      {"bops", use.bops}};
  // This is estimated only if an option needs it.
  if (use.compressed != 0)
    object.try_emplace("compressed_bytes", bytes(use.compressed));
  if (use.cycles != 0)
    object.try_emplace("cycles", use.cycles);
  return object;
}

static json::Object describe(const AccuracyContract &contract) {
  using Part = execution::MetricDrop::Part;
  json::Array looks;
  for (const AccuracyContract::Look &look : contract.looks) {
    json::Object object{{"samples", look.drop.samples},
                        {"held_out", look.part == Part::HeldOut},
                        {"alternatives", toArray(look.alternatives)},
                        {"use", isInBits(contract.minimized)
                                    ? int64_t(divideCeil(uint64_t(look.use), 8))
                                    : look.use},
                        {"drop", look.drop.loss},
                        {"holds", look.holds},
                        {"refuted", look.isRefuted},
                        {"confidence", look.drop.confidence}};
    if (look.drop.atMost)
      object.try_emplace("drop_at_most", *look.drop.atMost);
    if (look.drop.samplesNeeded)
      object.try_emplace("samples_needed", *look.drop.samplesNeeded);
    looks.push_back(std::move(object));
  }
  return json::Object{{"metric", contract.metric},
                      {"unit", execution::getName(contract.unit)},
                      {"max_drop", contract.maxDrop},
                      {"minimized", stringifyResource(contract.minimized)},
                      {"text", contract.describe()},
                      {"looks", std::move(looks)}};
}

Error mct::bit_widths::writeBitWidths(
    StringRef path, StringRef function, ArrayRef<OperatorPoints> choices,
    const std::optional<Sensitivities> &sensitivities,
    const Assignment &assignment, const Budget &budget,
    const ResourceUse &use) {
  json::Array operators;
  for (auto [number, of] : enumerate(choices)) {
    json::Array alternatives;
    for (unsigned each = 0; each != unsigned(of.numAlternatives()); ++each) {
      json::Object alternative{{"bits", describeBits(of, each)}};
      if (sensitivities)
        alternative.try_emplace("sensitivity",
                                sensitivities->distances[number][each]);
      alternatives.push_back(std::move(alternative));
    }
    unsigned chosen = assignment.alternatives[number];
    operators.push_back(
        json::Object{{"name", json::fixUTF8(of.name.getValue())},
                     {"alternative", int64_t(chosen)},
                     {"bits", describeBits(of, chosen)},
                     {"alternatives", std::move(alternatives)}});
  }
  json::Object limits;
  for (Resource resource : kResources)
    if (std::optional<int64_t> limit = budget.of(resource))
      limits.try_emplace(getKey(resource),
                         isInBits(resource) ? *limit / 8 : *limit);
  json::Object all{{"function", function},
                   {"budget", std::move(limits)},
                   {"operators", std::move(operators)},
                   {"resources", describe(use)}};
  if (sensitivities) {
    all.try_emplace("metric", stringifyMetric(sensitivities->metric));
    all.try_emplace("samples", sensitivities->samples);
  }
  if (assignment.sum)
    all.try_emplace("sum_of_sensitivities", *assignment.sum);
  json::Array measured;
  for (const Assignment::Measured &each : assignment.measured)
    measured.push_back(
        json::Object{{"alternatives", toArray(each.alternatives)},
                     {"sum_of_sensitivities", each.sum},
                     {"distance", each.distance}});
  all.try_emplace("measured", std::move(measured));
  if (assignment.contract)
    all.try_emplace("contract", describe(*assignment.contract));
  if (assignment.front) {
    json::Array front;
    for (const Assignment::Point &point : *assignment.front)
      front.push_back(
          json::Object{{"weights_bytes", double(point.weights) / 8},
                       {"sum_of_sensitivities", point.sum},
                       {"alternatives", toArray(point.alternatives)}});
    all.try_emplace("front", std::move(front));
  }
  support::OutputFile file(path);
  file << formatv("{0:1}\n", json::Value(std::move(all)));
  return file.keep();
}

Expected<std::vector<unsigned>>
mct::bit_widths::readBitWidths(StringRef path, StringRef function,
                               ArrayRef<OperatorPoints> choices) {
  auto refuse = [&](const Twine &why) {
    return createStringError("cannot read bit widths from '" + path +
                             "': " + why);
  };
  auto buffer = support::readInputFile(path);
  if (!buffer)
    return refuse(toString(buffer.takeError()));
  Expected<json::Value> value = support::parseJson((*buffer)->getBuffer());
  if (!value)
    return refuse(toString(value.takeError()));
  const json::Object *object = value->getAsObject();
  const json::Array *operators =
      object ? object->getArray("operators") : nullptr;
  if (!operators)
    return refuse("expected an object with an array 'operators'");
  if (const json::Value *given = object->get("function")) {
    std::optional<StringRef> name = given->getAsString();
    if (!name)
      return refuse("expected the name of a function as 'function'");
    if (*name != function)
      return refuse("it is for the function '" + *name + "', and not for '" +
                    function +
                    "'; take the file of this one, or change its 'function'");
  }
  std::vector<unsigned> alternatives;
  for (const OperatorPoints &of : choices)
    alternatives.push_back(unsigned(of.getChosen()));
  std::vector<bool> defined(choices.size());
  for (const json::Value &each : *operators) {
    const json::Object *row = each.getAsObject();
    std::optional<StringRef> name = row ? row->getString("name") : std::nullopt;
    std::optional<int64_t> index =
        row ? row->getInteger("alternative") : std::nullopt;
    if (!name || !index)
      return refuse("expected a 'name' and the index of an 'alternative' in "
                    "each of the 'operators'");
    const auto *of = find_if(choices, [&](const OperatorPoints &operatorOf) {
      return operatorOf.name.getValue() == *name;
    });
    if (of == choices.end())
      return refuse("the function has no operator '" + *name +
                    "' with alternatives");
    if (*index < 0 || *index >= of->numAlternatives())
      return refuse("'" + *name + "' has no alternative " + Twine(*index) +
                    ", but 0 to " + Twine(of->numAlternatives() - 1));
    // Users edit these files, but only the index of the alternative is used, so
    // the bits have to match it.
    const json::Value *bits = row->get("bits");
    if (bits && *bits != json::Value(describeBits(*of, unsigned(*index)))) {
      std::string all;
      for (unsigned other = 0; other != unsigned(of->numAlternatives());
           ++other)
        all += (other == 0 ? "" : ", ") + describeAlternative(*of, other);
      return refuse("the 'bits' of '" + *name +
                    "' are not those of its alternative " + Twine(*index) +
                    "; it has " + all + ": change both, or leave 'bits' out");
    }
    size_t number = of - choices.begin();
    if (defined[number])
      return refuse("it names '" + *name + "' twice");
    defined[number] = true;
    alternatives[number] = unsigned(*index);
  }
  return alternatives;
}
