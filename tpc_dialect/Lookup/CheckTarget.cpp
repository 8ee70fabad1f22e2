// SPDX-License-Identifier: Apache-2.0
#include "tpc_dialect/Lookup/CheckTarget.h"
#include "mlir/IR/Diagnostics.h"
#include "tpc_dialect/Lookup/Algebra.h"
#include "tpc_dialect/Lookup/Filters.h"
#include "tpc_dialect/Lookup/Subgraphs.h"
#include "tpc_dialect/Lookup/TpcLookup.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace mct::tpc;

//===----------------------------------------------------------------------===//
// Platform: what is legal but cannot be meant
//===----------------------------------------------------------------------===//

/// `owner` names the options in messages: "operator set 'Conv'" or "the
/// default".
static void warnAboutOptions(PlatformOp platform, const Twine &owner,
                             QCOptionsAttr options) {
  llvm::SmallDenseMap<OpQuantConfigAttr, size_t> visited;
  bool warnedPreserving = false;
  for (auto [index, config] : llvm::enumerate(options.getConfigs())) {
    // O3, an error once an op gets such a config.
    if (config.getActEnabled() && config.getPreserving() && !warnedPreserving) {
      emitWarning(platform.getLoc())
          << "'act_enabled' and 'preserving' are mutually exclusive, but "
          << owner << " sets both";
      warnedPreserving = true;
    }
    // Q5
    if (auto [it, isNew] = visited.try_emplace(config, index); !isNew)
      emitWarning(platform.getLoc())
          << "candidate #" << index << " of " << owner << " repeats candidate #"
          << it->second;
    SmallVector<AttrQuantConfigAttr> weights = {config.getDefaultWeight()};
    if (config.getWeights())
      for (NamedAttribute entry : config.getWeights())
        weights.push_back(cast<AttrQuantConfigAttr>(entry.getValue()));
    for (AttrQuantConfigAttr weight : weights) {
      auto method = dyn_cast<MethodAttr>(weight.getMethod());
      // A5
      if (method && method.isTable() && weight.getBits() > 8)
        emitWarning(platform.getLoc())
            << "'" << method.getMethodName() << "' with " << weight.getBits()
            << " bits, used by " << owner << ", needs a codebook of 2^"
            << weight.getBits() << " entries";
    }
  }
}

static void warnAboutPlatform(PlatformOp platform) {
  warnAboutOptions(platform, "the default", platform.getDefaultOptions());
  SmallVector<QCOptionsAttr> allOptions = {platform.getDefaultOptions()};
  for (auto set : platform.getOperatorSets().getAsRange<OperatorSetAttr>())
    if (set.getOptions()) {
      warnAboutOptions(platform,
                       "operator set '" + set.getName().getValue() + "'",
                       set.getOptions());
      allOptions.push_back(set.getOptions());
    }

  llvm::SmallDenseMap<ArrayAttr, size_t> patterns;
  for (auto [index, pattern] :
       llvm::enumerate(platform.getFusing().getAsRange<FusingAttr>())) {
    auto groups = ArrayAttr::get(platform.getContext(), pattern.getGroups());
    // P5
    if (auto [it, isNew] = patterns.try_emplace(groups, index); !isNew)
      emitWarning(platform.getLoc())
          << "fusing pattern #" << index << " is shadowed by #" << it->second;
  }

  llvm::DenseSet<int64_t> accepted;
  for (QCOptionsAttr options : allOptions)
    for (OpQuantConfigAttr config : options.getConfigs())
      accepted.insert(config.getInputBits().begin(),
                      config.getInputBits().end());
  for (QCOptionsAttr options : allOptions)
    for (OpQuantConfigAttr config : options.getConfigs())
      // P6; the width joins the accepted ones so that it is reported once.
      if (config.getActEnabled() && accepted.insert(config.getActBits()).second)
        emitWarning(platform.getLoc()) << "no operator set accepts "
                                       << config.getActBits() << "-bit inputs";
}

//===----------------------------------------------------------------------===//
// Binding
//===----------------------------------------------------------------------===//

/// Returns the number of operands that every op of the name has; none when the
/// op is not registered or has a variable number.
static std::optional<unsigned> getNumOperands(RegisteredOperationName name) {
  if (name.hasTrait<OpTrait::ZeroOperands>())
    return 0;
  if (name.hasTrait<OpTrait::OneOperand>())
    return 1;
  if (name.hasTrait<OpTrait::NOperands<2>::Impl>())
    return 2;
  if (name.hasTrait<OpTrait::NOperands<3>::Impl>())
    return 3;
  if (name.hasTrait<OpTrait::NOperands<4>::Impl>())
    return 4;
  if (name.hasTrait<OpTrait::NOperands<5>::Impl>())
    return 5;
  if (name.hasTrait<OpTrait::NOperands<6>::Impl>())
    return 6;
  if (name.hasTrait<OpTrait::NOperands<7>::Impl>())
    return 7;
  return std::nullopt;
}

