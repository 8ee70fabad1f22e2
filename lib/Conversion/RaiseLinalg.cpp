// SPDX-License-Identifier: Apache-2.0
#include "RaiseLinalg.h"
#include "mct/Conversion/Passes.h"
#include "mct/Conversion/Patterns.h"
#include "mct/IR/Names.h"
#include "mct/IR/Records.h"
#include "mlir/Dialect/Affine/IR/ValueBoundsOpInterfaceImpl.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/IR/ValueBoundsOpInterfaceImpl.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/IR/ValueBoundsOpInterfaceImpl.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/IR/ValueBoundsOpInterfaceImpl.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Interfaces/ValueBoundsOpInterface.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/RegionUtils.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

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

/// Reorders the loops of a reduction like the axes of its first operand, so
/// that the operand does not have to be transposed before it is reduced.
static void orderLoops(IRRewriter &rewriter, linalg::GenericOp generic) {
  if (generic.getNumReductionLoops() == 0 || generic.getNumDpsInputs() == 0 ||
      linalg::isaContractionOpInterface(generic) ||
      linalg::isaConvolutionOpInterface(generic))
    return;
  AffineMap map = generic.getIndexingMapsArray().front();
  if (!map.isPermutation() || map.isIdentity())
    return;
  SmallVector<unsigned> order;
  for (AffineExpr expression : map.getResults())
    order.push_back(cast<AffineDimExpr>(expression).getPosition());
  (void)linalg::interchangeGenericOp(rewriter, generic, order);
}

/// Replaces sizes that can be computed by constants, or by sizes of the slice's
/// source. Returns true if there are constant sizes.
static bool findSizes(IRRewriter &rewriter, Operation *op) {
  bool hasNew = false;
  auto slice = dyn_cast<tensor::ExtractSliceOp>(op);
  for (OpOperand &operand : op->getOpOperands()) {
    Value value = operand.get();
    if (!value.getType().isIndex())
      continue;
    if (getConstantIntValue(value)) {
      hasNew = true;
      continue;
    }
    if (FailureOr<int64_t> number =
            ValueBoundsConstraintSet::computeConstantBound(
                presburger::BoundType::EQ, {value});
        succeeded(number)) {
      operand.set(
          arith::ConstantIndexOp::create(rewriter, op->getLoc(), *number));
      hasNew = true;
      continue;
    }
    if (!slice)
      continue;
    for (auto [axis, size] : llvm::enumerate(slice.getMixedSizes()))
      if (dyn_cast<Value>(size) == value &&
          succeeded(ValueBoundsConstraintSet::areEqual(
              {value}, {slice.getSource(), int64_t(axis)})) &&
          *ValueBoundsConstraintSet::areEqual(
              {value}, {slice.getSource(), int64_t(axis)})) {
        operand.set(tensor::DimOp::create(rewriter, op->getLoc(),
                                          slice.getSource(), int64_t(axis)));
        break;
      }
  }
  return hasNew;
}

/// Converts ops of scalars that have tensor operands to linalg, reorders the
/// loops of reductions, and replaces sizes that can be computed.
static void simplify(func::FuncOp function) {
  RewritePatternSet patterns(function.getContext());
  linalg::populateElementwiseToLinalgConversionPatterns(patterns);
  walkAndApplyPatterns(function, std::move(patterns));
  IRRewriter rewriter(function.getContext());
  bool hasNew = false;
  function.walk([&](Operation *op) {
    rewriter.setInsertionPoint(op);
    if (auto generic = dyn_cast<linalg::GenericOp>(op))
      orderLoops(rewriter, generic);
    else if (isa<tensor::ExtractSliceOp, tensor::InsertSliceOp, tensor::PadOp>(
                 op))
      hasNew |= findSizes(rewriter, op);
  });
  if (!hasNew)
    return;
  // Infer types from the constant sizes.
  RewritePatternSet folds(function.getContext());
  tensor::ExtractSliceOp::getCanonicalizationPatterns(folds,
                                                      function.getContext());
  tensor::InsertSliceOp::getCanonicalizationPatterns(folds,
                                                     function.getContext());
  tensor::PadOp::getCanonicalizationPatterns(folds, function.getContext());
  tensor::CastOp::getCanonicalizationPatterns(folds, function.getContext());
  (void)applyPatternsGreedily(function, std::move(folds));
}

