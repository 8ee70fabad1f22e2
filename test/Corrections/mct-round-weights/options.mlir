// Every option changes what is done in the way its words say; those about threads and batches change nothing.
// RUN: mct-opt %s --mct-round-weights="calibration-data=%S/../Inputs/two_samples.npy" | FileCheck %s --check-prefixes=MAIN,BIAS
// RUN: mct-opt %s --mct-round-weights="calibration-data=%S/../Inputs/two_samples.npy correct-bias=false" | FileCheck %s --check-prefixes=MAIN,NOBIAS
// RUN: mct-opt %s --mct-round-weights="calibration-data=%S/../Inputs/two_samples.npy max-bits=8" | FileCheck %s --check-prefix=FINE
// RUN: mct-opt %s --mct-round-weights="max-bits=1" | FileCheck %s --check-prefix=NONE
// RUN: mct-opt %s --mct-round-weights="calibration-data=%S/../Inputs/eight_pairs.npy max-samples=4" | FileCheck %s --check-prefix=FEW
// RUN: mct-opt %s --mct-round-weights="calibration-data=%S/../Inputs/eight_pairs.npy max-samples=0" | FileCheck %s --check-prefix=ALL
// RUN: mct-opt %s --mct-round-weights="calibration-data=%S/../Inputs/eight_pairs.npy half=second" | FileCheck %s --check-prefix=SECOND
// RUN: mct-opt %s --mct-round-weights="calibration-data=%S/../Inputs/two_samples.npy function=other" | FileCheck %s --check-prefix=OTHER
// RUN: mct-opt %s --mct-round-weights="calibration-data=%S/../Inputs/bytes.npy threads=1" -o %t.mlir
// RUN: mct-opt %s --mct-round-weights="calibration-data=%S/../Inputs/bytes.npy threads=3 batch-size=2" -o %t.threads.mlir
// RUN: diff %t.mlir %t.threads.mlir
// RUN: mct-opt %s --mct-round-weights="calibration-data=%S/../Inputs/two_samples.npy remarks=true" -o %t.remarked.mlir 2>&1 | FileCheck %s --check-prefix=REMARK

// REMARK-DAG: remark: 'tosa.conv2d' op: its weights are rounded together: mean squared error {{[0-9.e-]+}}, to the nearest levels {{[0-9.e-]+}}
// REMARK-DAG: remark: 'tosa.conv2d' op keeps its weights: its kernel has more bits than max-bits

// MAIN-LABEL: func.func @main
// MAIN:         as "coarse" {{.*}} corrections(#tpc.corrections<applied = ["rounded_weights"]
// BIAS:         as "fine" {{.*}} corrections(#tpc.corrections<applied = ["quantized_network"]
// NOBIAS:       as "fine" {{.*}} bits = 8>) : tensor
// FINE:         as "fine" {{.*}} corrections(#tpc.corrections<applied = ["rounded_weights"]
// NONE-NOT:     corrections
// FEW:          corrections(#tpc.corrections<applied = ["rounded_weights"], {{.*}}, samples = 4, kernel
// Two equal samples: there is a bias for them with which nothing is lost.
// SECOND:       error = [0.000000e+00]>) corrections(#tpc.corrections<applied = ["rounded_weights"]
// ALL:          corrections(#tpc.corrections<applied = ["rounded_weights"], {{.*}} kernel_scale = [1.000000e+00], kernel
func.func @main(%arg0: tensor<1x1x1x2xf32>) -> (tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>) {
  %kernel = "tosa.const"() <{values = dense<[[[[1.0, 0.25]]]]> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %bias = "tosa.const"() <{values = dense<1.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %coarse = tpc.quantize %kernel as "coarse" weight "kernel_attr" axes [0] parameters(#tpc.symmetric<threshold = [1.0], bits = 2>) : tensor<1x1x1x2xf32>
  %0 = tosa.conv2d %arg0, %coarse, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x2xf32>, tensor<1x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x1xf32>
  %fine = tpc.quantize %kernel as "fine" weight "kernel_attr" axes [0] parameters(#tpc.symmetric<threshold = [1.0], bits = 8>) : tensor<1x1x1x2xf32>
  %1 = tosa.conv2d %arg0, %fine, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x2xf32>, tensor<1x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x1xf32>
  return %0, %1 : tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>
}

// OTHER-LABEL: func.func @main
// OTHER-NOT:     corrections
// OTHER-LABEL: func.func @other
// OTHER:         corrections
func.func @other(%arg0: tensor<1x1x1x2xf32>) -> tensor<1x1x1x1xf32> {
  %kernel = "tosa.const"() <{values = dense<[[[[1.0, 0.25]]]]> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %w = tpc.quantize %kernel as "conv" weight "kernel_attr" axes [0] parameters(#tpc.symmetric<threshold = [1.0], bits = 2>) : tensor<1x1x1x2xf32>
  %0 = tosa.conv2d %arg0, %w, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x2xf32>, tensor<1x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x1xf32>
  return %0 : tensor<1x1x1x1xf32>
}
