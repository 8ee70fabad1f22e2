// SPDX-License-Identifier: Apache-2.0
//
// Digests of what the pipelines write for random networks and every target
// that is shipped: a change that keeps all results keeps them. tools/dev/
// same_outputs records and compares them.
//
// MCT_DIGESTS: a file to write them to. MCT_DIGEST_NETWORKS: how many networks
// (default 4). MCT_DIGEST_TARGETS: how many targets each network is quantized
// for, in turns (default all). MCT_RANDOM_SEED: the first one's seed.
#include "RandomTargets.h"

#include "../Execution/Expectation.h"
#include "../Execution/Fixture.h"
#include "mct/Pipelines/Pipelines.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/Support/SHA256.h"

#include <set>

using namespace mct::execution;
using namespace mct::testing;

namespace {

constexpr std::pair<const char *, const char *> kConfigurations[] = {
    {"default", ""},
    {"w4a8", " weights=4 activations=8"},
    {"budget", " budget=weights:60%"}};

class OutputDigests : public ::testing::Test {
protected:
  using Module = mlir::OwningOpRef<mlir::ModuleOp>;

  OutputDigests() {
    mct::registerAllMctPasses();
    registry.insert<mlir::BuiltinDialect>();
    Executor::registerDependencies(registry);
    llvm::SmallString<128> path;
    llvm::sys::fs::createUniqueDirectory("output-digests", path);
    folder = path.str().str();
  }
  ~OutputDigests() override { llvm::sys::fs::remove_directories(folder); }

  /// Nothing is left in a context of its own of what others have named.
  std::unique_ptr<mlir::MLIRContext> makeContext() {
    auto context = std::make_unique<mlir::MLIRContext>(
        registry, mlir::MLIRContext::Threading::DISABLED);
    context->loadAllAvailableDialects();
    context->allowUnregisteredDialects();
    context->getDiagEngine().registerHandler(
        [](mlir::Diagnostic &) { return mlir::success(); });
    return context;
  }

  /// Returns the text of a network; its samples are in files then.
  std::string makeNetwork(unsigned seed);
  /// Appends a line for each stage that there is: the name, and the digest of
  /// the module after it, or that it was refused.
  void append(std::string &lines, const std::string &network,
              const std::string &name, const std::string &options);

  mlir::DialectRegistry registry;
  std::string folder, samples;
};

std::string OutputDigests::makeNetwork(unsigned seed) {
  std::unique_ptr<mlir::MLIRContext> context = makeContext();
  Module network = makeFloatNetwork(*context, seed);
  int64_t batch = 1;
  if (auto type = mlir::dyn_cast<mlir::RankedTensorType>(
          mainOf(*network).getArgumentTypes().front());
      type && type.getRank() != 0)
    batch = std::max<int64_t>(type.getDimSize(0), 1);
  Expectation calibration(*network, seed + 1, 4 * batch, /*simulate=*/false);
  if (!calibration.error.empty())
    return "";
  samples = llvm::join(writeSamples(calibration, folder), ",");
  return mct::testing::print(*network);
}

void OutputDigests::append(std::string &lines, const std::string &network,
                           const std::string &name,
                           const std::string &options) {
  std::unique_ptr<mlir::MLIRContext> context = makeContext();
  auto module = mlir::parseSourceString<mlir::ModuleOp>(network, context.get());
  ASSERT_TRUE(module);
  std::string data = samples.empty() ? "" : " calibration-data=" + samples;
  const std::pair<const char *, std::string> stages[] = {
      {"mct-ptq", "{threads=1 " + options + data + "}"},
      {"mct-simulate-integers", ""},
      {"mct-lower-to-integer", ""}};
  for (const auto &[stage, arguments] : stages) {
    mlir::PassManager passes(context.get(), mlir::ModuleOp::getOperationName());
    ASSERT_TRUE(succeeded(mlir::parsePassPipeline(stage + arguments, passes)));
    lines += name + " " + stage + " ";
    if (failed(passes.run(*module))) {
      lines += "refused\n";
      return;
    }
    std::string text = mct::testing::print(*module);
    lines += llvm::toHex(llvm::SHA256::hash(llvm::arrayRefFromStringRef(text)),
                         /*LowerCase=*/true) +
             "\n";
  }
}

unsigned readCount(const char *variable, unsigned otherwise) {
  const char *text = std::getenv(variable);
  return text ? unsigned(std::strtoul(text, nullptr, 10)) : otherwise;
}

/// Returns the targets that a network is quantized for: `count` of them, far
/// apart in the list, others for the next pair of networks. Seeds that are even
/// and odd make networks of different kinds, and every target meets both.
std::vector<std::string> takeTargets(unsigned seed, unsigned count) {
  std::vector<std::string> all = targetNames(), taken;
  count = std::clamp<unsigned>(count, 1, all.size());
  for (unsigned i = 0; i != count; ++i)
    taken.push_back(all[(seed / 2 + i * all.size() / count) % all.size()]);
  return taken;
}

} // namespace

TEST(TakeTargets, EveryTargetMeetsBothKindsOfNetworks) {
  size_t all = targetNames().size();
  for (unsigned count : {1u, 2u, 5u, unsigned(all)}) {
    std::set<std::pair<std::string, unsigned>> met;
    for (unsigned seed = 0; seed != 2 * all; ++seed) {
      std::vector<std::string> taken = takeTargets(seed, count);
      EXPECT_EQ(std::set<std::string>(taken.begin(), taken.end()).size(),
                count);
      for (const std::string &target : taken)
        met.emplace(target, seed % 2);
    }
    EXPECT_EQ(met.size(), 2 * all);
  }
}

TEST_F(OutputDigests, AreTheSameInAnotherContext) {
  const char *path = std::getenv("MCT_DIGESTS");
  unsigned count = readCount("MCT_DIGEST_NETWORKS", 4);
  unsigned numTargets =
      readCount("MCT_DIGEST_TARGETS", unsigned(targetNames().size()));
  std::string all;
  unsigned taken = 0;
  for (unsigned seed = firstSeed(); seed != firstSeed() + count; ++seed) {
    std::string network = makeNetwork(seed);
    // The reference evaluator makes the samples.
    if (network.empty())
      continue;
    std::vector<std::string> targets = takeTargets(seed, numTargets);
    for (const std::string &target : targets) {
      for (auto [name, options] : kConfigurations)
        append(all, network,
               "random-" + std::to_string(seed) + " " + target + " " + name,
               "target=" + target + options);
      // Once is enough to see what depends on the context.
      if (target != targets.front())
        continue;
      std::string again, name = "random-" + std::to_string(seed) + " " + target;
      append(again, network, name + " default", "target=" + target);
      EXPECT_NE(all.find(again), std::string::npos) << again << "\n" << all;
    }
    ++taken;
  }
  EXPECT_GE(taken, count * 3 / 4);
  EXPECT_NE(all.find("mct-lower-to-integer"), std::string::npos);
  if (!path)
    return;
  std::error_code error;
  llvm::raw_fd_ostream stream(path, error);
  ASSERT_FALSE(error) << error.message();
  stream << all;
}
