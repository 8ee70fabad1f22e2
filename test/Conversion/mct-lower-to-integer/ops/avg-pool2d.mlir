// RUN: mct-opt %s --mct-lower-to-integer="io=integer" --mct-check-integer | mlir-opt-22 --tosa-attach-target="profiles=pro_int level=8k specification_version=1.0" --tosa-validate=strict-op-spec-alignment | FileCheck %s

// A mean of signed codes, of fewer values at the borders: sums by a convolution with ones.
// CHECK-LABEL: func.func @main
// CHECK:         tosa.depthwise_conv2d {{.*}} -> tensor<1x6x6x2xi32>
// CHECK:         tosa.mul
// CHECK:         tosa.rescale
func.func @main(%x_float: tensor<1x6x6x2xf32>) -> tensor<1x6x6x2xf32> {
  %x = tpc.quantize %x_float as "x" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<1x6x6x2xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %y = tosa.avg_pool2d %x, %zero, %zero {acc_type = f32, kernel = array<i64: 3, 3>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>} : (tensor<1x6x6x2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x6x6x2xf32>
  %out = tpc.quantize %y as "out" activation parameters(#tpc.power_of_two<threshold = [1.0], bits = 8, rounding = half_up>) : tensor<1x6x6x2xf32>
  return %out : tensor<1x6x6x2xf32>
}
