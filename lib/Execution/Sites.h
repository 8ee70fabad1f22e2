// SPDX-License-Identifier: Apache-2.0
//
// Finds the ops of a function that become calls: of oneDNN, of integer kernels,
// pools and moves.
#ifndef MCT_LIB_EXECUTION_SITES_H
#define MCT_LIB_EXECUTION_SITES_H

#include "Program.h"
#include "mct/IR/ConstantEvaluator.h"
#include "mct/IR/Constants.h"
#include "mct/IR/Records.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace mct::execution {

/// One or several ops that a call computes without compiled code.
struct Site {
  Step::Kind kind;
  /// Index in the program's list of that kind.
  size_t index = 0;
  llvm::SmallVector<mlir::Value, 2> operands;
  /// A call before it, which computes a value for it or for the following
  /// calls.
  struct Call {
    Step::Kind kind;
    size_t index = 0;
    /// Indices of operands, followed by those of the results of earlier calls.
    llvm::SmallVector<unsigned, 4> reads;
    int64_t bytes = 0;
  };
  llvm::SmallVector<Call, 0> before;
  /// Buffers that the site reads, as in those calls; if empty, the operands.
  llvm::SmallVector<unsigned, 4> reads = {};
};

/// Finds the sites of a function with static shapes, which it may change, and
/// adds their data to the program.
class SiteFinder {
public:
  /// `observed` has values with users other than the function's ops. No call
  /// computes past them. If a rewrite replaces one, its entry is replaced.
  /// `replaceable` has operands that may be replaced.
  SiteFinder(mlir::func::FuncOp function, Program &program,
             ConstantEvaluator &constants,
             llvm::MutableArrayRef<mlir::Value> observed,
             llvm::ArrayRef<mlir::OpOperand *> replaceable)
      : function(function), program(program), constants(constants),
        observed(observed), kept(observed.begin(), observed.end()) {
    for (mlir::OpOperand *operand : replaceable)
      changing.insert(operand->getOwner());
  }

  /// Finds convolutions, matrix products and pools, integer kernels, and ops
  /// that only move elements.
  void findPrimitives();

  /// Returns the call that computes the results of this op, or null.
  const Site *lookup(mlir::Operation *op) const {
    auto found = sites.find(op);
    return found == sites.end() ? nullptr : &found->second;
  }
  /// Returns the primitive that computes an op, whatever else its call
  /// computes.
  std::optional<size_t> lookupPrimitive(mlir::Operation *op) const {
    auto found = primitives.find(op);
    return found == primitives.end() ? std::nullopt
                                     : std::optional<size_t>(found->second);
  }
  /// Returns whether the call of another op computes this one, too.
  bool isCovered(mlir::Operation *op) const { return covered.contains(op); }

private:
  struct Fusion;

  bool isZero(mlir::Value value);
  std::optional<ConstantFloats> evaluateFloats(mlir::Value value);
  mlir::Operation *soleUser(mlir::Value value) const;
  void moveReshapesBack();
  template <typename ConvolutionOp>
  std::optional<Record> findConvolution(ConvolutionOp op);
  bool hasPhases(mlir::tosa::TransposeConv2DOp op);
  bool findPhases(mlir::tosa::TransposeConv2DOp op);
  template <typename ConvolutionOp> bool findWeightGradient(ConvolutionOp op);
  bool findDepthwiseWeightGradient(mlir::tosa::DepthwiseConv2DOp op);
  std::optional<size_t> placeWeightGradient(mlir::Operation *op,
                                            const ConvolutionShape &shape,
                                            bool inputChannelsFirst);
  std::optional<Record> findMatMul(mlir::Operation *op);
  template <typename PoolOp> void findPool(PoolOp op, Step::Kind kind);
  void findMove(mlir::Operation *op);
  struct View;
  View getView(mlir::Value value) const;
  void findInteger(mlir::Operation *op);
  struct Chain;
  bool isLink(mlir::Operation *op);
  ChainNode link(mlir::Value value, Chain &chain);
  void findChain(mlir::Operation *op);
  std::optional<RescaleShape> readRescale(mlir::tosa::RescaleOp op);
  llvm::SmallVector<mlir::Operation *, 2>
  readFusedRescale(mlir::Operation *op, std::optional<RescaleShape> &rescale);
  std::unique_ptr<IntegerKernel>
  makeInteger(mlir::Operation *op, const RescaleShape *rescale,
              llvm::SmallVectorImpl<mlir::Value> &operands);
  template <typename Number>
  std::vector<Number> evaluateIntegers(mlir::Value value);
  /// Adds the primitive with the largest fusion that oneDNN computes fast.
  /// Returns the reason if there is no primitive.
  std::optional<Record> placePrimitive(
      mlir::Operation *op, llvm::ArrayRef<mlir::Value> operands,
      llvm::function_ref<llvm::Expected<size_t>(const Epilogue &)> add);

  mlir::func::FuncOp function;
  Program &program;
  ConstantEvaluator &constants;
  llvm::MutableArrayRef<mlir::Value> observed;
  llvm::DenseSet<mlir::Value> kept;
  /// Ops whose constants may be replaced.
  llvm::DenseSet<mlir::Operation *> changing;
  llvm::DenseMap<mlir::Operation *, Site> sites;
  llvm::DenseSet<mlir::Operation *> covered;
  llvm::DenseMap<mlir::Operation *, size_t> primitives;
};

/// Returns the shape of a convolution whose tensors are static.
template <typename ConvolutionOp> ConvolutionShape readShape(ConvolutionOp op);

/// Skips a slice that drops rows that a strided window never reads: TOSA
/// requires an exact division, kernels round down. Returns the tensor before
/// the slice, and sets its sizes in `shape`.
mlir::Value dropUnreadRows(mlir::Value input, ConvolutionShape &shape);

/// Returns whether oneDNN cannot compute with the type: it divides by sizes
/// truncated to 32 bits.
bool isTooLarge(mlir::Type type);

/// Returns whether a value is a tensor of f32 with a static shape.
bool isStaticFloat(mlir::Value value);

/// Adds the bounds of a clamp to the epilogue; returns false, and adds nothing,
/// if an epilogue cannot have them.
bool readClamp(mlir::tosa::ClampOp clamp, Epilogue &epilogue);

/// Returns the name of the op in its location, or its kind if it has none.
std::string describeOp(mlir::Operation *op);

} // namespace mct::execution

#endif // MCT_LIB_EXECUTION_SITES_H
