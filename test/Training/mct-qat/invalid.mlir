// RUN: mct-opt %s --mct-qat --split-input-file --verify-diagnostics
// RUN: not mct-opt %S/doc-example.mlir --mct-qat="momentum=0.5" 2>&1 | FileCheck %s --check-prefix=MOMENTUM
// RUN: not mct-opt %S/doc-example.mlir --mct-qat="checkpoint-every=2" 2>&1 | FileCheck %s --check-prefix=EVERY
// RUN: not mct-opt %S/doc-example.mlir --mct-qat="calibration-data=%S/../Inputs/two_samples.npy" 2>&1 | FileCheck %s --check-prefix=LABELS
// RUN: not mct-opt %S/doc-example.mlir --mct-qat="loss=kl calibration-data=%S/../Inputs/two_samples.npy labels=%S/../Inputs/two_labels.npy" 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not mct-opt %S/doc-example.mlir --mct-qat="calibration-data=%S/../Inputs/two_samples.npy labels=%S/../Inputs/two_samples.npy" 2>&1 | FileCheck %s --check-prefix=SHAPE
// RUN: not mct-opt %S/doc-example.mlir --mct-qat="calibration-data=%S/../Inputs/two_samples.npy labels=%S/../Inputs/three_labels.npy" 2>&1 | FileCheck %s --check-prefix=COUNT
// RUN: not mct-opt %S/doc-example.mlir --mct-qat="calibration-data=%S/../Inputs/two_samples.npy calibration-samples=2 labels=%S/../Inputs/three_labels.npy" 2>&1 | FileCheck %s --check-prefix=COUNT
// RUN: not mct-opt %S/doc-example.mlir --mct-qat="calibration-data=%S/../Inputs/two_samples.npy labels=%S/../Inputs/two_labels.npy" 2>&1 | FileCheck %s --check-prefix=CLASS
// RUN: not mct-opt %S/doc-example.mlir --mct-qat="loss=mse calibration-data=%S/../Inputs/two_samples.npy checkpoint=%S/../Inputs/two_samples.npy" 2>&1 | FileCheck %s --check-prefix=SAME
// RUN: not mct-opt %S/doc-example.mlir --mct-qat="loss=mse calibration-data=%S/../Inputs/two_samples.npy losses-out=%t/absent/losses.npy" 2>&1 | FileCheck %s --check-prefix=FOLDER
// RUN: not mct-opt %S/doc-example.mlir --mct-qat="loss=mse calibration-data=%S/../Inputs/two_samples.npy weights=soft-rounding" 2>&1 | FileCheck %s --check-prefix=METHOD
// RUN: not mct-opt %S/doc-example.mlir --mct-qat="loss=mse calibration-data=%S/../Inputs/two_samples.npy batch=0" 2>&1 | FileCheck %s --check-prefix=BATCH
// RUN: not mct-opt %S/doc-example.mlir --mct-qat="loss=mse calibration-data=%S/../Inputs/two_samples.npy biases-rate=1e40" -o %t.infinite.mlir 2>&1 | FileCheck %s --check-prefix=INFINITE
// RUN: not ls %t.infinite.mlir

// MOMENTUM: error: momentum=5.000000e-01 is of optimizer=sgd; Adam has its own
// EVERY: error: checkpoint-every=2 needs a file; give checkpoint=FILE
// LABELS: error: loss=cross-entropy needs the class of each sample; give labels=FILE.npy, or take loss=kl
// NONE: error: labels are of loss=cross-entropy; the other losses compare with the float network
// SHAPE: error: {{.*}}two_samples.npy: expected one class number for each sample, shape N or Nx1, found shape 2x1x1x2
// COUNT: error: {{.*}}there are 3 labels for 2 samples
// CLASS: error: {{.*}}label 1 of sample 1 is none of the 1 classes
// SAME: error: {{.*}}two_samples.npy
// FOLDER: error: {{.*}}losses.npy
// METHOD: soft-rounding
// INFINITE: error: 'func.func' op learned {{.*}} as a value of '{{.*}}'; train with a smaller learning rate
// BATCH: error: {{.*}}the batch must be at least 1, but is 0

// expected-error @below {{'func.func' op has no point with parameters, or one that says how it is trained; quantize it first, with mct-ptq for example}}
func.func @main(%x: tensor<1x8xf32>) -> tensor<1x8xf32> {
  %0 = tpc.quantize %x as "x" activation : tensor<1x8xf32>
  return %0 : tensor<1x8xf32>
}

// -----

// expected-error @below {{training needs samples; give calibration-data=FILE.npy}}
module {
  func.func @main(%x: tensor<1x8xf32>) -> tensor<1x8xf32> {
    %0 = tpc.quantize %x as "x" activation parameters(#tpc.symmetric<threshold = [4.0], bits = 4>) : tensor<1x8xf32>
    return %0 : tensor<1x8xf32>
  }
}
