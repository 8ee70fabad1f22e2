// A reversed value is a slice in steps of -1, along the axis that it has in the file.
// RUN: mct-translate --export-onnx --onnx-profile=mct_quantizers --onnx-format=text %s | FileCheck %s

// CHECK: int64[1] reverse/starts = {-1}
// CHECK: int64[1] reverse/ends = {-9223372036854775808}
// CHECK: int64[1] reverse/axes = {2}
// CHECK: int64[1] reverse/steps = {-1}
// CHECK: [pool] pool = MaxPool
// CHECK-NEXT: [reverse] reverse = Slice (pool, reverse/starts, reverse/ends, reverse/axes, reverse/steps)
func.func @main(%x: tensor<1x3x2x2xf32>) -> tensor<1x3x2x2xf32> {
  %p = tosa.max_pool2d %x {kernel = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x3x2x2xf32>) -> tensor<1x3x2x2xf32> loc("pool")
  %r = tosa.reverse %p {axis = 1 : i32} : (tensor<1x3x2x2xf32>) -> tensor<1x3x2x2xf32> loc("reverse")
  return %r : tensor<1x3x2x2xf32>
}
