// The unsigned grid rounds as the signed one did.
// RUN: mct-opt %s --tpc-attach-target=target=imx500 --mct-correct-shift-negative | FileCheck %s

// CHECK: as "act_shifted" {{.*}} parameters(#tpc.power_of_two<threshold = [1.600000e+01], bits = 8, is_signed = false, rounding = half_up>)
#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#act8 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], default_weight = #w>
#stats = #tpc.statistics<count = 3913, zeros = 0, min = -0.279, max = 15.0, histogram = #tpc.histogram<step_exponent = -8, first = -72, counts = dense<1> : tensor<3913xi64>>>

func.func @main(%x: tensor<1x4x4x1xf32>) -> tensor<1x4x4x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %kernel = "tosa.const"() <{values = dense<1.0> : tensor<1x3x3x1xf32>}> : () -> tensor<1x3x3x1xf32>
  %bias = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %no_shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %s = tosa.sigmoid %x : (tensor<1x4x4x1xf32>) -> tensor<1x4x4x1xf32>
  %y = tosa.mul %x, %s, %no_shift : (tensor<1x4x4x1xf32>, tensor<1x4x4x1xf32>, tensor<1xi8>) -> tensor<1x4x4x1xf32>
  %q = tpc.quantize %y as "act" activation config(#act8)
    statistics(#stats) parameters(#tpc.power_of_two<threshold = [16.0], bits = 8, rounding = half_up>) : tensor<1x4x4x1xf32>
  %c = tosa.conv2d %q, %kernel, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>} : (tensor<1x4x4x1xf32>, tensor<1x3x3x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x1xf32>
  return %c : tensor<1x4x4x1xf32>
}
