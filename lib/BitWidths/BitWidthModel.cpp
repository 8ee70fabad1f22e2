// SPDX-License-Identifier: Apache-2.0
#include "BitWidthModel.h"

#include <algorithm>
#include <limits>
#include <map>

using namespace mlir;
using namespace mct;
using namespace mct::bit_widths;
using quantization::AllocatedResource;
using quantization::AllocationProblem;

static constexpr int64_t kFloatBits = 32;

int64_t mct::bit_widths::getBitsIn(tpc::QuantizeOp point, int64_t alternative) {
  Attribute config = OperatorPoints::getConfig(point, alternative);
  if (auto activation = dyn_cast_or_null<tpc::OpQuantConfigAttr>(config))
    return activation.getActEnabled() ? activation.getActBits() : kFloatBits;
  if (auto weight = dyn_cast_or_null<tpc::AttrQuantConfigAttr>(config))
    return weight.getEnabled() ? weight.getBits() : kFloatBits;
  return getPresentBits(point);
}

BitWidthModel::BitWidthModel(func::FuncOp function, const KernelOps &kernels,
                             ArrayRef<OperatorPoints> choices,
                             std::vector<std::vector<unsigned>> allowed,
                             ArrayRef<std::vector<double>> sensitivities)
    : model(computeResources(function, kernels)), choices(choices),
      allowed(std::move(allowed)), sensitivities(sensitivities) {
  for (auto [group, of] : llvm::enumerate(choices))
    for (tpc::QuantizeOp point : of.points)
      groups[point] = group;
}

std::optional<size_t> BitWidthModel::findGroup(tpc::QuantizeOp point) const {
  auto found = groups.find(point);
  if (!point || found == groups.end())
    return std::nullopt;
  return found->second;
}

ResourceUse BitWidthModel::getUse(ArrayRef<unsigned> alternatives) const {
  ResourceUse use = model.evaluate([&](tpc::QuantizeOp point) {
    std::optional<size_t> group = findGroup(point);
    return group ? getBitsIn(point, alternatives[*group])
                 : getPresentBits(point);
  });
  use.compressed = otherCompressed;
  for (auto [bits, alternative] : llvm::zip(compressed, alternatives))
    use.compressed += bits[alternative];
  use.cycles = otherCycles;
  for (auto [ofOperator, alternative] : llvm::zip(cycles, alternatives))
    use.cycles += ofOperator[alternative];
  return use;
}

ResourceUse BitWidthModel::getUseAt8Bits() const {
  ResourceUse use = model.evaluate([](tpc::QuantizeOp) { return 8; });
  // Limits of compressed weights are fractions of the uncompressed ones.
  use.compressed = use.weights;
  return use;
}

AllocatedResource BitWidthModel::createResource(std::string name) const {
  AllocatedResource resource;
  resource.name = std::move(name);
  for (const std::vector<unsigned> &ofOperator : allowed)
    resource.amounts.emplace_back(ofOperator.size(), 0);
  return resource;
}

void BitWidthModel::add(AllocatedResource &resource, tpc::QuantizeOp point,
                        int64_t elements) const {
  std::optional<size_t> group = findGroup(point);
  if (!group) {
    resource.fixed += elements * getPresentBits(point);
    return;
  }
  for (auto [amount, alternative] :
       llvm::zip(resource.amounts[*group], allowed[*group]))
    amount += elements * getBitsIn(point, alternative);
}

AllocatedResource BitWidthModel::createWeights() const {
  AllocatedResource resource = createResource("weights");
  for (const ResourceModel::Tensor &weight : model.weights)
    add(resource, weight.point, weight.elements);
  return resource;
}

AllocatedResource
BitWidthModel::createCut(const ResourceModel::Step &step) const {
  AllocatedResource resource = createResource("activations");
  for (size_t number : step.cut)
    add(resource, model.activations[number].point,
        model.activations[number].elements);
  return resource;
}

AllocatedResource BitWidthModel::createBops() const {
  AllocatedResource resource = createResource("bops");
  std::map<std::pair<size_t, size_t>, AllocatedResource::Pair> pairs;
  for (const ResourceModel::Step &step : model.steps)
    for (const ResourceModel::Step::Layer &layer : step.layers) {
      std::optional<size_t> kernel = findGroup(layer.kernel),
                            input = findGroup(layer.input);
      auto computeBops = [&](std::optional<unsigned> kernelChoice,
                             std::optional<unsigned> inputChoice) {
        return ResourceModel::computeBops(layer, [&](tpc::QuantizeOp point) {
          if (point == layer.kernel && kernel)
            return getBitsIn(point, allowed[*kernel][*kernelChoice]);
          if (point == layer.input && input)
            return getBitsIn(point, allowed[*input][*inputChoice]);
          return getPresentBits(point);
        });
      };
      if (kernel && input && *kernel != *input) {
        AllocatedResource::Pair &pair = pairs[{*kernel, *input}];
        pair.first = *kernel;
        pair.second = *input;
        pair.numSecond = allowed[*input].size();
        pair.amounts.resize(allowed[*kernel].size() * pair.numSecond);
        for (unsigned first = 0; first != allowed[*kernel].size(); ++first)
          for (unsigned second = 0; second != pair.numSecond; ++second)
            pair.amounts[first * pair.numSecond + second] +=
                computeBops(first, second);
        continue;
      }
      if (!kernel && !input) {
        resource.fixed += computeBops(std::nullopt, std::nullopt);
        continue;
      }
      for (auto [choice, amount] :
           llvm::enumerate(resource.amounts[kernel ? *kernel : *input]))
        amount += computeBops(unsigned(choice), unsigned(choice));
    }
  for (auto &[groupsOfPair, pair] : pairs) {
    // The width of the input is often the same in all alternatives.
    bool depends = false;
    for (size_t i = 0; i != pair.amounts.size(); ++i)
      depends |=
          pair.amounts[i] != pair.amounts[i / pair.numSecond * pair.numSecond];
    if (depends) {
      resource.pairs.push_back(std::move(pair));
      continue;
    }
    for (auto [choice, amount] : llvm::enumerate(resource.amounts[pair.first]))
      amount += pair.amounts[choice * pair.numSecond];
  }
  return resource;
}

