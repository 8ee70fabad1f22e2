// The derived target that tpc_dialect/README.md shows is this one, and no check finds anything in it.
// RUN: sed -n '/^A chip that is like another one/,/^```$/p' %mct_src/tpc_dialect/README.md | sed '1,/^```mlir/d;/^```$/d' > %t.readme
// RUN: sed '1,/^$/d' %s | diff - %t.readme
// RUN: mct-opt %s --tpc-attach-target=target=%s --verify-diagnostics | FileCheck %s
// CHECK:     tpc.platform @my_npu type("my_npu") version 1, 0 simd_padding default
// CHECK:       #tpc.operator_set<"MaxPool">
// CHECK:       #tpc.operator_set<"Gelu">
// CHECK:     tpc.binding @my_npu_on_tosa for @my_npu

#float = #tpc.attr_quant_config<method = symmetric, bits = 8>
#kernel4 = #tpc.attr_quant_config<method = symmetric, bits = 4, per_channel = true, enabled = true>
#act8 = #tpc.op_quant_config<act_method = uniform, act_bits = 8, input_bits = [8], default_weight = #float>
#conv4 = #tpc.op_quant_config<act_method = uniform, act_bits = 8, input_bits = [8], weights = {kernel_attr = #kernel4}, default_weight = #float>

tpc.derive @my_npu from "imx500" type("my_npu") version 1, 0
  default(#tpc.qc_options<[#act8]>)
  linear(#tpc.qc_options<[#conv4]>)
  operator_sets [#tpc.operator_set<"MaxPool">, #tpc.operator_set<"Stack">]
  new_operator_sets [#tpc.operator_set<"Gelu">]
