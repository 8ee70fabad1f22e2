// RUN: mct-opt %s --mct-choose-candidates=choices=first=1 --split-input-file | FileCheck %s

// Its own correction, and that of the layer after it, which was measured with it, are taken out of the biases.
#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#kernel8 = #tpc.attr_quant_config<method = symmetric, bits = 8, per_channel = true, enabled = true>
#kernel4 = #tpc.attr_quant_config<method = symmetric, bits = 4, per_channel = true, enabled = true>
#a8w8 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8, 16], weights = {kernel_attr = #kernel8}, default_weight = #w>
#a8w4 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8, 16], weights = {kernel_attr = #kernel4}, default_weight = #w>
#a16w4 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 16, input_bits = [8, 16], weights = {kernel_attr = #kernel4}, default_weight = #w>
// CHECK-LABEL: func.func @main
// CHECK-DAG:     values = dense<[2.500000e-01, -1.000000e+00]> : tensor<2xf32>
// CHECK-DAG:     values = dense<[5.000000e-01, 2.000000e+00]> : tensor<2xf32>
// CHECK-DAG:     as "first" weight {{.*}} chosen = 1>) :
// CHECK-DAG:     as "second" weight {{.*}} chosen = 0>) parameters(#tpc.symmetric<threshold = [5.000000e-01, 2.000000e+00], bits = 8>) :
// CHECK-DAG:     as "second" activation {{.*}} parameters(
func.func @main(%arg0: tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32> {
  %kernel = "tosa.const"() <{values = dense<[[[[0.5, -0.25]]], [[[1.0, 0.75]]]]> : tensor<2x1x1x2xf32>}> : () -> tensor<2x1x1x2xf32>
  %bias = "tosa.const"() <{values = dense<[0.5, -1.0]> : tensor<2xf32>}> : () -> tensor<2xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %w1 = tpc.quantize %kernel as "first" weight "kernel_attr" axes [0] config(#kernel8)
    candidates(#tpc.alternatives<of = "first", configs = [#kernel8, #kernel4, #kernel4], chosen = 0>)
    parameters(#tpc.symmetric<threshold = [0.5, 1.0], bits = 8>) corrections(#tpc.corrections<applied = ["input_mean"], bias_offset = [0.25, 0.0], kernel_scale = [1.0]>) : tensor<2x1x1x2xf32>
  %0 = tosa.conv2d %arg0, %w1, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<2x1x1x2xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x2xf32> loc("first")
  %1 = tpc.quantize %0 as "first" activation config(#a8w8)
    candidates(#tpc.alternatives<of = "first", configs = [#a8w8, #a8w4, #a16w4], chosen = 0>)
    statistics(#tpc.statistics<count = 4, zeros = 4, min = 0.0, max = 0.0>)
    parameters(#tpc.power_of_two<threshold = [2.0], bits = 8>) : tensor<1x4x4x2xf32>
  %kernel2 = "tosa.const"() <{values = dense<[[[[0.5, -0.5]]], [[[2.0, 1.5]]]]> : tensor<2x1x1x2xf32>}> : () -> tensor<2x1x1x2xf32>
  %bias2 = "tosa.const"() <{values = dense<[0.75, 3.0]> : tensor<2xf32>}> : () -> tensor<2xf32>
  %w2 = tpc.quantize %kernel2 as "second" weight "kernel_attr" axes [0] config(#kernel8)
    candidates(#tpc.alternatives<of = "second", configs = [#kernel8, #kernel4], chosen = 0>)
    parameters(#tpc.symmetric<threshold = [0.5, 2.0], bits = 8>) corrections(#tpc.corrections<applied = ["quantized_network"], bias_offset = [0.25, 1.0], kernel_scale = [1.0]>) : tensor<2x1x1x2xf32>
  %2 = tosa.conv2d %1, %w2, %bias2, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<2x1x1x2xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x2xf32> loc("second")
  %3 = tpc.quantize %2 as "second" activation config(#a8w8)
    statistics(#tpc.statistics<count = 4, zeros = 4, min = 0.0, max = 0.0>)
    parameters(#tpc.power_of_two<threshold = [8.0], bits = 8>) : tensor<1x4x4x2xf32>
  return %3 : tensor<1x4x4x2xf32>
}

// -----

// A correction that depends on its own kernel alone stays after what changed.
#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#kernel8 = #tpc.attr_quant_config<method = symmetric, bits = 8, per_channel = true, enabled = true>
#kernel4 = #tpc.attr_quant_config<method = symmetric, bits = 4, per_channel = true, enabled = true>
#a8w8 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8, 16], weights = {kernel_attr = #kernel8}, default_weight = #w>
#a8w4 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8, 16], weights = {kernel_attr = #kernel4}, default_weight = #w>
#a16w4 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 16, input_bits = [8, 16], weights = {kernel_attr = #kernel4}, default_weight = #w>
// CHECK-LABEL: func.func @main
// CHECK:         as "second" weight {{.*}} corrections(#tpc.corrections<applied = ["input_mean"], bias_offset = [2.500000e-01, 1.000000e+00]
func.func @main(%arg0: tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32> {
  %kernel = "tosa.const"() <{values = dense<[[[[0.5, -0.25]]], [[[1.0, 0.75]]]]> : tensor<2x1x1x2xf32>}> : () -> tensor<2x1x1x2xf32>
  %bias = "tosa.const"() <{values = dense<[0.5, -1.0]> : tensor<2xf32>}> : () -> tensor<2xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %w1 = tpc.quantize %kernel as "first" weight "kernel_attr" axes [0] config(#kernel8)
    candidates(#tpc.alternatives<of = "first", configs = [#kernel8, #kernel4, #kernel4], chosen = 0>)
    parameters(#tpc.symmetric<threshold = [0.5, 1.0], bits = 8>) : tensor<2x1x1x2xf32>
  %0 = tosa.conv2d %arg0, %w1, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<2x1x1x2xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x2xf32> loc("first")
  %1 = tpc.quantize %0 as "first" activation config(#a8w8)
    candidates(#tpc.alternatives<of = "first", configs = [#a8w8, #a8w4, #a16w4], chosen = 0>)
    statistics(#tpc.statistics<count = 4, zeros = 4, min = 0.0, max = 0.0>)
    parameters(#tpc.power_of_two<threshold = [2.0], bits = 8>) : tensor<1x4x4x2xf32>
  %kernel2 = "tosa.const"() <{values = dense<[[[[0.5, -0.5]]], [[[2.0, 1.5]]]]> : tensor<2x1x1x2xf32>}> : () -> tensor<2x1x1x2xf32>
  %bias2 = "tosa.const"() <{values = dense<[0.75, 3.0]> : tensor<2xf32>}> : () -> tensor<2xf32>
  %w2 = tpc.quantize %kernel2 as "second" weight "kernel_attr" axes [0] config(#kernel8)
    candidates(#tpc.alternatives<of = "second", configs = [#kernel8, #kernel4], chosen = 0>)
    parameters(#tpc.symmetric<threshold = [0.5, 2.0], bits = 8>) corrections(#tpc.corrections<applied = ["input_mean"], bias_offset = [0.25, 1.0], kernel_scale = [1.0]>) : tensor<2x1x1x2xf32>
  %2 = tosa.conv2d %1, %w2, %bias2, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<2x1x1x2xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x2xf32> loc("second")
  %3 = tpc.quantize %2 as "second" activation config(#a8w8)
    statistics(#tpc.statistics<count = 4, zeros = 4, min = 0.0, max = 0.0>)
    parameters(#tpc.power_of_two<threshold = [8.0], bits = 8>) : tensor<1x4x4x2xf32>
  return %3 : tensor<1x4x4x2xf32>
}

// -----

// A kernel that was scaled is as in float again, [[0.5, -0.5]] and [[4, 3]]; what was chosen and seen after it is gone.
#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#kernel8 = #tpc.attr_quant_config<method = symmetric, bits = 8, per_channel = true, enabled = true>
#kernel4 = #tpc.attr_quant_config<method = symmetric, bits = 4, per_channel = true, enabled = true>
#a8w8 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8, 16], weights = {kernel_attr = #kernel8}, default_weight = #w>
#a8w4 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8, 16], weights = {kernel_attr = #kernel4}, default_weight = #w>
#a16w4 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 16, input_bits = [8, 16], weights = {kernel_attr = #kernel4}, default_weight = #w>
// CHECK-LABEL: func.func @main
// CHECK-DAG:     values = dense<{{\[\[\[\[}}5.000000e-01, -5.000000e-01{{\]\]\]}}, {{\[\[\[}}4.000000e+00, 3.000000e+00{{\]\]\]\]}}> : tensor<2x1x1x2xf32>
// CHECK-DAG:     values = dense<[5.000000e-01, 4.000000e+00]> : tensor<2xf32>
// CHECK-DAG:     as "first" activation {{.*}} statistics({{.*}}) parameters(
// CHECK-DAG:     as "second" weight {{.*}} chosen = 0>) :
// CHECK-DAG:     as "second" activation config(#{{[a-z0-9_]*}}) :
func.func @main(%arg0: tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32> {
  %kernel = "tosa.const"() <{values = dense<[[[[0.5, -0.25]]], [[[1.0, 0.75]]]]> : tensor<2x1x1x2xf32>}> : () -> tensor<2x1x1x2xf32>
  %bias = "tosa.const"() <{values = dense<[0.5, -1.0]> : tensor<2xf32>}> : () -> tensor<2xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %w1 = tpc.quantize %kernel as "first" weight "kernel_attr" axes [0] config(#kernel8)
    candidates(#tpc.alternatives<of = "first", configs = [#kernel8, #kernel4, #kernel4], chosen = 0>)
    parameters(#tpc.symmetric<threshold = [0.5, 1.0], bits = 8>) : tensor<2x1x1x2xf32>
  %0 = tosa.conv2d %arg0, %w1, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<2x1x1x2xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x2xf32> loc("first")
  %1 = tpc.quantize %0 as "first" activation config(#a8w8)
    candidates(#tpc.alternatives<of = "first", configs = [#a8w8, #a8w4, #a16w4], chosen = 0>)
    statistics(#tpc.statistics<count = 4, zeros = 4, min = 0.0, max = 0.0>)
    parameters(#tpc.power_of_two<threshold = [2.0], bits = 8>) : tensor<1x4x4x2xf32>
  %kernel2 = "tosa.const"() <{values = dense<[[[[0.5, -0.5]]], [[[2.0, 1.5]]]]> : tensor<2x1x1x2xf32>}> : () -> tensor<2x1x1x2xf32>
  %bias2 = "tosa.const"() <{values = dense<[0.75, 3.0]> : tensor<2xf32>}> : () -> tensor<2xf32>
  %w2 = tpc.quantize %kernel2 as "second" weight "kernel_attr" axes [0] config(#kernel8)
    candidates(#tpc.alternatives<of = "second", configs = [#kernel8, #kernel4], chosen = 0>)
    parameters(#tpc.symmetric<threshold = [0.5, 2.0], bits = 8>) corrections(#tpc.corrections<applied = ["second_moment"], bias_offset = [0.25, 1.0], kernel_scale = [1.0, 0.5]>) : tensor<2x1x1x2xf32>
  %2 = tosa.conv2d %1, %w2, %bias2, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<2x1x1x2xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x2xf32> loc("second")
  %3 = tpc.quantize %2 as "second" activation config(#a8w8)
    statistics(#tpc.statistics<count = 4, zeros = 4, min = 0.0, max = 0.0>)
    parameters(#tpc.power_of_two<threshold = [8.0], bits = 8>) : tensor<1x4x4x2xf32>
  return %3 : tensor<1x4x4x2xf32>
}
