// RUN: mct-opt %s --mct-check-integer --split-input-file --verify-diagnostics

//===----------------------------------------------------------------------===//
// Modules and shapes
//===----------------------------------------------------------------------===//

func.func @main(%arg0: tensor<4xi8>) -> tensor<4xi8> {
  return %arg0 : tensor<4xi8>
}
// expected-error @below {{is one more function; a network of TOSA is exactly one}}
// expected-note @below {{inline it, or write it to another file}}
func.func @second(%arg0: tensor<4xi8>) -> tensor<4xi8> {
  return %arg0 : tensor<4xi8>
}

// -----

func.func @other_dialect(%arg0: tensor<4xi8>) -> tensor<4xi8> {
  // expected-error @below {{'arith.addi' op is not an op of TOSA, and tools for TOSA do not read it}}
  // expected-note @below {{lower it, or remove it from the file}}
  %0 = arith.addi %arg0, %arg0 : tensor<4xi8>
  return %0 : tensor<4xi8>
}

// -----

// expected-error @below {{has argument 1 of dynamic shape, 'tensor<?x4xi8>'}}
// expected-note @below {{set the batch, by mct-set-batch=size=1 for example}}
func.func @dynamic_batch(%arg0: tensor<1x4xi8>, %arg1: tensor<?x4xi8>) -> tensor<?x4xi8> {
  // What follows from it is not told again.
  %0 = tosa.clamp %arg1 {min_val = 0 : i8, max_val = 6 : i8} : (tensor<?x4xi8>) -> tensor<?x4xi8>
  return %0 : tensor<?x4xi8>
}

// -----

func.func @dynamic_result(%arg0: tensor<2x4xi8>) -> tensor<?x2xi8> {
  // expected-note @below {{write the size that it stands for: its result is 'tensor<?x2xi8>'}}
  %shape = tosa.const_shape {values = dense<[-1, 2]> : tensor<2xindex>} : () -> !tosa.shape<2>
  // expected-error @below {{makes a tensor of dynamic shape, 'tensor<?x2xi8>', of operands with static ones}}
  // expected-note @below {{infer its size, by tosa-infer-shapes}}
  // expected-error @below {{has -1 as number 0 of a shape operand}}
  %0 = tosa.reshape %arg0, %shape : (tensor<2x4xi8>, !tosa.shape<2>) -> tensor<?x2xi8>
  return %0 : tensor<?x2xi8>
}

// -----

func.func @negative_size_of_slice(%arg0: tensor<2x4xi8>) -> tensor<2x3xi8> {
  %start = tosa.const_shape {values = dense<[0, 1]> : tensor<2xindex>} : () -> !tosa.shape<2>
  // expected-note @below {{write the size that it stands for: its result is 'tensor<2x3xi8>'}}
  %size = tosa.const_shape {values = dense<[2, -1]> : tensor<2xindex>} : () -> !tosa.shape<2>
  // expected-error @below {{has -1 as number 1 of a shape operand}}
  %0 = tosa.slice %arg0, %start, %size : (tensor<2x4xi8>, !tosa.shape<2>, !tosa.shape<2>) -> tensor<2x3xi8>
  return %0 : tensor<2x3xi8>
}

// -----

func.func @pad_of_four_axes(%arg0: tensor<1x4x4x3xi8>) -> tensor<1x6x6x3xi8> {
  %shape = tosa.const_shape {values = dense<[0, 0, 1, 1, 1, 1, 0, 0]> : tensor<8xindex>} : () -> !tosa.shape<8>
  %value = "tosa.const"() <{values = dense<-5> : tensor<1xi8>}> : () -> tensor<1xi8>
  // expected-error @below {{pads a tensor of 4 axes, which tosa-validate of LLVM 22 refuses at level 8k}}
  // expected-note @below {{let the convolution or pool behind it pad, or write several pads of tensors with 3 axes}}
  %0 = tosa.pad %arg0, %shape, %value : (tensor<1x4x4x3xi8>, !tosa.shape<8>, tensor<1xi8>) -> tensor<1x6x6x3xi8>
  return %0 : tensor<1x6x6x3xi8>
}

// -----

