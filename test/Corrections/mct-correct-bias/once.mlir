// A layer is corrected once, by either estimate; then not even samples are needed. What was corrected can be told from
// what it was: a correction of a later layer compares with the float network that the file began with.
// RUN: mct-opt %s --mct-correct-bias="calibration-data=%S/../Inputs/two_samples.npy" -o %t.once.mlir
// RUN: mct-opt %t.once.mlir --mct-correct-bias="calibration-data=%S/../Inputs/two_samples.npy" -o %t.twice.mlir
// RUN: diff %t.once.mlir %t.twice.mlir
// RUN: mct-opt %t.once.mlir --mct-correct-bias=estimate=input-mean -o %t.mean.mlir
// RUN: diff %t.once.mlir %t.mean.mlir
// RUN: sed 's/corrections(.*) : tensor<1x1x1x1xf32>/: tensor<1x1x1x1xf32>/' %t.once.mlir > %t.first-layer.mlir
// RUN: FileCheck %s --check-prefix=FIRST --input-file=%t.first-layer.mlir
// RUN: sed 's/dense<5.625000e-01>/dense<0.0>/' %t.first-layer.mlir | mct-opt --mct-correct-bias="calibration-data=%S/../Inputs/two_samples.npy" -o %t.again.mlir
// RUN: diff %t.once.mlir %t.again.mlir

// The first layer loses 1.25 and gets it back, so the second one reads the mean of the float network, 2.25. Its kernel
// is -1 instead of -0.75: its bias gets 0.25 * 2.25 = 0.5625. The second layer alone, with its first bias, gets the same.
// FIRST:  tpc.quantize {{.*}} as "first" {{.*}} corrections(#tpc.corrections<applied = ["quantized_network"], bias_offset = [1.250000e+00],
// FIRST:  tpc.quantize {{.*}} as "second"
// FIRST-NOT: corrections
func.func @main(%arg0: tensor<1x1x1x2xf32>) -> tensor<1x1x1x1xf32> {
  %kernel = "tosa.const"() <{values = dense<[[[[1.0, 0.25]]]]> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %second = "tosa.const"() <{values = dense<-0.75> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %bias = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %w = tpc.quantize %kernel as "first" weight "kernel_attr" axes [0] parameters(#tpc.symmetric<threshold = [1.0], bits = 2>) : tensor<1x1x1x2xf32>
  %0 = tosa.conv2d %arg0, %w, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x2xf32>, tensor<1x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x1xf32>
  %v = tpc.quantize %second as "second" weight "kernel_attr" axes [0] parameters(#tpc.symmetric<threshold = [1.0], bits = 2>) : tensor<1x1x1x1xf32>
  %1 = tosa.conv2d %0, %v, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x1xf32>
  return %1 : tensor<1x1x1x1xf32>
}
