// Layers that read constants, such as the initial state of a recurrent network, and what reads those. Kernels of 1
// become 0.5. Two samples, 1 and 3, do not fill a unit; there are as many channels as a unit has samples, and they are
// not taken for some.
// RUN: mct-opt %s --mct-correct-bias="calibration-data=%S/../Inputs/one_channel.npy" | FileCheck %s
// RUN: mct-opt %s --mct-correct-bias="calibration-data=%S/../Inputs/one_channel.npy threads=1 batch-size=1" | FileCheck %s
// RUN: mct-opt %s --mct-correct-bias="calibration-data=%S/../Inputs/one_channel.npy estimate=input-mean" | FileCheck %s
// RUN: mct-opt %s --mct-correct-second-moment="calibration-data=%S/../Inputs/one_channel.npy" | FileCheck %s --check-prefix=MOMENT

// The state is 4: half of it is lost. What comes of it is 4 again for the second layer, which also sees the input,
// 2 on average.
// CHECK-LABEL: func.func @main
// CHECK:         as "initial" {{.*}} bias_offset = [2.000000e+00, 2.000000e+00, 2.000000e+00,
// CHECK:         as "unused" {{.*}} bias_offset = [2.000000e+00]
// CHECK:         as "state" {{.*}} bias_offset = [3.000000e+00]
// MOMENT-LABEL: func.func @main
// MOMENT:         as "initial" {{.*}} bias_offset = [2.000000e+00, 2.000000e+00,
// MOMENT:         as "unused" {{.*}} bias_offset = [2.000000e+00]
// MOMENT:         as "state" {{.*}} bias_offset = [0.000000e+00], kernel_scale = [2.000000e+00]
func.func @main(%arg0: tensor<1x1x1x1xf32>) -> tensor<1x1x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %state = "tosa.const"() <{values = dense<4.0> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
  %row = "tosa.const"() <{values = dense<1.0> : tensor<1x1x32xf32>}> : () -> tensor<1x1x32xf32>
  %one = "tosa.const"() <{values = dense<1.0> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
  %start = tosa.const_shape {values = dense<[0, 0, 31]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %ones = tosa.const_shape {values = dense<1> : tensor<3xindex>} : () -> !tosa.shape<3>
  %w0 = tpc.quantize %row as "initial" weight "kernel_attr" axes [2] parameters(#tpc.symmetric<threshold = [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0], bits = 2>) : tensor<1x1x32xf32>
  %0 = tosa.matmul %state, %w0, %zero, %zero : (tensor<1x1x1xf32>, tensor<1x1x32xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x32xf32>
  %w1 = tpc.quantize %one as "unused" weight "kernel_attr" axes [2] parameters(#tpc.symmetric<threshold = [1.0], bits = 2>) : tensor<1x1x1xf32>
  %1 = tosa.matmul %state, %w1, %zero, %zero : (tensor<1x1x1xf32>, tensor<1x1x1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1xf32>
  %2 = tosa.slice %0, %start, %ones : (tensor<1x1x32xf32>, !tosa.shape<3>, !tosa.shape<3>) -> tensor<1x1x1xf32>
  %3 = tosa.reshape %arg0, %ones : (tensor<1x1x1x1xf32>, !tosa.shape<3>) -> tensor<1x1x1xf32>
  %4 = tosa.add %2, %3 : (tensor<1x1x1xf32>, tensor<1x1x1xf32>) -> tensor<1x1x1xf32>
  %w2 = tpc.quantize %one as "state" weight "kernel_attr" axes [2] parameters(#tpc.symmetric<threshold = [1.0], bits = 2>) : tensor<1x1x1xf32>
  %5 = tosa.matmul %4, %w2, %zero, %zero : (tensor<1x1x1xf32>, tensor<1x1x1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1xf32>
  return %5 : tensor<1x1x1xf32>
}
