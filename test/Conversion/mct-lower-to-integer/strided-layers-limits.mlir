// Which images are read as a whole depends on their channels and bytes, and on the device.
// RUN: mct-opt %s --mct-lower-to-integer="io=integer profile=ethos-u55" | FileCheck %s --check-prefixes=CHECK,U55
// RUN: mct-opt %s --mct-lower-to-integer="io=integer profile=ethos-u85" | FileCheck %s --check-prefixes=CHECK,U85

// CHECK-LABEL: func.func @image_32x16
// CHECK-NOT:     tosa.slice
// CHECK:         return
func.func @image_32x16(%arg0: tensor<1x32x32x16xf32>) -> tensor<1x16x16x2xf32> {
  %kernel = "tosa.const"() <{values = dense<0.25> : tensor<2x1x1x16xf32>}> : () -> tensor<2x1x1x16xf32>
  %bias = "tosa.const"() <{values = dense<[0.25, -0.5]> : tensor<2xf32>}> : () -> tensor<2xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %start = tosa.const_shape {values = dense<0> : tensor<4xindex>} : () -> !tosa.shape<4>
  %size = tosa.const_shape {values = dense<[1, 31, 31, 16]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %x = tpc.quantize %arg0 as "x" activation parameters(#tpc.power_of_two<threshold = [1.0], bits = 8, rounding = half_up>) : tensor<1x32x32x16xf32>
  %w = tpc.quantize %kernel as "a" weight "kernel_attr" axes [0] parameters(#tpc.power_of_two<threshold = [1.0], bits = 8>) : tensor<2x1x1x16xf32>
  %part = tosa.slice %x, %start, %size : (tensor<1x32x32x16xf32>, !tosa.shape<4>, !tosa.shape<4>) -> tensor<1x31x31x16xf32>
  %0 = tosa.conv2d %part, %w, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>}
         : (tensor<1x31x31x16xf32>, tensor<2x1x1x16xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x16x16x2xf32>
  %a = tpc.quantize %0 as "a" activation parameters(#tpc.power_of_two<threshold = [4.0], bits = 8, rounding = half_up>) : tensor<1x16x16x2xf32>
  return %a : tensor<1x16x16x2xf32>
}

// 4096 bytes.
// CHECK-LABEL: func.func @image_16x16
// U55:           tosa.slice
// U85-NOT:       tosa.slice
// CHECK:         return
func.func @image_16x16(%arg0: tensor<1x16x16x16xf32>) -> tensor<1x8x8x2xf32> {
  %kernel = "tosa.const"() <{values = dense<0.25> : tensor<2x1x1x16xf32>}> : () -> tensor<2x1x1x16xf32>
  %bias = "tosa.const"() <{values = dense<[0.25, -0.5]> : tensor<2xf32>}> : () -> tensor<2xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %start = tosa.const_shape {values = dense<0> : tensor<4xindex>} : () -> !tosa.shape<4>
  %size = tosa.const_shape {values = dense<[1, 15, 15, 16]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %x = tpc.quantize %arg0 as "x" activation parameters(#tpc.power_of_two<threshold = [1.0], bits = 8, rounding = half_up>) : tensor<1x16x16x16xf32>
  %w = tpc.quantize %kernel as "a" weight "kernel_attr" axes [0] parameters(#tpc.power_of_two<threshold = [1.0], bits = 8>) : tensor<2x1x1x16xf32>
  %part = tosa.slice %x, %start, %size : (tensor<1x16x16x16xf32>, !tosa.shape<4>, !tosa.shape<4>) -> tensor<1x15x15x16xf32>
  %0 = tosa.conv2d %part, %w, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>}
         : (tensor<1x15x15x16xf32>, tensor<2x1x1x16xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x8x8x2xf32>
  %a = tpc.quantize %0 as "a" activation parameters(#tpc.power_of_two<threshold = [4.0], bits = 8, rounding = half_up>) : tensor<1x8x8x2xf32>
  return %a : tensor<1x8x8x2xf32>
}

// Few channels.
// CHECK-LABEL: func.func @image_48x8
// U55:           tosa.slice
// U85-NOT:       tosa.slice
// CHECK:         return
func.func @image_48x8(%arg0: tensor<1x48x48x8xf32>) -> tensor<1x24x24x2xf32> {
  %kernel = "tosa.const"() <{values = dense<0.25> : tensor<2x1x1x8xf32>}> : () -> tensor<2x1x1x8xf32>
  %bias = "tosa.const"() <{values = dense<[0.25, -0.5]> : tensor<2xf32>}> : () -> tensor<2xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %start = tosa.const_shape {values = dense<0> : tensor<4xindex>} : () -> !tosa.shape<4>
  %size = tosa.const_shape {values = dense<[1, 47, 47, 8]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %x = tpc.quantize %arg0 as "x" activation parameters(#tpc.power_of_two<threshold = [1.0], bits = 8, rounding = half_up>) : tensor<1x48x48x8xf32>
  %w = tpc.quantize %kernel as "a" weight "kernel_attr" axes [0] parameters(#tpc.power_of_two<threshold = [1.0], bits = 8>) : tensor<2x1x1x8xf32>
  %part = tosa.slice %x, %start, %size : (tensor<1x48x48x8xf32>, !tosa.shape<4>, !tosa.shape<4>) -> tensor<1x47x47x8xf32>
  %0 = tosa.conv2d %part, %w, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>}
         : (tensor<1x47x47x8xf32>, tensor<2x1x1x8xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x24x24x2xf32>
  %a = tpc.quantize %0 as "a" activation parameters(#tpc.power_of_two<threshold = [4.0], bits = 8, rounding = half_up>) : tensor<1x24x24x2xf32>
  return %a : tensor<1x24x24x2xf32>
}

// CHECK-LABEL: func.func @image_32x32
// U55:           tosa.slice
// U85-NOT:       tosa.slice
// CHECK:         return
func.func @image_32x32(%arg0: tensor<1x32x32x32xf32>) -> tensor<1x16x16x2xf32> {
  %kernel = "tosa.const"() <{values = dense<0.25> : tensor<2x1x1x32xf32>}> : () -> tensor<2x1x1x32xf32>
  %bias = "tosa.const"() <{values = dense<[0.25, -0.5]> : tensor<2xf32>}> : () -> tensor<2xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %start = tosa.const_shape {values = dense<0> : tensor<4xindex>} : () -> !tosa.shape<4>
  %size = tosa.const_shape {values = dense<[1, 31, 31, 32]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %x = tpc.quantize %arg0 as "x" activation parameters(#tpc.power_of_two<threshold = [1.0], bits = 8, rounding = half_up>) : tensor<1x32x32x32xf32>
  %w = tpc.quantize %kernel as "a" weight "kernel_attr" axes [0] parameters(#tpc.power_of_two<threshold = [1.0], bits = 8>) : tensor<2x1x1x32xf32>
  %part = tosa.slice %x, %start, %size : (tensor<1x32x32x32xf32>, !tosa.shape<4>, !tosa.shape<4>) -> tensor<1x31x31x32xf32>
  %0 = tosa.conv2d %part, %w, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>}
         : (tensor<1x31x31x32xf32>, tensor<2x1x1x32xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x16x16x2xf32>
  %a = tpc.quantize %0 as "a" activation parameters(#tpc.power_of_two<threshold = [4.0], bits = 8, rounding = half_up>) : tensor<1x16x16x2xf32>
  return %a : tensor<1x16x16x2xf32>
}

// CHECK-LABEL: func.func @image_32x40
// CHECK:         tosa.slice
func.func @image_32x40(%arg0: tensor<1x32x32x40xf32>) -> tensor<1x16x16x2xf32> {
  %kernel = "tosa.const"() <{values = dense<0.25> : tensor<2x1x1x40xf32>}> : () -> tensor<2x1x1x40xf32>
  %bias = "tosa.const"() <{values = dense<[0.25, -0.5]> : tensor<2xf32>}> : () -> tensor<2xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %start = tosa.const_shape {values = dense<0> : tensor<4xindex>} : () -> !tosa.shape<4>
  %size = tosa.const_shape {values = dense<[1, 31, 31, 40]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %x = tpc.quantize %arg0 as "x" activation parameters(#tpc.power_of_two<threshold = [1.0], bits = 8, rounding = half_up>) : tensor<1x32x32x40xf32>
  %w = tpc.quantize %kernel as "a" weight "kernel_attr" axes [0] parameters(#tpc.power_of_two<threshold = [1.0], bits = 8>) : tensor<2x1x1x40xf32>
  %part = tosa.slice %x, %start, %size : (tensor<1x32x32x40xf32>, !tosa.shape<4>, !tosa.shape<4>) -> tensor<1x31x31x40xf32>
  %0 = tosa.conv2d %part, %w, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>}
         : (tensor<1x31x31x40xf32>, tensor<2x1x1x40xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x16x16x2xf32>
  %a = tpc.quantize %0 as "a" activation parameters(#tpc.power_of_two<threshold = [4.0], bits = 8, rounding = half_up>) : tensor<1x16x16x2xf32>
  return %a : tensor<1x16x16x2xf32>
}
