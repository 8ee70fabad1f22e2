// A diagnostic is short; the flag of mlir-opt adds the op.
// RUN: not mct-opt %s --mct-select-parameters 2>&1 | FileCheck %s --implicit-check-not="see current operation"
// RUN: not mct-opt %s --mct-select-parameters --mlir-print-op-on-diagnostic=true 2>&1 | FileCheck %s --check-prefix=OP

// CHECK: mct-opt-diagnostics.mlir:[[#@LINE+4]]:8: error: 'tpc.quantize' op has no config; run mct-insert-quantizers, or give it one
// OP:    error: 'tpc.quantize' op has no config
// OP:    note: see current operation
func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  %0 = tpc.quantize %arg0 as "p" activation : tensor<4xf32>
  return %0 : tensor<4xf32>
}
