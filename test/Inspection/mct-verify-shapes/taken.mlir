// What agrees, also where a size is not known or a number is the largest that there is.
// RUN: mct-opt %s --mct-verify-shapes | FileCheck %s

// CHECK-LABEL: func.func @unknown_sizes
func.func @unknown_sizes(%x: tensor<?x3xf32>, %zero: tensor<1xf32>) -> tensor<?x3xf32> {
  %start = tosa.const_shape {values = dense<0> : tensor<2xindex>} : () -> !tosa.shape<2>
  %all = tosa.const_shape {values = dense<-1> : tensor<2xindex>} : () -> !tosa.shape<2>
  %flat = tosa.const_shape {values = dense<-1> : tensor<1xindex>} : () -> !tosa.shape<1>
  %rows = tosa.const_shape {values = dense<[-1, 3]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %pad = tosa.const_shape {values = dense<[0, 0, 0, 1]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %0 = tosa.slice %x, %start, %all : (tensor<?x3xf32>, !tosa.shape<2>, !tosa.shape<2>) -> tensor<?x3xf32>
  %1 = tosa.reshape %0, %flat : (tensor<?x3xf32>, !tosa.shape<1>) -> tensor<?xf32>
  %2 = tosa.reshape %1, %rows : (tensor<?xf32>, !tosa.shape<2>) -> tensor<?x3xf32>
  %3 = tosa.pad %2, %pad, %zero : (tensor<?x3xf32>, !tosa.shape<4>, tensor<1xf32>) -> tensor<?x4xf32>
  return %2 : tensor<?x3xf32>
}

// One row: the stride is never taken.
// CHECK-LABEL: func.func @stride_of_one_row
func.func @stride_of_one_row(%x: tensor<1x1x4x2xf32>, %k: tensor<5x1x2x2xf32>, %b: tensor<5xf32>, %z: tensor<1xf32>) -> tensor<1x1x5x5xf32> {
  %0 = tosa.transpose_conv2d %x, %k, %b, %z, %z {acc_type = f32, out_pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 9223372036854775807, 1>} : (tensor<1x1x4x2xf32>, tensor<5x1x2x2xf32>, tensor<5xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x5x5xf32>
  return %0 : tensor<1x1x5x5xf32>
}

// CHECK-LABEL: func.func @cut_off_by_a_transposed_convolution
func.func @cut_off_by_a_transposed_convolution(%x: tensor<1x4x4x1xf32>, %k: tensor<2x3x3x1xf32>, %b: tensor<2xf32>, %z: tensor<1xf32>) -> tensor<1x3x6x2xf32> {
  %0 = tosa.transpose_conv2d %x, %k, %b, %z, %z {acc_type = f32, out_pad = array<i64: -2, -1, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x1xf32>, tensor<2x3x3x1xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x3x6x2xf32>
  return %0 : tensor<1x3x6x2xf32>
}
