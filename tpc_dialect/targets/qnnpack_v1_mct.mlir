// SPDX-License-Identifier: Apache-2.0
//
// QNNPACK as MCT 2.6.1 ships it, for comparisons with MCT. `qnnpack_v1` is what its documentation means: this one
// quantizes no weight, and results to powers of two.

#weight_default = #tpc.attr_quant_config<method = symmetric, bits = 8>

#act8 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], simd_size = 32, default_weight = #weight_default>

#quantized = #tpc.qc_options<[#act8]>

#convolutions = #tpc.operator_set_group<["Conv", "ConvTranspose"]>
#clamps = #tpc.operator_set_group<["ReLU", "ReLU6", "HardTanh"]>

tpc.platform @qnnpack_tpc type("qnnpack") version 1, 0 default(#quantized)
  operator_sets [
    #tpc.operator_set<"Conv">,
    #tpc.operator_set<"DepthwiseConv2D">,
    #tpc.operator_set<"ConvTranspose">,
    #tpc.operator_set<"BatchNorm">,
    #tpc.operator_set<"ReLU">,
    #tpc.operator_set<"ReLU6">,
    #tpc.operator_set<"HardTanh">,
    #tpc.operator_set<"FullyConnected">
  ]
  fusing [
    #tpc.fusing<[#convolutions, "BatchNorm", #clamps]>,
    #tpc.fusing<[#convolutions, "BatchNorm"]>,
    #tpc.fusing<[#convolutions, #clamps]>,
    #tpc.fusing<["FullyConnected", #clamps]>
  ]
