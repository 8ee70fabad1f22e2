// RUN: mct-opt %s --mct-add-error-tolerances=weights-error-tolerances=2,16 | FileCheck %s
// RUN: mct-opt %s --mct-add-error-tolerances=weights-error-tolerances=2,16 --mct-choose-candidates=choices=conv=3 --mct-select-weight-parameters | FileCheck %s --check-prefix=LARGE
// RUN: mct-opt %s --mct-add-error-tolerances=weights-error-tolerances=2,16 --mct-select-weight-parameters | FileCheck %s --check-prefix=LEAST
// RUN: not mct-opt %s --mct-add-error-tolerances=weights-error-tolerances=4,1 2>&1 | FileCheck %s --check-prefix=ONE

// ONE: error: weights-error-tolerances has 1; give factors of the squared error from 2 on

// Alternatives that are there keep their places, those of 4 bits get no
// tolerance, and the points of an operator list the same number of them.
#w8 = #tpc.attr_quant_config<method = symmetric, bits = 8, enabled = true>
#w4 = #tpc.attr_quant_config<method = symmetric, bits = 4, enabled = true>
#a8 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], default_weight = #w8>
// CHECK-DAG: #[[$W4:.*]] = #tpc.attr_quant_config<method = symmetric, bits = 4, enabled = true>
// CHECK-DAG: #[[$W8:.*]] = #tpc.attr_quant_config<method = symmetric, bits = 8, enabled = true>
// CHECK-DAG: #[[$W2:.*]] = #tpc.attr_quant_config<method = symmetric, bits = 8, enabled = true, error_tolerance = 2>
// CHECK-DAG: #[[$W16:.*]] = #tpc.attr_quant_config<method = symmetric, bits = 8, enabled = true, error_tolerance = 16>
// CHECK-DAG: #[[$A8:.*]] = #tpc.op_quant_config<
// CHECK-LABEL: func.func @main
// CHECK: weight "kernel_attr" config(#[[$W8]]) candidates(#tpc.alternatives<of = "conv", configs = [#[[$W8]], #[[$W4]], #[[$W2]], #[[$W16]]], chosen = 0>)
// CHECK: activation config(#[[$A8]]) candidates(#tpc.alternatives<of = "conv", configs = [#[[$A8]], #[[$A8]], #[[$A8]], #[[$A8]]], chosen = 0>)

// A table has no grid.
// CHECK: as "table" weight "kernel_attr" config(#{{[^)]*}}) : tensor

// The last step is the largest with at most 16 times the least error.
// LEAST: as "conv" weight "kernel_attr" {{.*}}parameters(#tpc.symmetric<threshold = [{{1\.0[0-9]*}}]
// LARGE: as "conv" weight "kernel_attr" {{.*}}parameters(#tpc.symmetric<threshold = [{{[2-9]\.[0-9]*}}]
#t4 = #tpc.attr_quant_config<method = lut_sym_quantizer, bits = 4, enabled = true, lut_values_bits = 8>
func.func @main(%arg0: tensor<1x1x1x4xf32>) -> (tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>) {
  %kernel = "tosa.const"() <{values = dense<[[[[1.0, 0.25317, -0.77773, 0.12345]]]]> : tensor<1x1x1x4xf32>}> : () -> tensor<1x1x1x4xf32>
  %bias = "tosa.const"() <{values = dense<1.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %w = tpc.quantize %kernel as "conv" weight "kernel_attr" config(#w8)
    candidates(#tpc.alternatives<of = "conv", configs = [#w8, #w4], chosen = 0>) : tensor<1x1x1x4xf32>
  %0 = tosa.conv2d %arg0, %w, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x4xf32>, tensor<1x1x1x4xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x1xf32>
  %1 = tpc.quantize %0 as "conv" activation config(#a8)
    candidates(#tpc.alternatives<of = "conv", configs = [#a8, #a8], chosen = 0>) : tensor<1x1x1x1xf32>
  %t = tpc.quantize %kernel as "table" weight "kernel_attr" config(#t4) : tensor<1x1x1x4xf32>
  %2 = tosa.conv2d %arg0, %t, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x4xf32>, tensor<1x1x1x4xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x1xf32>
  return %1, %2 : tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>
}
