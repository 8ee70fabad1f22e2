// RUN: mct-opt %s --mct-fold-constants --split-input-file | FileCheck %s
//
// Weights that importers store in another form than the convolution reads.

// Half precision in the file: kernel and bias become f32.
// CHECK-LABEL: func.func @float16
// CHECK-DAG:     %[[KERNEL:.*]] = "tosa.const"() <{values = dense<{{.*}}5.000000e-01{{.*}}-1.500000e+00{{.*}}> : tensor<2x1x1x1xf32>
// CHECK-DAG:     %[[BIAS:.*]] = "tosa.const"() <{values = dense<2.500000e-01> : tensor<2xf32>
// CHECK:         tosa.conv2d %{{.*}}, %[[KERNEL]], %[[BIAS]],
// CHECK-NOT:     f16
func.func @float16(%x: tensor<1x4x4x1xf32>) -> tensor<1x4x4x2xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %stored_kernel = "tosa.const"() <{values = dense<[[[[0.5]]], [[[-1.5]]]]> : tensor<2x1x1x1xf16>}> : () -> tensor<2x1x1x1xf16>
  %stored_bias = "tosa.const"() <{values = dense<0.25> : tensor<2xf16>}> : () -> tensor<2xf16>
  %kernel = tosa.cast %stored_kernel : (tensor<2x1x1x1xf16>) -> tensor<2x1x1x1xf32>
  %bias = tosa.cast %stored_bias : (tensor<2xf16>) -> tensor<2xf32>
  %0 = tosa.conv2d %x, %kernel, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x1xf32>, tensor<2x1x1x1xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x2xf32>
  return %0 : tensor<1x4x4x2xf32>
}

// -----

// A grouped convolution: the kernels are slices of one, which nobody reads then.
// CHECK-LABEL: func.func @grouped
// CHECK-DAG:     %[[FIRST:.*]] = "tosa.const"() <{values = dense<1.000000e+00> : tensor<1x1x1x1xf32>
// CHECK-DAG:     %[[SECOND:.*]] = "tosa.const"() <{values = dense<2.000000e+00> : tensor<1x1x1x1xf32>
// CHECK-NOT:     tensor<2x1x1x1xf32>
// CHECK:         tosa.conv2d %{{.*}}, %[[FIRST]],
// CHECK:         tosa.conv2d %{{.*}}, %[[SECOND]],
func.func @grouped(%x: tensor<1x4x4x1xf32>, %y: tensor<1x4x4x1xf32>) -> tensor<1x4x4x2xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %both = "tosa.const"() <{values = dense<[[[[1.0]]], [[[2.0]]]]> : tensor<2x1x1x1xf32>}> : () -> tensor<2x1x1x1xf32>
  %start0 = tosa.const_shape {values = dense<0> : tensor<4xindex>} : () -> !tosa.shape<4>
  %start1 = tosa.const_shape {values = dense<[1, 0, 0, 0]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %size = tosa.const_shape {values = dense<1> : tensor<4xindex>} : () -> !tosa.shape<4>
  %kernel0 = tosa.slice %both, %start0, %size : (tensor<2x1x1x1xf32>, !tosa.shape<4>, !tosa.shape<4>) -> tensor<1x1x1x1xf32>
  %kernel1 = tosa.slice %both, %start1, %size : (tensor<2x1x1x1xf32>, !tosa.shape<4>, !tosa.shape<4>) -> tensor<1x1x1x1xf32>
  %0 = tosa.conv2d %x, %kernel0, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x1xf32>
  %1 = tosa.conv2d %y, %kernel1, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x1xf32>
  %2 = tosa.concat %0, %1 {axis = 3 : i32} : (tensor<1x4x4x1xf32>, tensor<1x4x4x1xf32>) -> tensor<1x4x4x2xf32>
  return %2 : tensor<1x4x4x2xf32>
}

// -----

// Many elements become a resource, those of a reshaped one stay where they are.
// CHECK-LABEL: func.func @resources
// CHECK-DAG:     "tosa.const"() <{values = dense_resource<stored> : tensor<1x40xf32>
// CHECK-DAG:     "tosa.const"() <{values = dense_resource<sum> : tensor<40xf32>
// CHECK-NOT:     tosa.
// CHECK:         return
// CHECK:         stored: "0x04000000{{(0000803F){40}"}}
// CHECK:         sum: "0x04000000{{(00000040){40}"}}
func.func @resources() -> (tensor<1x40xf32>, tensor<40xf32>) {
  %stored = "tosa.const"() <{values = dense_resource<stored> : tensor<40xf32>}> : () -> tensor<40xf32>
  %shape = tosa.const_shape {values = dense<[1, 40]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %0 = tosa.reshape %stored, %shape : (tensor<40xf32>, !tosa.shape<2>) -> tensor<1x40xf32>
  %1 = tosa.add %stored, %stored : (tensor<40xf32>, tensor<40xf32>) -> tensor<40xf32> loc("sum")
  return %0, %1 : tensor<1x40xf32>, tensor<40xf32>
}

{-#
  dialect_resources: {
    builtin: {
      stored: "0x040000000000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F"
    }
  }
#-}

// -----

// 40 billion equal numbers: 1 + 1.
// CHECK-LABEL: func.func @huge_splat
// CHECK-NEXT:    "tosa.const"() <{values = dense<2.000000e+00> : tensor<1x40000000000xf32>
// CHECK-NEXT:    return
func.func @huge_splat() -> tensor<1x40000000000xf32> {
  %ones = "tosa.const"() <{values = dense<1.0> : tensor<1x40000000000xf32>}> : () -> tensor<1x40000000000xf32>
  %0 = tosa.add %ones, %ones : (tensor<1x40000000000xf32>, tensor<1x40000000000xf32>) -> tensor<1x40000000000xf32>
  return %0 : tensor<1x40000000000xf32>
}

// -----

// What is much larger than its constants is left to the run time.
// CHECK-LABEL: func.func @large_tile_stays
// CHECK:         tosa.tile
func.func @large_tile_stays() -> tensor<40000000xf32> {
  %pair = "tosa.const"() <{values = dense<[1.0, 2.0]> : tensor<2xf32>}> : () -> tensor<2xf32>
  %times = tosa.const_shape {values = dense<20000000> : tensor<1xindex>} : () -> !tosa.shape<1>
  %0 = tosa.tile %pair, %times : (tensor<2xf32>, !tosa.shape<1>) -> tensor<40000000xf32>
  return %0 : tensor<40000000xf32>
}
