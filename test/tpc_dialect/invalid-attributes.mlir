// RUN: mct-opt %s --split-input-file --verify-diagnostics

// A1
// expected-error@+1 {{weight bit width must be positive, but got 0}}
#w = #tpc.attr_quant_config<method = power_of_two, bits = 0>

// -----

// A2
// expected-error@+1 {{'lut_values_bits' must be positive, but got -3}}
#w = #tpc.attr_quant_config<method = lut_pot_quantizer, bits = 4, lut_values_bits = -3>

// -----

// A3
// expected-error@+1 {{'error_tolerance' must be more than 1, but got 1; leave it out for the least error}}
#w = #tpc.attr_quant_config<method = symmetric, bits = 8, error_tolerance = 1>

// -----

// expected-error@+1 {{expected one of [power_of_two, lut_pot_quantizer, symmetric, uniform, lut_sym_quantizer] for quantization method, got: symetric}}
#w = #tpc.attr_quant_config<method = symetric, bits = 8>

// -----

// expected-error@+1 {{expected one of [power_of_two, lut_pot_quantizer, symmetric, uniform, lut_sym_quantizer], or an attribute that implements QuantizationMethodAttrInterface, for quantization method, got: "symmetric"}}
#w = #tpc.attr_quant_config<method = "symmetric", bits = 8>

// -----

// A4
// expected-error@+1 {{duplicate or unknown struct parameter name: bogus}}
#w = #tpc.attr_quant_config<method = symmetric, bits = 8, bogus = 1>

// -----

// A4
// expected-error@+1 {{struct is missing required parameter: bits}}
#w = #tpc.attr_quant_config<method = symmetric>

// -----

#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
// O1
// expected-error@+1 {{activation bit width must be positive, but got -1}}
#c = #tpc.op_quant_config<act_method = power_of_two, act_bits = -1, input_bits = [8], default_weight = #w>

// -----

#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
// O2
// expected-error@+1 {{'input_bits' must name at least one supported input bit width}}
#c = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [], default_weight = #w>

// -----

#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
// O2
// expected-error@+1 {{'input_bits' entries must be positive, but got 0}}
#c = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8, 0], default_weight = #w>

// -----

#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
// O4
// expected-error@+1 {{'lut_sym_quantizer' is not an activation quantization method}}
#c = #tpc.op_quant_config<act_method = lut_sym_quantizer, act_bits = 8, input_bits = [8], default_weight = #w>

// -----

#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
// O5
// expected-error@+1 {{'simd_size' must be positive, but got 0}}
#c = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], simd_size = 0, default_weight = #w>

// -----

#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
// O6
// expected-error@+1 {{weight attribute 'kernel_attr' must map to #tpc.attr_quant_config}}
#c = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], weights = {kernel_attr = 8}, default_weight = #w>

// -----

#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
// O7
// expected-error@+1 {{'fixed_scale' must be positive and finite, but got 0.0}}
#c = #tpc.op_quant_config<act_method = uniform, act_bits = 8, input_bits = [8], fixed_scale = 0.0 : f64, fixed_zero_point = 0, default_weight = #w>

// -----

#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
// O7
// expected-error@+1 {{'fixed_scale' and 'fixed_zero_point' must be given together}}
#c = #tpc.op_quant_config<act_method = uniform, act_bits = 8, input_bits = [8], fixed_scale = 1.0 : f64, default_weight = #w>

// -----

#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
// O7
// expected-error@+1 {{'fixed_zero_point' 300 does not fit in 8 bits}}
#c = #tpc.op_quant_config<act_method = uniform, act_bits = 8, input_bits = [8], fixed_scale = 1.0 : f64, fixed_zero_point = 300, default_weight = #w>

// -----

#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
// O7: -1 is no unsigned number.
// expected-error@+1 {{'fixed_zero_point' -1 does not fit in 8 bits}}
#c = #tpc.op_quant_config<act_method = uniform, act_bits = 8, input_bits = [8], signedness = unsigned, fixed_scale = 1.0 : f64, fixed_zero_point = -1, default_weight = #w>

// -----

#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
// O8
// expected-error@+1 {{'fixed_scale' must be a power of two for method power_of_two, but got 3.0}}
#c = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], fixed_scale = 0.3 : f64, fixed_zero_point = 0, default_weight = #w>

// -----

// Q1
// expected-error@+1 {{quantization config options require at least one op_quant_config}}
#o = #tpc.qc_options<[]>

// -----

#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#c8 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], default_weight = #w>
#c4 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 4, input_bits = [8], default_weight = #w>
// Q2
// expected-error@+1 {{'base' is required when there is more than one op_quant_config}}
#o = #tpc.qc_options<[#c8, #c4]>

