// RUN: not mct-translate --export-tpc-json %s 2>&1 | FileCheck %s
// The JSON of MCT has no place for it.
// CHECK: error: 'tpc.platform' op has an 'error_tolerance' of 4, which the JSON of MCT cannot say; leave it out
#w = #tpc.attr_quant_config<method = symmetric, bits = 8, enabled = true, error_tolerance = 4>
#c = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], default_weight = #w>
tpc.platform @npu default(#tpc.qc_options<[#c]>) operator_sets []