func.func @negative_offset(%arg0: tensor<1x4x5x3xi8>) -> tensor<1x8x10x3xi32> {
  %scale = tosa.const_shape {values = dense<[4, 2, 4, 2]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %offset = tosa.const_shape {values = dense<[0, -1]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %border = tosa.const_shape {values = dense<[2, 1]> : tensor<2xindex>} : () -> !tosa.shape<2>
  // expected-error @below {{interpolates integers from the negative offset -1 on along x, which executors compute differently}}
  // expected-note @below {{repeat the first column of its operand (slice and concat) and add the numerator of its scale to the offset}}
  %0 = tosa.resize %arg0, %scale, %offset, %border {mode = BILINEAR} : (tensor<1x4x5x3xi8>, !tosa.shape<4>, !tosa.shape<2>, !tosa.shape<2>) -> tensor<1x8x10x3xi32>
  return %0 : tensor<1x8x10x3xi32>
}

// -----

//===----------------------------------------------------------------------===//
// Constants and rescales
//===----------------------------------------------------------------------===//

func.func @minus_eight_in_four_bits(%arg0: tensor<1x2x2x1xi8>) -> tensor<1x2x2x2xi32> {
  // expected-error @below {{holds -8 (element 1) in 'tensor<2x1x1x1xi4>', which stops executors}}
  // expected-note @below {{quantize to -7 .. 7, or keep the tensor in i8}}
  %kernel = "tosa.const"() <{values = dense<[[[[-7]]], [[[-8]]]]> : tensor<2x1x1x1xi4>}> : () -> tensor<2x1x1x1xi4>
  %bias = "tosa.const"() <{values = dense<0> : tensor<2xi32>}> : () -> tensor<2xi32>
  %input_zp = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %weight_zp = "tosa.const"() <{values = dense<0> : tensor<1xi4>}> : () -> tensor<1xi4>
  %0 = tosa.conv2d %arg0, %kernel, %bias, %input_zp, %weight_zp {acc_type = i32, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>, dilation = array<i64: 1, 1>} : (tensor<1x2x2x1xi8>, tensor<2x1x1x1xi4>, tensor<2xi32>, tensor<1xi8>, tensor<1xi4>) -> tensor<1x2x2x2xi32>
  return %0 : tensor<1x2x2x2xi32>
}

// -----

func.func @shift_too_small(%arg0: tensor<4xi8>) -> tensor<4xi8> {
  %multiplier = "tosa.const"() <{values = dense<1> : tensor<1xi32>}> : () -> tensor<1xi32>
  %shift = "tosa.const"() <{values = dense<1> : tensor<1xi8>}> : () -> tensor<1xi8>
  %zp = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  // expected-error @below {{has the shift 1 (number 0), outside of 2 to 62}}
  // expected-note @below {{double the multiplier for each bit more}}
  %0 = tosa.rescale %arg0, %multiplier, %shift, %zp, %zp {scale32 = true, rounding_mode = SINGLE_ROUND, per_channel = false, input_unsigned = false, output_unsigned = false} : (tensor<4xi8>, tensor<1xi32>, tensor<1xi8>, tensor<1xi8>, tensor<1xi8>) -> tensor<4xi8>
  return %0 : tensor<4xi8>
}

// -----

func.func @shift_too_large(%arg0: tensor<4x2xi8>) -> tensor<4x2xi8> {
  %multiplier = "tosa.const"() <{values = dense<1073741824> : tensor<2xi32>}> : () -> tensor<2xi32>
  %shift = "tosa.const"() <{values = dense<[31, 63]> : tensor<2xi8>}> : () -> tensor<2xi8>
  %zp = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  // expected-error @below {{has the shift 63 (number 1), outside of 2 to 62}}
  // expected-note @below {{halve the multiplier for each bit less, or write 0}}
  %0 = tosa.rescale %arg0, %multiplier, %shift, %zp, %zp {scale32 = true, rounding_mode = SINGLE_ROUND, per_channel = true, input_unsigned = false, output_unsigned = false} : (tensor<4x2xi8>, tensor<2xi32>, tensor<2xi8>, tensor<1xi8>, tensor<1xi8>) -> tensor<4x2xi8>
  return %0 : tensor<4x2xi8>
}

// -----

func.func @negative_multiplier(%arg0: tensor<4xi8>) -> tensor<4xi8> {
  %multiplier = "tosa.const"() <{values = dense<-1073741824> : tensor<1xi32>}> : () -> tensor<1xi32>
  %shift = "tosa.const"() <{values = dense<30> : tensor<1xi8>}> : () -> tensor<1xi8>
  %zp = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  // expected-error @below {{has the negative multiplier -1073741824 (number 0)}}
  // expected-note @below {{negate its operand, or its weights and bias}}
  %0 = tosa.rescale %arg0, %multiplier, %shift, %zp, %zp {scale32 = true, rounding_mode = SINGLE_ROUND, per_channel = false, input_unsigned = false, output_unsigned = false} : (tensor<4xi8>, tensor<1xi32>, tensor<1xi8>, tensor<1xi8>, tensor<1xi8>) -> tensor<4xi8>
  return %0 : tensor<4xi8>
}

// -----

func.func @inexact(%arg0: tensor<4xi8>) -> tensor<4xi8> {
  %multiplier = "tosa.const"() <{values = dense<1073741824> : tensor<1xi32>}> : () -> tensor<1xi32>
  %shift = "tosa.const"() <{values = dense<30> : tensor<1xi8>}> : () -> tensor<1xi8>
  %zp = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  // expected-error @below {{rounds by INEXACT_ROUND, which compilers refuse or take for another mode}}
  // expected-note @below {{write SINGLE_ROUND}}
  %0 = tosa.rescale %arg0, %multiplier, %shift, %zp, %zp {scale32 = true, rounding_mode = INEXACT_ROUND, per_channel = false, input_unsigned = false, output_unsigned = false} : (tensor<4xi8>, tensor<1xi32>, tensor<1xi8>, tensor<1xi8>, tensor<1xi8>) -> tensor<4xi8>
  return %0 : tensor<4xi8>
}

// -----

// expected-note @below {{fold it into a tosa.const: scales that are computed need the extension 'dynamic'}}
func.func @computed_scale(%arg0: tensor<4xi8>, %multiplier: tensor<1xi32>) -> tensor<4xi8> {
  %shift = "tosa.const"() <{values = dense<30> : tensor<1xi8>}> : () -> tensor<1xi8>
  %zp = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  // expected-error @below {{reads a multiplier that is not constant}}
  %0 = tosa.rescale %arg0, %multiplier, %shift, %zp, %zp {scale32 = true, rounding_mode = SINGLE_ROUND, per_channel = false, input_unsigned = false, output_unsigned = false} : (tensor<4xi8>, tensor<1xi32>, tensor<1xi8>, tensor<1xi8>, tensor<1xi8>) -> tensor<4xi8>
  return %0 : tensor<4xi8>
}

// -----

//===----------------------------------------------------------------------===//
// Ranges
//===----------------------------------------------------------------------===//

// The zero point widens what the shift meets to -100 .. 155; with 2^7 it takes 127 at most.
func.func @values_beyond_the_shift(%arg0: tensor<4xi8>) -> tensor<4xi8> {
  %multiplier = "tosa.const"() <{values = dense<100> : tensor<1xi32>}> : () -> tensor<1xi32>
  %shift = "tosa.const"() <{values = dense<8> : tensor<1xi8>}> : () -> tensor<1xi8>
  %input_zp = "tosa.const"() <{values = dense<-28> : tensor<1xi8>}> : () -> tensor<1xi8>
  %output_zp = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  // expected-error @below {{may scale values from -100 to 155; its shift is defined for those from -128 to 127}}
  // expected-note @below {{raise shift and multiplier, which may have up to 31 bits, or limit its operand}}
  %0 = tosa.rescale %arg0, %multiplier, %shift, %input_zp, %output_zp {scale32 = true, rounding_mode = SINGLE_ROUND, per_channel = false, input_unsigned = false, output_unsigned = false} : (tensor<4xi8>, tensor<1xi32>, tensor<1xi8>, tensor<1xi8>, tensor<1xi8>) -> tensor<4xi8>
  return %0 : tensor<4xi8>
}

// -----

// Channel 1 alone: 2 * 127 * 128 + 2147483392 is beyond 2^31 - 1, channel 0 at its edge.
func.func @accumulator(%arg0: tensor<1x1x1x2xi8>) -> tensor<1x1x1x2xi32> {
  %kernel = "tosa.const"() <{values = dense<[[[[1, 1]]], [[[-128, -127]]]]> : tensor<2x1x1x2xi8>}> : () -> tensor<2x1x1x2xi8>
  %bias = "tosa.const"() <{values = dense<[2147483393, 2147483393]> : tensor<2xi32>}> : () -> tensor<2xi32>
  %zp = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  // expected-error @below {{may have sums from 2147451008 to 2147516033 (channel 1), which 'i32' does not hold}}
  // expected-note @below {{give its input or its weights fewer bits, or sum in several steps with a rescale behind each}}
  %0 = tosa.conv2d %arg0, %kernel, %bias, %zp, %zp {acc_type = i32, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>, dilation = array<i64: 1, 1>} : (tensor<1x1x1x2xi8>, tensor<2x1x1x2xi8>, tensor<2xi32>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x1x1x2xi32>
  return %0 : tensor<1x1x1x2xi32>
}

// -----

// Pools of 8-bit values never leave 32 bits; of 16-bit ones with 2^16 of them.
func.func @average(%arg0: tensor<1x1x65537x1xi16>) -> tensor<1x1x1x1xi16> {
  %zp = "tosa.const"() <{values = dense<0> : tensor<1xi16>}> : () -> tensor<1xi16>
  // expected-error @below {{may have sums from -2147516416 to 2147450879, which 'i32' does not hold}}
  // expected-note @below {{give its input or its weights fewer bits}}
  %0 = tosa.avg_pool2d %arg0, %zp, %zp {acc_type = i32, kernel = array<i64: 1, 65537>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x65537x1xi16>, tensor<1xi16>, tensor<1xi16>) -> tensor<1x1x1x1xi16>
  return %0 : tensor<1x1x1x1xi16>
}

// -----

func.func @scale_of_wide_sums(%arg0: tensor<4xi48>) -> tensor<4xi16> {
  %multiplier = "tosa.const"() <{values = dense<16384> : tensor<1xi16>}> : () -> tensor<1xi16>
  %shift = "tosa.const"() <{values = dense<20> : tensor<1xi8>}> : () -> tensor<1xi8>
  %input_zp = "tosa.const"() <{values = dense<0> : tensor<1xi48>}> : () -> tensor<1xi48>
  %output_zp = "tosa.const"() <{values = dense<0> : tensor<1xi16>}> : () -> tensor<1xi16>
  // expected-error @below {{may have results from -2199023255552 to 2199023255552, which 'i32' does not hold}}
  // expected-note @below {{let it read values of a coarser scale, or a smaller range}}
  %0 = tosa.rescale %arg0, %multiplier, %shift, %input_zp, %output_zp {scale32 = false, rounding_mode = SINGLE_ROUND, per_channel = false, input_unsigned = false, output_unsigned = false} : (tensor<4xi48>, tensor<1xi16>, tensor<1xi8>, tensor<1xi48>, tensor<1xi16>) -> tensor<4xi16>
  return %0 : tensor<4xi16>
}

// -----

func.func @divisor(%arg0: tensor<4xi32>, %arg1: tensor<4xi8>) -> tensor<4xi32> {
  %0 = tosa.cast %arg1 : (tensor<4xi8>) -> tensor<4xi32>
  // expected-error @below {{may divide by zero: its divisors are from -128 to 127}}
  // expected-note @below {{keep the divisor away from zero, by a maximum for example}}
  %1 = tosa.intdiv %arg0, %0 : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  return %1 : tensor<4xi32>
}

// -----

func.func @amount(%arg0: tensor<4xi32>, %arg1: tensor<4xi8>) -> tensor<4xi32> {
  %0 = tosa.cast %arg1 : (tensor<4xi8>) -> tensor<4xi32>
  // expected-error @below {{may shift by amounts from -128 to 127, outside of 0 to 31}}
  // expected-note @below {{clamp the amount}}
  %1 = tosa.arithmetic_right_shift %arg0, %0 {round = false} : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  return %1 : tensor<4xi32>
}

// -----

func.func @cast(%arg0: tensor<4xi8>) -> tensor<4xi8> {
  %0 = tosa.cast %arg0 : (tensor<4xi8>) -> tensor<4xi32>
  %1 = tosa.add %0, %0 : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  // expected-error @below {{may wrap: 'i8' does not hold values from -256 to 254}}
  // expected-note @below {{use tosa.rescale, which saturates: multiplier 2^30, shift 30}}
  %2 = tosa.cast %1 : (tensor<4xi32>) -> tensor<4xi8>
  return %2 : tensor<4xi8>
}
