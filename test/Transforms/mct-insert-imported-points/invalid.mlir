// RUN: mct-opt %s --split-input-file --verify-diagnostics --mct-insert-imported-points

// expected-error@below {{'tpc.imported' must be a dictionary at a ranked tensor of f32, but stands at one of type 'tensor<2xf32>'}}
func.func @no_dictionary(%arg0: tensor<2xf32>, %arg1: tensor<2xf32> {tpc.imported = "p"}) -> tensor<2xf32> {
  return %arg1 : tensor<2xf32>
}

// -----

// expected-error@below {{'tpc.imported' needs 'scale', an f64 array, 'zero_point', an i64 array, 'bits' and 'is_signed', or 'parameters'}}
func.func @no_parameters(%arg0: tensor<2xf32>, %arg1: tensor<2xf32> {tpc.imported = {point = "p"}}) -> tensor<2xf32> {
  return %arg1 : tensor<2xf32>
}

// -----

// expected-error@below {{'tpc.imported' has codes of 33 bits, not 1 to 32}}
func.func @bits(%arg0: tensor<2xf32>, %arg1: tensor<2xf32> {tpc.imported = {codes = dense<0> : tensor<2xi8>, scale = array<f64: 0.5>, zero_point = array<i64: 0>, bits = 33 : i64, is_signed = true}}) -> tensor<2xf32> {
  return %arg1 : tensor<2xf32>
}

// -----

// expected-error@below {{'tpc.imported' has the scale 0.000000e+00, which is not positive and finite}}
func.func @scale(%arg0: tensor<2xf32>, %arg1: tensor<2xf32> {tpc.imported = {codes = dense<0> : tensor<2xi8>, scale = array<f64: 0.0>, zero_point = array<i64: 0>, bits = 8 : i64, is_signed = true}}) -> tensor<2xf32> {
  return %arg1 : tensor<2xf32>
}

// -----

// expected-error@below {{'tpc.imported' has the zero point 128 outside of [-128, 127]}}
func.func @zero_point(%arg0: tensor<2xf32>, %arg1: tensor<2xf32> {tpc.imported = {codes = dense<0> : tensor<2xi8>, scale = array<f64: 0.5>, zero_point = array<i64: 128>, bits = 8 : i64, is_signed = true}}) -> tensor<2xf32> {
  return %arg1 : tensor<2xf32>
}

// -----

// expected-error@below {{'tpc.imported' has 2 zero points for 1 scales}}
func.func @zero_points(%arg0: tensor<2xf32>, %arg1: tensor<2xf32> {tpc.imported = {codes = dense<0> : tensor<2xi8>, scale = array<f64: 0.5>, zero_point = array<i64: 1, 2>, bits = 8 : i64, is_signed = true}}) -> tensor<2xf32> {
  return %arg1 : tensor<2xf32>
}

// -----

// expected-error@below {{'tpc.imported' has codes of type 'tensor<2xi4>', not of signless integers that hold 8 bits}}
func.func @code_type(%arg0: tensor<2xf32>, %arg1: tensor<2xf32> {tpc.imported = {codes = dense<0> : tensor<2xi4>, scale = array<f64: 0.5>, zero_point = array<i64: 0>, bits = 8 : i64, is_signed = true}}) -> tensor<2xf32> {
  return %arg1 : tensor<2xf32>
}

// -----

// expected-error@below {{'tpc.imported' has the code 9 at element 1, outside of [-8, 7]}}
func.func @code(%arg0: tensor<2xf32>, %arg1: tensor<2xf32> {tpc.imported = {codes = dense<[0, 9]> : tensor<2xi8>, scale = array<f64: 0.5>, zero_point = array<i64: 0>, bits = 4 : i64, is_signed = true}}) -> tensor<2xf32> {
  return %arg1 : tensor<2xf32>
}

// -----

// expected-error@below {{'tpc.imported' has the axes array<i64: 1>, which are not ascending axes of 'tensor<2xf32>'}}
func.func @axes(%arg0: tensor<2xf32>, %arg1: tensor<2xf32> {tpc.imported = {codes = dense<0> : tensor<2xi8>, axes = array<i64: 1>, scale = array<f64: 0.5>, zero_point = array<i64: 0>, bits = 8 : i64, is_signed = true}}) -> tensor<2xf32> {
  return %arg1 : tensor<2xf32>
}

