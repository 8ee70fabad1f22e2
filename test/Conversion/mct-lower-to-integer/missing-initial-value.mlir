// Initial values become codes with io=integer only, which needs their elements.
// RUN: mct-opt %s --mct-lower-to-integer=io=integer --verify-diagnostics
// RUN: mct-opt %s --mct-lower-to-integer=io=float -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir
// CHECK: func.func @main(%arg0: tensor<1x2xf32> {tpc.initial_value = dense_resource<elided> : tensor<1x2xf32>})
// expected-error @+2 {{the elements of the initial value of argument #0 are missing}}
// expected-note @+1 {{read a file that has them; io=float needs none}}
func.func @main(%h: tensor<1x2xf32> {tpc.initial_value = dense_resource<elided> : tensor<1x2xf32>}) -> tensor<1x2xf32> {
  %q = tpc.quantize %h as "h" activation parameters(#tpc.power_of_two<threshold = [4.0], bits = 8>) : tensor<1x2xf32>
  return %q : tensor<1x2xf32>
}
