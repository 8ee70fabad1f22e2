// RUN: mct-opt %s --tpc-explain -o /dev/null | FileCheck %s
// RUN: mct-opt %s --tpc-explain=format=json -o /dev/null | FileCheck %s --check-prefix=JSON

// The sum joins two chains and goes to the first; the second says so.
// CHECK:      exp (tosa.exp)
// CHECK-NOT:  not fused
// CHECK:        fused: exp -> add
// CHECK:      exp_1 (tosa.exp)
// CHECK:        not fused further: another chain has add
// CHECK-NEXT:   result: point, 8-bit power_of_two
// CHECK:      group exp -> add, by #tpc.fusing<["Exp", "Add"]>
// CHECK-NOT:  group

// JSON: "contested_by": null,
// JSON: "contested_by": "add",
// JSON: "contested_by": null,
#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#act = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], default_weight = #w>
module attributes {tpc.target = @npu} {
  tpc.platform @npu default(#tpc.qc_options<[#act]>)
    operator_sets [#tpc.operator_set<"Add">, #tpc.operator_set<"Exp">]
    fusing [#tpc.fusing<["Exp", "Add"]>]
  tpc.binding @npu_on_tosa for @npu [#tpc.ops_of<"Add", [#tpc.op<"tosa.add">]>, #tpc.ops_of<"Exp", [#tpc.op<"tosa.exp">]>]
  func.func @main(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>) -> tensor<4xf32> {
    %0 = tosa.exp %arg0 : (tensor<4xf32>) -> tensor<4xf32>
    %1 = tosa.exp %arg1 : (tensor<4xf32>) -> tensor<4xf32>
    %2 = tosa.add %0, %1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    return %2 : tensor<4xf32>
  }
}
