// Results against those of the reference: each, and each group of its channels that means something else.
// RUN: rm -rf %t && mkdir %t && split-file %s %t
// RUN: mct-run %t/quantized.mlir --input=%S/Inputs/a.npy --compare=%t/float.mlir | FileCheck %s
// RUN: mct-run %t/quantized.mlir --input=%S/Inputs/a.npy --compare=%t/float.mlir --json | FileCheck %s --check-prefix=JSON
// RUN: mct-run %t/ranges.mlir --input=%S/Inputs/a.npy --compare=%t/floatranges.mlir | FileCheck %s --check-prefix=RANGES
// RUN: mct-run %t/one.mlir --input=%S/Inputs/a.npy --compare=%t/one.mlir | FileCheck %s --check-prefix=ONE
// RUN: mct-run %t/softmax.mlir --input=%S/Inputs/a.npy --compare=%t/softmax.mlir | FileCheck %s --check-prefix=SCORES
// RUN: mct-run %t/logits.mlir --input=%S/Inputs/a.npy --compare=%t/logits.mlir | FileCheck %s --check-prefix=SCORES
// RUN: mct-run %t/quantized.mlir --input=%S/Inputs/a.npy --compare=%t/float.mlir --labels=%S/Inputs/labels.npy | FileCheck %s --check-prefix=LABELS

// RUN: mct-run %t/quantizedrare.mlir --input=%S/Inputs/a.npy --compare=%t/rare.mlir | FileCheck %s --check-prefix=RARE
// RUN: mct-run %t/quantizedrare.mlir --input=%S/Inputs/a.npy --compare=%t/rare.mlir --json | FileCheck %s --check-prefix=RAREJSON

// The sums in steps of 16 beside tanh, which becomes 0: operands of one concatenation.
// CHECK-NOT: agreement
// CHECK:      result                              SQNR dB     cosine    max error
// CHECK-NEXT: joined
// CHECK-NEXT:   large
// CHECK-NEXT:   small                                0.00   0.000000
// CHECK-NEXT: point
// JSON:      "results": [
// JSON:        "name": "joined",
// JSON-NEXT:   "is_scores": false,
// JSON:        "axis": 1,
// JSON-NEXT:   "groups": [
// JSON:          "name": "large",
// JSON-NEXT:     "channels": [
// JSON-NEXT:       0
// JSON-NEXT:     ],
// JSON:          "name": "small",
// JSON:          "sqnr_db": 0,

// No concatenation: the second channel is 100 times smaller.
// RANGES-NOT: agreement
// RANGES:      result
// RANGES-NEXT: product
// RANGES-NEXT:   channel 0
// RANGES-NEXT:   channel 1                            0.00

// A probability that is rounded to 0 is far away in its logits: that of 0.0474 for one in a million, 10.8 of 3.0.
// RARE:      result
// RARE-NEXT: rare
// RARE-SAME: {{ *}}0.00   0.000000       0.04743
// RARE-NEXT:   logits
// RARE-SAME: {{ }}10.82
// RAREJSON:      "sqnr_db": 0,
// RAREJSON:      "logits": {
// RAREJSON-NEXT:   "sqnr_db": -11.

// One value for each sample has no answer.
// ONE-NOT: agreement
// ONE: result

// Distributions; rows whose means are 0 and whose largest value is far above, not always the same; what has labels.
// SCORES: agreement  100.00 %
// LABELS: top-1
// LABELS: agreement

//--- float.mlir
func.func @main(%x: tensor<1x2xf32>) -> tensor<1x2xf32> {
  %0 = tosa.reduce_sum %x {axis = 1 : i32} : (tensor<1x2xf32>) -> tensor<1x1xf32> loc("large")
  %1 = tosa.tanh %0 : (tensor<1x1xf32>) -> tensor<1x1xf32> loc("small")
  %2 = tosa.concat %0, %1 {axis = 1 : i32} : (tensor<1x1xf32>, tensor<1x1xf32>) -> tensor<1x2xf32> loc("joined")
  return %2 : tensor<1x2xf32>
}

