// RUN: mct-opt %s --pass-pipeline="builtin.module(mct-split-shared-grids{completed-by=builtin.module(mct-calibrate{calibration-data=%S/../../Calibration/mct-calibrate/Inputs/two_samples.npy only-missing=true},mct-select-weight-parameters)})" --split-input-file --verify-diagnostics | FileCheck %s
// RUN: mct-opt %s --mct-split-shared-grids --split-input-file -o - 2>&1 | FileCheck %s --check-prefix=ALONE

// What reads a layer decodes places in float: it stays one, and takes powers of two that a product takes back. Samples are
// from -1 to 1, boxes from -0.75 to 1.25, which times 32 are as far as scores of -34 to 26.
// CHECK-LABEL: func.func @decoded
// CHECK:         %[[KERNEL:.*]] = "tosa.const"() <{values = dense<{{\[\[\[}}3.200000e+01, 3.200000e+01, 3.200000e+01, 3.200000e+01, 3.000000e+01]]]>
// CHECK:         %[[WEIGHT:.*]] = tpc.quantize %[[KERNEL]] as "head" weight "kernel_attr" axes [2] {{.*}}parameters(
// CHECK:         %[[PRODUCT:.*]] = tosa.matmul %{{.*}}, %[[WEIGHT]],
// CHECK:         %[[BIAS:.*]] = "tosa.const"() <{values = dense<{{\[\[\[}}8.000000e+00, 8.000000e+00, 8.000000e+00, 8.000000e+00, -4.000000e+00]]]>
// CHECK:         %[[SUM:.*]] = tosa.add %[[PRODUCT]], %[[BIAS]]
// CHECK:         %[[POINT:.*]] = tpc.quantize %[[SUM]] as "head_scaled" activation statistics(#tpc.statistics<count = 40, zeros = 0, min = -3.400000e+01, max = 4.000000e+01,
// CHECK:         %[[BACK:.*]] = "tosa.const"() <{values = dense<{{\[\[\[}}3.125000e-02, 3.125000e-02, 3.125000e-02, 3.125000e-02, 1.000000e+00]]]>
// CHECK:         %[[VALUES:.*]] = tosa.mul %[[POINT]], %[[BACK]],
// CHECK-COUNT-2: tosa.slice %[[VALUES]],
// CHECK-NOT:     tosa.slice
// ALONE-LABEL: func.func @decoded
// ALONE-NOT:     tosa.mul
func.func @decoded(%arg0: tensor<1x4xf32>) -> (tensor<1x4x4xf32>, tensor<1x4x1xf32>) {
  %c = tosa.const_shape {values = dense<[1, 4, 1]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %x = tosa.reshape %arg0, %c : (tensor<1x4xf32>, !tosa.shape<3>) -> tensor<1x4x1xf32>
  %k = "tosa.const"() <{values = dense<[[[1.0, 1.0, 1.0, 1.0, 30.0]]]> : tensor<1x1x5xf32>}> : () -> tensor<1x1x5xf32>
  %b = "tosa.const"() <{values = dense<[[[0.25, 0.25, 0.25, 0.25, -4.0]]]> : tensor<1x1x5xf32>}> : () -> tensor<1x1x5xf32>
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %w = tpc.quantize %k as "head" weight "kernel_attr" axes [2] config(#tpc.attr_quant_config<method = symmetric, bits = 8>) : tensor<1x1x5xf32>
  %0 = tosa.matmul %x, %w, %z, %z : (tensor<1x4x1xf32>, tensor<1x1x5xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x5xf32>
  %1 = tosa.add %0, %b : (tensor<1x4x5xf32>, tensor<1x1x5xf32>) -> tensor<1x4x5xf32>
  // expected-remark @+1 {{'head' holds 'head_channels_0_3' up to 1.25 and 'head_channels_4_4' up to 34, and what decodes them stays float: 1 of its 2 groups of channels take powers of two in the layer, which a product behind it takes back}}
  %p = tpc.quantize %1 as "head" activation statistics(#tpc.statistics<count = 40, zeros = 0, min = -34.0, max = 26.0>) : tensor<1x4x5xf32>
  %start = tosa.const_shape {values = dense<[0, 0, 0]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %size = tosa.const_shape {values = dense<[1, 4, 4]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %2 = tosa.slice %p, %start, %size : (tensor<1x4x5xf32>, !tosa.shape<3>, !tosa.shape<3>) -> tensor<1x4x4xf32>
  %start2 = tosa.const_shape {values = dense<[0, 0, 4]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %size2 = tosa.const_shape {values = dense<[1, 4, 1]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %3 = tosa.slice %p, %start2, %size2 : (tensor<1x4x5xf32>, !tosa.shape<3>, !tosa.shape<3>) -> tensor<1x4x1xf32>
  %cells = "tosa.const"() <{values = dense<[[[0.0, 0.0, 0.0, 0.0], [1.0, 1.0, 1.0, 1.0], [2.0, 2.0, 2.0, 2.0], [3.0, 3.0, 3.0, 3.0]]]> : tensor<1x4x4xf32>}> : () -> tensor<1x4x4xf32>
  %4 = tosa.add %2, %cells : (tensor<1x4x4xf32>, tensor<1x4x4xf32>) -> tensor<1x4x4xf32>
  return %4, %3 : tensor<1x4x4xf32>, tensor<1x4x1xf32>
}

// -----

// Scores are all negative, and boxes positive: for both, one grid would take a bit from one of them, and the layer is split.
// CHECK-LABEL: func.func @decoded_with_other_signs
// CHECK-NOT:     tosa.mul
// CHECK-DAG:     tpc.quantize %{{.*}} as "head_channels_0_3" activation
// CHECK-DAG:     tpc.quantize %{{.*}} as "head_channels_4_4" activation
// CHECK:         return
// ALONE-LABEL: func.func @decoded_with_other_signs
func.func @decoded_with_other_signs(%arg0: tensor<1x4xf32>) -> (tensor<1x4x4xf32>, tensor<1x4x1xf32>) {
  %c = tosa.const_shape {values = dense<[1, 4, 1]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %x = tosa.reshape %arg0, %c : (tensor<1x4xf32>, !tosa.shape<3>) -> tensor<1x4x1xf32>
  %k = "tosa.const"() <{values = dense<[[[0.25, 0.25, 0.25, 0.25, 0.5]]]> : tensor<1x1x5xf32>}> : () -> tensor<1x1x5xf32>
  %b = "tosa.const"() <{values = dense<[[[1.5, 1.5, 1.5, 1.5, -63.5]]]> : tensor<1x1x5xf32>}> : () -> tensor<1x1x5xf32>
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %w = tpc.quantize %k as "head" weight "kernel_attr" axes [2] config(#tpc.attr_quant_config<method = symmetric, bits = 8>) : tensor<1x1x5xf32>
  %0 = tosa.matmul %x, %w, %z, %z : (tensor<1x4x1xf32>, tensor<1x1x5xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x5xf32>
  %1 = tosa.add %0, %b : (tensor<1x4x5xf32>, tensor<1x1x5xf32>) -> tensor<1x4x5xf32>
  // expected-remark @+1 {{and slices separate them again: the layer becomes 2 layers, each with a grid of its own}}
  %p = tpc.quantize %1 as "head" activation statistics(#tpc.statistics<count = 40, zeros = 0, min = -64.0, max = 2.0>) : tensor<1x4x5xf32>
  %start = tosa.const_shape {values = dense<[0, 0, 0]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %size = tosa.const_shape {values = dense<[1, 4, 4]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %2 = tosa.slice %p, %start, %size : (tensor<1x4x5xf32>, !tosa.shape<3>, !tosa.shape<3>) -> tensor<1x4x4xf32>
  %start2 = tosa.const_shape {values = dense<[0, 0, 4]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %size2 = tosa.const_shape {values = dense<[1, 4, 1]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %3 = tosa.slice %p, %start2, %size2 : (tensor<1x4x5xf32>, !tosa.shape<3>, !tosa.shape<3>) -> tensor<1x4x1xf32>
  %cells = "tosa.const"() <{values = dense<[[[0.0, 0.0, 0.0, 0.0], [1.0, 1.0, 1.0, 1.0], [2.0, 2.0, 2.0, 2.0], [3.0, 3.0, 3.0, 3.0]]]> : tensor<1x4x4xf32>}> : () -> tensor<1x4x4xf32>
  %4 = tosa.add %2, %cells : (tensor<1x4x4xf32>, tensor<1x4x4xf32>) -> tensor<1x4x4xf32>
  return %4, %3 : tensor<1x4x4xf32>, tensor<1x4x1xf32>
}

// -----

// What decodes has a point: the product would be one more op on the device, and the layer is split.
// CHECK-LABEL: func.func @decoded_on_the_device
// CHECK-NOT:     tosa.mul
// CHECK-DAG:     tpc.quantize %{{.*}} as "head_channels_0_3" activation
// CHECK-DAG:     tpc.quantize %{{.*}} as "head_channels_4_4" activation
// CHECK:         return
// ALONE-LABEL: func.func @decoded_on_the_device
func.func @decoded_on_the_device(%arg0: tensor<1x4xf32>) -> (tensor<1x4x4xf32>, tensor<1x4x1xf32>) {
  %c = tosa.const_shape {values = dense<[1, 4, 1]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %x = tosa.reshape %arg0, %c : (tensor<1x4xf32>, !tosa.shape<3>) -> tensor<1x4x1xf32>
  %k = "tosa.const"() <{values = dense<[[[1.0, 1.0, 1.0, 1.0, 30.0]]]> : tensor<1x1x5xf32>}> : () -> tensor<1x1x5xf32>
  %b = "tosa.const"() <{values = dense<[[[0.25, 0.25, 0.25, 0.25, -4.0]]]> : tensor<1x1x5xf32>}> : () -> tensor<1x1x5xf32>
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %w = tpc.quantize %k as "head" weight "kernel_attr" axes [2] config(#tpc.attr_quant_config<method = symmetric, bits = 8>) : tensor<1x1x5xf32>
  %0 = tosa.matmul %x, %w, %z, %z : (tensor<1x4x1xf32>, tensor<1x1x5xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x5xf32>
  %1 = tosa.add %0, %b : (tensor<1x4x5xf32>, tensor<1x1x5xf32>) -> tensor<1x4x5xf32>
  // expected-remark @+1 {{and slices separate them again: the layer becomes 2 layers, each with a grid of its own}}
  %p = tpc.quantize %1 as "head" activation statistics(#tpc.statistics<count = 40, zeros = 0, min = -34.0, max = 26.0>) : tensor<1x4x5xf32>
  %start = tosa.const_shape {values = dense<[0, 0, 0]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %size = tosa.const_shape {values = dense<[1, 4, 4]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %2 = tosa.slice %p, %start, %size : (tensor<1x4x5xf32>, !tosa.shape<3>, !tosa.shape<3>) -> tensor<1x4x4xf32>
  %start2 = tosa.const_shape {values = dense<[0, 0, 4]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %size2 = tosa.const_shape {values = dense<[1, 4, 1]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %3 = tosa.slice %p, %start2, %size2 : (tensor<1x4x5xf32>, !tosa.shape<3>, !tosa.shape<3>) -> tensor<1x4x1xf32>
  %cells = "tosa.const"() <{values = dense<[[[0.0, 0.0, 0.0, 0.0], [1.0, 1.0, 1.0, 1.0], [2.0, 2.0, 2.0, 2.0], [3.0, 3.0, 3.0, 3.0]]]> : tensor<1x4x4xf32>}> : () -> tensor<1x4x4xf32>
  %4 = tosa.add %2, %cells : (tensor<1x4x4xf32>, tensor<1x4x4xf32>) -> tensor<1x4x4xf32>
  %5 = tpc.quantize %4 as "places" activation statistics(#tpc.statistics<count = 16, zeros = 0, min = -1.0, max = 5.0>) : tensor<1x4x4xf32>
  return %5, %3 : tensor<1x4x4xf32>, tensor<1x4x1xf32>
}

// -----

// A weight that is no normal number takes no factor: the layer is split.
// CHECK-LABEL: func.func @factor_rounds
// CHECK-NOT:     tosa.mul
// CHECK-DAG:     tpc.quantize %{{.*}} as "head_channels_0_3" activation
// CHECK:         return
// ALONE-LABEL: func.func @factor_rounds
func.func @factor_rounds(%arg0: tensor<1x4xf32>) -> (tensor<1x4x4xf32>, tensor<1x4x1xf32>) {
  %c = tosa.const_shape {values = dense<[1, 4, 1]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %x = tosa.reshape %arg0, %c : (tensor<1x4xf32>, !tosa.shape<3>) -> tensor<1x4x1xf32>
  %k = "tosa.const"() <{values = dense<[[[1.0e-44, 1.0, 1.0, 1.0, 3.0e+1]]]> : tensor<1x1x5xf32>}> : () -> tensor<1x1x5xf32>
  %b = "tosa.const"() <{values = dense<[[[0.25, 0.25, 0.25, 0.25, 4.0]]]> : tensor<1x1x5xf32>}> : () -> tensor<1x1x5xf32>
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %w = tpc.quantize %k as "head" weight "kernel_attr" axes [2] config(#tpc.attr_quant_config<method = symmetric, bits = 8>) : tensor<1x1x5xf32>
  %0 = tosa.matmul %x, %w, %z, %z : (tensor<1x4x1xf32>, tensor<1x1x5xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x5xf32>
  %1 = tosa.add %0, %b : (tensor<1x4x5xf32>, tensor<1x1x5xf32>) -> tensor<1x4x5xf32>
  // expected-remark @+1 {{and slices separate them again: the layer becomes 2 layers, each with a grid of its own}}
  %p = tpc.quantize %1 as "head" activation statistics(#tpc.statistics<count = 40, zeros = 0, min = -1.0, max = 34.0>) : tensor<1x4x5xf32>
  %start = tosa.const_shape {values = dense<[0, 0, 0]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %size = tosa.const_shape {values = dense<[1, 4, 4]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %2 = tosa.slice %p, %start, %size : (tensor<1x4x5xf32>, !tosa.shape<3>, !tosa.shape<3>) -> tensor<1x4x4xf32>
  %start2 = tosa.const_shape {values = dense<[0, 0, 4]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %size2 = tosa.const_shape {values = dense<[1, 4, 1]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %3 = tosa.slice %p, %start2, %size2 : (tensor<1x4x5xf32>, !tosa.shape<3>, !tosa.shape<3>) -> tensor<1x4x1xf32>
  %cells = "tosa.const"() <{values = dense<[[[0.0, 0.0, 0.0, 0.0], [1.0, 1.0, 1.0, 1.0], [2.0, 2.0, 2.0, 2.0], [3.0, 3.0, 3.0, 3.0]]]> : tensor<1x4x4xf32>}> : () -> tensor<1x4x4xf32>
  %4 = tosa.add %2, %cells : (tensor<1x4x4xf32>, tensor<1x4x4xf32>) -> tensor<1x4x4xf32>
  return %4, %3 : tensor<1x4x4xf32>, tensor<1x4x1xf32>
}
