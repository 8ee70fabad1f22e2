// RUN: mct-opt %s --mct-fold-batch-norm --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s
//
// Where the ops stand, and what they are called afterwards.

// torch-mlir keeps NCHW: the channels of the batch norm are axis 1 after the transposition.
// CHECK-LABEL: func.func @across_transpose
// CHECK:         dense<{{\[\[\[\[}}2.000000e+00, 2.000000e+00]]], {{\[\[\[}}6.000000e+00, 6.000000e+00]]]]> : tensor<2x1x1x2xf32>
// CHECK:         dense<[5.000000e+00, 6.000000e+00]> : tensor<2xf32>
// CHECK:         %[[CONV:.*]] = tosa.conv2d %arg0, {{.*}} loc("conv_bn"("conv"))
// CHECK-NEXT:    %[[T:.*]] = tosa.transpose %[[CONV]] {{.*}} loc("norm")
// CHECK-NEXT:    return %[[T]]
func.func @across_transpose(%x: tensor<1x2x3x2xf32>) -> tensor<1x2x2x3xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %k = "tosa.const"() <{values = dense<[[[[1.0, 1.0]]], [[[2.0, 2.0]]]]> : tensor<2x1x1x2xf32>}> : () -> tensor<2x1x1x2xf32>
  %s = "tosa.const"() <{values = dense<[[[[2.0]], [[3.0]]]]> : tensor<1x2x1x1xf32>}> : () -> tensor<1x2x1x1xf32>
  %o = "tosa.const"() <{values = dense<[[[[5.0]], [[6.0]]]]> : tensor<1x2x1x1xf32>}> : () -> tensor<1x2x1x1xf32>
  %0 = tosa.conv2d %x, %k, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x2x3x2xf32>, tensor<2x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x3x2xf32> loc("conv")
  %t = tosa.transpose %0 {perms = array<i32: 0, 3, 1, 2>} : (tensor<1x2x3x2xf32>) -> tensor<1x2x2x3xf32> loc("nchw")
  %1 = tosa.mul %t, %s, %shift : (tensor<1x2x2x3xf32>, tensor<1x2x1x1xf32>, tensor<1xi8>) -> tensor<1x2x2x3xf32>
  %2 = tosa.add %1, %o : (tensor<1x2x2x3xf32>, tensor<1x2x1x1xf32>) -> tensor<1x2x2x3xf32> loc("norm")
  return %2 : tensor<1x2x2x3xf32>
}

// [K, O] = [[1, 2], [3, 4]]: its columns are scaled. There is no bias yet.
// CHECK-LABEL: func.func @product_gets_a_bias
// CHECK:         dense<{{\[\[\[}}2.000000e+00, 6.000000e+00], [6.000000e+00, 1.200000e+01]]]> : tensor<1x2x2xf32>
// CHECK:         %[[DOT:.*]] = tosa.matmul %arg0, {{.*}} loc("norm.product"("norm"))
// CHECK:         %[[BIAS:.*]] = "tosa.const"() <{values = dense<{{\[\[\[}}-5.000000e+00, -6.000000e+00]]]> : tensor<1x1x2xf32>
// CHECK:         %[[SUM:.*]] = tosa.add %[[DOT]], %[[BIAS]] {{.*}} loc("norm")
// CHECK-NEXT:    return %[[SUM]]
func.func @product_gets_a_bias(%x: tensor<1x2x2xf32>) -> tensor<1x2x2xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %k = "tosa.const"() <{values = dense<[[[1.0, 2.0], [3.0, 4.0]]]> : tensor<1x2x2xf32>}> : () -> tensor<1x2x2xf32>
  %s = "tosa.const"() <{values = dense<[[[2.0, 3.0]]]> : tensor<1x1x2xf32>}> : () -> tensor<1x1x2xf32>
  %o = "tosa.const"() <{values = dense<[[[5.0, 6.0]]]> : tensor<1x1x2xf32>}> : () -> tensor<1x1x2xf32>
  %0 = tosa.matmul %x, %k, %zero, %zero : (tensor<1x2x2xf32>, tensor<1x2x2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x2xf32> loc("dense")
  %1 = tosa.mul %0, %s, %shift : (tensor<1x2x2xf32>, tensor<1x1x2xf32>, tensor<1xi8>) -> tensor<1x2x2xf32>
  %2 = tosa.sub %1, %o : (tensor<1x2x2xf32>, tensor<1x1x2xf32>) -> tensor<1x2x2xf32> loc("norm")
  return %2 : tensor<1x2x2xf32>
}

