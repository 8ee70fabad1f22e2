// Values stay as they are where a reader that needs them so costs the reshape that a layer saves.
// RUN: mct-translate --export-onnx --onnx-profile=qdq --onnx-format=text %s | FileCheck %s

// CHECK: [layer] layer = Reshape (layer/product/quantized, layer/shape)
// CHECK: [bounded] bounded = Relu (layer/quantized)
// CHECK: [largest] largest = ReduceMax (bounded, largest/axes)
func.func @main(%x: tensor<1x3x4xf32> loc("x")) -> tensor<1x1x4xf32> {
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %q = tpc.quantize %x as "x" activation parameters(#tpc.power_of_two<threshold = [4.0], bits = 8>) : tensor<1x3x4xf32>
  %k = "tosa.const"() <{values = dense<0.5> : tensor<1x4x4xf32>}> : () -> tensor<1x4x4xf32>
  %b = "tosa.const"() <{values = dense<[[[0.25, -0.5, 0.0, 1.0]]]> : tensor<1x1x4xf32>}> : () -> tensor<1x1x4xf32>
  %w = tpc.quantize %k as "layer" weight "kernel_attr" parameters(#tpc.power_of_two<threshold = [1.0], bits = 8>) : tensor<1x4x4xf32>
  %0 = tosa.matmul %q, %w, %z, %z : (tensor<1x3x4xf32>, tensor<1x4x4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x3x4xf32>
  %1 = tosa.add %0, %b : (tensor<1x3x4xf32>, tensor<1x1x4xf32>) -> tensor<1x3x4xf32> loc("layer")
  %2 = tpc.quantize %1 as "layer" activation parameters(#tpc.power_of_two<threshold = [4.0], bits = 8>) : tensor<1x3x4xf32>
  %3 = tosa.clamp %2 {min_val = 0.0 : f32, max_val = 3.4028235e+38 : f32} : (tensor<1x3x4xf32>) -> tensor<1x3x4xf32> loc("bounded")
  %4 = tosa.reduce_max %3 {axis = 1 : i32} : (tensor<1x3x4xf32>) -> tensor<1x1x4xf32> loc("largest")
  return %4 : tensor<1x1x4xf32>
}
