// SPDX-License-Identifier: Apache-2.0
//
// Sony IMX500, platform version 5.0, as MCT 2.6.1 describes it: version 4.0 with constants of 16 bits for arithmetic,
// exponential, sine and cosine with 16 bits, and sigmoid with 8 only.

#weight_default = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#constant16 = #tpc.attr_quant_config<method = power_of_two, bits = 16, enabled = true>
#constant8_per_tensor = #tpc.attr_quant_config<method = power_of_two, bits = 8, enabled = true>
#bias_float = #tpc.attr_quant_config<method = power_of_two, bits = 32>
#kernel8 = #tpc.attr_quant_config<method = symmetric, bits = 8, per_channel = true, enabled = true>
#kernel4 = #tpc.attr_quant_config<method = symmetric, bits = 4, per_channel = true, enabled = true>
#kernel2 = #tpc.attr_quant_config<method = symmetric, bits = 2, per_channel = true, enabled = true>
#constant8 = #tpc.attr_quant_config<method = power_of_two, bits = 8, per_channel = true, enabled = true>

#act8 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], simd_size = 32, default_weight = #weight_default>
#float_result = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], act_enabled = false, simd_size = 32, default_weight = #weight_default>
#float_result_from16 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8, 16], act_enabled = false, simd_size = 32, default_weight = #weight_default>
#preserving = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], act_enabled = false, preserving = true, simd_size = 32, default_weight = #weight_default>
#preserving_from16 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8, 16], act_enabled = false, preserving = true, simd_size = 32, default_weight = #weight_default>
#preserving_from16_constant16 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8, 16], act_enabled = false, preserving = true, simd_size = 32, default_weight = #constant16>
#act16_constant_per_tensor = #tpc.op_quant_config<act_method = power_of_two, act_bits = 16, input_bits = [8, 16], signedness = signed, simd_size = 32, default_weight = #constant8_per_tensor>
#act8_from16_constant_per_tensor = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8, 16], simd_size = 32, default_weight = #constant8_per_tensor>
#act8_from16 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8, 16], simd_size = 32, default_weight = #weight_default>
#act16 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 16, input_bits = [8, 16], signedness = signed, simd_size = 32, default_weight = #weight_default>
#act16_constant = #tpc.op_quant_config<act_method = power_of_two, act_bits = 16, input_bits = [8, 16], signedness = signed, simd_size = 32, default_weight = #constant8>
#act8_from16_constant = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8, 16], simd_size = 32, default_weight = #constant8>
#act8_constant = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], simd_size = 32, default_weight = #constant8>
#linear8 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], simd_size = 32, weights = {kernel_attr = #kernel8, bias_attr = #bias_float}, default_weight = #weight_default>
// As many more kernel elements fit into one instruction as they are narrower.
#linear4 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], simd_size = 64, weights = {kernel_attr = #kernel4, bias_attr = #bias_float}, default_weight = #weight_default>
#linear2 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], simd_size = 128, weights = {kernel_attr = #kernel2, bias_attr = #bias_float}, default_weight = #weight_default>
#linear8_to16 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 16, input_bits = [8], signedness = signed, simd_size = 32, weights = {kernel_attr = #kernel8, bias_attr = #bias_float}, default_weight = #weight_default>
#linear4_to16 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 16, input_bits = [8], signedness = signed, simd_size = 64, weights = {kernel_attr = #kernel4, bias_attr = #bias_float}, default_weight = #weight_default>
#linear2_to16 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 16, input_bits = [8], signedness = signed, simd_size = 128, weights = {kernel_attr = #kernel2, bias_attr = #bias_float}, default_weight = #weight_default>
#act16_constant16 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 16, input_bits = [8, 16], signedness = signed, simd_size = 32, weights = {pos_attr = #constant16}, default_weight = #constant8>
#act8_from16_constant16 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8, 16], simd_size = 32, weights = {pos_attr = #constant16}, default_weight = #constant8>

#quantized = #tpc.qc_options<[#act8]>
#not_quantized = #tpc.qc_options<[#float_result]>
#not_quantized_from16 = #tpc.qc_options<[#float_result_from16]>
#preserved = #tpc.qc_options<[#preserving]>
#preserved_from16 = #tpc.qc_options<[#preserving_from16]>
#gather = #tpc.qc_options<[#preserving_from16_constant16]>
// Wider results are a choice for mixed precision; none is the base.
#merge = #tpc.qc_options<[#act16_constant_per_tensor, #act8_from16_constant_per_tensor], base = #act8_from16_constant_per_tensor>
#activation = #tpc.qc_options<[#act8_from16, #act16], base = #act8_from16>
#division = #tpc.qc_options<[#act8_constant]>
#activation8 = #tpc.qc_options<[#act8_from16]>
#linear = #tpc.qc_options<[#linear8, #linear4, #linear2, #linear8_to16, #linear4_to16, #linear2_to16], base = #linear8>
#arithmetic = #tpc.qc_options<[#act16_constant, #act8_from16_constant, #act16_constant16, #act8_from16_constant16], base = #act8_from16_constant>

