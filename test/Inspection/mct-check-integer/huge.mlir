// Constants that are larger than any machine, as splats: they are not expanded.
// RUN: mct-opt %s --mct-check-integer --split-input-file --verify-diagnostics

func.func @accumulator(%arg0: tensor<1x1x1x65536xi8>) -> tensor<1x1x1x65536xi32> {
  %kernel = "tosa.const"() <{values = dense<-127> : tensor<65536x1x1x65536xi8>}> : () -> tensor<65536x1x1x65536xi8>
  %bias = "tosa.const"() <{values = dense<2147483393> : tensor<65536xi32>}> : () -> tensor<65536xi32>
  %zp = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %0 = tosa.conv2d %arg0, %kernel, %bias, %zp, %zp {acc_type = i32, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>, dilation = array<i64: 1, 1>} : (tensor<1x1x1x65536xi8>, tensor<65536x1x1x65536xi8>, tensor<65536xi32>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x1x1x65536xi32>
  return %0 : tensor<1x1x1x65536xi32>
}

// -----

func.func @multipliers(%arg0: tensor<1x65536xi8>) -> tensor<1x65536xi8> {
  %multiplier = "tosa.const"() <{values = dense<1073741824> : tensor<65536xi32>}> : () -> tensor<65536xi32>
  %shift = "tosa.const"() <{values = dense<63> : tensor<65536xi8>}> : () -> tensor<65536xi8>
  %zp = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  // expected-error @below {{'tosa.rescale' op has the shift 63 (number 0), outside of 2 to 62}}
  // expected-note @below {{halve the multiplier for each bit less, or write 0}}
  %0 = tosa.rescale %arg0, %multiplier, %shift, %zp, %zp {scale32 = true, rounding_mode = SINGLE_ROUND, per_channel = true, input_unsigned = false, output_unsigned = false} : (tensor<1x65536xi8>, tensor<65536xi32>, tensor<65536xi8>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x65536xi8>
  return %0 : tensor<1x65536xi8>
}

// -----

// Sizes that nothing computes with are refused before anything is.
// expected-error @below {{has the type 'tensor<1x9223372036854775807xi8>', which has more elements than fit into memory}}
// expected-note @below {{write the sizes that the network has}}
func.func @sizes(%arg0: tensor<1x9223372036854775807xi8>) -> tensor<1x9223372036854775807xi8> {
  return %arg0 : tensor<1x9223372036854775807xi8>
}
