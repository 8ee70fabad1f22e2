// SPDX-License-Identifier: Apache-2.0
#include "mct/IR/ResourceKeys.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinDialect.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/StringSet.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mct;

/// Creates a resource with the name `weights`.
static DenseResourceElementsHandle createWeights(MLIRContext *context) {
  float values[] = {1, 2};
  return createResource(
             RankedTensorType::get(2, Float32Type::get(context)), "weights",
             HeapAsmResourceBlob::allocateAndCopyInferAlign<float>(values))
      .getRawHandle();
}

TEST(ResourceKeys, NumbersFollowEachOther) {
  llvm::StringSet<> taken;
  for (std::string expected : {"table", "table_1", "table_2", "table_3"}) {
    std::string key = findFreeKey(
        "table", [&](StringRef key) { return taken.contains(key); });
    EXPECT_EQ(key, expected);
    taken.insert(key);
  }
}

TEST(ResourceKeys, KeysOfOthersAreLeftAlone) {
  llvm::StringSet<> taken;
  for (StringRef key : {"a", "a_1", "a_2", "a_5", "a_6", "b_1"})
    taken.insert(key);
  auto find = [&](StringRef name) {
    return findFreeKey(name,
                       [&](StringRef key) { return taken.contains(key); });
  };
  EXPECT_EQ(find("b"), "b");
  EXPECT_FALSE(taken.contains(find("a")));
}

// One number after the other would be 5000 * 4999 / 2.
TEST(ResourceKeys, ManyOfOneNameNeedFewLookUps) {
  constexpr size_t kCount = 5000;
  llvm::StringSet<> taken;
  size_t lookUps = 0;
  for (size_t number = 0; number != kCount; ++number)
    taken.insert(findFreeKey("integers", [&](StringRef key) {
      ++lookUps;
      return taken.contains(key);
    }));
  EXPECT_EQ(taken.size(), kCount);
  EXPECT_TRUE(taken.contains("integers_4999"));
  EXPECT_LE(lookUps, kCount * 2 * 13);
}

TEST(ResourceKeys, AttributesGetThem) {
  MLIRContext context;
  auto create = [&] { return createWeights(&context).getKey().str(); };
  EXPECT_EQ(create(), "weights");
  EXPECT_EQ(create(), "weights_1");
  EXPECT_EQ(create(), "weights_2");
}

TEST(ResourceKeys, ConstantsOfATrialAreFreedWithIt) {
  MLIRContext context;
  auto holdsData = [](DenseResourceElementsHandle handle) {
    AsmResourceBlob *blob = handle.getBlob();
    return blob && !blob->getData().empty();
  };
  DenseResourceElementsHandle kept = createWeights(&context);
  std::optional<DenseResourceElementsHandle> tried, triedLater;
  {
    TrialConstants trial;
    {
      TrialConstantsScope scope(&context, trial);
      tried = createWeights(&context);
    }
    DenseResourceElementsHandle between = createWeights(&context);
    {
      TrialConstantsScope scope(&context, trial);
      triedLater = createWeights(&context);
    }
    EXPECT_TRUE(holdsData(*tried));
    EXPECT_TRUE(holdsData(*triedLater));
    EXPECT_EQ(between.getKey(), "weights_1");
  }
  EXPECT_FALSE(holdsData(*tried));
  EXPECT_FALSE(holdsData(*triedLater));
  EXPECT_TRUE(holdsData(kept));
}
