// RUN: mct-opt %s --mct-prepare --dump-pass-pipeline 2>&1 | FileCheck %s
// RUN: mct-opt %s --mct-prepare="linear-collapsing=false residual-collapsing=false relu-bound-to-power-of-2=true" --dump-pass-pipeline 2>&1 | FileCheck %s --check-prefix=OPTIONS

// CHECK:      builtin.module(
// CHECK-NEXT:   mct-lift-variables{function=},
// CHECK-NEXT:   func.func(
// CHECK-NEXT:     mct-raise-linalg{remarks=false},
// CHECK-NEXT:     mct-assign-names,
// CHECK-NEXT:     mct-fold-constants,
// CHECK-NEXT:     mct-move-transposes,
// CHECK-NEXT:     mct-normalize-activations
// CHECK-NEXT:   ),
// CHECK-NEXT:   mct-fold-batch-norm{remarks=false},
// CHECK-NEXT:   mct-collapse-linear{remarks=false},
// CHECK-NEXT:   mct-collapse-residual{remarks=false}
// CHECK-NEXT: )

// OPTIONS:      mct-fold-batch-norm{remarks=false},
// OPTIONS-NEXT: mct-bound-relu-to-power-of-two{remarks=false}
// OPTIONS-NEXT: )
module {}
