// RUN: mct-opt %s --mct-insert-quantizers --split-input-file --verify-diagnostics | FileCheck %s

// A pattern with a config of its own: the hardware has a 16-bit quantizer between the two.
#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#act = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], default_weight = #w>
#inner = #tpc.op_quant_config<act_method = symmetric, act_bits = 16, input_bits = [8], default_weight = #w>
// CHECK-DAG: #[[$ACT:.*]] = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8
// CHECK-DAG: #[[$INNER:.*]] = #tpc.op_quant_config<act_method = symmetric, act_bits = 16
module attributes {tpc.target = @npu} {
  tpc.platform @npu default(#tpc.qc_options<[#act]>)
    operator_sets [#tpc.operator_set<"Add">, #tpc.operator_set<"Exp">]
    fusing [#tpc.fusing<["Add", "Exp"], config = #inner>]
  tpc.binding @npu_on_tosa for @npu [#tpc.ops_of<"Add", [#tpc.op<"tosa.add">]>, #tpc.ops_of<"Exp", [#tpc.op<"tosa.exp">]>]
  // CHECK-LABEL: func.func @inner_value_has_the_quantizer_of_the_pattern
  // CHECK:         tosa.add
  // CHECK-NEXT:    tpc.quantize {{.*}} as "add" activation config(#[[$INNER]]) : tensor<4xf32>
  // CHECK-NEXT:    tosa.exp
  // CHECK-NEXT:    tpc.quantize {{.*}} as "exp" activation config(#[[$ACT]]) group(["add", "exp"])
  func.func @inner_value_has_the_quantizer_of_the_pattern(%arg0: tensor<4xf32>) -> tensor<4xf32> {
    %0 = tosa.add %arg0, %arg0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %1 = tosa.exp %0 : (tensor<4xf32>) -> tensor<4xf32>
    return %1 : tensor<4xf32>
  }
}

// -----

// A config that leaves activations in float says no more than no config.
#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#act = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], default_weight = #w>
#inner = #tpc.op_quant_config<act_method = symmetric, act_bits = 16, input_bits = [8], act_enabled = false, default_weight = #w>
module attributes {tpc.target = @npu} {
  tpc.platform @npu default(#tpc.qc_options<[#act]>)
    operator_sets [#tpc.operator_set<"Add">, #tpc.operator_set<"Exp">]
    fusing [#tpc.fusing<["Add", "Exp"], config = #inner>]
  tpc.binding @npu_on_tosa for @npu [#tpc.ops_of<"Add", [#tpc.op<"tosa.add">]>, #tpc.ops_of<"Exp", [#tpc.op<"tosa.exp">]>]
  // CHECK-LABEL: func.func @config_without_activation_is_none
  // CHECK:         tosa.add
  // CHECK-NEXT:    tosa.exp
  func.func @config_without_activation_is_none(%arg0: tensor<4xf32>) -> tensor<4xf32> {
    %0 = tosa.add %arg0, %arg0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %1 = tosa.exp %0 : (tensor<4xf32>) -> tensor<4xf32>
    return %1 : tensor<4xf32>
  }
}

// -----

// U3: the sum joins two chains and goes to the first.
#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#act = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], default_weight = #w>
module attributes {tpc.target = @npu} {
  tpc.platform @npu default(#tpc.qc_options<[#act]>)
    operator_sets [#tpc.operator_set<"Add">, #tpc.operator_set<"Exp">]
    fusing [#tpc.fusing<["Exp", "Add"]>]
  tpc.binding @npu_on_tosa for @npu [#tpc.ops_of<"Add", [#tpc.op<"tosa.add">]>, #tpc.ops_of<"Exp", [#tpc.op<"tosa.exp">]>]
  func.func @second_chain_is_remarked(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>) -> tensor<4xf32> {
    %0 = tosa.exp %arg0 : (tensor<4xf32>) -> tensor<4xf32>
    // expected-remark @below {{'exp_1' cannot be fused with 'add', which an earlier chain has}}
    %1 = tosa.exp %arg1 : (tensor<4xf32>) -> tensor<4xf32>
    // expected-note @below {{both want this op}}
    %2 = tosa.add %0, %1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    return %2 : tensor<4xf32>
  }
}

// -----

// A chain that ends in an op which only moves values: the point stands where the values are made.
#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#act = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], default_weight = #w>
#moves = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], act_enabled = false, preserving = true, default_weight = #w>
module attributes {tpc.target = @npu} {
  tpc.platform @npu default(#tpc.qc_options<[#act]>)
    operator_sets [#tpc.operator_set<"Exp">, #tpc.operator_set<"Reverse", options = #tpc.qc_options<[#moves]>>]
    fusing [#tpc.fusing<["Exp", "Reverse"]>]
  tpc.binding @npu_on_tosa for @npu [#tpc.ops_of<"Exp", [#tpc.op<"tosa.exp">]>, #tpc.ops_of<"Reverse", [#tpc.op<"tosa.reverse">]>]
  // CHECK-LABEL: func.func @preserving_end_leaves_the_point_to_its_producer
  // CHECK:         tosa.exp
  // CHECK-NEXT:    tpc.quantize {{.*}} as "exp" activation {{.*}} group(["exp", "reverse"])
  // CHECK-NEXT:    tosa.reverse
  // CHECK-NEXT:    return
  func.func @preserving_end_leaves_the_point_to_its_producer(%arg0: tensor<4xf32>) -> tensor<4xf32> {
    %0 = tosa.exp %arg0 : (tensor<4xf32>) -> tensor<4xf32>
    %1 = tosa.reverse %0 {axis = 0 : i32} : (tensor<4xf32>) -> tensor<4xf32>
    return %1 : tensor<4xf32>
  }
}
