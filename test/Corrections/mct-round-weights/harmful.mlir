// A kernel of 1 has the nearest level 0.5. Rounded with a larger threshold it becomes 0.75, with a bias of 1 for the mean
// of samples, six of 1 and two of 13, of which the clamp leaves 4: of 1 that makes 1.75, and 0.5 without. (0.75 / 0.5)^2
// is 3.5 dB more error.
// RUN: mct-opt %s --mct-round-weights="correct-bias=false remarks=true calibration-data=%S/../Inputs/short_tail.npy" 2>&1 | FileCheck %s
// RUN: mct-opt %s --mct-round-weights="correct-bias=false calibration-data=%S/../Inputs/short_tail.npy" -o %t.undone.mlir
// RUN: mct-opt %s --mct-round-weights="correct-bias=false threads=1 batch-size=3 calibration-data=%S/../Inputs/short_tail.npy" | diff %t.undone.mlir -
// RUN: mct-opt %s --mct-round-weights="correct-bias=false judge=false calibration-data=%S/../Inputs/short_tail.npy" | FileCheck %s --check-prefix=KEPT

// What has been undone is not tried again.
// RUN: mct-opt %t.undone.mlir --mct-round-weights="correct-bias=false calibration-data=%S/../Inputs/short_tail.npy" | diff %t.undone.mlir -

// CHECK:       remark: 'tosa.conv2d' op is not corrected: result 0 of the network has {{3.[0-9]+}} dB more error with it
// CHECK-LABEL: func.func @main
// CHECK-SAME:    tpc.rejected_corrections = [{correction = "rounded_weights", layers = ["conv/kernel_attr"], loss = 3.{{[0-9]+}} : f64, output = 0 : i64, samples = 8 : i64, standard_error = {{.*}} : f64}]
// CHECK:         as "conv" weight "kernel_attr" axes [0] parameters(#tpc.symmetric<threshold = [1.000000e+00], bits = 2>) : tensor
// KEPT-LABEL: func.func @main(
// KEPT-NOT:     rejected_corrections
// KEPT:         applied = ["rounded_weights"]
func.func @main(%arg0: tensor<1x1x1x1xf32>) -> tensor<1x1x1x1xf32> {
  %one = "tosa.const"() <{values = dense<1.0> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %w = tpc.quantize %one as "conv" weight "kernel_attr" axes [0] parameters(#tpc.symmetric<threshold = [1.0], bits = 2>) : tensor<1x1x1x1xf32>
  %0 = tosa.conv2d %arg0, %w, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x1xf32>
  %1 = tosa.clamp %0 {min_val = 0.0 : f32, max_val = 4.0 : f32} : (tensor<1x1x1x1xf32>) -> tensor<1x1x1x1xf32>
  return %1 : tensor<1x1x1x1xf32>
}
