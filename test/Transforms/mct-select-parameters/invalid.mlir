// RUN: mct-opt %s --split-input-file --mct-select-parameters --verify-diagnostics

#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#act8 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], default_weight = #w>
func.func @no_statistics(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{needs calibration statistics but has none}}
  // expected-note @below {{its config asks for 8-bit activations; run mct-calibrate before}}
  %0 = tpc.quantize %arg0 as "p" activation config(#act8) : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @no_config(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{has no config; run mct-insert-quantizers, or give it one}}
  %0 = tpc.quantize %arg0 as "p" activation : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#act8 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], default_weight = #w>
func.func @no_histogram(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{has statistics without a histogram; run mct-calibrate, or use error-method=no-clipping}}
  %0 = tpc.quantize %arg0 as "p" activation config(#act8)
    statistics(#tpc.statistics<count = 4, zeros = 0, min = 0.5, max = 3.0>) : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#act8 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], default_weight = #w>
func.func @impossible_histogram(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{has statistics that no data can give: }}
  %0 = tpc.quantize %arg0 as "p" activation config(#act8)
    statistics(#tpc.statistics<count = 4, zeros = 0, min = 1.0, max = 3.0, histogram = #tpc.histogram<step_exponent = -8, first = 9000, counts = dense<4> : tensor<1xi64>>>) : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#act8 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], default_weight = #w>
func.func @other_count(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{has statistics of 5 elements with a histogram of 4}}
  %0 = tpc.quantize %arg0 as "p" activation config(#act8)
    statistics(#tpc.statistics<count = 5, zeros = 0, min = 6.0, max = 6.0, histogram = #tpc.histogram<step_exponent = -9, first = 3072, counts = dense<4> : tensor<1xi64>>>) : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#table = #tpc.op_quant_config<act_method = lut_pot_quantizer, act_bits = 9, input_bits = [8], default_weight = #w>
func.func @index_wider_than_the_entries(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{asks for a table with an index of 9 bits; tables can be selected for 1 to 8}}
  %0 = tpc.quantize %arg0 as "p" activation config(#table)
    statistics(#tpc.statistics<count = 4, zeros = 0, min = 0.5, max = 3.0>) : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#table = #tpc.op_quant_config<act_method = lut_pot_quantizer, act_bits = 4, input_bits = [8], default_weight = #w>
func.func @table_without_histogram(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{has statistics without a histogram}}
  %0 = tpc.quantize %arg0 as "p" activation config(#table) range(#tpc.range<0.0, 4.0>)
    statistics(#tpc.statistics<count = 4, zeros = 0, min = 0.5, max = 3.0>) : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// Written out the counts would fill the memory.
#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#act8 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], default_weight = #w>
func.func @counts_of_a_huge_splat(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{has a histogram whose 4000000000 counts are missing, negative or more than the 8192 that there can be; run mct-calibrate again}}
  %0 = tpc.quantize %arg0 as "p" activation config(#act8)
    statistics(#tpc.statistics<count = 4, zeros = 0, min = 0.0, max = 39.0, histogram = #tpc.histogram<step_exponent = -6, first = 0, counts = dense<1> : tensor<4000000000xi64>>>) : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#act8 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], default_weight = #w>
func.func @negative_counts(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{has a histogram whose 2 counts are missing, negative or more than the 8192}}
  %0 = tpc.quantize %arg0 as "p" activation config(#act8)
    statistics(#tpc.statistics<count = 4, zeros = 0, min = 6.0, max = 6.0, histogram = #tpc.histogram<step_exponent = -9, first = 3071, counts = dense<[-4, 8]> : tensor<2xi64>>>) : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// 4294967287 is -9 in 32 bits.
#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#act8 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], default_weight = #w>
func.func @first_bin_beyond_an_int(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{has statistics that no data can give: invalid histogram: counts outside of the bins}}
  %0 = tpc.quantize %arg0 as "p" activation config(#act8)
    statistics(#tpc.statistics<count = 4, zeros = 0, min = 6.0, max = 6.0, histogram = #tpc.histogram<step_exponent = -9, first = 4294970368, counts = dense<4> : tensor<1xi64>>>) : tensor<4xf32>
  return %0 : tensor<4xf32>
}
