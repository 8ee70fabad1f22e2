// RUN: mct-opt %s --mct-assign-bit-widths=budget=weights:50% | FileCheck %s
// RUN: mct-opt %s --mct-assign-bit-widths=budget=weights:100% | FileCheck %s --check-prefix=ALL

// The limit stays as long as it is kept to: when another alternative is taken nobody knows.
// RUN: mct-opt %s --mct-assign-bit-widths=budget=weights:50% --mct-choose-candidates=choices=conv=1 | FileCheck %s --check-prefix=KEPT
// RUN: mct-opt %s --mct-assign-bit-widths=budget=weights:50% --mct-choose-candidates=choices=conv=0 | FileCheck %s --check-prefix=GONE
// RUN: mct-opt %s --mct-assign-bit-widths=budget=weights:50%,bops:90% --mct-report-resources -o /dev/null | FileCheck %s --check-prefix=TEXT
// RUN: mct-opt %s --mct-assign-bit-widths=budget=weights:50% --mct-report-resources=format=json -o /dev/null | FileCheck %s --check-prefix=JSON
// KEPT: tpc.budget
// GONE-NOT: tpc.budget
// TEXT:      budget: weights_bytes 1
// TEXT-NEXT: budget: bops {{[0-9]+}}
// JSON:      "budget": {
// JSON-NEXT:   "weights_bytes": 1

#w8 = #tpc.attr_quant_config<method = symmetric, bits = 8, enabled = true>
#w2 = #tpc.attr_quant_config<method = symmetric, bits = 2, enabled = true>
// CHECK-DAG: #[[$W8:.*]] = #tpc.attr_quant_config<method = symmetric, bits = 8,
// CHECK-DAG: #[[$W2:.*]] = #tpc.attr_quant_config<method = symmetric, bits = 2,

// CHECK-LABEL: func.func @main
// CHECK-SAME:    attributes {tpc.budget = {weights_bytes = 1 : i64}, tpc.sensitivities = {metric = "mse", of = {conv = [4.000000e-06, 2.500000e-01]}, samples = 4 : i64}}
// CHECK:         tpc.quantize %{{.*}} as "conv" weight "kernel_attr" config(#[[$W2]]) candidates(#tpc.alternatives<of = "conv", configs = [#[[$W8]], #[[$W2]]], chosen = 1>) : tensor
// ALL:           tpc.budget = {weights_bytes = 2 : i64}
// ALL:           chosen = 0>) parameters(#tpc.symmetric<threshold = [1.000000e+00], bits = 8>)
func.func @main(%arg0: tensor<1x1x1x2xf32>) -> tensor<1x1x1x1xf32>
    attributes {tpc.sensitivities = {metric = "mse", of = {conv = [4.0e-06, 2.5e-01]}, samples = 4 : i64}} {
  %kernel = "tosa.const"() <{values = dense<[[[[1.0, 0.25]]]]> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %bias = "tosa.const"() <{values = dense<1.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %w = tpc.quantize %kernel as "conv" weight "kernel_attr" config(#w8)
    candidates(#tpc.alternatives<of = "conv", configs = [#w8, #w2], chosen = 0>)
    parameters(#tpc.symmetric<threshold = [1.0], bits = 8>) : tensor<1x1x1x2xf32>
  %0 = tosa.conv2d %arg0, %w, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x2xf32>, tensor<1x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x1xf32>
  return %0 : tensor<1x1x1x1xf32>
}
