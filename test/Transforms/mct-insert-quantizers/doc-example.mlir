// RUN: mct-opt %s --tpc-attach-target=target=imx500 --mct-insert-quantizers | FileCheck %s

// CHECK-DAG:   #[[$KERNEL:weight_config[0-9]*]] = #tpc.attr_quant_config<method = symmetric, bits = 8, per_channel = true, enabled = true>
// CHECK-DAG:   #[[$DEFAULT:op_config[0-9]*]] = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], simd_size = 32, default_weight
// CHECK-LABEL: func.func @main
// CHECK-SAME:    %[[ARG:.*]]: tensor<1x4x4x2xf32>
// CHECK:         %[[IN:.*]] = tpc.quantize %[[ARG]] as "arg0" activation config(#[[$DEFAULT]]) : tensor<1x4x4x2xf32>
// CHECK:         %[[W:.*]] = tpc.quantize %{{.*}} as "conv2d" weight "kernel_attr" axes [0] config(#[[$KERNEL]])
// CHECK:         %[[CONV:.*]] = tosa.conv2d %[[IN]], %[[W]]
// CHECK-NEXT:    %[[CLAMP:.*]] = tosa.clamp %[[CONV]]
// CHECK-NEXT:    %[[OUT:.*]] = tpc.quantize %[[CLAMP]] as "clamp" activation config(#[[$DEFAULT]]) group(["conv2d", "clamp"])
// CHECK-NEXT:    return %[[OUT]]
func.func @main(%arg0: tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32> {
  %kernel = "tosa.const"() <{values = dense<1.0> : tensor<2x1x1x2xf32>}> : () -> tensor<2x1x1x2xf32>
  %bias = "tosa.const"() <{values = dense<[1.0, 2.0]> : tensor<2xf32>}> : () -> tensor<2xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.conv2d %arg0, %kernel, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<2x1x1x2xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x2xf32>
  %1 = tosa.clamp %0 {max_val = 3.40282347E+38 : f32, min_val = 0.0 : f32} : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  return %1 : tensor<1x4x4x2xf32>
}
