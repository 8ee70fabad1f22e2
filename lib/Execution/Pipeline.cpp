// SPDX-License-Identifier: Apache-2.0
#include "Pipeline.h"
#include "mct/IR/Shapes.h"
#include "mct/Interfaces/OpInterfaces.h"

#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/BufferizationToMemRef/BufferizationToMemRef.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVMPass.h"
#include "mlir/Conversion/IndexToLLVM/IndexToLLVM.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MathToLibm/MathToLibm.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/TosaToArith/TosaToArith.h"
#include "mlir/Conversion/TosaToLinalg/TosaToLinalg.h"
#include "mlir/Conversion/TosaToSCF/TosaToSCF.h"
#include "mlir/Conversion/TosaToTensor/TosaToTensor.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Affine/IR/ValueBoundsOpInterfaceImpl.h"
#include "mlir/Dialect/Arith/IR/ValueBoundsOpInterfaceImpl.h"
#include "mlir/Dialect/Arith/Transforms/BufferDeallocationOpInterfaceImpl.h"
#include "mlir/Dialect/Arith/Transforms/BufferViewFlowOpInterfaceImpl.h"
#include "mlir/Dialect/Arith/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Pipelines/Passes.h"
#include "mlir/Dialect/Bufferization/Transforms/FuncBufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/ControlFlow/Transforms/BufferDeallocationOpInterfaceImpl.h"
#include "mlir/Dialect/ControlFlow/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Func/Extensions/AllExtensions.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/IR/ValueBoundsOpInterfaceImpl.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/Linalg/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Linalg/Transforms/SubsetInsertionOpInterfaceImpl.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/IR/ValueBoundsOpInterfaceImpl.h"
#include "mlir/Dialect/MemRef/Transforms/AllocationOpInterfaceImpl.h"
#include "mlir/Dialect/MemRef/Transforms/BufferViewFlowOpInterfaceImpl.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Dialect/SCF/IR/ValueBoundsOpInterfaceImpl.h"
#include "mlir/Dialect/SCF/Transforms/BufferDeallocationOpInterfaceImpl.h"
#include "mlir/Dialect/SCF/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/IR/TensorInferTypeOpInterfaceImpl.h"
#include "mlir/Dialect/Tensor/IR/ValueBoundsOpInterfaceImpl.h"
#include "mlir/Dialect/Tensor/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Tensor/Transforms/SubsetInsertionOpInterfaceImpl.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/Dialect/Tosa/Transforms/Passes.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/Passes.h"
#include "tpc_dialect/IR/TpcDialect.h"
#include "llvm/Support/Threading.h"

using namespace mlir;

namespace {

/// Runs upstream's fusion, also for values that an op reads several times, or
/// by several operands.
struct ElementwiseFusion
    : PassWrapper<ElementwiseFusion, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ElementwiseFusion)

  StringRef getArgument() const final { return "mct-execution-fusion"; }

  void runOnOperation() final {
    linalg::ControlFusionFn isReadOnce = [](OpOperand *operand) {
      Operation *producer = operand->get().getDefiningOp();
      return producer && llvm::all_of(producer->getUsers(), [&](Operation *op) {
               return op == operand->getOwner();
             });
    };
    MLIRContext *context = &getContext();
    RewritePatternSet patterns(context);
    linalg::populateElementwiseOpsFusionPatterns(patterns, isReadOnce);
    linalg::populateFoldReshapeOpsByExpansionPatterns(patterns, isReadOnce);
    linalg::populateConstantFoldLinalgOperations(patterns, isReadOnce);
    tensor::populateBubbleUpExpandShapePatterns(patterns);
    affine::AffineApplyOp::getCanonicalizationPatterns(patterns, context);
    linalg::GenericOp::getCanonicalizationPatterns(patterns, context);
    tensor::ExpandShapeOp::getCanonicalizationPatterns(patterns, context);
    tensor::CollapseShapeOp::getCanonicalizationPatterns(patterns, context);
    context->getLoadedDialect<linalg::LinalgDialect>()
        ->getCanonicalizationPatterns(patterns);
    (void)applyPatternsGreedily(getOperation(), std::move(patterns),
                                GreedyRewriteConfig().setUseTopDownTraversal());
  }
};

