// RUN: mct-opt %s --mct-equalize-channels="only-if-better=false" | FileCheck %s

// sd = [2.335277, 0.291910], s = [0.428215, 1].
// CHECK-LABEL: func.func @main
// CHECK-DAG:     %[[K1:.*]] = "tosa.const"() <{values = dense<{{.*}}0.42821{{.*}}2.000000e+00{{.*}}> : tensor<2x1x1x1xf32>}>
// CHECK-DAG:     %[[B1:.*]] = tpc.bias values(dense<[0.42821{{[0-9]*}}, 2.000000e+00]> : tensor<2xf32>) mean(dense<0.000000e+00> : tensor<2xf32>) deviation(dense<[1.7128{{[0-9]*}}, 5.000000e-01]> : tensor<2xf32>)
// CHECK-DAG:     %[[K2:.*]] = "tosa.const"() <{values = dense<{{.*}}2.3352{{[0-9]*}}, 3.000000e+00{{.*}}> : tensor<1x1x1x2xf32>}>
// CHECK-DAG:     %[[X:.*]] = tosa.conv2d %arg0, %[[K1]], %[[B1]]
// CHECK-DAG:     %[[Y:.*]] = tosa.clamp %[[X]]
// CHECK-DAG:     %[[Q:.*]] = tpc.quantize %[[Y]] as "relu_scaled" activation : tensor<1x4x4x2xf32>
// CHECK-DAG:     tosa.conv2d %[[Q]], %[[K2]]
func.func @main(%arg0: tensor<1x4x4x1xf32>) -> tensor<1x4x4x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %kernel = "tosa.const"() <{values = dense<[[[[1.0]]], [[[2.0]]]]> : tensor<2x1x1x1xf32>}> : () -> tensor<2x1x1x1xf32>
  %b = tpc.bias values(dense<[1.0, 2.0]> : tensor<2xf32>) mean(dense<0.0> : tensor<2xf32>) deviation(dense<[4.0, 0.5]> : tensor<2xf32>) : tensor<2xf32>
  %kernel2 = "tosa.const"() <{values = dense<[[[[1.0, 3.0]]]]> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %bias2 = "tosa.const"() <{values = dense<1.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.conv2d %arg0, %kernel, %b, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x1xf32>, tensor<2x1x1x1xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x2xf32>
  %1 = tosa.clamp %0 {max_val = 3.40282347E+38 : f32, min_val = 0.0 : f32} : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %2 = tpc.quantize %1 as "relu" activation : tensor<1x4x4x2xf32>
  %3 = tosa.conv2d %2, %kernel2, %bias2, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<1x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x1xf32>
  return %3 : tensor<1x4x4x1xf32>
}
