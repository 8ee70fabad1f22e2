// RUN: mct-opt %s --mct-bound-relu-to-power-of-two --split-input-file | FileCheck %s
// RUN: mct-opt %s --mct-bound-relu-to-power-of-two="remarks=true" --split-input-file --verify-diagnostics

// The factor is 12/8.
// CHECK-LABEL: func.func @bound_above_eight
// CHECK-DAG:     %[[K1:.*]] = "tosa.const"() <{values = dense<0.666666686> : tensor<1x1x1x1xf32>}>
// CHECK-DAG:     %[[K2:.*]] = "tosa.const"() <{values = dense<1.500000e+00> : tensor<1x1x1x1xf32>}>
// CHECK-DAG:     %[[X:.*]] = tosa.conv2d %arg0, %[[K1]]
// CHECK-DAG:     %[[Y:.*]] = tosa.clamp %[[X]] {max_val = 8.000000e+00 : f32
// CHECK-DAG:     tosa.conv2d %[[Y]], %[[K2]]
func.func @bound_above_eight(%arg0: tensor<1x4x4x1xf32>) -> tensor<1x4x4x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %k1 = "tosa.const"() <{values = dense<1.0> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %k2 = "tosa.const"() <{values = dense<1.0> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %b = "tosa.const"() <{values = dense<3.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.conv2d %arg0, %k1, %b, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x1xf32>
  // expected-remark@+1 {{its bound goes from 1.200000e+01 to 8.000000e+00}}
  %1 = tosa.clamp %0 {max_val = 12.0 : f32, min_val = 0.0 : f32} : (tensor<1x4x4x1xf32>) -> tensor<1x4x4x1xf32>
  %2 = tosa.conv2d %1, %k2, %b, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x1xf32>
  return %2 : tensor<1x4x4x1xf32>
}

// -----

// 4 needs no factor.
// CHECK-LABEL: func.func @bound_that_is_a_power_of_two
// CHECK:         tosa.clamp %{{.*}} {max_val = 4.000000e+00 : f32
func.func @bound_that_is_a_power_of_two(%arg0: tensor<1x4x4x1xf32>) -> tensor<1x4x4x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %k1 = "tosa.const"() <{values = dense<1.0> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %k2 = "tosa.const"() <{values = dense<1.0> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %b = "tosa.const"() <{values = dense<3.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.conv2d %arg0, %k1, %b, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x1xf32>
  %1 = tosa.clamp %0 {max_val = 4.0 : f32, min_val = 0.0 : f32} : (tensor<1x4x4x1xf32>) -> tensor<1x4x4x1xf32>
  %2 = tosa.conv2d %1, %k2, %b, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x1xf32>
  return %2 : tensor<1x4x4x1xf32>
}

// -----

// CHECK-LABEL: func.func @relu_without_bound
// CHECK:         tosa.clamp %{{.*}} {max_val = 3.40282347E+38 : f32
func.func @relu_without_bound(%arg0: tensor<1x4x4x1xf32>) -> tensor<1x4x4x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %k1 = "tosa.const"() <{values = dense<1.0> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %k2 = "tosa.const"() <{values = dense<1.0> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %b = "tosa.const"() <{values = dense<3.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.conv2d %arg0, %k1, %b, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x1xf32>
  %1 = tosa.clamp %0 {max_val = 3.40282347E+38 : f32, min_val = 0.0 : f32} : (tensor<1x4x4x1xf32>) -> tensor<1x4x4x1xf32>
  %2 = tosa.conv2d %1, %k2, %b, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x1xf32>
  return %2 : tensor<1x4x4x1xf32>
}

// -----

// Pooling, zeros around it and other orders of the values take any factor.
// CHECK-LABEL: func.func @ops_in_between
// CHECK:         tosa.clamp %{{.*}} {max_val = 8.000000e+00 : f32
// CHECK:         %[[K:.*]] = "tosa.const"() <{values = dense<7.500000e-01> : tensor<1x16x2xf32>}>
// CHECK:         tosa.matmul %{{.*}}, %[[K]]
func.func @ops_in_between(%arg0: tensor<1x4x4x1xf32>) -> tensor<1x1x2xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %k1 = "tosa.const"() <{values = dense<1.0> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %k2 = "tosa.const"() <{values = dense<1.0> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %b = "tosa.const"() <{values = dense<3.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %pv = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %padding = tosa.const_shape {values = dense<[0, 0, 1, 1, 1, 1, 0, 0]> : tensor<8xindex>} : () -> !tosa.shape<8>
  %0 = tosa.conv2d %arg0, %k1, %b, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x1xf32>
  // expected-remark@+1 {{its bound goes from 6.000000e+00 to 8.000000e+00}}
  %1 = tosa.clamp %0 {max_val = 6.0 : f32, min_val = 0.0 : f32} : (tensor<1x4x4x1xf32>) -> tensor<1x4x4x1xf32>
  %2 = tosa.max_pool2d %1 {kernel = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>} : (tensor<1x4x4x1xf32>) -> tensor<1x2x2x1xf32>
  %3 = tosa.pad %2, %padding, %pv : (tensor<1x2x2x1xf32>, !tosa.shape<8>, tensor<1xf32>) -> tensor<1x4x4x1xf32>
  %4 = tosa.transpose %3 {perms = array<i32: 0, 2, 1, 3>} : (tensor<1x4x4x1xf32>) -> tensor<1x4x4x1xf32>
  %shape = tosa.const_shape {values = dense<[1, 1, 16]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %5 = tosa.reshape %4, %shape : (tensor<1x4x4x1xf32>, !tosa.shape<3>) -> tensor<1x1x16xf32>
  %m = "tosa.const"() <{values = dense<1.0> : tensor<1x16x2xf32>}> : () -> tensor<1x16x2xf32>
  %6 = tosa.matmul %5, %m, %zero, %zero : (tensor<1x1x16xf32>, tensor<1x16x2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x2xf32>
  return %6 : tensor<1x1x2xf32>
}

// -----

// A product without a bias.
// CHECK-LABEL: func.func @layer_without_bias
// CHECK:         %[[K:.*]] = "tosa.const"() <{values = dense<1.33333337> : tensor<1x4x2xf32>}>
// CHECK:         %[[X:.*]] = tosa.matmul %arg0, %[[K]]
// CHECK-NEXT:    tosa.clamp %[[X]] {max_val = 8.000000e+00 : f32
func.func @layer_without_bias(%arg0: tensor<1x1x4xf32>) -> tensor<1x1x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %m = "tosa.const"() <{values = dense<1.0> : tensor<1x4x2xf32>}> : () -> tensor<1x4x2xf32>
  %n = "tosa.const"() <{values = dense<1.0> : tensor<1x2x1xf32>}> : () -> tensor<1x2x1xf32>
  %0 = tosa.matmul %arg0, %m, %zero, %zero : (tensor<1x1x4xf32>, tensor<1x4x2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x2xf32>
  // expected-remark@+1 {{its bound goes from 6.000000e+00 to 8.000000e+00}}
  %1 = tosa.clamp %0 {max_val = 6.0 : f32, min_val = 0.0 : f32} : (tensor<1x1x2xf32>) -> tensor<1x1x2xf32>
  %2 = tosa.matmul %1, %n, %zero, %zero : (tensor<1x1x2xf32>, tensor<1x2x1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1xf32>
  return %2 : tensor<1x1x1xf32>
}

// -----

// Two layers with one kernel: each gets its own.
// CHECK-LABEL: func.func @shared_kernel
// CHECK-DAG:     %[[K1:.*]] = "tosa.const"() <{values = dense<1.33333337> : tensor<1x1x1x1xf32>}>
// CHECK-DAG:     %[[K2:.*]] = "tosa.const"() <{values = dense<7.500000e-01> : tensor<1x1x1x1xf32>}>
// CHECK-DAG:     tosa.conv2d %arg0, %[[K1]]
// CHECK-DAG:     tosa.conv2d %{{.*}}, %[[K2]]
func.func @shared_kernel(%arg0: tensor<1x4x4x1xf32>) -> tensor<1x4x4x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %k1 = "tosa.const"() <{values = dense<1.0> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %b = "tosa.const"() <{values = dense<3.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.conv2d %arg0, %k1, %b, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x1xf32>
  // expected-remark@+1 {{its bound goes from 6.000000e+00 to 8.000000e+00}}
  %1 = tosa.clamp %0 {max_val = 6.0 : f32, min_val = 0.0 : f32} : (tensor<1x4x4x1xf32>) -> tensor<1x4x4x1xf32>
  %2 = tosa.conv2d %1, %k1, %b, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x1xf32>
  return %2 : tensor<1x4x4x1xf32>
}

// -----

// CHECK-LABEL: func.func @two_readers
// CHECK:         tosa.clamp %{{.*}} {max_val = 6.000000e+00 : f32
func.func @two_readers(%arg0: tensor<1x4x4x1xf32>) -> tensor<1x4x4x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %k1 = "tosa.const"() <{values = dense<1.0> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %k2 = "tosa.const"() <{values = dense<1.0> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %b = "tosa.const"() <{values = dense<3.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.conv2d %arg0, %k1, %b, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x1xf32>
  // expected-remark@+1 {{keeps its bound 6.000000e+00: it has no layer as its only user that could take the factor}}
  %1 = tosa.clamp %0 {max_val = 6.0 : f32, min_val = 0.0 : f32} : (tensor<1x4x4x1xf32>) -> tensor<1x4x4x1xf32>
  %2 = tosa.conv2d %1, %k2, %b, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x1xf32>
  %3 = tosa.add %2, %1 : (tensor<1x4x4x1xf32>, tensor<1x4x4x1xf32>) -> tensor<1x4x4x1xf32>
  return %3 : tensor<1x4x4x1xf32>
}

// -----

// CHECK-LABEL: func.func @reader_that_is_no_layer
// CHECK:         tosa.clamp %{{.*}} {max_val = 6.000000e+00 : f32
func.func @reader_that_is_no_layer(%arg0: tensor<1x4x4x1xf32>) -> tensor<1x4x4x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %k1 = "tosa.const"() <{values = dense<1.0> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %k2 = "tosa.const"() <{values = dense<1.0> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %b = "tosa.const"() <{values = dense<3.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.conv2d %arg0, %k1, %b, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x1xf32>
  // expected-remark@+1 {{keeps its bound 6.000000e+00: it has no layer as its only user that could take the factor}}
  %1 = tosa.clamp %0 {max_val = 6.0 : f32, min_val = 0.0 : f32} : (tensor<1x4x4x1xf32>) -> tensor<1x4x4x1xf32>
  // expected-note@+1 {{this op}}
  %2 = tosa.exp %1 : (tensor<1x4x4x1xf32>) -> tensor<1x4x4x1xf32>
  return %2 : tensor<1x4x4x1xf32>
}

// -----

// Borders of ones would have to be scaled too.
// CHECK-LABEL: func.func @padding_with_ones
// CHECK:         tosa.clamp %{{.*}} {max_val = 6.000000e+00 : f32
func.func @padding_with_ones(%arg0: tensor<1x4x4x1xf32>) -> tensor<1x6x6x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %k1 = "tosa.const"() <{values = dense<1.0> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %k2 = "tosa.const"() <{values = dense<1.0> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %b = "tosa.const"() <{values = dense<3.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %one = "tosa.const"() <{values = dense<1.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %padding = tosa.const_shape {values = dense<[0, 0, 1, 1, 1, 1, 0, 0]> : tensor<8xindex>} : () -> !tosa.shape<8>
  %0 = tosa.conv2d %arg0, %k1, %b, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x1xf32>
  // expected-remark@+1 {{keeps its bound 6.000000e+00: it has no layer as its only user that could take the factor}}
  %1 = tosa.clamp %0 {max_val = 6.0 : f32, min_val = 0.0 : f32} : (tensor<1x4x4x1xf32>) -> tensor<1x4x4x1xf32>
  // expected-note@+1 {{this op}}
  %2 = tosa.pad %1, %padding, %one : (tensor<1x4x4x1xf32>, !tosa.shape<8>, tensor<1xf32>) -> tensor<1x6x6x1xf32>
  %3 = tosa.conv2d %2, %k2, %b, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x6x6x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x6x6x1xf32>
  return %3 : tensor<1x6x6x1xf32>
}

// -----

// CHECK-LABEL: func.func @two_bounds
// CHECK:         tosa.clamp %{{.*}} {max_val = 6.000000e+00 : f32
// CHECK:         tosa.clamp %{{.*}} {max_val = 5.000000e+00 : f32
func.func @two_bounds(%arg0: tensor<1x4x4x1xf32>) -> tensor<1x4x4x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %k1 = "tosa.const"() <{values = dense<1.0> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %k2 = "tosa.const"() <{values = dense<1.0> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %b = "tosa.const"() <{values = dense<3.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.conv2d %arg0, %k1, %b, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x1xf32>
  // expected-remark@+1 {{keeps its bound 6.000000e+00: another bounded ReLU follows it; run mct-normalize-activations before}}
  %1 = tosa.clamp %0 {max_val = 6.0 : f32, min_val = 0.0 : f32} : (tensor<1x4x4x1xf32>) -> tensor<1x4x4x1xf32>
  %2 = tosa.clamp %1 {max_val = 5.0 : f32, min_val = 0.0 : f32} : (tensor<1x4x4x1xf32>) -> tensor<1x4x4x1xf32>
  %3 = tosa.conv2d %2, %k2, %b, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x1xf32>
  return %3 : tensor<1x4x4x1xf32>
}

// -----

// CHECK-LABEL: func.func @quantizer_point
// CHECK:         tosa.clamp %{{.*}} {max_val = 6.000000e+00 : f32
func.func @quantizer_point(%arg0: tensor<1x4x4x1xf32>) -> tensor<1x4x4x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %k1 = "tosa.const"() <{values = dense<1.0> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %k2 = "tosa.const"() <{values = dense<1.0> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %b = "tosa.const"() <{values = dense<3.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.conv2d %arg0, %k1, %b, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x1xf32>
  // expected-remark@+1 {{keeps its bound 6.000000e+00: there are quantization points around it; run this pass before mct-insert-quantizers}}
  %1 = tosa.clamp %0 {max_val = 6.0 : f32, min_val = 0.0 : f32} : (tensor<1x4x4x1xf32>) -> tensor<1x4x4x1xf32>
  %2 = tpc.quantize %1 as "relu6" activation : tensor<1x4x4x1xf32>
  %3 = tosa.conv2d %2, %k2, %b, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x1xf32>
  return %3 : tensor<1x4x4x1xf32>
}

// -----

// CHECK-LABEL: func.func @bias_from_outside
// CHECK:         tosa.clamp %{{.*}} {max_val = 6.000000e+00 : f32
func.func @bias_from_outside(%arg0: tensor<1x4x4x1xf32>, %arg1: tensor<1xf32>) -> tensor<1x4x4x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %k1 = "tosa.const"() <{values = dense<1.0> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %k2 = "tosa.const"() <{values = dense<1.0> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %b = "tosa.const"() <{values = dense<3.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  // expected-note@+1 {{this op}}
  %0 = tosa.conv2d %arg0, %k1, %arg1, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x1xf32>
  // expected-remark@+1 {{keeps its bound 6.000000e+00: the layer before it has a bias that is not constant along its channels}}
  %1 = tosa.clamp %0 {max_val = 6.0 : f32, min_val = 0.0 : f32} : (tensor<1x4x4x1xf32>) -> tensor<1x4x4x1xf32>
  %2 = tosa.conv2d %1, %k2, %b, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x1xf32>
  return %2 : tensor<1x4x4x1xf32>
}
