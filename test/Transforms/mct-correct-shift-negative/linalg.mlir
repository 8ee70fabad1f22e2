// RUN: mct-opt %s --tpc-attach-target=target=imx500 --mct-correct-shift-negative=ratio=inf --mlir-elide-resource-strings-if-larger=64 | FileCheck %s

#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#act8 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], default_weight = #w>
#stats = #tpc.statistics<count = 3905, zeros = 0, min = -0.25, max = 15.0, histogram = #tpc.histogram<step_exponent = -8, first = -64, counts = dense<1> : tensor<3905xi64>>>

// Tags say what is a swish: linalg has no form of its own for it. The shift is 0.25, and a kernel of eighteen ones sees
// 4.5 of it. Padding is explicit; a maximum passes the shift on.
// CHECK-LABEL: func.func @conv
// CHECK:         %[[Y:.*]] = linalg.tanh
// CHECK:         %[[SHIFT:.*]] = arith.constant 2.500000e-01 : f32
// CHECK:         %[[FILLED:.*]] = linalg.fill ins(%[[SHIFT]]
// CHECK:         %[[SUM:.*]] = linalg.add ins(%[[Y]], %[[FILLED]]
// CHECK:         tpc.quantize %[[SUM]] as "act_shifted" {{.*}} is_signed = false
// CHECK:         tensor.pad
// CHECK:           tensor.yield %[[VALUE:.*]] : f32
// CHECK:         linalg.pooling_nhwc_max
// CHECK:         %[[BIAS:.*]] = arith.constant dense<-4.500000e+00> : tensor<1xf32>
// CHECK:         %[[INITIAL:.*]] = linalg.broadcast ins(%[[BIAS]]
// CHECK:         linalg.conv_2d_nhwc_hwcf {{.*}} outs(%[[INITIAL]]
func.func @conv(%x: tensor<1x4x4x2xf32>) -> tensor<1x3x3x1xf32> {
  %kernel = arith.constant dense<1.0> : tensor<3x3x2x1xf32>
  %lowest = arith.constant 0xFF800000 : f32
  %nought = arith.constant 0.0 : f32
  %0 = tensor.empty() : tensor<1x4x4x2xf32>
  %y = linalg.tanh {tpc.set = "Swish"} ins(%x : tensor<1x4x4x2xf32>) outs(%0 : tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %q = tpc.quantize %y as "act" activation config(#act8)
    statistics(#stats) parameters(#tpc.power_of_two<threshold = [16.0], bits = 8>) : tensor<1x4x4x2xf32>
  %p = tensor.pad %q low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %nought : f32
  } : tensor<1x4x4x2xf32> to tensor<1x6x6x2xf32>
  %1 = tensor.empty() : tensor<1x5x5x2xf32>
  %2 = linalg.fill ins(%lowest : f32) outs(%1 : tensor<1x5x5x2xf32>) -> tensor<1x5x5x2xf32>
  %window = tensor.empty() : tensor<2x2xf32>
  %m = linalg.pooling_nhwc_max {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%p, %window : tensor<1x6x6x2xf32>, tensor<2x2xf32>) outs(%2 : tensor<1x5x5x2xf32>) -> tensor<1x5x5x2xf32>
  %3 = tensor.empty() : tensor<1x3x3x1xf32>
  %4 = linalg.fill ins(%nought : f32) outs(%3 : tensor<1x3x3x1xf32>) -> tensor<1x3x3x1xf32>
  %c = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%m, %kernel : tensor<1x5x5x2xf32>, tensor<3x3x2x1xf32>) outs(%4 : tensor<1x3x3x1xf32>) -> tensor<1x3x3x1xf32>
  return %c : tensor<1x3x3x1xf32>
}

// CHECK-LABEL: func.func @matmul
// CHECK:         linalg.add
// CHECK:         tensor.collapse_shape
// CHECK:         linalg.transpose
// CHECK:         linalg.add
// CHECK:         %[[BIAS:.*]] = arith.constant dense<-1.600000e+01> : tensor<2xf32>
// CHECK:         linalg.matmul
func.func @matmul(%x: tensor<1x4x4x2xf32>) -> tensor<1x2xf32> {
  %kernel = arith.constant dense<1.0> : tensor<32x2xf32>
  %nought = arith.constant 0.0 : f32
  %0 = tensor.empty() : tensor<1x4x4x2xf32>
  %y = linalg.tanh {tpc.set = "Swish"} ins(%x : tensor<1x4x4x2xf32>) outs(%0 : tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %q = tpc.quantize %y as "act" activation config(#act8)
    statistics(#stats) parameters(#tpc.power_of_two<threshold = [16.0], bits = 8>) : tensor<1x4x4x2xf32>
  %s = tensor.collapse_shape %q [[0, 1, 2, 3]] : tensor<1x4x4x2xf32> into tensor<32xf32>
  %e = tensor.expand_shape %s [[0, 1]] output_shape [32, 1] : tensor<32xf32> into tensor<32x1xf32>
  %1 = tensor.empty() : tensor<1x32xf32>
  %t = linalg.transpose ins(%e : tensor<32x1xf32>) outs(%1 : tensor<1x32xf32>) permutation = [1, 0]
  %d = linalg.add ins(%t, %t : tensor<1x32xf32>, tensor<1x32xf32>) outs(%1 : tensor<1x32xf32>) -> tensor<1x32xf32>
  %2 = tensor.empty() : tensor<1x2xf32>
  %3 = linalg.fill ins(%nought : f32) outs(%2 : tensor<1x2xf32>) -> tensor<1x2xf32>
  %c = linalg.matmul ins(%d, %kernel : tensor<1x32xf32>, tensor<32x2xf32>) outs(%3 : tensor<1x2xf32>) -> tensor<1x2xf32>
  return %c : tensor<1x2xf32>
}
