// A layer norm in float64, as torch-mlir imports it, has no point inside; its result is quantized as the target says.
// RUN: mct-opt %s --tpc-attach-target=target=imx500 --mct-insert-quantizers | FileCheck %s
// RUN: mct-opt %s --tpc-attach-target=target=%S/Inputs/names_layer_norm.mlir --mct-insert-quantizers | FileCheck %s --check-prefix=FLOAT
// RUN: mct-opt %s --tpc-attach-target=target=%S/Inputs/names_layer_norm.mlir --tpc-explain=format=text -o /dev/null | FileCheck %s --check-prefix=EXPLAIN

// CHECK-LABEL: func.func @main
// CHECK:         tpc.quantize %arg0 as "arg0" activation
// CHECK-NOT:     tpc.quantize
// CHECK:         %[[BETA:.*]] = tosa.add {{.*}} : (tensor<1x6x8xf32>, tensor<1x1x8xf32>)
// CHECK-NEXT:    %[[POINT:.*]] = tpc.quantize %[[BETA]] as "add_1" activation
// CHECK-NEXT:    return %[[POINT]]
// The target's layer norm has a float result.
// FLOAT-LABEL: func.func @main
// FLOAT:         tpc.quantize %arg0 as "arg0" activation
// FLOAT-NOT:     tpc.quantize
// FLOAT:         return
// EXPLAIN:      operator set: LayerNorm, matched by #tpc.subgraph<"layer_norm">
// EXPLAIN:      result: float, because operator set 'LayerNorm' says 'act_enabled = false'
func.func @main(%arg0: tensor<1x6x8xf32>) -> tensor<1x6x8xf32> {
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %eighth64 = "tosa.const"() <{values = dense<0.125> : tensor<1x1x1xf64>}> : () -> tensor<1x1x1xf64>
  %eighth = "tosa.const"() <{values = dense<0.125> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
  %epsilon = "tosa.const"() <{values = dense<1.0e-5> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
  %gamma = "tosa.const"() <{values = dense<[[[1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7]]]> : tensor<1x1x8xf32>}> : () -> tensor<1x1x8xf32>
  %beta = "tosa.const"() <{values = dense<[[[0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7]]]> : tensor<1x1x8xf32>}> : () -> tensor<1x1x8xf32>
  %0 = tosa.cast %arg0 : (tensor<1x6x8xf32>) -> tensor<1x6x8xf64>
  %1 = tosa.reduce_sum %0 {axis = 2 : i32} : (tensor<1x6x8xf64>) -> tensor<1x6x1xf64>
  %2 = tosa.mul %1, %eighth64, %shift : (tensor<1x6x1xf64>, tensor<1x1x1xf64>, tensor<1xi8>) -> tensor<1x6x1xf64>
  %3 = tosa.sub %0, %2 : (tensor<1x6x8xf64>, tensor<1x6x1xf64>) -> tensor<1x6x8xf64>
  %4 = tosa.mul %3, %3, %shift : (tensor<1x6x8xf64>, tensor<1x6x8xf64>, tensor<1xi8>) -> tensor<1x6x8xf64>
  %5 = tosa.reduce_sum %4 {axis = 2 : i32} : (tensor<1x6x8xf64>) -> tensor<1x6x1xf64>
  %6 = tosa.mul %5, %eighth64, %shift : (tensor<1x6x1xf64>, tensor<1x1x1xf64>, tensor<1xi8>) -> tensor<1x6x1xf64>
  %7 = tosa.cast %6 : (tensor<1x6x1xf64>) -> tensor<1x6x1xf32>
  %8 = tosa.reduce_sum %arg0 {axis = 2 : i32} : (tensor<1x6x8xf32>) -> tensor<1x6x1xf32>
  %9 = tosa.mul %8, %eighth, %shift : (tensor<1x6x1xf32>, tensor<1x1x1xf32>, tensor<1xi8>) -> tensor<1x6x1xf32>
  %10 = tosa.add %7, %epsilon : (tensor<1x6x1xf32>, tensor<1x1x1xf32>) -> tensor<1x6x1xf32>
  %11 = tosa.rsqrt %10 : (tensor<1x6x1xf32>) -> tensor<1x6x1xf32>
  %12 = tosa.sub %arg0, %9 : (tensor<1x6x8xf32>, tensor<1x6x1xf32>) -> tensor<1x6x8xf32>
  %13 = tosa.mul %12, %11, %shift : (tensor<1x6x8xf32>, tensor<1x6x1xf32>, tensor<1xi8>) -> tensor<1x6x8xf32>
  %14 = tosa.mul %13, %gamma, %shift : (tensor<1x6x8xf32>, tensor<1x1x8xf32>, tensor<1xi8>) -> tensor<1x6x8xf32>
  %15 = tosa.add %14, %beta : (tensor<1x6x8xf32>, tensor<1x1x8xf32>) -> tensor<1x6x8xf32>
  return %15 : tensor<1x6x8xf32>
}
