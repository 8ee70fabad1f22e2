// RUN: mct-opt %s --tpc-attach-target=target=imx500 --mct-insert-quantizers | FileCheck %s --check-prefixes=MAIN,OTHER
// RUN: mct-opt %s --tpc-attach-target=target=imx500 --mct-insert-quantizers=function= | FileCheck %s --check-prefixes=MAIN,NOTOTHER
// RUN: mct-opt %s --tpc-attach-target=target=imx500 --mct-insert-quantizers=function=other | FileCheck %s --check-prefixes=NOTMAIN,OTHER

// MAIN-LABEL:    func.func @main(
// MAIN:            as "exp" activation
// NOTMAIN-LABEL: func.func @main(
// NOTMAIN-NOT:     tpc.quantize
func.func @main(%arg0: tensor<1x4xf32>) -> tensor<1x4xf32> {
  %0 = tosa.exp %arg0 : (tensor<1x4xf32>) -> tensor<1x4xf32> loc("exp")
  return %0 : tensor<1x4xf32>
}

// OTHER-LABEL:    func.func @other(
// OTHER:            as "tanh" activation
// NOTOTHER-LABEL: func.func @other(
// NOTOTHER-NOT:     tpc.quantize
func.func @other(%arg0: tensor<1x4xf32>) -> tensor<1x4xf32> {
  %0 = tosa.tanh %arg0 : (tensor<1x4xf32>) -> tensor<1x4xf32> loc("tanh")
  return %0 : tensor<1x4xf32>
}