RaiseFailures mct::findRaiseFailures(func::FuncOp function) {
  WalkResult found =
      function.walk([](linalg::LinalgOp) { return WalkResult::interrupt(); });
  if (!found.wasInterrupted())
    return RaiseFailures();
  IRMapping mapping;
  OwningOpRef<func::FuncOp> clone = function.clone(mapping);
  simplify(*clone);
  RaiseFailures failures;
  RewritePatternSet patterns(function.getContext());
  populateRaiseLinalgPatterns(patterns, &failures);
  walkAndApplyPatterns(*clone, std::move(patterns));
  llvm::DenseMap<Operation *, Operation *> originals;
  for (auto [original, copy] : mapping.getOperationMap())
    originals.try_emplace(copy, original);
  RaiseFailures result;
  // Only for ops that still exist: a failure may belong to an erased op.
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

  void getDependentDialects(DialectRegistry &registry) const override {
    RaiseLinalgPassBase::getDependentDialects(registry);
    // These models compute the bounds of sizes.
    affine::registerValueBoundsOpInterfaceExternalModels(registry);
    arith::registerValueBoundsOpInterfaceExternalModels(registry);
    linalg::registerValueBoundsOpInterfaceExternalModels(registry);
    tensor::registerValueBoundsOpInterfaceExternalModels(registry);
  }

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
    bool isRaised = isToRaise(function);
    RaiseFailures failures;
    if (isRaised) {
      simplify(function);
      RewritePatternSet patterns(function.getContext());
      populateRaiseLinalgPatterns(patterns, &failures);
      walkAndApplyPatterns(function, std::move(patterns));
    }
    if (!narrowDoubles(function) && !isRaised)
      return;
    IRRewriter rewriter(function.getContext());
    (void)runRegionDCE(rewriter, function->getRegions());
    // The same shapes and numbers have been created for many ops.
    DominanceInfo dominance(function);
    eliminateCommonSubExpressions(rewriter, dominance, function);
    if (isRaised)
      nameLayers(function);
    function.walk([&](Operation *op) { report(op, failures); });
  }

private:
  /// Returns the function if its arguments or results are buffers, or else its
  /// first op that reads or defines one, or null.
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

  /// Returns true if there are ops that have to be raised.
  static bool isToRaise(func::FuncOp function) {
    WalkResult result = function.walk([](Operation *op) {
      return isa_and_present<linalg::LinalgDialect, tensor::TensorDialect,
                             cf::ControlFlowDialect, arith::ArithDialect,
                             math::MathDialect>(op->getDialect())
                 ? WalkResult::interrupt()
                 : WalkResult::advance();
    });
    return result.wasInterrupted();
  }

  /// Names the ops into which an op was raised: the last one that computes
  /// something keeps the name, and the others get the name of their op as a
  /// suffix.
  static void nameLayers(func::FuncOp function) {
    llvm::MapVector<StringAttr, SmallVector<Operation *>> layers;
    function.walk([&](Operation *op) {
      if (op->getNumResults() == 0 || op->hasTrait<OpTrait::ConstantLike>() ||
          isa<func::FuncOp>(op) || isa<tosa::ConstShapeOp>(op))
        return;
      if (StringAttr name = mct::getName(op->getLoc()))
        layers[name].push_back(op);
    });
    for (auto &[name, ops] : layers) {
      auto found = llvm::find_if(llvm::reverse(ops), [](Operation *op) {
        return !isa<tosa::ReshapeOp, tosa::TransposeOp, tosa::CastOp>(op);
      });
      Operation *main = found == ops.rend() ? ops.back() : *found;
      for (Operation *op : ops)
        if (op != main && isa<tosa::TosaDialect>(op->getDialect()))
          op->setLoc(NameLoc::get(StringAttr::get(
              op->getContext(),
              name.getValue() + "/" +
                  op->getName().getStringRef().drop_front(strlen("tosa.")))));
    }
  }

  /// Reports what could not be raised: an assertion as an error, a layer as a
  /// warning.
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
