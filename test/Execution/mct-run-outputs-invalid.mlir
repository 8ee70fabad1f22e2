// What an output must be for labels, and for a file: one score for each class, elements that a file can hold.
// RUN: rm -rf %t && mkdir %t && split-file %s %t
// RUN: not mct-run %t/image.mlir --input=%S/Inputs/a.npy --labels=%S/Inputs/labels.npy 2>&1 | FileCheck %s --check-prefix=SCORES
// RUN: not mct-run %t/none.mlir --input=%S/Inputs/a.npy --labels=%S/Inputs/labels.npy 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not mct-run %t/type.mlir --input=%S/Inputs/a.npy --output=%t/out.npy 2>&1 | FileCheck %s --check-prefix=TYPE
// RUN: test ! -e %t/out.npy

// SCORES: error: labels need a first output with one score for each class of a sample, found 'tensor<{{[0-9]+}}x2x2xf32>'
// NONE: error: labels need a first output with one score for each class of a sample{{$}}
// TYPE: error: {{.*}}out.npy: cannot write an output of type 'tensor<{{[0-9]+}}x2xi4>'

//--- image.mlir
func.func @main(%arg0: tensor<1x2xf32>) -> tensor<1x2x2xf32> {
  %shape = tosa.const_shape {values = dense<[1, 1, 2]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %0 = tosa.reshape %arg0, %shape : (tensor<1x2xf32>, !tosa.shape<3>) -> tensor<1x1x2xf32>
  %1 = tosa.concat %0, %0 {axis = 1 : i32} : (tensor<1x1x2xf32>, tensor<1x1x2xf32>) -> tensor<1x2x2xf32>
  return %1 : tensor<1x2x2xf32>
}

//--- none.mlir
func.func @main(%arg0: tensor<1x2xf32>) {
  return
}

//--- type.mlir
func.func @main(%arg0: tensor<1x2xf32>) -> tensor<1x2xi4> {
  %0 = tosa.cast %arg0 : (tensor<1x2xf32>) -> tensor<1x2xi4>
  return %0 : tensor<1x2xi4>
}
