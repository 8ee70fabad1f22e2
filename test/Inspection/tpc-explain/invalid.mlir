// RUN: mct-opt %s --split-input-file --tpc-explain=overrides=%t.absent --verify-diagnostics

// expected-error @below {{module has no target; run tpc-attach-target first}}
module {
  func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
    return %arg0 : tensor<4xf32>
  }
}

// -----

#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#act8 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], default_weight = #w>
// expected-error @below {{cannot read overrides file}}
module attributes {tpc.target = @npu} {
  tpc.platform @npu default(#tpc.qc_options<[#act8]>) operator_sets []
  tpc.binding @npu_on_tosa for @npu []
  func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
    return %arg0 : tensor<4xf32>
  }
}
