// RUN: mct-opt %s --mct-insert-quantizers --verify-diagnostics --split-input-file

// U1: both filters hold, and the sets want different things of the op.
#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#c8 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], default_weight = #w>
#c4 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 4, input_bits = [8], default_weight = #w>
module attributes {tpc.target = @p} {
  tpc.platform @p default(#tpc.qc_options<[#c8]>) operator_sets [
    #tpc.operator_set<"A">,
    #tpc.operator_set<"B", options = #tpc.qc_options<[#c4]>>
  ]
  // expected-note@below {{set "A" is bound here to #tpc.op<"tosa.clamp" where min_val ge 0.000000e+00 : f32>}}
  tpc.binding @one for @p [
    #tpc.ops_of<"A", [#tpc.op<"tosa.clamp" where min_val ge 0.0 : f32>]>
  ]
  // expected-note@below {{set "B" is bound here to #tpc.op<"tosa.clamp" where max_val le 6.000000e+00 : f32>}}
  tpc.binding @two for @p [
    #tpc.ops_of<"B", [#tpc.op<"tosa.clamp" where max_val le 6.0 : f32>]>
  ]
  func.func @both(%x: tensor<4xf32>) -> tensor<4xf32> {
    // expected-error@below {{'tosa.clamp' matches operator sets "A" and "B" with different options}}
    %0 = tosa.clamp %x {min_val = 0.0 : f32, max_val = 6.0 : f32} : (tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// -----

// The same of a subgraph; the error stands at its last op.
#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#c8 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], default_weight = #w>
#c4 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 4, input_bits = [8], default_weight = #w>
module attributes {tpc.target = @p} {
  tpc.platform @p default(#tpc.qc_options<[#c8]>) operator_sets [
    #tpc.operator_set<"A">,
    #tpc.operator_set<"B", options = #tpc.qc_options<[#c4]>>
  ]
  // expected-note@below {{set "A" is bound here to #tpc.subgraph<"swish">}}
  tpc.binding @one for @p [#tpc.ops_of<"A", [#tpc.subgraph<"swish">]>]
  // expected-note@below {{set "B" is bound here to #tpc.subgraph<"swish">}}
  tpc.binding @two for @p [#tpc.ops_of<"B", [#tpc.subgraph<"swish">]>]
  func.func @both(%x: tensor<4xf32>) -> tensor<4xf32> {
    %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
    %0 = tosa.sigmoid %x : (tensor<4xf32>) -> tensor<4xf32>
    // expected-error@below {{'subgraph:swish' matches operator sets "A" and "B" with different options}}
    %1 = tosa.mul %x, %0, %shift : (tensor<4xf32>, tensor<4xf32>, tensor<1xi8>) -> tensor<4xf32>
    return %1 : tensor<4xf32>
  }
}
