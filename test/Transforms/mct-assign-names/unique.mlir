// RUN: mct-opt %s --split-input-file --mct-assign-names --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s
// RUN: mct-opt %s --split-input-file --mct-assign-names --mlir-print-debuginfo --mlir-print-local-scope -o %t.once
// RUN: mct-opt %s --split-input-file --mct-assign-names --mct-assign-names --mlir-print-debuginfo --mlir-print-local-scope -o %t.twice
// RUN: diff %t.once %t.twice

// An importer may give one layer's name to several ops: the first keeps it.
// CHECK-LABEL: func.func @given_name_twice
func.func @given_name_twice(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: tosa.exp {{.*}} loc("layer")
  %0 = tosa.exp %arg0 : (tensor<4xf32>) -> tensor<4xf32> loc("layer")
  // CHECK: tosa.tanh {{.*}} loc("layer_1"
  %1 = tosa.tanh %0 : (tensor<4xf32>) -> tensor<4xf32> loc("layer")
  return %1 : tensor<4xf32>
}

// -----

// A made name leaves those that the importer uses further down alone.
// CHECK-LABEL: func.func @made_name_avoids_given
func.func @made_name_avoids_given(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: tosa.exp {{.*}} loc("exp_1"
  %0 = tosa.exp %arg0 : (tensor<4xf32>) -> tensor<4xf32> loc(unknown)
  // CHECK: tosa.exp {{.*}} loc("exp")
  %1 = tosa.exp %0 : (tensor<4xf32>) -> tensor<4xf32> loc("exp")
  return %1 : tensor<4xf32>
}

// -----

// Names inside of fused locations count; constants get none.
// CHECK-LABEL: func.func @fused_location
func.func @fused_location(%arg0: tensor<1x1xf32>) -> tensor<1x1xf32> {
  // CHECK: "tosa.const"(){{.*}} loc(unknown)
  %0 = "tosa.const"() <{values = dense<1.0> : tensor<1x1xf32>}> : () -> tensor<1x1xf32> loc(unknown)
  // CHECK: tosa.add {{.*}} loc("sum"
  %1 = tosa.add %arg0, %0 : (tensor<1x1xf32>, tensor<1x1xf32>) -> tensor<1x1xf32> loc(fused["sum", "other"])
  return %1 : tensor<1x1xf32>
}

// -----

// An empty name is none, and would be none for a point.
// CHECK-LABEL: func.func @empty_name
// CHECK-SAME:    loc("arg0"
func.func @empty_name(%arg0: tensor<4xf32> loc("")) -> tensor<4xf32> {
  // CHECK: tosa.exp {{.*}} loc("exp"
  %0 = tosa.exp %arg0 : (tensor<4xf32>) -> tensor<4xf32> loc("")
  // CHECK: tosa.exp {{.*}} loc(""("inner"))
  %1 = tosa.exp %0 : (tensor<4xf32>) -> tensor<4xf32> loc(""("inner"))
  return %1 : tensor<4xf32>
}
