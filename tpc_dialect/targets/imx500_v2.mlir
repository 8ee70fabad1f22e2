// SPDX-License-Identifier: Apache-2.0
//
// Sony IMX500 of MCT 2.2, version 2: version 1 with metadata in the exported model.

#weight_default = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#float_result = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], act_enabled = false, simd_size = 32, default_weight = #weight_default>
#not_quantized = #tpc.qc_options<[#float_result]>

tpc.derive @imx500_tp_model from "imx500_v1_0" version 2, 0 metadata = true
  operator_sets [#tpc.operator_set<"Stack", options = #not_quantized>]
  new_operator_sets [#tpc.operator_set<"BatchNorm", options = #not_quantized>]
