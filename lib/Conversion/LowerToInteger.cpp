// SPDX-License-Identifier: Apache-2.0
#include "IntegerLowering.h"
#include "SplitResults.h"
#include "mct/Conversion/Passes.h"
#include "mct/Conversion/RoundTwice.h"
#include "mct/IR/ConstantTensor.h"
#include "mct/IR/FrozenPoints.h"
#include "mct/Interfaces/OpInterfaces.h"
#include "mct/Interfaces/SetBatch.h"
#include "mct/Planning/Device.h"
#include "mct/Transforms/LiftVariables.h"
#include "tpc_dialect/IR/TpcRounding.h"
#include "llvm/ADT/STLExtras.h"

namespace mct {
#define GEN_PASS_DEF_LOWERTOINTEGERPASS
#include "mct/Conversion/Passes.h.inc"
} // namespace mct

using namespace mlir;
using namespace mct;

namespace {
struct LowerToIntegerPass
    : public WithOpModels<
          mct::impl::LowerToIntegerPassBase<LowerToIntegerPass>> {
  using WithOpModels::WithOpModels;

  void getDependentDialects(DialectRegistry &registry) const override {
    WithOpModels::getDependentDialects(registry);
    registerIntegerModels(registry);
  }

  void runOnOperation() override {
    IntegerOptions chosen;
    chosen.boundary = boundary;
    chosen.softmax = softmax;
    chosen.layerNorm = layerNorm;
    for (const std::string &extension : extensions) {
      if (extension == "int4") {
        chosen.allowsInt4 = true;
      } else if (extension == "int16") {
        chosen.allowsInt16 = true;
      } else {
        InFlightDiagnostic diagnostic = emitError(getOperation().getLoc())
                                        << "unknown extension '" << extension
                                        << "'";
        diagnostic.attachNote() << "there are int4 and int16";
        return signalPassFailure();
      }
    }
    // Refuse unsuitable modules before changing anything.
    if (failed(requireFrozenPoints(getOperation())))
      return signalPassFailure();
    SmallVector<func::FuncOp> functions;
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (!hasPoints(function))
        continue;
      if (failed(check(function)))
        return signalPassFailure();
      functions.push_back(function);
    }
    if (functions.empty()) {
      InFlightDiagnostic diagnostic =
          emitError(getOperation().getLoc(),
                    "no function has an activation point with parameters");
      diagnostic.attachNote() << "quantize the network before (mct-ptq)";
      return signalPassFailure();
    }
    FailureOr<Device> device = Device::find(profile, getOperation());
    if (failed(device))
      return signalPassFailure();
    for (func::FuncOp function : functions) {
      // Remove the simulated rounding, which the ops of the lowering have.
      roundOnce(function);
      chosen.rounding = takeRounding(function);
      if (mct::roundsTwice(chosen.rounding))
        roundLeakyRelusTwice(function);
      if (failed(chooseBatch(function)))
        return signalPassFailure();
      if (failed(checkSizes(function)))
        return signalPassFailure();
      const KernelOps &kernels = getAnalysis<KernelOps>();
      // Otherwise the values would be concatenated as floats.
      if (boundary == IntegerBoundary::Integer && device->isIntegerOnly())
        splitMixedResults(function);
      IntegerLowering lowering(function, kernels, chosen);
      lowering.lower();
      if (failed(lowering.finish()))
        return signalPassFailure();
      if (auto costs = device->getFact<tpc::RepeatedLayersOp>())
        repeatLayers(function, costs);
      if (auto strided = device->getFact<tpc::StridedLayersOp>())
        readWholeImages(function, strided);
      if (auto sums = device->getFact<tpc::ColumnSumsOp>())
        addColumns(function, sums);
      if (auto staging = device->getFact<tpc::StagedArgumentsOp>())
        stageArguments(function, staging);
      bool runs = true;
      StringRef remedy = boundary == IntegerBoundary::Float
                             ? "io=integer leaves arguments and results as "
                               "codes; quantize what is float even then, or "
                               "split the network before it"
                             : "";
      function.walk([&](Operation *op) {
        if (op != function && failed(device->verify(op, remedy)))
          runs = false;
      });
      if (!runs)
        return signalPassFailure();
    }
    removeTarget();
  }

private:
  static bool hasPoints(func::FuncOp function) {
    return function
        .walk([](tpc::QuantizeOp point) {
          return point.isActivation() && point.getParametersAttr()
                     ? WalkResult::interrupt()
                     : WalkResult::advance();
        })
        .wasInterrupted();
  }

