// The pipeline is a list of passes, and each of its options arrives at the pass that it is for.
// RUN: mct-opt %s --mct-ptq="target=imx500 calibration-data=%S/../Calibration/mct-calibrate/Inputs/two_samples.npy" --dump-pass-pipeline 2>&1 | FileCheck %s
// RUN: mct-opt %s --mct-ptq="target=imx500_v1_0 calibration-data=%S/../Calibration/mct-calibrate/Inputs/two_samples.npy,%S/../Calibration/mct-calibrate/Inputs/two_samples.npy calibration-samples=3 batch-size=2 threads=1 input-scale=0.5;1;1;1 input-offset=1 statistics-out=%t.json activation-error-method=lp weights-error-method=no-clipping lp-norm=3 percentile=99 min-threshold=0.25 z-threshold=9 round-weights-max-bits=5 round-weights-max-samples=66" --dump-pass-pipeline 2>&1 | FileCheck %s --check-prefix=ALL
// RUN: mct-opt %s --mct-ptq="target=imx500 calibration-data=%S/../Calibration/mct-calibrate/Inputs/two_samples.npy linear-collapsing=false residual-collapsing=false relu-bound-to-power-of-2=true activation-channel-equalization=true" --dump-pass-pipeline 2>&1 | FileCheck %s --check-prefix=PREPARE
// RUN: mct-opt %s --mct-ptq="target=imx500 calibration-data=%S/../Calibration/mct-calibrate/Inputs/two_samples.npy threads=3 activation-error-method=mae softmax-shift=true input-scaling=true concat-threshold-update=true shift-negative-ratio=0.1 shift-negative-threshold-recalculation=false shift-negative-params-search=true refine-thresholds=true refine-thresholds-max-samples=55 round-weights=false second-moment-max-bits=5 bias-estimate=input-mean bias-max-samples=77 activation-bias-correction=true activation-bias-correction-threshold=5" --dump-pass-pipeline 2>&1 | FileCheck %s --check-prefix=CORRECT
// RUN: mct-opt %s --mct-ptq="target=imx500 calibration-data=%S/../Calibration/mct-calibrate/Inputs/two_samples.npy shift-negative-activation-correction=false round-weights=false weights-second-moment-correction=false weights-bias-correction=false weights-error-method=hmse split-shared-grids=false residual-equalization=false rescale-parts=false" --dump-pass-pipeline 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: mct-opt %s --mct-ptq="target=imx500 calibration-data=%S/../Calibration/mct-calibrate/Inputs/two_samples.npy refine-thresholds=true" --dump-pass-pipeline 2>&1 | FileCheck %s --check-prefix=REFINE
// RUN: mct-opt %s --mct-ptq="target=imx500 calibration-data=%S/../Calibration/mct-calibrate/Inputs/two_samples.npy threads=3 gptq-epochs=3" --dump-pass-pipeline 2>&1 | FileCheck %s --check-prefix=TRAIN
// RUN: mct-opt %s --mct-ptq="target=imx500 calibration-data=%S/../Calibration/mct-calibrate/Inputs/two_samples.npy input-scaling=true weights-error-tolerance=2.5" --dump-pass-pipeline 2>&1 | FileCheck %s --check-prefix=TOLERANCE
// RUN: mct-opt %s --mct-ptq="target=imx500 statistics-in=%t.json weights-bias-correction=false" | FileCheck %s --check-prefix=FILE
// RUN: printf 'op tosa.exp float\n' > %t.rules
// RUN: mct-opt %s --mct-ptq="target=imx500 statistics-in=%t.json weights-bias-correction=false overrides=%t.rules" | FileCheck %s --check-prefix=RULES

