// SPDX-License-Identifier: Apache-2.0
//
// Rewrites of float networks against transforms.json: kinds bn_folding,
// bn_forward_folding, linear_collapsing and residual_collapsing (section 5 of
// the README.md of the vectors).
#include "../Execution/Fixture.h"
#include "Golden.h"
#include "mct/Pipelines/Pipelines.h"
#include "mct/Planning/KernelOp.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;
using namespace mct;
using namespace mct::execution;
namespace json = llvm::json;
using Shape = std::vector<int64_t>;

namespace {
struct Tensor {
  Shape shape;
  Floats data;
};

Tensor read(const json::Object &object) {
  Tensor tensor;
  for (const json::Value &size : *object.getArray("shape"))
    tensor.shape.push_back(*size.getAsInteger());
  for (const json::Value &value : *object.getArray("data"))
    tensor.data.push_back(float(*value.getAsNumber()));
  return tensor;
}

/// Result axis i is axis perms[i]; rank 4.
Tensor transpose(const Tensor &tensor, const Shape &perms) {
  Tensor result{{}, Floats(tensor.data.size())};
  Shape steps(4, 1);
  for (int axis = 2; axis >= 0; --axis)
    steps[axis] = steps[axis + 1] * tensor.shape[axis + 1];
  for (int64_t axis : perms)
    result.shape.push_back(tensor.shape[axis]);
  for (size_t element = 0; element != result.data.size(); ++element) {
    int64_t rest = element, from = 0;
    for (int axis = 3; axis >= 0; --axis) {
      from += rest % result.shape[axis] * steps[perms[axis]];
      rest /= result.shape[axis];
    }
    result.data[element] = tensor.data[from];
  }
  return result;
}

/// Rows [begin, end) of the first axis.
Tensor slice(const Tensor &tensor, int64_t begin, int64_t end) {
  int64_t row = tensor.data.size() / tensor.shape[0];
  Tensor result{tensor.shape, Floats(tensor.data.begin() + begin * row,
                                     tensor.data.begin() + end * row)};
  result.shape[0] = end - begin;
  return result;
}

std::string integers(const Shape &values) {
  std::string text = "array<i64";
  for (size_t i = 0; i != values.size(); ++i)
    text += (i ? ", " : ": ") + std::to_string(values[i]);
  return text + ">";
}

class GoldenTransforms : public ExecutionTest {
protected:
  GoldenTransforms() {
    context.loadDialect<tpc::TpcDialect>();
    static const bool registered = [] {
      registerAllMctPasses();
      return true;
    }();
    (void)registered;
  }

  /// Runs `check` on every case of a kind.
  void forEach(StringRef kind,
               llvm::function_ref<void(const json::Object &)> check);

  //===--- The float network, as TOSA text --------------------------------===//

  std::string fresh() { return "v" + std::to_string(counter++); }
  std::string addConstant(const Tensor &tensor) {
    std::string name = fresh();
    body += constant(name, tensor.shape, tensor.data);
    return name;
  }
  /// Appends a convolution of PyTorch's: kernel [O, I / groups, H, W], or
  /// [I, O, H, W] when it is transposed. Padding and stride follow from the
  /// sizes.
  void addConvolution(const json::Object &state, const std::string &layer,
                      Shape output, int64_t groups, bool isTransposed);
  void addBatchNorm(const json::Object &state, const std::string &layer,
                    double epsilon);
  void addResidual() {
    std::string sum = fresh();
    body += "%" + sum + " = tosa.add %x, %" + value + " : (" +
            tensorType(input.shape) + ", " + tensorType(shape) + ") -> " +
            tensorType(shape) + "\n";
    value = sum;
  }

  /// Runs the pass pipeline, and expects that the network computes what
  /// PyTorch's did before and after.
  void transform(const std::string &pipeline, const json::Object &golden);
  /// Kernel and bias of every kernel op, in PyTorch's layout.
  std::vector<std::pair<Tensor, Floats>> kernels();
  void expectKernels(const json::Object &golden);
  void expectNear(const Floats &actual, const Floats &expected);

