// SPDX-License-Identifier: Apache-2.0
//
// Changes that lines of overrides would make in the points of a quantized
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
  /// The new quantizer; null for float.
  tpc::QuantizerAttrInterface quantizer;
};

/// Computes the changes by lines of overrides from the target of a module.
class ChangePlanner {
public:
  ChangePlanner(mlir::ModuleOp quantized, const KernelOps &kernels,
                llvm::StringRef function);

  /// Returns the changes of existing points. None if the module is no longer
  /// the one that its target would create, if the target does not offer the
  /// request of the line, or if nothing changes.
  std::optional<std::vector<PlannedChange>> plan(llvm::StringRef line);

private:
  /// Config and axes that a point would have, by unique name.
  struct PlannedPoint {
    mlir::Attribute config;
    mlir::DenseI64ArrayAttr axes;
    bool operator==(const PlannedPoint &other) const {
      return config == other.config && axes == other.axes;
    }
  };
  using PlannedPoints = llvm::StringMap<PlannedPoint>;
  std::optional<PlannedPoints> planPoints(llvm::StringRef line);
  bool select(llvm::ArrayRef<std::pair<std::string, PlannedPoint>> requested,
              std::vector<PlannedChange> &changes);

  mlir::ModuleOp quantized;
  const KernelOps &kernels;
  std::string function;
  llvm::StringMap<bool> names;
  std::optional<PlannedPoints> present;
};

} // namespace mct::report

#endif // MCT_LIB_REPORT_PLANNEDCHANGES_H
