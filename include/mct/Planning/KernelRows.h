// SPDX-License-Identifier: Apache-2.0
//
// Iterates over the elements of a kernel with the channels that they belong to.
#ifndef MCT_PLANNING_KERNELROWS_H
#define MCT_PLANNING_KERNELROWS_H

#include "mct/Planning/KernelOp.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace mct {

/// Neighbouring elements of a row-major kernel. Element `first + i` belongs to
/// output channel `output + i * outputStep` and to input channel
/// `input + i * inputStep`.
struct KernelRow {
  int64_t first = 0, count = 0;
  int64_t output = 0, outputStep = 0;
  int64_t input = 0, inputStep = 0;
};

/// Calls `visit` for all elements of the kernel, in their order. The channels
/// are those of `outChannelOf` and `inChannelOf`, computed without a division.
void forEachKernelRow(const KernelOp &op,
                      llvm::function_ref<void(const KernelRow &)> visit);

/// Calls `visit(element, output channel, input channel)` for all elements.
template <typename Visit>
void forEachKernelElement(const KernelOp &op, Visit visit) {
  forEachKernelRow(op, [&](const KernelRow &row) {
    for (int64_t i = 0; i != row.count; ++i)
      visit(row.first + i, row.output + i * row.outputStep,
            row.input + i * row.inputStep);
  });
}

} // namespace mct

#endif // MCT_PLANNING_KERNELROWS_H
