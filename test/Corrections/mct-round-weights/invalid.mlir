// RUN: mct-opt %s --mct-round-weights="remarks=true" --split-input-file --verify-diagnostics
// RUN: not mct-opt %S/doc-example.mlir --mct-round-weights="calibration-data=%S/../Inputs/nan.npy" 2>&1 | FileCheck %s --check-prefix=NAN
// RUN: not mct-opt %S/doc-example.mlir --mct-round-weights="calibration-data=%S/../Inputs/two_samples.npy input-scale=1e38" 2>&1 | FileCheck %s --check-prefix=INFINITE
// RUN: not mct-opt %S/doc-example.mlir --mct-round-weights="calibration-data=%S/../Inputs/two_samples.npy input-scale=1e30" 2>&1 | FileCheck %s --check-prefix=SQUARES

// NAN: error: {{.*}}nan.npy{{.*}}sample 1
// INFINITE: doc-example.mlir:{{.*}} error: saw 1 values that are NaN or infinite; check the input scale and the weights
// SQUARES: doc-example.mlir:{{.*}} error: saw values whose squares are beyond the range of f32; check the input scale and the weights

// expected-error@+1 {{correcting needs samples; give calibration-data=FILE.npy}}
module {
  func.func @main(%arg0: tensor<1x1x1x2xf32>) -> tensor<1x1x1x1xf32> {
    %kernel = "tosa.const"() <{values = dense<1.0> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
    %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
    %w = tpc.quantize %kernel as "conv" weight "kernel_attr" parameters(#tpc.symmetric<threshold = [1.0], bits = 2>) : tensor<1x1x1x2xf32>
    %0 = tosa.conv2d %arg0, %w, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x2xf32>, tensor<1x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x1xf32>
    return %0 : tensor<1x1x1x1xf32>
  }
}

// -----

// Nothing to round needs no samples.
func.func @main(%arg0: tensor<1x1x1x2xf32>, %arg1: tensor<1x?x?x2xf32>) -> (tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>, tensor<1x?x?x1xf32>) {
  %kernel = "tosa.const"() <{values = dense<1.0> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %fine = tpc.quantize %kernel as "fine" weight "kernel_attr" parameters(#tpc.symmetric<threshold = [1.0], bits = 8>) : tensor<1x1x1x2xf32>
  // expected-remark@+1 {{'tosa.conv2d' op keeps its weights: its kernel has more bits than max-bits}}
  %0 = tosa.conv2d %arg0, %fine, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x2xf32>, tensor<1x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x1xf32>
  %done = tpc.quantize %kernel as "done" weight "kernel_attr" parameters(#tpc.symmetric<threshold = [1.0], bits = 2>) corrections(#tpc.corrections<applied = ["input_mean"], bias_offset = [0.5], kernel_scale = [1.0]>) : tensor<1x1x1x2xf32>
  // expected-remark@+1 {{'tosa.conv2d' op keeps its weights: it has been corrected before}}
  %1 = tosa.conv2d %arg0, %done, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x2xf32>, tensor<1x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x1xf32>
  %inputs = tpc.quantize %kernel as "inputs" weight "kernel_attr" axes [3] parameters(#tpc.symmetric<threshold = [1.0, 2.0], bits = 2>) : tensor<1x1x1x2xf32>
  // expected-remark@+1 {{'tosa.conv2d' op keeps its weights: weights of one output channel have several thresholds}}
  %2 = tosa.conv2d %arg0, %inputs, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x2xf32>, tensor<1x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x1xf32>
  %open = tpc.quantize %kernel as "open" weight "kernel_attr" parameters(#tpc.symmetric<threshold = [1.0], bits = 2>) : tensor<1x1x1x2xf32>
  // expected-remark@+1 {{'tosa.conv2d' op keeps its weights: layout mismatch}}
  %3 = tosa.conv2d %arg1, %open, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x?x?x2xf32>, tensor<1x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x?x?x1xf32>
  return %0, %1, %2, %3 : tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>, tensor<1x?x?x1xf32>
}
