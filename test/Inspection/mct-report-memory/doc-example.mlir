// RUN: mct-opt %s --mct-report-memory -o /dev/null | FileCheck %s
// RUN: mct-opt %s -o %t.plain.mlir
// RUN: mct-opt %s --mct-report-memory -o %t.reported.mlir > /dev/null
// RUN: diff %t.plain.mlir %t.reported.mlir

// CHECK:      function main
// CHECK-NEXT:   kind           elements  bits        bytes  float bytes  name
// CHECK-NEXT:   activation            6    32           24           24  x
// CHECK-NEXT:   constant              6     8            6           24  add/bias_attr
// CHECK-NEXT:   activation            6    16           12           24  add
// CHECK-NEXT:   total kernel                             0            0
// CHECK-NEXT:   total bias                               0            0
// CHECK-NEXT:   total constant                           6           24
// CHECK-NEXT:   total activation                        36           48
// CHECK-NOT:  {{.}}
func.func @main(%x: tensor<6xf32> loc("x")) -> tensor<6xf32> {
  %c = "tosa.const"() <{values = dense<[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]> : tensor<6xf32>}> : () -> tensor<6xf32>
  %w = tpc.quantize %c as "add" weight "bias_attr" parameters(#tpc.power_of_two<threshold = [8.0], bits = 8>) : tensor<6xf32>
  %0 = tosa.add %x, %w : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32> loc("add")
  %1 = tpc.quantize %0 as "add" activation parameters(#tpc.power_of_two<threshold = [8.0], bits = 16>) : tensor<6xf32>
  return %1 : tensor<6xf32>
}
