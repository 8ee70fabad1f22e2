// RUN: mct-opt %s --mct-lower-to-integer="io=integer" --mct-check-integer | mlir-opt-22 --tosa-attach-target="profiles=pro_int level=8k specification_version=1.0" --tosa-validate=strict-op-spec-alignment | FileCheck %s

// A transposed convolution.
// CHECK-LABEL: func.func @main
// CHECK:         tosa.transpose_conv2d {{.*}}acc_type = i32{{.*}} -> tensor<1x6x9x3xi32>
// CHECK:         tosa.rescale {{.*}}per_channel = true
func.func @main(%x_float: tensor<1x3x4x2xf32>) -> tensor<1x6x9x3xf32> {
  %x = tpc.quantize %x_float as "x" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<1x3x4x2xf32>
  %w_float = "tosa.const"() <{values = dense<[[[[0.03125, 0.90625], [-0.71875, 0.90625], [-0.375, -0.15625]], [[0.65625, -0.1875], [0.09375, -0.9375], [0.5, 0.0625]]], [[[-0.34375, 0.5625], [-0.40625, -0.09375], [-0.71875, -0.1875]], [[-0.59375, -0.46875], [0.5, -0.4375], [-0.03125, 0.96875]]], [[[0.9375, 0.4375], [0.09375, -0.4375], [-0.6875, 0.9375]], [[0.03125, -0.78125], [0.25, 0.5625], [0.21875, 0.84375]]]]> : tensor<3x2x3x2xf32>}> : () -> tensor<3x2x3x2xf32>
  %w = tpc.quantize %w_float as "w" weight "kernel_attr" axes [0] parameters(#tpc.power_of_two<threshold = [1.0, 0.5, 1.0], bits = 8>) : tensor<3x2x3x2xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %b = "tosa.const"() <{values = dense<[0.25, -0.5, 1.0]> : tensor<3xf32>}> : () -> tensor<3xf32>
  %y = tosa.transpose_conv2d %x, %w, %b, %zero, %zero {acc_type = f32, out_pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>} : (tensor<1x3x4x2xf32>, tensor<3x2x3x2xf32>, tensor<3xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x6x9x3xf32>
  %out = tpc.quantize %y as "out" activation parameters(#tpc.power_of_two<threshold = [4.0], bits = 8, rounding = half_up>) : tensor<1x6x9x3xf32>
  return %out : tensor<1x6x9x3xf32>
}