// CHECK:      builtin.module(
// CHECK-NEXT:   tpc-attach-target{target=imx500},
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
// CHECK-NEXT:   mct-collapse-residual{remarks=false},
// CHECK-NEXT:   mct-insert-quantizers{activations=0 decode=float function= {{.*}}overrides= weights=0},
// CHECK-NEXT:   mct-judge-correction{{.*}} correction=residual_equalization {{.*}}made-by={builtin.module(mct-equalize-residuals{measured-by={builtin.module(mct-calibrate{{{.*}}channel-statistics=true {{.*}} max-samples=64 {{.*}}
// CHECK-NEXT:   mct-judge-correction{{.*}} correction=parts_rescaling {{.*}}made-by={builtin.module(mct-rescale-parts{measured-by={builtin.module(mct-calibrate{{{.*}} channel-statistics=true {{.*}} max-samples=64 {{.*}}
// CHECK-NEXT:   mct-select-weight-parameters{error-method=mse {{.*}} threads=0},
// CHECK-NEXT:   mct-calibrate{
// CHECK-NEXT:   mct-split-shared-grids{completed-by={builtin.module(mct-calibrate{{{.*}}only-missing=true{{.*}},mct-select-weight-parameters{{.*}})} remarks={{.*}}},
// CHECK-NEXT:   mct-select-parameters{error-method=mse {{.*}} threads=0 z-threshold={{[0.e+]*}}},
// CHECK-NEXT:   mct-judge-correction{{.*}} made-by={builtin.module(mct-correct-shift-negative{bias-correction-follows=true error-method=mse {{.*}} parameter-search=false {{.*}}ratio={{0.05|5.0*e-02}} {{.*}}threshold-recalculation=true {{.*}}},{{.*}}
// CHECK-NEXT:   mct-round-weights{{.*}} correct-bias=true {{.*}}max-bits=7 {{.*}}max-samples=1024 {{.*}}threads=0},
// CHECK-NEXT:   mct-correct-bias{{.*}} estimate=quantized-network {{.*}}}
// CHECK-NEXT: )
// CHECK-LABEL: func.func @main
// CHECK:         tpc.quantize {{.*}} as "exp" {{.*}} statistics({{.*}} parameters(

// TRAIN:      {{^ *}}mct-correct-bias{
// TRAIN-NEXT: mct-gptq{{.*}}two_samples.npy{{.*}} epochs=3 {{.*}}threads=3{{.*}}}

// TOLERANCE:      {{^ *}}mct-select-weight-parameters{{.*}} error-tolerance=2.5
// TOLERANCE:      mct-scale-input
// TOLERANCE-NEXT: mct-select-weight-parameters{{.*}} error-tolerance=2.5

// ALL: tpc-attach-target{target=imx500_v1_0}
// ALL:      mct-rescale-parts{measured-by={builtin.module(mct-calibrate{{{.*}} calibration-samples=3 channel-statistics=true{{.*}}
// ALL:      {{^ *}}mct-select-weight-parameters{error-method=no-clipping {{.*}}lp-norm=3{{.*}} min-threshold={{0.25|2.5.*}} percentile={{99|9.9.*}}threads=1}
// ALL-NEXT: mct-calibrate{batch-size=2 calibration-data={{.*}}two_samples.npy,{{.*}}two_samples.npy{{.*}} calibration-samples=3 channel-statistics=false function= input-offset=1 input-scale=0.5;1;1;1 {{.*}}statistics-out={{.*}}.json threads=1}
// ALL-NEXT: mct-split-shared-grids{completed-by={builtin.module(mct-calibrate{{{.*}}only-missing=true{{.*}},mct-select-weight-parameters{{.*}})} remarks={{.*}}},
// ALL-NEXT: mct-select-parameters{error-method=lp lp-norm=3{{.*}} min-threshold={{0.25|2.5.*}} percentile={{99|9.9.*}}threads=1 z-threshold=9{{.*}}}
// ALL-NEXT: mct-judge-correction{{.*}} made-by={builtin.module(mct-correct-shift-negative{bias-correction-follows=true error-method=lp lp-norm=3{{.*}} min-threshold={{0.25|2.5.*}} percentile={{99|9.9.*}}z-threshold=9{{.*}}}{{.*}}
// ALL-NEXT: mct-round-weights{batch-size=2 calibration-data={{.*}}two_samples.npy,{{.*}}two_samples.npy{{.*}} calibration-samples=3 {{.*}} max-bits=5 {{.*}}max-samples=66 {{.*}}threads=1}
// ALL-NEXT: mct-correct-bias{batch-size=2 calibration-data={{.*}}two_samples.npy,{{.*}}two_samples.npy{{.*}} calibration-samples=3 {{.*}} input-offset=1 input-scale=0.5;1;1;1 {{.*}}threads=1}
// ALL: as "arg0" {{.*}} statistics(#tpc.statistics<count = 12, {{.*}} max = 2.000000e+00,

