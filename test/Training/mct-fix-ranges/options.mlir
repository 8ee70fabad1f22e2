// RUN: mct-opt %s --mct-fix-ranges="input-min=-2.0 input-max=1.75 output-max=15.0 bits=4" | FileCheck %s
// RUN: mct-opt %s --mct-fix-ranges="input-min=-2.0 input-max=1.75 output-max=14.0 bits=4 narrow=true" | FileCheck %s --check-prefix=NARROW
// RUN: mct-opt %s --mct-fix-ranges="output-max=15.0 bits=4 inputs=false" | FileCheck %s --check-prefix=OUTPUTS
// RUN: mct-opt %s --mct-fix-ranges="input-max=15.0 bits=4 outputs=false" | FileCheck %s --check-prefix=INPUTS
// RUN: mct-opt %s --mct-fix-ranges=remove-inputs=true | FileCheck %s --check-prefix=REMOVED
// RUN: mct-opt %s --mct-fix-ranges=function=other | FileCheck %s --check-prefix=OTHER

// CHECK-LABEL: func.func @main
// CHECK:         as "x" activation parameters(#tpc.uniform<scale = [2.500000e-01], zero_point = [8], bits = 4, rounding = half_up>)
// CHECK:         as "middle" activation trainable
// What is returned is moved; its point is in front of that.
// CHECK:         as "tanh" activation parameters(#tpc.uniform<scale = [1.000000e+00], zero_point = [0], bits = 4, rounding = half_up>)
// A range of 14 levels has one more below.
// NARROW-LABEL: func.func @main
// NARROW:        as "x" activation parameters(#tpc.uniform<scale = [{{0.2678|2.678}}{{.*}}], zero_point = [8], bits = 4, rounding = half_up>)
// NARROW:        as "tanh" activation parameters(#tpc.uniform<scale = [1.000000e+00], zero_point = [1], bits = 4, rounding = half_up>)
// OUTPUTS-LABEL: func.func @main
// OUTPUTS:       as "x" activation trainable
// OUTPUTS:       as "tanh" activation parameters
// INPUTS-LABEL: func.func @main
// INPUTS:        as "x" activation parameters(#tpc.uniform<scale = [1.000000e+00], zero_point = [0], bits = 4, rounding = half_up>)
// INPUTS:        as "tanh" activation trainable
// REMOVED-LABEL: func.func @main
// REMOVED-SAME:    %[[X:.*]]: tensor<1x4xf32>
// REMOVED-NOT:   as "x"
// REMOVED:       tosa.exp %[[X]]
// REMOVED:       as "tanh" activation parameters
// OTHER-LABEL: func.func @main
// OTHER-NOT:     parameters
// OTHER-LABEL: func.func @other
func.func @main(%x: tensor<1x4xf32>) -> tensor<4x1xf32> {
  %0 = tpc.quantize %x as "x" activation trainable(#tpc.observed_range<observer = all_values, bits = 8>) : tensor<1x4xf32>
  %1 = tosa.exp %0 : (tensor<1x4xf32>) -> tensor<1x4xf32>
  %2 = tpc.quantize %1 as "middle" activation trainable(#tpc.observed_range<observer = moving_average, bits = 8>) : tensor<1x4xf32>
  %3 = tosa.tanh %2 : (tensor<1x4xf32>) -> tensor<1x4xf32>
  %4 = tpc.quantize %3 as "tanh" activation trainable(#tpc.observed_range<observer = moving_average, bits = 8>) : tensor<1x4xf32>
  %5 = tosa.transpose %4 {perms = array<i32: 1, 0>} : (tensor<1x4xf32>) -> tensor<4x1xf32>
  return %5 : tensor<4x1xf32>
}

// OTHER:         as "x" activation parameters
func.func @other(%x: tensor<1x4xf32>) -> tensor<1x4xf32> {
  %0 = tpc.quantize %x as "x" activation trainable(#tpc.observed_range<observer = all_values, bits = 8>) : tensor<1x4xf32>
  %1 = tosa.exp %0 : (tensor<1x4xf32>) -> tensor<1x4xf32>
  return %1 : tensor<1x4xf32>
}
