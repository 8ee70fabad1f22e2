// RUN: mct-opt %s --mct-fold-constants | FileCheck %s

// CHECK-LABEL: func.func @main
// CHECK-NEXT:    %[[SCALE:.*]] = "tosa.const"() <{values = dense<{{\[\[\[\[}}2.000000e+00, 5.000000e-01]]]]>
// CHECK-NEXT:    return %[[SCALE]]
func.func @main() -> tensor<1x1x1x2xf32> {
  %variance = "tosa.const"() <{values = dense<[[[[0.25, 4.0]]]]> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %0 = tosa.rsqrt %variance : (tensor<1x1x1x2xf32>) -> tensor<1x1x1x2xf32>
  return %0 : tensor<1x1x1x2xf32>
}
