// SPDX-License-Identifier: Apache-2.0
//
// Mutated target files, text and JSON, attached to a small network: a file is
// taken, or refused with an error, and nothing crashes.
//
// MCT_FUZZ_SECONDS: how long each test runs (default 15). MCT_FUZZ_SEED:
// another sequence of files, 1 where it is not set; it is printed. After a
// crash the file that caused it is still there, and its path is printed.
#include "mct/Transforms/Passes.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "tpc_dialect/IR/TpcDialect.h"
#include "tpc_dialect/Json/TpcJson.h"
#include "tpc_dialect/Transforms/Passes.h"
#include "tpc_dialect/targets/Targets.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"
#include <chrono>
#include <cstdlib>
#include <random>

using namespace mlir;

static constexpr llvm::StringLiteral kNetwork = R"mlir(
func.func @main(%x: tensor<1x4x4x2xf32>) -> tensor<1x32xf32> {
  %k = "tosa.const"() <{values = dense<1.0> : tensor<2x1x1x2xf32>}> : () -> tensor<2x1x1x2xf32>
  %b = "tosa.const"() <{values = dense<1.0> : tensor<2xf32>}> : () -> tensor<2xf32>
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %c = "tosa.const"() <{values = dense<1.0> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %m = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %s = tosa.const_shape {values = dense<[1, 32]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %0 = tosa.conv2d %x, %k, %b, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<2x1x1x2xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x2xf32>
  %1 = tosa.clamp %0 {min_val = 0.0 : f32, max_val = 3.40282347E+38 : f32} : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %2 = tosa.add %1, %c : (tensor<1x4x4x2xf32>, tensor<1x1x1x2xf32>) -> tensor<1x4x4x2xf32>
  %3 = tosa.sigmoid %2 : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %4 = tosa.concat %3, %3 {axis = 3 : i32} : (tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>) -> tensor<1x4x4x4xf32>
  %5 = tosa.max_pool2d %4 {kernel = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x4xf32>) -> tensor<1x4x4x4xf32>
  %6 = tosa.reduce_sum %5 {axis = 3 : i32} : (tensor<1x4x4x4xf32>) -> tensor<1x4x4x1xf32>
  %7 = tosa.mul %3, %6, %m : (tensor<1x4x4x2xf32>, tensor<1x4x4x1xf32>, tensor<1xi8>) -> tensor<1x4x4x2xf32>
  %8 = tosa.reshape %7, %s : (tensor<1x4x4x2xf32>, !tosa.shape<2>) -> tensor<1x32xf32>
  return %8 : tensor<1x32xf32>
}
)mlir";

/// A target with clauses that stock targets do not use.
static constexpr llvm::StringLiteral kRareTarget = R"mlir(
#w = #tpc.attr_quant_config<method = lut_pot_quantizer, bits = 4, lut_values_bits = 8>
#k = #tpc.attr_quant_config<method = symmetric, bits = 8, per_channel = true, enabled = true>
#a8 = #tpc.op_quant_config<act_method = uniform, act_bits = 8, input_bits = [8, 16], signedness = signed, simd_size = 32, weights = {kernel_attr = #k}, default_weight = #w>
#a16 = #tpc.op_quant_config<act_method = symmetric, act_bits = 16, input_bits = [8, 16], weights = {kernel_attr = #k}, default_weight = #w>
#plain = #tpc.op_quant_config<act_method = uniform, act_bits = 8, input_bits = [8, 16], fixed_scale = 6.250000e-02 : f64, fixed_zero_point = 100, default_weight = #w>
#constant = #tpc.op_quant_config<act_method = uniform, act_bits = 8, input_bits = [8, 16], weights = {pos_attr = #k}, default_weight = #w>
#moves = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8, 16], act_enabled = false, preserving = true, default_weight = #w>
#binary = #tpc.operator_set_group<["Add", "Mul"], name = "binary">
tpc.platform @rare type("rare") version 1, 2 metadata simd_padding insert_preserving_quantizers default(#tpc.qc_options<[#plain]>)
  operator_sets [
    #tpc.operator_set<"Conv", options = #tpc.qc_options<[#a16, #a8], base = #a8>>,
    #tpc.operator_set<"Add", options = #tpc.qc_options<[#constant]>>,
    #tpc.operator_set<"Mul">, #tpc.operator_set<"ReLU">, #tpc.operator_set<"Softmax">,
    #tpc.operator_set<"Concat", options = #tpc.qc_options<[#moves]>>
  ]
  fusing [#tpc.fusing<["Conv", "ReLU", #binary], config = #a16, name = "three">, #tpc.fusing<["Conv", "ReLU"]>]
tpc.binding @rare_on_tosa for @rare [
  #tpc.ops_of<"Conv", [#tpc.op<"tosa.conv2d" where ("$kernel_h" eq 1 or "$in_channels" gt 4) and dilation ne 2 : i64>], weights = {kernel_attr = 1}>,
  #tpc.ops_of<"ReLU", [#tpc.op<"tosa.clamp" where min_val ge 0.0 : f32 and max_val gt 1.0 : f32>]>,
  #tpc.ops_of<"Add", [#tpc.op<"tosa.add" where "$const_operand" eq 1>, #tpc.op<"tosa.sub">], weights = {pos_attr = 1}>,
  #tpc.ops_of<"Mul", [#tpc.op<"tosa.mul">, #tpc.op<"tosa.custom" where operator_name contains "mul">]>,
  #tpc.ops_of<"Softmax", [#tpc.subgraph<"softmax">]>,
  #tpc.ops_of<"Concat", [#tpc.op<"tosa.concat">]>
]
tpc.framework @rare_ops [
  #tpc.op_info<"tosa.conv2d", kernel = 1, bias = 2, out_axes = [0], in_axis = 3, result_axis = -1>,
  #tpc.op_info<"tosa.sigmoid", range = [0.0, ?]>,
  #tpc.op_info<"tosa.argmax", quantize = false>
]
)mlir";

namespace {
/// Cuts files into words and puts them together in other ways.
class Mutator {
public:
  explicit Mutator(ArrayRef<std::string> seeds) : seeds(seeds) {
    const char *given = std::getenv("MCT_FUZZ_SEED");
    uint64_t seed = given ? std::strtoull(given, nullptr, 10) : 1;
    random.seed(seed);
    // At once: what follows may not come to its end.
    llvm::outs() << "MCT_FUZZ_SEED=" << seed << "\n";
    llvm::outs().flush();
    for (const std::string &text : seeds)
      words.push_back(split(text));
  }

  std::string next() {
    // The first seed covers most in the fewest words.
    std::vector<std::string> file =
        words[below(2) == 0 ? 0 : below(words.size())];
    for (size_t i = 0, n = 1 + below(3); i != n && !file.empty(); ++i)
      mutate(file);
    std::string text;
    for (const std::string &word : file)
      text += word;
    // Bytes that are no word: inside of strings, no UTF-8, or the end.
    if (below(8) == 0 && !text.empty())
      text[below(text.size())] = char(random());
    if (below(16) == 0)
      text.resize(below(text.size() + 1));
    return text;
  }

private:
  /// Words, and what stands between them, one character each.
  static std::vector<std::string> split(StringRef text) {
    std::vector<std::string> words;
    while (!text.empty()) {
      StringRef word = text.take_while([](char c) {
        return llvm::isAlnum(c) || c == '_' || c == '.' || c == '$';
      });
      if (word.empty())
        word = text.take_front(1);
      words.push_back(word.str());
      text = text.drop_front(word.size());
    }
    return words;
  }

  size_t below(size_t end) { return random() % end; }

  void mutate(std::vector<std::string> &file) {
    static constexpr const char *kNumbers[] = {"0",
                                               "-1",
                                               "1",
                                               "33",
                                               "64",
                                               "2147483648",
                                               "9223372036854775807",
                                               "18446744073709551616",
                                               "1e400",
                                               "-0.0",
                                               "0x7FC00000",
                                               "nan",
                                               "null",
                                               "true",
                                               "\"\"",
                                               "[]",
                                               "{}"};
    size_t at = below(file.size());
    size_t length = 1 + below(below(4) == 0 ? 40 : 3);
    size_t end = std::min(file.size(), at + length);
    auto first = file.begin() + at;
    switch (below(6)) {
    case 0:
      file.erase(first, file.begin() + end);
      break;
    case 1: {
      std::vector<std::string> copy(first, file.begin() + end);
      file.insert(file.begin() + below(file.size()), copy.begin(), copy.end());
      break;
    }
    case 2:
      std::swap(file[at], file[below(file.size())]);
      break;
    case 3: {
      const std::vector<std::string> &other = words[below(words.size())];
      file[at] = other[below(other.size())];
      break;
    }
    default: {
      // Numbers, names and keywords are where rules are, not punctuation.
      for (size_t i = 0; i != 64 && !llvm::isAlnum(file[at].front()); ++i)
        at = below(file.size());
      file[at] = llvm::isDigit(file[at].front()) || below(3) == 0
                     ? kNumbers[below(std::size(kNumbers))]
                     : pickWord();
      break;
    }
    }
  }

  std::string pickWord() {
    const std::vector<std::string> &other = words[below(words.size())];
    for (;;)
      if (const std::string &word = other[below(other.size())];
          llvm::isAlpha(word.front()))
        return word;
  }

  std::vector<std::string> seeds;
  std::vector<std::vector<std::string>> words;
  std::mt19937_64 random;
};

std::string &currentFile() {
  static std::string path;
  return path;
}

/// Attaches mutated files for a while.
void attachMutations(ArrayRef<std::string> seeds, StringRef suffix) {
  SmallString<128> path;
  ASSERT_FALSE(llvm::sys::fs::createTemporaryFile("mct-fuzz", suffix, path));
  currentFile() = std::string(path);
  llvm::sys::AddSignalHandler(
      [](void *) {
        llvm::errs() << "the file that crashed is " << currentFile() << "\n";
      },
      nullptr);

  const char *limit = std::getenv("MCT_FUZZ_SECONDS");
  auto end = std::chrono::steady_clock::now() +
             std::chrono::seconds(limit ? std::atoi(limit) : 15);
  Mutator mutator(seeds);
  size_t numTaken = 0, numRefused = 0;
  while (std::chrono::steady_clock::now() < end) {
    // Attributes live as long as their context.
    MLIRContext context(MLIRContext::Threading::DISABLED);
    context.loadDialect<mct::tpc::TpcDialect, func::FuncDialect,
                        tosa::TosaDialect>();
    std::string errors;
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
        errors += diagnostic.str() + "\n";
    });
    auto network = parseSourceString<ModuleOp>(kNetwork, &context);
    ASSERT_TRUE(network);
    for (size_t i = 0; i != 200; ++i) {
      // A file that no mutation has touched is taken: mutations of something
      // broken would test little.
      bool isOriginal = numTaken + numRefused == 0;
      std::string text = isOriginal ? seeds.front() : mutator.next();
      {
        std::error_code error;
        llvm::raw_fd_ostream file(path, error);
        ASSERT_FALSE(error);
        file << text;
      }
      errors.clear();
      OwningOpRef<ModuleOp> module = network->clone();
      PassManager passes(&context);
      passes.addPass(mct::tpc::createAttachTargetPass({std::string(path)}));
      passes.addPass(mct::createInsertQuantizersPass());
      bool isTaken = succeeded(passes.run(*module));
      // MLIR's parser continues after some errors of its lexer, so that it may
      // accept a file and report an error.
      ASSERT_TRUE(isTaken || !errors.empty())
          << "no word about what is wrong with\n"
          << text;
      ASSERT_TRUE(isTaken || !isOriginal) << errors;
      ++(isTaken ? numTaken : numRefused);
    }
  }
  llvm::sys::fs::remove(path);
  EXPECT_GT(numTaken, 0u);
  EXPECT_GT(numRefused, 0u);
  llvm::outs() << numTaken << " files taken, " << numRefused << " refused\n";
}
} // namespace

/// The target of this file, and the stock ones.
static std::vector<std::string> getTargets() {
  std::vector<std::string> texts = {kRareTarget.str()};
  for (const mct::tpc::StockTarget &target : mct::tpc::listTargets())
    if (!target.isAlias())
      texts.push_back(target.text.str());
  return texts;
}

TEST(TargetFuzz, MutatedTextIsTakenOrRefused) {
  attachMutations(getTargets(), "mlir");
}

TEST(TargetFuzz, MutatedJsonIsTakenOrRefused) {
  std::vector<std::string> seeds;
  for (const std::string &text : getTargets()) {
    MLIRContext context;
    context.loadDialect<mct::tpc::TpcDialect>();
    auto module = parseSourceString<ModuleOp>(text, &context);
    ASSERT_TRUE(module);
    // A target that derives from another one has no platform yet.
    for (auto platform : module->getOps<mct::tpc::PlatformOp>()) {
      llvm::raw_string_ostream os(seeds.emplace_back());
      ASSERT_TRUE(succeeded(mct::tpc::exportTpcJson(platform, os)));
    }
  }
  attachMutations(seeds, "json");
}