// The constant comes first. Nothing is to be added.
// CHECK-LABEL: func.func @product_without_offset
// CHECK:         dense<{{\[\[\[}}2.000000e+00, 6.000000e+00], [6.000000e+00, 1.200000e+01]]]> : tensor<1x2x2xf32>
// CHECK:         %[[DOT:.*]] = tosa.matmul
// CHECK-NEXT:    return %[[DOT]]
func.func @product_without_offset(%x: tensor<1x2x2xf32>) -> tensor<1x2x2xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %k = "tosa.const"() <{values = dense<[[[1.0, 2.0], [3.0, 4.0]]]> : tensor<1x2x2xf32>}> : () -> tensor<1x2x2xf32>
  %s = "tosa.const"() <{values = dense<[[[2.0, 3.0]]]> : tensor<1x1x2xf32>}> : () -> tensor<1x1x2xf32>
  %0 = tosa.matmul %x, %k, %zero, %zero : (tensor<1x2x2xf32>, tensor<1x2x2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x2xf32> loc("dense")
  %1 = tosa.mul %s, %0, %shift : (tensor<1x1x2xf32>, tensor<1x2x2xf32>, tensor<1xi8>) -> tensor<1x2x2xf32>
  return %1 : tensor<1x2x2xf32>
}

// o - s * x.
// CHECK-LABEL: func.func @constant_minus_value
// CHECK:         dense<{{\[\[\[}}-2.000000e+00, -6.000000e+00], [-6.000000e+00, -1.200000e+01]]]> : tensor<1x2x2xf32>
// CHECK:         dense<{{\[\[\[}}5.000000e+00, 6.000000e+00]]]> : tensor<1x1x2xf32>
// CHECK:         tosa.add
// CHECK-NEXT:    return
func.func @constant_minus_value(%x: tensor<1x2x2xf32>) -> tensor<1x2x2xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %k = "tosa.const"() <{values = dense<[[[1.0, 2.0], [3.0, 4.0]]]> : tensor<1x2x2xf32>}> : () -> tensor<1x2x2xf32>
  %s = "tosa.const"() <{values = dense<[[[2.0, 3.0]]]> : tensor<1x1x2xf32>}> : () -> tensor<1x1x2xf32>
  %o = "tosa.const"() <{values = dense<[[[5.0, 6.0]]]> : tensor<1x1x2xf32>}> : () -> tensor<1x1x2xf32>
  %0 = tosa.matmul %x, %k, %zero, %zero : (tensor<1x2x2xf32>, tensor<1x2x2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x2xf32> loc("dense")
  %1 = tosa.mul %0, %s, %shift : (tensor<1x2x2xf32>, tensor<1x1x2xf32>, tensor<1xi8>) -> tensor<1x2x2xf32>
  %2 = tosa.sub %o, %1 : (tensor<1x1x2xf32>, tensor<1x2x2xf32>) -> tensor<1x2x2xf32>
  return %2 : tensor<1x2x2xf32>
}

