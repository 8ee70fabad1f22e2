// RUN: mct-opt %s --mct-prepare --dump-pass-pipeline 2>&1 | FileCheck %s

// CHECK:      builtin.module(
// CHECK-NEXT:   func.func(
// CHECK-NEXT:     mct-assign-names,
// CHECK-NEXT:     mct-fold-constants,
// CHECK-NEXT:     mct-normalize-activations,
// CHECK-NEXT:     mct-fold-batch-norm
// CHECK-NEXT:   )
// CHECK-NEXT: )
module {}