  void start(const json::Object &golden) {
    input = transpose(read(*golden.getObject("input")), {0, 2, 3, 1});
    output = transpose(read(*golden.getObject("float_output")), {0, 2, 3, 1});
    value = "x";
    shape = input.shape;
    counter = 0;
    body.clear();
  }

  Tensor input, output;
  std::string body, value;
  Shape shape;
  int counter = 0;
};
} // namespace

void GoldenTransforms::forEach(
    StringRef kind, llvm::function_ref<void(const json::Object &)> check) {
  mct::golden::File file("transforms.json");
  MCT_REQUIRE_GOLDEN(file);
  mct::golden::Report report;
  for (const json::Object *recorded : file.objects("cases"))
    if (mct::golden::text(*recorded, "kind") == kind)
      report.check("transforms " + kind.str(),
                   mct::golden::text(*recorded, "id"),
                   [&] { check(*recorded); });
}

void GoldenTransforms::addConvolution(const json::Object &state,
                                      const std::string &layer, Shape output,
                                      int64_t groups, bool isTransposed) {
  Tensor kernel = read(*state.getObject(layer + ".weight"));
  int64_t outputs = isTransposed ? kernel.shape[1] : kernel.shape[0];
  Tensor bias{{outputs}, Floats(outputs)};
  if (const json::Object *given = state.getObject(layer + ".bias"))
    bias = read(*given);
  int64_t inputs = shape[3];
  output[3] = outputs;
  Shape pad(4), stride(2);
  for (int axis : {0, 1}) {
    int64_t from = shape[1 + axis], to = output[1 + axis],
            size = kernel.shape[2 + axis];
    if (isTransposed) {
      stride[axis] = (to - size) / (from - 1);
      continue;
    }
    stride[axis] = to == 1 ? 1 : std::max<int64_t>(1, (from - size) / (to - 1));
    pad[2 * axis] = pad[2 * axis + 1] =
        ((to - 1) * stride[axis] + size - from) / 2;
  }
  body += kZero;
  // The zero is defined anew for every convolution.
  std::string zero = fresh();
  body.replace(body.rfind("%zero ="), 5, "%" + zero);
  auto append = [&](const std::string &op, const std::string &from,
                    const Shape &fromShape, const Tensor &weights,
                    const Tensor &biases, const Shape &to) {
    std::string weightName = addConstant(weights),
                biasName = addConstant(biases);
    std::string result = fresh();
    body +=
        "%" + result + " = tosa." + op + " %" + from + ", %" + weightName +
        ", %" + biasName + ", %" + zero + ", %" + zero + " {acc_type = f32, " +
        (isTransposed
             ? "out_pad = " + integers(pad)
             : "dilation = " + integers({1, 1}) + ", pad = " + integers(pad)) +
        ", stride = " + integers(stride) + "} : (" + tensorType(fromShape) +
        ", " + tensorType(weights.shape) + ", " + tensorType(biases.shape) +
        ", tensor<1xf32>, tensor<1xf32>) -> " + tensorType(to) + "\n";
    return result;
  };
  if (isTransposed) {
    value = append("transpose_conv2d", value, shape,
                   transpose(kernel, {1, 2, 3, 0}), bias, output);
  } else if (groups == 1) {
    value = append("conv2d", value, shape, transpose(kernel, {0, 2, 3, 1}),
                   bias, output);
  } else if (groups == inputs && outputs == inputs) {
    value = append("depthwise_conv2d", value, shape,
                   transpose(kernel, {2, 3, 0, 1}), bias, output);
  } else {
    std::string operands, types;
    Shape part = shape, partOutput = output;
    part[3] = inputs / groups;
    partOutput[3] = outputs / groups;
    for (int64_t group = 0; group != groups; ++group) {
      std::string begin = fresh(), size = fresh(), sliced = fresh();
      auto list = [](const Shape &values) {
        std::string text;
        for (int64_t value : values)
          text += (text.empty() ? "" : ", ") + std::to_string(value);
        return text;
      };
      for (const auto &[name, values] :
           {std::pair(begin, Shape{0, 0, 0, group * part[3]}),
            std::pair(size, part)})
        body += "%" + name + " = tosa.const_shape {values = dense<[" +
                list(values) + "]> : tensor<4xindex>} : () -> !tosa.shape<4>\n";
      body += "%" + sliced + " = tosa.slice %" + value + ", %" + begin + ", %" +
              size + " : (" + tensorType(shape) +
              ", !tosa.shape<4>, !tosa.shape<4>) -> " + tensorType(part) + "\n";
      int64_t first = group * partOutput[3], last = first + partOutput[3];
      std::string result =
          append("conv2d", sliced, part,
                 transpose(slice(kernel, first, last), {0, 2, 3, 1}),
                 slice(bias, first, last), partOutput);
      operands += (group ? ", %" : "%") + result;
      types += (group ? ", " : "") + tensorType(partOutput);
    }
    value = fresh();
    body += "%" + value + " = tosa.concat " + operands +
            " {axis = 3 : i32} : (" + types + ") -> " + tensorType(output) +
            "\n";
  }
  shape = output;
}

