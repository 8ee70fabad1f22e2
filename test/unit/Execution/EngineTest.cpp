// SPDX-License-Identifier: Apache-2.0
//
// Promises of the executor about its steps: nothing that is still read is
// overwritten, equal parts are one, and no network reaches memory that is not
// its own.
#include "Fixture.h"
#include "mct/Execution/RunCache.h"
#include "llvm/Support/FormatVariadic.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace mct::execution;

namespace {

class EngineTest : public ExecutionTest {
protected:
  /// Outputs of one unit, each on its own.
  std::vector<Floats> run(const Executor &executor,
                          llvm::ArrayRef<Floats> inputs) {
    return runOutputs(executor, inputs, /*valid=*/1);
  }
  /// The error of running one unit.
  std::string runError(const Executor &executor,
                       llvm::ArrayRef<const void *> inputs) {
    Worker worker(executor);
    std::vector<std::vector<char>> outputs;
    llvm::SmallVector<void *> pointers;
    for (const TensorSpec &spec : executor.outputs()) {
      outputs.emplace_back(spec.type.getNumElements() * 8);
      pointers.push_back(outputs.back().data());
    }
    llvm::Error error = worker.run(inputs, pointers, 1);
    return error ? llvm::toString(std::move(error)) : "";
  }
};

//===----------------------------------------------------------------------===//
// Values that are read twice
//===----------------------------------------------------------------------===//

TEST_F(EngineTest, AValueOutlivesWhatIsComputedFromIt) {
  auto executor = compile(R"(
    func.func @main(%x: tensor<1x4xf32>) -> (tensor<1x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>) {
      %0 = tosa.floor %x : (tensor<1x4xf32>) -> tensor<1x4xf32>
      %1 = tosa.exp %0 : (tensor<1x4xf32>) -> tensor<1x4xf32>
      %2 = tosa.add %0, %1 : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<1x4xf32>
      return %0, %1, %2 : tensor<1x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>
    })");
  ASSERT_TRUE(executor) << llvm::join(diagnostics, "\n");
  auto unit = static_cast<size_t>(executor->unit());
  Floats input(4 * unit, 1.5f);
  std::vector<Floats> outputs = run(*executor, {input});
  EXPECT_EQ(outputs[0], Floats(4 * unit, 1.0f));
  EXPECT_EQ(outputs[1], Floats(4 * unit, std::exp(1.0f)));
  EXPECT_EQ(outputs[2], Floats(4 * unit, 1.0f + std::exp(1.0f)));
}

// The pool's result would be overwritten by the exponential of the convolution
// if the two were taken for one buffer.
TEST_F(EngineTest, APoolAndAnExponentialOfOneConvolution) {
  auto executor =
      compile(std::string("func.func @main(%x: tensor<1x2x2x1xf32>) -> "
                          "(tensor<1x2x2x1xf32>, tensor<1x2x2x1xf32>) {\n") +
              kZero + constant("w", {1, 1, 1, 1}, Floats{2}) +
              constant("b", {1}, Floats{0}) + R"(
      %0 = tosa.conv2d %x, %w, %b, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>}
        : (tensor<1x2x2x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x2x1xf32>
      %1 = tosa.exp %0 : (tensor<1x2x2x1xf32>) -> tensor<1x2x2x1xf32>
      %2 = tosa.max_pool2d %0 {kernel = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x2x2x1xf32>) -> tensor<1x2x2x1xf32>
      return %1, %2 : tensor<1x2x2x1xf32>, tensor<1x2x2x1xf32>
    })");
  ASSERT_TRUE(executor) << llvm::join(diagnostics, "\n");
  auto unit = static_cast<size_t>(executor->unit());
  std::vector<Floats> outputs = run(*executor, {Floats(4 * unit, 1.0f)});
  EXPECT_EQ(outputs[0], Floats(4 * unit, std::exp(2.0f)));
  EXPECT_EQ(outputs[1], Floats(4 * unit, 2.0f));
}

// A value and its reshape are the same memory: the point may not quantize it in
// place while the value itself is read.
TEST_F(EngineTest, APointAfterAReshapeLeavesTheValueAlone) {
  auto executor = compile(R"(
    func.func @main(%x: tensor<1x2x2xf32>) -> (tensor<1x2x2xf32>, tensor<1x4xf32>) {
      %0 = tosa.ceil %x : (tensor<1x2x2xf32>) -> tensor<1x2x2xf32>
      %s = tosa.const_shape {values = dense<[-1, 4]> : tensor<2xindex>} : () -> !tosa.shape<2>
      %1 = tosa.reshape %0, %s : (tensor<1x2x2xf32>, !tosa.shape<2>) -> tensor<1x4xf32>
      %2 = tpc.quantize %1 as "point" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 2, is_signed = true>) : tensor<1x4xf32>
      return %0, %2 : tensor<1x2x2xf32>, tensor<1x4xf32>
    })");
  ASSERT_TRUE(executor) << llvm::join(diagnostics, "\n");
  auto unit = static_cast<size_t>(executor->unit());
  std::vector<Floats> outputs = run(*executor, {Floats(4 * unit, 4.5f)});
  EXPECT_EQ(outputs[0], Floats(4 * unit, 5.0f));
  // The largest of -2, -1, 0, 1.
  EXPECT_EQ(outputs[1], Floats(4 * unit, 1.0f));
}

