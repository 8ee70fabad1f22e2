// SPDX-License-Identifier: Apache-2.0
#include "Budget.h"
#include "mlir/IR/Builders.h"
#include "tpc_dialect/IR/TpcBudget.h"

#include "mct/Support/ByteSize.h"
#include "mct/Support/Troubleshooting.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

using namespace llvm;
using namespace mct;
using namespace mct::bit_widths;

StringRef mct::bit_widths::stringifyResource(Resource resource) {
  switch (resource) {
  case Resource::Weights:
    return "weights";
  case Resource::Activations:
    return "activations";
  case Resource::Total:
    return "total";
  case Resource::Bops:
    return "bops";
  case Resource::Compressed:
    return "compressed";
  case Resource::Cycles:
    return "cycles";
  }
  llvm_unreachable("unknown resource");
}

int64_t mct::bit_widths::getUse(const ResourceUse &use, Resource resource) {
  switch (resource) {
  case Resource::Weights:
    return use.weights;
  case Resource::Activations:
    return use.activations;
  case Resource::Total:
    return use.total();
  case Resource::Bops:
    return use.bops;
  case Resource::Compressed:
    return use.compressed;
  case Resource::Cycles:
    return use.cycles;
  }
  llvm_unreachable("unknown resource");
}

std::string mct::bit_widths::describeUse(Resource resource, int64_t amount) {
  if (resource == Resource::Bops)
    return std::to_string(amount) + " BOPS";
  if (resource == Resource::Cycles)
    return std::to_string(amount) + " cycles";
  return std::to_string(divideCeil(uint64_t(amount), 8)) + " bytes";
}

StringRef mct::bit_widths::getKey(Resource resource) {
  return tpc::kBudgetKeys[size_t(resource)];
}

mlir::DictionaryAttr Budget::toAttribute(mlir::MLIRContext *context) const {
  if (empty())
    return {};
  mlir::Builder builder(context);
  mlir::NamedAttrList members;
  for (Resource resource : kResources)
    if (std::optional<int64_t> limit = of(resource))
      members.append(
          getKey(resource),
          builder.getI64IntegerAttr(isInBits(resource) ? *limit / 8 : *limit));
  return members.getDictionary(context);
}

bool Budget::empty() const {
  return none_of(limits, [](const auto &limit) { return limit.has_value(); });
}

SmallVector<Resource> Budget::findExceeded(const ResourceUse &use) const {
  SmallVector<Resource> exceeded;
  for (Resource resource : kResources)
    if (of(resource) && getUse(use, resource) > *of(resource))
      exceeded.push_back(resource);
  return exceeded;
}

/// Returns the amount in bits, operations or cycles, or none if the text is not
/// an amount.
static std::optional<int64_t> parseAmount(StringRef text, Resource resource,
                                          int64_t full) {
  double number = 0;
  if (text.consume_back("%")) {
    if (text.getAsDouble(number) || !(number >= 0) || number > 1e6)
      return std::nullopt;
    // Do not lose a bit if, for example, 37.5 percent is a whole number of
    // bits.
    return int64_t(std::floor(double(full) * number / 100 + 1e-6));
  }
  if (!isInBits(resource)) {
    if (text.getAsDouble(number) || !(number >= 0) || number > 9e18)
      return std::nullopt;
    return int64_t(number);
  }
  Expected<int64_t> bytes = mct::support::parseByteSize(text, "budget");
  if (!bytes) {
    consumeError(bytes.takeError());
    return std::nullopt;
  }
  if (text.empty() || *bytes > std::numeric_limits<int64_t>::max() / 8)
    return std::nullopt;
  return *bytes * 8;
}

Expected<Budget> Budget::parse(ArrayRef<std::string> limits,
                               const ResourceUse &full) {
  Budget budget;
  for (StringRef text : limits) {
    auto [name, amount] = text.split(':');
    const Resource *resource =
        find_if(kResources, [&, name = name](Resource each) {
          return stringifyResource(each) == name;
        });
    std::optional<int64_t> limit;
    if (resource != std::end(kResources))
      limit = parseAmount(amount, *resource, getUse(full, *resource));
    if (!limit)
      return createStringError(
          "cannot read the limit '" + text +
          "' of the budget; expected weights, activations, total or "
          "compressed, and bytes (K, M or G of them) or percent, or bops or "
          "cycles and a number or percent, for example weights:50%" +
          llvm::Twine(support::kTroubleshooting) +
          "no-bit-widths-keep-to-the-budget");
    // The attribute stores whole bytes.
    int64_t unit = isInBits(*resource) ? 8 : 1;
    if (*limit < unit)
      return createStringError(
          "the limit '" + text + "' of the budget is " +
          describeUse(*resource, 0) +
          (getUse(full, *resource) == 0
               ? "; the network needs none, so leave it out"
               : "; give it more"));
    if (budget.of(*resource))
      return createStringError("the budget limits '" + name + "' twice");
    budget.limits[size_t(*resource)] = limit;
  }
  return budget;
}
