// Only what keeps the distribution of the values may stand between the point and the layer.
// RUN: mct-opt %s --mct-correct-activation-bias=remarks=true --split-input-file --verify-diagnostics | FileCheck %s

// Each value twice: the mean error stays 0.5, times 1 + 2, and times 3 + 4.
// CHECK-LABEL: func.func @repeated
// CHECK:         as "matmul" {{.*}} bias_offset = [1.500000e+00, 3.500000e+00]
func.func @repeated(%arg0: tensor<1x1x2xf32>) -> tensor<1x2x2xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %x = tpc.quantize %arg0 as "in" activation statistics(#tpc.statistics<count = 4, zeros = 0, min = 0.5, max = 2.5, histogram = #tpc.histogram<step_exponent = 0, first = 0, counts = dense<[1, 1, 2]> : tensor<3xi64>>>) parameters(#tpc.power_of_two<threshold = [4.0], bits = 1, is_signed = false>) : tensor<1x1x2xf32>
  %multiples = tosa.const_shape {values = dense<[1, 2, 1]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %rows = tosa.tile %x, %multiples : (tensor<1x1x2xf32>, !tosa.shape<3>) -> tensor<1x2x2xf32>
  %kernel = "tosa.const"() <{values = dense<[[[1.0, 3.0], [2.0, 4.0]]]> : tensor<1x2x2xf32>}> : () -> tensor<1x2x2xf32>
  %w = tpc.quantize %kernel as "matmul" weight "kernel_attr" axes [2] parameters(#tpc.symmetric<threshold = [4.0, 4.0], bits = 8>) : tensor<1x2x2xf32>
  %0 = tosa.matmul %rows, %w, %zero, %zero : (tensor<1x2x2xf32>, tensor<1x2x2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x2xf32>
  return %0 : tensor<1x2x2xf32>
}

// -----

// Nobody knows which values are taken.
// CHECK-LABEL: func.func @sliced
// CHECK-NOT:     corrections
func.func @sliced(%arg0: tensor<1x2x2xf32>) -> tensor<1x1x2xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %x = tpc.quantize %arg0 as "in" activation statistics(#tpc.statistics<count = 4, zeros = 0, min = 0.5, max = 2.5, histogram = #tpc.histogram<step_exponent = 0, first = 0, counts = dense<[1, 1, 2]> : tensor<3xi64>>>) parameters(#tpc.power_of_two<threshold = [4.0], bits = 1, is_signed = false>) : tensor<1x2x2xf32>
  %start = tosa.const_shape {values = dense<0> : tensor<3xindex>} : () -> !tosa.shape<3>
  %size = tosa.const_shape {values = dense<[1, 1, 2]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %row = tosa.slice %x, %start, %size : (tensor<1x2x2xf32>, !tosa.shape<3>, !tosa.shape<3>) -> tensor<1x1x2xf32>
  %kernel = "tosa.const"() <{values = dense<[[[1.0, 3.0], [2.0, 4.0]]]> : tensor<1x2x2xf32>}> : () -> tensor<1x2x2xf32>
  %w = tpc.quantize %kernel as "matmul" weight "kernel_attr" axes [2] parameters(#tpc.symmetric<threshold = [4.0, 4.0], bits = 8>) : tensor<1x2x2xf32>
  // expected-remark@+1 {{its input has no point with statistics and parameters}}
  %0 = tosa.matmul %row, %w, %zero, %zero : (tensor<1x1x2xf32>, tensor<1x2x2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x2xf32>
  return %0 : tensor<1x1x2xf32>
}
