// A product of rows and a kernel, with its bias, is one layer of matrices, also where a reshape stands between; one without a bias
// stays a product.
// RUN: mct-translate --export-onnx --onnx-profile=qdq --onnx-format=text %s | FileCheck %s

// CHECK: int8[2,2] biased/kernel_attr/codes = {64, 0, -64, 32}
// CHECK: int32[2] sum/bias/codes = {1024, -2048}
// CHECK: int8[2,2] plain/kernel_attr/codes = {64, -64, 0, 32}
// CHECK: [sum/rows] sum/rows = Reshape (x/quantized, sum/rows/shape)
// CHECK: [sum/rows/quantized] sum/rows/quantized = DequantizeLinear
// CHECK: [sum/product] sum/product = Gemm <transB = 1> (sum/rows/quantized, biased/kernel_attr/quantized, sum/bias/quantized)
// CHECK-NOT: {{Add|Reshape}}
// CHECK: [result/codes] result/codes = QuantizeLinear (sum/product, result/scale, result/zero_point)
// CHECK: [plain] plain = MatMul (x/quantized, plain/kernel_attr/quantized)
func.func @main(%x: tensor<1x3x2xf32> loc("x")) -> (tensor<3x2xf32>, tensor<1x3x2xf32>) {
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %q = tpc.quantize %x as "x" activation parameters(#tpc.power_of_two<threshold = [4.0], bits = 8>) : tensor<1x3x2xf32>
  %k = "tosa.const"() <{values = dense<[[[0.5, -0.5], [0.0, 0.25]]]> : tensor<1x2x2xf32>}> : () -> tensor<1x2x2xf32>
  %b = "tosa.const"() <{values = dense<[[0.25, -0.5]]> : tensor<1x2xf32>}> : () -> tensor<1x2xf32>
  %w = tpc.quantize %k as "biased" weight "kernel_attr" parameters(#tpc.power_of_two<threshold = [1.0], bits = 8>) : tensor<1x2x2xf32>
  %0 = tosa.matmul %q, %w, %z, %z : (tensor<1x3x2xf32>, tensor<1x2x2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x3x2xf32> loc("biased")
  %s = tosa.const_shape {values = dense<[3, 2]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %1 = tosa.reshape %0, %s : (tensor<1x3x2xf32>, !tosa.shape<2>) -> tensor<3x2xf32>
  %2 = tosa.add %1, %b : (tensor<3x2xf32>, tensor<1x2xf32>) -> tensor<3x2xf32> loc("sum")
  %3 = tpc.quantize %2 as "result" activation parameters(#tpc.power_of_two<threshold = [4.0], bits = 8>) : tensor<3x2xf32>
  %v = tpc.quantize %k as "plain" weight "kernel_attr" axes [2] parameters(#tpc.power_of_two<threshold = [1.0, 1.0], bits = 8>) : tensor<1x2x2xf32>
  %4 = tosa.matmul %q, %v, %z, %z : (tensor<1x3x2xf32>, tensor<1x2x2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x3x2xf32> loc("plain")
  %5 = tpc.quantize %4 as "second" activation parameters(#tpc.power_of_two<threshold = [4.0], bits = 8>) : tensor<1x3x2xf32>
  return %3, %5 : tensor<3x2xf32>, tensor<1x3x2xf32>
}
