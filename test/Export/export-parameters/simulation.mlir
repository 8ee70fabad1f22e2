// RUN: mct-translate --export-parameters %s | FileCheck %s

// What every point rounds to, in program order; a point without parameters is none.
// CHECK:      "function": "main",
// CHECK-NEXT: "inputs": [
// CHECK-NEXT:  {
// CHECK-NEXT:   "name": "x",
// CHECK-NEXT:   "type": "tensor<1x2xf32>"
// CHECK-NEXT:  }
// CHECK-NEXT: ],
// CHECK-NEXT: "outputs": [
// CHECK-NEXT:  {
// CHECK-NEXT:   "name": "relu",
// CHECK-NEXT:   "type": "tensor<1x2xf32>"
// CHECK:      "points": [
// CHECK-NEXT:  {
// CHECK-NEXT:   "name": "x",
// CHECK-NEXT:   "method": "power_of_two",
// CHECK-NEXT:   "bits": 8,
// CHECK-NEXT:   "is_signed": true,
// CHECK-NEXT:   "rounding": "half_up",
// CHECK-NEXT:   "threshold": [
// CHECK-NEXT:    4
// CHECK-NEXT:   ],
// CHECK-NEXT:   "scale": [
// CHECK-NEXT:    0.03125
// CHECK-NEXT:   ],
// CHECK-NEXT:   "zero_point": [
// CHECK-NEXT:    0
// CHECK-NEXT:   ],
// CHECK-NEXT:   "lowest": [
// CHECK-NEXT:    -128
// CHECK-NEXT:   ],
// CHECK-NEXT:   "highest": [
// CHECK-NEXT:    127
// CHECK-NEXT:   ]
// CHECK-NEXT:  },
// CHECK-NEXT:  {
// CHECK-NEXT:   "name": "add/pos_attr",
// CHECK-NEXT:   "weight": "pos_attr",
// CHECK-NEXT:   "axes": [
// CHECK-NEXT:    1
// CHECK-NEXT:   ],
// CHECK-NEXT:   "method": "lut_sym_quantizer",
// CHECK-NEXT:   "bits": 2,
// CHECK-NEXT:   "is_signed": true,
// CHECK-NEXT:   "rounding": null,
// CHECK-NEXT:   "threshold": [
// CHECK-NEXT:    1,
// CHECK-NEXT:    0.5
// CHECK-NEXT:   ],
// CHECK-NEXT:   "levels": [
// CHECK-NEXT:    [
// CHECK-NEXT:     -0.5,
// CHECK-NEXT:     0,
// CHECK-NEXT:     0.25
// CHECK-NEXT:    ],
// CHECK-NEXT:    [
// CHECK-NEXT:     -0.25,
// CHECK-NEXT:     0,
// CHECK-NEXT:     0.125
// CHECK:         "name": "add",
// CHECK-NEXT:   "method": "uniform",
// CHECK-NEXT:   "bits": 8,
// CHECK-NEXT:   "is_signed": false,
// CHECK-NEXT:   "rounding": "half_even",
// CHECK-NEXT:   "scale": [
// CHECK-NEXT:    0.10000000000000001
// CHECK-NEXT:   ],
// CHECK-NEXT:   "zero_point": [
// CHECK-NEXT:    3
// CHECK-NOT:    "name"
func.func @main(%x: tensor<1x2xf32> loc("x")) -> tensor<1x2xf32> {
  %c = "tosa.const"() <{values = dense<0.25> : tensor<1x2xf32>}> : () -> tensor<1x2xf32>
  %0 = tpc.quantize %x as "x" activation parameters(#tpc.power_of_two<threshold = [4.0], bits = 8, rounding = half_up>) : tensor<1x2xf32>
  %w = tpc.quantize %c as "add" weight "pos_attr" axes [1]
         parameters(#tpc.lookup_table<method = lut_sym_quantizer, threshold = [1.0, 0.5], table = [-64, 0, 32], bits = 2>) : tensor<1x2xf32>
  %1 = tosa.add %0, %w : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x2xf32> loc("add")
  %2 = tpc.quantize %1 as "add" activation parameters(#tpc.uniform<scale = [0.1], zero_point = [3], bits = 8>) : tensor<1x2xf32>
  %3 = tosa.clamp %2 {min_val = 0.0 : f32, max_val = 3.40282347E+38 : f32} : (tensor<1x2xf32>) -> tensor<1x2xf32> loc("relu")
  %4 = tpc.quantize %3 as "empty" activation : tensor<1x2xf32>
  return %3 : tensor<1x2xf32>
}
