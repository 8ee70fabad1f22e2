// RUN: mct-opt %s --mct-equalize-residuals --verify-diagnostics | FileCheck %s

// The last channel of the sum is 64 times as large as the median, and is divided by 64.
// CHECK-LABEL: func.func @main
// CHECK-SAME:    tpc.overrides = ["?name \22sum\22 activation=float"]
// CHECK:         %[[X:.*]] = tpc.quantize %arg0 as "x" activation statistics
// CHECK:         %[[KERNEL:.*]] = "tosa.const"() <{values = dense<{{\[\[\[}}1.000000e+00, 0.000000e+00, 0.000000e+00, 1.000000e+00], {{.*}}> : tensor<1x4x4xf32>}>
// CHECK:         %[[PRODUCT:.*]] = tosa.matmul %[[X]], %[[KERNEL]]
// CHECK:         %[[BIAS:.*]] = "tosa.const"() <{values = dense<{{\[\[\[}}5.000000e-01, 2.500000e-01, 0.000000e+00, -5.000000e-01]]]> : tensor<1x1x4xf32>}>
// CHECK:         %[[LAYER:.*]] = tosa.add %[[PRODUCT]], %[[BIAS]]
// CHECK:         %[[DENSE:.*]] = tpc.quantize %[[LAYER]] as "dense_scaled" activation :
// CHECK:         %[[INVERSE:.*]] = "tosa.const"() <{values = dense<{{\[\[\[}}1.000000e+00, 1.000000e+00, 1.000000e+00, 1.562500e-02]]]> : tensor<1x1x4xf32>}>
// CHECK:         %[[SCALED:.*]] = tosa.mul %[[X]], %[[INVERSE]]
// CHECK:         %[[BRANCH:.*]] = tpc.quantize %[[SCALED]] as "sum_branch" activation :
// CHECK:         %[[ADD:.*]] = tosa.add %[[DENSE]], %[[BRANCH]]
// CHECK:         %[[SUM:.*]] = tpc.quantize %[[ADD]] as "sum_scaled" activation :
// CHECK:         %[[SCALES:.*]] = "tosa.const"() <{values = dense<{{\[\[\[}}1.000000e+00, 1.000000e+00, 1.000000e+00, 6.400000e+01]]]> : tensor<1x1x4xf32>}>
// CHECK:         %[[BACK:.*]] = tosa.mul %[[SUM]], %[[SCALES]]
// CHECK:         tosa.reduce_sum %[[BACK]]
// CHECK:         tosa.sub %[[BACK]],
#small = #tpc.statistics<count = 8, zeros = 0, min = -2.0, max = 2.0,
  channel_mean = dense<0.0> : tensor<4xf64>, channel_mean_square = dense<1.0> : tensor<4xf64>,
  channel_min = dense<-2.0> : tensor<4xf32>, channel_max = dense<[1.0, 1.0, 2.0, 1.0]> : tensor<4xf32>>
#large = #tpc.statistics<count = 8, zeros = 0, min = -2.0, max = 128.0,
  channel_mean = dense<0.0> : tensor<4xf64>, channel_mean_square = dense<1.0> : tensor<4xf64>,
  channel_min = dense<-2.0> : tensor<4xf32>, channel_max = dense<[1.0, 1.0, 2.0, 128.0]> : tensor<4xf32>>
func.func @main(%arg0: tensor<1x2x4xf32>) -> tensor<1x2x4xf32> {
  %kernel = "tosa.const"() <{values = dense<[[[1.0, 0.0, 0.0, 64.0], [0.0, 1.0, 0.0, 32.0], [0.0, 0.0, 1.0, -32.0], [0.5, 0.0, 0.0, 64.0]]]> : tensor<1x4x4xf32>}> : () -> tensor<1x4x4xf32>
  %bias = "tosa.const"() <{values = dense<[[[0.5, 0.25, 0.0, -32.0]]]> : tensor<1x1x4xf32>}> : () -> tensor<1x1x4xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %quarter = "tosa.const"() <{values = dense<0.25> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %x = tpc.quantize %arg0 as "x" activation statistics(#small) : tensor<1x2x4xf32>
  %0 = tosa.matmul %x, %kernel, %zero, %zero : (tensor<1x2x4xf32>, tensor<1x4x4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x4xf32> loc("dense")
  %1 = tosa.add %0, %bias : (tensor<1x2x4xf32>, tensor<1x1x4xf32>) -> tensor<1x2x4xf32>
  %dense = tpc.quantize %1 as "dense" activation statistics(#large) : tensor<1x2x4xf32>
  %2 = tosa.add %dense, %x : (tensor<1x2x4xf32>, tensor<1x2x4xf32>) -> tensor<1x2x4xf32>
  // expected-remark @+1 {{'sum' has channels up to 128 with a median of 2, and is quantized with 1 of its 4 channels divided by powers of two, which the layer norm behind it takes back}}
  %sum = tpc.quantize %2 as "sum" activation statistics(#large) : tensor<1x2x4xf32>
  %3 = tosa.reduce_sum %sum {axis = 2 : i32} : (tensor<1x2x4xf32>) -> tensor<1x2x1xf32>
  %4 = tosa.mul %3, %quarter, %shift : (tensor<1x2x1xf32>, tensor<1x1x1xf32>, tensor<1xi8>) -> tensor<1x2x1xf32>
  %5 = tosa.sub %sum, %4 : (tensor<1x2x4xf32>, tensor<1x2x1xf32>) -> tensor<1x2x4xf32>
  return %5 : tensor<1x2x4xf32>
}
