// SPDX-License-Identifier: Apache-2.0
#ifndef TEST_UNIT_TPCLOOKUP_FIXTURE_H
#define TEST_UNIT_TPCLOOKUP_FIXTURE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "tpc_dialect/Lookup/TpcLookup.h"
#include "tpc_dialect/Transforms/Passes.h"
#include "llvm/ADT/StringExtras.h"
#include <gtest/gtest.h>

namespace mct::tpc {

/// A module with an attached target, and its nodes as text.
class LookupTest : public ::testing::Test {
protected:
  LookupTest() {
    context.loadDialect<TpcDialect, mlir::func::FuncDialect,
                        mlir::tosa::TosaDialect>();
  }

  /// Parses a module that brings its own target.
  void parseWithTarget(llvm::StringRef text) {
    module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    ASSERT_TRUE(module);
  }

  /// Parses a module and attaches a target to it.
  void parse(llvm::StringRef text, llvm::StringRef target = "imx500") {
    parseWithTarget(text);
    attach(target);
  }

  void attach(llvm::StringRef target) {
    ASSERT_TRUE(module);
    mlir::PassManager passes(&context);
    passes.addPass(createAttachTargetPass({target.str()}));
    ASSERT_TRUE(mlir::succeeded(passes.run(*module)));
  }

  mlir::Block &body() {
    return (*module->getOps<mlir::func::FuncOp>().begin()).front();
  }

  llvm::SmallVector<Node> match() {
    mlir::FailureOr<TpcLookup> lookup = TpcLookup::create(*module);
    EXPECT_TRUE(mlir::succeeded(lookup));
    if (mlir::failed(lookup))
      return {};
    auto nodes = lookup->match(body());
    EXPECT_TRUE(mlir::succeeded(nodes));
    return mlir::failed(nodes) ? llvm::SmallVector<Node>() : *nodes;
  }

  /// Prints a node as `SET(op op)`, with the name in lower case for a subgraph
  /// without a set, and `default` for an op without one.
  static std::string describe(const Node &node) {
    std::string text = "default";
    if (auto subgraph = llvm::dyn_cast_or_null<SubgraphAttr>(node.pattern))
      text = subgraph.getName().str();
    if (node.operatorSet)
      text = node.operatorSet.str();
    return text + "(" +
           llvm::join(llvm::map_range(node.ops,
                                      [](mlir::Operation *op) {
                                        return op->getName().stripDialect();
                                      }),
                      " ") +
           ")";
  }

  std::vector<std::string> describeAll() {
    std::vector<std::string> all;
    for (const Node &node : match())
      all.push_back(describe(node));
    return all;
  }

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

} // namespace mct::tpc

#endif // TEST_UNIT_TPCLOOKUP_FIXTURE_H
