// RUN: mct-opt %s --mct-select-weight-parameters="error-method=no-clipping" | FileCheck %s
// RUN: mct-opt %s --mct-select-weight-parameters="error-method=mse" | FileCheck %s --check-prefix=MSE
// RUN: mct-opt %s --mct-select-weight-parameters="threads=1" -o %t.1
// RUN: mct-opt %s --mct-select-weight-parameters="threads=3" -o %t.3
// RUN: cmp %t.1 %t.3

#pot = #tpc.attr_quant_config<method = power_of_two, bits = 8, enabled = true>
#sym = #tpc.attr_quant_config<method = symmetric, bits = 2, enabled = true>
#uni = #tpc.attr_quant_config<method = uniform, bits = 2, enabled = true>

// 1.0 is not a level of threshold 1 (the largest is 127/128): without clipping it takes 2.
// CHECK-LABEL: func.func @power_of_two
// CHECK:         parameters(#tpc.power_of_two<threshold = [2.000000e+00], bits = 8>)
func.func @power_of_two() -> tensor<3xf32> {
  %k = "tosa.const"() <{values = dense<[0.25, -0.5, 1.0]> : tensor<3xf32>}> : () -> tensor<3xf32>
  %w = tpc.quantize %k as "p" weight "kernel_attr" config(#pot) : tensor<3xf32>
  return %w : tensor<3xf32>
}

// One threshold for the tensor. 2 bits end at t/2, so no-clipping takes twice the largest value; the mean squared error
// is smallest at t = 28/9.
// CHECK-LABEL: func.func @symmetric_per_tensor
// CHECK:         parameters(#tpc.symmetric<threshold = [4.000000e+00], bits = 2>)
// MSE-LABEL:   func.func @symmetric_per_tensor
// MSE:           parameters(#tpc.symmetric<threshold = [3.1111
func.func @symmetric_per_tensor() -> tensor<6xf32> {
  %k = "tosa.const"() <{values = dense<[-4.0, -2.0, 1.0, 1.0, 1.0, 1.0]> : tensor<6xf32>}> : () -> tensor<6xf32>
  %w = tpc.quantize %k as "s" weight "kernel_attr" config(#sym) : tensor<6xf32>
  return %w : tensor<6xf32>
}

// CHECK-LABEL: func.func @uniform
// CHECK:         parameters(#tpc.uniform<scale = [1.000000e+00], zero_point = [1], bits = 2>)
func.func @uniform() -> tensor<4xf32> {
  %k = "tosa.const"() <{values = dense<[-1.0, 0.0, 1.0, 2.0]> : tensor<4xf32>}> : () -> tensor<4xf32>
  %w = tpc.quantize %k as "u" weight "kernel_attr" config(#uni) : tensor<4xf32>
  return %w : tensor<4xf32>
}

// What is decided stays decided.
// CHECK-LABEL: func.func @present_parameters_stay
// CHECK:         parameters(#tpc.power_of_two<threshold = [6.400000e+01], bits = 8>)
func.func @present_parameters_stay() -> tensor<1xf32> {
  %k = "tosa.const"() <{values = dense<1.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %w = tpc.quantize %k as "p" weight "kernel_attr" config(#pot) parameters(#tpc.power_of_two<threshold = [64.0], bits = 8>) : tensor<1xf32>
  return %w : tensor<1xf32>
}
