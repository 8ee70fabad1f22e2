// RUN: mct-translate --export-onnx --onnx-profile=mct_quantizers --onnx-format=text %s | FileCheck %s

// What is returned and not computed is a constant, also after a point of weights.
// CHECK: main (float[1,2] arg0) => (float[1,2] abs, float[2] const, float[2] conv/kernel_attr/quantized)
// CHECK: {{^[{]$}}
// CHECK-NEXT: [abs] abs = Abs (arg0)
// CHECK-NEXT: [conv/kernel_attr/quantized] conv/kernel_attr/quantized = mct_quantizers.WeightsPOTQuantizer
// CHECK-NEXT: {{^[}]$}}
func.func @main(%x: tensor<1x2xf32>) -> (tensor<1x2xf32>, tensor<2xf32>, tensor<2xf32>) {
  %0 = tosa.abs %x : (tensor<1x2xf32>) -> tensor<1x2xf32>
  %c = "tosa.const"() <{values = dense<[0.5, 0.25]> : tensor<2xf32>}> : () -> tensor<2xf32>
  %k = tpc.quantize %c as "conv" weight "kernel_attr" parameters(#tpc.power_of_two<threshold = [1.0], bits = 4>) : tensor<2xf32>
  return %0, %c, %k : tensor<1x2xf32>, tensor<2xf32>, tensor<2xf32>
}