/// Fails if a name in a filter does not exist. `op` is the op to which the
/// filter applies, if it is registered; `opName` is its name for the message.
static LogicalResult checkFilter(Location loc, StringRef opName,
                                 PredicateAttr filter,
                                 std::optional<RegisteredOperationName> op) {
  for (PredicateAttr operand : filter.getOperands())
    if (failed(checkFilter(loc, opName, operand, op)))
      return failure();
  if (!filter.getOperands().empty())
    return success();
  StringRef name = filter.getName().getValue();
  if (name.starts_with("$")) {
    if (llvm::is_contained(listDerivedNames(), name))
      return success();
    return emitError(loc) << "filters by unknown name '" << name << "'; known: "
                          << llvm::join(listDerivedNames(), ", ");
  }
  if (!op || llvm::any_of(op->getAttributeNames(), [&](StringAttr known) {
        return known.getValue() == name;
      }))
    return success();
  // B7
  InFlightDiagnostic diagnostic =
      emitError(loc) << "'" << opName << "' has no attribute '" << name << "'";
  if (!op->getAttributeNames().empty())
    diagnostic << "; known: "
               << llvm::join(llvm::map_range(op->getAttributeNames(),
                                             [](StringAttr known) {
                                               return known.getValue();
                                             }),
                             ", ");
  return diagnostic;
}

/// Returns the dialect that lacks an op of this name, or null. The ops of
/// dialects that are not loaded are unknown, and may be registered later.
static Dialect *getDialectWithout(StringRef opName, MLIRContext *context) {
  Dialect *dialect = context->getLoadedDialect(opName.split('.').first);
  return dialect && !dialect->allowsUnknownOperations() &&
                 !RegisteredOperationName::lookup(opName, context)
             ? dialect
             : nullptr;
}

static LogicalResult checkOpPattern(BindingOp binding, OpsOfAttr entry,
                                    OpPatternAttr pattern) {
  StringRef name = pattern.getOpName().getValue();
  MLIRContext *context = binding.getContext();
  std::optional<RegisteredOperationName> op =
      RegisteredOperationName::lookup(name, context);
  if (Dialect *dialect = getDialectWithout(name, context))
    return emitError(binding.getLoc())
           << "binds operator set " << entry.getSet() << " to '" << name
           << "', which is not an op of dialect '" << dialect->getNamespace()
           << "'";
  if (pattern.getWhere() &&
      failed(checkFilter(binding.getLoc(), name, pattern.getWhere(), op)))
    return failure();
  std::optional<unsigned> numOperands = op ? getNumOperands(*op) : std::nullopt;
  if (!numOperands || !entry.getWeights())
    return success();
  for (NamedAttribute weight : entry.getWeights())
    // B6
    if (int64_t operand = cast<IntegerAttr>(weight.getValue()).getInt();
        operand >= int64_t(*numOperands))
      return emitError(binding.getLoc())
             << "operand " << operand << " of '" << name
             << "' does not exist, but weight attribute '"
             << weight.getName().getValue() << "' is mapped to it";
  return success();
}

/// Returns the description of an op in the first framework that has one.
static OpInfoAttr findOpInfo(ArrayRef<FrameworkOp> frameworks, StringRef name) {
  for (FrameworkOp framework : frameworks)
    for (auto info : framework.getEntries().getAsRange<OpInfoAttr>())
      if (info.getOpName().getValue() == name)
        return info;
  return {};
}

/// B6: the settings of a weight in the set's configs reach an operand.
static LogicalResult checkWeightNames(PlatformOp platform, BindingOp binding,
                                      OpsOfAttr entry,
                                      ArrayRef<FrameworkOp> frameworks) {
  for (OpQuantConfigAttr config :
       platform.getOptionsOf(entry.getSet().getValue()).getConfigs()) {
    if (!config.getWeights())
      continue;
    for (NamedAttribute weight : config.getWeights()) {
      StringRef name = weight.getName().getValue();
      // This name stands for constants without a name of their own, so it has
      // no operand.
      if (name == kPositionalWeight)
        continue;
      if (entry.getWeights()) {
        if (entry.getWeights().contains(name))
          continue;
        return emitError(binding.getLoc())
               << "weight attribute '" << name << "' of operator set "
               << entry.getSet() << " is not mapped";
      }
      // Without a mapping of its own the set takes kernel and bias from the
      // description of the op, where a weight that stays float may be missing.
      if (!cast<AttrQuantConfigAttr>(weight.getValue()).getEnabled())
        continue;
      for (Attribute pattern : entry.getPatterns()) {
        auto op = dyn_cast<OpPatternAttr>(pattern);
        if (!op)
          continue;
        OpInfoAttr info = findOpInfo(frameworks, op.getOpName().getValue());
        if (info && ((name == kKernelWeight && info.getKernel()) ||
                     (name == kBiasWeight && info.getBias())))
          continue;
        return emitError(binding.getLoc())
               << "weight attribute '" << name << "' of operator set "
               << entry.getSet()
               << " is not mapped; add 'weights', or describe '"
               << op.getOpName().getValue() << "' in a tpc.framework";
      }
    }
  }
  return success();
}

