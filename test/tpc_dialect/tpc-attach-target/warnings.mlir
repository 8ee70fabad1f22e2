// RUN: mct-opt %s --tpc-attach-target=target=%s --verify-diagnostics -o /dev/null

// This file is target and model in one, so that its own expectations are checked.

#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#table = #tpc.attr_quant_config<method = lut_pot_quantizer, bits = 12>
#c8 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], default_weight = #w>
#both = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], act_enabled = true, preserving = true, default_weight = #w>
#wide = #tpc.op_quant_config<act_method = power_of_two, act_bits = 16, input_bits = [8], default_weight = #w>
#codebook = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], default_weight = #table>

// A5
// expected-warning@+12 {{'lut_pot_quantizer' with 12 bits, used by operator set 'Codebook', needs a codebook of 2^12 entries}}
// O3
// expected-warning@+10 {{'act_enabled' and 'preserving' are mutually exclusive, but operator set 'Both' sets both}}
// Q5
// expected-warning@+8 {{candidate #1 of operator set 'Twice' repeats candidate #0}}
// P5
// expected-warning@+6 {{fusing pattern #1 is shadowed by #0}}
// P6
// expected-warning@+4 {{no operator set accepts 16-bit inputs}}
// B4: "Both" is bound to nothing on purpose.
// expected-warning@+2 {{operator set "Unbound" has no ops; it will never apply}}

tpc.platform @p default(#tpc.qc_options<[#c8]>) operator_sets [
  #tpc.operator_set<"Codebook", options = #tpc.qc_options<[#codebook]>>,
  #tpc.operator_set<"Both", options = #tpc.qc_options<[#both]>>,
  #tpc.operator_set<"Twice", options = #tpc.qc_options<[#c8, #c8], base = #c8>>,
  #tpc.operator_set<"Wide", options = #tpc.qc_options<[#wide]>>,
  #tpc.operator_set<"Unbound">
] fusing [#tpc.fusing<["Twice", "Wide"]>, #tpc.fusing<["Twice", "Wide"], name = "again">]
tpc.binding @b for @p [
  #tpc.ops_of<"Codebook", [#tpc.op<"tosa.add">]>,
  #tpc.ops_of<"Both", []>,
  #tpc.ops_of<"Twice", [#tpc.op<"tosa.sub">]>,
  #tpc.ops_of<"Wide", [#tpc.op<"tosa.exp">]>
]