TEST_F(EngineTest, ArgumentsConstantsAndRepeatedValuesAreReturned) {
  auto executor = compile(R"(
    func.func @main(%x: tensor<1x2xf32>) -> (tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>, tensor<2xi1>, tensor<3xf32>) {
      %c = "tosa.const"() <{values = dense<[true, false]> : tensor<2xi1>}> : () -> tensor<2xi1>
      %d = "tosa.const"() <{values = dense<7.0> : tensor<3xf32>}> : () -> tensor<3xf32>
      %0 = tosa.exp %x : (tensor<1x2xf32>) -> tensor<1x2xf32>
      return %x, %0, %0, %c, %d : tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>, tensor<2xi1>, tensor<3xf32>
    })");
  ASSERT_TRUE(executor) << llvm::join(diagnostics, "\n");
  // The constants have no batch: a unit is one sample.
  ASSERT_EQ(executor->unit(), 1);
  Floats input{0, 1}, x(2), first(2), second(2), d(3);
  std::vector<char> c(2, 9);
  Worker worker(*executor);
  llvm::cantFail(worker.run(
      {input.data()},
      {x.data(), first.data(), second.data(), c.data(), d.data()}, 1));
  EXPECT_EQ(x, input);
  EXPECT_EQ(first, (Floats{1, std::exp(1.0f)}));
  EXPECT_EQ(second, first);
  EXPECT_EQ(c, (std::vector<char>{1, 0}));
  EXPECT_EQ(d, (Floats{7, 7, 7}));
}

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

std::string chain(size_t length) {
  std::string text = "func.func @main(%v0: tensor<1x8xf32>) -> "
                     "tensor<1x8xf32> {\n";
  for (size_t i = 0; i != length; ++i)
    text += "%v" + std::to_string(i + 1) + " = tosa.tanh %v" +
            std::to_string(i) + " : (tensor<1x8xf32>) -> tensor<1x8xf32>\n";
  return text + "return %v" + std::to_string(length) + " : tensor<1x8xf32>\n}";
}

TEST_F(EngineTest, WhatANetworkRepeatsIsCompiledOnce) {
  auto executor = compile(chain(1000));
  ASSERT_TRUE(executor);
  // Pieces of one length, updated in place or not, and a shorter one.
  EXPECT_LE(executor->numCompiledParts(), 4u);
  Floats input = randomFloats(8 * executor->unit(), 3);
  Floats result = run(*executor, {input})[0];
  for (size_t i = 0; i != input.size(); ++i) {
    float expected = input[i];
    for (int step = 0; step != 1000; ++step)
      expected = std::tanh(expected);
    // Every step adds half an ulp, and takes a little away.
    EXPECT_NEAR(result[i], expected, 1e-4f);
  }
}

// In memory an i48 takes 8 bytes.
TEST_F(EngineTest, NumbersOfUnusualWidthsLieBesideEachOther) {
  auto executor = compile(R"(
    #id = affine_map<(d0, d1) -> (d0, d1)>
    func.func @main(%x: tensor<1x64xi32>) -> tensor<1x64xi32> {
      %e = tensor.empty() : tensor<1x64xi48>
      %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<1x64xi32>) outs(%e : tensor<1x64xi48>) {
      ^bb0(%a: i32, %b: i48):
        %w = arith.extsi %a : i32 to i48
        linalg.yield %w : i48
      } -> tensor<1x64xi48>
      %1 = tosa.reverse %0 {axis = 1 : i32} : (tensor<1x64xi48>) -> tensor<1x64xi48>
      %f = tensor.empty() : tensor<1x64xi32>
      %2 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%1 : tensor<1x64xi48>) outs(%f : tensor<1x64xi32>) {
      ^bb0(%a: i48, %b: i32):
        %n = arith.trunci %a : i48 to i32
        linalg.yield %n : i32
      } -> tensor<1x64xi32>
      return %2 : tensor<1x64xi32>
    })");
  ASSERT_TRUE(executor) << llvm::join(diagnostics, "\n");
  ASSERT_EQ(executor->unit(), 1);
  std::vector<int32_t> input(64), output(64);
  for (int32_t i = 0; i != 64; ++i)
    input[i] = -77777 * i;
  const void *inputs[] = {input.data()};
  void *outputs[] = {output.data()};
  Worker worker(*executor);
  ASSERT_FALSE(worker.run(inputs, outputs, 1));
  std::reverse(input.begin(), input.end());
  EXPECT_EQ(output, input);
}

