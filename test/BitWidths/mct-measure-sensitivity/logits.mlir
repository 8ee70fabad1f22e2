// Of a softmax that is almost sure, the logits tell how much an alternative moves what the softmax reads: their difference is 5 x + 0.4 y of samples
// with x = 1 or -1 and y = 0 or 2, so that probabilities hardly move. With steps of 1/32 the difference is 0.00625 y larger, or 0.00625 off when the
// means are corrected. Of two logits, halves of it, these are 1.953e-5 of the mean of the squares, 12.66.
// DEFINE: %{samples} = calibration-data=%S/../../Corrections/Inputs/eight_pairs.npy
// RUN: mct-opt %s --mct-measure-sensitivity="metric=logits %{samples}" -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: mct-opt %s --mct-measure-sensitivity="metric=mse %{samples}" | FileCheck %s --check-prefix=MSE
// RUN: mct-opt %t.mlir --mct-measure-sensitivity="metric=logits" -o /dev/null
// RUN: not mct-opt %t.mlir --mct-measure-sensitivity="metric=mse" -o /dev/null 2>&1 | FileCheck %s --check-prefix=OTHER
// CHECK: tpc.sensitivities = {metric = "logits", of = {conv = [1.5427{{[0-9]*}}E-6, 0.1406{{[0-9]*}}]}, samples = 8 : i64}
// MSE:   tpc.sensitivities = {metric = "mse", of = {conv = [{{[0-9.]*}}E-9, 0.01489{{[0-9]*}}]}, samples = 8 : i64}
// OTHER: error: 'func.func' op has 'tpc.sensitivities' of the metric logits, and not mse; remove it, and run mct-measure-sensitivity again

#w8 = #tpc.attr_quant_config<method = power_of_two, bits = 8, enabled = true>
#w2 = #tpc.attr_quant_config<method = power_of_two, bits = 2, enabled = true>
func.func @main(%arg0: tensor<1x1x1x2xf32>) -> tensor<1x1x1x2xf32> {
  %kernel = "tosa.const"() <{values = dense<[[[[3.0, 1.1]]], [[[-2.0, 0.7]]]]> : tensor<2x1x1x2xf32>}> : () -> tensor<2x1x1x2xf32>
  %bias = "tosa.const"() <{values = dense<0.0> : tensor<2xf32>}> : () -> tensor<2xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %w = tpc.quantize %kernel as "conv" weight "kernel_attr" config(#w8) candidates(#tpc.alternatives<of = "conv", configs = [#w8, #w2], chosen = 0>)
         parameters(#tpc.power_of_two<threshold = [4.0], bits = 8>) : tensor<2x1x1x2xf32>
  %0 = tosa.conv2d %arg0, %w, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>}
         : (tensor<1x1x1x2xf32>, tensor<2x1x1x2xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x2xf32>
  %e = tosa.exp %0 : (tensor<1x1x1x2xf32>) -> tensor<1x1x1x2xf32>
  %s = tosa.reduce_sum %e {axis = 3 : i32} : (tensor<1x1x1x2xf32>) -> tensor<1x1x1x1xf32>
  %r = tosa.reciprocal %s : (tensor<1x1x1x1xf32>) -> tensor<1x1x1x1xf32>
  %y = tosa.mul %e, %r, %shift : (tensor<1x1x1x2xf32>, tensor<1x1x1x1xf32>, tensor<1xi8>) -> tensor<1x1x1x2xf32>
  return %y : tensor<1x1x1x2xf32>
}
