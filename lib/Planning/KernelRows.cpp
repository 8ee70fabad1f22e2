// SPDX-License-Identifier: Apache-2.0
#include "mct/Planning/KernelRows.h"

using namespace mlir;
using namespace mct;

namespace {
/// An axis of a kernel of more than one element, and how far its channels move
/// along it.
struct KernelAxis {
  int64_t size, outputStep, inputStep;
};
} // namespace

/// Returns the axes of more than one element, the slowest first.
static SmallVector<KernelAxis, 4> getAxes(const KernelOp &op) {
  ArrayRef<int64_t> shape = op.getKernelShape();
  SmallVector<int64_t, 4> outputSteps(shape.size(), 0);
  int64_t step = 1;
  for (int64_t axis : llvm::reverse(op.getOutAxes())) {
    outputSteps[axis] = step;
    step *= shape[axis];
  }
  SmallVector<KernelAxis, 4> axes;
  for (auto [axis, size] : llvm::enumerate(shape))
    if (size != 1)
      axes.push_back({size, outputSteps[axis],
                      op.getInAxis() == int64_t(axis) ? int64_t(1) : 0});
  return axes;
}

void mct::forEachKernelRow(const KernelOp &op,
                           llvm::function_ref<void(const KernelRow &)> visit) {
  SmallVector<KernelAxis, 4> axes = getAxes(op);
  if (llvm::any_of(axes, [](const KernelAxis &axis) { return axis.size == 0; }))
    return;
  KernelRow row;
  row.count = 1;
  if (!axes.empty()) {
    KernelAxis last = axes.pop_back_val();
    row.count = last.size;
    row.outputStep = last.outputStep;
    row.inputStep = last.inputStep;
  }
  SmallVector<int64_t, 4> index(axes.size(), 0);
  while (true) {
    visit(row);
    row.first += row.count;
    size_t axis = axes.size();
    while (axis-- > 0) {
      const KernelAxis &moved = axes[axis];
      row.output += moved.outputStep;
      row.input += moved.inputStep;
      if (++index[axis] != moved.size)
        break;
      row.output -= moved.outputStep * moved.size;
      row.input -= moved.inputStep * moved.size;
      index[axis] = 0;
    }
    if (axis == size_t(-1))
      return;
  }
}
