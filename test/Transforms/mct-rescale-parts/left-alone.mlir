// RUN: mct-opt %s --mct-rescale-parts=remarks=true --split-input-file --verify-diagnostics | FileCheck %s

#far = #tpc.statistics<count = 8, zeros = 0, min = -1.0, max = 64.0,
  channel_mean = dense<0.0> : tensor<2xf64>, channel_mean_square = dense<1.0> : tensor<2xf64>,
  channel_min = dense<[-1.0, 0.0]> : tensor<2xf32>, channel_max = dense<[1.0, 64.0]> : tensor<2xf32>>
// What leaves the network has no constant that could take the inverse.
// CHECK-LABEL: func.func @result
// CHECK:         as "joined" activation statistics
func.func @result(%x: tensor<1x1xf32>) -> tensor<1x2xf32> {
  %gain = "tosa.const"() <{values = dense<64.0> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %0 = tosa.mul %x, %gain, %shift : (tensor<1x1xf32>, tensor<1x1xf32>, tensor<1xi8>) -> tensor<1x1xf32>
  %1 = tosa.concat %x, %0 {axis = 1 : i32} : (tensor<1x1xf32>, tensor<1x1xf32>) -> tensor<1x2xf32>
  // expected-remark @+1 {{'joined' is not rescaled: no factor of its parts can be taken back behind it}}
  %joined = tpc.quantize %1 as "joined" activation statistics(#far) : tensor<1x2xf32>
  // expected-note @+1 {{this op}}
  return %joined : tensor<1x2xf32>
}

// -----

#far = #tpc.statistics<count = 8, zeros = 0, min = -1.0, max = 64.0,
  channel_mean = dense<0.0> : tensor<2xf64>, channel_mean_square = dense<1.0> : tensor<2xf64>,
  channel_min = dense<[-1.0, 0.0]> : tensor<2xf32>, channel_max = dense<[1.0, 64.0]> : tensor<2xf32>>
// Neither a sigmoid nor an argument takes a factor.
// CHECK-LABEL: func.func @sigmoid
// CHECK:         as "joined" activation statistics
func.func @sigmoid(%x: tensor<1x1x1xf32>) -> tensor<1x1x2xf32> {
  %gain = "tosa.const"() <{values = dense<64.0> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  // expected-note @+1 {{this op}}
  %0 = tosa.sigmoid %x : (tensor<1x1x1xf32>) -> tensor<1x1x1xf32>
  %1 = tosa.concat %0, %x {axis = 2 : i32} : (tensor<1x1x1xf32>, tensor<1x1x1xf32>) -> tensor<1x1x2xf32>
  // expected-remark @+1 {{'joined' is not rescaled: its parts cannot take a factor}}
  %joined = tpc.quantize %1 as "joined" activation statistics(#far) : tensor<1x1x2xf32>
  %2 = tosa.mul %joined, %gain, %shift : (tensor<1x1x2xf32>, tensor<1x1x1xf32>, tensor<1xi8>) -> tensor<1x1x2xf32>
  return %2 : tensor<1x1x2xf32>
}

// -----

#far = #tpc.statistics<count = 8, zeros = 0, min = -1.0, max = 64.0,
  channel_mean = dense<0.0> : tensor<2xf64>, channel_mean_square = dense<1.0> : tensor<2xf64>,
  channel_min = dense<[-1.0, 0.0]> : tensor<2xf32>, channel_max = dense<[1.0, 64.0]> : tensor<2xf32>>
// The bound of a ReLU would need the factor, too.
// CHECK-LABEL: func.func @bounded
// CHECK:         as "joined" activation statistics
func.func @bounded(%x: tensor<1x1x1xf32>) -> tensor<1x1x2xf32> {
  %gain = "tosa.const"() <{values = dense<64.0> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %0 = tosa.mul %x, %gain, %shift : (tensor<1x1x1xf32>, tensor<1x1x1xf32>, tensor<1xi8>) -> tensor<1x1x1xf32>
  // expected-note @+1 {{this op}}
  %1 = tosa.clamp %0 {min_val = 0.0 : f32, max_val = 64.0 : f32} : (tensor<1x1x1xf32>) -> tensor<1x1x1xf32>
  %2 = tosa.concat %x, %1 {axis = 2 : i32} : (tensor<1x1x1xf32>, tensor<1x1x1xf32>) -> tensor<1x1x2xf32>
  // expected-remark @+1 {{'joined' is not rescaled: its parts cannot take a factor}}
  %joined = tpc.quantize %2 as "joined" activation statistics(#far) : tensor<1x1x2xf32>
  %3 = tosa.mul %joined, %gain, %shift : (tensor<1x1x2xf32>, tensor<1x1x1xf32>, tensor<1xi8>) -> tensor<1x1x2xf32>
  return %3 : tensor<1x1x2xf32>
}

// -----

// Without ranges of channels nobody knows what is far apart.
// CHECK-LABEL: func.func @no_ranges
func.func @no_ranges(%x: tensor<1x1x1xf32>) -> tensor<1x1x2xf32> {
  %gain = "tosa.const"() <{values = dense<64.0> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %0 = tosa.mul %x, %gain, %shift : (tensor<1x1x1xf32>, tensor<1x1x1xf32>, tensor<1xi8>) -> tensor<1x1x1xf32>
  %1 = tosa.concat %x, %0 {axis = 2 : i32} : (tensor<1x1x1xf32>, tensor<1x1x1xf32>) -> tensor<1x1x2xf32>
  // expected-remark @+1 {{'joined' is not rescaled: the ranges of its channels are not known; calibrate with channel-statistics=true}}
  %joined = tpc.quantize %1 as "joined" activation : tensor<1x1x2xf32>
  %2 = tosa.mul %joined, %gain, %shift : (tensor<1x1x2xf32>, tensor<1x1x1xf32>, tensor<1xi8>) -> tensor<1x1x2xf32>
  return %2 : tensor<1x1x2xf32>
}

// -----

#far = #tpc.statistics<count = 8, zeros = 0, min = -1.0, max = 64.0,
  channel_mean = dense<0.0> : tensor<2xf64>, channel_mean_square = dense<1.0> : tensor<2xf64>,
  channel_min = dense<[-1.0, 0.0]> : tensor<2xf32>, channel_max = dense<[1.0, 64.0]> : tensor<2xf32>>
// 64 times the largest float is none.
// CHECK-LABEL: func.func @rounded
func.func @rounded(%x: tensor<1x1x1xf32>) -> tensor<1x1x2xf32> {
  %gain = "tosa.const"() <{values = dense<64.0> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
  %huge = "tosa.const"() <{values = dense<3.0e+38> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %0 = tosa.mul %x, %gain, %shift : (tensor<1x1x1xf32>, tensor<1x1x1xf32>, tensor<1xi8>) -> tensor<1x1x1xf32>
  %1 = tosa.concat %x, %0 {axis = 2 : i32} : (tensor<1x1x1xf32>, tensor<1x1x1xf32>) -> tensor<1x1x2xf32>
  // expected-remark @+1 {{'joined' is not rescaled: a constant behind it would be rounded by its factor}}
  %joined = tpc.quantize %1 as "joined" activation statistics(#far) : tensor<1x1x2xf32>
  %2 = tosa.mul %joined, %huge, %shift : (tensor<1x1x2xf32>, tensor<1x1x1xf32>, tensor<1xi8>) -> tensor<1x1x2xf32>
  return %2 : tensor<1x1x2xf32>
}

// -----

#near = #tpc.statistics<count = 8, zeros = 0, min = -8.0, max = 1.0,
  channel_mean = dense<0.0> : tensor<2xf64>, channel_mean_square = dense<1.0> : tensor<2xf64>,
  channel_min = dense<[-1.0, -8.0]> : tensor<2xf32>, channel_max = dense<[1.0, 1.0]> : tensor<2xf32>>
#far = #tpc.statistics<count = 8, zeros = 0, min = -1.0, max = 64.0,
  channel_mean = dense<0.0> : tensor<2xf64>, channel_mean_square = dense<1.0> : tensor<2xf64>,
  channel_min = dense<[-1.0, 0.0]> : tensor<2xf32>, channel_max = dense<[1.0, 64.0]> : tensor<2xf32>>
// Exactly 8 times is not more than 8 times; parts that slices separate get grids of their own elsewhere.
// CHECK-LABEL: func.func @similar_or_separated
// CHECK:         as "near" activation statistics
// CHECK:         as "far" activation statistics
func.func @similar_or_separated(%x: tensor<1x1x1xf32>) -> (tensor<1x1x2xf32>, tensor<1x1x1xf32>, tensor<1x1x1xf32>) {
  %gain = "tosa.const"() <{values = dense<64.0> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %0 = tosa.mul %x, %gain, %shift : (tensor<1x1x1xf32>, tensor<1x1x1xf32>, tensor<1xi8>) -> tensor<1x1x1xf32>
  %1 = tosa.concat %x, %0 {axis = 2 : i32} : (tensor<1x1x1xf32>, tensor<1x1x1xf32>) -> tensor<1x1x2xf32>
  %near = tpc.quantize %1 as "near" activation statistics(#near) : tensor<1x1x2xf32>
  %2 = tosa.mul %near, %gain, %shift : (tensor<1x1x2xf32>, tensor<1x1x1xf32>, tensor<1xi8>) -> tensor<1x1x2xf32>
  %other = tosa.mul %x, %gain, %shift : (tensor<1x1x1xf32>, tensor<1x1x1xf32>, tensor<1xi8>) -> tensor<1x1x1xf32>
  %3 = tosa.concat %x, %other {axis = 2 : i32} : (tensor<1x1x1xf32>, tensor<1x1x1xf32>) -> tensor<1x1x2xf32>
  %far = tpc.quantize %3 as "far" activation statistics(#far) : tensor<1x1x2xf32>
  %size = tosa.const_shape {values = dense<1> : tensor<3xindex>} : () -> !tosa.shape<3>
  %begin = tosa.const_shape {values = dense<0> : tensor<3xindex>} : () -> !tosa.shape<3>
  %second = tosa.const_shape {values = dense<[0, 0, 1]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %4 = tosa.slice %far, %begin, %size : (tensor<1x1x2xf32>, !tosa.shape<3>, !tosa.shape<3>) -> tensor<1x1x1xf32>
  %5 = tosa.slice %far, %second, %size : (tensor<1x1x2xf32>, !tosa.shape<3>, !tosa.shape<3>) -> tensor<1x1x1xf32>
  %6 = tosa.mul %4, %gain, %shift : (tensor<1x1x1xf32>, tensor<1x1x1xf32>, tensor<1xi8>) -> tensor<1x1x1xf32>
  %7 = tosa.mul %5, %gain, %shift : (tensor<1x1x1xf32>, tensor<1x1x1xf32>, tensor<1xi8>) -> tensor<1x1x1xf32>
  return %2, %6, %7 : tensor<1x1x2xf32>, tensor<1x1x1xf32>, tensor<1x1x1xf32>
}

// -----

#far = #tpc.statistics<count = 8, zeros = 0, min = -1.0, max = 64.0,
  channel_mean = dense<0.0> : tensor<3xf64>, channel_mean_square = dense<1.0> : tensor<3xf64>,
  channel_min = dense<[-1.0, 0.0, 0.0]> : tensor<3xf32>, channel_max = dense<[1.0, 4.0, 64.0]> : tensor<3xf32>>
// Only the part in the middle could take a factor.
// CHECK-LABEL: func.func @extremes_stay
func.func @extremes_stay(%x: tensor<1x1x1xf32>, %y: tensor<1x1x1xf32>) -> tensor<1x1x3xf32> {
  %gain = "tosa.const"() <{values = dense<4.0> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %0 = tosa.mul %x, %gain, %shift : (tensor<1x1x1xf32>, tensor<1x1x1xf32>, tensor<1xi8>) -> tensor<1x1x1xf32>
  %1 = tosa.concat %x, %0, %y {axis = 2 : i32} : (tensor<1x1x1xf32>, tensor<1x1x1xf32>, tensor<1x1x1xf32>) -> tensor<1x1x3xf32>
  // expected-remark @+1 {{'joined' is not rescaled: its parts go up to 1 and 64, and no factors bring them closer}}
  %joined = tpc.quantize %1 as "joined" activation statistics(#far) : tensor<1x1x3xf32>
  %2 = tosa.mul %joined, %gain, %shift : (tensor<1x1x3xf32>, tensor<1x1x1xf32>, tensor<1xi8>) -> tensor<1x1x3xf32>
  return %2 : tensor<1x1x3xf32>
}
