// A transposed convolution adds more to its result than ONNX does: at the top, at the left, and at least the stride. The
// kernel has zeros there, and the padding that ONNX has stays one.
// RUN: mct-translate --export-onnx --onnx-profile=mct_quantizers --onnx-format=text %s | FileCheck %s

// CHECK: [before] before = ConvTranspose <kernel_shape = [3, 4], strides = [2, 1], group = 1, pads = [0, 0, 0, 1], output_padding = [1, 0]>
// CHECK-NEXT: [behind] behind = ConvTranspose <kernel_shape = [4, 5], strides = [2, 1], group = 1, pads = [0, 0, 0, 0], output_padding = [0, 0]>
func.func @main(%x: tensor<1x3x2x2xf32>) -> (tensor<1x8x4x2xf32>, tensor<1x8x6x2xf32>) {
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %b = "tosa.const"() <{values = dense<[0.5, -1.25]> : tensor<2xf32>}> : () -> tensor<2xf32>
  %k = "tosa.const"() <{values = dense<[[[[0.5, -0.25], [1.0, 0.75]], [[-1.5, 0.125], [0.25, 1.25]]], [[[0.75, 1.5], [-1.0, 0.5]], [[0.25, -0.75], [1.75, -0.5]]]]> : tensor<2x2x2x2xf32>}> : () -> tensor<2x2x2x2xf32>
  %w = tpc.quantize %k as "before" weight "kernel_attr" axes [0] parameters(#tpc.symmetric<threshold = [2.0, 1.75], bits = 8>) : tensor<2x2x2x2xf32>
  %before = tosa.transpose_conv2d %x, %w, %b, %z, %z {acc_type = f32, out_pad = array<i64: 1, 1, 2, -1>, stride = array<i64: 2, 1>} : (tensor<1x3x2x2xf32>, tensor<2x2x2x2xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x8x4x2xf32> loc("before")
  %behind = tosa.transpose_conv2d %x, %k, %b, %z, %z {acc_type = f32, out_pad = array<i64: 0, 2, 0, 3>, stride = array<i64: 2, 1>} : (tensor<1x3x2x2xf32>, tensor<2x2x2x2xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x8x6x2xf32> loc("behind")
  return %before, %behind : tensor<1x8x4x2xf32>, tensor<1x8x6x2xf32>
}
