// RUN: mct-opt %s --mct-lower-to-integer="io=integer layer-norm=integer" --mct-check-integer | FileCheck %s

// As PyTorch's exporter writes it: the variance in f64, the mean twice, and what is normalized after a reshape.
// CHECK-LABEL: func.func @main
// CHECK-SAME:    tensor<6x8xi8>
// CHECK-NOT:     xf32>
// CHECK-NOT:     xf64>
// CHECK:         tosa.reshape {{.*}} -> tensor<1x6x8xi8>
// CHECK:         tosa.clz {{.*}} -> tensor<1x6x1xi32>
// CHECK-NOT:     xf32>
func.func @main(%arg: tensor<6x8xf32>) -> tensor<1x6x8xf32> {
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %inverse64 = "tosa.const"() <{values = dense<1.250000e-01> : tensor<1x1x1xf64>}> : () -> tensor<1x1x1xf64>
  %inverse = "tosa.const"() <{values = dense<1.250000e-01> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
  %epsilon = "tosa.const"() <{values = dense<9.99999974E-6> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
  %gain = "tosa.const"() <{values = dense<[[[1.0, 0.5, 2.0, 1.5, 1.0, 0.5, 2.0, 1.5]]]> : tensor<1x1x8xf32>}> : () -> tensor<1x1x8xf32>
  %offset = "tosa.const"() <{values = dense<[[[0.0, 0.5, 0.25, 0.0, 1.0, 0.5, 0.0, -1.5]]]> : tensor<1x1x8xf32>}> : () -> tensor<1x1x8xf32>
  %sizes = tosa.const_shape {values = dense<[1, 6, 8]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %x = tpc.quantize %arg as "x" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<6x8xf32>
  %rows = tosa.reshape %x, %sizes : (tensor<6x8xf32>, !tosa.shape<3>) -> tensor<1x6x8xf32>
  %wide = tosa.cast %rows : (tensor<1x6x8xf32>) -> tensor<1x6x8xf64>
  %sum64 = tosa.reduce_sum %wide {axis = 2 : i32} : (tensor<1x6x8xf64>) -> tensor<1x6x1xf64>
  %mean64 = tosa.mul %sum64, %inverse64, %shift : (tensor<1x6x1xf64>, tensor<1x1x1xf64>, tensor<1xi8>) -> tensor<1x6x1xf64>
  %centred64 = tosa.sub %wide, %mean64 : (tensor<1x6x8xf64>, tensor<1x6x1xf64>) -> tensor<1x6x8xf64>
  %square = tosa.mul %centred64, %centred64, %shift : (tensor<1x6x8xf64>, tensor<1x6x8xf64>, tensor<1xi8>) -> tensor<1x6x8xf64>
  %squares = tosa.reduce_sum %square {axis = 2 : i32} : (tensor<1x6x8xf64>) -> tensor<1x6x1xf64>
  %variance64 = tosa.mul %squares, %inverse64, %shift : (tensor<1x6x1xf64>, tensor<1x1x1xf64>, tensor<1xi8>) -> tensor<1x6x1xf64>
  %variance = tosa.cast %variance64 : (tensor<1x6x1xf64>) -> tensor<1x6x1xf32>
  %sum = tosa.reduce_sum %rows {axis = 2 : i32} : (tensor<1x6x8xf32>) -> tensor<1x6x1xf32>
  %mean = tosa.mul %sum, %inverse, %shift : (tensor<1x6x1xf32>, tensor<1x1x1xf32>, tensor<1xi8>) -> tensor<1x6x1xf32>
  %safe = tosa.add %variance, %epsilon : (tensor<1x6x1xf32>, tensor<1x1x1xf32>) -> tensor<1x6x1xf32>
  %root = tosa.rsqrt %safe : (tensor<1x6x1xf32>) -> tensor<1x6x1xf32>
  %centred = tosa.sub %rows, %mean : (tensor<1x6x8xf32>, tensor<1x6x1xf32>) -> tensor<1x6x8xf32>
  %normal = tosa.mul %centred, %root, %shift : (tensor<1x6x8xf32>, tensor<1x6x1xf32>, tensor<1xi8>) -> tensor<1x6x8xf32>
  %scaled = tosa.mul %normal, %gain, %shift : (tensor<1x6x8xf32>, tensor<1x1x8xf32>, tensor<1xi8>) -> tensor<1x6x8xf32>
  %moved = tosa.add %scaled, %offset : (tensor<1x6x8xf32>, tensor<1x1x8xf32>) -> tensor<1x6x8xf32>
  %out = tpc.quantize %moved as "out" activation parameters(#tpc.power_of_two<threshold = [4.0], bits = 8, rounding = half_up>) : tensor<1x6x8xf32>
  return %out : tensor<1x6x8xf32>
}
