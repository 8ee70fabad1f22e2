// What goes in and comes out, and what integers stand for; nothing runs, so that no samples are needed.
// RUN: rm -rf %t && mkdir %t && split-file %s %t
// RUN: mct-run --signature %t/integer.mlir | FileCheck %s
// RUN: mct-run --signature %t/integer.mlir --json | FileCheck %s --check-prefix=JSON
// RUN: mct-run --signature %t/float.mlir --function=other | FileCheck %s --check-prefix=FLOAT

// CHECK:      function  main
// CHECK-NEXT: input     image  tensor<1x4xi8>  scale 0.0078431372549019607  zero point -128  bits 8
// CHECK-NEXT: input     state  tensor<1x4xf32>
// CHECK-NEXT: input     arg2  tensor<1x4xi8>  scale 0.5  zero point 0  bits 4  unsigned
// CHECK-NEXT: output    logits  tensor<1x4xi8>  scale 0.25  zero point 3  bits 8
// CHECK-NEXT: output    abs  tensor<1x4xf32>
// JSON:      "function": "main",
// JSON-NEXT: "inputs": [
// JSON-NEXT:   {
// JSON-NEXT:     "name": "image",
// JSON-NEXT:     "type": "tensor<1x4xi8>",
// JSON-NEXT:     "scale": 0.0078431372549019607,
// JSON-NEXT:     "zero_point": -128,
// JSON-NEXT:     "bits": 8,
// JSON-NEXT:     "is_signed": true
// JSON-NEXT:   },
// JSON-NEXT:   {
// JSON-NEXT:     "name": "state",
// JSON-NEXT:     "type": "tensor<1x4xf32>"
// JSON-NEXT:   },
// JSON:          "is_signed": false
// JSON:      "outputs": [
// JSON-NEXT:   {
// JSON-NEXT:     "name": "logits",
// FLOAT:      function  other
// FLOAT-NEXT: input     x  tensor<?x4xf32>
// FLOAT-NEXT: output    abs  tensor<?x4xf32>

//--- integer.mlir
func.func @main(%image: tensor<1x4xi8> {tpc.quantized = {name = "input", scale = 0.0078431372549019607 : f64, zero_point = -128 : i64, bits = 8 : i64}} loc("image"),
                %state: tensor<1x4xf32> loc("state"),
                %narrow: tensor<1x4xi8> {tpc.quantized = {name = "narrow", scale = 0.5 : f64, zero_point = 0 : i64, bits = 4 : i64, is_signed = false}})
    -> (tensor<1x4xi8> {tpc.quantized = {name = "logits", scale = 0.25 : f64, zero_point = 3 : i64, bits = 8 : i64}}, tensor<1x4xf32>) {
  %0 = tosa.abs %state : (tensor<1x4xf32>) -> tensor<1x4xf32>
  return %image, %0 : tensor<1x4xi8>, tensor<1x4xf32>
}

//--- float.mlir
func.func @main(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  return %x : tensor<?x4xf32>
}
func.func @other(%x: tensor<?x4xf32> loc("x")) -> tensor<?x4xf32> {
  %0 = tosa.abs %x : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %1 = tpc.quantize %0 as "abs" activation : tensor<?x4xf32>
  return %1 : tensor<?x4xf32>
}
