// SPDX-License-Identifier: Apache-2.0
//
// Random branched networks of every op that the executor takes.
#ifndef MCT_TEST_UNIT_EXECUTION_RANDOMNETWORKS_H
#define MCT_TEST_UNIT_EXECUTION_RANDOMNETWORKS_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <string>
#include <vector>

namespace mct::testing {

/// One network, @main, the same for a seed on every machine. Values are read
/// several times, before and after ops that may compute in place; arguments,
/// constants and one value twice are returned; activations and weights have
/// points with and without parameters; the batch may be followed in most
/// networks and cannot in the others. Ops have the names v0, v1, ..., points
/// p0, p1, ..., arguments a0, a1, .... Values stay within some hundreds, and
/// where a function is defined.
mlir::OwningOpRef<mlir::ModuleOp> makeRandomNetwork(mlir::MLIRContext &context,
                                                    unsigned seed);

/// A network for corrections: layers with parameters on their kernels, with
/// activations that are quantized, batch 1, one f32 input. `scalable`: the
/// kernels have thresholds of their own for each output channel, and no powers
/// of two.
mlir::OwningOpRef<mlir::ModuleOp> makeRandomLayers(mlir::MLIRContext &context,
                                                   unsigned seed,
                                                   bool scalable = false);

/// One of these, without quantization points.
mlir::OwningOpRef<mlir::ModuleOp> makeFloatNetwork(mlir::MLIRContext &context,
                                                   unsigned seed);

/// The smallest network that can be made of one by leaving out results, points
/// and ops, so that `fails` still holds.
mlir::OwningOpRef<mlir::ModuleOp>
shrink(mlir::ModuleOp module, llvm::function_ref<bool(mlir::ModuleOp)> fails);

/// The text of a module, constants included.
std::string print(mlir::ModuleOp module);

/// Elements of one argument, as a network reads them: f32, i32, i8 or i1 (a
/// byte each). `samples` times the batch of the argument; values depend on
/// `seed` and the number of the argument alone.
std::vector<char> randomInput(mlir::RankedTensorType type, int64_t batches,
                              unsigned seed);

} // namespace mct::testing

#endif // MCT_TEST_UNIT_EXECUTION_RANDOMNETWORKS_H
