// RUN: mct-opt %s | mct-opt | FileCheck %s
// RUN: mct-opt %s --emit-bytecode | mct-opt | FileCheck %s
// RUN: mct-opt %s --mlir-print-op-generic | mct-opt | FileCheck %s

#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#c = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], default_weight = #w>
#o = #tpc.qc_options<[#c]>

// Nothing changes but the name.
// CHECK: tpc.derive @minimal from "imx500"
tpc.derive @minimal from "imx500"

// CHECK:      tpc.derive @maximal from "base.mlir" type("npu") version 2, 1 metadata = true simd_padding = false default(#options) linear(#options)
// CHECK-SAME:   operator_sets [
// CHECK-NEXT:     #tpc.operator_set<"Conv">
// CHECK-NEXT:   ] new_operator_sets [
// CHECK-NEXT:     #tpc.operator_set<"Gelu", options = #options>
// CHECK-NEXT:   ] fusing [
// CHECK-NEXT:     #tpc.fusing<["Conv", "Gelu"]>
// CHECK-NEXT:   ]
tpc.derive @maximal from "base.mlir" type("npu") version 2, 1 metadata = true simd_padding = false
  default(#o) linear(#o)
  operator_sets [#tpc.operator_set<"Conv">]
  new_operator_sets [#tpc.operator_set<"Gelu", options = #o>]
  fusing [#tpc.fusing<["Conv", "Gelu"]>]

// Each number of a version may be unknown.
// CHECK: tpc.platform @no_patch version 3, ? default
tpc.platform @no_patch version 3, ? default(#o) operator_sets []
// CHECK: tpc.platform @no_minor version ?, 4 default
tpc.platform @no_minor version ?, 4 default(#o) operator_sets []
