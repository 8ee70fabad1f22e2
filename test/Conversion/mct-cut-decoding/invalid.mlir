// RUN: split-file %s %t
// RUN: mct-opt %t/classifier.mlir --mct-cut-decoding 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not mct-opt %t/forward.mlir --mct-cut-decoding -o %t/none.mlir 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: not ls %t/none.mlir
// RUN: mct-opt %t/forward.mlir --mct-cut-decoding=function=forward | FileCheck %s --check-prefix=GIVEN

// NONE: warning: no part of the network decodes places of objects, and the function stays whole
// NONE: note: mct-cut-decoding says what such a part is
// NONE: func.func @main
// NONE-NOT: func.func

// NAME: error: 'func.func' op cannot be told from its decoding part, which becomes a public function, too
// NAME: note: call the function 'main', or name it by the option 'function'
// GIVEN: func.func @forward

// What is returned beside the decoding part goes through it, and another function may be called `decode`.
// GIVEN-SAME:  -> (tensor<1x4x4x1xf32>, tensor<1x1xf32>)
// GIVEN:       func.func @decode_0(%arg0: tensor<1x4x4x1xf32>, %arg1: tensor<1x1xf32>) -> (tensor<1x4x4x1xf32>, tensor<1x1xf32>)
// GIVEN:         return %{{.*}}, %arg1
// GIVEN:       func.func private @decode(

//--- classifier.mlir
func.func @main(%arg0: tensor<1x4xf32>) -> tensor<1x4xf32> {
  %0 = tosa.sigmoid %arg0 : (tensor<1x4xf32>) -> tensor<1x4xf32>
  return %0 : tensor<1x4xf32>
}

//--- forward.mlir
func.func @forward(%arg0: tensor<1x4x4x1xf32>, %arg1: tensor<1x1xf32>) -> (tensor<1x4x4x1xf32>, tensor<1x1xf32>) {
  %cells = "tosa.const"() <{values = dense<[[[[0.0], [1.0], [2.0], [3.0]], [[0.0], [1.0], [2.0], [3.0]], [[0.0], [1.0], [2.0], [3.0]], [[0.0], [1.0], [2.0], [3.0]]]]> : tensor<1x4x4x1xf32>}> : () -> tensor<1x4x4x1xf32>
  %0 = tosa.add %arg0, %cells : (tensor<1x4x4x1xf32>, tensor<1x4x4x1xf32>) -> tensor<1x4x4x1xf32>
  return %0, %arg1 : tensor<1x4x4x1xf32>, tensor<1x1xf32>
}
func.func private @decode(%arg0: tensor<1xf32>) -> tensor<1xf32> {
  return %arg0 : tensor<1xf32>
}
