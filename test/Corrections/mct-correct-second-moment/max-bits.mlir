// Kernels that are finer than asked for stay as they are; no sample is read when all are.
// RUN: mct-opt %s --mct-correct-second-moment="max-bits=1 remarks=true" --verify-diagnostics -o %t.mlir
// RUN: mct-opt %s -o %t.before.mlir
// RUN: diff %t.before.mlir %t.mlir
// RUN: not mct-opt %s --mct-correct-second-moment="max-bits=2" 2>&1 | FileCheck %s
// RUN: not mct-opt %s --mct-correct-second-moment="max-bits=2 calibration-data=%S/../Inputs/two_samples.npy max-memory=K" 2>&1 | FileCheck %s --check-prefix=SIZE

// SIZE: error: max-memory: expected a number of bytes
// CHECK: error: correcting needs samples
func.func @main(%arg0: tensor<1x1x1x1xf32>) -> tensor<1x1x1x1xf32> {
  %kernel = "tosa.const"() <{values = dense<1.0> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %w = tpc.quantize %kernel as "conv" weight "kernel_attr" axes [0] parameters(#tpc.symmetric<threshold = [1.0], bits = 2>) : tensor<1x1x1x1xf32>
  // expected-remark@+1 {{is not corrected: its kernel has more bits than max-bits}}
  %0 = tosa.conv2d %arg0, %w, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x1xf32>
  return %0 : tensor<1x1x1x1xf32>
}
