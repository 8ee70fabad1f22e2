// RUN: mct-opt %s --mct-expand-trainable-points | FileCheck %s

// CHECK-LABEL: func.func @main(
// CHECK-SAME:      %[[X:.*]]: tensor<1x8xf32>, %[[THRESHOLD:.*]]: tensor<1x1xf32>) -> tensor<1x8xf32>
// CHECK-DAG:     %[[SMALLEST:.*]] = "tosa.const"() <{values = dense<1.52587891E-5> : tensor<1x1xf32>}>
// CHECK:         %[[T:.*]] = tosa.maximum %[[THRESHOLD]], %[[SMALLEST]]
// CHECK:         %[[EIGHTH:.*]] = "tosa.const"() <{values = dense<1.250000e-01> : tensor<1x1xf32>}>
// CHECK:         %[[STEP:.*]] = tosa.mul %[[T]], %[[EIGHTH]]
// CHECK:         %[[PART:.*]] = tosa.reciprocal %[[STEP]]
// CHECK:         %[[LEVELS:.*]] = tosa.mul %[[X]], %[[PART]]
// CHECK:         %[[CODES:.*]] = tosa.cast %[[LEVELS]] : (tensor<1x8xf32>) -> tensor<1x8xi32>
// CHECK:         %[[ROUNDED:.*]] = tosa.cast %[[CODES]] : (tensor<1x8xi32>) -> tensor<1x8xf32>
// CHECK:         %[[CLIPPED:.*]] = tosa.clamp %[[ROUNDED]] {max_val = 7.000000e+00 : f32, min_val = -8.000000e+00 : f32}
// CHECK:         %[[Q:.*]] = tosa.mul %[[CLIPPED]], %[[STEP]]
// CHECK:         return %[[Q]]
func.func @main(%x: tensor<1x8xf32>, %threshold: tensor<1x1xf32>) -> tensor<1x8xf32> {
  %0 = tpc.quantize %x as "x" activation trainable(#tpc.learned_threshold<bits = 4>)
         learned(%threshold : tensor<1x1xf32>) : tensor<1x8xf32>
  return %0 : tensor<1x8xf32>
}
