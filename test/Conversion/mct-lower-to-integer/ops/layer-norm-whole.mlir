// RUN: mct-opt %s --mct-lower-to-integer="io=integer layer-norm=integer" --mct-check-integer | mlir-opt-22 --tosa-attach-target="profiles=pro_int level=8k specification_version=1.0" --tosa-validate=strict-op-spec-alignment | FileCheck %s

// A layer norm with one quantizer after it: exact sums, and an inverse root by a table and two steps of Newton's method.
// CHECK-LABEL: func.func @main
// CHECK:         tosa.reduce_sum {{.*}} -> tensor<1x6x1xi32>
// CHECK:         tosa.reduce_sum {{.*}} -> tensor<1x6x1xi32>
// CHECK:         tosa.clz {{.*}} -> tensor<1x6x1xi32>
// CHECK:         tosa.table {{.*}} -> tensor<1x6x1xi8>
// CHECK:         tosa.mul {{.*}} -> tensor<1x6x16xi32>
// CHECK:         tosa.add {{.*}} -> tensor<1x6x16xi32>
// CHECK:         tosa.rescale {{.*}}per_channel = true{{.*}} -> tensor<1x6x16xi8>
func.func @main(%x_float: tensor<1x6x16xf32>) -> tensor<1x6x16xf32> {
  %x = tpc.quantize %x_float as "x" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<1x6x16xf32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %inverse = "tosa.const"() <{values = dense<0.0625> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
  %epsilon = "tosa.const"() <{values = dense<0.0010000000474974513> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
  %gain = "tosa.const"() <{values = dense<[[[-0.5, 0.0, 0.625, 0.6875, 0.75, 0.8125, 0.875, 0.9375, 1.0, 1.0625, 1.125, 1.1875, 1.25, 1.3125, 1.375, 1.4375]]]> : tensor<1x1x16xf32>}> : () -> tensor<1x1x16xf32>
  %offset = "tosa.const"() <{values = dense<[[[-1.0, -0.875, -0.75, -0.625, -0.5, -0.375, -0.25, -0.125, 0.0, 0.125, 0.25, 0.375, 0.5, 0.625, 0.75, 0.875]]]> : tensor<1x1x16xf32>}> : () -> tensor<1x1x16xf32>
  %sum = tosa.reduce_sum %x {axis = 2 : i32} : (tensor<1x6x16xf32>) -> tensor<1x6x1xf32>
  %mean = tosa.mul %sum, %inverse, %shift : (tensor<1x6x1xf32>, tensor<1x1x1xf32>, tensor<1xi8>) -> tensor<1x6x1xf32>
  %centered = tosa.sub %x, %mean : (tensor<1x6x16xf32>, tensor<1x6x1xf32>) -> tensor<1x6x16xf32>
  %square = tosa.mul %centered, %centered, %shift : (tensor<1x6x16xf32>, tensor<1x6x16xf32>, tensor<1xi8>) -> tensor<1x6x16xf32>
  %squares = tosa.reduce_sum %square {axis = 2 : i32} : (tensor<1x6x16xf32>) -> tensor<1x6x1xf32>
  %variance = tosa.mul %squares, %inverse, %shift : (tensor<1x6x1xf32>, tensor<1x1x1xf32>, tensor<1xi8>) -> tensor<1x6x1xf32>
  %safe = tosa.add %variance, %epsilon : (tensor<1x6x1xf32>, tensor<1x1x1xf32>) -> tensor<1x6x1xf32>
  %factor = tosa.rsqrt %safe : (tensor<1x6x1xf32>) -> tensor<1x6x1xf32>
  %normal = tosa.mul %centered, %factor, %shift : (tensor<1x6x16xf32>, tensor<1x6x1xf32>, tensor<1xi8>) -> tensor<1x6x16xf32>
  %scaled = tosa.mul %normal, %gain, %shift : (tensor<1x6x16xf32>, tensor<1x1x16xf32>, tensor<1xi8>) -> tensor<1x6x16xf32>
  %moved = tosa.add %scaled, %offset : (tensor<1x6x16xf32>, tensor<1x1x16xf32>) -> tensor<1x6x16xf32>
  %out = tpc.quantize %moved as "out" activation parameters(#tpc.power_of_two<threshold = [4.0], bits = 8, rounding = half_up>) : tensor<1x6x16xf32>
  return %out : tensor<1x6x16xf32>
}
