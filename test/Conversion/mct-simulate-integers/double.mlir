// Products are rounded to 31 bits, shifted and rounded again: half of what is left of a code by the shift is added, away from zero.
// RUN: mct-opt %s --mct-simulate-integers=rounding=double | FileCheck %s --check-prefixes=CHECK,ALL
// RUN: mct-opt %s --mct-simulate-integers=rounding=double-convolutions | FileCheck %s --check-prefixes=CHECK,CONV
// RUN: mct-opt %s --mct-simulate-integers | FileCheck %s --check-prefix=ONCE
// ONCE-NOT: tosa.select

// Each run begins with what rounds once.
// RUN: mct-opt %s --mct-simulate-integers -o %t.once && mct-opt %s --mct-simulate-integers=rounding=double -o %t.twice
// RUN: mct-opt %s --mct-simulate-integers=rounding=double-convolutions --mct-simulate-integers | diff %t.once -
// RUN: mct-opt %t.twice --mct-simulate-integers=rounding=double | diff %t.twice -

// The lowering rounds like the simulation, or as it is told.
// RUN: mct-opt %t.once --mct-lower-to-integer="io=integer rounding=double" -o %t.integer && mct-opt %t.twice --mct-lower-to-integer=io=integer | diff %t.integer -
// RUN: mct-opt %t.once --mct-lower-to-integer=io=integer -o %t.integer && mct-opt %t.twice --mct-lower-to-integer="io=integer rounding=half-up" | diff %t.integer -

// The steps are 2^-6 and 2^-6, after the point 2^-5: 2^-7 is 0.5 * 2^-6, and half of the 2^-6th part of a code 2^-12. That of the
// other channel is 64 * 2^-12, half a code: it is not shifted.
// CHECK-LABEL: func.func @convolution
// CHECK:         %[[SUM:.*]] = tosa.conv2d
// CHECK:         %[[ZERO:.*]] = "tosa.const"() <{values = dense<0.000000e+00> : tensor<1x1x1x1xf32>}>
// CHECK:         %[[SIGN:.*]] = tosa.greater_equal %[[SUM]], %[[ZERO]]
// CHECK:         %[[UP:.*]] = "tosa.const"() <{values = dense<{{.*}}2.44140625E-4, 0.000000e+00{{.*}}> : tensor<1x1x1x2xf32>}>
// CHECK:         %[[DOWN:.*]] = "tosa.const"() <{values = dense<{{.*}}-2.44140625E-4, -0.000000e+00{{.*}}> : tensor<1x1x1x2xf32>}>
// CHECK:         %[[PART:.*]] = tosa.select %[[SIGN]], %[[UP]], %[[DOWN]]
// CHECK:         %[[ADDED:.*]] = tosa.add %[[SUM]], %[[PART]]
// CHECK:         %[[RELU:.*]] = tosa.clamp %[[ADDED]]
// CHECK:         tpc.quantize %[[RELU]] as "relu" activation parameters(#tpc.power_of_two<threshold = [4.000000e+00], bits = 8, rounding = half_up>)
func.func @convolution(%x: tensor<1x2x2x1xf32>) -> tensor<1x2x2x2xf32> {
  %kernel = "tosa.const"() <{values = dense<[[[[0.5]]], [[[1.5]]]]> : tensor<2x1x1x1xf32>}> : () -> tensor<2x1x1x1xf32>
  %bias = "tosa.const"() <{values = dense<[0.25, -1.0]> : tensor<2xf32>}> : () -> tensor<2xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %in = tpc.quantize %x as "x" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8>) : tensor<1x2x2x1xf32>
  %w = tpc.quantize %kernel as "conv" weight "kernel_attr" axes [0]
         parameters(#tpc.power_of_two<threshold = [2.0, 128.0], bits = 8>) : tensor<2x1x1x1xf32>
  %0 = tosa.conv2d %in, %w, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>}
         : (tensor<1x2x2x1xf32>, tensor<2x1x1x1xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x2x2xf32>
  %1 = tosa.clamp %0 {min_val = 0.0 : f32, max_val = 3.40282347E+38 : f32} : (tensor<1x2x2x2xf32>) -> tensor<1x2x2x2xf32>
  %2 = tpc.quantize %1 as "relu" activation parameters(#tpc.power_of_two<threshold = [4.0], bits = 8>) : tensor<1x2x2x2xf32>
  return %2 : tensor<1x2x2x2xf32>
}

// LiteRT's reference kernels round once after a fully connected layer.
// CHECK-LABEL: func.func @fully_connected
// CHECK:         %[[SUM:.*]] = tosa.conv2d
// ALL:           %[[ADDED:.*]] = tosa.add %[[SUM]]
// ALL:           tpc.quantize %[[ADDED]] as "fc"
// CONV:          tpc.quantize %[[SUM]] as "fc"
func.func @fully_connected(%x: tensor<3x1x1x1xf32>) -> tensor<3x1x1x1xf32> {
  %kernel = "tosa.const"() <{values = dense<0.5> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %in = tpc.quantize %x as "x" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8>) : tensor<3x1x1x1xf32>
  %w = tpc.quantize %kernel as "fc" weight "kernel_attr" axes [0] parameters(#tpc.power_of_two<threshold = [2.0], bits = 8>) : tensor<1x1x1x1xf32>
  %0 = tosa.conv2d %in, %w, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>}
         : (tensor<3x1x1x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<3x1x1x1xf32>
  %1 = tpc.quantize %0 as "fc" activation parameters(#tpc.power_of_two<threshold = [4.0], bits = 8>) : tensor<3x1x1x1xf32>
  return %1 : tensor<3x1x1x1xf32>
}

// A mean of four codes goes away from the code 0, which is the zero point here: below it by less than a quarter of a step.
// CHECK-LABEL: func.func @pool
// CHECK:         %[[MEAN:.*]] = tosa.avg_pool2d
// CHECK:         "tosa.const"() <{values = dense<-9.765625E-4> : tensor<1x1x1x1xf32>}>
// CHECK:         %[[ADDED:.*]] = tosa.add %[[MEAN]]
// CHECK:         tpc.quantize %[[ADDED]] as "pool"
func.func @pool(%x: tensor<1x2x2x1xf32>) -> tensor<1x1x1x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %in = tpc.quantize %x as "x" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8>) : tensor<1x2x2x1xf32>
  %0 = tosa.avg_pool2d %in, %zero, %zero {acc_type = f32, kernel = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>}
         : (tensor<1x2x2x1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x1xf32>
  %1 = tpc.quantize %0 as "pool" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8>) : tensor<1x1x1x1xf32>
  return %1 : tensor<1x1x1x1xf32>
}

// The mantissa 0.5 is divided by 5 / 4 and the shift by 4, so that a code is shifted by one bit: a quarter of the step 2^-6 is added.
// That of three values is not shifted.
// CHECK-LABEL: func.func @mean
// CHECK:         %[[MEAN:.*]] = tosa.mul
// CHECK:         "tosa.const"() <{values = dense<-3.906250e-03> : tensor<1x1x1xf32>}>
// CHECK:         %[[ADDED:.*]] = tosa.add %[[MEAN]]
// CHECK:         tpc.quantize %[[ADDED]] as "five"
// CHECK:         %[[THIRD:.*]] = tosa.mul
// CHECK:         tpc.quantize %[[THIRD]] as "three"
func.func @mean(%x: tensor<1x5x2xf32>, %y: tensor<1x3x2xf32>) -> (tensor<1x1x2xf32>, tensor<1x1x2xf32>) {
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %fifth = "tosa.const"() <{values = dense<0.2> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
  %third = "tosa.const"() <{values = dense<0.333333343> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
  %in = tpc.quantize %x as "x" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8>) : tensor<1x5x2xf32>
  %0 = tosa.reduce_sum %in {axis = 1 : i32} : (tensor<1x5x2xf32>) -> tensor<1x1x2xf32>
  %1 = tosa.mul %0, %fifth, %shift : (tensor<1x1x2xf32>, tensor<1x1x1xf32>, tensor<1xi8>) -> tensor<1x1x2xf32>
  %2 = tpc.quantize %1 as "five" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8>) : tensor<1x1x2xf32>
  %other = tpc.quantize %y as "y" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8>) : tensor<1x3x2xf32>
  %3 = tosa.reduce_sum %other {axis = 1 : i32} : (tensor<1x3x2xf32>) -> tensor<1x1x2xf32>
  %4 = tosa.mul %3, %third, %shift : (tensor<1x1x2xf32>, tensor<1x1x1xf32>, tensor<1xi8>) -> tensor<1x1x2xf32>
  %5 = tpc.quantize %4 as "three" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8>) : tensor<1x1x2xf32>
  return %2, %5 : tensor<1x1x2xf32>, tensor<1x1x2xf32>
}