/// Returns whether some choice may exceed the limit.
static bool mayExceed(const AllocatedResource &resource) {
  int64_t most = resource.fixed;
  for (const std::vector<int64_t> &amounts : resource.amounts)
    if (!amounts.empty())
      most += *llvm::max_element(amounts);
  for (const AllocatedResource::Pair &pair : resource.pairs)
    most += *llvm::max_element(pair.amounts);
  return most > *resource.limit;
}

/// Returns the unit to which amounts are rounded up, a small part of their sum:
/// with distinct amounts there would be too many different sums.
static int64_t getUnit(ArrayRef<std::vector<int64_t>> amounts) {
  constexpr int64_t kParts = 1 << 14;
  int64_t most = 0;
  for (const std::vector<int64_t> &ofOperator : amounts)
    most += ofOperator.empty() ? 0 : *llvm::max_element(ofOperator);
  return std::max<int64_t>(1, most / kParts);
}

AllocatedResource
BitWidthModel::createResource(ArrayRef<std::vector<int64_t>> given) const {
  AllocatedResource resource = createResource(std::string());
  int64_t unit = getUnit(given);
  for (auto [amounts, ofOperator, all] :
       llvm::zip(resource.amounts, allowed, given))
    for (auto [amount, alternative] : llvm::zip(amounts, ofOperator))
      amount = llvm::alignTo(all[alternative], unit);
  return resource;
}

AllocatedResource BitWidthModel::createCompressed() const {
  AllocatedResource resource = createResource(compressed);
  resource.fixed = otherCompressed;
  return resource;
}

AllocatedResource BitWidthModel::createCycles() const {
  AllocatedResource resource = createResource(cycles);
  resource.fixed = otherCycles;
  return resource;
}

int64_t BitWidthModel::getLeastCycles() const {
  int64_t least = otherCycles;
  for (auto [ofOperator, alternatives] : llvm::zip(cycles, allowed)) {
    int64_t own = std::numeric_limits<int64_t>::max();
    for (unsigned alternative : alternatives)
      own = std::min(own, ofOperator[alternative]);
    least += own;
  }
  return least;
}

static AllocationProblem
createCosts(ArrayRef<std::vector<unsigned>> allowed,
            ArrayRef<std::vector<double>> sensitivities) {
  AllocationProblem problem;
  for (auto [ofOperator, distances] : llvm::zip(allowed, sensitivities)) {
    std::vector<double> &costs = problem.costs.emplace_back();
    for (unsigned alternative : ofOperator)
      costs.push_back(distances[alternative]);
  }
  return problem;
}

AllocationProblem BitWidthModel::createWeightProblem() const {
  AllocationProblem problem = createCosts(allowed, sensitivities);
  problem.resources.push_back(createWeights());
  return problem;
}

AllocationProblem
BitWidthModel::createProblem(ArrayRef<std::vector<int64_t>> amounts) const {
  AllocationProblem problem = createCosts(allowed, sensitivities);
  problem.resources.push_back(createResource(amounts));
  return problem;
}

AllocationProblem BitWidthModel::createProblem(const Budget &budget) const {
  AllocationProblem problem = createWeightProblem();
  AllocatedResource weights = std::move(problem.resources.front());
  problem.resources.clear();
  auto limit = [&](AllocatedResource resource, Resource what) {
    resource.name = stringifyResource(what).str();
    resource.limit = budget.of(what);
    if (!mayExceed(resource))
      return;
    bool isKnown =
        llvm::any_of(problem.resources, [&](const AllocatedResource &known) {
          return known.name == resource.name && known.fixed == resource.fixed &&
                 known.amounts == resource.amounts;
        });
    if (!isKnown)
      problem.resources.push_back(std::move(resource));
  };
  if (budget.of(Resource::Weights))
    limit(weights, Resource::Weights);
  for (const ResourceModel::Step &step : model.steps) {
    AllocatedResource cut = createCut(step);
    if (budget.of(Resource::Activations))
      limit(cut, Resource::Activations);
    if (!budget.of(Resource::Total))
      continue;
    cut.fixed += weights.fixed;
    for (auto [amounts, more] : llvm::zip(cut.amounts, weights.amounts))
      for (auto [amount, added] : llvm::zip(amounts, more))
        amount += added;
    limit(std::move(cut), Resource::Total);
  }
  if (budget.of(Resource::Bops))
    limit(createBops(), Resource::Bops);
  if (budget.of(Resource::Compressed))
    limit(createCompressed(), Resource::Compressed);
  if (budget.of(Resource::Cycles))
    limit(createCycles(), Resource::Cycles);
  return problem;
}

std::vector<unsigned>
BitWidthModel::toAlternatives(ArrayRef<unsigned> chosen) const {
  std::vector<unsigned> alternatives;
  for (auto [ofOperator, choice] : llvm::zip(allowed, chosen))
    alternatives.push_back(ofOperator[choice]);
  return alternatives;
}
