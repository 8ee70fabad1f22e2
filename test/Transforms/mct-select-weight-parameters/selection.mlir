// RUN: mct-opt %s --mct-select-weight-parameters | FileCheck %s

// One error for each channel: the first lies on its grid; of -4, -2, 1, 1 with 2 bits the least sum of squares is
// where the levels are -4, -2, 0 and 2.
// CHECK-LABEL: func.func @channels
// CHECK:         as "p" {{.*}} selection(#tpc.selection<error_method = mse, error = [0.000000e+00, 5.000000e-01], certificate = exact>)
#kernel2 = #tpc.attr_quant_config<method = power_of_two, bits = 2, per_channel = true, enabled = true>
func.func @channels() -> tensor<2x4xf32> {
  %k = "tosa.const"() <{values = dense<[[0.25, -0.5, 0.0, 0.0], [-4.0, -2.0, 1.0, 1.0]]> : tensor<2x4xf32>}> : () -> tensor<2x4xf32>
  %w = tpc.quantize %k as "p" weight "kernel_attr" axes [0] config(#kernel2) : tensor<2x4xf32>
  return %w : tensor<2x4xf32>
}

// Ten bits are more than the exact search takes: what is proven is a bound, or nothing.
// CHECK-LABEL: func.func @norm
// CHECK:         as "n" {{.*}} selection(#tpc.selection<error_method = mse, error = [{{[0-9.E-]*}}]{{(, certificate = (bound, bound = .*|exact))?}}>)
#kernel10 = #tpc.attr_quant_config<method = symmetric, bits = 10, enabled = true>
func.func @norm() -> tensor<5xf32> {
  %k = "tosa.const"() <{values = dense<[0.1, -0.7, 0.33, 0.9, -1.1]> : tensor<5xf32>}> : () -> tensor<5xf32>
  %w = tpc.quantize %k as "n" weight "kernel_attr" config(#kernel10) : tensor<5xf32>
  return %w : tensor<5xf32>
}
