// Points in branches and loops are lowered where they stand.
// RUN: mct-opt %s --mct-lower-to-integer=io=integer --split-input-file --verify-diagnostics | FileCheck %s

// Both branches and what follows read the sums of the layer: each computes them itself. What one branch cannot compute in
// integers stays float between conversions.
// CHECK-LABEL: func.func @branches
// CHECK-SAME:    %[[X:.*]]: tensor<1x2x2x2xi8>
// CHECK:         tosa.cond_if
// CHECK:           %[[A:.*]] = tosa.conv2d %[[X]]
// CHECK:           %[[CODES:.*]] = tosa.rescale %[[A]]
// CHECK:           tosa.cast %[[CODES]] {{.*}} -> tensor<1x2x2x2xf32>
// CHECK:         } else {
// CHECK:           tosa.pow
// CHECK:           tosa.cast {{.*}} -> tensor<1x2x2x2xi8>
// CHECK:         }
// CHECK:         %[[B:.*]] = tosa.conv2d %[[X]]
// CHECK:         tosa.rescale %[[B]]
// CHECK-NOT:   tpc.quantize
func.func @branches(%arg0: tensor<1x2x2x2xf32>, %c: tensor<i1>) -> (tensor<1x2x2x2xf32>, tensor<1x2x2x2xf32>) {
  %kernel = "tosa.const"() <{values = dense<[[[[0.5, 0.25]]], [[[1.0, -0.5]]]]> : tensor<2x1x1x2xf32>}> : () -> tensor<2x1x1x2xf32>
  %bias = "tosa.const"() <{values = dense<[0.25, -0.5]> : tensor<2xf32>}> : () -> tensor<2xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %x = tpc.quantize %arg0 as "x" activation parameters(#tpc.power_of_two<threshold = [1.0], bits = 8, rounding = half_up>) : tensor<1x2x2x2xf32>
  %w = tpc.quantize %kernel as "conv" weight "kernel_attr" axes [0] parameters(#tpc.power_of_two<threshold = [1.0, 1.0], bits = 8>) : tensor<2x1x1x2xf32>
  %0 = tosa.conv2d %x, %w, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>}
         : (tensor<1x2x2x2xf32>, tensor<2x1x1x2xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x2x2xf32>
  %branch = tosa.cond_if %c : tensor<i1> -> tensor<1x2x2x2xf32> {
    %1 = tpc.quantize %0 as "then" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<1x2x2x2xf32>
    tosa.yield %1 : tensor<1x2x2x2xf32>
  } else {
    %1 = tosa.pow %x, %0 : (tensor<1x2x2x2xf32>, tensor<1x2x2x2xf32>) -> tensor<1x2x2x2xf32>
    // expected-remark @below {{stays float: 'tosa.pow' op has no integer form}}
    %2 = tpc.quantize %1 as "else" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<1x2x2x2xf32>
    tosa.yield %2 : tensor<1x2x2x2xf32>
  }
  %out = tpc.quantize %0 as "out" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<1x2x2x2xf32>
  return %branch, %out : tensor<1x2x2x2xf32>, tensor<1x2x2x2xf32>
}

// -----

// What a loop hands on is float, in io=integer too.
// CHECK-LABEL: func.func @loop
// CHECK-SAME:    tensor<2xi8>
// CHECK:         tosa.while_loop {{.*}}tensor<2xf32>
// CHECK:         ^bb0(%{{.*}}: tensor<i32>, %[[V:.*]]: tensor<2xf32>):
// CHECK:           tosa.cast {{.*}} -> tensor<2xi8>
// CHECK-NOT:   tpc.quantize
func.func @loop(%arg0: tensor<2xf32>) -> tensor<2xf32> {
  %from = "tosa.const"() <{values = dense<0> : tensor<i32>}> : () -> tensor<i32>
  %x = tpc.quantize %arg0 as "x" activation parameters(#tpc.power_of_two<threshold = [1.0], bits = 8, rounding = half_up>) : tensor<2xf32>
  %r:2 = tosa.while_loop (%i = %from, %v = %x) : (tensor<i32>, tensor<2xf32>) -> (tensor<i32>, tensor<2xf32>) {
    %end = "tosa.const"() <{values = dense<3> : tensor<i32>}> : () -> tensor<i32>
    %more = tosa.greater %end, %i : (tensor<i32>, tensor<i32>) -> tensor<i1>
    tosa.yield %more : tensor<i1>
  } do {
  ^bb0(%i: tensor<i32>, %v: tensor<2xf32>):
    %one = "tosa.const"() <{values = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %next = tosa.add %i, %one : (tensor<i32>, tensor<i32>) -> tensor<i32>
    // expected-remark @below {{stays float: an argument that it is made of is not quantized}}
    %q = tpc.quantize %v as "state" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<2xf32>
    %sum = tosa.add %q, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    tosa.yield %next, %sum : tensor<i32>, tensor<2xf32>
  }
  return %r#1 : tensor<2xf32>
}

// -----

// The place of the largest value is asked for before a point reads the same reshape.
// CHECK-LABEL: func.func @argmax
// CHECK:         %[[R:.*]] = tosa.reshape {{.*}} -> tensor<2x2xi8>
// CHECK:         tosa.argmax %[[R]]
// CHECK:         tosa.table %[[R]]
func.func @argmax(%arg0: tensor<1x4xf32>) -> (tensor<2xi32>, tensor<2x2xf32>) {
  %s = tosa.const_shape {values = dense<[2, 2]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %x = tpc.quantize %arg0 as "x" activation parameters(#tpc.power_of_two<threshold = [1.0], bits = 8, rounding = half_up>) : tensor<1x4xf32>
  %r = tosa.reshape %x, %s : (tensor<1x4xf32>, !tosa.shape<2>) -> tensor<2x2xf32>
  %a = tosa.argmax %r {axis = 1 : i32} : (tensor<2x2xf32>) -> tensor<2xi32>
  %t = tosa.tanh %r : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %y = tpc.quantize %t as "y" activation parameters(#tpc.power_of_two<threshold = [1.0], bits = 8, rounding = half_up>) : tensor<2x2xf32>
  return %a, %y : tensor<2xi32>, tensor<2x2xf32>
}
