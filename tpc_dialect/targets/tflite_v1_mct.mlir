// SPDX-License-Identifier: Apache-2.0
//
// TensorFlow Lite as MCT 2.6.1 ships it, for comparisons with MCT. `tflite_v1` is what its documentation means: this one
// has power-of-two results by default, sets that contradict themselves, and the grid of sigmoid on tanh.

#weight_default = #tpc.attr_quant_config<method = symmetric, bits = 8>
#bias_float = #tpc.attr_quant_config<method = symmetric, bits = 32>
#kernel8_per_tensor = #tpc.attr_quant_config<method = symmetric, bits = 8, enabled = true>
#kernel8 = #tpc.attr_quant_config<method = symmetric, bits = 8, per_channel = true, enabled = true>

#act8 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], simd_size = 32, default_weight = #weight_default>
// As shipped: preserving and quantized exclude each other, so that no operator can run with it.
#preserving = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], preserving = true, simd_size = 32, default_weight = #weight_default>
#l2_norm_grid = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], fixed_scale = 0.0078125, fixed_zero_point = 0, simd_size = 32, default_weight = #weight_default>
#log_softmax_grid = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], fixed_scale = 0.0625, fixed_zero_point = 127, simd_size = 32, default_weight = #weight_default>
#softmax_grid = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], fixed_scale = 0.00390625, fixed_zero_point = -128, simd_size = 32, default_weight = #weight_default>
#linear8_per_tensor = #tpc.op_quant_config<act_method = uniform, act_bits = 8, input_bits = [8], weights = {kernel_attr = #kernel8_per_tensor, bias_attr = #bias_float}, default_weight = #weight_default>
#linear8 = #tpc.op_quant_config<act_method = uniform, act_bits = 8, input_bits = [8], weights = {kernel_attr = #kernel8, bias_attr = #bias_float}, default_weight = #weight_default>

#quantized = #tpc.qc_options<[#act8]>
#preserved = #tpc.qc_options<[#preserving]>
#l2_norm = #tpc.qc_options<[#l2_norm_grid]>
#log_softmax = #tpc.qc_options<[#log_softmax_grid]>
#softmax = #tpc.qc_options<[#softmax_grid]>
#linear_per_tensor = #tpc.qc_options<[#linear8_per_tensor]>
#linear = #tpc.qc_options<[#linear8]>

#kernels = #tpc.operator_set_group<["Conv", "FullyConnected"]>
#after_kernels = #tpc.operator_set_group<["ReLU", "Elu"]>

tpc.platform @tflite_tpc type("tflite") version 1, 0 default(#quantized)
  operator_sets [
    #tpc.operator_set<"Unstack", options = #preserved>,
    #tpc.operator_set<"Transpose", options = #preserved>,
    #tpc.operator_set<"Gather", options = #preserved>,
    #tpc.operator_set<"Reshape", options = #preserved>,
    #tpc.operator_set<"MaxPool", options = #preserved>,
    #tpc.operator_set<"AvgPool", options = #preserved>,
    #tpc.operator_set<"StridedSlice", options = #preserved>,
    #tpc.operator_set<"Concatenate", options = #preserved>,
    #tpc.operator_set<"Mul", options = #preserved>,
    #tpc.operator_set<"Min", options = #preserved>,
    #tpc.operator_set<"Max", options = #preserved>,
    #tpc.operator_set<"ZeroPadding2D", options = #preserved>,
    #tpc.operator_set<"Resize", options = #preserved>,
    #tpc.operator_set<"Pad", options = #preserved>,
    #tpc.operator_set<"Fold", options = #preserved>,
    #tpc.operator_set<"L2Norm", options = #l2_norm>,
    #tpc.operator_set<"LogSoftmax", options = #log_softmax>,
    #tpc.operator_set<"Softmax", options = #softmax>,
    #tpc.operator_set<"FullyConnected", options = #linear_per_tensor>,
    #tpc.operator_set<"Conv", options = #linear>,
    #tpc.operator_set<"ReLU">,
    #tpc.operator_set<"ReLU6">,
    #tpc.operator_set<"Tanh", options = #softmax>,
    #tpc.operator_set<"Sigmoid", options = #quantized>,
    #tpc.operator_set<"BatchNorm">,
    #tpc.operator_set<"Add">,
    #tpc.operator_set<"AddBias">,
    #tpc.operator_set<"Elu">,
    #tpc.operator_set<"Squeeze", options = #preserved>
  ]
  fusing [
    #tpc.fusing<[#kernels, "AddBias"]>,
    #tpc.fusing<[#kernels, "AddBias", #after_kernels]>,
    #tpc.fusing<["Conv", "BatchNorm", #after_kernels]>,
    #tpc.fusing<["Conv", "Squeeze", #after_kernels]>,
    #tpc.fusing<["BatchNorm", #after_kernels]>,
    #tpc.fusing<["BatchNorm", "Add", #after_kernels]>
  ]
