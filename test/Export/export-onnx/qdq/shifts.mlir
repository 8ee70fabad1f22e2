// A number of whole steps that is added in front of a point is a part of the zero point that it quantizes with.
// RUN: mct-translate --export-onnx --onnx-profile=qdq --onnx-format=text %s | FileCheck %s

// CHECK-DAG: uint8 sum/zero_point = {0}
// CHECK-DAG: uint8 sum/shifted_zero_point = {5}
// CHECK-DAG: uint8 limited/shifted_zero_point = {8}
// CHECK-DAG: uint8 limited/low = {8}
// CHECK-DAG: uint8 limited/high = {40}
// CHECK:     [sum/codes] sum/codes = QuantizeLinear (abs, sum/scale, sum/shifted_zero_point)
// CHECK:     [sum/quantized] sum/quantized = DequantizeLinear (sum/codes, sum/scale, sum/zero_point)

// Limits of what the number is added to are limits of the sum.
// CHECK:     [limited/codes] limited/codes = QuantizeLinear (abs_limited, limited/scale, limited/shifted_zero_point)
// CHECK:     [limited/limited] limited/limited = Clip (limited/codes, limited/low, limited/high)
// CHECK:     [limited/quantized] limited/quantized = DequantizeLinear (limited/limited, limited/scale, limited/zero_point)

// Not whole steps; a zero point below the lowest code; a number that is added to a point.
// CHECK:     [between] between = Add (abs_between, {{.*}})
// CHECK:     [below] below = Add (abs_below, {{.*}})
// CHECK:     [behind] behind = Add (sum/quantized, {{.*}})
#u8 = #tpc.power_of_two<threshold = [16.0], bits = 8, is_signed = false>
func.func @main(%x: tensor<1x8xf32> loc("x")) -> (tensor<1x8xf32>, tensor<1x8xf32>, tensor<1x8xf32>, tensor<1x8xf32>) {
  %q = tpc.quantize %x as "x" activation parameters(#tpc.power_of_two<threshold = [8.0], bits = 8>) : tensor<1x8xf32>
  %five = "tosa.const"() <{values = dense<0.3125> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %a = tosa.abs %q : (tensor<1x8xf32>) -> tensor<1x8xf32> loc("abs")
  %s = tosa.add %a, %five : (tensor<1x8xf32>, tensor<1x1xf32>) -> tensor<1x8xf32> loc("sum")
  %sum = tpc.quantize %s as "sum" activation parameters(#u8) : tensor<1x8xf32>

  %eight = "tosa.const"() <{values = dense<0.5> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %b = tosa.abs %q : (tensor<1x8xf32>) -> tensor<1x8xf32> loc("abs_limited")
  %l = tosa.clamp %b {min_val = 0.0 : f32, max_val = 2.0 : f32} : (tensor<1x8xf32>) -> tensor<1x8xf32>
  %t = tosa.add %eight, %l : (tensor<1x1xf32>, tensor<1x8xf32>) -> tensor<1x8xf32>
  %limited = tpc.quantize %t as "limited" activation parameters(#u8) : tensor<1x8xf32>

  %some = "tosa.const"() <{values = dense<0.3> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %c = tosa.abs %q : (tensor<1x8xf32>) -> tensor<1x8xf32> loc("abs_between")
  %u = tosa.add %c, %some : (tensor<1x8xf32>, tensor<1x1xf32>) -> tensor<1x8xf32> loc("between")
  %between = tpc.quantize %u as "between" activation parameters(#u8) : tensor<1x8xf32>

  %minus = "tosa.const"() <{values = dense<-0.5> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %d = tosa.abs %q : (tensor<1x8xf32>) -> tensor<1x8xf32> loc("abs_below")
  %v = tosa.add %d, %minus : (tensor<1x8xf32>, tensor<1x1xf32>) -> tensor<1x8xf32> loc("below")
  %below = tpc.quantize %v as "below" activation parameters(#u8) : tensor<1x8xf32>

  %w = tosa.add %sum, %eight : (tensor<1x8xf32>, tensor<1x1xf32>) -> tensor<1x8xf32> loc("behind")
  %behind = tpc.quantize %w as "behind" activation parameters(#u8) : tensor<1x8xf32>
  return %limited, %between, %below, %behind : tensor<1x8xf32>, tensor<1x8xf32>, tensor<1x8xf32>, tensor<1x8xf32>
}
