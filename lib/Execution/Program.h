// SPDX-License-Identifier: Apache-2.0
//
// What compilation produces and workers read.
#ifndef MCT_LIB_EXECUTION_PROGRAM_H
#define MCT_LIB_EXECUTION_PROGRAM_H

#include "Kernels.h"
#include "Pooling.h"
#include "mct/Execution/Executor.h"
#include "mct/Quantization/Lut.h"
#include "mlir/ExecutionEngine/ExecutionEngine.h"
#include "tpc_dialect/IR/TpcDialect.h"

#include <vector>

namespace mct::execution {

/// A quantizer with parameters, as a function on a buffer.
struct QuantizeSite {
  tpc::QuantizerAttrInterface quantizer;
  llvm::SmallVector<int64_t> shape, axes;
  int64_t elements = 0;
  /// The grid when there is one for the whole tensor.
  std::optional<quantization::Grid> grid;
  /// The table of a quantizer that has one.
  std::optional<quantization::LutQuantizer> table;

  void run(const float *input, float *output) const;
};

/// One call out of the compiled code: the compiled code only knows its number.
struct Site {
  enum class Kind { Kernel, AveragePool, MaximumPool, Quantize, Observe };
  Kind kind;
  /// Index into the program's list of that kind.
  size_t index;
  /// Quantizer that runs on the result while it is in the cache.
  std::optional<size_t> quantizer;
};

/// A constant that the compiled code reads through a pointer.
struct ConstantBuffer {
  /// Aligned for every vector type.
  struct Free {
    void operator()(void *pointer) const { std::free(pointer); }
  };
  std::unique_ptr<char, Free> data;
};

struct Program {
  std::vector<TensorSpec> inputs, outputs, observed;
  /// Elements per sample of each observed tensor; its leading sizes of 1 before
  /// the batch stay, so only one size depends on the number of samples.
  struct ObservedShape {
    llvm::SmallVector<int64_t> shape;
    size_t batchDimension = 0;
    int64_t rowsPerSample = 1;
    bool followed = false;
  };
  std::vector<ObservedShape> observedShapes;
  int64_t unit = 1;
  bool allowsPartialUnits = true;

  KernelSet kernels;
  std::vector<size_t> kernelElements;
  std::vector<PoolingShape> pools;
  std::vector<QuantizeSite> quantizers;
  std::vector<Site> sites;
  std::vector<ConstantBuffer> constants;
  std::vector<Executor::KernelInfo> kernelInfos;

  /// Shared by programs that were compiled together.
  std::shared_ptr<mlir::ExecutionEngine> engine;
  /// Arguments: pointers to the worker, to inputs, outputs and constants.
  void (*entry)(void **) = nullptr;
};

/// Functions that compiled code calls, by arity, and its allocator.
extern "C" {
void mctExecutionCall1(int64_t worker, int64_t site, void *a);
void mctExecutionCall2(int64_t worker, int64_t site, void *a, void *b);
void mctExecutionCall3(int64_t worker, int64_t site, void *a, void *b, void *c);
void *mctExecutionAllocate(uint64_t bytes);
void *mctExecutionAlignedAllocate(uint64_t alignment, uint64_t bytes);
void mctExecutionFree(void *pointer);
}

} // namespace mct::execution

#endif // MCT_LIB_EXECUTION_PROGRAM_H
