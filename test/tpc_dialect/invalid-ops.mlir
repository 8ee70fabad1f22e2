// RUN: mct-opt %s --split-input-file --verify-diagnostics

#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#c8 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], default_weight = #w>
#c4 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 4, input_bits = [8], default_weight = #w>
// P1
// expected-error@+1 {{default options must contain exactly one op_quant_config, but got 2}}
tpc.platform @p default(#tpc.qc_options<[#c8, #c4], base = #c8>) operator_sets []

// -----

#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#c8 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], default_weight = #w>
// P2
// expected-error@+1 {{operator set 'Conv' is defined more than once}}
tpc.platform @p default(#tpc.qc_options<[#c8]>) operator_sets [#tpc.operator_set<"Conv">, #tpc.operator_set<"Conv">]

// -----

#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#c8 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], default_weight = #w>
// P3
// expected-error@+1 {{fusing pattern #0 refers to undefined operator set 'ReLU'}}
tpc.platform @p default(#tpc.qc_options<[#c8]>) operator_sets [#tpc.operator_set<"Conv">]
  fusing [#tpc.fusing<["Conv", "ReLU"]>]

// -----

#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#c8 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], default_weight = #w>
// P3
// expected-error@+1 {{fusing pattern #0 refers to operator set 'Swish', which is matched one by one}}
tpc.platform @p default(#tpc.qc_options<[#c8]>)
  operator_sets [#tpc.operator_set<"Conv">, #tpc.operator_set<"Swish", one_by_one>]
  fusing [#tpc.fusing<["Conv", "Swish"]>]

// -----

#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#c8 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], default_weight = #w>
// P3: inside a group.
// expected-error@+1 {{fusing pattern #1 refers to undefined operator set 'Tanh'}}
tpc.platform @p default(#tpc.qc_options<[#c8]>) operator_sets [#tpc.operator_set<"Conv">, #tpc.operator_set<"ReLU">]
  fusing [#tpc.fusing<["Conv", "ReLU"]>, #tpc.fusing<["Conv", #tpc.operator_set_group<["ReLU", "Tanh"]>]>]

// -----

#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#c8 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], default_weight = #w>
// P4
// expected-error@+1 {{fusing pattern name 'x' is used twice}}
tpc.platform @p default(#tpc.qc_options<[#c8]>) operator_sets [#tpc.operator_set<"Conv">, #tpc.operator_set<"ReLU">]
  fusing [#tpc.fusing<["Conv", "ReLU"], name = "x">, #tpc.fusing<["ReLU", "Conv"], name = "x">]

// -----

// B1
// expected-error@+1 {{'@p' does not name a tpc.platform}}
tpc.binding @b for @p []

// -----

#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#c8 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], default_weight = #w>
// expected-note@+1 {{platform defined here}}
tpc.platform @p default(#tpc.qc_options<[#c8]>) operator_sets []
// B2
// expected-error@+1 {{names operator set 'Nope' that '@p' does not define}}
tpc.binding @b for @p [#tpc.ops_of<"Nope", []>]

// -----

#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#c8 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], default_weight = #w>
tpc.platform @p default(#tpc.qc_options<[#c8]>) operator_sets [#tpc.operator_set<"Conv">]
// B3
// expected-error@+1 {{operator set 'Conv' is bound more than once}}
tpc.binding @b for @p [#tpc.ops_of<"Conv", []>, #tpc.ops_of<"Conv", []>]

// -----

// expected-error@+1 {{'my.conv' is described more than once}}
tpc.framework @f [#tpc.op_info<"my.conv", kernel = 1>, #tpc.op_info<"my.conv", kernel = 2>]

// -----

// expected-error@+1 {{op descriptions}}
tpc.framework @f ["my.conv"]

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error@+1 {{needs a name}}
  tpc.quantize %x as "" activation : tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xi8>) {
  // expected-error@+1 {{quantizes f32 tensors, but got 'tensor<4xi8>'}}
  tpc.quantize %x as "a" activation : tensor<4xi8>
  return
}

// -----

func.func @f(%x: tensor<2x4xf32>) {
  // expected-error@+1 {{channel axis 2 is not a static axis of 'tensor<2x4xf32>'}}
  tpc.quantize %x as "a" weight "kernel_attr" axes [2] : tensor<2x4xf32>
  return
}

// -----

func.func @f(%x: tensor<?x4xf32>) {
  // expected-error@+1 {{channel axis 0 is not a static axis of 'tensor<?x4xf32>'}}
  tpc.quantize %x as "a" weight "kernel_attr" axes [0] : tensor<?x4xf32>
  return
}

// -----

func.func @f(%x: tensor<2x4xf32>) {
  // expected-error@+1 {{channel axes must ascend, but got 1 after 1}}
  tpc.quantize %x as "a" weight "kernel_attr" axes [1, 1] : tensor<2x4xf32>
  return
}

// -----

func.func @f(%x: tensor<2x4xf32>) {
  // expected-error@+1 {{has channel axes, but activations are quantized per tensor}}
  tpc.quantize %x as "a" activation axes [1] : tensor<2x4xf32>
  return
}

// -----

func.func @f(%x: tensor<2x4xf32>) {
  // expected-error@+1 {{has 3 parameters for 4 channels}}
  tpc.quantize %x as "a" weight "kernel_attr" axes [1] parameters(#tpc.symmetric<threshold = [1.0, 2.0, 3.0], bits = 8>) : tensor<2x4xf32>
  return
}

// -----

func.func @f(%x: tensor<2x4xf32>) {
  // expected-error@+1 {{has 4 parameters for 1 channels}}
  tpc.quantize %x as "a" weight "kernel_attr" parameters(#tpc.symmetric<threshold = [1.0, 2.0, 3.0, 4.0], bits = 8>) : tensor<2x4xf32>
  return
}

// -----

#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
func.func @f(%x: tensor<4xf32>) {
  // expected-error@+1 {{'config' must be #tpc.op_quant_config or #tpc.quantize_config, but got #tpc.attr_quant_config}}
  tpc.quantize %x as "a" activation config(#w) : tensor<4xf32>
  return
}

// -----

#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
func.func @f(%x: tensor<4xf32>) {
  // expected-error@+1 {{'candidates' must be #tpc.op_quant_config, but got #tpc.attr_quant_config}}
  tpc.quantize %x as "a" activation candidates([#w]) : tensor<4xf32>
  return
}

// -----

#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#both = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], act_enabled = true, preserving = true, default_weight = #w>
func.func @f(%x: tensor<4xf32>) {
  // O3
  // expected-error@+1 {{'act_enabled' and 'preserving' are mutually exclusive}}
  tpc.quantize %x as "a" activation config(#both) : tensor<4xf32>
  return
}

// -----

func.func @f() {
  // M1
  // expected-error@+1 {{is an f32 constant, but has values of type 'tensor<2xf32>' for a result of 'tensor<3xf32>'}}
  tpc.bias values(dense<0.0> : tensor<2xf32>) mean(dense<0.0> : tensor<3xf32>) deviation(dense<1.0> : tensor<3xf32>) : tensor<3xf32>
  return
}

// -----

func.func @f() {
  // M1
  // expected-error@+1 {{is an f32 constant, but has values of type 'tensor<2xf64>' for a result of 'tensor<2xf64>'}}
  tpc.bias values(dense<0.0> : tensor<2xf64>) mean(dense<0.0> : tensor<2xf32>) deviation(dense<1.0> : tensor<2xf32>) : tensor<2xf64>
  return
}

// -----

func.func @f() {
  // M2
  // expected-error@+1 {{has moments of the types 'tensor<2xf32>' and 'tensor<1xf32>', expected two equal f32 vectors}}
  tpc.bias values(dense<0.0> : tensor<2xf32>) mean(dense<0.0> : tensor<2xf32>) deviation(dense<1.0> : tensor<1xf32>) : tensor<2xf32>
  return
}

// -----

func.func @f() {
  // M2
  // expected-error@+1 {{has 3 moments for 2 values}}
  tpc.bias values(dense<0.0> : tensor<2xf32>) mean(dense<0.0> : tensor<3xf32>) deviation(dense<1.0> : tensor<3xf32>) : tensor<2xf32>
  return
}

// -----

func.func @f() {
  // M3
  // expected-error@+1 {{has the standard deviation -1.000000e+00 in channel 1}}
  tpc.bias values(dense<0.0> : tensor<2xf32>) mean(dense<0.0> : tensor<2xf32>) deviation(dense<[1.0, -1.0]> : tensor<2xf32>) : tensor<2xf32>
  return
}

// -----

// Whoever walks over channels goes through the axes in their order in memory.
func.func @f(%x: tensor<2x4xf32>) {
  // expected-error@+1 {{channel axes must ascend, but got 0 after 1}}
  tpc.quantize %x as "a" weight "kernel_attr" axes [1, 0] : tensor<2x4xf32>
  return
}

// -----

func.func @f(%x: tensor<4294967296x4294967296xf32>) {
  // expected-error@+1 {{has more channels than can be counted in 'tensor<4294967296x4294967296xf32>'}}
  tpc.quantize %x as "a" weight "kernel_attr" axes [0, 1] : tensor<4294967296x4294967296xf32>
  return
}

// -----

func.func @two_activations_of_one_name(%x: tensor<2xf32>) {
  // expected-note@+1 {{the other point is here}}
  tpc.quantize %x as "a" activation : tensor<2xf32>
  // expected-error@+1 {{has the name 'a' of another point of the function, with which its statistics would be mixed; rename one}}
  tpc.quantize %x as "a" activation : tensor<2xf32>
  return
}

// -----

// A weight is known as its op and its own name.
func.func @an_activation_named_like_a_weight(%x: tensor<2xf32>, %k: tensor<2xf32>) {
  // expected-note@+1 {{the other point is here}}
  tpc.quantize %k as "a" weight "kernel_attr" : tensor<2xf32>
  // expected-error@+1 {{has the name 'a/kernel_attr' of another point of the function}}
  tpc.quantize %x as "a/kernel_attr" activation : tensor<2xf32>
  return
}

// -----

func.func @points_in_nested_regions(%x: tensor<2xf32>, %c: i1) {
  scf.if %c {
    // expected-note@+1 {{the other point is here}}
    tpc.quantize %x as "a" activation : tensor<2xf32>
  } else {
    // expected-error@+1 {{has the name 'a' of another point of the function}}
    tpc.quantize %x as "a" activation : tensor<2xf32>
  }
  return
}

// -----

#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
func.func @f(%x: tensor<4xf32>) {
  // expected-error@+1 {{attribute 'candidates' failed to satisfy constraint}}
  tpc.quantize %x as "a" weight "kernel_attr" config(#w) candidates(#w) : tensor<4xf32>
  return
}

// -----

#w8 = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#w4 = #tpc.attr_quant_config<method = power_of_two, bits = 4>
func.func @f(%x: tensor<4xf32>) {
  // expected-error@+1 {{takes alternative 1, which is #tpc.attr_quant_config<method = power_of_two, bits = 4>, but 'config' is #tpc.attr_quant_config<method = power_of_two, bits = 8>; change both with mct-choose-candidates}}
  tpc.quantize %x as "a" weight "kernel_attr" config(#w8) candidates(#tpc.alternatives<of = "a", configs = [#w8, #w4], chosen = 1>) : tensor<4xf32>
  return
}

// -----

// The points of an operator change together.
#w8 = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#w4 = #tpc.attr_quant_config<method = power_of_two, bits = 4>
func.func @f(%x: tensor<4xf32>) {
  // expected-note@+1 {{the other point is here}}
  tpc.quantize %x as "a" weight "kernel_attr" config(#w8) candidates(#tpc.alternatives<of = "a", configs = [#w8, #w4], chosen = 0>) : tensor<4xf32>
  // expected-error@+1 {{takes alternative 1 of 2 of 'a', and another point of that operator 0 of 2; change all of them with mct-choose-candidates}}
  tpc.quantize %x as "renamed" weight "bias_attr" config(#w4) candidates(#tpc.alternatives<of = "a", configs = [#w8, #w4], chosen = 1>) : tensor<4xf32>
  return
}

// -----

#w8 = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#w4 = #tpc.attr_quant_config<method = power_of_two, bits = 4>
func.func @f(%x: tensor<4xf32>) {
  // expected-error@+1 {{'candidates' must be #tpc.op_quant_config, but got #tpc.attr_quant_config}}
  tpc.quantize %x as "a" activation candidates(#tpc.alternatives<of = "a", configs = [#w8, #w4], chosen = 1>) : tensor<4xf32>
  return
}
