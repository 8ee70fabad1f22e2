// RUN: not mct-opt %s --tpc-attach-target=target=imx500 --mct-correct-shift-negative=ratio=-1 2>&1 | FileCheck %s --check-prefix=RATIO
// RUN: not mct-opt %s --tpc-attach-target=target=imx500 --mct-correct-shift-negative=ratio=nan 2>&1 | FileCheck %s --check-prefix=NAN
// RUN: not mct-opt %s --tpc-attach-target=target=imx500 --mct-correct-shift-negative=error-method=hmse 2>&1 | FileCheck %s --check-prefix=HMSE
// RUN: not mct-opt %s --tpc-attach-target=target=imx500 --mct-correct-shift-negative="error-method=lp lp-norm=0" 2>&1 | FileCheck %s --check-prefix=LP
// RUN: not mct-opt %s --mct-correct-shift-negative 2>&1 | FileCheck %s --check-prefix=TARGET

// RATIO: error: the ratio of negative shifts must be 0 or more, but is -1
// NAN: error: the ratio of negative shifts must be 0 or more, but is nan
// HMSE: error: error-method=hmse weighs the elements of kernels; for activations use mse
// LP: error: lp-norm is 0
// TARGET: error: {{.*}}target
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
