// Eight samples round and judge. Six have 1 and -1 for the weight 0.3, and two have 13 and -13 for the weight 1.0, of which the
// clamp leaves 4 and -4 whatever the weight. The nearest levels are 0.5 and 0.5. Rounded together, with a larger threshold,
// they become 0 and 0.76, for what the second one misses counts 13^2 times: 0.3 of the first is missed in place of 0.2, and
// (0.3 / 0.2)^2 is 3.52 dB. Biases stay 0.
// RUN: mct-opt %s --mct-round-weights="remarks=true calibration-data=%S/../Inputs/both_tails.npy" 2>&1 | FileCheck %s
// RUN: mct-opt %s --mct-round-weights="calibration-data=%S/../Inputs/both_tails.npy" -o %t.mlir
// RUN: mct-opt %s --mct-round-weights="threads=1 batch-size=3 calibration-data=%S/../Inputs/both_tails.npy" | diff %t.mlir -
// RUN: mct-opt %s --mct-round-weights="judge=false calibration-data=%S/../Inputs/both_tails.npy" | FileCheck %s --check-prefix=KEPT

// CHECK:       remark: 'tosa.conv2d' op is not corrected: result 0 of the network has 3.52 dB more error with it, with a standard error of 0.00 dB, on 8 samples
// CHECK-LABEL: func.func @main
// CHECK-SAME:    loss = 3.521826{{[0-9]+}} : f64, output = 0 : i64, samples = 8 : i64
// KEPT-LABEL:  func.func @main
// KEPT:          "tosa.const"() <{values = dense<{{\[\[\[\[}}0.000000e+00, 0.757858276]]]]>
func.func @main(%arg0: tensor<1x1x1x2xf32>) -> tensor<1x1x1x1xf32> {
  %kernel = "tosa.const"() <{values = dense<[[[[0.3, 1.0]]]]> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %w = tpc.quantize %kernel as "conv" weight "kernel_attr" axes [0] parameters(#tpc.symmetric<threshold = [1.0], bits = 2>) : tensor<1x1x1x2xf32>
  %0 = tosa.conv2d %arg0, %w, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x2xf32>, tensor<1x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x1xf32>
  %1 = tosa.clamp %0 {min_val = -4.0 : f32, max_val = 4.0 : f32} : (tensor<1x1x1x1xf32>) -> tensor<1x1x1x1xf32>
  return %1 : tensor<1x1x1x1xf32>
}
