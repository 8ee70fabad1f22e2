// RUN: mct-opt %s --mct-lower-to-integer="io=integer" --mct-check-integer | mlir-opt-22 --tosa-attach-target="profiles=pro_int level=8k specification_version=1.0" --tosa-validate=strict-op-spec-alignment | FileCheck %s

// Scaled, masked, turned and limited sums, and sums of them: all in i32, rounded once.
// CHECK-LABEL: func.func @main
// CHECK:         tosa.matmul {{.*}} -> tensor<1x4x4xi32>
// CHECK:         tosa.add
// CHECK:         tosa.transpose {{.*}} -> tensor<1x4x4xi32>
// CHECK:         tosa.conv2d {{.*}} -> tensor<1x4x1x4xi32>
// CHECK:         tosa.maximum
// CHECK:         tosa.sub {{.*}} -> tensor<1x4x4xi32>
// CHECK:         tosa.add {{.*}} -> tensor<1x4x4xi32>
// CHECK:         tosa.rescale {{.*}} -> tensor<1x4x4xi8>
func.func @main(%x_float: tensor<1x4x6xf32>, %y_float: tensor<1x6x4xf32>, %b_float: tensor<1x4x4xf32>) -> tensor<1x4x4xf32> {
  %x = tpc.quantize %x_float as "x" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<1x4x6xf32>
  %y = tpc.quantize %y_float as "y" activation parameters(#tpc.power_of_two<threshold = [1.0], bits = 8, rounding = half_up>) : tensor<1x6x4xf32>
  %b = tpc.quantize %b_float as "b" activation parameters(#tpc.power_of_two<threshold = [4.0], bits = 8, rounding = half_up>) : tensor<1x4x4xf32>
  %w_float = "tosa.const"() <{values = dense<[[[0.03125, 0.90625, -0.71875, 0.90625], [-0.375, -0.15625, 0.65625, -0.1875], [0.09375, -0.9375, 0.5, 0.0625], [-0.34375, 0.5625, -0.40625, -0.09375], [-0.71875, -0.1875, -0.59375, -0.46875], [0.5, -0.4375, -0.03125, 0.96875]]]> : tensor<1x6x4xf32>}> : () -> tensor<1x6x4xf32>
  %w = tpc.quantize %w_float as "w" weight "kernel_attr" axes [2] parameters(#tpc.power_of_two<threshold = [1.0, 0.5, 1.0, 0.25], bits = 8>) : tensor<1x6x4xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %mask = "tosa.const"() <{values = dense<[[[0.0, -2.0, 0.25, -0.5]]]> : tensor<1x1x4xf32>}> : () -> tensor<1x1x4xf32>
  %scale = "tosa.const"() <{values = dense<0.25> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
  %p = tosa.matmul %x, %y, %zero, %zero : (tensor<1x4x6xf32>, tensor<1x6x4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4xf32>
  %s = tosa.mul %p, %scale, %shift : (tensor<1x4x4xf32>, tensor<1x1x1xf32>, tensor<1xi8>) -> tensor<1x4x4xf32>
  %m = tosa.add %s, %mask : (tensor<1x4x4xf32>, tensor<1x1x4xf32>) -> tensor<1x4x4xf32>
  %q = tosa.matmul %x, %w, %zero, %zero : (tensor<1x4x6xf32>, tensor<1x6x4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4xf32>
  %r = tosa.clamp %q {min_val = 0.0 : f32, max_val = 3.40282347E+38 : f32} : (tensor<1x4x4xf32>) -> tensor<1x4x4xf32>
  %t = tosa.transpose %m {perms = array<i32: 0, 2, 1>} : (tensor<1x4x4xf32>) -> tensor<1x4x4xf32>
  %u = tosa.sub %t, %r : (tensor<1x4x4xf32>, tensor<1x4x4xf32>) -> tensor<1x4x4xf32>
  %v = tosa.add %u, %b : (tensor<1x4x4xf32>, tensor<1x4x4xf32>) -> tensor<1x4x4xf32>
  %out = tpc.quantize %v as "out" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<1x4x4xf32>
  return %out : tensor<1x4x4xf32>
}