// Rows are scaled by 2 and 3; [5 * 1 + 6 * 3, 5 * 2 + 6 * 4] is added.
// CHECK-LABEL: func.func @forward_into_product
// CHECK:         dense<{{\[\[\[}}2.000000e+00, 4.000000e+00], [9.000000e+00, 1.200000e+01]]]> : tensor<1x2x2xf32>
// CHECK:         tosa.matmul %arg0, {{.*}} loc("dense.product"("dense"))
// CHECK:         dense<{{\[\[\[}}2.300000e+01, 3.400000e+01]]]> : tensor<1x1x2xf32>
// CHECK:         tosa.add {{.*}} loc("dense")
// CHECK-NEXT:    return
func.func @forward_into_product(%x: tensor<1x2x2xf32>) -> tensor<1x2x2xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %k = "tosa.const"() <{values = dense<[[[1.0, 2.0], [3.0, 4.0]]]> : tensor<1x2x2xf32>}> : () -> tensor<1x2x2xf32>
  %s = "tosa.const"() <{values = dense<[[[2.0, 3.0]]]> : tensor<1x1x2xf32>}> : () -> tensor<1x1x2xf32>
  %o = "tosa.const"() <{values = dense<[[[5.0, 6.0]]]> : tensor<1x1x2xf32>}> : () -> tensor<1x1x2xf32>
  %0 = tosa.mul %x, %s, %shift : (tensor<1x2x2xf32>, tensor<1x1x2xf32>, tensor<1xi8>) -> tensor<1x2x2xf32>
  %1 = tosa.add %0, %o : (tensor<1x2x2xf32>, tensor<1x1x2xf32>) -> tensor<1x2x2xf32>
  %2 = tosa.matmul %1, %k, %zero, %zero : (tensor<1x2x2xf32>, tensor<1x2x2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x2xf32> loc("dense")
  return %2 : tensor<1x2x2xf32>
}