/// Replaces a softmax of linalg by its loops.
struct SoftmaxDecomposition
    : PassWrapper<SoftmaxDecomposition, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(SoftmaxDecomposition)

  void runOnOperation() override {
    SmallVector<linalg::SoftmaxOp> ops;
    getOperation().walk([&](linalg::SoftmaxOp op) { ops.push_back(op); });
    IRRewriter rewriter(&getContext());
    for (linalg::SoftmaxOp op : ops) {
      rewriter.setInsertionPoint(op);
      FailureOr<SmallVector<Value>> values = op.decomposeOperation(rewriter);
      if (failed(values)) {
        op.emitOpError("cannot be executed: it has no loops");
        return signalPassFailure();
      }
      rewriter.replaceOp(op, *values);
    }
  }
};

/// Converts floats to narrow integers by way of i32. On Cascade Lake, LLVM 22
/// generates wrong code for a vector of i16 that is converted from f32 and
/// extended to an index, although its optimized IR is right.
struct WideConversion : PassWrapper<WideConversion, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(WideConversion)

  void runOnOperation() override {
    getOperation().walk([](arith::FPToSIOp op) {
      auto narrow = dyn_cast<IntegerType>(op.getType());
      if (!narrow || narrow.getWidth() >= 32)
        return;
      OpBuilder builder(op);
      Value wide = arith::FPToSIOp::create(builder, op.getLoc(),
                                           builder.getI32Type(), op.getIn());
      op.replaceAllUsesWith(
          arith::TruncIOp::create(builder, op.getLoc(), narrow, wide)
              .getResult());
      op.erase();
    });
  }
};

void buildTosaToLinalg(OpPassManager &module) {
  // Function by function, so that they are lowered in parallel.
  OpPassManager &pm = module.nest<func::FuncOp>();
  pm.addPass(std::make_unique<SoftmaxDecomposition>());
  // Networks of linalg may have ops of scalars on tensors.
  pm.addPass(createConvertElementwiseToLinalgPass());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(tosa::createTosaInferShapesPass());
  pm.addPass(tosa::createTosaMakeBroadcastablePass());
  pm.addPass(tosa::createTosaToLinalgNamed(TosaToLinalgNamedOptions()));
  pm.addPass(createCanonicalizerPass());
  pm.addPass(tosa::createTosaLayerwiseConstantFoldPass());
  pm.addPass(tosa::createTosaMakeBroadcastablePass());
  pm.addPass(createTosaToSCFPass());
  pm.addPass(tosa::createTosaToLinalg());
  pm.addPass(createTosaToTensorPass());
  TosaToArithPassOptions arith;
  arith.includeApplyRescale = true;
  pm.addPass(createTosaToArithPass(arith));
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  pm.addPass(std::make_unique<ElementwiseFusion>());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
}

void buildBufferization(OpPassManager &all) {
  OpPassManager &pm = all.nest<ModuleOp>();
  // Not empty-tensor-elimination: where ops share an empty tensor it gives the
  // buffer of one of them to the others.
  pm.addPass(bufferization::createEmptyTensorToAllocTensorPass());
  bufferization::OneShotBufferizePassOptions bufferize;
  // Loops may allocate the values that they carry in every iteration.
  bufferize.allowReturnAllocsFromLoops = true;
  pm.addPass(bufferization::createOneShotBufferizePass(bufferize));
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  bufferization::buildBufferDeallocationPipeline(pm);
  pm.addPass(createConvertBufferizationToMemRefPass());
  pm.addNestedPass<func::FuncOp>(
      bufferization::createOptimizeAllocationLivenessPass());
}