// -----

#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#c8 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], default_weight = #w>
#c4 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 4, input_bits = [8], default_weight = #w>
// Q3
// expected-error@+1 {{'base' must be one of the listed op_quant_configs}}
#o = #tpc.qc_options<[#c8], base = #c4>

// -----

#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#on = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], default_weight = #w>
#off = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], act_enabled = false, default_weight = #w>
// Q4
// expected-error@+1 {{candidates disagree on activation mode}}
#o = #tpc.qc_options<[#on, #off], base = #on>

// -----

#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#k = #tpc.attr_quant_config<method = power_of_two, bits = 8, enabled = true>
#a = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], weights = {kernel_attr = #k}, default_weight = #w>
#b = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], weights = {kernel_attr = #w}, default_weight = #w>
// Q4
// expected-error@+1 {{candidates disagree on whether weight 'kernel_attr' is quantized}}
#o = #tpc.qc_options<[#a, #b], base = #a>

// -----

// OS1
// expected-error@+1 {{operator set name must not be empty}}
#s = #tpc.operator_set<"">

// -----

#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#a = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], default_weight = #w>
// OS2
// expected-error@+1 {{operator set "Swish" is matched one by one and must have no options; the sets of its ops have them}}
#s = #tpc.operator_set<"Swish", options = #tpc.qc_options<[#a]>, one_by_one>

// -----

// G1
// expected-error@+1 {{operator set group must contain at least one operator set}}
#g = #tpc.operator_set_group<[]>

// -----

// G1
// expected-error@+1 {{operator set 'a' is repeated in the group}}
#g = #tpc.operator_set_group<["a", "b", "a"]>

// -----

// F1
// expected-error@+1 {{fusing pattern needs at least two operator groups, but got 1}}
#f = #tpc.fusing<["Conv"]>

// -----

// F2
// expected-error@+1 {{fusing group must be an operator set name or #tpc.operator_set_group}}
#f = #tpc.fusing<["Conv", 1]>

// -----

// expected-error@+1 {{expected 'config' or 'name', each at most once, but got 'nam'}}
#f = #tpc.fusing<["Conv", "ReLU"], nam = "x">

// -----

// B8
// expected-error@+1 {{expected one of eq, ne, gt, ge, lt, le, contains}}
#p = #tpc.op<"tosa.clamp" where min_val is 0>

// -----

// B8: a connective is no comparison.
// expected-error@+1 {{expected one of eq, ne, gt, ge, lt, le, contains}}
#p = #tpc.op<"tosa.clamp" where min_val and 0>

// -----

// expected-error@+1 {{expected ')'}}
#p = #tpc.op<"tosa.clamp" where (min_val eq 0 max_val eq 1)>

// -----

// expected-error@+1 {{op pattern must name an op}}
#p = #tpc.op<"">

// -----

// expected-error@+1 {{subgraph name must not be empty}}
#p = #tpc.subgraph<"">

// -----

// expected-error@+1 {{operator set 'Conv' must list #tpc.op or #tpc.subgraph}}
#p = #tpc.ops_of<"Conv", ["tosa.conv2d"]>

// -----

// B6
// expected-error@+1 {{weight attribute 'kernel_attr' must map to an operand index}}
#p = #tpc.ops_of<"Conv", [#tpc.op<"tosa.conv2d">], weights = {kernel_attr = -1}>

// -----

// B6
// expected-error@+1 {{weight attribute 'kernel_attr' must map to an operand index}}
#p = #tpc.ops_of<"Conv", [#tpc.op<"tosa.conv2d">], weights = {kernel_attr = "one"}>

// -----

// expected-error@+1 {{op description must name an op}}
#i = #tpc.op_info<"">

// -----

// expected-error@+1 {{operand indices of 'my.conv' must not be negative}}
#i = #tpc.op_info<"my.conv", kernel = -1>

// -----

// expected-error@+1 {{kernel axes of 'my.conv' must not be negative}}
#i = #tpc.op_info<"my.conv", kernel = 1, out_axes = [-1]>

// -----

// expected-error@+1 {{range of 'my.relu' is empty: 1.0}}
#i = #tpc.op_info<"my.relu", range = [1.0, 0.0]>

// -----

// expected-error@+1 {{unknown field 'kernal'; known: kernel, bias, out_axes, in_axis, result_axis, range, quantize}}
#i = #tpc.op_info<"my.conv", kernal = 1>

// -----

// expected-error@+1 {{duplicate field 'kernel'}}
#i = #tpc.op_info<"my.conv", kernel = 1, kernel = 2>

