// Sizes that attributes and constant shapes spell, where upstream's verifiers take -1 for a number that is not known, or
// compute in 64 bits. The tools look at all of them before they do anything.
// RUN: mct-opt %s --mct-verify-shapes --split-input-file --verify-diagnostics

func.func @repeated_minus_once(%x: tensor<2x3xf32>) -> tensor<4x3xf32> {
  // expected-note @below {{write how often, which is at least 1; no number stands for one that is not known}}
  %twice = tosa.const_shape {values = dense<-1> : tensor<2xindex>} : () -> !tosa.shape<2>
  // expected-error @below {{'tosa.tile' op repeats dimension 0 of 'tensor<2x3xf32>' -1 times}}
  %0 = tosa.tile %x, %twice : (tensor<2x3xf32>, !tosa.shape<2>) -> tensor<4x3xf32>
  return %0 : tensor<4x3xf32>
}

// -----

func.func @repeated_unknown_often(%x: tensor<?x3xf32>) -> tensor<?x3xf32> {
  // expected-note @below {{write how often}}
  %often = tosa.const_shape {values = dense<[-1, 1]> : tensor<2xindex>} : () -> !tosa.shape<2>
  // expected-error @below {{'tosa.tile' op repeats dimension 0 of 'tensor<?x3xf32>' -1 times}}
  %0 = tosa.tile %x, %often : (tensor<?x3xf32>, !tosa.shape<2>) -> tensor<?x3xf32>
  return %0 : tensor<?x3xf32>
}

// -----

