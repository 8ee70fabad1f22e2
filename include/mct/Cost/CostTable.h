// SPDX-License-Identifier: Apache-2.0
//
// Measured costs of layers on a device: a table of cycles and bytes by the
// computation of a layer.
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

/// An op, or a fused chain, whose cost a table may have.
struct CostedLayer {
  /// Name of the last op, and that op.
  std::string name;
  mlir::Operation *op = nullptr;
  /// Properties that the cost depends on, apart from the width and the codes of
  /// the kernel: `ops`, `operands`, `constants`, `result` and `attributes`.
  /// Layers of other networks may have the same form.
  llvm::json::Object form;
  /// Points of the weights that it reads, with the layer whose kernel they are.
  struct Weight {
    tpc::QuantizeOp point;
    std::optional<KernelOp> layer;
  };
  std::vector<Weight> weights;

  /// Returns the present width of the kernel in bits; none if there is no
  /// kernel.
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
  /// Reads a table. Errors name the file and the problem in it.
  static llvm::Expected<CostTable> read(llvm::StringRef path);

  /// Returns the cost of a layer with this width and size of the kernel:
  /// interpolated linearly between measured sizes, that of the smallest size
  /// below all, and extrapolated from the largest two above all. None if the
  /// table does not have the layer.
  std::optional<LayerCost> find(const CostedLayer &layer,
                                std::optional<int64_t> kernelBits,
                                int64_t compressedBytes) const;
  /// Returns the present cost.
  std::optional<LayerCost> find(const CostedLayer &layer) const {
    return find(layer, layer.getKernelBits(), layer.getCompressedBytes());
  }
  /// Emits an error at a layer that the table does not have.
  mlir::LogicalResult reportMissing(const CostedLayer &layer) const;

  llvm::StringRef getDevice() const { return device; }
  llvm::StringRef getPath() const { return path; }

private:
  struct Point {
    int64_t compressedBytes = 0;
    LayerCost cost;
  };
  /// Measured costs of one form, with one width of its kernel or any.
  struct Entry {
    std::string form;
    std::optional<int64_t> kernelBits;
    std::vector<Point> points;
  };

  llvm::Error add(const llvm::json::Object &layer);

  std::string path, device;
  std::vector<Entry> entries;
};

/// Returns the table at `path`, or else that of the device; none if neither
/// names one. Fails, with a diagnostic, if the table cannot be read or belongs
/// to another device. `device` may be null.
mlir::FailureOr<std::optional<CostTable>>
findCostTable(llvm::StringRef path, Device *device, mlir::ModuleOp module);

} // namespace mct

#endif // MCT_COST_COSTTABLE_H
