// RUN: mct-translate --export-onnx --onnx-profile=mct_quantizers --onnx-format=text %s | FileCheck %s

// CHECK: main (float[1,2,6,7] arg0) => (float[1,3,4,5] conv, float[1,4,6,7] depthwise, float[1,3,13,14] transposed)
// CHECK: float[3,2,3,3] conv/kernel =
// CHECK: float[3] conv/bias =
// CHECK: float[4,1,3,3] depthwise/kernel =
// CHECK: float[4] depthwise/bias =
// CHECK: float[2,3,3,2] transposed/kernel =
// CHECK: float[3] transposed/bias =
// CHECK: {{^[{]$}}
// CHECK-NEXT: [conv] conv = Conv <kernel_shape = [3, 3], strides = [1, 1], group = 1, pads = [2, 1, 0, 1], dilations = [2, 2]> (arg0, conv/kernel, conv/bias)
// CHECK-NEXT: [depthwise] depthwise = Conv <kernel_shape = [3, 3], strides = [1, 1], group = 2, pads = [1, 1, 1, 1], dilations = [1, 1]> (arg0, depthwise/kernel, depthwise/bias)
// CHECK-NEXT: [transposed] transposed = ConvTranspose <kernel_shape = [3, 2], strides = [2, 2], group = 1, pads = [1, 0, 0, 0], output_padding = [1, 0]> (arg0, transposed/kernel, transposed/bias)
// CHECK-NEXT: {{^[}]$}}
func.func @main(%x: tensor<1x6x7x2xf32>) -> (tensor<1x4x5x3xf32>, tensor<1x6x7x4xf32>, tensor<1x13x14x3xf32>) {
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %k = "tosa.const"() <{values = dense<[[[[0.0, 0.25], [-0.25, -0.875], [-0.5, -1.0]], [[0.0, 1.375], [-0.5, -0.625], [0.5, 0.375]], [[0.125, -0.875], [-0.0, 0.75], [-1.375, -0.5]]], [[[-1.875, -1.25], [-1.875, -0.25], [-1.25, 0.25]], [[0.125, -0.125], [-2.5, -0.5], [-0.0, 0.125]], [[-1.5, -0.5], [-1.0, -0.75], [1.0, -0.75]]], [[[-0.0, 0.875], [-0.625, -0.125], [0.125, 0.125]], [[-1.25, 0.125], [1.375, -1.5], [0.875, 0.125]], [[-0.625, 2.0], [0.75, -1.25], [0.125, 0.625]]]]> : tensor<3x3x3x2xf32>}> : () -> tensor<3x3x3x2xf32>
  %b = "tosa.const"() <{values = dense<[-0.25, 0.625, -0.125]> : tensor<3xf32>}> : () -> tensor<3xf32>
  %c = tosa.conv2d %x, %k, %b, %z, %z {acc_type = f32, dilation = array<i64: 2, 2>, pad = array<i64: 2, 0, 1, 1>, stride = array<i64: 1, 1>} : (tensor<1x6x7x2xf32>, tensor<3x3x3x2xf32>, tensor<3xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x5x3xf32> loc("conv")
  %k2 = "tosa.const"() <{values = dense<[[[[0.625, 1.5], [-0.625, 0.25]], [[-0.5, 0.125], [-1.125, -0.625]], [[-0.25, 0.875], [1.125, -1.375]]], [[[-0.75, 0.625], [-2.0, -0.5]], [[-0.125, 1.25], [0.75, -0.375]], [[-0.375, -0.25], [1.5, -0.375]]], [[[-0.25, 0.375], [-0.125, -0.25]], [[-1.125, -0.0], [-0.5, 1.125]], [[0.625, -0.0], [0.625, -0.375]]]]> : tensor<3x3x2x2xf32>}> : () -> tensor<3x3x2x2xf32>
  %b2 = "tosa.const"() <{values = dense<[1.0, -0.0, 0.625, -1.25]> : tensor<4xf32>}> : () -> tensor<4xf32>
  %d = tosa.depthwise_conv2d %x, %k2, %b2, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>} : (tensor<1x6x7x2xf32>, tensor<3x3x2x2xf32>, tensor<4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x6x7x4xf32> loc("depthwise")
  %k3 = "tosa.const"() <{values = dense<[[[[0.375, -1.75], [-2.0, -0.25]], [[-0.875, 0.125], [2.25, -0.875]], [[-0.625, 0.25], [0.5, -0.125]]], [[[-0.25, 0.75], [0.5, -1.0]], [[-0.125, 0.0], [-1.0, 0.25]], [[-0.875, 1.0], [0.25, 0.125]]], [[[-0.625, -0.125], [-2.0, -1.125]], [[0.375, -2.125], [0.875, -1.75]], [[0.75, -0.875], [0.75, 0.125]]]]> : tensor<3x3x2x2xf32>}> : () -> tensor<3x3x2x2xf32>
  %b3 = "tosa.const"() <{values = dense<[-1.5, 1.25, 1.5]> : tensor<3xf32>}> : () -> tensor<3xf32>
  %t = tosa.transpose_conv2d %x, %k3, %b3, %z, %z {acc_type = f32, out_pad = array<i64: -1, 1, 0, 0>, stride = array<i64: 2, 2>} : (tensor<1x6x7x2xf32>, tensor<3x3x2x2xf32>, tensor<3xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x13x14x3xf32> loc("transposed")
  return %c, %d, %t : tensor<1x4x5x3xf32>, tensor<1x6x7x4xf32>, tensor<1x13x14x3xf32>
}