//--- quantized.mlir
func.func @main(%x: tensor<1x2xf32>) -> tensor<1x2xf32> {
  %0 = tosa.reduce_sum %x {axis = 1 : i32} : (tensor<1x2xf32>) -> tensor<1x1xf32> loc("large")
  %1 = tosa.tanh %0 : (tensor<1x1xf32>) -> tensor<1x1xf32> loc("small")
  %2 = tosa.concat %0, %1 {axis = 1 : i32} : (tensor<1x1xf32>, tensor<1x1xf32>) -> tensor<1x2xf32> loc("joined")
  %3 = tpc.quantize %2 as "joined" activation parameters(#tpc.power_of_two<threshold = [64.0], bits = 2, is_signed = false>) : tensor<1x2xf32>
  return %3 : tensor<1x2xf32>
}

//--- floatranges.mlir
func.func @main(%x: tensor<1x2xf32>) -> tensor<1x2xf32> {
  %f = "tosa.const"() <{values = dense<[[1.0, 0.01]]> : tensor<1x2xf32>}> : () -> tensor<1x2xf32>
  %s = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %0 = tosa.mul %x, %f, %s : (tensor<1x2xf32>, tensor<1x2xf32>, tensor<1xi8>) -> tensor<1x2xf32> loc("product")
  return %0 : tensor<1x2xf32>
}

//--- ranges.mlir
func.func @main(%x: tensor<1x2xf32>) -> tensor<1x2xf32> {
  %f = "tosa.const"() <{values = dense<[[1.0, 0.0]]> : tensor<1x2xf32>}> : () -> tensor<1x2xf32>
  %s = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %0 = tosa.mul %x, %f, %s : (tensor<1x2xf32>, tensor<1x2xf32>, tensor<1xi8>) -> tensor<1x2xf32> loc("product")
  return %0 : tensor<1x2xf32>
}

//--- one.mlir
func.func @main(%x: tensor<1x2xf32>) -> tensor<1x1xf32> {
  %0 = tosa.reduce_sum %x {axis = 1 : i32} : (tensor<1x2xf32>) -> tensor<1x1xf32>
  return %0 : tensor<1x1xf32>
}

//--- rare.mlir
func.func @main(%x: tensor<1x2xf32>) -> tensor<1x2xf32> {
  %s = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %rare = "tosa.const"() <{values = dense<-3.0> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %0 = tosa.mul %x, %zero, %s : (tensor<1x2xf32>, tensor<1x1xf32>, tensor<1xi8>) -> tensor<1x2xf32>
  %1 = tosa.add %0, %rare : (tensor<1x2xf32>, tensor<1x1xf32>) -> tensor<1x2xf32>
  %2 = tosa.sigmoid %1 : (tensor<1x2xf32>) -> tensor<1x2xf32> loc("rare")
  return %2 : tensor<1x2xf32>
}

//--- quantizedrare.mlir
func.func @main(%x: tensor<1x2xf32>) -> tensor<1x2xf32> {
  %s = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %rare = "tosa.const"() <{values = dense<-3.0> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %0 = tosa.mul %x, %zero, %s : (tensor<1x2xf32>, tensor<1x1xf32>, tensor<1xi8>) -> tensor<1x2xf32>
  %1 = tosa.add %0, %rare : (tensor<1x2xf32>, tensor<1x1xf32>) -> tensor<1x2xf32>
  %2 = tosa.sigmoid %1 : (tensor<1x2xf32>) -> tensor<1x2xf32> loc("rare")
  %3 = tpc.quantize %2 as "rare" activation parameters(#tpc.power_of_two<threshold = [1.0], bits = 3, is_signed = false>) : tensor<1x2xf32>
  return %3 : tensor<1x2xf32>
}

//--- softmax.mlir
func.func @main(%x: tensor<1x2xf32>) -> tensor<1x2xf32> {
  %s = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %0 = tosa.reduce_sum %x {axis = 1 : i32} : (tensor<1x2xf32>) -> tensor<1x1xf32>
  %1 = tosa.reciprocal %0 : (tensor<1x1xf32>) -> tensor<1x1xf32>
  %2 = tosa.mul %x, %1, %s : (tensor<1x2xf32>, tensor<1x1xf32>, tensor<1xi8>) -> tensor<1x2xf32>
  return %2 : tensor<1x2xf32>
}

//--- logits.mlir
func.func @main(%x: tensor<1x2xf32>) -> tensor<1x3xf32> {
  %k = "tosa.const"() <{values = dense<[[[4.0, -4.0, 0.0], [-3.0, 3.0, 0.0]]]> : tensor<1x2x3xf32>}> : () -> tensor<1x2x3xf32>
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %shape = tosa.const_shape {values = dense<[1, 1, 2]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %flat = tosa.const_shape {values = dense<[1, 3]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %r = tosa.reshape %x, %shape : (tensor<1x2xf32>, !tosa.shape<3>) -> tensor<1x1x2xf32>
  %0 = tosa.matmul %r, %k, %z, %z : (tensor<1x1x2xf32>, tensor<1x2x3xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x3xf32>
  %1 = tosa.reshape %0, %flat : (tensor<1x1x3xf32>, !tosa.shape<2>) -> tensor<1x3xf32>
  return %1 : tensor<1x3xf32>
}
