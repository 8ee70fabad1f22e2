// RUN: mct-opt %s --mct-normalize-activations | FileCheck %s

// CHECK-LABEL: func.func @main
// CHECK-NEXT:    %[[Y:.*]] = tosa.clamp %arg0 {max_val = 6.000000e+00 : f32, min_val = 0.000000e+00 : f32}
// CHECK-NEXT:    return %[[Y]]
func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  %six = "tosa.const"() <{values = dense<6.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.clamp %arg0 {max_val = 3.40282347E+38 : f32, min_val = 0.0 : f32} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = tosa.minimum %0, %six : (tensor<4xf32>, tensor<1xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
