// Layers that f32 sums exactly already, or not even then, stay as they are; of a channel without weights the bias does.
// RUN: mct-opt %s --mct-separate-steps | FileCheck %s

// The kernel's steps are powers of two.
// CHECK-LABEL: func.func @powers_of_two
// CHECK:         tpc.quantize {{.*}} weight "kernel_attr" axes [2] parameters(
// CHECK-NOT:     tosa.mul
func.func @powers_of_two(%arg0: tensor<1x1x1xf32>) -> tensor<1x1x2xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %kernel = "tosa.const"() <{values = dense<[[[0.75, -0.5]]]> : tensor<1x1x2xf32>}> : () -> tensor<1x1x2xf32>
  %x = tpc.quantize %arg0 as "in" activation parameters(#tpc.power_of_two<threshold = [4.0], bits = 8>) : tensor<1x1x1xf32>
  %w = tpc.quantize %kernel as "dense" weight "kernel_attr" axes [2] parameters(#tpc.power_of_two<threshold = [1.0, 2.0], bits = 8>) : tensor<1x1x2xf32>
  %0 = tosa.matmul %x, %w, %zero, %zero : (tensor<1x1x1xf32>, tensor<1x1x2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x2xf32> loc("dense")
  return %0 : tensor<1x1x2xf32>
}

// The input's step is none.
// CHECK-LABEL: func.func @input
// CHECK:         weight "kernel_attr" axes [2] parameters(
// CHECK-NOT:     tosa.mul
func.func @input(%arg0: tensor<1x1x1xf32>) -> tensor<1x1x2xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %kernel = "tosa.const"() <{values = dense<[[[0.75, -0.5]]]> : tensor<1x1x2xf32>}> : () -> tensor<1x1x2xf32>
  %x = tpc.quantize %arg0 as "in" activation parameters(#tpc.symmetric<threshold = [3.0], bits = 8>) : tensor<1x1x1xf32>
  %w = tpc.quantize %kernel as "dense" weight "kernel_attr" axes [2] parameters(#tpc.symmetric<threshold = [3.0, 1.0], bits = 8>) : tensor<1x1x2xf32>
  %0 = tosa.matmul %x, %w, %zero, %zero : (tensor<1x1x1xf32>, tensor<1x1x2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x2xf32> loc("dense")
  return %0 : tensor<1x1x2xf32>
}

// The bias alone has more steps than f32 has integers.
// CHECK-LABEL: func.func @bias
// CHECK:         weight "kernel_attr" axes [2] parameters(
// CHECK-NOT:     tosa.mul
func.func @bias(%arg0: tensor<1x1x1xf32>) -> tensor<1x1x2xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %kernel = "tosa.const"() <{values = dense<[[[0.75, -0.5]]]> : tensor<1x1x2xf32>}> : () -> tensor<1x1x2xf32>
  %bias = "tosa.const"() <{values = dense<[[[100000.0, 0.0]]]> : tensor<1x1x2xf32>}> : () -> tensor<1x1x2xf32>
  %x = tpc.quantize %arg0 as "in" activation parameters(#tpc.power_of_two<threshold = [4.0], bits = 8>) : tensor<1x1x1xf32>
  %w = tpc.quantize %kernel as "dense" weight "kernel_attr" axes [2] parameters(#tpc.symmetric<threshold = [3.0, 1.0], bits = 8>) : tensor<1x1x2xf32>
  %0 = tosa.matmul %x, %w, %zero, %zero : (tensor<1x1x1xf32>, tensor<1x1x2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x2xf32> loc("dense")
  %1 = tosa.add %0, %bias : (tensor<1x1x2xf32>, tensor<1x1x2xf32>) -> tensor<1x1x2xf32> loc("sum")
  return %1 : tensor<1x1x2xf32>
}

// The factors come after the bias.
// CHECK-LABEL: func.func @added
// CHECK:         %[[SUM:.*]] = tosa.add
// CHECK:         %[[PRODUCT:.*]] = tosa.mul %[[SUM]]
// CHECK:         return %[[PRODUCT]]
func.func @added(%arg0: tensor<1x1x1xf32>) -> tensor<1x1x2xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %kernel = "tosa.const"() <{values = dense<[[[0.75, -0.5]]]> : tensor<1x1x2xf32>}> : () -> tensor<1x1x2xf32>
  %bias = "tosa.const"() <{values = dense<[[[0.75, 0.25]]]> : tensor<1x1x2xf32>}> : () -> tensor<1x1x2xf32>
  %x = tpc.quantize %arg0 as "in" activation parameters(#tpc.power_of_two<threshold = [4.0], bits = 8>) : tensor<1x1x1xf32>
  %w = tpc.quantize %kernel as "dense" weight "kernel_attr" axes [2] parameters(#tpc.symmetric<threshold = [3.0, 1.0], bits = 8>) : tensor<1x1x2xf32>
  %0 = tosa.matmul %x, %w, %zero, %zero : (tensor<1x1x1xf32>, tensor<1x1x2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x2xf32> loc("dense")
  %1 = tosa.add %0, %bias : (tensor<1x1x2xf32>, tensor<1x1x2xf32>) -> tensor<1x1x2xf32> loc("sum")
  return %1 : tensor<1x1x2xf32>
}
