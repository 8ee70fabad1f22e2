// RUN: mct-opt %s --split-input-file --mct-insert-quantizers --verify-diagnostics

// expected-error @below {{has no target}}
module {
  func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
    return %arg0 : tensor<4xf32>
  }
}

// -----

#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#act8 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], default_weight = #w>
module attributes {tpc.target = @npu} {
  tpc.platform @npu default(#tpc.qc_options<[#act8]>) operator_sets []
  tpc.binding @npu_on_tosa for @npu []
  func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
    // expected-error @below {{is already there; insert points into a module without any}}
    %0 = tpc.quantize %arg0 as "arg0" activation : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// -----

#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#act8 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], default_weight = #w>
module attributes {tpc.target = @npu} {
  tpc.platform @npu default(#tpc.qc_options<[#act8]>) operator_sets []
  tpc.binding @npu_on_tosa for @npu []
  // expected-error @below {{has 2 blocks; quantization points need a network without control flow}}
  func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
    cf.br ^end
  ^end:
    return %arg0 : tensor<4xf32>
  }
}

// -----

#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#act8 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], default_weight = #w>
#act16 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 16, input_bits = [8], default_weight = #w>
module attributes {tpc.target = @npu} {
  tpc.platform @npu default(#tpc.qc_options<[#act8]>) operator_sets [#tpc.operator_set<"Exp", options = #tpc.qc_options<[#act16]>>]
  tpc.binding @npu_on_tosa for @npu [#tpc.ops_of<"Exp", [#tpc.op<"tosa.exp">]>]
  func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
    // expected-error @below {{has no configuration that fits its users (at most 8-bit inputs accepted)}}
    %0 = tosa.exp %arg0 : (tensor<4xf32>) -> tensor<4xf32>
    // expected-note @below {{read here}}
    %1 = tosa.tanh %0 : (tensor<4xf32>) -> tensor<4xf32>
    return %1 : tensor<4xf32>
  }
}