// Blocks of 4096, 1024 and 256 elements, and 40 that are no multiple of these.
TEST_F(EngineTest, ElementwiseCodeIsSharedByValuesOfManySizes) {
  std::string text = "func.func @main(";
  std::string body, returned, types;
  const std::vector<std::string> sizes{"1x64x64", "1x128x32", "1x4x8x3x128",
                                       "1x32x32", "1x16x64",  "1x256",
                                       "1x3x256", "1x8x5",    "1x40"};
  for (auto [number, size] : llvm::enumerate(sizes)) {
    std::string n = std::to_string(number), type = "tensor<" + size + "xf32>";
    std::string comma = number ? ", " : "";
    std::string one = "tensor<1";
    for (size_t rank = llvm::StringRef(size).count('x'); rank; --rank)
      one += "x1";
    one += "xf32>";
    text += comma + "%x" + n + ": " + type;
    body += "%c" + n + " = \"tosa.const\"() <{values = dense<3.0> : " + one +
            "}> : () -> " + one + "\n%d" + n +
            " = \"tosa.const\"() <{values = dense<-0.5> : " + type +
            "}> : () -> " + type + "\n%a" + n + " = tosa.add %x" + n + ", %c" +
            n + " : (" + type + ", " + one + ") -> " + type + "\n%r" + n +
            " = tosa.maximum %d" + n + ", %a" + n + " : (" + type + ", " +
            type + ") -> " + type + "\n";
    returned += comma + "%r" + n;
    types += comma + type;
  }
  CompileOptions options;
  options.unit = 1;
  auto executor = compile(text + ") -> (" + types + ") {\n" + body + "return " +
                              returned + " : " + types + "\n}",
                          options);
  ASSERT_TRUE(executor) << llvm::join(diagnostics, "\n");
  EXPECT_EQ(executor->numCompiledParts(), 4u);
  std::vector<Floats> inputs;
  for (const TensorSpec &spec : executor->inputs()) {
    inputs.push_back(randomFloats(spec.type.getNumElements(), inputs.size()));
    for (float &value : inputs.back())
      value *= 8;
  }
  std::vector<Floats> outputs = run(*executor, inputs);
  for (auto [input, output] : llvm::zip(inputs, outputs))
    for (auto [x, y] : llvm::zip(input, output))
      ASSERT_EQ(y, std::max(-0.5f, x + 3.0f));
}

