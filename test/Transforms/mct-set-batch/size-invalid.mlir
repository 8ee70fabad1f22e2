// RUN: not mct-opt %s --mct-set-batch=size=-2 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// RUN: not mct-opt %s --mct-set-batch=size=9223372036854775807 2>&1 | FileCheck %s --check-prefix=HUGE
// NEGATIVE: error: 'func.func' op cannot get a batch of -2
// HUGE: error: 'func.func' op cannot get a batch of 9223372036854775807
func.func @main(%arg0: tensor<1x4xf32>) -> tensor<1x4xf32> {
  return %arg0 : tensor<1x4xf32>
}
