// RUN: mct-opt %s | mct-opt | FileCheck %s
// RUN: mct-opt %s --mlir-print-op-generic | mct-opt | FileCheck %s
// RUN: mct-opt %s --emit-bytecode | mct-opt | FileCheck %s

// Every config prints once, as an alias; what is default is left out.
// CHECK-DAG: #[[W8:weight_config[0-9]*]] = #tpc.attr_quant_config<method = power_of_two, bits = 8>
// CHECK-DAG: #[[K8:weight_config[0-9]*]] = #tpc.attr_quant_config<method = symmetric, bits = 8, per_channel = true, enabled = true, error_tolerance = 4>
// CHECK-DAG: #[[K4:weight_config[0-9]*]] = #tpc.attr_quant_config<method = lut_sym_quantizer, bits = 4, enabled = true, lut_values_bits = 8>
// CHECK-DAG: #[[PLAIN:op_config[0-9]*]] = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], default_weight = #[[W8]]>
// CHECK-DAG: #[[LINEAR:op_config[0-9]*]] = #tpc.op_quant_config<act_method = uniform, act_bits = 16, input_bits = [8, 16], signedness = signed, simd_size = 32, weights = {kernel_attr = #[[K8]]}, default_weight = #[[K4]]>
// CHECK-DAG: #[[FIXED:op_config[0-9]*]] = #tpc.op_quant_config<act_method = lut_pot_quantizer, act_bits = 8, input_bits = [8], fixed_scale = 6.250000e-02 : f64, fixed_zero_point = -127, default_weight = #[[W8]]>
// CHECK-DAG: #[[KEEP:op_config[0-9]*]] = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], act_enabled = false, preserving = true, default_weight = #[[W8]]>
// CHECK-DAG: #[[DEFAULT:options[0-9]*]] = #tpc.qc_options<[#[[PLAIN]]]>
// CHECK-DAG: #[[TWO:options[0-9]*]] = #tpc.qc_options<[#[[LINEAR]], #[[PLAIN]]], base = #[[PLAIN]]>
// CHECK-DAG: #[[GROUP:group[0-9]*]] = #tpc.operator_set_group<["Add", "Sub"], name = "binary">
#w8 = #tpc.attr_quant_config<bits = 8, method = power_of_two, per_channel = false>
#k8 = #tpc.attr_quant_config<method = symmetric, bits = 8, per_channel = true, enabled = true, error_tolerance = 4>
#k4 = #tpc.attr_quant_config<method = lut_sym_quantizer, bits = 4, enabled = true, lut_values_bits = 8>
#plain = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], act_enabled = true, default_weight = #w8>
#linear = #tpc.op_quant_config<act_method = uniform, act_bits = 16, input_bits = [8, 16], signedness = signed, simd_size = 32, weights = {kernel_attr = #k8}, default_weight = #k4>
#fixed = #tpc.op_quant_config<act_method = lut_pot_quantizer, act_bits = 8, input_bits = [8], fixed_scale = 0.0625 : f64, fixed_zero_point = -127, default_weight = #w8>
#keep = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], act_enabled = false, preserving = true, default_weight = #w8>
#default = #tpc.qc_options<[#plain]>
#binary = #tpc.operator_set_group<["Add", "Sub"], name = "binary">

