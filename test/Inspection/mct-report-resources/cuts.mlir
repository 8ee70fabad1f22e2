// RUN: mct-opt %s --mct-report-resources -o /dev/null | FileCheck %s
// RUN: mct-opt %s --mct-report-resources=format=json -o /dev/null | FileCheck %s --check-prefix=JSON

#p8 = #tpc.power_of_two<threshold = [8.0], bits = 8>
#p4 = #tpc.power_of_two<threshold = [8.0], bits = 4>
#s4 = #tpc.symmetric<threshold = [1.0], bits = 4>

// A fused chain is one step, at which what it reads is still there; what is inside of it is not stored.
// CHECK-LABEL: function chain
// CHECK:             0           48           48                0  x
// CHECK-NEXT:      216           32           80           221184  relu
// CHECK-NEXT:        8           32           64             4096  last
// CHECK-NEXT:  in total: weights 224 B, activations 80 B, total 304 B, 225280 BOPS
// CHECK-NEXT:  at 8 bits: weights 440 B, activations 112 B, total 552 B, 450560 BOPS
func.func @chain(%x: tensor<1x4x4x3xf32> loc("x")) -> tensor<1x4x4x2xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %w1 = "tosa.const"() <{values = dense<1.0> : tensor<4x6x6x3xf32>}> : () -> tensor<4x6x6x3xf32>
  %w2 = "tosa.const"() <{values = dense<1.0> : tensor<2x1x1x4xf32>}> : () -> tensor<2x1x1x4xf32>
  %xq = tpc.quantize %x as "x" activation parameters(#p8) : tensor<1x4x4x3xf32>
  %w1q = tpc.quantize %w1 as "conv" weight "kernel_attr" parameters(#s4) : tensor<4x6x6x3xf32>
  %0 = tosa.conv2d %xq, %w1q, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 3, 2, 3, 2>, stride = array<i64: 1, 1>} : (tensor<1x4x4x3xf32>, tensor<4x6x6x3xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x4xf32> loc("conv")
  %1 = tosa.clamp %0 {min_val = 0.0 : f32, max_val = 3.40282347E+38 : f32} : (tensor<1x4x4x4xf32>) -> tensor<1x4x4x4xf32> loc("relu")
  %y1 = tpc.quantize %1 as "relu" activation group(["conv", "relu"]) parameters(#p4) : tensor<1x4x4x4xf32>
  %w2q = tpc.quantize %w2 as "last" weight "kernel_attr" parameters(#p8) : tensor<2x1x1x4xf32>
  %2 = tosa.conv2d %y1, %w2q, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x4xf32>, tensor<2x1x1x4xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x2xf32> loc("last")
  %y2 = tpc.quantize %2 as "last" activation parameters(#p8) : tensor<1x4x4x2xf32>
  return %y2 : tensor<1x4x4x2xf32>
}

// A branch keeps what it will read: `a` lives beside `b` and what both are made of.
// CHECK-LABEL: function branch
// CHECK:             0           16           48                0  a
// CHECK-NEXT:        0           16           64                0  b
// CHECK-NEXT:        0           16           48                0  add
// CHECK-NEXT:  in total: weights 0 B, activations 64 B
func.func @branch(%x: tensor<32xf32> loc("x")) -> tensor<16xf32> {
  %xq = tpc.quantize %x as "x" activation parameters(#p8) : tensor<32xf32>
  %s0 = tosa.const_shape {values = dense<0> : tensor<1xindex>} : () -> !tosa.shape<1>
  %s16 = tosa.const_shape {values = dense<16> : tensor<1xindex>} : () -> !tosa.shape<1>
  %0 = tosa.slice %xq, %s0, %s16 : (tensor<32xf32>, !tosa.shape<1>, !tosa.shape<1>) -> tensor<16xf32> loc("a")
  %1 = tosa.slice %xq, %s16, %s16 : (tensor<32xf32>, !tosa.shape<1>, !tosa.shape<1>) -> tensor<16xf32> loc("b")
  %2 = tosa.add %0, %1 : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32> loc("add")
  %3 = tpc.quantize %2 as "add" activation parameters(#p8) : tensor<16xf32>
  return %3 : tensor<16xf32>
}

// Nothing quantizes the input: it counts 32 bits in operations, and no memory.
// CHECK-LABEL: function float_input
// CHECK-NOT:     x
// CHECK:             8           16           16             4096  conv
func.func @float_input(%x: tensor<?x2x4xf32> loc("x")) -> tensor<?x2x8xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %k = "tosa.const"() <{values = dense<1.0> : tensor<1x4x8xf32>}> : () -> tensor<1x4x8xf32>
  %kq = tpc.quantize %k as "conv" weight "kernel_attr" parameters(#tpc.symmetric<threshold = [1.0], bits = 2>) : tensor<1x4x8xf32>
  %0 = tosa.matmul %x, %kq, %zero, %zero : (tensor<?x2x4xf32>, tensor<1x4x8xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<?x2x8xf32> loc("conv")
  %1 = tpc.quantize %0 as "conv" activation parameters(#p8) : tensor<?x2x8xf32>
  return %1 : tensor<?x2x8xf32>
}

// JSON:      "name": "chain",
// JSON:          "bops": 221184,
// JSON-NEXT:     "cut": [
// JSON-NEXT:       "x",
// JSON-NEXT:       "relu"
// JSON-NEXT:     ],
// JSON-NEXT:     "cut_bytes": 80,
// JSON-NEXT:     "name": "relu",
// JSON-NEXT:     "op": "tosa.clamp",
// JSON-NEXT:     "result_bytes": 32,
// JSON-NEXT:     "weights_bytes": 216
// JSON:      "totals": {
// JSON-NEXT:   "activations_bytes": 80,
// JSON-NEXT:   "bops": 225280,
// JSON-NEXT:   "total_bytes": 304,
// JSON-NEXT:   "weights_bytes": 224
// JSON:      "totals_at_8_bits": {
// JSON-NEXT:   "activations_bytes": 112,
