// Points inside of the network: the layer `y`, the layer `z`, which no alternative changes, and both side by side.
// DEFINE: %{measure} = mct-opt %s --mct-measure-sensitivity="calibration-data=%S/../../Corrections/Inputs/eight_pairs.npy
// RUN: %{measure}" | FileCheck %s --check-prefix=NONE
// RUN: %{measure} compare-points=1" | FileCheck %s --check-prefix=AUTO
// RUN: %{measure} compare-points=1 distance=mse" | FileCheck %s --check-prefix=MSE
// RUN: %{measure} compare-points=1 distance=cosine" | FileCheck %s --check-prefix=COSINE
// RUN: %{measure} compare-points=1 distance=kl" | FileCheck %s --check-prefix=KL
// RUN: %{measure} compare-points=1 distance=mse weighting=last-layer" | FileCheck %s --check-prefix=LAST
// RUN: %{measure} compare-points=1 distance=mse weighting=exponential" | FileCheck %s --check-prefix=EXPONENTIAL
// RUN: %{measure} compare-points=1 distance=mse weighting=hessian" | FileCheck %s --check-prefix=HESSIAN
// RUN: %{measure} compare-points=0.4 distance=mse" | FileCheck %s --check-prefix=FIRST
// RUN: %{measure} compare-points=0.7 distance=mse" | FileCheck %s --check-prefix=ENDS
// RUN: %{measure} compare-points=1 threads=1 batch-size=1" -o %t.1.mlir
// RUN: %{measure} compare-points=1 threads=3" -o %t.3.mlir
// RUN: cmp %t.1.mlir %t.3.mlir
// RUN: %{measure} compare-points=1 weighting=hessian threads=1 batch-size=1" -o %t.1.mlir
// RUN: %{measure} compare-points=1 weighting=hessian threads=3" -o %t.3.mlir
// RUN: cmp %t.1.mlir %t.3.mlir
#w8 = #tpc.attr_quant_config<method = symmetric, bits = 8, enabled = true>
#w2 = #tpc.attr_quant_config<method = symmetric, bits = 2, enabled = true>