// -----

// expected-error@+1 {{'quantize' must be true or false}}
#i = #tpc.op_info<"my.conv", quantize = maybe>

// -----

// expected-error@+1 {{range is empty: 1.0}}
#r = #tpc.range<1.0, 0.0>

// -----

// expected-error@+1 {{'counts' must be one-dimensional with element type i32 or i64}}
#h = #tpc.histogram<step_exponent = 0, first = 0, counts = dense<1> : tensor<2xi16>>

// -----

// expected-error@+1 {{'count' must be positive, but got 0}}
#s = #tpc.statistics<count = 0, zeros = 0, min = 0.0, max = 1.0>

// -----

// expected-error@+1 {{'zeros' must be between 0 and 'count', but got 9 of 8}}
#s = #tpc.statistics<count = 8, zeros = 9, min = 0.0, max = 1.0>

// -----

// expected-error@+1 {{'min' and 'max' must be finite f32 numbers and ordered, but got 2.000000e+00 and 1.000000e+00}}
#s = #tpc.statistics<count = 8, zeros = 0, min = 2.0, max = 1.0>

// -----

// expected-error@+1 {{per-channel statistics must be given all or not at all}}
#s = #tpc.statistics<count = 8, zeros = 0, min = 0.0, max = 1.0, channel_mean = dense<0.0> : tensor<4xf64>>

// -----

// expected-error@+1 {{per-channel statistics must be one-dimensional and equally long}}
#s = #tpc.statistics<count = 8, zeros = 0, min = 0.0, max = 1.0, channel_mean = dense<0.0> : tensor<4xf64>, channel_min = dense<0.0> : tensor<3xf32>>

// -----

// expected-error@+1 {{threshold 3}}
#q = #tpc.power_of_two<threshold = [3.0], bits = 8>

// -----

// expected-error@+1 {{thresholds must be positive and finite, but got}}
#q = #tpc.symmetric<threshold = [1.0, -1.0], bits = 8>

// -----

// expected-error@+1 {{a quantizer needs at least one threshold}}
#q = #tpc.symmetric<threshold = [], bits = 8>

// -----

// expected-error@+1 {{quantizers have 1 to 23 bits, but got 24}}
#q = #tpc.symmetric<threshold = [1.0], bits = 24>

// -----

// expected-error@+1 {{a uniform quantizer needs as many zero points as scales, but got 2 and 1}}
#q = #tpc.uniform<scale = [1.0], zero_point = [0, 0], bits = 8>

// -----

// expected-error@+1 {{scales must be positive and finite, but got}}
#q = #tpc.uniform<scale = [0.0], zero_point = [0], bits = 8>

// -----

// expected-error@+1 {{zero point 256 is outside of 8 bits}}
#q = #tpc.uniform<scale = [1.0], zero_point = [256], bits = 8>

// -----

// LT1
// expected-error@+1 {{method of a lookup table must be lut_pot_quantizer or lut_sym_quantizer, but got symmetric}}
#q = #tpc.lookup_table<method = symmetric, threshold = [1.0], table = [0], bits = 2>

// -----

// LT2
// expected-error@+1 {{a quantizer needs at least one threshold}}
#q = #tpc.lookup_table<method = lut_sym_quantizer, threshold = [], table = [0], bits = 2>

// -----

// LT2
// expected-error@+1 {{thresholds must be positive and finite, but got}}
#q = #tpc.lookup_table<method = lut_sym_quantizer, threshold = [1.0, 0.0], table = [0], bits = 2>

// -----

// LT2
// expected-error@+1 {{is not a power of two}}
#q = #tpc.lookup_table<method = lut_pot_quantizer, threshold = [1.0, 3.0], table = [0], bits = 2>

// -----

// LT3
// expected-error@+1 {{an index into a lookup table has at most as many bits as its entries, and these at most 8, but got 5 and 4}}
#q = #tpc.lookup_table<method = lut_sym_quantizer, threshold = [1.0], table = [0], bits = 5, table_bits = 4>

// -----

// LT3
// expected-error@+1 {{an index into a lookup table has at most as many bits as its entries, and these at most 8, but got 4 and 9}}
#q = #tpc.lookup_table<method = lut_sym_quantizer, threshold = [1.0], table = [0], bits = 4, table_bits = 9>

// -----

// LT3
// expected-error@+1 {{quantizers have 1 to 23 bits, but got 0}}
#q = #tpc.lookup_table<method = lut_sym_quantizer, threshold = [1.0], table = [0], bits = 0>

// -----

