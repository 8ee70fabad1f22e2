// RUN: mct-translate --export-onnx --onnx-profile=mct_quantizers --onnx-format=text %s | FileCheck %s

// CHECK: main (float[batch,2,3,2] arg0) => (float[batch,12] flat, float[batch,2,3,2] conv)
// CHECK: float[2,2,1,1] conv/kernel =
// CHECK: float[2] conv/bias =
// CHECK: {{^[{]$}}
// CHECK-NEXT: [conv] conv = Conv <kernel_shape = [1, 1], strides = [1, 1], group = 1, pads = [0, 0, 0, 0], dilations = [1, 1]> (arg0, conv/kernel, conv/bias)
// CHECK-NEXT: [flat] flat = Reshape (conv, flat/shape)
// CHECK-NEXT: {{^[}]$}}
func.func @main(%x: tensor<?x2x3x2xf32>) -> (tensor<?x12xf32>, tensor<?x2x3x2xf32>) {
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %k = "tosa.const"() <{values = dense<[[[[0.125, -0.375]]], [[[-1.125, -0.125]]]]> : tensor<2x1x1x2xf32>}> : () -> tensor<2x1x1x2xf32>
  %b = "tosa.const"() <{values = dense<[0.875, -0.375]> : tensor<2xf32>}> : () -> tensor<2xf32>
  %t = tosa.transpose %x {perms = array<i32: 0, 2, 3, 1>} : (tensor<?x2x3x2xf32>) -> tensor<?x3x2x2xf32>
  %c = tosa.conv2d %t, %k, %b, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<?x3x2x2xf32>, tensor<2x1x1x2xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<?x3x2x2xf32> loc("conv")
  %u = tosa.transpose %c {perms = array<i32: 0, 3, 1, 2>} : (tensor<?x3x2x2xf32>) -> tensor<?x2x3x2xf32>
  %s = tosa.const_shape {values = dense<[-1, 12]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %f = tosa.reshape %u, %s : (tensor<?x2x3x2xf32>, !tosa.shape<2>) -> tensor<?x12xf32> loc("flat")
  return %f, %u : tensor<?x12xf32>, tensor<?x2x3x2xf32>
}
