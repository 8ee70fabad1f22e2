// RUN: mct-opt %s --mct-insert-shift-points | FileCheck %s

// Behind the addition nothing from 2 on is kept, so that in front of it -1 to 1 suffice.
// CHECK-LABEL: func.func @main
// CHECK-DAG:     %[[ONE:.*]] = "tosa.const"
// CHECK:         %[[TANH:.*]] = tosa.tanh
// CHECK:         %[[Q:.*]] = tpc.quantize %[[TANH]] as "tanh" activation parameters(#tpc.power_of_two<threshold = [1.000000e+00], bits = 16>)
// CHECK:         %[[SUM:.*]] = tosa.add %[[Q]], %[[ONE]]
// CHECK:         tpc.quantize %[[SUM]] as "tanh_shifted"
func.func @main(%arg0: tensor<1x4xf32>) -> tensor<1x4xf32> {
  %one = "tosa.const"() <{values = dense<1.0> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %0 = tpc.quantize %arg0 as "in" activation parameters(#tpc.power_of_two<threshold = [4.0], bits = 8>) : tensor<1x4xf32>
  %1 = tosa.tanh %0 : (tensor<1x4xf32>) -> tensor<1x4xf32> loc("tanh")
  %2 = tosa.add %1, %one : (tensor<1x4xf32>, tensor<1x1xf32>) -> tensor<1x4xf32>
  %3 = tpc.quantize %2 as "tanh_shifted" activation
         parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, is_signed = false>) : tensor<1x4xf32>
  return %3 : tensor<1x4xf32>
}
