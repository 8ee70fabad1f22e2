// The initial value of a state that becomes an integer is in codes: 0.5 is 16 steps, and 9.0 the highest code.
// RUN: mct-opt %s --mct-lower-to-integer=io=integer | FileCheck %s
// RUN: mct-opt %s --mct-lower-to-integer=io=float | FileCheck %s --check-prefix=FLOAT
// CHECK-LABEL: func @main
// CHECK-SAME: %arg0: tensor<1x1x1x2xi8> {tpc.initial_value = dense<{{\[\[\[\[}}16, 127]]]]> : tensor<1x1x1x2xi8>, tpc.quantized
// CHECK-SAME: %arg1: tensor<1x1x1x2xi8> {tpc.initial_value = dense<-32> : tensor<1x1x1x2xi8>, tpc.quantized
// FLOAT-LABEL: func @main
// FLOAT-SAME: %arg0: tensor<1x1x1x2xf32> {tpc.initial_value = dense<{{\[\[\[\[}}5.000000e-01, 9.000000e+00]]]]> : tensor<1x1x1x2xf32>}
// FLOAT-SAME: %arg1: tensor<1x1x1x2xf32> {tpc.initial_value = dense<-1.000000e+00> : tensor<1x1x1x2xf32>}
func.func @main(%h: tensor<1x1x1x2xf32> {tpc.initial_value = dense<[[[[0.5, 9.0]]]]> : tensor<1x1x1x2xf32>},
                %g: tensor<1x1x1x2xf32> {tpc.initial_value = dense<-1.0> : tensor<1x1x1x2xf32>}) -> tensor<1x1x1x2xf32> {
  %a = tpc.quantize %h as "h" activation parameters(#tpc.power_of_two<threshold = [4.0], bits = 8, is_signed = true, rounding = half_up>) : tensor<1x1x1x2xf32>
  %b = tpc.quantize %g as "g" activation parameters(#tpc.power_of_two<threshold = [4.0], bits = 8, is_signed = true, rounding = half_up>) : tensor<1x1x1x2xf32>
  %r = tosa.add %a, %b : (tensor<1x1x1x2xf32>, tensor<1x1x1x2xf32>) -> tensor<1x1x1x2xf32>
  %out = tpc.quantize %r as "out" activation parameters(#tpc.power_of_two<threshold = [8.0], bits = 8, is_signed = true, rounding = half_up>) : tensor<1x1x1x2xf32>
  return %out : tensor<1x1x1x2xf32>
}
