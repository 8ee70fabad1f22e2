// SPDX-License-Identifier: Apache-2.0
//
// Sony IMX500, platform version 1.0, as MCT 2.6.1 describes it, and how its operator sets are spelled in TOSA 1.0.
// Activations and kernels have 8 bits, kernels alternatively 4 or 2. An operator that no set names is quantized by
// default.

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

// An empty list: the set has no form in TOSA that could be told from other ops, or its form is a subgraph without a
// matcher. Its ops then are what they look like one by one.
tpc.binding @imx500_on_tosa for @imx500_tpc [
  #tpc.ops_of<"Stack", []>,
  #tpc.ops_of<"Unstack", []>,
  #tpc.ops_of<"Dropout", [#tpc.op<"tosa.identity">]>,
  #tpc.ops_of<"Flatten", [#tpc.op<"tosa.reshape">]>,
  #tpc.ops_of<"SplitChunk", [#tpc.op<"tosa.slice">]>,
  #tpc.ops_of<"GetItem", [#tpc.op<"tosa.slice">]>,
  #tpc.ops_of<"Reshape", [#tpc.op<"tosa.reshape">]>,
  #tpc.ops_of<"Unsqueeze", [#tpc.op<"tosa.reshape">]>,
  #tpc.ops_of<"Size", []>,
  #tpc.ops_of<"Permute", [#tpc.op<"tosa.transpose">]>,
  #tpc.ops_of<"Transpose", [#tpc.op<"tosa.transpose">]>,
  #tpc.ops_of<"Equal", [#tpc.op<"tosa.equal">]>,
  #tpc.ops_of<"ArgMax", [#tpc.op<"tosa.argmax">]>,
  #tpc.ops_of<"Gather", [#tpc.op<"tosa.gather">]>,
  #tpc.ops_of<"TopK", [#tpc.op<"tosa.custom" where operator_name eq "topk">]>,
  #tpc.ops_of<"Squeeze", [#tpc.op<"tosa.reshape">]>,
  #tpc.ops_of<"MaxPool", [#tpc.op<"tosa.max_pool2d">]>,
  #tpc.ops_of<"Pad", [#tpc.op<"tosa.pad">]>,
  #tpc.ops_of<"ZeroPadding2D", [#tpc.op<"tosa.pad">]>,
  #tpc.ops_of<"Cast", [#tpc.op<"tosa.cast">]>,
  #tpc.ops_of<"CombinedNonMaxSuppression", [#tpc.op<"tosa.custom" where operator_name contains "nms">]>,
  #tpc.ops_of<"FakeQuant", [#tpc.op<"tosa.custom" where operator_name eq "fake_quant">]>,
  #tpc.ops_of<"SSDPostProcess", [#tpc.op<"tosa.custom" where operator_name eq "ssd_post_process">]>,
  #tpc.ops_of<"Conv", [#tpc.op<"tosa.conv2d">], weights = {kernel_attr = 1, bias_attr = 2}>,
  #tpc.ops_of<"ConvTranspose", [#tpc.op<"tosa.transpose_conv2d">], weights = {kernel_attr = 1, bias_attr = 2}>,
  #tpc.ops_of<"DepthwiseConv2D", [#tpc.op<"tosa.depthwise_conv2d">], weights = {kernel_attr = 1, bias_attr = 2}>,
  #tpc.ops_of<"FullyConnected", [#tpc.subgraph<"fully_connected">]>,
  #tpc.ops_of<"ReLU", [#tpc.op<"tosa.clamp" where min_val eq 0.0 : f32 and max_val ge 3.40282347E+38 : f32>]>,
  #tpc.ops_of<"ReLU6", [#tpc.op<"tosa.clamp" where min_val eq 0.0 : f32 and max_val eq 6.0 : f32>]>,
  #tpc.ops_of<"LeakyReLU", []>,
  #tpc.ops_of<"Add", [#tpc.op<"tosa.add">]>,
  #tpc.ops_of<"Sub", [#tpc.op<"tosa.sub">]>,
  #tpc.ops_of<"Mul", [#tpc.op<"tosa.mul">]>,
  #tpc.ops_of<"Div", [#tpc.op<"tosa.intdiv">]>,
  #tpc.ops_of<"PReLU", []>,
  #tpc.ops_of<"Swish", [#tpc.subgraph<"swish">]>,
  #tpc.ops_of<"HardSwish", [#tpc.subgraph<"hard_swish">]>,
  #tpc.ops_of<"Sigmoid", [#tpc.op<"tosa.sigmoid">]>,
  #tpc.ops_of<"Tanh", [#tpc.op<"tosa.tanh">]>,
  #tpc.ops_of<"HardTanh", [#tpc.op<"tosa.clamp" where min_val eq 0.0 : f32 and max_val ne 6.0 : f32 and max_val lt 3.40282347E+38 : f32>]>
]
