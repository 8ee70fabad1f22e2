// RUN: split-file %s %t
// RUN: mct-opt %t/kinds.mlir --mct-qat="loss=mse calibration-data=%S/../Inputs/two_samples.npy" | FileCheck %t/kinds.mlir
// RUN: mct-opt %t/kinds.mlir --mct-qat="loss=mse epochs=3 calibration-data=%S/../Inputs/two_samples.npy" -o %t/trained.mlir
// RUN: mct-opt %t/trained.mlir --mct-qat="epochs=0" -o %t/again.mlir
// RUN: cmp %t/trained.mlir %t/again.mlir
// RUN: mct-opt %t/kinds.mlir --mct-qat="loss=mse epochs=3 activations=ste calibration-data=%S/../Inputs/two_samples.npy" -o %t/ste.mlir
// RUN: not cmp %t/trained.mlir %t/ste.mlir
// RUN: mct-opt %t/kinds.mlir --mct-qat="loss=mse epochs=3 activations=fixed calibration-data=%S/../Inputs/two_samples.npy" | FileCheck %t/kinds.mlir --check-prefix=FIXED
// RUN: mct-opt %t/kinds.mlir --mct-make-trainable --mct-qat="epochs=0" | FileCheck %t/kinds.mlir --check-prefix=FINAL
// RUN: mct-opt %t/softmax.mlir --mct-qat="calibration-data=%S/../Inputs/two_samples.npy labels=%S/../Inputs/two_labels.npy losses-out=%t/softmax.npy" -o %t/softmax.out.mlir
// RUN: od -An -v -tf8 -w8 -j128 -N8 %t/softmax.npy | FileCheck %t/softmax.mlir
// RUN: mct-opt %t/corrected.mlir --mct-qat="loss=mse calibration-data=%S/../Inputs/two_samples.npy losses-out=%t/corrected.npy" | FileCheck %t/corrected.mlir
// RUN: od -An -v -tf8 -w8 -j128 -N8 %t/corrected.npy | FileCheck %t/corrected.mlir --check-prefix=LOSS

//--- kinds.mlir

// Every quantizer becomes one of its kind; a power of two stays one, a table stays as it is; statistics told of other
// weights.
// CHECK-LABEL: func.func @main
// CHECK-NOT:     statistics
// CHECK-NOT:     trainable
// CHECK:         as "power" activation parameters(#tpc.power_of_two<threshold = [4.000000e+00], bits = 4>) :
// CHECK:         as "table" activation parameters(#tpc.lookup_table<method = lut_pot_quantizer, threshold = [4.000000e+00], table = [-90, 0, 64], bits = 2>)
// CHECK:         as "range" activation parameters(#tpc.uniform<
// CHECK:         as "conv" weight "kernel_attr" axes [0] parameters(#tpc.symmetric<threshold = [{{0.99|1.00|1.01}}{{.*}}], bits = 4>) : tensor

// FIXED:         as "range" activation parameters(#tpc.uniform<scale = [3.000000e-01], zero_point = [3], bits = 4>) :