// In 64 bits this is -2.
func.func @repeated_too_often(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %often = tosa.const_shape {values = dense<[9223372036854775807, 1]> : tensor<2xindex>} : () -> !tosa.shape<2>
  // expected-error @below {{'tosa.tile' op expected size 9223372036854775807 in dimension 0 of its result}}
  %0 = tosa.tile %x, %often : (tensor<2x3xf32>, !tosa.shape<2>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// -----

func.func @padded_by_less_than_nothing(%x: tensor<1x3x5xf32>, %zero: tensor<1xf32>) -> tensor<1x2x5xf32> {
  %pad = tosa.const_shape {values = dense<[0, 0, -1, 0, 0, 0]> : tensor<6xindex>} : () -> !tosa.shape<6>
  // expected-error @below {{'tosa.pad' op pads dimension 1 of 'tensor<1x3x5xf32>' by -1 before and 0 behind}}
  // expected-note @below {{write how much is added, which is at least 0; a slice cuts rows off}}
  %0 = tosa.pad %x, %pad, %zero : (tensor<1x3x5xf32>, !tosa.shape<6>, tensor<1xf32>) -> tensor<1x2x5xf32>
  return %0 : tensor<1x2x5xf32>
}

// -----

func.func @padded_tensor(%x: tensor<3x5xf32>, %zero: f32, %n: index) -> tensor<2x5xf32> {
  // expected-error @below {{'tensor.pad' op pads dimension 0 of 'tensor<3x5xf32>' by -1 before and an unknown number behind}}
  // expected-note @below {{a slice cuts rows off}}
  %0 = tensor.pad %x low[-1, 0] high[%n, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<3x5xf32> to tensor<2x5xf32>
  return %0 : tensor<2x5xf32>
}

// -----

func.func @padded_by_a_constant(%x: tensor<3x5xf32>, %zero: f32) -> tensor<4x5xf32> {
  %n = arith.constant 100 : index
  // expected-error @below {{'tensor.pad' op expected size 103 in dimension 0 of its result, 'tensor<4x5xf32>', as its other shapes have it}}
  %0 = tensor.pad %x low[%n, 0] high[0, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<3x5xf32> to tensor<4x5xf32>
  return %0 : tensor<4x5xf32>
}

// -----

func.func @part_of_a_row_of_unknown_many(%x: tensor<?x3xf32>) -> tensor<2x4xf32> {
  // expected-note @below {{write sizes whose product is the number of its elements; it is a multiple of 8 now}}
  %shape = tosa.const_shape {values = dense<[2, 4]> : tensor<2xindex>} : () -> !tosa.shape<2>
  // expected-error @below {{'tosa.reshape' op cannot make 'tensor<2x4xf32>' of 'tensor<?x3xf32>', which has a multiple of 3 elements}}
  %0 = tosa.reshape %x, %shape : (tensor<?x3xf32>, !tosa.shape<2>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// -----

func.func @no_number_of_rows(%x: tensor<2x3xf32>) -> tensor<?x4xf32> {
  // expected-note @below {{it is a multiple of 4 now}}
  %shape = tosa.const_shape {values = dense<[-1, 4]> : tensor<2xindex>} : () -> !tosa.shape<2>
  // expected-error @below {{'tosa.reshape' op cannot make 'tensor<?x4xf32>' of 'tensor<2x3xf32>', which has 6 elements}}
  %0 = tosa.reshape %x, %shape : (tensor<2x3xf32>, !tosa.shape<2>) -> tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}

// -----

func.func @from_before_the_first(%x: tensor<4xf32>) -> tensor<2xf32> {
  %start = tosa.const_shape {values = dense<-1> : tensor<1xindex>} : () -> !tosa.shape<1>
  %size = tosa.const_shape {values = dense<2> : tensor<1xindex>} : () -> !tosa.shape<1>
  // expected-error @below {{'tosa.slice' op reads 2 from -1 on in dimension 0 of 'tensor<4xf32>'}}
  // expected-note @below {{starts are at least 0, and what is read ends within the tensor; a size of -1 reads up to its end}}
  %0 = tosa.slice %x, %start, %size : (tensor<4xf32>, !tosa.shape<1>, !tosa.shape<1>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

// In 64 bits both pads together are -2: 6 rows less 2, and a window of 3, make 2.
func.func @pads_that_overflow(%x: tensor<1x6x4x1xf32>, %k: tensor<2x3x3x1xf32>, %b: tensor<2xf32>, %z: tensor<1xf32>) -> tensor<1x2x2x2xf32> {
  // expected-error @below {{'tosa.conv2d' op expected size 9223372036854775807 in dimension 1 of its result}}
  %0 = tosa.conv2d %x, %k, %b, %z, %z {acc_type = f32, pad = array<i64: 9223372036854775807, 9223372036854775807, 0, 0>, stride = array<i64: 1, 1>, dilation = array<i64: 1, 1>} : (tensor<1x6x4x1xf32>, tensor<2x3x3x1xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x2x2xf32>
  return %0 : tensor<1x2x2x2xf32>
}

// -----

// 4 * (2^62 + 1) is 4 in 64 bits.
func.func @scale_that_overflows(%x: tensor<1x5x4x1xf32>) -> tensor<1x5x7x1xf32> {
  %scale = tosa.const_shape {values = dense<[4611686018427387905, 1, 2, 1]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %none = tosa.const_shape {values = dense<0> : tensor<2xindex>} : () -> !tosa.shape<2>
  // expected-error @below {{'tosa.resize' op expected size 9223372036854775807 in dimension 1 of its result}}
  %0 = tosa.resize %x, %scale, %none, %none {mode = NEAREST_NEIGHBOR} : (tensor<1x5x4x1xf32>, !tosa.shape<4>, !tosa.shape<2>, !tosa.shape<2>) -> tensor<1x5x7x1xf32>
  return %0 : tensor<1x5x7x1xf32>
}

// -----

// 2 * (2^63 - 1) + 3 is 1 in 64 bits.
func.func @stride_that_overflows(%x: tensor<1x3x4x1xf32>, %k: tensor<2x3x3x1xf32>, %b: tensor<2xf32>, %z: tensor<1xf32>) -> tensor<1x1x6x2xf32> {
  // expected-error @below {{'tosa.transpose_conv2d' op expected size 9223372036854775807 in dimension 1 of its result}}
  %0 = tosa.transpose_conv2d %x, %k, %b, %z, %z {acc_type = f32, out_pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 9223372036854775807, 1>} : (tensor<1x3x4x1xf32>, tensor<2x3x3x1xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x6x2xf32>
  return %0 : tensor<1x1x6x2xf32>
}

// -----

// expected-error @below {{'func.func' op has the type 'tensor<1x1x1x9223372036854775807xi8>', which has more elements than fit into memory}}
// expected-note @below {{write the sizes that the network has, or let tosa-infer-shapes find those that are not known}}
func.func @one_size(%x: tensor<1x1x1x9223372036854775807xi8>) -> tensor<1x1x1x9223372036854775807xi8> {
  return %x : tensor<1x1x1x9223372036854775807xi8>
}

// -----

func.func @product_of_sizes(%x: tensor<1x1xf32>) -> tensor<1x1xf32> {
  %often = tosa.const_shape {values = dense<4294967296> : tensor<2xindex>} : () -> !tosa.shape<2>
  // expected-error @below {{'tosa.tile' op has the type 'tensor<4294967296x4294967296xf32>', which has more elements than fit into memory}}
  // expected-note @below {{write the sizes that the network has}}
  %0 = tosa.tile %x, %often : (tensor<1x1xf32>, !tosa.shape<2>) -> tensor<4294967296x4294967296xf32>
  return %x : tensor<1x1xf32>
}

// -----

func.func @constant() -> tensor<i8> {
  // expected-error @below {{'tosa.const' op has the type 'tensor<9223372036854775807x1x1x9223372036854775807xi8>', which has more elements than fit into memory}}
  // expected-note @below {{write the sizes that the network has}}
  %kernel = "tosa.const"() <{values = dense<-127> : tensor<9223372036854775807x1x1x9223372036854775807xi8>}> : () -> tensor<9223372036854775807x1x1x9223372036854775807xi8>
  %0 = "tosa.const"() <{values = dense<0> : tensor<i8>}> : () -> tensor<i8>
  return %0 : tensor<i8>
}