void buildToLLVM(OpPassManager &all) {
  OpPassManager &pm = all.nest<ModuleOp>();
  pm.addPass(createConvertLinalgToLoopsPass());
  pm.addPass(std::make_unique<WideConversion>());
  pm.addPass(createLoopInvariantCodeMotionPass());
  pm.addPass(memref::createExpandStridedMetadataPass());
  pm.addPass(createLowerAffinePass());
  pm.addPass(createSCFToControlFlowPass());
  pm.addPass(createConvertMathToLLVMPass());
  pm.addPass(createConvertMathToLibmPass());
  pm.addPass(memref::createExpandStridedMetadataPass());
  pm.addPass(createLowerAffinePass());
  pm.addPass(createArithToLLVMConversionPass());
  pm.addPass(createConvertIndexToLLVMPass());
  FinalizeMemRefToLLVMConversionPassOptions memory;
  // Allocation becomes calls of functions that we map to the worker's pool.
  memory.useGenericFunctions = true;
  pm.addPass(createFinalizeMemRefToLLVMConversionPass(memory));
  ConvertFuncToLLVMPassOptions functions;
  functions.useBarePtrCallConv = true;
  pm.addPass(createConvertFuncToLLVMPass(functions));
  pm.addPass(createConvertControlFlowToLLVMPass());
  pm.addPass(createArithToLLVMConversionPass());
  pm.addPass(createUBToLLVMConversionPass());
  pm.addPass(createReconcileUnrealizedCastsPass());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
}

/// Collects the errors that the calling thread reports while it lives.
class ErrorCollector {
public:
  explicit ErrorCollector(MLIRContext *context)
      : thread(llvm::get_threadid()), handler(context, [this](Diagnostic &d) {
          if (d.getSeverity() != DiagnosticSeverity::Error ||
              llvm::get_threadid() != thread)
            return failure();
          errors.push_back({d.getLocation(), d.str()});
          return success();
        }) {}

  struct Error {
    Location location;
    std::string text;
  };
  SmallVector<Error> errors;

private:
  uint64_t thread;
  ScopedDiagnosticHandler handler;
};

/// Combines the errors of `action` into one, which names the op of the network.
LogicalResult explainErrors(ModuleOp module,
                            const mct::execution::OpNames &names,
                            function_ref<LogicalResult()> action) {
  SmallVector<ErrorCollector::Error> errors;
  {
    ErrorCollector collector(module.getContext());
    if (succeeded(action()))
      return success();
    errors = std::move(collector.errors);
  }
  Location location =
      errors.empty() ? module.getLoc() : errors.front().location;
  InFlightDiagnostic error = emitError(location);
  auto name = names.find(location);
  if (name != names.end())
    error << "'" << name->second << "' op cannot be executed";
  else
    error << "the function cannot be executed";
  for (const ErrorCollector::Error &cause : errors)
    error.attachNote(cause.location) << cause.text;
  return failure();
}

LogicalResult runStage(ModuleOp module, const mct::execution::OpNames &names,
                       function_ref<void(OpPassManager &)> build) {
  PassManager pm(module.getContext(), ModuleOp::getOperationName(),
                 OpPassManager::Nesting::Explicit);
  // The stages are upstream's, and the module is ours alone.
  pm.enableVerifier(false);
  build(pm);
  return explainErrors(module, names, [&] { return pm.run(module); });
}

