// SPDX-License-Identifier: Apache-2.0
//
// Effects of points in the report, against networks that are made by taking
// points out of a module, and run as a whole.
#include "EffectsFixture.h"

using namespace mct;
using namespace mct::testing::effects;

namespace {

// Everything but one point, or but the points of an operator: what networks
// made for that and run as a whole show, in which the layers that were
// corrected for the errors of these points have the means of the network as it
// is.
TEST_F(EffectsTest, EffectsAreThoseOfNetworksWithoutThePoint) {
  for (bool isSoftmax : {true, false}) {
    auto quantized = parse(branched(isSoftmax));
    ASSERT_TRUE(quantized);
    llvm::StringSet<> all = pointsOf(*quantized), kernels;
    EXPECT_EQ(all.size(), 10u);
    auto floating = with(*quantized, {});
    RunSettings settings = makeSettings(*quantized, 37);
    Report report = measure(*quantized, *floating, settings);
    EXPECT_EQ(report.noEffectsReason, "");
    EXPECT_EQ(report.metric, isSoftmax ? "kl" : "mse");
    EXPECT_EQ(report.effectSamples, 37);
    Results floats = run(*floating, settings);
    // Sums of float32 in another order.
    auto expectNear = [&](double found, double expected,
                          const std::string &what) {
      EXPECT_NEAR(found, expected, 1e-4 * expected + 1e-9) << what;
    };
    expectNear(report.distance,
               distance(floats, run(*quantized, settings), isSoftmax), "all");
    for (const CorrectionEffect &effect : report.corrections)
      if (!effect.isWhole)
        kernels.insert(effect.layers.front());
    EXPECT_EQ(kernels.size(), 3u);
    for (const CorrectionEffect &effect : report.corrections) {
      llvm::StringSet<> others = kernels;
      for (const std::string &layer : effect.layers)
        others.erase(layer);
      expectNear(effect.without,
                 distance(floats, run(*with(*quantized, all, others), settings),
                          isSoftmax),
                 "without the correction of " + effect.layers.front());
      EXPECT_NEAR(effect.loss, report.distance - effect.without,
                  1e-9 + 1e-9 * report.distance);
    }
    auto check = [&](const std::optional<Effect> &effect,
                     llvm::ArrayRef<std::string> names,
                     const std::string &what) {
      ASSERT_TRUE(effect) << what;
      expectNear(effect->without,
                 distance(floats,
                          run(*without(*quantized, *floating, names, settings),
                              settings),
                          isSoftmax),
                 "without " + what);
      EXPECT_DOUBLE_EQ(effect->gain, report.distance - effect->without);
      EXPECT_DOUBLE_EQ(*effect->share,
                       std::max(0.0, effect->gain / report.distance));
    };
    for (const Point &point : report.points)
      check(point.effect, point.name, point.name);
    size_t several = 0;
    for (const Operator &of : report.operators) {
      check(of.effect, of.points, "operator " + of.name);
      several += of.points.size() > 1;
    }
    EXPECT_EQ(several, 4u);
  }
}

// A probability that is made 0 has no divergence: distances are
// those of the network that does not quantize its result.
TEST_F(EffectsTest, DistributionsAreComparedBeforeTheyAreQuantized) {
  std::string text = branched(true);
  const std::string end = "return %12";
  text.replace(text.find(end), end.size(),
               "%p = tpc.quantize %12 as \"p\" activation" + quantizer(1, 3) +
                   " : tensor<1x48xf32>\nreturn %p");
  auto quantized = parse(text), plain = parse(branched(true));
  ASSERT_TRUE(quantized && plain);
  auto floating = with(*plain, {});
  RunSettings settings = makeSettings(*quantized, 20);
  Report report = measure(*quantized, *floating, settings),
         expected = measure(*plain, *floating, settings);
  EXPECT_EQ(report.distance, expected.distance);
  EXPECT_EQ(report.points.back().name, "p");
  EXPECT_FALSE(report.points.back().effect);
  EXPECT_FALSE(report.operators.back().effect);
  for (auto [point, other] : llvm::zip(report.points, expected.points)) {
    EXPECT_EQ(point.effect->without, other.effect->without) << point.name;
  }
}

// An op that is fused to a layer has its result, which the layer costs, too.
TEST_F(EffectsTest, LayersHaveTheResultOfTheirGroup) {
  auto quantized = parse(branched(true));
  auto floating = with(*quantized, {});
  RunSettings settings = makeSettings(*quantized, 20);
  Report report = describe(*quantized);
  // Give the layer another name than the ops that are fused to it.
  Operator &one = report.operators[1], layer = one;
  ASSERT_EQ(one.name, "one");
  std::vector<std::string> points = one.points;
  ASSERT_EQ(points.size(), 2u);
  layer.name = "conv1";
  layer.group = "one";
  layer.points = {"one/kernel"};
  one.points = {"one"};
  report.operators.push_back(layer);
  Operator together = layer;
  together.group = "";
  together.points = points;
  report.operators.push_back(together);
  ASSERT_TRUE(mlir::succeeded(measureEffects(*quantized, KernelOps(*quantized),
                                             *floating, nullptr, settings,
                                             EffectOptions(), report)));
  auto gainOf = [&](size_t back) {
    return report.operators[report.operators.size() - back].effect->gain;
  };
  EXPECT_EQ(gainOf(1), gainOf(2));
  EXPECT_NE(report.operators[1].effect->gain, gainOf(1));
}

// Values of weights are compared with those of the float network, without
// effects of the rest of the network.
TEST_F(EffectsTest, WeightsAreComparedWithThoseOfTheFloatNetwork) {
  auto quantized = parse(branched(true));
  auto floating = with(*quantized, {});
  Report report = measure(*quantized, *floating, makeSettings(*quantized, 5));
  KernelOps kernels = KernelOps::forModule(*quantized);
  mlir::Operation *conv = nullptr, *floatConv = nullptr;
  quantized->walk([&](mlir::tosa::Conv2DOp op) { conv = op; });
  floating->walk([&](mlir::tosa::Conv2DOp op) { floatConv = op; });
  KernelOp layer = *kernels.get(conv), exact = *kernels.get(floatConv);
  tpc::QuantizeOp point = layer.getKernelPoint();
  Floats values = layer.getKernel().values().vec();
  point.getParametersAttr().fakeQuantize({3, 3, 3, 3}, {}, values.data(),
                                         values.data());
  ErrorSums sums;
  sums.add(values, exact.getKernel().values());
  const Point *found = nullptr;
  for (const Point &each : report.points)
    if (each.name == "two/kernel")
      found = &each;
  ASSERT_TRUE(found && found->total && found->own);
  EXPECT_EQ(found->total->sqnr, sums.sqnr());
  EXPECT_EQ(found->own->largest, sums.largest);
  EXPECT_FALSE(found->inherited);
  // The scale of 0.5 is taken back: half of the values would be 6 dB.
  EXPECT_LT(found->total->sqnr, 7);
}

// Both parts together are the error that mct-run prints for the same points, to
// the last bit. The input inherits no error, and a point with exact inputs
// causes all of its error.
TEST_F(EffectsTest, TotalErrorsAreThoseOfAComparison) {
  auto quantized = parse(branched(true));
  auto floating = with(*quantized, {});
  RunSettings settings = makeSettings(*quantized, 37);
  Report report = measure(*quantized, *floating, settings);
  EvaluationOptions options;
  mlir::OwningOpRef<mlir::ModuleOp> own = quantized->clone(),
                                    other = floating->clone();
  auto found = evaluate(*own, *other, settings, options);
  ASSERT_TRUE(mlir::succeeded(found));
  EXPECT_EQ(found->points.size(), 5u);
  for (const ComparedPoint &point : found->points)
    for (const Point &each : report.points)
      if (each.name == point.name) {
        ASSERT_TRUE(each.total && each.own && each.inherited) << point.name;
        EXPECT_EQ(each.total->sqnr, point.sums.sqnr()) << point.name;
        EXPECT_EQ(each.total->cosine, point.sums.cosine()) << point.name;
        EXPECT_EQ(each.total->largest, point.sums.largest) << point.name;
        if (point.name == "x") {
          EXPECT_TRUE(std::isinf(each.inherited->sqnr));
          EXPECT_EQ(each.own->sqnr, each.total->sqnr);
        } else {
          EXPECT_GT(each.inherited->sqnr, each.total->sqnr) << point.name;
          EXPECT_GT(each.own->sqnr, each.total->sqnr) << point.name;
        }
      }
  EXPECT_EQ(report.simulated.agreement, found->agreement);
}

// Answers counted by hand.
TEST_F(EffectsTest, ChangedPredictionsAreThoseThatDiffer) {
  auto quantized = parse(branched(true));
  auto floating = with(*quantized, {});
  RunSettings settings = makeSettings(*quantized, 150);
  Results floats = run(*floating, settings), found = run(*quantized, settings);
  llvm::SmallString<64> path;
  ASSERT_FALSE(llvm::sys::fs::createTemporaryFile("labels", "npy", path));
  std::vector<int32_t> labels;
  for (size_t sample = 0; sample != 150; ++sample)
    labels.push_back(int32_t(sample * 7 % 48));
  auto writer =
      llvm::cantFail(NpyWriter::create(path, ElementType::I32, {150}));
  writer->write(labels.data(), labels.size() * sizeof(int32_t));
  llvm::cantFail(writer->commit());
  Report report = measure(*quantized, *floating, settings, 0, path.str().str());
  llvm::sys::fs::remove(path);

  auto answer = [](const Floats &row) {
    return std::max_element(row.begin(), row.end()) - row.begin();
  };
  std::vector<std::vector<int64_t>> confusion(48, std::vector<int64_t>(48));
  size_t changed = 0;
  double correct = 0, floatCorrect = 0;
  for (size_t sample = 0; sample != 150; ++sample) {
    const Floats &f = floats[sample][0], &s = found[sample][0];
    int64_t wanted = answer(f), actual = answer(s);
    ++confusion[wanted][actual];
    correct += actual == labels[sample];
    floatCorrect += wanted == labels[sample];
    if (wanted == actual)
      continue;
    ASSERT_LT(changed, report.changed.size());
    const ChangedPrediction &each = report.changed[changed++];
    EXPECT_EQ(each.sample, int64_t(sample));
    EXPECT_EQ(each.floatClass, wanted);
    EXPECT_EQ(each.simulatedClass, actual);
    EXPECT_EQ(each.label, labels[sample]);
    EXPECT_EQ(each.floatMargin, double(f[wanted]) - f[actual]);
    EXPECT_EQ(each.simulatedMargin, double(s[actual]) - s[wanted]);
    if (changed == 64)
      break;
  }
  EXPECT_GT(changed, 5u);
  if (changed < 64) {
    EXPECT_EQ(report.numChanged, int64_t(changed));
    EXPECT_EQ(report.confusion, confusion);
    EXPECT_DOUBLE_EQ(*report.simulated.agreement, 1 - changed / 150.0);
    EXPECT_DOUBLE_EQ(*report.simulated.top1, correct / 150);
    EXPECT_DOUBLE_EQ(*report.floating.top1, floatCorrect / 150);
  }
  EXPECT_TRUE(report.hasLabels);
  ErrorSums sums;
  for (size_t sample = 0; sample != 150; ++sample)
    sums.add(found[sample][0], floats[sample][0]);
  EXPECT_NEAR(report.simulated.output->sqnr, sums.sqnr(), 1e-9);
  EXPECT_EQ(report.simulated.output->largest, sums.largest);
  EXPECT_FALSE(report.floating.output);
}

TEST_F(EffectsTest, ThreadsAndBatchesChangeNothing) {
  auto quantized = parse(branched(true));
  auto floating = with(*quantized, {});
  std::string expected;
  for (auto [threads, batch] :
       {std::pair<unsigned, int64_t>{1, 0}, {2, 0}, {3, 16}, {4, 1}}) {
    Report report = measure(*quantized, *floating,
                            makeSettings(*quantized, 150, threads, batch), 40);
    EXPECT_EQ(report.effectSamples, 40);
    EXPECT_EQ(report.samples, 150);
    if (expected.empty())
      expected = toText(report);
    EXPECT_EQ(toText(report), expected) << threads << " " << batch;
  }
}

TEST_F(EffectsTest, DeviationIsThatOfTheSamples) {
  auto quantized = parse(branched(true));
  auto floating = with(*quantized, {});
  RunSettings settings = makeSettings(*quantized, 37);
  Report report = measure(*quantized, *floating, settings);
  Results floats = run(*floating, settings), found = run(*quantized, settings);
  double mean = 0, squares = 0;
  std::vector<double> each;
  for (size_t sample = 0; sample != 37; ++sample)
    each.push_back(distance({floats[sample]}, {found[sample]}, true));
  for (double value : each)
    mean += value / 37;
  for (double value : each)
    squares += (value - mean) * (value - mean);
  EXPECT_NEAR(report.deviation, std::sqrt(squares / 36),
              1e-4 * report.deviation);
}

// A bias that linalg broadcasts first is no constant of the layer; it is
// changed after the layer.
TEST_F(EffectsTest, BiasesThatAreBroadcastAreSwitched) {
  const std::string image = "tensor<1x5x5x3xf32>",
                    kernel = "tensor<1x1x3x3xf32>";
  std::string text = "func.func @main(%x: " + image + " loc(\"x\")) -> " +
                     image + " {\n%e = tensor.empty() : " + image + "\n";
  std::string value = "x";
  for (std::string name : {"one", "two"}) {
    Floats weights = randomFloats(9, unsigned(name.size() + name[0]));
    std::string k, b = "dense<[0.25, -0.5, 0.75]> : tensor<3xf32>";
    for (float weight : weights)
      k += (k.empty() ? "" : ", ") + llvm::formatv("{0:f6}", weight).str();
    text += "%k" + name + " = arith.constant dense<[[[[" + k +
            "]]]]> : " + kernel + "\n";
    for (size_t at = text.rfind("[[[["), count = 0;
         (at = text.find(", ", at)) != std::string::npos && count != 8;
         ++count) {
      bool ends = count == 2 || count == 5;
      if (ends)
        text.replace(at, 2, "], [");
      at += 2;
    }
    text +=
        "%b" + name + " = arith.constant " + b + "\n%w" + name +
        " = tpc.quantize %k" + name + " as \"" + name +
        "\" weight \"kernel\" axes [3] parameters(#tpc.symmetric<threshold = "
        "[1.0, 0.75, 0.5], bits = 3>) corrections(#tpc.corrections<applied "
        "= [\"quantized_network\"], bias_offset = [0.125, -0.25, 0.0625], "
        "kernel_scale = [1.0]>) : " +
        kernel + "\n%i" + name + " = linalg.broadcast ins(%b" + name +
        " : tensor<3xf32>) outs(%e : " + image +
        ") dimensions = [0, 1, 2]\n%c" + name +
        " = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, "
        "strides = dense<1> : tensor<2xi64>} ins(%" +
        value + ", %w" + name + " : " + image + ", " + kernel + ") outs(%i" +
        name + " : " + image + ") -> " + image + " loc(\"" + name + "\")\n%q" +
        name + " = tpc.quantize %c" + name + " as \"" + name + "\" activation" +
        quantizer(4, 5) + " : " + image + "\n";
    value = "q" + name;
  }
  text += "return %" + value + " : " + image + "\n}";
  auto quantized = parse(text);
  ASSERT_TRUE(quantized);
  auto floating = with(*quantized, {});
  RunSettings settings = makeSettings(*quantized, 21);
  Report report = measure(*quantized, *floating, settings);
  EXPECT_EQ(report.noEffectsReason, "");
  Results floats = run(*floating, settings);
  ASSERT_EQ(report.points.size(), 4u);
  const std::map<std::string, std::string> corrected = {
      {"one/kernel", "one"}, {"one", "two"}, {"two/kernel", "two"}};
  for (const Point &point : report.points) {
    // The bias is added by the op that it initializes.
    mlir::OwningOpRef<mlir::ModuleOp> other = quantized->clone();
    other->walk([&](tpc::QuantizeOp each) {
      if (each.getUniqueName() == point.name)
        each.removeQuantizer();
    });
    if (auto layer = corrected.find(point.name); layer != corrected.end()) {
      std::vector<double> wanted = meansOf(*quantized, layer->second, settings),
                          now = meansOf(*other, layer->second, settings);
      KernelOp own = findLayer(*other, layer->second);
      std::vector<float> bias = *own.getBias();
      for (size_t channel = 0; channel != bias.size(); ++channel)
        bias[channel] += float(wanted[channel] - now[channel]);
      setConstant(own.getBiasConstant(), bias);
    }
    double expected = distance(floats, run(*other, settings), false);
    ASSERT_TRUE(point.effect) << point.name;
    EXPECT_NEAR(point.effect->without, expected, 1e-4 * expected) << point.name;
  }
}

// Points that cannot be switched, or results that cannot be compared:
// everything else is there.
TEST_F(EffectsTest, WhyThereAreNoEffects) {
  const std::string type = "tensor<1x4xf32>",
                    head = "func.func @main(%x: " + type + " loc(\"x\")) -> " +
                           type + " {\n",
                    point = "tpc.quantize %x as \"p\" activation" +
                            quantizer(1, 3) + " : " + type + "\n",
                    end = "return %0 : " + type + "\n}";
  auto plain =
      parse(head + "%0 = tosa.abs %x : (" + type + ") -> " + type + "\n" + end);
  auto nothing =
      parse(head + "%0 = tosa.abs %x : (" + type + ") -> " + type + "\n" + end);
  RunSettings settings = makeSettings(*plain, 7);
  EXPECT_EQ(measure(*nothing, *plain, settings).noEffectsReason,
            "no point of it quantizes");

  auto quantized = parse(head + "%0 = " + point + end);
  auto other = parse("func.func @main(%x: " + type +
                     " loc(\"x\")) -> tensor<1x1xf32> {\n%0 = tosa.reduce_sum "
                     "%x {axis = 1 : i32} : (" +
                     type +
                     ") -> tensor<1x1xf32>\nreturn %0 : "
                     "tensor<1x1xf32>\n}");
  Report report = measure(*quantized, *other, settings);
  EXPECT_EQ(report.noEffectsReason,
            "its results have other types than those of the float network");
  EXPECT_EQ(report.samples, 7);

  auto root =
      parse(head + "%0 = tosa.log %x : (" + type + ") -> " + type + "\n" + end);
  EXPECT_EQ(measure(*quantized, *root, settings).noEffectsReason,
            "results of the float network are not finite");

  auto integers = parse("func.func @main(%x: " + type +
                        " loc(\"x\")) -> tensor<1x4xi32> {\n%1 = " + point +
                        "%0 = tosa.cast %1 : (" + type +
                        ") -> tensor<1x4xi32>\nreturn %0 : "
                        "tensor<1x4xi32>\n}");
  auto floating = with(*integers, {});
  EXPECT_EQ(measure(*integers, *floating, settings).noEffectsReason,
            "no result of it is a tensor of f32 with a batch, whose change "
            "could be measured");

  auto corrected = parse(
      "func.func @main(%x: tensor<1x4x4x2xf32> loc(\"x\")) -> "
      "tensor<1x4x4x2xf32> {\n" +
      std::string(kZero) + constant("k", {2, 1, 1, 2}, 1) +
      constant("s", {2}, 2) +
      "%b = tosa.reduce_max %x {axis = 1 : i32} : (tensor<1x4x4x2xf32>) -> "
      "tensor<1x1x4x2xf32>\n%c = tosa.reduce_max %b {axis = 2 : i32} : "
      "(tensor<1x1x4x2xf32>) -> tensor<1x1x1x2xf32>\n%shape = tosa.const_shape "
      "{values = dense<[2]> : tensor<1xindex>} : () -> !tosa.shape<1>\n%d = "
      "tosa.reshape %c, %shape : (tensor<1x1x1x2xf32>, !tosa.shape<1>) -> "
      "tensor<2xf32>\n%w = tpc.quantize %k as \"c\" weight \"kernel\" axes []" +
      quantizer(1, 4) +
      " corrections(#tpc.corrections<applied = [\"quantized_network\"], "
      "bias_offset = [0.5, 0.25], kernel_scale = [1.0]>) : "
      "tensor<2x1x1x2xf32>\n%0 = tosa.conv2d %x, %w, %d, %zero, %zero "
      "{acc_type "
      "= f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, "
      "stride "
      "= array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<2x1x1x2xf32>, "
      "tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x2xf32>\n"
      "return %0 : tensor<1x4x4x2xf32>\n}");
  ASSERT_TRUE(corrected);
  report = measure(*corrected, *corrected, makeSettings(*corrected, 7));
  EXPECT_EQ(report.noEffectsReason,
            "the corrections of 'c' cannot be taken back: its bias or its "
            "float kernel cannot be read");
}

// Points that cannot be switched: the rest of the report is there.
TEST_F(EffectsTest, ControlFlowAndCallsHaveNoEffects) {
  const std::string type = "tensor<1x4xf32>",
                    point = "tpc.quantize %0 as \"p\" activation" +
                            quantizer(1, 3) + " : " + type + "\n";
  auto called =
      parse("func.func private @f(%y: " + type + ") -> " + type +
            " {\n%0 = tosa.abs %y : (" + type + ") -> " + type +
            "\nreturn %0 : " + type + "\n}\nfunc.func @main(%x: " + type +
            ") -> " + type + " {\n%0 = call @f(%x) : (" + type + ") -> " +
            type + "\n%1 = " + point + "return %1 : " + type + "\n}");
  ASSERT_TRUE(called);
  auto floating = with(*called, {});
  Report report = measure(*called, *floating, makeSettings(*called, 20));
  EXPECT_EQ(report.noEffectsReason,
            "it calls other functions, and points are switched within one; "
            "run the pass inline before");
  EXPECT_EQ(report.samples, 20);
  ASSERT_TRUE(report.simulated.output);
  EXPECT_FALSE(std::isinf(report.simulated.output->sqnr));
  ASSERT_EQ(report.points.size(), 1u);
  EXPECT_FALSE(report.points[0].effect);
}

// A fixed batch runs on all samples, whatever was asked for.
TEST_F(EffectsTest, FixedBatchesTakeAllSamples) {
  const std::string type = "tensor<4x3xf32>";
  auto quantized =
      parse("func.func @main(%y: " + type + " loc(\"y\")) -> " + type +
            " {\n%0 = tpc.quantize %y as \"y\" activation" + quantizer(1, 3) +
            " : " + type + "\n%1 = tosa.reduce_sum %0 {axis = 0 : i32} : (" +
            type + ") -> tensor<1x3xf32>\n%2 = tosa.add %0, %1 : (" + type +
            ", tensor<1x3xf32>) -> " + type + "\nreturn %2 : " + type + "\n}");
  ASSERT_TRUE(quantized);
  auto floating = with(*quantized, {});
  RunSettings settings = makeSettings(*quantized, 20);
  Report report = measure(*quantized, *floating, settings, 8);
  EXPECT_EQ(report.noEffectsReason, "");
  EXPECT_EQ(report.effectSamples, 20);
  ASSERT_TRUE(report.points[0].effect);
  EXPECT_EQ(report.points[0].effect->gain, report.distance);
  EXPECT_EQ(report.points[0].effect->without, 0);
  EXPECT_EQ(report.points[0].effect->share, 1);
}

// No network that runs makes it fail, and where nothing quantizes nothing is
// far from the float network.
TEST_F(EffectsTest, RandomNetworksAreMeasured) {
  size_t measured = 0, points = 0;
  for (unsigned seed = 1; seed != 40; ++seed) {
    auto network = mct::testing::makeRandomNetwork(context, seed);
    auto function = *findEntryFunction(*network, "");
    if (!llvm::all_of(function.getArgumentTypes(), [](mlir::Type type) {
          auto tensor = mlir::cast<mlir::RankedTensorType>(type);
          return tensor.getElementType().isF32() && tensor.getRank() > 0 &&
                 tensor.hasStaticShape() && tensor.getDimSize(0) == 1;
        }))
      continue;
    auto floating = with(*network, {});
    RunSettings settings = makeSettings(*network, 12);
    diagnostics.clear();
    Report report = measure(*network, *floating, settings);
    for (const Point &point : report.points) {
      EXPECT_TRUE(point.effect || !report.noEffectsReason.empty() ||
                  report.metric == "kl" ||
                  !pointsOf(*network).contains(point.name))
          << seed << " " << point.name;
      points += point.effect.has_value();
    }
    measured += report.noEffectsReason.empty();
    if (HasFailure()) {
      ADD_FAILURE() << "seed " << seed << ": " << llvm::join(diagnostics, "\n");
      break;
    }
  }
  EXPECT_GT(measured, 5u);
  EXPECT_GT(points, 15u);
}

} // namespace
