// A binding without `for` serves a platform that has none of its own, as far as that defines the sets.
// RUN: mct-opt %s --mct-insert-quantizers | FileCheck %s

#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#c8 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], default_weight = #w>
#off = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], act_enabled = false, default_weight = #w>
// CHECK: module attributes
// CHECK: tpc.binding @anywhere [
module attributes {tpc.target = @p} {
  tpc.platform @p default(#tpc.qc_options<[#c8]>)
    operator_sets [#tpc.operator_set<"Sigmoid", options = #tpc.qc_options<[#off]>>]
  tpc.binding @anywhere [
    #tpc.ops_of<"Sigmoid", [#tpc.op<"tosa.sigmoid">]>,
    #tpc.ops_of<"Tanh", [#tpc.op<"tosa.tanh">]>
  ]
  // CHECK-LABEL: func.func @main
  // CHECK:         %[[S:.*]] = tosa.sigmoid
  // CHECK-NEXT:    %[[T:.*]] = tosa.tanh %[[S]]
  // CHECK-NEXT:    tpc.quantize %[[T]] as "tanh" activation
  func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = tosa.sigmoid %x : (tensor<4xf32>) -> tensor<4xf32>
    %1 = tosa.tanh %0 : (tensor<4xf32>) -> tensor<4xf32>
    return %1 : tensor<4xf32>
  }
}
