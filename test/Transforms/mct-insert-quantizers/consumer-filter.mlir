// RUN: mct-opt %s --split-input-file --mct-insert-quantizers | FileCheck %s

// exp may write 16 or 8 bits; tanh reads 8 only, sigmoid reads both.
#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#act8 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], default_weight = #w>
#wide8 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8, 16], default_weight = #w>
#wide16 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 16, input_bits = [8, 16], default_weight = #w>
// CHECK-DAG: #[[$NARROW:.*]] = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], default
// CHECK-DAG: #[[$WIDE8:.*]] = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8, 16], default
// CHECK-DAG: #[[$WIDE16:.*]] = #tpc.op_quant_config<act_method = power_of_two, act_bits = 16, input_bits = [8, 16], default
module attributes {tpc.target = @npu} {
  tpc.platform @npu default(#tpc.qc_options<[#act8]>)
    operator_sets [
      #tpc.operator_set<"Exp", options = #tpc.qc_options<[#wide16, #wide8], base = #wide16>>,
      #tpc.operator_set<"Sigmoid", options = #tpc.qc_options<[#wide8]>>
    ]
  tpc.binding @npu_on_tosa for @npu [#tpc.ops_of<"Exp", [#tpc.op<"tosa.exp">]>, #tpc.ops_of<"Sigmoid", [#tpc.op<"tosa.sigmoid">]>]

  // CHECK-LABEL: func.func @narrow_consumer_excludes_wide_results
  // CHECK:         tpc.quantize {{.*}} as "exp" activation config(#[[$WIDE8]]) : tensor<4xf32>
  func.func @narrow_consumer_excludes_wide_results(%arg0: tensor<4xf32>) -> tensor<4xf32> {
    %0 = tosa.exp %arg0 : (tensor<4xf32>) -> tensor<4xf32>
    %1 = tosa.tanh %0 : (tensor<4xf32>) -> tensor<4xf32>
    return %1 : tensor<4xf32>
  }

  // CHECK-LABEL: func.func @wide_consumer_leaves_the_choice
  // CHECK:         tpc.quantize {{.*}} as "exp" activation config(#[[$WIDE16]]) candidates(#tpc.alternatives<of = "exp", configs = [#[[$WIDE16]], #[[$WIDE8]]], chosen = 0>) : tensor<4xf32>
  func.func @wide_consumer_leaves_the_choice(%arg0: tensor<4xf32>) -> tensor<4xf32> {
    %0 = tosa.exp %arg0 : (tensor<4xf32>) -> tensor<4xf32>
    %1 = tosa.sigmoid %0 : (tensor<4xf32>) -> tensor<4xf32>
    return %1 : tensor<4xf32>
  }
}

// -----

// The convolution's base writes 16 bits and its consumer reads 8. Of the 8-bit alternatives the first is taken, with
// 8-bit weights (MCT takes the last, with 2-bit weights).
#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#k8 = #tpc.attr_quant_config<method = symmetric, bits = 8, enabled = true>
#k2 = #tpc.attr_quant_config<method = symmetric, bits = 2, enabled = true>
#act8 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], default_weight = #w>
#a16w8 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 16, input_bits = [8], weights = {kernel_attr = #k8}, default_weight = #w>
#a8w8 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], weights = {kernel_attr = #k8}, default_weight = #w>
#a8w2 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], weights = {kernel_attr = #k2}, default_weight = #w>
// CHECK: #[[$K8:.*]] = #tpc.attr_quant_config<method = symmetric, bits = 8, enabled = true>
module attributes {tpc.target = @npu} {
  tpc.platform @npu default(#tpc.qc_options<[#act8]>)
    operator_sets [#tpc.operator_set<"Conv", options = #tpc.qc_options<[#a16w8, #a8w8, #a8w2], base = #a16w8>>]
  tpc.binding @npu_on_tosa for @npu [#tpc.ops_of<"Conv", [#tpc.op<"tosa.conv2d">], weights = {kernel_attr = 1}>]
  // CHECK-LABEL: func.func @base_falls_back_to_the_first_of_equals
  // CHECK:         tpc.quantize {{.*}} as "conv2d" weight "kernel_attr" config(#[[$K8]])
  func.func @base_falls_back_to_the_first_of_equals(%arg0: tensor<1x4x4x1xf32>) -> tensor<1x4x4x1xf32> {
    %kernel = "tosa.const"() <{values = dense<1.0> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
    %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
    %0 = tosa.conv2d %arg0, %kernel, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x1xf32>
    %1 = tosa.tanh %0 : (tensor<1x4x4x1xf32>) -> tensor<1x4x4x1xf32>
    return %1 : tensor<1x4x4x1xf32>
  }
}
