// RUN: mct-opt %s --mct-rescale-parts --verify-diagnostics | FileCheck %s

// What is joined with the input goes up to 384: 2^-9 of it is below 1, as the input is.
// CHECK-LABEL: func.func @main
// CHECK:         %[[X:.*]] = tpc.quantize %arg0 as "x" activation statistics
// CHECK:         %[[KERNEL:.*]] = "tosa.const"() <{values = dense<{{\[\[\[}}5.000000e-01], [2.500000e-01]]]> : tensor<1x2x1xf32>}>
// CHECK:         %[[LAYER:.*]] = tosa.matmul %[[X]], %[[KERNEL]]
// CHECK:         %[[BOXES:.*]] = tpc.quantize %[[LAYER]] as "boxes_scaled" activation :
// CHECK:         %[[CONCAT:.*]] = tosa.concat %[[X]], %[[BOXES]]
// CHECK:         %[[JOINED:.*]] = tpc.quantize %[[CONCAT]] as "joined_scaled" activation :
// CHECK:         %[[KERNEL2:.*]] = "tosa.const"() <{values = dense<{{\[\[\[}}1.000000e+00], [-2.000000e+00], [1.280000e+02]]]> : tensor<1x3x1xf32>}>
// CHECK:         tosa.matmul %[[JOINED]], %[[KERNEL2]]
func.func @main(%arg0: tensor<1x1x2xf32>) -> tensor<1x1x1xf32> {
  %kernel = "tosa.const"() <{values = dense<[[[256.0], [128.0]]]> : tensor<1x2x1xf32>}> : () -> tensor<1x2x1xf32>
  %kernel2 = "tosa.const"() <{values = dense<[[[1.0], [-2.0], [0.25]]]> : tensor<1x3x1xf32>}> : () -> tensor<1x3x1xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %x = tpc.quantize %arg0 as "x" activation statistics(#tpc.statistics<count = 8, zeros = 0, min = -1.0, max = 1.0>) : tensor<1x1x2xf32>
  %0 = tosa.matmul %x, %kernel, %zero, %zero : (tensor<1x1x2xf32>, tensor<1x2x1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1xf32>
  %boxes = tpc.quantize %0 as "boxes" activation statistics(#tpc.statistics<count = 8, zeros = 0, min = 0.0, max = 384.0>) : tensor<1x1x1xf32>
  %1 = tosa.concat %x, %boxes {axis = 2 : i32} : (tensor<1x1x2xf32>, tensor<1x1x1xf32>) -> tensor<1x1x3xf32>
  // expected-remark @+1 {{'joined' joins parts up to 1 and up to 384: 1 of its 2 parts take powers of two, which 1 constants behind it take back}}
  %joined = tpc.quantize %1 as "joined" activation
    statistics(#tpc.statistics<count = 8, zeros = 0, min = -1.0, max = 384.0,
                               channel_mean = dense<0.0> : tensor<3xf64>, channel_mean_square = dense<1.0> : tensor<3xf64>,
                               channel_min = dense<[-1.0, -1.0, 0.0]> : tensor<3xf32>,
                               channel_max = dense<[1.0, 1.0, 384.0]> : tensor<3xf32>>) : tensor<1x1x3xf32>
  %2 = tosa.matmul %joined, %kernel2, %zero, %zero : (tensor<1x1x3xf32>, tensor<1x3x1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1xf32>
  return %2 : tensor<1x1x1xf32>
}
