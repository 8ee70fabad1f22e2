// RUN: not mct-opt %s --mct-refine-thresholds -o %t 2>&1 | FileCheck %s
// RUN: not test -e %t

// CHECK: error: refining needs samples; give calibration-data=FILE.npy
func.func @main(%x: tensor<1x1x1x2xf32>) -> tensor<1x1x1x2xf32> {
  return %x : tensor<1x1x1x2xf32>
}
