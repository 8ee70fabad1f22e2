// A bounded ReLU becomes a ReLU and a minimum with a bound for each channel: 6 times the factors 0.428215 and 1 (case 22 of
// the moments, by hand in unit/Quantization).
// RUN: mct-opt %s --mct-equalize-channels="only-if-better=false per-channel-bounds=true" --mlir-print-debuginfo | FileCheck %s

// CHECK-LABEL: func.func @bounded
// CHECK:         %[[RELU:.*]] = tosa.clamp {{.*}}max_val = 3.40282347E+38 : f32{{.*}} loc(#[[UNBOUNDED:.*]])
// CHECK:         %[[BOUND:.*]] = "tosa.const"() <{values = dense<{{.*}}2.56928{{.*}}6.000000e+00{{.*}}> : tensor<1x1x1x2xf32>}>
// CHECK:         %[[MINIMUM:.*]] = tosa.minimum %[[RELU]], %[[BOUND]] {{.*}} loc(#[[NAME:.*]])
// CHECK:         tpc.quantize %[[MINIMUM]] as "relu_scaled"
// CHECK-DAG:     #[[UNBOUNDED]] = loc("relu_scaled_unbounded"
// CHECK-DAG:     #[[NAME]] = loc("relu_scaled"
func.func @bounded(%arg0: tensor<1x4x4x1xf32>) -> tensor<1x4x4x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %kernel = "tosa.const"() <{values = dense<[[[[1.0]]], [[[2.0]]]]> : tensor<2x1x1x1xf32>}> : () -> tensor<2x1x1x1xf32>
  %b = tpc.bias values(dense<[1.0, 2.0]> : tensor<2xf32>) mean(dense<0.0> : tensor<2xf32>) deviation(dense<[4.0, 0.5]> : tensor<2xf32>) : tensor<2xf32>
  %kernel2 = "tosa.const"() <{values = dense<[[[[1.0, 3.0]]]]> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %bias2 = "tosa.const"() <{values = dense<1.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.conv2d %arg0, %kernel, %b, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x1xf32>, tensor<2x1x1x1xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x2xf32> loc("conv")
  %1 = tosa.clamp %0 {max_val = 6.0 : f32, min_val = 0.0 : f32} : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32> loc("relu")
  %2 = tpc.quantize %1 as "relu" activation : tensor<1x4x4x2xf32>
  %3 = tosa.conv2d %2, %kernel2, %bias2, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<1x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x1xf32> loc("conv2")
  return %3 : tensor<1x4x4x1xf32>
}
