// SPDX-License-Identifier: Apache-2.0
//
// Changes that lines of overrides would make to the points of a quantized
// module.
#ifndef MCT_LIB_REPORT_PLANNEDCHANGES_H
#define MCT_LIB_REPORT_PLANNEDCHANGES_H

#include "mct/Planning/KernelOp.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "tpc_dialect/IR/TpcDialect.h"
#include "llvm/ADT/StringMap.h"
#include <optional>
#include <string>
#include <vector>

namespace mct::report {

struct PlannedChange {
  /// Unique name of a point of the module.
  std::string point;
  /// The new quantizer, or null to leave the point float.
  tpc::QuantizerAttrInterface quantizer;
};

/// Determines, with the target of a module, what lines of overrides would
/// change.
class ChangePlanner {
public:
  ChangePlanner(mlir::ModuleOp quantized, const KernelOps &kernels,
                llvm::StringRef function);

  /// Returns the changes of existing points. Returns none if the module is no
  /// longer what its target would create, if the target does not offer what the
  /// line asks for, or if nothing changes.
  std::optional<std::vector<PlannedChange>> plan(llvm::StringRef line);

private:
  /// Config and axes that a point would get.
  struct PlannedPoint {
    mlir::Attribute config;
    mlir::DenseI64ArrayAttr axes;
    bool operator==(const PlannedPoint &other) const {
      return config == other.config && axes == other.axes;
    }
  };
  using PlannedPoints = llvm::StringMap<PlannedPoint>;
  std::optional<PlannedPoints> planPoints(llvm::StringRef line);
  bool select(llvm::ArrayRef<std::pair<std::string, PlannedPoint>> asked,
              std::vector<PlannedChange> &changes);

  mlir::ModuleOp quantized;
  const KernelOps &kernels;
  std::string function;
  llvm::StringMap<bool> names;
  std::optional<PlannedPoints> present;
};

} // namespace mct::report

#endif // MCT_LIB_REPORT_PLANNEDCHANGES_H
