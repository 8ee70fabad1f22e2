// A leading dimension that not all results have, steps of a sequence beside its
// last state, is no batch: a call takes and returns whole arrays.
// RUN: mct-run %s --input=%S/Inputs/rows6.npy --output=%t.y.npy,%t.last.npy | FileCheck %s
// RUN: od -An -v -tf4 -w8 -j128 %t.y.npy | FileCheck %s --check-prefix=REVERSED
// RUN: od -An -v -tf4 -w8 -j128 %t.last.npy | FileCheck %s --check-prefix=LAST

// rows6: 0 ... 11.
// CHECK: samples    2
// REVERSED:      4 5
// REVERSED-NEXT: 2 3
// REVERSED-NEXT: 0 1
// REVERSED-NEXT: 10 11
// LAST:      4 5
// LAST-NEXT: 10 11
func.func @main(%sequence: tensor<3x2xf32>) -> (tensor<3x2xf32>, tensor<1x2xf32>) {
  %start = tosa.const_shape {values = dense<[2, 0]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %size = tosa.const_shape {values = dense<[1, 2]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %y = tosa.reverse %sequence {axis = 0 : i32} : (tensor<3x2xf32>) -> tensor<3x2xf32>
  %last = tosa.slice %sequence, %start, %size : (tensor<3x2xf32>, !tosa.shape<2>, !tosa.shape<2>) -> tensor<1x2xf32>
  return %y, %last : tensor<3x2xf32>, tensor<1x2xf32>
}