void GoldenTransforms::addBatchNorm(const json::Object &state,
                                    const std::string &layer, double epsilon) {
  int64_t channels = shape[3];
  Shape vector = {1, 1, 1, channels};
  auto get = [&](const char *name, float missing) {
    const json::Object *given = state.getObject(layer + "." + name);
    return Tensor{vector,
                  given ? read(*given).data : Floats(channels, missing)};
  };
  std::string mean = addConstant(get("running_mean", 0)),
              variance = addConstant(get("running_var", 1)),
              gamma = addConstant(get("weight", 1)),
              beta = addConstant(get("bias", 0)),
              small = addConstant({{1, 1, 1, 1}, {float(epsilon)}});
  std::string shift = fresh();
  body += "%" + shift +
          " = \"tosa.const\"() <{values = dense<0> : tensor<1xi8>}> : () -> "
          "tensor<1xi8>\n";
  auto append = [&](const std::string &op, const std::string &lhs,
                    const Shape &lhsShape, const std::string &rhs,
                    const Shape &rhsShape) {
    std::string result = fresh();
    bool isMul = op == "mul";
    body += "%" + result + " = tosa." + op + " %" + lhs + ", %" + rhs +
            (isMul ? ", %" + shift : "") + " : (" + tensorType(lhsShape) +
            ", " + tensorType(rhsShape) + (isMul ? ", tensor<1xi8>" : "") +
            ") -> " + tensorType(lhsShape) + "\n";
    return result;
  };
  std::string sum = append("add", variance, vector, small, {1, 1, 1, 1});
  std::string scale = fresh();
  body += "%" + scale + " = tosa.rsqrt %" + sum + " : (" + tensorType(vector) +
          ") -> " + tensorType(vector) + "\n";
  value = append("sub", value, shape, mean, vector);
  value = append("mul", value, shape, scale, vector);
  value = append("mul", value, shape, gamma, vector);
  value = append("add", value, shape, beta, vector);
}

void GoldenTransforms::expectNear(const Floats &actual,
                                  const Floats &expected) {
  ASSERT_EQ(actual.size(), expected.size());
  float largest = 0;
  for (float value : expected)
    largest = std::max(largest, std::abs(value));
  for (size_t i = 0; i != actual.size(); ++i)
    ASSERT_NEAR(actual[i], expected[i], 1e-5f * largest) << "element " << i;
}

void GoldenTransforms::transform(const std::string &pipeline,
                                 const json::Object &golden) {
  ASSERT_EQ(shape, output.shape);
  std::string text = "func.func @main(%x: " + tensorType(input.shape) +
                     ") -> " + tensorType(shape) + " {\n" + body + "return %" +
                     value + " : " + tensorType(shape) + "\n}";
  CompileOptions options;
  options.unit = 1;
  auto expectOutput = [&](const Executor &executor) {
    Floats result(output.data.size());
    llvm::cantFail(
        Worker(executor).run({input.data.data()}, {result.data()}, 1));
    expectNear(result, output.data);
  };
  std::unique_ptr<Executor> before = compile(text, options);
  ASSERT_TRUE(before);
  expectOutput(*before);
  PassManager passManager(&context);
  ASSERT_TRUE(succeeded(parsePassPipeline(pipeline, passManager)));
  ASSERT_TRUE(succeeded(passManager.run(*module)));
  auto after = Executor::compile(*module, options);
  ASSERT_TRUE(succeeded(after));
  expectOutput(**after);
}

