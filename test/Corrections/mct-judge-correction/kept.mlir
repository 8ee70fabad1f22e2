// Without a clamp the formula gains: the module becomes what the passes have made of it.
// RUN: mct-opt %s --mct-judge-correction="correction=input_mean made-by=builtin.module(mct-correct-bias{estimate=input-mean calibration-data=%S/../Inputs/short_tail.npy}) calibration-data=%S/../Inputs/short_tail.npy" -o %t.judged.mlir
// RUN: mct-opt %s --mct-correct-bias="estimate=input-mean calibration-data=%S/../Inputs/short_tail.npy" | diff - %t.judged.mlir
// RUN: FileCheck %s < %t.judged.mlir

// What changes nothing is not judged: the samples are not read.
// RUN: mct-opt %s --mct-judge-correction="correction=shift_negative made-by=builtin.module(func.func(mct-update-concat-thresholds)) calibration-data=absent.npy" | FileCheck %s --check-prefix=SAME

// CHECK-LABEL: func.func @main
// CHECK-NOT:     rejected_corrections
// CHECK:         bias_offset = [2.000000e+00]
// SAME-LABEL: func.func @main
func.func @main(%arg0: tensor<1x1x1x1xf32>) -> tensor<1x1x1x1xf32> {
  %one = "tosa.const"() <{values = dense<1.0> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %w = tpc.quantize %one as "conv" weight "kernel_attr" axes [0] parameters(#tpc.symmetric<threshold = [1.0], bits = 2>) : tensor<1x1x1x1xf32>
  %0 = tosa.conv2d %arg0, %w, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x1xf32>
  return %0 : tensor<1x1x1x1xf32>
}
