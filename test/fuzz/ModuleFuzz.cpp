// SPDX-License-Identifier: Apache-2.0
//
// Mutated modules, text and bytecode, through the pipelines of mct-opt and
// through what mct-run does: each is done, or refused with an error; what is
// written reads back the same.
//
// A crash inside of MLIR's own parser, reader or verifier, with no code of ours
// on the stack, is printed separately and is not a failure.
//
// MCT_FUZZ_SECONDS: how long each test runs (default 15). MCT_FUZZ_SEED:
// another sequence of modules, 1 where it is not set; it is printed.
// MCT_FUZZ_ONLY: the number of one module, which is tried in this process, for
// a debugger.
#include "ModuleMutator.h"
#include "RandomNetworks.h"
#include "Sandbox.h"
#include "TestPaths.h"
#include "mct/Execution/Executor.h"
#include "mct/Execution/Run.h"
#include "mct/Execution/SampleSource.h"
#include "mct/IR/EntryFunction.h"
#include "mct/IR/Names.h"
#include "mct/IR/Shapes.h"
#include "mct/Pipelines/Pipelines.h"
#include "mct/Support/Npy.h"
#include "mlir/Bytecode/BytecodeReader.h"
#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "tpc_dialect/IR/TpcDialect.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"
#include <cstdlib>
#include <malloc.h>
#include <map>
#include <sys/wait.h>
#include <unistd.h>

using namespace mlir;
using namespace mct;
using namespace mct::fuzz;

