// A finer point after another one, which only a tanh reads (ONNX Runtime has it for real numbers alone), is a limit, and nothing where
// it limits nothing. One whose grid has not all those codes stays, and so does one that other operators read.
// RUN: mct-translate --export-onnx --onnx-profile=qdq --onnx-format=text %s | FileCheck %s

// CHECK-DAG: float fine/quantized/low = {-1}
// CHECK-DAG: float fine/quantized/high = {0.9921875}
// CHECK: [fine/quantized] fine/quantized = Clip (x/quantized, fine/quantized/low, fine/quantized/high)
// CHECK: tanh_of_fine = Tanh (fine/quantized)
// CHECK: tanh_of_wide = Tanh (x/quantized)
// CHECK: [other/codes] other/codes = QuantizeLinear (x/quantized, other/scale, other/zero_point)
// CHECK: tanh_of_other = Tanh (other/quantized)
// CHECK: [shared/codes] shared/codes = QuantizeLinear (x/quantized, shared/scale, shared/zero_point)
func.func @main(%x: tensor<1x4xf32> loc("x"))
    -> (tensor<1x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>) {
  %q = tpc.quantize %x as "x" activation parameters(#tpc.power_of_two<threshold = [4.0], bits = 7>) : tensor<1x4xf32>
  %0 = tpc.quantize %q as "fine" activation parameters(#tpc.power_of_two<threshold = [1.0], bits = 8>) : tensor<1x4xf32>
  %1 = tosa.tanh %0 : (tensor<1x4xf32>) -> tensor<1x4xf32> loc("tanh_of_fine")
  %2 = tpc.quantize %q as "wide" activation parameters(#tpc.power_of_two<threshold = [4.0], bits = 8>) : tensor<1x4xf32>
  %3 = tosa.tanh %2 : (tensor<1x4xf32>) -> tensor<1x4xf32> loc("tanh_of_wide")
  %4 = tpc.quantize %q as "other" activation parameters(#tpc.uniform<scale = [0.02], zero_point = [100], bits = 8>) : tensor<1x4xf32>
  %5 = tosa.tanh %4 : (tensor<1x4xf32>) -> tensor<1x4xf32> loc("tanh_of_other")
  %6 = tpc.quantize %q as "shared" activation parameters(#tpc.power_of_two<threshold = [1.0], bits = 8>) : tensor<1x4xf32>
  %7 = tosa.tanh %6 : (tensor<1x4xf32>) -> tensor<1x4xf32> loc("tanh_of_shared")
  %8 = tosa.sigmoid %6 : (tensor<1x4xf32>) -> tensor<1x4xf32> loc("sigmoid_of_shared")
  return %1, %3, %5, %7, %8 : tensor<1x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>
}
