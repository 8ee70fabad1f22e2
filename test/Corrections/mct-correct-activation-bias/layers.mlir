// Ops that only reorder values may stand between the point and the layer; a matrix product and a depthwise kernel count.
// RUN: mct-opt %s --mct-correct-activation-bias=remarks=true --split-input-file --verify-diagnostics | FileCheck %s

// Both inputs lost 0.5: times 1 + 2, and times 3 + 4.
// CHECK-LABEL: func.func @main
// CHECK:         as "matmul" {{.*}} bias_offset = [1.500000e+00, 3.500000e+00]
func.func @main(%arg0: tensor<1x1x1x2xf32>) -> tensor<1x1x2xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %x = tpc.quantize %arg0 as "in" activation statistics(#tpc.statistics<count = 4, zeros = 0, min = 0.5, max = 2.5, histogram = #tpc.histogram<step_exponent = 0, first = 0, counts = dense<[1, 1, 2]> : tensor<3xi64>>>) parameters(#tpc.power_of_two<threshold = [4.0], bits = 1, is_signed = false>) : tensor<1x1x1x2xf32>
  %shape = tosa.const_shape {values = dense<[1, 1, 2]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %row = tosa.reshape %x, %shape : (tensor<1x1x1x2xf32>, !tosa.shape<3>) -> tensor<1x1x2xf32>
  %kernel = "tosa.const"() <{values = dense<[[[1.0, 3.0], [2.0, 4.0]]]> : tensor<1x2x2xf32>}> : () -> tensor<1x2x2xf32>
  %w = tpc.quantize %kernel as "matmul" weight "kernel_attr" axes [2] parameters(#tpc.symmetric<threshold = [4.0, 4.0], bits = 8>) : tensor<1x2x2xf32>
  %0 = tosa.matmul %row, %w, %zero, %zero : (tensor<1x1x2xf32>, tensor<1x2x2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x2xf32>
  return %0 : tensor<1x1x2xf32>
}

// -----

// CHECK-LABEL: func.func @main
// CHECK:         as "depthwise" {{.*}} bias_offset = [1.000000e+00, 1.500000e+00]
func.func @main(%arg0: tensor<1x1x1x2xf32>) -> tensor<1x1x1x2xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %x = tpc.quantize %arg0 as "in" activation statistics(#tpc.statistics<count = 4, zeros = 0, min = 0.5, max = 2.5, histogram = #tpc.histogram<step_exponent = 0, first = 0, counts = dense<[1, 1, 2]> : tensor<3xi64>>>) parameters(#tpc.power_of_two<threshold = [4.0], bits = 1, is_signed = false>) : tensor<1x1x1x2xf32>
  %bias = "tosa.const"() <{values = dense<0.0> : tensor<2xf32>}> : () -> tensor<2xf32>
  %kernel = "tosa.const"() <{values = dense<[[[[2.0], [3.0]]]]> : tensor<1x1x2x1xf32>}> : () -> tensor<1x1x2x1xf32>
  %w = tpc.quantize %kernel as "depthwise" weight "kernel_attr" axes [2, 3] parameters(#tpc.symmetric<threshold = [4.0, 4.0], bits = 8>) : tensor<1x1x2x1xf32>
  %0 = tosa.depthwise_conv2d %x, %w, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x2xf32>, tensor<1x1x2x1xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x2xf32>
  return %0 : tensor<1x1x1x2xf32>
}

// -----

// A kernel of 3x3 sees borders; MCT leaves it alone too.
// CHECK-LABEL: func.func @main
// CHECK-NOT:     corrections
func.func @main(%arg0: tensor<1x3x3x1xf32>) -> tensor<1x1x1x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %x = tpc.quantize %arg0 as "in" activation statistics(#tpc.statistics<count = 4, zeros = 0, min = 0.5, max = 2.5, histogram = #tpc.histogram<step_exponent = 0, first = 0, counts = dense<[1, 1, 2]> : tensor<3xi64>>>) parameters(#tpc.power_of_two<threshold = [4.0], bits = 1, is_signed = false>) : tensor<1x3x3x1xf32>
  %kernel = "tosa.const"() <{values = dense<2.0> : tensor<1x3x3x1xf32>}> : () -> tensor<1x3x3x1xf32>
  %w = tpc.quantize %kernel as "conv" weight "kernel_attr" axes [0] parameters(#tpc.symmetric<threshold = [4.0], bits = 8>) : tensor<1x3x3x1xf32>
  // expected-remark@+1 {{is not corrected: its kernel has a window larger than 1x1}}
  %0 = tosa.conv2d %x, %w, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x3x3x1xf32>, tensor<1x3x3x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x1xf32>
  return %0 : tensor<1x1x1x1xf32>
}

// -----

// CHECK-LABEL: func.func @main
// CHECK-NOT:     activation_bias
func.func @main(%arg0: tensor<1x1x1x1xf32>) -> (tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>) {
  %kernel = "tosa.const"() <{values = dense<2.0> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %w = tpc.quantize %kernel as "a" weight "kernel_attr" parameters(#tpc.symmetric<threshold = [4.0], bits = 8>) : tensor<1x1x1x1xf32>
  // expected-remark@+1 {{is not corrected: its input has no point with statistics and parameters}}
  %0 = tosa.conv2d %arg0, %w, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x1xf32>
  %y = tpc.quantize %arg0 as "flat" activation statistics(#tpc.statistics<count = 4, zeros = 0, min = 0.5, max = 2.5>) parameters(#tpc.power_of_two<threshold = [4.0], bits = 1, is_signed = false>) : tensor<1x1x1x1xf32>
  %v = tpc.quantize %kernel as "b" weight "kernel_attr" parameters(#tpc.symmetric<threshold = [4.0], bits = 8>) : tensor<1x1x1x1xf32>
  // expected-remark@+1 {{is not corrected: the point of its input has no histogram}}
  %1 = tosa.conv2d %y, %v, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x1xf32>
  %x = tpc.quantize %arg0 as "in" activation statistics(#tpc.statistics<count = 4, zeros = 0, min = 0.5, max = 2.5, histogram = #tpc.histogram<step_exponent = 0, first = 0, counts = dense<[1, 1, 2]> : tensor<3xi64>>>) parameters(#tpc.power_of_two<threshold = [4.0], bits = 1, is_signed = false>) : tensor<1x1x1x1xf32>
  %u = tpc.quantize %kernel as "c" weight "kernel_attr" parameters(#tpc.symmetric<threshold = [4.0], bits = 8>) corrections(#tpc.corrections<applied = ["quantized_network"], bias_offset = [0.5], kernel_scale = [1.0]>) : tensor<1x1x1x1xf32>
  // expected-remark@+1 {{is not corrected: it has been corrected before}}
  %2 = tosa.conv2d %x, %u, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x1xf32>
  return %0, %1, %2 : tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>
}