// LT4
// expected-error@+1 {{a lookup table of 2 bits has 1 to 4 entries, but got 5}}
#q = #tpc.lookup_table<method = lut_sym_quantizer, threshold = [1.0], table = [0, 1, 2, 3, 4], bits = 2>

// -----

// LT4
// expected-error@+1 {{a lookup table of 2 bits has 1 to 4 entries, but got 0}}
#q = #tpc.lookup_table<method = lut_sym_quantizer, threshold = [1.0], table = [], bits = 2>

// -----

// LT5
// expected-error@+1 {{entry 128 of a lookup table is outside -128 to 127}}
#q = #tpc.lookup_table<method = lut_sym_quantizer, threshold = [1.0], table = [0, 128], bits = 2>

// -----

// LT5
// expected-error@+1 {{entry -1 of a lookup table is outside 0 to 15}}
#q = #tpc.lookup_table<method = lut_sym_quantizer, threshold = [1.0], table = [-1, 5], bits = 2, is_signed = false, table_bits = 4>

// -----

// LT5
// expected-error@+1 {{entries of a lookup table must ascend, but got 7 before 7}}
#q = #tpc.lookup_table<method = lut_sym_quantizer, threshold = [1.0], table = [0, 7, 7], bits = 2>

// -----

// expected-error@+1 {{'min' and 'max' must be finite f32 numbers and ordered, but got 0.000000e+00 and 1.000000e+300}}
#s = #tpc.statistics<count = 8, zeros = 0, min = 0.0, max = 1.0e300>

// -----

// expected-error@+1 {{range has the bound -1.000000e+300, which is not a finite f32 number; write ? where there is none}}
#r = #tpc.range<-1.0e300, ?>

// -----

// expected-error@+1 {{range of 'my.sigmoid' has the bound}}
#i = #tpc.op_info<"my.sigmoid", range = [0.0, 0x7FF0000000000000]>

// -----

// expected-error@+1 {{'out_axes' of 'my.conv' must ascend}}
#i = #tpc.op_info<"my.conv", kernel = 1, out_axes = [3, 2]>

// -----

// H2
// expected-error@+1 {{'step_exponent' must be -1074 to 1023, but got 4294967296}}
#h = #tpc.histogram<step_exponent = 4294967296, first = 0, counts = dense<1> : tensor<1xi64>>

// -----

// H3
// expected-error@+1 {{bins 9223372036854775807 and the 1 from it on are not all within 2^52 of zero}}
#h = #tpc.histogram<step_exponent = 0, first = 9223372036854775807, counts = dense<1> : tensor<1xi64>>

// -----

// expected-error@+1 {{'channel_mean' must have element type f64, but got 'tensor<4xf32>'}}
#s = #tpc.statistics<count = 8, zeros = 0, min = 0.0, max = 1.0, channel_mean = dense<0.0> : tensor<4xf32>>

// -----

// expected-error@+1 {{'channel_min' must have element type f32, but got 'tensor<4xi32>'}}
#s = #tpc.statistics<count = 8, zeros = 0, min = 0.0, max = 1.0, channel_mean = dense<0.0> : tensor<4xf64>, channel_mean_square = dense<0.0> : tensor<4xf64>, channel_min = dense<0> : tensor<4xi32>>

// -----

// expected-error@+1 {{'channel_mean' must be dense<...>}}
#s = #tpc.statistics<count = 8, zeros = 0, min = 0.0, max = 1.0, channel_mean = dense_resource<mean> : tensor<4xf64>>

// -----

// Whoever reads a filter calls itself for each pair of parentheses.
#o = #tpc.op<"my.op" where
// expected-error@+1 {{filter has more than 64 parentheses inside of each other}}
  (((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((a eq 1)))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))>

// -----

#w8 = #tpc.attr_quant_config<method = power_of_two, bits = 8>
// expected-error@+1 {{alternatives are two or more, but got 1}}
func.func private @f() attributes {a = #tpc.alternatives<of = "a", configs = [#w8], chosen = 0>}

// -----

#w8 = #tpc.attr_quant_config<method = power_of_two, bits = 8>
// expected-error@+1 {{alternatives are all #tpc.op_quant_config or all #tpc.attr_quant_config, but got 4 : i64}}
func.func private @f() attributes {a = #tpc.alternatives<of = "a", configs = [#w8, 4], chosen = 0>}

// -----

#w8 = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#w4 = #tpc.attr_quant_config<method = power_of_two, bits = 4>
// expected-error@+1 {{'chosen' must be 0 to 1, but got 2}}
func.func private @f() attributes {a = #tpc.alternatives<of = "a", configs = [#w8, #w4], chosen = 2>}
