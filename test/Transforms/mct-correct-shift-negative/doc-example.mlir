// RUN: mct-opt %s --tpc-attach-target=target=imx500 --mct-correct-shift-negative --mlir-elide-resource-strings-if-larger=64 | FileCheck %s
// RUN: mct-opt %s --tpc-attach-target=target=imx500 --mct-correct-shift-negative --mct-correct-shift-negative --mlir-elide-resource-strings-if-larger=64 | FileCheck %s

#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#act8 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], default_weight = #w>
#stats = #tpc.statistics<count = 3913, zeros = 0, min = -0.279, max = 15.0, histogram = #tpc.histogram<step_exponent = -8, first = -72, counts = dense<1> : tensor<3913xi32>>>

// Case 25 of the specification: the unsigned step is 16 / 256, five of them lift -0.279, and the nine ones of the kernel
// see 0.3125 each. Bin -72 becomes bin 8.
// CHECK-LABEL: func.func @main
// CHECK-SAME:    %[[X:.*]]: tensor<1x4x4x1xf32>
// CHECK:         %[[SIGMOID:.*]] = tosa.sigmoid %[[X]]
// CHECK:         %[[SWISH:.*]] = tosa.mul %[[X]], %[[SIGMOID]]
// CHECK:         %[[SHIFT:.*]] = "tosa.const"() <{values = dense<3.125000e-01> : tensor<1x1x1x1xf32>}>
// CHECK:         %[[SUM:.*]] = tosa.add %[[SWISH]], %[[SHIFT]]
// CHECK:         %[[POINT:.*]] = tpc.quantize %[[SUM]] as "act_shifted" {{.*}} group(["act", "act_shifted"]) statistics(#tpc.statistics<count = 3913, zeros = 0, min = 0.033499{{.*}}, max = 1.531250e+01, histogram = #tpc.histogram<step_exponent = -8, first = 8, counts = dense_resource<histogram.act_shifted> : tensor<3913xi32>>>) parameters(#tpc.power_of_two<threshold = [1.600000e+01], bits = 8, is_signed = false>)
// CHECK:         %[[SIZES:.*]] = tosa.const_shape {values = dense<[0, 0, 1, 1, 1, 1, 0, 0]> : tensor<8xindex>}
// CHECK:         %[[VALUE:.*]] = "tosa.const"() <{values = dense<3.125000e-01> : tensor<1xf32>}>
// CHECK:         %[[PAD:.*]] = tosa.pad %[[POINT]], %[[SIZES]], %[[VALUE]] {{.*}} -> tensor<1x6x6x1xf32>
// CHECK:         %[[BIAS:.*]] = "tosa.const"() <{values = dense<-2.812500e+00> : tensor<1xf32>}>
// CHECK:         tosa.conv2d %[[PAD]], %{{.*}}, %[[BIAS]], {{.*}} pad = array<i64: 0, 0, 0, 0>
func.func @main(%x: tensor<1x4x4x1xf32>) -> tensor<1x4x4x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %kernel = "tosa.const"() <{values = dense<1.0> : tensor<1x3x3x1xf32>}> : () -> tensor<1x3x3x1xf32>
  %bias = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %no_shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %s = tosa.sigmoid %x : (tensor<1x4x4x1xf32>) -> tensor<1x4x4x1xf32>
  %y = tosa.mul %x, %s, %no_shift : (tensor<1x4x4x1xf32>, tensor<1x4x4x1xf32>, tensor<1xi8>) -> tensor<1x4x4x1xf32>
  %q = tpc.quantize %y as "act" activation config(#act8)
    statistics(#stats) parameters(#tpc.power_of_two<threshold = [16.0], bits = 8>) : tensor<1x4x4x1xf32>
  %c = tosa.conv2d %q, %kernel, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>} : (tensor<1x4x4x1xf32>, tensor<1x3x3x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x1xf32>
  return %c : tensor<1x4x4x1xf32>
}
