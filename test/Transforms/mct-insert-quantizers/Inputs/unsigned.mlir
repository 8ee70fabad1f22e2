// SPDX-License-Identifier: Apache-2.0
//
// A chip without signed activations.
#weight = #tpc.attr_quant_config<method = symmetric, bits = 8, per_channel = true>
#unsigned = #tpc.op_quant_config<act_method = symmetric, act_bits = 8, input_bits = [8], signedness = unsigned, default_weight = #weight>
#signed = #tpc.op_quant_config<act_method = symmetric, act_bits = 8, input_bits = [8], signedness = signed, default_weight = #weight>
tpc.platform @unsigned
  default(#tpc.qc_options<[#unsigned]>)
  operator_sets [#tpc.operator_set<"Exp", options = #tpc.qc_options<[#signed]>>]
