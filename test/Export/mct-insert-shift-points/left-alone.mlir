// RUN: mct-opt %s --mct-insert-shift-points --split-input-file | FileCheck %s

// 8 values from -0.375 to 7.625: 8 is the next power of two. Halves go as they do after the addition.
// CHECK-LABEL: func.func @the_shift_counts
// CHECK:         threshold = [8.000000e+00], bits = 16, rounding = half_up>
func.func @the_shift_counts(%arg0: tensor<1x4xf32>) -> tensor<1x4xf32> {
  %shift = "tosa.const"() <{values = dense<0.375> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %0 = tosa.tanh %arg0 : (tensor<1x4xf32>) -> tensor<1x4xf32>
  %1 = tosa.add %shift, %0 : (tensor<1x1xf32>, tensor<1x4xf32>) -> tensor<1x4xf32>
  %2 = tpc.quantize %1 as "a" activation
         parameters(#tpc.power_of_two<threshold = [8.0], bits = 8, is_signed = false, rounding = half_up>) : tensor<1x4xf32>
  return %2 : tensor<1x4xf32>
}

// -----

// CHECK-LABEL: func.func @quantized_already
// CHECK-COUNT-2: tpc.quantize
// CHECK-NOT:     tpc.quantize
func.func @quantized_already(%arg0: tensor<1x4xf32>) -> tensor<1x2x2xf32> {
  %shift = "tosa.const"() <{values = dense<1.0> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
  %shape = tosa.const_shape {values = dense<[1, 2, 2]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %0 = tpc.quantize %arg0 as "in" activation parameters(#tpc.power_of_two<threshold = [4.0], bits = 8>) : tensor<1x4xf32>
  %1 = tosa.reshape %0, %shape : (tensor<1x4xf32>, !tosa.shape<3>) -> tensor<1x2x2xf32>
  %2 = tosa.add %1, %shift : (tensor<1x2x2xf32>, tensor<1x1x1xf32>) -> tensor<1x2x2xf32>
  %3 = tpc.quantize %2 as "a" activation parameters(#tpc.power_of_two<threshold = [8.0], bits = 8>) : tensor<1x2x2xf32>
  return %3 : tensor<1x2x2xf32>
}

// -----

// CHECK-LABEL: func.func @bias_of_a_layer
// CHECK-COUNT-1: tpc.quantize
// CHECK-NOT:     tpc.quantize
func.func @bias_of_a_layer(%arg0: tensor<1x1x2xf32>) -> tensor<1x1x2xf32> {
  %kernel = "tosa.const"() <{values = dense<1.0> : tensor<1x2x2xf32>}> : () -> tensor<1x2x2xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %bias = "tosa.const"() <{values = dense<1.0> : tensor<1x1x2xf32>}> : () -> tensor<1x1x2xf32>
  %0 = tosa.matmul %arg0, %kernel, %zero, %zero : (tensor<1x1x2xf32>, tensor<1x2x2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x2xf32>
  %1 = tosa.add %0, %bias : (tensor<1x1x2xf32>, tensor<1x1x2xf32>) -> tensor<1x1x2xf32>
  %2 = tpc.quantize %1 as "a" activation parameters(#tpc.power_of_two<threshold = [8.0], bits = 8>) : tensor<1x1x2xf32>
  return %2 : tensor<1x1x2xf32>
}

// -----

// Several numbers are no shift, and levels of a table do not say what is clipped.
// CHECK-LABEL: func.func @no_number_and_no_grid
// CHECK-COUNT-2: tpc.quantize
// CHECK-NOT:     tpc.quantize
func.func @no_number_and_no_grid(%arg0: tensor<1x2xf32>) -> (tensor<1x2xf32>, tensor<1x2xf32>) {
  %several = "tosa.const"() <{values = dense<[[1.0, 2.0]]> : tensor<1x2xf32>}> : () -> tensor<1x2xf32>
  %one = "tosa.const"() <{values = dense<1.0> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %0 = tosa.tanh %arg0 : (tensor<1x2xf32>) -> tensor<1x2xf32>
  %1 = tosa.add %0, %several : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x2xf32>
  %2 = tpc.quantize %1 as "a" activation parameters(#tpc.power_of_two<threshold = [8.0], bits = 8>) : tensor<1x2xf32>
  %3 = tosa.add %0, %one : (tensor<1x2xf32>, tensor<1x1xf32>) -> tensor<1x2xf32>
  %4 = tpc.quantize %3 as "b" activation
         parameters(#tpc.lookup_table<method = lut_pot_quantizer, threshold = [2.0], table = [-90, 0, 64], bits = 2>) : tensor<1x2xf32>
  return %2, %4 : tensor<1x2xf32>, tensor<1x2xf32>
}
