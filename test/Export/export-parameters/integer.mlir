// RUN: mct-translate --export-parameters --function=main %s | FileCheck %s
// RUN: not mct-translate --export-parameters --function=absent %s -o %t.json 2>&1 | FileCheck %s --check-prefix=ABSENT
// RUN: not ls %t.json

// What `tpc.quantized` and `tpc.points` say of stored integers.
// CHECK:      "inputs": [
// CHECK-NEXT:  {
// CHECK-NEXT:   "name": "arg0",
// CHECK-NEXT:   "type": "tensor<1x4xi8>",
// CHECK-NEXT:   "scale": 0.5,
// CHECK-NEXT:   "zero_point": -128,
// CHECK-NEXT:   "bits": 8,
// CHECK-NEXT:   "is_signed": true
// CHECK-NEXT:  }
// CHECK-NEXT: ],
// CHECK-NEXT: "outputs": [
// CHECK-NEXT:  {
// CHECK-NEXT:   "name": "out",
// CHECK-NEXT:   "type": "tensor<1x4xi8>",
// CHECK-NEXT:   "scale": 0.25,
// CHECK:      "points": [
// CHECK:        "name": "in",
// CHECK:        "name": "middle",
// CHECK-NEXT:   "scale": 1,
// CHECK-NEXT:   "zero_point": 0,
// CHECK-NEXT:   "bits": 4,
// CHECK-NEXT:   "is_signed": false
// ABSENT: error: 'builtin.module' op has no function 'absent'
func.func @main(%x: tensor<1x4xi8> {tpc.quantized = {name = "in", scale = 0.5 : f64, zero_point = -128 : i64, bits = 8 : i64}})
    -> (tensor<1x4xi8> {tpc.quantized = {name = "out", scale = 0.25 : f64, zero_point = 0 : i64, bits = 8 : i64}})
    attributes {tpc.points = [{name = "middle", scale = 1.0 : f64, zero_point = 0 : i64, bits = 4 : i64, is_signed = false}]} {
  %0 = tosa.abs %x : (tensor<1x4xi8>) -> tensor<1x4xi8> loc("middle")
  %1 = tosa.maximum %0, %x : (tensor<1x4xi8>, tensor<1x4xi8>) -> tensor<1x4xi8> loc("out")
  return %1 : tensor<1x4xi8>
}