// One block of elements and two, with a step of one number that is no constant:
// what both results need is computed for each of them, and no value between
// them is stored.
TEST_F(EngineTest, QuantizersWithALearnedStepShareCode) {
  const std::string one = "tensor<1x1x1xf32>";
  std::string body, returned, types;
  const std::vector<int64_t> rows{2, 4};
  for (auto [number, count] : llvm::enumerate(rows)) {
    std::string n = std::to_string(number);
    std::string x = tensorType({count, 64, 32}),
                i = tensorType({count, 64, 32}, "i32"),
                b = tensorType({count, 64, 32}, "i1");
    body += llvm::formatv(
                R"(
      %u{0} = tosa.mul %x{0}, %inverse, %s : ({1}, {4}, tensor<1xi8>) -> {1}
      %i{0} = tosa.cast %u{0} : ({1}) -> {2}
      %r{0} = tosa.cast %i{0} : ({2}) -> {1}
      %l{0} = tosa.clamp %r{0} {{min_val = -2.0 : f32, max_val = 1.0 : f32} : ({1}) -> {1}
      %y{0} = tosa.mul %l{0}, %step, %s : ({1}, {4}, tensor<1xi8>) -> {1}
      %a{0} = tosa.greater_equal %r{0}, %low : ({1}, {4}) -> {3}
      %b{0} = tosa.greater_equal %high, %r{0} : ({4}, {1}) -> {3}
      %k{0} = tosa.logical_and %a{0}, %b{0} : ({3}, {3}) -> {3}
      %g{0} = tosa.select %k{0}, %x{0}, %zero : ({3}, {1}, {4}) -> {1})",
                n, x, i, b, one)
                .str();
    returned += (number ? ", %y" : "%y") + n + ", %g" + n;
    types += (number ? ", " : "") + x + ", " + x;
  }
  CompileOptions options;
  options.keepTypes = true;
  auto executor =
      compile("func.func @main(%x0: " + tensorType({rows[0], 64, 32}) +
                  ", %x1: " + tensorType({rows[1], 64, 32}) +
                  ", %step: " + one + ") -> (" + types + R"() {
      %low = "tosa.const"() <{values = dense<-2.0> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
      %high = "tosa.const"() <{values = dense<1.0> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
      %zero = "tosa.const"() <{values = dense<0.0> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
      %s = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
      %inverse = tosa.reciprocal %step : (tensor<1x1x1xf32>) -> tensor<1x1x1xf32>)" +
                  body + "\nreturn " + returned + " : " + types + "\n}",
              options);
  ASSERT_TRUE(executor) << llvm::join(diagnostics, "\n");
  // The inverse, the quantizer and its gradient.
  EXPECT_EQ(executor->numCompiledParts(), 3u);
  constexpr float kStep = 0.375f;
  std::vector<Floats> inputs = randomInputs(*executor);
  inputs.back() = {kStep};
  std::vector<Floats> outputs = run(*executor, inputs);
  for (size_t number : {0, 1})
    for (auto [x, y, g] : llvm::zip_equal(inputs[number], outputs[2 * number],
                                          outputs[2 * number + 1])) {
      float code = std::nearbyint(x * (1 / kStep));
      ASSERT_EQ(y, std::clamp(code, -2.0f, 1.0f) * kStep);
      ASSERT_EQ(g, code >= -2 && code <= 1 ? x : 0);
    }
}

TEST_F(EngineTest, ExecutorsOfOneCacheShareCode) {
  auto network = [](const std::string &op) {
    return "func.func @main(%x: tensor<1x256xf32>) -> tensor<1x256xf32> {\n"
           "%0 = tosa.abs %x : (tensor<1x256xf32>) -> tensor<1x256xf32>\n"
           "%s = tosa.const_shape {values = dense<[-1, 8, 32]> : "
           "tensor<3xindex>} : () -> !tosa.shape<3>\n"
           "%1 = tosa.reshape %0, %s : (tensor<1x256xf32>, !tosa.shape<3>) -> "
           "tensor<1x8x32xf32>\n"
           "%2 = tosa.reduce_max %1 {axis = 2 : i32} : (tensor<1x8x32xf32>) -> "
           "tensor<1x8x1xf32>\n"
           "%3 = tosa." +
           op +
           " %1, %2 : (tensor<1x8x32xf32>, tensor<1x8x1xf32>) -> "
           "tensor<1x8x32xf32>\n"
           "%t = tosa.const_shape {values = dense<[-1, 256]> : "
           "tensor<2xindex>} : () -> !tosa.shape<2>\n"
           "%4 = tosa.reshape %3, %t : (tensor<1x8x32xf32>, !tosa.shape<2>) -> "
           "tensor<1x256xf32>\n"
           "return %4 : tensor<1x256xf32>\n}";
  };
  CompileOptions options;
  options.unit = 2;
  Floats input = randomFloats(512, 5);
  std::vector<std::unique_ptr<Executor>> executors;
  {
    RunCache cache;
    for (const char *op : {"sub", "sub", "add"}) {
      module = mlir::parseSourceString<mlir::ModuleOp>(network(op), &context);
      ASSERT_TRUE(module);
      auto executor = Executor::compile(*module, options, &cache);
      ASSERT_TRUE(mlir::succeeded(executor));
      executors.push_back(std::move(*executor));
    }
    // A network that cannot be compiled takes nothing from the others.
    module = mlir::parseSourceString<mlir::ModuleOp>(
        "func.func @main(%x: tensor<1x4xf32>) -> tensor<1x4xf32> {\n"
        "%0 = \"tosa.custom\"(%x) {operator_name = \"what\", domain_name = "
        "\"else\", implementation_attrs = \"\"} : (tensor<1x4xf32>) -> "
        "tensor<1x4xf32>\n"
        "return %0 : tensor<1x4xf32>\n}",
        &context);
    ASSERT_TRUE(module);
    EXPECT_TRUE(mlir::failed(Executor::compile(*module, options, &cache)));
    module = mlir::parseSourceString<mlir::ModuleOp>(network("sub"), &context);
    auto again = Executor::compile(*module, options, &cache);
    ASSERT_TRUE(mlir::succeeded(again));
    executors.push_back(std::move(*again));
  }
  size_t parts = executors[0]->numCompiledParts();
  EXPECT_EQ(executors[1]->numCompiledParts(), parts);
  EXPECT_EQ(executors[2]->numCompiledParts(), parts + 1);
  EXPECT_EQ(executors[3]->numCompiledParts(), parts);
  // The code lives as long as they do.
  for (auto [number, executor] : llvm::enumerate(executors)) {
    Floats output = run(*executor, {input})[0];
    for (size_t row = 0; row != 16; ++row) {
      float largest = 0;
      for (size_t i = 0; i != 32; ++i)
        largest = std::max(largest, std::abs(input[32 * row + i]));
      for (size_t i = 0; i != 32; ++i) {
        float x = std::abs(input[32 * row + i]);
        ASSERT_EQ(output[32 * row + i],
                  number == 2 ? x + largest : x - largest);
      }
    }
  }
}

// The same code in the same memory, however long the chain is.
TEST_F(EngineTest, AChainNeedsNoMoreMemoryThanAFewOfItsValues) {
  auto shorter = compile(chain(100));
  auto longer = compile(chain(2000));
  ASSERT_TRUE(shorter && longer);
  EXPECT_EQ(shorter->memory().perWorker, longer->memory().perWorker);
}

//===----------------------------------------------------------------------===//
// Memory that is not the network's
//===----------------------------------------------------------------------===//

TEST_F(EngineTest, GatherOutsideOfItsTableIsAnError) {
  auto executor = compile(R"(
    func.func @main(%values: tensor<1x5x2xf32>, %indices: tensor<1x3xi32>) -> tensor<1x3x2xf32> {
      %0 = tosa.gather %values, %indices : (tensor<1x5x2xf32>, tensor<1x3xi32>) -> tensor<1x3x2xf32> loc("rows")
      return %0 : tensor<1x3x2xf32>
    })");
  ASSERT_TRUE(executor) << llvm::join(diagnostics, "\n");
  auto unit = static_cast<size_t>(executor->unit());
  Floats values(10 * unit, 1.0f);
  for (auto [index, expected] :
       {std::pair(4, ""),
        std::pair(5, "'rows': index 5 lies outside of a dimension of size 5"),
        std::pair(-1, "'rows': index -1 lies outside of a dimension of size "
                      "5")}) {
    std::vector<int32_t> indices(3 * unit, 0);
    indices[1] = index;
    EXPECT_EQ(runError(*executor, {values.data(), indices.data()}), expected);
  }
}

TEST_F(EngineTest, ScatterOutsideOfItsTableIsAnError) {
  auto executor = compile(R"(
    func.func @main(%values: tensor<1x5x2xf32>, %indices: tensor<1x2xi32>, %new: tensor<1x2x2xf32>) -> tensor<1x5x2xf32> {
      %0 = tosa.scatter %values, %indices, %new : (tensor<1x5x2xf32>, tensor<1x2xi32>, tensor<1x2x2xf32>) -> tensor<1x5x2xf32> loc("rows")
      return %0 : tensor<1x5x2xf32>
    })");
  ASSERT_TRUE(executor) << llvm::join(diagnostics, "\n");
  auto unit = static_cast<size_t>(executor->unit());
  Floats values(10 * unit, 1.0f), fresh(4 * unit, 2.0f);
  for (int index : {4, 5, -3}) {
    std::vector<int32_t> indices(2 * unit);
    for (size_t i = 0; i != unit; ++i)
      indices[2 * i + 1] = index;
    std::string error =
        runError(*executor, {values.data(), indices.data(), fresh.data()});
    EXPECT_EQ(error, index == 4 ? ""
                                : "'rows': index " + std::to_string(index) +
                                      " lies outside of a dimension of size 5");
  }
}

TEST_F(EngineTest, ElementsOfTensorsAreReadInside) {
  auto executor = compile(R"(
    func.func @main(%x: tensor<1x4xf32>, %i: tensor<1x4xi32>) -> tensor<1x4xf32> {
      %e = tensor.empty() : tensor<1x4xf32>
      %0 = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a, b)>], iterator_types = ["parallel", "parallel"]}
           ins(%i : tensor<1x4xi32>) outs(%e : tensor<1x4xf32>) {
      ^bb0(%in: i32, %out: f32):
        %row = linalg.index 0 : index
        %column = arith.index_cast %in : i32 to index
        %v = tensor.extract %x[%row, %column] : tensor<1x4xf32>
        linalg.yield %v : f32
      } -> tensor<1x4xf32>
      return %0 : tensor<1x4xf32>
    })");
  ASSERT_TRUE(executor) << llvm::join(diagnostics, "\n");
  Floats values{1, 2, 3, 4};
  std::vector<int32_t> good{3, 2, 1, 0}, bad{0, 1, 2, 1 << 30};
  EXPECT_EQ(runError(*executor, {values.data(), good.data()}), "");
  EXPECT_NE(runError(*executor, {values.data(), bad.data()})
                .find("index 1073741824 lies outside of a dimension of size 4"),
            std::string::npos);
}

