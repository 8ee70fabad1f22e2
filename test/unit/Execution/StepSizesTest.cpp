// SPDX-License-Identifier: Apache-2.0
//
// Programs whose steps do not fit to their buffers are refused before they run,
// also where asserts are compiled out.
#include "Fixture.h"

#include "lib/Execution/StepSizes.h"

using namespace mct::execution;

namespace {

struct StepSizesTest : ExecutionTest {
  /// One step from the input to the output, `sizes` in floats.
  Program &makeProgram(int64_t input, int64_t output) {
    program = std::make_unique<Program>();
    auto type = [&](int64_t size) {
      return mlir::RankedTensorType::get({size},
                                         mlir::Float32Type::get(&context));
    };
    program->inputs.push_back({"x", type(input)});
    program->outputs.push_back({"y", type(output)});
    program->buffers.push_back({ProgramBuffer::Place::Input, 0, 4 * input});
    program->buffers.push_back({ProgramBuffer::Place::Output, 0, 4 * output});
    Step step;
    step.op = "step";
    step.buffers = {0, 1};
    step.result = 1;
    program->steps.push_back(step);
    return *program;
  }

  /// The error, or nothing.
  std::string check() {
    diagnostics.clear();
    bool isRight = mlir::succeeded(
        checkStepSizes(*program, mlir::UnknownLoc::get(&context)));
    EXPECT_EQ(diagnostics.size(), isRight ? 0u : 1u);
    return isRight ? "" : diagnostics.front();
  }
  void expectRefused(const std::string &text) {
    std::string error = check();
    EXPECT_NE(error.find(text), std::string::npos) << error;
  }

  std::unique_ptr<Program> program;
};

} // namespace

TEST_F(StepSizesTest, CopiesOfWhatIsThere) {
  makeProgram(4, 4).steps[0].kind = Step::Kind::Copy;
  EXPECT_EQ(check(), "");
  makeProgram(4, 5).steps[0].kind = Step::Kind::Copy;
  expectRefused("'step' cannot be executed: it reads 20 bytes of a buffer of "
                "16");
}

TEST_F(StepSizesTest, ArgumentsHaveTheSizeOfTheirType) {
  makeProgram(4, 4).steps[0].kind = Step::Kind::Copy;
  program->buffers[0].bytes = 20;
  expectRefused("'x' cannot be executed: 'tensor<4xf32>' has 16 bytes, and its "
                "buffer 20");
}

TEST_F(StepSizesTest, PoolsWriteOneElementForEachWindow) {
  for (int64_t output : {3, 4, 5}) {
    makeProgram(2 * 2 * 4, output).steps[0].kind = Step::Kind::AveragePool;
    PoolingShape pool;
    pool.inputHeight = pool.inputWidth = 2;
    pool.channels = 4;
    program->pools.push_back(pool);
    if (output == 4)
      EXPECT_EQ(check(), "");
    else
      expectRefused("it writes 16 bytes of a buffer of " +
                    std::to_string(4 * output));
  }
}

// Every copy within 4 x 5 elements, forwards and backwards: refused exactly
// where one of its elements lies outside, or fewer are there than planned.
TEST_F(StepSizesTest, MovesStayWithinSourceAndTarget) {
  std::mt19937 random(1);
  size_t taken = 0;
  for (int round = 0; round != 4000; ++round) {
    auto below = [&](int64_t end) { return int64_t(random() % end); };
    int64_t source = 12 + below(3) * 4, target = 12 + below(3) * 4;
    makeProgram(source, target).steps[0].kind = Step::Kind::Move;
    MovingShape move;
    move.targetElements = target;
    StridedCopy copy;
    bool isInside = true;
    copy.sizes = {1 + below(3), 1 + below(4)};
    copy.from = {below(7) - 3, below(5) - 2};
    copy.to = {below(7) - 3, below(5) - 2};
    copy.fromOffset = below(16);
    copy.toOffset = below(16);
    for (int64_t i = 0; i != copy.sizes[0]; ++i)
      for (int64_t j = 0; j != copy.sizes[1]; ++j) {
        int64_t from = copy.fromOffset + i * copy.from[0] + j * copy.from[1],
                to = copy.toOffset + i * copy.to[0] + j * copy.to[1];
        isInside &= from >= 0 && from < source && to >= 0 && to < target;
      }
    move.copies.push_back(copy);
    program->moves.push_back(move);
    EXPECT_EQ(check().empty(), isInside);
    taken += isInside;
  }
  EXPECT_GT(taken, 300u);
  EXPECT_LT(taken, 3700u);
}

