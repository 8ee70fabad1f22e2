// RUN: mct-opt %s --mct-lower-to-linalg | FileCheck %s

// A layer of integers.
// CHECK-LABEL: func.func @main
// CHECK-NOT:     tosa.
// CHECK:         linalg.conv_2d_nhwc_fhwc {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%{{.*}}, %{{.*}} : tensor<1x2x2x1xi8>, tensor<1x1x1x1xi8>) outs(%{{.*}} : tensor<1x2x2x1xi32>) -> tensor<1x2x2x1xi32>
// CHECK:         linalg.generic
// CHECK:           arith.muli {{.*}} : i64
// CHECK:           arith.shrsi {{.*}} : i64
// CHECK-NOT:     tosa.
// CHECK:         return {{.*}} : tensor<1x2x2x1xi8>
func.func @main(%x: tensor<1x2x2x1xi8>) -> tensor<1x2x2x1xi8> {
  %kernel = "tosa.const"() <{values = dense<3> : tensor<1x1x1x1xi8>}> : () -> tensor<1x1x1x1xi8>
  %bias = "tosa.const"() <{values = dense<5> : tensor<1xi32>}> : () -> tensor<1xi32>
  %zero = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %wide = "tosa.const"() <{values = dense<0> : tensor<1xi32>}> : () -> tensor<1xi32>
  %multiplier = "tosa.const"() <{values = dense<1073741824> : tensor<1xi32>}> : () -> tensor<1xi32>
  %shift = "tosa.const"() <{values = dense<32> : tensor<1xi8>}> : () -> tensor<1xi8>
  %0 = tosa.conv2d %x, %kernel, %bias, %zero, %zero {acc_type = i32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>}
         : (tensor<1x2x2x1xi8>, tensor<1x1x1x1xi8>, tensor<1xi32>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x2x2x1xi32>
  %1 = tosa.rescale %0, %multiplier, %shift, %wide, %zero {input_unsigned = false, output_unsigned = false, per_channel = false, rounding_mode = SINGLE_ROUND, scale32 = true}
         : (tensor<1x2x2x1xi32>, tensor<1xi32>, tensor<1xi8>, tensor<1xi32>, tensor<1xi8>) -> tensor<1x2x2x1xi8>
  return %1 : tensor<1x2x2x1xi8>
}
