// RUN: not mct-opt %s --mct-judge-correction="correction=luck made-by=builtin.module() calibration-data=a.npy" 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: not mct-opt %s --mct-judge-correction="correction=input_mean calibration-data=a.npy" 2>&1 | FileCheck %s --check-prefix=NOTHING
// RUN: not mct-opt %s --mct-judge-correction="correction=input_mean made-by=builtin.module(mct-correct-activation-bias)" 2>&1 | FileCheck %s --check-prefix=SAMPLES
// RUN: not mct-opt %s --mct-judge-correction="correction=input_mean made-by=func.func(mct-assign-names) calibration-data=a.npy" 2>&1 | FileCheck %s --check-prefix=ANCHOR
// RUN: mct-opt %S/doc-example.mlir --mct-judge-correction="correction=input_mean remarks=true made-by=builtin.module(mct-correct-bias{estimate=input-mean calibration-data=%S/../Inputs/short_tail.npy}) calibration-data=%S/../Inputs/short_tail.npy" 2>&1 | FileCheck %s --check-prefix=REMARK

// NAME: error: 'luck' is not a correction that is judged as a whole; expected one of shift_negative, channel_equalization, residual_equalization, parts_rescaling, second_moment, activation_bias, input_mean, threshold_refinement
// NOTHING: error: nothing makes the correction; give made-by=builtin.module(PASSES)
// SAMPLES: error: judging needs samples; give calibration-data=FILE.npy
// ANCHOR: error: runs passes on the module, but got some for 'func.func'; write builtin.module(PASSES)
// REMARK: remark: 'input_mean' is undone: result 0 of the network has 9.54 dB more error with it, with a standard error of 0.00 dB, on 8 samples
func.func @main(%arg0: tensor<1x1x1x1xf32>) -> tensor<1x1x1x1xf32> {
  return %arg0 : tensor<1x1x1x1xf32>
}
