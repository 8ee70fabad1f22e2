// RUN: mct-opt %s --tpc-explain -o /dev/null | FileCheck %s
// RUN: mct-opt %s --tpc-explain | FileCheck %s --check-prefix=MODULE
// RUN: mct-opt %s -o %t.plain.mlir
// RUN: mct-opt %s --tpc-explain -o %t.explained.mlir > /dev/null
// RUN: diff %t.plain.mlir %t.explained.mlir

// CHECK:      function main
// CHECK-NEXT:   arg0 (input)
// CHECK-NEXT:     point, 8-bit power_of_two
// CHECK-NEXT:   exp (tosa.exp)
// CHECK-NEXT:     operator set: none matches, the default applies
// CHECK-NEXT:     option 0 (base): 8-bit power_of_two result, reads 8-bit inputs
// CHECK-NEXT:     result: point, 8-bit power_of_two
// CHECK-NOT:  {{.}}

// The module comes after the explanation, as it was.
// MODULE:       function main
// MODULE-LABEL: func.func @main
// MODULE-NEXT:    tosa.exp %{{.*}} : (tensor<4xf32>) -> tensor<4xf32>{{$}}
#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#act8 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], default_weight = #w>
module attributes {tpc.target = @npu} {
  tpc.platform @npu default(#tpc.qc_options<[#act8]>) operator_sets []
  tpc.binding @npu_on_tosa for @npu []
  func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
    %0 = tosa.exp %arg0 : (tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
