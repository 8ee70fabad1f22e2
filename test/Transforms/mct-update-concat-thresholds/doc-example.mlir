// RUN: mct-opt %s --mct-update-concat-thresholds | FileCheck %s

// Both operands get the threshold of the result.
// CHECK-LABEL: func.func @main
// CHECK:         %[[A:.*]] = tpc.quantize %arg0 as "a" activation parameters(#tpc.power_of_two<threshold = [1.600000e+01], bits = 8>)
// CHECK:         %[[B:.*]] = tpc.quantize %arg1 as "b" activation parameters(#tpc.power_of_two<threshold = [1.600000e+01], bits = 8>)
// CHECK:         %[[C:.*]] = tosa.concat %[[A]], %[[B]]
// CHECK:         tpc.quantize %[[C]] as "c" activation parameters(#tpc.power_of_two<threshold = [1.600000e+01], bits = 8>)
func.func @main(%arg0: tensor<1x2xf32>, %arg1: tensor<1x2xf32>) -> tensor<1x4xf32> {
  %a = tpc.quantize %arg0 as "a" activation parameters(#tpc.power_of_two<threshold = [4.0], bits = 8>) : tensor<1x2xf32>
  %b = tpc.quantize %arg1 as "b" activation parameters(#tpc.power_of_two<threshold = [16.0], bits = 8>) : tensor<1x2xf32>
  %c = tosa.concat %a, %b {axis = 1 : i32} : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x4xf32>
  %0 = tpc.quantize %c as "c" activation parameters(#tpc.power_of_two<threshold = [16.0], bits = 8>) : tensor<1x4xf32>
  return %0 : tensor<1x4xf32>
}
