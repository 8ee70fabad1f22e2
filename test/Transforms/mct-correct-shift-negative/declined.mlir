// RUN: mct-opt %s --tpc-attach-target=target=imx500 --mct-correct-shift-negative=remarks=true --verify-diagnostics --split-input-file


#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#act8 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], default_weight = #w>
#stats = #tpc.statistics<count = 3871, zeros = 0, min = -0.279, max = 3.5, histogram = #tpc.histogram<step_exponent = -10, first = -286, counts = dense<1> : tensor<3871xi64>>>
// Case 27.
func.func @ratio(%x: tensor<1x4x4x2xf32>) -> tensor<1x4x4x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %kernel = "tosa.const"() <{values = dense<1.0> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %bias = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %no_shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %s = tosa.sigmoid %x : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %y = tosa.mul %x, %s, %no_shift : (tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>, tensor<1xi8>) -> tensor<1x4x4x2xf32>
  // expected-remark @below {{'act' is not shifted: its minimum -0.279 is 0.06975 of its threshold 4, more than the ratio 0.05}}
  %q = tpc.quantize %y as "act" activation config(#act8)
    statistics(#stats) parameters(#tpc.power_of_two<threshold = [4.0], bits = 8>) : tensor<1x4x4x2xf32>
  %c = tosa.conv2d %q, %kernel, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<1x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x1xf32>
  return %c : tensor<1x4x4x1xf32>
}

// -----

#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#act8 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], default_weight = #w>
#stats = #tpc.statistics<count = 3713, zeros = 0, min = -0.125, max = 3.5, histogram = #tpc.histogram<step_exponent = -10, first = -128, counts = dense<1> : tensor<3713xi64>>>
// Calibration has not met the lowest value that can occur.
func.func @lower_bound_of_the_range(%x: tensor<1x4x4x2xf32>) -> tensor<1x4x4x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %kernel = "tosa.const"() <{values = dense<1.0> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %bias = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %no_shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %s = tosa.sigmoid %x : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %y = tosa.mul %x, %s, %no_shift : (tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>, tensor<1xi8>) -> tensor<1x4x4x2xf32>
  // expected-remark @below {{'act' is not shifted: its minimum -0.279 is 0.06975 of its threshold 4, more than the ratio 0.05}}
  %q = tpc.quantize %y as "act" activation config(#act8) range(#tpc.range<-0.279, ?>)
    statistics(#stats) parameters(#tpc.power_of_two<threshold = [4.0], bits = 8>) : tensor<1x4x4x2xf32>
  %c = tosa.conv2d %q, %kernel, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<1x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x1xf32>
  return %c : tensor<1x4x4x1xf32>
}

// -----

#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#act8 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], default_weight = #w>
#stats = #tpc.statistics<count = 4233, zeros = 0, min = -0.279, max = 7.9873, histogram = #tpc.histogram<step_exponent = -9, first = -143, counts = dense<1> : tensor<4233xi64>>>
// Case 29: 8.2685 does not fit under 8, and a step of 16 / 256 is the one of today.
func.func @threshold_would_double(%x: tensor<1x4x4x2xf32>) -> tensor<1x4x4x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %kernel = "tosa.const"() <{values = dense<1.0> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %bias = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %no_shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %s = tosa.sigmoid %x : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %y = tosa.mul %x, %s, %no_shift : (tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>, tensor<1xi8>) -> tensor<1x4x4x2xf32>
  // expected-remark @below {{'act' is not shifted: its threshold would go from 8 to 16}}
  %q = tpc.quantize %y as "act" activation config(#act8)
    statistics(#stats) parameters(#tpc.power_of_two<threshold = [8.0], bits = 8>) : tensor<1x4x4x2xf32>
  %c = tosa.conv2d %q, %kernel, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<1x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x1xf32>
  return %c : tensor<1x4x4x1xf32>
}

// -----

#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#act8 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], default_weight = #w>
#stats = #tpc.statistics<count = 3905, zeros = 0, min = -0.25, max = 15.0, histogram = #tpc.histogram<step_exponent = -8, first = -64, counts = dense<1> : tensor<3905xi64>>>
// 
func.func @zero_point(%x: tensor<1x4x4x2xf32>) -> tensor<1x4x4x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %kernel = "tosa.const"() <{values = dense<1.0> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %bias = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %no_shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %s = tosa.sigmoid %x : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %y = tosa.mul %x, %s, %no_shift : (tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>, tensor<1xi8>) -> tensor<1x4x4x2xf32>
  // expected-remark @below {{'act' is not shifted: its grid has a zero point}}
  %q = tpc.quantize %y as "act" activation config(#act8)
    statistics(#stats) parameters(#tpc.uniform<scale = [0.0625], zero_point = [4], bits = 8>) : tensor<1x4x4x2xf32>
  %c = tosa.conv2d %q, %kernel, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<1x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x1xf32>
  return %c : tensor<1x4x4x1xf32>
}

// -----

#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#act8 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], default_weight = #w>
#stats = #tpc.statistics<count = 3905, zeros = 0, min = -0.25, max = 15.0, histogram = #tpc.histogram<step_exponent = -8, first = -64, counts = dense<1> : tensor<3905xi64>>>
// 
func.func @table(%x: tensor<1x4x4x2xf32>) -> tensor<1x4x4x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %kernel = "tosa.const"() <{values = dense<1.0> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %bias = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %no_shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %s = tosa.sigmoid %x : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %y = tosa.mul %x, %s, %no_shift : (tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>, tensor<1xi8>) -> tensor<1x4x4x2xf32>
  // expected-remark @below {{'act' is not shifted: its levels are not on a grid that is searched}}
  %q = tpc.quantize %y as "act" activation config(#act8)
    statistics(#stats) parameters(#tpc.lookup_table<method = lut_pot_quantizer, threshold = [16.0], table = [-2, 0, 40, 90], bits = 2>) : tensor<1x4x4x2xf32>
  %c = tosa.conv2d %q, %kernel, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<1x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x1xf32>
  return %c : tensor<1x4x4x1xf32>
}

// -----

#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#act8 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], signedness = signed, default_weight = #w>
#stats = #tpc.statistics<count = 3905, zeros = 0, min = -0.25, max = 15.0, histogram = #tpc.histogram<step_exponent = -8, first = -64, counts = dense<1> : tensor<3905xi64>>>
// 
func.func @signed_target(%x: tensor<1x4x4x2xf32>) -> tensor<1x4x4x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %kernel = "tosa.const"() <{values = dense<1.0> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %bias = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %no_shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %s = tosa.sigmoid %x : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %y = tosa.mul %x, %s, %no_shift : (tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>, tensor<1xi8>) -> tensor<1x4x4x2xf32>
  // expected-remark @below {{'act' is not shifted: the target requires a signed grid}}
  %q = tpc.quantize %y as "act" activation config(#act8)
    statistics(#stats) parameters(#tpc.power_of_two<threshold = [16.0], bits = 8>) : tensor<1x4x4x2xf32>
  %c = tosa.conv2d %q, %kernel, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<1x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x1xf32>
  return %c : tensor<1x4x4x1xf32>
}

// -----

#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#act8 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], fixed_scale = 0.125 : f64, fixed_zero_point = 0, default_weight = #w>
#stats = #tpc.statistics<count = 3905, zeros = 0, min = -0.25, max = 15.0, histogram = #tpc.histogram<step_exponent = -8, first = -64, counts = dense<1> : tensor<3905xi64>>>
// 
func.func @fixed_grid(%x: tensor<1x4x4x2xf32>) -> tensor<1x4x4x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %kernel = "tosa.const"() <{values = dense<1.0> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %bias = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %no_shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %s = tosa.sigmoid %x : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %y = tosa.mul %x, %s, %no_shift : (tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>, tensor<1xi8>) -> tensor<1x4x4x2xf32>
  // expected-remark @below {{'act' is not shifted: the target fixes its grid}}
  %q = tpc.quantize %y as "act" activation config(#act8)
    statistics(#stats) parameters(#tpc.power_of_two<threshold = [16.0], bits = 8>) : tensor<1x4x4x2xf32>
  %c = tosa.conv2d %q, %kernel, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<1x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x1xf32>
  return %c : tensor<1x4x4x1xf32>
}

// -----

#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#act8 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], default_weight = #w>
#stats = #tpc.statistics<count = 3905, zeros = 0, min = -0.25, max = 15.0, histogram = #tpc.histogram<step_exponent = -8, first = -64, counts = dense<1> : tensor<3905xi64>>>
// Case 31.
func.func @other_reader(%x: tensor<1x4x4x2xf32>) -> tensor<1x4x4x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %kernel = "tosa.const"() <{values = dense<1.0> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %bias = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %no_shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %s = tosa.sigmoid %x : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %y = tosa.mul %x, %s, %no_shift : (tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>, tensor<1xi8>) -> tensor<1x4x4x2xf32>
  // expected-remark @below {{'act' is not shifted: 'tosa.clamp' reads it}}
  %q = tpc.quantize %y as "act" activation config(#act8)
    statistics(#stats) parameters(#tpc.power_of_two<threshold = [16.0], bits = 8>) : tensor<1x4x4x2xf32>
  // expected-note @below {{the op is here}}
  %o = tosa.clamp %q {min_val = 0.0 : f32, max_val = 6.0 : f32} : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %c = tosa.conv2d %o, %kernel, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<1x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x1xf32>
  return %c : tensor<1x4x4x1xf32>
}

// -----

#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#act8 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], default_weight = #w>
#stats = #tpc.statistics<count = 3905, zeros = 0, min = -0.25, max = 15.0, histogram = #tpc.histogram<step_exponent = -8, first = -64, counts = dense<1> : tensor<3905xi64>>>
// Case 31.
func.func @one_of_two_readers(%x: tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %kernel = "tosa.const"() <{values = dense<1.0> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %bias = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %no_shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %s = tosa.sigmoid %x : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %y = tosa.mul %x, %s, %no_shift : (tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>, tensor<1xi8>) -> tensor<1x4x4x2xf32>
  // expected-remark @below {{'act' is not shifted: 'tosa.exp' reads it}}
  %q = tpc.quantize %y as "act" activation config(#act8)
    statistics(#stats) parameters(#tpc.power_of_two<threshold = [16.0], bits = 8>) : tensor<1x4x4x2xf32>
  %c = tosa.conv2d %q, %kernel, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<1x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x1xf32>
  // expected-note @below {{the op is here}}
  %o = tosa.exp %q : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %z = tosa.add %o, %c : (tensor<1x4x4x2xf32>, tensor<1x4x4x1xf32>) -> tensor<1x4x4x2xf32>
  return %z : tensor<1x4x4x2xf32>
}

// -----

#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#act8 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], default_weight = #w>
#stats = #tpc.statistics<count = 3905, zeros = 0, min = -0.25, max = 15.0, histogram = #tpc.histogram<step_exponent = -8, first = -64, counts = dense<1> : tensor<3905xi64>>>
// 
func.func @result(%x: tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32> {
  %no_shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %s = tosa.sigmoid %x : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %y = tosa.mul %x, %s, %no_shift : (tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>, tensor<1xi8>) -> tensor<1x4x4x2xf32>
  // expected-remark @below {{'act' is not shifted: it is a result of the function}}
  %q = tpc.quantize %y as "act" activation config(#act8)
    statistics(#stats) parameters(#tpc.power_of_two<threshold = [16.0], bits = 8>) : tensor<1x4x4x2xf32>
  // expected-note @below {{the op is here}}
  return %q : tensor<1x4x4x2xf32>
}

// -----

#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#act8 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], default_weight = #w>
#stats = #tpc.statistics<count = 3905, zeros = 0, min = -0.25, max = 15.0, histogram = #tpc.histogram<step_exponent = -8, first = -64, counts = dense<1> : tensor<3905xi64>>>
// 
func.func @unread(%x: tensor<1x4x4x2xf32>) -> tensor<1x4x4x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %kernel = "tosa.const"() <{values = dense<1.0> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %bias = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %no_shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %s = tosa.sigmoid %x : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %y = tosa.mul %x, %s, %no_shift : (tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>, tensor<1xi8>) -> tensor<1x4x4x2xf32>
  // expected-remark @below {{'act' is not shifted: no convolution or fully connected op reads it}}
  %q = tpc.quantize %y as "act" activation config(#act8)
    statistics(#stats) parameters(#tpc.power_of_two<threshold = [16.0], bits = 8>) : tensor<1x4x4x2xf32>
  %c = tosa.conv2d %x, %kernel, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<1x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x1xf32>
  return %c : tensor<1x4x4x1xf32>
}

// -----

#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#act8 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], default_weight = #w>
#stats = #tpc.statistics<count = 3905, zeros = 0, min = -0.25, max = 15.0, histogram = #tpc.histogram<step_exponent = -8, first = -64, counts = dense<1> : tensor<3905xi64>>>
// 
func.func @transposed(%x: tensor<1x4x4x2xf32>) -> tensor<1x5x5x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %kernel = "tosa.const"() <{values = dense<1.0> : tensor<1x2x2x2xf32>}> : () -> tensor<1x2x2x2xf32>
  %bias = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %no_shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %s = tosa.sigmoid %x : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %y = tosa.mul %x, %s, %no_shift : (tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>, tensor<1xi8>) -> tensor<1x4x4x2xf32>
  // expected-remark @below {{'act' is not shifted: 'tosa.transpose_conv2d' reads it, whose borders see fewer elements of the kernel}}
  %q = tpc.quantize %y as "act" activation config(#act8)
    statistics(#stats) parameters(#tpc.power_of_two<threshold = [16.0], bits = 8>) : tensor<1x4x4x2xf32>
  // expected-note @below {{the op is here}}
  %c = tosa.transpose_conv2d %q, %kernel, %bias, %zero, %zero {acc_type = f32, out_pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<1x2x2x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x5x5x1xf32>
  return %c : tensor<1x5x5x1xf32>
}

// -----

#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#act8 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], default_weight = #w>
#stats = #tpc.statistics<count = 3905, zeros = 0, min = -0.25, max = 15.0, histogram = #tpc.histogram<step_exponent = -8, first = -64, counts = dense<1> : tensor<3905xi64>>>
// 
func.func @bias_of_the_network(%x: tensor<1x4x4x2xf32>) -> tensor<1x4x4x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %kernel = "tosa.const"() <{values = dense<1.0> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %no_shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %s = tosa.sigmoid %x : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %y = tosa.mul %x, %s, %no_shift : (tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>, tensor<1xi8>) -> tensor<1x4x4x2xf32>
  // expected-remark @below {{'act' is not shifted: 'tosa.conv2d' reads it and has no constant bias}}
  %q = tpc.quantize %y as "act" activation config(#act8)
    statistics(#stats) parameters(#tpc.power_of_two<threshold = [16.0], bits = 8>) : tensor<1x4x4x2xf32>
  %one = tosa.const_shape {values = dense<[1]> : tensor<1xindex>} : () -> !tosa.shape<1>
  %l = tosa.reduce_sum %x {axis = 1 : i32} : (tensor<1x4x4x2xf32>) -> tensor<1x1x4x2xf32>
  %l2 = tosa.reduce_sum %l {axis = 2 : i32} : (tensor<1x1x4x2xf32>) -> tensor<1x1x1x2xf32>
  %l3 = tosa.reduce_sum %l2 {axis = 3 : i32} : (tensor<1x1x1x2xf32>) -> tensor<1x1x1x1xf32>
  %bias = tosa.reshape %l3, %one : (tensor<1x1x1x1xf32>, !tosa.shape<1>) -> tensor<1xf32>
  // expected-note @below {{the op is here}}
  %c = tosa.conv2d %q, %kernel, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<1x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x1xf32>
  return %c : tensor<1x4x4x1xf32>
}

// -----

#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#act8 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], default_weight = #w>
#stats = #tpc.statistics<count = 3905, zeros = 0, min = -0.25, max = 15.0, histogram = #tpc.histogram<step_exponent = -8, first = -64, counts = dense<1> : tensor<3905xi64>>>
// 
func.func @quantized_bias(%x: tensor<1x4x4x2xf32>) -> tensor<1x4x4x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %kernel = "tosa.const"() <{values = dense<1.0> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %bias0 = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %no_shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %s = tosa.sigmoid %x : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %y = tosa.mul %x, %s, %no_shift : (tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>, tensor<1xi8>) -> tensor<1x4x4x2xf32>
  // expected-remark @below {{'act' is not shifted: 'tosa.conv2d' reads it, whose bias has been quantized}}
  %q = tpc.quantize %y as "act" activation config(#act8)
    statistics(#stats) parameters(#tpc.power_of_two<threshold = [16.0], bits = 8>) : tensor<1x4x4x2xf32>
  %bias = tpc.quantize %bias0 as "c" weight "bias_attr" parameters(#tpc.symmetric<threshold = [1.0], bits = 8>) : tensor<1xf32>
  // expected-note @below {{the op is here}}
  %c = tosa.conv2d %q, %kernel, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<1x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x1xf32>
  return %c : tensor<1x4x4x1xf32>
}

// -----

#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#act8 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], default_weight = #w>
#stats = #tpc.statistics<count = 3905, zeros = 0, min = -0.25, max = 15.0, histogram = #tpc.histogram<step_exponent = -8, first = -64, counts = dense<1> : tensor<3905xi64>>>
// Neither operand of this product is a constant.
func.func @product_of_two(%x: tensor<1x4x4x2xf32>) -> tensor<1x16x16xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %rows = tosa.const_shape {values = dense<[1, 16, 2]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %columns = tosa.const_shape {values = dense<[1, 2, 16]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %no_shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %s = tosa.sigmoid %x : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %y = tosa.mul %x, %s, %no_shift : (tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>, tensor<1xi8>) -> tensor<1x4x4x2xf32>
  // expected-remark @below {{'act' is not shifted: 'tosa.matmul' reads it}}
  %q = tpc.quantize %y as "act" activation config(#act8)
    statistics(#stats) parameters(#tpc.power_of_two<threshold = [16.0], bits = 8>) : tensor<1x4x4x2xf32>
  %a = tosa.reshape %q, %rows : (tensor<1x4x4x2xf32>, !tosa.shape<3>) -> tensor<1x16x2xf32>
  %b = tosa.reshape %q, %columns : (tensor<1x4x4x2xf32>, !tosa.shape<3>) -> tensor<1x2x16xf32>
  // expected-note @below {{the op is here}}
  %c = tosa.matmul %a, %b, %zero, %zero : (tensor<1x16x2xf32>, tensor<1x2x16xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x16x16xf32>
  return %c : tensor<1x16x16xf32>
}

// -----

#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#act8 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], default_weight = #w>
#stats = #tpc.statistics<count = 3905, zeros = 0, min = -0.25, max = 15.0, histogram = #tpc.histogram<step_exponent = -8, first = -64, counts = dense<1> : tensor<3905xi64>>>
// 
func.func @pad_value_of_the_network(%x: tensor<1x4x4x2xf32>) -> tensor<1x4x4x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %kernel = "tosa.const"() <{values = dense<1.0> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %bias = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %one = tosa.const_shape {values = dense<[1]> : tensor<1xindex>} : () -> !tosa.shape<1>
  %sizes = tosa.const_shape {values = dense<[0, 0, 0, 0, 0, 0, 0, 0]> : tensor<8xindex>} : () -> !tosa.shape<8>
  %no_shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %s = tosa.sigmoid %x : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %y = tosa.mul %x, %s, %no_shift : (tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>, tensor<1xi8>) -> tensor<1x4x4x2xf32>
  // expected-remark @below {{'act' is not shifted: 'tosa.pad' reads it}}
  %q = tpc.quantize %y as "act" activation config(#act8)
    statistics(#stats) parameters(#tpc.power_of_two<threshold = [16.0], bits = 8>) : tensor<1x4x4x2xf32>
  %l = tosa.reduce_sum %x {axis = 1 : i32} : (tensor<1x4x4x2xf32>) -> tensor<1x1x4x2xf32>
  %l2 = tosa.reduce_sum %l {axis = 2 : i32} : (tensor<1x1x4x2xf32>) -> tensor<1x1x1x2xf32>
  %l3 = tosa.reduce_sum %l2 {axis = 3 : i32} : (tensor<1x1x1x2xf32>) -> tensor<1x1x1x1xf32>
  %value = tosa.reshape %l3, %one : (tensor<1x1x1x1xf32>, !tosa.shape<1>) -> tensor<1xf32>
  // expected-note @below {{the op is here}}
  %p = tosa.pad %q, %sizes, %value : (tensor<1x4x4x2xf32>, !tosa.shape<8>, tensor<1xf32>) -> tensor<1x4x4x2xf32>
  %c = tosa.conv2d %p, %kernel, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<1x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x1xf32>
  return %c : tensor<1x4x4x1xf32>
}

// -----

#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#act8 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], default_weight = #w>
#signed8 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], signedness = signed, default_weight = #w>
#stats = #tpc.statistics<count = 3905, zeros = 0, min = -0.25, max = 15.0, histogram = #tpc.histogram<step_exponent = -8, first = -64, counts = dense<1> : tensor<3905xi64>>>
#stats_sum = #tpc.statistics<count = 225, zeros = 0, min = 15.0, max = 15.875, histogram = #tpc.histogram<step_exponent = -8, first = 3840, counts = dense<1> : tensor<225xi64>>>
// The sum goes up to 15.875. With one quarter more its signed threshold doubles, and so does its step.
// Squared steps / 12: 0.0013 twice before, 0.0003 and 0.0052 after.
func.func @errors_on_the_way(%x: tensor<1x4x4x2xf32>) -> tensor<1x4x4x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %square = "tosa.const"() <{values = dense<1.0> : tensor<2x1x1x2xf32>}> : () -> tensor<2x1x1x2xf32>
  %bias2 = "tosa.const"() <{values = dense<0.0> : tensor<2xf32>}> : () -> tensor<2xf32>
  %kernel = "tosa.const"() <{values = dense<1.0> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %bias = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %no_shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %s = tosa.sigmoid %x : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %y = tosa.mul %x, %s, %no_shift : (tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>, tensor<1xi8>) -> tensor<1x4x4x2xf32>
  // expected-remark @below {{'act' is not shifted: the mean squared error of its points would go from 0.00259549 to 0.00557751}}
  %q = tpc.quantize %y as "act" activation config(#act8)
    statistics(#stats) parameters(#tpc.power_of_two<threshold = [16.0], bits = 8>) : tensor<1x4x4x2xf32>
  %d = tosa.conv2d %x, %square, %bias2, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<2x1x1x2xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x2xf32>
  %sum = tosa.add %d, %q : (tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %r = tpc.quantize %sum as "sum" activation config(#signed8)
    statistics(#stats_sum) parameters(#tpc.power_of_two<threshold = [16.0], bits = 8>) : tensor<1x4x4x2xf32>
  %c = tosa.conv2d %r, %kernel, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<1x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x1xf32>
  return %c : tensor<1x4x4x1xf32>
}

// -----

#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#act8 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], default_weight = #w>
#stats = #tpc.statistics<count = 3905, zeros = 0, min = -0.25, max = 15.0, histogram = #tpc.histogram<step_exponent = -8, first = -64, counts = dense<1> : tensor<3905xi64>>>
// 
func.func @point_without_statistics(%x: tensor<1x4x4x2xf32>) -> tensor<1x4x4x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %kernel = "tosa.const"() <{values = dense<1.0> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %bias = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %no_shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %s = tosa.sigmoid %x : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %y = tosa.mul %x, %s, %no_shift : (tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>, tensor<1xi8>) -> tensor<1x4x4x2xf32>
  // expected-remark @below {{'act' is not shifted: 'later' behind it has parameters but no statistics}}
  %q = tpc.quantize %y as "act" activation config(#act8)
    statistics(#stats) parameters(#tpc.power_of_two<threshold = [16.0], bits = 8>) : tensor<1x4x4x2xf32>
  %i = tosa.identity %q : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  // expected-note @below {{the op is here}}
  %r = tpc.quantize %i as "later" activation config(#act8) parameters(#tpc.power_of_two<threshold = [16.0], bits = 8>) : tensor<1x4x4x2xf32>
  %c = tosa.conv2d %r, %kernel, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<1x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x1xf32>
  return %c : tensor<1x4x4x1xf32>
}

// -----

#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#act8 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], default_weight = #w>
#stats = #tpc.statistics<count = 3905, zeros = 0, min = -0.25, max = 15.0, histogram = #tpc.histogram<step_exponent = -8, first = -64, counts = dense<1> : tensor<3905xi64>>>
// 
func.func @table_behind(%x: tensor<1x4x4x2xf32>) -> tensor<1x4x4x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %kernel = "tosa.const"() <{values = dense<1.0> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %bias = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %no_shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %s = tosa.sigmoid %x : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %y = tosa.mul %x, %s, %no_shift : (tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>, tensor<1xi8>) -> tensor<1x4x4x2xf32>
  // expected-remark @below {{'act' is not shifted: the levels of 'later' behind it are not a grid that is searched}}
  %q = tpc.quantize %y as "act" activation config(#act8)
    statistics(#stats) parameters(#tpc.power_of_two<threshold = [16.0], bits = 8>) : tensor<1x4x4x2xf32>
  %i = tosa.identity %q : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  // expected-note @below {{the op is here}}
  %r = tpc.quantize %i as "later" activation config(#act8) statistics(#stats) parameters(#tpc.lookup_table<method = lut_pot_quantizer, threshold = [16.0], table = [-2, 0, 40, 90], bits = 2>) : tensor<1x4x4x2xf32>
  %c = tosa.conv2d %r, %kernel, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<1x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x1xf32>
  return %c : tensor<1x4x4x1xf32>
}

// -----

#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#act8 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], default_weight = #w>
#stats = #tpc.statistics<count = 3905, zeros = 0, min = -0.25, max = 15.0, histogram = #tpc.histogram<step_exponent = -8, first = -64, counts = dense<1> : tensor<3905xi64>>>
// The maximum with zero is no maximum of shifted values.
func.func @maximum_with_zero(%x: tensor<1x4x4x2xf32>) -> tensor<1x3x3x2xf32> {
  %nought = arith.constant 0.0 : f32
  %0 = tensor.empty() : tensor<1x4x4x2xf32>
  %y = linalg.tanh {tpc.set = "Swish"} ins(%x : tensor<1x4x4x2xf32>) outs(%0 : tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  // expected-remark @below {{'act' is not shifted: 'linalg.pooling_nhwc_max' reads it}}
  %q = tpc.quantize %y as "act" activation config(#act8)
    statistics(#stats) parameters(#tpc.power_of_two<threshold = [16.0], bits = 8>) : tensor<1x4x4x2xf32>
  %1 = tensor.empty() : tensor<1x3x3x2xf32>
  %2 = linalg.fill ins(%nought : f32) outs(%1 : tensor<1x3x3x2xf32>) -> tensor<1x3x3x2xf32>
  %window = tensor.empty() : tensor<2x2xf32>
  // expected-note @below {{the op is here}}
  %m = linalg.pooling_nhwc_max {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%q, %window : tensor<1x4x4x2xf32>, tensor<2x2xf32>) outs(%2 : tensor<1x3x3x2xf32>) -> tensor<1x3x3x2xf32>
  return %m : tensor<1x3x3x2xf32>
}

// -----

#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#act8 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], default_weight = #w>
#stats = #tpc.statistics<count = 3905, zeros = 0, min = -0.25, max = 15.0, histogram = #tpc.histogram<step_exponent = -8, first = -64, counts = dense<1> : tensor<3905xi64>>>
func.func @dynamic_linalg(%x: tensor<?x2xf32>, %0: tensor<?x2xf32>) -> tensor<?x2xf32> {
  // expected-note @below {{the op is here}}
  %y = linalg.tanh {tpc.set = "Swish"} ins(%x : tensor<?x2xf32>) outs(%0 : tensor<?x2xf32>) -> tensor<?x2xf32>
  // expected-remark @below {{'act' is not shifted: its op is neither of TOSA nor of linalg with a static shape}}
  %q = tpc.quantize %y as "act" activation config(#act8)
    statistics(#stats) parameters(#tpc.power_of_two<threshold = [16.0], bits = 8>) : tensor<?x2xf32>
  return %q : tensor<?x2xf32>
}

// -----

#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#act8 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], default_weight = #w>
#stats = #tpc.statistics<count = 3905, zeros = 0, min = -0.25, max = 15.0, histogram = #tpc.histogram<step_exponent = -8, first = -64, counts = dense<1> : tensor<3905xi64>>>
func.func @as_kernel(%x: tensor<1x4x4x2xf32>) -> tensor<1x1x1x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %bias = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %no_shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %s = tosa.sigmoid %x : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %y = tosa.mul %x, %s, %no_shift : (tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>, tensor<1xi8>) -> tensor<1x4x4x2xf32>
  // expected-remark @below {{'act' is not shifted: 'tosa.conv2d' reads it}}
  %q = tpc.quantize %y as "act" activation config(#act8)
    statistics(#stats) parameters(#tpc.power_of_two<threshold = [16.0], bits = 8>) : tensor<1x4x4x2xf32>
  // expected-note @below {{the op is here}}
  %c = tosa.conv2d %x, %q, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x1xf32>
  return %c : tensor<1x1x1x1xf32>
}

// -----

#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#act8 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], default_weight = #w>
#stats = #tpc.statistics<count = 3905, zeros = 0, min = -0.25, max = 15.0, histogram = #tpc.histogram<step_exponent = -8, first = -64, counts = dense<1> : tensor<3905xi64>>>
// The last of these is the 65th.
func.func @long_way(%x: tensor<1x4x4x2xf32>) -> tensor<1x4x4x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %kernel = "tosa.const"() <{values = dense<1.0> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %bias = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %no_shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %s = tosa.sigmoid %x : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %y = tosa.mul %x, %s, %no_shift : (tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>, tensor<1xi8>) -> tensor<1x4x4x2xf32>
  // expected-remark @below {{'act' is not shifted: it reaches more than 64 ops that pass a shift on}}
  %q = tpc.quantize %y as "act" activation config(#act8)
    statistics(#stats) parameters(#tpc.power_of_two<threshold = [16.0], bits = 8>) : tensor<1x4x4x2xf32>
  %i0 = tosa.identity %q : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %i1 = tosa.identity %i0 : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %i2 = tosa.identity %i1 : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %i3 = tosa.identity %i2 : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %i4 = tosa.identity %i3 : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %i5 = tosa.identity %i4 : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %i6 = tosa.identity %i5 : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %i7 = tosa.identity %i6 : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %i8 = tosa.identity %i7 : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %i9 = tosa.identity %i8 : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %i10 = tosa.identity %i9 : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %i11 = tosa.identity %i10 : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %i12 = tosa.identity %i11 : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %i13 = tosa.identity %i12 : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %i14 = tosa.identity %i13 : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %i15 = tosa.identity %i14 : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %i16 = tosa.identity %i15 : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %i17 = tosa.identity %i16 : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %i18 = tosa.identity %i17 : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %i19 = tosa.identity %i18 : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %i20 = tosa.identity %i19 : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %i21 = tosa.identity %i20 : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %i22 = tosa.identity %i21 : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %i23 = tosa.identity %i22 : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %i24 = tosa.identity %i23 : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %i25 = tosa.identity %i24 : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %i26 = tosa.identity %i25 : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %i27 = tosa.identity %i26 : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %i28 = tosa.identity %i27 : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %i29 = tosa.identity %i28 : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %i30 = tosa.identity %i29 : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %i31 = tosa.identity %i30 : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %i32 = tosa.identity %i31 : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %i33 = tosa.identity %i32 : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %i34 = tosa.identity %i33 : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %i35 = tosa.identity %i34 : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %i36 = tosa.identity %i35 : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %i37 = tosa.identity %i36 : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %i38 = tosa.identity %i37 : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %i39 = tosa.identity %i38 : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %i40 = tosa.identity %i39 : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %i41 = tosa.identity %i40 : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %i42 = tosa.identity %i41 : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %i43 = tosa.identity %i42 : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %i44 = tosa.identity %i43 : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %i45 = tosa.identity %i44 : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %i46 = tosa.identity %i45 : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %i47 = tosa.identity %i46 : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %i48 = tosa.identity %i47 : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %i49 = tosa.identity %i48 : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %i50 = tosa.identity %i49 : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %i51 = tosa.identity %i50 : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %i52 = tosa.identity %i51 : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %i53 = tosa.identity %i52 : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %i54 = tosa.identity %i53 : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %i55 = tosa.identity %i54 : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %i56 = tosa.identity %i55 : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %i57 = tosa.identity %i56 : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %i58 = tosa.identity %i57 : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %i59 = tosa.identity %i58 : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %i60 = tosa.identity %i59 : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %i61 = tosa.identity %i60 : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %i62 = tosa.identity %i61 : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %i63 = tosa.identity %i62 : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  // expected-note @below {{the op is here}}
  %i64 = tosa.identity %i63 : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %c = tosa.conv2d %i64, %kernel, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<1x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x1xf32>
  return %c : tensor<1x4x4x1xf32>
}

// -----

#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#act8 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], default_weight = #w>
#stats = #tpc.statistics<count = 3713, zeros = 0, min = -0.125, max = 3.5, histogram = #tpc.histogram<step_exponent = -10, first = -128, counts = dense<1> : tensor<3713xi64>>>
// The step of so large a threshold is no f32, and the shift is one.
func.func @beyond_f32(%x: tensor<1x4x4x2xf32>) -> tensor<1x4x4x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %kernel = "tosa.const"() <{values = dense<1.0> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %bias = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %no_shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %s = tosa.sigmoid %x : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %y = tosa.mul %x, %s, %no_shift : (tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>, tensor<1xi8>) -> tensor<1x4x4x2xf32>
  // expected-remark @below {{'act' is not shifted: the values of 'act' plus}}
  // expected-note @below {{the op is here}}
  %q = tpc.quantize %y as "act" activation config(#act8)
    statistics(#stats) parameters(#tpc.power_of_two<threshold = [0x7FE0000000000000], bits = 8>) : tensor<1x4x4x2xf32>
  %c = tosa.conv2d %q, %kernel, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<1x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x1xf32>
  return %c : tensor<1x4x4x1xf32>
}

// -----

#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#act8 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], default_weight = #w>
#stats = #tpc.statistics<count = 3713, zeros = 0, min = -0.125, max = 3.5, histogram = #tpc.histogram<step_exponent = -10, first = -128, counts = dense<1> : tensor<3713xi64>>>
// As many levels as a float has would all be tried.
func.func @wide_grid(%x: tensor<1x4x4x2xf32>) -> tensor<1x4x4x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %kernel = "tosa.const"() <{values = dense<1.0> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %bias = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %no_shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %s = tosa.sigmoid %x : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %y = tosa.mul %x, %s, %no_shift : (tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>, tensor<1xi8>) -> tensor<1x4x4x2xf32>
  // expected-remark @below {{'act' is not shifted: the grid of 'act' has 23 bits; parameters can be selected for at most 16}}
  // expected-note @below {{the op is here}}
  %q = tpc.quantize %y as "act" activation config(#act8)
    statistics(#stats) parameters(#tpc.power_of_two<threshold = [4.0], bits = 23>) : tensor<1x4x4x2xf32>
  %c = tosa.conv2d %q, %kernel, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<1x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x1xf32>
  return %c : tensor<1x4x4x1xf32>
}