// With 2 bits the kernel of `y` is [1, 0]; what is missing has its mean in the bias. Without that y is
// [3.5, 1.5, 3.5, 1.5, 3, 1, 3, 1], and 0.25 more or less with 2 bits; z is [3, 1, 3, 1, 5, 3, 5, 3]. The distance of the
// results is 8 * 0.0625 of 137, the sum of the squares of both.
// NONE: of = {y = [{{[0-9.E-]*}}, 0.0036496350{{[0-9]*}}]}, samples
// The mean of 0.0625 / y^2 is 0.0255811, that of z 0, that of 0.0625 / (y^2 + z^2) 0.0075650.
// MSE:         of = {y = [{{[0-9.E-]*}}, 0.0146983386{{[0-9]*}}]}
// LAST:        of = {y = [{{[0-9.E-]*}}, 0.0112146802{{[0-9]*}}]}
// FIRST:       of = {y = [{{[0-9.E-]*}}, 0.0292307006{{[0-9]*}}]}
// ENDS:        of = {y = [{{[0-9.E-]*}}, 0.0202226904{{[0-9]*}}]}
// Weights of 0.2257, 0 and 0.0729.
// EXPONENTIAL: of = {y = [{{[0-9.E-]*}}, 0.0248342850{{[0-9]*}}]}
// Results are half of the pair: with a vector of signs the gradients are +-0.5 by y and by z, and both by the pair. The
// weights are 0.25, 0.25 and 0.5.
// HESSIAN:     of = {y = [{{[0-9.E-]*}}, 0.0138274240{{[0-9]*}}]}
// HESSIAN-SAME: points = {distance = "mse", fraction = 1.000000e+00 : f64, weighting = "hessian"}, samples = 8 : i64}
// Numbers of one sign have the same direction, pairs of them not quite: 0.0009686 on average.
// COSINE:      of = {y = [{{[0-9.E-]*}}, 0.0039725038{{[0-9]*}}]}
// The softmax of one number is 1, that of pairs diverges by 0.0054863 on average.
// KL:          of = {y = [{{[0-9.E-]*}}, 0.0054784146{{[0-9]*}}]}
// Cosine for the layers, whose results have one position, and the mean squared error for the concatenation.
// AUTO:        of = {y = [{{[0-9.E-]*}}, 0.0061713179{{[0-9]*}}]}
func.func @main(%x: tensor<1x1x1x2xf32>) -> tensor<1x1x1x2xf32> {
  %ky = "tosa.const"() <{values = dense<[[[[1.0, 0.25]]]]> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %kz = "tosa.const"() <{values = dense<[[[[1.0, -1.0]]]]> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %two = "tosa.const"() <{values = dense<2.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %four = "tosa.const"() <{values = dense<4.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %wy = tpc.quantize %ky as "y" weight "kernel_attr" config(#w8)
    candidates(#tpc.alternatives<of = "y", configs = [#w8, #w2], chosen = 0>)
    parameters(#tpc.symmetric<threshold = [1.0], bits = 8>) : tensor<1x1x1x2xf32>
  %y = tosa.conv2d %x, %wy, %two, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x2xf32>, tensor<1x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x1xf32>
  %z = tosa.conv2d %x, %kz, %four, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x2xf32>, tensor<1x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x1xf32>
  %both = tosa.concat %y, %z {axis = 3 : i32} : (tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x1x2xf32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %half = "tosa.const"() <{values = dense<0.5> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %0 = tosa.mul %both, %half, %shift : (tensor<1x1x1x2xf32>, tensor<1x1x1x1xf32>, tensor<1xi8>) -> tensor<1x1x1x2xf32>
  return %0 : tensor<1x1x1x2xf32>
}

// A softmax has its divergence, a sigmoid its cosine: with `distance=mse` both are something else.
// RESULT:   func.func @softmax
// RESULT-SAME: of = {y = [{{[0-9.E-]*}}, 1.09485{{[0-9]*}}E-4]}
// FORMULAS: func.func @softmax
// FORMULAS-SAME: of = {y = [{{[0-9.E-]*}}, 5.07143{{[0-9]*}}E-4]}
// SQUARES:  func.func @softmax
// SQUARES-SAME: of = {y = [{{[0-9.E-]*}}, 0.0047856{{[0-9]*}}]}
// RUN: %{measure} function=softmax" | FileCheck %s --check-prefix=RESULT
// RUN: %{measure} function=softmax compare-points=1" | FileCheck %s --check-prefix=FORMULAS
// RUN: %{measure} function=softmax compare-points=1 distance=mse" | FileCheck %s --check-prefix=SQUARES
func.func @softmax(%x: tensor<1x1x1x2xf32>) -> tensor<1x1x1x2xf32> {
  %k = "tosa.const"() <{values = dense<[[[[1.0, 0.25]]], [[[0.25, 1.0]]]]> : tensor<2x1x1x2xf32>}> : () -> tensor<2x1x1x2xf32>
  %two = "tosa.const"() <{values = dense<2.0> : tensor<2xf32>}> : () -> tensor<2xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %w = tpc.quantize %k as "y" weight "kernel_attr" config(#w8)
    candidates(#tpc.alternatives<of = "y", configs = [#w8, #w2], chosen = 0>)
    parameters(#tpc.symmetric<threshold = [1.0], bits = 8>) : tensor<2x1x1x2xf32>
  %y = tosa.conv2d %x, %w, %two, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x2xf32>, tensor<2x1x1x2xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x2xf32>
  %s = tosa.sigmoid %y : (tensor<1x1x1x2xf32>) -> tensor<1x1x1x2xf32>
  %max = tosa.reduce_max %s {axis = 3 : i32} : (tensor<1x1x1x2xf32>) -> tensor<1x1x1x1xf32>
  %below = tosa.sub %s, %max : (tensor<1x1x1x2xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x1x2xf32>
  %exp = tosa.exp %below : (tensor<1x1x1x2xf32>) -> tensor<1x1x1x2xf32>
  %sum = tosa.reduce_sum %exp {axis = 3 : i32} : (tensor<1x1x1x2xf32>) -> tensor<1x1x1x1xf32>
  %inverse = tosa.reciprocal %sum : (tensor<1x1x1x1xf32>) -> tensor<1x1x1x1xf32>
  %p = tosa.mul %exp, %inverse, %shift : (tensor<1x1x1x2xf32>, tensor<1x1x1x1xf32>, tensor<1xi8>) -> tensor<1x1x1x2xf32>
  %0 = tosa.abs %p : (tensor<1x1x1x2xf32>) -> tensor<1x1x1x2xf32>
  return %0 : tensor<1x1x1x2xf32>
}
