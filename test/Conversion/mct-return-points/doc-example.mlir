// RUN: mct-opt %s --mct-return-points | FileCheck %s

// What `tpc.points` names is returned, after what was; a result stays one.
// CHECK-LABEL: func.func @main
// CHECK-SAME:    (%[[X:.*]]: tensor<1x4xi8>)
// CHECK-SAME:    -> (tensor<1x4xi8> {tpc.quantized = {bits = 8 : i64, name = "b", scale = 2.500000e-01 : f64, zero_point = 0 : i64}}, tensor<1x4xi8> {tpc.quantized = {bits = 8 : i64, name = "a", scale = 5.000000e-01 : f64, zero_point = 0 : i64}}) {
// CHECK:         %[[A:.*]] = tosa.abs %[[X]]
// CHECK:         %[[B:.*]] = tosa.maximum %[[A]], %[[X]]
// CHECK:         return %[[B]], %[[A]]
// CHECK-NOT:   tpc.points
func.func @main(%x: tensor<1x4xi8>) -> (tensor<1x4xi8> {tpc.quantized = {name = "b", scale = 0.25 : f64, zero_point = 0 : i64, bits = 8 : i64}})
    attributes {tpc.points = [{name = "a", scale = 0.5 : f64, zero_point = 0 : i64, bits = 8 : i64}, {name = "b", scale = 0.25 : f64, zero_point = 0 : i64, bits = 8 : i64}]} {
  %0 = tosa.abs %x : (tensor<1x4xi8>) -> tensor<1x4xi8> loc("a")
  %1 = tosa.maximum %0, %x : (tensor<1x4xi8>, tensor<1x4xi8>) -> tensor<1x4xi8> loc("b")
  return %1 : tensor<1x4xi8>
}

// Nothing is said of its values.
// CHECK-LABEL: func.func @plain(%{{.*}}: tensor<1x4xi8>) -> tensor<1x4xi8> {
func.func @plain(%x: tensor<1x4xi8>) -> tensor<1x4xi8> {
  %0 = tosa.abs %x : (tensor<1x4xi8>) -> tensor<1x4xi8> loc("a")
  return %0 : tensor<1x4xi8>
}