  /// Removes the rounding that a function records. Returns it, or that of the
  /// options.
  IntegerRounding takeRounding(func::FuncOp function) {
    auto recorded = dyn_cast_or_null<StringAttr>(
        function->removeAttr(tpc::kIntegerRoundingAttrName));
    if (rounding != IntegerRounding::Simulated)
      return rounding;
    if (!recorded)
      return IntegerRounding::HalfUp;
    return IntegerRounding(
        llvm::find(tpc::kIntegerRoundings, recorded.getValue()) -
        std::begin(tpc::kIntegerRoundings));
  }

  /// Checks that the initial values of states can be read, which become codes.
  static LogicalResult checkInitialValues(func::FuncOp function) {
    for (unsigned i = 0; i != function.getNumArguments(); ++i) {
      auto initial =
          function.getArgAttrOfType<ElementsAttr>(i, kInitialValueAttrName);
      if (!initial || ConstantTensor::get(initial))
        continue;
      InFlightDiagnostic diagnostic =
          emitError(function.getArgument(i).getLoc())
          << "the elements of the initial value of "
             "argument #"
          << i << " are missing";
      diagnostic.attachNote() << "read a file that has them; io=float needs "
                                 "none";
      return diagnostic;
    }
    return success();
  }

  LogicalResult check(func::FuncOp function) {
    if (boundary == IntegerBoundary::Integer &&
        failed(checkInitialValues(function)))
      return failure();
    if (boundary == IntegerBoundary::Integer)
      if (auto uses = SymbolTable::getSymbolUses(function, getOperation());
          uses && !uses->empty()) {
        InFlightDiagnostic diagnostic =
            function.emitOpError("is called, and its arguments and results "
                                 "would not be those of the call any more");
        diagnostic.attachNote(uses->begin()->getUser()->getLoc())
            << "called here; io=float keeps them, or inline it before";
        return diagnostic;
      }
    if (function.getBody().hasOneBlock())
      return success();
    InFlightDiagnostic diagnostic = function.emitOpError(
        "has several blocks, which no integer network has");
    diagnostic.attachNote() << "only straight code is lowered";
    return diagnostic;
  }

  LogicalResult chooseBatch(func::FuncOp function) {
    FailureOr<int64_t> present = getBatch(function, /*emitErrors=*/batch != 0);
    int64_t size = batch == 0 ? 1 : int64_t(batch);
    if (failed(present))
      return success(batch == 0);
    if (*present == size || (batch == 0 && !ShapedType::isDynamic(*present)))
      return success();
    return setBatch(function, size);
  }

  static LogicalResult checkSizes(func::FuncOp function) {
    auto refuse = [](InFlightDiagnostic diagnostic, Type type) {
      diagnostic << type << ", and integer networks have static shapes";
      diagnostic.attachNote() << "give the batch with batch=N";
      return failure();
    };
    for (Type type : function.getArgumentTypes())
      if (auto shaped = dyn_cast<ShapedType>(type);
          shaped && !shaped.hasStaticShape())
        return refuse(function.emitOpError("has an argument of type "), type);
    WalkResult result = function.walk([&](Operation *op) {
      for (Value value : op->getResults()) {
        auto type = dyn_cast<ShapedType>(value.getType());
        if (!type || type.hasStaticShape())
          continue;
        (void)refuse(op->emitOpError("has a result of type "), type);
        return WalkResult::interrupt();
      }
      return WalkResult::advance();
    });
    return failure(result.wasInterrupted());
  }

  /// Removes the description of the target if no function has points any more.
  void removeTarget() {
    bool isLeft =
        getOperation()
            .walk([](tpc::QuantizeOp) { return WalkResult::interrupt(); })
            .wasInterrupted();
    if (isLeft)
      return;
    for (Operation &op : llvm::make_early_inc_range(*getOperation().getBody()))
      if (tpc::isTargetDescription(&op))
        op.erase();
    for (NamedAttribute attribute :
         llvm::to_vector(getOperation()->getDiscardableAttrs()))
      if (isa_and_present<tpc::TpcDialect>(attribute.getNameDialect()))
        getOperation()->removeDiscardableAttr(attribute.getName());
  }
};
} // namespace
