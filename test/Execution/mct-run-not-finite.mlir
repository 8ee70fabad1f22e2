// JSON has neither NaN nor infinity: null. The logarithms of negative sums are NaN; nothing agrees with them where labels say
// that they are scores.
// RUN: rm -rf %t && mkdir %t && split-file %s %t
// RUN: mct-run %t/nan.mlir --input=%S/Inputs/a.npy --compare=%t/zero.mlir --sort=error --json | FileCheck %s
// RUN: mct-run %t/nan.mlir --input=%S/Inputs/a.npy --compare=%t/zero.mlir --labels=%S/Inputs/labels.npy | FileCheck %s --check-prefix=TEXT

// CHECK-NOT:  "agreement"
// CHECK:      "results": [
// CHECK:        "sqnr_db": null,
// CHECK:      "points": [
// CHECK:        "name": "logarithm",
// CHECK-NEXT:   "sqnr_db": null,
// CHECK-NEXT:   "cosine": null,
// CHECK-NEXT:   "max_error": null
// CHECK:        "name": "negative",
// CHECK-NEXT:   "sqnr_db": null,
// CHECK-NEXT:   "cosine": 1
// CHECK-NEXT:   "max_error": 0
// TEXT: top-1 0.00 %
// TEXT: agreement 0.00 %
// TEXT: negative inf 1.000000 0
// TEXT: logarithm nan nan nan

//--- nan.mlir
func.func @main(%arg0: tensor<1x2xf32>) -> tensor<1x2xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.negate %arg0, %zero, %zero : (tensor<1x2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2xf32>
  %1 = tpc.quantize %0 as "negative" activation : tensor<1x2xf32>
  %2 = tosa.log %1 : (tensor<1x2xf32>) -> tensor<1x2xf32>
  %3 = tpc.quantize %2 as "logarithm" activation : tensor<1x2xf32>
  return %3 : tensor<1x2xf32>
}

//--- zero.mlir
func.func @main(%arg0: tensor<1x2xf32>) -> tensor<1x2xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.negate %arg0, %zero, %zero : (tensor<1x2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2xf32> loc("negative")
  %1 = tosa.sub %0, %0 : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x2xf32> loc("logarithm")
  return %1 : tensor<1x2xf32>
}
