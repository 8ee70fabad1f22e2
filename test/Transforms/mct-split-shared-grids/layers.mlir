// RUN: mct-opt %s --pass-pipeline="builtin.module(mct-split-shared-grids{completed-by=builtin.module(mct-calibrate{calibration-data=%S/../../Calibration/mct-calibrate/Inputs/two_samples.npy only-missing=true},mct-select-weight-parameters)})" --split-input-file --verify-diagnostics | FileCheck %s
// RUN: mct-opt %s --mct-split-shared-grids --split-input-file -o - 2>&1 | FileCheck %s --check-prefix=ALONE

// Slices separate the channels of a product again, after a reshape and a transposition: a product for each of them, and
// each has what calibration sees of it. Samples are [0, 0, 0.5, -1] and [0.25, 0, 0, 1].
// CHECK-LABEL: func.func @main
// CHECK:         %[[X:.*]] = tosa.reshape %arg0
// CHECK-DAG:     %[[BOXES_KERNEL:.*]] = tpc.quantize %{{.*}} as "head_channels_0_1" weight "kernel_attr" axes [2] {{.*}}parameters(#tpc.symmetric<threshold = [{{[0-9.e+]+}}, {{[0-9.e+]+}}]{{.*}} : tensor<1x4x2xf32>
// CHECK-DAG:     %[[BOXES:.*]] = tosa.matmul %[[X]], %[[BOXES_KERNEL]],
// CHECK-DAG:     %[[BOXES_SUM:.*]] = tosa.add %[[BOXES]], %{{.*}} : (tensor<1x1x2xf32>, tensor<1x1x2xf32>)
// CHECK-DAG:     %[[BOXES_POINT:.*]] = tpc.quantize %[[BOXES_SUM]] as "head_channels_0_1" activation statistics(#tpc.statistics<count = 4, zeros = 0, min = 1.050000e+01, max = 3.600000e+01,
// CHECK-DAG:     %[[SCORES_KERNEL:.*]] = tpc.quantize %{{.*}} as "head_channels_2_2" weight "kernel_attr" axes [2] {{.*}} : tensor<1x4x1xf32>
// CHECK-DAG:     %[[SCORES:.*]] = tosa.matmul %[[X]], %[[SCORES_KERNEL]],
// CHECK-DAG:     %[[SCORES_SUM:.*]] = tosa.add %[[SCORES]], %{{.*}} : (tensor<1x1x1xf32>, tensor<1x1x1xf32>)
// CHECK-DAG:     %[[SCORES_POINT:.*]] = tpc.quantize %[[SCORES_SUM]] as "head_channels_2_2" activation statistics(#tpc.statistics<count = 2, zeros = 0, min = 1.000000e+00, max = 1.625000e+00,
// CHECK-DAG:     %[[FLAT:.*]] = tosa.reshape %[[BOXES_POINT]], %{{.*}} -> tensor<1x2xf32>
// CHECK-DAG:     %[[TURNED:.*]] = tosa.transpose %[[FLAT]] {{.*}} -> tensor<2x1xf32>
// CHECK-DAG:     %[[SCORES_FLAT:.*]] = tosa.reshape %[[SCORES_POINT]], %{{.*}} -> tensor<1x1xf32>
// CHECK-DAG:     %[[SCORES_TURNED:.*]] = tosa.transpose %[[SCORES_FLAT]] {{.*}} -> tensor<1x1xf32>
// CHECK:         return %[[TURNED]], %[[SCORES_TURNED]]
// Without passes that measure the groups no layer is split.
// ALONE-LABEL:   func.func @main
// ALONE:         tosa.slice
func.func @main(%arg0: tensor<1x4xf32>) -> (tensor<2x1xf32>, tensor<1x1xf32>) {
  %c = tosa.const_shape {values = dense<[1, 1, 4]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %x = tosa.reshape %arg0, %c : (tensor<1x4xf32>, !tosa.shape<3>) -> tensor<1x1x4xf32>
  %k = "tosa.const"() <{values = dense<[[[100.0, 1.0, 0.5], [2.0, 200.0, 0.25], [3.0, 4.0, 1.0], [1.0, 2.0, 0.5]]]> : tensor<1x4x3xf32>}> : () -> tensor<1x4x3xf32>
  %b = "tosa.const"() <{values = dense<[[[10.0, 20.0, 1.0]]]> : tensor<1x1x3xf32>}> : () -> tensor<1x1x3xf32>
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %w = tpc.quantize %k as "head" weight "kernel_attr" axes [2] config(#tpc.attr_quant_config<method = symmetric, bits = 8>) : tensor<1x4x3xf32>
  %0 = tosa.matmul %x, %w, %z, %z : (tensor<1x1x4xf32>, tensor<1x4x3xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x3xf32>
  %1 = tosa.add %0, %b : (tensor<1x1x3xf32>, tensor<1x1x3xf32>) -> tensor<1x1x3xf32>
  // expected-remark @+1 {{and slices separate them again: the layer becomes 2 layers, each with a grid of its own}}
  %p = tpc.quantize %1 as "head" activation statistics(#tpc.statistics<count = 6, zeros = 0, min = 0.0, max = 36.0>) : tensor<1x1x3xf32>
  %s = tosa.const_shape {values = dense<[1, 3]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %2 = tosa.reshape %p, %s : (tensor<1x1x3xf32>, !tosa.shape<2>) -> tensor<1x3xf32>
  %3 = tosa.transpose %2 {perms = array<i32: 1, 0>} : (tensor<1x3xf32>) -> tensor<3x1xf32>
  %start = tosa.const_shape {values = dense<[0, 0]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %size = tosa.const_shape {values = dense<[2, 1]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %4 = tosa.slice %3, %start, %size : (tensor<3x1xf32>, !tosa.shape<2>, !tosa.shape<2>) -> tensor<2x1xf32>
  %start2 = tosa.const_shape {values = dense<[2, 0]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %size2 = tosa.const_shape {values = dense<[1, 1]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %5 = tosa.slice %3, %start2, %size2 : (tensor<3x1xf32>, !tosa.shape<2>, !tosa.shape<2>) -> tensor<1x1xf32>
  return %4, %5 : tensor<2x1xf32>, tensor<1x1xf32>
}

// -----

// A function of single values stands between the layer and the slices: each part gets its own, with a point of its own.
// Samples give 10.5 to 36 and 1 to 1.625, of which the function makes 1 and 0.73 to 0.84.
// CHECK-LABEL: func.func @function_between
// CHECK-DAG:     %[[BOXES:.*]] = tpc.quantize %{{.*}} as "head_channels_0_1" activation statistics(#tpc.statistics<count = 4, zeros = 0, min = 1.050000e+01, max = 3.600000e+01,
// CHECK-DAG:     %[[SCORES:.*]] = tpc.quantize %{{.*}} as "head_channels_2_2" activation statistics(#tpc.statistics<count = 2, zeros = 0, min = 1.000000e+00, max = 1.625000e+00,
// CHECK-DAG:     %[[BOXES_SIGMOID:.*]] = tosa.sigmoid %[[BOXES]] : (tensor<1x1x2xf32>)
// CHECK-DAG:     %[[BOXES_POINT:.*]] = tpc.quantize %[[BOXES_SIGMOID]] as "sigmoid_channels_0_1" activation range(#tpc.range<0.000000e+00, 1.000000e+00>) statistics(#tpc.statistics<count = 4, zeros = 0, min = 0.99997{{.*}}, max = 1.000000e+00,
// CHECK-DAG:     %[[SCORES_SIGMOID:.*]] = tosa.sigmoid %[[SCORES]] : (tensor<1x1x1xf32>)
// CHECK-DAG:     %[[SCORES_POINT:.*]] = tpc.quantize %[[SCORES_SIGMOID]] as "sigmoid_channels_2_2" activation range(#tpc.range<0.000000e+00, 1.000000e+00>) statistics(#tpc.statistics<count = 2, zeros = 0, min = 0.73{{.*}}, max = 0.83{{.*}},
// CHECK-NOT:     tosa.slice
// CHECK:         return %[[BOXES_POINT]], %[[SCORES_POINT]]
// ALONE-LABEL: func.func @function_between
func.func @function_between(%arg0: tensor<1x4xf32>) -> (tensor<1x1x2xf32>, tensor<1x1x1xf32>) {
  %c = tosa.const_shape {values = dense<[1, 1, 4]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %x = tosa.reshape %arg0, %c : (tensor<1x4xf32>, !tosa.shape<3>) -> tensor<1x1x4xf32>
  %k = "tosa.const"() <{values = dense<[[[100.0, 1.0, 0.5], [2.0, 200.0, 0.25], [3.0, 4.0, 1.0], [1.0, 2.0, 0.5]]]> : tensor<1x4x3xf32>}> : () -> tensor<1x4x3xf32>
  %b = "tosa.const"() <{values = dense<[[[10.0, 20.0, 1.0]]]> : tensor<1x1x3xf32>}> : () -> tensor<1x1x3xf32>
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %w = tpc.quantize %k as "head" weight "kernel_attr" axes [2] config(#tpc.attr_quant_config<method = symmetric, bits = 8>) : tensor<1x4x3xf32>
  %0 = tosa.matmul %x, %w, %z, %z : (tensor<1x1x4xf32>, tensor<1x4x3xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x3xf32>
  %1 = tosa.add %0, %b : (tensor<1x1x3xf32>, tensor<1x1x3xf32>) -> tensor<1x1x3xf32>
  // expected-remark @+1 {{and slices separate them again: the layer becomes 2 layers, each with a grid of its own}}
  %p = tpc.quantize %1 as "head" activation statistics(#tpc.statistics<count = 6, zeros = 0, min = 0.0, max = 36.0>) : tensor<1x1x3xf32>
  %2 = tosa.sigmoid %p : (tensor<1x1x3xf32>) -> tensor<1x1x3xf32>
  %3 = tpc.quantize %2 as "sigmoid" activation range(#tpc.range<0.0, 1.0>) statistics(#tpc.statistics<count = 6, zeros = 0, min = 0.5, max = 1.0>) : tensor<1x1x3xf32>
  %start = tosa.const_shape {values = dense<[0, 0, 0]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %size = tosa.const_shape {values = dense<[1, 1, 2]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %4 = tosa.slice %3, %start, %size : (tensor<1x1x3xf32>, !tosa.shape<3>, !tosa.shape<3>) -> tensor<1x1x2xf32>
  %start2 = tosa.const_shape {values = dense<[0, 0, 2]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %size2 = tosa.const_shape {values = dense<[1, 1, 1]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %5 = tosa.slice %3, %start2, %size2 : (tensor<1x1x3xf32>, !tosa.shape<3>, !tosa.shape<3>) -> tensor<1x1x1xf32>
  return %4, %5 : tensor<1x1x2xf32>, tensor<1x1x1xf32>
}

// -----

// Something else uses the whole tensor: the layer stays.
// CHECK-LABEL: func.func @used_whole
// CHECK:         tosa.matmul
// CHECK-NOT:     tosa.matmul
// CHECK:         tosa.slice
// CHECK:         tosa.slice
// ALONE-LABEL: func.func @used_whole
func.func @used_whole(%x: tensor<1x1x4xf32>) -> (tensor<1x1x2xf32>, tensor<1x1x1xf32>, tensor<1x1x3xf32>) {
  %k = "tosa.const"() <{values = dense<[[[100.0, 1.0, 0.5], [2.0, 200.0, 0.25], [3.0, 4.0, 1.0], [1.0, 2.0, 0.5]]]> : tensor<1x4x3xf32>}> : () -> tensor<1x4x3xf32>
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.matmul %x, %k, %z, %z : (tensor<1x1x4xf32>, tensor<1x4x3xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x3xf32>
  %p = tpc.quantize %0 as "head" activation statistics(#tpc.statistics<count = 6, zeros = 0, min = 0.0, max = 36.0>) : tensor<1x1x3xf32>
  %start = tosa.const_shape {values = dense<[0, 0, 0]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %size = tosa.const_shape {values = dense<[1, 1, 2]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %1 = tosa.slice %p, %start, %size : (tensor<1x1x3xf32>, !tosa.shape<3>, !tosa.shape<3>) -> tensor<1x1x2xf32>
  %start2 = tosa.const_shape {values = dense<[0, 0, 2]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %size2 = tosa.const_shape {values = dense<[1, 1, 1]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %2 = tosa.slice %p, %start2, %size2 : (tensor<1x1x3xf32>, !tosa.shape<3>, !tosa.shape<3>) -> tensor<1x1x1xf32>
  %3 = tosa.tanh %p : (tensor<1x1x3xf32>) -> tensor<1x1x3xf32>
  return %1, %2, %3 : tensor<1x1x2xf32>, tensor<1x1x1xf32>, tensor<1x1x3xf32>
}

// -----

// Channel 1 is in both slices, for which it would be computed twice: the layer stays.
// CHECK-LABEL: func.func @overlapping
// CHECK:         tosa.matmul
// CHECK-NOT:     tosa.matmul
// CHECK:         tosa.slice
// CHECK:         tosa.slice
// ALONE-LABEL: func.func @overlapping
func.func @overlapping(%x: tensor<1x1x4xf32>) -> (tensor<1x1x2xf32>, tensor<1x1x2xf32>) {
  %k = "tosa.const"() <{values = dense<[[[100.0, 1.0, 0.5], [2.0, 2.0, 0.25], [3.0, 4.0, 1.0], [1.0, 2.0, 0.5]]]> : tensor<1x4x3xf32>}> : () -> tensor<1x4x3xf32>
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.matmul %x, %k, %z, %z : (tensor<1x1x4xf32>, tensor<1x4x3xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x3xf32>
  %p = tpc.quantize %0 as "head" activation statistics(#tpc.statistics<count = 6, zeros = 0, min = 0.0, max = 36.0>) : tensor<1x1x3xf32>
  %start = tosa.const_shape {values = dense<[0, 0, 0]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %size = tosa.const_shape {values = dense<[1, 1, 2]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %1 = tosa.slice %p, %start, %size : (tensor<1x1x3xf32>, !tosa.shape<3>, !tosa.shape<3>) -> tensor<1x1x2xf32>
  %start2 = tosa.const_shape {values = dense<[0, 0, 1]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %2 = tosa.slice %p, %start2, %size : (tensor<1x1x3xf32>, !tosa.shape<3>, !tosa.shape<3>) -> tensor<1x1x2xf32>
  return %1, %2 : tensor<1x1x2xf32>, tensor<1x1x2xf32>
}
