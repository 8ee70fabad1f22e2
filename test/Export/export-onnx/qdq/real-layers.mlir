// Layers that are computed with real numbers between points. ONNX Runtime quantizes kernels and biases that are floats
// there, and computes other numbers: it does not if the bias is dequantized, each number from a code with a scale of its
// own. A bias that does not fit in 32 bits makes the kernel real numbers as well, as integer kernels take no other scale.
// RUN: mct-translate --export-onnx --onnx-profile=qdq --onnx-format=text %s | FileCheck %s

// CHECK: int32[2] float/bias/codes = {1, 0}
// CHECK-NEXT: float[2] float/bias/scale = {0.300000012, 1}
// CHECK: int32[2] large/bias/codes = {-1, 1}
// CHECK-NEXT: float[2] large/bias/scale = {1.70000005, 0.899999976}
// CHECK: [float/bias/quantized] float/bias/quantized = DequantizeLinear <axis = 0> (float/bias/codes, float/bias/scale)
// CHECK-NEXT: [float] float = Conv <{{.*}}> (x/quantized, float/kernel, float/bias/quantized)
// CHECK: [large/bias/quantized] large/bias/quantized = DequantizeLinear <axis = 0> (large/bias/codes, large/bias/scale)
// CHECK-NEXT: [large] large = Conv <{{.*}}> (x/quantized, large/kernel, large/bias/quantized)
func.func @main(%x: tensor<1x3x2x2xf32>) -> (tensor<1x3x2x2xf32>, tensor<1x3x2x2xf32>) {
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %q = tpc.quantize %x as "x" activation parameters(#tpc.power_of_two<threshold = [4.0], bits = 8>) : tensor<1x3x2x2xf32>
  %k = "tosa.const"() <{values = dense<[[[[0.3571, -1.0213]]], [[[0.0712, 0.4437]]]]> : tensor<2x1x1x2xf32>}> : () -> tensor<2x1x1x2xf32>
  %b = "tosa.const"() <{values = dense<[0.3, 0.0]> : tensor<2xf32>}> : () -> tensor<2xf32>
  %c = tosa.conv2d %q, %k, %b, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x3x2x2xf32>, tensor<2x1x1x2xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x3x2x2xf32> loc("float")
  %y = tpc.quantize %c as "float" activation parameters(#tpc.power_of_two<threshold = [4.0], bits = 8>) : tensor<1x3x2x2xf32>
  %tiny = "tosa.const"() <{values = dense<[[[[1.0e-9, -2.0e-9]]], [[[3.0e-9, 0.0]]]]> : tensor<2x1x1x2xf32>}> : () -> tensor<2x1x1x2xf32>
  %w = tpc.quantize %tiny as "large" weight "kernel_attr" parameters(#tpc.symmetric<threshold = [3.0e-9], bits = 8>) : tensor<2x1x1x2xf32>
  %bias = "tosa.const"() <{values = dense<[-1.7, 0.9]> : tensor<2xf32>}> : () -> tensor<2xf32>
  %d = tosa.conv2d %q, %w, %bias, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x3x2x2xf32>, tensor<2x1x1x2xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x3x2x2xf32> loc("large")
  %v = tpc.quantize %d as "large" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8>) : tensor<1x3x2x2xf32>
  return %y, %v : tensor<1x3x2x2xf32>, tensor<1x3x2x2xf32>
}
