// RUN: mct-opt %s --split-input-file --mct-insert-imported-points | FileCheck %s

// The point moves to the op that makes the value, and what reads the argument
// comes after it, wherever the converter has put it.
// CHECK-LABEL: func.func @moves_up(
// CHECK-NEXT:    %[[E:.*]] = tosa.exp %arg0
// CHECK-NEXT:    %[[Q:.*]] = tpc.quantize %[[E]] as "exp" activation {{.*}} : tensor<1x2x3xf32>
// CHECK-NEXT:    %[[T:.*]] = tosa.transpose %[[Q]]
// CHECK-NEXT:    %[[R:.*]] = tosa.tanh %[[T]]
// CHECK-NEXT:    return %[[R]]
func.func @moves_up(%arg0: tensor<1x2x3xf32>, %arg1: tensor<1x3x2xf32> {tpc.imported = {point = "p", scale = array<f64: 0.5>, zero_point = array<i64: 0>, bits = 8 : i64, is_signed = true}}) -> (tensor<1x3x2xf32>, tensor<1x3x2xf32> {tpc.imported = "p"}) {
  %0 = tosa.tanh %arg1 : (tensor<1x3x2xf32>) -> tensor<1x3x2xf32>
  %1 = tosa.exp %arg0 : (tensor<1x2x3xf32>) -> tensor<1x2x3xf32>
  %2 = tosa.transpose %1 {perms = array<i32: 0, 2, 1>} : (tensor<1x2x3xf32>) -> tensor<1x3x2xf32>
  return %0, %2 : tensor<1x3x2xf32>, tensor<1x3x2xf32>
}

// -----

// Another reader of the transposed value reads it unquantized.
// CHECK-LABEL: func.func @read_by_others(
// CHECK:         %[[T:.*]] = tosa.transpose
// CHECK-NEXT:    %[[Q:.*]] = tpc.quantize %[[T]]
// CHECK-NEXT:    tosa.add %[[T]], %[[Q]]
func.func @read_by_others(%arg0: tensor<1x2x3xf32>, %arg1: tensor<1x3x2xf32> {tpc.imported = {point = "p", scale = array<f64: 0.5>, zero_point = array<i64: 0>, bits = 8 : i64, is_signed = true}}) -> (tensor<1x3x2xf32>, tensor<1x3x2xf32> {tpc.imported = "p"}) {
  %0 = tosa.transpose %arg0 {perms = array<i32: 0, 2, 1>} : (tensor<1x2x3xf32>) -> tensor<1x3x2xf32>
  %1 = tosa.add %0, %arg1 : (tensor<1x3x2xf32>, tensor<1x3x2xf32>) -> tensor<1x3x2xf32>
  return %1, %0 : tensor<1x3x2xf32>, tensor<1x3x2xf32>
}

// -----

// Two points of one value have names of their own; a point may quantize another
// one, and what it makes may be the result.
// CHECK-LABEL: func.func @several(
// CHECK:         %[[B:.*]] = tpc.quantize %arg0 as "[[A:.*]]" activation parameters(#tpc.symmetric<threshold = [{{.*}}], bits = 4>)
// CHECK:         return
func.func @several(%arg0: tensor<2xf32>,
    %arg1: tensor<2xf32> {tpc.imported = {point = "a", scale = array<f64: 0.5>, zero_point = array<i64: 0>, bits = 8 : i64, is_signed = true}},
    %arg2: tensor<2xf32> {tpc.imported = {point = "b", scale = array<f64: 0.25>, zero_point = array<i64: 0>, bits = 4 : i64, is_signed = true}},
    %arg3: tensor<2xf32> {tpc.imported = {point = "c", scale = array<f64: 2.0>, zero_point = array<i64: 0>, bits = 2 : i64, is_signed = true}})
    -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32> {tpc.imported = "a"}, tensor<2xf32> {tpc.imported = "b"}, tensor<2xf32> {tpc.imported = "c"}) {
  return %arg3, %arg2, %arg0, %arg0, %arg1 : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}

// -----

