// RUN: mct-opt %s --mct-update-concat-thresholds --split-input-file | FileCheck %s
// RUN: mct-opt %s --mct-update-concat-thresholds="remarks=true" --split-input-file --verify-diagnostics

// Somebody else reads the first operand.
// CHECK-LABEL: func.func @operand_with_two_readers
// CHECK:         as "a" activation parameters(#tpc.power_of_two<threshold = [4.000000e+00], bits = 8>)
// CHECK:         as "b" activation parameters(#tpc.power_of_two<threshold = [1.600000e+01], bits = 8>)
func.func @operand_with_two_readers(%arg0: tensor<1x2xf32>, %arg1: tensor<1x2xf32>) -> (tensor<1x2xf32>, tensor<1x4xf32>) {
  %a = tpc.quantize %arg0 as "a" activation parameters(#tpc.power_of_two<threshold = [4.0], bits = 8>) : tensor<1x2xf32>
  // expected-remark@+1 {{'b' takes the parameters of the concatenation 'c': threshold 2.000000e+00 to 1.600000e+01}}
  %b = tpc.quantize %arg1 as "b" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8>) : tensor<1x2xf32>
  %c = tosa.concat %a, %b {axis = 1 : i32} : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x4xf32>
  %0 = tpc.quantize %c as "c" activation parameters(#tpc.power_of_two<threshold = [16.0], bits = 8>) : tensor<1x4xf32>
  return %a, %0 : tensor<1x2xf32>, tensor<1x4xf32>
}

// -----

// MCT would give the first operand the threshold 16 and leave it unsigned: steps of 1/16 that the concatenation rounds
// to its steps of 1/8 once more.
// CHECK-LABEL: func.func @unsigned_operand_of_a_signed_concatenation
// CHECK:         as "a" activation parameters(#tpc.symmetric<threshold = [1.600000e+01], bits = 8>)
// CHECK:         as "b" activation parameters(#tpc.symmetric<threshold = [1.600000e+01], bits = 8>)
func.func @unsigned_operand_of_a_signed_concatenation(%arg0: tensor<1x2xf32>, %arg1: tensor<1x2xf32>) -> tensor<1x4xf32> {
  // expected-remark@+1 {{'a' takes the parameters of the concatenation 'c': threshold 4.000000e+00 to 1.600000e+01}}
  %a = tpc.quantize %arg0 as "a" activation parameters(#tpc.symmetric<threshold = [4.0], bits = 8, is_signed = false>) : tensor<1x2xf32>
  // expected-remark@+1 {{'b' takes the parameters of the concatenation 'c': threshold 3.000000e+00 to 1.600000e+01}}
  %b = tpc.quantize %arg1 as "b" activation parameters(#tpc.symmetric<threshold = [3.0], bits = 8>) : tensor<1x2xf32>
  %c = tosa.concat %a, %b {axis = 1 : i32} : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x4xf32>
  %0 = tpc.quantize %c as "c" activation parameters(#tpc.symmetric<threshold = [16.0], bits = 8>) : tensor<1x4xf32>
  return %0 : tensor<1x4xf32>
}

// -----

// MCT does not hand on what a concatenation gets from another one.
// CHECK-LABEL: func.func @concatenation_of_a_concatenation
// CHECK:         as "a" activation parameters(#tpc.power_of_two<threshold = [1.600000e+01], bits = 8>)
// CHECK:         as "b" activation parameters(#tpc.power_of_two<threshold = [1.600000e+01], bits = 8>)
// CHECK:         as "inner" activation parameters(#tpc.power_of_two<threshold = [1.600000e+01], bits = 8>)
func.func @concatenation_of_a_concatenation(%arg0: tensor<1x2xf32>, %arg1: tensor<1x2xf32>, %arg2: tensor<1x4xf32>) -> tensor<1x8xf32> {
  // expected-remark@+1 {{'a' takes the parameters of the concatenation 'inner': threshold 2.000000e+00 to 1.600000e+01}}
  %a = tpc.quantize %arg0 as "a" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8>) : tensor<1x2xf32>
  // expected-remark@+1 {{'b' takes the parameters of the concatenation 'inner': threshold 4.000000e+00 to 1.600000e+01}}
  %b = tpc.quantize %arg1 as "b" activation parameters(#tpc.power_of_two<threshold = [4.0], bits = 8>) : tensor<1x2xf32>
  %c = tosa.concat %a, %b {axis = 1 : i32} : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x4xf32>
  // expected-remark@+1 {{'inner' takes the parameters of the concatenation 'outer': threshold 4.000000e+00 to 1.600000e+01}}
  %inner = tpc.quantize %c as "inner" activation parameters(#tpc.power_of_two<threshold = [4.0], bits = 8>) : tensor<1x4xf32>
  %d = tosa.concat %inner, %arg2 {axis = 1 : i32} : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<1x8xf32>
  %outer = tpc.quantize %d as "outer" activation parameters(#tpc.power_of_two<threshold = [16.0], bits = 8>) : tensor<1x8xf32>
  return %outer : tensor<1x8xf32>
}

// -----

// CHECK-LABEL: func.func @values_that_are_moved_in_between
// CHECK:         as "a" activation parameters(#tpc.power_of_two<threshold = [1.600000e+01], bits = 8>)
func.func @values_that_are_moved_in_between(%arg0: tensor<2x1xf32>, %arg1: tensor<1x2xf32>) -> tensor<1x4xf32> {
  // expected-remark@+1 {{'a' takes the parameters of the concatenation 'c': threshold 2.000000e+00 to 1.600000e+01}}
  %a = tpc.quantize %arg0 as "a" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8>) : tensor<2x1xf32>
  %t = tosa.transpose %a {perms = array<i32: 1, 0>} : (tensor<2x1xf32>) -> tensor<1x2xf32>
  %c = tosa.concat %t, %arg1 {axis = 1 : i32} : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x4xf32>
  %0 = tpc.quantize %c as "c" activation parameters(#tpc.power_of_two<threshold = [16.0], bits = 8>) : tensor<1x4xf32>
  return %0 : tensor<1x4xf32>
}

// -----

// CHECK-LABEL: func.func @concatenation_of_tensor
// CHECK:         as "a" activation parameters(#tpc.power_of_two<threshold = [1.600000e+01], bits = 8>)
func.func @concatenation_of_tensor(%arg0: tensor<1x2xf32>, %arg1: tensor<1x2xf32>) -> tensor<1x4xf32> {
  // expected-remark@+1 {{'a' takes the parameters of the concatenation 'c': threshold 2.000000e+00 to 1.600000e+01}}
  %a = tpc.quantize %arg0 as "a" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8>) : tensor<1x2xf32>
  %c = tensor.concat dim(1) %a, %arg1 : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x4xf32>
  %0 = tpc.quantize %c as "c" activation parameters(#tpc.power_of_two<threshold = [16.0], bits = 8>) : tensor<1x4xf32>
  return %0 : tensor<1x4xf32>
}

// -----

#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#unsigned = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], signedness = unsigned, default_weight = #w>
// CHECK-LABEL: func.func @grids_that_cannot_be_shared
// CHECK:         as "wide" {{.*}}threshold = [2.000000e+00], bits = 16
// CHECK:         as "unsigned" {{.*}}threshold = [2.000000e+00], bits = 8, is_signed = false
// CHECK:         as "uniform" {{.*}}#tpc.uniform
// CHECK:         as "undecided" activation :
func.func @grids_that_cannot_be_shared(%arg0: tensor<1x2xf32>, %arg1: tensor<1x2xf32>, %arg2: tensor<1x2xf32>, %arg3: tensor<1x2xf32>) -> tensor<1x8xf32> {
  // expected-remark@+1 {{'wide' keeps its parameters before the concatenation 'c': it has 16 bits, the other 8}}
  %a = tpc.quantize %arg0 as "wide" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 16>) : tensor<1x2xf32>
  // expected-remark@+1 {{'unsigned' keeps its parameters before the concatenation 'c': the target requires an unsigned grid, the other one is signed}}
  %b = tpc.quantize %arg1 as "unsigned" activation config(#unsigned) parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, is_signed = false>) : tensor<1x2xf32>
  // expected-remark@+1 {{'uniform' keeps its parameters before the concatenation 'c': their quantization methods differ}}
  %d = tpc.quantize %arg2 as "uniform" activation parameters(#tpc.uniform<scale = [0.25], zero_point = [3], bits = 8>) : tensor<1x2xf32>
  // expected-remark@+1 {{'undecided' keeps its parameters before the concatenation 'c': their quantization methods differ}}
  %e = tpc.quantize %arg3 as "undecided" activation : tensor<1x2xf32>
  %c = tosa.concat %a, %b, %d, %e {axis = 1 : i32} : (tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x8xf32>
  %0 = tpc.quantize %c as "c" activation parameters(#tpc.power_of_two<threshold = [16.0], bits = 8>) : tensor<1x8xf32>
  return %0 : tensor<1x8xf32>
}

// -----

// CHECK-LABEL: func.func @signed_operand_of_an_unsigned_concatenation
// CHECK:         as "a" activation parameters(#tpc.power_of_two<threshold = [1.000000e+00], bits = 8>)
func.func @signed_operand_of_an_unsigned_concatenation(%arg0: tensor<1x2xf32>, %arg1: tensor<1x2xf32>) -> tensor<1x4xf32> {
  // expected-remark@+1 {{'a' keeps its parameters before the concatenation 'c': it is signed, the other is not}}
  %a = tpc.quantize %arg0 as "a" activation parameters(#tpc.power_of_two<threshold = [1.0], bits = 8>) : tensor<1x2xf32>
  %c = tosa.concat %a, %arg1 {axis = 1 : i32} : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x4xf32>
  %0 = tpc.quantize %c as "c" activation parameters(#tpc.power_of_two<threshold = [16.0], bits = 8, is_signed = false>) : tensor<1x4xf32>
  return %0 : tensor<1x4xf32>
}

// -----

// CHECK-LABEL: func.func @concatenation_without_threshold
// CHECK:         as "a" activation parameters(#tpc.power_of_two<threshold = [1.000000e+00], bits = 8>)
func.func @concatenation_without_threshold(%arg0: tensor<1x2xf32>, %arg1: tensor<1x2xf32>) -> tensor<1x4xf32> {
  %a = tpc.quantize %arg0 as "a" activation parameters(#tpc.power_of_two<threshold = [1.0], bits = 8>) : tensor<1x2xf32>
  %c = tosa.concat %a, %arg1 {axis = 1 : i32} : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x4xf32>
  // expected-remark@+1 {{'c' has no threshold to hand to its operands}}
  %0 = tpc.quantize %c as "c" activation parameters(#tpc.uniform<scale = [0.25], zero_point = [3], bits = 8>) : tensor<1x4xf32>
  return %0 : tensor<1x4xf32>
}
// -----

// A threshold is handed on, not how to round.
// CHECK-LABEL: func.func @rounding_stays
// CHECK:         as "a" activation parameters(#tpc.power_of_two<threshold = [1.600000e+01], bits = 8, rounding = half_up>)
// CHECK:         as "b" activation parameters(#tpc.power_of_two<threshold = [1.600000e+01], bits = 8>)
func.func @rounding_stays(%arg0: tensor<1x2xf32>, %arg1: tensor<1x2xf32>) -> tensor<1x4xf32> {
  // expected-remark@+1 {{'a' takes the parameters of the concatenation 'c': threshold 4.000000e+00 to 1.600000e+01}}
  %a = tpc.quantize %arg0 as "a" activation parameters(#tpc.power_of_two<threshold = [4.0], bits = 8, rounding = half_up>) : tensor<1x2xf32>
  // expected-remark@+1 {{'b' takes the parameters of the concatenation 'c': threshold 2.000000e+00 to 1.600000e+01}}
  %b = tpc.quantize %arg1 as "b" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_even>) : tensor<1x2xf32>
  %c = tosa.concat %a, %b {axis = 1 : i32} : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x4xf32>
  %0 = tpc.quantize %c as "c" activation parameters(#tpc.power_of_two<threshold = [16.0], bits = 8, rounding = half_up>) : tensor<1x4xf32>
  return %0 : tensor<1x4xf32>
}

// -----

#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#fixed = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], fixed_scale = 0.0078125, fixed_zero_point = 0, default_weight = #w>
// CHECK-LABEL: func.func @grid_of_the_target
// CHECK:         as "fixed" {{.*}}threshold = [1.000000e+00], bits = 8
// CHECK:         as "free" {{.*}}threshold = [2.000000e+00], bits = 8
func.func @grid_of_the_target(%arg0: tensor<1x2xf32>, %arg1: tensor<1x2xf32>) -> tensor<1x4xf32> {
  // expected-remark@+1 {{'fixed' keeps its parameters before the concatenation 'c': the target fixes its grid}}
  %a = tpc.quantize %arg0 as "fixed" activation config(#fixed) parameters(#tpc.power_of_two<threshold = [1.0], bits = 8>) : tensor<1x2xf32>
  // expected-remark@+1 {{'free' takes the parameters of the concatenation 'c': threshold 1.000000e+00 to 2.000000e+00}}
  %b = tpc.quantize %arg1 as "free" activation parameters(#tpc.power_of_two<threshold = [1.0], bits = 8>) : tensor<1x2xf32>
  %c = tosa.concat %a, %b {axis = 1 : i32} : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x4xf32>
  %q = tpc.quantize %c as "c" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8>) : tensor<1x4xf32>
  return %q : tensor<1x4xf32>
}