#convolutions = #tpc.operator_set_group<["Conv", "ConvTranspose", "DepthwiseConv2D"]>
#after_convolution = #tpc.operator_set_group<["ReLU", "ReLU6", "LeakyReLU", "HardTanh", "Swish", "Gelu", "HardSwish", "HardSigmoid", "PReLU", "Sigmoid", "Tanh"]>
#after_dense = #tpc.operator_set_group<["ReLU", "ReLU6", "LeakyReLU", "HardTanh", "Swish", "Sigmoid", "Tanh", "Gelu", "HardSwish", "HardSigmoid"]>
#binary = #tpc.operator_set_group<["Add", "Sub", "Mul", "Div"]>
#after_binary = #tpc.operator_set_group<["ReLU", "ReLU6", "LeakyReLU", "HardTanh"]>

tpc.platform @imx500_tpc type("imx500") version 5, 0 metadata simd_padding default(#quantized)
  operator_sets [
    #tpc.operator_set<"Size", options = #not_quantized>,
    #tpc.operator_set<"Equal", options = #not_quantized>,
    #tpc.operator_set<"ArgMax", options = #not_quantized>,
    #tpc.operator_set<"TopK", options = #not_quantized>,
    #tpc.operator_set<"FakeQuant", options = #not_quantized>,
    #tpc.operator_set<"SSDPostProcess", options = #not_quantized>,
    #tpc.operator_set<"CombinedNonMaxSuppression", options = #not_quantized_from16>,
    #tpc.operator_set<"Dropout", options = #preserved>,
    #tpc.operator_set<"MaxPool", options = #preserved>,
    #tpc.operator_set<"Pad", options = #preserved>,
    #tpc.operator_set<"ZeroPadding2D", options = #preserved>,
    #tpc.operator_set<"Cast", options = #preserved>,
    #tpc.operator_set<"SplitChunk", options = #preserved_from16>,
    #tpc.operator_set<"GetItem", options = #preserved_from16>,
    #tpc.operator_set<"Unstack", options = #preserved_from16>,
    #tpc.operator_set<"StridedSlice", options = #preserved_from16>,
    #tpc.operator_set<"Flatten", options = #preserved_from16>,
    #tpc.operator_set<"Reshape", options = #preserved_from16>,
    #tpc.operator_set<"Unsqueeze", options = #preserved_from16>,
    #tpc.operator_set<"Squeeze", options = #preserved_from16>,
    #tpc.operator_set<"Permute", options = #preserved_from16>,
    #tpc.operator_set<"Transpose", options = #preserved_from16>,
    #tpc.operator_set<"Gather", options = #gather>,
    #tpc.operator_set<"Expend", options = #gather>,
    #tpc.operator_set<"Stack", options = #merge>,
    #tpc.operator_set<"Concatenate", options = #merge>,
    #tpc.operator_set<"BatchNorm", options = #activation>,
    #tpc.operator_set<"Min", options = #activation>,
    #tpc.operator_set<"Max", options = #activation>,
    #tpc.operator_set<"Conv", options = #linear>,
    #tpc.operator_set<"ConvTranspose", options = #linear>,
    #tpc.operator_set<"DepthwiseConv2D", options = #linear>,
    #tpc.operator_set<"FullyConnected", options = #linear>,
    #tpc.operator_set<"ReLU", options = #activation>,
    #tpc.operator_set<"ReLU6", options = #activation>,
    #tpc.operator_set<"LeakyReLU", options = #activation>,
    #tpc.operator_set<"Add", options = #arithmetic>,
    #tpc.operator_set<"Sub", options = #arithmetic>,
    #tpc.operator_set<"Mul", options = #arithmetic>,
    #tpc.operator_set<"Div", options = #division>,
    #tpc.operator_set<"PReLU", options = #activation>,
    #tpc.operator_set<"Swish", options = #activation>,
    #tpc.operator_set<"HardSwish", options = #activation>,
    #tpc.operator_set<"Sigmoid", options = #activation8>,
    #tpc.operator_set<"Tanh", options = #activation>,
    #tpc.operator_set<"Gelu", options = #activation>,
    #tpc.operator_set<"HardSigmoid", options = #activation>,
    #tpc.operator_set<"HardTanh", options = #activation>,
    #tpc.operator_set<"Exp", options = #activation>,
    #tpc.operator_set<"Sin", options = #activation>,
    #tpc.operator_set<"Cos", options = #activation>
  ]
  fusing [
    #tpc.fusing<[#convolutions, #after_convolution]>,
    #tpc.fusing<["FullyConnected", #after_dense]>,
    #tpc.fusing<[#binary, #after_binary]>
  ]