/// Everything that a point can carry.
static constexpr llvm::StringLiteral kPoints = R"mlir(
#w = #tpc.attr_quant_config<method = symmetric, bits = 8, per_channel = true, enabled = true>
#t = #tpc.attr_quant_config<method = lut_sym_quantizer, bits = 2, enabled = true>
#a = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], default_weight = #w>
#u = #tpc.op_quant_config<act_method = uniform, act_bits = 4, input_bits = [8], default_weight = #w>
#h = #tpc.histogram<step_exponent = -9, first = -64, counts = sparse<[[0], [3135]], [2, 4]> : tensor<3136xi64>>
#s = #tpc.statistics<count = 7, zeros = 1, min = -0.125, max = 5.998046875, histogram = #h, channel_mean = dense<[0.5, 1.5]> : tensor<2xf64>, channel_mean_square = dense<4.0> : tensor<2xf64>, channel_min = dense<-0.125> : tensor<2xf32>, channel_max = dense<[3.0, 6.0]> : tensor<2xf32>>
func.func @main(%x: tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32> {
  %k = "tosa.const"() <{values = dense<[[[[0.5, -0.25]]], [[[0.125, 0.5]]]]> : tensor<2x1x1x2xf32>}> : () -> tensor<2x1x1x2xf32>
  %m = "tosa.const"() <{values = dense<[[[[1.0, 0.5]]], [[[0.75, -2.0]]]]> : tensor<2x1x1x2xf32>}> : () -> tensor<2x1x1x2xf32>
  %b = "tosa.const"() <{values = dense<[1.0, 2.0]> : tensor<2xf32>}> : () -> tensor<2xf32>
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %i = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %f = tpc.bias values(dense<[0.5, -1.0]> : tensor<2xf32>) mean(dense<[0.0, 0.25]> : tensor<2xf32>) deviation(dense<[1.0, 2.0]> : tensor<2xf32>) : tensor<2xf32>
  %q = tpc.quantize %x as "x" activation config(#a) range(#tpc.range<-8.0, ?>) statistics(#s) parameters(#tpc.power_of_two<threshold = [8.0], bits = 8>) : tensor<1x4x4x2xf32>
  %v = tpc.quantize %k as "conv" weight "kernel_attr" axes [0] config(#w) candidates(#tpc.alternatives<of = "conv", configs = [#w, #t], chosen = 0>) parameters(#tpc.symmetric<threshold = [0.5, 0.625], bits = 8>) corrections(#tpc.corrections<applied = ["second_moment"], bias_offset = [0.25, 0.0], kernel_scale = [1.0, 2.0]>) : tensor<2x1x1x2xf32>
  %0 = tosa.conv2d %q, %v, %b, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<2x1x1x2xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x2xf32>
  %1 = tosa.sigmoid %0 : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %2 = tosa.mul %0, %1, %i : (tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>, tensor<1xi8>) -> tensor<1x4x4x2xf32>
  %r = tpc.quantize %2 as "swish" activation config(#a) group(["conv", "swish"]) statistics(#s) parameters(#tpc.symmetric<threshold = [6.5], bits = 8>) : tensor<1x4x4x2xf32>
  %n = tpc.quantize %m as "last" weight "kernel_attr" config(#t) : tensor<2x1x1x2xf32>
  %3 = tosa.conv2d %r, %n, %f, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<2x1x1x2xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x2xf32>
  %e = tpc.quantize %3 as "last-point" activation config(#u) statistics(#s) parameters(#tpc.uniform<scale = [0.25], zero_point = [3], bits = 4>) : tensor<1x4x4x2xf32>
  return %e : tensor<1x4x4x2xf32>
}
)mlir";

static constexpr llvm::StringLiteral kManyCorrections =
    "mct-correct{softmax-shift=true input-scaling=true "
    "concat-threshold-update=true refine-thresholds=true "
    "activation-bias-correction=true DATA}";
static constexpr llvm::StringLiteral kHmse =
    "mct-ptq{target=tflite activation-channel-equalization=true "
    "weights-error-method=hmse DATA}";
static constexpr llvm::StringLiteral kTables =
    "mct-ptq{target=imx500_v1_lut weights-bias-correction=false "
    "activation-error-method=no-clipping DATA}";
/// `DATA` stands for samples that fit to the arguments, and a limit of memory.
static constexpr llvm::StringLiteral kPipelines[] = {
    "mct-prepare",
    "mct-prepare{relu-bound-to-power-of-2=true}",
    "mct-lift-variables",
    "func.func(mct-raise-linalg)",
    "func.func(mct-assign-names)",
    "func.func(mct-fold-constants)",
    "func.func(mct-move-transposes)",
    "func.func(mct-normalize-activations)",
    "func.func(mct-fold-constants),mct-fold-batch-norm",
    "mct-fold-batch-norm",
    "mct-collapse-linear",
    "mct-collapse-residual",
    "mct-bound-relu-to-power-of-two",
    "func.func(mct-set-batch{size=3})",
    "func.func(mct-set-batch{size=0})",
    "func.func(mct-set-batch{size=9223372036854775807})",
    "tpc-attach-target{target=imx500},mct-insert-quantizers",
    "mct-insert-quantizers",
    "mct-choose-candidates{choices=conv=1}",
    "mct-choose-candidates{choices=first=2},mct-select-parameters",
    "tpc-attach-target{target=qnnpack},tpc-explain",
    "tpc-explain{format=json}",
    "mct-equalize-channels{only-if-better=false}",
    "mct-equalize-channels{per-channel-bounds=true}",
    "mct-scale-input",
    "mct-shift-softmax",
    "mct-split-shared-grids",
    "mct-equalize-residuals{remarks=true}",
    "mct-rescale-parts{remarks=true}",
    "func.func(mct-update-concat-thresholds)",
    "mct-select-parameters,mct-select-weight-parameters",
    "mct-select-parameters{error-method=kl z-threshold=2}",
    "mct-select-parameters{error-method=lp lp-norm=3 min-threshold=1}",
    "mct-select-parameters{error-method=octav}",
    "mct-select-parameters{error-method=percentile percentile=50}",
    "mct-select-weight-parameters{error-method=hmse}",
    "mct-select-weight-parameters{error-method=kl}",
    "mct-select-weight-parameters{error-tolerance=1e9}",
    "mct-select-weight-parameters{error-method=octav}",
    "mct-correct-shift-negative{ratio=inf}",
    "mct-correct-shift-negative{parameter-search=true z-threshold=3}",
    "mct-correct-activation-bias",
    "mct-correct-activation-bias{threshold=5}",
    "mct-calibrate{DATA}",
    "mct-calibrate{channel-statistics=true DATA}",
    "mct-correct-bias{DATA}",
    "mct-correct-bias{estimate=input-mean DATA}",
    "mct-correct-second-moment{max-bits=8 DATA}",
    "mct-correct{DATA}",
    kManyCorrections,
    "mct-ptq{target=imx500 DATA}",
    kHmse,
    kTables,
    "mct-lower-to-quant",
    "mct-return-points",
    "mct-simulate-integers",
    "mct-simulate-integers{rounding=half-even table-points=false}",
    "mct-lower-to-integer",
    "mct-lower-to-integer{io=integer softmax=integer extensions=int4,int16}",
    "mct-lower-to-integer{io=integer softmax=integer layer-norm=integer}",
    "mct-lower-to-integer{io=integer profile=ethos-u55}",
    "mct-lower-to-integer{rounding=half-even softmax=cut batch=2}",
    "mct-check-integer",
    "mct-check-integer{profile=ethos-u55 simulation=true}",
    "canonicalize,cse",
};

namespace {
enum Count : size_t { Tried, Parsed, Done, RefusedByPass, Ran, RefusedToRun };

DialectRegistry &registry() {
  static DialectRegistry all;
  static const bool isFilled = [] {
    registerAllDialects(all);
    registerAllExtensions(all);
    all.insert<tpc::TpcDialect>();
    execution::Executor::registerDependencies(all);
    registerAllPasses();
    registerAllMctPasses();
    return true;
  }();
  (void)isFilled;
  return all;
}

/// A module in a context of its own.
struct Read {
  explicit Read(StringRef bytes) {
    context.appendDialectRegistry(registry());
    context.printOpOnDiagnostic(false);
    context.getDiagEngine().registerHandler([&](Diagnostic &diagnostic) {
      if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
        errors += diagnostic.str() + "\n";
    });
    // Aligned as bytecode wants it.
    auto buffer = llvm::WritableMemoryBuffer::getNewUninitMemBuffer(
        bytes.size(), "module", llvm::Align(64));
    llvm::copy(bytes, buffer->getBufferStart());
    sources.AddNewSourceBuffer(std::move(buffer), llvm::SMLoc());
    Scope scope(__builtin_frame_address(0));
    module = parseSourceFile<ModuleOp>(sources, &context);
  }

  MLIRContext context{MLIRContext::Threading::DISABLED};
  llvm::SourceMgr sources;
  std::string errors;
  /// Null, with `errors`, for what is no module.
  OwningOpRef<ModuleOp> module;
};

std::string print(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream os(text);
  module->print(os, OpPrintingFlags().enableDebugInfo());
  return text;
}

std::string writeBytecode(ModuleOp module) {
  std::string bytes;
  llvm::raw_string_ostream os(bytes);
  if (failed(writeBytecodeToFile(module, os)))
    return "";
  return bytes;
}

std::string firstDifference(StringRef before, StringRef after) {
  while (true) {
    auto [left, leftRest] = before.split('\n');
    auto [right, rightRest] = after.split('\n');
    if (left != right || leftRest.empty() || rightRest.empty())
      return ("  " + left.take_front(500) + "\n  " + right.take_front(500))
          .str();
    before = leftRest;
    after = rightRest;
  }
}

/// Returns what is not read back, or nothing.
std::string checkReadBack(ModuleOp module) {
  std::string text = print(module);
  Read fromText(text);
  if (!fromText.module)
    return "the text is not read back: " + fromText.errors;
  if (std::string again = print(*fromText.module); again != text)
    return "from text:\n" + firstDifference(text, again);
  std::string bytes = writeBytecode(module);
  if (bytes.empty())
    return "no bytecode is written";
  Read fromBytes(bytes);
  if (!fromBytes.module)
    return "the bytecode is not read back: " + fromBytes.errors;
  if (std::string again = print(*fromBytes.module); again != text)
    return "from bytecode:\n" + firstDifference(text, again);
  return "";
}

struct Seed {
  std::string text, bytecode;
  /// The pass whose tests it comes from, or empty.
  std::string pass;
};

/// The trial that has a number; all of it follows from number and seed.
struct Plan {
  std::string bytes, pipeline;
  /// True if it is run as mct-run does it, instead of the pipeline or after
  /// it.
  bool runs = false;
};

class Fuzzer {
public:
  Fuzzer(bool isBytecode, std::string folder);
  ~Fuzzer();
  void fuzz();

private:
  void makeSeeds();
  void addSeed(StringRef text, StringRef pass);
  void addDerived(StringRef text);
  Plan plan(uint64_t number) const;
  std::string attempt(const Plan &plan) const;
  std::string attemptPasses(const Plan &plan) const;
  std::string attemptRun(StringRef bytes, bool isMutant) const;
  std::string writeSamples(ModuleOp module) const;
  void readOnly(uint64_t number) const;
  void report(bool isOurs, const Failure &failure);

  bool isBytecode;
  std::string folder;
  uint64_t sequence = 1;
  std::vector<Seed> seeds;
  std::unique_ptr<TextMutator> mutator;
  struct Case {
    size_t count = 0;
    std::string file, pipeline;
    uint64_t number = 0;
  };
  std::map<std::string, Case> ours, upstream;
};
} // namespace

static void count(Count which) {
  if (board)
    ++board->counts[which];
}

Fuzzer::Fuzzer(bool isBytecode, std::string folder)
    : isBytecode(isBytecode), folder(std::move(folder)) {
  if (const char *seed = std::getenv("MCT_FUZZ_SEED"))
    sequence = std::strtoull(seed, nullptr, 10);
  // At once: what follows may not come to its end.
  llvm::outs() << "MCT_FUZZ_SEED=" << sequence << "\n";
  llvm::outs().flush();
}

Fuzzer::~Fuzzer() {
  if (ours.empty() && upstream.empty())
    llvm::sys::fs::remove_directories(folder);
}

/// Files below a folder, in the order of their names.
static std::vector<std::string> listFiles(StringRef folder) {
  std::vector<std::string> files;
  std::error_code error;
  for (llvm::sys::fs::recursive_directory_iterator it(folder, error), end;
       it != end && !error; it.increment(error))
    if (llvm::sys::fs::is_regular_file(it->path()))
      files.push_back(it->path());
  llvm::sort(files);
  return files;
}

static std::string readFile(StringRef path) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  return buffer ? (*buffer)->getBuffer().str() : std::string();
}

static void writeFile(const Twine &path, StringRef bytes) {
  std::error_code error;
  llvm::raw_fd_ostream(path.str(), error) << bytes;
}

/// Writes what can be read to the folder, as text and bytecode.
void Fuzzer::addSeed(StringRef text, StringRef pass) {
  Read read(text);
  if (!read.module || failed(verifyShapes(*read.module)))
    return;
  std::string written = text.str();
  if (isBytecode || text.contains('\0'))
    written = print(*read.module);
  if (written.size() > 100000)
    return;
  std::string name = folder + "/seed" + std::to_string(10000 + seeds.size()) +
                     "." + pass.str();
  writeFile(name + ".text", written);
  writeFile(name + ".code", writeBytecode(*read.module));
  seeds.emplace_back();
}

/// A network, and what the tools make of it.
void Fuzzer::addDerived(StringRef text) {
  addSeed(text, "");
  for (StringRef pipeline :
       {"func.func(mct-set-batch{size=0})", "func.func(mct-set-batch{size=4})",
        "tpc-attach-target{target=imx500},mct-prepare,mct-insert-quantizers",
        "mct-ptq{target=imx500 DATA}", "mct-ptq{target=imx500_v1_lut DATA}"}) {
    Read read(text);
    if (!read.module)
      return;
    std::string spec = pipeline.str();
    if (size_t at = spec.find("DATA"); at != std::string::npos)
      spec.replace(at, 4, writeSamples(*read.module));
    PassManager passes(&read.context, ModuleOp::getOperationName(),
                       PassManager::Nesting::Implicit);
    if (succeeded(parsePassPipeline(spec, passes)) &&
        succeeded(passes.run(*read.module)))
      addSeed(print(*read.module), "");
  }
}

void Fuzzer::makeSeeds() {
  // Running a network starts threads, which a process that forks must not
  // have.
  pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    // A trial that waits for ever is a failure, too.
    alarm(600);
    addDerived(kPoints);
    addDerived(
        readFile(mct::testing::getSourcePath("test/data/digits.mlirbc")));
    for (unsigned seed = 0; seed != 4; ++seed) {
      MLIRContext context(registry(), MLIRContext::Threading::DISABLED);
      context.loadAllAvailableDialects();
      addDerived(
          mct::testing::print(*mct::testing::makeRandomNetwork(context, seed)));
      addDerived(
          mct::testing::print(*mct::testing::makeRandomLayers(context, seed)));
    }
    for (const std::string &file :
         listFiles(mct::testing::getSourcePath("test"))) {
      if (!StringRef(file).ends_with(".mlir") ||
          StringRef(file).starts_with(
              mct::testing::getSourcePath("test/fuzz/")))
        continue;
      StringRef pass =
          llvm::sys::path::filename(llvm::sys::path::parent_path(file));
      std::string text = readFile(file);
      SmallVector<StringRef> parts;
      StringRef(text).split(parts, "// -----\n");
      for (StringRef part : parts) {
        std::string stripped;
        SmallVector<StringRef> lines;
        part.split(lines, '\n');
        for (StringRef line : lines)
          if (!line.trim().starts_with("//"))
            stripped += (line + "\n").str();
        if (!StringRef(stripped).trim().empty())
          addSeed(stripped, pass.starts_with("mct-") || pass.starts_with("tpc-")
                                ? pass
                                : "");
      }
    }
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0)
      << "making seeds failed";
  std::vector<std::string> texts;
  for (const std::string &file : listFiles(folder)) {
    StringRef name = llvm::sys::path::filename(file);
    if (!name.ends_with(".text"))
      continue;
    Seed &seed = seeds.emplace_back();
    seed.text = readFile(file);
    seed.bytecode = readFile(StringRef(file).drop_back(4).str() + "code");
    seed.pass = name.split('.').second.split('.').first.str();
    texts.push_back(seed.text);
    llvm::sys::fs::remove(file);
    llvm::sys::fs::remove(StringRef(file).drop_back(4).str() + "code");
  }
  mutator = std::make_unique<TextMutator>(texts);
}

Plan Fuzzer::plan(uint64_t number) const {
  Random random(sequence * 1000003 + number);
  Plan plan;
  const Seed *seed = &random.pick(seeds);
  // Networks with all that points carry come first in the list.
  if (random.oneIn(3))
    seed = &seeds[random.below(std::min<size_t>(seeds.size(), 60))];
  std::vector<StringRef> own;
  for (StringRef pipeline : kPipelines)
    if (!seed->pass.empty() && pipeline.contains(seed->pass))
      own.push_back(pipeline);
  StringRef pipeline = !own.empty() && !random.oneIn(3)
                           ? random.pick(own)
                           : StringRef(random.pick(kPipelines));
  if (!random.oneIn(4))
    plan.pipeline = pipeline.str();
  plan.runs = plan.pipeline.empty() || random.oneIn(4);
  if (isBytecode)
    plan.bytes =
        mutateBytecode(seed->bytecode, random.pick(seeds).bytecode, random);
  else
    plan.bytes = mutator->mutate(seed->text, random);
  return plan;
}

/// One file for each argument of the function that is run, two samples each,
/// as an option of a pass.
std::string Fuzzer::writeSamples(ModuleOp module) const {
  std::string option = "max-memory=256M threads=1 calibration-data=";
  FailureOr<func::FuncOp> entry = failure();
  {
    ScopedDiagnosticHandler quiet(module.getContext(),
                                  [](Diagnostic &) { return success(); });
    entry = findEntryFunction(module, "");
  }
  if (failed(entry))
    return option + folder + "/absent.npy";
  for (auto [index, type] : llvm::enumerate(entry->getArgumentTypes())) {
    std::string path = folder + "/" + std::to_string(index) + ".npy";
    option += (index ? "," : "") + std::to_string(index) + ":" + path;
    auto tensor = dyn_cast<RankedTensorType>(type);
    SmallVector<int64_t> shape;
    if (tensor)
      shape.append(tensor.getShape().begin(), tensor.getShape().end());
    if (shape.empty())
      shape.push_back(1);
    for (auto [dimension, size] : llvm::enumerate(shape))
      if (ShapedType::isDynamic(size))
        size = dimension == 0 ? 1 : 4;
    int64_t elements = 1;
    bool tooMany =
        shape[0] < 0 || llvm::MulOverflow(shape[0], int64_t(2), shape[0]);
    for (int64_t size : shape)
      tooMany = tooMany || size < 0 || elements > (1 << 18) ||
                llvm::MulOverflow(elements, size, elements) ||
                elements > (1 << 18);
    if (tooMany) {
      shape = {2, 4};
      elements = 8;
    }
    support::ElementType element = support::ElementType::F32;
    if (tensor && tensor.getElementType().isInteger(8))
      element = support::ElementType::I8;
    else if (tensor && tensor.getElementType().isInteger(32))
      element = support::ElementType::I32;
    auto writer = support::NpyWriter::create(path, element, shape);
    if (!writer) {
      llvm::consumeError(writer.takeError());
      continue;
    }
    for (int64_t i = 0; i != elements; ++i) {
      int64_t value = i * 7 % 11 - 3;
      if (element == support::ElementType::F32) {
        float number = float(value) / 4;
        (*writer)->write(&number, 4);
      } else {
        auto number = int32_t(std::abs(value) % 3);
        (*writer)->write(&number, support::getByteSize(element));
      }
    }
    llvm::consumeError((*writer)->commit());
  }
  return option;
}

/// MLIR's reader fails without a word now and then; the tools say so then.
static std::string notParsed(const Read &read) {
  return read.errors.empty() ? "MLIR's own: not read, without an error" : "";
}

std::string Fuzzer::attempt(const Plan &plan) const {
  count(Tried);
  if (plan.pipeline.empty())
    return attemptRun(plan.bytes, /*isMutant=*/true);
  return attemptPasses(plan);
}

std::string Fuzzer::attemptPasses(const Plan &plan) const {
  enter(Phase::Parsing, __builtin_frame_address(0));
  Read read(plan.bytes);
  if (!read.module)
    return notParsed(read);
  count(Parsed);
  enter(Phase::Passes, __builtin_frame_address(0));
  if (failed(verifyShapes(*read.module)))
    return read.errors.empty() ? "bad shapes, without an error" : "";
  read.errors.clear();
  PassManager passes(&read.context, ModuleOp::getOperationName(),
                     PassManager::Nesting::Implicit);
  std::string spec = plan.pipeline;
  if (size_t at = spec.find("DATA"); at != std::string::npos)
    spec.replace(at, 4, writeSamples(*read.module));
  std::string wrong;
  llvm::raw_string_ostream os(wrong);
  if (failed(parsePassPipeline(spec, passes, os)))
    return "the pipeline does not parse: " + wrong;
  if (failed(passes.run(*read.module))) {
    count(RefusedByPass);
    return read.errors.empty() ? plan.pipeline + " fails without an error" : "";
  }
  count(Done);
  enter(Phase::Writing, __builtin_frame_address(0));
  if (std::string wrong = checkReadBack(*read.module); !wrong.empty()) {
    // Is the module that no pass has touched not read back either?
    Read original(plan.bytes);
    std::string before = checkReadBack(*original.module);
    return (before.empty() ? plan.pipeline + ": " : "MLIR's own: ") + wrong;
  }
  return plan.runs ? attemptRun(print(*read.module), /*isMutant=*/false) : "";
}

std::string Fuzzer::attemptRun(StringRef bytes, bool isMutant) const {
  enter(isMutant ? Phase::Parsing : Phase::Compiling,
        __builtin_frame_address(0));
  Read read(bytes);
  if (!read.module)
    return notParsed(read);
  if (isMutant)
    count(Parsed);
  enter(Phase::Compiling, __builtin_frame_address(0));
  if (failed(verifyShapes(*read.module)))
    return read.errors.empty() ? "bad shapes, without an error" : "";
  for (auto function : read.module->getOps<func::FuncOp>())
    assignNames(function);
  DialectRegistry dependencies;
  execution::Executor::registerDependencies(dependencies);
  for (StringRef name : dependencies.getDialectNames())
    read.context.getOrLoadDialect(name);
  FailureOr<func::FuncOp> entry = findEntryFunction(*read.module, "");
  if (failed(entry))
    return read.errors.empty() ? "no function, without an error" : "";
  read.errors.clear();
  execution::CompileOptions options;
  options.function = entry->getSymName().str();
  options.maxMemory = int64_t(256) << 20;
  options.observeAllPoints = true;
  auto executor = execution::Executor::compile(*read.module, options);
  if (failed(executor)) {
    count(RefusedToRun);
    return read.errors.empty() ? "not compiled, without an error" : "";
  }
  std::string data = writeSamples(*read.module);
  SmallVector<std::string> files;
  SmallVector<StringRef> paths;
  StringRef(data).rsplit('=').second.split(paths, ',');
  for (StringRef path : paths)
    if (!path.empty())
      files.push_back(path.str());
  auto fails = [](llvm::Error error) {
    count(RefusedToRun);
    return llvm::toString(std::move(error)).empty()
               ? "not run, without an error"
               : "";
  };
  auto sampleOptions = execution::SampleOptions::parse(files, "", "", 0);
  if (!sampleOptions)
    return fails(sampleOptions.takeError());
  auto samples = execution::SampleSource::open(
      *sampleOptions, (*executor)->inputs(), (*executor)->unit());
  if (!samples)
    return fails(samples.takeError());
  enter(Phase::Running, __builtin_frame_address(0));
  execution::RunOptions runOptions;
  runOptions.threads = 1;
  if (llvm::Error error = execution::forEachUnit(
          **executor, **samples, runOptions, [](size_t, execution::Worker &) {},
          [](const execution::Unit &) { return llvm::Error::success(); }))
    return fails(std::move(error));
  count(Ran);
  return "";
}

/// Reads, prints and drops a module, and lets the allocator find out what has
/// been written after the ends of its blocks.
void Fuzzer::readOnly(uint64_t number) const {
  std::string bytes = plan(number).bytes;
  for (int i = 0; i != 3; ++i) {
    Read read(bytes);
    if (!read.module)
      return;
    print(*read.module);
    std::vector<std::unique_ptr<char[]>> blocks;
    for (size_t size = 8; size < 100000; size += size / 8 + 8)
      for (int copies = 0; copies != 16; ++copies)
        blocks.push_back(std::make_unique<char[]>(size));
    blocks.clear();
    malloc_trim(0);
  }
}

void Fuzzer::report(bool isOurs, const Failure &failure) {
  Plan failed = plan(failure.number);
  Case &one = (isOurs ? ours : upstream)[describe(failure)];
  if (one.count++ != 0)
    return;
  one.number = failure.number;
  one.pipeline = failed.pipeline;
  one.file = folder + "/" + std::to_string(failure.number) +
             (isBytecode ? ".mlirbc" : ".mlir");
  writeFile(one.file, failed.bytes);
  if (failure.kind != Failure::Wrong && !failure.message.empty())
    writeFile(one.file + ".log", failure.message);
}

void Fuzzer::fuzz() {
  MLIRContext context(registry(), MLIRContext::Threading::DISABLED);
  for (StringRef pipeline : kPipelines) {
    PassManager passes(&context);
    ASSERT_TRUE(succeeded(parsePassPipeline(
        pipeline.take_until([](char c) { return c == 'D'; }).str() +
            (pipeline.contains("DATA") ? "}" : ""),
        passes)))
        << pipeline.str();
  }
  makeSeeds();
  if (::testing::Test::HasFatalFailure())
    return;
  ASSERT_GT(seeds.size(), 300u);
  if (const char *only = std::getenv("MCT_FUZZ_ONLY")) {
    Plan one = plan(std::strtoull(only, nullptr, 10));
    llvm::outs() << "pipeline " << one.pipeline
                 << (one.runs ? ", runs\n" : "\n");
    llvm::outs().flush();
    EXPECT_EQ(attempt(one), "");
    return;
  }
  Limits limits;
  if (const char *seconds = std::getenv("MCT_FUZZ_SECONDS"))
    limits.seconds = std::atof(seconds);
  uint64_t tried = runIsolated(
      limits, [&](uint64_t number) { return attempt(plan(number)); },
      [&](const Failure &failure) {
        bool isOurs =
            failure.kind == Failure::Wrong
                ? !StringRef(failure.message).starts_with("MLIR's own")
                : failure.isOwn || failure.phase != Phase::Parsing;
        // MLIR's reader has written outside of its memory if a crash only
        // happens after other modules, or if reading alone fails.
        if (isOurs && isBytecode && failure.kind != Failure::Wrong)
          isOurs = failure.isReproduced &&
                   succeedsAlone(limits, [&] { readOnly(failure.number); });
        // A loop whose condition stays true is the network's.
        if (failure.kind == Failure::Hang && failure.phase == Phase::Running &&
            StringRef(plan(failure.number).bytes).contains("while_loop"))
          isOurs = false;
        report(isOurs, failure);
        return ours.size() < 100;
      });
  ASSERT_NE(board, nullptr);
  const uint64_t *counts = board->counts;
  llvm::outs() << tried << " modules, " << counts[Parsed] << " parsed, "
               << counts[Done] << " through passes, " << counts[RefusedByPass]
               << " refused by them, " << counts[Ran] << " run, "
               << counts[RefusedToRun] << " refused to run\n";
  // One line each: there may be many, of few causes.
  for (const auto &[what, one] : upstream) {
    SmallVector<StringRef> lines;
    StringRef(what).split(lines, "\n    ");
    llvm::outs() << "MLIR, no code of ours: " << llvm::join(lines, " < ")
                 << " (" << one.count << " times, module " << one.number << ", "
                 << one.file << ")\n";
  }
  llvm::outs().flush();
  for (const auto &[what, one] : ours)
    ADD_FAILURE() << one.count << " times: " << what << "\n  module "
                  << one.number << ", " << one.file << ", "
                  << (one.pipeline.empty() ? "run" : one.pipeline);
  EXPECT_GT(counts[Done], 0u);
  EXPECT_GT(counts[Ran], 0u);
  EXPECT_GT(counts[RefusedByPass], 0u);
}

static std::string makeFolder() {
  SmallString<128> folder;
  if (llvm::sys::fs::createUniqueDirectory("mct-fuzz", folder))
    return "";
  return folder.str().str();
}

TEST(ModuleFuzz, MutatedTextIsTakenOrRefused) {
  Fuzzer(/*isBytecode=*/false, makeFolder()).fuzz();
}

TEST(ModuleFuzz, MutatedBytecodeIsTakenOrRefused) {
  Fuzzer(/*isBytecode=*/true, makeFolder()).fuzz();
}
