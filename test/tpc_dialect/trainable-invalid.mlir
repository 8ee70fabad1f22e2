// RUN: mct-opt %s --split-input-file --verify-diagnostics

// expected-error@+1 {{quantizers have 1 to 23 bits, but got 24}}
#a = #tpc.learned_threshold<bits = 24>

// -----

// expected-error@+1 {{a signed grid of 1 bit has no level above zero to learn from}}
#a = #tpc.learned_threshold<bits = 1>

// -----

// expected-error@+1 {{the scale of gradients must be positive and finite, but is 0}}
#a = #tpc.learned_threshold<bits = 4, gradient_scale = 0.0>

// -----

// expected-error@+1 {{quantizers have 1 to 23 bits, but got 0}}
#a = #tpc.learned_range<bits = 0>

// -----

// expected-error@+1 {{the scale of gradients must be positive and finite, but is -1}}
#a = #tpc.learned_range<bits = 4, gradient_scale = -1.0>

// -----

// expected-error@+1 {{weights must be moved by a positive number of levels at most, but got 0}}
#a = #tpc.perturbed_rounding<most_levels = 0.0>

// -----

// expected-error@+1 {{quantizers have 1 to 23 bits, but got 99}}
#a = #tpc.observed_range<observer = fixed, bits = 99>

// -----

// expected-error@+1 {{a grid of 1 bit can be neither symmetric nor narrow}}
#a = #tpc.observed_range<observer = fixed, bits = 1, is_narrow = true>

// -----

// expected-error@+1 {{a grid of 1 bit can be neither symmetric nor narrow}}
#a = #tpc.observed_range<observer = fixed, bits = 1, is_symmetric = true>

// -----

// expected-error@+1 {{'decay' is only valid for moving averages}}
#a = #tpc.observed_range<observer = last_value, bits = 8, decay = 0.9>

// -----

// expected-error@+1 {{'decay' must be at least 0 and below 1, but is 1}}
#a = #tpc.observed_range<observer = moving_average, bits = 8, decay = 1.0>

// -----

func.func @nothing_says_what_is_learned(%x: tensor<1x8xf32>, %t: tensor<1x1xf32>) {
  // expected-error@+1 {{'tpc.quantize' op has learned values, but no 'trainable' that describes them}}
  %0 = tpc.quantize %x as "x" activation learned(%t : tensor<1x1xf32>) : tensor<1x8xf32>
  return
}

// -----

func.func @not_as_many_as_there_are_roles(%x: tensor<1x8xf32>, %t: tensor<1x1xf32>) {
  // expected-error@+1 {{has 1 learned values, but #tpc.learned_range<bits = 4> learns 2}}
  %0 = tpc.quantize %x as "x" activation trainable(#tpc.learned_range<bits = 4>) learned(%t : tensor<1x1xf32>) : tensor<1x8xf32>
  return
}

// -----

func.func @a_threshold_has_the_rank_of_the_tensor(%x: tensor<1x8xf32>, %t: tensor<1xf32>) {
  // expected-error@+1 {{cannot have 'tensor<1xf32>' as threshold of 'tensor<1x8xf32>'}}
  %0 = tpc.quantize %x as "x" activation trainable(#tpc.learned_threshold<bits = 4>) learned(%t : tensor<1xf32>) : tensor<1x8xf32>
  return
}

// -----

func.func @a_threshold_has_a_known_size(%x: tensor<1x8xf32>, %t: tensor<?x1xf32>) {
  // expected-error@+1 {{cannot have 'tensor<?x1xf32>' as threshold of 'tensor<1x8xf32>'}}
  %0 = tpc.quantize %x as "x" activation trainable(#tpc.learned_threshold<bits = 4>) learned(%t : tensor<?x1xf32>) : tensor<1x8xf32>
  return
}

// -----

func.func @channels_are_on_the_axes_of_the_point(%k: tensor<3x8xf32>, %t: tensor<1x8xf32>) {
  // expected-error@+1 {{cannot have 'tensor<1x8xf32>' as minimum of 'tensor<3x8xf32>', whose channels are on axes [0]}}
  %0 = tpc.quantize %k as "conv" weight "kernel_attr" axes [0] trainable(#tpc.learned_range<bits = 4>) learned(%t, %t : tensor<1x8xf32>, tensor<1x8xf32>) : tensor<3x8xf32>
  return
}

// -----

func.func @a_variable_for_every_weight(%k: tensor<3x8xf32>, %a: tensor<3x1xf32>) {
  // expected-error@+1 {{cannot have 'tensor<3x1xf32>' as rounding of 'tensor<3x8xf32>'}}
  %0 = tpc.quantize %k as "conv" weight "kernel_attr" parameters(#tpc.symmetric<threshold = [1.0], bits = 4>) trainable(#tpc.soft_rounding<>) learned(%a : tensor<3x1xf32>) : tensor<3x8xf32>
  return
}

// -----

func.func @a_fraction_is_one_number(%x: tensor<1x8xf32>, %f: tensor<1x8xf32>) {
  // expected-error@+1 {{cannot have 'tensor<1x8xf32>' as fraction of 'tensor<1x8xf32>'}}
  %0 = tpc.quantize %x as "x" activation trainable(#tpc.gradual<of = #tpc.straight_through<>>) learned(%f : tensor<1x8xf32>) : tensor<1x8xf32>
  return
}

// -----

func.func @rounding_needs_levels(%k: tensor<3x8xf32>) {
  // expected-error@+1 {{learns a rounding to evenly spaced levels, but has no parameters with such}}
  %0 = tpc.quantize %k as "conv" weight "kernel_attr" trainable(#tpc.soft_rounding<>) learned(%k : tensor<3x8xf32>) : tensor<3x8xf32>
  return
}

// -----

func.func @perturbations_need_levels(%k: tensor<3x8xf32>) {
  // expected-error@+1 {{learns a perturbation to evenly spaced levels, but has no parameters with such}}
  %0 = tpc.quantize %k as "conv" weight "kernel_attr"
         parameters(#tpc.lookup_table<method = lut_sym_quantizer, threshold = [1.0], table = [-8, 0, 8], bits = 2, is_signed = true, table_bits = 8>)
         trainable(#tpc.perturbed_rounding<>) learned(%k : tensor<3x8xf32>) : tensor<3x8xf32>
  return
}