/// Fails for sizes that are unknown or contradictory. The input has static
/// sizes; a lowering that computes one at run time does not support the op.
LogicalResult checkLowered(ModuleOp module) {
  WalkResult result = module.walk([](Operation *op) {
    for (Type type : op->getResultTypes()) {
      auto tensor = dyn_cast<TensorType>(type);
      if (!tensor || (tensor.hasRank() && tensor.hasStaticShape()))
        continue;
      op->emitOpError("has the type ")
          << type << ", whose sizes its operands do not tell";
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return success(!result.wasInterrupted() && succeeded(verify(module)) &&
                 succeeded(mct::verifyShapes(module)));
}

/// Finds runs of loops over which all operands of the op iterate in the same
/// way.
SmallVector<ReassociationIndices> collapsibleLoops(linalg::GenericOp op) {
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
  SmallVector<ReassociationIndices> groups;
  for (int64_t begin = 0, loops = op.getNumLoops(); begin < loops;) {
    ReassociationIndices group{begin};
    while (group.back() + 1 < loops &&
           iterators[group.back() + 1] == iterators[begin]) {
      ReassociationIndices longer = group;
      longer.push_back(group.back() + 1);
      if (!linalg::areDimSequencesPreserved(maps, {longer}))
        break;
      group = longer;
    }
    begin = group.back() + 1;
    if (group.size() > 1)
      groups.push_back(group);
  }
  return groups;
}

/// Drops the dimensions of one element along which operands are repeated: they
/// are one number, or one for each channel.
void dropUnitDimensions(linalg::GenericOp op) {
  OpBuilder builder(op);
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  for (OpOperand *input : op.getDpsInputOperands()) {
    auto type = dyn_cast<MemRefType>(input->get().getType());
    AffineMap &map = maps[input->getOperandNumber()];
    auto isRepeated = [](AffineExpr expr) {
      auto constant = dyn_cast<AffineConstantExpr>(expr);
      return constant && constant.getValue() == 0;
    };
    if (!type || !type.getLayout().isIdentity() ||
        llvm::none_of(map.getResults(), isRepeated))
      continue;
    SmallVector<AffineExpr> kept;
    SmallVector<int64_t> sizes;
    SmallVector<ReassociationIndices> groups;
    ReassociationIndices leading;
    bool areUnits = true;
    for (auto [number, expr] : llvm::enumerate(map.getResults())) {
      if (isRepeated(expr)) {
        areUnits &= type.getDimSize(number) == 1;
        (groups.empty() ? leading : groups.back()).push_back(number);
        continue;
      }
      kept.push_back(expr);
      sizes.push_back(type.getDimSize(number));
      groups.push_back(std::exchange(leading, {}));
      groups.back().push_back(number);
    }
    if (!areUnits)
      continue;
    input->set(memref::CollapseShapeOp::create(
        builder, op.getLoc(), MemRefType::get(sizes, type.getElementType()),
        input->get(), groups));
    map = AffineMap::get(map.getNumDims(), 0, kept, op.getContext());
  }
  op.setIndexingMapsAttr(builder.getAffineMapArrayAttr(maps));
}

/// Collapses elementwise ops on four dimensions to one long loop: it vectorizes
/// better than a nest whose innermost loop is 16 channels, and compiles ten
/// times faster.
void collapseLoops(ModuleOp module) {
  module.walk([](linalg::GenericOp op) {
    if (op.hasPureBufferSemantics())
      dropUnitDimensions(op);
  });
  SmallVector<linalg::GenericOp> ops;
  module.walk([&](linalg::GenericOp op) {
    bool plain = op.hasPureBufferSemantics() &&
                 llvm::all_of(op->getOperandTypes(), [](Type type) {
                   auto buffer = dyn_cast<MemRefType>(type);
                   return !buffer || buffer.getLayout().isIdentity();
                 });
    bool projected = llvm::all_of(op.getIndexingMapsArray(), [](AffineMap map) {
      return map.isProjectedPermutation();
    });
    if (plain && projected)
      ops.push_back(op);
  });
  IRRewriter rewriter(module.getContext());
  for (linalg::GenericOp op : ops) {
    SmallVector<ReassociationIndices> groups = collapsibleLoops(op);
    if (groups.empty())
      continue;
    rewriter.setInsertionPoint(op);
    auto collapsed = linalg::collapseOpIterationDims(op, groups, rewriter);
    // Keep the loops as they are.
    if (failed(collapsed))
      continue;
    rewriter.replaceOp(op, collapsed->results);
  }
}

} // namespace

void mct::execution::registerPipelineDependencies(DialectRegistry &registry) {
  OpPassManager pm(ModuleOp::getOperationName(),
                   OpPassManager::Nesting::Explicit);
  buildTosaToLinalg(pm);
  buildBufferization(pm);
  buildToLLVM(pm);
  pm.addPass(createInlinerPass());
  pm.getDependentDialects(registry);
  // Passes declare the dialects of the ops that they create; none of them
  // creates ops of these dialects.
  registry.insert<tosa::TosaDialect, func::FuncDialect, mct::tpc::TpcDialect>();
  func::registerAllExtensions(registry);
  mct::registerOpModels(registry);
  bufferization::func_ext::registerBufferizableOpInterfaceExternalModels(
      registry);
  affine::registerValueBoundsOpInterfaceExternalModels(registry);
  arith::registerBufferDeallocationOpInterfaceExternalModels(registry);
  arith::registerBufferViewFlowOpInterfaceExternalModels(registry);
  arith::registerBufferizableOpInterfaceExternalModels(registry);
  arith::registerValueBoundsOpInterfaceExternalModels(registry);
  cf::registerBufferDeallocationOpInterfaceExternalModels(registry);
  cf::registerBufferizableOpInterfaceExternalModels(registry);
  linalg::registerBufferizableOpInterfaceExternalModels(registry);
  linalg::registerSubsetOpInterfaceExternalModels(registry);
  linalg::registerValueBoundsOpInterfaceExternalModels(registry);
  memref::registerAllocationOpInterfaceExternalModels(registry);
  memref::registerBufferViewFlowOpInterfaceExternalModels(registry);
  memref::registerValueBoundsOpInterfaceExternalModels(registry);
  scf::registerBufferDeallocationOpInterfaceExternalModels(registry);
  scf::registerBufferizableOpInterfaceExternalModels(registry);
  scf::registerValueBoundsOpInterfaceExternalModels(registry);
  tensor::registerBufferizableOpInterfaceExternalModels(registry);
  tensor::registerInferTypeOpInterfaceExternalModels(registry);
  tensor::registerSubsetOpInterfaceExternalModels(registry);
  tensor::registerValueBoundsOpInterfaceExternalModels(registry);
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
}

LogicalResult mct::execution::lowerToLinalg(ModuleOp module,
                                            const OpNames &names) {
  // Do not use tosa-optional-decompositions: it also turns depthwise
  // convolutions with 1x1 kernels into products, which is wrong for padded
  // integers.
  SmallVector<Operation *> transposed;
  module.walk([&](tosa::TransposeConv2DOp op) {
    if (!decomposeWideTransposed(op))
      transposed.push_back(op);
  });
  RewritePatternSet patterns(module.getContext());
  tosa::populateTosaDecomposeTransposeConv(module.getContext(), patterns);
  (void)applyOpPatternsGreedily(transposed, std::move(patterns));

  if (failed(runStage(module, names, buildTosaToLinalg)))
    return failure();
  WalkResult left = module.walk([](Operation *op) {
    if (!isa<tosa::TosaDialect>(op->getDialect()))
      return WalkResult::advance();
    op->emitOpError("cannot be executed: it has no lowering");
    return WalkResult::interrupt();
  });
  if (left.wasInterrupted())
    return failure();
  return explainErrors(module, names, [&] { return checkLowered(module); });
}

LogicalResult mct::execution::lowerToLoops(ModuleOp module,
                                           const OpNames &names) {
  if (failed(runStage(module, names, buildBufferization)))
    return failure();
  // A strided memref.copy would call a function of MLIR's runner library.
  SmallVector<memref::CopyOp> copies;
  module.walk([&](memref::CopyOp copy) { copies.push_back(copy); });
  for (memref::CopyOp copy : copies) {
    OpBuilder builder(copy);
    linalg::makeMemRefCopyOp(builder, copy.getLoc(), copy.getSource(),
                             copy.getTarget());
    copy.erase();
  }
  // Collapse loops after the copies, as small nests would be unrolled
  // completely.
  collapseLoops(module);
  return success();
}

LogicalResult mct::execution::lowerToLLVM(ModuleOp module,
                                          const OpNames &names) {
  expandFunctions(module);
  return runStage(module, names, buildToLLVM);
}