TEST_F(StepSizesTest, CodeTakesBuffersOfItsArguments) {
  for (int64_t bytes : {12, 16, 20}) {
    makeProgram(8, 8).steps[0].kind = Step::Kind::Part;
    Step &step = program->steps[0];
    // Two blocks of four floats.
    step.numBlocks = 2;
    step.blockBytes = {16, 16};
    CompiledPart part;
    part.argumentBytes = {16, bytes};
    program->parts =
        std::make_shared<std::vector<CompiledPart>>(1, std::move(part));
    if (bytes == 16)
      EXPECT_EQ(check(), "");
    else
      expectRefused("it takes " + std::to_string(bytes + 16) +
                    " bytes of a buffer of 32");
  }
  program->steps[0].buffers.push_back(0);
  program->steps[0].blockBytes.push_back(16);
  expectRefused("its code takes 2 buffers, not 3");
}

TEST_F(StepSizesTest, QuantizersWriteTheirShape) {
  makeProgram(6, 6).steps[0].kind = Step::Kind::Quantize;
  QuantizeSite site;
  site.shape = {2, 3};
  program->quantizers.push_back(site);
  EXPECT_EQ(check(), "");
  program->quantizers[0].shape = {3, 3};
  expectRefused("it reads 36 bytes of a buffer of 24");
  // After another step.
  makeProgram(6, 6).steps[0].kind = Step::Kind::Copy;
  program->steps[0].quantizer = 0;
  site.shape = {5};
  program->quantizers.push_back(site);
  expectRefused("it writes 20 bytes of a buffer of 24");
}

TEST_F(StepSizesTest, IntegerKernelsWriteTheirShape) {
  for (int bytes : {1, 4}) {
    makeProgram(6, 6).steps[0].kind = Step::Kind::Integer;
    ChainNode node;
    node.step.operand = 0;
    node.rescale.outputBytes = bytes;
    program->integers.push_back(makeIntegerChain(node, 6, bytes));
    if (bytes == 4)
      EXPECT_EQ(check(), "");
    else
      expectRefused("it writes 6 bytes of a buffer of 24");
  }
}

TEST_F(StepSizesTest, PrimitivesWriteTheirShape) {
  for (int64_t columns : {2, 3}) {
    makeProgram(6, 6).steps[0].kind = Step::Kind::Primitive;
    MatMulShape shape;
    shape.rows = 2;
    shape.inner = 3;
    shape.columns = columns;
    Floats factor(3 * columns, 1.0f);
    llvm::cantFail(program->primitives.addMatMul(shape, factor, {}));
    if (columns == 3)
      EXPECT_EQ(check(), "");
    else
      expectRefused("it writes 16 bytes of a buffer of 24");
  }
}

// A kernel that comes with each call is not packed: the program has none.
TEST_F(StepSizesTest, PrimitivesWithoutAConstantHaveNoneToReplace) {
  PrimitiveSet &primitives = makeProgram(6, 6).primitives;
  MatMulShape shape;
  shape.rows = shape.inner = shape.columns = 2;
  size_t product = llvm::cantFail(primitives.addMatMul(shape, {}, {}));
  Floats values(4, 1.0f);
  constexpr llvm::StringLiteral kNone =
      "oneDNN: the primitive has no such constant";
  EXPECT_EQ(llvm::toString(primitives.setWeights(product, values)), kNone);
  EXPECT_EQ(llvm::toString(primitives.setBias(product, values)), kNone);
  EXPECT_EQ(llvm::toString(primitives.packWeights(product, values).takeError()),
            kNone);
  EXPECT_EQ(llvm::toString(primitives.packBias(product, values).takeError()),
            kNone);
}

//===----------------------------------------------------------------------===//
// Indices
//===----------------------------------------------------------------------===//

namespace {
struct IndexTest : ExecutionTest {
  /// The error of a run, or nothing.
  std::string run(const std::string &text) {
    CompileOptions options;
    options.keepTypes = true;
    auto executor = compile(text, options);
    if (!executor)
      return diagnostics.empty() ? "refused in silence" : diagnostics.front();
    std::vector<Floats> inputs = randomInputs(*executor);
    llvm::SmallVector<const void *> pointers;
    for (const Floats &input : inputs)
      pointers.push_back(input.data());
    Floats result(executor->outputs()[0].type.getNumElements());
    llvm::SmallVector<void *> results{result.data()};
    Worker worker(*executor);
    return llvm::toString(worker.run(pointers, results, executor->unit()));
  }
};
} // namespace

