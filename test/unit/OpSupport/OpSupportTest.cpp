// SPDX-License-Identifier: Apache-2.0
//
// Support of each op of TOSA and of linalg, tried on a function for
// each (TosaOps.mlir, LinalgOps.mlir), as the tables of
// docs/reference/op-support.md. An op that a later LLVM adds, and an answer
// that changes, fail; MCT_UPDATE_OP_SUPPORT=1 writes the tables again. The text
// above them is the page's own.
#include "../Execution/RandomNetworks.h"
#include "../Execution/ReferenceEvaluator.h"
#include "TestPaths.h"
#include "mct/Conversion/Patterns.h"
#include "mct/Execution/Executor.h"
#include "mct/Export/Onnx.h"
#include "mct/IR/ConstantEvaluator.h"
#include "mct/IntegerRanges/IntegerRanges.h"
#include "mct/Interfaces/OpInterfaces.h"
#include "mct/Interfaces/SetBatch.h"
#include "mct/Pipelines/Pipelines.h"
#include "mct/Training/Gradients.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "tpc_dialect/IR/TpcDialect.h"
#include "tpc_dialect/Lookup/TpcLookup.h"
#include "tpc_dialect/targets/Targets.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Regex.h"
#include "gtest/gtest.h"
#include <cstdlib>
#include <fstream>
#include <sstream>

using namespace mct;
using namespace mlir;

static const char *const kPage = "docs/reference/op-support.md";
static const char *const kExamples = "test/unit/OpSupport/";
static constexpr StringLiteral kYes = "yes";
static constexpr StringLiteral kBegin = "## TOSA\n";

// Number of random networks. The rarest op is in one of some hundred networks.
static constexpr unsigned kRandomNetworks = 600;

static constexpr StringLiteral kHeader =
    "| op | kind | match | fold | move | batch | evaluate | execute | range | "
    "integer | gradient | ONNX | fuzz |\n"
    "|---|---|---|---|---|---|---|---|---|---|---|---|---|\n";
static constexpr StringLiteral kLinalgHeader =
    "| op | kind | raise | match | batch | execute |\n"
    "|---|---|---|---|---|---|\n";

namespace {

DialectRegistry getRegistry() {
  [[maybe_unused]] static const bool areRegistered =
      (registerAllMctPasses(), true);
  DialectRegistry registry;
  registry.insert<cf::ControlFlowDialect, func::FuncDialect,
                  linalg::LinalgDialect, math::MathDialect,
                  tensor::TensorDialect, tosa::TosaDialect, tpc::TpcDialect>();
  registerOpModels(registry);
  registerGradientModels(registry);
  execution::Executor::registerDependencies(registry);
  return registry;
}

/// Collects what diagnostics say while it lives, without names of ops and types
/// of arguments.
class Messages : public ScopedDiagnosticHandler {
public:
  explicit Messages(MLIRContext *context) : ScopedDiagnosticHandler(context) {
    setHandler([this](Diagnostic &diagnostic) {
      std::string text = diagnostic.str();
      text = llvm::Regex("argument [0-9]+ of type '[^']*'")
                 .sub("an argument of another type", text);
      StringRef message = text;
      if (size_t end = message.find("' op "); end != StringRef::npos)
        message = message.drop_front(end + 5);
      (diagnostic.getSeverity() == DiagnosticSeverity::Error ? error : remark)
          .emplace(message.str());
      return success();
    });
  }
  /// Returns the first error, else the first remark, else `otherwise`.
  std::string first(StringRef otherwise = "it cannot be done") const {
    return error.value_or(remark.value_or(otherwise.str()));
  }

private:
  struct First : std::optional<std::string> {
    void emplace(std::string text) {
      if (!has_value())
        std::optional<std::string>::emplace(std::move(text));
    }
  };
  First error, remark;
};

class OpSupport : public ::testing::Test {
protected:
  OpSupport() : context(getRegistry(), MLIRContext::Threading::DISABLED) {
    context.loadAllAvailableDialects();
  }