TEST_F(EngineTest, IntegerDivisionsWithoutAQuotientAreErrors) {
  auto executor = compile(R"(
    func.func @main(%a: tensor<1x4xi32>, %b: tensor<1x4xi32>) -> tensor<1x4xi32> {
      %0 = tosa.intdiv %a, %b : (tensor<1x4xi32>, tensor<1x4xi32>) -> tensor<1x4xi32> loc("ratio")
      return %0 : tensor<1x4xi32>
    })");
  ASSERT_TRUE(executor) << llvm::join(diagnostics, "\n");
  auto count = static_cast<size_t>(4 * executor->unit());
  std::vector<int32_t> a(count, 7), b(count, 2);
  EXPECT_EQ(runError(*executor, {a.data(), b.data()}), "");
  b[2] = 0;
  EXPECT_EQ(runError(*executor, {a.data(), b.data()}),
            "'ratio': an integer is divided by zero, or the smallest one by "
            "-1");
  b[2] = -1;
  EXPECT_EQ(runError(*executor, {a.data(), b.data()}), "");
  a[2] = std::numeric_limits<int32_t>::min();
  EXPECT_NE(runError(*executor, {a.data(), b.data()}), "");
  // The worker can go on.
  a[2] = 6;
  EXPECT_EQ(runError(*executor, {a.data(), b.data()}), "");
}

