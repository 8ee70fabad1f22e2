// RUN: mct-opt %s --mct-make-training-function --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s
// RUN: mct-opt %s --mct-make-training-function="name=learn samples=3 compared=point,conv" | FileCheck %s --check-prefix=COMPARED
// RUN: mct-opt %s --mct-make-training-function="weights=false" | FileCheck %s --check-prefix=BIASES
// RUN: mct-opt %s --mct-make-training-function="biases=false function=main" | FileCheck %s --check-prefix=WEIGHTS
// RUN: mct-opt %s --mct-make-training-function="step=true" | FileCheck %s --check-prefix=STEP

// Two layers share the constant of their biases, one number for all channels;
// each learns its own, for every channel.

// CHECK-LABEL: func.func @main(
// CHECK-LABEL: func.func @main_training(
// CHECK-SAME:    tensor<1x1x1x2xf32> loc({{.*}}), %[[B1:[a-z0-9]+]]: tensor<2xf32> loc("conv/bias"), %[[B2:[a-z0-9]+]]: tensor<2xf32> loc("last/bias"),
// CHECK-SAME:    %[[T:[a-z0-9]+]]: tensor<1x1x1x1xf32> loc("conv/kernel_attr:threshold"), %[[W:[a-z0-9]+]]: tensor<2x1x1x2xf32> loc("conv/kernel_attr"), %[[P:[a-z0-9]+]]: tensor<1x1x1x1xf32> loc("point:threshold"), %[[W2:[a-z0-9]+]]: tensor<2x1x1x2xf32> loc("last/kernel_attr"))
// CHECK:         %[[Q:.*]] = tpc.quantize %[[W]] as "conv" weight "kernel_attr" axes [0] trainable({{.*}}) learned(%[[T]] : tensor<1x1x1x1xf32>)
// CHECK:         tosa.conv2d %{{.*}}, %[[Q]], %[[B1]],
// CHECK:         tpc.quantize %{{.*}} as "point" activation trainable({{.*}}) learned(%[[P]] :
// CHECK:         %[[Q2:.*]] = tpc.quantize %[[W2]] as "last" weight {{.*}} parameters({{.*}}) trainable(#tpc.straight_through<>)
// CHECK:         tosa.conv2d %{{.*}}, %[[Q2]], %[[B2]],

// COMPARED-LABEL: func.func @learn(
// COMPARED-SAME:    tensor<3x1x1x2xf32>
// COMPARED-SAME:    -> (tensor<3x1x1x2xf32>, tensor<3x1x1x2xf32>)
// COMPARED:         %[[C:.*]] = tosa.conv2d
// COMPARED:         return %[[C]], %[[C]] :

// BIASES-LABEL: func.func @main_training(
// BIASES-SAME:    %{{[a-z0-9]+}}: tensor<1x1x1x2xf32>, %{{[a-z0-9]+}}: tensor<2xf32>, %{{[a-z0-9]+}}: tensor<2xf32>, %{{[a-z0-9]+}}: tensor<1x1x1x1xf32>, %{{[a-z0-9]+}}: tensor<1x1x1x1xf32>)

// WEIGHTS-LABEL: func.func @main_training(
// WEIGHTS-SAME:    %{{[a-z0-9]+}}: tensor<1x1x1x2xf32>, %{{[a-z0-9]+}}: tensor<1x1x1x1xf32>, %{{[a-z0-9]+}}: tensor<2x1x1x2xf32>, %{{[a-z0-9]+}}: tensor<1x1x1x1xf32>, %{{[a-z0-9]+}}: tensor<2x1x1x2xf32>)

// STEP-LABEL: func.func @main_training_step(
// STEP-SAME:    -> (tensor<1x1x1x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<1x1x1x1xf32>, tensor<2x1x1x2xf32>, tensor<1x1x1x1xf32>, tensor<2x1x1x2xf32>)
// STEP-NOT:     learned(
// STEP:         %[[Y:.*]] = tosa.conv2d
// STEP:         %[[Y2:.*]] = tosa.conv2d
// STEP:         %[[SEED:.*]] = tosa.identity %[[Y2]]
// STEP:         tosa.reshape %[[SEED]]
// STEP:         return %[[Y2]],
func.func @main(%x: tensor<1x1x1x2xf32>) -> tensor<1x1x1x2xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %bias = "tosa.const"() <{values = dense<0.5> : tensor<1xf32>}> : () -> tensor<1xf32>
  %k = "tosa.const"() <{values = dense<[[[[1.0, 2.0]]], [[[3.0, -4.0]]]]> : tensor<2x1x1x2xf32>}> : () -> tensor<2x1x1x2xf32> loc("conv")
  %w = tpc.quantize %k as "conv" weight "kernel_attr" axes [0] parameters(#tpc.symmetric<threshold = [4.0], bits = 4>)
         trainable(#tpc.learned_threshold<bits = 4>) : tensor<2x1x1x2xf32>
  %0 = tosa.conv2d %x, %w, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>}
      : (tensor<1x1x1x2xf32>, tensor<2x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x2xf32> loc("conv")
  %1 = tpc.quantize %0 as "point" activation parameters(#tpc.symmetric<threshold = [8.0], bits = 8>)
         trainable(#tpc.learned_threshold<bits = 8>) : tensor<1x1x1x2xf32>
  %v = tpc.quantize %k as "last" weight "kernel_attr" axes [0] parameters(#tpc.symmetric<threshold = [3.0, 4.0], bits = 4>)
         trainable(#tpc.straight_through<>) : tensor<2x1x1x2xf32>
  %2 = tosa.conv2d %1, %v, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>}
      : (tensor<1x1x1x2xf32>, tensor<2x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x2xf32> loc("last")
  return %2 : tensor<1x1x1x2xf32>
}
