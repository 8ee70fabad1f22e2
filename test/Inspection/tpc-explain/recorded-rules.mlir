// RUN: echo 'all weights=4' > %t.rules
// RUN: mct-opt %s --mct-insert-quantizers=overrides=%t.rules -o %t.mlir
// RUN: mct-opt %t.mlir --tpc-explain -o /dev/null | FileCheck %s
// RUN: echo 'all activation=float' > %t.more
// RUN: mct-opt %t.mlir --tpc-explain=overrides=%t.more -o /dev/null | FileCheck %s --check-prefixes=CHECK,MORE

// The rules with which points were inserted are those of the module; others
// follow them.
// CHECK:       conv2d (tosa.conv2d)
// CHECK:         option 0 (dropped): 8-bit power_of_two result{{.*}}kernel_attr 8-bit symmetric; the override of tpc.overrides:1 excludes it
// CHECK:         option 1 (base): 8-bit power_of_two result{{.*}}kernel_attr 4-bit
// MORE:          result: float, because
// CHECK:         weight kernel_attr: point, 4-bit symmetric
#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#k8 = #tpc.attr_quant_config<method = symmetric, bits = 8, per_channel = true, enabled = true>
#k4 = #tpc.attr_quant_config<method = symmetric, bits = 4, enabled = true>
#act = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], default_weight = #w>
#a8w8 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], weights = {kernel_attr = #k8}, default_weight = #w>
#a8w4 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], weights = {kernel_attr = #k4}, default_weight = #w>
module attributes {tpc.target = @npu} {
  tpc.platform @npu default(#tpc.qc_options<[#act]>)
    operator_sets [#tpc.operator_set<"Conv", options = #tpc.qc_options<[#a8w8, #a8w4], base = #a8w8>>]
  tpc.binding @npu_on_tosa for @npu [
    #tpc.ops_of<"Conv", [#tpc.op<"tosa.conv2d">], weights = {kernel_attr = 1}>
  ]
  tpc.framework @tosa [#tpc.op_info<"tosa.conv2d", kernel = 1, bias = 2, out_axes = [0], in_axis = 3, result_axis = -1>]
  func.func @main(%arg0: tensor<1x4x4x1xf32>) -> tensor<1x4x4x1xf32> {
    %kernel = "tosa.const"() <{values = dense<1.0> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
    %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
    %0 = tosa.conv2d %arg0, %kernel, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x1xf32>
    return %0 : tensor<1x4x4x1xf32>
  }
}
