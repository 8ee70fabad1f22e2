// Points as pairs of ONNX's own: codes from the lowest of their type on, with limits of codes where they are fewer.
// RUN: mct-translate --export-onnx --onnx-profile=qdq --onnx-format=text %s | FileCheck %s
// RUN: mct-translate --export-onnx --onnx-profile=qdq --onnx-activations=signed --onnx-format=text %s | FileCheck %s --check-prefix=SIGNED

// CHECK: float signed/scale = {0.03125}
// CHECK: uint8 signed/zero_point = {128}
// CHECK: float unsigned/scale = {0.015625}
// CHECK: uint8 unsigned/zero_point = {0}
// CHECK: float range/scale = {0.03125}
// CHECK: uint8 range/zero_point = {100}
// CHECK: float few/scale = {0.5}
// CHECK: uint8 few/zero_point = {8}
// CHECK: uint8 few/low = {0}
// CHECK: uint8 few/high = {15}
// CHECK: float wide/scale = {0.000122070312}
// CHECK: uint16 wide/zero_point = {32768}
// CHECK: float wide_few/scale = {0.001953125}
// CHECK: uint16 wide_few/zero_point = {2048}
// CHECK: float wide_few/low = {-4}
// CHECK: float wide_few/high = {3.99804688}
// CHECK: [signed/codes] signed/codes = QuantizeLinear (x, signed/scale, signed/zero_point)
// CHECK: [signed/quantized] signed/quantized = DequantizeLinear (signed/codes, signed/scale, signed/zero_point)
// CHECK: [abs_signed] abs_signed = Abs (signed/quantized)
// CHECK: [unsigned/codes] unsigned/codes = QuantizeLinear (x, unsigned/scale, unsigned/zero_point)
// CHECK: [unsigned/quantized] unsigned/quantized = DequantizeLinear (unsigned/codes, unsigned/scale, unsigned/zero_point)
// CHECK: [abs_unsigned] abs_unsigned = Abs (unsigned/quantized)
// CHECK: [range/codes] range/codes = QuantizeLinear (x, range/scale, range/zero_point)
// CHECK: [range/quantized] range/quantized = DequantizeLinear (range/codes, range/scale, range/zero_point)
// CHECK: [abs_range] abs_range = Abs (range/quantized)
// CHECK: [few/codes] few/codes = QuantizeLinear (x, few/scale, few/zero_point)
// CHECK: [few/limited] few/limited = Clip (few/codes, few/low, few/high)
// CHECK: [few/quantized] few/quantized = DequantizeLinear (few/limited, few/scale, few/zero_point)
// CHECK: [abs_few] abs_few = Abs (few/quantized)
// CHECK: [wide/codes] wide/codes = QuantizeLinear (x, wide/scale, wide/zero_point)
// CHECK: [wide/quantized] wide/quantized = DequantizeLinear (wide/codes, wide/scale, wide/zero_point)
// CHECK: [abs_wide] abs_wide = Abs (wide/quantized)
// CHECK: [wide_few/limited] wide_few/limited = Clip (x, wide_few/low, wide_few/high)
// CHECK: [wide_few/codes] wide_few/codes = QuantizeLinear (wide_few/limited, wide_few/scale, wide_few/zero_point)
// CHECK: [wide_few/quantized] wide_few/quantized = DequantizeLinear (wide_few/codes, wide_few/scale, wide_few/zero_point)
// CHECK: [abs_wide_few] abs_wide_few = Abs (wide_few/quantized)
// CHECK: [abs_empty] abs_empty = Abs (x)
// SIGNED: int8 signed/zero_point = {0}
// SIGNED: int8 unsigned/zero_point = {-128}
// SIGNED: int8 range/zero_point = {-28}
// SIGNED: int8 few/zero_point = {-120}
// SIGNED: int8 few/low = {-128}
// SIGNED: int8 few/high = {-113}
// SIGNED: int16 wide/zero_point = {0}
// SIGNED: int16 wide_few/zero_point = {-30720}
// SIGNED: float wide_few/low = {-4}
// SIGNED: float wide_few/high = {3.99804688}
func.func @main(%x: tensor<1x4xf32> loc("x")) -> (tensor<1x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>) {
  %signed = tpc.quantize %x as "signed" activation parameters(#tpc.power_of_two<threshold = [4.0], bits = 8>) : tensor<1x4xf32>
  %0 = tosa.abs %signed : (tensor<1x4xf32>) -> tensor<1x4xf32> loc("abs_signed")
  %unsigned = tpc.quantize %x as "unsigned" activation parameters(#tpc.power_of_two<threshold = [4.0], bits = 8, is_signed = false>) : tensor<1x4xf32>
  %1 = tosa.abs %unsigned : (tensor<1x4xf32>) -> tensor<1x4xf32> loc("abs_unsigned")
  %range = tpc.quantize %x as "range" activation parameters(#tpc.uniform<scale = [0.03125], zero_point = [100], bits = 8>) : tensor<1x4xf32>
  %2 = tosa.abs %range : (tensor<1x4xf32>) -> tensor<1x4xf32> loc("abs_range")
  %few = tpc.quantize %x as "few" activation parameters(#tpc.power_of_two<threshold = [4.0], bits = 4>) : tensor<1x4xf32>
  %3 = tosa.abs %few : (tensor<1x4xf32>) -> tensor<1x4xf32> loc("abs_few")
  %wide = tpc.quantize %x as "wide" activation parameters(#tpc.power_of_two<threshold = [4.0], bits = 16>) : tensor<1x4xf32>
  %4 = tosa.abs %wide : (tensor<1x4xf32>) -> tensor<1x4xf32> loc("abs_wide")
  %wide_few = tpc.quantize %x as "wide_few" activation parameters(#tpc.power_of_two<threshold = [4.0], bits = 12>) : tensor<1x4xf32>
  %5 = tosa.abs %wide_few : (tensor<1x4xf32>) -> tensor<1x4xf32> loc("abs_wide_few")
  %empty = tpc.quantize %x as "empty" activation : tensor<1x4xf32>
  %6 = tosa.abs %empty : (tensor<1x4xf32>) -> tensor<1x4xf32> loc("abs_empty")
  return %0, %1, %2, %3, %4, %5, %6 : tensor<1x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>
}
