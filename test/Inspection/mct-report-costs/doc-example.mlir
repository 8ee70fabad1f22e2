// RUN: mct-opt %s --mct-report-costs=cost-table=%S/Inputs/costs.json -o /dev/null | FileCheck %s --match-full-lines --strict-whitespace
// RUN: mct-opt %s -o %t.plain.mlir
// RUN: mct-opt %s --mct-report-costs=cost-table=%S/Inputs/costs.json -o %t.reported.mlir > /dev/null
// RUN: diff %t.plain.mlir %t.reported.mlir

//      CHECK:function main, on my-npu
// CHECK-NEXT:        cycles       memory   compressed  name
// CHECK-NEXT:           120           24           16  conv
// CHECK-NEXT:  in total: 120 cycles
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
