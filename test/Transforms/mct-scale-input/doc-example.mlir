// RUN: mct-opt %s --mct-scale-input | FileCheck %s

// T = 4 and a largest magnitude of 3.
// CHECK-LABEL: func.func @main
// CHECK-DAG:     %[[KERNEL:.*]] = "tosa.const"() <{values = dense<7.500000e-01> : tensor<1x1x1x1xf32>}>
// CHECK-DAG:     %[[BIAS:.*]] = "tosa.const"() <{values = dense<5.000000e+00> : tensor<1xf32>}>
// CHECK-DAG:     %[[FACTOR:.*]] = "tosa.const"() <{values = dense<1.33333337> : tensor<1x1x1x1xf32>}>
// CHECK-DAG:     %[[X:.*]] = tosa.mul %arg0, %[[FACTOR]], %{{.*}}
// CHECK-DAG:     %[[Q:.*]] = tpc.quantize %[[X]] as "arg0_scaled" activation statistics(#tpc.statistics<count = 4, zeros = 0, min = -4.000000e+00, max = 2.66666674{{[0-9]*}}>) parameters(#tpc.power_of_two<threshold = [4.000000e+00], bits = 8>)
// CHECK-DAG:     tosa.conv2d %[[Q]], %[[KERNEL]], %[[BIAS]]
func.func @main(%arg0: tensor<1x2x2x1xf32>) -> tensor<1x2x2x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %kernel = "tosa.const"() <{values = dense<1.0> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %bias = "tosa.const"() <{values = dense<5.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tpc.quantize %arg0 as "arg0" activation statistics(#tpc.statistics<count = 4, zeros = 0, min = -3.0, max = 2.0>)
    parameters(#tpc.power_of_two<threshold = [4.0], bits = 8>) : tensor<1x2x2x1xf32>
  %1 = tosa.conv2d %0, %kernel, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x2x2x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x2x1xf32>
  return %1 : tensor<1x2x2x1xf32>
}
