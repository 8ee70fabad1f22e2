// RUN: mct-opt %s --mct-make-training-function --mlir-print-local-scope | FileCheck %s

// CHECK-LABEL: func.func @main(
// CHECK:         parameters(#tpc.symmetric
// CHECK-LABEL: func.func @main_training(
// CHECK-SAME:      %[[X:.*]]: tensor<1x8xf32>, %[[THRESHOLD:.*]]: tensor<1x1xf32>) -> tensor<1x8xf32>
// CHECK:         %[[Q:.*]] = tpc.quantize %[[X]] as "x" activation trainable(#tpc.learned_threshold<bits = 4>) learned(%[[THRESHOLD]] : tensor<1x1xf32>) : tensor<1x8xf32>
// CHECK:         return %[[Q]]
func.func @main(%x: tensor<1x8xf32>) -> tensor<1x8xf32> {
  %0 = tpc.quantize %x as "x" activation parameters(#tpc.symmetric<threshold = [3.0], bits = 4>)
         trainable(#tpc.learned_threshold<bits = 4>) : tensor<1x8xf32>
  return %0 : tensor<1x8xf32>
}
