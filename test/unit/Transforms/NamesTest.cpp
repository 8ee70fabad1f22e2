// SPDX-License-Identifier: Apache-2.0
#include "mct/IR/Names.h"
#include "mlir/IR/Location.h"
#include "mlir/IR/MLIRContext.h"
#include "gtest/gtest.h"

using namespace mlir;

static Location named(MLIRContext &context, StringRef name) {
  return NameLoc::get(StringAttr::get(&context, name));
}

TEST(Names, AreNullWithoutANameLocation) {
  MLIRContext context;
  EXPECT_FALSE(mct::getName(UnknownLoc::get(&context)));
  EXPECT_FALSE(mct::getName(FileLineColLoc::get(&context, "a.mlir", 1, 2)));
}

TEST(Names, AreFoundInsideFusedAndCallSiteLocations) {
  MLIRContext context;
  Location file = FileLineColLoc::get(&context, "a.mlir", 1, 2);
  Location fused = FusedLoc::get(
      &context, {file, named(context, "conv"), named(context, "other")});
  EXPECT_EQ(mct::getName(fused).getValue(), "conv");
  EXPECT_EQ(
      mct::getName(CallSiteLoc::get(named(context, "callee"), file)).getValue(),
      "callee");
}

TEST(Names, OfNestedNamesTheOutermostCounts) {
  MLIRContext context;
  Location nested =
      NameLoc::get(StringAttr::get(&context, "outer"), named(context, "inner"));
  EXPECT_EQ(mct::getName(nested).getValue(), "outer");
}
