// RUN: mct-opt %s --mct-normalize-activations --mlir-print-debuginfo --mlir-print-local-scope --split-input-file | FileCheck %s

// HardTanh of torch-mlir. The clamp is called what the chain's result was called.
// CHECK-LABEL: func.func @maximum_then_minimum
// CHECK-NEXT:    tosa.clamp %arg0 {max_val = 1.000000e+00 : f32, min_val = -1.000000e+00 : f32} {{.*}} loc("hardtanh")
// CHECK-NEXT:    return
func.func @maximum_then_minimum(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  %low = "tosa.const"() <{values = dense<-1.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %high = "tosa.const"() <{values = dense<1.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.maximum %low, %arg0 : (tensor<1xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = tosa.minimum %0, %high : (tensor<4xf32>, tensor<1xf32>) -> tensor<4xf32> loc("hardtanh")
  return %1 : tensor<4xf32>
}

// -----

// CHECK-LABEL: func.func @three_steps_become_one
// CHECK-NEXT:    tosa.clamp %arg0 {max_val = 4.000000e+00 : f32, min_val = 1.000000e+00 : f32}
// CHECK-NEXT:    return
func.func @three_steps_become_one(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  %low = "tosa.const"() <{values = dense<1.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %high = "tosa.const"() <{values = dense<4.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.minimum %arg0, %high : (tensor<4xf32>, tensor<1xf32>) -> tensor<4xf32>
  %1 = tosa.maximum %0, %low : (tensor<4xf32>, tensor<1xf32>) -> tensor<4xf32>
  %2 = tosa.clamp %1 {max_val = 9.0 : f32, min_val = 0.0 : f32} : (tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}

// -----

// CHECK-LABEL: func.func @value_in_between_that_is_used
// CHECK:         tosa.maximum
// CHECK:         tosa.minimum
func.func @value_in_between_that_is_used(%arg0: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %low = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %high = "tosa.const"() <{values = dense<6.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.maximum %arg0, %low : (tensor<4xf32>, tensor<1xf32>) -> tensor<4xf32>
  %1 = tosa.minimum %0, %high : (tensor<4xf32>, tensor<1xf32>) -> tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// -----

// An infinite value would become a finite one.
// CHECK-LABEL: func.func @bound_that_is_infinite
// CHECK:         tosa.maximum
// CHECK:         tosa.maximum
func.func @bound_that_is_infinite(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  %low = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %one = "tosa.const"() <{values = dense<1.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.maximum %arg0, %low : (tensor<4xf32>, tensor<1xf32>) -> tensor<4xf32>
  %1 = tosa.maximum %0, %one : (tensor<4xf32>, tensor<1xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

// CHECK-LABEL: func.func @nan_that_is_replaced
// CHECK:         tosa.maximum
// CHECK:         tosa.minimum
func.func @nan_that_is_replaced(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  %low = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %high = "tosa.const"() <{values = dense<6.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.maximum %arg0, %low {nan_mode = IGNORE} : (tensor<4xf32>, tensor<1xf32>) -> tensor<4xf32>
  %1 = tosa.minimum %0, %high : (tensor<4xf32>, tensor<1xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

// Bounds that differ from channel to channel are no activation.
// CHECK-LABEL: func.func @bounds_per_channel
// CHECK:         tosa.maximum
// CHECK:         tosa.minimum
func.func @bounds_per_channel(%arg0: tensor<2xf32>) -> tensor<2xf32> {
  %low = "tosa.const"() <{values = dense<[0.0, 1.0]> : tensor<2xf32>}> : () -> tensor<2xf32>
  %high = "tosa.const"() <{values = dense<6.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.maximum %arg0, %low : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %1 = tosa.minimum %0, %high : (tensor<2xf32>, tensor<1xf32>) -> tensor<2xf32>
  return %1 : tensor<2xf32>
}

// -----

// CHECK-LABEL: func.func @tag_of_the_result_is_kept
// CHECK-NEXT:    tosa.clamp %arg0 {max_val = 6.000000e+00 : f32, min_val = 0.000000e+00 : f32, tpc.set = "ReLU6"}
func.func @tag_of_the_result_is_kept(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  %high = "tosa.const"() <{values = dense<6.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.clamp %arg0 {max_val = 7.0 : f32, min_val = 0.0 : f32} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = tosa.minimum %0, %high {tpc.set = "ReLU6"} : (tensor<4xf32>, tensor<1xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

// CHECK-LABEL: func.func @tag_in_between_keeps_the_op_apart
// CHECK:         tosa.clamp {{.*}} tpc.set = "ReLU"
// CHECK:         tosa.minimum
func.func @tag_in_between_keeps_the_op_apart(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  %high = "tosa.const"() <{values = dense<6.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.clamp %arg0 {max_val = 7.0 : f32, min_val = 0.0 : f32, tpc.set = "ReLU"} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = tosa.minimum %0, %high : (tensor<4xf32>, tensor<1xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
