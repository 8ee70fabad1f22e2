// RUN: mct-opt %s --mct-lower-to-integer="io=integer" --mct-check-integer | mlir-opt-22 --tosa-attach-target="profiles=pro_int level=8k specification_version=1.0" --tosa-validate=strict-op-spec-alignment | FileCheck %s

// A product with a constant kernel: a convolution of one position, its bias inside.
// CHECK-LABEL: func.func @main
// CHECK-NOT:     tosa.matmul
// CHECK-NOT:     tosa.add
// CHECK:         tosa.conv2d {{.*}} : (tensor<1x4x1x6xi8>, tensor<5x1x1x6xi8>, tensor<5xi32>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x4x1x5xi32>
// CHECK:         tosa.rescale {{.*}}per_channel = true
func.func @main(%x_float: tensor<1x4x6xf32>) -> tensor<1x4x5xf32> {
  %x = tpc.quantize %x_float as "x" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<1x4x6xf32>
  %w_float = "tosa.const"() <{values = dense<[[[0.03125, 0.90625, -0.71875, 0.90625, -0.375], [-0.15625, 0.65625, -0.1875, 0.09375, -0.9375], [0.5, 0.0625, -0.34375, 0.5625, -0.40625], [-0.09375, -0.71875, -0.1875, -0.59375, -0.46875], [0.5, -0.4375, -0.03125, 0.96875, 0.9375], [0.4375, 0.09375, -0.4375, -0.6875, 0.9375]]]> : tensor<1x6x5xf32>}> : () -> tensor<1x6x5xf32>
  %w = tpc.quantize %w_float as "w" weight "kernel_attr" axes [2] parameters(#tpc.power_of_two<threshold = [1.0, 0.5, 1.0, 0.5, 1.0], bits = 8>) : tensor<1x6x5xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %b = "tosa.const"() <{values = dense<[[[0.25, -0.5, 1.0, 0.0, 0.125]]]> : tensor<1x1x5xf32>}> : () -> tensor<1x1x5xf32>
  %y = tosa.matmul %x, %w, %zero, %zero : (tensor<1x4x6xf32>, tensor<1x6x5xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x5xf32>
  %z = tosa.add %y, %b : (tensor<1x4x5xf32>, tensor<1x1x5xf32>) -> tensor<1x4x5xf32>
  %out = tpc.quantize %z as "out" activation parameters(#tpc.power_of_two<threshold = [4.0], bits = 8, rounding = half_up>) : tensor<1x4x5xf32>
  return %out : tensor<1x4x5xf32>
}
