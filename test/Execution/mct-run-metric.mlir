// Metrics of the first result, and what is lost against a reference. The sums are 11 22, 33 44 and 55 6, and the differences
// -9 -18, -27 -36 and -45 6; labels are 1, 1 and 0: the ones are right, the others wrong, of all three samples.
// RUN: rm -rf %t && mkdir %t && split-file %s %t
// RUN: mct-run %t/sum.mlir --input=0:%S/Inputs/a.npy,1:%S/Inputs/b.npy --labels=%S/Inputs/labels.npy --metric=top1 | FileCheck %s --check-prefix=ALONE
// RUN: mct-run %t/difference.mlir --input=0:%S/Inputs/a.npy,1:%S/Inputs/b.npy --labels=%S/Inputs/labels.npy --metric=top1 --compare=%t/sum.mlir | FileCheck %s
// RUN: mct-run %t/difference.mlir --input=0:%S/Inputs/a.npy,1:%S/Inputs/b.npy --labels=%S/Inputs/labels.npy --metric=top1 --compare=%t/sum.mlir --json | FileCheck %s --check-prefix=JSON
// RUN: mct-run %t/difference.mlir --input=0:%S/Inputs/a.npy,1:%S/Inputs/b.npy --labels=%S/Inputs/labels_column.npy --metric=auc --compare=%t/sum.mlir | FileCheck %s --check-prefix=AREA
// RUN: mct-run %t/double.mlir --input=%S/Inputs/a.npy --labels=%S/Inputs/a.npy --metric=cosine | FileCheck %s --check-prefix=COSINE
// RUN: mct-run %t/double.mlir --input=%S/Inputs/a.npy --labels=%S/Inputs/a.npy --metric=psnr:10 --samples=1 --num-threads=2 | FileCheck %s --check-prefix=RATIO
// Four sums are 20 or more, three of them where labels are 1, as four are.
// RUN: mct-run %t/sum.mlir --input=0:%S/Inputs/a.npy,1:%S/Inputs/b.npy --labels=%S/Inputs/labels_decisions.npy --metric=f1:20 | FileCheck %s --check-prefix=DECISIONS
// RUN: mct-run --metrics | FileCheck %s --check-prefix=LIST

// ALONE:     samples    3
// ALONE:     top-1      100.00 %
// ALONE:     top1       100.00 % (95 %: 29.24 % to 100.00 %)
// ALONE-NOT: reference
// CHECK:     top1       0.00 % (95 %: 0.00 % to 70.76 %)
// CHECK:     reference  100.00 %; the network loses 100.00 ± {{.*}} points (95 %)
// JSON:      "metric": {
// JSON-NEXT:   "name": "top1",
// JSON-NEXT:   "unit": "share",
// JSON-NEXT:   "is_higher_better": true,
// JSON-NEXT:   "samples": 3,
// JSON-NEXT:   "value": 0,
// JSON-NEXT:   "low": 0,
// JSON-NEXT:   "high": 0.707
// JSON-NEXT:   "reference": 1,
// JSON-NEXT:   "loss": 1,
// JSON-NEXT:   "loss_low": -0.42
// JSON-NEXT:   "loss_high": 1,
// JSON-NEXT:   "is_beyond_chance": false,
// AREA:      auc        0.00 %
// AREA-NEXT: reference  100.00 %; the network loses 100.00 points; 3 samples are too few to tell
// DECISIONS: f1:20      75.00 %
// COSINE:    cosine     1.0000
// The errors of the first sample are 1 and 2, their mean square is 2.5: 40 times less than the square of 10.
// RATIO:     psnr:10    16.02 dB
// LIST:      top1       share of the samples whose label has the largest score
// LIST:      psnr       peak signal-to-noise ratio in dB

// RUN: not mct-run %t/sum.mlir --input=0:%S/Inputs/a.npy,1:%S/Inputs/b.npy --metric=top1 2>&1 | FileCheck %s --check-prefix=NO-LABELS
// NO-LABELS: error: --metric needs --labels: what is right of each sample
// RUN: not mct-run %t/sum.mlir --input=0:%S/Inputs/a.npy,1:%S/Inputs/b.npy --labels=%S/Inputs/labels.npy --metric=top1 --exact --compare=%t/sum.mlir 2>&1 | FileCheck %s --check-prefix=EXACT
// EXACT: error: --metric does not go with --exact, which compares integers; --compare without it takes the float module
// RUN: not mct-run %t/sum.mlir --input=0:%S/Inputs/a.npy,1:%S/Inputs/b.npy --labels=%S/Inputs/labels.npy --metric=accuracy 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: not mct-run %t/sum.mlir --input=0:%S/Inputs/a.npy,1:%S/Inputs/b.npy --labels=%S/Inputs/labels.npy --metric=ap50 2>&1 | FileCheck %s --check-prefix=BOXES
// NAME: sum.mlir:0:0: error: there is no metric 'accuracy'; there are top1, topK, miou, psnr, cosine, auc, f1, retrieval, error-rate
// BOXES: sum.mlir:0:0: error: metric 'ap50' is computed by pycocotools, which Python calls: use mct run, mct quantize, or the package
// RUN: not mct-run %t/sum.mlir --input=0:%S/Inputs/a.npy,1:%S/Inputs/b.npy --labels=%S/Inputs/labels_short.npy --metric=auc 2>&1 | FileCheck %s --check-prefix=SHORT
// SHORT: error: {{.*}}labels_short.npy: expected 3 labels, found {{[12]}}
// RUN: not mct-run %t/sum.mlir --input=0:%S/Inputs/a.npy,1:%S/Inputs/b.npy --labels=%S/Inputs/labels.npy --metric=cosine 2>&1 | FileCheck %s --check-prefix=SHAPE
// SHAPE: error: metric 'cosine': {{.*}}labels.npy: expected labels of the shape of the results, 2 for each sample, found a scalar
// RUN: not mct-run %t/sum.mlir --input=0:%S/Inputs/a.npy,1:%S/Inputs/b.npy --labels=%S/Inputs/a.npy --metric=psnr 2>&1 | FileCheck %s --check-prefix=SAMPLE
// SAMPLE: error: metric 'psnr': {{.*}}a.npy: label 0: expected values in [0, 1], found 2; say how far

//--- sum.mlir
func.func @main(%arg0: tensor<1x2xf32>, %arg1: tensor<1x2xf32>) -> tensor<1x2xf32> {
  %0 = tosa.add %arg0, %arg1 : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x2xf32>
  return %0 : tensor<1x2xf32>
}

//--- difference.mlir
func.func @main(%arg0: tensor<1x2xf32>, %arg1: tensor<1x2xf32>) -> tensor<1x2xf32> {
  %0 = tosa.sub %arg0, %arg1 : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x2xf32>
  return %0 : tensor<1x2xf32>
}

//--- double.mlir
func.func @main(%arg0: tensor<1x2xf32>) -> tensor<1x2xf32> {
  %0 = tosa.add %arg0, %arg0 : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x2xf32>
  return %0 : tensor<1x2xf32>
}