// 0.25 of a step each, or 0.1 * 0.25 for negative ones: 0.5 * 2^-1 and 0.8 * 2^-5, so that a quarter and a 64th of a step are added.
// CHECK-LABEL: func.func @leaky_relu
// CHECK:         %[[MAXIMUM:.*]] = tosa.maximum
// CHECK:         %[[SIGN:.*]] = tosa.greater_equal %[[MAXIMUM]]
// CHECK:         %[[UP:.*]] = "tosa.const"() <{values = dense<2.500000e-01> : tensor<1x1xf32>}>
// CHECK:         %[[DOWN:.*]] = "tosa.const"() <{values = dense<-1.562500e-02> : tensor<1x1xf32>}>
// CHECK:         %[[PART:.*]] = tosa.select %[[SIGN]], %[[UP]], %[[DOWN]]
// CHECK:         %[[ADDED:.*]] = tosa.add %[[MAXIMUM]], %[[PART]]
// CHECK:         tpc.quantize %[[ADDED]] as "leaky"
func.func @leaky_relu(%x: tensor<1x4xf32>) -> tensor<1x4xf32> {
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %slope = "tosa.const"() <{values = dense<0.1> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %in = tpc.quantize %x as "x" activation parameters(#tpc.power_of_two<threshold = [32.0], bits = 8>) : tensor<1x4xf32>
  %0 = tosa.mul %in, %slope, %shift : (tensor<1x4xf32>, tensor<1x1xf32>, tensor<1xi8>) -> tensor<1x4xf32>
  %1 = tosa.maximum %0, %in : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<1x4xf32>
  %2 = tpc.quantize %1 as "leaky" activation parameters(#tpc.power_of_two<threshold = [128.0], bits = 8>) : tensor<1x4xf32>
  return %2 : tensor<1x4xf32>
}
