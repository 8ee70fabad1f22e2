// SPDX-License-Identifier: Apache-2.0
//
// Sony IMX500 of MCT 2.2, version 3: version 2 with results of 16 bits for arithmetic, as a choice, and with quantized
// constants.

#weight_default = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#constant8 = #tpc.attr_quant_config<method = power_of_two, bits = 8, per_channel = true, enabled = true>

#float_result = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8, 16], act_enabled = false, simd_size = 32, default_weight = #weight_default>
#arithmetic8 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8, 16], simd_size = 32, default_weight = #constant8>
#arithmetic16 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 16, input_bits = [8, 16], signedness = signed, simd_size = 32, default_weight = #constant8>
#division8 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], simd_size = 32, default_weight = #constant8>

#not_quantized = #tpc.qc_options<[#float_result]>
#arithmetic = #tpc.qc_options<[#arithmetic16, #arithmetic8], base = #arithmetic8>

tpc.derive @imx500_tp_model from "imx500_v2" version 3, 0
  operator_sets [
    #tpc.operator_set<"Unstack", options = #not_quantized>,
    #tpc.operator_set<"Dropout", options = #not_quantized>,
    #tpc.operator_set<"Flatten", options = #not_quantized>,
    #tpc.operator_set<"SplitChunk", options = #not_quantized>,
    #tpc.operator_set<"GetItem", options = #not_quantized>,
    #tpc.operator_set<"Reshape", options = #not_quantized>,
    #tpc.operator_set<"Unsqueeze", options = #not_quantized>,
    #tpc.operator_set<"Size", options = #not_quantized>,
    #tpc.operator_set<"Permute", options = #not_quantized>,
    #tpc.operator_set<"Transpose", options = #not_quantized>,
    #tpc.operator_set<"Equal", options = #not_quantized>,
    #tpc.operator_set<"ArgMax", options = #not_quantized>,
    #tpc.operator_set<"Gather", options = #not_quantized>,
    #tpc.operator_set<"TopK", options = #not_quantized>,
    #tpc.operator_set<"Squeeze", options = #not_quantized>,
    #tpc.operator_set<"MaxPool", options = #not_quantized>,
    #tpc.operator_set<"Pad", options = #not_quantized>,
    #tpc.operator_set<"ZeroPadding2D", options = #not_quantized>,
    #tpc.operator_set<"Cast", options = #not_quantized>,
    #tpc.operator_set<"CombinedNonMaxSuppression", options = #not_quantized>,
    #tpc.operator_set<"FakeQuant", options = #not_quantized>,
    #tpc.operator_set<"SSDPostProcess", options = #not_quantized>,
    #tpc.operator_set<"BatchNorm", options = #not_quantized>,
    #tpc.operator_set<"Stack", options = #arithmetic>,
    #tpc.operator_set<"Add", options = #arithmetic>,
    #tpc.operator_set<"Sub", options = #arithmetic>,
    #tpc.operator_set<"Mul", options = #arithmetic>,
    #tpc.operator_set<"Div", options = #tpc.qc_options<[#division8]>>
  ]
  new_operator_sets [
    #tpc.operator_set<"StridedSlice", options = #not_quantized>,
    #tpc.operator_set<"Concatenate", options = #arithmetic>
  ]
