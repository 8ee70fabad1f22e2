// RUN: mct-opt %s --mct-shift-softmax | FileCheck %s
// RUN: mct-opt %s --mct-shift-softmax --mct-correct-bias="calibration-data=%S/../../Corrections/Inputs/two_samples.npy" | FileCheck %s --check-prefix=SHIFTED
// RUN: mct-opt %s --mct-correct-bias="calibration-data=%S/../../Corrections/Inputs/two_samples.npy" | FileCheck %s --check-prefix=PLAIN

// The second moment made kernel and bias twice what they are in float. The shift [-1, 5] -> [-3, 3] is one of the float
// layer too, so that the bias is 2 * (0.5 - 2) + 2 now. It was taken for 2 * (0.5 - 1) before, and the bias correction
// added the missing half of the shift.
// CHECK-DAG: values = dense<-1.000000e+00> : tensor<2xf32>
// CHECK-DAG: corrections(#tpc.corrections<applied = ["second_moment"], bias_offset = [2.000000e+00, 2.000000e+00], kernel_scale = [2.000000e+00]>)

// The inputs have the means 2 and 1: the float layer makes 2.5 and 1.5, the quantized one 5 and 3. With the shift both
// make 2 less.
// PLAIN-DAG:   values = dense<[-1.500000e+00, -5.000000e-01]> : tensor<2xf32>
// SHIFTED-DAG: values = dense<[-3.500000e+00, -2.500000e+00]> : tensor<2xf32>
func.func @main(%arg0: tensor<1x1x1x2xf32>) -> tensor<1x1x1x2xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %kernel = "tosa.const"() <{values = dense<[[[[2.0, 0.0]]], [[[0.0, 2.0]]]]> : tensor<2x1x1x2xf32>}> : () -> tensor<2x1x1x2xf32>
  %bias = "tosa.const"() <{values = dense<1.0> : tensor<2xf32>}> : () -> tensor<2xf32>
  %no_shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %w = tpc.quantize %kernel as "conv" weight "kernel_attr" axes [0] parameters(#tpc.symmetric<threshold = [4.0, 4.0], bits = 7>)
    corrections(#tpc.corrections<applied = ["second_moment"], bias_offset = [0.0, 0.0], kernel_scale = [2.0]>) : tensor<2x1x1x2xf32>
  %0 = tosa.conv2d %arg0, %w, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x2xf32>, tensor<2x1x1x2xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x2xf32>
  %1 = tpc.quantize %0 as "conv" activation statistics(#tpc.statistics<count = 4, zeros = 0, min = -1.0, max = 5.0>) : tensor<1x1x1x2xf32>
  %m = tosa.reduce_max %1 {axis = 3 : i32} : (tensor<1x1x1x2xf32>) -> tensor<1x1x1x1xf32>
  %d = tosa.sub %1, %m : (tensor<1x1x1x2xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x1x2xf32>
  %e = tosa.exp %d : (tensor<1x1x1x2xf32>) -> tensor<1x1x1x2xf32>
  %s = tosa.reduce_sum %e {axis = 3 : i32} : (tensor<1x1x1x2xf32>) -> tensor<1x1x1x1xf32>
  %r = tosa.reciprocal %s : (tensor<1x1x1x1xf32>) -> tensor<1x1x1x1xf32>
  %y = tosa.mul %e, %r, %no_shift : (tensor<1x1x1x2xf32>, tensor<1x1x1x1xf32>, tensor<1xi8>) -> tensor<1x1x1x2xf32>
  return %y : tensor<1x1x1x2xf32>
}
