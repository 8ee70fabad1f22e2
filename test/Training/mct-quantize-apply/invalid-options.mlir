// RUN: not mct-opt %s --mct-quantize-annotate --mct-quantize-apply=weight-bits=0 -o /dev/null 2>&1 | FileCheck %s --check-prefix=WEIGHTS
// RUN: not mct-opt %s --mct-quantize-annotate --mct-quantize-apply=activation-bits=17 -o /dev/null 2>&1 | FileCheck %s --check-prefix=ACTIVATIONS

// WEIGHTS: error: 'func.func' op cannot be quantized with weight-bits=0; give 1 to 16
// ACTIVATIONS: error: 'func.func' op cannot be quantized with activation-bits=17; give 1 to 16
func.func @main(%arg0: tensor<1x3xf32>) -> tensor<1x3xf32> {
  %0 = tosa.add %arg0, %arg0 : (tensor<1x3xf32>, tensor<1x3xf32>) -> tensor<1x3xf32>
  return %0 : tensor<1x3xf32>
}