// FINAL-LABEL: func.func @main
// FINAL-NOT:     trainable
// FINAL:         as "power" activation statistics({{.*}}) parameters(#tpc.power_of_two<threshold = [4.000000e+00], bits = 4>) :
// FINAL:         as "conv" weight "kernel_attr" axes [0] parameters(#tpc.symmetric<threshold = [1.000000e+00], bits = 4>) :
func.func @main(%arg0: tensor<1x1x1x2xf32>) -> tensor<1x1x1x1xf32> {
  %kernel = "tosa.const"() <{values = dense<[[[[1.0, 0.3]]]]> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %bias = "tosa.const"() <{values = dense<1.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tpc.quantize %arg0 as "power" activation statistics(#tpc.statistics<count = 4, zeros = 1, min = 0.0, max = 3.0>) parameters(#tpc.power_of_two<threshold = [4.0], bits = 4>) : tensor<1x1x1x2xf32>
  %1 = tpc.quantize %0 as "table" activation parameters(#tpc.lookup_table<method = lut_pot_quantizer, threshold = [4.0], table = [-90, 0, 64], bits = 2>) : tensor<1x1x1x2xf32>
  %2 = tpc.quantize %1 as "range" activation parameters(#tpc.uniform<scale = [0.3], zero_point = [3], bits = 4>) : tensor<1x1x1x2xf32>
  %w = tpc.quantize %kernel as "conv" weight "kernel_attr" axes [0] parameters(#tpc.symmetric<threshold = [1.0], bits = 4>) : tensor<1x1x1x2xf32>
  %3 = tosa.conv2d %2, %w, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x2xf32>, tensor<1x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x1xf32>
  return %3 : tensor<1x1x1x1xf32>
}

//--- softmax.mlir

// The scores of both samples differ by 1, for the label: log(1 + exp(-1)) = 0.313262. The probabilities themselves
// are quantized to 0 and 0.5, of which no logarithm could be taken.
// CHECK: 0.313261
func.func @main(%arg0: tensor<1x1x1x2xf32>) -> tensor<1x2xf32> {
  %kernel = "tosa.const"() <{values = dense<[[[[1.0, 0.0]]], [[[0.0, 2.0]]]]> : tensor<2x1x1x2xf32>}> : () -> tensor<2x1x1x2xf32>
  %bias = "tosa.const"() <{values = dense<[0.0, 0.0]> : tensor<2xf32>}> : () -> tensor<2xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %shape = tosa.const_shape {values = dense<[1, 2]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %w = tpc.quantize %kernel as "conv" weight "kernel_attr" axes [0] parameters(#tpc.symmetric<threshold = [4.0, 4.0], bits = 8>) : tensor<2x1x1x2xf32>
  %0 = tosa.conv2d %arg0, %w, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x2xf32>, tensor<2x1x1x2xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x2xf32>
  %1 = tosa.reshape %0, %shape : (tensor<1x1x1x2xf32>, !tosa.shape<2>) -> tensor<1x2xf32>
  %2 = tosa.reduce_max %1 {axis = 1 : i32} : (tensor<1x2xf32>) -> tensor<1x1xf32>
  %3 = tosa.sub %1, %2 : (tensor<1x2xf32>, tensor<1x1xf32>) -> tensor<1x2xf32>
  %4 = tosa.exp %3 : (tensor<1x2xf32>) -> tensor<1x2xf32>
  %5 = tosa.reduce_sum %4 {axis = 1 : i32} : (tensor<1x2xf32>) -> tensor<1x1xf32>
  %6 = tosa.reciprocal %5 : (tensor<1x1xf32>) -> tensor<1x1xf32>
  %7 = tosa.mul %4, %6, %shift : (tensor<1x2xf32>, tensor<1x1xf32>, tensor<1xi8>) -> tensor<1x2xf32>
  %8 = tpc.quantize %7 as "probabilities" activation parameters(#tpc.power_of_two<threshold = [1.0], bits = 1, is_signed = false>) : tensor<1x2xf32>
  return %8 : tensor<1x2xf32>
}

//--- corrected.mlir

// The float network has the bias 1, and makes 2 and 4.5 of the samples; this one, whose kernel counts as [0.5, 0], 2.75
// and 3.75: 0.75^2 / ((2^2 + 4.5^2) / 2) = 0.046392. The record of the correction is not true of what was trained.
// CHECK-NOT: corrections
// LOSS: 0.046391
func.func @main(%arg0: tensor<1x1x1x2xf32>) -> tensor<1x1x1x1xf32> {
  %kernel = "tosa.const"() <{values = dense<[[[[1.0, 0.25]]]]> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %bias = "tosa.const"() <{values = dense<2.25> : tensor<1xf32>}> : () -> tensor<1xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %w = tpc.quantize %kernel as "conv" weight "kernel_attr" axes [0] parameters(#tpc.symmetric<threshold = [1.0], bits = 2>) corrections(#tpc.corrections<applied = ["quantized_network"], bias_offset = [1.25], kernel_scale = [1.0]>) : tensor<1x1x1x2xf32>
  %0 = tosa.conv2d %arg0, %w, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x2xf32>, tensor<1x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x1xf32>
  return %0 : tensor<1x1x1x1xf32>
}
