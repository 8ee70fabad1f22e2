// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_EXECUTION_CALLBUFFERS_H
#define MCT_EXECUTION_CALLBUFFERS_H

#include "mct/Execution/Executor.h"
#include "mct/Support/AlignedBuffer.h"
#include "llvm/Support/MathExtras.h"

namespace mct::execution {

/// Returns the size of a tensor in bytes. Saturates, because sizes come from
/// the network and may be anything.
inline size_t getByteSize(mlir::RankedTensorType type) {
  size_t bytes = getElementBytes(type.getElementType());
  for (int64_t size : type.getShape())
    bytes = llvm::SaturatingMultiply<size_t>(bytes, size);
  return bytes;
}

/// Memory for the tensors of one call of a worker.
struct CallBuffers {
  llvm::SmallVector<const void *> inputs;
  llvm::SmallVector<void *> outputs;
  /// The first tensor for which there was not enough memory, or null.
  const TensorSpec *missing = nullptr;

  void *add(const TensorSpec &spec) {
    void *data = buffers.emplace_back(getByteSize(spec.type)).get();
    if (!data && !missing)
      missing = &spec;
    return data;
  }
  /// Adds buffers for these tensors to the inputs, and returns them.
  llvm::SmallVector<void *> addInputs(llvm::ArrayRef<TensorSpec> specs) {
    llvm::SmallVector<void *> added;
    for (const TensorSpec &spec : specs)
      inputs.push_back(added.emplace_back(add(spec)));
    return added;
  }
  void addOutputs(llvm::ArrayRef<TensorSpec> specs) {
    for (const TensorSpec &spec : specs)
      outputs.push_back(add(spec));
  }

private:
  std::vector<support::AlignedBuffer> buffers;
};

} // namespace mct::execution

#endif // MCT_EXECUTION_CALLBUFFERS_H
