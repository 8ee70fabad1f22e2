// SPDX-License-Identifier: Apache-2.0
#include "RaiseLinalg.h"
#include "mct/Conversion/Passes.h"
#include "mct/Conversion/Patterns.h"
#include "mct/IR/Records.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/RegionUtils.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"
#include "tpc_dialect/IR/TpcDialect.h"

namespace mct {
#define GEN_PASS_DEF_RAISELINALGPASS
#include "mct/Conversion/Passes.h.inc"
} // namespace mct

using namespace mlir;
using namespace mct;

void mct::populateRaiseLinalgPatterns(RewritePatternSet &patterns,
                                      RaiseFailures *failures) {
  populateRaiseLayersPatterns(patterns, failures);
  populateRaiseBodiesPatterns(patterns, failures);
  populateRaiseTensorsPatterns(patterns, failures);
}

RaiseFailures mct::findRaiseFailures(func::FuncOp function) {
  WalkResult found =
      function.walk([](linalg::LinalgOp) { return WalkResult::interrupt(); });
  if (!found.wasInterrupted())
    return RaiseFailures();
  IRMapping mapping;
  OwningOpRef<func::FuncOp> clone = function.clone(mapping);
  RaiseFailures failures;
  RewritePatternSet patterns(function.getContext());
  populateRaiseLinalgPatterns(patterns, &failures);
  walkAndApplyPatterns(*clone, std::move(patterns));
  llvm::DenseMap<Operation *, Operation *> originals;
  for (auto [original, copy] : mapping.getOperationMap())
    originals.try_emplace(copy, original);
  RaiseFailures result;
  // Only ops that are still there: a reason may be that of an erased one.
  clone->walk([&](linalg::LinalgOp op) {
    auto failure = failures.find(op);
    auto original = originals.find(op);
    if (failure != failures.end() && original != originals.end())
      result.try_emplace(original->second, failure->second);
  });
  return result;
}

namespace {
struct RaiseLinalgPass : mct::impl::RaiseLinalgPassBase<RaiseLinalgPass> {
  using RaiseLinalgPassBase::RaiseLinalgPassBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal())
      return;
    if (Operation *buffered = findBuffer(function)) {
      InFlightDiagnostic diagnostic =
          buffered->emitOpError("is on buffers ('memref'), not on tensors");
      diagnostic.attachNote()
          << "take the network from in front of 'one-shot-bufferize'; "
             "torch-mlir's output type LINALG_ON_TENSORS is that";
      return signalPassFailure();
    }
    if (!isToRaise(function))
      return;
    RaiseFailures failures;
    RewritePatternSet patterns(function.getContext());
    populateRaiseLinalgPatterns(patterns, &failures);
    walkAndApplyPatterns(function, std::move(patterns));
    IRRewriter rewriter(function.getContext());
    (void)runRegionDCE(rewriter, function->getRegions());
    // The same shapes and numbers were written for many ops.
    DominanceInfo dominance(function);
    eliminateCommonSubExpressions(rewriter, dominance, function);
    function.walk([&](Operation *op) { report(op, failures); });
  }

private:
  /// Returns the function if its arguments or results are buffers, else its
  /// first op that reads or makes one, or null.
  static Operation *findBuffer(func::FuncOp function) {
    auto isBuffer = llvm::IsaPred<BaseMemRefType>;
    if (llvm::any_of(function.getArgumentTypes(), isBuffer) ||
        llvm::any_of(function.getResultTypes(), isBuffer))
      return function;
    Operation *found = nullptr;
    function.walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (llvm::none_of(op->getOperandTypes(), isBuffer) &&
          llvm::none_of(op->getResultTypes(), isBuffer))
        return WalkResult::advance();
      found = op;
      return WalkResult::interrupt();
    });
    return found;
  }

  /// Returns true if there are ops of other dialects, and no points.
  static bool isToRaise(func::FuncOp function) {
    bool hasOthers = false;
    WalkResult result = function.walk([&](Operation *op) {
      hasOthers |= isa_and_present<linalg::LinalgDialect, tensor::TensorDialect,
                                   cf::ControlFlowDialect>(op->getDialect());
      return isa<tpc::QuantizeOp>(op) ? WalkResult::interrupt()
                                      : WalkResult::advance();
    });
    return hasOthers && !result.wasInterrupted();
  }

  /// Tells of what was not raised: an assertion is an error, a layer a warning.
  void report(Operation *op, const RaiseFailures &failures) {
    if (auto assertion = dyn_cast<cf::AssertOp>(op)) {
      InFlightDiagnostic diagnostic = assertion.emitOpError("may not hold: '")
                                      << assertion.getMsg() << "'";
      diagnostic.attachNote()
          << "a network cannot stop at a sample; remove the assertion, or what "
             "makes it necessary";
      return signalPassFailure();
    }
    auto failure = failures.find(op);
    if (failure == failures.end() || !isa<linalg::LinalgOp>(op))
      return;
    auto structured = cast<linalg::LinalgOp>(op);
    if (linalg::isaContractionOpInterface(structured) ||
        linalg::isaConvolutionOpInterface(structured)) {
      InFlightDiagnostic diagnostic = op->emitWarning()
                                      << "'" << op->getName()
                                      << "' op is not raised to TOSA: it "
                                      << failure->second;
      diagnostic.attachNote()
          << "targets say how layers of TOSA are quantized; this one is in no "
             "operator set of theirs unless they name the op";
    } else if (remarks &&
               structured.getBlock()->getOps<cf::AssertOp>().empty()) {
      emitRecord(op, getArgument(),
                 Record(Reason::NotRaised) << "it " << failure->second,
                 "'" + op->getName().getStringRef() +
                     "' op is not raised to TOSA: ");
    }
  }
};
} // namespace
