// Limits between a layer and its point are limits of codes; what moves values stands between points; points that
// follow one another are kept apart by a limit.
// RUN: mct-translate --export-onnx --onnx-profile=qdq --onnx-format=text %s | FileCheck %s

// CHECK: int64[2] flat/shape = {1, 8}
// CHECK: int64[8] padded/pads = {0, 0, 1, 0, 0, 0, 0, 0}
// CHECK: float padded/value = {0.00999999978}
// CHECK: float x/scale = {0.0625}
// CHECK: uint8 x/zero_point = {128}
// CHECK: float relu6/scale = {0.03125}
// CHECK: uint8 relu6/zero_point = {0}
// CHECK: uint8 relu6/low = {0}
// CHECK: uint8 relu6/high = {192}
// CHECK: float again/scale = {0.015625}
// CHECK: uint8 again/zero_point = {0}
// CHECK: [x/codes] x/codes = QuantizeLinear (x, x/scale, x/zero_point)
// CHECK: [x/quantized] x/quantized = DequantizeLinear (x/codes, x/scale, x/zero_point)
// CHECK: [abs] abs = Abs (x/quantized)
// CHECK: [relu6/codes] relu6/codes = QuantizeLinear (abs, relu6/scale, relu6/zero_point)
// CHECK: [relu6/limited] relu6/limited = Clip (relu6/codes, relu6/low, relu6/high)
// CHECK: [relu6/quantized] relu6/quantized = DequantizeLinear (relu6/limited, relu6/scale, relu6/zero_point)
// CHECK: [pool] pool = MaxPool <kernel_shape = [2, 2], strides = [2, 2], pads = [0, 0, 0, 0]> (relu6/quantized)
// CHECK: [pool/codes] pool/codes = QuantizeLinear (pool, relu6/scale, relu6/zero_point)
// CHECK: [pool/quantized] pool/quantized = DequantizeLinear (pool/codes, relu6/scale, relu6/zero_point)
// CHECK: [flat] flat = Reshape (pool/quantized, flat/shape)
// CHECK: [flat/codes] flat/codes = QuantizeLinear (flat, relu6/scale, relu6/zero_point)
// CHECK: [flat/quantized] flat/quantized = DequantizeLinear (flat/codes, relu6/scale, relu6/zero_point)
// CHECK: [negate] negate = Neg (flat/quantized)
// CHECK: [again/codes] again/codes = QuantizeLinear (relu6/quantized, again/scale, again/zero_point)
// CHECK: [again/quantized] again/quantized = DequantizeLinear (again/codes, again/scale, again/zero_point)
// CHECK: [abs_again] abs_again = Abs (again/quantized)
// CHECK: [padded] padded = Pad <mode = "constant"> (relu6/quantized, padded/pads, padded/value)
// CHECK: [abs_padded] abs_padded = Abs (padded)
func.func @main(%x: tensor<1x4x4x2xf32> loc("x")) -> (tensor<1x8xf32>, tensor<1x4x4x2xf32>, tensor<1x5x4x2xf32>) {
  %z1 = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %q = tpc.quantize %x as "x" activation parameters(#tpc.power_of_two<threshold = [8.0], bits = 8>) : tensor<1x4x4x2xf32>
  // A limit that is the range of the point needs none; one that is not is one of codes.
  %a = tosa.abs %q : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32> loc("abs")
  %r = tosa.clamp %a {min_val = 0.0 : f32, max_val = 6.0 : f32} : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32> loc("relu6")
  %p = tpc.quantize %r as "relu6" activation parameters(#tpc.power_of_two<threshold = [8.0], bits = 8, is_signed = false>) : tensor<1x4x4x2xf32>
  // A pool and a reshape move codes; the next reader gets values of the same grid.
  %m = tosa.max_pool2d %p {kernel = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>} : (tensor<1x4x4x2xf32>) -> tensor<1x2x2x2xf32> loc("pool")
  %s = tosa.const_shape {values = dense<[1, 8]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %f = tosa.reshape %m, %s : (tensor<1x2x2x2xf32>, !tosa.shape<2>) -> tensor<1x8xf32> loc("flat")
  %n = tosa.negate %f, %z1, %z1 : (tensor<1x8xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x8xf32> loc("negate")
  // Two points one after the other.
  %again = tpc.quantize %p as "again" activation parameters(#tpc.power_of_two<threshold = [4.0], bits = 8, is_signed = false>) : tensor<1x4x4x2xf32>
  %t = tosa.abs %again : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32> loc("abs_again")
  // What is filled in lies between two codes: no codes after it.
  %fill = "tosa.const"() <{values = dense<0.01> : tensor<1xf32>}> : () -> tensor<1xf32>
  %pads = tosa.const_shape {values = dense<[0, 0, 1, 0, 0, 0, 0, 0]> : tensor<8xindex>} : () -> !tosa.shape<8>
  %padded = tosa.pad %p, %pads, %fill : (tensor<1x4x4x2xf32>, !tosa.shape<8>, tensor<1xf32>) -> tensor<1x5x4x2xf32> loc("padded")
  %u = tosa.abs %padded : (tensor<1x5x4x2xf32>) -> tensor<1x5x4x2xf32> loc("abs_padded")
  return %n, %t, %u : tensor<1x8xf32>, tensor<1x4x4x2xf32>, tensor<1x5x4x2xf32>
}
