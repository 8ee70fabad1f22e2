// RUN: mct-translate --export-onnx --onnx-profile=mct_quantizers --onnx-format=text %s | FileCheck %s

// CHECK: main (float[1,2,3,2] arg0) => (float[1,1,3,2] sum, float[1,2,1,2] max, float[1,2,3,1] min, int64[1,3,2] argmax)
// CHECK: {{^[{]$}}
// CHECK-NEXT: [max_pool2d] max_pool2d = MaxPool <kernel_shape = [1, 1], strides = [1, 1], pads = [0, 0, 0, 0]> (arg0)
// CHECK-NEXT: [sum] sum = ReduceSum (max_pool2d, sum/axes)
// CHECK-NEXT: [max] max = ReduceMax (max_pool2d, max/axes)
// CHECK-NEXT: [min] min = ReduceMin (max_pool2d, min/axes)
// CHECK-NEXT: [argmax] argmax = ArgMax <axis = 1, keepdims = 0> (max_pool2d)
// CHECK-NEXT: {{^[}]$}}
func.func @main(%x: tensor<1x3x2x2xf32>) -> (tensor<1x3x2x1xf32>, tensor<1x1x2x2xf32>, tensor<1x3x1x2xf32>, tensor<1x3x2xi32>) {
  %p = tosa.max_pool2d %x {kernel = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x3x2x2xf32>) -> tensor<1x3x2x2xf32>
  %a = tosa.reduce_sum %p {axis = 3 : i32} : (tensor<1x3x2x2xf32>) -> tensor<1x3x2x1xf32> loc("sum")
  %b = tosa.reduce_max %p {axis = 1 : i32} : (tensor<1x3x2x2xf32>) -> tensor<1x1x2x2xf32> loc("max")
  %c = tosa.reduce_min %p {axis = 2 : i32} : (tensor<1x3x2x2xf32>) -> tensor<1x3x1x2xf32> loc("min")
  %d = tosa.argmax %p {axis = 3 : i32} : (tensor<1x3x2x2xf32>) -> tensor<1x3x2xi32> loc("argmax")
  return %a, %b, %c, %d : tensor<1x3x2x1xf32>, tensor<1x1x2x2xf32>, tensor<1x3x1x2xf32>, tensor<1x3x2xi32>
}
