// SPDX-License-Identifier: Apache-2.0
//
// TensorFlow Lite as the documentation of MCT means it: uniform results, symmetric kernels per channel, of the dense layer
// per tensor. Operators that move or select values keep the grid of their input; some have one grid for all networks.
// ReLU and ReLU6 are activations of the operators in front of them, as in a `.tflite` file. Means over whole images have a grid of their
// own, as MEAN may: on the grid of its input ResNet8's agrees with float in 95.75 % of 2000 images, and so in 97.9 %.
// Products and concatenations have one, too, as MUL has, and CONCATENATION with a QUANTIZE before each operand: values of two grids have
// no common one to keep, and the layers behind the skip connections of a U-Net would stay float. Constants that are added have 8 bits,
// as ADD takes no others, and so have the slopes of PRELU. A swish is a LOGISTIC and a MUL.

#weight_default = #tpc.attr_quant_config<method = symmetric, bits = 8>
#bias_float = #tpc.attr_quant_config<method = symmetric, bits = 32>
#kernel8 = #tpc.attr_quant_config<method = symmetric, bits = 8, per_channel = true, enabled = true>
#kernel8_per_tensor = #tpc.attr_quant_config<method = symmetric, bits = 8, enabled = true>
#constant8 = #tpc.attr_quant_config<method = uniform, bits = 8, enabled = true>

#act8 = #tpc.op_quant_config<act_method = uniform, act_bits = 8, input_bits = [8], default_weight = #weight_default>
#with_constant8 = #tpc.op_quant_config<act_method = uniform, act_bits = 8, input_bits = [8], weights = {pos_attr = #constant8}, default_weight = #weight_default>
#preserving = #tpc.op_quant_config<act_method = uniform, act_bits = 8, input_bits = [8], act_enabled = false, preserving = true, default_weight = #weight_default>
#linear8 = #tpc.op_quant_config<act_method = uniform, act_bits = 8, input_bits = [8], weights = {kernel_attr = #kernel8, bias_attr = #bias_float}, default_weight = #weight_default>
#linear8_per_tensor = #tpc.op_quant_config<act_method = uniform, act_bits = 8, input_bits = [8], weights = {kernel_attr = #kernel8_per_tensor, bias_attr = #bias_float}, default_weight = #weight_default>
#symmetric_grid = #tpc.op_quant_config<act_method = uniform, act_bits = 8, input_bits = [8], fixed_scale = 0.0078125, fixed_zero_point = 0, default_weight = #weight_default>
#log_softmax_grid = #tpc.op_quant_config<act_method = uniform, act_bits = 8, input_bits = [8], fixed_scale = 0.0625, fixed_zero_point = 127, default_weight = #weight_default>
#probability_grid = #tpc.op_quant_config<act_method = uniform, act_bits = 8, input_bits = [8], fixed_scale = 0.00390625, fixed_zero_point = -128, default_weight = #weight_default>

#preserved = #tpc.qc_options<[#preserving]>
#linear = #tpc.qc_options<[#linear8]>
#symmetric = #tpc.qc_options<[#symmetric_grid]>
#probability = #tpc.qc_options<[#probability_grid]>

#kernels = #tpc.operator_set_group<["Conv", "DepthwiseConv2D", "ConvTranspose", "FullyConnected"]>
#with_bias = #tpc.operator_set_group<["Conv", "FullyConnected"]>
#activating = #tpc.operator_set_group<["Conv", "DepthwiseConv2D", "ConvTranspose", "FullyConnected", "BatchNorm", "Add"]>
#activations = #tpc.operator_set_group<["ReLU", "ReLU6"]>
#after_kernels = #tpc.operator_set_group<["ReLU", "ReLU6", "Elu"]>

tpc.derive @tflite_tpc from "tflite_v1_mct"
  default(#tpc.qc_options<[#act8]>)
  linear(#linear)
  operator_sets [
    #tpc.operator_set<"FullyConnected", options = #tpc.qc_options<[#linear8_per_tensor]>>,
    #tpc.operator_set<"Unstack", options = #preserved>,
    #tpc.operator_set<"Transpose", options = #preserved>,
    #tpc.operator_set<"Gather", options = #preserved>,
    #tpc.operator_set<"Reshape", options = #preserved>,
    #tpc.operator_set<"MaxPool", options = #preserved>,
    #tpc.operator_set<"AvgPool", options = #preserved>,
    #tpc.operator_set<"StridedSlice", options = #preserved>,
    #tpc.operator_set<"Add", options = #tpc.qc_options<[#with_constant8]>>,
    #tpc.operator_set<"Concatenate", options = #tpc.qc_options<[#act8]>>,
    #tpc.operator_set<"Mul", options = #tpc.qc_options<[#act8]>>,
    #tpc.operator_set<"Min", options = #preserved>,
    #tpc.operator_set<"Max", options = #preserved>,
    #tpc.operator_set<"ZeroPadding2D", options = #preserved>,
    #tpc.operator_set<"Resize", options = #preserved>,
    #tpc.operator_set<"Pad", options = #preserved>,
    #tpc.operator_set<"Fold", options = #preserved>,
    #tpc.operator_set<"Squeeze", options = #preserved>,
    #tpc.operator_set<"L2Norm", options = #symmetric>,
    #tpc.operator_set<"Tanh", options = #symmetric>,
    #tpc.operator_set<"LogSoftmax", options = #tpc.qc_options<[#log_softmax_grid]>>,
    #tpc.operator_set<"Softmax", options = #probability>,
    #tpc.operator_set<"Sigmoid", options = #probability>
  ]
  new_operator_sets [
    #tpc.operator_set<"DepthwiseConv2D", options = #linear>,
    #tpc.operator_set<"ConvTranspose", options = #linear>,
    #tpc.operator_set<"PReLU", options = #tpc.qc_options<[#with_constant8]>>,
    #tpc.operator_set<"Swish", one_by_one>
  ]
  fusing [
    #tpc.fusing<[#activating, #activations]>,
    #tpc.fusing<[#with_bias, "AddBias"]>,
    #tpc.fusing<[#with_bias, "AddBias", #after_kernels]>,
    #tpc.fusing<[#kernels, "BatchNorm", #after_kernels]>,
    #tpc.fusing<["Conv", "Squeeze", #after_kernels]>,
    #tpc.fusing<["BatchNorm", "Add", #after_kernels]>
  ]