// -----

// expected-error@below {{'tpc.imported' of a constant needs a static shape, and 'codes' or 'values'}}
func.func @nothing(%arg0: tensor<2xf32>, %arg1: tensor<2xf32> {tpc.imported = {scale = array<f64: 0.5>, zero_point = array<i64: 0>, bits = 8 : i64, is_signed = true}}) -> tensor<2xf32> {
  return %arg1 : tensor<2xf32>
}

// -----

// expected-error@below {{'tpc.imported' has elements of type 'tensor<3xi8>' for an argument of type 'tensor<2xf32>'}}
func.func @shape(%arg0: tensor<2xf32>, %arg1: tensor<2xf32> {tpc.imported = {codes = dense<0> : tensor<3xi8>, scale = array<f64: 0.5>, zero_point = array<i64: 0>, bits = 8 : i64, is_signed = true}}) -> tensor<2xf32> {
  return %arg1 : tensor<2xf32>
}

// -----

// expected-error@below {{'tpc.imported' has 3 parameters for 2 channels}}
func.func @channels(%arg0: tensor<2xf32>, %arg1: tensor<2xf32> {tpc.imported = {codes = dense<0> : tensor<2xi8>, scale = array<f64: 0.5, 0.5, 0.5>, zero_point = array<i64: 0>, bits = 8 : i64, is_signed = true, axes = array<i64: 0>}}) -> tensor<2xf32> {
  return %arg1 : tensor<2xf32>
}

// -----

// expected-error@below {{'tpc.imported' has codes, whose 'scale' and 'zero_point' are missing}}
func.func @codes_without_scale(%arg0: tensor<2xf32>, %arg1: tensor<2xf32> {tpc.imported = {codes = dense<0> : tensor<2xi8>}}) -> tensor<2xf32> {
  return %arg1 : tensor<2xf32>
}

// -----

// expected-error@below {{'tpc.imported' has values of type 'tensor<2xi8>', not of f32}}
func.func @value_type(%arg0: tensor<2xf32>, %arg1: tensor<2xf32> {tpc.imported = {values = dense<0> : tensor<2xi8>}}) -> tensor<2xf32> {
  return %arg1 : tensor<2xf32>
}

// -----

// expected-error@below {{'tpc.imported' has 'parameters' that are not a quantizer: 3 : i64}}
func.func @not_a_quantizer(%arg0: tensor<2xf32>, %arg1: tensor<2xf32> {tpc.imported = {values = dense<0.0> : tensor<2xf32>, parameters = 3 : i64}}) -> tensor<2xf32> {
  return %arg1 : tensor<2xf32>
}

// -----

// expected-error@below {{'tpc.imported' has the rounding "down", not "half_even" or "half_up"}}
func.func @rounding(%arg0: tensor<2xf32>, %arg1: tensor<2xf32> {tpc.imported = {values = dense<0.0> : tensor<2xf32>, rounding = "down", scale = array<f64: 0.5>, zero_point = array<i64: 0>, bits = 8 : i64, is_signed = true}}) -> tensor<2xf32> {
  return %arg1 : tensor<2xf32>
}

// -----

// expected-error@below {{'tpc.imported' of a point needs one quantizer of at most 23 bits for the tensor}}
func.func @wide_point(%arg0: tensor<2xf32>, %arg1: tensor<2xf32> {tpc.imported = {point = "p", scale = array<f64: 0.5>, zero_point = array<i64: 0>, bits = 24 : i64, is_signed = true}}) -> tensor<2xf32> {
  return %arg1 : tensor<2xf32>
}

// -----

// expected-error@below {{'tpc.imported' names the point "p", which no result is}}
func.func @no_result(%arg0: tensor<2xf32>, %arg1: tensor<2xf32> {tpc.imported = {point = "p", scale = array<f64: 0.5>, zero_point = array<i64: 0>, bits = 8 : i64, is_signed = true}}) -> tensor<2xf32> {
  return %arg1 : tensor<2xf32>
}

