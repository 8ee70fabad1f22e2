// RUN: mct-opt %s --mct-observe-ranges="calibration-data=%S/Inputs/two_batches.npy batch=2" | FileCheck %s

// Kernels are constants: their ranges are theirs, here +-127/64 and +-127/128, one for each channel. What is after a
// point sees what it makes: 2 bits over [-2, 4] make -2, 0, 2 and 4 of everything, so that the sums of the second batch
// are from 0 to 8. A point that is trained otherwise is left to training.
// CHECK-LABEL: func.func @main
// CHECK:         %[[X:.*]] = tpc.quantize %{{.*}} as "x" activation parameters(#tpc.uniform<scale = [2.000000e+00], zero_point = [1], bits = 2, rounding = half_up>)
// CHECK:         tpc.quantize %{{.*}} as "dense" weight "kernel_attr" axes [2] parameters(#tpc.symmetric<threshold = [2.000000e+00, 1.000000e+00], bits = 8, rounding = half_up>)
// CHECK:         tpc.quantize %{{.*}} as "sum" activation parameters(#tpc.uniform<scale = [{{.*}}], zero_point = [{{[0-9]+}}], bits = 8, rounding = half_up>)
// CHECK:         tpc.quantize %{{.*}} as "out" activation parameters(#tpc.symmetric<threshold = [8.000000e+00], bits = 8>) trainable(#tpc.learned_threshold<bits = 8>)
func.func @main(%x: tensor<1x2xf32>) -> tensor<1x1x2xf32> {
  %kernel = "tosa.const"() <{values = dense<[[[1.984375, 0.5], [-1.0, -0.9921875]]]> : tensor<1x2x2xf32>}> : () -> tensor<1x2x2xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %shape = tosa.const_shape {values = dense<[1, 1, 2]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %0 = tpc.quantize %x as "x" activation trainable(#tpc.observed_range<observer = all_values, bits = 2>) : tensor<1x2xf32>
  %1 = tosa.reshape %0, %shape : (tensor<1x2xf32>, !tosa.shape<3>) -> tensor<1x1x2xf32>
  %2 = tpc.quantize %kernel as "dense" weight "kernel_attr" axes [2] trainable(#tpc.observed_range<observer = last_value, bits = 8, is_symmetric = true, is_narrow = true>) : tensor<1x2x2xf32>
  %3 = tosa.matmul %1, %2, %zero, %zero : (tensor<1x1x2xf32>, tensor<1x2x2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x2xf32>
  %4 = tpc.quantize %3 as "sum" activation trainable(#tpc.observed_range<observer = moving_average, bits = 8>) : tensor<1x1x2xf32>
  %5 = tpc.quantize %4 as "out" activation parameters(#tpc.symmetric<threshold = [8.0], bits = 8>) trainable(#tpc.learned_threshold<bits = 8>) : tensor<1x1x2xf32>
  return %5 : tensor<1x1x2xf32>
}
