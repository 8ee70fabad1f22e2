#group = #tpc.operator_set_group<["Add", "Sub"], name = "binary">
#weight_config = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#weight_config1 = #tpc.attr_quant_config<method = symmetric, bits = 8, per_channel = true, enabled = true>
#weight_config2 = #tpc.attr_quant_config<method = lut_sym_quantizer, bits = 4, enabled = true, lut_values_bits = 8>
#op_config = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], default_weight = #weight_config>
#op_config1 = #tpc.op_quant_config<act_method = lut_pot_quantizer, act_bits = 8, input_bits = [8], fixed_scale = 6.250000e-02 : f64, fixed_zero_point = -127, default_weight = #weight_config>
#op_config2 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], act_enabled = false, preserving = true, default_weight = #weight_config>
#op_config3 = #tpc.op_quant_config<act_method = uniform, act_bits = 16, input_bits = [8, 16], signedness = signed, simd_size = 32, weights = {kernel_attr = #weight_config1}, default_weight = #weight_config2>
#options = #tpc.qc_options<[#op_config]>
#options1 = #tpc.qc_options<[#op_config1]>
#options2 = #tpc.qc_options<[#op_config2]>
#options3 = #tpc.qc_options<[#op_config3, #op_config], base = #op_config>
module attributes {tpc.target = @chip} {
  tpc.platform @chip type("my chip") version 2, 1 metadata simd_padding insert_preserving_quantizers default(#options) operator_sets [
    #tpc.operator_set<"Conv", options = #options3>,
    #tpc.operator_set<"Add">,
    #tpc.operator_set<"Sub", options = #options1>,
    #tpc.operator_set<"Pad", options = #options2>,
    #tpc.operator_set<"ReLU">
  ] fusing [
    #tpc.fusing<["Conv", #group, "ReLU"], config = #op_config, name = "residual">,
    #tpc.fusing<["Conv", "ReLU"], name = "plain">,
    #tpc.fusing<[#group, "ReLU"]>
  ]
  tpc.platform @bare default(#options) operator_sets []
  tpc.binding @chip_on_tosa for @chip [
    #tpc.ops_of<"Conv", [#tpc.op<"tosa.conv2d">], weights = {bias_attr = 2 : i64, kernel_attr = 1 : i64}>,
    #tpc.ops_of<"Add", [#tpc.op<"tosa.add" where "$rank" gt 2 : i64 and "$const_operand" ne 1 : i64>]>,
    #tpc.ops_of<"Sub", [#tpc.op<"tosa.sub">, #tpc.subgraph<"softmax">]>,
    #tpc.ops_of<"Pad", []>,
    #tpc.ops_of<"ReLU", [#tpc.op<"tosa.clamp" where (min_val ge 0 : i64 or min_val lt -1 : i64) and (max_val eq 6.000000e+00 : f64 or max_val le 1 : i64)>, #tpc.op<"tosa.custom" where operator_name contains "relu">]>
  ]
  tpc.framework @mine [
    #tpc.op_info<"my.conv", kernel = 1, bias = 2, out_axes = [0, 1], in_axis = 3, result_axis = -1>,
    #tpc.op_info<"my.relu", range = [0.000000e+00, ?]>,
    #tpc.op_info<"my.neg", range = [?, 0.000000e+00]>,
    #tpc.op_info<"my.view", quantize = false>
  ]
  tpc.derive @derived from "imx500" type("derived") version 3, 2 metadata = true simd_padding = false default(#options) linear(#options) operator_sets [
    #tpc.operator_set<"MaxPool">
  ] new_operator_sets [
    #tpc.operator_set<"Gelu", options = #options>
  ] fusing [
    #tpc.fusing<["Conv", "Gelu"]>
  ]
  func.func @points(%arg0: tensor<2x4xf32>) -> tensor<2x4xf32> {
    %0 = tpc.quantize %arg0 as "input" activation : tensor<2x4xf32>
    %1 = tpc.quantize %0 as "conv" weight "kernel_attr" axes [1] config(#weight_config1) candidates([#weight_config1, #weight_config2]) parameters(#tpc.symmetric<threshold = [1.000000e+00, 2.000000e+00, 3.000000e+00, 4.500000e+00], bits = 8>) corrections(#tpc.corrections<applied = ["second_moment", "input_mean"], bias_offset = [1.000000e-01, -2.500000e-01], kernel_scale = [1.000000e+00]>) : tensor<2x4xf32>
    %2 = tpc.quantize %1 as "relu" activation config(#op_config) group(["conv", "relu"]) range(#tpc.range<0.000000e+00, ?>) statistics(#tpc.statistics<count = 8, zeros = 1, min = 0.000000e+00, max = 3.500000e+00, histogram = #tpc.histogram<step_exponent = -2, first = 3, counts = dense<[1, 0, 6]> : tensor<3xi64>>>) parameters(#tpc.power_of_two<threshold = [4.000000e+00], bits = 8, is_signed = false>) : tensor<2x4xf32>
    %3 = tpc.quantize %2 as "add" activation statistics(#tpc.statistics<count = 8, zeros = 0, min = -1.000000e+00, max = 1.000000e+00, channel_mean = dense<0.000000e+00> : tensor<4xf64>, channel_mean_square = dense<1.000000e+00> : tensor<4xf64>, channel_min = dense<-1.000000e+00> : tensor<4xf32>, channel_max = dense<1.000000e+00> : tensor<4xf32>>) parameters(#tpc.uniform<scale = [2.500000e-01], zero_point = [3], bits = 4>) : tensor<2x4xf32>
    %4 = tpc.quantize %3 as "table" activation parameters(#tpc.lookup_table<method = lut_sym_quantizer, threshold = [1.500000e+00], table = [-90, -20, 0, 64], bits = 2>) : tensor<2x4xf32>
    %5 = tpc.quantize %4 as "narrow_table" weight "kernel_attr" axes [0] parameters(#tpc.lookup_table<method = lut_pot_quantizer, threshold = [2.000000e+00, 4.000000e+00], table = [1, 15], bits = 3, is_signed = false, table_bits = 4>) : tensor<2x4xf32>
    %6 = tpc.quantize %5 as "resource" activation statistics(#tpc.statistics<count = 7, zeros = 0, min = 7.500000e-01, max = 1.250000e+00, histogram = #tpc.histogram<step_exponent = -2, first = 3, counts = dense_resource<counts> : tensor<2xi64>>>) : tensor<2x4xf32>
    return %6 : tensor<2x4xf32>
  }
  func.func @bias() -> tensor<2xf32> {
    %0 = tpc.bias values(dense<[5.000000e-01, -1.000000e+00]> : tensor<2xf32>) mean(dense<[0.000000e+00, 2.500000e-01]> : tensor<2xf32>) deviation(dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>) : tensor<2xf32>
    return %0 : tensor<2xf32>
  }
  func.func private @predicate() attributes {test.where = #tpc.predicate<"$kernel_h" eq 1 : i64 or not_there contains "x">}
}

{-#
  dialect_resources: {
    builtin: {
      counts: "0x0800000001000000000000000600000000000000"
    }
  }
#-}

