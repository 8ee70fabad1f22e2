// SPDX-License-Identifier: Apache-2.0
#include "mct/Planning/Device.h"
#include "mlir/IR/TypeUtilities.h"
#include "tpc_dialect/Lookup/CheckTarget.h"
#include "tpc_dialect/targets/LoadTarget.h"

using namespace mlir;
using namespace mct;

static bool contains(ArrayAttr names, StringRef name) {
  return llvm::any_of(names.getAsRange<StringAttr>(),
                      [&](StringAttr each) { return each == name; });
}

static tpc::DeviceOp findByName(ModuleOp module, StringRef name) {
  for (auto device : module.getOps<tpc::DeviceOp>())
    if (device.getSymName() == name ||
        contains(device.getConfigurations(), name))
      return device;
  return {};
}

static tpc::DeviceOp findByPlatform(ModuleOp module, StringRef type) {
  for (auto device : module.getOps<tpc::DeviceOp>())
    if (contains(device.getPlatforms(), type))
      return device;
  return {};
}

/// Returns the platform type for which a module is compiled; empty if there is
/// none.
static StringRef getPlatformType(ModuleOp module) {
  auto target = module->getAttrOfType<FlatSymbolRefAttr>(
      tpc::TpcDialect::kTargetAttrName);
  auto platform =
      target ? module.lookupSymbol<tpc::PlatformOp>(target) : nullptr;
  return platform ? platform.getPlatformType().value_or("") : "";
}

FailureOr<Device> Device::find(StringRef name, ModuleOp module) {
  Device found;
  if (name == "none")
    return found;
  StringRef type = getPlatformType(module);
  if (name.empty() && type.empty())
    return found;
  auto look = [&](ModuleOp among) {
    return name.empty() ? findByPlatform(among, type) : findByName(among, name);
  };
  found.device = look(module);
  if (!found.device) {
    found.source = tpc::loadStockDevices(module.getContext());
    if (!found.source)
      return failure();
    found.device = look(*found.source);
  }
  if (!found.device && !name.empty()) {
    found.source = tpc::loadDeviceFile(name, module.getLoc());
    if (!found.source)
      return failure();
    found.device = *found.source->getOps<tpc::DeviceOp>().begin();
  }
  if (found.device && failed(tpc::checkDevice(found.device)))
    return failure();
  return found;
}

bool mct::computesFloat(Operation *op) {
  auto isFloat = [](Type type) {
    return isa<FloatType>(getElementTypeOrSelf(type));
  };
  return !op->hasTrait<OpTrait::ConstantLike>() &&
         (llvm::any_of(op->getOperandTypes(), isFloat) ||
          llvm::any_of(op->getResultTypes(), isFloat));
}

LogicalResult Device::verify(Operation *op, StringRef remedyForFloat) {
  if (!device)
    return success();
  StringRef reason, remedy;
  if (device.getIntegerOnly() && computesFloat(op) &&
      op->getName().getDialectNamespace() == "tosa") {
    reason = "computes with floating-point numbers";
    remedy = remedyForFloat.empty()
                 ? "quantize it, or split the network before it"
                 : remedyForFloat;
  } else if (tpc::RefuseOp refusal = tpc::findRefusal(device, op)) {
    reason = refusal.getReason();
    remedy = refusal.getRemedy();
  } else {
    return success();
  }
  InFlightDiagnostic diagnostic =
      op->emitOpError(reason) << ", which " << getDisplayName() << " cannot";
  diagnostic.attachNote() << remedy;
  return diagnostic;
}
