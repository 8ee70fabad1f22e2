// What ONNX did not have in operator set 13 is written as it was then: axes of reductions as attributes, kernels of 4 bits in 8, and
// hard-swish as the ops that it stands for.
// RUN: mct-translate --export-onnx --onnx-profile=qdq --onnx-opset=13 --onnx-format=text %s | FileCheck %s
// RUN: mct-translate --export-onnx --onnx-profile=qdq --onnx-format=text %s | FileCheck %s --check-prefix=LATER

// CHECK: <ir_version: 7, opset_import: ["" : 13],
// CHECK: int8[2,2,1,1] four/kernel_attr/codes = {-5, 0, 7, 0}
// CHECK: ReduceMax <axes = [1]> (
// CHECK: ReduceMean <axes = [1]> (
// CHECK: ReduceSum (
// CHECK-NOT: HardSwish
// CHECK: Clip (
// LATER: ReduceMax (
// LATER: ReduceMean (
// LATER: HardSwish (
func.func @main(%x: tensor<1x3x2x2xf32> loc("x"), %y: tensor<1x4x3xf32> loc("y")) -> (tensor<1x3x2x2xf32>, tensor<1x1x3xf32>, tensor<1x1x3xf32>, tensor<1x1x3xf32>, tensor<1x4x3xf32>) {
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %b = "tosa.const"() <{values = dense<[0.75, -0.375]> : tensor<2xf32>}> : () -> tensor<2xf32>
  %q = tpc.quantize %x as "x" activation parameters(#tpc.power_of_two<threshold = [4.0], bits = 8>) : tensor<1x3x2x2xf32>
  %k0 = "tosa.const"() <{values = dense<[[[[-1.25, 0.125]]], [[[0.5, -0.0]]]]> : tensor<2x1x1x2xf32>}> : () -> tensor<2x1x1x2xf32>
  %w1 = tpc.quantize %k0 as "four" weight "kernel_attr" axes [0] parameters(#tpc.power_of_two<threshold = [2.0, 0.5], bits = 4>) : tensor<2x1x1x2xf32>
  %1 = tosa.conv2d %q, %w1, %b, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x3x2x2xf32>, tensor<2x1x1x2xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x3x2x2xf32> loc("four")
  %2 = tosa.reduce_max %y {axis = 1 : i32} : (tensor<1x4x3xf32>) -> tensor<1x1x3xf32> loc("largest")
  %quarter = "tosa.const"() <{values = dense<0.25> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
  %s = tosa.reduce_sum %y {axis = 1 : i32} : (tensor<1x4x3xf32>) -> tensor<1x1x3xf32>
  %3 = tosa.mul %s, %quarter, %shift : (tensor<1x1x3xf32>, tensor<1x1x1xf32>, tensor<1xi8>) -> tensor<1x1x3xf32> loc("mean")
  %4 = tosa.reduce_sum %y {axis = 1 : i32} : (tensor<1x4x3xf32>) -> tensor<1x1x3xf32> loc("sum")
  %three = "tosa.const"() <{values = dense<3.0> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
  %sixth = "tosa.const"() <{values = dense<0.166666672> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
  %a = tosa.add %y, %three : (tensor<1x4x3xf32>, tensor<1x1x1xf32>) -> tensor<1x4x3xf32>
  %c = tosa.clamp %a {min_val = 0.0 : f32, max_val = 6.0 : f32} : (tensor<1x4x3xf32>) -> tensor<1x4x3xf32>
  %m = tosa.mul %y, %c, %shift : (tensor<1x4x3xf32>, tensor<1x4x3xf32>, tensor<1xi8>) -> tensor<1x4x3xf32>
  %5 = tosa.mul %m, %sixth, %shift : (tensor<1x4x3xf32>, tensor<1x1x1xf32>, tensor<1xi8>) -> tensor<1x4x3xf32> loc("hard_swish")
  return %1, %2, %3, %4, %5 : tensor<1x3x2x2xf32>, tensor<1x1x3xf32>, tensor<1x1x3xf32>, tensor<1x1x3xf32>, tensor<1x4x3xf32>
}
