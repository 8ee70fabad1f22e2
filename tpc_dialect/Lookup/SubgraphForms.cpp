// SPDX-License-Identifier: Apache-2.0
#include "tpc_dialect/Lookup/Subgraphs.h"
#include "llvm/ADT/StringExtras.h"

using namespace mct::tpc;

// One row for every form in which importers write the operator.
static const SubgraphForm kFirstForms[] = {
    // A dense layer on rank-2 data: TFLite writes a 1x1 convolution on a
    // 1x1 image.
    {"fully_connected", R"(
        r = tosa.reshape x optional where "$keeps_last_axis" eq 1
        c = tosa.conv2d r const const kernel where "$kernel_h" eq 1 and "$kernel_w" eq 1
            and "$in_h" eq 1 and "$in_w" eq 1 and pad eq array<i64: 0, 0, 0, 0>
        y = tosa.reshape c optional where "$keeps_last_axis" eq 1)"},
    // torch-mlir writes a product with a constant, its bias before or after
    // the reshape back.
    {"fully_connected", R"(
        r = tosa.reshape x optional where "$keeps_last_axis" eq 1
        m = tosa.matmul r const kernel
        b = tosa.add m per_channel optional
        y = tosa.reshape b optional where "$keeps_last_axis" eq 1)"},
    {"fully_connected", R"(
        r = tosa.reshape x optional where "$keeps_last_axis" eq 1
        m = tosa.matmul r const kernel
        b = tosa.reshape m where "$keeps_last_axis" eq 1
        y = tosa.add b per_channel)"},
    // The form that torch-mlir writes, and then the same with more and more of
    // the constants folded.
    {"batch_norm", R"(
        d = tosa.sub x per_channel
        v = tosa.add const const
        r = tosa.rsqrt v
        n = tosa.mul d r
        g = tosa.mul n per_channel
        y = tosa.add g per_channel)"},
    {"batch_norm", R"(
        d = tosa.sub x per_channel
        r = tosa.rsqrt per_channel
        n = tosa.mul d r
        g = tosa.mul n per_channel
        y = tosa.add g per_channel)"},
    {"batch_norm", R"(
        d = tosa.sub x per_channel
        n = tosa.mul d per_channel
        g = tosa.mul n per_channel optional
        y = tosa.add g per_channel)"},
    {"batch_norm", R"(
        g = tosa.mul x per_channel
        y = tosa.add g per_channel)"},
    // torch-mlir of torch.export.
    {"batch_norm", R"(
        d = tosa.sub x per_channel
        v = tosa.add const const
        p = tosa.pow v const
        r = tosa.reciprocal p
        n = tosa.mul d r
        g = tosa.mul n per_channel
        y = tosa.add g per_channel)"},
    // TFLite bounds the sum of squares, torch-mlir its root.
    {"l2_norm", R"(
        q = tosa.mul x x
        s = tosa.reduce_sum q
        m = tosa.maximum s scalar
        r = tosa.rsqrt m
        y = tosa.mul x r)"},
    {"l2_norm", R"(
        q = tosa.mul x x
        s = tosa.reduce_sum q
        i = tosa.rsqrt s
        r = tosa.reciprocal i
        m = tosa.maximum r scalar
        n = tosa.reciprocal m
        y = tosa.mul x n)"},
    // A comparison with zero is a ReLU, a step with both bounds more than
    // that.
    {"relu", R"(
        y = tosa.maximum x 0)"},
    {"relu", R"(
        y = linalg.max x 0)"},
    // On TOSA, mct-normalize-activations replaces all of these forms.
    {"relu6", R"(
        c = tosa.clamp x where min_val eq 0.0 : f32
        y = tosa.minimum c 6)"},
    {"relu6", R"(
        m = tosa.maximum x 0
        y = tosa.minimum m 6)"},
    {"relu6", R"(
        m = linalg.max x 0
        y = linalg.min m 6)"},
    {"hard_tanh", R"(
        c = tosa.clamp x where min_val eq 0.0 : f32
        y = tosa.minimum c scalar)"},
    {"hard_tanh", R"(
        m = tosa.maximum x 0
        y = tosa.minimum m scalar)"},
    {"hard_tanh", R"(
        m = linalg.max x 0
        y = linalg.min m scalar)"},
    // With a slope in [0, 1] the larger value is the right one.
    {"leaky_relu", R"(
        m = tosa.mul x 0..1
        y = tosa.maximum x m)"},
};

