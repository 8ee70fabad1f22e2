// RUN: mct-opt %s --mct-quantize-annotate --mct-quantize-apply | FileCheck %s
// RUN: mct-opt %s --mct-quantize-annotate --mct-quantize-apply="weight-bits=4 activation-bits=6" | FileCheck %s --check-prefix=BITS
// RUN: mct-opt %s --mct-quantize-annotate --mct-quantize-apply=per-channel=false | FileCheck %s --check-prefix=TENSOR
// RUN: mct-opt %s --mct-quantize-annotate=function=other --mct-quantize-apply=function=other | FileCheck %s --check-prefix=OTHER

// CHECK-LABEL: func.func @main
// CHECK:         as "arg0" activation trainable(#tpc.observed_range<observer = all_values, bits = 8>)
// CHECK:         weight "kernel_attr" axes [2, 3] trainable(#tpc.observed_range<observer = last_value, bits = 8, is_symmetric = true, is_narrow = true>)
// CHECK:         as "depthwise" activation trainable(#tpc.observed_range<observer = moving_average, bits = 8>)
// BITS-LABEL:  func.func @main
// BITS:          as "arg0" activation trainable(#tpc.observed_range<observer = all_values, bits = 6>)
// BITS:          weight "kernel_attr" axes [2, 3] trainable(#tpc.observed_range<observer = last_value, bits = 4, is_symmetric = true, is_narrow = true>)
// BITS:          as "depthwise" activation trainable(#tpc.observed_range<observer = moving_average, bits = 6>)
// TENSOR-LABEL: func.func @main
// TENSOR:        weight "kernel_attr" trainable
// OTHER-LABEL: func.func @main
// OTHER-NOT:     tpc.quantize
func.func @main(%arg0: tensor<1x4x4x3xf32>) -> tensor<1x4x4x6xf32> {
  %kernel = "tosa.const"() <{values = dense<1.0> : tensor<1x1x3x2xf32>}> : () -> tensor<1x1x3x2xf32>
  %bias = "tosa.const"() <{values = dense<1.0> : tensor<6xf32>}> : () -> tensor<6xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.depthwise_conv2d %arg0, %kernel, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x3xf32>, tensor<1x1x3x2xf32>, tensor<6xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x6xf32> loc("depthwise")
  return %0 : tensor<1x4x4x6xf32>
}

// OTHER-LABEL: func.func @other
// OTHER:         %[[SUM:.*]] = tosa.add
// OTHER-NEXT:    tpc.quantize %[[SUM]] as "sum" activation trainable
func.func @other(%arg0: tensor<1x3xf32>) -> tensor<1x3xf32> {
  %0 = tosa.add %arg0, %arg0 : (tensor<1x3xf32>, tensor<1x3xf32>) -> tensor<1x3xf32> loc("sum")
  return %0 : tensor<1x3xf32>
}
