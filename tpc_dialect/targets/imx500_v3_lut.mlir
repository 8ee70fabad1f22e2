// SPDX-License-Identifier: Apache-2.0
//
// Sony IMX500 of MCT 2.2, version 3 with kernels of 4 and 2 bits as tables of values: version 2 of that with quantized
// constants.

#weight_default = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#constant8 = #tpc.attr_quant_config<method = power_of_two, bits = 8, per_channel = true, enabled = true>

#arithmetic8 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], simd_size = 32, default_weight = #constant8>
#arithmetic = #tpc.qc_options<[#arithmetic8]>

tpc.derive @imx500_lut_tp_model from "imx500_v2_lut" version 3, 0
  operator_sets [
    #tpc.operator_set<"Add", options = #arithmetic>,
    #tpc.operator_set<"Sub", options = #arithmetic>,
    #tpc.operator_set<"Mul", options = #arithmetic>,
    #tpc.operator_set<"Div", options = #arithmetic>
  ]
