// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_LIB_EXECUTION_REWRITE_H
#define MCT_LIB_EXECUTION_REWRITE_H

#include "Program.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"

namespace mct::execution {

/// Turns parts of the entry function into calls of the program's sites. The
/// function has static shapes; it is ours to change.
class SiteRewriter {
public:
  /// `number`: of the program among those that are compiled together.
  SiteRewriter(mlir::func::FuncOp function, Program &program, bool simulate,
               size_t number)
      : function(function), program(program), simulate(simulate),
        programNumber(number) {}

  /// Replaces arguments and results by buffers: (context, inputs, outputs,
  /// constants) -> (). Returns the values that stand for the arguments.
  llvm::SmallVector<mlir::Value> rewriteSignature();

  /// Calls observer `index` with the value as soon as it is computed.
  void observe(mlir::Value value, size_t index);

  /// Points that do not quantize vanish.
  void removeIdentityPoints();
  /// Convolutions, matrix products and pools become calls.
  void rewriteKernels();
  /// Points with parameters become calls, or quantized constants.
  void rewritePoints();
  /// Large constants are passed as arguments, not compiled.
  void rewriteConstants();

  /// Number of tensors that each site's function takes.
  llvm::ArrayRef<unsigned> arities() const { return siteArities; }
  static std::string symbol(size_t program, size_t site);

private:
  struct Fusion;

  mlir::Value bufferOf(mlir::OpBuilder &builder, mlir::Location loc,
                       mlir::Value tensor);
  size_t addSite(Site site, unsigned arity);
  void emitCall(mlir::OpBuilder &builder, mlir::Location loc, size_t site,
                llvm::ArrayRef<mlir::Value> buffers);
  /// A call with a fresh result buffer.
  mlir::Value emitCall(mlir::OpBuilder &builder, mlir::Location loc,
                       const Site &site, llvm::ArrayRef<mlir::Value> operands,
                       mlir::RankedTensorType result);
  mlir::Value addConstant(mlir::OpBuilder &builder, mlir::Location loc,
                          mlir::RankedTensorType type, const void *data,
                          size_t bytes);

  void moveReshapesBehind();
  template <typename ConvolutionOp>
  std::string rewriteConvolution(ConvolutionOp op);
  std::string rewriteMatMul(mlir::Operation *op);
  template <typename PoolOp> void rewritePool(PoolOp op, Site::Kind kind);
  /// Adds the kernel with the largest fusion that oneDNN is fast at and
  /// replaces the fused ops. Returns the reason when there is no kernel.
  std::string placeKernel(
      mlir::Operation *op, llvm::ArrayRef<mlir::Value> operands,
      llvm::function_ref<std::optional<size_t>(const Epilogue &, std::string &)>
          add);

  mlir::func::FuncOp function;
  Program &program;
  bool simulate;
  size_t programNumber;
  llvm::SmallVector<unsigned> siteArities;
  /// Site whose result a value is.
  llvm::DenseMap<mlir::Value, size_t> siteOfValue;
};

} // namespace mct::execution

#endif // MCT_LIB_EXECUTION_REWRITE_H
