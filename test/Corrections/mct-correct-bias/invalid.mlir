// RUN: mct-opt %s --mct-correct-bias="remarks=true" --split-input-file --verify-diagnostics
// RUN: not mct-opt %S/doc-example.mlir --mct-correct-bias="calibration-data=%S/../Inputs/nan.npy" 2>&1 | FileCheck %s --check-prefix=NAN
// RUN: not mct-opt %S/doc-example.mlir --mct-correct-bias="calibration-data=%S/../Inputs/two_samples.npy input-scale=1e38" 2>&1 | FileCheck %s --check-prefix=INFINITE
// RUN: not mct-opt %S/doc-example.mlir --mct-correct-bias="calibration-data=%S/../Inputs/two_samples.npy input-scale=half" 2>&1 | FileCheck %s --check-prefix=SCALE
// RUN: not mct-opt %S/doc-example.mlir --mct-correct-bias="calibration-data=%S/../Inputs/absent.npy" 2>&1 | FileCheck %s --check-prefix=ABSENT
// RUN: not mct-opt %S/doc-example.mlir --mct-correct-bias="calibration-data=%S/../Inputs/two_samples.npy max-memory=K" 2>&1 | FileCheck %s --check-prefix=SIZE
// RUN: not mct-opt %S/doc-example.mlir --mct-correct-bias="calibration-data=%S/../Inputs/two_samples.npy max-memory=8" 2>&1 | FileCheck %s --check-prefix=MEMORY

// SIZE: error: max-memory: expected a number of bytes, which may end in K, M or G, but got 'K'
// MEMORY: error: max-memory is 8 bytes, and the process has {{[0-9]+}} before it runs the network
// NAN: error: {{.*}}nan.npy{{.*}}sample 1
// INFINITE: error: {{.*}}saw 1 values that are NaN or infinite; check the input scale and the weights
// SCALE: error: input-scale: expected a number
// ABSENT: error: {{.*}}absent.npy

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

// expected-error@+1 {{has no public function with a body}}
module {
  func.func private @main()
}

// -----

func.func private @other()
func.func @main() {
  // expected-error@+1 {{calls another function, and layers are corrected within one; run the pass inline before}}
  call @other() : () -> ()
  return
}

// -----

// expected-error@+1 {{cannot be corrected: its body has several blocks}}
func.func @main() {
  cf.br ^next
^next:
  return
}

// -----

func.func @main(%arg0: tensor<1x1x1x2xf32>, %bias: tensor<1xf32>) -> (tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>) {
  %kernel = "tosa.const"() <{values = dense<1.0> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  // expected-remark@+1 {{is not corrected: its kernel is not quantized}}
  %0 = tosa.conv2d %arg0, %kernel, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x2xf32>, tensor<1x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x1xf32>
  %w = tpc.quantize %kernel as "dynamic" weight "kernel_attr" parameters(#tpc.symmetric<threshold = [1.0], bits = 2>) : tensor<1x1x1x2xf32>
  // expected-remark@+1 {{is not corrected: its bias is not a constant of each channel}}
  %1 = tosa.conv2d %arg0, %w, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x2xf32>, tensor<1x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x1xf32>
  %shared = tpc.quantize %kernel as "shared" weight "kernel_attr" parameters(#tpc.symmetric<threshold = [1.0], bits = 2>) : tensor<1x1x1x2xf32>
  // expected-remark@+1 {{is not corrected: the point of its kernel has several users}}
  %2 = tosa.conv2d %arg0, %shared, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x2xf32>, tensor<1x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x1xf32>
  // expected-remark@+1 {{is not corrected: the point of its kernel has several users}}
  %3 = tosa.conv2d %arg0, %shared, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x2xf32>, tensor<1x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x1xf32>
  %done = tpc.quantize %kernel as "done" weight "kernel_attr" parameters(#tpc.symmetric<threshold = [1.0], bits = 2>) corrections(#tpc.corrections<applied = ["input_mean"], bias_offset = [0.5], kernel_scale = [1.0]>) : tensor<1x1x1x2xf32>
  // expected-remark@+1 {{is not corrected: it has been corrected before}}
  %4 = tosa.conv2d %arg0, %done, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x2xf32>, tensor<1x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x1xf32>
  return %0, %1, %2, %3, %4 : tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>
}

// -----

func.func @main(%arg0: tensor<1x1x1x2xf32>) -> tensor<1x1x1x1xf32> {
  %kernel = "tosa.const"() <{values = dense<1.0> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  // expected-error@+1 {{has corrections of 2 channels, but its layer has 1}}
  %w = tpc.quantize %kernel as "conv" weight "kernel_attr" parameters(#tpc.symmetric<threshold = [1.0], bits = 2>) corrections(#tpc.corrections<applied = ["input_mean"], bias_offset = [0.5, 0.5], kernel_scale = [1.0]>) : tensor<1x1x1x2xf32>
  %0 = tosa.conv2d %arg0, %w, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x2xf32>, tensor<1x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x1xf32>
  return %0 : tensor<1x1x1x1xf32>
}
