// SPDX-License-Identifier: Apache-2.0
//
// Sony IMX500, platform version 1.0, as MCT 2.6.1 describes it. Activations and kernels have 8 bits, kernels
// alternatively 4 or 2. An operator that no set names is quantized by default.

#weight_default = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#bias_float = #tpc.attr_quant_config<method = power_of_two, bits = 32>
#kernel8 = #tpc.attr_quant_config<method = symmetric, bits = 8, per_channel = true, enabled = true>
#kernel4 = #tpc.attr_quant_config<method = symmetric, bits = 4, per_channel = true, enabled = true>
#kernel2 = #tpc.attr_quant_config<method = symmetric, bits = 2, per_channel = true, enabled = true>

#act8 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], simd_size = 32, default_weight = #weight_default>
#float_result = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], act_enabled = false, simd_size = 32, default_weight = #weight_default>
// As many more kernel elements fit into one instruction as they are narrower.
#linear8 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], simd_size = 32, weights = {kernel_attr = #kernel8, bias_attr = #bias_float}, default_weight = #weight_default>
#linear4 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], simd_size = 64, weights = {kernel_attr = #kernel4, bias_attr = #bias_float}, default_weight = #weight_default>
#linear2 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], simd_size = 128, weights = {kernel_attr = #kernel2, bias_attr = #bias_float}, default_weight = #weight_default>

#quantized = #tpc.qc_options<[#act8]>
#not_quantized = #tpc.qc_options<[#float_result]>
#linear = #tpc.qc_options<[#linear8, #linear4, #linear2], base = #linear8>

#convolutions = #tpc.operator_set_group<["Conv", "ConvTranspose", "DepthwiseConv2D"]>
#after_convolution = #tpc.operator_set_group<["ReLU", "ReLU6", "LeakyReLU", "HardTanh", "Swish", "HardSwish", "PReLU", "Sigmoid", "Tanh"]>
#after_dense = #tpc.operator_set_group<["ReLU", "ReLU6", "LeakyReLU", "HardTanh", "Swish", "HardSwish", "Sigmoid"]>
#binary = #tpc.operator_set_group<["Add", "Sub", "Mul", "Div"]>
#after_binary = #tpc.operator_set_group<["ReLU", "ReLU6", "LeakyReLU", "HardTanh"]>

tpc.platform @imx500_tpc type("imx500") version 1, 0 simd_padding default(#quantized)
  operator_sets [
    #tpc.operator_set<"Stack", options = #quantized>,
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
    #tpc.operator_set<"Conv", options = #linear>,
    #tpc.operator_set<"ConvTranspose", options = #linear>,
    #tpc.operator_set<"DepthwiseConv2D", options = #linear>,
    #tpc.operator_set<"FullyConnected", options = #linear>,
    #tpc.operator_set<"ReLU">,
    #tpc.operator_set<"ReLU6">,
    #tpc.operator_set<"LeakyReLU">,
    #tpc.operator_set<"Add">,
    #tpc.operator_set<"Sub">,
    #tpc.operator_set<"Mul">,
    #tpc.operator_set<"Div">,
    #tpc.operator_set<"PReLU">,
    #tpc.operator_set<"Swish">,
    #tpc.operator_set<"HardSwish">,
    #tpc.operator_set<"Sigmoid">,
    #tpc.operator_set<"Tanh">,
    #tpc.operator_set<"HardTanh">
  ]
  fusing [
    #tpc.fusing<[#convolutions, #after_convolution]>,
    #tpc.fusing<["FullyConnected", #after_dense]>,
    #tpc.fusing<[#binary, #after_binary]>
  ]
