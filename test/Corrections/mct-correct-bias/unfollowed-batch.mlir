// Where the batch cannot be followed after the layers it need not be; where it cannot be followed between them a unit
// is one sample. A kernel of 1 becomes 0.5, and the samples 1 and 3 have the mean 2.
// RUN: mct-opt %s --mct-correct-bias="calibration-data=%S/../Inputs/one_channel.npy" | FileCheck %s
// RUN: mct-opt %s --mct-correct-bias="calibration-data=%S/../Inputs/one_channel.npy function=between" | FileCheck %s --check-prefix=BETWEEN

// CHECK-LABEL: func.func @main
// CHECK:         as "before" {{.*}} bias_offset = [1.000000e+00]
func.func @main(%arg0: tensor<1x1x1x1xf32>) -> tensor<1x1x1x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %one = "tosa.const"() <{values = dense<1.0> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %w = tpc.quantize %one as "before" weight "kernel_attr" axes [0] parameters(#tpc.symmetric<threshold = [1.0], bits = 2>) : tensor<1x1x1x1xf32>
  %0 = tosa.conv2d %arg0, %w, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x1xf32>
  %storage = tensor.empty() : tensor<1x1x1x1xf32>
  %1 = linalg.negf ins(%0 : tensor<1x1x1x1xf32>) outs(%storage : tensor<1x1x1x1xf32>) -> tensor<1x1x1x1xf32>
  return %1 : tensor<1x1x1x1xf32>
}

// BETWEEN-LABEL: func.func @between
// BETWEEN:         as "first" {{.*}} bias_offset = [1.000000e+00]
// BETWEEN:         as "second" {{.*}} bias_offset = [-1.000000e+00]
func.func @between(%arg0: tensor<1x1x1x1xf32>) -> tensor<1x1x1x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %one = "tosa.const"() <{values = dense<1.0> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %w0 = tpc.quantize %one as "first" weight "kernel_attr" axes [0] parameters(#tpc.symmetric<threshold = [1.0], bits = 2>) : tensor<1x1x1x1xf32>
  %0 = tosa.conv2d %arg0, %w0, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x1xf32>
  %storage = tensor.empty() : tensor<1x1x1x1xf32>
  %1 = linalg.negf ins(%0 : tensor<1x1x1x1xf32>) outs(%storage : tensor<1x1x1x1xf32>) -> tensor<1x1x1x1xf32>
  %w1 = tpc.quantize %one as "second" weight "kernel_attr" axes [0] parameters(#tpc.symmetric<threshold = [1.0], bits = 2>) : tensor<1x1x1x1xf32>
  %2 = tosa.conv2d %1, %w1, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x1xf32>
  return %2 : tensor<1x1x1x1xf32>
}
