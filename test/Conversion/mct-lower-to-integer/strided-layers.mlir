// TOSA wants the rows and columns after the last window cut off; Ethos-U reads whole images of few channels, with kernels of zeros.
// RUN: mct-opt %s --mct-lower-to-integer="io=integer profile=ethos-u85" | FileCheck %s --check-prefixes=CHECK,WHOLE
// RUN: mct-opt %s --mct-lower-to-integer="io=integer" | FileCheck %s --check-prefixes=CHECK,PART
// RUN: mct-opt %s --mct-lower-to-integer="io=integer profile=ethos-u85" -o %t.mlirbc
// RUN: mct-run %t.mlirbc --compare=%s --exact --input=%S/Inputs/strided-layers.npy | FileCheck %s --check-prefix=SAME
// SAME: total {{.*}} 0 {{ *}}0

// CHECK-LABEL: func.func @main
// CHECK-SAME:    %[[X:.*]]: tensor<1x4x4x4xi8>
// WHOLE:         %[[K:.*]] = "tosa.const"() <{values = dense<{{\[\[\[\[}}32, 64, -32, 16], [0, 0, 0, 0]], {{\[\[}}0, 0, 0, 0], [0, 0, 0, 0]]], {{.*}}> : tensor<2x2x2x4xi8>}>
// WHOLE:         tosa.conv2d %[[X]], %[[K]]
// PART:          %[[A:.*]] = tosa.slice %[[X]]
// PART:          tosa.conv2d %[[A]]
// CHECK:         %[[B:.*]] = tosa.slice %[[X]]
// CHECK:         tosa.conv2d %[[B]], {{.*}} tensor<2x1x1x4xi8>
func.func @main(%arg0: tensor<1x4x4x4xf32>) -> (tensor<1x2x2x2xf32>, tensor<1x2x2x2xf32>) {
  %kernel = "tosa.const"() <{values = dense<[[[[0.25, 0.5, -0.25, 0.125]]], [[[0.5, -0.5, 0.25, 0.75]]]]> : tensor<2x1x1x4xf32>}> : () -> tensor<2x1x1x4xf32>
  %bias = "tosa.const"() <{values = dense<[0.25, -0.5]> : tensor<2xf32>}> : () -> tensor<2xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %start = tosa.const_shape {values = dense<0> : tensor<4xindex>} : () -> !tosa.shape<4>
  %later = tosa.const_shape {values = dense<[0, 1, 0, 0]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %size = tosa.const_shape {values = dense<[1, 3, 3, 4]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %x = tpc.quantize %arg0 as "x" activation parameters(#tpc.power_of_two<threshold = [1.0], bits = 8, rounding = half_up>) : tensor<1x4x4x4xf32>
  %w = tpc.quantize %kernel as "a" weight "kernel_attr" axes [0] parameters(#tpc.power_of_two<threshold = [1.0], bits = 8>) : tensor<2x1x1x4xf32>
  %part = tosa.slice %x, %start, %size : (tensor<1x4x4x4xf32>, !tosa.shape<4>, !tosa.shape<4>) -> tensor<1x3x3x4xf32>
  %0 = tosa.conv2d %part, %w, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>}
         : (tensor<1x3x3x4xf32>, tensor<2x1x1x4xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x2x2xf32>
  %a = tpc.quantize %0 as "a" activation parameters(#tpc.power_of_two<threshold = [4.0], bits = 8, rounding = half_up>) : tensor<1x2x2x2xf32>
  // One that begins at the second row is not a part that a larger kernel reads.
  %v = tpc.quantize %kernel as "b" weight "kernel_attr" axes [0] parameters(#tpc.power_of_two<threshold = [1.0], bits = 8>) : tensor<2x1x1x4xf32>
  %other = tosa.slice %x, %later, %size : (tensor<1x4x4x4xf32>, !tosa.shape<4>, !tosa.shape<4>) -> tensor<1x3x3x4xf32>
  %1 = tosa.conv2d %other, %v, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>}
         : (tensor<1x3x3x4xf32>, tensor<2x1x1x4xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x2x2xf32>
  %b = tpc.quantize %1 as "b" activation parameters(#tpc.power_of_two<threshold = [4.0], bits = 8, rounding = half_up>) : tensor<1x2x2x2xf32>
  return %a, %b : tensor<1x2x2x2xf32>, tensor<1x2x2x2xf32>
}
