// SPDX-License-Identifier: Apache-2.0
//
// Gradients of random networks against differences of what they compute.
#include "Differences.h"
#include "Expectation.h"
#include "RandomNetworks.h"

#include "mct/Interfaces/OpInterfaces.h"

#include <map>

using namespace mct;
using namespace mct::testing;
using namespace mlir;

namespace {
class RandomGradients : public GradientTest {};
} // namespace

TEST_F(RandomGradients, AreDifferencesOfWhatNetworksCompute) {
  size_t judged = 0;
  std::map<std::string, size_t> covered;
  // Control flow has no rule, and networks whose inputs reach results through
  // steps only show nothing.
  for (unsigned seed = 1; judged != numRandomNetworks(200); ++seed) {
    ASSERT_LT(seed, 20 * numRandomNetworks(200))
        << "only " << judged << " judged";
    OwningOpRef<ModuleOp> module = makeRandomNetwork(context, seed);
    auto function = module->lookupSymbol<func::FuncOp>("main");
    diagnostics.clear();
    GradientRules rules;
    // The points of the reference are the identity.
    rules.maskPoints = false;
    func::FuncOp gradient = differentiate(function, rules);
    if (!gradient) {
      EXPECT_NE(diagnostics.find("has no rule for its gradient"),
                std::string::npos)
          << diagnostics;
      continue;
    }
    ASSERT_EQ(diagnostics, "") << "seed " << seed;
    std::mt19937 random(seed);
    Tensors arguments, weights, directions;
    for (Type type : function.getArgumentTypes()) {
      if (isReal(type)) {
        arguments.push_back(randomTensor(type, random, -2, 2));
        continue;
      }
      ReferenceTensor tensor = ReferenceEvaluator::zeros(type);
      bool isTruth = getElementTypeOrSelf(type).isInteger(1);
      for (Number &number : tensor.numbers)
        number.value =
            isTruth ? double(random() % 2) : double(int(random() % 17)) - 8;
      arguments.push_back(tensor);
    }
    for (Type type : function.getResultTypes())
      if (isReal(type))
        weights.push_back(randomTensor(type, random));
    Tensors all = arguments;
    all.insert(all.end(), weights.begin(), weights.end());
    Tensors gradients = evaluate(gradient, all);
    bool isJudged = false;
    for (int trial = 0; trial != 3; ++trial) {
      directions.clear();
      for (Type type : function.getArgumentTypes())
        if (isReal(type))
          directions.push_back(randomTensor(type, random));
      Derivative derivative = derive(
          [&](const Tensors &moved) { return evaluate(function, moved); },
          arguments, weights, gradients, directions);
      if (!derivative.exists || derivative.difference == 0)
        continue;
      isJudged = true;
      ASSERT_NEAR(derivative.gradient, derivative.difference,
                  derivative.tolerance)
          << "seed " << seed << "\n"
          << print(*module);
    }
    // Compiling takes longer than all the rest.
    if (judged % 4 == 0)
      expectExecutes(gradient, all);
    ASSERT_FALSE(HasFailure()) << "seed " << seed << "\n" << print(*module);
    judged += isJudged;
    if (isJudged)
      function.walk([&](Operation *op) {
        ++covered[op->getName().getStringRef().str()];
      });
  }
  // Ops that the rules are there for.
  for (const char *op :
       {"tosa.conv2d", "tosa.depthwise_conv2d", "tosa.transpose_conv2d",
        "tosa.matmul", "tosa.max_pool2d", "tosa.avg_pool2d", "tosa.resize",
        "tosa.clamp", "tosa.concat", "tosa.reduce_max", "tosa.select",
        "tpc.quantize"})
    EXPECT_GT(covered[op], numRandomNetworks(200) / 50) << op;
}
