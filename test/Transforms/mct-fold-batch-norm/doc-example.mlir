// RUN: mct-opt %s --mct-fold-batch-norm --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s

// (conv - mean) * scale + beta: the kernel is scaled by 2 and 3, the bias becomes (1 - 1) * 2 + 5 and (2 - 4) * 3 + 6.
// CHECK-LABEL: func.func @main
// CHECK-DAG:     %[[KERNEL:.*]] = "tosa.const"() <{values = dense<{{\[\[\[\[}}2.000000e+00]]], {{\[\[\[}}3.000000e+00]]]]> : tensor<2x1x1x1xf32>
// CHECK-DAG:     %[[BIAS:.*]] = "tosa.const"() <{values = dense<[5.000000e+00, 0.000000e+00]> : tensor<2xf32>
// CHECK:         %[[CONV:.*]] = tosa.conv2d %{{.*}}, %[[KERNEL]], %[[BIAS]], {{.*}} loc("norm")
// CHECK-NEXT:    return %[[CONV]]
func.func @main(%arg0: tensor<1x4x4x1xf32>) -> tensor<1x4x4x2xf32> {
  %kernel = "tosa.const"() <{values = dense<1.0> : tensor<2x1x1x1xf32>}> : () -> tensor<2x1x1x1xf32>
  %bias = "tosa.const"() <{values = dense<[1.0, 2.0]> : tensor<2xf32>}> : () -> tensor<2xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %mean = "tosa.const"() <{values = dense<[[[[1.0, 4.0]]]]> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %scale = "tosa.const"() <{values = dense<[[[[2.0, 3.0]]]]> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %beta = "tosa.const"() <{values = dense<[[[[5.0, 6.0]]]]> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %0 = tosa.conv2d %arg0, %kernel, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x1xf32>, tensor<2x1x1x1xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x2xf32> loc("conv")
  %1 = tosa.sub %0, %mean : (tensor<1x4x4x2xf32>, tensor<1x1x1x2xf32>) -> tensor<1x4x4x2xf32>
  %2 = tosa.mul %1, %scale, %shift : (tensor<1x4x4x2xf32>, tensor<1x1x1x2xf32>, tensor<1xi8>) -> tensor<1x4x4x2xf32>
  %3 = tosa.add %2, %beta : (tensor<1x4x4x2xf32>, tensor<1x1x1x2xf32>) -> tensor<1x4x4x2xf32> loc("norm")
  return %3 : tensor<1x4x4x2xf32>
}
