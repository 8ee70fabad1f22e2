// The corrections of mct-ptq alone, for a module whose points have parameters already.
// RUN: mct-opt %s --tpc-attach-target=target=imx500 --mct-insert-quantizers --mct-calibrate=calibration-data=%S/../Calibration/mct-calibrate/Inputs/two_samples.npy --mct-select-weight-parameters --mct-select-parameters -o %t.mlir
// RUN: mct-opt %t.mlir --mct-correct="calibration-data=%S/../Calibration/mct-calibrate/Inputs/two_samples.npy batch-size=1" --dump-pass-pipeline 2>&1 | FileCheck %s
// RUN: mct-opt %t.mlir --mct-correct="weights-bias-correction=false shift-negative-activation-correction=false" | FileCheck %s --check-prefix=NOTHING
// RUN: not mct-opt %t.mlir --mct-correct -o %t.none 2>&1 | FileCheck %s --check-prefix=SAMPLES

// RUN: mct-opt %t.mlir --mct-correct="calibration-data=%S/../Calibration/mct-calibrate/Inputs/two_samples.npy round-weights=false second-moment-max-bits=8" --dump-pass-pipeline 2>&1 | FileCheck %s --check-prefix=MOMENT
// RUN: mct-opt %t.mlir --mct-correct="calibration-data=%S/../Calibration/mct-calibrate/Inputs/two_samples.npy round-weights=false weights-second-moment-correction=false weights-bias-correction=false" --dump-pass-pipeline 2>&1 | FileCheck %s --check-prefix=LESS

// MOMENT:      builtin.module(
// MOMENT-NEXT:   mct-judge-correction{{.*}} made-by={builtin.module(mct-correct-second-moment{{.*}} max-bits=8{{.*}}
// MOMENT-NEXT:   mct-calibrate{{.*}} only-missing=true
// MOMENT-NEXT:   mct-select-parameters

// LESS:      builtin.module(
// LESS-NEXT:   mct-judge-correction{{.*}} made-by={builtin.module(mct-correct-shift-negative{{.*}}
// LESS-NEXT: )

// CHECK:      builtin.module(
// CHECK-NEXT:   mct-judge-correction{{.*}} made-by={builtin.module(mct-correct-shift-negative{{{.*}}
// CHECK-NEXT:   mct-round-weights{batch-size=1 {{.*}} max-bits=7
// CHECK-NEXT:   mct-correct-bias{batch-size=1
// CHECK-NEXT: )
// CHECK:      tpc.quantize {{.*}} weight "kernel_attr"
// CHECK-SAME: corrections(

// SAMPLES: error: correcting needs samples; give calibration-data=FILE.npy

// NOTHING:     tpc.quantize {{.*}} weight "kernel_attr"
// NOTHING-NOT: corrections(
// NOTHING:     return
func.func @main(%arg0: tensor<1x4xf32>) -> tensor<1x1x1x1xf32> {
  %shape = tosa.const_shape {values = dense<[1, 1, 1, 4]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %image = tosa.reshape %arg0, %shape : (tensor<1x4xf32>, !tosa.shape<4>) -> tensor<1x1x1x4xf32>
  %kernel = "tosa.const"() <{values = dense<[[[[0.11, 0.23, 0.31, 1.0]]]]> : tensor<1x1x1x4xf32>}> : () -> tensor<1x1x1x4xf32>
  %bias = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.conv2d %image, %kernel, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x4xf32>, tensor<1x1x1x4xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x1xf32>
  return %0 : tensor<1x1x1x1xf32>
}
