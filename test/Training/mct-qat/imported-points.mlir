// RUN: mct-opt %s --mct-qat="loss=mse calibration-data=%S/../Inputs/two_samples.npy" | FileCheck %s
// RUN: mct-opt %s --mct-qat="loss=mse epochs=0" | FileCheck %s --check-prefix=GIVEN

// Points with the parameters of a file are trained like others, and their parameters are the file's no more.
// CHECK-LABEL: func.func @main
// CHECK:         tpc.quantize %{{.*}} as "conv" weight "kernel_attr" axes [0] parameters(#tpc.symmetric<threshold = [1.00{{(2999|3000)[0-9]*(e\+00)?}}], bits = 2>) : tensor<1x1x1x2xf32>
// CHECK-NOT:     imported
// GIVEN:         as "conv" weight "kernel_attr" axes [0] parameters(#tpc.symmetric<threshold = [1.000000e+00], bits = 2>) selection(#tpc.selection<error_method = imported>)
func.func @main(%arg0: tensor<1x1x1x2xf32>) -> tensor<1x1x1x1xf32> {
  %kernel = "tosa.const"() <{values = dense<[[[[1.0, 0.25]]]]> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %bias = "tosa.const"() <{values = dense<1.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %w = tpc.quantize %kernel as "conv" weight "kernel_attr" axes [0] parameters(#tpc.symmetric<threshold = [1.0], bits = 2>) selection(#tpc.selection<error_method = imported>) : tensor<1x1x1x2xf32>
  %0 = tosa.conv2d %arg0, %w, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x2xf32>, tensor<1x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x1xf32>
  return %0 : tensor<1x1x1x1xf32>
}
