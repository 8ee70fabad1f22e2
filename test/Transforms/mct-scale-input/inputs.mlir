// RUN: mct-opt %s --mct-scale-input --mlir-print-debuginfo --mlir-print-local-scope --split-input-file | FileCheck %s
// RUN: mct-opt %s --mct-scale-input="remarks=true" --split-input-file --verify-diagnostics

// Both layers take the factor. Parameters of a kernel that changes are dropped; the histogram, which cannot be scaled
// exactly, is too. The product is called after the input.
// CHECK-LABEL: func.func @two_layers
// CHECK-DAG:     %[[K1:.*]] = "tosa.const"() <{values = dense<7.500000e-01> : tensor<1x1x1x1xf32>}>
// CHECK-DAG:     %[[K2:.*]] = "tosa.const"() <{values = dense<1.500000e+00> : tensor<1x1x1x1xf32>}>
// CHECK-DAG:     %[[W1:.*]] = tpc.quantize %[[K1]] as "conv" weight "kernel_attr" : tensor<1x1x1x1xf32>
// CHECK-DAG:     %[[X:.*]] = tosa.mul %arg0, %{{.*}} loc("image_scaled"
// CHECK-DAG:     %[[Q:.*]] = tpc.quantize %[[X]] as "arg0_scaled" activation statistics(#tpc.statistics<count = 4, zeros = 0, min = -4.000000e+00, max = 0.000000e+00, channel_mean = dense<-4.000000e+00> : tensor<1xf64>, channel_mean_square = dense<1.600000e+01> : tensor<1xf64>, channel_min = dense<-4.000000e+00> : tensor<1xf32>, channel_max = dense<0.000000e+00> : tensor<1xf32>>)
// CHECK-DAG:     tosa.conv2d %[[Q]], %[[W1]]
// CHECK-DAG:     tosa.conv2d %{{.*}}, %[[K2]]
func.func @two_layers(%arg0: tensor<1x2x2x1xf32> loc("image")) -> tensor<1x2x2x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %kernel = "tosa.const"() <{values = dense<1.0> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %bias = "tosa.const"() <{values = dense<5.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %kernel2 = "tosa.const"() <{values = dense<2.0> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %w = tpc.quantize %kernel as "conv" weight "kernel_attr" parameters(#tpc.symmetric<threshold = [1.0], bits = 8>) : tensor<1x1x1x1xf32>
  // expected-remark@+1 {{input 'arg0' is scaled by 1.333333e+00}}
  %0 = tpc.quantize %arg0 as "arg0" activation statistics(#tpc.statistics<count = 4, zeros = 0, min = -3.0, max = 0.0, histogram = #tpc.histogram<step_exponent = -11, first = -6144, counts = dense<4> : tensor<1xi64>>,
      channel_mean = dense<-3.0> : tensor<1xf64>, channel_mean_square = dense<9.0> : tensor<1xf64>, channel_min = dense<-3.0> : tensor<1xf32>, channel_max = dense<0.0> : tensor<1xf32>>)
    parameters(#tpc.power_of_two<threshold = [4.0], bits = 8>) : tensor<1x2x2x1xf32>
  %1 = tosa.conv2d %0, %w, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x2x2x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x2x1xf32>
  %padding = tosa.const_shape {values = dense<[0, 0, 0, 1, 0, 1, 0, 0]> : tensor<8xindex>} : () -> !tosa.shape<8>
  %2 = tosa.pad %0, %padding, %zero : (tensor<1x2x2x1xf32>, !tosa.shape<8>, tensor<1xf32>) -> tensor<1x3x3x1xf32>
  %3 = tosa.conv2d %2, %kernel2, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>} : (tensor<1x3x3x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x2x1xf32>
  %4 = tosa.add %1, %3 : (tensor<1x2x2x1xf32>, tensor<1x2x2x1xf32>) -> tensor<1x2x2x1xf32>
  return %4 : tensor<1x2x2x1xf32>
}

// -----

// CHECK-LABEL: func.func @threshold_that_fits
// CHECK-NOT:     tosa.mul
func.func @threshold_that_fits(%arg0: tensor<1x2x2x1xf32>) -> tensor<1x2x2x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %kernel = "tosa.const"() <{values = dense<1.0> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %bias = "tosa.const"() <{values = dense<5.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tpc.quantize %arg0 as "arg0" activation statistics(#tpc.statistics<count = 4, zeros = 0, min = -4.0, max = 2.0>)
    parameters(#tpc.power_of_two<threshold = [4.0], bits = 8>) : tensor<1x2x2x1xf32>
  %1 = tosa.conv2d %0, %kernel, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x2x2x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x2x1xf32>
  return %1 : tensor<1x2x2x1xf32>
}

// -----

// Each input has a factor of its own. MCT has one number for all.
// CHECK-LABEL: func.func @two_inputs
// CHECK-DAG:     tosa.mul %arg0
// CHECK-DAG:     tosa.mul %arg1
// CHECK-DAG:     dense<7.500000e-01> : tensor<1x1x1x1xf32>
// CHECK-DAG:     dense<6.250000e-01> : tensor<1x1x1x1xf32>
func.func @two_inputs(%arg0: tensor<1x2x2x1xf32>, %arg1: tensor<1x2x2x1xf32>) -> tensor<1x2x2x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %kernel = "tosa.const"() <{values = dense<1.0> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %bias = "tosa.const"() <{values = dense<5.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  // expected-remark@+1 {{input 'arg0' is scaled by 1.333333e+00}}
  %0 = tpc.quantize %arg0 as "arg0" activation statistics(#tpc.statistics<count = 4, zeros = 0, min = -3.0, max = 2.0>)
    parameters(#tpc.power_of_two<threshold = [4.0], bits = 8>) : tensor<1x2x2x1xf32>
  // expected-remark@+1 {{input 'arg1' is scaled by 1.600000e+00}}
  %q = tpc.quantize %arg1 as "arg1" activation statistics(#tpc.statistics<count = 4, zeros = 0, min = -2.5, max = 2.0>)
    parameters(#tpc.power_of_two<threshold = [4.0], bits = 8>) : tensor<1x2x2x1xf32>
  %1 = tosa.conv2d %0, %kernel, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x2x2x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x2x1xf32>
  %2 = tosa.conv2d %q, %kernel, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x2x2x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x2x1xf32>
  %4 = tosa.add %1, %2 : (tensor<1x2x2x1xf32>, tensor<1x2x2x1xf32>) -> tensor<1x2x2x1xf32>
  return %4 : tensor<1x2x2x1xf32>
}

// -----

// CHECK-LABEL: func.func @reader_that_is_no_layer
// CHECK-NOT:     tosa.mul
func.func @reader_that_is_no_layer(%arg0: tensor<1x2x2x1xf32>) -> tensor<1x2x2x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %kernel = "tosa.const"() <{values = dense<1.0> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %bias = "tosa.const"() <{values = dense<5.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  // expected-remark@+1 {{input 'arg0' is not scaled: one of its users is not a layer that can take the factor}}
  %0 = tpc.quantize %arg0 as "arg0" activation statistics(#tpc.statistics<count = 4, zeros = 0, min = -3.0, max = 2.0>)
    parameters(#tpc.power_of_two<threshold = [4.0], bits = 8>) : tensor<1x2x2x1xf32>
  %1 = tosa.conv2d %0, %kernel, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x2x2x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x2x1xf32>
  // expected-note@+1 {{this op}}
  %2 = tosa.add %1, %0 : (tensor<1x2x2x1xf32>, tensor<1x2x2x1xf32>) -> tensor<1x2x2x1xf32>
  return %2 : tensor<1x2x2x1xf32>
}

// -----

// CHECK-LABEL: func.func @uniform_quantizer
// CHECK-NOT:     tosa.mul
func.func @uniform_quantizer(%arg0: tensor<1x2x2x1xf32>) -> tensor<1x2x2x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %kernel = "tosa.const"() <{values = dense<1.0> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %bias = "tosa.const"() <{values = dense<5.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  // expected-remark@+1 {{input 'arg0' is not scaled: its quantizer has no threshold to fill}}
  %0 = tpc.quantize %arg0 as "arg0" activation statistics(#tpc.statistics<count = 4, zeros = 0, min = -3.0, max = 2.0>)
    parameters(#tpc.uniform<scale = [0.25], zero_point = [3], bits = 8>) : tensor<1x2x2x1xf32>
  %1 = tosa.conv2d %0, %kernel, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x2x2x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x2x1xf32>
  return %1 : tensor<1x2x2x1xf32>
}

// -----

// CHECK-LABEL: func.func @no_parameters
// CHECK-NOT:     tosa.mul
func.func @no_parameters(%arg0: tensor<1x2x2x1xf32>) -> tensor<1x2x2x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %kernel = "tosa.const"() <{values = dense<1.0> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %bias = "tosa.const"() <{values = dense<5.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  // expected-remark@+1 {{input 'arg0' is not scaled: it has no parameters or no statistics; run mct-calibrate and mct-select-parameters before}}
  %0 = tpc.quantize %arg0 as "arg0" activation statistics(#tpc.statistics<count = 4, zeros = 0, min = -3.0, max = 2.0>) : tensor<1x2x2x1xf32>
  %1 = tosa.conv2d %0, %kernel, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x2x2x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x2x1xf32>
  return %1 : tensor<1x2x2x1xf32>
}

// -----

// CHECK-LABEL: func.func @no_statistics
// CHECK-NOT:     tosa.mul
func.func @no_statistics(%arg0: tensor<1x2x2x1xf32>) -> tensor<1x2x2x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %kernel = "tosa.const"() <{values = dense<1.0> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %bias = "tosa.const"() <{values = dense<5.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  // expected-remark@+1 {{input 'arg0' is not scaled: it has no parameters or no statistics; run mct-calibrate and mct-select-parameters before}}
  %0 = tpc.quantize %arg0 as "arg0" activation
    parameters(#tpc.power_of_two<threshold = [4.0], bits = 8>) : tensor<1x2x2x1xf32>
  %1 = tosa.conv2d %0, %kernel, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x2x2x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x2x1xf32>
  return %1 : tensor<1x2x2x1xf32>
}

// -----

// CHECK-LABEL: func.func @reader_without_the_quantizer
// CHECK-NOT:     tosa.mul
func.func @reader_without_the_quantizer(%arg0: tensor<1x2x2x1xf32>) -> tensor<1x2x2x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %kernel = "tosa.const"() <{values = dense<1.0> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %bias = "tosa.const"() <{values = dense<5.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  // expected-remark@+1 {{input 'arg0' is not scaled: it has a user that reads it without its quantizer}}
  %0 = tpc.quantize %arg0 as "arg0" activation statistics(#tpc.statistics<count = 4, zeros = 0, min = -3.0, max = 2.0>)
    parameters(#tpc.power_of_two<threshold = [4.0], bits = 8>) : tensor<1x2x2x1xf32>
  %1 = tosa.conv2d %0, %kernel, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x2x2x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x2x1xf32>
  %2 = tosa.add %1, %arg0 : (tensor<1x2x2x1xf32>, tensor<1x2x2x1xf32>) -> tensor<1x2x2x1xf32>
  return %2 : tensor<1x2x2x1xf32>
}

// -----

// CHECK-LABEL: func.func @point_before_the_layer
// CHECK-NOT:     tosa.mul
func.func @point_before_the_layer(%arg0: tensor<1x2x2x1xf32>) -> tensor<1x2x2x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %kernel = "tosa.const"() <{values = dense<1.0> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %bias = "tosa.const"() <{values = dense<5.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  // expected-remark@+1 {{input 'arg0' is not scaled: one of its users is not a layer that can take the factor}}
  %0 = tpc.quantize %arg0 as "arg0" activation statistics(#tpc.statistics<count = 4, zeros = 0, min = -3.0, max = 2.0>)
    parameters(#tpc.power_of_two<threshold = [4.0], bits = 8>) : tensor<1x2x2x1xf32>
  // expected-note@+1 {{this op}}
  %p = tosa.max_pool2d %0 {kernel = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x2x2x1xf32>) -> tensor<1x2x2x1xf32>
  %q = tpc.quantize %p as "pool" activation statistics(#tpc.statistics<count = 4, zeros = 0, min = -3.0, max = 2.0>)
    parameters(#tpc.power_of_two<threshold = [4.0], bits = 8>) : tensor<1x2x2x1xf32>
  %1 = tosa.conv2d %q, %kernel, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x2x2x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x2x1xf32>
  return %1 : tensor<1x2x2x1xf32>
}