std::vector<std::pair<Tensor, Floats>> GoldenTransforms::kernels() {
  KernelOps kernelOps = KernelOps::forModule(*module);
  std::vector<std::pair<Tensor, Floats>> found;
  module->walk([&](Operation *op) {
    std::optional<KernelOp> kernelOp = kernelOps.get(op);
    if (!kernelOp)
      return;
    Tensor kernel{kernelOp->getKernelShape().vec(),
                  kernelOp->getKernel().values().vec()};
    kernel = transpose(kernel, kernelOp->isTransposed()  ? Shape{3, 0, 1, 2}
                               : kernelOp->isDepthwise() ? Shape{2, 3, 0, 1}
                                                         : Shape{0, 3, 1, 2});
    found.push_back({kernel, *kernelOp->getBias()});
  });
  return found;
}

/// Kernels and biases are MCT's; the groups of a convolution one after another.
void GoldenTransforms::expectKernels(const json::Object &golden) {
  Floats kernel, bias, expectedKernel, expectedBias;
  for (auto &[tensor, values] : kernels()) {
    llvm::append_range(kernel, tensor.data);
    llvm::append_range(bias, values);
  }
  for (const json::Value &node : *golden.getArray("nodes_after"))
    if (const json::Object *weights =
            node.getAsObject()->getObject("weights")) {
      llvm::append_range(expectedKernel,
                         read(*weights->getObject("weight")).data);
      llvm::append_range(expectedBias, read(*weights->getObject("bias")).data);
    }
  expectNear(kernel, expectedKernel);
  expectNear(bias, expectedBias);
}

static constexpr const char *kFold =
    "func.func(mct-fold-constants),mct-fold-batch-norm";

TEST_F(GoldenTransforms, BatchNormFoldsAsInMCT) {
  forEach("bn_folding", [&](const json::Object &golden) {
    start(golden);
    const json::Object &state = *golden.getObject("state");
    const json::Object &conv = *golden.getObject("conv");
    addConvolution(state, "l0", output.shape,
                   conv.getInteger("groups").value_or(1),
                   conv.getBoolean("transposed").value_or(false));
    addBatchNorm(state, "l1", *golden.getNumber("bn_eps"));
    transform(kFold, golden);
    expectKernels(golden);
  });
}

TEST_F(GoldenTransforms, BatchNormFoldsForwardAsInMCT) {
  forEach("bn_forward_folding", [&](const json::Object &golden) {
    start(golden);
    const json::Object &state = *golden.getObject("state");
    addBatchNorm(state, "l0", *golden.getNumber("bn_eps"));
    addConvolution(state, "l1", output.shape, 1, false);
    transform(kFold, golden);
    expectKernels(golden);
  });
}

// MCT fails on kernels that are not square; there only the function counts.
TEST_F(GoldenTransforms, ConvolutionsCollapseAsInMCT) {
  forEach("linear_collapsing", [&](const json::Object &golden) {
    start(golden);
    const json::Object &state = *golden.getObject("state");
    addConvolution(state, "l0", output.shape, 1, false);
    addConvolution(state, "l1", output.shape, 1, false);
    transform("mct-collapse-linear", golden);
    if (golden.getString("mct_exception"))
      EXPECT_EQ(kernels().size(), 1u);
    else
      expectKernels(golden);
  });
}

TEST_F(GoldenTransforms, ResidualsCollapseAsInMCT) {
  forEach("residual_collapsing", [&](const json::Object &golden) {
    start(golden);
    addConvolution(*golden.getObject("state"), "l0", output.shape, 1, false);
    addResidual();
    transform("mct-collapse-residual", golden);
    expectKernels(golden);
  });
}
