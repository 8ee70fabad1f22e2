// RUN: split-file %s %t
// RUN: mct-opt %t/choices.mlir --split-input-file --verify-diagnostics --mct-choose-candidates=choices=first=7
// RUN: mct-opt %t/negative.mlir --verify-diagnostics --mct-choose-candidates=choices=first=-1
// RUN: mct-opt %t/syntax.mlir --verify-diagnostics --mct-choose-candidates=choices=first
// RUN: not mct-opt %t/rules.mlir --mct-choose-candidates=overrides=%t/three.rules 2>&1 | FileCheck %s --check-prefix=THREE
// RUN: not mct-opt %t/rules.mlir --mct-choose-candidates=overrides=%t/sixteen.rules 2>&1 | FileCheck %s --check-prefix=SIXTEEN
// RUN: not mct-opt %t/rules.mlir --mct-choose-candidates=overrides=%t/float.rules 2>&1 | FileCheck %s --check-prefix=FLOAT
// RUN: not mct-opt %t/rules.mlir --mct-choose-candidates=overrides=%t/unknown.rules 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not mct-opt %t/rules.mlir --mct-choose-candidates=overrides=%t/op.rules 2>&1 | FileCheck %s --check-prefix=TARGET
// RUN: not mct-opt %t/rules.mlir --mct-choose-candidates=overrides=%t/absent.rules 2>&1 | FileCheck %s --check-prefix=ABSENT
// RUN: not mct-opt %t/rules.mlir --mct-choose-candidates=function=absent 2>&1 | FileCheck %s --check-prefix=FUNCTION

// THREE: three.rules:1:1: error: 'kernel_attr' of 'first' cannot have 3 bits; its points offer 8 and 4 here
// THREE: note: the point is here
// SIXTEEN: sixteen.rules:2:1: error: 'kernel_attr' of 'first' cannot have 8 bits; its points offer 4 here
// FLOAT: float.rules:1:1: error: the result of 'first' has a point, which cannot become float; insert points with this rule, or run the network without its points
// FLOAT: note: the point is here
// UNKNOWN: unknown.rules:1:1: error: the rule matches nothing
// TARGET: error: module has no target; run tpc-attach-target first
// ABSENT: error: cannot read overrides file
// FUNCTION: error: {{.*}}'absent'

//--- three.rules
name first weights=3
//--- sixteen.rules
name first activation=16
name first weights=8
//--- float.rules
name first float
//--- unknown.rules
name "third*" weights=4
//--- op.rules
op tosa.conv2d weights=4

