// RUN: mct-opt %s --mct-fix-ranges="input-max=7.96875 output-min=-1.0 output-max=0.9921875" | FileCheck %s

// 255 / 32, and -128 / 128 to 127 / 128.
// CHECK-LABEL: func.func @main
// CHECK:         %[[X:.*]] = tpc.quantize %{{.*}} as "x" activation parameters(#tpc.uniform<scale = [3.125000e-02], zero_point = [0], bits = 8, rounding = half_up>) : tensor<1x4xf32>
// CHECK-NEXT:    %[[TANH:.*]] = tosa.tanh %[[X]]
// CHECK-NEXT:    %[[OUT:.*]] = tpc.quantize %[[TANH]] as "tanh" activation parameters(#tpc.uniform<scale = [7.812500e-03], zero_point = [128], bits = 8, rounding = half_up>) : tensor<1x4xf32>
// CHECK-NEXT:    return %[[OUT]]
func.func @main(%x: tensor<1x4xf32>) -> tensor<1x4xf32> {
  %0 = tpc.quantize %x as "x" activation trainable(#tpc.observed_range<observer = all_values, bits = 8>) : tensor<1x4xf32>
  %1 = tosa.tanh %0 : (tensor<1x4xf32>) -> tensor<1x4xf32>
  %2 = tpc.quantize %1 as "tanh" activation trainable(#tpc.observed_range<observer = moving_average, bits = 8>) : tensor<1x4xf32>
  return %2 : tensor<1x4xf32>
}
