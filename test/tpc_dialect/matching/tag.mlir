// RUN: mct-opt %s --mct-insert-quantizers | FileCheck %s

#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#kernel = #tpc.attr_quant_config<method = symmetric, bits = 8, per_channel = true, enabled = true>
#c8 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], default_weight = #w>
#dense = #tpc.op_quant_config<act_method = power_of_two, act_bits = 4, input_bits = [8], weights = {kernel_attr = #kernel}, default_weight = #w>
module attributes {tpc.target = @p} {
  tpc.platform @p default(#tpc.qc_options<[#c8]>) operator_sets [
    #tpc.operator_set<"Conv">,
    #tpc.operator_set<"FullyConnected", options = #tpc.qc_options<[#dense]>>
  ]
  tpc.binding @on_tosa for @p [
    #tpc.ops_of<"Conv", [#tpc.op<"tosa.conv2d">]>,
    #tpc.ops_of<"FullyConnected", []>
  ]
  tpc.framework @tosa [#tpc.op_info<"tosa.conv2d", kernel = 1, bias = 2, out_axes = [0], result_axis = -1>]

  // A convolution on an image that its importer knows to be a dense layer.
  // CHECK-LABEL: func.func @tagged
  // CHECK:         %[[K:.*]] = tpc.quantize {{.*}} weight "kernel_attr" axes [0] config(#[[KERNEL:.*]]) :
  // CHECK:         tosa.conv2d {{.*}}, %[[K]], {{.*}} tpc.set = "FullyConnected"
  // CHECK-NEXT:    tpc.quantize {{.*}} as "conv2d" activation config(#[[DENSE:.*]]) : tensor<1x2x2x3xf32>
  func.func @tagged(%x: tensor<1x2x2x4xf32>) -> tensor<1x2x2x3xf32> {
    %k = "tosa.const"() <{values = dense<1.0> : tensor<3x1x1x4xf32>}> : () -> tensor<3x1x1x4xf32>
    %b = "tosa.const"() <{values = dense<1.0> : tensor<3xf32>}> : () -> tensor<3xf32>
    %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
    %0 = tosa.conv2d %x, %k, %b, %z, %z {tpc.set = "FullyConnected", acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x2x2x4xf32>, tensor<3x1x1x4xf32>, tensor<3xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x2x3xf32>
    return %0 : tensor<1x2x2x3xf32>
  }

  // CHECK-LABEL: func.func @not_tagged
  // CHECK-NOT:     weight
  // CHECK:         tosa.conv2d
  // CHECK-NEXT:    tpc.quantize {{.*}} as "conv2d" activation config(#[[C8:.*]]) : tensor<1x2x2x3xf32>
  func.func @not_tagged(%x: tensor<1x2x2x4xf32>) -> tensor<1x2x2x3xf32> {
    %k = "tosa.const"() <{values = dense<1.0> : tensor<3x1x1x4xf32>}> : () -> tensor<3x1x1x4xf32>
    %b = "tosa.const"() <{values = dense<1.0> : tensor<3xf32>}> : () -> tensor<3xf32>
    %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
    %0 = tosa.conv2d %x, %k, %b, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x2x2x4xf32>, tensor<3x1x1x4xf32>, tensor<3xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x2x3xf32>
    return %0 : tensor<1x2x2x3xf32>
  }
}