// The second product keeps the kernel that both read.
// CHECK-LABEL: func.func @shared_kernel
// CHECK-DAG:     %[[OLD:.*]] = "tosa.const"() <{values = dense<{{\[\[\[}}1.000000e+00, 2.000000e+00], [3.000000e+00, 4.000000e+00]]]> : tensor<1x2x2xf32>
// CHECK-DAG:     %[[NEW:.*]] = "tosa.const"() <{values = dense<{{\[\[\[}}2.000000e+00, 6.000000e+00], [6.000000e+00, 1.200000e+01]]]> : tensor<1x2x2xf32>
// CHECK:         tosa.matmul %arg0, %[[NEW]]
// CHECK:         tosa.matmul {{.*}} %[[OLD]]
func.func @shared_kernel(%x: tensor<1x2x2xf32>) -> tensor<1x2x2xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %k = "tosa.const"() <{values = dense<[[[1.0, 2.0], [3.0, 4.0]]]> : tensor<1x2x2xf32>}> : () -> tensor<1x2x2xf32>
  %s = "tosa.const"() <{values = dense<[[[2.0, 3.0]]]> : tensor<1x1x2xf32>}> : () -> tensor<1x1x2xf32>
  %0 = tosa.matmul %x, %k, %zero, %zero : (tensor<1x2x2xf32>, tensor<1x2x2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x2xf32> loc("dense")
  %1 = tosa.mul %0, %s, %shift : (tensor<1x2x2xf32>, tensor<1x1x2xf32>, tensor<1xi8>) -> tensor<1x2x2xf32>
  %2 = tosa.matmul %1, %k, %zero, %zero : (tensor<1x2x2xf32>, tensor<1x2x2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x2xf32> loc("second")
  return %2 : tensor<1x2x2xf32>
}

// A convolution with groups is one for each of them, and a concatenation.
// CHECK-LABEL: func.func @groups
// CHECK-DAG:     %[[K1:.*]] = "tosa.const"() <{values = dense<3.000000e+00> : tensor<1x1x1x1xf32>
// CHECK-DAG:     %[[B1:.*]] = "tosa.const"() <{values = dense<7.000000e+00> : tensor<1xf32>
// CHECK-DAG:     %[[K2:.*]] = "tosa.const"() <{values = dense<1.000000e+01> : tensor<1x1x1x1xf32>
// CHECK-DAG:     %[[B2:.*]] = "tosa.const"() <{values = dense<9.000000e+00> : tensor<1xf32>
// CHECK-DAG:     %[[G1:.*]] = tosa.conv2d %arg0, %[[K1]], %[[B1]], {{.*}} loc("group_bn"("group"))
// CHECK-DAG:     %[[G2:.*]] = tosa.conv2d %arg0, %[[K2]], %[[B2]],
// CHECK:         %[[ALL:.*]] = tosa.concat %[[G1]], %[[G2]] {{.*}} loc("norm")
// CHECK-NEXT:    return %[[ALL]]
func.func @groups(%x: tensor<1x2x2x1xf32>) -> tensor<1x2x2x2xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %k1 = "tosa.const"() <{values = dense<[[[[1.0]]]]> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %k2 = "tosa.const"() <{values = dense<[[[[2.0]]]]> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %s = "tosa.const"() <{values = dense<[[[[3.0, 5.0]]]]> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %o = "tosa.const"() <{values = dense<[[[[7.0, 9.0]]]]> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %0 = tosa.conv2d %x, %k1, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x2x2x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x2x1xf32> loc("group")
  %1 = tosa.conv2d %x, %k2, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x2x2x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x2x1xf32>
  %2 = tosa.concat %0, %1 {axis = 3 : i32} : (tensor<1x2x2x1xf32>, tensor<1x2x2x1xf32>) -> tensor<1x2x2x2xf32>
  %3 = tosa.mul %2, %s, %shift : (tensor<1x2x2x2xf32>, tensor<1x1x1x2xf32>, tensor<1xi8>) -> tensor<1x2x2x2xf32>
  %4 = tosa.add %3, %o : (tensor<1x2x2x2xf32>, tensor<1x1x1x2xf32>) -> tensor<1x2x2x2xf32> loc("norm")
  return %4 : tensor<1x2x2x2xf32>
}

// The same with named ops of linalg.
// CHECK-LABEL: func.func @linalg
// CHECK-DAG:     %[[KERNEL:.*]] = arith.constant {{.*}}dense<{{\[\[\[\[}}2.000000e+00, 3.000000e+00]]]]> : tensor<1x1x1x2xf32>
// CHECK-DAG:     %[[BIAS:.*]] = arith.constant {{.*}}dense<[5.000000e+00, 6.000000e+00]> : tensor<2xf32>
// CHECK:         %[[INIT:.*]] = linalg.broadcast ins(%[[BIAS]] : {{.*}} dimensions = [0, 1, 2]
// CHECK:         %[[CONV:.*]] = linalg.conv_2d_nhwc_hwcf {{.*}}ins(%arg0, %[[KERNEL]] : {{.*}}outs(%[[INIT]] :
// CHECK-NEXT:    return %[[CONV]]
func.func @linalg(%x: tensor<1x2x2x1xf32>) -> tensor<1x2x2x2xf32> {
  %k = arith.constant dense<1.0> : tensor<1x1x1x2xf32>
  %s = arith.constant dense<[2.0, 3.0]> : tensor<2xf32>
  %o = arith.constant dense<[5.0, 6.0]> : tensor<2xf32>
  %c = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x2x2x2xf32>
  %f = linalg.fill ins(%c : f32) outs(%e : tensor<1x2x2x2xf32>) -> tensor<1x2x2x2xf32>
  %sb = linalg.broadcast ins(%s : tensor<2xf32>) outs(%e : tensor<1x2x2x2xf32>) dimensions = [0, 1, 2]
  %ob = linalg.broadcast ins(%o : tensor<2xf32>) outs(%e : tensor<1x2x2x2xf32>) dimensions = [0, 1, 2]
  %0 = linalg.conv_2d_nhwc_hwcf ins(%x, %k : tensor<1x2x2x1xf32>, tensor<1x1x1x2xf32>) outs(%f : tensor<1x2x2x2xf32>) -> tensor<1x2x2x2xf32>
  %1 = linalg.mul ins(%0, %sb : tensor<1x2x2x2xf32>, tensor<1x2x2x2xf32>) outs(%e : tensor<1x2x2x2xf32>) -> tensor<1x2x2x2xf32>
  %2 = linalg.add ins(%1, %ob : tensor<1x2x2x2xf32>, tensor<1x2x2x2xf32>) outs(%e : tensor<1x2x2x2xf32>) -> tensor<1x2x2x2xf32>
  return %2 : tensor<1x2x2x2xf32>
}
