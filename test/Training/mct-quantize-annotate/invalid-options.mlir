// RUN: not mct-opt %s --mct-quantize-annotate="config=4" -o /dev/null 2>&1 | FileCheck %s --check-prefix=CONFIG
// RUN: not mct-opt %s --mct-quantize-annotate="config=#tpc.quantize_config<weights=4>" -o /dev/null 2>&1 | FileCheck %s --check-prefix=TEXT
// RUN: not mct-opt %s --mct-quantize-annotate="layers=[" -o /dev/null 2>&1 | FileCheck %s --check-prefix=PATTERN

// CONFIG: error: 'func.func' op cannot be annotated: config is '4', and no attribute such as #tpc.quantize_config<>
// TEXT: error: 'func.func' op cannot be annotated: config is '#tpc.quantize_config<weights=4>', and no attribute such as #tpc.quantize_config<>
// PATTERN: error: 'func.func' op cannot be annotated: '[' of layers: {{.*}}
func.func @main(%x: tensor<1x4xf32>) -> tensor<1x4xf32> {
  %0 = tosa.tanh %x : (tensor<1x4xf32>) -> tensor<1x4xf32>
  return %0 : tensor<1x4xf32>
}
