// RUN: mct-opt %s --mct-normalize-activations --mlir-print-debuginfo --mlir-print-local-scope --split-input-file | FileCheck %s

// x / (1 + exp(-x))
// CHECK-LABEL: func.func @swish_with_its_sigmoid_spelled_out
// CHECK-NEXT:    %[[GATE:.*]] = tosa.sigmoid %arg0 {{.*}} loc("gate")
// CHECK-NEXT:    %[[SHIFT:.*]] = "tosa.const"
// CHECK-NEXT:    %[[Y:.*]] = tosa.mul %arg0, %[[GATE]], %[[SHIFT]]
// CHECK-NEXT:    return %[[Y]]
func.func @swish_with_its_sigmoid_spelled_out(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  %one = "tosa.const"() <{values = dense<1.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.negate %arg0, %zero, %zero : (tensor<4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<4xf32>
  %1 = tosa.exp %0 : (tensor<4xf32>) -> tensor<4xf32>
  %2 = tosa.add %one, %1 : (tensor<1xf32>, tensor<4xf32>) -> tensor<4xf32>
  %3 = tosa.reciprocal %2 : (tensor<4xf32>) -> tensor<4xf32> loc("gate")
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %4 = tosa.mul %arg0, %3, %shift : (tensor<4xf32>, tensor<4xf32>, tensor<1xi8>) -> tensor<4xf32>
  return %4 : tensor<4xf32>
}

// -----

// CHECK-LABEL: func.func @negation_by_a_factor
// CHECK-NEXT:    tosa.sigmoid %arg0
// CHECK-NEXT:    return
func.func @negation_by_a_factor(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  %one = "tosa.const"() <{values = dense<1.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %minus = "tosa.const"() <{values = dense<-1.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %0 = tosa.mul %arg0, %minus, %shift : (tensor<4xf32>, tensor<1xf32>, tensor<1xi8>) -> tensor<4xf32>
  %1 = tosa.exp %0 : (tensor<4xf32>) -> tensor<4xf32>
  %2 = tosa.add %1, %one : (tensor<4xf32>, tensor<1xf32>) -> tensor<4xf32>
  %3 = tosa.reciprocal %2 : (tensor<4xf32>) -> tensor<4xf32>
  return %3 : tensor<4xf32>
}

// -----

// CHECK-LABEL: func.func @negation_by_a_difference
// CHECK-NEXT:    tosa.sigmoid %arg0 {tpc.set = "Sigmoid"}
// CHECK-NEXT:    return
func.func @negation_by_a_difference(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  %one = "tosa.const"() <{values = dense<1.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.sub %zero, %arg0 : (tensor<1xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = tosa.exp %0 : (tensor<4xf32>) -> tensor<4xf32>
  %2 = tosa.add %1, %one : (tensor<4xf32>, tensor<1xf32>) -> tensor<4xf32>
  %3 = tosa.reciprocal %2 {tpc.set = "Sigmoid"} : (tensor<4xf32>) -> tensor<4xf32>
  return %3 : tensor<4xf32>
}

// -----

// 1 / (1 + exp(x)) is the sigmoid of -x; 1 / (2 + exp(-x)) is none.
// CHECK-LABEL: func.func @no_sigmoid
// CHECK-NOT:     tosa.sigmoid
func.func @no_sigmoid(%arg0: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %one = "tosa.const"() <{values = dense<1.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %two = "tosa.const"() <{values = dense<2.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.exp %arg0 : (tensor<4xf32>) -> tensor<4xf32>
  %1 = tosa.add %0, %one : (tensor<4xf32>, tensor<1xf32>) -> tensor<4xf32>
  %2 = tosa.reciprocal %1 : (tensor<4xf32>) -> tensor<4xf32>
  %3 = tosa.sub %zero, %arg0 : (tensor<1xf32>, tensor<4xf32>) -> tensor<4xf32>
  %4 = tosa.exp %3 : (tensor<4xf32>) -> tensor<4xf32>
  %5 = tosa.add %4, %two : (tensor<4xf32>, tensor<1xf32>) -> tensor<4xf32>
  %6 = tosa.reciprocal %5 : (tensor<4xf32>) -> tensor<4xf32>
  return %2, %6 : tensor<4xf32>, tensor<4xf32>
}

// -----

// (x * 1/6) * clamp(x + 3, 0, 6)
// CHECK-LABEL: func.func @factor_on_the_other_side
// CHECK:         %[[SUM:.*]] = tosa.add %arg0, %{{.*}} loc("hard_swish.add"
// CHECK:         %[[CLAMP:.*]] = tosa.clamp %[[SUM]] {max_val = 6.000000e+00 : f32, min_val = 0.000000e+00 : f32} {{.*}} loc("hard_swish.clamp"
// CHECK:         %[[SCALED:.*]] = tosa.mul %[[CLAMP]], %{{.*}} loc("hard_swish.scale"
// CHECK-NEXT:    %[[Y:.*]] = tosa.mul %arg0, %[[SCALED]], %{{.*}} loc("hard_swish")
// CHECK-NEXT:    return %[[Y]]
func.func @factor_on_the_other_side(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  %three = "tosa.const"() <{values = dense<3.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %sixth = "tosa.const"() <{values = dense<0.166666672> : tensor<1xf32>}> : () -> tensor<1xf32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %0 = tosa.mul %arg0, %sixth, %shift : (tensor<4xf32>, tensor<1xf32>, tensor<1xi8>) -> tensor<4xf32>
  %1 = tosa.add %arg0, %three : (tensor<4xf32>, tensor<1xf32>) -> tensor<4xf32>
  %2 = tosa.clamp %1 {max_val = 6.0 : f32, min_val = 0.0 : f32} : (tensor<4xf32>) -> tensor<4xf32>
  %3 = tosa.mul %2, %0, %shift : (tensor<4xf32>, tensor<4xf32>, tensor<1xi8>) -> tensor<4xf32> loc("hard_swish")
  return %3 : tensor<4xf32>
}

// -----

// The hard-sigmoid of torch-mlir, max(min((x + 3) * 1/6, 1), 0), as a gate.
// CHECK-LABEL: func.func @factor_inside_of_the_clamp
// CHECK:         tosa.add
// CHECK:         tosa.clamp {{.*}} {max_val = 6.000000e+00 : f32, min_val = 0.000000e+00 : f32}
// CHECK-NOT:     tosa.maximum
// CHECK:         %[[SCALED:.*]] = tosa.mul
// CHECK-NEXT:    %[[Y:.*]] = tosa.mul %arg0, %[[SCALED]]
// CHECK-NEXT:    return
func.func @factor_inside_of_the_clamp(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %one = "tosa.const"() <{values = dense<1.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %three = "tosa.const"() <{values = dense<3.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %sixth = "tosa.const"() <{values = dense<0.166666672> : tensor<1xf32>}> : () -> tensor<1xf32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %0 = tosa.add %arg0, %three : (tensor<4xf32>, tensor<1xf32>) -> tensor<4xf32>
  %1 = tosa.mul %0, %sixth, %shift : (tensor<4xf32>, tensor<1xf32>, tensor<1xi8>) -> tensor<4xf32>
  %2 = tosa.minimum %1, %one : (tensor<4xf32>, tensor<1xf32>) -> tensor<4xf32>
  %3 = tosa.maximum %2, %zero : (tensor<4xf32>, tensor<1xf32>) -> tensor<4xf32>
  %4 = tosa.mul %3, %arg0, %shift : (tensor<4xf32>, tensor<4xf32>, tensor<1xi8>) -> tensor<4xf32>
  return %4 : tensor<4xf32>
}

// -----

// x * clamp(x * 1/6 + 1/2, 0, 1)
// CHECK-LABEL: func.func @gate_with_a_slope
// CHECK:         tosa.clamp {{.*}} {max_val = 6.000000e+00 : f32, min_val = 0.000000e+00 : f32}
// CHECK:         %[[SCALED:.*]] = tosa.mul
// CHECK-NEXT:    %[[Y:.*]] = tosa.mul %arg0, %[[SCALED]]
// CHECK-NEXT:    return
func.func @gate_with_a_slope(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  %half = "tosa.const"() <{values = dense<0.5> : tensor<1xf32>}> : () -> tensor<1xf32>
  %sixth = "tosa.const"() <{values = dense<0.166666672> : tensor<1xf32>}> : () -> tensor<1xf32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %0 = tosa.mul %arg0, %sixth, %shift : (tensor<4xf32>, tensor<1xf32>, tensor<1xi8>) -> tensor<4xf32>
  %1 = tosa.add %half, %0 : (tensor<1xf32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = tosa.clamp %1 {max_val = 1.0 : f32, min_val = 0.0 : f32} : (tensor<4xf32>) -> tensor<4xf32>
  %3 = tosa.mul %arg0, %2, %shift : (tensor<4xf32>, tensor<4xf32>, tensor<1xi8>) -> tensor<4xf32>
  return %3 : tensor<4xf32>
}

// -----

// The two forms that targets know.
// CHECK-LABEL: func.func @known_forms
// CHECK:         %[[SUM:.*]] = tosa.add %arg0
// CHECK:         %[[CLAMP:.*]] = tosa.clamp %[[SUM]]
// CHECK-NEXT:    %[[PRODUCT:.*]] = tosa.mul %arg0, %[[CLAMP]]
// CHECK-NEXT:    tosa.mul %[[PRODUCT]], %{{.*}} loc("outside")
// CHECK-NEXT:    %[[SUM:.*]] = tosa.add %arg0
// CHECK-NEXT:    %[[CLAMP:.*]] = tosa.clamp %[[SUM]]
// CHECK-NEXT:    %[[PRODUCT:.*]] = tosa.mul %[[CLAMP]]
// CHECK-NEXT:    tosa.mul %arg0, %[[PRODUCT]], %{{.*}} loc("on the clamp")
func.func @known_forms(%arg0: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %c3 = "tosa.const"() <{values = dense<3.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %sixth = "tosa.const"() <{values = dense<0.166666672> : tensor<1xf32>}> : () -> tensor<1xf32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %0 = tosa.add %arg0, %c3 : (tensor<4xf32>, tensor<1xf32>) -> tensor<4xf32>
  %1 = tosa.clamp %0 {max_val = 6.0 : f32, min_val = 0.0 : f32} : (tensor<4xf32>) -> tensor<4xf32>
  %2 = tosa.mul %arg0, %1, %shift : (tensor<4xf32>, tensor<4xf32>, tensor<1xi8>) -> tensor<4xf32>
  %3 = tosa.mul %2, %sixth, %shift : (tensor<4xf32>, tensor<1xf32>, tensor<1xi8>) -> tensor<4xf32> loc("outside")
  %4 = tosa.add %arg0, %c3 : (tensor<4xf32>, tensor<1xf32>) -> tensor<4xf32>
  %5 = tosa.clamp %4 {max_val = 6.0 : f32, min_val = 0.0 : f32} : (tensor<4xf32>) -> tensor<4xf32>
  %6 = tosa.mul %5, %sixth, %shift : (tensor<4xf32>, tensor<1xf32>, tensor<1xi8>) -> tensor<4xf32>
  %7 = tosa.mul %arg0, %6, %shift : (tensor<4xf32>, tensor<4xf32>, tensor<1xi8>) -> tensor<4xf32> loc("on the clamp")
  return %3, %7 : tensor<4xf32>, tensor<4xf32>
}

// -----

// x * clamp(x + 3, 0, 5) / 6, and the gate of another tensor.
// CHECK-LABEL: func.func @no_hard_swish
// CHECK:         tosa.mul %arg0, %{{.*}} loc("other bound")
// CHECK:         tosa.mul %arg1, %{{.*}} loc("other tensor")
func.func @no_hard_swish(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %half = "tosa.const"() <{values = dense<0.5> : tensor<1xf32>}> : () -> tensor<1xf32>
  %sixth = "tosa.const"() <{values = dense<0.166666672> : tensor<1xf32>}> : () -> tensor<1xf32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %0 = tosa.mul %arg0, %sixth, %shift : (tensor<4xf32>, tensor<1xf32>, tensor<1xi8>) -> tensor<4xf32>
  %1 = tosa.add %half, %0 : (tensor<1xf32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = tosa.clamp %1 {max_val = 0.8 : f32, min_val = 0.0 : f32} : (tensor<4xf32>) -> tensor<4xf32>
  %3 = tosa.mul %arg0, %2, %shift : (tensor<4xf32>, tensor<4xf32>, tensor<1xi8>) -> tensor<4xf32> loc("other bound")
  %4 = tosa.mul %arg0, %sixth, %shift : (tensor<4xf32>, tensor<1xf32>, tensor<1xi8>) -> tensor<4xf32>
  %5 = tosa.add %half, %4 : (tensor<1xf32>, tensor<4xf32>) -> tensor<4xf32>
  %6 = tosa.clamp %5 {max_val = 1.0 : f32, min_val = 0.0 : f32} : (tensor<4xf32>) -> tensor<4xf32>
  %7 = tosa.mul %arg1, %6, %shift : (tensor<4xf32>, tensor<4xf32>, tensor<1xi8>) -> tensor<4xf32> loc("other tensor")
  return %3, %7 : tensor<4xf32>, tensor<4xf32>
}
