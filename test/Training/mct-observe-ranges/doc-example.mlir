// RUN: mct-opt %s --mct-observe-ranges="calibration-data=%S/Inputs/four_values.npy" | FileCheck %s

// The samples are 0, 7.96875, 1 and 0; the largest is 255 / 32.
// CHECK-LABEL: func.func @main
// CHECK:         %[[X:.*]] = tpc.quantize %{{.*}} as "x" activation parameters(#tpc.uniform<scale = [3.125000e-02], zero_point = [0], bits = 8, rounding = half_up>) : tensor<1x1xf32>
// CHECK-NEXT:    return %[[X]]
func.func @main(%x: tensor<1x1xf32>) -> tensor<1x1xf32> {
  %0 = tpc.quantize %x as "x" activation trainable(#tpc.observed_range<observer = all_values, bits = 8>) : tensor<1x1xf32>
  return %0 : tensor<1x1xf32>
}
