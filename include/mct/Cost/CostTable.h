// SPDX-License-Identifier: Apache-2.0
//
// Costs of layers on a device, as they were measured: a table of cycles and
// bytes by what layers compute.
#ifndef MCT_COST_COSTTABLE_H
#define MCT_COST_COSTTABLE_H

#include "mct/Planning/Device.h"
#include "mct/Planning/KernelOp.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/JSON.h"
#include <optional>
#include <string>
#include <vector>

namespace mct {

/// An op, or a fused chain, whose cost a table can know.
struct CostedLayer {
  /// Name of the last op, and that op.
  std::string name;
  mlir::Operation *op = nullptr;
  /// Content that the cost depends on, beside the width and the codes of the
  /// kernel: `ops`, `operands`, `constants`, `result` and `attributes`. Layers
  /// of other networks may have the same.
  llvm::json::Object form;
  /// Points of the weights that it reads, with the layer whose kernel they are.
  struct Weight {
    tpc::QuantizeOp point;
    std::optional<KernelOp> layer;
  };
  std::vector<Weight> weights;

  /// Returns the present width of the kernel; none without a kernel.
  std::optional<int64_t> getKernelBits() const;
  /// Returns the estimated bytes of the weights in the compressed form of
  /// Ethos-U, with the present parameters.
  int64_t getCompressedBytes() const;
};

/// Returns the layers of a function with one block, in program order. A dynamic
/// size counts as 1.
std::vector<CostedLayer> findCostedLayers(mlir::func::FuncOp function,
                                          const KernelOps &kernels);

struct LayerCost {
  int64_t cycles = 0, memoryBytes = 0;
};

/// A JSON document `mct-costs`.
class CostTable {
public:
  /// Reads a table. Errors name the file, and what is wrong in it.
  static llvm::Expected<CostTable> read(llvm::StringRef path);

  /// Returns the cost of a layer whose kernel has that width and size: between
  /// measured sizes on the line through both, below all that of the smallest,
  /// and above on the line through the largest two. None where the table does
  /// not have it.
  std::optional<LayerCost> find(const CostedLayer &layer,
                                std::optional<int64_t> kernelBits,
                                int64_t compressedBytes) const;
  /// Returns the present cost.
  std::optional<LayerCost> find(const CostedLayer &layer) const {
    return find(layer, layer.getKernelBits(), layer.getCompressedBytes());
  }
  /// Fails, with a diagnostic at the layer, for one that is missing.
  mlir::LogicalResult reportMissing(const CostedLayer &layer) const;

  llvm::StringRef getDevice() const { return device; }
  llvm::StringRef getPath() const { return path; }
  size_t getNumLayers() const { return entries.size(); }

private:
  struct Point {
    int64_t compressedBytes = 0;
    LayerCost cost;
  };
  /// Costs that were measured of one form, with one width of its kernel or
  /// any.
  struct Entry {
    std::string form;
    std::optional<int64_t> kernelBits;
    std::vector<Point> points;
  };

  llvm::Error add(const llvm::json::Object &layer);

  std::string path, device;
  std::vector<Entry> entries;
};

/// Returns the table of `path`, or else that of a device; none where neither
/// names one. Fails, with a diagnostic, for a table that cannot be read or is
/// of another device. `device` may be null.
mlir::FailureOr<std::optional<CostTable>>
findCostTable(llvm::StringRef path, Device *device, mlir::ModuleOp module);

} // namespace mct

#endif // MCT_COST_COSTTABLE_H