// A network without records stays as it is.
// CHECK-LABEL: func.func @none(
// CHECK-NEXT:    return %arg0
func.func @none(%arg0: tensor<2xf32>) -> tensor<2xf32> {
  return %arg0 : tensor<2xf32>
}

// -----

// Codes without a sign have made a ReLU superfluous, which is put back; not
// where values have no sign already.
// CHECK-LABEL: func.func @relu(
// CHECK:         %[[T:.*]] = tosa.tanh %arg0
// CHECK-NEXT:    %[[R:.*]] = tosa.clamp %[[T]] {max_val = 3.40282347E+38 : f32, min_val = 0.000000e+00 : f32}
// CHECK-NEXT:    %[[A:.*]] = tpc.quantize %[[R]] as "value/relu" activation
// CHECK-NEXT:    %[[S:.*]] = tosa.sin %[[A]]
// CHECK-NEXT:    %[[R6:.*]] = tosa.clamp %[[S]] {max_val = 6.000000e+00 : f32, min_val = 0.000000e+00 : f32}
// CHECK-NEXT:    %[[B:.*]] = tpc.quantize %[[R6]]
// CHECK-NEXT:    %[[SUM:.*]] = tosa.add %[[B]], %[[B]]
// CHECK-NEXT:    %[[C:.*]] = tpc.quantize %[[SUM]]
// CHECK-NEXT:    return %[[C]]
func.func @relu(%arg0: tensor<2xf32>,
    %arg1: tensor<2xf32> {tpc.imported = {point = "a", scale = array<f64: 0.5>, zero_point = array<i64: -128>, bits = 8 : i64, is_signed = true}},
    %arg2: tensor<2xf32> {tpc.imported = {point = "b", scale = array<f64: 0.02353>, zero_point = array<i64: 0>, bits = 8 : i64, is_signed = false}},
    %arg3: tensor<2xf32> {tpc.imported = {point = "c", scale = array<f64: 0.5>, zero_point = array<i64: 0>, bits = 8 : i64, is_signed = false}})
    -> (tensor<2xf32>, tensor<2xf32> {tpc.imported = "a"}, tensor<2xf32> {tpc.imported = "b"}, tensor<2xf32> {tpc.imported = "c"}) {
  %0 = tosa.tanh %arg0 : (tensor<2xf32>) -> tensor<2xf32> loc("value")
  %1 = tosa.sin %arg1 : (tensor<2xf32>) -> tensor<2xf32>
  %2 = tosa.add %arg2, %arg2 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %arg3, %0, %1, %2 : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}

// -----

// The same quantizer a second time, after a reshape, changes nothing.
// CHECK-LABEL: func.func @twice(
// CHECK-NEXT:    %[[S:.*]] = tosa.const_shape
// CHECK-NEXT:    %[[E:.*]] = tosa.exp %arg0
// CHECK-NEXT:    %[[Q:.*]] = tpc.quantize %[[E]] as "exp"
// CHECK-NEXT:    %[[R:.*]] = tosa.reshape %[[Q]]
// CHECK-NEXT:    return %[[R]]
func.func @twice(%arg0: tensor<1x2xf32>,
    %arg1: tensor<1x2xf32> {tpc.imported = {point = "a", scale = array<f64: 0.5>, zero_point = array<i64: 1>, bits = 8 : i64, is_signed = true}},
    %arg2: tensor<2xf32> {tpc.imported = {point = "b", scale = array<f64: 0.5>, zero_point = array<i64: 1>, bits = 8 : i64, is_signed = true}})
    -> (tensor<2xf32>, tensor<1x2xf32> {tpc.imported = "a"}, tensor<2xf32> {tpc.imported = "b"}) {
  %shape = tosa.const_shape {values = dense<2> : tensor<1xindex>} : () -> !tosa.shape<1>
  %0 = tosa.exp %arg0 : (tensor<1x2xf32>) -> tensor<1x2xf32>
  %1 = tosa.reshape %arg1, %shape : (tensor<1x2xf32>, !tosa.shape<1>) -> tensor<2xf32>
  return %arg2, %0, %1 : tensor<2xf32>, tensor<1x2xf32>, tensor<2xf32>
}
