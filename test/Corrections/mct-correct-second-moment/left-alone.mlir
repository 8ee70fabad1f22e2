// Layers whose thresholds cannot follow their channels stay as they are.
// RUN: mct-opt %s --mct-correct-second-moment=remarks=true --verify-diagnostics -o %t.mlir
// RUN: mct-opt %s -o %t.before.mlir
// RUN: diff %t.before.mlir %t.mlir
// RUN: not mct-opt %S/doc-example.mlir --mct-correct-second-moment 2>&1 | FileCheck %s --check-prefix=SAMPLES

// SAMPLES: error: correcting needs samples; give calibration-data=FILE.npy
func.func @main(%arg0: tensor<1x1x1x1xf32>) -> (tensor<1x1x1x2xf32>, tensor<1x1x1x2xf32>) {
  %kernel = "tosa.const"() <{values = dense<1.0> : tensor<2x1x1x1xf32>}> : () -> tensor<2x1x1x1xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %bias = "tosa.const"() <{values = dense<0.0> : tensor<2xf32>}> : () -> tensor<2xf32>
  %w0 = tpc.quantize %kernel as "power" weight "kernel_attr" axes [0] parameters(#tpc.power_of_two<threshold = [1.0, 1.0], bits = 2>) : tensor<2x1x1x1xf32>
  // expected-remark@+1 {{is not corrected: parameters of its method, power_of_two, cannot be multiplied by any factor}}
  %0 = tosa.conv2d %arg0, %w0, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x1xf32>, tensor<2x1x1x1xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x2xf32>
  %w1 = tpc.quantize %kernel as "tensor" weight "kernel_attr" parameters(#tpc.symmetric<threshold = [1.0], bits = 2>) : tensor<2x1x1x1xf32>
  // expected-remark@+1 {{is not corrected: it does not have one threshold per output channel}}
  %1 = tosa.conv2d %arg0, %w1, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x1xf32>, tensor<2x1x1x1xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x2xf32>
  return %0, %1 : tensor<1x1x1x2xf32>, tensor<1x1x1x2xf32>
}
