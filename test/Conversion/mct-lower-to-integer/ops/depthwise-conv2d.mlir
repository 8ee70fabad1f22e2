// RUN: mct-opt %s --mct-lower-to-integer="io=integer" --mct-check-integer | mlir-opt-22 --tosa-attach-target="profiles=pro_int level=8k specification_version=1.0" --tosa-validate=strict-op-spec-alignment | FileCheck %s

// A depthwise convolution of unsigned codes, which are stored less 128.
// CHECK-LABEL: func.func @main
// CHECK:         tosa.depthwise_conv2d {{.*}}acc_type = i32{{.*}} : (tensor<1x5x5x3xi8>, tensor<3x3x3x1xi8>, tensor<3xi32>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x5x5x3xi32>
// CHECK:         tosa.rescale {{.*}}per_channel = true
func.func @main(%x_float: tensor<1x5x5x3xf32>) -> tensor<1x5x5x3xf32> {
  %x = tpc.quantize %x_float as "x" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, is_signed = false, rounding = half_up>) : tensor<1x5x5x3xf32>
  %w_float = "tosa.const"() <{values = dense<[[[[0.03125], [0.90625], [-0.71875]], [[0.90625], [-0.375], [-0.15625]], [[0.65625], [-0.1875], [0.09375]]], [[[-0.9375], [0.5], [0.0625]], [[-0.34375], [0.5625], [-0.40625]], [[-0.09375], [-0.71875], [-0.1875]]], [[[-0.59375], [-0.46875], [0.5]], [[-0.4375], [-0.03125], [0.96875]], [[0.9375], [0.4375], [0.09375]]]]> : tensor<3x3x3x1xf32>}> : () -> tensor<3x3x3x1xf32>
  %w = tpc.quantize %w_float as "w" weight "kernel_attr" axes [2] parameters(#tpc.power_of_two<threshold = [1.0, 0.5, 1.0], bits = 8>) : tensor<3x3x3x1xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %b = "tosa.const"() <{values = dense<[0.25, -0.5, 1.0]> : tensor<3xf32>}> : () -> tensor<3xf32>
  %y = tosa.depthwise_conv2d %x, %w, %b, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>} : (tensor<1x5x5x3xf32>, tensor<3x3x3x1xf32>, tensor<3xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x5x5x3xf32>
  %out = tpc.quantize %y as "out" activation parameters(#tpc.power_of_two<threshold = [4.0], bits = 8, rounding = half_up>) : tensor<1x5x5x3xf32>
  return %out : tensor<1x5x5x3xf32>
}
