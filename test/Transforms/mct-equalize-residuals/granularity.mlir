// RUN: sed s/AXES/2/ %s | mct-opt --mct-equalize-residuals | FileCheck %s --check-prefixes=CHECK,CHANNEL
// RUN: sed s/AXES// %s | mct-opt --mct-equalize-residuals | FileCheck %s --check-prefixes=CHECK,TENSOR

// The last channel of the layer norm is 64 times as large as the others, and its weight in the first output channel of the
// layer 8 times. Multiplied by 64 it takes all 16 codes of the others; those of its output channel only, where each has a
// grid: there the layer norm is divided by 32, and with one grid for all by 8.
// CHECK-LABEL: func.func @main
// CHANNEL:       %[[GAIN:.*]] = "tosa.const"() <{values = dense<{{\[\[\[}}1.000000e+00, 1.000000e+00, 1.000000e+00, 2.000000e+00]]]> : tensor<1x1x4xf32>}>
// TENSOR:        %[[GAIN:.*]] = "tosa.const"() <{values = dense<{{\[\[\[}}1.000000e+00, 1.000000e+00, 1.000000e+00, 8.000000e+00]]]> : tensor<1x1x4xf32>}>
// CHECK:         %[[SCALED:.*]] = tosa.mul %arg0, %[[GAIN]]
// CHECK:         tpc.quantize %[[SCALED]] as "norm_scaled"
#weight = #tpc.attr_quant_config<method = symmetric, bits = 4, per_channel = true, enabled = true>
#even = #tpc.statistics<count = 8, zeros = 0, min = -2.0, max = 2.0,
  channel_mean = dense<0.0> : tensor<4xf64>, channel_mean_square = dense<1.0> : tensor<4xf64>,
  channel_min = dense<-2.0> : tensor<4xf32>, channel_max = dense<[1.0, 1.0, 2.0, 1.0]> : tensor<4xf32>>
#outlier = #tpc.statistics<count = 8, zeros = 0, min = -128.0, max = 128.0,
  channel_mean = dense<0.0> : tensor<4xf64>, channel_mean_square = dense<[1.0, 1.0, 1.0, 4096.0]> : tensor<4xf64>,
  channel_min = dense<[-2.0, -2.0, -2.0, -128.0]> : tensor<4xf32>, channel_max = dense<[1.0, 1.0, 2.0, 128.0]> : tensor<4xf32>>
func.func @main(%arg0: tensor<1x2x4xf32>) -> tensor<1x2x4xf32> {
  %gain = "tosa.const"() <{values = dense<[[[1.0, 1.0, 1.0, 64.0]]]> : tensor<1x1x4xf32>}> : () -> tensor<1x1x4xf32>
  %constant = "tosa.const"() <{values = dense<[[[1.0, 1.0, 1.0, 64.0], [1.0, 1.0, 1.0, 32.0], [1.0, 1.0, 1.0, -32.0], [8.0, 0.02, 0.02, 1.28]]]> : tensor<1x4x4xf32>}> : () -> tensor<1x4x4xf32>
  %bias = "tosa.const"() <{values = dense<[[[0.5, 0.25, 0.0, -32.0]]]> : tensor<1x1x4xf32>}> : () -> tensor<1x1x4xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %quarter = "tosa.const"() <{values = dense<0.25> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %scaled = tosa.mul %arg0, %gain, %shift : (tensor<1x2x4xf32>, tensor<1x1x4xf32>, tensor<1xi8>) -> tensor<1x2x4xf32>
  %norm = tpc.quantize %scaled as "norm" activation statistics(#outlier) : tensor<1x2x4xf32>
  %kernel = tpc.quantize %constant as "dense" weight "kernel_attr" axes [AXES] config(#weight) : tensor<1x4x4xf32>
  %0 = tosa.matmul %norm, %kernel, %zero, %zero : (tensor<1x2x4xf32>, tensor<1x4x4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x4xf32> loc("dense")
  %1 = tosa.add %0, %bias : (tensor<1x2x4xf32>, tensor<1x1x4xf32>) -> tensor<1x2x4xf32>
  %dense = tpc.quantize %1 as "dense" activation statistics(#even) : tensor<1x2x4xf32>
  %2 = tosa.add %dense, %norm : (tensor<1x2x4xf32>, tensor<1x2x4xf32>) -> tensor<1x2x4xf32>
  %sum = tpc.quantize %2 as "sum" activation statistics(#outlier) : tensor<1x2x4xf32>
  %3 = tosa.reduce_sum %sum {axis = 2 : i32} : (tensor<1x2x4xf32>) -> tensor<1x2x1xf32>
  %4 = tosa.mul %3, %quarter, %shift : (tensor<1x2x1xf32>, tensor<1x1x1xf32>, tensor<1xi8>) -> tensor<1x2x1xf32>
  %5 = tosa.sub %sum, %4 : (tensor<1x2x4xf32>, tensor<1x2x1xf32>) -> tensor<1x2x4xf32>
  return %5 : tensor<1x2x4xf32>
}
