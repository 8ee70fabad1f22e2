// RUN: mct-opt %s --mct-lower-to-integer --split-input-file --verify-diagnostics | FileCheck %s

// What has no integer form is computed by float ops, between conversions. The
// quantizers that were left in it are conversions, too.
// CHECK-LABEL: func.func @main
// CHECK:         tosa.clamp {{.*}}nan_mode = IGNORE
// CHECK:         tosa.floor
// CHECK:         tosa.greater_equal
// CHECK:         tosa.select
// CHECK:         %[[X:.*]] = tosa.cast {{.*}} -> tensor<2x3xi8>
// CHECK:         %[[WIDE:.*]] = tosa.cast %[[X]] {{.*}} -> tensor<2x3xf32>
// CHECK:         %[[F:.*]] = tosa.mul %[[WIDE]]
// CHECK:         %[[P:.*]] = tosa.pow %[[F]], %{{.*}} : 
// CHECK:         tosa.cast {{.*}} -> tensor<2x3xi8>
// CHECK-NOT:   tpc.quantize
func.func @main(%x: tensor<2x3xf32>, %unquantized: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %in = tpc.quantize %x as "x" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<2x3xf32>
  %0 = tosa.reduce_product %in {axis = 0 : i32} : (tensor<2x3xf32>) -> tensor<1x3xf32>
  %1 = tosa.add %0, %in : (tensor<1x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %p = tosa.pow %in, %1 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  // expected-remark @below {{stays float: 'tosa.pow' op has no integer form}}
  %out = tpc.quantize %p as "pow" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<2x3xf32>
  return %out : tensor<2x3xf32>
}

// -----

// Biases that remember their batch norm are constants of TOSA in the result.
// CHECK-LABEL: func.func @main
// CHECK:         %[[B:.*]] = "tosa.const"() <{values = dense<[5.000000e-01, -1.000000e+00]> : tensor<2xf32>}>
// CHECK:         tosa.conv2d %{{.*}}, %{{.*}}, %[[B]]
// CHECK-NOT:   tpc.bias
func.func @main(%x: tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32> {
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %k = "tosa.const"() <{values = dense<0.5> : tensor<2x1x1x2xf32>}> : () -> tensor<2x1x1x2xf32>
  %b = tpc.bias values(dense<[0.5, -1.0]> : tensor<2xf32>) mean(dense<[0.0, 0.25]> : tensor<2xf32>) deviation(dense<[1.0, 2.0]> : tensor<2xf32>) : tensor<2xf32>
  %0 = tosa.conv2d %x, %k, %b, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<2x1x1x2xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x2xf32>
  // expected-remark @below {{stays float: 'tosa.conv2d' op reads an input that is not quantized}}
  %out = tpc.quantize %0 as "conv" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<1x4x4x2xf32>
  return %out : tensor<1x4x4x2xf32>
}
