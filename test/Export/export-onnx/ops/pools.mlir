// RUN: mct-translate --export-onnx --onnx-profile=mct_quantizers --onnx-format=text %s | FileCheck %s

// CHECK: main (float[1,2,6,7] arg0) => (float[1,2,3,4] max, float[1,2,3,4] average, float[1,2,1,1] global)
// CHECK: {{^[{]$}}
// CHECK-NEXT: [max] max = MaxPool <kernel_shape = [2, 3], strides = [2, 2], pads = [0, 1, 0, 1]> (arg0)
// CHECK-NEXT: [average] average = AveragePool <kernel_shape = [2, 3], strides = [2, 2], pads = [0, 1, 0, 1]> (arg0)
// CHECK-NEXT: [global] global = GlobalAveragePool (arg0)
// CHECK-NEXT: {{^[}]$}}
func.func @main(%x: tensor<1x6x7x2xf32>) -> (tensor<1x3x4x2xf32>, tensor<1x3x4x2xf32>, tensor<1x1x1x2xf32>) {
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %m = tosa.max_pool2d %x {kernel = array<i64: 2, 3>, pad = array<i64: 0, 0, 1, 1>, stride = array<i64: 2, 2>} : (tensor<1x6x7x2xf32>) -> tensor<1x3x4x2xf32> loc("max")
  %a = tosa.avg_pool2d %x, %z, %z {acc_type = f32, kernel = array<i64: 2, 3>, pad = array<i64: 0, 0, 1, 1>, stride = array<i64: 2, 2>} : (tensor<1x6x7x2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x3x4x2xf32> loc("average")
  %g = tosa.avg_pool2d %x, %z, %z {acc_type = f32, kernel = array<i64: 6, 7>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x6x7x2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x2xf32> loc("global")
  return %m, %a, %g : tensor<1x3x4x2xf32>, tensor<1x3x4x2xf32>, tensor<1x1x1x2xf32>
}