// One slope for all is a LeakyReLU; a table of slopes, tried after it, which a
// target may quantize, a PReLU.
static constexpr llvm::StringLiteral kSlopeForms[] = {
    R"(
        m = tosa.mul x SLOPE
        c = tosa.greater_equal x 0
        y = tosa.select c x m)",
    R"(
        m = tosa.mul x SLOPE
        c = tosa.greater 0 x
        y = tosa.select c m x)",
    R"(
        p = tosa.maximum x 0
        n = tosa.minimum x 0
        m = tosa.mul n SLOPE
        y = tosa.add p m)",
    R"(
        p = tosa.clamp x where min_val eq 0.0 : f32 and max_val ge 3.40282347E+38 : f32
        n = tosa.minimum x 0
        m = tosa.mul n SLOPE
        y = tosa.add p m)",
    R"(
        p = tosa.clamp x where min_val eq 0.0 : f32 and max_val ge 3.40282347E+38 : f32
        n = tosa.clamp x where max_val eq 0.0 : f32 and min_val le -3.40282347E+38 : f32
        m = tosa.mul n SLOPE
        y = tosa.add p m)",
};

static const SubgraphForm kLastForms[] = {
    // The known range, from -1 on, holds for scales up to 1 only.
    {"elu", R"(
        e = tosa.exp x
        d = tosa.sub e 1
        m = tosa.mul d 0..1 optional
        c = tosa.greater_equal x 0
        y = tosa.select c x m)"},
    {"elu", R"(
        p = tosa.maximum x 0
        q = tosa.mul p 1 optional
        n = tosa.minimum x 0
        i = tosa.mul n 1 optional
        e = tosa.exp i
        d = tosa.sub e 1
        s = tosa.mul d 1 optional
        m = tosa.mul s 0..1 optional
        y = tosa.add q m)"},
    {"scaled_elu", R"(
        e = tosa.exp x
        d = tosa.sub e 1
        m = tosa.mul d scalar
        c = tosa.greater_equal x 0
        y = tosa.select c x m)"},
    {"scaled_elu", R"(
        p = tosa.maximum x 0
        q = tosa.mul p 1 optional
        n = tosa.minimum x 0
        i = tosa.mul n 1 optional
        e = tosa.exp i
        d = tosa.sub e 1
        s = tosa.mul d 1 optional
        m = tosa.mul s scalar
        y = tosa.add q m)"},
    {"div", R"(
        r = tosa.reciprocal y
        z = tosa.mul x r)"},
    {"swish", R"(
        s = tosa.sigmoid x
        y = tosa.mul x s)"},
    {"log_softmax", R"(
        m = tosa.reduce_max x same axis
        d = tosa.sub x m
        e = tosa.exp d
        s = tosa.reduce_sum e same axis
        l = tosa.log s
        y = tosa.sub d l)"},
    // The forms of torch-mlir, plain and then with the factor or the bounds
    // folded, and of ExecuTorch; Keras 2 has other factors.
    {"hard_sigmoid", R"(
        a = tosa.add x 3
        m = tosa.mul a 0.16666666666
        n = tosa.minimum m 1
        y = tosa.maximum n 0)"},
    {"hard_sigmoid", R"(
        a = tosa.add x 3
        r = tosa.reciprocal 6
        m = tosa.mul a r
        n = tosa.minimum m 1
        y = tosa.maximum n 0)"},
    {"hard_sigmoid", R"(
        a = tosa.add x 3
        m = tosa.mul a 0.16666666666
        y = tosa.clamp m where min_val eq 0.0 : f32 and max_val eq 1.0 : f32)"},
    {"hard_sigmoid", R"(
        a = tosa.add x 3
        c = tosa.clamp a where min_val eq 0.0 : f32 and max_val eq 6.0 : f32
        y = tosa.mul c 0.16666666666)"},
    {"hard_sigmoid", R"(
        m = tosa.mul x 0.2
        a = tosa.add m 0.5
        y = tosa.clamp a where min_val eq 0.0 : f32 and max_val eq 1.0 : f32)"},
    {"hard_sigmoid", R"(
        m = tosa.mul x 0.2
        a = tosa.add m 0.5
        n = tosa.minimum a 1
        y = tosa.maximum n 0)"},
    // TFLite multiplies with x first, torch-mlir last and with ReLU6 split
    // in two.
    {"hard_swish", R"(
        a = tosa.add x 3
        c = tosa.clamp a where min_val eq 0.0 : f32 and max_val eq 6.0 : f32
        m = tosa.mul x c
        y = tosa.mul m 0.16666666666)"},
    {"hard_swish", R"(
        a = tosa.add x 3
        c = tosa.clamp a where min_val eq 0.0 : f32 and max_val eq 6.0 : f32
        m = tosa.mul c 0.16666666666
        y = tosa.mul x m)"},
    {"hard_swish", R"(
        a = tosa.add x 3
        c = tosa.clamp a where min_val eq 0.0 : f32 and max_val gt 6.0 : f32
        n = tosa.minimum c 6
        m = tosa.mul n 0.16666666666
        y = tosa.mul x m)"},
    // The inputs are concatenated and then reshaped, or reshaped first.
    {"stack", R"(
        c = tosa.concat
        r = tosa.reshape c where "$stacked_inputs" ge 1
        y = tosa.transpose r optional)"},
    {"stack", R"(
        u = tosa.reshape where "$unit_axes" eq 1
        y = tosa.concat each u)"},
    // One result of an unstack, or an index among slices.
    {"slice_of_axis", R"(
        s = tosa.slice x
        y = tosa.reshape s where "$unit_axes" le -1)"},
    // A negative stride; a stride above 1, from groups of that size.
    {"strided_slice", R"(
        r = tosa.reverse x
        y = tosa.slice r)"},
    {"strided_slice", R"(
        b = tosa.slice x optional
        p = tosa.pad b optional
        r = tosa.reshape p where "$rank_change" ge 1
        s = tosa.slice r
        y = tosa.reshape s where "$unit_axes" le -1)"},
    {"space_to_batch", R"(
        p = tosa.pad x optional
        r = tosa.reshape p where "$rank_change" eq 2
        t = tosa.transpose r where perms eq array<i32: 2, 4, 0, 1, 3, 5>
        y = tosa.reshape t where "$rank_change" eq -2)"},
    // The dense layer in linalg. A product of two activations is not one.
    {"fully_connected", R"(
        y = linalg.matmul x const)"},
    {"fully_connected", R"(
        m = linalg.matmul x const kernel
        b = linalg.broadcast const
        y = linalg.add m b)"},
    {"fully_connected", R"(
        y = linalg.batch_matmul x const)"},
    {"fully_connected", R"(
        m = linalg.batch_matmul x const kernel
        b = linalg.broadcast const
        y = linalg.add m b)"},
    // A mean is a sum and its division.
    {"avg_pool", R"(
        p = linalg.pooling_nhwc_sum x
        y = linalg.div p scalar)"},
    {"avg_pool", R"(
        p = linalg.pooling_nhwc_sum x
        y = linalg.mul p scalar)"},
};

std::vector<SubgraphForm> mct::tpc::listOurSubgraphs() {
  std::vector<SubgraphForm> forms(std::begin(kFirstForms),
                                  std::end(kFirstForms));
  for (auto [name, slope] :
       {std::pair("leaky_relu", "scalar"), std::pair("prelu", "const kernel")})
    for (llvm::StringRef ops : kSlopeForms) {
      auto [before, after] = ops.split("SLOPE");
      forms.push_back({name, (before + slope + after).str()});
    }
  forms.insert(forms.end(), std::begin(kLastForms), std::end(kLastForms));
  return forms;
}
