// RUN: mct-opt %s --mct-update-concat-thresholds | FileCheck %s

// What was told of the old parameters goes with them. The error of the new ones is known where there is a histogram:
// four times 9.0 on a grid of steps of 2.
// CHECK-LABEL: func.func @main
// CHECK:         as "a" {{.*}} parameters(#tpc.power_of_two<threshold = [1.600000e+01], bits = 4>) selection(#tpc.selection<error_method = given, error = [1.000000e+00]>) :
// CHECK:         as "b" {{.*}} parameters(#tpc.power_of_two<threshold = [1.600000e+01], bits = 4>) :
// CHECK:         as "c" {{.*}} selection(#tpc.selection<error_method = mse, error = [5.000000e-01], certificate = exact>) :
func.func @main(%arg0: tensor<1x2xf32>, %arg1: tensor<1x2xf32>) -> tensor<1x4xf32> {
  %a = tpc.quantize %arg0 as "a" activation
    statistics(#tpc.statistics<count = 4, zeros = 0, min = 9.0, max = 9.0, histogram = #tpc.histogram<step_exponent = -8, first = 2304, counts = dense<4> : tensor<1xi64>>>)
    parameters(#tpc.power_of_two<threshold = [8.0], bits = 4>)
    selection(#tpc.selection<error_method = mse, error = [4.0], certificate = exact>) : tensor<1x2xf32>
  %b = tpc.quantize %arg1 as "b" activation parameters(#tpc.power_of_two<threshold = [4.0], bits = 4>)
    selection(#tpc.selection<error_method = mse, error = [0.25], certificate = exact>) : tensor<1x2xf32>
  %c = tosa.concat %a, %b {axis = 1 : i32} : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x4xf32>
  %0 = tpc.quantize %c as "c" activation parameters(#tpc.power_of_two<threshold = [16.0], bits = 4>)
    selection(#tpc.selection<error_method = mse, error = [0.5], certificate = exact>) : tensor<1x4xf32>
  return %0 : tensor<1x4xf32>
}
