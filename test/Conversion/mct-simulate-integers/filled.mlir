// RUN: mct-opt %s --mct-simulate-integers | FileCheck %s

// Padding with a level of the grid, as the correction of negative tails leaves
// it: what is read lies on the grid, and the bias 0.3 becomes 1229 steps of
// 2^-5 * 2^-7. The second one pads with a number between two levels.
// CHECK-LABEL: func.func @main
// CHECK:         tpc.quantize {{.*}} as "conv" weight
// CHECK:         %[[ON:.*]] = "tosa.const"() <{values = dense<0.300048828> : tensor<1xf32>}>
// CHECK:         tosa.conv2d %{{.*}}, %{{.*}}, %[[ON]],
// CHECK:         %[[OFF:.*]] = "tosa.const"() <{values = dense<3.000000e-01> : tensor<1xf32>}>
// CHECK:         tosa.conv2d %{{.*}}, %{{.*}}, %[[OFF]],
func.func @main(%x: tensor<1x2x2x1xf32>) -> (tensor<1x3x2x1xf32>, tensor<1x3x2x1xf32>) {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %in = tpc.quantize %x as "in" activation parameters(#tpc.power_of_two<threshold = [4.0], bits = 8>) : tensor<1x2x2x1xf32>
  %sizes = tosa.const_shape {values = dense<[0, 0, 1, 0, 0, 0, 0, 0]> : tensor<8xindex>} : () -> !tosa.shape<8>
  %level = "tosa.const"() <{values = dense<0.375> : tensor<1xf32>}> : () -> tensor<1xf32>
  %between = "tosa.const"() <{values = dense<0.376> : tensor<1xf32>}> : () -> tensor<1xf32>
  %k = "tosa.const"() <{values = dense<0.5> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %w = tpc.quantize %k as "conv" weight "kernel_attr" axes [] parameters(#tpc.power_of_two<threshold = [1.0], bits = 8>) : tensor<1x1x1x1xf32>
  %bias = "tosa.const"() <{values = dense<0.3> : tensor<1xf32>}> : () -> tensor<1xf32>
  %p = tosa.pad %in, %sizes, %level : (tensor<1x2x2x1xf32>, !tosa.shape<8>, tensor<1xf32>) -> tensor<1x3x2x1xf32>
  %0 = tosa.conv2d %p, %w, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x3x2x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x3x2x1xf32>
  %q = tosa.pad %in, %sizes, %between : (tensor<1x2x2x1xf32>, !tosa.shape<8>, tensor<1xf32>) -> tensor<1x3x2x1xf32>
  %b2 = "tosa.const"() <{values = dense<0.3> : tensor<1xf32>}> : () -> tensor<1xf32>
  %1 = tosa.conv2d %q, %w, %b2, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x3x2x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x3x2x1xf32>
  return %0, %1 : tensor<1x3x2x1xf32>, tensor<1x3x2x1xf32>
}
