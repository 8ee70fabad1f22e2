// SPDX-License-Identifier: Apache-2.0
//
// QNNPACK as the documentation of MCT means it: uniform results and symmetric kernels of 8 bits, one parameter a tensor.
// ReLU, ReLU6 and hard tanh are activations of layers and of additions in front of them. Operators that move or select values keep
// the grid of their input, also the slices that TOSA wants in front of convolutions with strides. Constants that are added, and slopes of
// PReLU, have 8 bits.

#weight_default = #tpc.attr_quant_config<method = symmetric, bits = 8>
#bias_float = #tpc.attr_quant_config<method = symmetric, bits = 32>
#kernel8 = #tpc.attr_quant_config<method = symmetric, bits = 8, enabled = true>
#constant8 = #tpc.attr_quant_config<method = uniform, bits = 8, enabled = true>

#act8 = #tpc.op_quant_config<act_method = uniform, act_bits = 8, input_bits = [8], default_weight = #weight_default>
#with_constant8 = #tpc.op_quant_config<act_method = uniform, act_bits = 8, input_bits = [8], weights = {pos_attr = #constant8}, default_weight = #weight_default>
#preserving = #tpc.op_quant_config<act_method = uniform, act_bits = 8, input_bits = [8], act_enabled = false, preserving = true, default_weight = #weight_default>
#linear8 = #tpc.op_quant_config<act_method = uniform, act_bits = 8, input_bits = [8], weights = {kernel_attr = #kernel8, bias_attr = #bias_float}, default_weight = #weight_default>

#preserved = #tpc.qc_options<[#preserving]>

#convolutions = #tpc.operator_set_group<["Conv", "DepthwiseConv2D", "ConvTranspose"]>
#activating = #tpc.operator_set_group<["Conv", "DepthwiseConv2D", "ConvTranspose", "FullyConnected", "Add"]>
#clamps = #tpc.operator_set_group<["ReLU", "ReLU6", "HardTanh"]>

tpc.derive @qnnpack_tpc from "qnnpack_v1_mct"
  default(#tpc.qc_options<[#act8]>)
  linear(#tpc.qc_options<[#linear8]>)
  new_operator_sets [
    #tpc.operator_set<"Add", options = #tpc.qc_options<[#with_constant8]>>,
    #tpc.operator_set<"PReLU", options = #tpc.qc_options<[#with_constant8]>>,
    #tpc.operator_set<"Unstack", options = #preserved>,
    #tpc.operator_set<"Transpose", options = #preserved>,
    #tpc.operator_set<"Gather", options = #preserved>,
    #tpc.operator_set<"Reshape", options = #preserved>,
    #tpc.operator_set<"MaxPool", options = #preserved>,
    #tpc.operator_set<"StridedSlice", options = #preserved>,
    #tpc.operator_set<"ZeroPadding2D", options = #preserved>,
    #tpc.operator_set<"Pad", options = #preserved>,
    #tpc.operator_set<"Squeeze", options = #preserved>
  ]
  fusing [
    #tpc.fusing<[#convolutions, "BatchNorm", #clamps]>,
    #tpc.fusing<[#convolutions, "BatchNorm"]>,
    #tpc.fusing<[#activating, #clamps]>
  ]
