// RUN: mct-opt %s --mct-report-costs=cost-table=%S/Inputs/line.json -o /dev/null | FileCheck %s --check-prefix=LINE
// RUN: mct-opt %s --mct-report-costs=cost-table=%S/Inputs/between.json -o /dev/null | FileCheck %s --check-prefix=BETWEEN
// RUN: mct-opt %s --mct-report-costs=cost-table=%S/Inputs/small.json -o /dev/null | FileCheck %s --check-prefix=SMALL
// RUN: mct-opt %s --mct-report-costs=cost-table=%S/Inputs/widths.json -o /dev/null | FileCheck %s --check-prefix=WIDTH
// RUN: mct-opt %s --mct-report-costs -o /dev/null | FileCheck %s --check-prefix=NONE
// RUN: mct-opt %s --mct-report-costs="format=json cost-table=%S/Inputs/costs.json" -o /dev/null | FileCheck %s --check-prefix=JSON

// The kernel has 16 bytes, beyond the largest one that was measured: 5 cycles and 1 byte for 2 more bytes.
// LINE: 120           24           16  conv
// BETWEEN: 121           24           16  conv
// Below the smallest all take its cycles.
// SMALL: 700           24           16  conv
// The width of the kernel goes before those that are for any.
// WIDTH: 500           24           16  conv
// A number that is added after the layer changes nothing, as its sums are rescaled anyway.
// RUN: mct-opt %S/Inputs/shifted.mlir --mct-report-costs=cost-table=%S/Inputs/costs.json -o /dev/null | FileCheck %s --check-prefix=SHIFTED
// SHIFTED: 120           24           16  shifted
// Without a table there are no cycles.
// NONE: function main{{$}}
// NONE:   -            -           16  conv
// NONE-NOT: in total

// JSON:      "cycles": 120,
// JSON-NEXT: "device": "my-npu",
// JSON:      "compressed_bytes": 16,
// JSON-NEXT: "cycles": 120,
// JSON-NEXT: "form": {
// JSON-NEXT:   "attributes": {
// JSON-NEXT:     "dilation": "array<i64: 1, 1>",
// JSON-NEXT:     "pad": "array<i64: 0, 0, 0, 0>",
// JSON-NEXT:     "stride": "array<i64: 1, 1>"
// JSON-NEXT:   },
// JSON-NEXT:   "constants": [
// JSON-NEXT:     "2x1x1x4",
// JSON-NEXT:     "2"
// JSON-NEXT:   ],
// JSON-NEXT:   "operands": [
// JSON-NEXT:     "1x2x2x4xi8"
// JSON-NEXT:   ],
// JSON-NEXT:   "ops": [
// JSON-NEXT:     "tosa.conv2d"
// JSON-NEXT:   ],
// JSON-NEXT:   "result": "1x2x2x2xi8"
// JSON-NEXT: },
// JSON-NEXT: "kernel_bits": 4,
// JSON-NEXT: "memory_bytes": 24,
// JSON-NEXT: "name": "conv"
func.func @main(%x: tensor<1x2x2x4xf32> loc("x")) -> tensor<1x2x2x2xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %w = "tosa.const"() <{values = dense<1.0> : tensor<2x1x1x4xf32>}> : () -> tensor<2x1x1x4xf32>
  %bias = "tosa.const"() <{values = dense<[1.0, 2.0]> : tensor<2xf32>}> : () -> tensor<2xf32>
  %xq = tpc.quantize %x as "x" activation parameters(#tpc.power_of_two<threshold = [8.0], bits = 8>) : tensor<1x2x2x4xf32>
  %wq = tpc.quantize %w as "conv" weight "kernel_attr" parameters(#tpc.symmetric<threshold = [1.0], bits = 4>) : tensor<2x1x1x4xf32>
  %0 = tosa.conv2d %xq, %wq, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x2x2x4xf32>, tensor<2x1x1x4xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x2x2xf32> loc("conv")
  %1 = tpc.quantize %0 as "conv" activation parameters(#tpc.power_of_two<threshold = [8.0], bits = 8>) : tensor<1x2x2x2xf32>
  return %1 : tensor<1x2x2x2xf32>
}
