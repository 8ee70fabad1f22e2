// An argument that is a scalar is read from a vector, and a result that is one makes a vector.
// RUN: mct-run %s --input=%S/Inputs/vector.npy --output=%t.npy | FileCheck %s
// RUN: od -An -v -tf4 -w12 -j128 %t.npy | FileCheck %s --check-prefix=VALUES
// RUN: not mct-run %s --input=%S/Inputs/a.npy 2>&1 | FileCheck %s --check-prefix=SHAPE

// CHECK: samples 3
// VALUES: 2 4 6
// SHAPE: error: '{{.*}}a.npy': expected shape N for input 'arg0', found 3x2
func.func @main(%arg0: tensor<f32>) -> tensor<f32> {
  %0 = tosa.add %arg0, %arg0 : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