// CHECK: module attributes {tpc.target = @chip}
module attributes {tpc.target = @chip} {
// CHECK:      tpc.platform @chip type("my chip") version 2, 1 metadata simd_padding insert_preserving_quantizers
// CHECK-SAME:   default(#[[DEFAULT]]) operator_sets [
// CHECK-NEXT:   #tpc.operator_set<"Conv", options = #[[TWO]]>,
// CHECK-NEXT:   #tpc.operator_set<"Add">,
// CHECK-NEXT:   #tpc.operator_set<"Sub", options = #{{.*}}>,
// CHECK-NEXT:   #tpc.operator_set<"Pad", options = #{{.*}}>,
// CHECK-NEXT:   #tpc.operator_set<"ReLU">
// CHECK-NEXT: ] fusing [
// CHECK-NEXT:   #tpc.fusing<["Conv", #[[GROUP]], "ReLU"], config = #[[PLAIN]], name = "residual">,
// CHECK-NEXT:   #tpc.fusing<["Conv", "ReLU"], name = "plain">,
// CHECK-NEXT:   #tpc.fusing<[#[[GROUP]], "ReLU"]>
// CHECK-NEXT: ]
tpc.platform @chip type("my chip") version 2, 1 metadata simd_padding insert_preserving_quantizers default(#default)
  operator_sets [
    #tpc.operator_set<"Conv", options = #tpc.qc_options<[#linear, #plain], base = #plain>>,
    #tpc.operator_set<"Add">,
    #tpc.operator_set<"Sub", options = #tpc.qc_options<[#fixed]>>,
    #tpc.operator_set<"Pad", options = #tpc.qc_options<[#keep]>>,
    #tpc.operator_set<"ReLU">
  ]
  fusing [
    #tpc.fusing<["Conv", #binary, "ReLU"], config = #plain, name = "residual">,
    #tpc.fusing<["Conv", "ReLU"], name = "plain">,
    #tpc.fusing<[#binary, "ReLU"]>
  ]

// The smallest platform.
// CHECK:      tpc.platform @bare default(#[[DEFAULT]]) operator_sets []
// CHECK-NOT:  fusing
tpc.platform @bare default(#default) operator_sets []

// CHECK:      tpc.binding @chip_on_tosa for @chip [
// CHECK-NEXT:   #tpc.ops_of<"Conv", [#tpc.op<"tosa.conv2d">], weights = {bias_attr = 2 : i64, kernel_attr = 1 : i64}>,
// CHECK-NEXT:   #tpc.ops_of<"Add", [#tpc.op<"tosa.add" where "$rank" gt 2 : i64 and "$const_operand" ne 1 : i64>]>,
// CHECK-NEXT:   #tpc.ops_of<"Sub", [#tpc.op<"tosa.sub">, #tpc.subgraph<"softmax">]>,
// CHECK-NEXT:   #tpc.ops_of<"Pad", []>,
// CHECK-NEXT:   #tpc.ops_of<"ReLU", [#tpc.op<"tosa.clamp" where (min_val ge 0 : i64 or min_val lt -1 : i64) and (max_val eq 6.000000e+00 : f64 or max_val le 1 : i64)>, #tpc.op<"tosa.custom" where operator_name contains "relu">]>
// CHECK-NEXT: ]
tpc.binding @chip_on_tosa for @chip [
  #tpc.ops_of<"Conv", [#tpc.op<"tosa.conv2d">], weights = {kernel_attr = 1, bias_attr = 2}>,
  #tpc.ops_of<"Add", [#tpc.op<"tosa.add" where "$rank" gt 2 and ("$const_operand" ne 1)>]>,
  #tpc.ops_of<"Sub", [#tpc.op<"tosa.sub">, #tpc.subgraph<"softmax">]>,
  #tpc.ops_of<"Pad", []>,
  #tpc.ops_of<"ReLU", [#tpc.op<"tosa.clamp" where (min_val ge 0 or min_val lt -1) and (max_val eq 6.0 or max_val le 1)>,
                       #tpc.op<"tosa.custom" where "operator_name" contains "relu">]>
]

// CHECK:      tpc.framework @mine [
// CHECK-NEXT:   #tpc.op_info<"my.conv", kernel = 1, bias = 2, out_axes = [0, 1], in_axis = 3, result_axis = -1>,
// CHECK-NEXT:   #tpc.op_info<"my.relu", range = [0.000000e+00, ?]>,
// CHECK-NEXT:   #tpc.op_info<"my.neg", range = [?, 0.000000e+00]>,
// CHECK-NEXT:   #tpc.op_info<"my.view", quantize = false>
// CHECK-NEXT: ]
tpc.framework @mine [
  #tpc.op_info<"my.conv", bias = 2, kernel = 1, out_axes = [0, 1], in_axis = 3, result_axis = -1>,
  #tpc.op_info<"my.relu", range = [0.0, ?]>,
  #tpc.op_info<"my.neg", range = [?, 0.0]>,
  #tpc.op_info<"my.view", quantize = false>
]

// CHECK: func.func @points(
// CHECK-SAME:    %[[X:.*]]: tensor<2x4xf32>
func.func @points(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  // CHECK: %[[BARE:.*]] = tpc.quantize %[[X]] as "input" activation : tensor<2x4xf32>
  %0 = tpc.quantize %x as "input" activation : tensor<2x4xf32>
  // CHECK: %[[WEIGHT:.*]] = tpc.quantize %[[BARE]] as "conv" weight "kernel_attr" axes [1] config(#[[K8]])
  // CHECK-SAME: candidates([#[[K8]], #[[K4]]])
  // CHECK-SAME: parameters(#tpc.symmetric<threshold = [1.000000e+00, 2.000000e+00, 3.000000e+00, 4.500000e+00], bits = 8>)
  // CHECK-SAME: corrections(#tpc.corrections<applied = ["second_moment", "input_mean"], bias_offset = [1.000000e-01, -2.500000e-01], kernel_scale = [1.000000e+00]>) : tensor<2x4xf32>
  %1 = tpc.quantize %0 as "conv" weight "kernel_attr" axes [1] config(#k8) candidates([#k8, #k4])
         parameters(#tpc.symmetric<threshold = [1.0, 2.0, 3.0, 4.5], bits = 8>)
         corrections(#tpc.corrections<applied = ["second_moment", "input_mean"], bias_offset = [0.1, -0.25], kernel_scale = [1.0]>) : tensor<2x4xf32>
  // CHECK: tpc.quantize %{{.*}} as "fc" weight "kernel_attr" config(#[[K4]])
  // CHECK-SAME: candidates(#tpc.alternatives<of = "dense", configs = [#[[K8]], #[[K4]]], chosen = 1>) : tensor<2x4xf32>
  %fc = tpc.quantize %0 as "fc" weight "kernel_attr" config(#k4) candidates(#tpc.alternatives<of = "dense", configs = [#k8, #k4], chosen = 1>) : tensor<2x4xf32>
  // CHECK: tpc.quantize %[[WEIGHT]] as "relu" activation config(#[[PLAIN]]) group(["conv", "relu"])
  // CHECK-SAME: range(#tpc.range<0.000000e+00, ?>)
  // CHECK-SAME: statistics(#tpc.statistics<count = 8, zeros = 1, min = 0.000000e+00, max = 3.500000e+00
  // CHECK-SAME:   histogram = #tpc.histogram<step_exponent = -2, first = 3, counts = dense<[1, 0, 6]> : tensor<3xi64>>
  // CHECK-SAME: parameters(#tpc.power_of_two<threshold = [4.000000e+00], bits = 8, is_signed = false>) : tensor<2x4xf32>
  %2 = tpc.quantize %1 as "relu" activation config(#plain) group(["conv", "relu"]) range(#tpc.range<0.0, ?>)
         statistics(#tpc.statistics<count = 8, zeros = 1, min = 0.0, max = 3.5,
                                    histogram = #tpc.histogram<step_exponent = -2, first = 3, counts = dense<[1, 0, 6]> : tensor<3xi64>>>)
         parameters(#tpc.power_of_two<threshold = [4.0], bits = 8, is_signed = false>) : tensor<2x4xf32>
  // CHECK: statistics(#tpc.statistics<count = 8, zeros = 0, min = -1.000000e+00, max = 1.000000e+00
  // CHECK-SAME: channel_mean = dense<0.000000e+00> : tensor<4xf64>
  // CHECK-SAME: parameters(#tpc.uniform<scale = [2.500000e-01], zero_point = [3], bits = 4>)
  %3 = tpc.quantize %2 as "add" activation
         statistics(#tpc.statistics<count = 8, zeros = 0, min = -1.0, max = 1.0,
                                    channel_mean = dense<0.0> : tensor<4xf64>, channel_mean_square = dense<1.0> : tensor<4xf64>,
                                    channel_min = dense<-1.0> : tensor<4xf32>, channel_max = dense<1.0> : tensor<4xf32>>)
         parameters(#tpc.uniform<scale = [0.25], zero_point = [3], bits = 4>) : tensor<2x4xf32>
  // CHECK: parameters(#tpc.lookup_table<method = lut_sym_quantizer, threshold = [1.500000e+00], table = [-90, -20, 0, 64], bits = 2>)
  %4 = tpc.quantize %3 as "table" activation
         parameters(#tpc.lookup_table<method = lut_sym_quantizer, threshold = [1.5], table = [-90, -20, 0, 64], bits = 2, table_bits = 8>) : tensor<2x4xf32>
  // CHECK: parameters(#tpc.lookup_table<method = lut_pot_quantizer, threshold = [2.000000e+00, 4.000000e+00], table = [1, 15], bits = 3, is_signed = false, table_bits = 4>)
  %5 = tpc.quantize %4 as "narrow_table" weight "kernel_attr" axes [0]
         parameters(#tpc.lookup_table<method = lut_pot_quantizer, threshold = [2.0, 4.0], table = [1, 15], bits = 3, is_signed = false, table_bits = 4>) : tensor<2x4xf32>
  return %5 : tensor<2x4xf32>
}
}
