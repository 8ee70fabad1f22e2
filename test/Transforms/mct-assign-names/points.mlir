// RUN: mct-opt %s --mct-assign-names --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s

// A point carries its own name, and its location is often that of the value it stands for, or of the folded op whose weight it
// is. It must not take that op's name away.
// CHECK-LABEL: func.func @points_leave_names_to_ops
func.func @points_leave_names_to_ops(%arg0: tensor<2xf32>) -> tensor<2xf32> {
  %0 = "tosa.const"() <{values = dense<1.0> : tensor<2xf32>}> : () -> tensor<2xf32> loc("sum")
  // CHECK: tpc.quantize {{.*}} as "sum" weight "pos_attr" {{.*}} loc("sum")
  %1 = tpc.quantize %0 as "sum" weight "pos_attr" : tensor<2xf32> loc("sum")
  // CHECK: tosa.add {{.*}} loc("sum")
  %2 = tosa.add %arg0, %1 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32> loc("sum")
  // CHECK: tpc.quantize {{.*}} as "sum" activation {{.*}} loc("sum")
  %3 = tpc.quantize %2 as "sum" activation : tensor<2xf32> loc("sum")
  return %3 : tensor<2xf32>
}
