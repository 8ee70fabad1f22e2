// RUN: mct-translate --export-onnx --onnx-profile=mct_quantizers --onnx-format=text %s | FileCheck %s

// CHECK: main (float[1,2,3,2] arg0) => (float[1,4] torch_dense, float[1,4] tflite_dense, float[1,3] reshape_3, float[1,4] behind, float[1,12] flat/reshaped_1)
// CHECK: float[4,12] torch_dense/kernel =
// CHECK: float[4] torch_dense/bias =
// CHECK: float[4,12] tflite_dense/kernel =
// CHECK: float[4] tflite_dense/bias =
// CHECK: float[4,1] product/kernel =
// CHECK: float[4,12] behind/kernel =
// CHECK: float[4] behind/bias =
// CHECK: {{^[{]$}}
// CHECK-NEXT: [max_pool2d] max_pool2d = MaxPool <kernel_shape = [1, 1], strides = [1, 1], pads = [0, 0, 0, 0]> (arg0)
// CHECK-NEXT: [flat] flat = Reshape (max_pool2d, flat/shape)
// CHECK-NEXT: [torch_dense] torch_dense = Gemm <transB = 1> (flat, torch_dense/kernel, torch_dense/bias)
// CHECK-NEXT: [tflite_dense] tflite_dense = Gemm <transB = 1> (flat, tflite_dense/kernel, tflite_dense/bias)
// CHECK-NEXT: [max_pool2d/transposed] max_pool2d/transposed = Transpose <perm = [0, 2, 3, 1]> (max_pool2d)
// CHECK-NEXT: [rows] rows = Reshape (max_pool2d/transposed, rows/shape)
// CHECK-NEXT: [product] product = MatMul (rows, product/kernel)
// CHECK-NEXT: [reshape_3] reshape_3 = Reshape (product, reshape_3/shape)
// CHECK-NEXT: [abs] abs = Abs (flat)
// CHECK-NEXT: [sum] sum = Add (abs, sum/constant)
// CHECK-NEXT: [behind] behind = Gemm <transB = 1> (sum, behind/kernel, behind/bias)
// CHECK-NEXT: [flat/reshaped] flat/reshaped = Reshape (flat, flat/shape_1)
// CHECK-NEXT: [flat/transposed] flat/transposed = Transpose <perm = [0, 2, 3, 1]> (flat/reshaped)
// CHECK-NEXT: [flat/reshaped_1] flat/reshaped_1 = Reshape (flat/transposed, flat/shape_2)
// CHECK-NEXT: {{^[}]$}}
func.func @main(%x: tensor<1x3x2x2xf32>) -> (tensor<1x4xf32>, tensor<1x4xf32>, tensor<1x3xf32>, tensor<1x4xf32>, tensor<1x12xf32>) {
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %p = tosa.max_pool2d %x {kernel = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x3x2x2xf32>) -> tensor<1x3x2x2xf32>
  %s2 = tosa.const_shape {values = dense<[1, 12]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %s3 = tosa.const_shape {values = dense<[1, 1, 12]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %s4 = tosa.const_shape {values = dense<[1, 1, 1, 12]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %o = tosa.const_shape {values = dense<[1, 4]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %o3 = tosa.const_shape {values = dense<[1, 3]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %f = tosa.reshape %p, %s2 : (tensor<1x3x2x2xf32>, !tosa.shape<2>) -> tensor<1x12xf32> loc("flat")
  %k = "tosa.const"() <{values = dense<[[[-0.125, -0.25, -0.125, -1.0], [1.125, -0.5, -0.0, -0.75], [-0.625, -1.25, 1.25, -0.125], [1.0, 0.0, -0.75, -0.375], [-0.5, 0.0, -0.375, -0.25], [-1.375, -0.75, 1.625, -0.625], [-1.0, 0.375, 1.375, -1.5], [-0.25, -0.625, -1.75, 0.75], [-0.0, 0.125, -0.75, 0.5], [-0.5, -0.125, -1.125, -1.25], [1.375, -0.5, 0.25, -0.0], [-0.5, -0.5, 0.625, -0.25]]]> : tensor<1x12x4xf32>}> : () -> tensor<1x12x4xf32>
  %b = "tosa.const"() <{values = dense<[[-0.125, 0.0, 1.125, 0.625]]> : tensor<1x4xf32>}> : () -> tensor<1x4xf32>
  %f3 = tosa.reshape %f, %s3 : (tensor<1x12xf32>, !tosa.shape<3>) -> tensor<1x1x12xf32>
  %m = tosa.matmul %f3, %k, %z, %z : (tensor<1x1x12xf32>, tensor<1x12x4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x4xf32>
  %r = tosa.reshape %m, %o : (tensor<1x1x4xf32>, !tosa.shape<2>) -> tensor<1x4xf32>
  %d = tosa.add %r, %b : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<1x4xf32> loc("torch_dense")
  %k2 = "tosa.const"() <{values = dense<[[[[0.375, -0.625, -1.375, 1.0, 1.0, -0.125, 0.5, 0.75, 0.875, 0.875, -0.5, 1.5]]], [[[-1.25, 0.875, 0.5, 0.875, 1.875, 1.5, -1.125, -1.75, 0.875, -1.0, -0.0, 0.875]]], [[[-1.625, -2.125, 0.25, 0.0, -0.25, 0.0, -0.875, -1.5, -0.125, -1.0, -1.625, 0.5]]], [[[-0.0, 0.375, -1.0, -0.625, -1.0, -0.875, 0.25, -0.75, 0.375, 0.375, 2.0, -1.375]]]]> : tensor<4x1x1x12xf32>}> : () -> tensor<4x1x1x12xf32>
  %b2 = "tosa.const"() <{values = dense<[0.875, -0.125, -0.0, -1.5]> : tensor<4xf32>}> : () -> tensor<4xf32>
  %f4 = tosa.reshape %f, %s4 : (tensor<1x12xf32>, !tosa.shape<4>) -> tensor<1x1x1x12xf32>
  %c = tosa.conv2d %f4, %k2, %b2, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x12xf32>, tensor<4x1x1x12xf32>, tensor<4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x4xf32>
  %e = tosa.reshape %c, %o : (tensor<1x1x1x4xf32>, !tosa.shape<2>) -> tensor<1x4xf32> loc("tflite_dense")
  %rows = tosa.const_shape {values = dense<[1, 3, 4]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %k3 = "tosa.const"() <{values = dense<[[[-0.5], [0.75], [-0.125], [0.125]]]> : tensor<1x4x1xf32>}> : () -> tensor<1x4x1xf32>
  %w = tosa.reshape %p, %rows : (tensor<1x3x2x2xf32>, !tosa.shape<3>) -> tensor<1x3x4xf32> loc("rows")
  %mm = tosa.matmul %w, %k3, %z, %z : (tensor<1x3x4xf32>, tensor<1x4x1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x3x1xf32> loc("product")
  %q = tosa.reshape %mm, %o3 : (tensor<1x3x1xf32>, !tosa.shape<2>) -> tensor<1x3xf32>
  %abs = tosa.abs %f : (tensor<1x12xf32>) -> tensor<1x12xf32> loc("abs")
  %fc = "tosa.const"() <{values = dense<[[-0.25, 1.125, -0.0, -2.25, -0.75, -2.0, -3.25, -0.5, 1.375, 0.0, -1.125, -1.0]]> : tensor<1x12xf32>}> : () -> tensor<1x12xf32>
  %sum = tosa.add %abs, %fc : (tensor<1x12xf32>, tensor<1x12xf32>) -> tensor<1x12xf32> loc("sum")
  %f5 = tosa.reshape %sum, %s4 : (tensor<1x12xf32>, !tosa.shape<4>) -> tensor<1x1x1x12xf32>
  %c2 = tosa.conv2d %f5, %k2, %b2, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x12xf32>, tensor<4x1x1x12xf32>, tensor<4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x4xf32>
  %e2 = tosa.reshape %c2, %o : (tensor<1x1x1x4xf32>, !tosa.shape<2>) -> tensor<1x4xf32> loc("behind")
  return %d, %e, %q, %e2, %f : tensor<1x4xf32>, tensor<1x4xf32>, tensor<1x3xf32>, tensor<1x4xf32>, tensor<1x12xf32>
}