//--- choices.mlir
#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#kernel8 = #tpc.attr_quant_config<method = symmetric, bits = 8, per_channel = true, enabled = true>
#kernel4 = #tpc.attr_quant_config<method = symmetric, bits = 4, per_channel = true, enabled = true>
#a8w8 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8, 16], weights = {kernel_attr = #kernel8}, default_weight = #w>
#a8w4 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8, 16], weights = {kernel_attr = #kernel4}, default_weight = #w>
#a16w4 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 16, input_bits = [8, 16], weights = {kernel_attr = #kernel4}, default_weight = #w>
// expected-error @below {{'first' has no alternative 7; it has 0: kernel_attr=8 activation=8, 1: kernel_attr=4 activation=8, 2: kernel_attr=4 activation=16}}
func.func @main(%arg0: tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32> {
  %kernel = "tosa.const"() <{values = dense<[[[[0.5, -0.25]]], [[[1.0, 0.75]]]]> : tensor<2x1x1x2xf32>}> : () -> tensor<2x1x1x2xf32>
  %bias = "tosa.const"() <{values = dense<[0.5, -1.0]> : tensor<2xf32>}> : () -> tensor<2xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  // expected-note @below {{a point of it is here}}
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
    parameters(#tpc.symmetric<threshold = [0.5, 2.0], bits = 8>) : tensor<2x1x1x2xf32>
  %2 = tosa.conv2d %1, %w2, %bias2, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<2x1x1x2xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x2xf32> loc("second")
  %3 = tpc.quantize %2 as "second" activation config(#a8w8)
    statistics(#tpc.statistics<count = 4, zeros = 4, min = 0.0, max = 0.0>)
    parameters(#tpc.power_of_two<threshold = [8.0], bits = 8>) : tensor<1x4x4x2xf32>
  return %3 : tensor<1x4x4x2xf32>
}

// -----

#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#kernel8 = #tpc.attr_quant_config<method = symmetric, bits = 8, per_channel = true, enabled = true>
#kernel4 = #tpc.attr_quant_config<method = symmetric, bits = 4, per_channel = true, enabled = true>
// expected-error @below {{there is no operator 'first' with points; operators that have alternatives are: conv}}
func.func @main(%arg0: tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32> {
  %kernel = "tosa.const"() <{values = dense<[[[[0.5, -0.25]]], [[[1.0, 0.75]]]]> : tensor<2x1x1x2xf32>}> : () -> tensor<2x1x1x2xf32>
  %bias = "tosa.const"() <{values = dense<[0.5, -1.0]> : tensor<2xf32>}> : () -> tensor<2xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %w1 = tpc.quantize %kernel as "conv" weight "kernel_attr" axes [0] config(#kernel8)
    candidates(#tpc.alternatives<of = "conv", configs = [#kernel8, #kernel4], chosen = 0>) : tensor<2x1x1x2xf32>
  %0 = tosa.conv2d %arg0, %w1, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<2x1x1x2xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x2xf32>
  return %0 : tensor<1x4x4x2xf32>
}

// -----

// expected-error @below {{there is no operator 'first' with points; operators that have alternatives are: none, insert points with a target that has some}}
func.func @main(%arg0: tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32> {
  return %arg0 : tensor<1x4x4x2xf32>
}

// -----

// A list of an earlier version does not say what goes with what.
#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#kernel8 = #tpc.attr_quant_config<method = symmetric, bits = 8, per_channel = true, enabled = true>
#kernel4 = #tpc.attr_quant_config<method = symmetric, bits = 4, per_channel = true, enabled = true>
// expected-error @below {{'first' has no alternative 7: its points do not say which of their candidates go together; insert points again}}
func.func @main(%arg0: tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32> {
  %kernel = "tosa.const"() <{values = dense<[[[[0.5, -0.25]]], [[[1.0, 0.75]]]]> : tensor<2x1x1x2xf32>}> : () -> tensor<2x1x1x2xf32>
  %bias = "tosa.const"() <{values = dense<[0.5, -1.0]> : tensor<2xf32>}> : () -> tensor<2xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  // expected-note @below {{a point of it is here}}
  %w1 = tpc.quantize %kernel as "first" weight "kernel_attr" axes [0] config(#kernel8) candidates([#kernel8, #kernel4]) : tensor<2x1x1x2xf32>
  %0 = tosa.conv2d %arg0, %w1, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<2x1x1x2xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x2xf32>
  return %0 : tensor<1x4x4x2xf32>
}

//--- negative.mlir
// expected-error @below {{'first' has no alternative -1; it has 0: activation=0}}
func.func @main(%arg0: tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32> {
  // expected-note @below {{a point of it is here}}
  %0 = tpc.quantize %arg0 as "first" activation : tensor<1x4x4x2xf32>
  return %0 : tensor<1x4x4x2xf32>
}

//--- syntax.mlir
// expected-error @below {{cannot read the choice 'first'; expected NAME=INDEX, for example 'conv1=1'}}
func.func @main(%arg0: tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32> {
  return %arg0 : tensor<1x4x4x2xf32>
}

//--- rules.mlir
#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#kernel8 = #tpc.attr_quant_config<method = symmetric, bits = 8, per_channel = true, enabled = true>
#kernel4 = #tpc.attr_quant_config<method = symmetric, bits = 4, per_channel = true, enabled = true>
#a8w8 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8, 16], weights = {kernel_attr = #kernel8}, default_weight = #w>
#a8w4 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8, 16], weights = {kernel_attr = #kernel4}, default_weight = #w>
#a16w4 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 16, input_bits = [8, 16], weights = {kernel_attr = #kernel4}, default_weight = #w>
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
    parameters(#tpc.symmetric<threshold = [0.5, 2.0], bits = 8>) : tensor<2x1x1x2xf32>
  %2 = tosa.conv2d %1, %w2, %bias2, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<2x1x1x2xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x2xf32> loc("second")
  %3 = tpc.quantize %2 as "second" activation config(#a8w8)
    statistics(#tpc.statistics<count = 4, zeros = 4, min = 0.0, max = 0.0>)
    parameters(#tpc.power_of_two<threshold = [8.0], bits = 8>) : tensor<1x4x4x2xf32>
  return %3 : tensor<1x4x4x2xf32>
}
