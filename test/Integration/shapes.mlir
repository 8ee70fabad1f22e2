// Shapes that contradict each other, which upstream's verifiers let through: code that trusts them reads and writes
// memory that is not its own.
// RUN: mct-opt %s --split-input-file --verify-diagnostics

func.func @kernel_for_more_channels(%x: tensor<1x4x4x2xf32>, %k: tensor<2x1x1x3xf32>, %b: tensor<2xf32>, %z: tensor<1xf32>) -> tensor<1x4x4x2xf32> {
  // expected-error @+1 {{'tosa.conv2d' op expected size 2 in dimension 3 of its weight, 'tensor<2x1x1x3xf32>', as its other shapes have it}}
  %0 = tosa.conv2d %x, %k, %b, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<2x1x1x3xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x2xf32>
  return %0 : tensor<1x4x4x2xf32>
}

// -----

func.func @batch_of_a_volume(%x: tensor<1x4x4x4x2xf32>, %k: tensor<2x1x1x1x2xf32>, %b: tensor<2xf32>, %z: tensor<1xf32>) -> tensor<3x4x4x4x2xf32> {
  // expected-error @+1 {{'tosa.conv3d' op expected size 1 in dimension 0 of its result}}
  %0 = tosa.conv3d %x, %k, %b, %z, %z {acc_type = f32, dilation = array<i64: 1, 1, 1>, pad = array<i64: 0, 0, 0, 0, 0, 0>, stride = array<i64: 1, 1, 1>} : (tensor<1x4x4x4x2xf32>, tensor<2x1x1x1x2xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<3x4x4x4x2xf32>
  return %0 : tensor<3x4x4x4x2xf32>
}

// -----

// One channel and two of each make two, but the input has two already.
func.func @depthwise(%x: tensor<1x4x4x2xf32>, %k: tensor<1x1x1x2xf32>, %b: tensor<1xf32>, %z: tensor<1xf32>) -> tensor<1x4x4x1xf32> {
  // expected-error @+1 {{'tosa.depthwise_conv2d' op expected size 2 in dimension 2 of its weight}}
  %0 = tosa.depthwise_conv2d %x, %k, %b, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<1x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x1xf32>
  return %0 : tensor<1x4x4x1xf32>
}

// -----

func.func @depthwise_result(%x: tensor<1x4x4x2xf32>, %k: tensor<1x1x2x2xf32>, %b: tensor<1xf32>, %z: tensor<1xf32>) -> tensor<1x4x4x3xf32> {
  // expected-error @+1 {{'tosa.depthwise_conv2d' op expected size 4 in dimension 3 of its result}}
  %0 = tosa.depthwise_conv2d %x, %k, %b, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<1x1x2x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x3xf32>
  return %0 : tensor<1x4x4x3xf32>
}

// -----

func.func @transposed(%x: tensor<1x4x4x2xf32>, %k: tensor<2x1x1x3xf32>, %b: tensor<2xf32>, %z: tensor<1xf32>) -> tensor<1x4x4x2xf32> {
  // expected-error @+1 {{'tosa.transpose_conv2d' op expected size 2 in dimension 3 of its weight}}
  %0 = tosa.transpose_conv2d %x, %k, %b, %z, %z {acc_type = f32, out_pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<2x1x1x3xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x2xf32>
  return %0 : tensor<1x4x4x2xf32>
}

// -----

func.func @factors(%a: tensor<1x3x4xf32>, %b: tensor<1x5x6xf32>, %z: tensor<1xf32>) -> tensor<1x3x6xf32> {
  // expected-error @+1 {{'tosa.matmul' op expected size 4 in dimension 1 of its factor b}}
  %0 = tosa.matmul %a, %b, %z, %z : (tensor<1x3x4xf32>, tensor<1x5x6xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x3x6xf32>
  return %0 : tensor<1x3x6xf32>
}

// -----

func.func @pooled_channels(%x: tensor<1x4x4x2xf32>) -> tensor<1x2x2x5xf32> {
  // expected-error @+1 {{'tosa.max_pool2d' op expected size 2 in dimension 3 of its result}}
  %0 = tosa.max_pool2d %x {kernel = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>} : (tensor<1x4x4x2xf32>) -> tensor<1x2x2x5xf32>
  return %0 : tensor<1x2x2x5xf32>
}

// -----

func.func @slice_behind_the_end(%x: tensor<4xf32>) -> tensor<3xf32> {
  %start = tosa.const_shape {values = dense<2> : tensor<1xindex>} : () -> !tosa.shape<1>
  %size = tosa.const_shape {values = dense<3> : tensor<1xindex>} : () -> !tosa.shape<1>
  // expected-error @+2 {{'tosa.slice' op reads 3 from 2 on in dimension 0 of 'tensor<4xf32>'}}
  // expected-note @+1 {{what is read ends within the tensor}}
  %0 = tosa.slice %x, %start, %size : (tensor<4xf32>, !tosa.shape<1>, !tosa.shape<1>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// -----

func.func @slice_of_another_size(%x: tensor<4xf32>) -> tensor<3xf32> {
  %start = tosa.const_shape {values = dense<0> : tensor<1xindex>} : () -> !tosa.shape<1>
  %size = tosa.const_shape {values = dense<2> : tensor<1xindex>} : () -> !tosa.shape<1>
  // expected-error @+1 {{'tosa.slice' op expected size 2 in dimension 0 of its result}}
  %0 = tosa.slice %x, %start, %size : (tensor<4xf32>, !tosa.shape<1>, !tosa.shape<1>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// -----

func.func @tiles(%x: tensor<4xf32>) -> tensor<9xf32> {
  %twice = tosa.const_shape {values = dense<2> : tensor<1xindex>} : () -> !tosa.shape<1>
  // expected-error @+1 {{'tosa.tile' op expected size 8 in dimension 0 of its result}}
  %0 = tosa.tile %x, %twice : (tensor<4xf32>, !tosa.shape<1>) -> tensor<9xf32>
  return %0 : tensor<9xf32>
}

// -----

func.func @product(%x: tensor<1x4xf32>, %y: tensor<1x1xf32>, %shift: tensor<1xi8>) -> tensor<1x9xf32> {
  // expected-error @+1 {{'tosa.mul' op expected size 4 in dimension 1 of its result}}
  %0 = tosa.mul %y, %x, %shift : (tensor<1x1xf32>, tensor<1x4xf32>, tensor<1xi8>) -> tensor<1x9xf32>
  return %0 : tensor<1x9xf32>
}

// -----

func.func @identity(%x: tensor<1x4xf32>) -> tensor<1x9xf32> {
  // expected-error @+1 {{'tosa.identity' op expected size 4 in dimension 1 of its result}}
  %0 = tosa.identity %x : (tensor<1x4xf32>) -> tensor<1x9xf32>
  return %0 : tensor<1x9xf32>
}

// -----

func.func @rescaled(%x: tensor<4xi8>, %factor: tensor<1xi32>, %shift: tensor<1xi8>, %zero: tensor<1xi8>) -> tensor<9xi8> {
  // expected-error @+1 {{'tosa.rescale' op expected size 4 in dimension 0 of its result}}
  %0 = tosa.rescale %x, %factor, %shift, %zero, %zero {scale32 = true, rounding_mode = SINGLE_ROUND, per_channel = false, input_unsigned = false, output_unsigned = false} : (tensor<4xi8>, tensor<1xi32>, tensor<1xi8>, tensor<1xi8>, tensor<1xi8>) -> tensor<9xi8>
  return %0 : tensor<9xi8>
}

// -----

// An i8 has 256 values.
func.func @short_table(%x: tensor<4xi8>, %table: tensor<3xi8>) -> tensor<4xi8> {
  // expected-error @+1 {{'tosa.table' op expected size 256 in dimension 0 of its table}}
  %0 = tosa.table %x, %table : (tensor<4xi8>, tensor<3xi8>) -> tensor<4xi8>
  return %0 : tensor<4xi8>
}

// -----

// The first index is 0 and the last is 192 mod 7 = 3; a remainder may be 6.
func.func @remainder(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{'linalg.generic' op may read dimension 0 of its operand 0, of type 'tensor<4xf32>', outside of its size}}
  %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> ((d0 * 64) mod 7)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%x : tensor<4xf32>) outs(%y : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @no_such_dimension(%x: tensor<1x4xf32>) -> index {
  %nine = arith.constant 9 : index
  // expected-error @+1 {{'tensor.dim' op asks for dimension 9 of 'tensor<1x4xf32>'}}
  %0 = tensor.dim %x, %nine : tensor<1x4xf32>
  return %0 : index
}

// -----

// What nothing is known about agrees with all, and a window of a convolution lies inside.
func.func @agreement(%x: tensor<?x4x4x2xf32>, %k: tensor<2x1x1x2xf32>, %b: tensor<2xf32>, %z: tensor<1xf32>, %image: tensor<8xf32>, %filter: tensor<3xf32>, %out: tensor<3xf32>) -> (tensor<?x4x4x2xf32>, tensor<3xf32>) {
  %0 = tosa.conv2d %x, %k, %b, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<?x4x4x2xf32>, tensor<2x1x1x2xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<?x4x4x2xf32>
  %1 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0 * 2 + d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%image, %filter : tensor<8xf32>, tensor<3xf32>) outs(%out : tensor<3xf32>) {
  ^bb0(%a: f32, %b1: f32, %c: f32):
    %p = arith.mulf %a, %b1 : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  } -> tensor<3xf32>
  return %0, %1 : tensor<?x4x4x2xf32>, tensor<3xf32>
}

// -----

func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xi16> {
  // expected-error @below {{'tosa.identity' op makes elements of type 'i16' of those of type 'f32', which it only moves; use tosa.cast}}
  %0 = tosa.identity %x : (tensor<2x3xf32>) -> tensor<2x3xi16>
  return %0 : tensor<2x3xi16>
}

// -----

func.func @maps_of_another_stride(%x: tensor<1x4x4x2xf32>, %k: tensor<3x3x2x8xf32>, %y: tensor<1x2x2x8xf32>) -> tensor<1x2x2x8xf32> {
  // expected-error @below {{'linalg.conv_2d_nhwc_hwcf' op keeps other indexing maps than follow from it}}
  // expected-note @below {{remove its attribute 'linalg.memoized_indexing_maps'}}
  %0 = linalg.conv_2d_nhwc_hwcf {linalg.memoized_indexing_maps = [affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1 + d4, d2 + d5, d6)>, affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d4, d5, d6, d3)>, affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1, d2, d3)>], dilations = dense<1> : tensor<2xi64>, strides = dense<4294967297> : tensor<2xi64>} ins(%x, %k : tensor<1x4x4x2xf32>, tensor<3x3x2x8xf32>) outs(%y : tensor<1x2x2x8xf32>) -> tensor<1x2x2x8xf32>
  return %0 : tensor<1x2x2x8xf32>
}

// -----

// The same maps are no error.
func.func @maps_of_its_stride(%x: tensor<1x4x4x2xf32>, %k: tensor<3x3x2x8xf32>, %y: tensor<1x2x2x8xf32>) -> tensor<1x2x2x8xf32> {
  %0 = linalg.conv_2d_nhwc_hwcf {linalg.memoized_indexing_maps = [affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1 + d4, d2 + d5, d6)>, affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d4, d5, d6, d3)>, affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1, d2, d3)>], dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%x, %k : tensor<1x4x4x2xf32>, tensor<3x3x2x8xf32>) outs(%y : tensor<1x2x2x8xf32>) -> tensor<1x2x2x8xf32>
  return %0 : tensor<1x2x2x8xf32>
}
