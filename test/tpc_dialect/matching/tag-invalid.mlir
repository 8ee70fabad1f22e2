// RUN: mct-opt %s --mct-insert-quantizers --verify-diagnostics --split-input-file

#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#c8 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], default_weight = #w>
module attributes {tpc.target = @p} {
  // expected-note@below {{sets of '@p': ReLU, Sigmoid}}
  tpc.platform @p default(#tpc.qc_options<[#c8]>)
    operator_sets [#tpc.operator_set<"ReLU">, #tpc.operator_set<"Sigmoid">]
  tpc.binding @on_tosa for @p [#tpc.ops_of<"ReLU", []>, #tpc.ops_of<"Sigmoid", []>]
  func.func @unknown_set(%x: tensor<4xf32>) -> tensor<4xf32> {
    // expected-error@below {{is tagged with operator set "Relu", which the target does not define; correct 'tpc.set' or remove it}}
    %0 = tosa.sigmoid %x {tpc.set = "Relu"} : (tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// -----

func.func @not_a_name(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@below {{'tpc.set' must be the name of an operator set, a string, but got 1 : i64}}
  %0 = tosa.sigmoid %x {tpc.set = 1 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