// No data are involved, so that only the sizes can show the error.
TEST_F(IndexTest, ConstantIndicesAreCompared) {
  auto text = [](int64_t index) {
    return "func.func @main(%x: tensor<6xf32>) -> tensor<1xf32> {\n"
           "%i = arith.constant " +
           std::to_string(index) +
           " : index\n"
           "%v = tensor.extract %x[%i] : tensor<6xf32>\n"
           "%r = tensor.from_elements %v : tensor<1xf32>\n"
           "return %r : tensor<1xf32>\n}";
  };
  EXPECT_EQ(run(text(5)), "");
  for (int64_t index : {-1, 6, 1000000})
    EXPECT_NE(run(text(index)).find("outside of a dimension of size 6"),
              std::string::npos)
        << run(text(index));
}

TEST_F(IndexTest, ComputedIndicesAreCompared) {
  auto text = [](int64_t offset) {
    return R"(
    #all = affine_map<(d0) -> (d0)>
    func.func @main(%x: tensor<6xf32>) -> tensor<3xf32> {
      %c = arith.constant )" +
           std::to_string(offset) + R"( : index
      %e = tensor.empty() : tensor<3xf32>
      %r = linalg.generic {indexing_maps = [#all], iterator_types = ["parallel"]} outs(%e : tensor<3xf32>) {
      ^bb0(%o: f32):
        %i = linalg.index 0 : index
        %j = arith.addi %i, %c : index
        %v = tensor.extract %x[%j] : tensor<6xf32>
        linalg.yield %v : f32
      } -> tensor<3xf32>
      return %r : tensor<3xf32>
    })";
  };
  EXPECT_EQ(run(text(3)), "");
  for (int64_t offset : {-1, 4, 400000})
    EXPECT_NE(run(text(offset)).find("outside of a dimension of size 6"),
              std::string::npos)
        << run(text(offset));
}

TEST_F(IndexTest, SlicesFromConstantsAreCompared) {
  auto text = [](int64_t offset) {
    return "func.func @main(%x: tensor<6xf32>) -> tensor<2xf32> {\n"
           "%i = arith.constant " +
           std::to_string(offset) +
           " : index\n"
           "%r = tensor.extract_slice %x[%i] [2] [1] : tensor<6xf32> to "
           "tensor<2xf32>\n"
           "return %r : tensor<2xf32>\n}";
  };
  EXPECT_EQ(run(text(4)), "");
  for (int64_t offset : {-1, 5, 100000})
    EXPECT_NE(run(text(offset)), "");
}

// The type gives the size of the result; the padding is computed.
TEST_F(IndexTest, PadsThatAreComputedAreCompared) {
  auto text = [](int64_t before) {
    return R"(
    func.func @main(%x: tensor<3xf32>, %y: tensor<1xf32>) -> tensor<5xf32> {
      %zero = arith.constant 0.0 : f32
      %first = arith.constant 0 : index
      %c = arith.constant )" +
           std::to_string(before) + R"( : index
      %v = tensor.extract %y[%first] : tensor<1xf32>
      %square = arith.mulf %v, %v : f32
      %isLess = arith.cmpf olt, %square, %zero : f32
      %n = arith.select %isLess, %first, %c : index
      %r = tensor.pad %x low[%n] high[0] {
      ^bb0(%i: index):
        tensor.yield %zero : f32
      } : tensor<3xf32> to tensor<5xf32>
      return %r : tensor<5xf32>
    })";
  };
  EXPECT_EQ(run(text(2)), "");
  for (int64_t before : {-1, 3, 100000})
    EXPECT_NE(run(text(before)), "");
}

TEST_F(IndexTest, VariablesAreNoValuesOfSamples) {
  EXPECT_FALSE(compile(R"(
    module {
      tosa.variable @state = dense<0.0> : tensor<1x2xf32>
      func.func @main(%x: tensor<1x2xf32>) -> tensor<1x2xf32> {
        %0 = tosa.variable_read @state : tensor<1x2xf32>
        %1 = tosa.add %x, %0 : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x2xf32>
        return %1 : tensor<1x2xf32>
      }
    })"));
  ASSERT_EQ(diagnostics.size(), 1u);
  EXPECT_NE(diagnostics[0].find("samples have no order in which a variable "
                                "could keep its value"),
            std::string::npos)
      << diagnostics[0];
}
