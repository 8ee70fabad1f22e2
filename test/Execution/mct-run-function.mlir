// Without --function: main, or else the only public function with a body.
// RUN: rm -rf %t && mkdir %t && split-file %s %t
// RUN: mct-run %t/graph.mlir --input=%S/Inputs/a.npy --output=%t/graph.npy
// RUN: od -An -v -tf4 -w24 -j128 %t/graph.npy | FileCheck %s --check-prefix=GRAPH
// RUN: mct-run %t/graph.mlir --input=%S/Inputs/a.npy --function=helper --output=%t/helper.npy
// RUN: cmp %t/helper.npy %S/Inputs/a.npy
// RUN: mct-run %t/main.mlir --input=%S/Inputs/a.npy --compare=%t/graph.mlir | FileCheck %s --check-prefix=COMPARE
// RUN: not mct-run %t/several.mlir --input=%S/Inputs/a.npy 2>&1 | FileCheck %s --check-prefix=SEVERAL
// RUN: not mct-run %t/none.mlir --input=%S/Inputs/a.npy 2>&1 | FileCheck %s --check-prefix=NONE

// GRAPH: 2 4 6 8 10 12
// COMPARE: result
// COMPARE-NEXT: add 6.02 1.000000 6
// SEVERAL: error: 'builtin.module' op has several public functions: 'first', 'second'; choose one with the option 'function'
// NONE: error: 'builtin.module' op has no public function with a body

//--- graph.mlir
func.func private @helper(%arg0: tensor<1x2xf32>) -> tensor<1x2xf32> {
  return %arg0 : tensor<1x2xf32>
}
func.func @main_graph(%arg0: tensor<1x2xf32>) -> tensor<1x2xf32> {
  %0 = tosa.add %arg0, %arg0 : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x2xf32>
  return %0 : tensor<1x2xf32>
}

//--- main.mlir
func.func @other(%arg0: tensor<1x3xf32>) -> tensor<1x3xf32> {
  return %arg0 : tensor<1x3xf32>
}
func.func @main(%arg0: tensor<1x2xf32>) -> tensor<1x2xf32> {
  return %arg0 : tensor<1x2xf32>
}

//--- several.mlir
func.func @first(%arg0: tensor<1x2xf32>) -> tensor<1x2xf32> {
  return %arg0 : tensor<1x2xf32>
}
func.func @second(%arg0: tensor<1x2xf32>) -> tensor<1x2xf32> {
  return %arg0 : tensor<1x2xf32>
}

//--- none.mlir
func.func private @declared(tensor<1x2xf32>) -> tensor<1x2xf32>
