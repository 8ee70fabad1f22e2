// What mct-move-transposes has brought into another order is compared with what it was before: as the locations of the
// module say, or, where a module was printed without them, as the pass does it in the reference. All sizes are 2, and all
// values differ, so that no other order would do.
// RUN: rm -rf %t && mkdir %t && split-file %s %t
// RUN: mct-opt %t/float.mlir --mct-assign-names --mct-move-transposes --tpc-attach-target=target=imx500 --mct-insert-quantizers -o %t/points.mlirbc
// RUN: mct-opt %t/points.mlirbc -o %t/points.mlir
// RUN: mct-run %t/points.mlirbc --input=%S/Inputs/cubes.npy --compare=%t/float.mlir | FileCheck %s
// RUN: mct-run %t/points.mlir --input=%S/Inputs/cubes.npy --compare=%t/float.mlir | FileCheck %s
// RUN: mct-run %t/points.mlir --input=%S/Inputs/cubes.npy --compare=%t/points.mlirbc | FileCheck %s
// CHECK: point SQNR dB
// CHECK: exp_transposed inf 1.000000 0

// Locations go before what the pass would do; and there may be several steps.
// RUN: mct-run %t/steps.mlir --input=%S/Inputs/cubes.npy --compare=%t/plain.mlir | FileCheck %s --check-prefix=STEPS
// STEPS:      one_transposed inf
// STEPS-NEXT: two_transposed_transposed inf

// RUN: mct-run %t/unknown.mlir --input=%S/Inputs/cubes.npy --compare=%t/plain.mlir | FileCheck %s --check-prefix=UNKNOWN
// RUN: mct-run %t/unknown.mlir --input=%S/Inputs/cubes.npy --compare=%t/plain.mlir --json | FileCheck %s --check-prefix=JSON
// UNKNOWN:     not compared, as {{.*}}plain.mlir has no value of that name and size: one_transposed, renamed, two_transposed
// UNKNOWN-NOT: {{^}}one_transposed
// UNKNOWN:     two inf
// JSON:      "not_compared": [
// JSON-NEXT:   "one_transposed",
// JSON-NEXT:   "renamed",
// JSON-NEXT:   "two_transposed"
// JSON-NEXT: ]

// A value that has got an axis of size 1 is compared without it.
// RUN: mct-opt %t/row.mlir --mct-assign-names --mct-move-transposes --tpc-attach-target=target=imx500 --mct-insert-quantizers -o %t/row.mlirbc
// RUN: mct-run %t/row.mlirbc --input=%S/Inputs/cubes.npy --compare=%t/row.mlir | FileCheck %s

//--- row.mlir
func.func @main(%x: tensor<1x2x2x2xf32>) -> tensor<1x1x4x2xf32> {
  %row = tosa.const_shape {values = dense<[1, 1, 4, 2]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %three = tosa.const_shape {values = dense<[1, 2, 4]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %four = tosa.const_shape {values = dense<[1, 2, 1, 4]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %0 = tosa.reshape %x, %row : (tensor<1x2x2x2xf32>, !tosa.shape<4>) -> tensor<1x1x4x2xf32>
  %1 = tosa.transpose %0 {perms = array<i32: 0, 3, 1, 2>} : (tensor<1x1x4x2xf32>) -> tensor<1x2x1x4xf32>
  %2 = tosa.reshape %1, %three : (tensor<1x2x1x4xf32>, !tosa.shape<3>) -> tensor<1x2x4xf32>
  %3 = tosa.exp %2 : (tensor<1x2x4xf32>) -> tensor<1x2x4xf32>
  %4 = tosa.reshape %3, %four : (tensor<1x2x4xf32>, !tosa.shape<4>) -> tensor<1x2x1x4xf32>
  %5 = tosa.transpose %4 {perms = array<i32: 0, 2, 3, 1>} : (tensor<1x2x1x4xf32>) -> tensor<1x1x4x2xf32>
  return %5 : tensor<1x1x4x2xf32>
}

//--- float.mlir
func.func @main(%x: tensor<1x2x2x2xf32>) -> tensor<1x2x2x2xf32> {
  %0 = tosa.transpose %x {perms = array<i32: 0, 3, 1, 2>} : (tensor<1x2x2x2xf32>) -> tensor<1x2x2x2xf32>
  %1 = tosa.exp %0 : (tensor<1x2x2x2xf32>) -> tensor<1x2x2x2xf32>
  %2 = tosa.transpose %1 {perms = array<i32: 0, 2, 3, 1>} : (tensor<1x2x2x2xf32>) -> tensor<1x2x2x2xf32>
  return %2 : tensor<1x2x2x2xf32>
}

//--- plain.mlir
func.func @main(%x: tensor<1x2x2x2xf32>) -> (tensor<1x2x2x2xf32>, tensor<1x2x2x2xf32>) {
  %0 = tosa.identity %x : (tensor<1x2x2x2xf32>) -> tensor<1x2x2x2xf32> loc("one")
  %1 = tosa.identity %x : (tensor<1x2x2x2xf32>) -> tensor<1x2x2x2xf32> loc("two")
  return %0, %1 : tensor<1x2x2x2xf32>, tensor<1x2x2x2xf32>
}

//--- steps.mlir
func.func @main(%x: tensor<1x2x2x2xf32>) -> (tensor<1x2x2x2xf32>, tensor<1x2x2x2xf32>) {
  %0 = tosa.transpose %x {perms = array<i32: 0, 3, 1, 2>} : (tensor<1x2x2x2xf32>) -> tensor<1x2x2x2xf32>
  %1 = tpc.quantize %0 as "one_transposed" activation : tensor<1x2x2x2xf32> loc("one_transposed"(fused<array<i32: 0, 3, 1, 2>>["one"]))
  %2 = tosa.transpose %x {perms = array<i32: 0, 1, 3, 2>} : (tensor<1x2x2x2xf32>) -> tensor<1x2x2x2xf32>
  %3 = tosa.transpose %2 {perms = array<i32: 0, 3, 1, 2>} : (tensor<1x2x2x2xf32>) -> tensor<1x2x2x2xf32>
  %4 = tpc.quantize %3 as "two_transposed_transposed" activation : tensor<1x2x2x2xf32> loc("two_transposed_transposed"(fused<array<i32: 0, 3, 1, 2>>["two_transposed"(fused<array<i32: 0, 1, 3, 2>>["two"])]))
  return %1, %4 : tensor<1x2x2x2xf32>, tensor<1x2x2x2xf32>
}

//--- unknown.mlir
func.func @main(%x: tensor<1x2x2x2xf32>) -> tensor<1x2x2x2xf32> {
  %0 = tpc.quantize %x as "one_transposed" activation : tensor<1x2x2x2xf32>
  %1 = tpc.quantize %0 as "two" activation : tensor<1x2x2x2xf32>
  %2 = tpc.quantize %1 as "renamed" activation : tensor<1x2x2x2xf32> loc("renamed"(fused<array<i32: 0, 3, 1, 2>>["one"]))
  %3 = tpc.quantize %2 as "two_transposed" activation : tensor<1x2x2x2xf32> loc("two_transposed"(fused<array<i32: 0, 9, 0, 2>>["two"]))
  return %3 : tensor<1x2x2x2xf32>
}
