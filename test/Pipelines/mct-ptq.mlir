// The pipeline is a list of passes, and each of its options arrives at the pass that it is for.
// RUN: mct-opt %s --mct-ptq="target=imx500 calibration-data=%S/../Calibration/mct-calibrate/Inputs/two_samples.npy" --dump-pass-pipeline 2>&1 | FileCheck %s
// RUN: mct-opt %s --mct-ptq="target=imx500_v1_0 calibration-data=%S/../Calibration/mct-calibrate/Inputs/two_samples.npy,%S/../Calibration/mct-calibrate/Inputs/two_samples.npy calibration-samples=3 batch-size=2 threads=1 input-scale=0.5;1;1;1 input-offset=1 statistics-out=%t.json activation-error-method=no-clipping weights-error-method=no-clipping" --dump-pass-pipeline 2>&1 | FileCheck %s --check-prefix=ALL
// RUN: mct-opt %s --mct-ptq="target=imx500 statistics-in=%t.json" | FileCheck %s --check-prefix=FILE
// RUN: printf 'op tosa.exp float\n' > %t.rules
// RUN: mct-opt %s --mct-ptq="target=imx500 statistics-in=%t.json overrides=%t.rules" | FileCheck %s --check-prefix=RULES

// CHECK:      builtin.module(
// CHECK-NEXT:   tpc-attach-target{target=imx500},
// CHECK-NEXT:   func.func(
// CHECK-NEXT:     mct-assign-names,
// CHECK-NEXT:     mct-fold-constants,
// CHECK-NEXT:     mct-normalize-activations,
// CHECK-NEXT:     mct-fold-batch-norm
// CHECK-NEXT:   ),
// CHECK-NEXT:   mct-insert-quantizers{overrides=},
// CHECK-NEXT:   mct-calibrate{
// CHECK-NEXT:   mct-select-weight-parameters{error-method=mse threads=0},
// CHECK-NEXT:   mct-select-parameters{error-method=mse}
// CHECK-NEXT: )
// CHECK-LABEL: func.func @main
// CHECK:         tpc.quantize {{.*}} as "exp" {{.*}} statistics({{.*}} parameters(

// ALL: tpc-attach-target{target=imx500_v1_0}
// ALL: mct-calibrate{batch-size=2 calibration-data={{.*}}two_samples.npy,{{.*}}two_samples.npy{{.*}} calibration-samples=3 channel-statistics=false function=main input-offset=1 input-scale=0.5;1;1;1 {{.*}}statistics-out={{.*}}.json threads=1}
// ALL-NEXT: mct-select-weight-parameters{error-method=no-clipping threads=1}
// ALL-NEXT: mct-select-parameters{error-method=no-clipping}
// ALL: as "arg0" {{.*}} statistics(#tpc.statistics<count = 12, {{.*}} max = 2.000000e+00,

// RULES:     as "arg0"
// RULES-NOT: as "exp"
// RULES:     return

// FILE: as "arg0" {{.*}} statistics(#tpc.statistics<count = 12, {{.*}} parameters(
func.func @main(%arg0: tensor<1x4xf32>) -> tensor<1x4xf32> {
  %0 = tosa.exp %arg0 : (tensor<1x4xf32>) -> tensor<1x4xf32>
  return %0 : tensor<1x4xf32>
}
