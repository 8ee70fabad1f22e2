// RUN: mct-opt %s --mct-add-error-tolerances=weights-error-tolerances=4 | FileCheck %s
// RUN: mct-opt %s --mct-add-error-tolerances | FileCheck %s --check-prefix=NONE

#w8 = #tpc.attr_quant_config<method = symmetric, bits = 8, enabled = true>
// CHECK-DAG: #[[$W8:.*]] = #tpc.attr_quant_config<method = symmetric, bits = 8, enabled = true>
// CHECK-DAG: #[[$W8_4:.*]] = #tpc.attr_quant_config<method = symmetric, bits = 8, enabled = true, error_tolerance = 4>

// CHECK-LABEL: func.func @main
// CHECK: tpc.quantize %{{.*}} as "conv" weight "kernel_attr" config(#[[$W8]]) candidates(#tpc.alternatives<of = "conv", configs = [#[[$W8]], #[[$W8_4]]], chosen = 0>)
// NONE-NOT: candidates
func.func @main(%arg0: tensor<1x1x1x2xf32>) -> tensor<1x1x1x1xf32> {
  %kernel = "tosa.const"() <{values = dense<[[[[1.0, 0.25]]]]> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %bias = "tosa.const"() <{values = dense<1.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %w = tpc.quantize %kernel as "conv" weight "kernel_attr" config(#w8) : tensor<1x1x1x2xf32>
  %0 = tosa.conv2d %arg0, %w, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x2xf32>, tensor<1x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x1xf32>
  return %0 : tensor<1x1x1x1xf32>
}