  void read(StringRef file) {
    examples = parseSourceFile<ModuleOp>(
        mct::testing::getSourcePath((kExamples + file).str()), &context);
    ASSERT_TRUE(examples);
    matched = findMatched();
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

  /// The text of a cell: "yes", or the number of the reason why not.
  std::string cell(StringRef reason) {
    if (reason.empty())
      return kYes.str();
    auto found = llvm::find(reasons, reason);
    size_t number = found - reasons.begin();
    if (found == reasons.end())
      reasons.push_back(reason.str());
    return std::to_string(number + 1);
  }
  /// The reasons that cells give by number.
  std::string listReasons() {
    std::string text = "\n";
    for (auto [number, reason] : llvm::enumerate(reasons))
      text += std::to_string(number + 1) + ". " + reason + "\n";
    reasons.clear();
    return text;
  }

  /// Returns a row for each op of a dialect, by name. `isPart`: ops that stand
  /// only within others, or that belong to the module.
  std::string
  describeAll(StringRef dialect, llvm::function_ref<bool(StringRef)> isPart,
              llvm::function_ref<std::string(StringRef, Operation *)> describe);

  llvm::StringSet<> findMatched();
  llvm::StringSet<> findRandom();
  std::string describeTosa(StringRef name, Operation *op);
  std::string describeLinalg(StringRef name, Operation *op);

  std::string tryMatch(Operation *op) const;
  std::string tryFold(Operation *op) const;
  std::string tryMove(StringRef name);
  std::string tryBatch(StringRef name);
  std::string tryEvaluate(StringRef name);
  std::string tryExecute(StringRef name);
  std::string tryRange(Operation *op) const;
  std::string tryInteger(StringRef name);
  std::string tryGradient(StringRef name, Operation *op);
  std::string tryOnnx(StringRef name);

  MLIRContext context;
  OwningOpRef<ModuleOp> examples;
  /// Names of the ops that some target has in an operator set, and of those in
  /// random networks.
  llvm::StringSet<> matched, random;
  std::vector<std::string> reasons;
};

func::FuncOp getMain(ModuleOp module) {
  return module.lookupSymbol<func::FuncOp>("main");
}

bool isReal(Type type) { return isa<FloatType>(getElementTypeOrSelf(type)); }

/// Returns whether a value of the function is a real number.
bool hasReals(func::FuncOp function) {
  WalkResult result = function.walk([](Operation *op) {
    return llvm::any_of(op->getOperandTypes(), isReal) ||
                   llvm::any_of(op->getResultTypes(), isReal)
               ? WalkResult::interrupt()
               : WalkResult::advance();
  });
  return result.wasInterrupted();
}

bool isShapeOp(Operation *op) {
  return op->getName().getStringRef().ends_with("_shape") ||
         isa<tosa::DimOp>(op);
}

std::string describeKind(Operation *op) {
  if (isa<ElementwiseOpInterface>(op))
    return isa<DataMovementOpInterface>(op) ? "elementwise, moves"
                                            : "elementwise";
  return isa<DataMovementOpInterface>(op) ? "moves" : "–";
}

size_t countTransposes(ModuleOp module) {
  size_t count = 0;
  module->walk([&](tosa::TransposeOp) { ++count; });
  return count;
}

/// Gives the tensors of rank 2 and more that come in and go out the reversed
/// order of axes, with transpositions to and from the one of the function.
/// Returns how many there are.
size_t transposeAround(func::FuncOp function) {
  size_t count = 0;
  auto reverse = [&](OpBuilder &builder, Value value) -> Value {
    auto type = cast<RankedTensorType>(value.getType());
    auto sizes = llvm::to_vector(llvm::reverse(type.getShape()));
    auto order = llvm::to_vector(
        llvm::reverse(llvm::to_vector(llvm::seq<int32_t>(0, type.getRank()))));
    ++count;
    return tosa::TransposeOp::create(
        builder, value.getLoc(),
        RankedTensorType::get(sizes, type.getElementType()), value,
        builder.getDenseI32ArrayAttr(order));
  };
  auto isMatrix = [](Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    return type && type.getRank() >= 2;
  };
  Block &body = function.getBody().front();
  OpBuilder builder = OpBuilder::atBlockBegin(&body);
  for (BlockArgument argument : body.getArguments())
    if (isMatrix(argument)) {
      auto type = cast<RankedTensorType>(argument.getType());
      argument.setType(
          RankedTensorType::get(llvm::to_vector(llvm::reverse(type.getShape())),
                                type.getElementType()));
      Value original = reverse(builder, argument);
      argument.replaceAllUsesExcept(original, original.getDefiningOp());
    }
  Operation *end = body.getTerminator();
  builder.setInsertionPoint(end);
  for (OpOperand &result : end->getOpOperands())
    if (isMatrix(result.get()))
      result.set(reverse(builder, result.get()));
  function.setType(
      builder.getFunctionType(body.getArgumentTypes(), end->getOperandTypes()));
  return count;
}

} // namespace

//===----------------------------------------------------------------------===//
// The columns
//===----------------------------------------------------------------------===//

llvm::StringSet<> OpSupport::findMatched() {
  llvm::StringSet<> names;
  for (const tpc::StockTarget &target : tpc::listTargets()) {
    if (target.isAlias())
      continue;
    OwningOpRef<ModuleOp> module = examples->clone();
    EXPECT_TRUE(
        run(*module, ("tpc-attach-target{target=" + target.name + "}").str()));
    FailureOr<tpc::TpcLookup> lookup = tpc::TpcLookup::create(*module);
    EXPECT_TRUE(succeeded(lookup));
    if (failed(lookup))
      return names;
    module->walk([&](func::FuncOp function) {
      auto nodes = lookup->match(function.getBody().front());
      if (succeeded(nodes))
        for (const tpc::Node &node : *nodes)
          if (node.operatorSet)
            for (Operation *op : node.ops)
              names.insert(op->getName().getStringRef());
    });
  }
  return names;
}

llvm::StringSet<> OpSupport::findRandom() {
  llvm::StringSet<> names;
  for (unsigned seed = 1; seed <= kRandomNetworks; ++seed)
    mct::testing::makeRandomNetwork(context, seed)->walk([&](Operation *op) {
      names.insert(op->getName().getStringRef());
    });
  return names;
}

std::string OpSupport::tryMatch(Operation *op) const {
  if (matched.contains(op->getName().getStringRef()))
    return "";
  return "match: no target that is shipped has it, in this form, in an "
         "operator set; the default of the platform applies";
}

std::string OpSupport::tryFold(Operation *op) const {
  if (op->hasTrait<OpTrait::ConstantLike>() || ConstantEvaluator().knows(op))
    return "";
  if (isShapeOp(op))
    return "fold: MLIR folds the arithmetic of shapes";
  return "fold: `ConstantEvaluator` has no rule for it; on constants it is "
         "computed when the network runs";
}

std::string OpSupport::tryMove(StringRef name) {
  Messages messages(&context);
  OwningOpRef<ModuleOp> module = getNetwork(name);
  size_t own = countTransposes(*module);
  if (transposeAround(getMain(*module)) < 2)
    return "move: no tensor with two axes comes in and goes out";
  if (!run(*module, "func.func(mct-move-transposes)"))
    return messages.first();
  if (countTransposes(*module) <= own)
    return "";
  return "move: its axes have meanings of their own; transpositions stop "
         "there";
}

std::string OpSupport::tryBatch(StringRef name) {
  Messages messages(&context);
  OwningOpRef<ModuleOp> module = getNetwork(name);
  if (succeeded(followBatch(getMain(*module), /*emitErrors=*/true)))
    return "";
  return "batch: " + messages.first();
}

std::string OpSupport::tryEvaluate(StringRef name) {
  OwningOpRef<ModuleOp> module = getNetwork(name);
  func::FuncOp function = getMain(*module);
  std::vector<mct::testing::ReferenceTensor> arguments;
  for (Type type : function.getArgumentTypes()) {
    mct::testing::ReferenceTensor tensor;
    auto tensorType = dyn_cast<RankedTensorType>(type);
    if (!tensorType)
      return "evaluate: the reference evaluator of the tests knows tensors "
             "only";
    tensor.shape.assign(tensorType.getShape().begin(),
                        tensorType.getShape().end());
    tensor.element = tensorType.getElementType();
    // An index that all have, and a divisor.
    tensor.numbers.resize(tensorType.getNumElements(), {1, 0});
    arguments.push_back(std::move(tensor));
  }
  mct::testing::ReferenceEvaluator evaluator(function, /*simulate=*/true);
  if (evaluator.run(arguments))
    return "";
  return "evaluate: the reference evaluator of the tests does not know it";
}

std::string OpSupport::tryExecute(StringRef name) {
  Messages messages(&context);
  OwningOpRef<ModuleOp> module = getNetwork(name);
  if (succeeded(execution::Executor::compile(*module)))
    return "";
  return "execute: " + messages.first();
}

std::string OpSupport::tryRange(Operation *op) const {
  if (IntegerRanges::knows(op->getName()) ||
      op->hasTrait<OpTrait::ConstantLike>())
    return "";
  return "range: `IntegerRanges` has no rule for it; its result may be all "
         "that its type holds";
}

std::string OpSupport::tryInteger(StringRef name) {
  Messages messages(&context);
  OwningOpRef<ModuleOp> module = getNetwork(name);
  if (!hasReals(getMain(*module)))
    return "";
  if (!run(*module, "tpc-attach-target{target=imx500_v1_pot},"
                    "func.func(mct-assign-names),mct-insert-quantizers"))
    return "integer: " + messages.first();
  Attribute grid = parseAttribute(
      "#tpc.power_of_two<threshold = [4.0], bits = 8>", &context);
  module->walk([&](tpc::QuantizeOp point) {
    if (point.isActivation())
      point.setParametersAttr(cast<tpc::QuantizerAttrInterface>(grid));
  });
  bool isLowered = run(*module, "mct-select-weight-parameters,"
                                "mct-simulate-integers,"
                                "mct-lower-to-integer{io=integer}");
  if (isLowered && !hasReals(getMain(*module)))
    return "";
  return "integer: " +
         messages.first("an argument of its function stays a real number");
}

std::string OpSupport::tryGradient(StringRef name, Operation *op) {
  if (isShapeOp(op))
    return "gradient: it computes a shape";
  auto differentiable = dyn_cast<DifferentiableOpInterface>(op);
  if (differentiable && differentiable.isPiecewiseConstant())
    return "gradient: its result moves in steps; the gradient is 0";
  if (differentiable)
    return "";
  Messages messages(&context);
  OwningOpRef<ModuleOp> module = getNetwork(name);
  if (!hasReals(getMain(*module)))
    return "gradient: its operands are integers or booleans";
  (void)run(*module, "mct-add-gradient");
  return "gradient: " + messages.first("no input of the network reaches it");
}

std::string OpSupport::tryOnnx(StringRef name) {
  Messages messages(&context);
  OwningOpRef<ModuleOp> module = getNetwork(name);
  auto isWritten = [&](OnnxProfile profile) {
    std::string file;
    llvm::raw_string_ostream stream(file);
    OnnxOptions options;
    options.profile = profile;
    return succeeded(exportOnnx(*module, options, stream));
  };
  // Both profiles have one table of ops.
  bool isPlain = isWritten(OnnxProfile::Qdq);
  std::string reason = isPlain ? "" : "ONNX: " + messages.first();
  EXPECT_EQ(isWritten(OnnxProfile::MctQuantizers), isPlain) << name.str();
  return reason;
}

//===----------------------------------------------------------------------===//
// The tables
//===----------------------------------------------------------------------===//

std::string OpSupport::describeTosa(StringRef name, Operation *op) {
  std::string fuzz =
      random.contains(op->getName().getStringRef())
          ? ""
          : "fuzz: the generator of random networks does not make it";
  std::string row = describeKind(op);
  for (const std::string &reason :
       {tryMatch(op), tryFold(op), tryMove(name), tryBatch(name),
        tryEvaluate(name), tryExecute(name), tryRange(op), tryInteger(name),
        tryGradient(name, op), tryOnnx(name), fuzz})
    row += " | " + cell(reason);
  return row;
}

std::string OpSupport::describeLinalg(StringRef name, Operation *op) {
  OwningOpRef<ModuleOp> module = getNetwork(name);
  std::string notRaised;
  RaiseFailures failures = findRaiseFailures(getMain(*module));
  for (const auto &[failed, reason] : failures)
    if (failed->getName() == op->getName())
      notRaised = "raise: " + reason;
  if (notRaised.empty() && !isa<linalg::LinalgOp>(op)) {
    EXPECT_TRUE(run(*module, "func.func(mct-raise-linalg)"));
    module->walk([&](Operation *left) {
      if (left->getName() == op->getName())
        notRaised = "raise: `mct-raise-linalg` has no pattern for it";
    });
  }
  std::string row = describeKind(op);
  for (const std::string &reason :
       {notRaised, tryMatch(op), tryBatch(name), tryExecute(name)})
    row += " | " + cell(reason);
  return row;
}

std::string OpSupport::describeAll(
    StringRef dialect, llvm::function_ref<bool(StringRef)> isPart,
    llvm::function_ref<std::string(StringRef, Operation *)> describe) {
  std::vector<std::string> names, missing;
  for (RegisteredOperationName op : context.getRegisteredOperations())
    if (op.getDialectNamespace() == dialect && !isPart(op.stripDialect()))
      names.push_back(op.stripDialect().str());
  llvm::sort(names);
  std::string table;
  for (const std::string &name : names) {
    std::string full = (dialect + "." + name).str();
    Operation *example = nullptr;
    if (auto function = examples->lookupSymbol<func::FuncOp>(name))
      function.walk([&](Operation *op) {
        if (op->getName().getStringRef() == full)
          example = op;
      });
    if (!example)
      missing.push_back(full);
    else
      table += "| `" + full + "` | " + describe(name, example) + " |\n";
  }
  EXPECT_EQ(missing, std::vector<std::string>())
      << "ops without a function of their name in the file of examples";
  return table;
}

TEST_F(OpSupport, TheTablesAreThoseOfThePage) {
  random = findRandom();
  read("TosaOps.mlir");
  // It belongs to the module; those that read and write it are tried.
  std::string tables =
      kBegin.str() + "\n" + kHeader.str() +
      describeAll(
          "tosa", [](StringRef name) { return name == "variable"; },
          [&](StringRef name, Operation *op) {
            return describeTosa(name, op);
          });
  tables += listReasons() + "\n## linalg\n\n" + kLinalgHeader.str();
  read("LinalgOps.mlir");
  tables += describeAll(
      "linalg", [](StringRef name) { return name == "yield"; },
      [&](StringRef name, Operation *op) { return describeLinalg(name, op); });
  tables += listReasons();
  EXPECT_GE(llvm::count(tables, '\n'), 190);

  std::string path = mct::testing::getSourcePath(kPage);
  std::ifstream file(path);
  std::stringstream stream;
  stream << file.rdbuf();
  std::string page = stream.str();
  size_t begin = page.find(kBegin.str());
  ASSERT_NE(begin, std::string::npos) << "no heading of the tables in the page";
  if (std::getenv("MCT_UPDATE_OP_SUPPORT"))
    std::ofstream(path) << page.substr(0, begin) << tables;
  EXPECT_EQ(page.substr(begin), tables)
      << "run it with MCT_UPDATE_OP_SUPPORT=1 and look at the difference";
}