// PREPARE:      mct-fold-batch-norm{remarks=false},
// PREPARE-NEXT: mct-bound-relu-to-power-of-two{remarks=false},
// PREPARE-NEXT: mct-insert-quantizers
// PREPARE-NEXT: mct-calibrate{{.*}}channel-statistics=true
// PREPARE-NEXT: mct-judge-correction{{.*}} made-by={builtin.module(mct-equalize-channels{{.*}}
// PREPARE-NEXT: mct-judge-correction{{.*}} made-by={builtin.module(mct-equalize-residuals{{.*}}
// PREPARE-NEXT: mct-judge-correction{{.*}} made-by={builtin.module(mct-rescale-parts{{.*}}
// PREPARE-NEXT: mct-select-weight-parameters
// PREPARE-NEXT: mct-calibrate{{.*}}channel-statistics=false

// A layer in which the bias is not corrected in the end has to subtract the shift with its quantized kernel.
// REFINE:      mct-judge-correction{{.*}} made-by={builtin.module(mct-correct-shift-negative{bias-correction-follows=false
// REFINE-NEXT: mct-judge-correction{{.*}} correction=threshold_refinement {{.*}}made-by={builtin.module(mct-refine-thresholds{{.*}} max-samples=64 {{.*}}

// CORRECT:      {{^ *}}mct-select-weight-parameters{error-method=mse
// CORRECT-NEXT: mct-judge-correction{{.*}} made-by={builtin.module(mct-correct-second-moment{{.*}} max-bits=5 {{.*}}threads=3}{{.*}}
// CORRECT-NEXT: mct-calibrate
// CORRECT-NEXT: mct-split-shared-grids{completed-by={builtin.module(mct-calibrate{{{.*}}only-missing=true{{.*}},mct-select-weight-parameters{{.*}})} remarks={{.*}}},
// CORRECT-NEXT: mct-select-parameters{error-method=mae
// CORRECT-NEXT: mct-shift-softmax
// CORRECT-NEXT: mct-scale-input
// CORRECT-NEXT: mct-select-weight-parameters{error-method=mse
// CORRECT-NEXT: mct-select-parameters{error-method=mae
// CORRECT-NEXT: func.func(
// CORRECT-NEXT:   mct-update-concat-thresholds
// CORRECT-NEXT: ),
// CORRECT-NEXT: mct-judge-correction{{.*}} made-by={builtin.module(mct-correct-shift-negative{bias-correction-follows=true error-method=mae {{.*}} parameter-search=true {{.*}}ratio={{0.1|1.0*e-01}} {{.*}}threshold-recalculation=false{{.*}}
// CORRECT-NEXT: mct-judge-correction{{.*}} correction=threshold_refinement {{.*}}made-by={builtin.module(mct-refine-thresholds{{.*}} max-samples=55 {{.*}}threads=3}{{.*}}
// CORRECT-NEXT: mct-judge-correction{{.*}} made-by={builtin.module(mct-correct-bias{{.*}} estimate=input-mean {{.*}}max-samples=77 {{.*}}threads=3}{{.*}}
// CORRECT-NEXT: mct-judge-correction{{.*}} made-by={builtin.module(mct-correct-activation-bias{{.*}}threshold=5{{.*}}
// NONE:      mct-calibrate{{.*}}channel-statistics=true
// NONE-NEXT: mct-select-weight-parameters{error-method=hmse
// NONE-NEXT: mct-select-parameters{{.*}}
// NONE-NEXT: )

// RULES:     as "arg0"
// RULES-NOT: as "exp"
// RULES:     return

// FILE: as "arg0" {{.*}} statistics(#tpc.statistics<count = 12, {{.*}} parameters(
func.func @main(%arg0: tensor<1x4xf32>) -> tensor<1x4xf32> {
  %0 = tosa.exp %arg0 : (tensor<1x4xf32>) -> tensor<1x4xf32>
  return %0 : tensor<1x4xf32>
}
