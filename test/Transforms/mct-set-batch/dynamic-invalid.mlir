// RUN: mct-opt %s --mct-set-batch=size=0 --verify-diagnostics

func.func @class_token(%arg0: tensor<1x7x3xf32>) -> tensor<1x8x3xf32> {
  %token = "tosa.const"() <{values = dense<1.0> : tensor<1x1x3xf32>}> : () -> tensor<1x1x3xf32>
  // expected-error @below {{'tosa.concat' op cannot get a dynamic batch: operand 0 is the same for all samples, and would have to be repeated an unknown number of times; choose a size}}
  %0 = tosa.concat %token, %arg0 {axis = 1 : i32} : (tensor<1x1x3xf32>, tensor<1x7x3xf32>) -> tensor<1x8x3xf32>
  return %0 : tensor<1x8x3xf32>
}
