// SPDX-License-Identifier: Apache-2.0
#include "mct/IR/ConstantExpressions.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mct;

namespace {
class ConstantExpressionsTest : public testing::Test {
protected:
  ConstantExpressionsTest() {
    context.loadDialect<func::FuncDialect, tosa::TosaDialect>();
  }

  /// `count` ops, each of the one before; the first reads %c, a constant, or
  /// %x, an argument.
  Block &parseChain(int count, StringRef first) {
    std::string text =
        "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n"
        "%c = \"tosa.const\"() <{values = dense<0.5> : tensor<4xf32>}> : () -> "
        "tensor<4xf32>\n";
    std::string last = first.str();
    for (int number = 0; number != count; ++number) {
      std::string next = "%" + std::to_string(number);
      text += next + " = tosa.tanh " + last +
              " : (tensor<4xf32>) -> tensor<4xf32>\n";
      last = next;
    }
    module = parseSourceString<ModuleOp>(
        text + "return " + last + " : tensor<4xf32>\n}", &context);
    return (*module->getOps<func::FuncOp>().begin()).getBody().front();
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};
} // namespace

TEST_F(ConstantExpressionsTest, EveryOpIsLookedAtOnce) {
  for (int count : {100, 1000}) {
    ConstantExpressions expressions;
    for (Operation &op : parseChain(count, "%x").without_terminator()) {
      EXPECT_FALSE(expressions.contains(&op));
      for (Operation *user : op.getUsers())
        EXPECT_FALSE(expressions.contains(user));
    }
    // The constant and the terminator, too.
    EXPECT_EQ(expressions.getNumVisited(), size_t(count) + 2);
  }
}

TEST_F(ConstantExpressionsTest, WhatIsMadeOfConstantsAloneIsFoundFromTheEnd) {
  constexpr int kCount = 1000;
  Block &body = parseChain(kCount, "%c");
  ConstantExpressions expressions;
  Operation *last = body.getTerminator()->getPrevNode();
  EXPECT_TRUE(expressions.contains(last));
  // Each op on the way down and on the way back.
  EXPECT_LE(expressions.getNumVisited(), size_t(2 * kCount));
  size_t before = expressions.getNumVisited();
  for (Operation &op : llvm::drop_begin(body.without_terminator()))
    EXPECT_TRUE(expressions.contains(&op));
  EXPECT_EQ(expressions.getNumVisited(), before);
  // The constant itself, and what is no computation.
  EXPECT_FALSE(expressions.contains(&body.front()));
  EXPECT_FALSE(expressions.contains(body.getTerminator()));
}

TEST_F(ConstantExpressionsTest, WhatReadsAChangedOpIsLookedAtAgain) {
  Block &body = parseChain(10, "%x");
  Value constant = body.front().getResult(0), argument = body.getArgument(0);
  Operation *first = body.front().getNextNode();
  Operation *last = body.getTerminator()->getPrevNode();
  ConstantExpressions expressions;
  EXPECT_FALSE(expressions.contains(last));

  IRRewriter rewriter(&context, &expressions);
  auto read = [&](Value value) {
    rewriter.modifyOpInPlace(first, [&] { first->setOperand(0, value); });
  };
  read(constant);
  EXPECT_TRUE(expressions.contains(last));
  read(argument);
  EXPECT_FALSE(expressions.contains(last));

  // A change that leaves an op as it was is not propagated to its users.
  size_t before = expressions.getNumVisited();
  rewriter.modifyOpInPlace(first, [] {});
  EXPECT_EQ(expressions.getNumVisited(), before + 1);
  EXPECT_FALSE(expressions.contains(last));
}

TEST_F(ConstantExpressionsTest, AnErasedOpIsForgotten) {
  Block &body = parseChain(2, "%c");
  ConstantExpressions expressions;
  IRRewriter rewriter(&context, &expressions);
  Operation *last = body.getTerminator()->getPrevNode();
  EXPECT_TRUE(expressions.contains(last));
  body.getTerminator()->setOperand(0, body.getArgument(0));
  rewriter.eraseOp(last);
  rewriter.setInsertionPoint(body.getTerminator());
  // It may lie where the other one did.
  auto other =
      tosa::TanhOp::create(rewriter, rewriter.getUnknownLoc(),
                           body.getArgument(0).getType(), body.getArgument(0));
  EXPECT_FALSE(expressions.contains(other));
}