static LogicalResult checkBinding(PlatformOp platform, BindingOp binding,
                                  ArrayRef<FrameworkOp> frameworks) {
  llvm::StringSet<> subgraphs;
  for (const SubgraphForm &form : listSubgraphs(platform.getContext()))
    subgraphs.insert(form.name);
  for (const Formula &formula : listFormulas())
    subgraphs.insert(formula.name);
  llvm::DenseMap<Attribute, OpsOfAttr> owners;
  for (auto entry : binding.getEntries().getAsRange<OpsOfAttr>()) {
    // Check only those sets of a stock binding that the platform defines.
    if (!platform.lookupOperatorSet(entry.getSet().getValue()))
      continue;
    if (failed(checkWeightNames(platform, binding, entry, frameworks)))
      return failure();
    for (Attribute pattern : entry.getPatterns()) {
      std::string name;
      if (auto op = dyn_cast<OpPatternAttr>(pattern)) {
        name = ("op '" + op.getOpName().getValue() + "'").str();
        if (failed(checkOpPattern(binding, entry, op)))
          return failure();
      } else {
        StringRef subgraph = cast<SubgraphAttr>(pattern).getName().getValue();
        name = ("subgraph '" + subgraph + "'").str();
        if (!subgraphs.contains(subgraph)) {
          SmallVector<StringRef> known(subgraphs.keys());
          llvm::sort(known);
          // B9
          return emitError(binding.getLoc())
                 << "unknown " << name
                 << "; known: " << llvm::join(known, ", ");
        }
      }
      auto [it, isNew] = owners.try_emplace(pattern, entry);
      // B5
      if (!isNew && platform.getOptionsOf(it->second.getSet().getValue()) !=
                        platform.getOptionsOf(entry.getSet().getValue()))
        return emitError(binding.getLoc())
               << name << " is claimed by " << it->second.getSet() << " and "
               << entry.getSet() << " with different options";
    }
  }
  return success();
}

static LogicalResult checkFramework(FrameworkOp framework) {
  for (auto info : framework.getEntries().getAsRange<OpInfoAttr>()) {
    StringRef name = info.getOpName().getValue();
    std::optional<RegisteredOperationName> op =
        RegisteredOperationName::lookup(name, framework.getContext());
    std::optional<unsigned> numOperands =
        op ? getNumOperands(*op) : std::nullopt;
    for (std::optional<int64_t> operand : {info.getKernel(), info.getBias()})
      if (operand && numOperands && *operand >= int64_t(*numOperands))
        return emitError(framework.getLoc())
               << "operand " << *operand << " of '" << name
               << "' does not exist";
  }
  return success();
}

LogicalResult mct::tpc::checkTarget(PlatformOp platform,
                                    ArrayRef<BindingOp> bindings,
                                    ArrayRef<FrameworkOp> frameworks) {
  for (FrameworkOp framework : frameworks)
    if (failed(checkFramework(framework)))
      return failure();
  warnAboutPlatform(platform);
  llvm::StringSet<> bound;
  for (BindingOp binding : bindings) {
    if (failed(checkBinding(platform, binding, frameworks)))
      return failure();
    for (auto entry : binding.getEntries().getAsRange<OpsOfAttr>())
      bound.insert(entry.getSet().getValue());
  }
  for (auto set : platform.getOperatorSets().getAsRange<OperatorSetAttr>())
    // B4
    if (!bound.contains(set.getName().getValue()))
      emitWarning(platform.getLoc())
          << "operator set " << set.getName()
          << " has no ops; it will never apply (bind it to "
             "[] if that is meant)";
  return success();
}

LogicalResult mct::tpc::checkDevice(DeviceOp device) {
  for (auto refuse : device.getBody().getOps<RefuseOp>()) {
    for (StringAttr name : refuse.getOps().getAsRange<StringAttr>()) {
      if (Dialect *dialect = getDialectWithout(name, device.getContext()))
        return refuse.emitOpError("names '")
               << name.getValue() << "', which is not an op of dialect '"
               << dialect->getNamespace() << "'";
      if (refuse.getFilter() &&
          failed(checkFilter(
              refuse.getLoc(), name, *refuse.getFilter(),
              RegisteredOperationName::lookup(name, device.getContext()))))
        return failure();
    }
    if (refuse.getOps().empty() &&
        failed(checkFilter(refuse.getLoc(), "", *refuse.getFilter(),
                           std::nullopt)))
      return failure();
  }
  return success();
}

RefuseOp mct::tpc::findRefusal(DeviceOp device, Operation *op) {
  StringRef name = op->getName().getStringRef();
  for (auto refuse : device.getBody().getOps<RefuseOp>()) {
    bool isNamed =
        refuse.getOps().empty()
            ? name.starts_with("tosa.")
            : llvm::any_of(refuse.getOps().getAsRange<StringAttr>(),
                           [&](StringAttr each) { return each == name; });
    if (isNamed && (!refuse.getFilter() || matches(*refuse.getFilter(), op)))
      return refuse;
  }
  return {};
}
