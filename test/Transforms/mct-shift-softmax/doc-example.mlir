// RUN: mct-opt %s --mct-shift-softmax | FileCheck %s

// [-1, 5] becomes [-3, 3].
// CHECK-LABEL: func.func @main
// CHECK-DAG:     %[[K:.*]] = "tosa.const"() <{values = dense<{{.*}}1.000000e+00, 2.000000e+00], [3.000000e+00, 4.000000e+00{{.*}}> : tensor<1x2x2xf32>}>
// CHECK-DAG:     %[[BIAS:.*]] = "tosa.const"() <{values = dense<{{.*}}-1.000000e+00, -3.000000e+00{{.*}}> : tensor<1x1x2xf32>}>
// CHECK-DAG:     %[[P:.*]] = tosa.matmul %arg0, %[[K]]
// CHECK-DAG:     %[[X:.*]] = tosa.add %[[P]], %[[BIAS]]
// CHECK-DAG:     %[[Q:.*]] = tpc.quantize %[[X]] as "dense_shifted" activation statistics(#tpc.statistics<count = 4, zeros = 0, min = -3.000000e+00, max = 3.000000e+00>) : tensor<1x1x2xf32>
// CHECK-DAG:     tosa.reduce_max %[[Q]]
func.func @main(%arg0: tensor<1x1x2xf32>) -> tensor<1x1x2xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %kernel = "tosa.const"() <{values = dense<[[[1.0, 2.0], [3.0, 4.0]]]> : tensor<1x2x2xf32>}> : () -> tensor<1x2x2xf32>
  %bias = "tosa.const"() <{values = dense<[[[1.0, -1.0]]]> : tensor<1x1x2xf32>}> : () -> tensor<1x1x2xf32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %0 = tosa.matmul %arg0, %kernel, %zero, %zero : (tensor<1x1x2xf32>, tensor<1x2x2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x2xf32>
  %1 = tosa.add %0, %bias : (tensor<1x1x2xf32>, tensor<1x1x2xf32>) -> tensor<1x1x2xf32>
  %2 = tpc.quantize %1 as "dense" activation statistics(#tpc.statistics<count = 4, zeros = 0, min = -1.0, max = 5.0>)
    parameters(#tpc.power_of_two<threshold = [8.0], bits = 8>) : tensor<1x1x2xf32>
  %m = tosa.reduce_max %2 {axis = 2 : i32} : (tensor<1x1x2xf32>) -> tensor<1x1x1xf32>
  %d = tosa.sub %2, %m : (tensor<1x1x2xf32>, tensor<1x1x1xf32>) -> tensor<1x1x2xf32>
  %e = tosa.exp %d : (tensor<1x1x2xf32>) -> tensor<1x1x2xf32>
  %s = tosa.reduce_sum %e {axis = 2 : i32} : (tensor<1x1x2xf32>) -> tensor<1x1x1xf32>
  %r = tosa.reciprocal %s : (tensor<1x1x1xf32>) -> tensor<1x1x1xf32>
  %y = tosa.mul %e, %r, %shift : (tensor<1x1x2xf32>, tensor<1x1x1xf32>, tensor<1xi8>) -> tensor<1x1x2xf32>
  return %y : tensor<1x1x2xf32>
}
