// The target that tpc_dialect/README.md shows is this one, and no check finds anything in it.
// RUN: sed -n '/^This is a whole target/,/^```$/p' %mct_src/tpc_dialect/README.md | sed '1,/^```mlir/d;/^```$/d' > %t.readme
// RUN: sed '1,/^$/d' %s | diff - %t.readme
// RUN: mct-opt %s --tpc-attach-target=target=%s --verify-diagnostics | FileCheck %s
// CHECK: tpc.target = @my_npu

#float = #tpc.attr_quant_config<method = symmetric, bits = 8>
#kernel = #tpc.attr_quant_config<method = symmetric, bits = 8, per_channel = true, enabled = true>
#act8 = #tpc.op_quant_config<act_method = uniform, act_bits = 8, input_bits = [8], default_weight = #float>
#conv8 = #tpc.op_quant_config<act_method = uniform, act_bits = 8, input_bits = [8], weights = {kernel_attr = #kernel}, default_weight = #float>

tpc.platform @my_npu type("my_npu") version 1, 0 default(#tpc.qc_options<[#act8]>)
  operator_sets [#tpc.operator_set<"Conv", options = #tpc.qc_options<[#conv8]>>, #tpc.operator_set<"ReLU">]
  fusing [#tpc.fusing<["Conv", "ReLU"]>]
tpc.binding @my_npu_on_tosa for @my_npu [
  #tpc.ops_of<"Conv", [#tpc.op<"tosa.conv2d">]>,
  #tpc.ops_of<"ReLU", [#tpc.op<"tosa.clamp" where min_val eq 0.0 : f32 and max_val ge 3.40282347E+38 : f32>]>
]
