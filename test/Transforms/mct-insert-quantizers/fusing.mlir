// RUN: mct-opt %s --split-input-file --mct-insert-quantizers | FileCheck %s

// A target whose patterns are add -> exp and add -> exp -> tanh -> sigmoid: the chain add, exp, tanh stops short of the
// long one, so the short one is taken (MCT fuses nothing here).
#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#act = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], default_weight = #w>
module attributes {tpc.target = @npu} {
  tpc.platform @npu default(#tpc.qc_options<[#act]>)
    operator_sets [#tpc.operator_set<"Add">, #tpc.operator_set<"Exp">, #tpc.operator_set<"Tanh">, #tpc.operator_set<"Sigmoid">]
    fusing [#tpc.fusing<["Add", "Exp", "Tanh", "Sigmoid"]>, #tpc.fusing<["Add", "Exp"]>]
  tpc.binding @npu_on_tosa for @npu [
    #tpc.ops_of<"Add", [#tpc.op<"tosa.add">]>, #tpc.ops_of<"Exp", [#tpc.op<"tosa.exp">]>,
    #tpc.ops_of<"Tanh", [#tpc.op<"tosa.tanh">]>, #tpc.ops_of<"Sigmoid", [#tpc.op<"tosa.sigmoid">]>
  ]
  // CHECK-LABEL: func.func @backs_off_to_the_shorter_pattern
  // CHECK:         tosa.add
  // CHECK-NEXT:    tosa.exp
  // CHECK-NEXT:    tpc.quantize {{.*}} as "exp" activation {{.*}} group(["add", "exp"])
  // CHECK-NEXT:    tosa.tanh
  // CHECK-NEXT:    tpc.quantize {{.*}} as "tanh" activation config({{[^)]*}}) : tensor<4xf32>
  func.func @backs_off_to_the_shorter_pattern(%arg0: tensor<4xf32>) -> tensor<4xf32> {
    %0 = tosa.add %arg0, %arg0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %1 = tosa.exp %0 : (tensor<4xf32>) -> tensor<4xf32>
    %2 = tosa.tanh %1 : (tensor<4xf32>) -> tensor<4xf32>
    return %2 : tensor<4xf32>
  }

  // CHECK-LABEL: func.func @takes_the_longest_pattern
  // CHECK:         tosa.add
  // CHECK-NEXT:    tosa.exp
  // CHECK-NEXT:    tosa.tanh
  // CHECK-NEXT:    tosa.sigmoid
  // CHECK-NEXT:    tpc.quantize {{.*}} group(["add", "exp", "tanh", "sigmoid"])
  func.func @takes_the_longest_pattern(%arg0: tensor<4xf32>) -> tensor<4xf32> {
    %0 = tosa.add %arg0, %arg0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %1 = tosa.exp %0 : (tensor<4xf32>) -> tensor<4xf32>
    %2 = tosa.tanh %1 : (tensor<4xf32>) -> tensor<4xf32>
    %3 = tosa.sigmoid %2 : (tensor<4xf32>) -> tensor<4xf32>
    return %3 : tensor<4xf32>
  }

  // The sum is also a result of the network: it needs its own quantizer.
  // CHECK-LABEL: func.func @output_is_not_fused_away
  // CHECK:         tosa.add
  // CHECK-NEXT:    tpc.quantize {{.*}} as "add"
  // CHECK-NEXT:    tosa.exp
  // CHECK-NEXT:    tpc.quantize {{.*}} as "exp" activation config({{[^)]*}}) : tensor<4xf32>
  func.func @output_is_not_fused_away(%arg0: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    %0 = tosa.add %arg0, %arg0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %1 = tosa.exp %0 : (tensor<4xf32>) -> tensor<4xf32>
    return %0, %1 : tensor<4xf32>, tensor<4xf32>
  }

  // Two readers of the sum.
  // CHECK-LABEL: func.func @branch_ends_the_chain
  // CHECK:         tosa.add
  // CHECK-NEXT:    tpc.quantize {{.*}} as "add"
  // CHECK-NEXT:    tosa.exp
  // CHECK-NEXT:    tpc.quantize {{.*}} as "exp"
  // CHECK-NEXT:    tosa.tanh
  func.func @branch_ends_the_chain(%arg0: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    %0 = tosa.add %arg0, %arg0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %1 = tosa.exp %0 : (tensor<4xf32>) -> tensor<4xf32>
    %2 = tosa.tanh %0 : (tensor<4xf32>) -> tensor<4xf32>
    return %1, %2 : tensor<4xf32>, tensor<4xf32>
  }
}

// -----

// Two producers end in one join: the first takes it, the other keeps its own quantizer (MCT fails here).
#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#act = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], default_weight = #w>
module attributes {tpc.target = @npu} {
  tpc.platform @npu default(#tpc.qc_options<[#act]>)
    operator_sets [#tpc.operator_set<"Add">, #tpc.operator_set<"Exp">]
    fusing [#tpc.fusing<["Exp", "Add"]>]
  tpc.binding @npu_on_tosa for @npu [#tpc.ops_of<"Add", [#tpc.op<"tosa.add">]>, #tpc.ops_of<"Exp", [#tpc.op<"tosa.exp">]>]
  // CHECK-LABEL: func.func @join_belongs_to_one_chain
  // CHECK:         tosa.exp
  // CHECK-NEXT:    tosa.exp
  // CHECK-NEXT:    tpc.quantize {{.*}} as "exp_1" activation config({{[^)]*}}) : tensor<4xf32>
  // CHECK-NEXT:    tosa.add
  // CHECK-NEXT:    tpc.quantize {{.*}} as "add" activation {{.*}} group(["exp", "add"])
  func.func @join_belongs_to_one_chain(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>) -> tensor<4xf32> {
    %0 = tosa.exp %arg0 : (tensor<4xf32>) -> tensor<4xf32>
    %1 = tosa.exp %arg1 : (tensor<4xf32>) -> tensor<4xf32>
    %2 = tosa.add %0, %1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    return %2 : tensor<4xf32>
  }
}
