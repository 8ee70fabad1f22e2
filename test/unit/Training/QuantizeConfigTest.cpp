// SPDX-License-Identifier: Apache-2.0
//
// Configs of operators that are no `#tpc.quantize_config`.
#include "mct/Training/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "tpc_dialect/IR/TpcDialect.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mct;

namespace {
/// A string is the name of an op that is quantized to 4 bits at its output;
/// others are not quantized.
struct OnlyOpsOfName
    : tpc::QuantizeConfigAttrInterface::ExternalModel<OnlyOpsOfName,
                                                      StringAttr> {
  DictionaryAttr getWeightQuantizers(Attribute config, Operation *) const {
    return DictionaryAttr::get(config.getContext());
  }
  bool isPerChannel(Attribute, Operation *, StringAttr) const { return false; }
  ArrayAttr getActivationQuantizers(Attribute config, Operation *) const {
    return ArrayAttr::get(config.getContext(), {});
  }
  ArrayAttr getOutputQuantizers(Attribute config, Operation *op) const {
    if (op->getName().getStringRef() != cast<StringAttr>(config).getValue())
      return ArrayAttr::get(config.getContext(), {});
    Attribute quantizer = tpc::ObservedRangeAttr::get(
        config.getContext(), tpc::Observer::AllValues, /*bits=*/4,
        /*is_symmetric=*/false, /*is_narrow=*/false, /*decay=*/std::nullopt);
    return ArrayAttr::get(config.getContext(), quantizer);
  }
};
} // namespace

// A mark can have a configuration of another dialect, which decides about the
// op that it marks.
TEST(QuantizeConfig, OfOthersDecidesByTheOp) {
  MLIRContext context;
  context.loadDialect<func::FuncDialect, tosa::TosaDialect, tpc::TpcDialect>();
  StringAttr::attachInterface<OnlyOpsOfName>(context);
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(
      R"mlir(
        func.func @main(%x: tensor<1x4xf32>) -> tensor<1x4xf32> {
          %0 = tosa.exp %x : (tensor<1x4xf32>) -> tensor<1x4xf32>
          %1 = tpc.quantize %0 as "exp" activation config("tosa.tanh") : tensor<1x4xf32>
          %2 = tosa.tanh %1 : (tensor<1x4xf32>) -> tensor<1x4xf32>
          %3 = tpc.quantize %2 as "tanh" activation config("tosa.tanh") : tensor<1x4xf32>
          return %3 : tensor<1x4xf32>
        }
      )mlir",
      &context);
  ASSERT_TRUE(module);
  PassManager passes(&context);
  passes.addPass(createQuantizeApplyPass());
  ASSERT_TRUE(succeeded(passes.run(*module)));
  SmallVector<tpc::QuantizeOp> points;
  module->walk([&](tpc::QuantizeOp point) { points.push_back(point); });
  // The quantizer of the argument is the scheme's.
  ASSERT_EQ(points.size(), 2u);
  EXPECT_TRUE(isa<BlockArgument>(points[0].getInput()));
  EXPECT_EQ(points[1].getPointName(), "tanh");
  EXPECT_EQ(
      cast<tpc::ObservedRangeAttr>(Attribute(points[1].getTrainableAttr()))
          .getBits(),
      4u);
}
