// SPDX-License-Identifier: Apache-2.0
//
// Differential test of rewrites: many small random TOSA graphs, executed before
// and after.
#ifndef MCT_TEST_UNIT_TRANSFORMS_RANDOMGRAPHS_H
#define MCT_TEST_UNIT_TRANSFORMS_RANDOMGRAPHS_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include <functional>
#include <vector>

namespace mct::testing {

/// Number of graphs in one run: the environment variable MCT_RANDOM_GRAPHS, or
/// 100.
size_t numRandomGraphs();

/// `count` graphs that share no op. Each reads an argument of its own and makes
/// one or two results; a function holds several graphs side by side, the first
/// is @main. The same arguments give the same module on every machine.
///
/// Graphs consist of a few pieces, which follow each other on an NHWC tensor:
/// convolutions of all kinds with any kernel, padding, stride and dilation,
/// products with matrices, batch norms in the forms of importers, clamps and
/// activations, pools, additions, concatenations, reshapes, transposes, with
/// shared constants and intermediate values that are read twice.
///
/// `graphOf`: graph of each result, of all functions one after the other.
mlir::OwningOpRef<mlir::ModuleOp>
makeRandomGraphs(mlir::MLIRContext &context, size_t count, unsigned seed,
                 std::vector<size_t> &graphOf);

struct RandomGraphsOptions {
  /// Seed of the graphs and of their inputs.
  unsigned seed = 1;
  /// Runs before the pass: gives points what the pass needs, for example. The
  /// function must stay the same.
  std::function<void(mlir::ModuleOp)> prepare;
  /// Largest difference to the result before, in units of that result's largest
  /// magnitude.
  float tolerance = 1e-5f;
};

/// Runs a textual pass pipeline, such as "mct-fold-batch-norm", on
/// random graphs, and expects each result to stay what it was, and at least
/// `leastChanged` graphs to be no longer as they were, for every hundred that
/// there are. Points with parameters compute the identity.
void expectSameFunction(llvm::StringRef pipeline, size_t leastChanged,
                        const RandomGraphsOptions &options = {});

} // namespace mct::testing

#endif // MCT_TEST_UNIT_TRANSFORMS_RANDOMGRAPHS_H
