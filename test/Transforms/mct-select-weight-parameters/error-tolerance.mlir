// RUN: mct-opt %s --mct-select-weight-parameters -o %t.least.mlir
// RUN: mct-opt %s --mct-select-weight-parameters="error-tolerance=1" | diff - %t.least.mlir
// RUN: mct-opt %s --mct-select-weight-parameters="error-tolerance=2" -o %t.two.mlir
// RUN: mct-opt %s --mct-select-weight-parameters="error-tolerance=3" -o %t.three.mlir
// RUN: FileCheck %s --check-prefixes=CHECK,LEAST < %t.least.mlir
// RUN: FileCheck %s --check-prefixes=CHECK,TWO < %t.two.mlir
// RUN: FileCheck %s --check-prefixes=CHECK,THREE < %t.three.mlir

// Remarks say why the error is not the least one.
// RUN: mct-opt %s --mct-select-weight-parameters="error-tolerance=2 remarks=true" -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARKS
// REMARKS: remark: mean squared error 4.291534e-06, the least there is{{$}}
// REMARKS: remark: mean squared error {{.*}}, at most 9.97{{[0-9]*}}e+01 % above the least there is: error-tolerance made 1 of 2 steps larger
// REMARKS: remark: mean squared error {{.*}}, at most 9.98{{[0-9]*}}e+01 % above the least there is: error-tolerance made 1 of 1 steps larger

#pot8 = #tpc.attr_quant_config<method = power_of_two, bits = 8, enabled = true>
#sym8 = #tpc.attr_quant_config<method = symmetric, bits = 8, per_channel = true, enabled = true>
#uniform8 = #tpc.attr_quant_config<method = uniform, bits = 8, enabled = true>
#sym7 = #tpc.attr_quant_config<method = symmetric, bits = 7, enabled = true>
#table4 = #tpc.attr_quant_config<method = lut_sym_quantizer, bits = 4, enabled = true>

// With steps of 1/128 the second value is 0.375 steps off, the first on a level. From 1/64 to 1/4 the first stays on a
// level and the second goes to zero: (0.625 / 0.375)^2 = 2.78 times the error. With 1/2 the first is off, too.
// CHECK-LABEL: func.func @powers_of_two
// LEAST:         parameters(#tpc.power_of_two<threshold = [1.000000e+00], bits = 8>) selection(#tpc.selection<error_method = mse, error = [4.291534{{[0-9]*}}E-6], certificate = exact>)
// TWO:           parameters(#tpc.power_of_two<threshold = [1.000000e+00], bits = 8>)
// THREE:         parameters(#tpc.power_of_two<threshold = [3.200000e+01], bits = 8>) selection(#tpc.selection<error_method = mse, error = [1.192092{{[0-9]*}}E-5], certificate = bound, bound = 1.77
func.func @powers_of_two() -> tensor<2xf32> {
  %k = "tosa.const"() <{values = dense<[0.75, 0.0048828125]> : tensor<2xf32>}> : () -> tensor<2xf32>
  %w = tpc.quantize %k as "pot" weight "kernel_attr" config(#pot8) : tensor<2xf32>
  return %w : tensor<2xf32>
}

// The first channel lies on its grid, without an error that could be doubled.
// CHECK-LABEL: func.func @channels
// LEAST:         parameters(#tpc.symmetric<threshold = [5.000000e-01, 1.02998{{[0-9]*}}], bits = 8>) selection(#tpc.selection<error_method = mse, error = [0.000000e+00, 4.28{{[0-9]*}}E-7], certificate = exact>)
// TWO:           parameters(#tpc.symmetric<threshold = [5.000000e-01, 1.03150{{[0-9]*}}], bits = 8>) selection(#tpc.selection<error_method = mse, error = [0.000000e+00, 8.55{{[0-9]*}}E-7], certificate = bound, bound = 0.997
// THREE:         parameters(#tpc.symmetric<threshold = [5.000000e-01, 1.03212{{[0-9]*}}], bits = 8>) selection(#tpc.selection<error_method = mse, error = [0.000000e+00, 1.283{{[0-9]*}}E-6], certificate = bound, bound = 1.995
func.func @channels() -> tensor<2x8xf32> {
  %k = "tosa.const"() <{values = dense<[[0.25, -0.5, 0.125, 0.0, 0.0, 0.0, 0.0, 0.0], [0.11379, -0.73164, 0.29753, 0.52391, -0.08117, 0.66742, -0.41863, 0.20968]]> : tensor<2x8xf32>}> : () -> tensor<2x8xf32>
  %w = tpc.quantize %k as "channels" weight "kernel_attr" axes [0] config(#sym8) : tensor<2x8xf32>
  return %w : tensor<2x8xf32>
}

// The zero point is that of the least error.
// CHECK-LABEL: func.func @uniform
// LEAST:         parameters(#tpc.uniform<scale = [0.003663{{[0-9]*}}], zero_point = [63], bits = 8>)
// TWO:           parameters(#tpc.uniform<scale = [0.005388{{[0-9]*}}], zero_point = [63], bits = 8>)
// THREE:         parameters(#tpc.uniform<scale = [0.005392{{[0-9]*}}], zero_point = [63], bits = 8>)
func.func @uniform() -> tensor<8xf32> {
  %k = "tosa.const"() <{values = dense<[0.113, -0.231, 0.297, 0.523, -0.081, 0.667, -0.118, 0.209]> : tensor<8xf32>}> : () -> tensor<8xf32>
  %w = tpc.quantize %k as "uniform" weight "kernel_attr" config(#uniform8) : tensor<8xf32>
  return %w : tensor<8xf32>
}

// Grids of fewer bits and tables keep the least error.
// CHECK-LABEL: func.func @seven_bits
// CHECK:         parameters(#tpc.symmetric<threshold = [0.835509{{[0-9]*}}], bits = 7>) selection(#tpc.selection<error_method = mse, error = [{{.*}}], certificate = exact>)
func.func @seven_bits() -> tensor<8xf32> {
  %k = "tosa.const"() <{values = dense<[0.113, -0.731, 0.297, 0.523, -0.081, 0.667, -0.418, 0.209]> : tensor<8xf32>}> : () -> tensor<8xf32>
  %w = tpc.quantize %k as "seven" weight "kernel_attr" config(#sym7) : tensor<8xf32>
  return %w : tensor<8xf32>
}

// CHECK-LABEL: func.func @table
// CHECK:         parameters(#tpc.lookup_table<method = lut_sym_quantizer, threshold = [0.761551{{[0-9]*}}],
func.func @table() -> tensor<8xf32> {
  %k = "tosa.const"() <{values = dense<[0.113, -0.731, 0.297, 0.523, -0.081, 0.667, -0.418, 0.209]> : tensor<8xf32>}> : () -> tensor<8xf32>
  %w = tpc.quantize %k as "table" weight "kernel_attr" config(#table4) : tensor<8xf32>
  return %w : tensor<8xf32>
}
