// SPDX-License-Identifier: Apache-2.0
#include "mct/Planning/KernelRows.h"
#include "mct/Support/RowMajor.h"

using namespace mlir;
using namespace mct;

void mct::forEachKernelRow(const KernelOp &op,
                           llvm::function_ref<void(const KernelRow &)> visit) {
  ArrayRef<int64_t> shape = op.getKernelShape();
  SmallVector<int64_t, 1> inputAxes;
  if (op.getInAxis())
    inputAxes.push_back(*op.getInAxis());
  SmallVector<int64_t> outputs =
                           support::getStridesAlong(shape, op.getOutAxes()),
                       inputs = support::getStridesAlong(shape, inputAxes);
  // Axes of one element do not form rows.
  while (shape.size() > 1 && shape.back() == 1)
    shape = shape.drop_back();
  KernelRow row;
  row.count = shape.empty() ? 1 : shape.back();
  if (row.count == 0)
    return;
  if (!shape.empty()) {
    row.outputStep = outputs[shape.size() - 1];
    row.inputStep = inputs[shape.size() - 1];
    shape = shape.drop_back();
  }
  support::forEachPosition<2>(shape, {outputs, inputs}, [&](auto at) {
    row.output = at[0];
    row.input = at[1];
    visit(row);
    row.first += row.count;
  });
}
