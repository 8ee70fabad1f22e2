// A stock target speaks of linalg too.
// RUN: mct-opt %s --tpc-attach-target=target=imx500_v1_0 --mct-insert-quantizers | FileCheck %s

// Convolution and ReLU are fused; the kernel [H, W, C, F] has its channels on the last axis.
// CHECK-LABEL: func.func @main
// CHECK:         %[[X:.*]] = tpc.quantize %arg0 as "arg0" activation
// CHECK:         %[[K:.*]] = tpc.quantize %{{.*}} as "[[CONV:.*]]" weight "kernel_attr" axes [3]
// CHECK:         %[[C:.*]] = linalg.conv_2d_nhwc_hwcf {{.*}} ins(%[[X]], %[[K]] :
// CHECK-NOT:     tpc.quantize
// CHECK:         %[[R:.*]] = linalg.max ins(%[[C]],
// CHECK-NEXT:    %[[Q:.*]] = tpc.quantize %[[R]] as "[[RELU:.*]]" activation {{.*}} group(["[[CONV]]", "[[RELU]]"]) range(#tpc.range<0.000000e+00, ?>)
// CHECK-NEXT:    return %[[Q]]
func.func @main(%x: tensor<1x4x4x2xf32>) -> tensor<1x2x2x8xf32> {
  %k = arith.constant dense<1.0> : tensor<3x3x2x8xf32>
  %zeros = arith.constant dense<0.0> : tensor<1x2x2x8xf32>
  %e = tensor.empty() : tensor<1x2x2x8xf32>
  %zero = arith.constant 0.0 : f32
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x2x2x8xf32>) -> tensor<1x2x2x8xf32>
  %0 = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
      ins(%x, %k : tensor<1x4x4x2xf32>, tensor<3x3x2x8xf32>) outs(%f : tensor<1x2x2x8xf32>) -> tensor<1x2x2x8xf32>
  %1 = linalg.max ins(%0, %zeros : tensor<1x2x2x8xf32>, tensor<1x2x2x8xf32>) outs(%e : tensor<1x2x2x8xf32>) -> tensor<1x2x2x8xf32>
  return %1 : tensor<1x2x2x8xf32>
}
