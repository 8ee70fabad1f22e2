// RUN: mct-opt %s --mct-insert-quantizers --tpc-explain -o /dev/null | FileCheck %s --check-prefixes=CHECK,FIRST
// RUN: mct-opt %s --mct-insert-quantizers --mct-choose-candidates=choices=conv2d=1 --tpc-explain -o /dev/null | FileCheck %s --check-prefixes=CHECK,SECOND
// RUN: mct-opt %s --mct-insert-quantizers --mct-choose-candidates=choices=conv2d=1 --tpc-explain | FileCheck %s --check-prefix=MODULE

// In a module that has points an operator takes what they say.
// CHECK:       conv2d (tosa.conv2d)
// FIRST:         option 0 (base): 8-bit power_of_two result{{.*}}kernel_attr 8-bit
// FIRST:         option 1: 8-bit power_of_two result{{.*}}kernel_attr 4-bit
// FIRST:         fused: conv2d -> clamp
// FIRST:         weight kernel_attr: point, 8-bit symmetric, per channel of axes 0
// SECOND:        option 0: 8-bit power_of_two result{{.*}}kernel_attr 8-bit
// SECOND:        option 1 (base): 8-bit power_of_two result{{.*}}kernel_attr 4-bit
// SECOND:        fused: conv2d -> clamp
// SECOND:        weight kernel_attr: point, 4-bit symmetric{{$}}
// MODULE:      func.func @main
// MODULE:        tpc.quantize %{{.*}} as "conv2d" weight "kernel_attr" config
#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#k8 = #tpc.attr_quant_config<method = symmetric, bits = 8, per_channel = true, enabled = true>
#k4 = #tpc.attr_quant_config<method = symmetric, bits = 4, enabled = true>
#act = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], default_weight = #w>
#a8w8 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], weights = {kernel_attr = #k8}, default_weight = #w>
#a8w4 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], weights = {kernel_attr = #k4}, default_weight = #w>
module attributes {tpc.target = @npu} {
  tpc.platform @npu default(#tpc.qc_options<[#act]>)
    operator_sets [
      #tpc.operator_set<"Conv", options = #tpc.qc_options<[#a8w8, #a8w4], base = #a8w8>>,
      #tpc.operator_set<"ReLU">
    ]
    fusing [#tpc.fusing<["Conv", "ReLU"]>]
  tpc.binding @npu_on_tosa for @npu [
    #tpc.ops_of<"Conv", [#tpc.op<"tosa.conv2d">], weights = {kernel_attr = 1}>,
    #tpc.ops_of<"ReLU", [#tpc.op<"tosa.clamp">]>
  ]
  tpc.framework @tosa [#tpc.op_info<"tosa.conv2d", kernel = 1, bias = 2, out_axes = [0], in_axis = 3, result_axis = -1>]
  func.func @main(%arg0: tensor<1x4x4x1xf32>) -> tensor<1x4x4x1xf32> {
    %kernel = "tosa.const"() <{values = dense<1.0> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
    %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
    %0 = tosa.conv2d %arg0, %kernel, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x1xf32>
    %1 = tosa.clamp %0 {min_val = 0.0 : f32, max_val = 3.40282347E+38 : f32} : (tensor<1x4x4x1xf32>) -> tensor<1x4x4x1xf32>
    return %1 : tensor<1x4x4x1xf32>
  }
}