// -----

// expected-error@below {{is read as 'tensor<2xf32>', but what the point quantizes is 'tensor<3xf32>'}}
func.func @type(%arg0: tensor<3xf32>, %arg1: tensor<2xf32> {tpc.imported = {point = "p", scale = array<f64: 0.5>, zero_point = array<i64: 0>, bits = 8 : i64, is_signed = true}}) -> (tensor<2xf32>, tensor<3xf32> {tpc.imported = "p"}) {
  return %arg1, %arg0 : tensor<2xf32>, tensor<3xf32>
}

// -----

// expected-error@below {{'func.func' op has the record 3 : i64 at result 0, not the key of a point of its own}}
func.func @key(%arg0: tensor<2xf32>, %arg1: tensor<2xf32> {tpc.imported = {point = "p", scale = array<f64: 0.5>, zero_point = array<i64: 0>, bits = 8 : i64, is_signed = true}}) -> (tensor<2xf32> {tpc.imported = 3 : i64}) {
  return %arg0 : tensor<2xf32>
}

// -----

// expected-error@below {{'func.func' op has 1 results that are points, and 0 arguments}}
func.func @no_argument(%arg0: tensor<2xf32>) -> (tensor<2xf32> {tpc.imported = "p"}) {
  return %arg0 : tensor<2xf32>
}

// -----

// expected-error@below {{'func.func' op has points that depend on themselves}}
func.func @circle(%arg0: tensor<2xf32>, %arg1: tensor<2xf32> {tpc.imported = {point = "p", scale = array<f64: 0.5>, zero_point = array<i64: 0>, bits = 8 : i64, is_signed = true}}) -> (tensor<2xf32>, tensor<2xf32> {tpc.imported = "p"}) {
  %0 = tosa.exp %arg1 : (tensor<2xf32>) -> tensor<2xf32>
  return %0, %0 : tensor<2xf32>, tensor<2xf32>
}

// -----

// expected-error@below {{'func.func' op has several blocks, in which points cannot be put back}}
func.func @blocks(%arg0: tensor<2xf32>, %arg1: tensor<2xf32> {tpc.imported = {point = "p", scale = array<f64: 0.5>, zero_point = array<i64: 0>, bits = 8 : i64, is_signed = true}}) -> (tensor<2xf32>, tensor<2xf32> {tpc.imported = "p"}) {
  cf.br ^bb1
^bb1:
  return %arg1, %arg0 : tensor<2xf32>, tensor<2xf32>
}

// -----

// The nearest float is 2^24.
// expected-warning@below {{1 of 2 codes need more than the 24 bits of f32; the nearest numbers are taken}}
func.func @inexact(%arg0: tensor<2xf32>, %arg1: tensor<2xf32> {tpc.imported = {codes = dense<[16777217, 4]> : tensor<2xi32>, scale = array<f64: 0.5>, zero_point = array<i64: 0>, bits = 32 : i64, is_signed = true}}) -> tensor<2xf32> {
  return %arg1 : tensor<2xf32>
}

// -----

// What a code stands for is no float.
// expected-error-re@below {{'tpc.imported' has the code of {{.*}} at element 0, which is not a level of its quantizer}}
func.func @no_level(%arg0: tensor<2xf32>, %arg1: tensor<2xf32> {tpc.imported = {codes = dense<[2, 0]> : tensor<2xi8>, scale = array<f64: 3.0e+38>, zero_point = array<i64: 0>, bits = 8 : i64, is_signed = true}}) -> tensor<2xf32> {
  return %arg1 : tensor<2xf32>
}

// -----

// A table that has channels takes thresholds only.
// expected-error@below {{'tpc.imported' has 2 parameters for 1 channels}}
func.func @table(%arg0: tensor<2xf32>, %arg1: tensor<2xf32> {tpc.imported = {values = dense<[2.0, 0.0]> : tensor<2xf32>, parameters = #tpc.lookup_table<method = lut_sym_quantizer, threshold = [1.5, 0.25], table = [-90, 0], bits = 2>}}) -> tensor<2xf32> {
  return %arg1 : tensor<2xf32>
}
