// SPDX-License-Identifier: Apache-2.0
//
// Errors of training runs: checkpoints that do not fit, settings, samples and
// networks that cannot be trained.
#include "TrainingRunFixture.h"
#include "llvm/Support/MemoryBuffer.h"

#include <functional>

using namespace mct;
using namespace mct::testing::training;
using quantization::GradientDescent;

namespace {

//===----------------------------------------------------------------------===//
// Checkpoints that do not fit
//===----------------------------------------------------------------------===//

class CheckpointTest : public TrainingRunTest {
protected:
  CheckpointTest() {
    settings.checkpoint = path("checkpoint");
    settings.epochs = 1;
    EXPECT_FALSE(train(classify()).empty()) << diagnostics;
  }
  void expectOther(const TrainingProblem &problem, const std::string &what) {
    expectFails(
        problem,
        "training: '" + settings.checkpoint + "' was made with " + what +
            "\na run continues with the options that it began with; remove "
            "the file to start again");
  }
  void overwrite(llvm::StringRef bytes) {
    std::error_code error;
    llvm::raw_fd_ostream file(settings.checkpoint, error);
    file << bytes;
  }
  std::string read() {
    return llvm::cantFail(llvm::errorOrToExpected(
                              llvm::MemoryBuffer::getFile(settings.checkpoint)))
        ->getBuffer()
        .str();
  }
};

TEST_F(CheckpointTest, OfARunThatHasEndedIsItsResult) {
  auto again = train(classify());
  EXPECT_TRUE(losses.empty());
  llvm::sys::fs::remove(settings.checkpoint);
  EXPECT_EQ(train(classify()), again);
}

TEST_F(CheckpointTest, OfAnotherNetworkIsRefused) {
  expectOther(classify(/*seed=*/2), "another network");
}

TEST_F(CheckpointTest, OfOtherSettingsIsRefused) {
  TrainingSettings old = settings;
  for (const auto &change : std::vector<std::function<void()>>{
           [&] { settings.epochs = 2; }, [&] { settings.batch = 5; },
           [&] { settings.shard = 2; }, [&] { settings.seed = 8; },
           [&] { settings.isShuffled = false; },
           [&] { std::get<Adam>(settings.weights->method).rate = 0.03; },
           [&] { settings.biases->method = GradientDescent(); },
           [&] { settings.quantizers->schedule.warmup = 1; },
           [&] { settings.fraction = {0, 1, 0, 1}; }}) {
    settings = old;
    change();
    expectOther(classify(), "other settings");
  }
  settings = old;
  data.labels[3] = 1 - data.labels[3];
  expectOther(classify(), "other settings");
}

TEST_F(CheckpointTest, OfOtherSamplesIsRefused) {
  TrainingProblem problem = classify();
  problem.chosen = {1, 0, 2, 3, 4, 5, 6, 7, 8, 9};
  expectOther(problem, "other samples");
  data.images[5] += 1;
  expectOther(classify(), "other samples");
}

TEST_F(CheckpointTest, DamagedIsRefused) {
  std::string good = read(), name = "training: '" + settings.checkpoint + "' ",
              damaged = "is damaged; remove it to start again",
              none = "is not a checkpoint of a training run";
  auto made = create(classify());
  ASSERT_TRUE(made);
  auto before = made->values().vec();
  auto expectRefused = [&](llvm::StringRef bytes, const std::string &message) {
    overwrite(bytes);
    diagnostics.clear();
    EXPECT_TRUE(failed(made->train()));
    EXPECT_EQ(diagnostics, name + message + "\n");
  };
  constexpr size_t kMagic = 13, kVersion = 8;
  for (size_t size = 0; size != good.size(); ++size)
    expectRefused(llvm::StringRef(good).take_front(size),
                  size < kMagic ? none : damaged);
  expectRefused(good + "x", damaged);
  for (size_t place = kMagic + kVersion; place != good.size(); ++place) {
    std::string other = good;
    other[place] ^= 1;
    expectRefused(other, damaged);
  }
  std::string other = good;
  other[kMagic] = 9;
  expectRefused(other,
                "is a checkpoint of version 9, and version 1 can be read");
  // Nothing of it was taken.
  EXPECT_EQ(made->values().vec(), before);
  overwrite(good);
  EXPECT_TRUE(succeeded(made->train()));
  EXPECT_EQ(made->numStepsDone(), 3);
}

TEST_F(CheckpointTest, ThatCannotBeReadOrWrittenIsAnError) {
  settings.checkpoint = folder;
  expectFails(classify(),
              "training: '" + folder + "' cannot be read: Is a directory");
  settings.checkpoint = path("nowhere/checkpoint");
  diagnostics.clear();
  EXPECT_TRUE(train(classify()).empty());
  EXPECT_NE(diagnostics.find(settings.checkpoint), std::string::npos);
}

//===----------------------------------------------------------------------===//
// Diagnostics
//===----------------------------------------------------------------------===//

TEST_F(TrainingRunTest, RefusesSettingsWithoutMeaning) {
  TrainingSettings old = settings;
  settings.epochs = 0;
  expectFails(classify(), "training: epochs must be at least 1, but are 0");
  settings = old;
  settings.batch = 0;
  expectFails(classify(), "training: the batch must be at least 1, but is 0");
  settings = old;
  settings.shard = -1;
  expectFails(classify(), "training: a shard must be at least 1, but is -1");
  settings = old;
  settings.checkpointEvery = -1;
  expectFails(classify(), "training: the number of steps between checkpoints "
                          "must be at least 0, but is -1");
  for (const OptimizerSettings &optimizer :
       {OptimizerSettings{Adam{-1}}, OptimizerSettings{Adam{1, 1}},
        OptimizerSettings{Adam{1, 0, -1}}, OptimizerSettings{Adam{1, 0, 0, 0}},
        OptimizerSettings{GradientDescent{NAN}},
        OptimizerSettings{GradientDescent{1, 1}}}) {
    settings = old;
    settings.biases = optimizer;
    expectFails(classify(),
                "training: the optimizer of biases needs a finite rate from 0 "
                "on, betas or a momentum from 0 to below 1, and a positive "
                "epsilon");
  }
  settings = old;
  settings.weights = settings.biases = settings.quantizers = std::nullopt;
  expectFails(classify(), "training: nothing would be learned: no kind of what "
                          "the network learns has an optimizer");
}

TEST_F(TrainingRunTest, RefusesSamplesThatDoNotFit) {
  TrainingProblem problem = classify();
  problem.chosen = {3, 10};
  expectFails(problem, "training: sample 10 is none of 10");

  problem = classify();
  execution::TensorSpec wide{
      "x", mlir::RankedTensorType::get({1, 1, 1, 5},
                                       mlir::Float32Type::get(&context))};
  std::vector<float> values(10);
  execution::SampleOptions options;
  options.tensors.push_back(
      {"", support::viewArray("wide", support::ElementType::F32, {2, 1, 1, 5},
                              values.data())});
  problem.samples =
      llvm::cantFail(execution::SampleSource::open(options, {wide}, 1));
  expectFails(problem,
              "training: a sample has 20 bytes, and input '0' of the network, "
              "'tensor<3x1x1x3xf32>', is not 3 of them");
  options.tensors.front().input = "x";
  options.tensors.push_back(options.tensors.front());
  options.tensors.back().input = "y";
  execution::TensorSpec other = wide;
  other.name = "y";
  problem.samples =
      llvm::cantFail(execution::SampleSource::open(options, {wide, other}, 1));
  expectFails(problem, "training: samples have 2 tensors, and the network has "
                       "1 inputs");

  problem = classify();
  run.samples.limit = 0;
  expectFails(problem, "training: there are no samples");
}

TEST_F(TrainingRunTest, RefusesTeachersThatDoNotFit) {
  TrainingProblem problem = distil();
  problem.teacherValues = {"scores"};
  expectFails(problem, "training: the teacher has 1 values to compare with 2");
  problem.teacherValues = {"hidden", "hidden"};
  expectFails(problem,
              "training: 'hidden' of the teacher is 'tensor<32x1x1x4xf32>' for "
              "32 samples, and 'scores' of the network has 2 values of f32 for "
              "each");
}

TEST_F(TrainingRunTest, RefusesResultsThatDoNotBeginWithSamples) {
  TrainingProblem problem = classify();
  problem.network = parse(R"(
func.func @main(%x: tensor<1x1x1x3xf32>) -> tensor<4x1x1x3xf32> {
  %0 = "tosa.const"() {values = dense<0.5> : tensor<4x1x1x3xf32>} : () -> tensor<4x1x1x3xf32>
  %1 = tpc.quantize %0 as "w" weight "kernel" axes [0] parameters(#tpc.symmetric<threshold = [1.0], bits = 6>)
         trainable(#tpc.learned_threshold<bits = 6>) : tensor<4x1x1x3xf32>
  return %1 : tensor<4x1x1x3xf32>
})");
  expectFails(problem, "training: '#0', which is compared, is "
                       "'tensor<4x1x1x3xf32>' for 3 samples, and does not "
                       "begin with them");
}

TEST_F(TrainingRunTest, RefusesBatchesWithoutMemory) {
  TrainingProblem problem = classify();
  // 64 TiB for each sample, and a limit that allows it.
  problem.network = parse(R"(
func.func @main(%x: tensor<1x1x1x3xf32>) -> tensor<1x17592186044418xf32> {
  %0 = tpc.quantize %x as "x" activation parameters(#tpc.symmetric<threshold = [1.0], bits = 6>)
         trainable(#tpc.learned_threshold<bits = 6>) : tensor<1x1x1x3xf32>
  %shape = tosa.const_shape {values = dense<[1, 3]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %1 = tosa.reshape %0, %shape : (tensor<1x1x1x3xf32>, !tosa.shape<2>) -> tensor<1x3xf32>
  %tiles = tosa.const_shape {values = dense<[1, 5864062014806]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %2 = tosa.tile %1, %tiles : (tensor<1x3xf32>, !tosa.shape<2>) -> tensor<1x17592186044418xf32> loc("scores")
  return %2 : tensor<1x17592186044418xf32>
})");
  run.maxMemory = int64_t(1) << 60;
  expectFails(problem, "training: there is no memory for a batch");
}

TEST_F(TrainingRunTest, RefusesLossesThatDoNotFit) {
  TrainingProblem problem = classify();
  problem.request.compared = {"hidden", "scores"};
  expectFails(problem, "training: the loss is of one result, the scores of "
                       "classes, and 2 are compared");
  problem = classify();
  problem.network = parse(R"(
func.func @main(%x: tensor<1x1x1x3xf32>) -> tensor<1x3x1x1xf32> {
  %0 = tpc.quantize %x as "x" activation parameters(#tpc.symmetric<threshold = [1.0], bits = 6>)
         trainable(#tpc.learned_threshold<bits = 6>) : tensor<1x1x1x3xf32>
  %shape = tosa.const_shape {values = dense<[1, 3, 1, 1]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %1 = tosa.reshape %0, %shape : (tensor<1x1x1x3xf32>, !tosa.shape<4>) -> tensor<1x3x1x1xf32> loc("column")
  return %1 : tensor<1x3x1x1xf32>
})");
  expectFails(
      problem,
      "training: 'column' has 3 values for each sample, 1 of "
      "them on the last axis, so that it does not hold scores of classes");
  problem = classify();
  problem.loss = createCrossEntropyLoss(Scores::Logits, {0, 1});
  expectFails(problem, "training: there are 2 labels for 10 samples");
  std::vector<int64_t> labels = data.labels;
  labels[4] = 2;
  problem.loss = createCrossEntropyLoss(Scores::Logits, labels);
  expectFails(problem,
              "training: label 2 of sample 4 is none of the 2 classes of "
              "'scores'");
  problem = distil();
  problem.loss = createSquaredErrorLoss(ErrorUnit::Plain, {1});
  expectFails(problem,
              "training: there are 1 weights for 2 results that are compared");
  problem.loss = createSquaredErrorLoss(ErrorUnit::Plain, {1, -1});
  expectFails(problem, "training: the weight of a result is a finite number "
                       "from 0 on, found -1.00");
  problem.loss = createAttentionLoss({1, 2, 3});
  expectFails(problem,
              "training: 3 scores are not those of 10 samples at 2 results");
  problem.loss = createAttentionLoss(std::vector<double>(20, NAN));
  expectFails(problem, "training: the attention to a sample is a finite number "
                       "from 0 on, found nan");
}

TEST_F(TrainingRunTest, EndsWhereTheLossIsNotFinite) {
  settings.biases = OptimizerSettings{GradientDescent{1e38}};
  diagnostics.clear();
  EXPECT_TRUE(train(distil()).empty());
  EXPECT_NE(diagnostics.find("; train with a smaller learning rate"),
            std::string::npos)
      << diagnostics;
}

} // namespace
