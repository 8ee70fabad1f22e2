// SPDX-License-Identifier: Apache-2.0
//
// What can be done with each op of TOSA, tried on a function for each
// (TosaOps.mlir), as the table of docs/reference/op-support.md. An op that a
// later LLVM adds, and an answer that changes, fail; MCT_UPDATE_OP_SUPPORT=1
// writes the table again. The text above the table is the page's own.
#include "mct/Execution/Executor.h"
#include "mct/Export/Onnx.h"
#include "mct/IR/ConstantEvaluator.h"
#include "mct/Interfaces/OpInterfaces.h"
#include "mct/Interfaces/SetBatch.h"
#include "mct/Pipelines/Pipelines.h"
#include "mct/Training/Gradients.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "tpc_dialect/IR/TpcDialect.h"
#include "gtest/gtest.h"
#include <cstdlib>
#include <fstream>
#include <sstream>

using namespace mct;
using namespace mlir;

static const char *const kTable =
    MCT_SOURCE_DIR "/docs/reference/op-support.md";
static constexpr StringLiteral kYes = "yes", kNo = "–";

static constexpr StringLiteral kHeader =
    "| op | kind | constants | runs | batch | gradient | integer | ONNX |\n"
    "|---|---|---|---|---|---|---|---|\n";

namespace {

DialectRegistry getRegistry() {
  [[maybe_unused]] static const bool areRegistered =
      (registerAllMctPasses(), true);
  DialectRegistry registry;
  registry.insert<func::FuncDialect, tosa::TosaDialect, tpc::TpcDialect>();
  registerOpModels(registry);
  registerGradientModels(registry);
  execution::Executor::registerDependencies(registry);
  return registry;
}

class OpSupport : public testing::Test {
protected:
  OpSupport() : context(getRegistry(), MLIRContext::Threading::DISABLED) {
    context.loadAllAvailableDialects();
    examples = parseSourceFile<ModuleOp>(
        MCT_SOURCE_DIR "/test/unit/OpSupport/TosaOps.mlir", &context);
  }

  /// A module with the function of that name as `main`, and what it refers to.
  OwningOpRef<ModuleOp> getNetwork(StringRef name) {
    OwningOpRef<ModuleOp> module = ModuleOp::create(examples->getLoc());
    for (Operation &op : *examples->getBody())
      if (!isa<func::FuncOp>(op))
        module->push_back(op.clone());
    func::FuncOp function = examples->lookupSymbol<func::FuncOp>(name).clone();
    function.setName("main");
    module->push_back(function);
    return module;
  }

  bool run(ModuleOp module, StringRef pipeline) {
    PassManager manager(&context);
    LogicalResult parsed = parsePassPipeline(pipeline, manager);
    EXPECT_TRUE(succeeded(parsed));
    return succeeded(parsed) && succeeded(manager.run(module));
  }

  std::string answer(bool is) { return (is ? kYes : kNo).str(); }

  std::string describe(StringRef name);
  std::string describeKind(Operation *op);
  std::string describeGradient(Operation *op);
  std::string describeInteger(OwningOpRef<ModuleOp> module);

  MLIRContext context;
  OwningOpRef<ModuleOp> examples;
};

func::FuncOp getMain(ModuleOp module) {
  return module.lookupSymbol<func::FuncOp>("main");
}

bool isReal(Type type) { return isa<FloatType>(getElementTypeOrSelf(type)); }

/// Whether a value of the function is a real number.
bool hasReals(func::FuncOp function) {
  WalkResult result = function.walk([](Operation *op) {
    return llvm::any_of(op->getOperandTypes(), isReal) ||
                   llvm::any_of(op->getResultTypes(), isReal)
               ? WalkResult::interrupt()
               : WalkResult::advance();
  });
  return result.wasInterrupted();
}

} // namespace

std::string OpSupport::describeKind(Operation *op) {
  if (isa<ElementwiseOpInterface>(op))
    return isa<DataMovementOpInterface>(op) ? "elementwise, moves"
                                            : "elementwise";
  return isa<DataMovementOpInterface>(op) ? "moves" : kNo.str();
}