TEST_F(EngineTest, OpsOnMemoryAreRefused) {
  EXPECT_FALSE(compile(R"(
    func.func @main(%x: tensor<1x1xi64>) -> tensor<1x1xi64> {
      %zero = arith.constant 0 : index
      %address = tensor.extract %x[%zero, %zero] : tensor<1x1xi64>
      %memory = memref.alloc() : memref<1xi64> loc("memory")
      memref.store %address, %memory[%zero] : memref<1xi64>
      return %x : tensor<1x1xi64>
    })"));
  ASSERT_EQ(diagnostics.size(), 1u);
  EXPECT_NE(diagnostics[0].find("'memref.alloc' op cannot be executed: the "
                                "executor does not know this op"),
            std::string::npos)
      << diagnostics[0];
}

TEST_F(EngineTest, BuffersAsArgumentsOfBlocksAreRefused) {
  EXPECT_FALSE(compile(R"(
    func.func @main(%x: tensor<1x1xf32>) -> tensor<1x1xf32> {
      %0 = scf.execute_region -> memref<1xf32> {
        %p = ub.poison : memref<1xf32>
        scf.yield %p : memref<1xf32>
      } loc("buffer")
      return %x : tensor<1x1xf32>
    })"));
  ASSERT_EQ(diagnostics.size(), 1u);
  EXPECT_NE(diagnostics[0].find("is not a number or a ranked tensor"),
            std::string::npos)
      << diagnostics[0];
}

TEST_F(EngineTest, SizesWhoseProductOverflowsAreRefused) {
  EXPECT_FALSE(compile(R"(
    func.func @main(%x: tensor<1x1xf32>) -> tensor<4294967296x4294967296xf32> {
      %m = tosa.const_shape {values = dense<4294967296> : tensor<2xindex>} : () -> !tosa.shape<2>
      %0 = tosa.tile %x, %m : (tensor<1x1xf32>, !tosa.shape<2>) -> tensor<4294967296x4294967296xf32> loc("tile")
      return %0 : tensor<4294967296x4294967296xf32>
    })"));
  ASSERT_EQ(diagnostics.size(), 1u);
  EXPECT_NE(diagnostics[0].find("has more elements than fit into memory"),
            std::string::npos)
      << diagnostics[0];
}

// By the definition of RESIZE; the upstream lowering is wrong before the first
// row and column.
TEST_F(EngineTest, IntegersAreInterpolatedFromNegativeOffsets) {
  auto executor = compile(R"(
    func.func @main(%x: tensor<1x4x5x3xi8>) -> tensor<1x8x10x3xi32> {
      %scale = tosa.const_shape {values = dense<[4, 2, 4, 2]> : tensor<4xindex>} : () -> !tosa.shape<4>
      %offset = tosa.const_shape {values = dense<[-1, -1]> : tensor<2xindex>} : () -> !tosa.shape<2>
      %border = tosa.const_shape {values = dense<[1, 1]> : tensor<2xindex>} : () -> !tosa.shape<2>
      %0 = tosa.resize %x, %scale, %offset, %border {mode = BILINEAR} : (tensor<1x4x5x3xi8>, !tosa.shape<4>, !tosa.shape<2>, !tosa.shape<2>) -> tensor<1x8x10x3xi32>
      return %0 : tensor<1x8x10x3xi32>
    })");
  ASSERT_TRUE(executor) << llvm::join(diagnostics, "\n");
  constexpr int64_t kHeight = 4, kWidth = 5, kChannels = 3;
  size_t unit = size_t(executor->unit());
  std::vector<int8_t> image(unit * kHeight * kWidth * kChannels);
  std::mt19937 random(3);
  for (int8_t &value : image)
    value = int8_t(random());
  std::vector<int32_t> result(unit * 8 * 10 * kChannels);
  Worker worker(*executor);
  const void *input = image.data();
  void *output = result.data();
  llvm::cantFail(worker.run(input, output, int64_t(unit)));
  auto floorDivide = [](int64_t a, int64_t b) {
    return a >= 0 ? a / b : -((-a + b - 1) / b);
  };
  auto at = [&](int64_t y, int64_t x, int64_t c) {
    y = std::clamp<int64_t>(y, 0, kHeight - 1);
    x = std::clamp<int64_t>(x, 0, kWidth - 1);
    return int32_t(image[size_t((y * kWidth + x) * kChannels + c)]);
  };
  for (int64_t y = 0; y != 8; ++y)
    for (int64_t x = 0; x != 10; ++x)
      for (int64_t c = 0; c != kChannels; ++c) {
        int64_t row = floorDivide(2 * y - 1, 4);
        int64_t column = floorDivide(2 * x - 1, 4);
        auto dy = int32_t(2 * y - 1 - 4 * row);
        auto dx = int32_t(2 * x - 1 - 4 * column);
        int32_t expected = at(row, column, c) * (4 - dy) * (4 - dx) +
                           at(row, column + 1, c) * (4 - dy) * dx +
                           at(row + 1, column, c) * dy * (4 - dx) +
                           at(row + 1, column + 1, c) * dy * dx;
        EXPECT_EQ(result[size_t((y * 10 + x) * kChannels + c)], expected)
            << y << " " << x << " " << c;
      }
}

// Upstream makes a product of it, and pads its result.
TEST_F(EngineTest, IntegersArePaddedAroundDepthwiseKernelsOfOneTap) {
  CompileOptions options;
  options.usePrimitives = false;
  auto executor = compile(R"(
    func.func @main(%x: tensor<1x2x3x2xi8>) -> tensor<1x2x5x2xi32> {
      %k = "tosa.const"() <{values = dense<[[[[3], [-2]]]]> : tensor<1x1x2x1xi8>}> : () -> tensor<1x1x2x1xi8>
      %b = "tosa.const"() <{values = dense<[7, 500]> : tensor<2xi32>}> : () -> tensor<2xi32>
      %z = "tosa.const"() <{values = dense<-5> : tensor<1xi8>}> : () -> tensor<1xi8>
      %n = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
      %0 = tosa.depthwise_conv2d %x, %k, %b, %z, %n {acc_type = i32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 1, 1>, stride = array<i64: 1, 1>} : (tensor<1x2x3x2xi8>, tensor<1x1x2x1xi8>, tensor<2xi32>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x2x5x2xi32>
      return %0 : tensor<1x2x5x2xi32>
    })",
                          options);
  ASSERT_TRUE(executor) << llvm::join(diagnostics, "\n");
  auto unit = size_t(executor->unit());
  std::vector<int8_t> image(unit * 12);
  for (size_t i = 0; i != image.size(); ++i)
    image[i] = int8_t(i * 7);
  std::vector<int32_t> result(unit * 20), expected;
  Worker worker(*executor);
  const void *input = image.data();
  void *output = result.data();
  llvm::cantFail(worker.run(input, output, int64_t(unit)));
  for (size_t row = 0; row != 2 * unit; ++row)
    for (size_t column = 0; column != 5; ++column) {
      int32_t x[2] = {0, 0};
      if (column != 0 && column != 4)
        for (size_t i = 0; i != 2; ++i)
          x[i] = image[(row * 3 + column - 1) * 2 + i] + 5;
      expected.push_back(7 + 3 * x[0]);
      expected.push_back(500 - 2 * x[1]);
    }
  EXPECT_EQ(result, expected);
}

TEST_F(EngineTest, MultipliersThatAreTooManyAreRefused) {
  EXPECT_FALSE(compile(R"(
    func.func @main(%x: tensor<1x2147483648xi8>) -> tensor<1x2147483648xi8> {
      %m = "tosa.const"() <{values = dense<1073741824> : tensor<2147483648xi32>}> : () -> tensor<2147483648xi32>
      %s = "tosa.const"() <{values = dense<30> : tensor<2147483648xi8>}> : () -> tensor<2147483648xi8>
      %z = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
      %0 = tosa.rescale %x, %m, %s, %z, %z {scale32 = true, rounding_mode = SINGLE_ROUND, per_channel = true, input_unsigned = false, output_unsigned = false} : (tensor<1x2147483648xi8>, tensor<2147483648xi32>, tensor<2147483648xi8>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x2147483648xi8>
      return %0 : tensor<1x2147483648xi8>
    })"));
  ASSERT_EQ(diagnostics.size(), 1u);
  EXPECT_NE(diagnostics[0].find("it has 2147483648 multipliers"),
            std::string::npos)
      << diagnostics[0];
}

TEST_F(EngineTest, SamplesWhoseSizeOverflowsAreRefused) {
  // 16 times 2^63 - 1 bytes, while the samples of a unit are counted; the
  // sanitizer sees it.
  EXPECT_FALSE(compile(R"(
    func.func @main(%x: tensor<1x4x9223372036854775807xf32>) -> tensor<1x4x9223372036854775807xf32> {
      %0 = tosa.exp %x : (tensor<1x4x9223372036854775807xf32>) -> tensor<1x4x9223372036854775807xf32>
      return %0 : tensor<1x4x9223372036854775807xf32>
    })"));
  ASSERT_EQ(diagnostics.size(), 1u);
  EXPECT_NE(diagnostics[0].find("has more elements than fit into memory"),
            std::string::npos)
      << diagnostics[0];
}

TEST_F(EngineTest, StridesThatReachNoSecondInputAreNotCountedThrough) {
  // One row, so that any stride fits to the sizes.
  EXPECT_FALSE(compile(R"(
    func.func @main(%x: tensor<1x1x4x2xf32>) -> tensor<1x1x4x5xf32> {
    %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
    %k = "tosa.const"() <{values = dense<1.0> : tensor<5x1x2x2xf32>}> : () -> tensor<5x1x2x2xf32>
    %b = "tosa.const"() <{values = dense<0.0> : tensor<5xf32>}> : () -> tensor<5xf32>
    %0 = tosa.transpose_conv2d %x, %k, %b, %z, %z {acc_type = f32, out_pad = array<i64: 0, 0, 0, -1>, stride = array<i64: 9223372036854775807, 1>} : (tensor<1x1x4x2xf32>, tensor<5x1x2x2xf32>, tensor<5xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x4x5xf32>
    return %0 : tensor<1x1x4x5xf32>
    })"));
  ASSERT_FALSE(diagnostics.empty());
  EXPECT_NE(
      diagnostics.back().find("'tosa.transpose_conv2d' op cannot be executed"),
      std::string::npos)
      << diagnostics.back();
}

TEST_F(EngineTest, NetworksThatNeedTooMuchMemoryAreRefused) {
  CompileOptions options;
  options.unit = 1;
  auto executor = compile(chain(3), options);
  ASSERT_TRUE(executor);
  options.maxMemory = executor->memory().shared + executor->memory().perWorker;
  EXPECT_TRUE(compile(chain(3), options));
  --options.maxMemory;
  EXPECT_FALSE(compile(chain(3), options));
  ASSERT_EQ(diagnostics.size(), 1u);
  EXPECT_NE(diagnostics[0].find("raise the limit on memory"), std::string::npos)
      << diagnostics[0];
}

TEST_F(EngineTest, UnitsShrinkBeforeANetworkIsRefused) {
  auto executor = compile(chain(3));
  ASSERT_TRUE(executor);
  ASSERT_GT(executor->unit(), 1);
  auto need = [](const Executor &of) {
    return of.memory().shared + of.memory().perWorker;
  };
  CompileOptions options;
  options.maxMemory = need(*executor) - 1;
  auto half = compile(chain(3), options);
  ASSERT_TRUE(half);
  EXPECT_EQ(half->unit(), executor->unit() / 2);
  EXPECT_LE(need(*half), options.maxMemory);
  options.unit = 1;
  options.maxMemory = 0;
  options.maxMemory = need(*compile(chain(3), options));
  options.unit = 0;
  auto single = compile(chain(3), options);
  ASSERT_TRUE(single);
  EXPECT_EQ(single->unit(), 1);
  EXPECT_TRUE(diagnostics.empty());
}

TEST_F(EngineTest, HugeConstantsAreRefusedBeforeTheyAreMade) {
  CompileOptions options;
  options.maxMemory = 1 << 20;
  EXPECT_FALSE(compile(R"(
    func.func @main(%x: tensor<1xf32>) -> (tensor<1xf32>, tensor<1073741824x64xf32>) {
      %c = "tosa.const"() <{values = dense<7.0> : tensor<1073741824x64xf32>}> : () -> tensor<1073741824x64xf32> loc("huge")
      return %x, %c : tensor<1xf32>, tensor<1073741824x64xf32>
    })",
                       options));
  ASSERT_EQ(diagnostics.size(), 1u);
  EXPECT_NE(diagnostics[0].find("loc(\"huge\"): error: 'tosa.const' op cannot "
                                "be executed: the constants of the network "
                                "need more than 1048576 bytes"),
            std::string::npos)
      << diagnostics[0];
}

TEST_F(EngineTest, PointsInsideOfLoopsAreRefused) {
  EXPECT_FALSE(compile(R"(
    func.func @main(%x: tensor<1x2xf32>) -> tensor<1x2xf32> {
      %0 = scf.execute_region -> tensor<1x2xf32> {
        %q = tpc.quantize %x as "inner" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 2, is_signed = true>) : tensor<1x2xf32>
        scf.yield %q : tensor<1x2xf32>
      }
      return %0 : tensor<1x2xf32>
    })"));
  ASSERT_EQ(diagnostics.size(), 1u);
  EXPECT_NE(diagnostics[0].find("the executor knows no points inside of other "
                                "ops"),
            std::string::npos)
      << diagnostics[0];
}

} // namespace
