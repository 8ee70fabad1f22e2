// Two inputs by name or number; a function that is not main; outputs; accuracy; some samples.
// RUN: rm -rf %t && mkdir %t
// RUN: mct-run %s --input=left:%S/Inputs/a.npy,1:%S/Inputs/b.npy --output=%t/sum.npy --labels=%S/Inputs/labels.npy | FileCheck %s
// RUN: cmp %t/sum.npy %S/Inputs/sum.npy
// RUN: mct-run %s --input=left:%S/Inputs/a.npy,right:%S/Inputs/b.npy --labels=%S/Inputs/labels.npy --samples=2 --json | FileCheck %s --check-prefix=JSON
// RUN: mct-run %s --input=left:%S/Inputs/a.npy,right:%S/Inputs/b.npy --labels=%S/Inputs/labels_column.npy | FileCheck %s
// RUN: mct-run %s --input=%S/Inputs/a.npy --function=double --output=%t/double.npy --input-scale=0.5 | FileCheck %s --check-prefix=OTHER
// RUN: cmp %t/double.npy %S/Inputs/a.npy

// CHECK: samples    3
// CHECK: top-1      100.00 %
// JSON: "samples": 2,
// JSON: "top1": 1,
// JSON: "seconds": {{[0-9.e-]+}},
// JSON: "peak_rss_mb": {{[0-9.]+}}
// OTHER: samples    3
// OTHER-NOT: top-1
func.func @main(%arg0: tensor<1x2xf32> loc("left"), %arg1: tensor<1x2xf32> loc("right")) -> tensor<1x2xf32> {
  %0 = tosa.add %arg0, %arg1 : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x2xf32>
  return %0 : tensor<1x2xf32>
}

func.func @double(%arg0: tensor<1x2xf32>) -> tensor<1x2xf32> {
  %0 = tosa.add %arg0, %arg0 : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x2xf32>
  return %0 : tensor<1x2xf32>
}
