// RUN: mct-opt %s --tpc-attach-target=target=imx500 --mct-correct-shift-negative="remarks=true " -o %t.mlir 2>&1 | FileCheck %s --check-prefix=MSE
// RUN: mct-opt %s --tpc-attach-target=target=imx500 --mct-correct-shift-negative="remarks=true error-method=lp lp-norm=64" -o %t.mlir 2>&1 | FileCheck %s --check-prefix=LP
// RUN: mct-opt %s --tpc-attach-target=target=imx500 --mct-correct-shift-negative="remarks=true error-method=percentile percentile=40" -o %t.mlir 2>&1 | FileCheck %s --check-prefix=PERCENTILE
// RUN: mct-opt %s --tpc-attach-target=target=imx500 --mct-correct-shift-negative="remarks=true min-threshold=20" -o %t.mlir 2>&1 | FileCheck %s --check-prefix=MIN
// RUN: mct-opt %s --tpc-attach-target=target=imx500 --mct-correct-shift-negative="remarks=true z-threshold=0.1" -o %t.mlir 2>&1 | FileCheck %s --check-prefix=Z

#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#act8 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], default_weight = #w>
#stats = #tpc.statistics<count = 4161, zeros = 0, min = -0.125, max = 3.9375, histogram = #tpc.histogram<step_exponent = -10, first = -128, counts = dense<1> : tensor<4161xi64>>>
#low = #tpc.statistics<count = 3713, zeros = 0, min = -0.125, max = 3.5, histogram = #tpc.histogram<step_exponent = -10, first = -128, counts = dense<1> : tensor<3713xi64>>>

// Values from -0.125 to 3.9375, all as frequent: shifted by 0.125 they end 0.08 above the last level of a threshold of 4.
// That is less than what the finer step gains in the mean of squares, but not in that of 64th powers. Forty percent of the
// magnitudes are below 2.
// MSE: 'act' is shifted by 0.125: threshold 4 to 4
// LP: 'act' is not shifted: its threshold would go from 4 to 8
// PERCENTILE: 'act' is not shifted: the mean squared error of its points would go from 8.1{{.*}}e-05 to 0.72
// MIN: 'act' is not shifted: its threshold would go from 4 to 32
func.func @main(%x: tensor<1x4x4x2xf32>) -> tensor<1x4x4x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %kernel = "tosa.const"() <{values = dense<1.0> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %bias = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %no_shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %s = tosa.sigmoid %x : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %y = tosa.mul %x, %s, %no_shift : (tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>, tensor<1xi8>) -> tensor<1x4x4x2xf32>
  %q = tpc.quantize %y as "act" activation config(#act8)
    statistics(#stats) parameters(#tpc.power_of_two<threshold = [4.0], bits = 8>) : tensor<1x4x4x2xf32>
  %c = tosa.conv2d %q, %kernel, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<1x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x1xf32>
  return %c : tensor<1x4x4x1xf32>
}

// Close to the mean, which is 1.8 when it is shifted, all values are below 2.
// MSE: 'other' is shifted by 0.125: threshold 4 to 4
// Z: 'other' is not shifted: the mean squared error of its points would go from 8.1{{.*}}e-05 to 0.
func.func @outliers(%x: tensor<1x4x4x2xf32>) -> tensor<1x4x4x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %kernel = "tosa.const"() <{values = dense<1.0> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %bias = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %no_shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %s = tosa.sigmoid %x : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %y = tosa.mul %x, %s, %no_shift : (tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>, tensor<1xi8>) -> tensor<1x4x4x2xf32>
  %q = tpc.quantize %y as "other" activation config(#act8)
    statistics(#low) parameters(#tpc.power_of_two<threshold = [4.0], bits = 8>) : tensor<1x4x4x2xf32>
  %c = tosa.conv2d %q, %kernel, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<1x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x1xf32>
  return %c : tensor<1x4x4x1xf32>
}
