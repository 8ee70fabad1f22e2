// RUN: mct-opt %s --mct-lower-to-integer="io=integer" | FileCheck %s

// A network in linalg becomes one of integers in linalg: sums of i8 in i32,
// rescales and tables as arithmetic in the bodies of generic ops.
// CHECK-NOT:   tosa.
// CHECK-LABEL: func.func @main
// CHECK-SAME:    %[[X:.*]]: tensor<1x8x8x3xi8> {tpc.quantized = {bits = 8 : i64, name = "x"
// CHECK-SAME:    -> (tensor<1x10xi8> {tpc.quantized = {bits = 8 : i64, name = "dense"
// CHECK-SAME:    tpc.points = [{{.*}}name = "conv", {{.*}}name = "tanh", {{.*}}name = "add", {{.*}}name = "dense"
// CHECK-NOT:     f32
// CHECK-NOT:     tosa.
// CHECK:         tensor.pad {{.*}}
// CHECK:         linalg.conv_2d_nhwc_fhwc {{.*}} ins({{.*}} : tensor<1x9x9x3xi8>, tensor<4x3x3x3xi8>) outs({{.*}} : tensor<1x4x4x4xi32>)
// CHECK:         linalg.generic
// CHECK:           arith.muli {{.*}} : i64
// CHECK:           arith.shrsi {{.*}} : i64
// CHECK:         linalg.generic
// CHECK:           tensor.extract {{.*}} : tensor<256xi8>
// CHECK:         linalg.generic
// CHECK:           arith.addi {{.*}} : i32
// CHECK:         linalg.conv_2d_nhwc_fhwc {{.*}} : tensor<1x1x1x64xi8>, tensor<10x1x1x64xi8>)
// CHECK-NOT:     tosa.
// CHECK:         return
func.func @main(%x_float: tensor<1x8x8x3xf32>) -> tensor<1x10xf32> {
  %nought = arith.constant 0.0 : f32
  %x = tpc.quantize %x_float as "x" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<1x8x8x3xf32>
  %padded = tensor.pad %x low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %nought : f32
  } : tensor<1x8x8x3xf32> to tensor<1x10x10x3xf32>
  %kernel = arith.constant dense<0.5> : tensor<3x3x3x4xf32>
  %w = tpc.quantize %kernel as "conv" weight "kernel_attr" axes [3] parameters(#tpc.power_of_two<threshold = [1.0, 0.5, 1.0, 2.0], bits = 8>) : tensor<3x3x3x4xf32>
  %bias = arith.constant dense<[0.5, -0.25, 1.0, 0.0]> : tensor<4xf32>
  %e = tensor.empty() : tensor<1x4x4x4xf32>
  %b = linalg.broadcast ins(%bias : tensor<4xf32>) outs(%e : tensor<1x4x4x4xf32>) dimensions = [0, 1, 2]
  %0 = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%padded, %w : tensor<1x10x10x3xf32>, tensor<3x3x3x4xf32>) outs(%b : tensor<1x4x4x4xf32>) -> tensor<1x4x4x4xf32>
  %zeros = linalg.fill ins(%nought : f32) outs(%e : tensor<1x4x4x4xf32>) -> tensor<1x4x4x4xf32>
  %relu = linalg.max ins(%0, %zeros : tensor<1x4x4x4xf32>, tensor<1x4x4x4xf32>) outs(%e : tensor<1x4x4x4xf32>) -> tensor<1x4x4x4xf32>
  %1 = tpc.quantize %relu as "conv" activation parameters(#tpc.power_of_two<threshold = [16.0], bits = 8, is_signed = false, rounding = half_up>) : tensor<1x4x4x4xf32>
  %t = linalg.tanh ins(%1 : tensor<1x4x4x4xf32>) outs(%e : tensor<1x4x4x4xf32>) -> tensor<1x4x4x4xf32>
  %2 = tpc.quantize %t as "tanh" activation parameters(#tpc.power_of_two<threshold = [1.0], bits = 8, rounding = half_up>) : tensor<1x4x4x4xf32>
  %s = linalg.add ins(%1, %2 : tensor<1x4x4x4xf32>, tensor<1x4x4x4xf32>) outs(%e : tensor<1x4x4x4xf32>) -> tensor<1x4x4x4xf32>
  %3 = tpc.quantize %s as "add" activation parameters(#tpc.power_of_two<threshold = [8.0], bits = 8, rounding = half_up>) : tensor<1x4x4x4xf32>
  %flat = tensor.collapse_shape %3 [[0], [1, 2, 3]] : tensor<1x4x4x4xf32> into tensor<1x64xf32>
  %dense = arith.constant dense<0.25> : tensor<64x10xf32>
  %dw = tpc.quantize %dense as "dense" weight "kernel_attr" axes [] parameters(#tpc.power_of_two<threshold = [0.5], bits = 8>) : tensor<64x10xf32>
  %e2 = tensor.empty() : tensor<1x10xf32>
  %i2 = linalg.fill ins(%nought : f32) outs(%e2 : tensor<1x10xf32>) -> tensor<1x10xf32>
  %4 = linalg.matmul ins(%flat, %dw : tensor<1x64xf32>, tensor<64x10xf32>) outs(%i2 : tensor<1x10xf32>) -> tensor<1x10xf32>
  %5 = tpc.quantize %4 as "dense" activation parameters(#tpc.power_of_two<threshold = [32.0], bits = 8, rounding = half_up>) : tensor<1x10xf32>
  return %5 : tensor<1x10xf32>
}
