// SPDX-License-Identifier: Apache-2.0
#include "mct/Export/Onnx.h"
#include "mct/Interfaces/OpInterfaces.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/Parser/Parser.h"
#include "tpc_dialect/IR/TpcDialect.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mct;

namespace {
class OnnxTest : public testing::Test {
protected:
  OnnxTest() {
    DialectRegistry registry;
    registerOpModels(registry);
    context.appendDialectRegistry(registry);
    context
        .loadDialect<func::FuncDialect, tosa::TosaDialect, tpc::TpcDialect>();
  }

  /// Returns the file that is written, and in `errors` the diagnostics.
  std::string write(const std::string &text, const OnnxOptions &options) {
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
    EXPECT_TRUE(module);
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      errors += diagnostic.str() + '\n';
      for (Diagnostic &note : diagnostic.getNotes())
        errors += "note: " + note.str() + '\n';
    });
    std::string bytes;
    llvm::raw_string_ostream os(bytes);
    if (!module || failed(exportOnnx(*module, options, os)))
      EXPECT_EQ(bytes, "");
    return bytes;
  }

  MLIRContext context;
  std::string errors;
};
} // namespace

static OnnxOptions forDevice(const std::string &name) {
  OnnxOptions options;
  options.setProfile(name);
  return options;
}

static std::string quantizer(const std::string &result,
                             const std::string &input, const std::string &type,
                             const std::string &name) {
  return "  %" + result + " = tpc.quantize %" + input + " as \"" + name +
         "\" activation parameters(#tpc.power_of_two<threshold = [4.0], bits = "
         "8>) : " +
         type + "\n";
}

TEST_F(OnnxTest, FileThatIsTooLargeIsRefused) {
  const std::string text =
      "func.func @main(%x: tensor<1x4xf32>) -> tensor<1x4xf32> {\n" +
      quantizer("q", "x", "tensor<1x4xf32>", "x") +
      "  return %q : tensor<1x4xf32>\n}";
  OnnxOptions options = forDevice("imx500");
  const size_t size = write(text, options).size();
  EXPECT_GT(size, 100u);
  EXPECT_EQ(errors, "");
  options.largestFile = size;
  EXPECT_EQ(write(text, options).size(), size);
  options.largestFile = size - 1;
  EXPECT_EQ(write(text, options), "");
  EXPECT_NE(errors.find("makes a file of " + std::to_string(size) +
                        " bytes, and protobuf is limited to " +
                        std::to_string(size - 1)),
            std::string::npos);
  EXPECT_NE(errors.find("note: write it to a file, which gets another one"),
            std::string::npos);
}

TEST_F(OnnxTest, ConstantsOfAFileThatIsTooLargeLieOnPagesOfAnother) {
  // 2048 floats, 1024 bytes, and a number that is too small to be moved.
  const std::string text =
      "func.func @main(%x: tensor<1x2048xf32>) -> tensor<1x2048xf32> {\n"
      "  %a = \"tosa.const\"() <{values = dense_resource<a> : "
      "tensor<1x2048xf32>}> : () -> tensor<1x2048xf32>\n"
      "  %b = \"tosa.const\"() <{values = dense<0.5> : tensor<1x1xf32>}> : () "
      "-> tensor<1x1xf32>\n"
      "  %s = tosa.add %x, %a : (tensor<1x2048xf32>, tensor<1x2048xf32>) -> "
      "tensor<1x2048xf32>\n"
      "  %t = tosa.sub %s, %a : (tensor<1x2048xf32>, tensor<1x2048xf32>) -> "
      "tensor<1x2048xf32>\n"
      "  %r = tosa.sub %t, %b : (tensor<1x2048xf32>, tensor<1x1xf32>) -> "
      "tensor<1x2048xf32>\n"
      "  return %r : tensor<1x2048xf32>\n}\n"
      "{-#\n  dialect_resources: {\n    builtin: {\n      a: \"0x04000000" +
      llvm::toHex(std::string(8192, '\x3f')) + "\"\n    }\n  }\n#-}\n";
  OnnxOptions options;
  options.setProfile("qdq");
  std::string whole = write(text, options);
  EXPECT_EQ(errors, "");
  std::string data;
  llvm::raw_string_ostream stream(data);
  options.dataName = "network.data";
  options.openData = [&]() -> llvm::raw_ostream & { return stream; };
  EXPECT_EQ(write(text, options), whole);
  EXPECT_EQ(data, "");
  options.largestFile = whole.size() - 1;
  std::string file = write(text, options);
  EXPECT_LT(file.size(), whole.size() - 16000);
  EXPECT_NE(file.find("network.data"), std::string::npos);
  // Both lie where pages begin; nothing follows the last.
  EXPECT_EQ(data, std::string(16384, '\x3f'));
  EXPECT_EQ(errors, "");
}

// A walk along all ways from a value to its users does not end.
TEST_F(OnnxTest, ValueJoinedWithItselfOverAndOver) {
  std::string text =
      "func.func @main(%x: tensor<1x4xf32>) -> tensor<1x4xf32> {\n"
      "  %b = tosa.const_shape {values = dense<0> : tensor<2xindex>} : () -> "
      "!tosa.shape<2>\n"
      "  %s = tosa.const_shape {values = dense<[1, 4]> : tensor<2xindex>} : () "
      "-> !tosa.shape<2>\n" +
      quantizer("q", "x", "tensor<1x4xf32>", "x") +
      "  %v0 = tosa.abs %q : (tensor<1x4xf32>) -> tensor<1x4xf32>\n";
  constexpr int kTimes = 60;
  for (int i = 0; i < kTimes; ++i) {
    std::string now = std::to_string(i), next = std::to_string(i + 1);
    text += "  %c" + now + " = tosa.concat %v" + now + ", %v" + now +
            " {axis = 1 : i32} : (tensor<1x4xf32>, tensor<1x4xf32>) -> "
            "tensor<1x8xf32>\n  %v" +
            next + " = tosa.slice %c" + now +
            ", %b, %s : (tensor<1x8xf32>, !tosa.shape<2>, !tosa.shape<2>) -> "
            "tensor<1x4xf32>\n";
  }
  text += quantizer("r", "v" + std::to_string(kTimes), "tensor<1x4xf32>", "r") +
          "  return %r : tensor<1x4xf32>\n}";
  EXPECT_NE(write(text, forDevice("imx500")), "");
  EXPECT_EQ(errors, "");
}

// A function that calls itself for every op ends for want of a stack.
TEST_F(OnnxTest, ValueMovedVeryOften) {
  std::string text =
      "func.func @main(%x: tensor<1x4xf32>) -> tensor<1x4xf32> {\n"
      "  %s = tosa.const_shape {values = dense<[1, 4]> : tensor<2xindex>} : () "
      "-> !tosa.shape<2>\n" +
      quantizer("q", "x", "tensor<1x4xf32>", "x") +
      "  %v0 = tosa.abs %q : (tensor<1x4xf32>) -> tensor<1x4xf32>\n";
  constexpr int kTimes = 20000;
  for (int i = 0; i < kTimes; ++i)
    text += "  %v" + std::to_string(i + 1) + " = tosa.reshape %v" +
            std::to_string(i) +
            ", %s : (tensor<1x4xf32>, !tosa.shape<2>) -> tensor<1x4xf32>\n";
  text += quantizer("r", "v" + std::to_string(kTimes), "tensor<1x4xf32>", "r") +
          "  return %r : tensor<1x4xf32>\n}";
  EXPECT_NE(write(text, forDevice("imx500")), "");
  EXPECT_EQ(errors, "");
}
