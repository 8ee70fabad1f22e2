// RUN: mct-opt %s --mct-simulate-integers | FileCheck %s

// The bias of 0.3 has 2457.6 steps of 2^-7 * 2^-6 and gets 2458 of them; codes before the sigmoid end at 8,
// beyond which it makes 255 or 0 of 256.
// CHECK-LABEL: func.func @main
// CHECK:         %[[X:.*]] = tpc.quantize %arg0 as "in" activation parameters(#tpc.power_of_two<threshold = [1.000000e+00], bits = 8, rounding = half_up>)
// CHECK:         %[[W:.*]] = tpc.quantize %{{.*}} as "conv" weight "kernel_attr" axes [0] parameters(#tpc.power_of_two<threshold = [2.000000e+00], bits = 8>)
// CHECK:         %[[BIAS:.*]] = "tosa.const"() <{values = dense<0.300048828> : tensor<1xf32>}>
// CHECK:         %[[CONV:.*]] = tosa.conv2d %[[X]], %[[W]], %[[BIAS]]
// CHECK:         %[[INNER:.*]] = tpc.quantize %[[CONV]] as "conv" activation parameters(#tpc.power_of_two<threshold = [8.000000e+00], bits = 8, rounding = half_up>)
// CHECK:         %[[SIGMOID:.*]] = tosa.sigmoid %[[INNER]]
// CHECK:         tpc.quantize %[[SIGMOID]] as "sigmoid" activation parameters(#tpc.power_of_two<threshold = [1.000000e+00], bits = 8, is_signed = false, rounding = half_up>)
func.func @main(%arg0: tensor<1x1x1x1xf32>) -> tensor<1x1x1x1xf32> {
  %kernel = "tosa.const"() <{values = dense<1.5> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %bias = "tosa.const"() <{values = dense<0.3> : tensor<1xf32>}> : () -> tensor<1xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %x = tpc.quantize %arg0 as "in" activation parameters(#tpc.power_of_two<threshold = [1.0], bits = 8>) : tensor<1x1x1x1xf32>
  %w = tpc.quantize %kernel as "conv" weight "kernel_attr" axes [0] parameters(#tpc.power_of_two<threshold = [2.0], bits = 8>) : tensor<1x1x1x1xf32>
  %0 = tosa.conv2d %x, %w, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>}
         : (tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x1xf32> loc("conv")
  %1 = tosa.sigmoid %0 : (tensor<1x1x1x1xf32>) -> tensor<1x1x1x1xf32>
  %2 = tpc.quantize %1 as "sigmoid" activation parameters(#tpc.power_of_two<threshold = [1.0], bits = 8, is_signed = false>) : tensor<1x1x1x1xf32>
  return %2 : tensor<1x1x1x1xf32>
}
