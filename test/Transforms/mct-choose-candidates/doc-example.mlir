// RUN: mct-opt %s --mct-choose-candidates=choices=conv=1 | FileCheck %s

#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#kernel8 = #tpc.attr_quant_config<method = symmetric, bits = 8, per_channel = true, enabled = true>
#kernel4 = #tpc.attr_quant_config<method = symmetric, bits = 4, per_channel = true, enabled = true>
// CHECK-DAG: #[[$KERNEL8:.*]] = #tpc.attr_quant_config<method = symmetric, bits = 8,
// CHECK-DAG: #[[$KERNEL4:.*]] = #tpc.attr_quant_config<method = symmetric, bits = 4,

// CHECK-LABEL: func.func @main
// CHECK:         %[[W:.*]] = tpc.quantize %{{.*}} as "conv" weight "kernel_attr" axes [0] config(#[[$KERNEL4]])
// CHECK-SAME:      candidates(#tpc.alternatives<of = "conv", configs = [#[[$KERNEL8]], #[[$KERNEL4]]], chosen = 1>) : tensor<2x1x1x2xf32>
// CHECK:         tosa.conv2d %arg0, %[[W]]
func.func @main(%arg0: tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32> {
  %kernel = "tosa.const"() <{values = dense<[[[[0.5, -0.25]]], [[[1.0, 0.75]]]]> : tensor<2x1x1x2xf32>}> : () -> tensor<2x1x1x2xf32>
  %bias = "tosa.const"() <{values = dense<[0.5, -1.0]> : tensor<2xf32>}> : () -> tensor<2xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %w = tpc.quantize %kernel as "conv" weight "kernel_attr" axes [0] config(#kernel8)
    candidates(#tpc.alternatives<of = "conv", configs = [#kernel8, #kernel4], chosen = 0>)
    parameters(#tpc.symmetric<threshold = [0.5, 1.0], bits = 8>) : tensor<2x1x1x2xf32>
  %0 = tosa.conv2d %arg0, %w, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<2x1x1x2xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x2xf32>
  return %0 : tensor<1x4x4x2xf32>
}
