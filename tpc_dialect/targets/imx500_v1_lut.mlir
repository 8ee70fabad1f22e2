// SPDX-License-Identifier: Apache-2.0
//
// Sony IMX500 of MCT 2.2, version 1 with kernels of 4 and 2 bits as tables of values.

#weight_default = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#bias_float = #tpc.attr_quant_config<method = power_of_two, bits = 32>
#kernel8 = #tpc.attr_quant_config<method = symmetric, bits = 8, per_channel = true, enabled = true>
#kernel4 = #tpc.attr_quant_config<method = lut_sym_quantizer, bits = 4, per_channel = true, enabled = true>
#kernel2 = #tpc.attr_quant_config<method = lut_sym_quantizer, bits = 2, per_channel = true, enabled = true>

#float_result = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], act_enabled = false, simd_size = 32, default_weight = #weight_default>
#linear8 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], simd_size = 32, weights = {kernel_attr = #kernel8, bias_attr = #bias_float}, default_weight = #weight_default>
#linear4 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], simd_size = 64, weights = {kernel_attr = #kernel4, bias_attr = #bias_float}, default_weight = #weight_default>
#linear2 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], simd_size = 128, weights = {kernel_attr = #kernel2, bias_attr = #bias_float}, default_weight = #weight_default>
#not_quantized = #tpc.qc_options<[#float_result]>

tpc.derive @imx500_lut_tp_model from "imx500_v1_0" simd_padding = false
  linear(#tpc.qc_options<[#linear8, #linear4, #linear2], base = #linear8>)
  operator_sets [#tpc.operator_set<"Stack", options = #not_quantized>]
  new_operator_sets [#tpc.operator_set<"BatchNorm", options = #not_quantized>]
