// RUN: mct-opt %s --mct-quantize-annotate | FileCheck %s --check-prefix=ALL
// RUN: mct-opt %s --mct-quantize-annotate="layers=tan*,sum" | FileCheck %s --check-prefix=NAMED
// RUN: mct-opt %s --mct-quantize-annotate=supported-only=true | FileCheck %s --check-prefix=SUPPORTED
// RUN: mct-opt %s --mct-quantize-annotate="layers=sum config=#tpc.quantize_config<outputs=[#tpc.symmetric<threshold=[1.0],bits=4>]>" --mct-quantize-annotate | FileCheck %s --check-prefix=CONFIG
// RUN: mct-opt %s --mct-quantize-annotate=function=other | FileCheck %s --check-prefix=OTHER

// ALL-LABEL: func.func @main
// ALL:         as "sum" activation config(#tpc.quantize_config<>)
// ALL:         as "product" activation config(#tpc.quantize_config<>)
// ALL:         as "tanh" activation config(#tpc.quantize_config<>)
// ALL-NOT:     tpc.quantize
// NAMED-LABEL: func.func @main
// NAMED:       as "sum" activation config(#tpc.quantize_config<>)
// NAMED-NOT:   as "product"
// NAMED:       as "tanh" activation config(#tpc.quantize_config<>)
// A product is nothing that the scheme knows.
// SUPPORTED-LABEL: func.func @main
// SUPPORTED:   as "sum"
// SUPPORTED-NOT: as "product"
// SUPPORTED:   as "tanh"
// What is marked keeps its mark.
// CONFIG-LABEL: func.func @main
// CONFIG:      as "sum" activation config(#tpc.quantize_config<outputs = [#tpc.symmetric<threshold = [1.000000e+00], bits = 4>]>)
// CONFIG:      as "product" activation config(#tpc.quantize_config<>)
// CONFIG:      as "tanh" activation config(#tpc.quantize_config<>)
// CONFIG-NOT:  tpc.quantize
func.func @main(%x: tensor<1x4xf32>, %y: tensor<1x4xf32>) -> (tensor<1x4xf32>, tensor<1x4xi1>) {
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %0 = tosa.add %x, %y : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<1x4xf32> loc("sum")
  %1 = tosa.mul %0, %y, %shift : (tensor<1x4xf32>, tensor<1x4xf32>, tensor<1xi8>) -> tensor<1x4xf32> loc("product")
  %2 = tosa.tanh %1 : (tensor<1x4xf32>) -> tensor<1x4xf32> loc("tanh")
  %3 = tosa.greater %2, %y : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<1x4xi1>
  return %2, %3 : tensor<1x4xf32>, tensor<1x4xi1>
}

// OTHER-LABEL: func.func @main
// OTHER-NOT:   tpc.quantize
// OTHER-LABEL: func.func @other
// OTHER:       tpc.quantize
func.func @other(%x: tensor<1x4xf32>) -> tensor<1x4xf32> {
  %0 = tosa.tanh %x : (tensor<1x4xf32>) -> tensor<1x4xf32>
  return %0 : tensor<1x4xf32>
}
