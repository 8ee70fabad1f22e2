// SPDX-License-Identifier: Apache-2.0
func.func @main(%x: tensor<1x2x2x4xf32> loc("x")) -> tensor<1x2x2x2xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %w = "tosa.const"() <{values = dense<1.0> : tensor<2x1x1x4xf32>}> : () -> tensor<2x1x1x4xf32>
  %bias = "tosa.const"() <{values = dense<[1.0, 2.0]> : tensor<2xf32>}> : () -> tensor<2xf32>
  %xq = tpc.quantize %x as "x" activation parameters(#tpc.power_of_two<threshold = [8.0], bits = 8>) : tensor<1x2x2x4xf32>
  %wq = tpc.quantize %w as "conv" weight "kernel_attr" parameters(#tpc.symmetric<threshold = [1.0], bits = 4>) : tensor<2x1x1x4xf32>
  %0 = tosa.conv2d %xq, %wq, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x2x2x4xf32>, tensor<2x1x1x4xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x2x2xf32> loc("conv")
  %half = "tosa.const"() <{values = dense<0.5> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %shifted = tosa.add %0, %half : (tensor<1x2x2x2xf32>, tensor<1x1x1x1xf32>) -> tensor<1x2x2x2xf32> loc("shifted")
  %1 = tpc.quantize %shifted as "shifted" activation group(["conv", "shifted"]) parameters(#tpc.power_of_two<threshold = [8.0], bits = 8>) : tensor<1x2x2x2xf32>
  return %1 : tensor<1x2x2x2xf32>
}
