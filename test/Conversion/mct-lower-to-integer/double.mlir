// Rescales to codes round twice where they shift; a fully connected layer does not in LiteRT's reference kernels.
// RUN: mct-opt %s --mct-lower-to-integer="io=integer rounding=double" | FileCheck %s --check-prefixes=CHECK,ALL
// RUN: mct-opt %s --mct-lower-to-integer="io=integer rounding=double-convolutions" | FileCheck %s --check-prefixes=CHECK,CONV
// RUN: mct-opt %s --mct-lower-to-integer="io=integer" | FileCheck %s --check-prefix=ONCE
// ONCE-NOT: DOUBLE_ROUND

// CHECK-LABEL: func.func @convolution
// CHECK:         tosa.conv2d
// CHECK:         tosa.rescale {{.*}} rounding_mode = DOUBLE_ROUND
func.func @convolution(%x: tensor<1x2x2x1xf32>) -> tensor<1x2x2x1xf32> {
  %kernel = "tosa.const"() <{values = dense<0.5> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %in = tpc.quantize %x as "x" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8>) : tensor<1x2x2x1xf32>
  %w = tpc.quantize %kernel as "conv" weight "kernel_attr" axes [0] parameters(#tpc.power_of_two<threshold = [2.0], bits = 8>) : tensor<1x1x1x1xf32>
  %0 = tosa.conv2d %in, %w, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>}
         : (tensor<1x2x2x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x2x1xf32>
  %1 = tpc.quantize %0 as "conv" activation parameters(#tpc.power_of_two<threshold = [4.0], bits = 8>) : tensor<1x2x2x1xf32>
  return %1 : tensor<1x2x2x1xf32>
}

// CHECK-LABEL: func.func @fully_connected
// CHECK:         tosa.conv2d
// ALL:           tosa.rescale {{.*}} rounding_mode = DOUBLE_ROUND
// CONV:          tosa.rescale {{.*}} rounding_mode = SINGLE_ROUND
func.func @fully_connected(%x: tensor<1x3x1xf32>) -> tensor<1x3x1xf32> {
  %kernel = "tosa.const"() <{values = dense<0.5> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %in = tpc.quantize %x as "x" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8>) : tensor<1x3x1xf32>
  %w = tpc.quantize %kernel as "fc" weight "kernel_attr" axes [2] parameters(#tpc.power_of_two<threshold = [2.0], bits = 8>) : tensor<1x1x1xf32>
  %0 = tosa.matmul %in, %w, %zero, %zero : (tensor<1x3x1xf32>, tensor<1x1x1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x3x1xf32>
  %1 = tpc.quantize %0 as "fc" activation parameters(#tpc.power_of_two<threshold = [4.0], bits = 8>) : tensor<1x3x1xf32>
  return %1 : tensor<1x3x1xf32>
}

// Codes with a sign are pooled as they are stored, and sums have 19 bits more than the coarser operand.
// CHECK-LABEL: func.func @pool_and_sum
// CHECK:         %[[POOL:.*]] = tosa.avg_pool2d %{{.*}}, %[[ZERO:.*]], %[[ZERO]]
// CHECK:         %[[MORE:.*]] = "tosa.const"() <{values = dense<11> : tensor<1xi8>}>
// CHECK:         tosa.rescale %[[POOL]], %{{.*}}, %[[MORE]]
// ONCE-LABEL:  func.func @pool_and_sum
// ONCE-NOT:      tosa.avg_pool2d
func.func @pool_and_sum(%x: tensor<1x2x2x1xf32>, %y: tensor<1x1x1x1xf32>) -> tensor<1x1x1x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %in = tpc.quantize %x as "x" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8>) : tensor<1x2x2x1xf32>
  %0 = tosa.avg_pool2d %in, %zero, %zero {acc_type = f32, kernel = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>}
         : (tensor<1x2x2x1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x1xf32>
  %1 = tpc.quantize %0 as "pool" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8>) : tensor<1x1x1x1xf32>
  %other = tpc.quantize %y as "y" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8>) : tensor<1x1x1x1xf32>
  %2 = tosa.add %1, %other : (tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x1x1xf32>
  %3 = tpc.quantize %2 as "sum" activation parameters(#tpc.power_of_two<threshold = [4.0], bits = 8>) : tensor<1x1x1x1xf32>
  return %3 : tensor<1x1x1x1xf32>
}

// The multiplier of a mean is 0.8 * 2^30, not 0.8 * 2^31: it is that of one value, divided by 5 / 4.
// CHECK-LABEL: func.func @mean
// CHECK:         %[[SUM:.*]] = tosa.reduce_sum
// CHECK:         %[[FIFTH:.*]] = "tosa.const"() <{values = dense<858993472> : tensor<1xi32>}>
// CHECK:         %[[SHIFT:.*]] = "tosa.const"() <{values = dense<32> : tensor<1xi8>}>
// CHECK:         tosa.rescale %[[SUM]], %[[FIFTH]], %[[SHIFT]], {{.*}} rounding_mode = DOUBLE_ROUND
func.func @mean(%x: tensor<1x5x2xf32>) -> tensor<1x1x2xf32> {
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %fifth = "tosa.const"() <{values = dense<0.2> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
  %in = tpc.quantize %x as "x" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8>) : tensor<1x5x2xf32>
  %0 = tosa.reduce_sum %in {axis = 1 : i32} : (tensor<1x5x2xf32>) -> tensor<1x1x2xf32>
  %1 = tosa.mul %0, %fifth, %shift : (tensor<1x1x2xf32>, tensor<1x1x1xf32>, tensor<1xi8>) -> tensor<1x1x2xf32>
  %2 = tpc.quantize %1 as "mean" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8>) : tensor<1x1x2xf32>
  return %2 : tensor<1x1x2xf32>
}

// A pool on another grid than that of its values rounds once: in a .tflite file it is a layer whose weights are all 64.
// CHECK-LABEL: func.func @pool_on_another_grid
// CHECK:         tosa.reduce_sum
// CHECK:         tosa.rescale {{.*}} rounding_mode = SINGLE_ROUND
func.func @pool_on_another_grid(%x: tensor<1x4x4x1xf32>) -> tensor<1x1x1x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %in = tpc.quantize %x as "x" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8>) : tensor<1x4x4x1xf32>
  %0 = tosa.avg_pool2d %in, %zero, %zero {acc_type = f32, kernel = array<i64: 4, 4>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 4, 4>}
         : (tensor<1x4x4x1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x1xf32>
  %1 = tpc.quantize %0 as "mean" activation parameters(#tpc.power_of_two<threshold = [1.0], bits = 8>) : tensor<1x1x1x1xf32>
  return %1 : tensor<1x1x1x1xf32>
}