std::string OpSupport::describeGradient(Operation *op) {
  auto differentiable = dyn_cast<DifferentiableOpInterface>(op);
  if (!differentiable)
    return kNo.str();
  return differentiable.isPiecewiseConstant() ? "0" : kYes.str();
}

std::string OpSupport::describeInteger(OwningOpRef<ModuleOp> module) {
  if (!hasReals(getMain(*module)))
    return "integers";
  if (!run(*module, "tpc-attach-target{target=imx500_v1_pot},"
                    "func.func(mct-assign-names),mct-insert-quantizers"))
    return kNo.str();
  Attribute grid = parseAttribute(
      "#tpc.power_of_two<threshold = [4.0], bits = 8>", &context);
  module->walk([&](tpc::QuantizeOp point) {
    if (point.isActivation())
      point.setParametersAttr(cast<tpc::QuantizerAttrInterface>(grid));
  });
  bool isLowered = run(*module, "mct-select-weight-parameters,"
                                "mct-simulate-integers,"
                                "mct-lower-to-integer{io=integer}");
  return answer(isLowered && !hasReals(getMain(*module)));
}

std::string OpSupport::describe(StringRef name) {
  OwningOpRef<ModuleOp> module = getNetwork(name);
  func::FuncOp function = getMain(*module);
  Operation *op = nullptr;
  function.walk([&](Operation *each) {
    if (each->getName().getStringRef() == ("tosa." + name).str())
      op = each;
  });
  if (!op)
    return "";
  std::string row = "| `tosa." + name.str() + "` | " + describeKind(op);
  auto add = [&](const std::string &text) { row += " | " + text; };
  add(answer(op->hasTrait<OpTrait::ConstantLike>() ||
             ConstantEvaluator().knows(op)));
  OwningOpRef<ModuleOp> compiled = getNetwork(name);
  add(answer(succeeded(execution::Executor::compile(*compiled))));
  add(answer(succeeded(followBatch(function, /*emitErrors=*/false))));
  add(describeGradient(op));
  add(describeInteger(getNetwork(name)));
  // Both profiles have one table of ops.
  auto isWritten = [&](OnnxProfile profile) {
    std::string file;
    llvm::raw_string_ostream stream(file);
    OnnxOptions options;
    options.profile = profile;
    return succeeded(exportOnnx(*module, options, stream));
  };
  bool isPlain = isWritten(OnnxProfile::Qdq);
  EXPECT_EQ(isWritten(OnnxProfile::MctQuantizers), isPlain) << name.str();
  add(answer(isPlain));
  return row + " |\n";
}

TEST_F(OpSupport, TheTableIsThatOfThePage) {
  ASSERT_TRUE(examples);
  // What cannot be done is an error to somebody else.
  ScopedDiagnosticHandler quiet(&context, [](Diagnostic &) {});
  std::string table = kHeader.str();
  std::vector<std::string> missing, rows;
  for (RegisteredOperationName op : context.getRegisteredOperations()) {
    if (op.getDialectNamespace() != "tosa")
      continue;
    StringRef name = op.stripDialect();
    // It belongs to the module; those that read and write it are tried.
    if (name == "variable")
      continue;
    std::string row = examples->lookupSymbol<func::FuncOp>(name)
                          ? describe(name)
                          : std::string();
    if (row.empty())
      missing.push_back(name.str());
    rows.push_back(row);
  }
  llvm::sort(rows);
  for (const std::string &row : rows)
    table += row;
  EXPECT_GE(llvm::count(table, '\n'), 90);
  EXPECT_EQ(missing, std::vector<std::string>())
      << "ops without a function of their name in TosaOps.mlir";
  std::ifstream file(kTable);
  std::stringstream stream;
  stream << file.rdbuf();
  std::string page = stream.str();
  size_t begin = page.find(kHeader.str());
  ASSERT_NE(begin, std::string::npos)
      << "no table of these columns in the page";
  if (std::getenv("MCT_UPDATE_OP_SUPPORT"))
    std::ofstream(kTable) << page.substr(0, begin) << table;
  EXPECT_EQ(page.substr(begin), table)
      << "run it with MCT_UPDATE_OP_SUPPORT=1 and look at the difference";
}
