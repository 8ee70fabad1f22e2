// RUN: mct-opt %s --split-input-file --mct-insert-imported-points | FileCheck %s

// A kernel is read after a transposition, which is evaluated: the channels go
// with it. A bias has its numbers, and no point.
// CHECK-LABEL: func.func @transposed_kernel(
// CHECK-DAG:     %[[K:.*]] = "tosa.const"() <{values = dense<{{\[}}{{\[}}{{\[}}[1.000000e+00, -1.500000e+00]]], {{\[}}{{\[}}[-3.200000e+01, 3.175000e+01]]]]> : tensor<2x1x1x2xf32>}>
// CHECK:         %[[Q:.*]] = tpc.quantize %[[K]] as "layer" weight "kernel_attr" axes [0] parameters(#tpc.symmetric<threshold = [6.400000e+01, 3.200000e+01], bits = 8>) selection(#tpc.selection<error_method = imported>)
// CHECK-DAG:     %[[B:.*]] = "tosa.const"() <{values = dense<[1.250000e-01, -1.250000e+01]> : tensor<2xf32>}>
// CHECK:         tosa.conv2d %arg0, %[[Q]], %[[B]],
func.func @transposed_kernel(%arg0: tensor<1x4x4x2xf32>,
    %kernel: tensor<2x2x1x1xf32> {tpc.imported = {codes = dense<[[[[2]], [[-3]]], [[[-128]], [[127]]]]> : tensor<2x2x1x1xi8>, scale = array<f64: 0.5, 0.25>, zero_point = array<i64: 0>, bits = 8 : i64, is_signed = true, axes = array<i64: 0>}},
    %bias: tensor<2xf32> {tpc.imported = {codes = dense<[1, -100]> : tensor<2xi32>, scale = array<f64: 0.125, 0.125>, zero_point = array<i64: 0>, bits = 32 : i64, is_signed = true, axes = array<i64: 0>}}) -> tensor<1x4x4x2xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.transpose %kernel {perms = array<i32: 0, 2, 3, 1>} : (tensor<2x2x1x1xf32>) -> tensor<2x1x1x2xf32>
  %1 = tosa.conv2d %arg0, %0, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<2x1x1x2xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x2xf32> loc("layer")
  return %1 : tensor<1x4x4x2xf32>
}

// -----

// The parts of a kernel in groups have the channels that are theirs.
// CHECK-LABEL: func.func @slices(
// CHECK-DAG:     %[[A:.*]] = "tosa.const"() <{values = dense<{{.*}}1.000000e+00{{.*}}2.000000e+00{{.*}}> : tensor<1x2x1xf32>}>
// CHECK-DAG:     tpc.quantize {{.*}} as "first" weight "kernel_attr" parameters(#tpc.uniform<scale = [5.000000e-01], zero_point = [1], bits = 4>)
// CHECK-DAG:     tpc.quantize {{.*}} as "second" weight "kernel_attr" parameters(#tpc.uniform<scale = [2.500000e-01], zero_point = [0], bits = 4>)
func.func @slices(%arg0: tensor<1x1x2xf32>,
    %kernel: tensor<2x2xf32> {tpc.imported = {codes = dense<[[3, 5], [15, 0]]> : tensor<2x2xi8>, scale = array<f64: 0.5, 0.25>, zero_point = array<i64: 1, 0>, bits = 4 : i64, is_signed = false, axes = array<i64: 0>}}) -> (tensor<1x1x1xf32>, tensor<1x1x1xf32>) {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %shape = tosa.const_shape {values = dense<[1, 2, 2]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %none = tosa.const_shape {values = dense<[0, 0, 0]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %one = tosa.const_shape {values = dense<[0, 0, 1]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %size = tosa.const_shape {values = dense<[1, 2, 1]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %0 = tosa.transpose %kernel {perms = array<i32: 1, 0>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %1 = tosa.reshape %0, %shape : (tensor<2x2xf32>, !tosa.shape<3>) -> tensor<1x2x2xf32>
  %2 = tosa.slice %1, %none, %size : (tensor<1x2x2xf32>, !tosa.shape<3>, !tosa.shape<3>) -> tensor<1x2x1xf32>
  %3 = tosa.slice %1, %one, %size : (tensor<1x2x2xf32>, !tosa.shape<3>, !tosa.shape<3>) -> tensor<1x2x1xf32>
  %4 = tosa.matmul %arg0, %2, %zero, %zero : (tensor<1x1x2xf32>, tensor<1x2x1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1xf32> loc("first")
  %5 = tosa.matmul %arg0, %3, %zero, %zero : (tensor<1x1x2xf32>, tensor<1x2x1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1xf32> loc("second")
  return %4, %5 : tensor<1x1x1xf32>, tensor<1x1x1xf32>
}

// -----

// Real numbers under a quantizer that is given as an attribute stay as they are.
// CHECK-LABEL: func.func @values(
// CHECK:         %[[C:.*]] = "tosa.const"() <{values = dense<[3.000000e-01, 0.699999988]> : tensor<2xf32>}>
// CHECK:         tpc.quantize %[[C]] as "sum" weight "pos_attr" parameters(#tpc.power_of_two<threshold = [1.000000e+00], bits = 2, rounding = half_up>)
func.func @values(%arg0: tensor<2xf32>,
    %constant: tensor<2xf32> {tpc.imported = {values = dense<[0.3, 0.7]> : tensor<2xf32>, parameters = #tpc.power_of_two<threshold = [1.0], bits = 2, rounding = half_up>}}) -> tensor<2xf32> {
  %0 = tosa.add %arg0, %constant : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32> loc("sum")
  return %0 : tensor<2xf32>
}

// -----

// The rounding of the file is that of the point.
// CHECK-LABEL: func.func @rounding(
// CHECK:         tpc.quantize %arg0 as "arg0" activation parameters(#tpc.symmetric<threshold = [1.280000e+02], bits = 8, is_signed = false, rounding = half_up>)
func.func @rounding(%arg0: tensor<2xf32>, %arg1: tensor<2xf32> {tpc.imported = {point = "p", scale = array<f64: 0.5>, zero_point = array<i64: 0>, bits = 8 : i64, is_signed = false, rounding = "half_up"}}) -> (tensor<2xf32>, tensor<2xf32> {tpc.imported = "p"}) {
  return %arg1, %arg0 : tensor<2xf32>, tensor<2xf32>
}
