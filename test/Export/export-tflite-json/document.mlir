// The tensors and operators of a file, with codes of kernel and bias, and what becomes of samples.
// RUN: mct-translate --export-tflite-json %s | FileCheck %s
// RUN: mct-translate --export-tflite-json --tflite-io=float %s | FileCheck %s --check-prefix=FLOAT
// RUN: mct-translate --export-tflite-json --tflite-int4 %s | FileCheck %s --check-prefix=INT4

// CHECK:      "function": "main",
// CHECK-NEXT: "tensors": [
// CHECK-NEXT:  {
// CHECK-NEXT:   "name": "x",
// CHECK-NEXT:   "type": "INT8",
// CHECK-NEXT:   "shape": [
// CHECK-NEXT:    -1,
// CHECK-NEXT:    2,
// CHECK-NEXT:    2,
// CHECK-NEXT:    1
// CHECK-NEXT:   ],
// CHECK-NEXT:   "scales": [
// CHECK-NEXT:    0.03125
// CHECK-NEXT:   ],
// CHECK-NEXT:   "zero_points": [
// CHECK-NEXT:    0
// CHECK-NEXT:   ]
// CHECK-NEXT:  },
// CHECK-NEXT:  {
// CHECK-NEXT:   "name": "conv/kernel_attr",
// CHECK-NEXT:   "type": "INT8",
// CHECK:        "scales": [
// CHECK-NEXT:    0.125,
// CHECK-NEXT:    0.25
// CHECK-NEXT:   ],
// CHECK-NEXT:   "zero_points": [
// CHECK-NEXT:    0,
// CHECK-NEXT:    0
// CHECK-NEXT:   ],
// CHECK-NEXT:   "axis": 0,
// Codes 4 and -6.
// CHECK-NEXT:   "data": "BPo="
// CHECK:        "name": "relu/bias",
// CHECK-NEXT:   "type": "INT32",
// CHECK:        "scales": [
// CHECK-NEXT:    0.00390625,
// CHECK-NEXT:    0.0078125
// CHECK-NEXT:   ],
// Codes 64 and -128.
// CHECK:        "data": "QAAAAID///8="
// CHECK:      "operators": [
// CHECK-NEXT:  {
// CHECK-NEXT:   "operator": "CONV_2D",
// CHECK-NEXT:   "version": 3,
// CHECK:        "options_type": "Conv2DOptions",
// CHECK-NEXT:   "options": {
// CHECK-NEXT:    "stride_h": 1,
// CHECK-NEXT:    "stride_w": 1,
// CHECK-NEXT:    "dilation_h_factor": 1,
// CHECK-NEXT:    "dilation_w_factor": 1,
// CHECK-NEXT:    "padding": "VALID",
// CHECK-NEXT:    "fused_activation_function": "RELU"
// CHECK-NEXT:   }
// CHECK:        "operator": "DEQUANTIZE"
// CHECK:        "operator": "EXP"
// CHECK:        "operator": "QUANTIZE"
// CHECK:      "signature": {
// CHECK-NEXT:  "inputs": [
// CHECK-NEXT:   "x"
// CHECK-NEXT:  ],
// CHECK-NEXT:  "outputs": [
// CHECK-NEXT:   "exp"
// CHECK-NEXT:  ]
// CHECK-NEXT: },
// (x - 127.5) / 63.75 of what is recorded as x * 0.015686 - 2.
// CHECK-NEXT: "normalization": [
// CHECK-NEXT:  {
// CHECK-NEXT:   "input": "x",
// CHECK-NEXT:   "mean": [
// CHECK-NEXT:    127.5
// CHECK-NEXT:   ],
// CHECK-NEXT:   "std": [
// CHECK-NEXT:    63.75
// CHECK-NEXT:   ]
// CHECK-NEXT:  }
// CHECK-NEXT: ],
// CHECK-NEXT: "float_parts": [
// CHECK-NEXT:  {
// CHECK-NEXT:   "name": "exp",
// CHECK-NEXT:   "reason": "has no operator on codes"

// FLOAT:      "name": "x",
// FLOAT-NEXT: "type": "FLOAT32",
// FLOAT:      "operator": "QUANTIZE"
// FLOAT:      "operator": "CONV_2D"
// FLOAT:      "operator": "DEQUANTIZE"

// Codes 4 and -6 in a byte.
// INT4:       "name": "conv/kernel_attr",
// INT4-NEXT:  "type": "INT4",
// INT4:       "data": "pA=="
// INT4:       "operator": "CONV_2D",
// INT4-NEXT:  "version": 6,

func.func @main(%x: tensor<?x2x2x1xf32> {tpc.preprocessing = {scale = array<f64: 0.01568627450980392>, offset = array<f64: -2.0>}} loc("x"))
    -> tensor<?x2x2x2xf32> {
  %kernel = "tosa.const"() {values = dense<[[[[0.5]]], [[[-1.5]]]]> : tensor<2x1x1x1xf32>} : () -> tensor<2x1x1x1xf32>
  %bias = "tosa.const"() {values = dense<[0.25, -1.0]> : tensor<2xf32>} : () -> tensor<2xf32>
  %zero = "tosa.const"() {values = dense<0.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %q = tpc.quantize %x as "x" activation parameters(#tpc.power_of_two<threshold = [4.0], bits = 8, rounding = half_up>)
         : tensor<?x2x2x1xf32>
  %w = tpc.quantize %kernel as "conv" weight "kernel_attr" axes [0] parameters(#tpc.power_of_two<threshold = [1.0, 2.0], bits = 4>)
         : tensor<2x1x1x1xf32>
  %0 = tosa.conv2d %q, %w, %bias, %zero, %zero {acc_type = f32, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>, dilation = array<i64: 1, 1>}
         : (tensor<?x2x2x1xf32>, tensor<2x1x1x1xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<?x2x2x2xf32> loc("conv")
  %1 = tosa.clamp %0 {min_val = 0.0 : f32, max_val = 3.40282347E+38 : f32} : (tensor<?x2x2x2xf32>) -> tensor<?x2x2x2xf32> loc("relu")
  %2 = tpc.quantize %1 as "relu" activation parameters(#tpc.power_of_two<threshold = [4.0], bits = 8, rounding = half_up>) : tensor<?x2x2x2xf32>
  %3 = tosa.exp %2 : (tensor<?x2x2x2xf32>) -> tensor<?x2x2x2xf32> loc("exp")
  %4 = tpc.quantize %3 as "exp" activation parameters(#tpc.power_of_two<threshold = [8.0], bits = 8, rounding = half_up>) : tensor<?x2x2x2xf32>
  return %4 : tensor<?x2x2x2xf32>
}
