// RUN: mct-opt %s --mct-assign-names --mct-move-transposes --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s
//
// What is in another order is named after what it was, what is brought back is that; tags stay.

// CHECK:         tosa.exp %arg0 {tpc.set = "Mine"} {{.*}} loc("first_transposed"(fused<array<i32: 0, 2, 3, 1>>["first"]))
// CHECK:         %[[SUM:.*]] = tosa.add {{.*}} loc("second_transposed"
// CHECK:         %[[BACK:.*]] = tosa.transpose %[[SUM]] {{.*}} loc("second")
// CHECK:         tosa.reshape %[[BACK]], {{.*}} loc("flat")
func.func @main(%x: tensor<1x4x6x2xf32>, %y: tensor<1x4x6x2xf32>) -> (tensor<1x4x6x2xf32>, tensor<1x48xf32>) {
  %shape = tosa.const_shape {values = dense<[1, 48]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %0 = tosa.transpose %x {perms = array<i32: 0, 3, 1, 2>} : (tensor<1x4x6x2xf32>) -> tensor<1x2x4x6xf32>
  %1 = tosa.transpose %y {perms = array<i32: 0, 3, 1, 2>} : (tensor<1x4x6x2xf32>) -> tensor<1x2x4x6xf32>
  %2 = tosa.exp %0 {tpc.set = "Mine"} : (tensor<1x2x4x6xf32>) -> tensor<1x2x4x6xf32> loc("first")
  %3 = tosa.add %2, %1 : (tensor<1x2x4x6xf32>, tensor<1x2x4x6xf32>) -> tensor<1x2x4x6xf32> loc("second")
  %4 = tosa.transpose %3 {perms = array<i32: 0, 2, 3, 1>} : (tensor<1x2x4x6xf32>) -> tensor<1x4x6x2xf32>
  %5 = tosa.reshape %3, %shape : (tensor<1x2x4x6xf32>, !tosa.shape<2>) -> tensor<1x48xf32> loc("flat")
  %6 = tosa.sigmoid %5 : (tensor<1x48xf32>) -> tensor<1x48xf32> loc("last")
  return %4, %6 : tensor<1x4x6x2xf32>, tensor<1x48xf32>
}
