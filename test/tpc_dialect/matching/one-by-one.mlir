// Operators that a target does not have are matched one by one, whether they are found by their ops or by a formula.
// TensorFlow Lite runs a swish as LOGISTIC, on the grid of a sigmoid, and MUL; IMX500 has a swish.
// RUN: mct-opt %s --tpc-attach-target=target=tflite --mct-insert-quantizers | FileCheck %s --check-prefixes=CHECK,SPLIT
// RUN: mct-opt %s --tpc-attach-target=target=imx500 --mct-insert-quantizers | FileCheck %s --check-prefixes=CHECK,WHOLE
// RUN: mct-opt %s --tpc-attach-target=target=%S/Inputs/softmax_one_by_one.mlir --mct-insert-quantizers | FileCheck %s --check-prefix=FORMULA
// A key of the JSON document, which MCT ignores.
// RUN: mct-translate --export-tpc-json %S/Inputs/softmax_one_by_one.mlir -o %t.json
// RUN: FileCheck %s --check-prefix=JSON --input-file=%t.json
// RUN: mct-opt %s --tpc-attach-target=target=%t.json --mct-insert-quantizers | FileCheck %s --check-prefix=FORMULA

// JSON:      "name": "Softmax",
// JSON-NEXT: "qc_options": null,
// JSON-NEXT: "type": "OperatorsSet",
// JSON-NEXT: "one_by_one": true

// SPLIT-DAG:     #[[$GRID:.*]] = #tpc.op_quant_config<{{.*}}fixed_scale = 3.906250e-03
// CHECK-LABEL: func.func @swish
// SPLIT:         %[[SIGMOID:.*]] = tosa.sigmoid
// SPLIT-NEXT:    %[[CODES:.*]] = tpc.quantize %[[SIGMOID]] as "sigmoid" activation config(#[[$GRID]])
// SPLIT:         %[[PRODUCT:.*]] = tosa.mul %{{.*}}, %[[CODES]]
// SPLIT-NEXT:    tpc.quantize %[[PRODUCT]] as "mul" activation
// WHOLE:         %[[SIGMOID:.*]] = tosa.sigmoid
// WHOLE-NEXT:    %[[PRODUCT:.*]] = tosa.mul %{{.*}}, %[[SIGMOID]]
// WHOLE-NEXT:    tpc.quantize %[[PRODUCT]] as "mul" activation
func.func @swish(%x: tensor<1x4xf32>) -> tensor<1x4xf32> {
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %0 = tosa.sigmoid %x : (tensor<1x4xf32>) -> tensor<1x4xf32>
  %1 = tosa.mul %x, %0, %shift : (tensor<1x4xf32>, tensor<1x4xf32>, tensor<1xi8>) -> tensor<1x4xf32>
  return %1 : tensor<1x4xf32>
}

// FORMULA-LABEL: func.func @softmax
// FORMULA:         tosa.reduce_max
// FORMULA-NEXT:    tpc.quantize %{{.*}} as "reduce_max" activation
// FORMULA:         tosa.exp
// FORMULA-NEXT:    tpc.quantize %{{.*}} as "exp" activation
func.func @softmax(%x: tensor<1x4xf32>) -> tensor<1x4xf32> {
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %0 = tosa.reduce_max %x {axis = 1 : i32} : (tensor<1x4xf32>) -> tensor<1x1xf32>
  %1 = tosa.sub %x, %0 : (tensor<1x4xf32>, tensor<1x1xf32>) -> tensor<1x4xf32>
  %2 = tosa.exp %1 : (tensor<1x4xf32>) -> tensor<1x4xf32>
  %3 = tosa.reduce_sum %2 {axis = 1 : i32} : (tensor<1x4xf32>) -> tensor<1x1xf32>
  %4 = tosa.reciprocal %3 : (tensor<1x1xf32>) -> tensor<1x1xf32>
  %5 = tosa.mul %2, %4, %shift : (tensor<1x4xf32>, tensor<1x1xf32>, tensor<1xi8>) -> tensor<1x4xf32>
  return %5 : tensor<1x4xf32>
}
