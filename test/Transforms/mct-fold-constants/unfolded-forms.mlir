// RUN: mct-opt %s --mct-fold-constants | FileCheck %s
//
// What importers leave to be computed.

// torch-mlir: reciprocal(pow(variance + epsilon, 0.5)) = 1 / sqrt(3.75 + 0.25).
// CHECK-LABEL: func.func @scale_of_torch
// CHECK-NEXT:    "tosa.const"() <{values = dense<5.000000e-01> : tensor<1x1x1x1xf32>
// CHECK-NEXT:    return
func.func @scale_of_torch() -> tensor<1x1x1x1xf32> {
  %variance = "tosa.const"() <{values = dense<3.75> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %epsilon = "tosa.const"() <{values = dense<0.25> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %half = "tosa.const"() <{values = dense<0.5> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %0 = tosa.add %variance, %epsilon : (tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x1x1xf32>
  %1 = tosa.pow %0, %half : (tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x1x1xf32>
  %2 = tosa.reciprocal %1 : (tensor<1x1x1x1xf32>) -> tensor<1x1x1x1xf32>
  return %2 : tensor<1x1x1x1xf32>
}

// Weights that are stored as integers: (w - 1) * 0.5.
// CHECK-LABEL: func.func @dequantized_weights
// CHECK-NEXT:    "tosa.const"() <{values = dense<[-6.450000e+01, -1.000000e+00, 6.300000e+01]> : tensor<3xf32>
// CHECK-NEXT:    return
func.func @dequantized_weights() -> tensor<3xf32> {
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %weights = "tosa.const"() <{values = dense<[-128, -1, 127]> : tensor<3xi8>}> : () -> tensor<3xi8>
  %zero = "tosa.const"() <{values = dense<1.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %scale = "tosa.const"() <{values = dense<0.5> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.cast %weights : (tensor<3xi8>) -> tensor<3xf32>
  %1 = tosa.sub %0, %zero : (tensor<3xf32>, tensor<1xf32>) -> tensor<3xf32>
  %2 = tosa.mul %1, %scale, %shift : (tensor<3xf32>, tensor<1xf32>, tensor<1xi8>) -> tensor<3xf32>
  return %2 : tensor<3xf32>
}

// A resource of integers, 16 bits each, little endian: 1, -2.
// CHECK-LABEL: func.func @integers_of_a_resource
// CHECK-NEXT:    "tosa.const"() <{values = dense<[1.000000e+00, -2.000000e+00]> : tensor<2xf32>
// CHECK-NEXT:    return
func.func @integers_of_a_resource() -> tensor<2xf32> {
  %weights = "tosa.const"() <{values = dense_resource<weights> : tensor<2xi16>}> : () -> tensor<2xi16>
  %0 = tosa.cast %weights : (tensor<2xi16>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// [[1, 2, 3], [4, 5, 6]] by columns, then as one row.
// CHECK-LABEL: func.func @layout
// CHECK-NEXT:    "tosa.const"() <{values = dense<{{\[\[}}1.000000e+00, 4.000000e+00, 2.000000e+00, 5.000000e+00, 3.000000e+00, 6.000000e+00]]> : tensor<1x6xf32>
// CHECK-NOT:     tosa.reshape
func.func @layout() -> tensor<1x6xf32> {
  %weights = "tosa.const"() <{values = dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>}> : () -> tensor<2x3xf32>
  %0 = tosa.transpose %weights {perms = array<i32: 1, 0>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %shape = tosa.const_shape {values = dense<[1, 6]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %1 = tosa.reshape %0, %shape : (tensor<3x2xf32>, !tosa.shape<2>) -> tensor<1x6xf32>
  return %1 : tensor<1x6xf32>
}

// Of three axes: result[i, j, k] = input[j, k, i].
// CHECK-LABEL: func.func @rotation
// CHECK-NEXT:    dense<{{\[\[\[}}1.000000e+00, 3.000000e+00], [5.000000e+00, 7.000000e+00]], {{\[\[}}2.000000e+00, 4.000000e+00], [6.000000e+00, 8.000000e+00]]]> : tensor<2x2x2xf32>
func.func @rotation() -> tensor<2x2x2xf32> {
  %weights = "tosa.const"() <{values = dense<[[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]]]> : tensor<2x2x2xf32>}> : () -> tensor<2x2x2xf32>
  %0 = tosa.transpose %weights {perms = array<i32: 2, 0, 1>} : (tensor<2x2x2xf32>) -> tensor<2x2x2xf32>
  return %0 : tensor<2x2x2xf32>
}

// min(max(x, -1), 3); a NaN goes through both.
// CHECK-LABEL: func.func @bounds
// CHECK-NEXT:    "tosa.const"() <{values = dense<[-1.000000e+00, 0x7FC00000, 3.000000e+00]> : tensor<3xf32>
// CHECK-NEXT:    return
func.func @bounds() -> tensor<3xf32> {
  %x = "tosa.const"() <{values = dense<[-2.0, 0x7FC00000, 4.0]> : tensor<3xf32>}> : () -> tensor<3xf32>
  %low = "tosa.const"() <{values = dense<-1.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %high = "tosa.const"() <{values = dense<3.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.maximum %low, %x : (tensor<1xf32>, tensor<3xf32>) -> tensor<3xf32>
  %1 = tosa.minimum %0, %high : (tensor<3xf32>, tensor<1xf32>) -> tensor<3xf32>
  return %1 : tensor<3xf32>
}

// log(exp(|-0|)) = 0, negated.
// CHECK-LABEL: func.func @unary
// CHECK-NEXT:    "tosa.const"() <{values = dense<-0.000000e+00> : tensor<1xf32>
// CHECK-NEXT:    return
func.func @unary() -> tensor<1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %x = "tosa.const"() <{values = dense<-0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.abs %x : (tensor<1xf32>) -> tensor<1xf32>
  %1 = tosa.exp %0 : (tensor<1xf32>) -> tensor<1xf32>
  %2 = tosa.log %1 : (tensor<1xf32>) -> tensor<1xf32>
  %3 = tosa.negate %2, %zero, %zero : (tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
  return %3 : tensor<1xf32>
}

// Another mode lets the number win over a NaN: left alone.
// CHECK-LABEL: func.func @ignored_nan_stays
// CHECK:         tosa.maximum
func.func @ignored_nan_stays() -> tensor<1xf32> {
  %x = "tosa.const"() <{values = dense<0x7FC00000> : tensor<1xf32>}> : () -> tensor<1xf32>
  %low = "tosa.const"() <{values = dense<-1.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.maximum %low, %x {nan_mode = IGNORE} : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}

// The first state of a recurrent layer times its kernel, and the bias.
// CHECK-LABEL: func.func @first_state
// CHECK-NEXT:    "tosa.const"() <{values = dense<{{\[\[\[}}2.500000e-01, 4.000000e+00]]]> : tensor<1x1x2xf32>
// CHECK-NEXT:    return
func.func @first_state() -> tensor<1x1x2xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %state = "tosa.const"() <{values = dense<0.0> : tensor<1x1x2xf32>}> : () -> tensor<1x1x2xf32>
  %kernel = "tosa.const"() <{values = dense<[[[1.0, -2.0], [3.0, 4.0]]]> : tensor<1x2x2xf32>}> : () -> tensor<1x2x2xf32>
  %bias = "tosa.const"() <{values = dense<[[[0.25, 4.0]]]> : tensor<1x1x2xf32>}> : () -> tensor<1x1x2xf32>
  %0 = tosa.matmul %state, %kernel, %zero, %zero : (tensor<1x1x2xf32>, tensor<1x2x2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x2xf32>
  %1 = tosa.add %0, %bias : (tensor<1x1x2xf32>, tensor<1x1x2xf32>) -> tensor<1x1x2xf32>
  return %1 : tensor<1x1x2xf32>
}

// Zeros make no number of an infinity, and a state that is given is none.
// CHECK-LABEL: func.func @products_stay
// CHECK:         tosa.matmul
// CHECK:         tosa.matmul
func.func @products_stay(%given: tensor<1x2x2xf32>) -> (tensor<1x1x2xf32>, tensor<1x1x2xf32>) {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %state = "tosa.const"() <{values = dense<0.0> : tensor<1x1x2xf32>}> : () -> tensor<1x1x2xf32>
  %kernel = "tosa.const"() <{values = dense<[[[1.0, 0x7F800000], [3.0, 4.0]]]> : tensor<1x2x2xf32>}> : () -> tensor<1x2x2xf32>
  %0 = tosa.matmul %state, %kernel, %zero, %zero : (tensor<1x1x2xf32>, tensor<1x2x2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x2xf32>
  %1 = tosa.matmul %state, %given, %zero, %zero : (tensor<1x1x2xf32>, tensor<1x2x2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x2xf32>
  return %0, %1 : tensor<1x1x2xf32>, tensor<1x1x2xf32>
}

{-#
  dialect_resources: {
    builtin: {
      weights: "0x020000000100FEFF"
    }
  }
#-}
