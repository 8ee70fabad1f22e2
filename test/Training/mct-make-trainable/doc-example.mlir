// RUN: mct-opt %s --mct-make-trainable | FileCheck %s

// CHECK-LABEL: func.func @main(
// CHECK:         %[[X:.*]] = tpc.quantize %{{.*}} as "x" activation parameters(#tpc.power_of_two<threshold = [4.000000e+00], bits = 4>)
// CHECK-SAME:        trainable(#tpc.learned_threshold<bits = 4, power_of_two = true>) : tensor<1x8xf32>
// CHECK:         return %[[X]]
func.func @main(%x: tensor<1x8xf32>) -> tensor<1x8xf32> {
  %0 = tpc.quantize %x as "x" activation parameters(#tpc.power_of_two<threshold = [4.0], bits = 4>) : tensor<1x8xf32>
  return %0 : tensor<1x8xf32>
}
